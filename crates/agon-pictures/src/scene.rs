//! A position with its heading, its players and the course of the game: one turn of a game as a picture.

use agon_core::drawing::{Anchor, Drawing};

use crate::PictureError;
use crate::canvas::{PixelCanvas, TextSpec};
use crate::fonts::Typeface;
use crate::palette;
use crate::render;
use crate::theme::Theme;

/// Width that the sizes of this module are made for.
const BASE_WIDTH: f32 = 640.0;
/// Smallest and largest width of a scene in pixels.
pub const MIN_WIDTH: u32 = 240;
/// See [`MIN_WIDTH`].
pub const MAX_WIDTH: u32 = 1_600;
/// Maximum number of players that are named.
const MAX_PLAYERS: usize = 8;
const PADDING: f32 = 16.0;
const HEADER: f32 = 46.0;
const ROW: f32 = 36.0;
const FOOTER: f32 = 14.0;

/// A player beside a board.
#[derive(Clone, PartialEq, Debug)]
pub struct ScenePlayer {
    /// Name.
    pub name: String,
    /// Number of the palette.
    pub color: u16,
    /// Score, if it is known.
    pub score: Option<String>,
    /// Place, when the game is over.
    pub place: Option<u8>,
}

/// One turn of a game.
#[derive(Clone, PartialEq, Debug)]
pub struct Scene {
    /// Heading.
    pub title: String,
    /// The turn, or how the game ended.
    pub status: String,
    /// The board.
    pub drawing: Drawing,
    /// Players in the order in which they are named.
    pub players: Vec<ScenePlayer>,
    /// Numbers of the palette in seat order, if they are known.
    pub colors: Option<Vec<u16>>,
    /// How much of the game has been played, from 0 to 1.
    pub progress: f32,
}

/// Places of the parts of a scene. All frames of a clip have the same.
#[derive(Clone, Copy, Debug)]
pub struct SceneLayout {
    width: u32,
    height: u32,
    scale: f32,
    board_height: f32,
}

impl SceneLayout {
    /// The layout of a scene with this width in pixels.
    pub fn of(scene: &Scene, width: u32) -> Self {
        let width = width.clamp(MIN_WIDTH, MAX_WIDTH);
        let scale = width as f32 / BASE_WIDTH;
        let inner = BASE_WIDTH - 2.0 * PADDING;
        let ratio = scene.drawing.height / scene.drawing.width;
        let board_height =
            if ratio.is_finite() { (inner * ratio).clamp(inner * 0.3, inner * 1.2) } else { inner };
        let rows = scene.players.len().min(MAX_PLAYERS).div_ceil(2) as f32;
        let height = HEADER + board_height + PADDING / 2.0 + rows * ROW + FOOTER + PADDING / 2.0;
        Self { width, height: (height * scale).round() as u32, scale, board_height }
    }

    /// Paints a scene.
    pub fn paint(&self, scene: &Scene, theme: Theme) -> Result<PixelCanvas, PictureError> {
        let page = theme.page();
        let mut canvas = PixelCanvas::new(self.width, self.height, page.card)?;
        let at = |value: f32| value * self.scale;
        let right = BASE_WIDTH - PADDING;
        let status = TextSpec::new(&scene.status, Typeface::Regular, at(17.0), page.quiet, at(300.0));
        canvas.text(at(right), at(30.0), &status.anchored(Anchor::End));
        let title = TextSpec::new(&scene.title, Typeface::Display, at(20.0), page.ink, at(290.0));
        canvas.text(at(PADDING), at(30.0), &title);
        let board = [PADDING, HEADER, BASE_WIDTH - 2.0 * PADDING, self.board_height].map(at);
        render::draw(&mut canvas, &scene.drawing, theme, scene.colors.as_deref(), board);
        let top = HEADER + self.board_height + PADDING / 2.0;
        self.paint_players(&mut canvas, scene, theme, top);
        let bar =
            [0.0, self.height as f32 - at(6.0), self.width as f32 * scene.progress.clamp(0.0, 1.0), at(6.0)];
        canvas.fill_pixels([bar[0], bar[1], bar[2], self.height as f32], page.accent, 1.0);
        Ok(canvas)
    }

    /// Names the players in two columns.
    fn paint_players(&self, canvas: &mut PixelCanvas, scene: &Scene, theme: Theme, top: f32) {
        let page = theme.page();
        let at = |value: f32| value * self.scale;
        let column_width = (BASE_WIDTH - 2.0 * PADDING - 20.0) / 2.0;
        let hidden = scene.players.len().saturating_sub(MAX_PLAYERS);
        for (index, player) in scene.players.iter().take(MAX_PLAYERS).enumerate() {
            let x = PADDING + (index % 2) as f32 * (column_width + 20.0);
            let y = top + (index / 2) as f32 * ROW;
            if player.place == Some(1) {
                canvas.rect([x - 6.0, y, column_width + 12.0, ROW - 4.0].map(at), at(6.0), page.raised);
            }
            canvas.mark(at(x), at(y + 4.0), at(24.0), &player.name, palette::color(player.color));
            let score = player.score.as_deref().unwrap_or_default();
            let score =
                TextSpec::new(score, Typeface::Bold, at(17.0), page.ink, at(90.0)).anchored(Anchor::End);
            canvas.text(at(x + column_width), at(y + 22.0), &score);
            let is_last = index + 1 == MAX_PLAYERS && hidden > 0;
            let name = if is_last { format!("{} (+{hidden})", player.name) } else { player.name.clone() };
            let typeface = if player.place == Some(1) { Typeface::Bold } else { Typeface::Regular };
            let name = TextSpec::new(&name, typeface, at(17.0), page.ink, at(column_width - 34.0 - 96.0));
            canvas.text(at(x + 34.0), at(y + 22.0), &name);
        }
    }
}
