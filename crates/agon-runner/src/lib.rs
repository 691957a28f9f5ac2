//! Carries a competition out: plays what its schedule says, keeps it in the ledger, goes on where it stopped.
//!
//! [`run`] is the one that decides. [`queue`] hands matches out, an [`executor`] has them played, [`local`] on this machine in a [`hall`], where a
//! [`course`] says which game of a match comes next. [`event`] is what progress bars read, [`tables`] what the ledger says a phase has
//! come to, [`rulings`] what the organiser decided, [`gallery`] shows games as they are played, [`secret`] is what is drawn from the secret seed;
//! [`belongings`] and [`chronicles`] are what bots keep and may read, `transcript` is what they print.

pub mod belongings;
pub mod chronicles;
pub mod course;
mod error;
pub mod event;
pub mod executor;
pub mod gallery;
pub mod hall;
pub mod local;
pub mod queue;
pub mod rulings;
pub mod run;
pub mod secret;
pub mod stop;
pub mod tables;
mod transcript;
mod withdraw;

pub use error::RunError;
pub use event::{Event, Listener};
pub use executor::{Executor, Lot};
pub use gallery::{BoardNow, Follower, Gallery, Update};
pub use hall::{Bout, Member};
pub use local::{Boards, Local, Playing};
pub use run::{Ended, Run};
pub use stop::Stop;
