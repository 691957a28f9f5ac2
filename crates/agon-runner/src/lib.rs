//! Carries a competition out: plays what its schedule says, keeps it in the ledger, goes on where it stopped.

pub mod belongings;
pub mod course;
pub mod queue;
pub mod secret;
pub mod stop;
