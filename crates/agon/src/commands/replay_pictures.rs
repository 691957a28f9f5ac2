//! `agon replay RECORD --png FILE` and `--gif FILE`: a turn of a recorded game as a picture, or a range of turns as a GIF.

use agon_bots::Diagnostic;
use agon_core::{GameInfo, Seat, Viewpoint};
use agon_engine::Film;
use agon_pictures::clip::{ClipLimits, ClipOptions, turn_time};
use agon_pictures::scene::{MAX_WIDTH, MIN_WIDTH};
use agon_pictures::{GamePictures, PictureError, Theme};

use crate::args::{PictureTheme, Replay};
use crate::output;
use crate::output_file::OutputFile;

/// Speed of a GIF without `--speed`, in turns per second: the whole game takes about this many seconds, within these speeds.
const DEFAULT_SECONDS: f64 = 20.0;
const DEFAULT_SPEEDS: (f64, f64) = (1.0, 15.0);

/// Whether the arguments ask for a picture.
pub fn is_wanted(args: &Replay) -> bool {
    args.png.is_some() || args.gif.is_some()
}

/// Writes the picture and the GIF of the only game.
pub fn write(args: &Replay, films: &[(usize, &GameInfo, Box<dyn Film>)]) -> Result<(), Diagnostic> {
    let option = if args.png.is_some() { "--png" } else { "--gif" };
    let [(_, info, film)] = films else {
        let what = format!("{option}: the file contains {} games", films.len());
        return Err(Diagnostic::wrong_use(what, "choose one with --game K"));
    };
    let viewpoint = viewpoint(args, film.as_ref())?;
    let pictures = GamePictures::new(film.as_ref(), info).seen_from(viewpoint);
    let last = pictures.last_turn();
    let width = args.width.unwrap_or(640);
    if !(MIN_WIDTH..=MAX_WIDTH).contains(&width) {
        let hint = format!("use a number of pixels from {MIN_WIDTH} to {MAX_WIDTH}");
        return Err(Diagnostic::wrong_use(format!("--width: {width} is not possible"), hint));
    }
    let theme = match args.theme {
        PictureTheme::Light => Theme::Light,
        PictureTheme::Dark => Theme::Dark,
    };
    if let Some(path) = &args.png {
        let turn = turn("--turn", args.turn, last)?.unwrap_or(last);
        let png = pictures.picture(turn, width, theme).and_then(|picture| picture.png()).map_err(failed)?;
        OutputFile::write(path, "the picture", &png)?;
        output::print(&format!("picture: {}\n", path.display()))?;
    }
    if let Some(path) = &args.gif {
        let options = clip_options(args, last, width, theme)?;
        let gif = pictures.gif(&options).map_err(failed)?;
        OutputFile::write(path, "the GIF", &gif)?;
        output::print(&format!("gif: {} ({} KB)\n", path.display(), gif.len().div_ceil(1000)))?;
    }
    Ok(())
}

fn clip_options(args: &Replay, last: usize, width: u32, theme: Theme) -> Result<ClipOptions, Diagnostic> {
    let from = turn("--from", args.from, last)?.unwrap_or(0);
    let to = turn("--to", args.to, last)?.unwrap_or(last);
    if from > to {
        let what = format!("--from {from} is after --to {to}");
        return Err(Diagnostic::wrong_use(what, "give the earlier turn to --from"));
    }
    let usual = ((to - from) as f64 / DEFAULT_SECONDS).clamp(DEFAULT_SPEEDS.0, DEFAULT_SPEEDS.1);
    let speed = args.speed.unwrap_or(usual);
    if !(speed.is_finite() && (0.1..=50.0).contains(&speed)) {
        let hint = "use a number of turns per second from 0.1 to 50";
        return Err(Diagnostic::wrong_use(format!("--speed: {speed} is not possible"), hint));
    }
    Ok(ClipOptions { from, to, turn_time: turn_time(speed), width, theme, limits: ClipLimits::default() })
}

/// A turn of the game; an error if there is no such turn.
fn turn(option: &str, wanted: Option<usize>, last: usize) -> Result<Option<usize>, Diagnostic> {
    match wanted {
        Some(turn) if turn > last => {
            let what = format!("{option}: turn {turn} does not exist");
            Err(Diagnostic::wrong_use(what, format!("use a number from 0 (the start) to {last}")))
        }
        wanted => Ok(wanted),
    }
}

fn viewpoint(args: &Replay, film: &dyn Film) -> Result<Viewpoint, Diagnostic> {
    let seats = film.record().header.seats.len();
    match args.seat {
        None => Ok(Viewpoint::All),
        Some(seat) if usize::from(seat) < seats => Ok(Viewpoint::Seat(Seat(seat))),
        Some(seat) => {
            let what = format!("--seat: seat {seat} does not exist");
            Err(Diagnostic::wrong_use(what, format!("use a number from 0 to {}", seats.saturating_sub(1))))
        }
    }
}

fn failed(error: PictureError) -> Diagnostic {
    match error {
        PictureError::TooLarge { .. } => {
            Diagnostic::wrong_use(error, "choose fewer turns with --from and --to, or a smaller --width")
        }
        error => Diagnostic::internal(error),
    }
}
