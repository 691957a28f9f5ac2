//! What keeps a bot from doing harm.
//!
//! A bot is a process we do not trust. Between it and everything else stand several layers, each of which works without the
//! others ([`LayerKind`]). Which of them a machine offers is found by trying ([`probe`]); what a bot may do is plain data ([`Policy`]); and a
//! small launcher, which is the same program started again with a single thread, puts itself behind all of them and becomes the bot.
//!
//! ```text
//!   engine ──socket──> launcher ──┬── first process of the namespace (where there is one)
//!     │                           └── the bot ── whatever it starts
//!     └──────── pipes ───────────────────┘
//! ```
//!
//! The launcher stays: it is the parent of all the bot leaves behind, ends all of it when the engine says so or is gone, and
//! keeps the bot's process id from being used again before that. What the engine gets is a [`SandboxedProcess`].
//!
//! What no layer gives: without namespaces a bot can learn that a file it may not read exists (`stat`); without a cgroup the memory
//! limit holds for each process, and all of a bot's processes together are measured ten times a second (a quarter more is let
//! pass), as is a folder that is kept: a bot can overshoot by what it takes in between.

mod cgroup;
mod enter;
mod hidden_paths;
mod landlock_rules;
mod launch;
mod launcher_protocol;
mod layer;
mod limits;
mod memory;
mod namespaces;
mod policy;
mod probe;
mod seccomp;
mod spawn;
mod syscall_lists;
pub(crate) mod unsafe_syscalls;
mod zygote_fork;

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::OnceLock;

pub use hidden_paths::can_hide;
pub use launch::run_launcher_if_requested;
pub use launcher_protocol::BotExit;
pub use layer::{Layer, LayerKind};
pub use policy::{Limits, PATH, Policy, REQUIRED, User, Writable};
pub use spawn::{Launcher, SandboxError, SandboxedProcess, Stream, Streams};

/// The launcher that is this very program.
fn own() -> Result<&'static Launcher, SandboxError> {
    static OWN: OnceLock<Launcher> = OnceLock::new();
    if let Some(own) = OWN.get() {
        return Ok(own);
    }
    let launcher = Launcher::this_program()?;
    Ok(OWN.get_or_init(|| launcher))
}

/// Every layer, tried on this machine by this program, once.
pub fn probe() -> Result<Vec<Layer>, SandboxError> {
    own()?.probe().map(<[Layer]>::to_vec)
}

/// Has a bot forked from a warm parent, behind the sandbox, with this program as the launcher: see [`Launcher::fork`].
pub fn fork(
    policy: &Policy,
    fds: Vec<OwnedFd>,
    parent: BorrowedFd<'_>,
    order: serde_json::Map<String, serde_json::Value>,
) -> Result<SandboxedProcess, SandboxError> {
    own()?.fork(policy, fds, parent, order)
}

/// Starts a bot behind the sandbox, with this program as the launcher: its `main` must call [`run_launcher_if_requested`] first.
pub fn spawn(policy: &Policy, streams: Streams) -> Result<SandboxedProcess, SandboxError> {
    own()?.spawn(policy, streams)
}
