//! The competition file: parsed and validated.

mod config_error;
mod deadline;
pub mod edit;
mod entrants;
pub mod form;
mod game;
mod matches;
mod normalize;
mod phases;
mod players;
mod presentation;
mod read;
pub mod self_descriptions;
mod toml_reader;
mod validate;

use agon_core::{GameInfo, Settings};

use crate::format::Format;

pub use config_error::ConfigError;
pub use deadline::Deadline;
pub use normalize::{ChangeImpact, CompetitionProgress, ConfigChange, compare_configs};
pub use presentation::{
    MAX_ABOUT_CHARS, MAX_PRIZE_CHARS, MAX_PRIZES, MAX_SPONSORS, Presentation, Sponsor, is_picture_name,
};

/// A parsed competition file.
#[derive(Clone, Debug)]
pub struct CompetitionConfig {
    /// Display name.
    pub name: String,
    /// The game's id.
    pub game: &'static str,
    /// Game settings of all phases that do not override them.
    pub settings: Settings,
    /// Entrants in the order of the file.
    pub entrants: Vec<EntrantSpec>,
    /// Phases in the order of the file.
    pub phases: Vec<PhaseConfig>,
    /// Source of the secret seed.
    pub seed: SeedSource,
    /// Whether bots that run as processes must be sandboxed.
    pub sandbox: SandboxRule,
    /// How the CPU time of bots must be measured.
    pub meter: MeterRule,
    /// Maximum number of entrants per contributor.
    pub max_bots_per_contributor: Option<u32>,
    /// Modules that Python bots may not import, by their full names.
    pub forbidden_libraries: Vec<String>,
    /// List of Python packages that bots may use, relative to the file's folder.
    pub packages: Option<String>,
    /// Maximum size of a `.zip` in MiB, if the file says so.
    pub max_zip_mib: Option<u32>,
    /// Until when bots are accepted before the first phase.
    pub deadline: Option<Deadline>,
    /// From when on only organisers see new results, until they reveal them.
    pub freeze: Option<Deadline>,
    /// What pages show about the competition.
    pub presentation: Presentation,
}

impl CompetitionConfig {
    /// Until when bots are accepted before a phase (from 0). The deadline of the competition is that of its first phase, unless this
    /// phase has its own.
    pub fn deadline_before(&self, phase: u32) -> Option<&Deadline> {
        let own = self.phases.get(phase as usize).and_then(|phase| phase.deadline.as_ref());
        own.or_else(|| self.deadline.as_ref().filter(|_| phase == 0))
    }

    /// Whether the games of a phase (from 0) stay hidden until the seed is published. By default they do if all entrants play the same
    /// seeds.
    pub fn is_phase_hidden(&self, game: &GameInfo, phase: u32) -> bool {
        let phase = self.phases.get(phase as usize);
        let same = matches!(phase.map(|phase| &phase.format), Some(Format::Cross { .. }));
        phase.and_then(|phase| phase.hidden).unwrap_or(same || game.competition.same_seeds_for_all)
    }
}

/// One `[[entrant]]`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntrantSpec {
    /// Unique name.
    pub name: String,
    /// Whether the file gives the name. Otherwise it is derived from the bot, and tables may show what the bot says.
    pub name_given: bool,
    /// The bot. Paths are relative to the file's folder.
    pub bot: EntrantBot,
    /// Author of the bot.
    pub contributor: Option<String>,
    /// Marks shown after the name: `AI`, `exploit`.
    pub marks: Vec<EntrantMark>,
    /// Role, in a game with several.
    pub role: Option<&'static str>,
}

/// A mark after a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntrantMark {
    /// One or two words.
    pub mark: String,
    /// Explanation of the mark.
    pub note: Option<String>,
}

/// The bot of an entrant, as the file names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EntrantBot {
    /// A bot spec, as on the command line.
    Spec(String),
    /// A git repository.
    Git {
        /// URL or path for `git clone`.
        repository: String,
        /// Branch; the default branch if `None`.
        branch: Option<String>,
        /// Bot spec inside the repository: a path, optionally with a class.
        path: Option<String>,
    },
}

impl EntrantBot {
    /// Name of the house bot, if it is one.
    pub fn house_name(&self) -> Option<&str> {
        match self {
            Self::Spec(bot) => bot.strip_prefix("house:"),
            Self::Git { .. } => None,
        }
    }
}

/// One `[[phase]]`.
#[derive(Clone, Debug)]
pub struct PhaseConfig {
    /// Display name.
    pub name: String,
    /// How fixtures are made.
    pub format: Format,
    /// When the phase ends.
    pub stop: StopRule,
    /// Parts of a match, in games whose bots live for a match. Otherwise a match is one game.
    pub parts: Vec<MatchPart>,
    /// Settings that differ between fixtures: first letters. Empty means one variant without extra settings.
    pub variants: Vec<Vec<(String, String)>>,
    /// Game settings of this phase.
    pub settings: Settings,
    /// Whether to stop before this phase so that bots can be resubmitted. The next run starts it.
    pub resubmit: bool,
    /// Whether games stay hidden until the end, if the file says so.
    pub hidden: Option<bool>,
    /// Until when new versions are accepted before this phase.
    pub deadline: Option<Deadline>,
    /// Whether only organisers see new results from the start of this phase on, until they reveal them.
    pub freeze: bool,
}

/// When a phase ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopRule {
    /// After all matches of the format.
    Played,
    /// When the order is settled.
    Settled {
        /// Upper limit, as a multiple of the matches of the format.
        most: u32,
    },
}

/// A part of a match (Connect Five has two).
#[derive(Clone, PartialEq, Debug)]
pub struct MatchPart {
    /// Maximum number of games.
    pub games: u32,
    /// Wins that end the part.
    pub first_to: u32,
    /// Settings of this part.
    pub settings: Vec<(String, String)>,
}

/// Source of the secret seed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SeedSource {
    /// Drawn at the start and stored in the ledger.
    Drawn,
    /// Written in the competition file.
    Given(String),
    /// In a separate file, so that the competition file can be published.
    File(String),
    /// In an environment variable.
    Variable(String),
}

/// Sandbox requirement of a competition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SandboxRule {
    /// All required layers of the sandbox.
    Required,
    /// No sandbox; must be chosen explicitly.
    Off,
}

/// Requirement of a competition for how the CPU time of bots that run as processes is measured.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum MeterRule {
    /// By a cgroup where one can be created, otherwise by the clock of the bot's process, which then can start no other.
    #[default]
    Any,
    /// By a cgroup, otherwise nothing is played.
    Cgroup,
}
