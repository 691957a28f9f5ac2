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

/// What a player of a ladder has played: sums that grow game by game.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LadderPlayer {
    /// Number of games.
    pub games: u32,
    /// Opponents beaten in all games; a shared place counts half.
    pub beaten: f64,
    /// Sum of the squares of that number, game by game.
    pub beaten_squares: f64,
    /// Whether the scale is fixed by this player: the mean of these players is 1500.
    pub is_anchor: bool,
}

/// Results between two players of a ladder, given by their indexes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LadderPair {
    /// Index of the first player.
    pub a: u32,
    /// Index of the second player.
    pub b: u32,
    /// Number of games.
    pub games: u32,
    /// Wins of `a`; a draw counts half.
    pub won: f64,
}

/// Ratings of the players of a ladder, in their order. Unlike [`ratings`], the mean of the anchors is fixed, not that of the field: the
/// rating of a player does not change when others join. Pairs with an unknown index are left out.
pub fn ladder_ratings(players: &[LadderPlayer], pairs: &[LadderPair]) -> Vec<Rating> {
    let is_known = |pair: &&LadderPair| {
        pair.games > 0 && pair.a != pair.b && (pair.a.max(pair.b) as usize) < players.len()
    };
    let result = |pair: &LadderPair| fit::PairResult {
        a: pair.a,
        b: pair.b,
        games: pair.games as f32,
        won: pair.won as f32,
    };
    let results = fit::PairResults {
        entrants: (0..players.len() as u32).map(Entrant).collect(),
        pairs: pairs.iter().filter(is_known).map(result).collect(),
        variations: players
            .iter()
            .map(|one| fit::ResultVariation {
                games: f64::from(one.games),
                beaten: one.beaten,
                beaten_squares: one.beaten_squares,
            })
            .collect(),
    };
    let mut ratings = rate(&results);
    let anchors: Vec<f64> = ratings
        .iter()
        .zip(players)
        .filter(|(_, player)| player.is_anchor && player.games > 0)
        .map(|(rating, _)| rating.rating)
        .collect();
    if !anchors.is_empty() {
        let shift = MEAN_RATING - anchors.iter().sum::<f64>() / anchors.len() as f64;
        ratings.iter_mut().for_each(|rating| rating.rating += shift);
    }
    ratings
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
    fn ladder_ratings_are_fixed_by_the_anchors() {
        let anchor = LadderPlayer { games: 200, beaten: 100.0, beaten_squares: 100.0, is_anchor: true };
        let bot = LadderPlayer { is_anchor: false, ..anchor };
        let pair = |a, b, won| LadderPair { a, b, games: 100, won };
        let two = [pair(0, 1, 25.0), pair(1, 2, 20.0), pair(0, 2, 10.0)];
        let alone = ladder_ratings(&[anchor, anchor, bot], &two);
        assert!((alone[0].rating + alone[1].rating - 3000.0).abs() < 1e-6, "{alone:?}");
        assert!(alone[0].rating < alone[1].rating && alone[1].rating < alone[2].rating, "{alone:?}");
        // A player that others do not meet changes nothing.
        let with_other = ladder_ratings(&[anchor, anchor, bot, LadderPlayer::default()], &two);
        assert!((with_other[2].rating - alone[2].rating).abs() < 1.0, "{with_other:?}");
        assert!(with_other[3].error > 500.0, "{with_other:?}");
        let unknown = [pair(0, 9, 3.0), pair(1, 1, 3.0)];
        assert_eq!(ladder_ratings(&[anchor], &unknown).len(), 1);
        assert!(ladder_ratings(&[], &[]).is_empty());
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
