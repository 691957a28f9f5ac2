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
    seeker("random-seeker", "takes any step", || Box::<seekers::Random>::default()),
    seeker("roaming-seeker", "walks from one random cell to the next and never looks up", || {
        Box::<seekers::Roaming>::default()
    }),
    seeker("chasing-seeker", "goes where it last saw the hider, roams when nobody is there", || {
        Box::<seekers::Chasing>::default()
    }),
    seeker(
        "tracking-seeker",
        "knows every cell where the hider can be and looks into the nearest first",
        || Box::<tracking::Tracking>::default(),
    ),
    seeker(
        "hunting-seeker",
        "searches where the hider can be, longest unseen first, and cannot be foreseen",
        || Box::<hunting::Hunting>::default(),
    ),
    hider("random-hider", "takes any step", || Box::<hiders::Random>::default()),
    hider("still-hider", "never moves", || Box::<hiders::Still>::default()),
    hider("running-hider", "runs to the cell furthest from where it last saw the seeker", || {
        Box::<hiders::Running>::default()
    }),
    hider("lurking-hider", "when seen plays the perfect escape, else waits where few cells see it", || {
        Box::<hiders::Lurking>::default()
    }),
    hider("shadow-hider", "guesses where the seeker is and takes the way on which it lasts longest", || {
        Box::<shadow::Shadow>::default()
    }),
];

/// The answer that leads to a neighbouring cell.
fn step(from: Cell, to: Cell) -> Answer {
    Answer::Step(Direction::between(from, to).unwrap_or(Direction::Stay))
}
