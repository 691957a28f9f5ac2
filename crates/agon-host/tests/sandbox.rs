//! Hostile programs in the sandbox: every attack must fail. Every attack runs in every situation, as root and as an ordinary
//! user, with namespaces and without. Each attack limits itself, so that a hole fails a test and does not harm the machine.

mod harness;

use std::fs;

use agon_host::sandbox::{BotExit, LayerKind};

use harness::{SCRATCH, Situation, everywhere};

#[test]
fn foreign_files_cannot_be_read() {
    everywhere(|harness| {
        let parent = harness.victim();
        harness.repels(
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

/// The same attacks without a sandbox must succeed, or the tests here would prove nothing.
#[test]
fn attacks_succeed_without_a_sandbox() {
    everywhere(|harness| {
        let victim = harness.victim();
        let mut policy = harness.policy(&format!(
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
        policy.without = LayerKind::ALL.to_vec();
        let outcome = harness.run_policy(&policy);
        assert!(!outcome.stdout.contains("refused"), "{:?} {outcome:#?}", harness.situation);
        assert!(outcome.stdout.matches("HOLE").count() >= 14, "{:?} {outcome:#?}", harness.situation);
    });
}

/// If one layer lets something through by mistake, another must stop it: so each is tested with the others left out.
#[test]
fn each_layer_holds_alone() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("listen");
    let port = listener.local_addr().expect("address").port();
    let landlock = [LayerKind::Landlock, LayerKind::LandlockNetwork, LayerKind::LandlockScopes];
    let files = r#"
attack("passwd", lambda: open("/etc/passwd").read())
attack("other bot", lambda: open(OTHER + "/secret.txt").read())
attack("own file", lambda: open(BOT + "/own.txt", "r+"))
attack("tmp", lambda: open("/tmp/agon-test-hole", "w"))
"#;
    everywhere(|harness| {
        let victim = harness.victim();
        let signals = format!(
            r#"
attack("signal", lambda: os.kill({victim}, 0))
attack("by descriptor", lambda: signal.pidfd_send_signal(os.pidfd_open({victim}), 0))
"#
        );
        let connect = format!(
            "import socket\nattack('connect', lambda: socket.create_connection(('127.0.0.1', {port}), 5))\n"
        );
        let bind = "attack('bind', lambda: socket.socket().bind(('127.0.0.1', 0)))\n";
        let only = |kinds: &[LayerKind], code: &str, count: usize| {
            let mut policy = harness.policy(code);
            policy.required = kinds.to_vec();
            policy.without = LayerKind::ALL.into_iter().filter(|kind| !kinds.contains(kind)).collect();
            let outcome = harness.run_policy(&policy);
            let refused = outcome.stdout.matches("refused").count();
            assert_eq!(
                (refused, outcome.stdout.contains("HOLE")),
                (count, false),
                "{:?} {kinds:?} {outcome:#?}",
                harness.situation
            );
        };
        only(&[LayerKind::Namespaces], &format!("{files}{signals}{connect}"), 7);
        only(&landlock, &format!("{files}{signals}{connect}{bind}"), 8);
        only(&[LayerKind::Seccomp], &format!("{signals}{connect}{bind}"), 4);
    });
}

#[test]
fn bot_can_write_only_to_scratch() {
    everywhere(|harness| {
        harness.repels(
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
        assert_eq!(fs::read_to_string(harness.path("bot/own.txt")).expect("read"), "own");
        let left = fs::read_dir(harness.path("scratch")).expect("list").count();
        assert_eq!(left, 0, "scratch is empty again, {:?}", harness.situation);
    });
}

#[test]
fn scratch_size_is_limited() {
    everywhere(|harness| {
        // At most 64 MiB, a quarter of a second apart at the end, so that the launcher has time to measure.
        let outcome = harness.run(
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
    # A launcher that has not looked yet gets time to.
    time.sleep(20)
    print("HOLE", flush=True)
"#,
        );
        assert!(!outcome.stdout.contains("HOLE"), "{:?} {outcome:?}", harness.situation);
        if matches!(harness.situation, Situation::Root | Situation::User) {
            let most = SCRATCH >> 20;
            assert!(
                outcome.stdout.starts_with(&format!("refused after {} True", most - 1))
                    || outcome.stdout.starts_with(&format!("refused after {most} True")),
                "{outcome:?}"
            );
        } else {
            assert_eq!(
                outcome.ended,
                BotExit::FolderFull(harness.path("scratch")),
                "{:?}",
                harness.situation
            );
        }
    });
}

/// Folders that cannot be listed count towards the limit and are removed at the end.
#[test]
fn unlistable_folders_are_counted_and_removed() {
    everywhere(|harness| {
        let exact = matches!(harness.situation, Situation::Root | Situation::User);
        // Where the launcher has to measure, it gets time to do so.
        let outcome = harness.run(&format!(
            "STAYS = {}\n{}",
            if exact { "0.1" } else { "20" },
            r#"
os.mkdir(SCRATCH + "/deep")
os.chdir(SCRATCH + "/deep")
for _ in range(30):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
os.mkdir(SCRATCH + "/dark", 0o300)
open(SCRATCH + "/dark/file", "w").write("x")
print("made", flush=True)
time.sleep(STAYS)
"#
        ));
        // A launcher that measures may end the bot before it prints: the folders are too much as soon as they are there.
        assert!(!exact || outcome.stdout == "made\n", "{:?} {outcome:?}", harness.situation);
        let expected = if exact { BotExit::Exited(0) } else { BotExit::FolderFull(harness.path("scratch")) };
        assert_eq!(outcome.ended, expected, "{:?}", harness.situation);
        assert_eq!(
            fs::read_dir(harness.path("scratch")).expect("list").count(),
            0,
            "{:?}",
            harness.situation
        );
    });
}

#[test]
fn kept_folder_is_kept_and_limited() {
    everywhere(|harness| {
        let mut policy = harness.policy("open(SCRATCH + '/learnt', 'w').write('much')");
        policy.writable[0].kept = true;
        assert_eq!(harness.run_policy(&policy).ended, BotExit::Exited(0), "{:?}", harness.situation);
        assert_eq!(fs::read_to_string(harness.path("scratch/learnt")).expect("read"), "much");
        let mut policy = harness.policy(
            "assert open(SCRATCH + '/learnt').read() == 'much'\nfor n in range(9): open(SCRATCH + '/%d' % n, 'w').write('x' * (1 << 20))\ntime.sleep(5)",
        );
        policy.writable[0].kept = true;
        let quota = policy.writable[0].bytes;
        // With namespaces the folder has a file system of its size, and the program fails when it is full.
        let is_exact = !harness.situation.without().contains(&LayerKind::Namespaces);
        let full = if is_exact { BotExit::Exited(1) } else { BotExit::FolderFull(harness.path("scratch")) };
        assert_eq!(harness.run_policy(&policy).ended, full, "{:?}", harness.situation);
        let kept = fs::read_dir(harness.path("scratch")).expect("list");
        let bytes: u64 = kept.map(|entry| entry.expect("entry").metadata().expect("size").len()).sum();
        assert!(bytes > 3 << 20 && (!is_exact || bytes <= quota), "{bytes} {:?}", harness.situation);
        if is_exact {
            // A full folder is no reason to end a bot. It can still have empty files and folders, and looks take place meanwhile.
            let mut policy = harness.policy(
                "try:\n    open(SCRATCH + '/rest', 'w').write('x' * (9 << 20))\nexcept OSError:\n    pass\n\
                 open(SCRATCH + '/empty', 'w').close()\nos.mkdir(SCRATCH + '/folder')\ntime.sleep(1)",
            );
            policy.writable[0].kept = true;
            assert_eq!(harness.run_policy(&policy).ended, BotExit::Exited(0), "{:?}", harness.situation);
        }
    });
}

#[test]
fn network_is_unreachable() {
    everywhere(|harness| {
        harness.repels(
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
fn processes_outside_get_no_signal() {
    everywhere(|harness| {
        let parent = harness.victim();
        // Signal 0 only asks whether sending would work; the test never sends a harmful signal.
        harness.repels(
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
    everywhere(|harness| {
        harness.repels(
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
fn bot_is_not_root_inside() {
    everywhere(|harness| {
        let outcome = harness.run(
            r#"
print(0 in os.getresuid() + os.getresgid(), [g for g in os.getgroups() if g != 65534])
class Header(ctypes.Structure): _fields_ = [("v", ctypes.c_uint32), ("pid", ctypes.c_int)]
data = (ctypes.c_uint32 * 6)()
call(125, ctypes.byref(Header(0x20080522, 0)), data)
print(list(data), call(157, 39, 0, 0, 0, 0))
"#,
        );
        assert_eq!(outcome.stdout, "False []\n[0, 0, 0, 0, 0, 0] 1\n", "{:?} {outcome:?}", harness.situation);
    });
}

#[test]
fn fork_bomb_is_limited() {
    everywhere(|harness| {
        let mut policy = harness.policy(
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
        let outcome = harness.run_policy(&policy);
        let made: u32 = outcome.stdout.lines().last().and_then(|line| line.parse().ok()).expect("a number");
        assert!(outcome.stdout.starts_with("refused"), "{:?} {outcome:?}", harness.situation);
        // Where the limit counts a user's processes, other tests' programs may come and go.
        let exact = !matches!(harness.situation, Situation::UserBare | Situation::UserOld);
        assert!(if exact { made == 11 } else { made < 100 }, "{:?} made {made}", harness.situation);
    });
}

#[test]
fn limit_of_one_process_forbids_forks_and_threads() {
    everywhere(|harness| {
        let mut policy = harness.policy(
            "import _thread\nattack('fork', os.fork)\nattack('thread', lambda: _thread.start_new_thread(time.sleep, (1,)))\nattack('spawn', lambda: os.posix_spawn('/bin/true', ['true'], {}))",
        );
        policy.limits.processes = 1;
        let outcome = harness.run_policy(&policy);
        assert_eq!(outcome.stdout.matches("refused").count(), 3, "{:?} {outcome:?}", harness.situation);
    });
}

#[test]
fn memory_bomb_is_limited() {
    everywhere(|harness| {
        harness.repels(
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
fn processes_of_others_are_invisible() {
    everywhere(|harness| {
        let outcome = harness.run("print([e for e in os.listdir('/proc') if e.isdigit()] if os.path.exists('/proc/self') else [])\n");
        let hidden = matches!(harness.situation, Situation::Root | Situation::User);
        if hidden {
            assert_eq!(outcome.stdout, "['2']\n", "{:?} {outcome:?}", harness.situation);
        } else {
            assert!(outcome.stderr.contains("Permission denied"), "{:?} {outcome:?}", harness.situation);
        }
    });
}
