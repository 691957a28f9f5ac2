//! Strategies that use only this turn's deal. Each is a house bot, or a model of an opponent.

use agon_core::FastRng;

use super::equilibrium;
use super::expected_value::{EVEN_ODDS, Odds, best, expected, values};
use crate::solitude_scramble::board::{Move, Side};
use crate::solitude_scramble::state::Scores;

/// A strategy that uses only this turn's deal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FixedStrategy {
    Random,
    Left,
    Right,
    Centre,
    /// Most points; ties prefer CENTER, then LEFT, then RIGHT, as in the example of the rule document.
    Greedy,
    /// Second most points, with the same tie rule.
    SecondBest,
    /// Fewest points, with the same tie rule.
    Modest,
    /// The corner with more points; ties prefer LEFT.
    Corner,
    /// Best response to three players that move at random.
    Cautious,
    /// Best response to three cautious players.
    Sly,
    /// Odds proportional to the points.
    Proportional,
    /// Equilibrium of the turn.
    Equilibrium,
}

impl FixedStrategy {
    pub const ALL: [Self; 12] = [
        Self::Random,
        Self::Left,
        Self::Right,
        Self::Centre,
        Self::Greedy,
        Self::SecondBest,
        Self::Modest,
        Self::Corner,
        Self::Cautious,
        Self::Sly,
        Self::Proportional,
        Self::Equilibrium,
    ];

    /// Whether few authors would choose this strategy.
    pub const fn is_rare(self) -> bool {
        matches!(self, Self::Modest | Self::Corner | Self::Sly | Self::Proportional)
    }

    /// Move of this strategy.
    pub fn choose(self, scores: Scores, side: Side, rng: &mut FastRng) -> Move {
        match self.certain(scores, side) {
            Some(chosen) => chosen,
            None if self == Self::Random => rng.pick(&Move::ALL).unwrap_or(Move::Left),
            None => draw(self.odds(scores, side), rng),
        }
    }

    /// Odds of each move under this strategy.
    pub fn odds(self, scores: Scores, side: Side) -> Odds {
        match self {
            Self::Proportional => {
                let value = values(scores, side);
                let sum: f64 = value.iter().sum();
                value.map(|points| points / sum)
            }
            Self::Equilibrium => equilibrium::solution(scores)[side as usize],
            _ => self.certain(scores, side).map_or(EVEN_ODDS, certain),
        }
    }

    /// The move, if this strategy is deterministic.
    fn certain(self, scores: Scores, side: Side) -> Option<Move> {
        Some(match self {
            Self::Random | Self::Proportional | Self::Equilibrium => return None,
            Self::Left => Move::Left,
            Self::Right => Move::Right,
            Self::Centre => Move::Center,
            Self::Greedy => by_value(scores, side)[0],
            Self::SecondBest => by_value(scores, side)[1],
            Self::Modest => by_value(scores, side)[2],
            Self::Corner => {
                let [left, right, _] = values(scores, side);
                if right > left { Move::Right } else { Move::Left }
            }
            Self::Cautious => cautious(scores, side),
            Self::Sly => {
                let others = Side::ALL.map(|side| certain(cautious(scores, side)));
                best(expected(scores, side, &others))
            }
        })
    }
}

fn cautious(scores: Scores, side: Side) -> Move {
    best(expected(scores, side, &[EVEN_ODDS; 4]))
}

/// All three moves, most points first; ties prefer CENTER, then LEFT, then RIGHT.
fn by_value(scores: Scores, side: Side) -> [Move; 3] {
    let mut moves = [Move::Center, Move::Left, Move::Right];
    moves.sort_by_key(|&chosen| std::cmp::Reverse(scores.of(side.platform(chosen))));
    moves
}

/// Rank of a move by points, 0 for the best.
pub(super) fn rank(scores: Scores, side: Side, chosen: Move) -> usize {
    by_value(scores, side).iter().position(|&other| other == chosen).unwrap_or(0)
}

/// Odds of each move from odds of each rank.
pub(super) fn by_rank(scores: Scores, side: Side, odds: Odds) -> Odds {
    Move::ALL.map(|chosen| odds[rank(scores, side, chosen)])
}

/// Odds of a certain move.
pub(super) const fn certain(chosen: Move) -> Odds {
    let mut odds = [0.0; 3];
    odds[chosen as usize] = 1.0;
    odds
}

/// Draws a move.
pub(super) fn draw(odds: Odds, rng: &mut FastRng) -> Move {
    let mut left = rng.unit() * odds.iter().sum::<f64>();
    for chosen in [Move::Left, Move::Right] {
        left -= odds[chosen as usize];
        if left < 0.0 {
            return chosen;
        }
    }
    Move::Center
}
