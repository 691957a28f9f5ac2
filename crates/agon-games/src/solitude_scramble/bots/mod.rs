//! The house bots, weakest first. Like all bots of this game they are stateless: an answer depends on the observation and the
//! bot's seed, never on an earlier call.

use agon_core::{Bot, FastRng, HouseBot, HouseBots};

use super::SolitudeScramble;
use super::board::Move;
use super::state::Observation;

mod equilibrium;
mod expected_value;
mod fixed_strategies;
mod opponent_model;

use fixed_strategies::FixedStrategy;

/// A bot that is a function of the observation and its seed.
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
        // A new generator for each turn: no state is kept between calls.
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

/// House bots in the order measured in games of four different bots. `left` and `right` are symmetric, but bots that prefer LEFT
/// in ties (cautious, greedy, all that use the history) more often choose the corner that is their neighbour's RIGHT, so `right`
/// collides more often. The equilibrium does not exploit any opponent.
static BOTS: &[HouseBot<SolitudeScramble>] = &[
    HouseBot {
        name: "random",
        strategy: "chooses one of the three moves at random",
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
        strategy: "takes the second best platform and leaves the best to greedy bots",
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
        strategy: "plays its part of the mixed equilibrium of the turn",
        roles: &[],
        make: || boxed(equilibrium::choose),
    },
    HouseBot {
        name: "greedy",
        strategy: "goes to the platform with the most points and ignores the other bots",
        roles: &[],
        make: || from_strategy(FixedStrategy::Greedy),
    },
    HouseBot {
        name: "cautious",
        strategy: "assumes that the others move at random and maximises its expected points",
        roles: &[],
        make: || from_strategy(FixedStrategy::Cautious),
    },
    HouseBot {
        name: "counter",
        strategy: "predicts each opponent from the frequency of its past moves",
        roles: &[],
        make: || boxed(|seen, _| opponent_model::choose_by_counting(seen)),
    },
    HouseBot {
        name: "profiler",
        strategy: "estimates from the history which strategy each opponent plays and maximises its expected points",
        roles: &[],
        make: || boxed(|seen, _| opponent_model::choose(seen, 2)),
    },
    HouseBot {
        name: "mastermind",
        strategy: "like profiler, also models opponents that are profilers, and rarely gives way",
        roles: &[],
        make: || boxed(|seen, _| opponent_model::choose(seen, 3)),
    },
];

impl HouseBots for SolitudeScramble {
    fn bots() -> &'static [HouseBot<Self>] {
        BOTS
    }
}
