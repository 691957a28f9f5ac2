//! The canvas as shapes: tiles, tiles taken in the last round, bots and clashes.

use agon_core::drawing::{Color, Drawing, Shape, ThemeColor};
use agon_core::{Reply, Seat, Viewpoint};

use super::canvas::Position;
use super::state::{PaintEffect, Painter, State};
use super::view::{bot_letter, clashes};
use super::{ColourBattle, INFO};

/// Side of a tile.
const TILE: f32 = 10.0;
/// Space around the canvas.
const MARGIN: f32 = 5.0;
/// An empty tile and the lines between tiles. They are the same in all themes, because colours are compared with them.
const WHITE: Color = Color::Rgb([255, 255, 255]);
const LINES: Color = Color::Rgb([230, 227, 219]);
/// Edge of bots, and frames around tiles.
const DARK: Color = Color::Rgb([16, 18, 22]);

impl ColourBattle {
    /// The canvas as a viewpoint sees it.
    pub(super) fn shapes(&self, state: &State, viewpoint: Viewpoint) -> Drawing {
        let side = f32::from(self.side()) * TILE;
        let size = side + 2.0 * MARGIN;
        let title = format!("{}, round {} of {}", INFO.title, state.rounds_played(), self.rounds);
        let mut drawing = Drawing::new(size, size).titled(title);
        drawing.add(Shape::rect(MARGIN - 1.0, MARGIN - 1.0, side + 2.0, side + 2.0).fill(ThemeColor::Ink));
        drawing.add(Shape::rect(MARGIN, MARGIN, side, side).fill(LINES));
        self.add_tiles(&mut drawing, state, viewpoint);
        for bot in state.painters() {
            self.add_taken_tile(&mut drawing, state, bot);
        }
        for bot in state.painters() {
            self.add_bot(&mut drawing, state, viewpoint, bot);
        }
        for clash in clashes(state) {
            let [x, y] = self.centre(clash);
            let r = TILE * 0.95;
            for line in [[[x - r, y - r], [x + r, y + r]], [[x + r, y - r], [x - r, y + r]]] {
                drawing.add(Shape::path(line.to_vec()).stroke(Color::Rgb([210, 31, 15]), TILE * 0.16));
            }
        }
        drawing
    }

    /// Centre of a tile; `y = 0` is drawn at the bottom.
    fn centre(&self, at: Position) -> [f32; 2] {
        let row = f32::from(self.side()) - 0.5 - f32::from(at.y);
        [MARGIN + (f32::from(at.x) + 0.5) * TILE, MARGIN + row * TILE]
    }

    fn add_tiles(&self, drawing: &mut Drawing, state: &State, viewpoint: Viewpoint) {
        let columns = usize::from(self.side());
        let cells: Vec<u8> = state.grid().rows().rev().flatten().copied().collect();
        let painted = state.painters().iter().map(|bot| bot.id).max().unwrap_or(0);
        let colors: Vec<Option<Color>> =
            (0..=painted).map(|id| (id > 0).then(|| color_of(state, viewpoint, id))).collect();
        let mut white = vec![None; colors.len()];
        if let Some(first) = white.first_mut() {
            *first = Some(WHITE);
        }
        drawing.add(Shape::cells(MARGIN, MARGIN, TILE, columns, white, cells.clone()).spaced(0.6));
        drawing.add(Shape::cells(MARGIN, MARGIN, TILE, columns, colors, cells));
    }

    /// Frames a tile that a bot took from another bot in the last round: solid if it has the bot's colour, dashed if it turned
    /// white.
    fn add_taken_tile(&self, drawing: &mut Drawing, state: &State, bot: &Painter) {
        let Some(action) = state.last_action(bot.id) else { return };
        let painted = action.effect == PaintEffect::Painted;
        if action.floor == 0 || action.floor == bot.id || !(painted || action.effect == PaintEffect::Wiped) {
            return;
        }
        let [x, y] = self.centre(bot.position);
        let (half, width) = (TILE / 2.0, TILE * 0.11);
        let frame = |extra: f32| {
            Shape::rect(x - half - extra, y - half - extra, TILE + 2.0 * extra, TILE + 2.0 * extra)
        };
        drawing.add(frame(width).stroke(DARK, width));
        let inner = frame(0.0).stroke(WHITE, width);
        drawing.add(if painted { inner } else { inner.dashed(TILE * 0.25, TILE * 0.2) });
    }

    fn add_bot(&self, drawing: &mut Drawing, state: &State, viewpoint: Viewpoint, bot: &Painter) {
        let [x, y] = self.centre(bot.position);
        let color = color_of(state, viewpoint, bot.id);
        let circle = Shape::circle(x, y, TILE * 0.62).fill(color);
        // Players do not see the faults of others.
        let is_fault = viewpoint == Viewpoint::All
            && state.last_action(bot.id).is_some_and(|action| matches!(action.reply, Reply::Fault(_)));
        drawing.add(circle.clone().stroke(DARK, TILE * 0.12));
        if is_fault {
            let red = Color::Rgb([255, 77, 61]);
            drawing.add(circle.stroke(red, TILE * 0.12).dashed(TILE * 0.2, TILE * 0.2));
        }
        let ink = match color {
            Color::Seat(seat) => Color::OnSeat(seat),
            Color::Palette(number) => Color::OnPalette(number),
            _ => DARK,
        };
        let letter = bot_letter(bot.id).to_string();
        drawing.add(Shape::text(x, y + TILE * 0.26, TILE * 0.72, letter).bold().fill(ink));
    }
}

/// Colour of a bot: for spectators that of its seat. A player must not recognise other bots, so it sees a colour for each id.
fn color_of(state: &State, viewpoint: Viewpoint, id: u8) -> Color {
    match viewpoint {
        Viewpoint::Seat(_) => Color::Palette(u16::from(id.saturating_sub(1))),
        Viewpoint::All => Color::from(state.seat_of(id).unwrap_or(Seat(0))),
    }
}
