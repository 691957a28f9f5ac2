//! Draws a position: shapes of a [`Drawing`] as pixels of a [`PixelCanvas`].

use agon_core::drawing::{Color, Drawing, Shape, ShapeForm, Weight};
use tiny_skia::{Path, PathBuilder, Transform};

use crate::canvas::{LineStyle, PixelCanvas, anchored, rect_path};
use crate::fonts::{self, Typeface};
use crate::theme::{PixelColor, Theme};
use crate::{identicon, palette};

/// Length and width of the tip of an arrow, as a multiple of the width of its line.
const ARROW_LENGTH: f32 = 4.0;
const ARROW_WIDTH: f32 = 3.6;

/// Draws a position into this rectangle (left, top, width, height), as large as possible and centred. `colors` are the numbers of
/// the bots in the palette, in seat order, if they are known.
pub fn draw(
    canvas: &mut PixelCanvas,
    drawing: &Drawing,
    theme: Theme,
    colors: Option<&[u16]>,
    [x, y, width, height]: [f32; 4],
) {
    let scale = (width / drawing.width).min(height / drawing.height);
    if !(scale.is_finite() && scale > 0.0) {
        return;
    }
    let x = x + (width - drawing.width * scale) / 2.0;
    let y = y + (height - drawing.height * scale) / 2.0;
    let mut renderer = Renderer { canvas, drawing, theme, colors, scale, x, y };
    for shape in &drawing.shapes {
        renderer.shape(shape);
    }
}

struct Renderer<'r> {
    canvas: &'r mut PixelCanvas,
    drawing: &'r Drawing,
    theme: Theme,
    colors: Option<&'r [u16]>,
    scale: f32,
    x: f32,
    y: f32,
}

impl Renderer<'_> {
    fn color(&self, color: Color) -> PixelColor {
        let of_seat = |seat| self.drawing.palette_number(seat, self.colors);
        match color {
            Color::Seat(seat) => palette::color(of_seat(seat)),
            Color::OnSeat(seat) => palette::on(of_seat(seat)),
            Color::Palette(number) => palette::color(number),
            Color::OnPalette(number) => palette::on(number),
            Color::Theme(role) => self.theme.color(role),
            Color::Rgb([r, g, b]) => PixelColor(r, g, b),
        }
    }

    fn transform(&self) -> Transform {
        Transform::from_row(self.scale, 0.0, 0.0, self.scale, self.x, self.y)
    }

    fn shape(&mut self, shape: &Shape) {
        match &shape.form {
            ShapeForm::Rect { x, y, width, height, radius } => {
                self.paint(shape, rect_path(*x, *y, *width, *height, *radius));
            }
            ShapeForm::Circle { x, y, radius } => {
                self.paint(shape, PathBuilder::from_circle(*x, *y, *radius));
            }
            ShapeForm::Path { points, closed, arrow } => {
                self.paint(shape, polygon(points, *closed));
                if *arrow {
                    self.arrow_tip(shape, points);
                }
            }
            ShapeForm::Text { x, y, size, text, anchor, weight, max_width } => {
                let typeface = match weight {
                    Weight::Regular => Typeface::Regular,
                    Weight::Bold => Typeface::Bold,
                };
                let shown = fonts::fit(typeface, text, *size, max_width.unwrap_or(f32::MAX));
                let x = anchored(*x, fonts::width(typeface, &shown, *size), *anchor);
                let outline = fonts::outline(typeface, &shown, *size, x, *y);
                // The line of a text is a halo behind it.
                self.paint(&Shape { fill: None, ..shape.clone() }, outline.clone());
                self.paint(&Shape { stroke: None, ..shape.clone() }, outline);
            }
            ShapeForm::Cells { .. } => self.cells(shape),
            ShapeForm::Mark { x, y, size, name } => self.mark(shape, [*x, *y], *size, name),
        }
    }

    fn paint(&mut self, shape: &Shape, path: Option<Path>) {
        let Some(path) = path else { return };
        let transform = self.transform();
        if let Some(color) = shape.fill {
            let color = self.color(color);
            self.canvas.fill(&path, color, shape.opacity, transform);
        }
        if let Some(stroke) = shape.stroke {
            let color = self.color(stroke.color);
            let line = LineStyle { color, opacity: shape.opacity, width: stroke.width, dash: stroke.dash };
            self.canvas.stroke(&path, line, transform);
        }
    }

    fn arrow_tip(&mut self, shape: &Shape, points: &[[f32; 2]]) {
        let (Some(stroke), [.., from, to]) = (shape.stroke, points) else { return };
        let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
        let length = dx.hypot(dy);
        if length <= 0.0 {
            return;
        }
        let (dx, dy) = (dx / length, dy / length);
        let (long, half) = (stroke.width * ARROW_LENGTH, stroke.width * ARROW_WIDTH / 2.0);
        let base = [to[0] - dx * long * 0.6, to[1] - dy * long * 0.6];
        let tip = [to[0] + dx * long * 0.4, to[1] + dy * long * 0.4];
        let points =
            [tip, [base[0] - dy * half, base[1] + dx * half], [base[0] + dy * half, base[1] - dx * half]];
        if let Some(path) = polygon(&points, true) {
            let (color, transform) = (self.color(stroke.color), self.transform());
            self.canvas.fill(&path, color, shape.opacity, transform);
        }
    }

    /// Draws cells on whole pixels. Neighbours of one colour are one rectangle.
    fn cells(&mut self, shape: &Shape) {
        let ShapeForm::Cells { x, y, size, columns, colors, cells, gap } = &shape.form else { return };
        for (row, line) in cells.chunks(*columns.max(&1)).enumerate() {
            let mut column = 0;
            for run in line.chunk_by(|a, b| a == b && *gap <= 0.0) {
                let start = column;
                column += run.len();
                let color = run.first().and_then(|index| colors.get(usize::from(*index)).copied().flatten());
                let Some(color) = color.map(|color| self.color(color)) else { continue };
                let left = self.x + (x + start as f32 * size) * self.scale;
                let top = self.y + (y + row as f32 * size) * self.scale;
                let width = (run.len() as f32 * size - gap) * self.scale;
                let bottom = top + (size - gap) * self.scale;
                self.canvas.fill_pixels([left, top, left + width, bottom], color, shape.opacity);
            }
        }
    }

    fn mark(&mut self, shape: &Shape, [x, y]: [f32; 2], size: f32, name: &str) {
        let Some(color) = shape.fill.map(|color| self.color(color)) else { return };
        let cell = size / identicon::SIDE as f32;
        for (index, _) in identicon::cells(name).iter().enumerate().filter(|(_, filled)| **filled) {
            let left = self.x + (x + (index % identicon::SIDE) as f32 * cell) * self.scale;
            let top = self.y + (y + (index / identicon::SIDE) as f32 * cell) * self.scale;
            let side = cell * self.scale;
            self.canvas.fill_pixels([left, top, left + side, top + side], color, shape.opacity);
        }
    }
}

/// Lines from point to point. `None` without two points.
fn polygon(points: &[[f32; 2]], closed: bool) -> Option<Path> {
    let [first, rest @ ..] = points else { return None };
    let mut path = PathBuilder::new();
    path.move_to(first[0], first[1]);
    for point in rest {
        path.line_to(point[0], point[1]);
    }
    if closed {
        path.close();
    }
    path.finish()
}
