//! Bots that read the others: how likely is each opponent of each kind, and what answers the mixture best?
//!
//! All is public, so every reader comes to the same opinion about a seat, and one pass over the history serves all
//! of them. It also tells what a reader in another seat would do. That makes levels: level 1 knows [`FixedStrategy`]s and
//! bots that count, level 2 knows readers of level 1 too, level 3 also those of level 2.
//!
//! Knowing more is not all: two who want the same platform play chicken, and who foresees the other gives way.
//! So a level does not beat the one below by itself; it must be sure of what it sees before it gives way.

use agon_core::Seat;

use super::expected_value::{EVEN_ODDS, Odds, best, expected};
use super::fixed_strategies::{FixedStrategy, by_rank, certain, rank};
use crate::solitude_scramble::board::Move;
use crate::solitude_scramble::state::{Deal, Observation, SEATS, Turn};

/// The highest level there is.
const MAX_LEVEL: usize = 3;

// The kinds a bot can be of: first the habits, then those that look at the history, then the readers.
const STRATEGIES: usize = FixedStrategy::ALL.len();
const COUNTED_MOVES: usize = STRATEGIES;
const COUNTED_RANKS: usize = STRATEGIES + 1;
const WIN_STAY: usize = STRATEGIES + 2;
const COUNTER: usize = STRATEGIES + 3;
const READER: usize = STRATEGIES + 4;
const KINDS: usize = READER + MAX_LEVEL - 1;

/// How often someone is taken to act out of character.
const SLIP_PROBABILITY: f64 = 0.03;
/// No kind is ever ruled out below this, so that a bot that changes its ways is found out again.
const MIN_FIT: f64 = 1e-7;

/// So many turns back is enough to know anybody, and keeps long matches quick.
const MAX_HISTORY_TURNS: usize = 120;

/// The move of a reader of this level, from 1.
pub(super) fn choose(seen: &Observation<'_>, level: usize) -> Move {
    let level = level.clamp(1, MAX_LEVEL);
    let mut model = OpponentModel::new();
    for turn in &seen.history[seen.history.len().saturating_sub(MAX_HISTORY_TURNS)..] {
        model.learn(turn, level);
    }
    let predicted = model.predict(&seen.deal, level);
    best(expected(seen.deal.scores(), seen.deal.side(seen.seat), &predicted.mixtures))
}

/// The move of a bot that takes each opponent's past moves for its odds.
pub(super) fn choose_by_counting(seen: &Observation<'_>) -> Move {
    let mut counts = [[0; 3]; SEATS];
    for turn in seen.history {
        for (count, chosen) in counts.iter_mut().zip(turn.moves) {
            if let Some(chosen) = chosen {
                count[chosen as usize] += 1;
            }
        }
    }
    let odds = by_side(&seen.deal, |seat| frequencies(counts[seat]));
    best(expected(seen.deal.scores(), seen.deal.side(seen.seat), &odds))
}

/// How likely a reader of a level (from 1) holds each kind before the first turn, up to a factor. Below the top
/// level all are equal. The top level's figures were found by measuring: few bots have rare habits, and who is
/// slow to believe in stubborn readers gives way to fewer bots that only look like one.
fn prior(level: usize, kind: usize) -> f64 {
    match kind {
        _ if level < MAX_LEVEL => 1.0,
        READER => 0.1,
        COUNTED_MOVES..=WIN_STAY => 0.3,
        _ if kind > READER => 0.3,
        _ if FixedStrategy::ALL.get(kind).is_some_and(|strategy| strategy.is_rare()) => 0.1,
        _ => 1.0,
    }
}

/// What is thought of the four seats.
struct OpponentModel {
    /// How well each kind explains each seat's moves so far, up to a factor.
    fits: [[f64; KINDS]; SEATS],
    moves: [[u16; 3]; SEATS],
    ranks: [[u16; 3]; SEATS],
    /// The last move and whether it scored.
    last: [Option<(Move, bool)>; SEATS],
    forfeits: [u16; SEATS],
    turns: u16,
}

/// What a turn looks like before it is played.
struct Prediction {
    /// By seat and kind.
    kinds: [[Odds; KINDS]; SEATS],
    /// By side: the mixture of all kinds that a reader of the level asked for knows.
    mixtures: [Odds; 4],
}

impl OpponentModel {
    const fn new() -> Self {
        Self {
            fits: [[1.0; KINDS]; SEATS],
            moves: [[0; 3]; SEATS],
            ranks: [[0; 3]; SEATS],
            last: [None; SEATS],
            forfeits: [0; SEATS],
            turns: 0,
        }
    }

    fn learn(&mut self, turn: &Turn, level: usize) {
        let predicted = self.predict(&turn.deal, level);
        self.turns = self.turns.saturating_add(1);
        for seat in Seat::all(SEATS).map(Seat::index) {
            let Some(chosen) = turn.moves[seat] else {
                self.forfeits[seat] += 1;
                continue;
            };
            let fits = &mut self.fits[seat];
            for (fit, odds) in fits.iter_mut().zip(&predicted.kinds[seat]) {
                *fit *= with_slips(odds[chosen as usize]);
            }
            let most = fits.iter().copied().fold(MIN_FIT, f64::max);
            for fit in fits {
                *fit = (*fit / most).max(MIN_FIT);
            }
            self.moves[seat][chosen as usize] += 1;
            self.ranks[seat][rank(turn.deal.scores(), turn.deal.sides()[seat], chosen)] += 1;
            self.last[seat] = Some((chosen, turn.awards[seat] > 0));
        }
    }

    fn predict(&self, deal: &Deal, level: usize) -> Prediction {
        let mut kinds = [[EVEN_ODDS; KINDS]; SEATS];
        let counted = by_side(deal, |seat| frequencies(self.moves[seat]));
        for (seat, (kinds, side)) in kinds.iter_mut().zip(deal.sides()).enumerate() {
            for (odds, strategy) in kinds.iter_mut().zip(FixedStrategy::ALL) {
                *odds = strategy.odds(deal.scores(), *side);
            }
            kinds[COUNTED_MOVES] = counted[*side as usize];
            kinds[COUNTED_RANKS] = by_rank(deal.scores(), *side, frequencies(self.ranks[seat]));
            kinds[WIN_STAY] = self.last[seat].map_or(EVEN_ODDS, win_stay);
            kinds[COUNTER] = certain(best(expected(deal.scores(), *side, &counted)));
        }
        let mut mixtures = [EVEN_ODDS; 4];
        for level in 1..=level {
            mixtures = by_side(deal, |seat| self.mixture(seat, &kinds[seat], level));
            let Some(response) = (READER..KINDS).nth(level - 1) else { break };
            for (kinds, side) in kinds.iter_mut().zip(deal.sides()) {
                kinds[response] = certain(best(expected(deal.scores(), *side, &mixtures)));
            }
        }
        Prediction { kinds, mixtures }
    }

    /// The odds of a seat's moves over the kinds a reader of this level knows, less the odds that it forfeits.
    fn mixture(&self, seat: usize, kinds: &[Odds; KINDS], level: usize) -> Odds {
        let (mut mixed, mut sum) = ([0.0; 3], 0.0);
        for (kind, (fit, odds)) in self.fits[seat].iter().zip(kinds).enumerate().take(READER + level - 1) {
            let weight = fit * prior(level, kind);
            sum += weight;
            for (p, odds) in mixed.iter_mut().zip(odds) {
                *p += weight * odds;
            }
        }
        let plays = 1.0 - f64::from(self.forfeits[seat]) / (f64::from(self.turns) + 4.0);
        mixed.map(|p| plays * with_slips(p / sum))
    }
}

const fn with_slips(odds: f64) -> f64 {
    SLIP_PROBABILITY / 3.0 + (1.0 - SLIP_PROBABILITY) * odds
}

/// Something about each seat, put in order of sides.
fn by_side(deal: &Deal, of_seat: impl Fn(usize) -> Odds) -> [Odds; 4] {
    let mut odds = [EVEN_ODDS; 4];
    for (seat, side) in deal.sides().iter().enumerate() {
        odds[*side as usize] = of_seat(seat);
    }
    odds
}

/// Odds from counts, each move counted once beforehand.
fn frequencies(counts: [u16; 3]) -> Odds {
    let sum: u32 = counts.iter().map(|&n| u32::from(n)).sum();
    counts.map(|n| (f64::from(n) + 1.0) / f64::from(sum + 3))
}

/// Does again what scored, else anything but that.
fn win_stay((last, scored): (Move, bool)) -> Odds {
    if scored { certain(last) } else { certain(last).map(|p| 0.5 - 0.5 * p) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forfeits_and_a_thousand_turns_leave_the_odds_sound() {
        let mut model = OpponentModel::new();
        for number in 0..1000 {
            let deal = Deal::from_number(number * 186);
            let moves = [Some(Move::ALL[number as usize % 3]), None, Some(Move::Left), Some(Move::Center)];
            model.learn(&Turn::score(1, deal, moves), MAX_LEVEL);
        }
        let deal = Deal::from_number(5);
        let predicted = model.predict(&deal, MAX_LEVEL).mixtures;
        for odds in predicted {
            assert!(odds.iter().all(|p| (0.0..=1.0).contains(p)) && odds.iter().sum::<f64>() < 1.0 + 1e-9);
        }
        let of = |seat: u8| predicted[deal.side(Seat(seat)) as usize];
        assert!(of(1).iter().sum::<f64>() < 0.01, "who always forfeits blocks nobody");
        assert!(of(2)[Move::Left as usize] > 0.9);
        assert!(of(3)[Move::Center as usize] > 0.9);
    }

    #[test]
    fn who_wins_stays_and_who_loses_goes_elsewhere() {
        let close = |a: Odds, b: Odds| a.iter().zip(b).all(|(p, q)| (p - q).abs() < 1e-12);
        assert!(close(win_stay((Move::Right, true)), [0.0, 1.0, 0.0]));
        assert!(close(win_stay((Move::Right, false)), [0.5, 0.0, 0.5]));
    }
}
