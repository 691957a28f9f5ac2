//! One error as a value: class, message, place and hints. The command line, the log and the server render it at the edge.

use std::fmt;
use std::io;
use std::ops::Deref;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error_kind::ErrorKind;
use crate::record::RecordError;

/// Reason why an operation failed. Its parts are boxed, so that a `Result` with it stays small.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Diagnostic(Box<DiagnosticParts>);

/// The parts of a [`Diagnostic`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DiagnosticParts {
    /// Class of the error.
    pub kind: ErrorKind,
    /// What the error is about, such as an entrant or a bot. The text form begins with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Where the error is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The problem, without place and hints. Empty if the command has already printed its result.
    pub message: String,
    /// Lines that explain the problem, such as the end of a bot's trace. The text form indents them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// Lines of the file with the place marked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quote: Vec<String>,
    /// Instructions how to fix it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// Further errors that were found at the same time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Diagnostic>,
}

impl Deref for Diagnostic {
    type Target = DiagnosticParts;

    fn deref(&self) -> &DiagnosticParts {
        &self.0
    }
}

/// Where an error is.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Place {
    /// File, as the user named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in characters, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Field of a request or of a form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// How the text form writes line and column.
    #[serde(default, skip_serializing_if = "PlaceStyle::is_default")]
    pub style: PlaceStyle,
}

/// How the text form of a place is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceStyle {
    /// `cup.toml:3:1`
    #[default]
    Colons,
    /// `MyBot.py, line 3, column 1`
    Words,
}

impl PlaceStyle {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Place {
    /// A file.
    pub fn file(file: impl Into<String>) -> Self {
        Self { file: Some(file.into()), ..Self::default() }
    }

    /// A field of a request or of a form.
    pub fn field(field: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..Self::default() }
    }

    /// Sets the line.
    #[must_use]
    pub fn line(mut self, line: usize) -> Self {
        self.line = u32::try_from(line).ok();
        self
    }

    /// Sets the column.
    #[must_use]
    pub fn column(mut self, column: usize) -> Self {
        self.column = u32::try_from(column).ok();
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = (self.line, self.column);
        let number = |name: &str, n: Option<u32>| match self.style {
            PlaceStyle::Colons => n.map(|n| n.to_string()),
            PlaceStyle::Words => n.map(|n| format!("{name} {n}")),
        };
        let parts = [self.file.clone(), number("line", line), number("column", column)];
        let between = match self.style {
            PlaceStyle::Colons => ":",
            PlaceStyle::Words => ", ",
        };
        let in_file = parts.into_iter().flatten().collect::<Vec<_>>().join(between);
        f.write_str(&in_file)?;
        match &self.field {
            Some(field) if in_file.is_empty() => f.write_str(field),
            Some(field) => write!(f, ": {field}"),
            None => Ok(()),
        }
    }
}

/// A line of the text form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TextLine {
    /// The problem, or a detail.
    Problem(String),
    /// A line that is printed as it is: a line of a file, or a hint in a text that another program has already rendered.
    Quote(String),
    /// An instruction, without the word `hint:`.
    Hint(String),
}

impl TextLine {
    /// A line of a message. The message may contain the text form of another error, such as the one that a worker has sent.
    fn of_problem(line: String) -> Self {
        if line.trim_start().starts_with("hint: ") { Self::Quote(line) } else { Self::Problem(line) }
    }
}

impl fmt::Display for TextLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Problem(line) | Self::Quote(line) => f.write_str(line),
            Self::Hint(line) => write!(f, "hint: {line}"),
        }
    }
}

impl Diagnostic {
    /// An error without a place and without a hint.
    pub fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self(Box::new(DiagnosticParts {
            kind,
            subject: None,
            place: None,
            message: message.to_string(),
            details: Vec::new(),
            quote: Vec::new(),
            hints: Vec::new(),
            related: Vec::new(),
        }))
    }

    /// An error that the user can fix, with a hint.
    pub fn wrong_use(what: impl fmt::Display, hint: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Usage, what).hint(hint)
    }

    /// A failure of the disk, the network, a server or this program.
    pub fn internal(what: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Internal, what)
    }

    /// The answer is no.
    pub fn rejected(what: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Rejected, what)
    }

    /// The answer is no, and the command has already printed it.
    pub fn already_shown() -> Self {
        Self::rejected("")
    }

    /// An I/O error.
    pub fn io(doing: impl fmt::Display, path: &Path, error: &io::Error, hint: &str) -> Self {
        Self::internal(format!("cannot {doing} {}: {error}", path.display())).hint(hint)
    }

    /// An I/O error at a path that the user named. A path that does not exist, is of the wrong kind or may not be used is wrong
    /// use; a disk that is full or broken is not.
    pub fn named_path(doing: impl fmt::Display, path: &Path, error: &io::Error, hint: &str) -> Self {
        use io::ErrorKind::{AlreadyExists, IsADirectory, NotADirectory, NotFound, PermissionDenied};
        let wrong_path = matches!(
            error.kind(),
            AlreadyExists | IsADirectory | NotADirectory | NotFound | PermissionDenied
        );
        Self::io(doing, path, error, hint).of_kind(ErrorKind::usage_if(wrong_path))
    }

    /// A record file that cannot be parsed: another file or a newer version is wrong use, an altered record is a no.
    pub fn record(path: &Path, error: &RecordError) -> Self {
        let hint = match error {
            RecordError::FutureVersion { .. } => "update Agon",
            RecordError::NotARecord => "use a file written by `agon play ... --record FILE`",
            _ => "get a new copy of the file; a changed record proves nothing",
        };
        let kind = match error {
            RecordError::FutureVersion { .. } | RecordError::NotARecord => ErrorKind::Usage,
            RecordError::Truncated { .. } | RecordError::Altered { .. } | RecordError::Malformed { .. } => {
                ErrorKind::Rejected
            }
        };
        Self::new(kind, error).at(Place::file(path.display().to_string())).hint(hint)
    }

    /// Several errors as one. `None` if there are none. The first one gives the class.
    pub fn several(errors: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut errors = errors.into_iter();
        let mut first = errors.next()?;
        first.0.related.extend(errors);
        Some(first)
    }

    /// Adds a hint. An empty one is left out.
    #[must_use]
    pub fn hint(mut self, hint: impl fmt::Display) -> Self {
        let hint = hint.to_string();
        if !hint.is_empty() {
            self.0.hints.push(hint);
        }
        self
    }

    /// Sets the place.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.0.place = Some(place);
        self
    }

    /// Says what this error is about, in front of what is already said.
    #[must_use]
    pub fn about(mut self, subject: impl fmt::Display) -> Self {
        self.0.subject = Some(match self.0.subject.take() {
            Some(inner) => format!("{subject}: {inner}"),
            None => subject.to_string(),
        });
        self
    }

    /// Adds lines that explain the problem.
    #[must_use]
    pub fn details<L: Into<String>>(mut self, lines: impl IntoIterator<Item = L>) -> Self {
        self.0.details.extend(lines.into_iter().map(Into::into));
        self
    }

    /// Adds lines of the file.
    #[must_use]
    pub fn quote<L: Into<String>>(mut self, lines: impl IntoIterator<Item = L>) -> Self {
        self.0.quote.extend(lines.into_iter().map(Into::into));
        self
    }

    /// Adds another error that was found at the same time.
    #[must_use]
    pub fn with(mut self, other: Self) -> Self {
        self.0.related.push(other);
        self
    }

    /// The same error with another class.
    #[must_use]
    pub fn of_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Whether the command has already printed everything.
    pub fn is_already_shown(&self) -> bool {
        self.message.is_empty()
    }

    /// Subject, place and message, without details, hints and related errors.
    pub fn summary(&self) -> String {
        let place = self.place.as_ref().map(ToString::to_string).filter(|place| !place.is_empty());
        let before = self.subject.iter().cloned().chain(place);
        before.chain([self.message.clone()]).collect::<Vec<_>>().join(": ")
    }

    /// The text form of this error without hints and related errors.
    pub fn text_without_hints(&self) -> String {
        let lines =
            self.lines_without_related().into_iter().filter(|line| !matches!(line, TextLine::Hint(_)));
        lines.map(|line| line.to_string()).collect::<Vec<_>>().join("\n")
    }

    /// All hints of this error as one text, without related errors.
    pub fn hint_text(&self) -> Option<String> {
        (!self.hints.is_empty()).then(|| self.hints.join("\n"))
    }

    /// This error and the related ones.
    pub fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.related.iter().flat_map(|error| error.boxed_all()))
    }

    fn boxed_all(&self) -> Box<dyn Iterator<Item = &Self> + '_> {
        Box::new(self.all())
    }

    /// The lines of the text form.
    pub fn text_lines(&self) -> Vec<TextLine> {
        self.all().flat_map(Self::lines_without_related).collect()
    }

    fn lines_without_related(&self) -> Vec<TextLine> {
        let own = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let mut lines: Vec<TextLine> = own(&self.summary()).into_iter().map(TextLine::of_problem).collect();
        lines.extend(self.details.iter().map(|line| TextLine::of_problem(format!("  {line}"))));
        lines.extend(self.quote.iter().cloned().map(TextLine::Quote));
        for hint in &self.hints {
            let mut hint = own(hint).into_iter();
            lines.extend(hint.next().map(TextLine::Hint));
            lines.extend(hint.map(TextLine::Problem));
        }
        lines
    }
}

/// The text form: the problem, then each hint in a separate line that begins with `hint:`.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, line) in self.text_lines().iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{line}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

impl From<io::Error> for Diagnostic {
    fn from(error: io::Error) -> Self {
        Self::internal(error).hint("check that the output file or pipe is still open")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;

    use super::*;

    #[test]
    fn text_form_has_place_quote_and_hint() {
        let place = Place::file("cup.toml").line(3).column(7);
        let error = Diagnostic::wrong_use("`games` is not a number", "write games = 10")
            .at(place)
            .quote(["  3 | games = x", "    |         ^"]);
        assert_eq!(
            error.to_string(),
            "cup.toml:3:7: `games` is not a number\n  3 | games = x\n    |         ^\nhint: write games = 10"
        );
        assert_eq!(error.summary(), "cup.toml:3:7: `games` is not a number");
    }

    #[test]
    fn text_form_has_subject_place_in_words_and_details() {
        let place = Place { style: PlaceStyle::Words, ..Place::file("Bot.py").line(2) };
        let error = Diagnostic::wrong_use("does not load", "").at(place).details(["NameError: x"]);
        let error = error.about("bot.zip").about("entrant Ada");
        assert_eq!(error.to_string(), "entrant Ada: bot.zip: Bot.py, line 2: does not load\n  NameError: x");
        assert_eq!(error.hint_text(), None);
    }

    #[test]
    fn several_errors_are_written_one_after_the_other() {
        let errors = ["a", "b", "c"].map(|name| Diagnostic::wrong_use(name, format!("fix {name}")));
        let error = Diagnostic::several(errors).unwrap().about("x");
        assert_eq!(error.to_string(), "x: a\nhint: fix a\nb\nhint: fix b\nc\nhint: fix c");
        assert_eq!(Diagnostic::several([]), None);
        let kinds: Vec<TextLine> = error.text_lines();
        assert_eq!(kinds[0], TextLine::Problem("x: a".to_owned()));
        assert_eq!(kinds[1], TextLine::Hint("fix a".to_owned()));
    }

    #[test]
    fn hint_in_a_message_that_arrived_as_text_is_not_a_problem_line() {
        let sent = Diagnostic::wrong_use("no Python", "install it").to_string();
        let error = Diagnostic::internal(&sent).details(sent.lines());
        let lines = error.text_lines();
        let quote = |line: &str| TextLine::Quote(line.to_owned());
        assert_eq!((&lines[1], &lines[3]), (&quote("hint: install it"), &quote("  hint: install it")));
        assert_eq!(error.to_string(), "no Python\nhint: install it\n  no Python\n  hint: install it");
        assert_eq!(error.text_without_hints(), error.to_string());
    }

    #[test]
    fn field_is_part_of_the_place() {
        let error = Diagnostic::wrong_use("too long", "").at(Place::field("name"));
        assert_eq!(error.to_string(), "name: too long");
        let both = Place { field: Some("name".to_owned()), ..Place::file("a.toml").line(1) };
        assert_eq!(both.to_string(), "a.toml:1: name");
    }

    #[test]
    fn json_form_leaves_out_what_is_empty() {
        let error = Diagnostic::wrong_use("wrong", "fix it").at(Place::file("a.toml").line(3));
        let expected = json!({
            "kind": "usage",
            "place": {"file": "a.toml", "line": 3},
            "message": "wrong",
            "hints": ["fix it"],
        });
        assert_eq!(serde_json::to_value(&error).unwrap(), expected);
        assert_eq!(serde_json::from_value::<Diagnostic>(expected).unwrap(), error);
        let bare = serde_json::to_value(Diagnostic::internal("broken")).unwrap();
        assert_eq!(bare, json!({"kind": "internal", "message": "broken"}));
    }

    #[test]
    fn shown_error_has_no_text() {
        let error = Diagnostic::already_shown();
        assert!(error.is_already_shown());
        assert_eq!(error.to_string(), "");
    }
}
