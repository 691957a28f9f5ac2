//! The house bots: seekers and hiders, each from trivial to strong.

mod belief;
mod hiders;
mod hunting;
mod map_knowledge;
mod map_tables;
mod pursuit;
mod seeker_model;
mod seekers;
mod shadow;
mod tracking;

use agon_core::{Bot, HouseBot};

use super::cells::{Cell, Direction};
use super::{Answer, HideAndSeek};

const fn seeker(
    name: &'static str,
    thinks: &'static str,
    make: fn() -> Box<dyn Bot<HideAndSeek>>,
) -> HouseBot<HideAndSeek> {
    HouseBot { name, strategy: thinks, roles: &["seeker"], make }
}

const fn hider(
    name: &'static str,
    thinks: &'static str,
    make: fn() -> Box<dyn Bot<HideAndSeek>>,
) -> HouseBot<HideAndSeek> {
    HouseBot { name, strategy: thinks, roles: &["hider"], make }
}

/// All house bots, weakest first, role by role.
pub const ALL: &[HouseBot<HideAndSeek>] = &[
    seeker("random-seeker", "takes random steps", || Box::<seekers::Random>::default()),
    seeker("roaming-seeker", "walks from one random cell to the next and ignores the hider", || {
        Box::<seekers::Roaming>::default()
    }),
    seeker("chasing-seeker", "goes where it last saw the hider, then to random cells", || {
        Box::<seekers::Chasing>::default()
    }),
    seeker(
        "tracking-seeker",
        "tracks every cell where the hider can be and searches the nearest first",
        || Box::<tracking::Tracking>::default(),
    ),
    seeker(
        "hunting-seeker",
        "searches the cells where the hider can be, longest unseen first, and is unpredictable",
        || Box::<hunting::Hunting>::default(),
    ),
    hider("random-hider", "takes random steps", || Box::<hiders::Random>::default()),
    hider("still-hider", "never moves", || Box::<hiders::Still>::default()),
    hider("running-hider", "runs to the cell furthest from where it last saw the seeker", || {
        Box::<hiders::Running>::default()
    }),
    hider("lurking-hider", "escapes optimally when seen, else waits on a cell that few cells see", || {
        Box::<hiders::Lurking>::default()
    }),
    hider(
        "shadow-hider",
        "estimates where the seeker is and plans the path on which it survives longest",
        || Box::<shadow::Shadow>::default(),
    ),
];

/// The answer that leads to an adjacent cell.
fn step(from: Cell, to: Cell) -> Answer {
    Answer::Step(Direction::between(from, to).unwrap_or(Direction::Stay))
}
