//! The sandbox around a bot.
//!
//! A bot is an untrusted process. Several layers separate it from everything else, and each works without the others
//! ([`LayerKind`]). The program finds out by trying which of them a machine offers ([`probe`]). A [`Policy`] is plain data that
//! says what a bot may do. A small launcher, which is the same program started again with a single thread, enters all layers and
//! becomes the bot.
//!
//! ```text
//!   engine ──socket──> launcher ──┬── first process of the namespace (where there is one)
//!     │                           └── the bot ── its child processes
//!     └──────── pipes ───────────────────┘
//! ```
//!
//! The launcher stays: it adopts every process that the bot leaves behind, kills all of them when the engine says so or is gone,
//! and until then keeps the kernel from reusing the bot's process id. The engine gets a [`SandboxedProcess`].
//!
//! Gaps: without namespaces a bot can learn that a file it may not read exists (`stat`). Without a cgroup that
//! limits memory, the launcher counts memory from outside, and without namespaces also the space of kept folders. It counts as often as a bot
//! could exceed a limit; on a machine so busy that the launcher does not run for milliseconds, a bot can take more in that time.

mod bot_group;
mod bot_processes;
mod cgroup;
mod controllers;
mod defence;
mod enter;
mod folder_quota;
mod hidden_paths;
mod kept_folders;
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
mod usage;
mod zygote_fork;

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use crate::test_switches::is_off;

pub use bot_group::BotGroup;
pub use defence::Defence;
pub use hidden_paths::can_hide;
pub use launch::run_launcher_if_requested;
pub use launcher_protocol::BotExit;
pub use layer::{Layer, LayerKind};
#[cfg(test)]
pub(crate) use limits::by_name as kernel_limits;
pub(crate) use limits::{MAX_LOCKED_BYTES, MAX_PENDING_SIGNALS, STACK_BYTES};
pub use policy::{Limits, PATH, Policy, REQUIRED, User, Writable, is_system_executable};
pub use spawn::{Launcher, SandboxError, SandboxedProcess, StdStream, Streams};

/// The launcher for all bots of this program.
static OWN: OnceLock<Launcher> = OnceLock::new();

/// Only for tests, whose program is not a launcher: sets the launcher program. Has no effect after the first bot.
#[doc(hidden)]
pub fn set_test_launcher(program: impl Into<std::path::PathBuf>) {
    let _ = OWN.set(with_test_switches(Launcher::new(program)));
}

/// The launcher, without cgroups if a test has switched them off.
fn with_test_switches(launcher: Launcher) -> Launcher {
    if is_off("cgroup") || is_off("meter") { launcher.with_test_cgroups([""; 0]) } else { launcher }
}

/// The launcher that is this program.
fn own() -> Result<&'static Launcher, SandboxError> {
    if let Some(own) = OWN.get() {
        return Ok(own);
    }
    let launcher = with_test_switches(Launcher::this_program()?);
    Ok(OWN.get_or_init(|| launcher))
}

/// Tries every layer on this machine, once.
pub fn probe() -> Result<Vec<Layer>, SandboxError> {
    own()?.probe().map(<[Layer]>::to_vec)
}

/// Forks a bot from a zygote into the sandbox, with this program as the launcher: see [`Launcher::fork`].
pub fn fork(
    policy: &Policy,
    fds: Vec<OwnedFd>,
    zygote: BorrowedFd<'_>,
    request: serde_json::Map<String, serde_json::Value>,
) -> Result<SandboxedProcess, SandboxError> {
    own()?.fork(policy, fds, zygote, request)
}

/// Starts a bot in the sandbox, with this program as the launcher: its `main` must call [`run_launcher_if_requested`] first.
pub fn spawn(policy: &Policy, streams: Streams) -> Result<SandboxedProcess, SandboxError> {
    own()?.spawn(policy, streams)
}
