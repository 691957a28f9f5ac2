//! What a Python bot's source says, without running a line of it: `agon_bot/check.py` reads the syntax trees, in the sandbox.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_host::process::{AnswerError, BotConnection as _, LineProcess, shown};
use agon_host::program::Program;
use serde::{Deserialize, Serialize};

use super::BotRejection;

/// Reading a thousand files takes a second or two.
const LIMIT: Duration = Duration::from_secs(30);

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct SourceReport {
    /// How many Python files were read.
    pub files: u64,
    /// Files that could be the bot's: a path seen from the folder, and the class.
    pub candidates: Vec<Candidate>,
    /// The roles it has a class for, in a game with roles.
    pub roles: Vec<String>,
    /// What is wrong, or should be known.
    pub findings: Vec<Finding>,
    /// How many more there are.
    pub left_out: u64,
}

/// A file that could be the bot's.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Candidate {
    /// Seen from the folder.
    pub file: String,
    /// Its class, or nothing for a game of functions.
    pub class: Option<String>,
    /// Whether the two have one name.
    pub same_name: bool,
}

/// Something in a bot's source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// Whether it keeps the bot from being accepted.
    pub bad: bool,
    /// `syntax`, `forbidden`, `import`, `signature` or `advice`.
    pub kind: String,
    /// What.
    pub what: String,
    /// Seen from the folder.
    pub file: String,
    /// From 1.
    pub line: Option<u32>,
    /// From 1.
    pub column: Option<u32>,
    /// What to do.
    pub hint: String,
}

impl From<Finding> for BotRejection {
    fn from(finding: Finding) -> Self {
        Self::new(finding.what, finding.hint).in_file(finding.file).at(finding.line, finding.column)
    }
}

/// Reads the source of a Python bot. `program` is the one that would play it.
pub fn check_source(program: &Program) -> Result<SourceReport, BotRejection> {
    let broke = |what: String| {
        BotRejection::new(format!("its source cannot be looked at: {what}"), "is python3 in order?")
    };
    let mut program = program.clone();
    // Not in the bot's folder: Python would take modules from there in place of its own.
    let Some(package) = program.readable_dirs.iter().find(|path| path.join("agon_bot").is_dir()).cloned()
    else {
        return Err(broke("no package agon_bot".to_owned()));
    };
    let bot = std::mem::replace(&mut program.folder, package);
    program.readable_dirs.push(bot);
    program.writable.clear();
    let Some(module) = program.words.iter_mut().find(|word| *word == "agon_bot") else {
        return Err(broke("not a Python bot".to_owned()));
    };
    "agon_bot.check".clone_into(module);
    let mut process = LineProcess::start(&program, &[], false).map_err(|error| broke(error.to_string()))?;
    process.ask(b"", 1, LIMIT);
    let line = process.wait().1.and_then(|()| process.line()).map_err(|trouble| match trouble {
        AnswerError::Late => broke(format!("not done within {LIMIT:?}")),
        AnswerError::Ended(how) => {
            broke(format!("{how}: {}", process.log().lines().last().unwrap_or_default()))
        }
        AnswerError::TooLong(_) => broke("too much to tell".to_owned()),
        AnswerError::Unasked(line) => broke(format!("wrote without being asked: {line}")),
    })?;
    serde_json::from_slice(&line).map_err(|_| broke(shown(&line)))
}

/// The one file of an unpacked archive that is the bot, where the game's rule is a class named like its file. `None`
/// where that rule finds none: then loading it says what is wrong.
pub fn only_bot(folder: &Path, survey: &SourceReport) -> Result<Option<PathBuf>, BotRejection> {
    let by_rule: Vec<&Candidate> = survey.candidates.iter().filter(|one| one.same_name).collect();
    let bots = if by_rule.is_empty() { survey.candidates.iter().collect() } else { by_rule };
    match bots[..] {
        [] => Ok(None),
        [one] => Ok(Some(folder.join(&one.file))),
        _ => {
            let names = bots.iter().map(|one| one.file.as_str()).collect::<Vec<_>>().join(" and ");
            Err(BotRejection::new(
                format!("the archive holds several bots: {names}"),
                "one bot for each archive",
            ))
        }
    }
}
