//! A competition, as its file describes it, checked.

mod entrants;
mod toml_reader;
mod validate;
mod game;
mod matches;
mod config_error;
mod normalize;
mod presets;
mod phases;
mod players;
mod read;

use agon_core::{GameInfo, Settings};

use crate::format::Format;

pub use config_error::ConfigError;
pub use normalize::{Change, ChangeImpact, CompetitionProgress, compare};
pub use presets::preset;

/// All there is to know before it starts.
#[derive(Clone, Debug)]
pub struct CompetitionConfig {
    /// Its name, for people.
    pub name: String,
    /// The game's id.
    pub game: &'static str,
    /// The game's settings, for every phase that says nothing else.
    pub settings: Settings,
    /// Who takes part.
    pub entrants: Vec<EntrantSpec>,
    /// In order.
    pub phases: Vec<PhaseConfig>,
    /// Where the secret seed comes from.
    pub seed: SeedSource,
    /// Whether bots in processes of their own must be behind the sandbox.
    pub sandbox: SandboxRule,
    /// At most so many entrants of one contributor.
    pub most_by_contributor: Option<u32>,
}

impl CompetitionConfig {
    /// Whether a phase (from 0) is played on boards that must stay hidden until the seed is shown: everybody plays the same ones, and
    /// the file does not say that they may be seen.
    pub fn hidden(&self, game: &GameInfo, phase: u32) -> bool {
        let phase = self.phases.get(phase as usize);
        let same = matches!(phase.map(|phase| &phase.format), Some(Format::Cross { .. }));
        phase.and_then(|phase| phase.hidden).unwrap_or(same || game.id == "hide-and-seek")
    }
}

/// Somebody who takes part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntrantSpec {
    /// In tables; no two the same.
    pub name: String,
    /// A BOT, as on the command line; paths are read from the file's folder.
    pub bot: BotSource,
    /// Who wrote it.
    pub contributor: Option<String>,
    /// `AI`, `exploit`: shown behind the name.
    pub marks: Vec<Mark>,
    /// The role it plays, in a game with different ones.
    pub role: Option<&'static str>,
}

/// A mark behind a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// One word or two.
    pub mark: String,
    /// What it means here.
    pub note: Option<String>,
}

/// Where a bot is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BotSource {
    /// A BOT.
    Given(String),
    /// A git repository.
    Git {
        /// What `git clone` takes.
        repository: String,
        /// The repository's own if not given.
        branch: Option<String>,
        /// The BOT in it: a path, perhaps with a class.
        path: Option<String>,
    },
}

/// One phase.
#[derive(Clone, Debug)]
pub struct PhaseConfig {
    /// In tables.
    pub name: String,
    /// What is played.
    pub format: Format,
    /// When it is over.
    pub stop: StopRule,
    /// The parts of a match, in a game whose bots live for a match. Otherwise a match is one game.
    pub parts: Vec<MatchPart>,
    /// Settings that differ from fixture to fixture: chosen first letters. Empty: one variant, nothing set.
    pub variants: Vec<Vec<(String, String)>>,
    /// The settings of this phase.
    pub settings: Settings,
    /// Whether to stop before it, so that bots can be handed in anew; the next run starts it.
    pub resubmit: bool,
    /// Whether its boards are a secret until the end, where the file says so.
    pub hidden: Option<bool>,
}

/// When a phase is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopRule {
    /// When all was played.
    Played,
    /// When the order is settled, at the latest after so many times what the format plays.
    Settled {
        /// At most so many times.
        most: u32,
    },
}

/// A part of a match: Connect Five's two phases.
#[derive(Clone, PartialEq, Debug)]
pub struct MatchPart {
    /// At most so many games.
    pub games: u32,
    /// Over when somebody has won so many.
    pub first_to: u32,
    /// Settings of this part.
    pub settings: Vec<(String, String)>,
}

/// Where the secret seed comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SeedSource {
    /// Drawn at the start and kept in the ledger.
    Drawn,
    /// Given in the file.
    Given(String),
    /// In a file of its own, so that the competition's file can be published.
    File(String),
    /// In an environment variable.
    Variable(String),
}

/// What must stand between bots and the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SandboxRule {
    /// The sandbox's required layers.
    Required,
    /// Nothing, said in so many words.
    Off,
}
