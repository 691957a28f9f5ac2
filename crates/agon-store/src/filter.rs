//! Filters for matches and faults, and the order of matches.

use std::ops::Range;

use agon_core::Fault;
use agon_league::{Entrant, MatchKey};

/// Order of a list of matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MatchOrder {
    /// By stage and number: the same in every run.
    #[default]
    Schedule,
    /// In the order they were appended.
    Appended,
    /// In the reverse order of appending.
    NewestFirst,
}

/// Selects matches of a phase. The default selects all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchFilter {
    /// Only these stages.
    pub stages: Range<u32>,
    /// Only matches of this entrant.
    pub entrant: Option<Entrant>,
    /// Only matches with an entry in the fault list.
    pub faulty: bool,
    /// Order of the result.
    pub order: MatchOrder,
    /// Only matches after this one in that order; used for the next page.
    pub after: Option<MatchKey>,
    /// Maximum number of matches.
    pub limit: Option<u64>,
}

impl Default for MatchFilter {
    fn default() -> Self {
        Self {
            stages: 0..u32::MAX,
            entrant: None,
            faulty: false,
            order: MatchOrder::Schedule,
            after: None,
            limit: None,
        }
    }
}

/// Selects faults, newest first. The default selects all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FaultFilter {
    /// Only faults of this phase.
    pub phase: Option<u32>,
    /// Only faults of this entrant.
    pub entrant: Option<Entrant>,
    /// Only faults of this kind.
    pub fault: Option<Fault>,
    /// Only faults before this id ([`crate::StoredFault::id`]); used for the next page.
    pub before: Option<u64>,
    /// Maximum number of faults.
    pub limit: Option<u64>,
}
