//! The launcher: the same program started again, single-threaded, between the engine and one bot.
//!
//! It stays while the bot runs, for three reasons: it adopts every process that the bot leaves behind, it can kill all of them,
//! and it notices when the engine is gone. It runs no bot code, and the bot cannot reach it.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode as FileMode, OFlags};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process,
    kill_process_group, pidfd_open, set_child_subreaper, set_dumpable_behavior,
    set_parent_process_death_signal, setsid, wait, waitid, waitpid,
};

use super::cgroup::{self, CgroupEntries, Cgroups};
use super::enter::{self, Prepared};
use super::folder_quota::{empty, prepare_folders};
use super::kept_folders::KeptFolder;
use super::launcher_protocol::{
    self, BotExit, Launch, LauncherEvent, LauncherRequest, StepContext as _, StepError,
};
use super::unsafe_syscalls::Forked;
use super::usage::UsageWatch;
use super::zygote_fork::{self, ForkHandle, NamespaceInit};
use super::{limits, namespaces, probe, unsafe_syscalls};
use crate::scratch_dir::remove_all;

/// The argument that makes a program the launcher.
pub(super) const LAUNCHER_ARGUMENT: &str = "--agon-launch";

/// Becomes the launcher if this program was started as one, and then never returns. `main` must call this first, while there
/// is one thread.
pub fn run_launcher_if_requested() {
    if std::env::args_os().nth(1).as_deref() == Some(OsStr::new(LAUNCHER_ARGUMENT)) {
        unsafe_syscalls::exit_now(i32::from(run().is_err()));
    }
}

fn run() -> io::Result<()> {
    // Inherited descriptors are not for the bot. They stay open here, because they may have an owner.
    unsafe_syscalls::close_on_exec_from(3)?;
    let control = fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let nothing = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, FileMode::empty())?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    // The engine decides what a terminal's Ctrl-C does.
    let _ = setsid();
    let (request, fds) = launcher_protocol::receive::<LauncherRequest>(&control)?;
    match request {
        LauncherRequest::Probe { cgroups } => {
            launcher_protocol::send(&control, &LauncherEvent::Probed(probe::all(cgroups)), &[])
        }
        LauncherRequest::End | LauncherRequest::StoreKept | LauncherRequest::LoadKept => Ok(()),
        LauncherRequest::Launch(launch) => match SupervisedBot::start(&launch, fds) {
            Ok(running) => {
                running.supervise(&control);
                Ok(())
            }
            Err(failure) => launcher_protocol::send(&control, &LauncherEvent::Failed(failure), &[]),
        },
    }
}

/// A bot and everything around it, as the launcher sees it.
struct SupervisedBot<'a> {
    launch: &'a Launch,
    bot: Pid,
    /// The first process of the bot's namespace. When it ends, the kernel kills all others.
    first: Option<Pid>,
    cgroups: Cgroups,
    /// The file systems of its kept folders.
    kept: Vec<KeptFolder>,
    /// Set if the bot is a fork of a zygote, and so not a child of the launcher.
    fork: Option<ForkHandle>,
    /// The engine has asked to end it.
    end_was_asked: Cell<bool>,
}

impl<'a> SupervisedBot<'a> {
    fn start(launch: &'a Launch, fds: Vec<OwnedFd>) -> Result<Self, StepError> {
        let Launch { policy, plan, name, zygote } = launch;
        set_child_subreaper(Some(getpid())).step("adopting the bot's orphans")?;
        let cgroups = Cgroups::make(&plan.cgroups, name, &policy.limits).step("cgroup")?;
        let entries = cgroups.entries().step("cgroup")?;
        let others = limits::others(plan);
        prepare_folders(launch)?;
        if let Some(mode) = plan.mode {
            namespaces::open(mode)?;
        }
        let kept = KeptFolder::make_all(launch)?;
        if zygote.is_some() {
            let request = zygote_fork::restrictions(launch, others)?;
            let init = plan.mode.map(|_| NamespaceInit::make(launch, &kept)).transpose()?;
            let fork = ForkHandle::ask(request, fds, init.as_ref(), entries)?;
            let first = init.map(NamespaceInit::close);
            let end_was_asked = Cell::new(false);
            return Ok(Self { launch, bot: fork.bot, first, cgroups, kept, fork: Some(fork), end_was_asked });
        }
        let (report, write_report) =
            rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).step("pipe")?;
        let first = plan.mode.map(|_| fork_first()).transpose()?;
        let CgroupEntries { group, join_files } = entries;
        let bot = match fork_bot(group.as_ref())? {
            Forked::Parent(bot) => bot,
            Forked::Child(only) => {
                drop(report);
                let cgroup_files = join_files;
                let kept = &kept;
                enter::become_bot(
                    &only,
                    Prepared { launch, fds, report: write_report, cgroup_files, kept, others },
                )
            }
        };
        drop((write_report, fds, join_files, group));
        let running = Self { launch, bot, first, cgroups, kept, fork: None, end_was_asked: Cell::new(false) };
        let mut error = Vec::new();
        io::Read::read_to_end(&mut fs::File::from(report), &mut error)
            .step("waiting for the bot to start")?;
        if error.is_empty() {
            return Ok(running);
        }
        running.end_all();
        Err(serde_json::from_slice(&error).step("starting the bot")?)
    }

    /// Waits until the bot has ended, the engine is gone, or a folder or memory limit is exceeded. Then ends everything.
    fn supervise(&self, control: &OwnedFd) {
        let started = launcher_protocol::send(
            control,
            &LauncherEvent::Started { pid: self.bot.as_raw_nonzero().get() },
            &[],
        );
        if started.is_ok()
            && let Some(ended) = self.watch(control)
        {
            self.kill();
            let _ = launcher_protocol::send(control, &LauncherEvent::Ended(ended), &[]);
            // The bot's process id stays reserved until the engine closes the connection.
            let _ = wait_for_end(control);
        }
        self.end_all();
        // An engine that ends normally says so, and removes its own files.
        let engine_is_gone = !self.end_was_asked.get() && !asks_to_end(control);
        if let Some(private) = self.launch.policy.private.as_ref().filter(|_| engine_is_gone) {
            let _ = remove_all(private);
        }
    }

    /// How the bot ended; `None` if the engine asked to end it.
    fn watch(&self, control: &OwnedFd) -> Option<BotExit> {
        let bot = pidfd_open(self.bot, PidfdFlags::empty()).ok()?;
        unsafe_syscalls::run_soon_after_wakeups();
        let mut usage = UsageWatch::of(self.launch, self.bot, self.first, &self.kept);
        loop {
            let mut fds = [PollFd::new(control, PollFlags::IN), PollFd::new(&bot, PollFlags::IN)];
            match poll(&mut fds, Some(&usage.interval().try_into().ok()?)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return None,
            }
            let (engine_wants_end, gone) = (!fds[0].revents().is_empty(), !fds[1].revents().is_empty());
            if gone && self.cgroups.ran_out_of_memory() {
                return Some(BotExit::TooMuchMemory);
            }
            if gone {
                let fork = self.fork.as_ref();
                return Some(fork.map_or_else(|| how_it_ended(self.bot), ForkHandle::how_it_ended));
            }
            if engine_wants_end && !self.serve(control) {
                return None;
            }
            if let Some(exceeded) = usage.check() {
                return Some(exceeded);
            }
            self.reap_orphans();
        }
    }

    /// Serves a request of the engine. Returns false if the engine asks to end the bot, or is gone.
    fn serve(&self, control: &OwnedFd) -> bool {
        let keep: fn(&KeptFolder) -> io::Result<()> = match launcher_protocol::receive(control) {
            Ok((LauncherRequest::StoreKept, _)) => KeptFolder::store,
            Ok((LauncherRequest::LoadKept, _)) => KeptFolder::load,
            Ok((LauncherRequest::End, _)) => {
                self.end_was_asked.set(true);
                return false;
            }
            _ => return false,
        };
        let problem = self.kept.iter().try_for_each(keep).err().map(|error| error.to_string());
        launcher_protocol::send(control, &LauncherEvent::Kept { problem }, &[]).is_ok()
    }

    /// Reaps processes that the bot left behind while it still runs.
    fn reap_orphans(&self) {
        while let Some(orphan) = unsafe_syscalls::peek_ended() {
            if orphan == self.bot || Some(orphan) == self.first {
                break;
            }
            let _ = waitpid(Some(orphan), WaitOptions::NOHANG);
        }
    }

    /// Kills the bot and everything it started, without waiting.
    fn kill(&self) {
        self.cgroups.kill();
        if let Some(first) = self.first {
            let _ = kill_process(first, Signal::KILL);
        }
        // The bot's processes cannot leave their group, and no fork escapes a signal to the group.
        let _ = kill_process_group(self.bot, Signal::KILL);
        let _ = kill_process(self.bot, Signal::KILL);
    }

    /// Kills everything and waits until it is gone.
    fn end_all(&self) {
        self.kill();
        // The bot first: its namespace does not end before it is reaped.
        match &self.fork {
            None => drop(waitpid(Some(self.bot), WaitOptions::empty())),
            Some(fork) => fork.end(),
        }
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => {
                    for child in children() {
                        let _ = kill_process(child, Signal::KILL);
                    }
                    std::thread::sleep(Duration::from_micros(200));
                }
                Err(_) => break,
            }
        }
        for folder in &self.kept {
            // If the bot has left what cannot be kept, the folder stays as it was.
            let _ = folder.copy_back();
        }
        if self.launch.plan.mode.is_none() {
            for scratch in self.launch.policy.writable.iter().filter(|writable| !writable.kept) {
                let _ = empty(&scratch.path);
            }
        }
    }
}

/// Whether the engine asks to end the bot. Requests that came too late are skipped.
fn asks_to_end(control: &OwnedFd) -> bool {
    loop {
        match launcher_protocol::receive::<LauncherRequest>(control) {
            Ok((LauncherRequest::End, _)) => return true,
            Ok((LauncherRequest::StoreKept | LauncherRequest::LoadKept, _)) => {}
            _ => return false,
        }
    }
}

/// Forks the bot's process. It is in its version 2 cgroup before its first instruction.
fn fork_bot(group: Option<&fs::File>) -> Result<Forked, StepError> {
    let Some(group) = group else { return unsafe_syscalls::fork().step("fork") };
    if let Ok(forked) = unsafe_syscalls::fork_into(group.as_fd()) {
        return Ok(forked);
    }
    let forked = unsafe_syscalls::fork().step("fork")?;
    if matches!(forked, Forked::Child(_)) && cgroup::join_folder(group).is_err() {
        unsafe_syscalls::exit_now(127);
    }
    Ok(forked)
}

/// The first process of the namespace. It only reaps children. When it ends, the kernel kills all others.
fn fork_first() -> Result<Pid, StepError> {
    match unsafe_syscalls::fork().step("fork")? {
        Forked::Parent(pid) => Ok(pid),
        Forked::Child(only) => {
            let _ = set_parent_process_death_signal(Some(Signal::KILL));
            let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
            let _ = limits::drop_privileges(None);
            unsafe_syscalls::ignore_children();
            unsafe_syscalls::close_all_and_sleep(only)
        }
    }
}

/// The launcher's children, as the kernel lists them.
fn children() -> Vec<Pid> {
    let own = getpid().as_raw_nonzero();
    let list = fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

/// How a process has ended, without reaping it.
fn how_it_ended(pid: Pid) -> BotExit {
    match waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
        Ok(Some(status)) => match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => BotExit::Exited(code),
            (None, Some(signal)) => BotExit::Signalled(signal),
            (None, None) => BotExit::Stopped,
        },
        _ => BotExit::Stopped,
    }
}

fn wait_for_end(control: &OwnedFd) -> io::Result<()> {
    let control: BorrowedFd<'_> = control.as_fd();
    loop {
        let mut fds = [PollFd::new(&control, PollFlags::IN)];
        match poll(&mut fds, None) {
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(_) => return Ok(()),
        }
    }
}
