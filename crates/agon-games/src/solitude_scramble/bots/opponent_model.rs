//! Bots that model their opponents: they estimate the probability that each opponent is of each kind, and play the best response
//! to the mixture.
//!
//! All information is public, so every modelling bot computes the same probabilities, and one pass over the history serves all
//! seats. It also predicts modelling bots at other seats. This gives levels: level 1 knows [`FixedStrategy`]s and bots that count
//! moves, level 2 also knows modelling bots of level 1, level 3 also those of level 2.
//!
//! More knowledge does not guarantee more points. Two bots that want the same platform play a game of chicken, and the bot that
//! predicts the other gives way. A higher level must therefore be certain before it gives way.

use agon_core::Seat;

use super::expected_value::{EVEN_ODDS, Odds, best, expected};
use super::fixed_strategies::{FixedStrategy, by_rank, certain, rank};
use crate::solitude_scramble::board::Move;
use crate::solitude_scramble::state::{Deal, Observation, SEATS, Turn};

/// Highest level.
const MAX_LEVEL: usize = 3;

// Kinds of bots: fixed strategies, then bots that use the history, then modelling bots (readers).
const STRATEGIES: usize = FixedStrategy::ALL.len();
const COUNTED_MOVES: usize = STRATEGIES;
const COUNTED_RANKS: usize = STRATEGIES + 1;
const WIN_STAY: usize = STRATEGIES + 2;
const COUNTER: usize = STRATEGIES + 3;
const READER: usize = STRATEGIES + 4;
const KINDS: usize = READER + MAX_LEVEL - 1;

/// Assumed probability of a random move.
const SLIP_PROBABILITY: f64 = 0.03;
/// Minimum relative likelihood of a kind. It lets the model recover when a bot changes its behaviour.
const MIN_FIT: f64 = 1e-7;

/// Maximum number of past turns that are used. It keeps long matches fast.
const MAX_HISTORY_TURNS: usize = 120;

/// Move of a modelling bot of this level, from 1.
pub(super) fn choose(seen: &Observation<'_>, level: usize) -> Move {
    let level = level.clamp(1, MAX_LEVEL);
    let mut model = OpponentModel::new();
    for turn in &seen.history[seen.history.len().saturating_sub(MAX_HISTORY_TURNS)..] {
        model.learn(turn, level);
    }
    let predicted = model.predict(&seen.deal, level);
    best(expected(seen.deal.scores(), seen.deal.side(seen.seat), &predicted.mixtures))
}

/// Move of a bot that predicts opponents from the frequency of their past moves.
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

/// Prior probability of each kind for a modelling bot of this level (from 1), up to a factor. Below the top level all are equal.
/// The values of the top level were found by measurement: few bots have rare strategies, and a low prior for stubborn modelling
/// bots avoids giving way to bots that only look like one.
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

/// Model of the four seats.
struct OpponentModel {
    /// Likelihood of each seat's moves under each kind, up to a factor.
    fits: [[f64; KINDS]; SEATS],
    moves: [[u16; 3]; SEATS],
    ranks: [[u16; 3]; SEATS],
    /// Last move, and whether it scored.
    last: [Option<(Move, bool)>; SEATS],
    forfeits: [u16; SEATS],
    turns: u16,
}

/// Prediction of a turn.
struct Prediction {
    /// Odds by seat and kind.
    kinds: [[Odds; KINDS]; SEATS],
    /// Odds by side: the mixture of all kinds known at the requested level.
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

    /// Odds of a seat's moves over the kinds known at this level, reduced by the probability of a forfeit.
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

/// Odds of each seat, reordered by side.
fn by_side(deal: &Deal, of_seat: impl Fn(usize) -> Odds) -> [Odds; 4] {
    let mut odds = [EVEN_ODDS; 4];
    for (seat, side) in deal.sides().iter().enumerate() {
        odds[*side as usize] = of_seat(seat);
    }
    odds
}

/// Odds from counts, with one added to each count.
fn frequencies(counts: [u16; 3]) -> Odds {
    let sum: u32 = counts.iter().map(|&n| u32::from(n)).sum();
    counts.map(|n| (f64::from(n) + 1.0) / f64::from(sum + 3))
}

/// Repeats a move that scored, else plays one of the other two.
fn win_stay((last, scored): (Move, bool)) -> Odds {
    if scored { certain(last) } else { certain(last).map(|p| 0.5 - 0.5 * p) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odds_stay_valid_after_forfeits_and_a_thousand_turns() {
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
        assert!(of(1).iter().sum::<f64>() < 0.01, "a bot that always forfeits should block no platform");
        assert!(of(2)[Move::Left as usize] > 0.9);
        assert!(of(3)[Move::Center as usize] > 0.9);
    }

    #[test]
    fn win_stay_repeats_a_scoring_move_and_changes_a_losing_one() {
        let close = |a: Odds, b: Odds| a.iter().zip(b).all(|(p, q)| (p - q).abs() < 1e-12);
        assert!(close(win_stay((Move::Right, true)), [0.0, 1.0, 0.0]));
        assert!(close(win_stay((Move::Right, false)), [0.5, 0.0, 0.5]));
    }
}
