//! Pixels, and simple operations that paint on them.

use agon_core::drawing::Anchor;
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform,
};

use crate::PictureError;
use crate::fonts::{self, Typeface};
use crate::identicon;
use crate::theme::PixelColor;

/// Maximum width and height of a picture in pixels.
pub const MAX_SIDE: u32 = 4_096;

/// A picture that is being painted. It has no transparent pixels.
pub struct PixelCanvas {
    pixels: Pixmap,
}

/// A line of text.
#[derive(Clone, Copy, Debug)]
pub struct TextSpec<'t> {
    /// The text.
    pub text: &'t str,
    /// Typeface.
    pub typeface: Typeface,
    /// Size of the font.
    pub size: f32,
    /// Colour.
    pub color: PixelColor,
    /// Position relative to the point.
    pub anchor: Anchor,
    /// A longer text is cut with an ellipsis.
    pub max_width: f32,
}

impl<'t> TextSpec<'t> {
    /// A text that starts at its point.
    pub const fn new(
        text: &'t str,
        typeface: Typeface,
        size: f32,
        color: PixelColor,
        max_width: f32,
    ) -> Self {
        Self { text, typeface, size, color, anchor: Anchor::Start, max_width }
    }

    /// The same text with another anchor.
    #[must_use]
    pub const fn anchored(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug)]
pub struct LineStyle {
    /// Colour.
    pub color: PixelColor,
    /// From 0 to 1.
    pub opacity: f32,
    /// Width.
    pub width: f32,
    /// Lengths of dash and gap.
    pub dash: Option<[f32; 2]>,
}

fn paint(color: PixelColor, opacity: f32) -> Paint<'static> {
    let PixelColor(r, g, b) = color;
    let opacity = if opacity.is_finite() { opacity.clamp(0.0, 1.0) } else { 1.0 };
    let mut paint = Paint::default();
    paint.set_color(Color::from_rgba8(r, g, b, (opacity * 255.0).round() as u8));
    paint
}

/// Path of a rectangle with round corners.
pub(crate) fn rect_path(x: f32, y: f32, width: f32, height: f32, radius: f32) -> Option<Path> {
    let radius = radius.min(width / 2.0).min(height / 2.0);
    if radius <= 0.0 {
        return Some(PathBuilder::from_rect(Rect::from_xywh(x, y, width, height)?));
    }
    // Distance of the control points of a quarter of a circle.
    let k = radius * 0.447_715;
    let (right, bottom) = (x + width, y + height);
    let mut path = PathBuilder::new();
    path.move_to(x + radius, y);
    path.line_to(right - radius, y);
    path.cubic_to(right - k, y, right, y + k, right, y + radius);
    path.line_to(right, bottom - radius);
    path.cubic_to(right, bottom - k, right - k, bottom, right - radius, bottom);
    path.line_to(x + radius, bottom);
    path.cubic_to(x + k, bottom, x, bottom - k, x, bottom - radius);
    path.line_to(x, y + radius);
    path.cubic_to(x, y + k, x + k, y, x + radius, y);
    path.close();
    path.finish()
}

impl PixelCanvas {
    /// A canvas in one colour.
    pub fn new(width: u32, height: u32, color: PixelColor) -> Result<Self, PictureError> {
        let wrong = PictureError::Size { width, height };
        if width > MAX_SIDE || height > MAX_SIDE {
            return Err(wrong);
        }
        let Some(mut pixels) = Pixmap::new(width, height) else { return Err(wrong) };
        pixels.fill(Color::from_rgba8(color.0, color.1, color.2, 255));
        Ok(Self { pixels })
    }

    /// Width in pixels.
    pub fn width(&self) -> u32 {
        self.pixels.width()
    }

    /// Height in pixels.
    pub fn height(&self) -> u32 {
        self.pixels.height()
    }

    /// The pixels, row by row: red, green, blue, and 255.
    pub fn rgba(&self) -> &[u8] {
        self.pixels.data()
    }

    /// The picture as PNG.
    pub fn png(&self) -> Result<Vec<u8>, PictureError> {
        self.pixels.encode_png().map_err(|error| PictureError::Encoding(error.to_string()))
    }

    /// Fills a path.
    pub fn fill(&mut self, path: &Path, color: PixelColor, opacity: f32, transform: Transform) {
        self.pixels.fill_path(path, &paint(color, opacity), FillRule::Winding, transform, None);
    }

    /// Draws a line along a path.
    pub fn stroke(&mut self, path: &Path, line: LineStyle, transform: Transform) {
        if !(line.width.is_finite() && line.width > 0.0) {
            return;
        }
        let stroke = Stroke {
            width: line.width,
            line_cap: if line.dash.is_some() { LineCap::Butt } else { LineCap::Round },
            line_join: LineJoin::Round,
            dash: line.dash.and_then(|dash| StrokeDash::new(dash.to_vec(), 0.0)),
            ..Stroke::default()
        };
        self.pixels.stroke_path(path, &paint(line.color, line.opacity), &stroke, transform, None);
    }

    /// Fills a rectangle with sharp edges on whole pixels, so that neighbours leave no line between them.
    pub fn fill_pixels(&mut self, [left, top, right, bottom]: [f32; 4], color: PixelColor, opacity: f32) {
        let Some(rect) = Rect::from_ltrb(left.round(), top.round(), right.round(), bottom.round()) else {
            return;
        };
        let mut paint = paint(color, opacity);
        paint.anti_alias = false;
        self.pixels.fill_rect(rect, &paint, Transform::identity(), None);
    }

    /// Fills a rectangle with round corners.
    pub fn rect(&mut self, [x, y, width, height]: [f32; 4], radius: f32, color: PixelColor) {
        if let Some(path) = rect_path(x, y, width, height, radius) {
            self.fill(&path, color, 1.0, Transform::identity());
        }
    }

    /// Draws the edge of a rectangle with round corners.
    pub fn frame(
        &mut self,
        [x, y, width, height]: [f32; 4],
        radius: f32,
        color: PixelColor,
        line_width: f32,
    ) {
        if let Some(path) = rect_path(x, y, width, height, radius) {
            let line = LineStyle { color, opacity: 1.0, width: line_width, dash: None };
            self.stroke(&path, line, Transform::identity());
        }
    }

    /// Writes a text at a point of its base line.
    pub fn text(&mut self, x: f32, y: f32, text: &TextSpec<'_>) {
        let shown = fonts::fit(text.typeface, text.text, text.size, text.max_width);
        let width = fonts::width(text.typeface, &shown, text.size);
        let x = anchored(x, width, text.anchor);
        if let Some(path) = fonts::outline(text.typeface, &shown, text.size, x, y) {
            self.fill(&path, text.color, 1.0, Transform::identity());
        }
    }

    /// Draws the mark of a name in a square of this side.
    pub fn mark(&mut self, x: f32, y: f32, side: f32, name: &str, color: PixelColor) {
        let cell = side / identicon::SIDE as f32;
        for (index, _) in identicon::cells(name).iter().enumerate().filter(|(_, filled)| **filled) {
            let (column, row) = ((index % identicon::SIDE) as f32, (index / identicon::SIDE) as f32);
            let (left, top) = (x + column * cell, y + row * cell);
            self.fill_pixels([left, top, left + cell, top + cell], color, 1.0);
        }
    }
}

/// Where a text of this width starts.
pub(crate) fn anchored(x: f32, width: f32, anchor: Anchor) -> f32 {
    match anchor {
        Anchor::Start => x,
        Anchor::Middle => x - width / 2.0,
        Anchor::End => x - width,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canvas_has_a_maximum_size_and_no_transparent_pixels() {
        assert!(PixelCanvas::new(0, 10, PixelColor(0, 0, 0)).is_err());
        assert!(PixelCanvas::new(MAX_SIDE + 1, 10, PixelColor(0, 0, 0)).is_err());
        let mut canvas = PixelCanvas::new(8, 4, PixelColor(1, 2, 3)).unwrap();
        canvas.fill_pixels([0.0, 0.0, 4.0, 4.0], PixelColor(255, 255, 255), 0.5);
        assert!(canvas.rgba().chunks_exact(4).all(|pixel| pixel[3] == 255));
        assert_eq!(&canvas.rgba()[28..32], [1, 2, 3, 255]);
        assert_eq!(&canvas.png().unwrap()[1..4], b"PNG");
    }
}
