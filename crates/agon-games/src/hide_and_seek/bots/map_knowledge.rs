//! What the better bots work out about a map once, at their first move.

use super::super::map::Map;
use super::map_tables::MapTables;
use super::pursuit::Pursuit;

/// Distances and views, and the game with open eyes.
pub struct MapKnowledge {
    /// Distances and fields of view.
    pub tables: MapTables,
    /// The game with open eyes.
    pub pursuit: Pursuit,
}

impl MapKnowledge {
    /// Works it out.
    pub fn new(map: &Map) -> Self {
        let tables = MapTables::new(map);
        let pursuit = Pursuit::solve(&tables);
        Self { tables, pursuit }
    }
}
