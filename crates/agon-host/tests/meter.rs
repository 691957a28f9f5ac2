//! One meter for a whole bot: what any process or thread of a bot uses is charged, on turn and off.
//!
//! Each case is a bot that tries to think for free. It reports itself how much CPU time it has used. The case is played three times:
//! with a cgroup, without one, and with the meter switched off, which shows that the attack is real.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test may panic and print"
)]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use agon_core::{Assets, Game as _, HouseBots as _, Player, Response, Seat};
use agon_engine::house_player::HousePlayer;
use agon_games::connect_five::ConnectFive;
use agon_games::hide_and_seek::HideAndSeek;
use agon_host::{HelloInfo, LoadCheck, PlayerOptions, Program, python, sandbox};
use agon_test_servers::wait_until;
use common::{Seated, alone, faults, ms, play, settings};

/// Limit of a move.
const LIMIT: Duration = Duration::from_secs(1);
/// Number of moves of each bot: three in which it attacks, and one in which it reports.
const MOVES: u32 = 4;
/// Maximum CPU time that a bot gets without being charged, for each move: 2 % of its limit.
const MAX_UNBILLED: Duration = Duration::from_millis(20);
/// Minimum that an attack gets for free in all moves when the meter is switched off.
const MIN_FREE: Duration = Duration::from_millis(90);

/// Functions of all bots.
const PRELUDE: &str = r#"
import ctypes, hashlib, os, signal, sys, threading, time

def report(seconds):
    os.write(2, b"used %d us\n" % (seconds * 1e6))

def burn(seconds):
    """Uses CPU time in C code that other threads can run beside, and reports how much."""
    start = last = time.thread_time()
    while last - start < seconds:
        for _ in range(4):
            hashlib.pbkdf2_hmac("sha256", b"x", b"y", 1000)
        now = time.thread_time()
        report(now - last)
        last = now

def orphan(work):
    """Does work in a process whose parent has ended. Says so if that is refused."""
    try:
        child = os.fork()
    except OSError:
        os.write(2, b"refused\n")
        return
    if child:
        os.waitpid(child, 0)
        return
    if os.fork() == 0:
        work()
    os._exit(0)

def answer_now():
    """Sends the answer although the call goes on. The answer at the end of the call goes nowhere."""
    frame = sys._getframe()
    while "packets" not in frame.f_locals:
        frame = frame.f_back
    packets = frame.f_locals["packets"]
    packets.answer(int.from_bytes(packets.buffer[4:8], "little"), "0")
    Bot.answers = packets.answers, os.dup(packets.answers)
    os.dup2(os.open(os.devnull, os.O_WRONLY), packets.answers)

class Bot:
    moves = 0
    answers = None

    def get_move(self, board, player, T, N):
        if Bot.answers:
            os.dup2(Bot.answers[1], Bot.answers[0])
        self.moves += 1
        if self.moves > 3:
            raise RuntimeError("the end")
        self.attack()
        return next(c for c in range(9) if board[0][c] == 0)
"#;

/// Thinks in threads that end before the answer, while the first thread waits for the processor.
const ENDED_THREADS: &str = "
class Attack(Bot):
    def attack(self):
        threads = [threading.Thread(target=burn, args=(0.01,)) for _ in range(8)]
        for thread in threads: thread.start()
        burn(0.08)
        for thread in threads: thread.join()
";

/// Thinks in an orphan, while the first process waits for the processor.
const ORPHAN_ON_TURN: &str = "
class Attack(Bot):
    def attack(self):
        orphan(lambda: burn(0.08))
        burn(0.1)
";

/// Answers and thinks on.
const ANSWER_AND_THINK: &str = "
class Attack(Bot):
    def attack(self):
        answer_now()
        burn(0.06)
";

/// Lets an orphan think all the time.
const ORPHAN_OFF_TURN: &str = "
class Attack(Bot):
    def attack(self):
        if self.moves == 1:
            orphan(lambda: burn(0.5))
";

/// Thinks in a thread. A child that ends with SIGCONT continues the stopped process.
const WOKEN_BY_CHILD: &str = "
class Attack(Bot):
    def attack(self):
        threading.Thread(target=lambda: (time.sleep(0.06), burn(0.06)), daemon=True).start()
        libc = ctypes.CDLL(None, use_errno=True)
        child = libc.syscall(ctypes.c_long(56), ctypes.c_long(signal.SIGCONT), 0, 0, 0, 0)
        if child == 0:
            time.sleep(0.03)
            os._exit(0)
        if child < 0:
            os.write(2, b'refused\\n')
";

/// Thinks in another program, whose parent has ended.
const OTHER_PROGRAM: &str = "
class Attack(Bot):
    def attack(self):
        code = 'import hashlib, os, time\\n' + SOURCE
        orphan(lambda: os.execve('/usr/bin/python3', ['python3', '-S', '-c', code], {}))

SOURCE = '''
def report(seconds): os.write(2, b\"used %d us\\\\n\" % (seconds * 1e6))
last = time.thread_time()
end = last + 0.06
while last < end:
    hashlib.pbkdf2_hmac(\"sha256\", b\"x\", b\"y\", 4000)
    now = time.thread_time()
    report(now - last)
    last = now
'''
";

/// Thinks in the handler of a timer's signal, after its answer.
const TIMER: &str = "
class Attack(Bot):
    def attack(self):
        signal.signal(signal.SIGALRM, lambda *_: burn(0.06))
        signal.setitimer(signal.ITIMER_REAL, 0.03)
";

/// Which defences are on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Defences {
    Cgroup,
    NoCgroup,
    Off,
}

impl Defences {
    /// The value of `AGON_TEST_DEFENCES_OFF`.
    fn switch(self) -> &'static str {
        match self {
            Self::Cgroup => "",
            Self::NoCgroup => "cgroup",
            Self::Off => "meter",
        }
    }
}

/// What came of a case.
#[derive(Debug)]
struct Result {
    used: Duration,
    charged: Duration,
    /// CPU time in the record.
    counted: Duration,
    text: String,
}

impl Result {
    fn free(&self) -> Duration {
        self.used.saturating_sub(self.charged)
    }

    /// CPU time that was not charged or not even counted. On a busy machine a bot may be charged for other reasons.
    fn unmetered(&self) -> Duration {
        self.used.saturating_sub(self.charged.min(self.counted))
    }
}

/// Plays a case in a process of its own, because the switches and the launcher are for a whole program.
fn run(case: &str, defences: Defences) -> Result {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "one_case", "--ignored", "--nocapture"])
        .env("AGON_METER_CASE", case)
        .env("AGON_TEST_DEFENCES_OFF", defences.switch())
        .output()
        .unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{case} {defences:?}: {text}");
    let number = |name: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("{case} {defences:?}: {text}")).trim().parse().unwrap()
    };
    let [used, charged, counted] = ["USED ", "CHARGED ", "COUNTED "].map(number);
    println!("{case:20} {defences:8?} used {used:7} us, charged {charged:7} us");
    let [used, charged, counted] = [used, charged, counted].map(Duration::from_micros);
    Result { used, charged, counted, text }
}

/// What an attack needs besides its own process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Needs {
    Nothing,
    /// A process, which is refused without a cgroup.
    Process,
    /// A process with a signal of its choice at its end, which is always refused.
    ExitSignal,
}

/// Asserts that a bot is charged for all it uses, and that the attack is real.
fn is_charged(case: &str, needs: Needs) {
    let _alone = alone();
    for defences in [Defences::Cgroup, Defences::NoCgroup] {
        if defences == Defences::Cgroup && !has_cgroup() {
            agon_test_servers::cannot_run(agon_test_servers::Lacks::Machine, "no cgroup can be created here");
            continue;
        }
        let result = run(case, defences);
        assert!(result.free() <= MAX_UNBILLED * MOVES, "{case} {defences:?}: {result:#?}");
        let refused = result.text.contains("refused");
        let expected = match needs {
            Needs::Nothing => false,
            Needs::Process => defences == Defences::NoCgroup,
            Needs::ExitSignal => true,
        };
        assert_eq!(refused, expected, "{case} {defences:?}: {result:#?}");
        // In a cgroup the other processes of a bot are frozen between its turns and hardly run.
        let may_be_idle = refused || defences == Defences::Cgroup;
        assert!(may_be_idle || result.used > ms(50), "it did nothing, {case} {defences:?}: {result:#?}");
    }
    let result = run(case, Defences::Off);
    if result.text.contains("refused") {
        // Another defence already refuses the call itself.
        return;
    }
    assert!(result.unmetered() >= MIN_FREE, "the attack is not real, {case}: {result:#?}");
}

/// An opponent that answers when the attacker has done all that it can do meanwhile: however busy the machine is, what an attacker does
/// after its answer it does on the opponent's time.
struct PatientOpponent(HousePlayer<ConnectFive>);

impl PatientOpponent {
    fn new() -> Self {
        Self(HousePlayer::new((ConnectFive::bots()[0].make)()))
    }
}

impl Player<ConnectFive> for PatientOpponent {
    fn begin(&mut self, seed: u64) {
        self.0.begin(seed);
    }

    fn ask(&mut self, seen: &<ConnectFive as agon_core::Game>::Observation<'_>, limit: Duration) {
        self.0.ask(seen, limit);
    }

    fn answer(&mut self) -> Response<<ConnectFive as agon_core::Game>::Answer> {
        let mut idle_looks = 0;
        wait_until("the attacker does nothing more", || {
            idle_looks = if own_pythons_are_idle() { idle_looks + 1 } else { 0 };
            idle_looks >= IDLE_LOOKS
        });
        self.0.answer()
    }
}

/// Number of looks in a row, 10 ms apart, in which nothing runs: longer than an attacker waits for its timer or its child.
const IDLE_LOOKS: u32 = 15;

/// Whether no thread of a Python process that this process has started is running or ready to run.
fn own_pythons_are_idle() -> bool {
    let mut idle = true;
    let mut found = vec![std::process::id()];
    while let Some(pid) = found.pop() {
        let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        let is_python = program.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"));
        for thread in threads {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
            // The state comes after the name, which may contain blanks and brackets.
            let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
            idle &= !is_python || !stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('R'));
        }
    }
    idle
}

fn has_cgroup() -> bool {
    static HAS: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *HAS.get_or_init(|| {
        let launcher = sandbox::Launcher::new(env!("CARGO_BIN_EXE_agon-launch"));
        let layers = launcher.probe().unwrap();
        layers.iter().any(|layer| layer.kind == sandbox::LayerKind::Cgroup && layer.active)
    })
}

fn source(case: &str) -> String {
    let attack = match case {
        "ended_threads" => ENDED_THREADS,
        "orphan_on_turn" => ORPHAN_ON_TURN,
        "answer_and_think" => ANSWER_AND_THINK,
        "orphan_off_turn" => ORPHAN_OFF_TURN,
        "woken_by_child" => WOKEN_BY_CHILD,
        "other_program" => OTHER_PROGRAM,
        "timer" => TIMER,
        other => panic!("no case {other}"),
    };
    format!("{PRELUDE}\n{attack}")
}

/// A sandboxed bot with this source.
fn bot(game: &'static agon_core::GameInfo, file: &str, source: &str) -> (tempfile::TempDir, Program) {
    let folder = tempfile::Builder::new().prefix("agon-meter-").tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let path: PathBuf = folder.path().join(file);
    fs::write(&path, source).unwrap();
    let program = python::bot(game, &path, None).unwrap().sandboxed();
    (folder, program)
}

#[test]
#[ignore = "played by the other tests, in a process of its own"]
fn one_case() {
    let Ok(case) = std::env::var("AGON_METER_CASE") else { return };
    sandbox::set_test_launcher(env!("CARGO_BIN_EXE_agon-launch"));
    if std::env::var("AGON_TEST_DEFENCES_OFF").as_deref() == Ok(Defences::Off.switch()) {
        // The weaker meter charges what was used before a request up to the time of its answer, which grows on a busy machine. What an
        // attack gains is only seen on a machine that is not: root can have that. Without the permission nothing changes.
        let _ = rustix::process::setpriority_process(None, -20);
    }
    // On one core the processes of a bot compete, as in a competition.
    agon_host::pinning::pin(agon_host::pinning::cores()[0]);
    let (_folder, program) = bot(ConnectFive::info(), "Attack.py", &source(&case));
    let seconds = format!("{}", LIMIT.as_secs_f64());
    let rules = [("seconds", seconds.as_str()), ("first", "1"), ("p", "0"), ("q", "0")];
    let played = play::<ConnectFive>(
        &rules,
        1,
        vec![Seated::Program(program), Seated::Player(Box::new(PatientOpponent::new()))],
    );
    let fault = faults(&played, 0).pop().unwrap_or_else(|| panic!("no fault: {played:?}"));
    let used = fault
        .report
        .stderr
        .lines()
        .filter_map(|line| line.strip_prefix("used ")?.strip_suffix(" us")?.parse::<u64>().ok());
    println!("\nUSED {}", used.sum::<u64>());
    println!("CHARGED {}", played.seats[0].time.charged().as_micros());
    println!("COUNTED {}", played.seats[0].time.cpu.as_micros());
    let record = agon_core::record::read_all(&played.record.as_ref().unwrap().0).unwrap().remove(0);
    println!("TIMES {:?} {:?}", record.meters, record.times[0]);
    println!("{:?}", fault.report);
}

#[test]
fn threads_that_have_ended_are_charged() {
    is_charged("ended_threads", Needs::Nothing);
}

#[test]
fn orphan_on_turn_is_charged() {
    is_charged("orphan_on_turn", Needs::Process);
}

#[test]
fn thinking_after_the_answer_is_charged() {
    is_charged("answer_and_think", Needs::Nothing);
}

#[test]
fn orphan_off_turn_is_charged() {
    is_charged("orphan_off_turn", Needs::Process);
}

#[test]
fn process_woken_by_its_child_is_charged() {
    is_charged("woken_by_child", Needs::ExitSignal);
}

#[test]
fn other_program_is_charged() {
    is_charged("other_program", Needs::Process);
}

#[test]
fn handler_of_a_timer_is_charged() {
    is_charged("timer", Needs::Nothing);
}

/// A bot that must not remember its games cannot leave a helper outside them.
#[test]
fn helper_from_loading_is_rejected() {
    let _alone = alone();
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    let python = std::env::var_os("AGON_PYTHON").map_or(own, PathBuf::from);
    if !Command::new(&python).args(["-c", "import numpy"]).status().is_ok_and(|status| status.success()) {
        agon_test_servers::cannot_run(agon_test_servers::Lacks::Setup, "no Python with NumPy");
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "helpers_from_loading", "--ignored", "--nocapture"])
        .env("AGON_PYTHON", python)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
#[ignore = "run by helper_from_loading_is_rejected, with a Python that has NumPy"]
fn helpers_from_loading() {
    sandbox::set_test_launcher(env!("CARGO_BIN_EXE_agon-launch"));
    let seeker = "
import os, threading, time
from players import Player
START
class Seeker(Player):
    def move(self): pass
class Hider(Player):
    def move(self): pass
";
    let process = "
if os.fork() == 0:
    if os.fork() == 0: time.sleep(20)
    os._exit(0)
";
    let thread = "threading.Thread(target=time.sleep, args=(20,), daemon=True).start()";
    for (start, wanted) in [(process, "process"), (thread, "thread"), ("", "")] {
        if start == process && !has_cgroup() {
            agon_test_servers::cannot_run(agon_test_servers::Lacks::Machine, "no cgroup can be created here");
            continue;
        }
        let (_folder, program) = bot(HideAndSeek::info(), "bot.py", &seeker.replace("START", start));
        let settings = settings::<HideAndSeek>(&[]);
        let game = HideAndSeek::new(&settings, 2, &Assets::none()).unwrap();
        let names = ["a".to_owned(), "b".to_owned()];
        let hello = HelloInfo::new(&game, &settings, Seat(0), &names);
        let check = LoadCheck::begin::<HideAndSeek>(&program, &hello, PlayerOptions::of::<HideAndSeek>());
        let loaded = check.unwrap().finish();
        if wanted.is_empty() {
            assert!(loaded.is_ok(), "{loaded:?}");
            continue;
        }
        let text = format!("{:?}", loaded.unwrap_err());
        assert!(text.contains(&format!("starts a {wanted} while it is loaded")), "{text}");
        let players = vec![Seated::Program(program), Seated::House("still-hider")];
        let played = play::<HideAndSeek>(&[("steps", "20")], 1, players);
        let fault = faults(&played, 0);
        let text = format!("{:?}", fault.first());
        assert!(text.contains(&format!("a {wanted} that it started while it was loaded")), "{text}");
    }
}
