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
                strategy: "calls random letters and writes them on random cells",
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
                strategy: "always calls Z and writes it on the last free cell; writes other letters where they give points",
                roles: &[],
                make: || Box::new(simple::ZRacer),
            },
            HouseBot {
                name: "rows",
                strategy: "completes words in rows that miss at most two letters, one step ahead",
                roles: &[],
                make: || Box::new(potential::Potential::new(false)),
            },
            HouseBot {
                name: "crossword",
                strategy: "like rows, but in rows and columns, so that words cross",
                roles: &[],
                make: || Box::new(potential::Potential::new(true)),
            },
            HouseBot {
                name: "planner",
                strategy: "plans the whole board with its own calls and adapts the plan to each letter of the opponent",
                roles: &[],
                make: || Box::new(Planner::new(PlannerConfig::PLANNER)),
            },
            HouseBot {
                name: "strategist",
                strategy: "like planner, but calls rare letters first, which help the opponent least",
                roles: &[],
                make: || Box::new(Planner::new(PlannerConfig::STRATEGIST)),
            },
        ];
        ALL
    }
}
