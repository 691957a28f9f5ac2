//! A running bot: any process, behind a sandbox, on a fair clock. Knows no game's rules.
//!
//! - [`program`]: what is to be run, and the one place where it is started
//! - [`handle`]: a hold on a running program, whatever started it
//! - [`process`]: a running program that is asked and answers, held still in between
//! - [`timing`]: what an answer cost: wall, processor, and waiting for a processor
//! - [`talk`]: what is asked and answers, however it is reached
//! - [`warm`]: Python bots forked from a warm parent
//! - [`pinning`]: one game for each core
//! - [`lines`]: a program as a player by the JSON-lines protocol (`docs/protocol.md`)
//! - [`text`]: a program as a player by a game's own lines of text
//! - [`load_check`]: starting a bot once before its first game
//! - [`bot_rejection`]: why a bot is not accepted
//! - [`scratch_dir`]: private folders of a run, removed when it ends
//! - [`dialogue`]: a Python bot asked by a debugger or a profiler
//! - [`sandbox`]: what a bot may not do

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
mod running_bot;
pub mod sandbox;
pub mod scratch_dir;
mod stderr_pipe;
pub mod text_player;
pub mod timing;
pub mod zygote;

pub use bot_rejection::BotRejection;
pub use json_lines_player::{HelloInfo, JsonLinesPlayer, PlayerOptions};
pub use load_check::LoadCheck;
pub use program::{Program, ProgramError};
pub use scratch_dir::ScratchDir;
pub use text_player::TextPlayer;
