//! Limits over several processes of a bot, and covert channels between bots: files of the same folder, locks, settings of open
//! files, cached pages.

#![allow(clippy::expect_used, reason = "tests")]

mod harness;

use std::fs;

use agon_host::sandbox::{BotExit, SandboxError};

use harness::{Harness, everywhere, is_root};

/// Another bot's files beside the bot's own: as a file, as a folder, through other names.
fn with_neighbours(harness: &Harness) {
    let files =
        ["bot/helper.py", "bot/lib/more.py", "bot/other.py", "bot/deep/other/code.py", "bot/deep/near.py"];
    for file in files {
        let path = harness.path(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("make folders");
        fs::write(&path, "secret = 42\n").expect("write");
    }
    std::os::unix::fs::symlink("other.py", harness.path("bot/link.py")).expect("link");
    fs::hard_link(harness.path("bot/other.py"), harness.path("bot/twin.py")).expect("link");
    if is_root() && !harness.situation.is_root() {
        for file in files {
            std::os::unix::fs::chown(harness.path(file), Some(65534), Some(65534)).expect("chown");
        }
    }
}

const NEIGHBOURS: &str = r#"
sys.path.insert(0, BOT)
attack("code", lambda: open("other.py").read())
attack("module", lambda: __import__("other"))
attack("code by a link", lambda: open("link.py").read())
attack("code by another name", lambda: open("twin.py").read())
attack("code by dots", lambda: open("lib/../other.py").read())
attack("running it", lambda: os.execv(BOT + "/other.py", ["other"]))
attack("a folder's code", lambda: open("deep/other/code.py").read())
attack("a folder's module", lambda: __import__("deep.other.code"))
"#;

#[test]
fn hidden_paths_are_closed_and_their_neighbours_open() {
    everywhere(|harness| {
        with_neighbours(harness);
        let own = "import helper\nassert open('own.txt').read() == 'own' and open('lib/more.py').read() and open('deep/near.py').read()\n\
                   assert {'own.txt', 'helper.py'} <= set(os.listdir('.'))\nprint('played')\n";
        let mut policy = harness.policy(&format!("{NEIGHBOURS}{own}"));
        let open = harness.run_policy(&policy);
        // Without hiding they are open, or this test would prove nothing. (One cannot be executed in any case.)
        assert_eq!(open.stdout.matches("HOLE").count(), 7, "{:?} {open:#?}", harness.situation);
        policy.hidden = vec![harness.path("bot/other.py"), harness.path("bot/deep/other")];
        policy.executable.push(policy.folder.clone());
        let outcome = harness.run_policy(&policy);
        assert_eq!(outcome.stdout.matches("refused ").count(), 8, "{:?} {outcome:#?}", harness.situation);
        assert!(outcome.stdout.ends_with("played\n"), "{:?} {outcome:#?}", harness.situation);
        assert_eq!(outcome.ended, BotExit::Exited(0), "{:?}", harness.situation);
    });
}

#[test]
fn hiding_required_paths_is_rejected() {
    everywhere(|harness| {
        for path in ["bot", "scratch/notes"] {
            let mut policy = harness.policy("");
            policy.hidden.push(harness.path(path));
            let error = harness.spawn(&policy).err();
            assert!(matches!(error, Some(SandboxError::Policy(_))), "{path}: {error:?}");
        }
    });
}

#[test]
fn bot_cannot_leave_marks_on_shared_open_files() {
    everywhere(|harness| {
        harness.repels(
            19,
            r#"
import fcntl, socket
own = open("own.txt", "rb")
for name, kind in (("shared", fcntl.LOCK_SH), ("whole", fcntl.LOCK_EX)):
    attack("a %s lock" % name, lambda: fcntl.flock(own, kind | fcntl.LOCK_NB))
    attack("a %s lock on a device" % name, lambda: fcntl.flock(open("/dev/null"), kind | fcntl.LOCK_NB))
attack("a record lock", lambda: fcntl.lockf(own, fcntl.LOCK_SH | fcntl.LOCK_NB))
attack("a record lock of the file", lambda: fcntl.fcntl(own, 37, bytes([0] * 32)))
attack("a lease", lambda: fcntl.fcntl(own, fcntl.F_SETLEASE, fcntl.F_RDLCK))
attack("notices", lambda: fcntl.fcntl(os.open(".", os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS))
attack("a pipe's size", lambda: fcntl.fcntl(2, 1031, 16384))
attack("a hint", lambda: fcntl.fcntl(own, 1036, (1).to_bytes(8, "little")))
attack("a hint for the file", lambda: fcntl.fcntl(own, 1038, (1).to_bytes(8, "little")))
attack("appending", lambda: fcntl.fcntl(2, fcntl.F_SETFL, fcntl.fcntl(2, fcntl.F_GETFL) | os.O_APPEND))
attack("packets", lambda: fcntl.fcntl(2, fcntl.F_SETFL, fcntl.fcntl(2, fcntl.F_GETFL) | os.O_DIRECT))
attack("dropping pages", lambda: os.posix_fadvise(own.fileno(), 0, 0, os.POSIX_FADV_DONTNEED))
attack("reading ahead", lambda: call(187, own.fileno(), 0, 4096))
attack("reading what is there", lambda: os.preadv(own.fileno(), [bytearray(1)], 0, 8))
attack("pages in memory", lambda: call(27, id(own) & ~4095, 4096, ctypes.create_string_buffer(8)))
a, b = socket.socketpair()
attack("a socket's setting", lambda: a.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, 3))
attack("a setting of many", lambda: a.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 5000))
a.setblocking(False)
copy = fcntl.fcntl(own, fcntl.F_DUPFD_CLOEXEC, 20)
fcntl.fcntl(copy, fcntl.F_SETFD, 0)
assert os.preadv(copy, [bytearray(3)], 0) == 3 and fcntl.fcntl(2, 1032) > 0
"#,
        );
    });
}

#[test]
fn memory_is_limited_over_all_processes() {
    // Two children of 200 MiB each, for at most eight seconds. The limit is 256 MiB.
    let take = |how: &str| {
        format!(
            r#"
import threading
def take(how):
    for _ in range(2):
        if os.fork() == 0:
            if how == "orphans" and os.fork() != 0:
                os._exit(0)
            taken = bytearray(b"x") * (200 << 20)
            time.sleep(8)
            os._exit(0)
time.sleep(0.3)
if "{how}" == "thread":
    threading.Thread(target=take, args=("{how}",)).start()
else:
    take("{how}")
time.sleep(8)
print("HOLE", flush=True)
"#
        )
    };
    everywhere(|harness| {
        for how in ["children", "orphans", "thread"] {
            let outcome = harness.run(&take(how));
            assert_eq!(outcome.ended, BotExit::TooMuchMemory, "{:?} {how} {outcome:?}", harness.situation);
        }
    });
    assert_eq!(
        BotExit::TooMuchMemory.to_string(),
        "used more memory than allowed, all its processes together"
    );
}

#[test]
fn memory_shared_with_forks_is_counted_once() {
    everywhere(|harness| {
        // Each of them maps all 200 MiB, and together they use 200 MiB.
        let outcome = harness.run(
            r#"
taken = bytearray(b"x") * (200 << 20)
if os.fork() == 0:
    time.sleep(0.7)
    os._exit(0)
os.wait()
print(len(taken) >> 20)
"#,
        );
        assert_eq!(
            (outcome.ended, outcome.stdout.as_str()),
            (BotExit::Exited(0), "200\n"),
            "{:?}",
            harness.situation
        );
    });
}
