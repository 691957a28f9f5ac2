//! Why a bot is not accepted, as data: what, where, and what to do.

use std::fmt;
use std::path::Path;

use serde::Serialize;

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
    pub fn io(doing: &str, path: &Path, error: &std::io::Error) -> Self {
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
pub fn sanitize(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejection_is_displayed_with_place_and_hint() {
        let refusal = BotRejection::new("does not parse", "fix it").in_file("Bot.py").at(Some(3), Some(7));
        assert_eq!(refusal.to_string(), "Bot.py, line 3, column 7: does not parse\nhint: fix it");
        assert_eq!(BotRejection::new("a\u{1b}[2J\u{202e}b", "").to_string(), "a\\u{1b}[2J\\u{202e}b");
    }
}
