//! `--watch`: shows games in the terminal, while they are played or later, or prints them as text without a terminal.

mod controls;
pub mod live;
pub mod paint;
mod screen;

use std::io::{self, IsTerminal as _};

use agon_bots::Diagnostic;
use agon_core::{GameInfo, PaletteColor, Picture, Viewpoint};
use agon_engine::Film;

use crate::output;

/// Default number of pictures when a game is printed as text.
const DEFAULT_PICTURES: usize = 24;

/// Shows films. `numbers`: with ids as numbers, in a game that can show them.
pub fn watch(
    info: &GameInfo,
    films: &[Box<dyn Film>],
    every: Option<usize>,
    numbers: bool,
) -> Result<(), Diagnostic> {
    if numbers && films.iter().any(|film| film.picture_with_numbers(0, Viewpoint::All).is_none()) {
        return Err(no_numbers(info));
    }
    if every.is_none() && io::stdout().is_terminal() && io::stdin().is_terminal() {
        return screen::run(info, films, numbers).map_err(Diagnostic::from);
    }
    for (number, film) in films.iter().enumerate() {
        let picture = |turn| picture(info, films, number, turn, numbers);
        output::print(&dump(info, film.as_ref(), number + 1, every, &picture))?;
    }
    Ok(())
}

/// The error for `--numbers` in a game that has no ids.
pub fn no_numbers(info: &GameInfo) -> Diagnostic {
    let what = format!("--numbers: {} has no ids to show as numbers", info.title);
    Diagnostic::wrong_use(what, "omit --numbers")
}

/// Picture of a film after a turn. In games of more than two seats a bot has the same colour in all films, wherever it sits.
fn picture(info: &GameInfo, films: &[Box<dyn Film>], number: usize, turn: usize, numbers: bool) -> Picture {
    let Some(film) = films.get(number) else { return Picture::new() };
    let with_numbers = numbers.then(|| film.picture_with_numbers(turn, Viewpoint::All)).flatten();
    let mut picture = with_numbers.unwrap_or_else(|| film.picture(turn, Viewpoint::All));
    if info.seats.max > 2 {
        let colours = seat_colours(films, number);
        for style in picture.lines.iter_mut().flatten().map(|span| &mut span.style) {
            for colour in [&mut style.color, &mut style.background] {
                if let PaletteColor::Seat(seat) = colour {
                    *seat = colours.get(usize::from(*seat)).copied().unwrap_or(*seat);
                }
            }
        }
    }
    picture
}

/// Colour of each seat of a film: the number of its bot among the names of all films.
fn seat_colours(films: &[Box<dyn Film>], number: usize) -> Vec<u8> {
    let mut known: Vec<&str> = Vec::new();
    for seat in films.iter().flat_map(|film| &film.record().header.seats) {
        if !known.contains(&seat.name.as_str()) {
            known.push(&seat.name);
        }
    }
    let seats = films.get(number).map_or(&[][..], |film| &film.record().header.seats);
    let colour = |name: &str| known.iter().position(|one| *one == name).unwrap_or(0) as u8;
    seats.iter().map(|seat| colour(&seat.name)).collect()
}

/// Prints a film: the start, every Nth turn, every turn with a fault, and the end.
fn dump(
    info: &GameInfo,
    film: &dyn Film,
    number: usize,
    every: Option<usize>,
    picture: &dyn Fn(usize) -> Picture,
) -> String {
    let last = film.len() - 1;
    let step = every.unwrap_or(last / DEFAULT_PICTURES + 1).max(1);
    let colour = output::colour();
    let mut text = format!("=== {}, game {number}, {}\n", info.title, title(film));
    for turn in 0..=last {
        let faults = film.faults(turn);
        if !turn.is_multiple_of(step) && turn != last && faults.is_empty() {
            continue;
        }
        text += &format!("\n--- {}\n", caption(turn, last));
        text += &paint::ansi(&picture(turn), colour);
        for fault in faults {
            text +=
                &format!("fault: seat {}: {}: {}\n", fault.seat, fault.report.fault, fault.report.message);
        }
    }
    text + &format!("\nended: {}\n\n", film.record().outcome.ended)
}

fn title(film: &dyn Film) -> String {
    let names: Vec<&str> = film.record().header.seats.iter().map(|seat| seat.name.as_str()).collect();
    format!("{}, seed {}", names.join(" - "), film.record().header.seed)
}

fn caption(turn: usize, last: usize) -> String {
    if turn == 0 { "start".to_owned() } else { format!("turn {turn} of {last}") }
}

#[cfg(test)]
mod tests {
    use agon_core::record::{Recorder, read_all};
    use agon_core::{Assets, Settings};
    use agon_engine::any_game::{MatchSetup, hooks_with_recorder};
    use agon_engine::{PlayerSpec, any_game};

    use super::*;

    const GAME: &str = "colour-battle";

    /// A film of a short game of these house bots.
    fn film(names: [&str; 3]) -> Box<dyn Film> {
        let game = any_game(GAME).unwrap();
        let seats = names.map(|name| PlayerSpec::House(name.to_owned()));
        let settings = Settings::parse(game.info().settings, [("rounds", "5")]).unwrap();
        let plan = MatchSetup { settings: &settings, seed: 7, seats: &seats, assets: &Assets::none() };
        let (mut recorder, mut file) = (Recorder::new(), Vec::new());
        let mut keep = |played: agon_engine::PlayedGame| file = played.record.unwrap().0;
        game.play(&plan, 0..1, &mut hooks_with_recorder(Some(&mut recorder)), &mut keep).unwrap();
        let record = read_all(&file).unwrap().remove(0);
        game.film(record, &Assets::none()).unwrap()
    }

    /// The colour of the letter before a name.
    fn colour_of(picture: &Picture, name: &str) -> PaletteColor {
        let line =
            picture.lines.iter().find(|line| line.iter().any(|span| span.text.contains(name))).unwrap();
        let at = line.iter().position(|span| span.text.contains(name)).unwrap();
        line[at - 1].style.background
    }

    #[test]
    fn bot_keeps_its_colour_in_another_seat_of_another_game() {
        let films = [film(["random", "sweeper", "seeker"]), film(["seeker", "random", "drawn"])];
        assert_eq!(seat_colours(&films, 0), [0, 1, 2]);
        assert_eq!(
            seat_colours(&films, 1),
            [2, 0, 3],
            "a bot that is new in the second game has a new colour"
        );
        assert!(seat_colours(&films, 2).is_empty(), "there is no third game");
        let info = any_game(GAME).unwrap().info();
        for numbers in [false, true] {
            let drawn =
                [0, 1].map(|number: usize| picture(info, &films, number, films[number].len() - 1, numbers));
            for (name, colour) in [("random", 0), ("seeker", 2)] {
                let colours = [0, 1].map(|number: usize| colour_of(&drawn[number], name));
                assert_eq!(colours, [PaletteColor::Seat(colour); 2], "{name}");
            }
            assert_eq!(colour_of(&drawn[1], "drawn"), PaletteColor::Seat(3));
        }
    }
}
