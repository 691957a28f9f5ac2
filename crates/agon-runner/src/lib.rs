//! Carries a competition out: plays what its schedule says, keeps it in the ledger, goes on where it stopped.
//!
//! [`run`] is the one that decides. [`queue`] hands matches out, an [`executor`] has them played, [`local`] on this machine in a [`hall`], where a
//! [`course`] says which game of a match comes next. [`event`] is what progress bars read, [`tables`] what the ledger says a phase has
//! come to, [`rulings`] what the organiser decided, [`gallery`] shows games as they are played, [`secret`] is what is drawn from the secret seed;
//! [`belongings`] and [`chronicles`] are what bots keep and may read, `transcript` is what they print.

pub mod data_dir;
pub mod logs_dirs;
pub mod match_progress;
mod error;
pub mod event;
pub mod executor;
pub mod live;
pub mod match_runner;
pub mod local;
pub mod queue;
pub mod rulings;
pub mod run;
pub mod seeds;
pub mod stop_flag;
pub mod phase_results;
mod output_capture;
mod revoke;

pub use error::RunError;
pub use event::{Event, Listener};
pub use executor::{Executor, ExecutorEvent};
pub use live::{LiveGame, LiveSubscriber, LiveGames, LiveUpdate};
pub use match_runner::{MatchRunner, LoadedEntrant};
pub use local::{ActiveMatches, LocalExecutor, ActiveMatch};
pub use run::{RunOutcome, CompetitionRun};
pub use stop_flag::StopFlag;
