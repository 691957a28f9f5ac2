//! The house bots, from one that does not look at the board to one that finds out about the special columns.

mod belief;
mod drift;
mod lookers;
mod mcts;
mod plain;
mod position;
mod search;
mod table;
mod thinkers;

use agon_core::{Bot, House, HouseBot};

use super::ConnectFive;

impl House for ConnectFive {
    fn bots() -> &'static [HouseBot<Self>] {
        &BOTS
    }
}

/// A bot for the list.
const fn bot(
    name: &'static str,
    thinks: &'static str,
    make: fn() -> Box<dyn Bot<ConnectFive>>,
) -> HouseBot<ConnectFive> {
    HouseBot { name, thinks, roles: &[], make }
}

static BOTS: [HouseBot<ConnectFive>; 7] = [
    bot("random", "drops into any column that has room", || Box::new(plain::Random::default())),
    bot("stacker", "fills the leftmost column that has room", || Box::new(plain::Stacker)),
    bot("tactician", "wins if it can, blocks if it must, else drops anywhere", || {
        Box::new(lookers::Tactician::new())
    }),
    bot("line-counter", "wins, blocks, else makes the most of open lines, one move ahead", || {
        Box::new(lookers::LineCounter::new())
    }),
    bot("mcts", "Monte Carlo tree search, 1,000 games in its head for a move, no drift", || {
        Box::new(mcts::Mcts::new(1_000))
    }),
    bot("alphabeta", "alpha-beta search of 8,000 positions, no drift", || {
        Box::new(thinkers::AlphaBeta::new(8_000))
    }),
    bot(
        "learner",
        "expectimax search of 60,000 positions; learns the special columns during the match",
        || Box::new(thinkers::Learner::new(60_000)),
    ),
];
