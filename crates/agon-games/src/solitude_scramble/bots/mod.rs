//! The house bots, weakest first. Like every bot of this game they are stateless: an answer depends on what is
//! seen (and on the bot's seed), never on an earlier call.

use agon_core::{Bot, House, HouseBot, QuickRng};

use super::SolitudeScramble;
use super::board::Move;
use super::state::Observation;

mod equilibrium;
mod habits;
mod readers;
mod reckon;

use habits::Habit;

/// A bot that is a function of what it sees and of its own seed.
struct Stateless<F> {
    seed: u64,
    think: F,
}

impl<F> Bot<SolitudeScramble> for Stateless<F>
where
    F: Fn(&Observation<'_>, &mut QuickRng) -> Move + Send,
{
    fn begin(&mut self, seed: u64) {
        self.seed = seed;
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Move {
        // A fresh generator for each turn: nothing is carried over from call to call.
        (self.think)(seen, &mut QuickRng::new(self.seed ^ u64::from(seen.turn())))
    }
}

fn boxed<F>(think: F) -> Box<dyn Bot<SolitudeScramble>>
where
    F: Fn(&Observation<'_>, &mut QuickRng) -> Move + Send + 'static,
{
    Box::new(Stateless { seed: 0, think })
}

fn of_habit(habit: Habit) -> Box<dyn Bot<SolitudeScramble>> {
    boxed(move |seen, rng| habit.choose(seen.deal.scores(), seen.deal.side(seen.seat), rng))
}

/// In the order measured at tables of four different ones. `left` and `right` mirror each other, but those who
/// break ties LEFT before RIGHT (cautious, greedy, all who read the history) stand on the corner of their neighbour's RIGHT more
/// often, so `right` meets more company. Equilibrium is fair to everybody and so exploits nobody.
static BOTS: &[HouseBot<SolitudeScramble>] = &[
    HouseBot {
        name: "random",
        thinks: "any of the three moves",
        roles: &[],
        make: || of_habit(Habit::Random),
    },
    HouseBot {
        name: "centre",
        thinks: "always goes to the CENTER",
        roles: &[],
        make: || of_habit(Habit::Centre),
    },
    HouseBot {
        name: "second-best",
        thinks: "leaves the best platform to the greedy and takes the next",
        roles: &[],
        make: || of_habit(Habit::SecondBest),
    },
    HouseBot { name: "right", thinks: "always goes RIGHT", roles: &[], make: || of_habit(Habit::Right) },
    HouseBot { name: "left", thinks: "always goes LEFT", roles: &[], make: || of_habit(Habit::Left) },
    HouseBot {
        name: "equilibrium",
        thinks: "solves the turn as a game of four and plays its share of the mixed solution",
        roles: &[],
        make: || boxed(equilibrium::choose),
    },
    HouseBot {
        name: "greedy",
        thinks: "goes where most points are, as if it were alone on the board",
        roles: &[],
        make: || of_habit(Habit::Greedy),
    },
    HouseBot {
        name: "cautious",
        thinks: "expects the others to move at random and takes the best odds",
        roles: &[],
        make: || of_habit(Habit::Cautious),
    },
    HouseBot {
        name: "counter",
        thinks: "takes each opponent's past moves for its odds and goes where they seldom went",
        roles: &[],
        make: || boxed(|seen, _| readers::choose_by_counting(seen)),
    },
    HouseBot {
        name: "profiler",
        thinks: "guesses from the history what kind of bot each opponent is, and answers the mixture best",
        roles: &[],
        make: || boxed(|seen, _| readers::choose(seen, 2)),
    },
    HouseBot {
        name: "mastermind",
        thinks: "reads the others like a profiler, knows how profilers read, and rarely gives way",
        roles: &[],
        make: || boxed(|seen, _| readers::choose(seen, 3)),
    },
];

impl House for SolitudeScramble {
    fn bots() -> &'static [HouseBot<Self>] {
        BOTS
    }
}
