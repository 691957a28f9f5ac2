//! A bot that is a fork of a zygote. The launcher creates its namespaces, the zygote forks into them, and the fork applies the
//! remaining restrictions itself before it reads anything of the bot (`agon_bot/sandbox_enter.py`). The restrictions are computed here from
//! the same lists as for any other bot; the fork gets them as numbers.

use std::io::{self, IoSlice, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, Shutdown, SocketFlags,
    SocketType, recv, sendmsg, shutdown, socketpair,
};
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, pidfd_open, set_dumpable_behavior,
    set_parent_process_death_signal,
};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::cgroup::CgroupEntries;
use super::kept_folders::KeptFolder;
use super::launcher_protocol::{BotExit, Launch, MAX_DESCRIPTORS, StepContext as _, StepError};
use super::layer::LayerKind;
use super::unsafe_syscalls::{Forked, OnlyThread};
use super::{landlock_rules, limits, namespaces, seccomp, unsafe_syscalls};

/// Timeout for a fork, which takes milliseconds, or seconds on a very busy machine.
const FORK_TIMEOUT: Duration = Duration::from_secs(25);
/// Maximum size of a zygote's message about a bot.
const MAX_EVENT_BYTES: usize = 64 << 10;

/// The first process of a bot's namespaces, which has created all of them. It only reaps children. When it ends, the kernel
/// kills all other processes in them.
pub(super) struct NamespaceInit {
    pub first: Pid,
    /// When this is closed, the process restricts itself.
    close_writer: io::PipeWriter,
}

impl NamespaceInit {
    /// Creates the namespaces of a bot, after [`namespaces::open`]. The zygote can enter them until [`Self::close`].
    pub(super) fn make(launch: &Launch, kept: &[KeptFolder]) -> Result<Self, StepError> {
        let (mut result_reader, result_writer) = io::pipe().step("pipe")?;
        let (close_reader, close_writer) = io::pipe().step("pipe")?;
        let first = match unsafe_syscalls::fork().step("fork")? {
            Forked::Parent(first) => first,
            Forked::Child(only) => {
                drop((result_reader, close_writer));
                run_namespace_init(only, launch, kept, result_writer, close_reader)
            }
        };
        drop((result_writer, close_reader));
        let mut result = Vec::new();
        result_reader.read_to_end(&mut result).step("waiting for the namespaces")?;
        match result.as_slice() {
            [] => Err(StepError::new("namespaces", "their first process ended")),
            b"made" => Ok(Self { first, close_writer }),
            failure => Err(serde_json::from_slice(failure).step("namespaces")?),
        }
    }

    /// Closes the namespaces to the zygote.
    pub(super) fn close(self) -> Pid {
        drop(self.close_writer);
        self.first
    }
}

fn run_namespace_init(
    only: OnlyThread,
    launch: &Launch,
    kept: &[KeptFolder],
    mut result_writer: io::PipeWriter,
    mut close_reader: io::PipeReader,
) -> ! {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    match namespaces::enter(&launch.policy, launch.plan.user, kept) {
        Ok(()) => drop(result_writer.write_all(b"made")),
        Err(failure) => {
            let _ = result_writer.write_all(&serde_json::to_vec(&failure).unwrap_or_default());
            unsafe_syscalls::exit_now(0)
        }
    }
    drop(result_writer);
    let _ = close_reader.read(&mut [0]);
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let _ = limits::drop_privileges(None);
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    unsafe_syscalls::ignore_children();
    unsafe_syscalls::close_all_and_sleep(only)
}

/// The restrictions that the fork must apply to itself.
pub(super) fn restrictions(launch: &Launch, others: u64) -> Result<Map<String, Json>, StepError> {
    let Launch { policy, plan, .. } = launch;
    let limits = plan.has(LayerKind::Limits).then(|| {
        let all = limits::all(policy, others).into_iter();
        all.map(|(name, _, limit)| (name.to_owned(), json!(limit))).collect::<Map<_, _>>()
    });
    let landlock =
        plan.has(LayerKind::Landlock).then(|| landlock_rules::as_numbers(policy, plan)).transpose()?;
    let options = seccomp::SeccompOptions::of(plan, policy);
    let filters = plan.has(LayerKind::Seccomp).then(|| seccomp::as_bytes(&options)).transpose()?;
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
    let hex = |bytes: Vec<u8>| {
        bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect::<String>()
    };
    let mut request = launch.zygote.clone().unwrap_or_default();
    request.extend([
        ("environment".to_owned(), json!(policy.environment)),
        ("folder".to_owned(), json!(policy.folder)),
        ("namespaces".to_owned(), json!(plan.mode.map(|mode| namespaces::kinds(mode).bits()))),
        ("limits".to_owned(), json!(limits)),
        ("user".to_owned(), json!(plan.user.map(|user| [user.uid, user.gid]))),
        ("drop".to_owned(), json!(plan.has(LayerKind::Privileges) || plan.user.is_some())),
        ("landlock".to_owned(), json!(landlock)),
        // Only root can otherwise list the descriptors and the memory of the fork. `/proc` is closed to the fork then.
        ("dumpable".to_owned(), json!(plan.user.is_none())),
        ("huge_pages".to_owned(), json!(limits.is_none())),
        ("seccomp".to_owned(), json!(filters.map(|both| both.map(hex)))),
        ("own".to_owned(), json!(seccomp::OWN_PID_PLACEHOLDER)),
    ]);
    Ok(request)
}

/// A zygote's message about a bot.
#[derive(Deserialize)]
enum ZygoteEvent {
    #[serde(rename = "pid")]
    Forked(i32),
    #[serde(rename = "entered")]
    Entered,
    #[serde(rename = "failed")]
    Failed(StepError),
    /// The bot's wait status.
    #[serde(rename = "ended")]
    Ended(i32),
}

/// A fork of a zygote, as the launcher sees it.
pub(super) struct ForkHandle {
    pub bot: Pid,
    /// The socket on which the zygote reports how it ended.
    pub events: OwnedFd,
}

impl ForkHandle {
    /// Asks the zygote for a fork. The last descriptor is its control socket.
    pub(super) fn ask(
        mut request: Map<String, Json>,
        mut fds: Vec<OwnedFd>,
        init: Option<&NamespaceInit>,
        entries: CgroupEntries,
    ) -> Result<Self, StepError> {
        let zygote = fds.pop().ok_or_else(|| StepError::new("zygote", "its control socket is missing"))?;
        let kind = SocketType::SEQPACKET;
        let (events, theirs) =
            socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None).step("socket")?;
        fds.insert(0, theirs);
        if let Some(init) = init {
            fds.push(pidfd_open(init.first, PidfdFlags::empty()).step("namespaces")?);
        }
        request.insert("group".to_owned(), json!(entries.group.is_some()));
        fds.extend(entries.group.into_iter().chain(entries.join_files).map(OwnedFd::from));
        send(&zygote, &request, &fds).step("asking the zygote")?;
        drop(fds);
        let (mut bot, mut entered) = (None, false);
        loop {
            match receive_event(&events, Some(FORK_TIMEOUT)).step("waiting for the zygote")? {
                ZygoteEvent::Forked(pid) => bot = Pid::from_raw(pid),
                ZygoteEvent::Entered => entered = true,
                ZygoteEvent::Failed(failure) => return Err(failure),
                ZygoteEvent::Ended(_) => {
                    return Err(StepError::new("entering the sandbox", "the fork ended"));
                }
            }
            // The zygote and the fork report independently of each other.
            if let Some(bot) = bot.filter(|_| entered) {
                return Ok(Self { bot, events });
            }
        }
    }

    /// Waits until the zygote has reaped the bot, which was killed, and its orphans.
    pub(super) fn end(&self) {
        let _ = shutdown(&self.events, Shutdown::Write);
        while receive_event(&self.events, Some(FORK_TIMEOUT)).is_ok() {}
    }

    /// How the bot ended. The zygote reaps it only when the launcher closes the connection.
    pub(super) fn how_it_ended(&self) -> BotExit {
        match receive_event(&self.events, Some(FORK_TIMEOUT)) {
            Ok(ZygoteEvent::Ended(status)) => {
                use std::os::unix::process::ExitStatusExt as _;
                std::process::ExitStatus::from_raw(status).into()
            }
            _ => BotExit::Stopped,
        }
    }
}

fn send(zygote: &OwnedFd, request: &Map<String, Json>, fds: &[OwnedFd]) -> io::Result<()> {
    let body = serde_json::to_vec(request)?;
    let borrowed: Vec<BorrowedFd<'_>> = fds.iter().map(|fd| fd.as_fd()).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&borrowed)) {
        return Err(io::Error::other("too many descriptors"));
    }
    sendmsg(zygote, &[IoSlice::new(&body)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

fn receive_event(events: &OwnedFd, time: Option<Duration>) -> io::Result<ZygoteEvent> {
    let timeout = time.map(|time| rustix::event::Timespec { tv_sec: time.as_secs() as i64, tv_nsec: 0 });
    let mut fds = [PollFd::new(events, PollFlags::IN)];
    while let Err(error) = poll(&mut fds, timeout.as_ref()) {
        if error != Errno::INTR {
            return Err(error.into());
        }
    }
    if fds[0].revents().is_empty() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let mut bytes = vec![0; MAX_EVENT_BYTES];
    let (count, _) = recv(events, &mut bytes[..], RecvFlags::empty())?;
    if count == 0 {
        return Err(io::Error::other("the zygote is gone"));
    }
    serde_json::from_slice(&bytes[..count]).map_err(io::Error::other)
}
