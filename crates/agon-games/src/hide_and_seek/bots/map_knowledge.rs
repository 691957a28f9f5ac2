//! Data that the stronger bots compute once per map, at their first move.

use super::super::map::Map;
use super::map_tables::MapTables;
use super::pursuit::Pursuit;

/// Distances, fields of view, and the solved pursuit.
pub struct MapKnowledge {
    /// Distances and fields of view.
    pub tables: MapTables,
    /// The solved pursuit with full visibility.
    pub pursuit: Pursuit,
}

impl MapKnowledge {
    /// Computes the data of a map.
    pub fn new(map: &Map) -> Self {
        let tables = MapTables::new(map);
        let pursuit = Pursuit::solve(&tables);
        Self { tables, pursuit }
    }
}
