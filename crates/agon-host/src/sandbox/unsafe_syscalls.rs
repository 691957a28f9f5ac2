//! The only module with `unsafe`: system calls that have no safe wrapper, each behind a function that its caller cannot misuse.
//!
//! Descriptors come in as `BorrowedFd` or `OwnedFd`, so they are open for as long as they are used. A function that gives
//! descriptors new numbers, or closes those of other owners, never returns: no owner can use its number afterwards.
#![allow(
    unsafe_code,
    reason = "fork, clone3, the clock of another process, close_range, dup2 onto a number, mount_setattr, signal, pre_exec and the time stamp of a packet have no safe wrapper"
)]

use std::fs::File;
use std::io::{self, Read as _};
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::Duration;

use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{Pid, Signal, set_parent_process_death_signal};
use rustix::thread::UnshareFlags;

use super::launcher_protocol::StepError;
use super::policy::Policy;

/// Result of [`fork`].
pub(super) enum Forked {
    /// In the parent, with the child's id.
    Parent(Pid),
    /// In the child.
    Child(OnlyThread),
}

/// Proof that this process is a fork of one that had a single thread. Nothing in such a fork starts another.
pub(super) struct OnlyThread(());

/// Forks.
///
/// Fails unless `/proc` reports exactly one thread: another thread could hold a lock for which the child would wait forever.
pub(super) fn fork() -> io::Result<Forked> {
    require_one_thread()?;
    // SAFETY: the process has one thread, checked above, and only that thread could start another. So no lock is held by a
    // thread that is missing in the child, and the child may do all that its parent may.
    let pid = unsafe { libc::fork() };
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Pid::from_raw(pid).map_or(Forked::Child(OnlyThread(())), Forked::Parent))
}

/// Forks, and starts the child in a version 2 cgroup. Fails as [`fork`] does, and on kernels before 5.7.
pub(super) fn fork_into(group: BorrowedFd<'_>) -> io::Result<Forked> {
    const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
    require_one_thread()?;
    // The values are bit sets and numbers; all others, among them every address, stay zero.
    // SAFETY: `clone_args` is made of integers, for which all zeroes is a valid value.
    let mut wanted: libc::clone_args = unsafe { std::mem::zeroed() };
    wanted.flags = CLONE_INTO_CGROUP;
    wanted.exit_signal = libc::SIGCHLD as u64;
    wanted.cgroup = group.as_raw_fd() as u64;
    // SAFETY: `group` is open, the structure is only read, outlives the call, and its true size is passed with it. Without a flag
    // for shared memory and without a stack the call is a fork. The process has one thread, as for `fork`. The C library's record of
    // the thread's id is the parent's in the child; only functions that signal the own thread use it, and the child calls none of them
    // before it starts its program.
    let pid = unsafe { libc::syscall(libc::SYS_clone3, &raw const wanted, size_of::<libc::clone_args>()) };
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    let pid = i32::try_from(pid).map_err(io::Error::other)?;
    Ok(Pid::from_raw(pid).map_or(Forked::Child(OnlyThread(())), Forked::Parent))
}

/// CPU time of all threads of a process, ended ones included, until now. `None` if the process is gone.
pub(crate) fn process_cpu_time(pid: u32) -> Option<Duration> {
    /// The clock of a whole process that counts what the scheduler counts (`CPUCLOCK_SCHED`).
    const SCHEDULER_CLOCK: i32 = 2;
    let pid = i32::try_from(pid).ok().filter(|&pid| pid > 0)?;
    let clock = !pid << 3 | SCHEDULER_CLOCK;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `clock` is a plain number, and the kernel refuses those that name no clock. `time` is a local variable of the type that
    // the kernel writes, and outlives the call.
    let result = unsafe { libc::clock_gettime(clock, &raw mut time) };
    (result == 0).then(|| Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32))
}

/// Fails unless `/proc` reports exactly one thread for this process.
fn require_one_thread() -> io::Result<()> {
    let mut status = String::new();
    File::open("/proc/self/status")?.read_to_string(&mut status)?;
    let threads = status.lines().find_map(|line| line.strip_prefix("Threads:")).map(str::trim);
    match threads {
        Some("1") => Ok(()),
        Some(several) => Err(io::Error::other(format!("the launcher has {several} threads, not one"))),
        None => Err(io::Error::other("/proc/self/status does not report the number of threads")),
    }
}

/// Asks the scheduler to run this process soon after it wakes up, for short times. Kernels before 6.12 ignore it. It changes no
/// priority, so it needs no privilege.
pub(super) fn run_soon_after_wakeups() {
    /// The shortest time slice that the kernel accepts, in nanoseconds.
    const SHORT_SLICE: u64 = 100_000;
    // SAFETY: `sched_attr` is made of integers, for which all zeroes is a valid value.
    let mut wanted: libc::sched_attr = unsafe { std::mem::zeroed() };
    wanted.size = size_of::<libc::sched_attr>() as u32;
    // SAFETY: the structure is a local variable of the size that is passed, which the kernel fills.
    let known = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut wanted, wanted.size, 0) };
    wanted.sched_flags = libc::SCHED_FLAG_RESET_ON_FORK as u64;
    wanted.sched_runtime = SHORT_SLICE;
    if known == 0 {
        // SAFETY: the structure is only read, outlives the call, and names its own size. 0 is this thread.
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const wanted, 0) };
    }
}

/// Ends this process at once. Exit handlers that the fork copied from its parent do not run.
pub(super) fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` takes a plain number and runs no code of this process.
    unsafe { libc::_exit(code) }
}

/// Closes every descriptor of this process and sleeps until the process is killed.
pub(super) fn close_all_and_sleep(_: OnlyThread) -> ! {
    // SAFETY: this closes descriptors that have owners. None of them can use its descriptor again: this function never
    // returns, the loop below uses none, and there is no other thread (`OnlyThread`).
    unsafe { libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0) };
    loop {
        std::thread::sleep(Duration::from_hours(1));
    }
}

/// Sets close-on-exec on every descriptor from `first` on.
pub(super) fn close_on_exec_from(first: u32) -> io::Result<()> {
    const CLOSE_RANGE_CLOEXEC: u32 = 4;
    // SAFETY: plain numbers. With this flag the kernel closes nothing: it sets a flag that has an effect only when the
    // process, and every owner in it, is replaced by another program.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, CLOSE_RANGE_CLOEXEC) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Replaces this process with the program of a policy. Its descriptors 0, 1, 2 and so on are `fds`; it has no others.
///
/// Never returns. If the program cannot be started, this sends the reason to `report` as a [`StepError`] and ends the process.
/// The numbers of `fds` and `report` must be at least `fds.len()` (see [`move_above`]); this is checked.
pub(super) fn become_program(only: &OnlyThread, policy: &Policy, fds: &[OwnedFd], report: &OwnedFd) -> ! {
    let failure = if let Err(error) = place(only, fds, report) {
        StepError::new("placing descriptors", error)
    } else {
        let mut command = Command::new(&policy.program);
        command.args(&policy.arguments).env_clear().envs(&policy.environment);
        StepError::new(format!("starting {}", policy.program.display()), command.exec())
    };
    if let Ok(bytes) = serde_json::to_vec(&failure) {
        let _ = rustix::io::write(report, &bytes);
    }
    exit_now(127)
}

/// Duplicates of these descriptors with numbers from `first` on.
pub(super) fn move_above(fds: &[OwnedFd], first: RawFd) -> io::Result<Vec<OwnedFd>> {
    fds.iter().map(|fd| Ok(fcntl_dupfd_cloexec(fd, first)?)).collect()
}

/// Gives `fds` the numbers 0, 1, 2 and so on, and sets close-on-exec on all others. Only for [`become_program`]: earlier owners
/// of these numbers lose them.
fn place(_: &OnlyThread, fds: &[OwnedFd], report: &OwnedFd) -> io::Result<()> {
    let count = fds.len() as RawFd;
    if fds.iter().chain([report]).any(|fd| fd.as_raw_fd() < count) {
        return Err(io::Error::other("a descriptor's number is needed for another one"));
    }
    for (fd, number) in fds.iter().zip(0..) {
        // SAFETY: `fd` is open. The earlier descriptor with this number is closed, and may have an owner. But the only caller never
        // returns and afterwards uses only `report`, whose number is not one of these by the check above. There is no other thread
        // (`OnlyThread`).
        if unsafe { libc::dup2(fd.as_raw_fd(), number) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    close_on_exec_from(count.unsigned_abs())
}

/// Has the kernel kill a program when the thread that started it ends.
pub(crate) fn kill_with_parent(command: &mut Command) {
    let ask = || Ok(set_parent_process_death_signal(Some(Signal::KILL))?);
    // SAFETY: the closure runs between fork and exec, in a copy of a process that may have had other threads. It makes one
    // system call with plain numbers: it takes no lock, allocates nothing and cannot panic.
    unsafe { command.pre_exec(ask) };
}

/// Sets every signal to its default action, whatever was inherited.
pub(super) fn default_signals() {
    for signal in 1..=64 {
        // SAFETY: the call takes plain numbers, and the default action runs no code of this process. For numbers that cannot
        // be set the kernel returns an error and changes nothing.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Has the kernel reap this process's children.
pub(super) fn ignore_children() {
    // SAFETY: the call takes plain numbers, and a signal that is ignored runs no code.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
}

/// A child that has ended and is not reaped yet. Does not reap it.
pub(super) fn peek_ended() -> Option<Pid> {
    // SAFETY: `siginfo_t` is made of integers and pointers, for which all zeroes is a valid value.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: `info` is a local variable of the type that the kernel writes, and outlives the call.
    let result = unsafe { libc::waitid(libc::P_ALL, 0, &raw mut info, options) };
    if result < 0 {
        return None;
    }
    // SAFETY: `si_pid` reads a part of a union of plain integers. All of it is initialised: by `waitid` for a child that has
    // ended, else by the zeroes above.
    Pid::from_raw(unsafe { info.si_pid() })
}

/// Adds attributes (`MOUNT_ATTR_*`) to a mount, and to all mounts below it if `all_below`.
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
    // SAFETY: `mount` is open. The path is a constant that ends with NUL. The structure has the fields and the layout of the
    // kernel's `mount_attr`, is only read, outlives the call, and its true size is passed with it.
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

/// Moves this process to new namespaces. Fails for flags that are not namespaces.
pub(super) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    const NAMESPACES: UnshareFlags = UnshareFlags::NEWNS
        .union(UnshareFlags::NEWNET)
        .union(UnshareFlags::NEWIPC)
        .union(UnshareFlags::NEWUTS)
        .union(UnshareFlags::NEWPID)
        .union(UnshareFlags::NEWUSER);
    if !NAMESPACES.contains(flags) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: the call is unsafe for what it can do to a table of descriptors that threads share (`FILES`). By the check
    // above only namespaces change.
    unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(Into::into)
}

/// From now on every packet that this socket receives carries the time at which it was sent.
pub(crate) fn enable_packet_timestamps(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    let size = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: `socket` is open. The value is an int, which is what this option takes; it is only read, outlives the call,
    // and its true size is passed with it.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const on).cast(),
            size,
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A received packet's length and the kernel's information about it.
#[derive(Debug)]
pub(crate) struct Received {
    /// Number of bytes written to the buffer.
    pub length: usize,
    /// The packet was longer than the buffer.
    pub cut: bool,
    /// When it was sent, by the system clock, if [`enable_packet_timestamps`] was called for the socket.
    pub sent: Option<Duration>,
    /// The id of the sending process if the socket has `SO_PASSCRED`, else 0.
    pub sender: u32,
}

/// Receives a packet; waits for one if `wait`. Descriptors that come with it are closed.
pub(crate) fn receive_packet(socket: BorrowedFd<'_>, buffer: &mut [u8], wait: bool) -> io::Result<Received> {
    let mut control = Control([MaybeUninit::uninit(); CONTROL_BYTES]);
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: `msghdr` is made of integers and pointers, for which all zeroes is a valid value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = CONTROL_BYTES as _;
    let flags = libc::MSG_CMSG_CLOEXEC | if wait { 0 } else { libc::MSG_DONTWAIT };
    // SAFETY: `socket` is open. The structure points to one part, which is `buffer`, and to `control`, each with its true
    // size; both are borrowed mutably here and outlive the call.
    let length = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) };
    let Ok(length) = usize::try_from(length) else { return Err(io::Error::last_os_error()) };
    let cut = message.msg_flags & libc::MSG_TRUNC != 0;
    let mut received = Received { length, cut, sent: None, sender: 0 };
    // SAFETY: `recvmsg` succeeded, so `message` describes what the kernel wrote to `control`, which is still alive.
    unsafe { read_control(&message, &mut received) };
    Ok(received)
}

/// Size of the buffer for control messages.
const CONTROL_BYTES: usize = 128;

/// Aligned for `cmsghdr`.
#[repr(align(8))]
struct Control([MaybeUninit<u8>; CONTROL_BYTES]);

/// Reads the control messages of a packet.
///
/// # Safety
/// `recvmsg` must have filled in the message, and the buffer it points to must be alive.
unsafe fn read_control(message: &libc::msghdr, received: &mut Received) {
    // SAFETY: by this function's contract the result is null, or a header within the bytes that the kernel has written.
    let mut one = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !one.is_null() {
        // SAFETY: it is a whole header, written by the kernel and aligned by `Control` and by the kernel's own lengths.
        let header = unsafe { one.read() };
        // SAFETY: the bytes after a header belong to the same buffer.
        let data = unsafe { libc::CMSG_DATA(one) };
        // SAFETY: this only computes a number.
        let length = (header.cmsg_len as usize).saturating_sub(unsafe { libc::CMSG_LEN(0) } as usize);
        match (header.cmsg_level, header.cmsg_type) {
            (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) if length >= size_of::<libc::timespec>() => {
                #[allow(clippy::cast_ptr_alignment, reason = "read_unaligned needs no alignment")]
                // SAFETY: the kernel wrote at least this many bytes by the check above; any bytes are a valid `timespec`.
                let time = unsafe { data.cast::<libc::timespec>().read_unaligned() };
                received.sent = Some(Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32));
            }
            (libc::SOL_SOCKET, libc::SCM_CREDENTIALS) if length >= size_of::<libc::ucred>() => {
                #[allow(clippy::cast_ptr_alignment, reason = "read_unaligned needs no alignment")]
                // SAFETY: the kernel wrote at least this many bytes by the check above; any bytes are a valid `ucred`.
                let credentials = unsafe { data.cast::<libc::ucred>().read_unaligned() };
                received.sender = credentials.pid.unsigned_abs();
            }
            (libc::SOL_SOCKET, libc::SCM_RIGHTS) => {
                for index in 0..length / size_of::<RawFd>() {
                    #[allow(clippy::cast_ptr_alignment, reason = "read_unaligned needs no alignment")]
                    // SAFETY: the kernel wrote `length` bytes of numbers. Each is a descriptor that the kernel has just opened for this
                    // process; no other code knows it, so this is its only owner, which closes it.
                    drop(unsafe { OwnedFd::from_raw_fd(data.cast::<RawFd>().add(index).read_unaligned()) });
                }
            }
            _ => {}
        }
        // SAFETY: `one` is a header of this message; the rest as for the first.
        one = unsafe { libc::CMSG_NXTHDR(message, one) };
    }
}
