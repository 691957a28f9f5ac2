//! The bot's side of the launcher: from a fresh fork, through every layer, to the bot's program.
//!
//! The order matters. Whatever needs privileges comes first, then they go; Landlock comes when all paths are as the bot will see
//! them; the filter of system calls comes last, for it forbids the others.

use std::convert::Infallible;
use std::fs::{self, File};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Mode as FileMode;
use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{
    DumpableBehavior, Signal, chdir, getpid, set_dumpable_behavior, set_parent_process_death_signal, setsid,
    umask,
};

use super::launcher_protocol::{Launch, StepContext as _, StepError};
use super::layer::LayerKind;
use super::{cgroup, landlock_rules, limits, namespaces, seccomp, unsafe_syscalls};

/// What the launcher has prepared for the bot's side.
pub(super) struct Prepared<'a> {
    pub launch: &'a Launch,
    /// The bot's descriptors: input, output, error, then the extra ones.
    pub fds: Vec<OwnedFd>,
    /// Where the launcher reads why entering failed. Its end means the program runs.
    pub report: OwnedFd,
    /// The doors of the bot's cgroups.
    pub doors: Vec<File>,
    /// What counts against the limit of processes besides the bot's.
    pub others: u64,
}

/// Enters every layer of the plan and becomes the bot. Comes back only if that failed, and has said so then.
pub(super) fn become_bot(prepared: Prepared<'_>) {
    // The report must stay clear of the numbers that the bot's own descriptors get.
    let Ok(first_free) = i32::try_from(prepared.fds.len().max(3)) else { return };
    let Ok(report) = fcntl_dupfd_cloexec(&prepared.report, first_free) else { return };
    let Err(failure) = enter(prepared, report.as_fd(), first_free);
    if let Ok(bytes) = serde_json::to_vec(&failure) {
        let _ = rustix::io::write(&report, &bytes);
    }
}

fn enter(prepared: Prepared<'_>, report: BorrowedFd<'_>, first_free: i32) -> Result<Infallible, StepError> {
    let Launch { policy, plan, .. } = prepared.launch;
    setsid().step("session")?;
    guard(report)?;
    umask(FileMode::WGRP | FileMode::WOTH);
    // When memory runs out, a bot goes before anything that matters.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    cgroup::join(&prepared.doors).step("cgroup")?;
    drop(prepared.doors);
    place(&prepared.fds, first_free)?;
    // Their numbers may be the bot's by now: closing them would close those.
    std::mem::forget((prepared.fds, prepared.report));

    if plan.mode.is_some() {
        namespaces::enter(policy, plan.user)?;
    }
    if plan.has(LayerKind::Limits) {
        limits::set(&policy.limits, prepared.others)?;
    }
    if plan.has(LayerKind::Privileges) || plan.user.is_some() {
        limits::drop_privileges(plan.user)?;
    }
    // Changing who one is forgets both.
    guard(report)?;
    let folder = &policy.folder;
    chdir(folder).map_err(|error| {
        StepError::new(format!("the bot's user cannot enter {}", folder.display()), error)
    })?;
    if plan.has(LayerKind::Landlock) {
        landlock_rules::restrict(policy, plan)?;
    }
    umask(FileMode::RWXG | FileMode::RWXO);
    unsafe_syscalls::default_signals();
    unsafe_syscalls::close_from_on_exec(first_free.unsigned_abs()).step("closing descriptors")?;
    if plan.has(LayerKind::Seccomp) {
        seccomp::restrict(seccomp::SeccompOptions::of(plan, policy.limits.processes), getpid())?;
    }
    let mut command = Command::new(&policy.program);
    command.args(&policy.arguments).env_clear().envs(&policy.environment);
    let error = command.exec();
    Err(StepError::new(format!("starting {}", policy.program.display()), error))
}

/// Dies with the launcher, and lets nobody look inside.
fn guard(report: BorrowedFd<'_>) -> Result<(), StepError> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).step("not dumpable")?;
    set_parent_process_death_signal(Some(Signal::KILL)).step("dying with the launcher")?;
    // Had the launcher died before, nobody would read the report any more.
    let mut fds = [PollFd::new(&report, PollFlags::empty())];
    poll(&mut fds, Some(&rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 }))
        .step("looking for the launcher")?;
    if fds[0].revents().contains(PollFlags::ERR) {
        return Err(StepError::new("dying with the launcher", "it has died already"));
    }
    Ok(())
}

/// Puts the bot's descriptors where it expects them: 0, 1, 2, and the extra ones from 3 on.
fn place(fds: &[OwnedFd], first_free: i32) -> Result<(), StepError> {
    let step = "placing descriptors";
    let above = |fd: &OwnedFd| fcntl_dupfd_cloexec(fd, first_free).step(step);
    let moved = fds.iter().map(above).collect::<Result<Vec<_>, _>>()?;
    moved.iter().zip(0..).try_for_each(|(fd, number)| unsafe_syscalls::place(fd.as_fd(), number).step(step))
}
