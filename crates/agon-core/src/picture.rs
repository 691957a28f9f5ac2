//! A game as lines of styled text for terminals, readable without colour.

use crate::seat::Seat;

/// Point of view of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Viewpoint {
    /// A spectator, who sees everything.
    All,
    /// A player, who sees only what this seat may know.
    Seat(Seat),
}

/// Meaning of a colour. The terminal chooses the shade.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PaletteColor {
    /// Default colour of the terminal.
    #[default]
    Plain,
    /// The colour of a seat (or of a Colour Battle id, counted from 0).
    Seat(u8),
    /// Unimportant text.
    Faint,
    /// Scored, alive, visible.
    Good,
    /// Lost, collided, fault.
    Bad,
    /// Highlighted text.
    Accent,
}

/// Style of a piece of text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Style {
    /// Text colour.
    pub color: PaletteColor,
    /// Background colour.
    pub background: PaletteColor,
    /// Bold text.
    pub bold: bool,
}

impl Style {
    /// Text in this colour.
    pub const fn color(color: PaletteColor) -> Self {
        Self { color, background: PaletteColor::Plain, bold: false }
    }

    /// Text on this background.
    pub const fn background(background: PaletteColor) -> Self {
        Self { color: PaletteColor::Plain, background, bold: false }
    }

    /// The same style in bold.
    #[must_use]
    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }
}

/// A piece of text in one style.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Span {
    /// Text without line breaks.
    pub text: String,
    /// Style of the text.
    pub style: Style,
}

/// Lines of styled text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Picture {
    /// Lines from top to bottom.
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

    /// The text without styles. Each line ends with a line break and has no trailing white space.
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
    fn plain_text_has_no_styles_and_no_trailing_blanks() {
        let mut picture = Picture::new();
        picture.line().text("a ").put("b", Style::color(PaletteColor::Bad).bold()).text("  ");
        picture.line();
        picture.line().text("c");
        assert_eq!(picture.plain(), "a b\n\nc\n");
    }
}
