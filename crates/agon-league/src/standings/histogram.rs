//! How often each entrant had which score: the Colour Battle picture, as data.

use agon_core::GameInfo;

use super::EntrantRow;
use crate::result::{Entrant, FixedPoint};

/// At most so many bars beside each other.
const MOST_BARS: i128 = 60;

/// Counts in bins that are the same for all.
#[derive(Clone, PartialEq, Debug)]
pub struct Histograms {
    /// What is counted: the name of the score.
    pub score: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Where the first bin starts.
    pub from: f64,
    /// How wide each bin is.
    pub width: f64,
    /// In the order of the table.
    pub counts: Vec<(Entrant, Vec<u64>)>,
}

impl Histograms {
    /// Of these entrants; `None` without any game.
    pub(super) fn of(game: &GameInfo, order: &[&EntrantRow<'_>]) -> Option<Self> {
        let scores = || order.iter().map(|line| &line.sums.score).filter(|score| score.count > 0);
        let least = scores().map(|score| i128::from(score.min)).min()?;
        let most = scores().map(|score| i128::from(score.max)).max()?;
        let width = nice_width(least, most);
        let from = least.div_euclid(width);
        let bars = (most.div_euclid(width) - from + 1) as usize;
        let count = |line: &&EntrantRow<'_>| {
            let mut counts = vec![0; bars];
            for (value, count) in line.sums.score.histogram.bins() {
                let bar = ((value / width as f64).floor() as i128 - from).clamp(0, bars as i128 - 1);
                counts[bar as usize] += count;
            }
            (line.entrant, counts)
        };
        Some(Self {
            score: game.score.name,
            unit: game.score.unit,
            from: from as f64 * width as f64 / FixedPoint::ONE as f64,
            width: width as f64 / FixedPoint::ONE as f64,
            counts: order.iter().map(count).collect(),
        })
    }
}

/// The least of 1, 2, 5, 10, 20, 50 ... with which the bars are few enough.
fn nice_width(least: i128, most: i128) -> i128 {
    let enough = |width: i128| most.div_euclid(width) - least.div_euclid(width) < MOST_BARS;
    let mut ten = 1;
    loop {
        if let Some(width) = [1, 2, 5].map(|digit| digit * ten).into_iter().find(|&width| enough(width)) {
            return width;
        }
        ten *= 10;
    }
}
