//! Who loses two ties is out.
//!
//! The winners' bracket is a [knockout](super::knockout). Who loses there joins the losers' bracket, which plays after each round until it
//! has no more entrants than the next round will send it: so both brackets come down to one at the same time, and each loses exactly those who have lost
//! twice. Its pairs are made anew each round: nobody meets again while that can be avoided, those who have just come meet those who were there, the best
//! seed the worst. With an odd number the best seed of those who had the fewest has a bye.
//!
//! In the grand final the one from the winners' bracket has lost to nobody yet: if it loses, the two play again.

use super::TieRule;
use super::elimination::EliminationRules;
use super::pairing::pair_up;
use super::ties::{BracketProgress, BracketReplay, bracket, next_round, ordered, ties_of};

pub(super) struct DoubleElimination;

/// The losers' bracket. Lists are by seed.
struct Losers {
    pool: Vec<usize>,
    /// Who has come with the last round of the winners, if others were there.
    fresh: Vec<bool>,
    /// All pairs, the better seed first, as a square.
    met: Vec<bool>,
    byes: Vec<u32>,
    rounds: u32,
}

impl EliminationRules for DoubleElimination {
    fn run(entrants: usize, _: TieRule, replay: &mut BracketReplay<'_>, progress: &mut BracketProgress) -> Option<()> {
        let mut slots = bracket(entrants);
        let mut losers = Losers::new(entrants);
        let mut round = 0;
        while slots.len() > 1 {
            round += 1;
            let ties = ties_of(&slots);
            let name =
                if slots.len() == 2 { "winners' final".into() } else { format!("winners' round {round}") };
            let first_wins = replay.play(&name, &ties)?;
            losers.note(&ties);
            let (next, dropped) = next_round(&slots, &first_wins);
            slots = next;
            losers.join(dropped);
            while losers.pool.len() > (slots.len() / 2).max(1) {
                losers.round(replay, progress, slots.len() == 1)?;
            }
        }
        let (Some(Some(unbeaten)), Some(&once)) = (slots.first().copied(), losers.pool.first()) else {
            return Some(());
        };
        grand_final(replay, progress, unbeaten, once)
    }

    /// Everybody but the winner loses twice, who loses the grand final perhaps once.
    fn ties(entrants: u64, _: TieRule) -> (u64, u64) {
        (2 * entrants - 2, 2 * entrants - 1)
    }
}

impl Losers {
    fn new(n: usize) -> Self {
        Self { pool: Vec::new(), fresh: vec![false; n], met: vec![false; n * n], byes: vec![0; n], rounds: 0 }
    }

    fn note(&mut self, ties: &[[usize; 2]]) {
        let n = self.byes.len();
        for [better, worse] in ties {
            self.met[better * n + worse] = true;
        }
    }

    fn join(&mut self, dropped: Vec<usize>) {
        let others = !self.pool.is_empty();
        for &seed in &dropped {
            self.fresh[seed] = others;
        }
        self.pool.extend(dropped);
    }

    fn round(&mut self, replay: &mut BracketReplay<'_>, progress: &mut BracketProgress, last: bool) -> Option<()> {
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
        let fresh = |i: usize| self.fresh[playing[i]];
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
        self.note(&ties);
        self.fresh.fill(false);
        progress.out.push(out);
        Some(())
    }
}

fn grand_final(replay: &mut BracketReplay<'_>, progress: &mut BracketProgress, unbeaten: usize, once: usize) -> Option<()> {
    let tie = ordered(unbeaten, once);
    let winner = |first: bool| tie[usize::from(!first)];
    let mut champion = winner(replay.play("grand final", &[tie])?[0]);
    if champion == once {
        champion = winner(replay.play("grand final, second match", &[tie])?[0]);
    }
    progress.out.push(vec![if champion == once { unbeaten } else { once }]);
    Some(())
}
