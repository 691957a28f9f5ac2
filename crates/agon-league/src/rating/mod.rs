//! Ratings that do not depend on the order of games.
//!
//! Bradley and Terry's model: who beats whom depends on the difference of two strengths. Fitted to all results at once (a draw is half a
//! win) and shown on the scale of Elo ratings, 1500 being the middle of the field. A game of many seats counts as a result between any
//! two of them. Those are not independent of each other, and draws leave less to chance than the model believes; so the errors are not
//! the model's own but corrected by how much results really varied from game to game (see `errors.rs`). Chosen over ratings that are
//! updated game by game (Elo, Weng-Lin and the like) because those end elsewhere when the same games come in another order.

mod errors;
mod fit;

use agon_core::Better;
use serde::Serialize;

use crate::result::Entrant;
use crate::tally::Tally;

/// Elo points for a unit of the model: 400 points are odds of ten to one.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;
/// Comparing more results than this takes longer than anybody waits for a table.
const MOST_COMPARED: usize = 20_000_000;
/// The middle of a field.
const MIDDLE: f64 = 1500.0;

/// An entrant's rating.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Rating {
    /// Whose.
    pub entrant: Entrant,
    /// On the scale of Elo ratings.
    pub rating: f64,
    /// Half its 95 % interval.
    pub error: f64,
}

/// Everybody who has played, by their places in the competition's file.
pub fn ratings(tally: &Tally) -> Vec<Rating> {
    of(&fit::Results::of(tally))
}

/// Those of one role, in a game with several, compared with each other board by board: that a seeker caught every hider says less than
/// whether it needed fewer steps than the others. `None` if scores are not kept by board, or there are too many to compare.
pub fn ratings_by_board(tally: &Tally, entrants: &[Entrant], better: Better) -> Option<Vec<Rating>> {
    let boards =
        entrants.iter().filter_map(|&entrant| tally.of(entrant)).map(|sums| sums.boards.len()).max()?;
    let compared = entrants.len() * entrants.len() / 2 * boards;
    (boards > 1 && compared <= MOST_COMPARED).then(|| of(&fit::Results::by_board(tally, entrants, better)))
}

fn of(results: &fit::Results) -> Vec<Rating> {
    let strengths = results.fit();
    let errors = errors::errors(results, &strengths);
    let middle = strengths.iter().sum::<f64>() / strengths.len().max(1) as f64;
    let rating = |((&entrant, strength), error): ((&Entrant, &f64), &f64)| Rating {
        entrant,
        rating: MIDDLE + ELO * (strength - middle),
        error: 1.959_964 * ELO * error,
    };
    results.entrants.iter().zip(&strengths).zip(&errors).map(rating).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::match_of;

    #[test]
    fn two_who_met_are_as_far_apart_as_their_results() {
        let mut tally = Tally::default();
        for game in 0..1100 {
            let won = f64::from(u8::from(game % 11 != 0));
            tally.add(&match_of(&[(0, won), (1, 1.0 - won)], &[]));
        }
        let ratings = ratings(&tally);
        // Ten to one is 400 points; the prior takes a bit of it.
        let apart = ratings[0].rating - ratings[1].rating;
        assert!((apart - 400.0).abs() < 2.0, "{apart}");
        assert!((ratings[0].rating + ratings[1].rating - 3000.0).abs() < 1e-6);
    }

    #[test]
    fn who_has_won_every_game_stays_finite() {
        let mut tally = Tally::default();
        for _ in 0..20 {
            tally.add(&match_of(&[(0, 1.0), (1, 0.0)], &[]));
        }
        tally.add(&match_of(&[(5, 1.0)], &[]));
        let ratings = ratings(&tally);
        assert!(ratings[0].rating > 1700.0 && ratings[0].rating < 2500.0, "{ratings:?}");
        assert!(ratings.iter().all(|rating| rating.error.is_finite() && rating.error > 50.0), "{ratings:?}");
        // Nobody to compare with: the middle, and no idea.
        assert!(ratings[2].error > ratings[0].error, "{ratings:?}");
    }
}
