//! The house bots, weakest first.

mod index;
mod plan;
mod planner;
mod potential;
mod simple;

pub(super) use index::WordIndex;

use agon_core::{HouseBot, HouseBots};

use self::planner::{Planner, PlannerConfig};
use super::WordRacer;

impl HouseBots for WordRacer {
    fn bots() -> &'static [HouseBot<Self>] {
        const ALL: &[HouseBot<WordRacer>] = &[
            HouseBot {
                name: "random",
                strategy: "calls any letter and writes letters anywhere",
                roles: &[],
                make: || Box::new(simple::Random::default()),
            },
            HouseBot {
                name: "filler",
                strategy: "calls common letters in turn and fills its board from the top left",
                roles: &[],
                make: || Box::new(simple::Filler),
            },
            HouseBot {
                name: "z-racer",
                strategy: "always calls Z, puts it out of the way, writes other letters where they give points",
                roles: &[],
                make: || Box::new(simple::ZRacer),
            },
            HouseBot {
                name: "rows",
                strategy: "looks for words in rows that want two letters at most, takes the best step",
                roles: &[],
                make: || Box::new(potential::Potential::new(false)),
            },
            HouseBot {
                name: "crossword",
                strategy: "the same in rows and columns at once, so that words cross",
                roles: &[],
                make: || Box::new(potential::Potential::new(true)),
            },
            HouseBot {
                name: "planner",
                strategy: "plans the whole board within its calls and bends the plan to each letter",
                roles: &[],
                make: || Box::new(Planner::new(PlannerConfig::PLANNER)),
            },
            HouseBot {
                name: "strategist",
                strategy: "plans the whole board with letters that help the other least, rarest first",
                roles: &[],
                make: || Box::new(Planner::new(PlannerConfig::STRATEGIST)),
            },
        ];
        ALL
    }
}
