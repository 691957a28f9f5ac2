//! A program that tests start, kill and restart, with its output in a file, and optionally with a small disk or a wrong clock.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "for tests")]

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// Start configuration of a program.
#[derive(Clone, Debug)]
pub struct ProgramConfig {
    words: Vec<OsString>,
    folder: PathBuf,
    log: PathBuf,
    variables: Vec<(OsString, OsString)>,
    small_disk: Option<(PathBuf, u64)>,
}

impl ProgramConfig {
    /// A program and its arguments, in a folder. Its output is appended to `log`.
    pub fn new(program: impl AsRef<Path>, words: &[&str], folder: &Path, log: &Path) -> Self {
        let program = program.as_ref().as_os_str().to_owned();
        let words = std::iter::once(program).chain(words.iter().map(Into::into)).collect();
        let (folder, log) = (folder.to_owned(), log.to_owned());
        Self { words, folder, log, variables: Vec::new(), small_disk: None }
    }

    /// Adds an environment variable.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Mounts a small file system of `bytes` bytes on a folder, visible only to this program. Needs root
    /// ([`can_have_small_disks`]).
    #[must_use]
    pub fn with_small_disk(mut self, folder: &Path, bytes: u64) -> Self {
        self.small_disk = Some((folder.to_owned(), bytes));
        self
    }

    /// Uses a clock that is wrong by `seconds`. `shim` comes from [`wrong_clock`].
    #[must_use]
    pub fn with_clock(self, shim: &Path, seconds: i64) -> Self {
        self.with("LD_PRELOAD", shim).with("AGON_RIG_CLOCK", seconds.to_string())
    }

    /// Starts the program.
    pub fn start(&self) -> Program {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]);
        if let Some((folder, bytes)) = &self.small_disk {
            fs::create_dir_all(folder).unwrap();
            // The mounts are private to the program and end with it. `$0` is the folder.
            let script = format!("mount -t tmpfs -o size={bytes} tmpfs \"$0\" && exec \"$@\"");
            command.args(["unshare", "--mount", "sh", "-c", &script]).arg(folder);
        }
        let log = OpenOptions::new().create(true).append(true).open(&self.log).unwrap();
        let from = log.metadata().unwrap().len();
        command.args(&self.words).current_dir(&self.folder).stdin(Stdio::null());
        command.stdout(log.try_clone().unwrap()).stderr(log);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let (hold, held) = mpsc::channel::<()>();
        let (started, child) = mpsc::channel();
        // The kernel kills the program with the thread that started it.
        thread::spawn(move || {
            started.send(command.spawn()).unwrap();
            let _ = held.recv();
        });
        let child = child.recv().unwrap().unwrap();
        Program { child, log: self.log.clone(), from, _holder: hold }
    }
}

/// A running program.
#[derive(Debug)]
pub struct Program {
    child: Child,
    log: PathBuf,
    from: u64,
    _holder: mpsc::Sender<()>,
}

impl Program {
    /// Process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills the program, like a power cut.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Sends SIGTERM.
    pub fn terminate(&self) {
        let pid = rustix::process::Pid::from_raw(self.child.id() as i32).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }

    /// Exit status, if the program has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Waits for the end of the program; `None` after the timeout.
    pub fn wait(&mut self, timeout: Duration) -> Option<ExitStatus> {
        let begun = Instant::now();
        while begun.elapsed() < timeout {
            if let Some(status) = self.ended() {
                return Some(status);
            }
            sleep(Duration::from_millis(20));
        }
        self.ended()
    }

    /// Output since the start.
    pub fn log_text(&self) -> String {
        let mut file = File::open(&self.log).unwrap();
        file.seek(SeekFrom::Start(self.from)).unwrap();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Path of a folder in the program's mount namespace, for filling and clearing its small disk.
    pub fn path_inside(&self, folder: &Path) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root{}", self.child.id(), folder.display()))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Fills a disk completely. Returns the file that does it; remove it to free the space.
pub fn fill(folder: &Path) -> PathBuf {
    let path = folder.join("filler");
    let mut file = File::create(&path).unwrap();
    let block = vec![0_u8; 64 << 10];
    for size in [block.len(), 4096] {
        while std::io::Write::write_all(&mut file, &block[..size]).is_ok() {}
    }
    path
}

/// Whether a program can have a separate file system on this machine.
pub fn can_have_small_disks() -> bool {
    static CAN: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *CAN.get_or_init(|| {
        let words = ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"];
        let tried = Command::new("unshare").args(words).stderr(Stdio::null()).status();
        tried.is_ok_and(|status| status.success())
    })
}

/// Source of a library that overrides the C library's functions for the time of day. A time namespace does not change that clock, and tests
/// must not change the machine's clock. The library also adjusts the time stamps that the kernel puts on packets.
const CLOCK_LIBRARY_SOURCE: &str = r#"#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long wrong(void) { const char *text = getenv("AGON_RIG_CLOCK"); return text ? atol(text) : 0; }
int clock_gettime(clockid_t id, struct timespec *to) {
    long failed = syscall(SYS_clock_gettime, id, to);
    if (failed == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) to->tv_sec += wrong();
    return (int)failed;
}
int gettimeofday(struct timeval *restrict to, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    to->tv_sec = now.tv_sec;
    to->tv_usec = now.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *to) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to) *to = now.tv_sec;
    return now.tv_sec;
}
ssize_t recvmsg(int from, struct msghdr *message, int flags) {
    ssize_t got = syscall(SYS_recvmsg, from, message, flags);
    for (struct cmsghdr *one = got < 0 ? NULL : CMSG_FIRSTHDR(message); one; one = CMSG_NXTHDR(message, one)) {
        struct timespec stamp;
        if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SO_TIMESTAMPNS) continue;
        memcpy(&stamp, CMSG_DATA(one), sizeof stamp);
        stamp.tv_sec += wrong();
        memcpy(CMSG_DATA(one), &stamp, sizeof stamp);
    }
    return got;
}
"#;

/// Compiles the library for a wrong clock with the C compiler that Rust links with; `None` without a compiler.
pub fn wrong_clock(folder: &Path) -> Option<PathBuf> {
    let (source, library) = (folder.join("clock.c"), folder.join("clock.so"));
    fs::write(&source, CLOCK_LIBRARY_SOURCE).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    compiler.status().is_ok_and(|status| status.success()).then_some(library)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_disk_fills_up_and_can_be_cleared() {
        if !can_have_small_disks() {
            crate::cannot_run(crate::Lacks::Machine, "no file system can be mounted");
            return;
        }
        let place = tempfile::tempdir().unwrap();
        let (disk, log) = (place.path().join("disk"), place.path().join("log"));
        let script = ProgramConfig::new("sleep", &["60"], place.path(), &log).with_small_disk(&disk, 1 << 20);
        let program = script.start();
        let seen = program.path_inside(&disk);
        // The file system is mounted when the shell has become the program.
        let comm = || fs::read_to_string(format!("/proc/{}/comm", program.pid())).unwrap();
        while comm().trim() != "sleep" {
            sleep(Duration::from_millis(5));
        }
        let filler = fill(&seen);
        assert!(fs::write(seen.join("more"), [7; 100]).is_err());
        fs::remove_file(filler).unwrap();
        assert!(fs::write(seen.join("more"), [7; 100]).is_ok());
        assert!(!disk.join("more").exists(), "other processes see the file system");
    }

    #[test]
    fn packet_time_stamps_use_the_wrong_clock_too() {
        let place = tempfile::tempdir().unwrap();
        let Some(shim) = wrong_clock(place.path()) else { return };
        let words = "import socket, struct, time\n\
            one, two = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n\
            two.setsockopt(socket.SOL_SOCKET, 35, 1)\n\
            one.send(b'a')\n\
            stamp = struct.unpack('qq', two.recvmsg(9, 99)[1][0][2])[0]\n\
            print(abs(stamp - time.time()) < 60)";
        let script = ProgramConfig::new("python3", &["-c", words], place.path(), &place.path().join("log"));
        let mut program = script.with_clock(&shim, 4000 * 86_400).start();
        program.wait(Duration::from_mins(1)).unwrap();
        assert_eq!(program.log_text().trim(), "True");
    }

    #[test]
    fn wrong_clock_is_off_by_the_given_seconds() {
        let place = tempfile::tempdir().unwrap();
        let Some(shim) = wrong_clock(place.path()) else { return };
        let script = ProgramConfig::new("date", &["+%Y"], place.path(), &place.path().join("log"));
        let mut program = script.with_clock(&shim, 1000 * 366 * 86_400).start();
        assert!(program.wait(Duration::from_mins(1)).unwrap().success());
        assert!(program.log_text().trim().parse::<u32>().unwrap() > 2900, "{}", program.log_text());
    }
}
