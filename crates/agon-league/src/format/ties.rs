//! Common part of Swiss rounds and eliminations: stages of pairs, and ties that must have a winner.
//!
//! A tie has a number of game pairs on every variant. The second game of a pair swaps the seats and has the same seed. More points win.
//! If equal, the tie-break decides (for example word points over the tie). If that is equal too, the open ties play one more pair as a
//! separate stage. After the maximum number of extra pairs the better seed advances.
//!
//! The stages depend on results, so a bracket is replayed from its history on every request. [`BracketReplay`] gives it the verdicts
//! stage by stage and stops at the wanted stage. No other state is kept that could disagree.

use super::balance::{BalanceReport, FixtureCounts};
use super::{Fixture, FormatError, MatchVerdict, PhaseHistory, Stage, TieRule};
use crate::result::{Entrant, FixedPoint};

/// A stage in which pairs of entrants meet.
pub(super) struct PairStage {
    pub name: String,
    /// Stage number; different stages have different seeds.
    pub stage: u32,
    pub ties: Vec<[Entrant; 2]>,
    /// Meetings per variant.
    pub pairs: u32,
    /// First variant and number of variants.
    pub variants: (u32, u32),
    /// Whether each game is repeated with the seats swapped.
    pub swap: bool,
}

impl PairStage {
    fn repeats(&self) -> u64 {
        1 + u64::from(self.swap)
    }

    /// Tie of a fixture. Ties alternate, so that consecutive matches have different bots.
    fn tie_of(&self, number: u64) -> usize {
        (number / self.repeats() % self.ties.len().max(1) as u64) as usize
    }
}

impl Stage for PairStage {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn len(&self) -> u64 {
        self.ties.len() as u64 * u64::from(self.pairs) * u64::from(self.variants.1) * self.repeats()
    }

    fn fixture(&self, number: u64) -> Option<Fixture> {
        if number >= self.len() {
            return None;
        }
        let [first, second] = self.ties[self.tie_of(number)];
        let seed_index = number / self.repeats();
        let game = seed_index / self.ties.len() as u64;
        let turned = if self.swap { number % 2 == 1 } else { game % 2 == 1 };
        let seats = if turned { vec![second, first] } else { vec![first, second] };
        let variant = self.variants.0 + (game % u64::from(self.variants.1)) as u32;
        Some(Fixture { seats, seed_index: (u64::from(self.stage) << 32) | seed_index, variant })
    }
}

/// Replays a bracket from its history. Entrants are numbers in seeding order, 0 the best.
pub(super) struct BracketReplay<'p> {
    entrants: &'p [Entrant],
    rule: TieRule,
    variants: u32,
    past: &'p [Vec<MatchVerdict>],
    wanted: u32,
    next_stage: u32,
    /// The wanted stage, if reached.
    pub found: Option<PairStage>,
}

impl<'p> BracketReplay<'p> {
    /// Replays up to stage `wanted`, or as far as the history goes.
    pub fn new(
        entrants: &'p [Entrant],
        rule: TieRule,
        variants: u32,
        past: &PhaseHistory<'p>,
        wanted: u32,
    ) -> Self {
        Self { entrants, rule, variants, past: past.stages, wanted, next_stage: 0, found: None }
    }

    /// Plays these ties, each with the better seed first. Returns for each tie whether the better seed advances; `None` if not played yet.
    pub fn play(&mut self, name: &str, ties: &[[usize; 2]]) -> Option<Vec<bool>> {
        if ties.is_empty() {
            return Some(Vec::new());
        }
        let mut leads = vec![(FixedPoint::ZERO, FixedPoint::ZERO); ties.len()];
        let all: Vec<usize> = (0..ties.len()).collect();
        self.apply_stage(name.into(), ties, &all, self.rule.pairs, (0, self.variants), &mut leads)?;
        for extra in 1..=self.rule.extra {
            let open: Vec<usize> =
                (0..ties.len()).filter(|&tie| leads[tie] == (FixedPoint::ZERO, FixedPoint::ZERO)).collect();
            if open.is_empty() {
                break;
            }
            let variant = (extra - 1) % self.variants;
            self.apply_stage(
                format!("{name}, extra pair {extra}"),
                ties,
                &open,
                1,
                (variant, 1),
                &mut leads,
            )?;
        }
        Some(leads.into_iter().map(|lead| lead >= (FixedPoint::ZERO, FixedPoint::ZERO)).collect())
    }

    /// Takes one stage from the history and adds the lead of the first entrant of each tie: points, then tie-break.
    fn apply_stage(
        &mut self,
        name: String,
        ties: &[[usize; 2]],
        open: &[usize],
        pairs: u32,
        variants: (u32, u32),
        leads: &mut [(FixedPoint, FixedPoint)],
    ) -> Option<()> {
        let seats = open.iter().map(|&tie| ties[tie].map(|seed| self.entrants[seed])).collect();
        let stage = PairStage { name, stage: self.next_stage, ties: seats, pairs, variants, swap: true };
        if self.next_stage == self.wanted {
            self.found = Some(stage);
            return None;
        }
        let verdicts = self.past.get(self.next_stage as usize)?;
        self.next_stage += 1;
        for (number, verdict) in verdicts.iter().enumerate() {
            let at = stage.tie_of(number as u64);
            let lead = &mut leads[open[at]];
            for (seat, entrant) in verdict.seats.iter().enumerate() {
                let points = verdict.points.get(seat).copied().unwrap_or_default();
                let second = verdict.tie_break.get(seat).copied().unwrap_or_default();
                if *entrant == stage.ties[at][0] {
                    *lead = (lead.0 + points, lead.1 + second);
                } else if *entrant == stage.ties[at][1] {
                    *lead = (lead.0 - points, lead.1 - second);
                }
            }
        }
        Some(())
    }
}

/// Eliminated entrants, the first to go out first; groups went out together.
#[derive(Default)]
pub(super) struct BracketProgress {
    pub eliminated: Vec<Vec<usize>>,
    /// No match is left to play.
    pub finished: bool,
}

impl BracketProgress {
    /// Places, best first.
    pub fn placing(&self, entrants: &[Entrant]) -> Vec<Vec<Entrant>> {
        let mut gone = vec![false; entrants.len()];
        self.eliminated.iter().flatten().for_each(|&seed| gone[seed] = true);
        let still: Vec<usize> = (0..entrants.len()).filter(|&seed| !gone[seed]).collect();
        let groups =
            std::iter::once(&still).chain(self.eliminated.iter().rev()).filter(|group| !group.is_empty());
        groups.map(|group| group.iter().map(|&seed| entrants[seed]).collect()).collect()
    }
}

/// Entrants of a bracket, if it can be played.
pub(super) fn bracket_entrants(
    field: &super::PhaseField,
    rule: TieRule,
) -> Result<Vec<Entrant>, FormatError> {
    field.validate(2)?;
    if rule.pairs == 0 {
        return Err(FormatError::ZeroCount { field: "pairs" });
    }
    let top = rule.top.unwrap_or(u32::MAX);
    if top < 2 {
        return Err(FormatError::TooFewEntrants { needs: 2, has: top });
    }
    Ok(field.entrants.iter().copied().take(top as usize).collect())
}

/// Games per tie, without and with all extra pairs.
pub(super) fn games_per_tie(rule: TieRule, variants: u32) -> (u64, u64) {
    let games = 2 * u64::from(rule.pairs) * u64::from(variants);
    (games, games + 2 * u64::from(rule.extra))
}

/// Seeds in bracket order for 1, 2, 4, 8 ... slots: the best meet last and get the byes.
pub(super) fn seed_slots(entrants: usize) -> Vec<Option<usize>> {
    let mut seeds = vec![0];
    while seeds.len() < entrants {
        let sum = 2 * seeds.len() - 1;
        seeds = seeds.into_iter().flat_map(|seed| [seed, sum - seed]).collect();
    }
    seeds.into_iter().map(|seed| (seed < entrants).then_some(seed)).collect()
}

/// Ties of a bracket round between neighbouring slots, the better seed first.
pub(super) fn round_ties(slots: &[Option<usize>]) -> Vec<[usize; 2]> {
    slots.chunks(2).filter_map(|two| Some(ordered((*two.first()?)?, (*two.get(1)?)?))).collect()
}

pub(super) fn ordered(a: usize, b: usize) -> [usize; 2] {
    [a.min(b), a.max(b)]
}

/// Slots of the next round, and the losers.
pub(super) fn next_round(slots: &[Option<usize>], first_wins: &[bool]) -> (Vec<Option<usize>>, Vec<usize>) {
    let (mut next, mut losers, mut results) = (Vec::new(), Vec::new(), first_wins.iter());
    for two in slots.chunks(2) {
        match (two[0], two.get(1).copied().flatten()) {
            (Some(a), Some(b)) => {
                let [better, worse] = ordered(a, b);
                let first = results.next().copied().unwrap_or(true);
                next.push(Some(if first { better } else { worse }));
                losers.push(if first { worse } else { better });
            }
            (one, other) => next.push(one.or(other)),
        }
    }
    (next, losers)
}

/// Balance of the matches played so far.
pub(super) fn played_balance(entrants: &[Entrant], past: &PhaseHistory<'_>, complete: bool) -> BalanceReport {
    let mut tally = FixtureCounts::new(entrants);
    past.stages.iter().flatten().for_each(|verdict| tally.add(&verdict.seats, 1));
    tally.report(complete)
}
