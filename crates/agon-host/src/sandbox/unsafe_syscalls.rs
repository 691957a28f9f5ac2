//! What no safe wrapper offers: a handful of system calls, each behind a function that cannot be misused by its caller.
//!
//! Everything here is called by the launcher only, which is single-threaded from its first line to its last.
#![allow(
    unsafe_code,
    reason = "fork, close_range, dup2 onto a number, mount_setattr and signal have no safe wrapper"
)]

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

use rustix::process::Pid;

/// Forks. `None` in the child.
///
/// Refuses when the process has several threads, for then the child could hold a lock that nobody will ever release.
pub(super) fn fork() -> io::Result<Option<Pid>> {
    if threads().is_some_and(|threads| threads != 1) {
        return Err(io::Error::other("the launcher has more than one thread"));
    }
    // SAFETY: the process has one thread, so the child has all of it.
    let pid = unsafe { libc::fork() };
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Pid::from_raw(pid))
}

/// How many threads this process has, where `/proc` can tell.
fn threads() -> Option<u32> {
    let mut status = String::new();
    File::open("/proc/self/status").ok()?.read_to_string(&mut status).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Threads:"))?.trim().parse().ok()
}

/// Ends this process at once, without running anything of the parent's that the fork copied.
pub(super) fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(code) }
}

/// Closes every descriptor from `first` on. Only the launcher's start calls this, when it owns none of them.
pub(super) fn close_from(first: u32) -> io::Result<()> {
    // SAFETY: nothing in this process owns a descriptor at or above `first` yet.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Closes every descriptor from `first` on when the next program starts.
pub(super) fn close_from_on_exec(first: u32) -> io::Result<()> {
    const CLOSE_RANGE_CLOEXEC: u32 = 4;
    // SAFETY: only a flag of the descriptors changes.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, CLOSE_RANGE_CLOEXEC) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Makes `fd` also known by the number `at`, for the program that comes next. The caller has moved everything it still
/// needs above the numbers it gives away.
pub(super) fn place(fd: BorrowedFd<'_>, at: RawFd) -> io::Result<()> {
    // SAFETY: `fd` is open; what stood at `at` belongs to nobody any more.
    let result = unsafe { libc::dup2(fd.as_raw_fd(), at) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Sets every signal to what it does by default, whatever was inherited.
pub(super) fn default_signals() {
    for signal in 1..=64 {
        // SAFETY: the default handler runs no code of ours. Signals that cannot be set are refused by the kernel.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Lets the kernel reap this process's children by itself.
pub(super) fn ignore_children() {
    // SAFETY: ignoring a signal runs no code of ours.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
}

/// A child that has ended and was not reaped yet, without reaping it.
pub(super) fn peek_ended() -> Option<Pid> {
    // SAFETY: all zeroes is a valid value of this plain structure.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `info` is a valid place to write to for the length of the call.
    let result = unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, options) };
    if result < 0 {
        return None;
    }
    // SAFETY: `waitid` has filled in the fields of a SIGCHLD, or left them zero.
    Pid::from_raw(unsafe { info.si_pid() })
}

/// Adds attributes (`MOUNT_ATTR_*`) to a mount, and to all below it.
pub(super) fn mount_attributes(mount: BorrowedFd<'_>, attributes: u64, all_below: bool) -> io::Result<()> {
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    let attributes = Attributes { set: attributes, clear: 0, propagation: 0, user_namespace: 0 };
    let flags = libc::AT_EMPTY_PATH | if all_below { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is a NUL-terminated string, and the structure is the one the kernel defines, with its size.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The error number of an attempt to make an internet socket; 0 if that worked. For probing the filter.
pub(super) fn try_socket() -> i32 {
    // SAFETY: `socket` takes plain numbers; the descriptor is closed again.
    unsafe {
        let fd = libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0);
        if fd >= 0 {
            libc::close(fd);
            return 0;
        }
    }
    io::Error::last_os_error().raw_os_error().unwrap_or(-1)
}

/// Leaves namespaces for new ones.
pub(super) fn unshare(flags: rustix::thread::UnshareFlags) -> io::Result<()> {
    // SAFETY: none of the callers unshares descriptors, which is what can go wrong here.
    unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(Into::into)
}
