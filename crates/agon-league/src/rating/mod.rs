//! Ratings that do not depend on the order of games.
//!
//! In the Bradley-Terry model the difference of two strengths decides the win probability. The model is fitted to all results at once
//! (a draw is half a win) and shown on the Elo scale with mean 1500. A game with many seats counts as a result between every two of
//! them. These results are not independent, and draws vary less than the model assumes, so the errors are corrected by the actual
//! variance between games (see `errors.rs`). Ratings updated game by game (Elo, Weng-Lin) were rejected, because they depend on the
//! order of the games.

mod errors;
mod fit;

use agon_core::ScoreDirection;
use serde::Serialize;

use crate::result::Entrant;
use crate::tally::Tally;

/// Elo points per unit of the model: 400 points are odds of ten to one.
const ELO_PER_UNIT: f64 = 400.0 / std::f64::consts::LN_10;
/// Maximum number of compared results; more would take too long for a table.
const MAX_COMPARISONS: usize = 20_000_000;
/// Mean rating of a field.
const MEAN_RATING: f64 = 1500.0;

/// An entrant's rating.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Rating {
    /// The entrant.
    pub entrant: Entrant,
    /// Rating on the Elo scale.
    pub rating: f64,
    /// Half the width of the 95 % interval.
    pub error: f64,
}

/// Ratings of all entrants that have played, in the order of the competition file.
pub fn ratings(tally: &Tally) -> Vec<Rating> {
    rate(&fit::PairResults::of(tally))
}

/// Ratings within one role of a game with several, compared seed by seed. Whether a seeker needed fewer steps than the others says
/// more than that it caught every hider. `None` if scores are not kept by seed or there are too many comparisons.
pub fn ratings_by_seed(tally: &Tally, entrants: &[Entrant], better: ScoreDirection) -> Option<Vec<Rating>> {
    let seeds =
        entrants.iter().filter_map(|&entrant| tally.of(entrant)).map(|sums| sums.by_seed.len()).max()?;
    let compared = entrants.len() * entrants.len() / 2 * seeds;
    (seeds > 1 && compared <= MAX_COMPARISONS)
        .then(|| rate(&fit::PairResults::by_seed(tally, entrants, better)))
}

fn rate(results: &fit::PairResults) -> Vec<Rating> {
    let strengths = results.fit();
    let errors = errors::standard_errors(results, &strengths);
    let middle = strengths.iter().sum::<f64>() / strengths.len().max(1) as f64;
    let rating = |((&entrant, strength), error): ((&Entrant, &f64), &f64)| Rating {
        entrant,
        rating: MEAN_RATING + ELO_PER_UNIT * (strength - middle),
        error: 1.959_964 * ELO_PER_UNIT * error,
    };
    results.entrants.iter().zip(&strengths).zip(&errors).map(rating).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::match_of;

    #[test]
    fn ratings_of_two_entrants_differ_by_their_odds() {
        let mut tally = Tally::default();
        for game in 0..1100 {
            let won = f64::from(u8::from(game % 11 != 0));
            tally.add(&match_of(&[(0, won), (1, 1.0 - won)], &[]));
        }
        let ratings = ratings(&tally);
        // Odds of ten to one are 400 points; the prior reduces them slightly.
        let apart = ratings[0].rating - ratings[1].rating;
        assert!((apart - 400.0).abs() < 2.0, "{apart}");
        assert!((ratings[0].rating + ratings[1].rating - 3000.0).abs() < 1e-6);
    }

    #[test]
    fn rating_after_only_wins_stays_finite() {
        let mut tally = Tally::default();
        for _ in 0..20 {
            tally.add(&match_of(&[(0, 1.0), (1, 0.0)], &[]));
        }
        tally.add(&match_of(&[(5, 1.0)], &[]));
        let ratings = ratings(&tally);
        assert!(ratings[0].rating > 1700.0 && ratings[0].rating < 2500.0, "{ratings:?}");
        assert!(ratings.iter().all(|rating| rating.error.is_finite() && rating.error > 50.0), "{ratings:?}");
        // Without opponents: the mean, with a large error.
        assert!(ratings[2].error > ratings[0].error, "{ratings:?}");
    }
}
