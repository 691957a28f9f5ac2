//! The house bots, weakest first.

use agon_core::{Bot, HouseBot, HouseBots};

use super::__TYPE__;
use super::{Move, Observation};

impl HouseBots for __TYPE__ {
    fn bots() -> &'static [HouseBot<Self>] {
        &BOTS
    }
}

// FILL IN: at least five bots for each role. Their chance comes from the seed in `Bot::begin`; their work is limited by
// counting, never by a clock.
static BOTS: [HouseBot<__TYPE__>; 1] = [HouseBot {
    name: "first",
    strategy: "plays the first legal move",
    roles: &[],
    make: || Box::new(First),
}];

struct First;

impl Bot<__TYPE__> for First {
    fn answer(&mut self, _seen: &Observation) -> Move {
        // FILL IN: a legal move.
        Move(1)
    }
}
