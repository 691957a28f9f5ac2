//! Real small programs behind the sandbox: what must work works, and what must not is refused. Every test runs in every
//! situation: as root and as an ordinary user, with namespaces and without. Attacks are bounded by themselves.

mod jail;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::time::{Duration, Instant};

use agon_host::sandbox::{Ended, Kind, Launcher, Policy, SandboxError, Stream, Streams};

use jail::{Arena, SCRATCH, Situation, everywhere, is_root, launcher};

#[test]
fn it_runs_and_has_its_streams() {
    everywhere(|arena| {
        let policy = arena.policy(
            "line = input()\nprint('got', line, flush=True)\nprint('words', file=sys.stderr)\nsys.exit(7)",
        );
        let mut jailed = arena.spawn(&policy).expect("spawn");
        writeln!(jailed.take_stdin().expect("stdin"), "hello").expect("write");
        let mut answer = String::new();
        BufReader::new(jailed.take_stdout().expect("stdout")).read_line(&mut answer).expect("read");
        assert_eq!(answer, "got hello\n");
        let mut words = String::new();
        BufReader::new(jailed.take_stderr().expect("stderr")).read_line(&mut words).expect("read");
        assert_eq!(words, "words\n");
        assert_eq!(
            jailed.wait_for(Some(Duration::from_secs(10))),
            Some(Ended::Exited(7)),
            "{:?}",
            arena.situation
        );
        assert!(jailed.layers().contains(&Kind::Landlock));
    });
}

#[test]
fn a_shell_can_start_programs() {
    everywhere(|arena| {
        let mut policy = arena.policy("");
        policy.program = "/bin/sh".into();
        policy.arguments = vec!["-c".into(), "cat own.txt | tr a-z A-Z; kill -SEGV $$".into()];
        let outcome = arena.run_policy(&policy);
        assert_eq!(outcome.stdout, "OWN", "{:?} {outcome:?}", arena.situation);
        assert_eq!(outcome.ended, Ended::Signalled(11), "{:?}", arena.situation);
    });
}

/// Whatever of these is installed: runtimes with threads, timers and large reservations of their own.
#[test]
fn common_runtimes_start() {
    everywhere(|arena| {
        let mut policy = arena.policy(
            "import asyncio, threading\nasyncio.run(asyncio.sleep(0.01))\nt = threading.Thread(target=lambda: print('ok'))\nt.start()\nt.join()",
        );
        assert_eq!(arena.run_policy(&policy).stdout, "ok\n", "{:?}", arena.situation);
        policy.limits.address_space = None;
        policy.limits.memory = 1 << 30;
        policy.limits.processes = 64;
        for (program, arguments, says) in [
            ("/usr/bin/node", ["-e", "setTimeout(() => console.log('ok'), 5)"], "ok\n"),
            ("/usr/bin/java", ["-Xmx64m", "-version"], ""),
        ] {
            if !fs::exists(program).expect("exists") {
                continue;
            }
            policy.program = program.into();
            policy.arguments = arguments.map(Into::into).to_vec();
            let outcome = arena.run_policy(&policy);
            assert_eq!(outcome.ended, Ended::Exited(0), "{:?} {program} {outcome:?}", arena.situation);
            assert_eq!(outcome.stdout, says, "{:?} {program} {outcome:?}", arena.situation);
        }
    });
}

#[test]
fn the_pid_is_the_bots_own() {
    everywhere(|arena| {
        let mut jailed = arena.spawn(&arena.policy("time.sleep(10)")).expect("spawn");
        let pid = jailed.pid().as_raw_nonzero();
        let line = fs::read(format!("/proc/{pid}/cmdline")).expect("cmdline");
        assert!(line.starts_with(b"/usr/"), "{:?}", String::from_utf8_lossy(&line));
        let state = || {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("stat");
            stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next())
        };
        jailed.pause().expect("pause");
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(state(), Some('T'), "{:?}", arena.situation);
        jailed.resume().expect("resume");
        std::thread::sleep(Duration::from_millis(20));
        assert_ne!(state(), Some('T'), "{:?}", arena.situation);
        assert_eq!(jailed.try_wait(), None);
        assert_eq!(jailed.kill_all(), Ended::Stopped);
        assert!(!fs::exists(format!("/proc/{pid}")).expect("exists"));
    });
}

#[test]
fn foreign_files_cannot_be_read() {
    everywhere(|arena| {
        let parent = arena.victim();
        arena.repels(
            11,
            &format!(
                r#"
attack("passwd", lambda: open("/etc/passwd").read())
attack("shadow", lambda: open("/etc/shadow").read())
attack("root", lambda: os.listdir("/root"))
attack("slash", lambda: [e for e in os.listdir("/") if e in ("root", "home", "var", "sys")][0])
attack("tmp", lambda: [e for e in os.listdir("/tmp") if e != os.path.basename(os.path.dirname(BOT))][0])
attack("other bot", lambda: open(OTHER + "/secret.txt").read())
attack("other bot by dots", lambda: open(BOT + "/../other/secret.txt").read())
attack("other bot's list", lambda: os.listdir(OTHER))
attack("engine memory", lambda: open("/proc/{parent}/mem", "rb").read(1))
attack("engine environment", lambda: open("/proc/{parent}/environ", "rb").read(1))
attack("launcher environment", lambda: open("/proc/%d/environ" % os.getppid(), "rb").read(1))
assert open("own.txt").read() == "own"
"#
            ),
        );
    });
}

/// The same attacks without a sandbox: they must succeed, or the tests here would show nothing.
#[test]
fn attacks_are_real() {
    everywhere(|arena| {
        let victim = arena.victim();
        let mut policy = arena.policy(&format!(
            r#"
import mmap, signal, socket
attack("passwd", lambda: open("/etc/passwd").read())
attack("other bot", lambda: open(OTHER + "/secret.txt").read())
attack("socket", lambda: socket.socket(socket.AF_INET))
attack("unix", lambda: socket.socket(socket.AF_UNIX))
attack("signal", lambda: os.kill({victim}, 0))
attack("limits of others", lambda: call(302, {victim}, 7, None, ctypes.create_string_buffer(16)))
attack("environment", lambda: open("/proc/{victim}/environ", "rb").read(1))
attack("own file", lambda: open(BOT + "/own.txt", "r+"))
attack("other mode", lambda: os.chmod(OTHER, 0o755))
attack("memfd", lambda: os.memfd_create("x"))
attack("shared", lambda: mmap.mmap(-1, 2 << 30))
attack("memory", lambda: len(bytearray(300 << 20)))
attack("owning a pipe", lambda: __import__("fcntl").fcntl(1, 8, {victim}))
attack("session", lambda: os.fork() or os.setsid())
"#
        ));
        policy.required.clear();
        policy.without = Kind::ALL.to_vec();
        let outcome = arena.run_policy(&policy);
        assert!(!outcome.stdout.contains("refused"), "{:?} {outcome:#?}", arena.situation);
        assert!(outcome.stdout.matches("HOLE").count() >= 14, "{:?} {outcome:#?}", arena.situation);
    });
}

#[test]
fn nothing_is_written_outside_scratch() {
    everywhere(|arena| {
        arena.repels(
            13,
            r#"
attack("own folder", lambda: open(BOT + "/new", "w"))
attack("own file", lambda: open(BOT + "/own.txt", "r+"))
attack("own file truncated", lambda: os.truncate(BOT + "/own.txt", 0))
attack("own file opened away", lambda: os.open(BOT + "/own.txt", os.O_RDONLY | os.O_TRUNC))
attack("own file removed", lambda: os.unlink(BOT + "/own.txt"))
attack("own mode", lambda: os.chmod(BOT + "/own.txt", 0o777))
attack("other mode", lambda: os.chmod(OTHER, 0o777))
attack("other times", lambda: os.utime(OTHER + "/secret.txt", (0, 0)))
attack("other bot", lambda: open(OTHER + "/new", "w"))
attack("tmp", lambda: open("/tmp/agon-test-hole", "w"))
attack("shared memory", lambda: open("/dev/shm/agon-test-hole", "w"))
attack("symbolic link", lambda: os.symlink(OTHER, SCRATCH + "/link"))
attack("hard link", lambda: os.link(OTHER + "/secret.txt", SCRATCH + "/link"))
with open(SCRATCH + "/notes", "w") as file:
    file.write("mine")
os.replace(SCRATCH + "/notes", SCRATCH + "/kept")
os.mkdir(SCRATCH + "/folder")
assert open(SCRATCH + "/kept").read() == "mine"
"#,
        );
        assert_eq!(fs::read_to_string(arena.path("bot/own.txt")).expect("read"), "own");
        let left = fs::read_dir(arena.path("scratch")).expect("list").count();
        assert_eq!(left, 0, "scratch is empty again, {:?}", arena.situation);
    });
}

#[test]
fn scratch_ends_at_its_limit() {
    everywhere(|arena| {
        // At most 64 MiB, a quarter of a second apart at the end, so that the launcher can look.
        let outcome = arena.run(
            r#"
written = 0
try:
    for number in range(64):
        with open(SCRATCH + "/%d" % number, "wb") as file:
            file.write(bytes(1 << 20))
        written += 1
        time.sleep(0.05)
except OSError as error:
    print("refused after", written, error.errno == errno.ENOSPC, flush=True)
else:
    print("HOLE", flush=True)
"#,
        );
        assert!(!outcome.stdout.contains("HOLE"), "{:?} {outcome:?}", arena.situation);
        if matches!(arena.situation, Situation::Root | Situation::User) {
            let most = SCRATCH >> 20;
            assert!(
                outcome.stdout.starts_with(&format!("refused after {} True", most - 1))
                    || outcome.stdout.starts_with(&format!("refused after {most} True")),
                "{outcome:?}"
            );
        } else {
            assert_eq!(outcome.ended, Ended::FolderFull(arena.path("scratch")), "{:?}", arena.situation);
        }
    });
}

/// Folders that cannot be listed hide nothing, and are gone at the end all the same.
#[test]
fn hidden_folders_count_and_go() {
    everywhere(|arena| {
        let outcome = arena.run(
            r#"
os.mkdir(SCRATCH + "/deep")
os.chdir(SCRATCH + "/deep")
for _ in range(30):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
os.mkdir(SCRATCH + "/dark", 0o300)
open(SCRATCH + "/dark/file", "w").write("x")
print("made", flush=True)
time.sleep(0.5)
"#,
        );
        assert_eq!(outcome.stdout, "made\n", "{:?} {outcome:?}", arena.situation);
        let exact = matches!(arena.situation, Situation::Root | Situation::User);
        let expected = if exact { Ended::Exited(0) } else { Ended::FolderFull(arena.path("scratch")) };
        assert_eq!(outcome.ended, expected, "{:?}", arena.situation);
        assert_eq!(fs::read_dir(arena.path("scratch")).expect("list").count(), 0, "{:?}", arena.situation);
    });
}

#[test]
fn a_kept_folder_is_kept_and_bounded() {
    everywhere(|arena| {
        let mut policy = arena.policy("open(SCRATCH + '/learnt', 'w').write('much')");
        policy.writable[0].kept = true;
        assert_eq!(arena.run_policy(&policy).ended, Ended::Exited(0), "{:?}", arena.situation);
        assert_eq!(fs::read_to_string(arena.path("scratch/learnt")).expect("read"), "much");
        let mut policy = arena.policy(
            "assert open(SCRATCH + '/learnt').read() == 'much'\nfor n in range(9): open(SCRATCH + '/%d' % n, 'w').write('x' * (1 << 20))\ntime.sleep(5)",
        );
        policy.writable[0].kept = true;
        assert_eq!(
            arena.run_policy(&policy).ended,
            Ended::FolderFull(arena.path("scratch")),
            "{:?}",
            arena.situation
        );
    });
}

#[test]
fn there_is_no_network() {
    everywhere(|arena| {
        arena.repels(
            9,
            r#"
import socket
attack("inet", lambda: socket.socket(socket.AF_INET))
attack("inet6", lambda: socket.socket(socket.AF_INET6))
attack("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attack("unix", lambda: socket.socket(socket.AF_UNIX))
attack("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
attack("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
attack("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
attack("datagram pair", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
holes = []
for family in range(64):
    for kind in (1, 2, 3, 5):
        try:
            holes.append(socket.socket(family, kind))
        except OSError:
            pass
attack("any", lambda: holes[0])
a, b = socket.socketpair()
a.send(b"x")
assert b.recv(1) == b"x"
"#,
        );
    });
}

#[test]
fn nobody_outside_gets_a_signal() {
    everywhere(|arena| {
        let parent = arena.victim();
        // Signal 0 only asks whether one could; nothing harmful is ever sent.
        arena.repels(
            10,
            &format!(
                r#"
attack("engine", lambda: os.kill({parent}, 0))
attack("engine's group", lambda: os.killpg({parent}, 0))
attack("engine's thread", lambda: call(200, {parent}, 0))
attack("init", lambda: os.kill(1, 0) if {parent} != 1 and os.getpid() > 5 else os.kill({parent}, 0))
attack("launcher", lambda: os.kill(os.getppid() or {parent}, 0))
attack("queued", lambda: call(129, {parent}, 0, ctypes.create_string_buffer(128)))
attack("by descriptor", lambda: signal.pidfd_send_signal(os.pidfd_open({parent}), 0))
import fcntl
attack("by owning a pipe", lambda: fcntl.fcntl(1, fcntl.F_SETOWN, {parent}))
attack("limits of others", lambda: call(302, {parent}, 7, None, ctypes.create_string_buffer(16)))
attack("processors of others", lambda: os.sched_setaffinity({parent}, {{0}}))
seen = []
signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
os.kill(os.getpid(), signal.SIGUSR1)
signal.raise_signal(signal.SIGUSR1)
assert len(seen) == 2
"#
            ),
        );
    });
}

#[test]
fn privileged_calls_are_refused() {
    everywhere(|arena| {
        arena.repels(
            25,
            r#"
attack("a timer that wakes", lambda: call(222, 0, 0, ctypes.create_string_buffer(8)))
attack("unshare user", lambda: call(272, 0x10000000))
attack("unshare mount", lambda: call(272, 0x20000))
attack("clone user", lambda: call(56, 0x10000000 | 17, 0, 0, 0, 0))
attack("clone3", lambda: call(435, ctypes.create_string_buffer(88), 88))
attack("setns", lambda: call(308, 0, 0))
attack("mount", lambda: call(165, b"none", b"/tmp", b"tmpfs", 0, 0))
attack("umount", lambda: call(166, b"/", 2))
attack("chroot", lambda: os.chroot(BOT))
attack("ptrace", lambda: call(101, 0, 0, 0, 0))
attack("process memory", lambda: call(310, os.getpid(), 0, 0, 0, 0, 0))
attack("setuid", lambda: os.setuid(0))
attack("setresuid", lambda: os.setresuid(1, 1, 1))
attack("setgroups", lambda: os.setgroups([0]))
attack("setsid", lambda: os.setsid())
attack("bpf", lambda: call(321, 0, 0, 0))
attack("perf", lambda: call(298, 0, 0, 0, 0, 0))
attack("io_uring", lambda: call(425, 1, ctypes.create_string_buffer(120)))
attack("userfaultfd", lambda: call(323, 0))
attack("keys", lambda: call(250, 0, 0, 0, 0))
attack("clock", lambda: call(227, 0, ctypes.create_string_buffer(16)))
attack("memfd", lambda: os.memfd_create("x"))
attack("shm", lambda: call(29, 0, 4096, 0o1600))
attack("x32", lambda: call(0x40000000 | 41, 2, 1, 0))
attack("dying alone", lambda: call(157, 1, 0))
"#,
        );
    });
}

#[test]
fn nobody_is_root_inside() {
    everywhere(|arena| {
        let outcome = arena.run(
            r#"
print(0 in os.getresuid() + os.getresgid(), [g for g in os.getgroups() if g != 65534])
class Header(ctypes.Structure): _fields_ = [("v", ctypes.c_uint32), ("pid", ctypes.c_int)]
data = (ctypes.c_uint32 * 6)()
call(125, ctypes.byref(Header(0x20080522, 0)), data)
print(list(data), call(157, 39, 0, 0, 0, 0))
"#,
        );
        assert_eq!(outcome.stdout, "False []\n[0, 0, 0, 0, 0, 0] 1\n", "{:?} {outcome:?}", arena.situation);
    });
}

#[test]
fn a_fork_bomb_is_bounded() {
    everywhere(|arena| {
        let mut policy = arena.policy(
            r#"
made = 0
try:
    for _ in range(200):
        if os.fork() == 0:
            time.sleep(3)
            os._exit(0)
        made += 1
except OSError as error:
    print("refused", flush=True)
print(made, flush=True)
"#,
        );
        policy.limits.processes = 12;
        let outcome = arena.run_policy(&policy);
        let made: u32 = outcome.stdout.lines().last().and_then(|line| line.parse().ok()).expect("a number");
        assert!(outcome.stdout.starts_with("refused"), "{:?} {outcome:?}", arena.situation);
        // Where the limit counts a user's processes, other tests' programs may come and go meanwhile.
        let exact = !matches!(arena.situation, Situation::UserBare | Situation::UserOld);
        assert!(if exact { made == 11 } else { made < 100 }, "{:?} made {made}", arena.situation);
    });
}

#[test]
fn one_process_means_one() {
    everywhere(|arena| {
        let mut policy = arena.policy(
            "import _thread\nattack('fork', os.fork)\nattack('thread', lambda: _thread.start_new_thread(time.sleep, (1,)))\nattack('spawn', lambda: os.posix_spawn('/bin/true', ['true'], {}))",
        );
        policy.limits.processes = 1;
        let outcome = arena.run_policy(&policy);
        assert_eq!(outcome.stdout.matches("refused").count(), 3, "{:?} {outcome:?}", arena.situation);
    });
}

#[test]
fn a_memory_bomb_is_bounded() {
    everywhere(|arena| {
        arena.repels(
            5,
            r#"
import mmap
keep = []
attack("2 GiB at once", lambda: keep.append(bytearray(2 << 30)))
def piecewise():
    for _ in range(256):
        keep.append(bytearray(8 << 20))
attack("2 GiB in pieces", piecewise)
keep.clear()
attack("shared", lambda: mmap.mmap(-1, 2 << 30))
attack("little shared", lambda: mmap.mmap(-1, 4096))
attack("heap", lambda: call(12, 0) and libc.sbrk(ctypes.c_long(1 << 31)) + 1 or (_ for _ in ()).throw(MemoryError()))
keep.append(bytearray(100 << 20))
"#,
        );
    });
}

#[test]
fn what_is_left_behind_is_gone() {
    everywhere(|arena| {
        // A daemon in the usual way: two forks, its own session where that is allowed, all signals ignored.
        let policy = arena.policy(
            r#"
if os.fork() == 0:
    try: os.setsid()
    except OSError: pass
    if os.fork() == 0:
        for number in range(1, 32):
            try: signal.signal(number, signal.SIG_IGN)
            except OSError: pass
        print("daemon", flush=True)
        time.sleep(15)
    os._exit(0)
time.sleep(0.3)
"#,
        );
        for drop_only in [false, true] {
            let mut jailed = arena.spawn(&policy).expect("spawn");
            let mut stdout = BufReader::new(jailed.take_stdout().expect("stdout"));
            let mut line = String::new();
            stdout.read_line(&mut line).expect("read");
            assert_eq!(line, "daemon\n", "{:?}", arena.situation);
            assert!(!processes_naming(arena).is_empty());
            if !drop_only {
                assert_eq!(jailed.wait_for(Some(Duration::from_secs(5))), Some(Ended::Exited(0)));
                jailed.kill_all();
            }
            drop(jailed);
            assert_eq!(processes_naming(arena), Vec::<String>::new(), "{:?}", arena.situation);
        }
    });
}

/// Processes with this arena's path among their arguments.
fn processes_naming(arena: &Arena) -> Vec<String> {
    let needle = arena.path("bot").display().to_string();
    let lines = fs::read_dir("/proc").expect("proc").flatten().filter_map(|process| {
        let line = fs::read(process.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(&needle).then_some(line)
    });
    lines.collect()
}

#[test]
fn a_bot_ends_with_the_engine() {
    // The engine is this test's own binary, started again to run the helper below, and killed hard.
    let program = std::env::current_exe().expect("own path");
    let arena = Arena::new(Situation::all()[0]);
    let mut engine = std::process::Command::new(program)
        .args(["--exact", "helper_engine_that_is_killed", "--ignored", "--nocapture"])
        .env("AGON_TEST_ARENA", arena.path(""))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("start");
    let stdout = BufReader::new(engine.stdout.take().expect("stdout"));
    let ready = stdout.lines().map_while(Result::ok).any(|line| line.contains("bots are running"));
    assert!(ready);
    assert_eq!(processes_naming(&arena).len(), Situation::all().len());
    engine.kill().expect("kill");
    engine.wait().expect("wait");
    let deadline = Instant::now() + Duration::from_secs(5);
    while !processes_naming(&arena).is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(processes_naming(&arena), Vec::<String>::new());
}

#[test]
#[ignore = "a part of another test"]
fn helper_engine_that_is_killed() {
    let Some(home) = std::env::var_os("AGON_TEST_ARENA").map(std::path::PathBuf::from) else { return };
    let mut running = Vec::new();
    for situation in Situation::all() {
        let mut policy = Policy::new("/bin/sleep", home.join("bot")).arguments(["10"]);
        policy.program = jail::python();
        policy.arguments = ["-I", "-S", "-c", "import time; time.sleep(15)"].map(Into::into).to_vec();
        policy.arguments.push(home.join("bot").display().to_string());
        policy.without = situation.without();
        running.push(launcher(situation).spawn(&policy, Streams::default()).expect("spawn"));
    }
    println!("bots are running");
    std::thread::sleep(Duration::from_secs(15));
}

#[test]
fn environment_and_descriptors_are_clean() {
    everywhere(|arena| {
        let outcome = arena.run(
            r#"
import resource
print(sorted(k for k in os.environ if k != "LC_CTYPE"))
found = []
for fd in range(200):
    try:
        os.fstat(fd)
        found.append(fd)
    except OSError:
        pass
print(found, os.umask(0) == 0o77, resource.getrlimit(resource.RLIMIT_CORE), os.getcwd() == BOT, os.getpid() == os.getsid(0))
"#,
        );
        let expected = "['LANG', 'PATH']\n[0, 1, 2] True (0, 0) True True\n";
        assert_eq!(outcome.stdout, expected, "{:?} {outcome:?}", arena.situation);
    });
}

#[test]
fn extra_descriptors_arrive_by_number() {
    everywhere(|arena| {
        let (mut ours, theirs) =
            std::io::pipe().map(|(read, write)| (BufReader::new(read), write)).expect("pipe");
        let second = fs::File::open(arena.path("other/secret.txt")).expect("open");
        let policy = arena.policy("os.write(3, os.read(4, 100) + b'\\n')");
        let streams = Streams {
            stdout: Stream::Null,
            stderr: Stream::Null,
            extra: vec![theirs.into(), second.into()],
            ..Streams::default()
        };
        let mut jailed = launcher(arena.situation).spawn(&policy, streams).expect("spawn");
        let mut line = String::new();
        ours.read_line(&mut line).expect("read");
        assert_eq!(line, "secret\n", "{:?}", arena.situation);
        assert!(jailed.take_stdout().is_none());
    });
}

#[test]
fn processes_of_others_are_not_seen() {
    everywhere(|arena| {
        let outcome = arena.run("print([e for e in os.listdir('/proc') if e.isdigit()] if os.path.exists('/proc/self') else [])\n");
        let hidden = matches!(arena.situation, Situation::Root | Situation::User);
        if hidden {
            assert_eq!(outcome.stdout, "['2']\n", "{:?} {outcome:?}", arena.situation);
        } else {
            assert!(outcome.stderr.contains("Permission denied"), "{:?} {outcome:?}", arena.situation);
        }
    });
}

#[test]
fn failures_are_named() {
    everywhere(|arena| {
        let mut policy = arena.policy("");
        policy.program = arena.path("bot/missing");
        let error = arena.spawn(&policy).expect_err("no such program").to_string();
        assert!(error.contains("missing"), "{error}");
        let mut policy = arena.policy("");
        policy.folder = arena.path("nowhere");
        let error = arena.spawn(&policy).expect_err("no such folder").to_string();
        assert!(error.contains("nowhere"), "{error}");
        let mut policy = arena.policy("");
        policy.program = arena.path("bot/own.txt");
        let error = arena.spawn(&policy).expect_err("not a program").to_string();
        assert!(error.contains("own.txt"), "{error}");
        let mut policy = arena.policy("");
        policy.folder = "relative".into();
        assert!(matches!(arena.spawn(&policy), Err(SandboxError::Policy(_))));
        assert_eq!(processes_naming(arena), Vec::<String>::new());
    });
}

#[test]
fn a_missing_layer_is_refused_by_name() {
    everywhere(|arena| {
        let mut policy = arena.policy("");
        policy.required.push(Kind::Cgroup);
        let error = arena.spawn(&policy).expect_err("no cgroup was given");
        assert!(error.to_string().contains("cgroup"), "{error}");
        assert!(matches!(error, SandboxError::Missing(layers) if layers.len() == 1));
        let mut policy = arena.policy("");
        policy.without.push(Kind::Seccomp);
        assert!(matches!(arena.spawn(&policy), Err(SandboxError::Policy(_))));
    });
}

/// Folders in which this process's groups are the topmost, so that a group made there takes nothing away from anybody.
fn cgroup_folders() -> Vec<&'static str> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let topmost = |line: &str| own.lines().any(|own| own.ends_with(line));
    let folders = [("/sys/fs/cgroup/pids", ":pids:/"), ("/sys/fs/cgroup/unified", "0::/")];
    folders
        .into_iter()
        .filter(|(path, line)| is_root() && fs::exists(path).unwrap_or(false) && topmost(line))
        .map(|(path, _)| path)
        .collect()
}

#[test]
fn a_cgroup_bounds_and_goes_away() {
    let folders = cgroup_folders();
    if !folders.contains(&"/sys/fs/cgroup/pids") {
        return;
    }
    let groups = || -> Vec<String> {
        let names = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("list").flatten());
        let own = format!("agon-{}-", std::process::id());
        names
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| name.starts_with(&own))
            .collect()
    };
    let arena = Arena::new(Situation::Root);
    let launcher = Launcher::new(env!("CARGO_BIN_EXE_agon-launch")).cgroups(folders.clone());
    let mut policy = arena.policy(
        "made = 0\ntry:\n    for _ in range(50):\n        if os.fork() == 0:\n            time.sleep(10)\n        made += 1\nexcept OSError: print(made, flush=True)\ntime.sleep(10)",
    );
    policy.required.push(Kind::Cgroup);
    policy.without = vec![Kind::Namespaces, Kind::Limits];
    policy.required.retain(|kind| !policy.without.contains(kind));
    policy.limits.processes = 7;
    let mut jailed = launcher.spawn(&policy, Streams::default()).expect("spawn");
    let mut line = String::new();
    BufReader::new(jailed.take_stdout().expect("stdout")).read_line(&mut line).expect("read");
    assert_eq!(line, "6\n");
    assert_eq!(groups().len(), folders.len());
    jailed.kill_all();
    assert_eq!(groups(), Vec::<String>::new());
    assert_eq!(processes_naming(&arena), Vec::<String>::new());
}

#[test]
fn every_layer_is_probed() {
    for situation in [Situation::Root, Situation::User] {
        if situation.is_root() && !is_root() {
            continue;
        }
        let layers = launcher(situation).probe().expect("probe");
        let kinds: Vec<Kind> = layers.iter().map(|layer| layer.kind).collect();
        assert_eq!(kinds, Kind::ALL);
        for layer in layers {
            println!("{situation:?} {:17} {:5} {}", layer.name(), layer.active, layer.detail);
            assert!(!layer.detail.is_empty() && !layer.what().is_empty() && !layer.how_to_get().is_empty());
        }
        let active = |kind: Kind| layers.iter().any(|layer| layer.kind == kind && layer.active);
        assert!(active(Kind::Seccomp) && active(Kind::Limits) && active(Kind::Privileges));
        assert_eq!(active(Kind::User), situation.is_root());
    }
}

#[test]
fn a_launcher_that_is_none_is_found_out() {
    let launcher = Launcher::new("/bin/true");
    assert!(matches!(launcher.probe(), Err(SandboxError::Silent(_))));
    let launcher = Launcher::new("/nowhere/agon");
    assert!(matches!(launcher.probe(), Err(SandboxError::Launcher { .. })));
}

#[test]
fn starting_is_quick() {
    everywhere(|arena| {
        let mut policy = arena.policy("");
        policy.program = "/bin/true".into();
        let mut times: [Vec<Duration>; 3] = Default::default();
        for _ in 0..21 {
            let start = Instant::now();
            let mut jailed = arena.spawn(&policy).expect("spawn");
            times[0].push(start.elapsed());
            jailed.wait_for(None);
            times[1].push(start.elapsed());
            jailed.kill_all();
            times[2].push(start.elapsed());
        }
        for part in &mut times {
            part.sort();
        }
        let [started, ended, gone] = times.map(|part| part[10]);
        println!(
            "{:?}: /bin/true started after {started:?}, ended after {ended:?}, gone after {gone:?}",
            arena.situation
        );
        assert!(gone < Duration::from_millis(500));
    });
}
