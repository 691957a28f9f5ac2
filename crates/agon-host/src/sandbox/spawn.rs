//! The engine's side of the sandbox: starts a bot and ends it.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{AddressFamily, Shutdown, SocketFlags, SocketType, shutdown, socketpair};
use rustix::process::{Pid, Signal, getpid, kill_process_group};

use super::bot_group::BotGroup;
use super::cgroup;
use super::launch::LAUNCHER_ARGUMENT;
use super::launcher_protocol::{
    self, BotExit, Launch, LauncherEvent, LauncherRequest, MAX_DESCRIPTORS, SandboxPlan, SandboxProbe,
};
use super::layer::{Layer, LayerKind};
use super::policy::{Policy, User};

/// Timeout for ending everything and keeping what is in `data/`, which usually takes a millisecond. After that the launcher itself is killed.
const KILL_TIMEOUT: Duration = Duration::from_secs(15);

/// Timeout for starting, which takes milliseconds, or seconds on a very busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// Why a bot could not be started in the sandbox.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The launcher did not start.
    #[error("the launcher {} did not start: {source}", launcher.display())]
    Launcher {
        /// The launcher program.
        launcher: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The launcher ended without a message.
    #[error("the launcher ended without a message ({0}); call `run_launcher_if_requested` first in `main`")]
    Silent(io::Error),
    /// Layers that the policy requires do not work here.
    #[error("the sandbox lacks required layers: {}", describe_missing(.0))]
    Missing(Vec<Layer>),
    /// The policy contradicts itself.
    #[error("the sandbox policy is invalid: {0}")]
    Policy(String),
    /// A layer could not be entered, or the program could not be started.
    #[error("{step}: {reason}")]
    Failed {
        /// The step that failed.
        step: String,
        /// Why it failed.
        reason: String,
    },
    /// The system lacks a resource.
    #[error("cannot start a bot: {0}")]
    Io(#[from] io::Error),
}

fn describe_missing(layers: &[Layer]) -> String {
    let describe = |layer: &Layer| format!("{} ({}; {})", layer.kind, layer.detail, layer.how_to_get());
    layers.iter().map(describe).collect::<Vec<_>>().join("; ")
}

/// One of a bot's standard descriptors.
#[derive(Debug, Default)]
pub enum StdStream {
    /// A pipe; the other end is in [`SandboxedProcess`].
    #[default]
    Pipe,
    /// `/dev/null`.
    Null,
    /// This descriptor.
    Given(OwnedFd),
}

/// The descriptors that a bot starts with. It has no others.
#[derive(Debug, Default)]
pub struct Streams {
    /// Descriptor 0.
    pub stdin: StdStream,
    /// Descriptor 1.
    pub stdout: StdStream,
    /// Descriptor 2.
    pub stderr: StdStream,
    /// Descriptors 3, 4 and so on; at most 29.
    pub extra: Vec<OwnedFd>,
}

/// The launcher program, and its probe results for this machine.
#[derive(Debug)]
pub struct Launcher {
    command: Vec<PathBuf>,
    /// The folders for the bots' cgroups, if a test has set them.
    cgroups: Option<Vec<PathBuf>>,
    probed: OnceLock<SandboxProbe>,
}

impl Launcher {
    /// A program whose `main` calls [`super::run_launcher_if_requested`].
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { command: vec![program.into()], cgroups: None, probed: OnceLock::new() }
    }

    /// This program.
    pub fn this_program() -> io::Result<Self> {
        std::env::current_exe().map(Self::new)
    }

    /// Starts the launcher through another command, which must not change its standard input.
    #[must_use]
    pub fn through<P: Into<PathBuf>>(mut self, command: impl IntoIterator<Item = P>) -> Self {
        let program = std::mem::take(&mut self.command);
        self.command = command.into_iter().map(Into::into).chain(program).collect();
        self
    }

    /// Only for tests: sets the folders of cgroup hierarchies below which the launcher creates a cgroup for each bot. Otherwise the
    /// launcher uses its own version 2 cgroup. With no folders, bots have no cgroup.
    #[doc(hidden)]
    #[must_use]
    pub fn with_test_cgroups<P: Into<PathBuf>>(mut self, folders: impl IntoIterator<Item = P>) -> Self {
        self.cgroups = Some(folders.into_iter().map(Into::into).collect());
        self
    }

    /// The state of every layer. They are tried once.
    pub fn probe(&self) -> Result<&[Layer], SandboxError> {
        self.probed().map(|probed| probed.layers.as_slice())
    }

    fn probed(&self) -> Result<&SandboxProbe, SandboxError> {
        if let Some(probed) = self.probed.get() {
            return Ok(probed);
        }
        let (mut child, control) = self.start()?;
        let request = LauncherRequest::Probe { cgroups: self.cgroups.clone() };
        let event = launcher_protocol::send(&control, &request, &[])
            .and_then(|()| launcher_protocol::receive::<LauncherEvent>(&control));
        drop(control);
        child.wait()?;
        match event {
            Ok((LauncherEvent::Probed(probed), _)) => Ok(self.probed.get_or_init(|| probed)),
            Ok(_) => Err(SandboxError::Silent(io::ErrorKind::InvalidData.into())),
            Err(error) => Err(SandboxError::Silent(error)),
        }
    }

    fn start(&self) -> Result<(Child, OwnedFd), SandboxError> {
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
            .map_err(io::Error::from)?;
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).arg(LAUNCHER_ARGUMENT).env_clear();
        command.stdin(Stdio::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn();
        let child =
            child.map_err(|source| SandboxError::Launcher { launcher: self.command[0].clone(), source })?;
        Ok((child, ours))
    }

    /// Starts a bot. If it returns without an error, the bot's program runs behind every layer.
    pub fn spawn(&self, policy: &Policy, streams: Streams) -> Result<SandboxedProcess, SandboxError> {
        let (fds, ends) = open_streams(streams)?;
        self.launch(policy, fds, ends, None)
    }

    /// Forks a bot from a zygote. If it returns without an error, the fork is behind every layer and has not read anything of the
    /// bot yet. `request` goes to the zygote with these descriptors; `zygote` is the zygote's control socket.
    pub fn fork(
        &self,
        policy: &Policy,
        fds: Vec<OwnedFd>,
        zygote: BorrowedFd<'_>,
        request: serde_json::Map<String, serde_json::Value>,
    ) -> Result<SandboxedProcess, SandboxError> {
        let mut fds = fds;
        fds.push(zygote.try_clone_to_owned()?);
        self.launch(policy, fds, StreamEnds::default(), Some(request))
    }

    fn launch(
        &self,
        policy: &Policy,
        fds: Vec<OwnedFd>,
        ends: StreamEnds,
        zygote: Option<serde_json::Map<String, serde_json::Value>>,
    ) -> Result<SandboxedProcess, SandboxError> {
        if let Some(fault) = policy.fault() {
            return Err(SandboxError::Policy(fault));
        }
        let plan = self.plan(policy)?;
        if fds.len() > MAX_DESCRIPTORS {
            return Err(SandboxError::Policy(format!("more than {MAX_DESCRIPTORS} descriptors for a bot")));
        }
        let kinds = plan.kinds.clone();
        let name = format!("{}{}-{}", cgroup::NAME_PREFIX, getpid().as_raw_nonzero(), next_number());
        let group = plan.cgroups.iter().map(|parent| parent.join(&name)).collect::<Vec<_>>();
        let policy = policy.clone();
        let policy = if plan.has(LayerKind::Cgroup) { policy } else { policy.without_cgroup() };
        let launch = Box::new(Launch { policy, plan, name, zygote });
        let (launcher, control) = self.start()?;
        let mut jailed = SandboxedProcess {
            launcher,
            control,
            pid: None,
            kinds,
            group: None,
            ended: None,
            gone: false,
            ends,
        };
        let borrowed: Vec<BorrowedFd<'_>> = fds.iter().map(AsFd::as_fd).collect();
        launcher_protocol::send(&jailed.control, &LauncherRequest::Launch(launch), &borrowed)
            .map_err(SandboxError::Silent)?;
        drop(fds);
        if !readable(&jailed.control, Some(START_TIMEOUT)) {
            return Err(SandboxError::Silent(io::ErrorKind::TimedOut.into()));
        }
        match launcher_protocol::receive::<LauncherEvent>(&jailed.control).map_err(SandboxError::Silent)?.0 {
            LauncherEvent::Started { pid } => {
                jailed.pid = Pid::from_raw(pid);
                let group = group.into_iter().find(|folder| cgroup::is_version_2(folder));
                jailed.group = group.map(BotGroup::open).transpose()?.map(Arc::new);
            }
            LauncherEvent::Failed(failure) => {
                return Err(SandboxError::Failed { step: failure.step, reason: failure.reason });
            }
            LauncherEvent::Probed(_) | LauncherEvent::Ended(_) | LauncherEvent::Kept { .. } => {
                return Err(SandboxError::Silent(io::ErrorKind::InvalidData.into()));
            }
        }
        Ok(jailed)
    }

    /// All layers that work here and were not left out. Fails if a required one is missing.
    fn plan(&self, policy: &Policy) -> Result<SandboxPlan, SandboxError> {
        let probed = self.probed()?;
        let missing = |layer: &&Layer| policy.requires(layer.kind) && !layer.active;
        let missing: Vec<Layer> = probed.layers.iter().filter(missing).cloned().collect();
        if !missing.is_empty() {
            return Err(SandboxError::Missing(missing));
        }
        let active = probed.layers.iter().filter(|layer| layer.active).map(|layer| layer.kind);
        let wanted = |kind: &LayerKind| {
            let part_of_landlock = matches!(kind, LayerKind::LandlockNetwork | LayerKind::LandlockScopes);
            policy.wants(*kind) && (!part_of_landlock || policy.wants(LayerKind::Landlock))
        };
        let kinds: Vec<LayerKind> = active.filter(wanted).collect();
        let has = |kind: LayerKind| kinds.contains(&kind);
        let chosen = || {
            let dedicated = User::dedicated(getpid().as_raw_nonzero().get().unsigned_abs(), next_number());
            if probed.many_users { dedicated } else { User::OVERFLOW }
        };
        Ok(SandboxPlan {
            mode: probed.mode.filter(|_| has(LayerKind::Namespaces)),
            landlock: if has(LayerKind::Landlock) { probed.landlock } else { 0 },
            user: has(LayerKind::User).then(|| policy.user.unwrap_or_else(chosen)),
            cgroups: if has(LayerKind::Cgroup) { probed.cgroups.clone() } else { Vec::new() },
            kinds,
        })
    }
}

/// Counts bots, for names and user ids.
fn next_number() -> u32 {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

#[derive(Debug, Default)]
struct StreamEnds {
    stdin: Option<PipeWriter>,
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
}

/// The bot's ends of its descriptors, and the engine's.
fn open_streams(streams: Streams) -> io::Result<(Vec<OwnedFd>, StreamEnds)> {
    let mut ends = StreamEnds::default();
    let null = || std::fs::File::options().read(true).write(true).open("/dev/null").map(OwnedFd::from);
    let stdin = match streams.stdin {
        StdStream::Null => null()?,
        StdStream::Given(fd) => fd,
        StdStream::Pipe => {
            let (read, write) = io::pipe()?;
            ends.stdin = Some(write);
            read.into()
        }
    };
    let output = |stream: StdStream, end: &mut Option<PipeReader>| -> io::Result<OwnedFd> {
        Ok(match stream {
            StdStream::Null => null()?,
            StdStream::Given(fd) => fd,
            StdStream::Pipe => {
                let (read, write) = io::pipe()?;
                *end = Some(read);
                write.into()
            }
        })
    };
    let stdout = output(streams.stdout, &mut ends.stdout)?;
    let stderr = output(streams.stderr, &mut ends.stderr)?;
    Ok(([stdin, stdout, stderr].into_iter().chain(streams.extra).collect(), ends))
}

/// A bot in the sandbox. Dropping it ends the bot and everything the bot has started.
///
/// It can be polled ([`AsFd`]): readable means that the bot has ended.
#[derive(Debug)]
pub struct SandboxedProcess {
    launcher: Child,
    control: OwnedFd,
    pid: Option<Pid>,
    kinds: Vec<LayerKind>,
    group: Option<Arc<BotGroup>>,
    ended: Option<BotExit>,
    gone: bool,
    ends: StreamEnds,
}

impl SandboxedProcess {
    /// The bot's process id outside its namespace. It stays reserved until [`SandboxedProcess::kill_all`].
    pub fn pid(&self) -> Pid {
        self.pid.unwrap_or(Pid::INIT)
    }

    /// The layers that the bot is behind.
    pub fn layers(&self) -> &[LayerKind] {
        &self.kinds
    }

    /// The engine's end of the bot's stdin; the first call takes it.
    pub fn take_stdin(&mut self) -> Option<PipeWriter> {
        self.ends.stdin.take()
    }

    /// The engine's end of the bot's stdout; the first call takes it.
    pub fn take_stdout(&mut self) -> Option<PipeReader> {
        self.ends.stdout.take()
    }

    /// The engine's end of the bot's stderr; the first call takes it.
    pub fn take_stderr(&mut self) -> Option<PipeReader> {
        self.ends.stderr.take()
    }

    /// The cgroup of all its processes, if it has one.
    pub fn group(&self) -> Option<&Arc<BotGroup>> {
        self.group.as_ref()
    }

    /// Stops the bot and everything it has started: by its cgroup, else by SIGSTOP.
    pub fn pause(&self) -> io::Result<()> {
        match &self.group {
            Some(group) => group.set_frozen(true),
            None => self.signal(Signal::STOP),
        }
    }

    /// Continues them.
    pub fn resume(&self) -> io::Result<()> {
        match &self.group {
            Some(group) => group.set_frozen(false),
            None => self.signal(Signal::CONT),
        }
    }

    fn signal(&self, signal: Signal) -> io::Result<()> {
        match self.pid {
            // The launcher reaps the bot only when we close the connection, so the kernel cannot reuse the number before.
            Some(pid) if !self.gone => Ok(kill_process_group(pid, signal)?),
            _ => Ok(()),
        }
    }

    /// How the bot ended, if it has.
    pub fn try_wait(&mut self) -> Option<BotExit> {
        self.wait_for(Some(Duration::ZERO))
    }

    /// Waits until the bot has ended, at most for `limit`.
    pub fn wait_for(&mut self, limit: Option<Duration>) -> Option<BotExit> {
        if self.ended.is_none() && readable(&self.control, limit) {
            self.ended = Some(match launcher_protocol::receive::<LauncherEvent>(&self.control) {
                Ok((LauncherEvent::Ended(ended), _)) => ended,
                _ => BotExit::Stopped,
            });
        }
        self.ended.clone()
    }

    /// Stores the bot's kept folders after a match, while only the process runs that has loaded the bot.
    pub fn store_kept(&mut self) -> io::Result<()> {
        self.ask_launcher(&LauncherRequest::StoreKept)
    }

    /// Loads the bot's kept folders for the next match.
    pub fn load_kept(&mut self) -> io::Result<()> {
        self.ask_launcher(&LauncherRequest::LoadKept)
    }

    fn ask_launcher(&mut self, request: &LauncherRequest) -> io::Result<()> {
        if self.gone || self.ended.is_some() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        launcher_protocol::send(&self.control, request, &[])?;
        if !readable(&self.control, Some(KILL_TIMEOUT)) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match launcher_protocol::receive::<LauncherEvent>(&self.control)?.0 {
            LauncherEvent::Kept { problem: None } => Ok(()),
            LauncherEvent::Kept { problem: Some(problem) } => Err(io::Error::other(problem)),
            LauncherEvent::Ended(ended) => {
                self.ended = Some(ended);
                Err(io::ErrorKind::BrokenPipe.into())
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Kills the bot and everything it has started, and waits until all of it is gone. The bot's earlier output stays readable.
    pub fn kill_all(&mut self) -> BotExit {
        let ended = self.try_wait().unwrap_or(BotExit::Stopped);
        self.ended = Some(ended.clone());
        if self.gone {
            return ended;
        }
        self.ends.stdin = None;
        let _ = launcher_protocol::send(&self.control, &LauncherRequest::End, &[]);
        let _ = shutdown(&self.control, Shutdown::Both);
        let deadline = Instant::now() + KILL_TIMEOUT;
        let mut pause = Duration::from_micros(100);
        while matches!(self.launcher.try_wait(), Ok(None)) {
            if Instant::now() > deadline {
                // The kernel kills the bot and its namespace's first process with the launcher. Signal the group once more to be sure.
                let _ = self.signal(Signal::KILL);
                let _ = self.launcher.kill();
                let _ = self.launcher.wait();
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(5));
        }
        self.gone = true;
        if let Some(group) = self.group.take() {
            group.remove();
        }
        ended
    }
}

impl AsFd for SandboxedProcess {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.control.as_fd()
    }
}

impl Drop for SandboxedProcess {
    fn drop(&mut self) {
        self.kill_all();
    }
}

/// Whether the descriptor becomes readable within `limit`.
fn readable(fd: &OwnedFd, limit: Option<Duration>) -> bool {
    let deadline = limit.map(|limit| Instant::now() + limit);
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let timeout = left.map(|left| rustix::event::Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: i64::from(left.subsec_nanos()),
        });
        let mut fds = [PollFd::new(fd, PollFlags::IN)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(count) => return count > 0,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return true,
        }
    }
}
