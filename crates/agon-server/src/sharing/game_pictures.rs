//! Pictures and GIFs of a game, from its record.

use std::time::Duration;

use agon_core::record::Record;
use agon_core::{Assets, Seat, Viewpoint};
use agon_engine::AnyGame;
use agon_pictures::clip::{ClipLimits, ClipOptions, turn_time};
use agon_pictures::{GamePictures, Theme};
use serde::Deserialize;

use super::picture_service::picture_error;
use crate::error::{ApiError, ApiResult};

/// Width of a picture and of a GIF if the client does not choose one.
const DEFAULT_PICTURE_WIDTH: u32 = 800;
const DEFAULT_CLIP_WIDTH: u32 = 480;
/// Smallest and largest width that a client can choose.
const PICTURE_WIDTHS: std::ops::RangeInclusive<u32> = 240..=1_280;
const CLIP_WIDTHS: std::ops::RangeInclusive<u32> = 240..=640;
/// Speeds that a client can choose, in turns per second.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.2..=50.0;
/// A GIF of a range takes about this long, within these speeds.
const DEFAULT_SECONDS: f64 = 15.0;
const DEFAULT_SPEEDS: (f64, f64) = (1.0, 15.0);
/// What a GIF may cost.
const CLIP_LIMITS: ClipLimits =
    ClipLimits { frames: 120, bytes: 6 << 20, time: Some(Duration::from_secs(15)) };

/// Query parameters of a picture of a game.
#[derive(Clone, Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PictureQuery {
    /// The turn, 0 for the start; without it the end of the game.
    pub turn: Option<usize>,
    /// What this seat could see, instead of everything.
    pub seat: Option<u8>,
    /// `light` or `dark` (the default).
    pub theme: Option<String>,
    /// Width in pixels.
    #[param(minimum = 240, maximum = 1280)]
    pub width: Option<u32>,
}

/// Query parameters of a GIF of a game.
#[derive(Clone, Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ClipQuery {
    /// The first turn, 0 for the start.
    pub from: Option<usize>,
    /// The last turn; without it the end of the game.
    pub to: Option<usize>,
    /// Turns per second; without it the GIF takes about 15 seconds.
    #[param(minimum = 0.2, maximum = 50)]
    pub speed: Option<f64>,
    /// What this seat could see, instead of everything.
    pub seat: Option<u8>,
    /// `light` or `dark` (the default).
    pub theme: Option<String>,
    /// Width in pixels.
    #[param(minimum = 240, maximum = 640)]
    pub width: Option<u32>,
}

/// What is drawn of a game.
#[derive(Clone, Debug)]
pub enum WantedPicture {
    /// A turn.
    Turn(PictureQuery),
    /// The card of a turn, for previews of links.
    Card(PictureQuery),
    /// A range of turns.
    Clip(ClipQuery),
}

/// A game of which a picture is made.
pub struct GameToDraw {
    /// The rules.
    pub game: Box<dyn AnyGame>,
    /// Files that replace the game's own.
    pub assets: Assets,
    /// The record.
    pub record: Record,
    /// Heading.
    pub title: String,
    /// Line above the heading of a card.
    pub subtitle: String,
    /// Numbers of the bots in the palette, in seat order, if they are known.
    pub colors: Option<Vec<u16>>,
    /// Name of the site.
    pub site: String,
}

/// The theme of this name.
pub fn theme(name: Option<&str>) -> ApiResult<Theme> {
    let Some(name) = name else { return Ok(Theme::default()) };
    Theme::by_name(name).ok_or_else(|| ApiError::invalid("theme", "`theme` must be `light` or `dark`"))
}

fn width(wanted: Option<u32>, default: u32, allowed: &std::ops::RangeInclusive<u32>) -> ApiResult<u32> {
    let width = wanted.unwrap_or(default);
    if allowed.contains(&width) {
        return Ok(width);
    }
    let message = format!("`width` must be from {} to {}", allowed.start(), allowed.end());
    Err(ApiError::invalid("width", message))
}

impl WantedPicture {
    /// Rejects parameters that are wrong for every game, before the record is read.
    pub fn check(&self) -> ApiResult<()> {
        match self {
            Self::Turn(query) | Self::Card(query) => {
                theme(query.theme.as_deref())?;
                width(query.width, DEFAULT_PICTURE_WIDTH, &PICTURE_WIDTHS)?;
            }
            Self::Clip(query) => {
                theme(query.theme.as_deref())?;
                width(query.width, DEFAULT_CLIP_WIDTH, &CLIP_WIDTHS)?;
                if query.speed.is_some_and(|speed| !SPEEDS.contains(&speed)) {
                    let message = format!(
                        "`speed` must be from {} to {} turns per second",
                        SPEEDS.start(),
                        SPEEDS.end()
                    );
                    return Err(ApiError::invalid("speed", message));
                }
                if let (Some(from), Some(to)) = (query.from, query.to)
                    && from > to
                {
                    return Err(ApiError::invalid("from", "`from` must not be after `to`"));
                }
            }
        }
        Ok(())
    }

    /// Text that is the same for equal pictures only.
    pub fn key(&self) -> String {
        format!("{self:?}")
    }
}

/// Makes the picture.
pub fn draw(game: GameToDraw, wanted: &WantedPicture) -> ApiResult<Vec<u8>> {
    let seats = game.record.header.seats.len();
    // A game that was played with files which the competition has replaced since then cannot be shown any more.
    let film = game.game.film(game.record, &game.assets).map_err(|error| {
        tracing::warn!(%error, "a game cannot be drawn");
        ApiError::not_found("picture").hint("the rules or the files of the game have changed since then")
    })?;
    let mut pictures = GamePictures::new(film.as_ref(), game.game.info()).titled(game.title);
    if let Some(colors) = game.colors {
        pictures = pictures.colored(colors);
    }
    if let Some(seat) = wanted.seat() {
        if usize::from(seat) >= seats {
            return Err(ApiError::not_found("seat")
                .hint(format!("the game has the seats 0 to {}", seats.saturating_sub(1))));
        }
        pictures = pictures.seen_from(Viewpoint::Seat(Seat(seat)));
    }
    let last = pictures.last_turn();
    match wanted {
        WantedPicture::Turn(query) => {
            let width = width(query.width, DEFAULT_PICTURE_WIDTH, &PICTURE_WIDTHS)?;
            let turn = turn(query.turn, last, last)?;
            let picture = pictures.picture(turn, width, theme(query.theme.as_deref())?);
            picture.and_then(|picture| picture.png()).map_err(picture_error)
        }
        WantedPicture::Card(query) => {
            let turn = turn(query.turn, last, last)?;
            let card = pictures.card(turn, &game.subtitle, &game.site, theme(query.theme.as_deref())?);
            card.and_then(|card| card.png()).map_err(picture_error)
        }
        WantedPicture::Clip(query) => pictures.gif(&clip_options(query, last)?).map_err(picture_error),
    }
}

impl WantedPicture {
    const fn seat(&self) -> Option<u8> {
        match self {
            Self::Turn(query) | Self::Card(query) => query.seat,
            Self::Clip(query) => query.seat,
        }
    }
}

fn clip_options(query: &ClipQuery, last: usize) -> ApiResult<ClipOptions> {
    let (from, to) = (turn(query.from, 0, last)?, turn(query.to, last, last)?);
    let usual = (to.saturating_sub(from) as f64 / DEFAULT_SECONDS).clamp(DEFAULT_SPEEDS.0, DEFAULT_SPEEDS.1);
    Ok(ClipOptions {
        from,
        to,
        turn_time: turn_time(query.speed.unwrap_or(usual)),
        width: width(query.width, DEFAULT_CLIP_WIDTH, &CLIP_WIDTHS)?,
        theme: theme(query.theme.as_deref())?,
        limits: CLIP_LIMITS,
    })
}

/// A turn of the game; 404 if there is no such turn.
fn turn(wanted: Option<usize>, default: usize, last: usize) -> ApiResult<usize> {
    let turn = wanted.unwrap_or(default);
    if turn <= last {
        return Ok(turn);
    }
    Err(ApiError::not_found("turn").hint(format!("the game has the turns 0 to {last}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clip(query: ClipQuery) -> Option<String> {
        WantedPicture::Clip(query).check().err().map(|error| error.code().to_owned())
    }

    #[test]
    fn parameters_that_no_game_has_are_rejected() {
        assert_eq!(clip(ClipQuery::default()), None);
        for speed in [0.0, -1.0, 51.0, f64::NAN] {
            assert_eq!(
                clip(ClipQuery { speed: Some(speed), ..ClipQuery::default() }).as_deref(),
                Some("invalid")
            );
        }
        for width in [0, 239, 641] {
            assert_eq!(
                clip(ClipQuery { width: Some(width), ..ClipQuery::default() }).as_deref(),
                Some("invalid")
            );
        }
        let wrong = ClipQuery { from: Some(3), to: Some(2), ..ClipQuery::default() };
        assert_eq!(clip(wrong).as_deref(), Some("invalid"));
        let wrong = ClipQuery { theme: Some("blue".to_owned()), ..ClipQuery::default() };
        assert_eq!(clip(wrong).as_deref(), Some("invalid"));
        let wide = PictureQuery { width: Some(2_000), ..PictureQuery::default() };
        assert!(WantedPicture::Turn(wide).check().is_err());
    }

    #[test]
    fn a_turn_after_the_end_is_not_found() {
        assert_eq!(
            turn(Some(9), 0, 8).map_err(|error| error.status()),
            Err(axum::http::StatusCode::NOT_FOUND)
        );
        assert_eq!(turn(None, 8, 8).ok(), Some(8));
    }
}
