//! What a move is worth when the others' moves are known as odds.

use crate::solitude_scramble::board::{Move, Side};
use crate::solitude_scramble::state::Scores;

/// The odds of each move, in the order of [`Move::ALL`]. They may sum to less than 1: the rest is a forfeit.
pub(super) type Odds = [f64; 3];

/// As likely as each other.
pub(super) const EVEN_ODDS: Odds = [1.0 / 3.0; 3];

const LEFT: usize = Move::Left as usize;
const RIGHT: usize = Move::Right as usize;
const CENTER: usize = Move::Center as usize;

/// The points on offer for each move from this side.
pub(super) fn values(scores: Scores, side: Side) -> [f64; 3] {
    Move::ALL.map(|chosen| f64::from(scores.of(side.platform(chosen))))
}

/// The points to be expected from each move of this side when all sides (the own one does not matter) have
/// these odds. Only one neighbour can come to a corner; all others can come to the centre.
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

/// The move with the most points to be expected; the first of equals, corners before the centre.
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

    /// Against known moves, the expected points are those the golden rule gives.
    #[test]
    fn certain_odds_give_the_points_of_the_golden_rule() {
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
