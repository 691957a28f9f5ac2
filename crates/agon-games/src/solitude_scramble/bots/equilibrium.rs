//! The turn as a game of four players: a quantal response equilibrium, in which better moves are played more often.

use std::sync::OnceLock;

use agon_core::FastRng;

use super::expected_value::{EVEN_ODDS, Odds, expected};
use super::fixed_strategies::draw;
use crate::solitude_scramble::board::{Move, Side};
use crate::solitude_scramble::state::{Observation, Scores};

/// Draws a move from this side's part of the equilibrium.
pub(super) fn choose(seen: &Observation<'_>, rng: &mut FastRng) -> Move {
    let odds = solution(seen.deal.scores());
    draw(odds[seen.deal.side(seen.seat) as usize], rng)
}

/// Equilibrium for these scores, by side. Solved at first use; it does not depend on the seats.
pub(super) fn solution(scores: Scores) -> &'static [Odds; 4] {
    static SOLVED: [OnceLock<[Odds; 4]>; 7776] = [const { OnceLock::new() }; 7776];
    let index = scores.0.iter().fold(0, |index, &score| index * 6 + (usize::from(score).wrapping_sub(1)) % 6);
    SOLVED[index].get_or_init(|| solve(scores))
}

/// Preference for better moves: odds are proportional to expected points to the power of 2^SHARPNESS.
const SHARPNESS: u32 = 3;
/// Maximum number of steps for each sharpness.
const MAX_STEPS: u32 = 600;
/// Step size towards the best responses. Larger steps oscillate.
const STEP_SIZE: f64 = 0.08;
const MIN_CHANGE: f64 = 1e-6;

/// Solves a quantal response equilibrium: the odds of a move are proportional to a power of its expected points, for all four
/// sides at once. It starts from even odds and increases the sharpness step by step, so that symmetric sides stay equal. Powers
/// are computed by squaring only, so that results are bit-identical on every machine.
fn solve(scores: Scores) -> [Odds; 4] {
    let mut odds = [EVEN_ODDS; 4];
    for sharpness in 0..=SHARPNESS {
        for _ in 0..MAX_STEPS {
            if step(scores, &mut odds, sharpness) < MIN_CHANGE {
                break;
            }
        }
    }
    odds
}

/// Moves all odds a step towards the best responses. Returns the largest change.
fn step(scores: Scores, odds: &mut [Odds; 4], sharpness: u32) -> f64 {
    let wanted = Side::ALL.map(|side| response(expected(scores, side, odds), sharpness));
    let mut largest: f64 = 0.0;
    for (p, wanted) in odds.iter_mut().flatten().zip(wanted.iter().flatten()) {
        let change = STEP_SIZE * (wanted - *p);
        *p += change;
        largest = largest.max(change.abs());
    }
    largest
}

fn response(expected: [f64; 3], sharpness: u32) -> Odds {
    let most = expected.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let weights = expected.map(|points| (0..sharpness).fold(points / most, |power, _| power * power));
    let sum: f64 = weights.iter().sum();
    weights.map(|weight| weight / sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solution_is_a_fixed_point_of_the_response() {
        let mut worst: f64 = 0.0;
        for code in (0..7776).step_by(11) {
            let scores = Scores([1, 6, 36, 216, 1296].map(|n| (code / n % 6) as u8 + 1));
            let odds = solution(scores);
            for side in Side::ALL {
                let own = odds[side as usize];
                assert!((own.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                let answer = response(expected(scores, side, odds), SHARPNESS);
                worst = own.iter().zip(answer).fold(worst, |worst, (p, q)| worst.max((p - q).abs()));
            }
        }
        assert!(worst < 0.02, "off by {worst}");
    }

    #[test]
    fn equal_scores_give_symmetric_odds_and_a_rare_centre() {
        let odds = solve(Scores([3; 5]));
        assert!(
            odds.iter()
                .flatten()
                .zip(odds.iter().cycle().skip(1).flatten())
                .all(|(p, q)| (p - q).abs() < 1e-12)
        );
        assert!(odds[0][Move::Center as usize] < 0.2);
        assert!((odds[0][Move::Left as usize] - odds[0][Move::Right as usize]).abs() < 1e-12);
    }
}
