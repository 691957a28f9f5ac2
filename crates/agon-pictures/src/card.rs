//! Cards for previews of links: 1200 x 630 pixels, as most sites show them.

use agon_core::drawing::Anchor;

use crate::PictureError;
use crate::canvas::{PixelCanvas, TextSpec};
use crate::fonts::{self, Typeface};
use crate::scene::{Scene, ScenePlayer};
use crate::theme::{PageColors, Theme};
use crate::{palette, render};

/// Width of a card in pixels.
pub const WIDTH: u32 = 1_200;
/// Height of a card in pixels.
pub const HEIGHT: u32 = 630;
/// Maximum number of rows of a card.
pub const MAX_ROWS: usize = 5;

const MARGIN: f32 = 48.0;
const RIGHT: f32 = WIDTH as f32 - MARGIN;
const BOTTOM: f32 = HEIGHT as f32 - MARGIN;
/// A board that is wider than this multiple of its height gets more width.
const WIDE: f32 = 1.25;

/// A row of a table.
#[derive(Clone, PartialEq, Debug)]
pub struct CardRow {
    /// Rank, such as `1` or `2-3`.
    pub rank: String,
    /// Name of the bot.
    pub name: String,
    /// Number of the palette.
    pub color: u16,
    /// Points.
    pub value: String,
}

/// The card of a competition: its best bots, or what is known before the first match.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TableCard {
    /// Name of the competition.
    pub title: String,
    /// Game and state.
    pub subtitle: String,
    /// The best bots.
    pub rows: Vec<CardRow>,
    /// Sentences that are shown if there are no rows.
    pub lines: Vec<String>,
    /// Name of the site.
    pub site: String,
}

/// The card of a bot.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BotCard {
    /// Name of the bot.
    pub name: String,
    /// Number of the palette.
    pub color: u16,
    /// Competition and game.
    pub subtitle: String,
    /// Label and value of what is known about it.
    pub facts: Vec<(String, String)>,
    /// Name of the site.
    pub site: String,
}

fn empty(theme: Theme) -> Result<(PixelCanvas, PageColors), PictureError> {
    let page = theme.page();
    let mut canvas = PixelCanvas::new(WIDTH, HEIGHT, page.paper)?;
    canvas.fill_pixels([0.0, 0.0, WIDTH as f32, 10.0], page.accent, 1.0);
    Ok((canvas, page))
}

/// Writes the name of the site into the lower right corner.
fn site_name(canvas: &mut PixelCanvas, page: &PageColors, site: &str) {
    let text = TextSpec::new(site, Typeface::Display, 24.0, page.accent, 420.0);
    canvas.text(RIGHT, BOTTOM + 12.0, &text.anchored(Anchor::End));
}

/// Writes a heading in at most two lines. Returns the base line of the last.
fn heading(
    canvas: &mut PixelCanvas,
    page: &PageColors,
    [x, y]: [f32; 2],
    width: f32,
    text: &str,
    size: f32,
) -> f32 {
    let mut base = y;
    for (index, line) in fonts::wrap(Typeface::Display, text, size, width, 2).iter().enumerate() {
        base = y + index as f32 * size * 1.12;
        canvas.text(x, base, &TextSpec::new(line, Typeface::Display, size, page.ink, width));
    }
    base
}

/// The card of a game: the board at the left, the players at the right.
pub fn game_card(
    scene: &Scene,
    subtitle: &str,
    site: &str,
    theme: Theme,
) -> Result<PixelCanvas, PictureError> {
    let (mut canvas, page) = empty(theme)?;
    let is_wide = scene.drawing.width > WIDE * scene.drawing.height;
    let (board_width, board_height) = if is_wide { (660.0, 534.0) } else { (534.0, 534.0) };
    let board = [MARGIN, MARGIN, board_width, board_height];
    canvas.rect(board, 20.0, page.card);
    let inset = [MARGIN + 14.0, MARGIN + 14.0, board_width - 28.0, board_height - 28.0];
    render::draw(&mut canvas, &scene.drawing, theme, scene.colors.as_deref(), inset);
    canvas.frame(board, 20.0, page.line, 2.0);
    let x = MARGIN + board_width + 36.0;
    let width = RIGHT - x;
    canvas.text(x, 76.0, &TextSpec::new(subtitle, Typeface::Regular, 22.0, page.quiet, width));
    let base = heading(&mut canvas, &page, [x, 126.0], width, &scene.title, 40.0);
    let top = base + 34.0;
    let rows = (((BOTTOM - 70.0 - top) / 62.0).max(1.0) as usize).min(MAX_ROWS);
    for (index, player) in scene.players.iter().take(rows).enumerate() {
        player_row(&mut canvas, &page, [x, top + index as f32 * 62.0], width, player);
    }
    let hidden = scene.players.len().saturating_sub(rows);
    if hidden > 0 {
        let more = format!("+{hidden}");
        let y = top + rows as f32 * 62.0 + 24.0;
        canvas.text(x + 8.0, y, &TextSpec::new(&more, Typeface::Regular, 22.0, page.quiet, width));
    }
    canvas.text(x, BOTTOM - 26.0, &TextSpec::new(&scene.status, Typeface::Regular, 22.0, page.quiet, width));
    site_name(&mut canvas, &page, site);
    Ok(canvas)
}

fn player_row(
    canvas: &mut PixelCanvas,
    page: &PageColors,
    [x, y]: [f32; 2],
    width: f32,
    player: &ScenePlayer,
) {
    if player.place == Some(1) {
        canvas.rect([x - 10.0, y, width + 10.0, 54.0], 12.0, page.raised);
        canvas.rect([x - 10.0, y, 6.0, 54.0], 3.0, page.medals[0]);
    }
    canvas.mark(x + 4.0, y + 7.0, 40.0, &player.name, palette::color(player.color));
    let score = player.score.as_deref().unwrap_or_default();
    let score = TextSpec::new(score, Typeface::Bold, 26.0, page.ink, 110.0);
    canvas.text(x + width - 12.0, y + 36.0, &score.anchored(Anchor::End));
    let used = fonts::width(Typeface::Bold, score.text, 26.0).min(110.0);
    let name = TextSpec::new(&player.name, Typeface::Bold, 26.0, page.ink, width - 58.0 - used - 28.0);
    canvas.text(x + 58.0, y + 36.0, &name);
}

/// The card of a competition.
pub fn table_card(card: &TableCard, theme: Theme) -> Result<PixelCanvas, PictureError> {
    let (mut canvas, page) = empty(theme)?;
    let width = RIGHT - MARGIN;
    canvas.text(MARGIN, 82.0, &TextSpec::new(&card.subtitle, Typeface::Regular, 26.0, page.quiet, width));
    let base = heading(&mut canvas, &page, [MARGIN, 142.0], width, &card.title, 56.0);
    let top = base + 36.0;
    let space = BOTTOM - 24.0 - top;
    let rows = ((space / 62.0).max(1.0) as usize).min(MAX_ROWS);
    for (index, row) in card.rows.iter().take(rows).enumerate() {
        table_row(&mut canvas, &page, top + index as f32 * 62.0, index, row);
    }
    if card.rows.is_empty() {
        for (index, line) in card.lines.iter().take(MAX_ROWS).enumerate() {
            let y = top + 34.0 + index as f32 * 52.0;
            canvas.text(MARGIN, y, &TextSpec::new(line, Typeface::Regular, 32.0, page.ink, width));
        }
    }
    site_name(&mut canvas, &page, &card.site);
    Ok(canvas)
}

fn table_row(canvas: &mut PixelCanvas, page: &PageColors, y: f32, index: usize, row: &CardRow) {
    let width = RIGHT - MARGIN;
    canvas.rect([MARGIN, y, width, 54.0], 12.0, page.card);
    if let Some(medal) = page.medals.get(index) {
        canvas.rect([MARGIN, y, 6.0, 54.0], 3.0, *medal);
    }
    let rank = TextSpec::new(&row.rank, Typeface::Bold, 26.0, page.quiet, 70.0);
    canvas.text(MARGIN + 76.0, y + 36.0, &rank.anchored(Anchor::End));
    canvas.mark(MARGIN + 96.0, y + 7.0, 40.0, &row.name, palette::color(row.color));
    let value = TextSpec::new(&row.value, Typeface::Bold, 28.0, page.ink, 240.0);
    canvas.text(RIGHT - 20.0, y + 37.0, &value.anchored(Anchor::End));
    canvas.text(
        MARGIN + 154.0,
        y + 36.0,
        &TextSpec::new(&row.name, Typeface::Bold, 28.0, page.ink, width - 440.0),
    );
}

/// The card of a bot: its mark at the left, what is known at the right.
pub fn bot_card(card: &BotCard, theme: Theme) -> Result<PixelCanvas, PictureError> {
    let (mut canvas, page) = empty(theme)?;
    let side = 360.0;
    let top = (HEIGHT as f32 - side - 60.0) / 2.0;
    canvas.rect([MARGIN, top, side + 60.0, side + 60.0], 28.0, page.card);
    canvas.mark(MARGIN + 30.0, top + 30.0, side, &card.name, palette::color(card.color));
    let x = MARGIN + side + 60.0 + 48.0;
    let width = RIGHT - x;
    canvas.text(x, top + 34.0, &TextSpec::new(&card.subtitle, Typeface::Regular, 24.0, page.quiet, width));
    let base = heading(&mut canvas, &page, [x, top + 98.0], width, &card.name, 54.0);
    for (index, (label, value)) in card.facts.iter().take(MAX_ROWS).enumerate() {
        let y = base + 64.0 + index as f32 * 52.0;
        canvas.text(x, y, &TextSpec::new(label, Typeface::Regular, 26.0, page.quiet, width * 0.5));
        let value = TextSpec::new(value, Typeface::Bold, 30.0, page.ink, width * 0.5 - 16.0);
        canvas.text(RIGHT, y, &value.anchored(Anchor::End));
    }
    site_name(&mut canvas, &page, &card.site);
    Ok(canvas)
}
