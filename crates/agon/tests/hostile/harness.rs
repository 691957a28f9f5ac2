//! Test harness for a hostile bot: folders, an honest bot, a victim process beside the engine, and checks afterwards.

use std::cell::Cell;
use std::collections::HashSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::{Bot, Game};

/// Timeout of a game, including the start. No game takes nearly as long.
const GAME_TIMEOUT: Duration = Duration::from_mins(10);
/// Timeout for processes that must end with the engine. It is shorter than the life of the daemon that the test must find.
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);

/// Folders that every user can write to.
const SHARED_FOLDERS: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// User that runs `agon`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Who {
    Root,
    /// An ordinary user, in a cgroup that belongs to it, if this test can create one.
    User,
    /// An ordinary user without a cgroup of its own.
    UserWithoutCgroup,
}

impl Who {
    /// All users of the test: root only if the tests run as root.
    #[track_caller]
    pub fn all() -> Vec<Self> {
        if rustix::process::getuid().is_root() {
            return vec![Self::Root, Self::User];
        }
        agon_test_servers::cannot_run(
            agon_test_servers::Lacks::Machine,
            "its part as root: this is another user",
        );
        vec![Self::User]
    }

    /// Whether this is the ordinary user.
    fn is_ordinary(self) -> bool {
        self != Self::Root
    }

    /// A command that runs as this user.
    fn command(self, program: &Path) -> Command {
        if self.is_ordinary() && rustix::process::getuid().is_root() {
            let mut command = Command::new("/usr/bin/setpriv");
            let who = [format!("--reuid={ORDINARY}"), format!("--regid={ORDINARY}"), "--clear-groups".into()];
            // Through `env`, because setpriv itself looks up the program as root.
            command.args(who).arg("/usr/bin/env").arg(program);
            return command;
        }
        Command::new(program)
    }

    /// A Python that this user can run, with `NumPy` if `numpy`. Looked up once.
    pub fn python(self, numpy: bool) -> Option<PathBuf> {
        static FOUND: Mutex<Vec<(Who, bool, Option<PathBuf>)>> = Mutex::new(Vec::new());
        let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., python)) = found.iter().find(|(who, with, _)| (*who, *with) == (self, numpy)) {
            return python.clone();
        }
        let python = self.find_python(if numpy { "import numpy" } else { "" });
        found.push((self, numpy, python.clone()));
        python
    }

    fn find_python(self, test: &str) -> Option<PathBuf> {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
        let given = std::env::var_os("AGON_PYTHON").map(PathBuf::from);
        let candidates = given.into_iter().chain([project, "/usr/bin/python3".into(), "python3".into()]);
        let runs = |python: &PathBuf| {
            let output = self.command(python).args(["-c", test]).output();
            output.is_ok_and(|output| output.status.success())
        };
        candidates.into_iter().find(runs)
    }
}

const ORDINARY: u32 = 65534;

/// Result of playing.
#[derive(Debug)]
pub struct AttackResult {
    /// Exit code of `agon play`.
    pub code: Option<i32>,
    /// Output of both streams.
    pub text: String,
    /// Output of `agon play --json`.
    pub play: Json,
    /// Output of `agon replay --json` for the record.
    pub replay: Json,
    /// Size of the record in bytes.
    pub record: usize,
}

/// Folders for one bot, and the victim. All belong to the user that runs `agon`.
pub struct Harness {
    home: TempDir,
    who: Who,
    python: PathBuf,
    secret: String,
    /// Largest memory of `agon` so far, in KiB.
    pub peak_kib: Cell<u64>,
    victim: Option<(Child, ChildStdin, BufReader<ChildStdout>)>,
    /// A cgroup that belongs to the ordinary user, in which `agon` runs.
    cgroup: Option<PathBuf>,
    /// Defences to switch off, separated by commas, to show that an attack is real.
    pub defences_off: Option<&'static str>,
}

impl Drop for Harness {
    fn drop(&mut self) {
        self.end_victim();
        if let Some(group) = &self.cgroup {
            remove_cgroup(group);
        }
        // Files of a successful attack.
        for folder in SHARED_FOLDERS {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let made = format!("{}-", self.token());
            for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&made)) {
                let _ = fs::remove_file(entry.path()).or_else(|_| fs::remove_dir(entry.path()));
            }
        }
    }
}

/// Removes a cgroup and those below it. The kernel frees a cgroup shortly after its last process was reaped.
fn remove_cgroup(group: &Path) {
    let deadline = Instant::now() + EXIT_TIMEOUT;
    while group.exists() && Instant::now() < deadline {
        let below = fs::read_dir(group).into_iter().flatten().flatten().map(|entry| entry.path());
        for path in below.filter(|path| path.is_dir()) {
            let _ = fs::remove_dir(path);
        }
        if fs::remove_dir(group).is_err() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Processes that this test has started. Any other child of the test was left behind.
fn own_children() -> &'static Mutex<HashSet<u32>> {
    static OWN: OnceLock<Mutex<HashSet<u32>>> = OnceLock::new();
    OWN.get_or_init(|| {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).expect("subreaper");
        Mutex::default()
    })
}

fn spawn(command: &mut Command) -> Child {
    let mut own = own_children().lock().unwrap_or_else(PoisonError::into_inner);
    let child = command.spawn().expect("start");
    own.insert(child.id());
    child
}

impl Harness {
    /// Creates everything. `None` without a suitable Python.
    pub fn new(bot: &Bot, who: Who) -> Option<Self> {
        let python = who.python(bot.game == Game::Colour)?;
        let home = tempfile::Builder::new().prefix("agon-hostile-").tempdir().expect("a temporary folder");
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).expect("mode");
        let secret = format!("secret-of-{}", home.path().file_name().expect("name").to_string_lossy());
        let mut harness = Self {
            home,
            who,
            python,
            secret,
            peak_kib: Cell::new(0),
            victim: None,
            cgroup: None,
            defences_off: None,
        };
        harness.cgroup = if who == Who::User { harness.delegate_cgroup() } else { None };
        for folder in ["bot", "honest", "outside", "tmp", "cache", "out"] {
            fs::create_dir(harness.path(folder)).expect("folder");
        }
        fs::write(harness.path("outside/canary.py"), format!("SECRET = '{}'\n", harness.secret))
            .expect("write");
        fs::write(harness.path("honest/secret.txt"), &harness.secret).expect("write");
        let honest = collection().join("around").join(bot.game.honest());
        copy_all(&honest, &harness.path("honest"));
        fs::copy(collection().join("attack.py"), harness.path("bot/attack.py")).expect("copy");
        if bot.source().is_dir() {
            copy_all(&bot.source(), &harness.path("bot"));
        } else {
            fs::copy(bot.source(), harness.path("bot").join(bot.file())).expect("copy");
        }
        if bot.game == Game::Native {
            compile(&harness.path("bot").join(bot.file()), &harness.path("bot/native"));
        }
        harness.own(&harness.path(""));
        let port = harness.start_victim();
        let targets = json!({
            "canary": harness.path("outside/canary.py"), "honest": harness.path("honest"), "outside": harness.path("outside"),
            "victim": harness.victim.as_ref().map(|(victim, ..)| victim.id()), "port": port,
            "unix": harness.path("outside/socket"), "abstract": harness.token(), "shared": format!("/dev/shm/{}", harness.token()),
            "token": harness.token(), "cores": std::thread::available_parallelism().map_or(1, usize::from),
        });
        fs::write(harness.path("bot/targets.json"), targets.to_string()).expect("write");
        harness.prepare(bot);
        Some(harness)
    }

    /// Creates a cgroup and gives it to the ordinary user, as systemd does for a unit with `Delegate=yes`.
    fn delegate_cgroup(&self) -> Option<PathBuf> {
        if !rustix::process::getuid().is_root() {
            return None;
        }
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?.to_owned();
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
        let group = Path::new(mount.split(' ').nth(4)?).join(own).join(self.token());
        fs::create_dir(&group).ok()?;
        for name in ["", "cgroup.procs", "cgroup.subtree_control"] {
            chown(group.join(name), Some(ORDINARY), Some(ORDINARY)).ok()?;
        }
        Some(group)
    }

    /// Preparation for single bots.
    fn prepare(&self, bot: &Bot) {
        if bot.name == "symlink_in_folder" {
            // A link as an archive can contain it.
            symlink(self.path("outside/canary.py"), self.path("bot/linked.py")).expect("link");
            symlink(self.path("outside"), self.path("bot/folder")).expect("link");
        }
        if bot.name == "read_neighbour" {
            copy_all(&self.path("honest"), &self.path("bot"));
        }
    }

    /// Path of the honest bot.
    fn honest(&self, bot: &Bot) -> PathBuf {
        self.path(if bot.name == "read_neighbour" { "bot/Honest.py" } else { "honest" })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// A unique text on this machine.
    fn token(&self) -> String {
        self.home.path().file_name().expect("name").to_string_lossy().into_owned()
    }

    fn own(&self, path: &Path) {
        if self.who.is_ordinary() && rustix::process::getuid().is_root() {
            chown(path, Some(ORDINARY), Some(ORDINARY)).expect("chown");
            if path.is_dir() {
                fs::read_dir(path).expect("list").flatten().for_each(|entry| self.own(&entry.path()));
            }
        }
    }

    fn start_victim(&mut self) -> u16 {
        let mut command = self.who.command(&self.python);
        command.args(["-I", "-S"]).arg(collection().join("around/victim.py"));
        command.arg(self.token()).arg(self.path("outside")).env("HOSTILE_SECRET", &self.secret);
        let mut victim = spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()));
        let stdin = victim.stdin.take().expect("stdin");
        let mut stdout = BufReader::new(victim.stdout.take().expect("stdout"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("read");
        self.victim = Some((victim, stdin, stdout));
        line.trim().parse().expect("the victim's port")
    }

    /// Runs `agon` in the bot's folder and returns exit code, stdout and stderr.
    pub fn agon(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let out = |name: &str| fs::File::create(self.path("out").join(name)).expect("create");
        let mut command = self.who.command(Path::new(env!("CARGO_BIN_EXE_agon")));
        if let Some(group) = &self.cgroup {
            let inner = command;
            command = Command::new("/bin/sh");
            command.args(["-c", "echo 0 > \"$0\"/cgroup.procs && exec \"$@\""]).arg(group);
            command.arg(inner.get_program()).args(inner.get_args());
        }
        command.args(arguments).current_dir(self.path("bot")).stdin(Stdio::null());
        command.env("AGON_PYTHON", &self.python).env("XDG_CACHE_HOME", self.path("cache"));
        command.env("TMPDIR", self.path("tmp")).env("HOSTILE_SECRET", &self.secret);
        command.envs(self.defences_off.map(|names| ("AGON_TEST_DEFENCES_OFF", names)));
        let mut agon = spawn(command.stdout(out("stdout")).stderr(out("stderr")));
        let deadline = Instant::now() + GAME_TIMEOUT;
        let code = loop {
            if let Some(status) = agon.try_wait().expect("wait") {
                break status.code();
            }
            self.peak_kib.set(self.peak_kib.get().max(peak_kib(agon.id())));
            if Instant::now() > deadline {
                agon.kill().expect("kill");
                agon.wait().expect("wait");
                panic!("agon {arguments:?} does not end");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let text = |name: &str| {
            String::from_utf8_lossy(&fs::read(self.path("out").join(name)).expect("read")).into_owned()
        };
        (code, text("stdout"), text("stderr"))
    }

    /// Plays two games against the honest bot, and replays the record.
    pub fn play(&self, bot: &Bot, sandbox: &str) -> AttackResult {
        let (record, honest) = (self.path("tmp/record"), self.honest(bot));
        let (record, honest) = (record.to_str().expect("path"), honest.to_str().expect("path"));
        let mut arguments = vec!["play"];
        let seat = bot.seat();
        arguments.extend(bot.game.words(&seat, honest));
        arguments.extend([
            "--games",
            "2",
            "--seed",
            "7",
            "--json",
            "--force",
            "--record",
            record,
            "--sandbox",
            sandbox,
        ]);
        arguments.extend(["--jobs", if bot.slow { "2" } else { "1" }]);
        let (code, stdout, stderr) = self.agon(&arguments);
        let play = serde_json::from_str(&stdout).unwrap_or_default();
        let size = fs::metadata(record).map_or(0, |about| about.len() as usize);
        let (_, replayed, more) = self.agon(&["replay", record, "--json"]);
        let replay = serde_json::from_str(&replayed).unwrap_or_default();
        AttackResult { code, text: [stdout, stderr, replayed, more].concat(), play, replay, record: size }
    }

    /// Removes the expected files of a game.
    pub fn remove_expected_files(&self) {
        let _ = fs::remove_file(self.path("tmp/record"));
    }

    /// Damage outside the game, which must be empty. Stops the victim.
    pub fn damage(&mut self, outcome: &AttackResult) -> Vec<String> {
        let mut damage = Vec::new();
        if outcome.text.contains(&self.secret) {
            damage.push("a secret was printed".to_owned());
        }
        self.remove_expected_files();
        let mut see = |folder: &Path, expected: &[&str]| {
            let names = fs::read_dir(folder).expect("list").flatten().map(|entry| entry.file_name());
            let names = names.map(|name| name.to_string_lossy().into_owned());
            let own = folder.starts_with(self.home.path());
            for name in names.filter(|name| own || name.contains(&self.token())) {
                if !expected.contains(&name.as_str()) {
                    damage.push(format!("{} was left behind", folder.join(name).display()));
                }
            }
        };
        let token = self.token();
        see(&self.path("tmp"), &[]);
        see(&self.path("outside"), &["canary.py", "socket"]);
        for folder in SHARED_FOLDERS {
            see(Path::new(folder), &[&token]);
        }
        let canary = fs::read_to_string(self.path("outside/canary.py")).unwrap_or_default();
        if canary != format!("SECRET = '{}'\n", self.secret) {
            damage.push("the canary was changed".to_owned());
        }
        damage.extend(self.left_running().into_iter().map(|who| format!("left running: {who}")));
        damage.extend(self.end_victim().lines().map(|what| format!("the victim: {what}")));
        damage
    }

    /// Stops the victim. Returns its report.
    fn end_victim(&mut self) -> String {
        let Some((mut victim, stdin, mut stdout)) = self.victim.take() else { return String::new() };
        drop(stdin);
        let mut report = String::new();
        stdout.read_to_string(&mut report).expect("read");
        if !victim.wait().expect("wait").success() {
            report += "did not end normally\n";
        }
        report
    }

    /// Kills processes that were left running, by their ids.
    pub fn kill_leftovers(&self) {
        let home = self.home.path().to_string_lossy().into_owned();
        for stranger in self.leftover_processes().into_iter().filter(|stranger| stranger.contains(&home)) {
            let pid = stranger.split(' ').next().unwrap_or_default().parse().ok();
            let pid = pid.and_then(rustix::process::Pid::from_raw).expect("a number");
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }

    /// Processes that still run after a timeout and should not.
    fn left_running(&self) -> Vec<String> {
        let deadline = Instant::now() + EXIT_TIMEOUT;
        loop {
            let left = self.leftover_processes();
            if left.is_empty() || Instant::now() > deadline {
                return left;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Children of this test that it has not started, and processes that name or use the test's folders.
    fn leftover_processes(&self) -> Vec<String> {
        let own = own_children().lock().unwrap_or_else(PoisonError::into_inner);
        let home = self.home.path().to_string_lossy().into_owned();
        let mine = std::process::id();
        let strange = |pid: u32| {
            let folder = PathBuf::from(format!("/proc/{pid}"));
            let status = fs::read_to_string(folder.join("stat")).ok()?;
            let mut fields = status.rsplit_once(')')?.1.split_whitespace();
            let (state, parent) = (fields.next()?, fields.next()?.parse::<u32>().ok()?);
            let line = fs::read(folder.join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            let seat = fs::read_link(folder.join("cwd")).unwrap_or_default();
            let here = line.contains(&home) || seat.to_string_lossy().contains(&home);
            // A process that names the folder of another test belongs to that test. Ended processes do not count.
            let orphan = parent == mine && !line.contains("agon-hostile-");
            (state != "Z" && (orphan || here)).then(|| format!("{pid} {line}"))
        };
        let all = fs::read_dir("/proc").expect("proc").flatten();
        let all = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        all.filter(|pid| !own.contains(pid)).filter_map(strange).collect()
    }
}

/// Largest memory of a process so far, in KiB.
fn peak_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|text| text.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}

/// The folder of the hostile bots.
pub fn collection() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-bots/hostile");
    root.canonicalize().expect("the collection")
}

fn copy_all(from: &Path, to: &Path) {
    for entry in
        fs::read_dir(from).expect("list").flatten().filter(|entry| entry.file_name() != "__pycache__")
    {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir(&to).expect("folder");
            copy_all(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).expect("copy");
        }
    }
}

fn compile(source: &Path, program: &Path) {
    let output = Command::new("cc").args(["-O1", "-o"]).arg(program).arg(source).output().expect("cc");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
