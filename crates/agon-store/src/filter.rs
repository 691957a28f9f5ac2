//! Which of many are wanted, and in which order.

use std::ops::Range;

use agon_core::Fault;
use agon_league::{Entrant, MatchKey};

/// In which order matches come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// By stage and number: the same in every run.
    #[default]
    Schedule,
    /// As they were appended.
    Appended,
    /// The last one first.
    Newest,
}

/// Which matches of a phase. The default is all of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchFilter {
    /// Only these stages.
    pub stages: Range<u32>,
    /// Only where this entrant played.
    pub entrant: Option<Entrant>,
    /// Only those with an entry in the fault list.
    pub faulty: bool,
    /// In which order.
    pub order: Order,
    /// Only what comes behind this one, in that order: for the next page.
    pub after: Option<MatchKey>,
    /// At most so many.
    pub limit: Option<u64>,
}

impl Default for MatchFilter {
    fn default() -> Self {
        Self {
            stages: 0..u32::MAX,
            entrant: None,
            faulty: false,
            order: Order::Schedule,
            after: None,
            limit: None,
        }
    }
}

/// Which faults; the newest come first. The default is all of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FaultFilter {
    /// Only of this phase.
    pub phase: Option<u32>,
    /// Only of this entrant.
    pub entrant: Option<Entrant>,
    /// Only this kind.
    pub fault: Option<Fault>,
    /// Only those before this one ([`crate::KeptFault::id`]): for the next page.
    pub before: Option<u64>,
    /// At most so many.
    pub limit: Option<u64>,
}
