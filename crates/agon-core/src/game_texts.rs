//! Texts and files that a game ships for authors and organisers.

/// Competition rules of a game that are not its tables.
#[derive(Clone, Copy, Debug)]
pub struct CompetitionRules {
    /// Competition file of the game's document, to be read, run and edited. `FILE` in it stands for the file's name.
    pub preset: &'static str,
    /// Short competition of `agon demo`, with house bots as entrants. `SEED` in it stands for the seed.
    pub demo: &'static str,
    /// Competition of `agon init --short`, for an author's own bot against a few house bots. It is played in seconds, also by a bot that
    /// starts slowly. `FILE` in it stands for the file's name.
    pub short: &'static str,
    /// Whether all entrants play the same seeds. Games then stay hidden until the seed is published.
    pub same_seeds_for_all: bool,
    /// Whether finished games are published for bots to learn from: as a download, and beside the bots as [`PUBLISHED_HISTORY`].
    pub publishes_history: bool,
}

/// Name under which the matches of earlier phases lie beside a bot, in games that publish them. It belongs to the organiser: an
/// author's own file is never replaced, so a bot that has a file of this name is rejected.
pub const PUBLISHED_HISTORY: &str = "published_history.json";

/// Texts for authors, as Markdown.
#[derive(Clone, Copy, Debug)]
pub struct GameTexts {
    /// The rules.
    pub rules: &'static str,
    /// The bot API.
    pub api: &'static str,
}

/// Ids of the languages in which every game has a starter.
pub const STARTER_LANGUAGES: [&str; 5] = ["python", "rust", "cpp", "java", "js"];

/// Bots that play legally, for authors to start from.
#[derive(Clone, Copy, Debug)]
pub struct Starters {
    /// What the game is about, for the README.
    pub about: &'static str,
    /// How a Python bot is asked. `None` if the game has no Python API.
    pub asked_python: Option<&'static str>,
    /// How a program is asked.
    pub asked_lines: &'static str,
    /// What to try next.
    pub next: &'static str,
    /// The author's files, by language. A language may have several; the first one has the bot's strategy.
    pub bots: &'static [StarterBot],
    /// Further files of every starter.
    pub files: &'static [StarterFile],
    /// Arguments of `agon play GAME` to try the bot: the first to see that all is well, the last to be watched.
    pub opponents: &'static [&'static str],
}

/// The author's file of a starter. `StarterBot`, `starter_bot` and `starter-bot` are replaced by the bot's name.
#[derive(Clone, Copy, Debug)]
pub struct StarterBot {
    /// Id of the language, as in `agon new --lang`.
    pub language: &'static str,
    /// Name of the file.
    pub file: &'static str,
    /// Content of the file.
    pub text: &'static str,
}

/// A further file of a starter.
#[derive(Clone, Copy, Debug)]
pub struct StarterFile {
    /// Name of the file.
    pub name: &'static str,
    /// Content of the file.
    pub text: &'static str,
    /// Purpose of the file, for the README.
    pub about: &'static str,
}
