//! Common part of brackets: they are replayed from their results and give places.

use std::marker::PhantomData;

use super::balance::BalanceReport;
use super::ties::{BracketProgress, BracketReplay, bracket_entrants, games_per_tie, played_balance};
use super::{FormatError, PhaseField, PhaseHistory, PhaseSchedule, Stage, TieRule};
use crate::result::Entrant;

/// Rules of an elimination format. Entrants are numbers in seeding order, 0 the best.
pub(super) trait EliminationRules: Send + Sync {
    /// Plays the bracket. `None` if results are missing.
    fn run(
        entrants: usize,
        rule: TieRule,
        replay: &mut BracketReplay<'_>,
        progress: &mut BracketProgress,
    ) -> Option<()>;

    /// Minimum and maximum number of ties.
    fn tie_count(entrants: u64, rule: TieRule) -> (u64, u64);
}

/// Schedule of a bracket.
pub(super) struct Elimination<B> {
    entrants: Vec<Entrant>,
    rule: TieRule,
    variants: u32,
    bracket: PhantomData<B>,
}

impl<B: EliminationRules> Elimination<B> {
    pub fn new(field: &PhaseField, rule: TieRule) -> Result<Self, FormatError> {
        Ok(Self {
            entrants: bracket_entrants(field, rule)?,
            rule,
            variants: field.variants(),
            bracket: PhantomData,
        })
    }

    fn replay(&self, past: &PhaseHistory<'_>, wanted: u32) -> (BracketProgress, Option<Box<dyn Stage>>) {
        let mut replay = BracketReplay::new(&self.entrants, self.rule, self.variants, past, wanted);
        let mut progress = BracketProgress::default();
        progress.finished = B::run(self.entrants.len(), self.rule, &mut replay, &mut progress).is_some();
        (progress, replay.found.map(|stage| Box::new(stage) as Box<dyn Stage>))
    }
}

impl<B: EliminationRules> PhaseSchedule for Elimination<B> {
    fn stage(&self, number: u32, past: &PhaseHistory<'_>) -> Option<Box<dyn Stage>> {
        self.replay(past, number).1
    }

    fn depends_on_results(&self) -> bool {
        true
    }

    fn expected_matches(&self) -> (u64, u64) {
        let (fewest, most) = B::tie_count(self.entrants.len() as u64, self.rule);
        let (short, long) = games_per_tie(self.rule, self.variants);
        (fewest * short, most * long)
    }

    fn balance(&self, past: &PhaseHistory<'_>) -> BalanceReport {
        played_balance(&self.entrants, past, self.replay(past, u32::MAX).0.finished)
    }

    fn placing(&self, past: &PhaseHistory<'_>) -> Option<Vec<Vec<Entrant>>> {
        Some(self.replay(past, u32::MAX).0.placing(&self.entrants))
    }
}
