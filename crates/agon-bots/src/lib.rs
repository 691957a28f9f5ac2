//! From a bot spec (what a user wrote to name a bot) to a bot that can play ([`BotSource`], [`prepare()`]): folders, archives, git repositories, manifests, packages for
//! other machines, checks and starters.
//!
//! The command line, competitions, the server and workers share this path. Nothing here prints, changes the current folder of the process
//! or is tied to a thread. Relative paths are read from a folder that the caller names, and messages beside the result go to a callback
//! ([`MessageSink`]).

pub mod bot_source;
pub mod check;
pub mod debug_line;
pub mod error;
pub mod isolation;
pub mod manifest;
pub mod package;
pub mod parse_options;
pub mod prepare;
mod resolve;
pub mod source;
pub mod starter;

pub use bot_source::BotSource;
pub use error::Diagnostic;
pub use prepare::{PrepareContext, PreparedBot, SandboxMode, prepare};
pub use resolve::require_cgroup;

/// Callback for messages beside the result, one line each.
pub type MessageSink<'t> = &'t mut dyn FnMut(&str);
