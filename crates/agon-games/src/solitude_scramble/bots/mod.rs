//! The house bots, weakest first. Like every bot of this game they are stateless: an answer depends on what is
//! seen (and on the bot's seed), never on an earlier call.

use agon_core::{Bot, FastRng, HouseBot, HouseBots};

use super::SolitudeScramble;
use super::board::Move;
use super::state::Observation;

mod equilibrium;
mod expected_value;
mod fixed_strategies;
mod opponent_model;

use fixed_strategies::FixedStrategy;

/// A bot that is a function of what it sees and of its own seed.
struct Stateless<F> {
    seed: u64,
    think: F,
}

impl<F> Bot<SolitudeScramble> for Stateless<F>
where
    F: Fn(&Observation<'_>, &mut FastRng) -> Move + Send,
{
    fn begin(&mut self, seed: u64) {
        self.seed = seed;
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Move {
        // A fresh generator for each turn: nothing is carried over from call to call.
        (self.think)(seen, &mut FastRng::new(self.seed ^ u64::from(seen.turn())))
    }
}

fn boxed<F>(think: F) -> Box<dyn Bot<SolitudeScramble>>
where
    F: Fn(&Observation<'_>, &mut FastRng) -> Move + Send + 'static,
{
    Box::new(Stateless { seed: 0, think })
}

fn from_strategy(strategy: FixedStrategy) -> Box<dyn Bot<SolitudeScramble>> {
    boxed(move |seen, rng| strategy.choose(seen.deal.scores(), seen.deal.side(seen.seat), rng))
}

/// In the order measured at tables of four different ones. `left` and `right` mirror each other, but those who
/// break ties LEFT before RIGHT (cautious, greedy, all who read the history) stand on the corner of their neighbour's RIGHT more
/// often, so `right` meets more company. Equilibrium is fair to everybody and so exploits nobody.
static BOTS: &[HouseBot<SolitudeScramble>] = &[
    HouseBot {
        name: "random",
        strategy: "any of the three moves",
        roles: &[],
        make: || from_strategy(FixedStrategy::Random),
    },
    HouseBot {
        name: "centre",
        strategy: "always goes to the CENTER",
        roles: &[],
        make: || from_strategy(FixedStrategy::Centre),
    },
    HouseBot {
        name: "second-best",
        strategy: "leaves the best platform to the greedy and takes the next",
        roles: &[],
        make: || from_strategy(FixedStrategy::SecondBest),
    },
    HouseBot {
        name: "right",
        strategy: "always goes RIGHT",
        roles: &[],
        make: || from_strategy(FixedStrategy::Right),
    },
    HouseBot {
        name: "left",
        strategy: "always goes LEFT",
        roles: &[],
        make: || from_strategy(FixedStrategy::Left),
    },
    HouseBot {
        name: "equilibrium",
        strategy: "solves the turn as a game of four and plays its share of the mixed solution",
        roles: &[],
        make: || boxed(equilibrium::choose),
    },
    HouseBot {
        name: "greedy",
        strategy: "goes where most points are, as if it were alone on the board",
        roles: &[],
        make: || from_strategy(FixedStrategy::Greedy),
    },
    HouseBot {
        name: "cautious",
        strategy: "expects the others to move at random and takes the best odds",
        roles: &[],
        make: || from_strategy(FixedStrategy::Cautious),
    },
    HouseBot {
        name: "counter",
        strategy: "takes each opponent's past moves for its odds and goes where they seldom went",
        roles: &[],
        make: || boxed(|seen, _| opponent_model::choose_by_counting(seen)),
    },
    HouseBot {
        name: "profiler",
        strategy: "guesses from the history what kind of bot each opponent is, and answers the mixture best",
        roles: &[],
        make: || boxed(|seen, _| opponent_model::choose(seen, 2)),
    },
    HouseBot {
        name: "mastermind",
        strategy: "reads the others like a profiler, knows how profilers read, and rarely gives way",
        roles: &[],
        make: || boxed(|seen, _| opponent_model::choose(seen, 3)),
    },
];

impl HouseBots for SolitudeScramble {
    fn bots() -> &'static [HouseBot<Self>] {
        BOTS
    }
}
