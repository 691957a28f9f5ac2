//! Players of a game: house bots, persons, programs.

use std::path::PathBuf;
use std::sync::Arc;

use agon_core::assets::content_hash;
use agon_core::record::SeatRecord;
use agon_core::settings::closest_name;
use agon_core::{Diagnostic, GameInfo, Player, Seat, Settings};
use agon_games::PlayableGame;
use agon_host::{BotRejection, ScratchDir};
use agon_host::{HelloInfo, JsonLinesPlayer, PlayerOptions, Program, TextPlayer};

use crate::house_player::HousePlayer;
use crate::referee::SeatedPlayer;

/// Player at a seat.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "only a few exist, and they are not moved while games are played"
)]
pub enum PlayerSpec {
    /// A house bot, by name.
    House(String),
    /// A person, at the terminal or in a browser.
    Human,
    /// An author's program.
    Program(ProgramSpec),
}

/// A program as a player.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramSpec {
    /// Name in tables.
    pub name: String,
    /// Bot spec as given on the command line.
    pub spec: String,
    /// Hash of its content.
    pub hash: String,
    /// The program to run.
    pub program: Program,
    /// Whether to use the JSON-lines protocol even if the game has a text protocol.
    pub json_lines: bool,
    /// Folder for logs of played games, for games that have logs.
    pub logs_dir: Option<PathBuf>,
    /// Folder that must exist while the program may play.
    pub scratch_dir: Option<Arc<ScratchDir>>,
    /// Whether the program itself isolates calls from each other, for games whose bots are stateless.
    pub isolates_calls: bool,
}

impl PlayerSpec {
    /// Bot spec as given on the command line.
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

/// Names of the seats: the bots' names, numbered if equal.
pub fn seat_names(seats: &[PlayerSpec]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for seat in seats {
        let taken = |name: &str| names.iter().any(|n| n == name);
        let numbered = (2..).map(|i| format!("{}-{i}", seat.name()));
        let name = std::iter::once(seat.name().to_owned()).chain(numbered).find(|name| !taken(name));
        names.push(name.unwrap_or_default());
    }
    names
}

/// Reason why a player cannot play at its seat.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", Diagnostic::from(self.clone()))]
pub struct PlayerSpecError {
    /// Error message.
    pub message: String,
    /// Instruction how to fix it.
    pub hint: String,
}

impl From<PlayerSpecError> for Diagnostic {
    fn from(error: PlayerSpecError) -> Self {
        Self::wrong_use(error.message, error.hint)
    }
}

/// A program that does not load.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{rejection}")]
pub struct BotLoadError {
    /// Seat of the program.
    pub seat: Seat,
    /// Reason.
    pub rejection: Box<BotRejection>,
}

pub(crate) fn check_seat<G: PlayableGame>(seat: Seat, player: &PlayerSpec) -> Result<(), PlayerSpecError> {
    let name = match player {
        PlayerSpec::House(name) => name,
        PlayerSpec::Human => return Ok(()),
        PlayerSpec::Program(one) => {
            let refused = |e: agon_host::ProgramError| PlayerSpecError { message: e.what, hint: e.hint };
            return one.program.locate().map(drop).map_err(refused);
        }
    };
    let info = G::info();
    let role = info.role(seat).name;
    let fitting = || G::bots().iter().filter(|bot| bot.plays(seat)).map(|bot| bot.name);
    let list = || fitting().collect::<Vec<_>>().join(", ");
    match G::bots().iter().find(|bot| bot.name == name) {
        Some(bot) if bot.plays(seat) => Ok(()),
        Some(_) => Err(PlayerSpecError {
            message: format!("seat {seat} plays the {role}; house:{name} cannot play this role"),
            hint: format!("bots for this role: {}", list()),
        }),
        None => {
            let near = closest_name(name, fitting()).map(|near| format!("did you mean house:{near}? "));
            let what = format!("{} has no house bot `{name}`", info.id);
            Err(PlayerSpecError {
                message: what,
                hint: format!("{}available: {}", near.unwrap_or_default(), list()),
            })
        }
    }
}

/// Creates the player. [`check_seat`] has checked it before; an unknown house bot would become a missing person, a crash.
pub(crate) fn seat_player<G: PlayableGame>(
    player: &PlayerSpec,
    game: &G,
    settings: &Settings,
    seat: Seat,
    names: &[String],
) -> SeatedPlayer<G> {
    match player {
        PlayerSpec::Program(one) => SeatedPlayer::Bot(program_player(one, game, settings, seat, names)),
        PlayerSpec::House(name) => G::bots()
            .iter()
            .find(|bot| bot.name == name)
            .map_or(SeatedPlayer::Person, |bot| SeatedPlayer::Bot(Box::new(HousePlayer::new((bot.make)())))),
        PlayerSpec::Human => SeatedPlayer::Person,
    }
}

/// Creates the player of a program. It uses the game's text protocol if there is one and JSON lines are not requested.
pub(crate) fn program_player<G: PlayableGame>(
    one: &ProgramSpec,
    game: &G,
    settings: &Settings,
    seat: Seat,
    names: &[String],
) -> Box<dyn Player<G>> {
    if let Some(write) = G::text_protocol().filter(|_| !one.json_lines) {
        return Box::new(TextPlayer::new(one.program.clone(), write));
    }
    let hello = HelloInfo::new(game, settings, seat, names);
    let mut options = PlayerOptions::of::<G>();
    options.stateless &= !one.isolates_calls;
    Box::new(JsonLinesPlayer::new(one.program.clone(), hello, options))
}

pub(crate) fn seat_record<G: PlayableGame>(player: &PlayerSpec, name: &str) -> SeatRecord {
    SeatRecord { name: name.to_owned(), bot: player.spec(), hash: bot_hash(G::info(), player) }
}

/// Hash of a bot's content for records.
pub fn bot_hash(info: &GameInfo, player: &PlayerSpec) -> String {
    match player {
        PlayerSpec::Program(seat) => seat.hash.clone(),
        // The content of a house bot is this program, so its version is hashed.
        _ => content_hash(format!("{} {} {}", info.id, player.spec(), env!("CARGO_PKG_VERSION")).as_bytes()),
    }
}
