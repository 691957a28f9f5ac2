//! Distribution of scores per entrant: the Colour Battle chart, as data.

use agon_core::GameInfo;

use super::EntrantRow;
use crate::result::{Entrant, FixedPoint};

/// Maximum number of bars.
const MAX_BARS: i128 = 60;

/// Score counts in bins that are the same for all entrants.
#[derive(Clone, PartialEq, Debug)]
pub struct ScoreHistograms {
    /// Name of the score.
    pub score: &'static str,
    /// Unit of the score.
    pub unit: &'static str,
    /// Start of the first bin.
    pub from: f64,
    /// Width of a bin.
    pub width: f64,
    /// Counts per entrant in table order.
    pub counts: Vec<(Entrant, Vec<u64>)>,
    /// Lowest and highest score in each bin, of all entrants; `None` for an empty bin.
    pub extremes: Vec<Option<(f64, f64)>>,
}

impl ScoreHistograms {
    /// Histograms of these entrants; `None` without games.
    pub(super) fn of(game: &GameInfo, order: &[&EntrantRow<'_>]) -> Option<Self> {
        let scores = || order.iter().map(|row| &row.totals.score).filter(|score| score.count > 0);
        let least = scores().map(|score| i128::from(score.min)).min()?;
        let most = scores().map(|score| i128::from(score.max)).max()?;
        let width = nice_width(least, most);
        let from = least.div_euclid(width);
        let bars = (most.div_euclid(width) - from + 1) as usize;
        let mut extremes: Vec<Option<(f64, f64)>> = vec![None; bars];
        let mut count = |row: &&EntrantRow<'_>| {
            let mut counts = vec![0; bars];
            for (value, count) in row.totals.score.histogram.bins() {
                let bar = ((value / width as f64).floor() as i128 - from).clamp(0, bars as i128 - 1) as usize;
                counts[bar] += count;
                let score = value / FixedPoint::ONE as f64;
                let (low, high) = extremes[bar].unwrap_or((score, score));
                extremes[bar] = Some((low.min(score), high.max(score)));
            }
            (row.entrant, counts)
        };
        let counts = order.iter().map(&mut count).collect();
        Some(Self {
            score: game.score.name,
            unit: game.score.unit,
            from: from as f64 * width as f64 / FixedPoint::ONE as f64,
            width: width as f64 / FixedPoint::ONE as f64,
            counts,
            extremes,
        })
    }
}

/// The smallest of 1, 2, 5, 10, 20, 50 ... that needs at most the maximum number of bars.
fn nice_width(least: i128, most: i128) -> i128 {
    let enough = |width: i128| most.div_euclid(width) - least.div_euclid(width) < MAX_BARS;
    let mut ten = 1;
    loop {
        if let Some(width) = [1, 2, 5].map(|digit| digit * ten).into_iter().find(|&width| enough(width)) {
            return width;
        }
        ten *= 10;
    }
}
