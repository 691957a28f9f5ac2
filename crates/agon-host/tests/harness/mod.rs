//! A test environment for hostile programs: folders, a launcher, and every situation in which a bot can be started.
#![allow(clippy::expect_used, clippy::print_stdout, reason = "this is a part of tests")]
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use agon_host::sandbox::{BotExit, Launcher, LayerKind, Policy, SandboxError, SandboxedProcess, Streams};

/// The user that starts the launcher, and the layers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Situation {
    /// As root, with every available layer.
    Root,
    /// As root, without namespaces.
    RootBare,
    /// As an ordinary user, with every available layer.
    User,
    /// As an ordinary user, without namespaces: only Landlock, seccomp and limits.
    UserBare,
    /// The same without Landlock scopes, as on kernels before 6.12.
    UserOld,
}

impl Situation {
    /// All situations that are possible here.
    #[track_caller]
    pub fn all() -> Vec<Self> {
        if !is_root() {
            agon_test_servers::cannot_run(
                agon_test_servers::Lacks::Machine,
                "its part as root: this is another user",
            );
        }
        let all = [Self::Root, Self::RootBare, Self::User, Self::UserBare, Self::UserOld];
        all.into_iter().filter(|one| is_root() || !matches!(one, Self::Root | Self::RootBare)).collect()
    }

    pub fn is_root(self) -> bool {
        matches!(self, Self::Root | Self::RootBare)
    }

    /// Layers that are left out.
    pub fn without(self) -> Vec<LayerKind> {
        match self {
            Self::Root | Self::User => vec![],
            Self::RootBare | Self::UserBare => vec![LayerKind::Namespaces],
            Self::UserOld => {
                vec![LayerKind::Namespaces, LayerKind::LandlockNetwork, LayerKind::LandlockScopes]
            }
        }
    }
}

pub fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

const ORDINARY: u32 = 65534;

/// The launcher for a situation. All tests share it, so that probing happens once.
pub fn launcher(situation: Situation) -> &'static Launcher {
    static ROOT: OnceLock<Launcher> = OnceLock::new();
    static USER: OnceLock<Launcher> = OnceLock::new();
    if situation.is_root() || !is_root() {
        return ROOT.get_or_init(|| Launcher::new(program()));
    }
    USER.get_or_init(|| Launcher::new(program()).through(as_ordinary()))
}

/// The command prefix that runs the rest as an ordinary user.
pub fn as_ordinary() -> [String; 4] {
    [
        "/usr/bin/setpriv".into(),
        format!("--reuid={ORDINARY}"),
        format!("--regid={ORDINARY}"),
        "--clear-groups".into(),
    ]
}

/// The launcher program, which every user must be able to execute.
fn program() -> PathBuf {
    let built = PathBuf::from(env!("CARGO_BIN_EXE_agon-launch"));
    let open = |path: &Path| path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o001 != 0);
    assert!(
        !is_root() || built.ancestors().all(open),
        "these tests need a build folder that other users can reach"
    );
    built
}

/// An interpreter that every user can execute.
pub fn python() -> PathBuf {
    let found =
        ["/usr/bin/python3", "/usr/local/bin/python3"].into_iter().find(|path| Path::new(path).exists());
    PathBuf::from(found.expect("these tests need python3 in /usr"))
}

/// Folders for one test: a bot's, another bot's, and a scratch folder.
pub struct Harness {
    home: tempfile::TempDir,
    victim: Child,
    pub situation: Situation,
}

impl Drop for Harness {
    fn drop(&mut self) {
        self.victim.kill().expect("the victim still runs");
        self.victim.wait().expect("wait");
    }
}

/// Result of a program.
#[derive(Debug)]
pub struct Outcome {
    pub stdout: String,
    pub stderr: String,
    pub ended: BotExit,
}

pub const SCRATCH: u64 = 4 << 20;

impl Harness {
    pub fn new(situation: Situation) -> Self {
        let home = tempfile::Builder::new().prefix("agon-test-").tempdir().expect("a temporary folder");
        fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).expect("set mode");
        for folder in ["bot", "other", "scratch"] {
            fs::create_dir(home.path().join(folder)).expect("make folder");
        }
        fs::write(home.path().join("other/secret.txt"), "secret").expect("write");
        fs::write(home.path().join("bot/own.txt"), "own").expect("write");
        if is_root() && !situation.is_root() {
            // The ordinary user owns everything, so that only the sandbox protects it.
            for path in ["", "bot", "bot/own.txt", "other", "other/secret.txt", "scratch"] {
                chown(home.path().join(path), Some(ORDINARY), Some(ORDINARY)).expect("chown");
            }
        }
        let mut command = vec!["/bin/sleep".to_owned(), "60".to_owned()];
        if is_root() && !situation.is_root() {
            command.splice(0..0, as_ordinary());
        }
        let victim =
            Command::new(&command[0]).args(&command[1..]).stdin(Stdio::null()).spawn().expect("a victim");
        Self { home, victim, situation }
    }

    /// A process of the launcher's user: only the sandbox protects it from a bot of that user.
    pub fn victim(&self) -> u32 {
        self.victim.id()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// A policy for a Python program, with scratch and the situation's layers.
    pub fn policy(&self, code: &str) -> Policy {
        let code = format!("{PRELUDE}\n{code}");
        let paths = ["bot", "other", "scratch"].map(|name| self.path(name).display().to_string());
        let mut policy = Policy::new(python(), self.path("bot"))
            .arguments(["-I", "-B", "-S", "-c", &code])
            .arguments(paths)
            .scratch(self.path("scratch"), SCRATCH);
        policy.limits.memory = 256 << 20;
        policy.limits.cpu_seconds = 20;
        policy.without = self.situation.without();
        policy
            .required
            .extend((!policy.without.contains(&LayerKind::Namespaces)).then_some(LayerKind::Namespaces));
        policy.required.extend(self.situation.is_root().then_some(LayerKind::User));
        policy
    }

    pub fn spawn(&self, policy: &Policy) -> Result<SandboxedProcess, SandboxError> {
        launcher(self.situation).spawn(policy, Streams::default())
    }

    /// Runs a program to its end, at most 20 seconds.
    pub fn run_policy(&self, policy: &Policy) -> Outcome {
        let mut process = self.spawn(policy).unwrap_or_else(|error| panic!("{:?}: {error}", self.situation));
        drop(process.take_stdin());
        let mut stdout = process.take_stdout().expect("stdout");
        let mut stderr = process.take_stderr().expect("stderr");
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).expect("read stderr");
            bytes
        });
        let output = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            stdout.read_to_end(&mut bytes).expect("read stdout");
            bytes
        });
        process.wait_for(Some(Duration::from_secs(20)));
        let ended = process.kill_all();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let stdout = text(output.join().expect("stdout"));
        Outcome { stdout, stderr: text(reader.join().expect("stderr")), ended }
    }

    /// Runs Python code to its end.
    pub fn run(&self, code: &str) -> Outcome {
        self.run_policy(&self.policy(code))
    }

    /// Runs attacks and checks that each of them fails. `count` is their expected number.
    pub fn repels(&self, count: usize, attacks: &str) {
        let outcome = self.run(attacks);
        println!("{:?}\n{}", self.situation, outcome.stdout); // the result of each attack, with --nocapture
        let refused = outcome.stdout.lines().filter(|line| line.starts_with("refused ")).count();
        assert!(!outcome.stdout.contains("HOLE"), "{:?}: {outcome:#?}", self.situation);
        assert_eq!(refused, count, "{:?}: {outcome:#?}", self.situation);
        assert_eq!(outcome.ended, BotExit::Exited(0), "{:?}: {outcome:#?}", self.situation);
    }
}

/// Processes with this harness's path among their arguments.
pub fn processes_naming(harness: &Harness) -> Vec<String> {
    let needle = harness.path("bot").display().to_string();
    let lines = fs::read_dir("/proc").expect("proc").flatten().filter_map(|process| {
        let line = fs::read(process.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(&needle).then_some(line)
    });
    lines.collect()
}

/// Runs a test in a new harness for every situation.
pub fn everywhere(test: impl Fn(&Harness)) {
    for situation in Situation::all() {
        test(&Harness::new(situation));
    }
}

/// Shared by hostile programs: `attack` says whether something that must fail did.
const PRELUDE: &str = r#"
import ctypes, errno, os, signal, sys, time
BOT, OTHER, SCRATCH = sys.argv[1:4]
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def attack(name, what):
    try:
        result = what()
    except Exception as error:
        print("refused", name, repr(error), flush=True)
    else:
        print("HOLE", name, repr(result)[:200], flush=True)
"#;
