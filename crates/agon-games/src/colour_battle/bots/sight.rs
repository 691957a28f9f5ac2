//! What the house bots see in a floor.

use super::super::{Move, Position, Seen, paint};

/// What standing alone on a tile does for a bot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Worth {
    /// It takes the colour at once.
    Take,
    /// It turns white first: a second visit, or staying, takes it.
    Wipe,
    /// It stays as it is: the bot's own, or of an id it cannot paint over.
    Nothing,
}

/// What this floor is worth to this bot.
pub(super) const fn worth(floor: u8, own: u8) -> Worth {
    let becomes = paint(floor, own);
    if becomes == floor {
        Worth::Nothing
    } else if becomes == own {
        Worth::Take
    } else {
        Worth::Wipe
    }
}

/// The tiles one step away, with the step; those off the edge are left out.
pub(super) fn neighbours(seen: &Seen<'_>) -> impl Iterator<Item = (Move, Position)> {
    let (here, side) = (seen.position, seen.grid.side());
    Move::STEPS.into_iter().map(move |step| (step, here.after(step, side))).filter(move |(_, to)| *to != here)
}

/// Whether another bot stands there.
pub(super) fn occupied(seen: &Seen<'_>, tile: Position) -> bool {
    seen.enemies.iter().any(|bot| bot.id != seen.id && bot.position == tile)
}
