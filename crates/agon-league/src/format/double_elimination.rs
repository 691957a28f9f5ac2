//! Double elimination: an entrant that loses two ties is out.
//!
//! The winners' bracket is a [knockout](super::knockout). Its losers drop into the losers' bracket. After each winners' round, the
//! losers' bracket plays until it has no more entrants than the next winners' round will drop. So both brackets shrink to one entrant
//! at the same time, and exactly those with two losses are out. The losers' bracket is paired again each round. It avoids rematches,
//! pairs new entrants with those already there, and the best seed with the worst. With an odd number, one entrant has a bye: the best
//! seed among those with the fewest byes.
//!
//! In the grand final, the winner of the winners' bracket has no loss yet. If it loses, the two play again.

use super::TieRule;
use super::elimination::EliminationRules;
use super::pairing::pair_up;
use super::ties::{BracketProgress, BracketReplay, next_round, ordered, round_ties, seed_slots};

pub(super) struct DoubleElimination;

/// The losers' bracket. Lists are indexed by seed.
struct LosersBracket {
    pool: Vec<usize>,
    /// Entrants that dropped from the last winners' round, if others were already there.
    just_dropped: Vec<bool>,
    /// Square matrix of pairs that met, the better seed first.
    met: Vec<bool>,
    byes: Vec<u32>,
    rounds: u32,
}

impl EliminationRules for DoubleElimination {
    fn run(
        entrants: usize,
        _: TieRule,
        replay: &mut BracketReplay<'_>,
        progress: &mut BracketProgress,
    ) -> Option<()> {
        let mut slots = seed_slots(entrants);
        let mut losers = LosersBracket::new(entrants);
        let mut round = 0;
        while slots.len() > 1 {
            round += 1;
            let ties = round_ties(&slots);
            let name =
                if slots.len() == 2 { "winners' final".into() } else { format!("winners' round {round}") };
            let first_wins = replay.play(&name, &ties)?;
            losers.record_meetings(&ties);
            let (next, dropped) = next_round(&slots, &first_wins);
            slots = next;
            losers.add_dropped(dropped);
            while losers.pool.len() > (slots.len() / 2).max(1) {
                losers.play_round(replay, progress, slots.len() == 1)?;
            }
        }
        let (Some(Some(unbeaten)), Some(&once)) = (slots.first().copied(), losers.pool.first()) else {
            return Some(());
        };
        grand_final(replay, progress, unbeaten, once)
    }

    /// Every entrant but the winner loses twice; the winner loses at most once.
    fn tie_count(entrants: u64, _: TieRule) -> (u64, u64) {
        (2 * entrants - 2, 2 * entrants - 1)
    }
}

impl LosersBracket {
    fn new(n: usize) -> Self {
        Self {
            pool: Vec::new(),
            just_dropped: vec![false; n],
            met: vec![false; n * n],
            byes: vec![0; n],
            rounds: 0,
        }
    }

    fn record_meetings(&mut self, ties: &[[usize; 2]]) {
        let n = self.byes.len();
        for [better, worse] in ties {
            self.met[better * n + worse] = true;
        }
    }

    fn add_dropped(&mut self, dropped: Vec<usize>) {
        let others = !self.pool.is_empty();
        for &seed in &dropped {
            self.just_dropped[seed] = others;
        }
        self.pool.extend(dropped);
    }

    fn play_round(
        &mut self,
        replay: &mut BracketReplay<'_>,
        progress: &mut BracketProgress,
        last: bool,
    ) -> Option<()> {
        self.rounds += 1;
        self.pool.sort_unstable();
        let mut playing = self.pool.clone();
        if playing.len() % 2 == 1
            && let Some(at) = (0..playing.len()).min_by_key(|&at| (self.byes[playing[at]], at))
        {
            self.byes[playing.remove(at)] += 1;
        }
        let n = self.byes.len();
        let met = |i: usize, j: usize| {
            let [better, worse] = ordered(playing[i], playing[j]);
            u32::from(self.met[better * n + worse])
        };
        let fresh = |i: usize| self.just_dropped[playing[i]];
        let mixed = (0..playing.len()).any(fresh);
        let cost = |i: usize, j: usize| {
            let fold = (i + j).abs_diff(playing.len() - 1) as u64;
            fold + if mixed && fresh(i) == fresh(j) { 1 << 20 } else { 0 }
        };
        let pairs = pair_up(playing.len(), &met, &cost);
        let ties: Vec<[usize; 2]> = pairs.into_iter().map(|(i, j)| ordered(playing[i], playing[j])).collect();
        let name = if last && self.pool.len() == 2 {
            "losers' final".into()
        } else {
            format!("losers' round {}", self.rounds)
        };
        let first_wins = replay.play(&name, &ties)?;
        let out: Vec<usize> =
            ties.iter().zip(first_wins).map(|(tie, first)| tie[usize::from(first)]).collect();
        self.pool.retain(|seed| !out.contains(seed));
        self.record_meetings(&ties);
        self.just_dropped.fill(false);
        progress.eliminated.push(out);
        Some(())
    }
}

fn grand_final(
    replay: &mut BracketReplay<'_>,
    progress: &mut BracketProgress,
    unbeaten: usize,
    once: usize,
) -> Option<()> {
    let tie = ordered(unbeaten, once);
    let winner = |first: bool| tie[usize::from(!first)];
    let mut champion = winner(replay.play("grand final", &[tie])?[0]);
    if champion == once {
        champion = winner(replay.play("grand final, second match", &[tie])?[0]);
    }
    progress.eliminated.push(vec![if champion == once { unbeaten } else { once }]);
    Some(())
}
