//! How bots of a game are written, run, checked and submitted.

/// What a Python bot of a game is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PythonApi {
    /// A function in a file with a fixed name.
    Function,
    /// One class, in any file of the submission.
    Class,
    /// A class for each role, named after the role.
    ClassPerRole,
}

/// A file that every program of a game finds in its folder.
#[derive(Clone, Copy, Debug)]
pub struct BotFile {
    /// Name in the bot's folder.
    pub name: &'static str,
    /// Setting of kind [`crate::SettingKind::Asset`] that replaces the content.
    pub setting: &'static str,
    /// Content of the file: the built-in one, or that of the asset. `None` if the asset is invalid.
    pub content: fn(asset: Option<&[u8]>) -> Option<Vec<u8>>,
}

/// How bots of a game are written, run, checked and submitted.
#[derive(Clone, Copy, Debug)]
pub struct BotRules {
    /// The Python API. `None` if Python bots are started by a command, like programs in other languages.
    pub python: Option<PythonApi>,
    /// Name of the game's own text protocol in an `agon.toml`. `None` if programs use the JSON-lines protocol only.
    pub text_protocol: Option<&'static str>,
    /// Whether the game's own tools list bots in a `players.yml`.
    pub players_yml: bool,
    /// Whether many bots answer at the same time, and none of them may start threads or processes. The host then asks all of
    /// them before it waits for the first answer.
    pub asked_together: bool,
    /// The method whose class gives a Python bot its name in tables. `None` if bots are named after their files.
    pub named_class: Option<&'static str>,
    /// Whether a bot may start other processes. If not, it may still start threads, whose time is charged.
    pub may_start_processes: bool,
    /// Whether a bot has a folder `data/`, which is kept between matches, and a folder `logs/` with its finished games.
    pub keeps_data: bool,
    /// Whether tables show the name and the author that a bot gives itself, unless the competition file has them.
    pub names_itself: bool,
    /// Whether the tables rank by thinking time. Then the cost of an empty answer is measured in every game and taken out of
    /// the times of Python bots. The bot that gives such answers is `agon_bot/games/GAME/empty_bot.py`.
    pub measures_empty_answers: bool,
    /// File that programs find in their folder.
    pub file: Option<BotFile>,
    /// Settings (name and value) that shorten the trial game of a check. Empty if a game is short anyway.
    pub check_settings: &'static [(&'static str, &'static str)],
    /// Requirements for a submission, one sentence or two each. Code is in backticks.
    pub requirements: &'static [&'static str],
}
