//! What is wrong in a competition's file: where, what, and what to do.

use std::cell::RefCell;
use std::ops::Range;

use serde::Serialize;

/// Longer lines are cut where they are quoted.
const QUOTED: usize = 100;

/// One mistake in a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ConfigError {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub hint: String,
    /// The line with a caret under the place, as two lines of text; empty if it is about the file as a whole.
    pub quote: String,
}

impl ConfigError {
    /// With the file's name in front of line and column: `cup.toml:3:1: ...`.
    pub fn in_file(&self, file: &str) -> String {
        let Self { line, column, what, hint, quote } = self;
        let quote = if quote.is_empty() { String::new() } else { format!("{quote}\n") };
        format!("{file}:{line}:{column}: {what}\n{quote}hint: {hint}")
    }
}

/// A place in the file.
pub type Span = Range<usize>;

/// The file as a whole.
pub const WHOLE: Span = 0..0;

/// How far a mistake reaches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ErrorScope {
    /// The text is no TOML there.
    Syntax,
    /// A key or value, wrong by itself.
    Local,
    /// Something is missing, or does not fit with something else. Not believed where the text is broken.
    Whole,
}

struct Note {
    span: Span,
    reach: ErrorScope,
    what: String,
    hint: String,
}

/// Mistakes as they are found.
pub struct ErrorCollector<'t> {
    text: &'t str,
    list: RefCell<Vec<Note>>,
}

impl<'t> ErrorCollector<'t> {
    pub const fn new(text: &'t str) -> Self {
        Self { text, list: RefCell::new(Vec::new()) }
    }

    fn add(&self, span: Span, reach: ErrorScope, what: impl Into<String>, hint: impl Into<String>) {
        let tame = |text: String| text.chars().map(tame).collect();
        let (what, hint) = (tame(what.into()), tame(hint.into()));
        self.list.borrow_mut().push(Note { span, reach, what, hint });
    }

    /// A key or value that is wrong by itself.
    pub fn wrong(&self, span: Span, what: impl Into<String>, hint: impl Into<String>) {
        self.add(span, ErrorScope::Local, what, hint);
    }

    /// Something that is missing, or that does not fit with something else.
    pub fn unfit(&self, span: Span, what: impl Into<String>, hint: impl Into<String>) {
        self.add(span, ErrorScope::Whole, what, hint);
    }

    /// Text that is no TOML.
    pub fn syntax(&self, span: Span, what: impl Into<String>, hint: impl Into<String>) {
        self.add(span, ErrorScope::Syntax, what, hint);
    }

    /// The line of a place, from 1.
    pub fn line(&self, offset: usize) -> usize {
        1 + self.text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
    }

    /// All of them, in the order of the file.
    pub fn finish(self) -> Vec<ConfigError> {
        let mut notes = self.list.into_inner();
        let starts: Vec<usize> =
            std::iter::once(0).chain(self.text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let line_of = |offset: usize| starts.partition_point(|&start| start <= offset).max(1) - 1;
        let broken: Vec<usize> = notes
            .iter()
            .filter(|note| note.reach == ErrorScope::Syntax)
            .map(|note| line_of(note.span.start))
            .collect();
        if !broken.is_empty() {
            let mut told = Vec::new();
            notes.retain(|note| {
                let line = line_of(note.span.start);
                let first = !told.contains(&line);
                match note.reach {
                    // One broken line is one mistake, however often the parser stumbles over it.
                    ErrorScope::Syntax if first => told.push(line),
                    ErrorScope::Local => return !broken.contains(&line),
                    ErrorScope::Syntax | ErrorScope::Whole => return false,
                }
                true
            });
        }
        notes.sort_by_key(|note| note.span.start);
        notes
            .into_iter()
            .map(|note| {
                let line = line_of(note.span.start);
                let start = starts.get(line).copied().unwrap_or_default();
                mistake(self.text, line, start, note)
            })
            .collect()
    }
}

/// What a terminal would obey, and what has another width than it seems, is not shown.
pub fn tame(c: char) -> char {
    match c {
        '\t' => ' ',
        '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            char::REPLACEMENT_CHARACTER
        }
        _ if c.is_control() => char::REPLACEMENT_CHARACTER,
        _ => c,
    }
}

fn mistake(text: &str, line: usize, start: usize, note: Note) -> ConfigError {
    let Note { span, what, hint, .. } = note;
    if span == WHOLE {
        return ConfigError { line: 1, column: 1, what, hint, quote: String::new() };
    }
    let whole = text.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
    let before = text.get(start..span.start).unwrap_or_default().chars().count();
    let end = span.end.min(start + whole.len());
    let wide = text.get(span.start..end).unwrap_or_default().chars().count().max(1);
    let number = (line + 1).to_string();
    let skipped = if before + wide.min(QUOTED / 2) > QUOTED { before - QUOTED / 4 } else { 0 };
    let shown: String = whole.chars().skip(skipped).take(QUOTED).map(tame).collect();
    let carets = "^".repeat(wide.min(QUOTED.saturating_sub(before - skipped)).max(1));
    let quote = format!(
        "  {number} | {shown}\n  {} | {}{carets}",
        " ".repeat(number.len()),
        " ".repeat(before - skipped),
    );
    let quote = quote.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    ConfigError { line: line + 1, column: before + 1, what, hint, quote }
}
