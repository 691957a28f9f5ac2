//! What Swiss rounds and eliminations have in common: a stage in which twos meet, and ties that must have a winner.
//!
//! A tie is so many pairs of games on every variant, the seats swapped in the second of each pair, on one board. More points win; if they are equal,
//! more of what the table calls second (word points over the tie); if that is equal too, one more pair of games, as a stage of its own in
//! which only open ties play; after so many of those the better seeded goes on.
//!
//! Which stages there are depends on results, so a bracket is played through again from its past whenever somebody asks: [`BracketReplay`] hands it the
//! verdicts of one stage after the other and stops where the wanted stage begins. Nothing is remembered that could disagree.

use super::balance::{BalanceReport, FixtureCounts};
use super::{Fixture, FormatError, PhaseHistory, Stage, TieRule, MatchVerdict};
use crate::result::{Entrant, FixedPoint};

/// Some twos meet.
pub(super) struct PairStage {
    pub name: String,
    /// Its number: boards of different stages differ.
    pub stage: u32,
    pub ties: Vec<[Entrant; 2]>,
    /// How often they meet on each variant.
    pub pairs: u32,
    /// The first variant, and how many.
    pub variants: (u32, u32),
    /// Whether each game is played twice.
    pub swap: bool,
}

impl PairStage {
    fn repeats(&self) -> u64 {
        1 + u64::from(self.swap)
    }

    /// Which tie a fixture belongs to. Ties alternate, so that neighbours in time are different bots.
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
        let board = number / self.repeats();
        let game = board / self.ties.len() as u64;
        let turned = if self.swap { number % 2 == 1 } else { game % 2 == 1 };
        let seats = if turned { vec![second, first] } else { vec![first, second] };
        let variant = self.variants.0 + (game % u64::from(self.variants.1)) as u32;
        Some(Fixture { seats, seed_index: (u64::from(self.stage) << 32) | board, variant })
    }
}

/// A bracket that is played through from its past. Entrants are numbers in seeding order, 0 the best.
pub(super) struct BracketReplay<'p> {
    entrants: &'p [Entrant],
    rule: TieRule,
    variants: u32,
    past: &'p [Vec<MatchVerdict>],
    wanted: u32,
    at: u32,
    /// The wanted stage, once it has been reached.
    pub found: Option<PairStage>,
}

impl<'p> BracketReplay<'p> {
    /// Up to the stage `wanted`, or as far as the past goes.
    pub fn new(entrants: &'p [Entrant], rule: TieRule, variants: u32, past: &PhaseHistory<'p>, wanted: u32) -> Self {
        Self { entrants, rule, variants, past: past.stages, wanted, at: 0, found: None }
    }

    /// Plays these ties, the better seeded first in each, and says for each whether that one goes on. `None`: not played yet.
    pub fn play(&mut self, name: &str, ties: &[[usize; 2]]) -> Option<Vec<bool>> {
        if ties.is_empty() {
            return Some(Vec::new());
        }
        let mut leads = vec![(FixedPoint::ZERO, FixedPoint::ZERO); ties.len()];
        let all: Vec<usize> = (0..ties.len()).collect();
        self.stage(name.into(), ties, &all, self.rule.pairs, (0, self.variants), &mut leads)?;
        for extra in 1..=self.rule.extra {
            let open: Vec<usize> =
                (0..ties.len()).filter(|&tie| leads[tie] == (FixedPoint::ZERO, FixedPoint::ZERO)).collect();
            if open.is_empty() {
                break;
            }
            let variant = (extra - 1) % self.variants;
            self.stage(format!("{name}, extra pair {extra}"), ties, &open, 1, (variant, 1), &mut leads)?;
        }
        Some(leads.into_iter().map(|lead| lead >= (FixedPoint::ZERO, FixedPoint::ZERO)).collect())
    }

    /// Takes one stage from the past and adds what the first of each tie is ahead by: points, then what is second.
    fn stage(
        &mut self,
        name: String,
        ties: &[[usize; 2]],
        open: &[usize],
        pairs: u32,
        variants: (u32, u32),
        leads: &mut [(FixedPoint, FixedPoint)],
    ) -> Option<()> {
        let seats = open.iter().map(|&tie| ties[tie].map(|seed| self.entrants[seed])).collect();
        let stage = PairStage { name, stage: self.at, ties: seats, pairs, variants, swap: true };
        if self.at == self.wanted {
            self.found = Some(stage);
            return None;
        }
        let verdicts = self.past.get(self.at as usize)?;
        self.at += 1;
        for (number, verdict) in verdicts.iter().enumerate() {
            let at = stage.tie_of(number as u64);
            let lead = &mut leads[open[at]];
            for (seat, entrant) in verdict.seats.iter().enumerate() {
                let points = verdict.points.get(seat).copied().unwrap_or_default();
                let second = verdict.second.get(seat).copied().unwrap_or_default();
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

/// Who is still in, and who went out, the first to go first; those of a group went together.
#[derive(Default)]
pub(super) struct BracketProgress {
    pub out: Vec<Vec<usize>>,
    /// Nothing is left to be played.
    pub over: bool,
}

impl BracketProgress {
    /// Places, best first.
    pub fn placing(&self, entrants: &[Entrant]) -> Vec<Vec<Entrant>> {
        let mut gone = vec![false; entrants.len()];
        self.out.iter().flatten().for_each(|&seed| gone[seed] = true);
        let still: Vec<usize> = (0..entrants.len()).filter(|&seed| !gone[seed]).collect();
        let groups = std::iter::once(&still).chain(self.out.iter().rev()).filter(|group| !group.is_empty());
        groups.map(|group| group.iter().map(|&seed| entrants[seed]).collect()).collect()
    }
}

/// Those who take part in a bracket, if it can be played.
pub(super) fn cut(field: &super::PhaseField, rule: TieRule) -> Result<Vec<Entrant>, FormatError> {
    field.check(2)?;
    if rule.pairs == 0 {
        return Err(FormatError::Nothing { field: "pairs" });
    }
    let top = rule.top.unwrap_or(u32::MAX);
    if top < 2 {
        return Err(FormatError::TooFew { needs: 2, has: top });
    }
    Ok(field.entrants.iter().copied().take(top as usize).collect())
}

/// Games of a tie without extra pairs, and with all of them.
pub(super) fn games(rule: TieRule, variants: u32) -> (u64, u64) {
    let games = 2 * u64::from(rule.pairs) * u64::from(variants);
    (games, games + 2 * u64::from(rule.extra))
}

/// The places of the seeds in a bracket of 1, 2, 4, 8 ...: the best meet last, and byes fall to the best.
pub(super) fn bracket(entrants: usize) -> Vec<Option<usize>> {
    let mut seeds = vec![0];
    while seeds.len() < entrants {
        let sum = 2 * seeds.len() - 1;
        seeds = seeds.into_iter().flat_map(|seed| [seed, sum - seed]).collect();
    }
    seeds.into_iter().map(|seed| (seed < entrants).then_some(seed)).collect()
}

/// The ties of a round of a bracket, the better seeded first: neighbours meet.
pub(super) fn ties_of(slots: &[Option<usize>]) -> Vec<[usize; 2]> {
    slots.chunks(2).filter_map(|two| Some(ordered((*two.first()?)?, (*two.get(1)?)?))).collect()
}

pub(super) fn ordered(a: usize, b: usize) -> [usize; 2] {
    [a.min(b), a.max(b)]
}

/// The winners in their places of the next round, and the losers.
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

/// The report on what was played.
pub(super) fn balance_of(entrants: &[Entrant], past: &PhaseHistory<'_>, complete: bool) -> BalanceReport {
    let mut tally = FixtureCounts::new(entrants);
    past.stages.iter().flatten().for_each(|verdict| tally.add(&verdict.seats, 1));
    tally.report(complete)
}
