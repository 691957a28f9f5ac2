//! A position as shapes: plain data that any program can draw without knowing the game.
//!
//! Lengths are in units of the drawing. `x` grows to the right, `y` downwards. Later shapes cover earlier ones. Colours are
//! the colour of a seat, a role that the theme fills in, or fixed.

use serde::{Deserialize, Serialize};

use crate::seat::Seat;

/// Maximum number of shapes of a drawing. Further shapes are left out.
pub const MAX_SHAPES: usize = 2_000;
/// Maximum number of cells of a [`ShapeForm::Cells`]. Further cells are left out.
pub const MAX_CELLS: usize = 10_000;
/// Maximum number of points of a [`ShapeForm::Path`]. Further points are left out.
pub const MAX_POINTS: usize = 2_000;
/// Maximum number of characters of a text. Longer texts are cut.
pub const MAX_TEXT_CHARS: usize = 200;

/// A role of a colour. The theme (light or dark) chooses the colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThemeColor {
    /// Behind everything.
    Background,
    /// The material of a board.
    Board,
    /// An empty place of a board.
    Cell,
    /// Open ground.
    Floor,
    /// A wall.
    Wall,
    /// What is out of sight.
    Fog,
    /// Text and strong lines.
    Ink,
    /// Less important text.
    Muted,
    /// Thin lines.
    Line,
    /// The edge of a piece.
    Edge,
    /// What has just changed.
    Accent,
    /// Behind what has just been scored.
    Glow,
    /// Scored, won.
    Good,
    /// Lost, collided, fault.
    Bad,
}

/// A colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Color {
    /// The colour of the bot at a seat.
    Seat(u8),
    /// Text that is legible on the colour of that seat.
    OnSeat(u8),
    /// A number of the palette, whatever bot has it.
    Palette(u16),
    /// Text that is legible on that colour of the palette.
    OnPalette(u16),
    /// A role of the theme.
    Theme(ThemeColor),
    /// Red, green and blue, the same in all themes.
    Rgb([u8; 3]),
}

impl From<ThemeColor> for Color {
    fn from(role: ThemeColor) -> Self {
        Self::Theme(role)
    }
}

impl From<Seat> for Color {
    fn from(seat: Seat) -> Self {
        Self::Seat(seat.0)
    }
}

/// A line around or along a form.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Stroke {
    /// Colour.
    pub color: Color,
    /// Width.
    pub width: f32,
    /// Lengths of dash and gap; none for a solid line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dash: Option<[f32; 2]>,
}

/// Horizontal position of a text relative to its point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Anchor {
    /// The text starts at the point.
    Start,
    /// The text is centred on the point.
    #[default]
    Middle,
    /// The text ends at the point.
    End,
}

/// Weight of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// Regular.
    #[default]
    Regular,
    /// Bold.
    Bold,
}

/// Geometry of a shape.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "form", rename_all = "lowercase")]
pub enum ShapeForm {
    /// A rectangle.
    Rect {
        /// Left edge.
        x: f32,
        /// Upper edge.
        y: f32,
        /// Width.
        width: f32,
        /// Height.
        height: f32,
        /// Radius of the corners; 0 for sharp ones.
        #[serde(default)]
        radius: f32,
    },
    /// A circle.
    Circle {
        /// Centre.
        x: f32,
        /// Centre.
        y: f32,
        /// Radius.
        radius: f32,
    },
    /// Straight lines from point to point: a line, a polygon or an arrow.
    Path {
        /// The points.
        points: Vec<[f32; 2]>,
        /// Whether the last point is joined to the first.
        #[serde(default)]
        closed: bool,
        /// Whether the last point is the tip of an arrow.
        #[serde(default)]
        arrow: bool,
    },
    /// A text of one line.
    Text {
        /// The point of the anchor.
        x: f32,
        /// The base line.
        y: f32,
        /// Size of the font.
        size: f32,
        /// The text.
        text: String,
        /// Position relative to the point.
        #[serde(default)]
        anchor: Anchor,
        /// Weight.
        #[serde(default)]
        weight: Weight,
        /// A longer text is cut with an ellipsis.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_width: Option<f32>,
    },
    /// Squares side by side, row by row.
    Cells {
        /// Left edge.
        x: f32,
        /// Upper edge.
        y: f32,
        /// Side of a square.
        size: f32,
        /// Number of squares in a row.
        columns: usize,
        /// Colours of the cells; `null` leaves a cell out.
        colors: Vec<Option<Color>>,
        /// For each square, an index into `colors`.
        cells: Vec<u8>,
        /// Space between the squares.
        #[serde(default)]
        gap: f32,
    },
    /// The mark of a name: a symmetric pattern of five by five squares, the same as on all pages.
    Mark {
        /// Left edge.
        x: f32,
        /// Upper edge.
        y: f32,
        /// Side.
        size: f32,
        /// The name.
        name: String,
    },
}

/// A form with its colours. Without fill and stroke it is invisible.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Shape {
    /// Geometry.
    #[serde(flatten)]
    pub form: ShapeForm,
    /// Colour inside the form. Cells have their own colours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<Color>,
    /// Line around the form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stroke: Option<Stroke>,
    /// From 0 (invisible) to 1.
    #[serde(default = "opaque", skip_serializing_if = "is_opaque")]
    pub opacity: f32,
    /// What it is, for a reader who points at it or does not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

const fn opaque() -> f32 {
    1.0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_opaque(opacity: &f32) -> bool {
    *opacity >= 1.0
}

impl From<ShapeForm> for Shape {
    fn from(form: ShapeForm) -> Self {
        Self { form, fill: None, stroke: None, opacity: 1.0, title: None }
    }
}

impl Shape {
    /// A rectangle with sharp corners.
    pub fn rect(x: f32, y: f32, width: f32, height: f32) -> Self {
        ShapeForm::Rect { x, y, width, height, radius: 0.0 }.into()
    }

    /// A circle around a point.
    pub fn circle(x: f32, y: f32, radius: f32) -> Self {
        ShapeForm::Circle { x, y, radius }.into()
    }

    /// A line between two points.
    pub fn line(from: [f32; 2], to: [f32; 2]) -> Self {
        Self::path(vec![from, to])
    }

    /// Lines along these points.
    pub fn path(mut points: Vec<[f32; 2]>) -> Self {
        points.truncate(MAX_POINTS);
        ShapeForm::Path { points, closed: false, arrow: false }.into()
    }

    /// A polygon.
    pub fn polygon(mut points: Vec<[f32; 2]>) -> Self {
        points.truncate(MAX_POINTS);
        ShapeForm::Path { points, closed: true, arrow: false }.into()
    }

    /// An arrow from one point to another.
    pub fn arrow(from: [f32; 2], to: [f32; 2]) -> Self {
        ShapeForm::Path { points: vec![from, to], closed: false, arrow: true }.into()
    }

    /// A text centred on a point of its base line.
    pub fn text(x: f32, y: f32, size: f32, text: impl AsRef<str>) -> Self {
        ShapeForm::Text {
            x,
            y,
            size,
            text: one_line(text.as_ref()),
            anchor: Anchor::Middle,
            weight: Weight::Regular,
            max_width: None,
        }
        .into()
    }

    /// Squares side by side, row by row, from the upper left corner.
    pub fn cells(
        x: f32,
        y: f32,
        size: f32,
        columns: usize,
        colors: Vec<Option<Color>>,
        mut cells: Vec<u8>,
    ) -> Self {
        cells.truncate(MAX_CELLS);
        ShapeForm::Cells { x, y, size, columns, colors, cells, gap: 0.0 }.into()
    }

    /// The mark of a name.
    pub fn mark(x: f32, y: f32, size: f32, name: &str) -> Self {
        ShapeForm::Mark { x, y, size, name: name.chars().take(MAX_TEXT_CHARS).collect() }.into()
    }

    /// Fills the form.
    #[must_use]
    pub fn fill(self, color: impl Into<Color>) -> Self {
        Self { fill: Some(color.into()), ..self }
    }

    /// Draws a line around the form.
    #[must_use]
    pub fn stroke(self, color: impl Into<Color>, width: f32) -> Self {
        Self { stroke: Some(Stroke { color: color.into(), width, dash: None }), ..self }
    }

    /// Makes the line dashed.
    #[must_use]
    pub fn dashed(mut self, dash: f32, gap: f32) -> Self {
        if let Some(stroke) = &mut self.stroke {
            stroke.dash = Some([dash, gap]);
        }
        self
    }

    /// Makes the shape translucent.
    #[must_use]
    pub fn opacity(self, opacity: f32) -> Self {
        Self { opacity, ..self }
    }

    /// Names the shape.
    #[must_use]
    pub fn title(self, title: impl AsRef<str>) -> Self {
        Self { title: Some(one_line(title.as_ref())), ..self }
    }

    /// Rounds the corners of a rectangle.
    #[must_use]
    pub fn rounded(mut self, corner: f32) -> Self {
        if let ShapeForm::Rect { radius, .. } = &mut self.form {
            *radius = corner;
        }
        self
    }

    /// Makes a text bold.
    #[must_use]
    pub fn bold(mut self) -> Self {
        if let ShapeForm::Text { weight, .. } = &mut self.form {
            *weight = Weight::Bold;
        }
        self
    }

    /// Moves a text relative to its point.
    #[must_use]
    pub fn anchored(mut self, to: Anchor) -> Self {
        if let ShapeForm::Text { anchor, .. } = &mut self.form {
            *anchor = to;
        }
        self
    }

    /// Cuts a text that is wider than this.
    #[must_use]
    pub fn within(mut self, width: f32) -> Self {
        if let ShapeForm::Text { max_width, .. } = &mut self.form {
            *max_width = Some(width);
        }
        self
    }

    /// Leaves space between cells.
    #[must_use]
    pub fn spaced(mut self, space: f32) -> Self {
        if let ShapeForm::Cells { gap, .. } = &mut self.form {
            *gap = space;
        }
        self
    }
}

/// A text without control characters, of limited length.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_TEXT_CHARS).collect()
}

/// A position as shapes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Drawing {
    /// Width in units.
    pub width: f32,
    /// Height in units.
    pub height: f32,
    /// What the drawing shows, for readers who do not see it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Number of the palette for each seat, if nothing else is known about the bots. Empty: the number of the seat.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub colors: Vec<u16>,
    /// The shapes, from back to front.
    pub shapes: Vec<Shape>,
}

impl Drawing {
    /// An empty drawing of this size.
    pub fn new(width: f32, height: f32) -> Self {
        Self { width, height, title: String::new(), colors: Vec::new(), shapes: Vec::new() }
    }

    /// Says what the drawing shows.
    #[must_use]
    pub fn titled(mut self, title: impl AsRef<str>) -> Self {
        self.title = one_line(title.as_ref());
        self
    }

    /// Draws a shape in front of the others. Shapes beyond [`MAX_SHAPES`] are left out.
    pub fn add(&mut self, shape: Shape) {
        if self.shapes.len() < MAX_SHAPES {
            self.shapes.push(shape);
        }
    }

    /// Appends a drawing at this place, in its own size. Texts and shapes keep their units.
    pub fn add_at(&mut self, x: f32, y: f32, other: Self) {
        for mut shape in other.shapes {
            shape.form.shift(x, y);
            self.add(shape);
        }
    }

    /// Number of the palette of a seat. `known` are the numbers of the bots, in seat order, if they are known; in a game of a
    /// bot against itself, the seats have different colours.
    pub fn palette_number(&self, seat: u8, known: Option<&[u16]>) -> u16 {
        let index = usize::from(seat);
        let known = known.filter(|numbers| (1..numbers.len()).all(|i| !numbers[..i].contains(&numbers[i])));
        known
            .and_then(|numbers| numbers.get(index))
            .or_else(|| self.colors.get(index))
            .copied()
            .unwrap_or(u16::from(seat))
    }
}

impl ShapeForm {
    fn shift(&mut self, dx: f32, dy: f32) {
        match self {
            Self::Rect { x, y, .. }
            | Self::Circle { x, y, .. }
            | Self::Text { x, y, .. }
            | Self::Cells { x, y, .. }
            | Self::Mark { x, y, .. } => {
                *x += dx;
                *y += dy;
            }
            Self::Path { points, .. } => {
                for point in points {
                    point[0] += dx;
                    point[1] += dy;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_has_a_maximum_number_of_shapes_points_cells_and_characters() {
        let mut drawing = Drawing::new(10.0, 10.0);
        for _ in 0..=MAX_SHAPES {
            drawing.add(Shape::circle(1.0, 1.0, 1.0));
        }
        assert_eq!(drawing.shapes.len(), MAX_SHAPES);
        let ShapeForm::Path { points, .. } = Shape::path(vec![[0.0, 0.0]; MAX_POINTS + 1]).form else {
            panic!()
        };
        assert_eq!(points.len(), MAX_POINTS);
        let cells = Shape::cells(0.0, 0.0, 1.0, 100, vec![None], vec![0; MAX_CELLS + 1]);
        let ShapeForm::Cells { cells, .. } = cells.form else { panic!() };
        assert_eq!(cells.len(), MAX_CELLS);
        let ShapeForm::Text { text, .. } = Shape::text(0.0, 0.0, 1.0, "é\n".repeat(MAX_TEXT_CHARS)).form
        else {
            panic!()
        };
        assert_eq!(text.chars().count(), MAX_TEXT_CHARS);
        assert!(!text.contains('\n'));
    }

    #[test]
    fn a_drawing_is_read_back_from_its_json() {
        let mut drawing = Drawing::new(10.0, 20.0).titled("a board");
        drawing.add(Shape::rect(1.0, 2.0, 3.0, 4.0).rounded(1.0).fill(ThemeColor::Board).opacity(0.5));
        drawing.add(Shape::arrow([0.0, 0.0], [1.0, 1.0]).stroke(Seat(1), 2.0).dashed(3.0, 1.0));
        drawing.add(Shape::text(1.0, 1.0, 12.0, "X").bold().anchored(Anchor::End).fill(Color::OnSeat(1)));
        drawing.add(Shape::cells(0.0, 0.0, 1.0, 2, vec![None, Some(Color::Palette(3))], vec![0, 1]));
        drawing.add(Shape::mark(0.0, 0.0, 5.0, "bot").fill(Color::Rgb([1, 2, 3])).title("the mark"));
        let json = serde_json::to_string(&drawing).expect("plain data");
        assert!(json.contains(r#"{"form":"rect","x":1.0,"y":2.0,"#), "{json}");
        assert_eq!(serde_json::from_str::<Drawing>(&json).expect("its own JSON"), drawing);
    }

    #[test]
    fn seats_have_the_colours_of_their_bots_unless_two_have_the_same() {
        let mut drawing = Drawing::new(1.0, 1.0);
        assert_eq!(drawing.palette_number(1, None), 1);
        drawing.colors = vec![11, 0];
        assert_eq!(drawing.palette_number(0, None), 11);
        assert_eq!(drawing.palette_number(0, Some(&[4, 7])), 4);
        assert_eq!(drawing.palette_number(0, Some(&[4, 4])), 11);
        assert_eq!(drawing.palette_number(5, Some(&[4, 7])), 5);
    }
}
