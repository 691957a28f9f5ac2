//! The bot's side of the launcher: from a new fork, through every layer, to the bot's program.
//!
//! The order matters. Steps that need privileges come first, then the privileges are dropped. Landlock comes when all paths are as
//! the bot will see them. The seccomp filter comes last, because it forbids the other steps.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd, RawFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::Mode as FileMode;
use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{
    DumpableBehavior, Signal, chdir, getpid, set_dumpable_behavior, set_parent_process_death_signal, setsid,
    umask,
};

use super::kept_folders::KeptFolder;
use super::launcher_protocol::{Launch, StepContext as _, StepError};
use super::layer::LayerKind;
use super::unsafe_syscalls::OnlyThread;
use super::{cgroup, landlock_rules, limits, namespaces, seccomp, unsafe_syscalls};

/// Everything the launcher has prepared for the bot's side.
pub(super) struct Prepared<'a> {
    pub launch: &'a Launch,
    /// The bot's descriptors: stdin, stdout, stderr, then the extra ones.
    pub fds: Vec<OwnedFd>,
    /// The pipe to the launcher for errors. If it closes without data, the program runs.
    pub report: OwnedFd,
    /// The files through which the bot joins its cgroups. It was started in its version 2 cgroup.
    pub cgroup_files: Vec<File>,
    /// The file systems of its kept folders.
    pub kept: &'a [KeptFolder],
    /// The number of other processes that count against the bot's process limit.
    pub others: u64,
}

/// Enters every layer of the plan and becomes the bot. Errors are reported to the launcher.
pub(super) fn become_bot(only: &OnlyThread, prepared: Prepared<'_>) -> ! {
    let Prepared { launch, fds, report, cgroup_files, kept, others } = prepared;
    // All descriptors must have numbers above those that the bot's get.
    let above = RawFd::try_from(fds.len().max(3)).map_err(io::Error::other).and_then(|first| {
        let report = fcntl_dupfd_cloexec(&report, first)?;
        Ok((unsafe_syscalls::move_above(&fds, first)?, report))
    });
    drop((fds, report));
    let Ok((fds, report)) = above else { unsafe_syscalls::exit_now(127) };
    match enter(launch, &cgroup_files, kept, others, report.as_fd()) {
        Ok(()) => unsafe_syscalls::become_program(only, &launch.policy, &fds, &report),
        Err(failure) => {
            if let Ok(bytes) = serde_json::to_vec(&failure) {
                let _ = rustix::io::write(&report, &bytes);
            }
            unsafe_syscalls::exit_now(127)
        }
    }
}

fn enter(
    launch: &Launch,
    cgroup_files: &[File],
    kept: &[KeptFolder],
    others: u64,
    report: BorrowedFd<'_>,
) -> Result<(), StepError> {
    let Launch { policy, plan, .. } = launch;
    setsid().step("session")?;
    guard(report)?;
    umask(FileMode::WGRP | FileMode::WOTH);
    // When memory runs out, the kernel kills a bot first.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    cgroup::join(cgroup_files).step("cgroup")?;

    if plan.mode.is_some() {
        namespaces::enter(policy, plan.user, kept)?;
    }
    if plan.has(LayerKind::Limits) {
        limits::set(policy, others)?;
    }
    if plan.has(LayerKind::Privileges) || plan.user.is_some() {
        limits::drop_privileges(plan.user)?;
    }
    // Changing the user id resets both.
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
    if plan.has(LayerKind::Seccomp) {
        seccomp::restrict(&seccomp::SeccompOptions::of(plan, policy), getpid())?;
    }
    Ok(())
}

/// Has the kernel kill this process when the launcher dies, and makes it non-dumpable.
fn guard(report: BorrowedFd<'_>) -> Result<(), StepError> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).step("not dumpable")?;
    set_parent_process_death_signal(Some(Signal::KILL)).step("dying with the launcher")?;
    // If the launcher has already died, the other end of the report pipe is closed.
    let mut fds = [PollFd::new(&report, PollFlags::empty())];
    poll(&mut fds, Some(&rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 }))
        .step("looking for the launcher")?;
    if fds[0].revents().contains(PollFlags::ERR) {
        return Err(StepError::new("dying with the launcher", "it has died already"));
    }
    Ok(())
}
