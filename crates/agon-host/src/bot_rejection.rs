//! Why a bot is not accepted, as data: what, where, and what to do.

use std::fmt;
use std::path::Path;

use agon_core::diagnostic::{Diagnostic, Place, PlaceStyle};
use agon_core::sanitize::short_line;
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
    #[serde(skip_serializing_if = "str::is_empty")]
    pub trace: Box<str>,
    /// Command line that shows the problem, for the author to paste.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub debug: Box<str>,
}

impl BotRejection {
    /// A rejection without a place. Untrusted text in it is sanitised.
    pub fn new(what: impl AsRef<str>, hint: impl AsRef<str>) -> Self {
        Self { what: short_line(what.as_ref()), hint: short_line(hint.as_ref()), ..Self::default() }
    }

    /// Sets the file.
    #[must_use]
    pub fn in_file(mut self, file: impl AsRef<str>) -> Self {
        self.file = Some(short_line(file.as_ref()));
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
        self.position().to_string()
    }

    /// File, line and column.
    fn position(&self) -> Place {
        let Self { file, line, column, .. } = self.clone();
        Place { file, line, column, field: None, style: PlaceStyle::Words }
    }

    /// The error of a command that named this bot: bot, place, problem and the end of its trace.
    pub fn of_bot(&self, bot: &str) -> Diagnostic {
        let path = bot.rsplit_once(':').map_or(bot, |(path, _)| path);
        let names = |path: &str, file: &str| Path::new(path).file_name().is_some_and(|name| name == file);
        let own = |file: &String| names(bot, file) || names(path, file);
        let error = Diagnostic::wrong_use(&self.what, &self.hint);
        let trace: Vec<&str> = self.trace.lines().collect();
        let error = error.details(trace[trace.len().saturating_sub(MAX_TRACE_LINES)..].iter().copied());
        match &self.file {
            // The command line already names the file, so it is not repeated.
            Some(file) if own(file) || bot.starts_with(&format!("{file}#")) || bot == file => {
                let file = if own(file) { bot.to_owned() } else { file.clone() };
                error.at(Place { file: Some(file), ..self.position() })
            }
            Some(_) => error.at(self.position()).about(bot),
            None => error.about(bot),
        }
    }
}

/// The problem without the trace, which may be long and is shown with the bot's name ([`BotRejection::of_bot`]).
impl From<BotRejection> for Diagnostic {
    fn from(rejection: BotRejection) -> Self {
        Self::wrong_use(&rejection.what, &rejection.hint).at(rejection.position())
    }
}

impl fmt::Display for BotRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Diagnostic::from(self.clone()).fmt(f)
    }
}

impl From<ProgramError> for BotRejection {
    fn from(error: ProgramError) -> Self {
        Self::new(error.what, error.hint)
    }
}

/// A rejection for a bot that cannot be found or read. Related errors are rejections of their own.
impl From<&Diagnostic> for BotRejection {
    fn from(error: &Diagnostic) -> Self {
        Self::new(error.summary(), error.hint_text().unwrap_or_default())
    }
}

/// Maximum number of trace lines that are shown when a bot is rejected.
const MAX_TRACE_LINES: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejection_of_a_named_bot_does_not_repeat_its_file() {
        let refusal = BotRejection::new("does not parse", "fix it").in_file("Bot.py").at(Some(3), None);
        let text = |bot: &str| refusal.of_bot(bot).to_string();
        assert_eq!(text("my/Bot.py"), "my/Bot.py, line 3: does not parse\nhint: fix it");
        assert_eq!(text("my/bot.zip"), "my/bot.zip: Bot.py, line 3: does not parse\nhint: fix it");
        let trace = (0..20).map(|i| format!("frame {i}")).collect::<Vec<_>>().join("\n").into();
        let refusal = BotRejection { trace, file: None, line: None, ..refusal };
        let lines: Vec<String> = (8..20).map(|i| format!("  frame {i}\n")).collect();
        let wanted = format!("bot: does not parse\n{}hint: fix it", lines.concat());
        assert_eq!(refusal.of_bot("bot").to_string(), wanted);
    }

    #[test]
    fn rejection_is_displayed_with_place_and_hint() {
        let refusal = BotRejection::new("does not parse", "fix it").in_file("Bot.py").at(Some(3), Some(7));
        assert_eq!(refusal.to_string(), "Bot.py, line 3, column 7: does not parse\nhint: fix it");
        assert_eq!(BotRejection::new("a\u{1b}[2J\u{202e}b", "").to_string(), "a\\u{1b}[2J\\u{202e}b");
    }
}
