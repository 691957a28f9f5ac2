//! Carries a competition out: plays what its schedule says, keeps it in the ledger, goes on where it stopped.

pub mod belongings;
pub mod chronicles;
pub mod course;
pub mod event;
pub mod hall;
pub mod local;
pub mod queue;
pub mod secret;
pub mod stop;
