//! The fonts of the pictures, which are part of the program. A character that a face lacks is drawn by the next face of its list.

use std::sync::LazyLock;

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// A typeface with its fallbacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Typeface {
    /// Text.
    Regular,
    /// Names and numbers.
    Bold,
    /// Headings.
    Display,
}

/// Text that replaces the end of a cut text.
const ELLIPSIS: char = '…';

static REGULAR: LazyLock<Vec<Face<'static>>> =
    LazyLock::new(|| faces(&[include_bytes!("../fonts/inter-regular.ttf")]));
static BOLD: LazyLock<Vec<Face<'static>>> =
    LazyLock::new(|| faces(&[include_bytes!("../fonts/inter-bold.ttf")]));
static DISPLAY: LazyLock<Vec<Face<'static>>> = LazyLock::new(|| {
    faces(&[
        include_bytes!("../fonts/bricolage-grotesque-latin-bold.ttf"),
        include_bytes!("../fonts/bricolage-grotesque-latin-ext-bold.ttf"),
        include_bytes!("../fonts/inter-bold.ttf"),
    ])
});

/// Reads fonts. All of them are readable, which a test checks.
fn faces(files: &[&'static [u8]]) -> Vec<Face<'static>> {
    files.iter().filter_map(|file| Face::parse(file, 0).ok()).collect()
}

fn faces_of(typeface: Typeface) -> &'static [Face<'static>] {
    match typeface {
        Typeface::Regular => &REGULAR,
        Typeface::Bold => &BOLD,
        Typeface::Display => &DISPLAY,
    }
}

/// A character of a font: its glyph, the number of font units in a size of 1, and its width in font units.
struct Glyph {
    face: &'static Face<'static>,
    id: GlyphId,
    units: f32,
    advance: f32,
}

/// The glyph of a character; without one, the replacement of the first face.
fn glyph(typeface: Typeface, character: char) -> Option<Glyph> {
    let faces = faces_of(typeface);
    let found = faces.iter().find_map(|face| Some((face, face.glyph_index(character)?)));
    let (face, id) = found.or_else(|| Some((faces.first()?, GlyphId(0))))?;
    let units = f32::from(face.units_per_em().max(1));
    Some(Glyph { face, id, units, advance: f32::from(face.glyph_hor_advance(id).unwrap_or_default()) })
}

/// Width of a text.
pub fn width(typeface: Typeface, text: &str, size: f32) -> f32 {
    let glyphs = text.chars().filter_map(|character| glyph(typeface, character));
    glyphs.map(|glyph| glyph.advance / glyph.units * size).sum()
}

/// The text, or as much of its start as fits with an ellipsis.
pub fn fit(typeface: Typeface, text: &str, size: f32, most: f32) -> String {
    if width(typeface, text, size) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    for character in text.chars() {
        kept.push(character);
        kept.push(ELLIPSIS);
        let fits = width(typeface, &kept, size) <= most;
        kept.pop();
        if !fits {
            kept.pop();
            break;
        }
    }
    let mut kept = kept.trim_end().to_owned();
    kept.push(ELLIPSIS);
    kept
}

/// Splits a text into lines of at most this width, at white space. What does not fit into the last line is cut with an ellipsis.
pub fn wrap(typeface: Typeface, text: &str, size: f32, most: f32, max_lines: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let is_last = lines.len() >= max_lines;
        match lines.last_mut() {
            Some(line) if is_last || width(typeface, &format!("{line} {word}"), size) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ if max_lines > 0 => lines.push(word.to_owned()),
            _ => {}
        }
    }
    lines.iter().map(|line| fit(typeface, line, size, most)).collect()
}

/// Outline of a text that starts at `(x, y)` on the base line. `None` if nothing is visible.
pub fn outline(typeface: Typeface, text: &str, size: f32, x: f32, y: f32) -> Option<Path> {
    let mut outline = Outline { path: PathBuilder::new(), x, y, scale: 1.0 };
    for glyph in text.chars().filter_map(|character| glyph(typeface, character)) {
        outline.scale = size / glyph.units;
        glyph.face.outline_glyph(glyph.id, &mut outline);
        outline.x += glyph.advance * outline.scale;
    }
    outline.path.finish()
}

/// Turns the outline of a glyph into a path. In fonts, `y` grows upwards.
struct Outline {
    path: PathBuilder,
    x: f32,
    y: f32,
    scale: f32,
}

impl Outline {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, self.y - y * self.scale)
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_fonts_are_readable_and_have_the_letters_of_the_viewer() {
        assert_eq!((REGULAR.len(), BOLD.len(), DISPLAY.len()), (1, 1, 3));
        for character in "ABCXYZabc0189 äéñçŁő–…·ΑΩБЖ".chars() {
            for typeface in [Typeface::Regular, Typeface::Bold, Typeface::Display] {
                let faces = faces_of(typeface);
                assert!(faces.iter().any(|face| face.glyph_index(character).is_some()), "{character}");
            }
        }
    }

    #[test]
    fn a_long_text_is_cut_to_its_width() {
        let text = "a name that is much too long";
        let most = width(Typeface::Bold, "a name that", 20.0);
        let cut = fit(Typeface::Bold, text, 20.0, most);
        assert!(cut.ends_with('…') && cut.starts_with("a name"), "{cut}");
        assert!(width(Typeface::Bold, &cut, 20.0) <= most);
        assert_eq!(fit(Typeface::Bold, "short", 20.0, 500.0), "short");
        assert_eq!(fit(Typeface::Bold, "short", 20.0, 0.0), "…");
    }

    #[test]
    fn a_text_is_wrapped_at_white_space_into_a_maximum_of_lines() {
        let most = width(Typeface::Regular, "one two", 20.0) + 1.0;
        assert_eq!(wrap(Typeface::Regular, "one two one", 20.0, most, 3), ["one two", "one"]);
        let cut = wrap(Typeface::Regular, "one two one two one two", 20.0, most, 2);
        assert_eq!(cut.len(), 2);
        assert!(cut[1].ends_with('…'), "{cut:?}");
        assert!(wrap(Typeface::Regular, "", 20.0, most, 2).is_empty());
    }
}
