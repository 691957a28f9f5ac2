//! Pictures of a game that was played: a turn, the card of a turn, and a clip.

use std::time::Instant;

use agon_core::{GameInfo, Seat, Viewpoint};
use agon_engine::film::Film;

use crate::animation::{self, GifLimits};
use crate::canvas::PixelCanvas;
use crate::clip::{ClipOptions, LAST_FRAME_TIME, turns};
use crate::scene::{Scene, SceneLayout, ScenePlayer};
use crate::theme::Theme;
use crate::{PictureError, card};

/// A clip that is too large is made again with this share of its width, so often.
const SMALLER: (u32, u32) = (2, 3);
const MAX_ATTEMPTS: usize = 3;
/// Chart values are shown as scores if they end within this distance of the scores.
const SAME_SCORE: f64 = 0.01;

/// A game of which pictures are made.
pub struct GamePictures<'f> {
    film: &'f dyn Film,
    info: &'f GameInfo,
    title: String,
    viewpoint: Viewpoint,
    colors: Option<Vec<u16>>,
    /// Whether the chart shows the scores during the game.
    has_running_score: bool,
}

impl<'f> GamePictures<'f> {
    /// Pictures as a spectator sees the game, with the title of the game.
    pub fn new(film: &'f dyn Film, info: &'f GameInfo) -> Self {
        let title = info.title.to_owned();
        let has_running_score = has_running_score(film);
        Self { film, info, title, viewpoint: Viewpoint::All, colors: None, has_running_score }
    }

    /// The same with another title.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// As a player saw it.
    #[must_use]
    pub const fn seen_from(mut self, viewpoint: Viewpoint) -> Self {
        self.viewpoint = viewpoint;
        self
    }

    /// With the numbers of the bots in a competition, in seat order.
    #[must_use]
    pub fn colored(mut self, colors: Vec<u16>) -> Self {
        self.colors = Some(colors);
        self
    }

    /// Number of the last turn.
    pub fn last_turn(&self) -> usize {
        self.film.len().saturating_sub(1)
    }

    /// The position after `turn` turns.
    pub fn scene(&self, turn: usize) -> Scene {
        let last = self.last_turn();
        let turn = turn.min(last);
        let drawing = self.film.drawing(turn, self.viewpoint);
        let is_end = turn == last;
        let outcome = &self.film.record().outcome;
        let status = if is_end { sentence(&outcome.ended) } else { format!("{turn} / {last}") };
        let running = self.running_scores(turn);
        let seats = &self.film.record().header.seats;
        let mut players: Vec<ScenePlayer> = Seat::all(seats.len())
            .zip(seats)
            .map(|(seat, record)| {
                let end = outcome.seats.get(seat.index()).filter(|_| is_end);
                let value = end.map(|end| end.score).or_else(|| running.get(seat.index()).copied());
                ScenePlayer {
                    name: record.name.clone(),
                    color: drawing.palette_number(seat.0, self.colors.as_deref()),
                    score: value.map(|value| self.score_text(value)),
                    place: end.map(|end| end.place),
                }
            })
            .collect();
        // With many players, the best come first. With two, they keep their sides.
        if players.len() > 2 && is_end {
            players.sort_by_key(|player| player.place);
        }
        let progress = if last == 0 { 1.0 } else { turn as f32 / last as f32 };
        Scene { title: self.title.clone(), status, drawing, players, colors: self.colors.clone(), progress }
    }

    /// Scores after a turn. A player's picture has none, because they may tell what is hidden.
    fn running_scores(&self, turn: usize) -> Vec<f64> {
        if self.has_running_score && self.viewpoint == Viewpoint::All {
            self.film.chart_values(turn)
        } else {
            Vec::new()
        }
    }

    fn score_text(&self, value: f64) -> String {
        let decimals = if value.fract() == 0.0 { 0 } else { self.info.score.decimals };
        let unit = self.info.score.unit;
        let gap = if unit.is_empty() { "" } else { " " };
        format!("{value:.decimals$}{gap}{unit}")
    }

    /// A turn as a picture of this width.
    pub fn picture(&self, turn: usize, width: u32, theme: Theme) -> Result<PixelCanvas, PictureError> {
        let scene = self.scene(turn);
        SceneLayout::of(&scene, width).paint(&scene, theme)
    }

    /// The card of a turn for the preview of a link.
    pub fn card(
        &self,
        turn: usize,
        subtitle: &str,
        site: &str,
        theme: Theme,
    ) -> Result<PixelCanvas, PictureError> {
        card::game_card(&self.scene(turn), subtitle, site, theme)
    }

    /// A range of turns as a GIF. If it becomes too large, it is made with smaller pictures.
    pub fn gif(&self, options: &ClipOptions) -> Result<Vec<u8>, PictureError> {
        let last = self.last_turn();
        let shown = turns(options.from.min(last), options.to.min(last), options.limits.frames);
        let deadline = options.limits.time.and_then(|time| Instant::now().checked_add(time));
        let limits = GifLimits { bytes: options.limits.bytes, deadline };
        let mut width = options.width;
        for attempt in 1.. {
            let result = self.gif_of(&shown, width, options, limits);
            match result {
                Err(PictureError::TooLarge { .. }) if attempt < MAX_ATTEMPTS => {
                    width = width * SMALLER.0 / SMALLER.1;
                }
                result => return result,
            }
        }
        Err(PictureError::TooLarge { most: options.limits.bytes })
    }

    fn gif_of(
        &self,
        shown: &[usize],
        width: u32,
        options: &ClipOptions,
        limits: GifLimits,
    ) -> Result<Vec<u8>, PictureError> {
        let turn_of = |frame: usize| shown.get(frame).copied().unwrap_or_default();
        let layout = SceneLayout::of(&self.scene(turn_of(0)), width);
        let last = shown.len().saturating_sub(1);
        let delay = |frame: usize| {
            if frame == last { options.turn_time + LAST_FRAME_TIME } else { options.turn_time }
        };
        let picture = |frame: usize| layout.paint(&self.scene(turn_of(frame)), options.theme);
        animation::encode(shown.len(), limits, delay, picture)
    }
}

/// Whether the chart values of the last turn are the scores.
fn has_running_score(film: &dyn Film) -> bool {
    let values = film.chart_values(film.len().saturating_sub(1));
    let seats = &film.record().outcome.seats;
    !values.is_empty()
        && values.len() == seats.len()
        && values.iter().zip(seats).all(|(value, seat)| (value - seat.score).abs() <= SAME_SCORE)
}

/// A text with an upper-case first letter.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
