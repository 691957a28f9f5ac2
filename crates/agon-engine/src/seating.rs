//! Who sits at a game: house bots, people, programs.

use std::path::PathBuf;
use std::sync::Arc;

use agon_core::assets::content_hash;
use agon_core::record::SeatRecord;
use agon_core::settings::nearest;
use agon_core::{GameInfo, Player, Seat, Settings};
use agon_games::Hosted;
use agon_host::intake::{PrivateFolder, Refusal};
use agon_host::{Conditions, Introduction, LinesPlayer, Program, TextPlayer};

use crate::built_in::BuiltIn;
use crate::referee::Chair;

/// Who is to sit at a seat.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "there are a handful of them, never moved while games are played"
)]
pub enum Seating {
    /// A house bot, by name.
    House(String),
    /// Somebody at the terminal.
    Human,
    /// A program of the author's own.
    Program(ProgramSeat),
}

/// A program that is to sit at a seat.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramSeat {
    /// Its name in tables.
    pub name: String,
    /// As it was given on the command line.
    pub spec: String,
    /// Hash of its content.
    pub hash: String,
    /// What is run.
    pub program: Program,
    /// Whether it is spoken to by JSON lines even if the game has lines of its own.
    pub json_lines: bool,
    /// Where the logs of its games go, in a game whose bots are given them.
    pub logs: Option<PathBuf>,
    /// A folder that must be there as long as it may play.
    pub home: Option<Arc<PrivateFolder>>,
    /// Whether it sees to it itself that nothing is kept from one call to the next, where the game wants that.
    pub forgets: bool,
}

impl Seating {
    /// As it is given on the command line.
    pub fn spec(&self) -> String {
        match self {
            Self::House(name) => format!("house:{name}"),
            Self::Human => "human".to_owned(),
            Self::Program(seat) => seat.spec.clone(),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::House(name) => name,
            Self::Human => "human",
            Self::Program(seat) => &seat.name,
        }
    }
}

/// Names for a game's seats: the bots' own, numbered where two are the same.
pub fn seat_names(seats: &[Seating]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for seat in seats {
        let twins = |name: &str| names.iter().any(|n| n == name);
        let numbered = (2..).map(|i| format!("{}-{i}", seat.name()));
        let name = std::iter::once(seat.name().to_owned()).chain(numbered).find(|name| !twins(name));
        names.push(name.unwrap_or_default());
    }
    names
}

/// Why a bot cannot be seated.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}\nhint: {hint}")]
pub struct SeatingError {
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub hint: String,
}

/// A program that does not come up.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{refusal}")]
pub struct NotLoaded {
    /// Where it was to sit.
    pub seat: Seat,
    /// Why.
    pub refusal: Refusal,
}

pub(crate) fn check_seat<G: Hosted>(seat: Seat, seating: &Seating) -> Result<(), SeatingError> {
    let name = match seating {
        Seating::House(name) => name,
        Seating::Human => return Ok(()),
        Seating::Program(one) => {
            let refused = |e: agon_host::ProgramError| SeatingError { what: e.what, hint: e.hint };
            return one.program.locate().map(drop).map_err(refused);
        }
    };
    let info = G::info();
    let role = info.role(seat).name;
    let fitting = || G::bots().iter().filter(|bot| bot.plays(seat)).map(|bot| bot.name);
    let list = || fitting().collect::<Vec<_>>().join(", ");
    match G::bots().iter().find(|bot| bot.name == name) {
        Some(bot) if bot.plays(seat) => Ok(()),
        Some(_) => Err(SeatingError {
            what: format!("seat {seat} is the {role}'s; house:{name} does not play the {role}"),
            hint: format!("{role}s are {}", list()),
        }),
        None => {
            let near = nearest(name, fitting()).map(|near| format!("did you mean house:{near}? "));
            let what = format!("{} has no house bot `{name}`", info.id);
            Err(SeatingError { what, hint: format!("{}there are {}", near.unwrap_or_default(), list()) })
        }
    }
}

/// Bots were checked before: an unknown one would leave the chair to a person who is not there, a crash.
pub(crate) fn chair<G: Hosted>(
    seating: &Seating,
    game: &G,
    settings: &Settings,
    seat: Seat,
    names: &[String],
) -> Chair<G> {
    match seating {
        Seating::Program(one) => Chair::Bot(program_player(one, game, settings, seat, names)),
        Seating::House(name) => G::bots()
            .iter()
            .find(|bot| bot.name == name)
            .map_or(Chair::Person, |bot| Chair::Bot(Box::new(BuiltIn::new((bot.make)())))),
        Seating::Human => Chair::Person,
    }
}

/// A program speaks the game's own lines if there are some, unless it was said to speak JSON lines.
fn program_player<G: Hosted>(
    one: &ProgramSeat,
    game: &G,
    settings: &Settings,
    seat: Seat,
    names: &[String],
) -> Box<dyn Player<G>> {
    if let Some(write) = G::own_lines().filter(|_| !one.json_lines) {
        return Box::new(TextPlayer::new(one.program.clone(), write));
    }
    let told = Introduction::new(game, settings, seat, names);
    let mut conditions = Conditions::of::<G>();
    conditions.stateless &= !one.forgets;
    Box::new(LinesPlayer::new(one.program.clone(), told, conditions))
}

pub(crate) fn seat_record<G: Hosted>(seating: &Seating, name: &str) -> SeatRecord {
    SeatRecord { name: name.to_owned(), bot: seating.spec(), hash: seat_hash(G::info(), seating) }
}

/// What a bot's content hashes to, as it stands in a record.
pub fn seat_hash(info: &GameInfo, seating: &Seating) -> String {
    match seating {
        Seating::Program(seat) => seat.hash.clone(),
        // A house bot's content is this program: its version stands for it.
        _ => content_hash(format!("{} {} {}", info.id, seating.spec(), env!("CARGO_PKG_VERSION")).as_bytes()),
    }
}
