//! What the better bots work out about a map once, at their first move.

use super::super::map::Map;
use super::chart::Chart;
use super::pursuit::Pursuit;

/// Distances and views, and the game with open eyes.
pub struct Known {
    /// Distances and fields of view.
    pub chart: Chart,
    /// The game with open eyes.
    pub pursuit: Pursuit,
}

impl Known {
    /// Works it out.
    pub fn new(map: &Map) -> Self {
        let chart = Chart::new(map);
        let pursuit = Pursuit::solve(&chart);
        Self { chart, pursuit }
    }
}
