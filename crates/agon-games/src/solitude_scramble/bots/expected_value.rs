//! Expected points of a move, given the odds of the other players' moves.

use crate::solitude_scramble::board::{Move, Side};
use crate::solitude_scramble::state::Scores;

/// Odds of each move, in the order of [`Move::ALL`]. The sum may be less than 1; the rest is a forfeit.
pub(super) type Odds = [f64; 3];

/// Equal odds.
pub(super) const EVEN_ODDS: Odds = [1.0 / 3.0; 3];

const LEFT: usize = Move::Left as usize;
const RIGHT: usize = Move::Right as usize;
const CENTER: usize = Move::Center as usize;

/// Points of each move from this side if the bot is alone.
pub(super) fn values(scores: Scores, side: Side) -> [f64; 3] {
    Move::ALL.map(|chosen| f64::from(scores.of(side.platform(chosen))))
}

/// Expected points of each move from this side, given the odds of all sides (the own odds are ignored). Only one neighbour can
/// reach a corner; all others can reach the centre.
pub(super) fn expected(scores: Scores, side: Side, odds: &[Odds; 4]) -> [f64; 3] {
    let own = side as usize;
    let [next, opposite, before] = [1, 2, 3].map(|step| &odds[(own + step) % 4]);
    let value = values(scores, side);
    [
        value[LEFT] * (1.0 - next[RIGHT]),
        value[RIGHT] * (1.0 - before[LEFT]),
        value[CENTER] * (1.0 - next[CENTER]) * (1.0 - opposite[CENTER]) * (1.0 - before[CENTER]),
    ]
}

/// Move with the most expected points. Ties prefer LEFT, then RIGHT, then CENTER.
pub(super) fn best(expected: [f64; 3]) -> Move {
    let mut best = Move::Left;
    for chosen in [Move::Right, Move::Center] {
        if expected[chosen as usize] > expected[best as usize] {
            best = chosen;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solitude_scramble::state::{Deal, Turn};
    use agon_core::Seat;

    /// Against known moves, the expected points equal those of the scoring rule.
    #[test]
    fn expected_points_against_certain_moves_equal_the_scoring_rule() {
        for number in (0..Deal::COUNT).step_by(37) {
            let deal = Deal::from_number(number);
            for code in 0..81 {
                let moves: [Move; 4] = [1, 3, 9, 27].map(|n| Move::ALL[code / n % 3]);
                let mut odds = [[0.0; 3]; 4];
                for seat in Seat::all(4) {
                    odds[deal.side(seat) as usize][moves[seat.index()] as usize] = 1.0;
                }
                let awards = Turn::score(1, deal, moves.map(Some)).awards;
                for seat in Seat::all(4) {
                    let reckoned =
                        expected(deal.scores(), deal.side(seat), &odds)[moves[seat.index()] as usize];
                    assert!((reckoned - f64::from(awards[seat.index()])).abs() < 1e-12);
                }
            }
        }
    }
}
