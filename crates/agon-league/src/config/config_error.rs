//! Errors in a competition file: position, message and hint.

use std::cell::RefCell;
use std::ops::Range;

use agon_core::sanitize::replace_char;
use agon_core::{Diagnostic, Place};
use serde::Serialize;

/// Maximum length of a quoted line; longer lines are cut.
const MAX_QUOTED_CHARS: usize = 100;

/// One error in a competition file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ConfigError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The error message.
    pub what: String,
    /// How to fix it.
    pub hint: String,
    /// The line with carets under the position, as two lines of text. Empty if the error is about the whole file.
    pub quote: String,
}

impl ConfigError {
    /// Message with file name, line and column: `cup.toml:3:1: ...`.
    pub fn describe(&self, file: &str) -> String {
        self.diagnostic(file).to_string()
    }

    /// The error as a value.
    pub fn diagnostic(&self, file: &str) -> Diagnostic {
        Diagnostic::wrong_use(&self.what, &self.hint)
            .at(Place::file(file).line(self.line).column(self.column))
            .quote(self.quote.lines())
    }
}

/// Byte range in the file.
pub type Span = Range<usize>;

/// Span for errors about the whole file.
pub const WHOLE_FILE: Span = 0..0;

/// What an error depends on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ErrorScope {
    /// The text is not valid TOML.
    Syntax,
    /// A key or value is wrong on its own.
    Local,
    /// Something is missing or contradicts something else. Dropped if the file has syntax errors, which may be the cause.
    Global,
}

struct CollectedError {
    span: Span,
    scope: ErrorScope,
    what: String,
    hint: String,
}

/// Collects errors while a file is read.
pub struct ErrorCollector<'t> {
    text: &'t str,
    errors: RefCell<Vec<CollectedError>>,
}

impl<'t> ErrorCollector<'t> {
    pub const fn new(text: &'t str) -> Self {
        Self { text, errors: RefCell::new(Vec::new()) }
    }

    fn add(&self, span: Span, scope: ErrorScope, what: impl Into<String>, hint: impl Into<String>) {
        let sanitize = |text: String| text.chars().map(replace_char).collect();
        let (what, hint) = (sanitize(what.into()), sanitize(hint.into()));
        self.errors.borrow_mut().push(CollectedError { span, scope, what, hint });
    }

    /// Adds an error about a key or value that is wrong on its own.
    pub fn local_error(&self, span: Span, what: impl Into<String>, hint: impl Into<String>) {
        self.add(span, ErrorScope::Local, what, hint);
    }

    /// Adds an error about something missing or contradictory.
    pub fn global_error(&self, span: Span, what: impl Into<String>, hint: impl Into<String>) {
        self.add(span, ErrorScope::Global, what, hint);
    }

    /// Adds an error about text that is not valid TOML.
    pub fn syntax_error(&self, span: Span, what: impl Into<String>, hint: impl Into<String>) {
        self.add(span, ErrorScope::Syntax, what, hint);
    }

    /// Line of a byte offset, from 1.
    pub fn line_number(&self, offset: usize) -> usize {
        1 + self.text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
    }

    /// All errors in the order of the file.
    pub fn finish(self) -> Vec<ConfigError> {
        let mut errors = self.errors.into_inner();
        let starts: Vec<usize> =
            std::iter::once(0).chain(self.text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let line_of = |offset: usize| starts.partition_point(|&start| start <= offset).max(1) - 1;
        let broken: Vec<usize> = errors
            .iter()
            .filter(|error| error.scope == ErrorScope::Syntax)
            .map(|error| line_of(error.span.start))
            .collect();
        if !broken.is_empty() {
            let mut reported = Vec::new();
            errors.retain(|error| {
                let line = line_of(error.span.start);
                let first = !reported.contains(&line);
                match error.scope {
                    // Report a broken line once, even if the parser complains several times.
                    ErrorScope::Syntax if first => reported.push(line),
                    ErrorScope::Local => return !broken.contains(&line),
                    ErrorScope::Syntax | ErrorScope::Global => return false,
                }
                true
            });
        }
        errors.sort_by_key(|error| error.span.start);
        errors
            .into_iter()
            .map(|error| {
                let line = line_of(error.span.start);
                let start = starts.get(line).copied().unwrap_or_default();
                to_config_error(self.text, line, start, error)
            })
            .collect()
    }
}

fn to_config_error(text: &str, line: usize, start: usize, error: CollectedError) -> ConfigError {
    let CollectedError { span, what, hint, .. } = error;
    if span == WHOLE_FILE {
        return ConfigError { line: 1, column: 1, what, hint, quote: String::new() };
    }
    let whole = text.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
    let before = text.get(start..span.start).unwrap_or_default().chars().count();
    let end = span.end.min(start + whole.len());
    let wide = text.get(span.start..end).unwrap_or_default().chars().count().max(1);
    let number = (line + 1).to_string();
    let skipped = if before + wide.min(MAX_QUOTED_CHARS / 2) > MAX_QUOTED_CHARS {
        before - MAX_QUOTED_CHARS / 4
    } else {
        0
    };
    let shown: String = whole.chars().skip(skipped).take(MAX_QUOTED_CHARS).map(replace_char).collect();
    let carets = "^".repeat(wide.min(MAX_QUOTED_CHARS.saturating_sub(before - skipped)).max(1));
    let quote = format!(
        "  {number} | {shown}\n  {} | {}{carets}",
        " ".repeat(number.len()),
        " ".repeat(before - skipped),
    );
    let quote = quote.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    ConfigError { line: line + 1, column: before + 1, what, hint, quote }
}
