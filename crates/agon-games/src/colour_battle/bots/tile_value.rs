//! Value of a floor tile for a house bot.

use super::super::{Move, Observation, Position, paint};

/// Effect of standing alone on a tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TileValue {
    /// The tile takes the bot's colour at once.
    Take,
    /// The tile turns white; a second visit, or staying, takes it.
    Wipe,
    /// The tile does not change: it has the bot's colour, or one it cannot paint over.
    Nothing,
}

/// Value of a floor colour for a bot.
pub(super) const fn tile_value(floor: u8, own: u8) -> TileValue {
    let becomes = paint(floor, own);
    if becomes == floor {
        TileValue::Nothing
    } else if becomes == own {
        TileValue::Take
    } else {
        TileValue::Wipe
    }
}

/// Adjacent tiles on the canvas, with the move to each.
pub(super) fn neighbours(seen: &Observation<'_>) -> impl Iterator<Item = (Move, Position)> {
    let (here, side) = (seen.position, seen.grid.side());
    Move::STEPS.into_iter().map(move |step| (step, here.after(step, side))).filter(move |(_, to)| *to != here)
}

/// Whether another bot stands on the tile.
pub(super) fn occupied(seen: &Observation<'_>, tile: Position) -> bool {
    seen.enemies.iter().any(|bot| bot.id != seen.id && bot.position == tile)
}
