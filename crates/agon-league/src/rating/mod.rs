//! Ratings that do not depend on the order of games.
//!
//! Bradley and Terry's model: who beats whom depends on the difference of two strengths. Fitted to all results at once (a draw is half a
//! win) and shown on the scale of Elo ratings, 1500 being the middle of the field. A game of many seats counts as a result between any
//! two of them. Those are not independent of each other, and draws leave less to chance than the model believes; so the errors are not
//! the model's own but corrected by how much results really varied from game to game (see `errors.rs`). Chosen over ratings that are
//! updated game by game (Elo, Weng-Lin, TrueSkill) because those end elsewhere when the same games come in another order.

mod errors;
mod fit;

use serde::Serialize;

use crate::result::Entrant;
use crate::tally::Tally;

/// Elo points for a unit of the model: 400 points are odds of ten to one.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;
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
    let results = fit::Results::of(tally);
    let strengths = results.fit();
    let errors = errors::errors(tally, &results, &strengths);
    let middle = strengths.iter().sum::<f64>() / strengths.len().max(1) as f64;
    let rating = |((&entrant, strength), error): ((&Entrant, &f64), &f64)| Rating {
        entrant,
        rating: MIDDLE + ELO * (strength - middle),
        error: 1.959_964 * ELO * error,
    };
    results.entrants.iter().zip(&strengths).zip(&errors).map(rating).collect()
}
