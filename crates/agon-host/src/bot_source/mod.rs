//! Checks before a bot's first game: is it acceptable, and which files is it made of?
//!
//! - [`archive`]: a `.zip`, unpacked by strict rules
//! - [`git`]: a bot in a git repository
//! - [`players_yml`]: an entry of a `players.yml`
//! - [`scratch_dir`]: temporary folders of a run
//! - [`overlay_dir`]: a bot's folder with files added to it
//! - [`content_hash`]: the hash of a bot's files
//! - [`source_check`]: static checks of a Python bot's source
//! - [`load_check`]: starts a bot once, to see whether it loads
//!
//! Problems are returned as data; the caller decides how to show them.

pub mod archive;
mod archive_paths;
pub mod content_hash;
pub mod git;
pub mod load_check;
pub mod overlay_dir;
pub mod players_yml;
pub mod scratch_dir;
pub mod source_check;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

pub use load_check::LoadCheck;
pub use scratch_dir::ScratchDir;
pub use source_check::{Finding, SourceReport};

use crate::program::ProgramError;

/// Why a bot is not accepted: the problem, its place, and an instruction.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, thiserror::Error)]
pub struct BotRejection {
    /// The problem.
    pub what: String,
    /// The file, relative to the bot's folder (or the entry of an archive).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The instruction for the author.
    pub hint: String,
    /// The bot's output that led to it, such as a traceback.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub trace: String,
}

impl BotRejection {
    /// A rejection without a place. Untrusted text in it is sanitised.
    pub fn new(what: impl AsRef<str>, hint: impl AsRef<str>) -> Self {
        Self { what: sanitize(what.as_ref()), hint: sanitize(hint.as_ref()), ..Self::default() }
    }

    /// Sets the file.
    #[must_use]
    pub fn in_file(mut self, file: impl AsRef<str>) -> Self {
        self.file = Some(sanitize(file.as_ref()));
        self
    }

    /// Sets line and column, where they are known.
    #[must_use]
    pub const fn at(mut self, line: Option<u32>, column: Option<u32>) -> Self {
        self.line = line;
        self.column = column;
        self
    }

    /// A rejection for an I/O error.
    fn io(doing: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::new(format!("cannot {doing}: {error}"), "check that the file exists and is readable")
            .in_file(path.display().to_string())
    }

    /// File, line and column as text: `MyBot.py, line 3, column 7`.
    pub fn place(&self) -> String {
        let numbers = [("line", self.line), ("column", self.column)];
        let numbered = numbers.into_iter().filter_map(|(name, number)| Some(format!("{name} {}", number?)));
        self.file.clone().into_iter().chain(numbered).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for BotRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place();
        if !place.is_empty() {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.what)?;
        if self.hint.is_empty() { Ok(()) } else { write!(f, "\nhint: {}", self.hint) }
    }
}

impl From<ProgramError> for BotRejection {
    fn from(error: ProgramError) -> Self {
        Self::new(error.what, error.hint)
    }
}

/// Maximum number of characters shown of untrusted text.
const MAX_TEXT_CHARS: usize = 1000;

/// Text on one line, without terminal control characters or changes of the writing direction.
fn sanitize(text: &str) -> String {
    let odd = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut clean = String::new();
    for c in text.chars().take(MAX_TEXT_CHARS) {
        if odd(c) {
            clean.extend(c.escape_default());
        } else {
            clean.push(c);
        }
    }
    clean
}

/// The root folder of a submission: the folder itself, or its only subfolder if there is no Python file beside it (an archive
/// often has one extra level).
pub fn submission_root(folder: &Path) -> PathBuf {
    let mut root = folder.to_owned();
    for _ in 0..archive_paths::MAX_DEPTH {
        let Ok(entries) = std::fs::read_dir(&root) else { break };
        let paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        let named = |path: &Path, name: &str| path.file_name().is_some_and(|own| own == name);
        if paths.iter().any(|path| path.extension().is_some_and(|e| e == "py") && path.is_file()) {
            break;
        }
        let beside = |path: &&PathBuf| {
            let hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with(['.', '_']));
            path.is_dir() && !hidden && !["data", "logs"].iter().any(|name| named(path, name))
        };
        let inner: Vec<&PathBuf> = paths.iter().filter(beside).collect();
        let [only] = inner[..] else { break };
        root.clone_from(only);
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejection_is_displayed_with_place_and_hint() {
        let refusal = BotRejection::new("does not parse", "fix it").in_file("Bot.py").at(Some(3), Some(7));
        assert_eq!(refusal.to_string(), "Bot.py, line 3, column 7: does not parse\nhint: fix it");
        assert_eq!(BotRejection::new("a\u{1b}[2J\u{202e}b", "").to_string(), "a\\u{1b}[2J\\u{202e}b");
    }

    #[test]
    fn submission_root_skips_one_extra_level() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("MyBot");
        std::fs::create_dir_all(inner.join("data")).unwrap();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        std::fs::write(folder.path().join("README"), "").unwrap();
        std::fs::write(inner.join("MyBot.py"), "").unwrap();
        assert_eq!(submission_root(folder.path()), inner);
        std::fs::write(folder.path().join("Top.py"), "").unwrap();
        assert_eq!(submission_root(folder.path()), folder.path());
    }
}
