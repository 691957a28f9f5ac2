//! The house bots, weakest first.

mod planner;
mod seekers;
mod sight;
mod simple;

use agon_core::HouseBot;

use super::ColourBattle;

/// All of them, in the order of the ladder.
pub(super) const ALL: &[HouseBot<ColourBattle>] = &[
    HouseBot {
        name: "random",
        thinks: "goes anywhere, at random",
        roles: &[],
        make: || Box::new(simple::Random::new()),
    },
    HouseBot {
        name: "sweeper",
        thinks: "sweeps the canvas row by row, whatever lies there",
        roles: &[],
        make: || Box::new(simple::Sweeper::new()),
    },
    HouseBot {
        name: "short-sighted",
        thinks: "takes a tile beside it if it can, else goes straight on",
        roles: &[],
        make: || Box::new(simple::ShortSighted::new()),
    },
    HouseBot {
        name: "seeker",
        thinks: "walks to the nearest tile that its id can take",
        roles: &[],
        make: || Box::new(seekers::Seeker::new()),
    },
    HouseBot {
        name: "drawn",
        thinks: "goes where the pull of all tiles it can take is strongest, less where its takers are",
        roles: &[],
        make: || Box::new(seekers::Drawn::new()),
    },
    HouseBot {
        name: "planner",
        thinks: "plans its next dozen moves through tiles that are likely to last",
        roles: &[],
        make: || Box::new(planner::Planner::new()),
    },
];
