//! Static checks of a Python bot's source: `agon_bot/check.py` parses it in the sandbox, without running it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_host::process::{AnswerError, BotConnection as _, LineProcess, quote_line};
use agon_host::program::Program;
use serde::{Deserialize, Serialize};

use super::BotRejection;

/// Timeout of the check. A thousand files take a second or two.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30);

/// Result of the check.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct SourceReport {
    /// Number of Python files that were parsed.
    pub files: u64,
    /// Files that may be the bot.
    pub candidates: Vec<Candidate>,
    /// The roles that have a class, in a game with roles.
    pub roles: Vec<String>,
    /// Errors and warnings.
    pub findings: Vec<Finding>,
    /// Number of further findings that were left out.
    pub left_out: u64,
}

/// A file that may be the bot.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Candidate {
    /// Path relative to the folder.
    pub file: String,
    /// Its class; `None` in a game of functions.
    pub class: Option<String>,
    /// Whether file and class have the same name.
    pub same_name: bool,
}

/// One error or warning.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// Whether the bot is rejected for it.
    pub bad: bool,
    /// `syntax`, `forbidden`, `import`, `signature` or `advice`.
    pub kind: String,
    /// The problem.
    pub what: String,
    /// Path relative to the folder.
    pub file: String,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// The instruction for the author.
    pub hint: String,
}

impl From<Finding> for BotRejection {
    fn from(finding: Finding) -> Self {
        Self::new(finding.what, finding.hint).in_file(finding.file).at(finding.line, finding.column)
    }
}

/// Checks the source of a Python bot. `program` is the program that would play it. Imports of `forbidden_libraries` are errors.
pub fn check_source(program: &Program, forbidden_libraries: &[String]) -> Result<SourceReport, BotRejection> {
    let broke = |what: String| {
        BotRejection::new(format!("cannot check its source: {what}"), "check that python3 works")
    };
    let mut program = program.clone();
    // Not in the bot's folder: Python would import modules from there instead of its own.
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
    program.words.extend(forbidden_libraries.iter().cloned());
    let mut process = LineProcess::start(&program, &[], false).map_err(|error| broke(error.to_string()))?;
    process.ask(b"", 1, CHECK_TIMEOUT);
    let line = process.wait().1.and_then(|()| process.line()).map_err(|trouble| match trouble {
        AnswerError::Late => broke(format!("not finished within {CHECK_TIMEOUT:?}")),
        AnswerError::Ended(how) => {
            broke(format!("{how}: {}", process.log().lines().last().unwrap_or_default()))
        }
        AnswerError::TooLong(_) => broke("the report is too long".to_owned()),
        AnswerError::Unsolicited(line) => broke(format!("wrote without being asked: {line}")),
    })?;
    serde_json::from_slice(&line).map_err(|_| broke(quote_line(&line)))
}

/// The one file of an unpacked archive that is the bot, in games where the class is named like its file. `None` if there is no
/// such file; then the load check says what is wrong.
pub fn only_bot(folder: &Path, report: &SourceReport) -> Result<Option<PathBuf>, BotRejection> {
    let by_rule: Vec<&Candidate> = report.candidates.iter().filter(|one| one.same_name).collect();
    let bots = if by_rule.is_empty() { report.candidates.iter().collect() } else { by_rule };
    match bots[..] {
        [] => Ok(None),
        [one] => Ok(Some(folder.join(&one.file))),
        _ => {
            let names = bots.iter().map(|one| one.file.as_str()).collect::<Vec<_>>().join(" and ");
            Err(BotRejection::new(
                format!("the archive holds several bots: {names}"),
                "put one bot into each archive",
            ))
        }
    }
}
