//! The house bots, from one that ignores the board to one that learns the special columns.

mod belief;
mod drift;
mod mcts;
mod one_ply;
mod position;
mod search;
mod search_bots;
mod simple;
mod transposition_table;

use agon_core::{Bot, HouseBot, HouseBots};

use super::ConnectFive;

impl HouseBots for ConnectFive {
    fn bots() -> &'static [HouseBot<Self>] {
        &BOTS
    }
}

/// Describes a house bot.
const fn bot(
    name: &'static str,
    thinks: &'static str,
    make: fn() -> Box<dyn Bot<ConnectFive>>,
) -> HouseBot<ConnectFive> {
    HouseBot { name, strategy: thinks, roles: &[], make }
}

static BOTS: [HouseBot<ConnectFive>; 7] = [
    bot("random", "drops into a random column with room", || Box::new(simple::Random::default())),
    bot("stacker", "fills the leftmost column with room", || Box::new(simple::Stacker)),
    bot("tactician", "wins if it can, blocks if it must, else plays at random", || {
        Box::new(one_ply::Tactician::new())
    }),
    bot("line-counter", "wins, blocks, else maximises its open lines, one move ahead", || {
        Box::new(one_ply::LineCounter::new())
    }),
    bot("mcts", "Monte Carlo tree search with 1,000 playouts per move, ignores drift", || {
        Box::new(mcts::Mcts::new(1_000))
    }),
    bot("alphabeta", "alpha-beta search of 8,000 positions, ignores drift", || {
        Box::new(search_bots::AlphaBeta::new(8_000))
    }),
    bot(
        "learner",
        "expectimax search of 60,000 positions; learns the special columns during the match",
        || Box::new(search_bots::Learner::new(60_000)),
    ),
];
