//! The house bots, weakest first.

mod planner;
mod seekers;
mod simple;
mod tile_value;

use agon_core::HouseBot;

use super::ColourBattle;

/// All house bots, weakest first.
pub(super) const ALL: &[HouseBot<ColourBattle>] = &[
    HouseBot {
        name: "random",
        strategy: "moves at random",
        roles: &[],
        make: || Box::new(simple::Random::new()),
    },
    HouseBot {
        name: "sweeper",
        strategy: "sweeps the canvas row by row and ignores the tiles",
        roles: &[],
        make: || Box::new(simple::Sweeper::new()),
    },
    HouseBot {
        name: "short-sighted",
        strategy: "takes an adjacent tile if it can, else keeps its direction",
        roles: &[],
        make: || Box::new(simple::ShortSighted::new()),
    },
    HouseBot {
        name: "seeker",
        strategy: "walks to the nearest tile that its id can take",
        roles: &[],
        make: || Box::new(seekers::Seeker::new()),
    },
    HouseBot {
        name: "drawn",
        strategy: "goes towards the tiles it can take, near ones first, and avoids bots that can take its colour",
        roles: &[],
        make: || Box::new(seekers::Drawn::new()),
    },
    HouseBot {
        name: "planner",
        strategy: "plans its next eight moves through tiles that are likely to keep its colour",
        roles: &[],
        make: || Box::new(planner::Planner::new()),
    },
];
