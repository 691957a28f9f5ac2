//! Why a bot is not accepted, as data: what, where, and what to do.

use std::fmt;
use std::path::Path;

use serde::Serialize;

use crate::program::ProgramError;

/// Why a bot is not accepted: what, where, and what to do.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, thiserror::Error)]
pub struct BotRejection {
    /// What is wrong.
    pub what: String,
    /// In which file, seen from the bot's folder (or an entry of an archive).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// On which line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// In which column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// What to do.
    pub hint: String,
    /// The bot's own words on the way there, such as a traceback.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub trace: String,
}

impl BotRejection {
    /// Without a place. Strangers' words in it are made harmless.
    pub fn new(what: impl AsRef<str>, hint: impl AsRef<str>) -> Self {
        Self { what: sanitize(what.as_ref()), hint: sanitize(hint.as_ref()), ..Self::default() }
    }

    /// In this file.
    #[must_use]
    pub fn in_file(mut self, file: impl AsRef<str>) -> Self {
        self.file = Some(sanitize(file.as_ref()));
        self
    }

    /// On this line, where it is known.
    #[must_use]
    pub const fn at(mut self, line: Option<u32>, column: Option<u32>) -> Self {
        self.line = line;
        self.column = column;
        self
    }

    /// The machine said no.
    pub fn io(doing: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::new(format!("cannot {doing}: {error}"), "is it there, and may you read it?")
            .in_file(path.display().to_string())
    }

    /// File, line and column in words: `MyBot.py, line 3, column 7`.
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

/// The longest text of a stranger's that is shown.
const LONGEST: usize = 1000;

/// Text on one line, nothing in it that a terminal would obey or that turns the direction of writing.
pub fn sanitize(text: &str) -> String {
    let odd = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut clean = String::new();
    for c in text.chars().take(LONGEST) {
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
    fn a_refusal_reads_as_a_sentence() {
        let refusal = BotRejection::new("does not parse", "mend it").in_file("Bot.py").at(Some(3), Some(7));
        assert_eq!(refusal.to_string(), "Bot.py, line 3, column 7: does not parse\nhint: mend it");
        assert_eq!(BotRejection::new("a\u{1b}[2J\u{202e}b", "").to_string(), "a\\u{1b}[2J\\u{202e}b");
    }
}
