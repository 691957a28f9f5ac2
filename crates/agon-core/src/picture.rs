//! A game as lines of styled text, for terminals. Legible without colour.

use crate::seat::Seat;

/// Whose eyes a picture is drawn for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Eye {
    /// A spectator: everything.
    All,
    /// A player: only what this seat may know.
    Seat(Seat),
}

/// What a colour stands for. The terminal chooses the shade.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ink {
    /// The terminal's own.
    #[default]
    Plain,
    /// The colour of a seat (or of a Colour Battle id, counted from 0).
    Seat(u8),
    /// Of little importance.
    Faint,
    /// Scored, alive, seen.
    Good,
    /// Lost, collided, a fault.
    Bad,
    /// Look here.
    Accent,
}

/// How a piece of text looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// Of the letters.
    pub ink: Ink,
    /// Behind the letters.
    pub paper: Ink,
    /// Heavier letters.
    pub bold: bool,
}

impl Style {
    /// Letters in this ink.
    pub const fn ink(ink: Ink) -> Self {
        Self { ink, paper: Ink::Plain, bold: false }
    }

    /// Letters on this paper.
    pub const fn on(paper: Ink) -> Self {
        Self { ink: Ink::Plain, paper, bold: false }
    }

    /// The same, heavier.
    #[must_use]
    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }
}

/// A piece of text in one style.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Span {
    /// Without line ends.
    pub text: String,
    /// How it looks.
    pub style: Style,
}

/// Lines of styled text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Picture {
    /// From the top.
    pub lines: Vec<Vec<Span>>,
}

impl Picture {
    /// An empty picture.
    pub const fn new() -> Self {
        Self { lines: Vec::new() }
    }

    /// Starts a new line.
    pub fn line(&mut self) -> &mut Self {
        self.lines.push(Vec::new());
        self
    }

    /// Adds text to the current line.
    pub fn put(&mut self, text: impl Into<String>, style: Style) -> &mut Self {
        if self.lines.is_empty() {
            self.lines.push(Vec::new());
        }
        if let Some(line) = self.lines.last_mut() {
            line.push(Span { text: text.into(), style });
        }
        self
    }

    /// Adds plain text to the current line.
    pub fn text(&mut self, text: impl Into<String>) -> &mut Self {
        self.put(text, Style::default())
    }

    /// The picture without styles, a line end after each line, no white space at line ends.
    pub fn plain(&self) -> String {
        let mut out = String::new();
        for line in &self.lines {
            let start = out.len();
            for span in line {
                out.push_str(&span.text);
            }
            let kept = out[start..].trim_end().len();
            out.truncate(start + kept);
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_drops_styles_and_trailing_blanks() {
        let mut picture = Picture::new();
        picture.line().text("a ").put("b", Style::ink(Ink::Bad).bold()).text("  ");
        picture.line();
        picture.line().text("c");
        assert_eq!(picture.plain(), "a b\n\nc\n");
    }
}
