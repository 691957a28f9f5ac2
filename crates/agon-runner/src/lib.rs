//! Runs a competition: plays the matches of its schedule, stores the results in the ledger, and resumes after a stop.
//!
//! - [`run`] is the main loop. It goes through phases and stages and writes the ledger.
//! - [`queue`] hands out the matches of a stage. An [`executor`] plays them; [`local`] is the executor for this machine.
//! - [`phase_context`] holds everything that the matches of a phase share. [`match_runner`] plays one match, and [`match_progress`] decides
//!   which game of a match comes next.
//! - [`event`] defines the progress events. [`live`] shows games while they are played.
//! - [`phase_results`] reads results from the ledger and computes standings. [`rulings`] applies decisions of the organiser. `revoke`
//!   removes stored matches of banned or outvoted workers.
//! - [`shown_entrants`] gives entrants the names that tables show.
//! - [`seeds`] derives all seeds from the secret seed.
//! - [`data_dir`] and [`logs_dirs`] manage the `data/` and `logs/` folders of bots. `output_capture` records what bots print.

pub mod data_dir;
mod error;
pub mod event;
pub mod executor;
pub mod live;
pub mod local;
pub mod logs_dirs;
pub mod match_progress;
pub mod match_runner;
mod output_capture;
pub mod phase_context;
pub mod phase_results;
pub mod queue;
mod revoke;
pub mod rulings;
pub mod run;
pub mod seeds;
pub mod shown_entrants;
pub mod stop_flag;

pub use error::RunError;
pub use event::{RunEvent, RunListener};
pub use executor::{Executor, ExecutorEvent};
pub use live::{LiveGame, LiveGames, LiveSubscriber, LiveUpdate};
pub use local::{ActiveMatch, ActiveMatches, LocalExecutor};
pub use match_runner::MatchRunner;
pub use phase_context::LoadedEntrant;
pub use run::{CompetitionRun, RunOutcome};
pub use stop_flag::StopFlag;
