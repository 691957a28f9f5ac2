//! Runs bots: any program, in a sandbox, on a fair clock. Knows no game's rules.
//!
//! - [`program`]: the program of a bot, and the only place that starts one
//! - [`handle`]: a handle on a running program
//! - [`process`]: a running program that answers lines, stopped between requests
//! - [`timing`]: the cost of an answer: wall time, CPU time, time waiting for a processor
//! - [`connection`]: the request/answer interface of a running bot
//! - [`zygote`]: Python bots forked from a zygote
//! - [`pinning`]: one game for each core
//! - [`json_lines_player`]: a program as a player through the JSON-lines protocol (`docs/protocol.md`)
//! - [`text_player`]: a program as a player through a game's own text protocol
//! - [`load_check`]: starts a bot once, before its first game
//! - [`bot_limits`]: what every bot is limited to, as a list for people
//! - [`bot_rejection`]: why a bot is not accepted
//! - [`scratch_dir`]: temporary folders of a run
//! - [`interactive`]: a Python bot asked by a debugger or a profiler
//! - [`python_packages`]: packages that an organiser allows
//! - [`sandbox`]: restrictions on a bot

pub mod bot_limits;
pub mod bot_rejection;
pub mod connection;
pub mod handle;
pub mod interactive;
pub mod json_lines_player;
pub mod load_check;
mod message;
pub mod pinning;
mod pipes;
mod poller;
pub mod process;
pub mod program;
pub mod python;
mod python_files;
pub mod python_packages;
pub mod python_script;
mod running_bot;
pub mod sandbox;
pub mod scratch_dir;
mod stderr_pipe;
mod test_switches;
pub mod text_player;
pub mod timing;
pub mod zygote;

pub use bot_rejection::BotRejection;
pub use json_lines_player::{HelloInfo, JsonLinesPlayer, PlayerOptions};
pub use load_check::LoadCheck;
pub use program::{Program, ProgramError};
pub use scratch_dir::ScratchDir;
pub use text_player::TextPlayer;
