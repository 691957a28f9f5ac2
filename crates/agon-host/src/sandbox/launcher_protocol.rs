//! The messages between engine and launcher: a length, then JSON, over a socket that also carries descriptors.
//!
//! The socket is the launcher's standard input, so no descriptor is inherited by number. When the socket closes, the launcher
//! knows that the engine is gone, whatever the reason.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::layer::{Layer, LayerKind};
use super::policy::{Policy, User};

/// Maximum number of descriptors with a request: the three standard ones and a few more.
pub(super) const MAX_DESCRIPTORS: usize = 32;
/// Maximum message size, so that a broken peer cannot make us allocate without limit.
const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// A request to the launcher.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum LauncherRequest {
    /// Try every layer.
    Probe {
        /// Folders in which a cgroup may be created. `None`: find out.
        cgroups: Option<Vec<std::path::PathBuf>>,
    },
    /// Start a bot.
    Launch(Box<Launch>),
    /// Store the kept folders: a match is over.
    StoreKept,
    /// Load the kept folders again: a match begins.
    LoadKept,
    /// End the bot.
    End,
}

/// A bot to start. Its standard descriptors and the extra ones come with the message.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Launch {
    pub policy: Policy,
    pub plan: SandboxPlan,
    /// The name of the bot's cgroups, if there are any.
    pub name: String,
    /// Set if the bot is a fork of a zygote. The zygote's control socket is the last descriptor. The map is the request to the
    /// zygote, without the restrictions.
    #[serde(rename = "warm")]
    pub zygote: Option<serde_json::Map<String, serde_json::Value>>,
}

/// The probe results that entering depends on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SandboxProbe {
    pub layers: Vec<Layer>,
    pub mode: Option<Mode>,
    pub landlock: u8,
    /// Any user id works, so each bot gets a unique one.
    pub many_users: bool,
    /// Folders in which a cgroup can be created for each bot.
    pub cgroups: Vec<std::path::PathBuf>,
}

/// How namespaces are created.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Mode {
    /// As root.
    Plain,
    /// As an ordinary user, inside a user namespace.
    WithUser,
}

/// The layers that the launcher enters. It enters all of them, or fails.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SandboxPlan {
    pub mode: Option<Mode>,
    /// The version of Landlock, 0 for none.
    pub landlock: u8,
    pub kinds: Vec<LayerKind>,
    pub user: Option<User>,
    pub cgroups: Vec<std::path::PathBuf>,
}

impl SandboxPlan {
    pub(super) fn has(&self, kind: LayerKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Whether the bot cannot address a process outside.
    pub(super) fn signals_stay_inside(&self) -> bool {
        self.mode.is_some() || self.has(LayerKind::LandlockScopes)
    }
}

/// A step that failed, and why.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct StepError {
    pub step: String,
    pub reason: String,
}

impl StepError {
    #[expect(clippy::needless_pass_by_value, reason = "callers have no further use for the error")]
    pub(super) fn new(step: impl Into<String>, reason: impl ToString) -> Self {
        Self { step: step.into(), reason: reason.to_string() }
    }
}

/// Turns any error into a [`StepError`] with the name of the step.
pub(super) trait StepContext<T> {
    fn step(self, step: &str) -> Result<T, StepError>;
}

impl<T, E: ToString> StepContext<T> for Result<T, E> {
    fn step(self, step: &str) -> Result<T, StepError> {
        self.map_err(|error| StepError::new(step, error))
    }
}

/// A message from the launcher.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum LauncherEvent {
    Probed(SandboxProbe),
    Failed(StepError),
    Started {
        pid: i32,
    },
    /// The kept folders are stored or loaded, or why not.
    Kept {
        problem: Option<String>,
    },
    Ended(BotExit),
}

/// How a bot ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum BotExit {
    /// By itself, with this exit code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// The launcher killed it: this folder exceeded its limit.
    FolderFull(std::path::PathBuf),
    /// The launcher killed it: all its processes together exceeded the memory limit.
    TooMuchMemory,
    /// [`super::SandboxedProcess::kill_all`] stopped it.
    Stopped,
}

impl From<ExitStatus> for BotExit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Exited(code),
            (None, Some(signal)) => Self::Signalled(signal),
            (None, None) => Self::Stopped,
        }
    }
}

impl std::fmt::Display for BotExit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(0) => f.write_str("ended by itself"),
            Self::Exited(code) => write!(f, "ended with status {code}"),
            Self::Signalled(signal) => write!(f, "was ended by signal {signal}{}", signal_name(*signal)),
            Self::FolderFull(path) => write!(f, "wrote more than allowed into {}", path.display()),
            Self::TooMuchMemory => f.write_str("used more memory than allowed, all its processes together"),
            Self::Stopped => f.write_str("was stopped"),
        }
    }
}

/// Describes the signals that bots usually die of.
fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGABRT => " (aborted)",
        libc::SIGBUS => " (bus error)",
        libc::SIGFPE => " (arithmetic error)",
        libc::SIGILL => " (illegal instruction)",
        libc::SIGKILL => " (killed)",
        libc::SIGPIPE => " (wrote to a closed pipe)",
        libc::SIGSEGV => " (segmentation fault)",
        libc::SIGSYS => " (forbidden system call)",
        libc::SIGTERM => " (terminated)",
        libc::SIGXCPU => " (out of processor time)",
        libc::SIGXFSZ => " (file too large)",
        _ => "",
    }
}

/// Sends a message, with descriptors.
pub(super) fn send<T: Serialize>(to: impl AsFd, message: &T, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    let mut bytes = u32::try_from(body.len()).map_err(io::Error::other)?.to_le_bytes().to_vec();
    bytes.extend(body);
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut sent = 0;
    while sent < bytes.len() {
        let mut control = SendAncillaryBuffer::new(&mut space);
        if sent == 0 && !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
            return Err(io::Error::other("too many descriptors"));
        }
        match sendmsg(to.as_fd(), &[IoSlice::new(&bytes[sent..])], &mut control, SendFlags::NOSIGNAL) {
            Ok(count) => sent += count,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Waits for a message and takes its descriptors.
pub(super) fn receive<T: DeserializeOwned>(from: impl AsFd) -> io::Result<(T, Vec<OwnedFd>)> {
    let mut fds = Vec::new();
    let mut length = [0; 4];
    fill(from.as_fd(), &mut length, &mut fds)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_MESSAGE_BYTES {
        return Err(io::Error::other("a message of more than 16 MiB"));
    }
    let mut body = vec![0; length];
    fill(from.as_fd(), &mut body, &mut fds)?;
    Ok((serde_json::from_slice(&body)?, fds))
}

fn fill(from: BorrowedFd<'_>, bytes: &mut [u8], fds: &mut Vec<OwnedFd>) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut filled = 0;
    while filled < bytes.len() {
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut place = [IoSliceMut::new(&mut bytes[filled..])];
        match recvmsg(from, &mut place, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Ok(received) if received.bytes == 0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(received) => filled += received.bytes,
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = message {
                fds.extend(received);
            }
        }
    }
    Ok(())
}
