//! Display of a game: frames for graphical viewers, pictures for terminals.

use agon_core::{Drawing, Game as _, PaletteColor, Picture, Seat, Style, View, Viewpoint};
use serde_json::{Value as Json, json};

use super::board::{Board, CENTRE, Letter, SIDE};
use super::scoring::{FoundWord, best_places, found_words};
use super::state::{RequestKind, State, TURNS, other_seat};
use super::words::WordList;
use super::{Answer, WordRacer, board_points};

/// Width of a board in the picture, with the words of its rows.
const BOARD_WIDTH: usize = 44;

/// Maximum number of displayed characters of a name.
const MAX_NAME_CHARS: usize = 20;

const SEATS: [Seat; 2] = [Seat(0), Seat(1)];

impl View for WordRacer {
    fn frame(&self, state: &State) -> Json {
        let request = state.request();
        let outcome = self.outcome(state);
        json!({
            "turn": state.turns_done(),
            "turns": TURNS,
            "first": state.first(),
            "start": state.board(Seat(0)).get(CENTRE),
            "to_move": request.map(|(seat, _)| seat),
            "asked": request.map(|(_, request)| match request {
                RequestKind::Call => "call",
                RequestKind::Place(_) => "place",
            }),
            "calls": state.calls().iter().map(|letter| letter.to_char()).collect::<String>(),
            "places": SEATS.map(|seat| state.places(seat)),
            "last": last_turn(state),
            "boards": SEATS.map(|seat| state.board(seat)),
            "best": best(self.words(), state),
            "words": SEATS.map(|seat| found_words(self.words(), state.board(seat))),
            "points": self.points(state),
            "fault": state.fault().map(|(seat, fault)| json!({"seat": seat, "fault": fault})),
            "result": outcome.map(|outcome| json!({
                "ended": outcome.ended,
                "scores": outcome.seats.iter().map(|seat| seat.score).collect::<Vec<_>>(),
            })),
        })
    }

    /// The opponent's board is hidden until the end, with its words and points. Its first letter is known.
    fn seat_frame(&self, state: &State, seat: Seat) -> Json {
        let mut frame = self.frame(state);
        if state.request().is_none() {
            return frame;
        }
        let hidden = other_seat(seat).index() & 1;
        let start = state.board(seat).get(CENTRE);
        frame["boards"][hidden] = json!(start.map_or(Board::EMPTY, Board::with_first));
        for (list, nothing) in [("places", json!([])), ("words", json!([])), ("points", Json::Null)] {
            frame[list][hidden] = nothing;
        }
        if let Some(last) = frame["last"].as_object_mut() {
            last["positions"][hidden] = Json::Null;
        }
        // Where the letter brings the most points is for the players to find out.
        frame["best"] = Json::Null;
        frame
    }

    fn legal_answers(&self, state: &State, seat: Seat) -> Vec<Answer> {
        let Some((_, request)) = state.request().filter(|(mover, _)| *mover == seat) else {
            return Vec::new();
        };
        let free = state.board(seat).free().map(|position| position as u32);
        match request {
            RequestKind::Place(_) => free.map(|position| Answer::Place { position }).collect(),
            RequestKind::Call => free
                .flat_map(|position| Letter::all().map(move |letter| Answer::Call { letter, position }))
                .collect(),
        }
    }

    const CHART_LABEL: &'static str = "word points";

    fn chart_values(&self, state: &State) -> Vec<f64> {
        self.points(state).map(f64::from).to_vec()
    }

    fn drawing(&self, state: &State, viewpoint: Viewpoint, names: &[String]) -> Drawing {
        self.shapes(state, viewpoint, names)
    }

    fn picture(&self, state: &State, viewpoint: Viewpoint, names: &[String]) -> Picture {
        let names = SEATS.map(|seat| name_of(names, seat));
        // Boards are hidden from the opponent until the end of the game.
        let shown: Vec<Seat> = match viewpoint {
            Viewpoint::Seat(seat) if state.request().is_some() => vec![Seat(seat.0 & 1)],
            _ => SEATS.to_vec(),
        };
        let mut picture = Picture::new();
        self.draw_heading(&mut picture, state, &shown, &names);
        picture.line();
        let blocks: Vec<Picture> =
            shown.iter().map(|&seat| self.draw_board(state, seat, &names[seat.index()])).collect();
        side_by_side(&mut picture, &blocks);
        picture
    }
}

/// Last called letter: the caller, and its position on each board (`null` if not placed yet).
fn last_turn(state: &State) -> Json {
    let Some(turn) = state.calls().len().checked_sub(1) else { return Json::Null };
    json!({
        "caller": state.caller(turn),
        "letter": state.calls()[turn],
        "positions": SEATS.map(|seat| state.places(seat).get(turn)),
    })
}

/// For each seat the positions where the last called letter brings the most points, on the board before the seat wrote it. `null` before
/// the first call.
fn best(words: &WordList, state: &State) -> Json {
    let Some(turn) = state.calls().len().checked_sub(1) else { return Json::Null };
    let letter = state.calls()[turn];
    json!(SEATS.map(|seat| {
        let board = *state.board(seat);
        let written = state.places(seat).get(turn);
        let before = written.map_or(board, |&position| board.without(usize::from(position)));
        best_places(words, &before, letter)
    }))
}

fn name_of(names: &[String], seat: Seat) -> String {
    let name = names.get(seat.index()).map_or_else(|| format!("seat {seat}"), Clone::clone);
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_NAME_CHARS).collect()
}

impl WordRacer {
    fn draw_heading(&self, picture: &mut Picture, state: &State, shown: &[Seat], names: &[String; 2]) {
        let turn = (state.turns_done() + 1).min(TURNS);
        picture.line().put("Word Racer", Style::default().bold()).text(format!("  turn {turn} of {TURNS}"));
        picture.line();
        draw_last_turn(picture, state, shown, names);
        picture.line();
        match (state.request(), state.fault()) {
            (Some((seat, RequestKind::Call)), _) => {
                draw_name(picture, names, seat);
                picture.text(" calls the next letter");
            }
            (Some((seat, RequestKind::Place(letter))), _) => {
                draw_name(picture, names, seat);
                picture
                    .text(" has to place ")
                    .put(letter.to_string(), Style::color(PaletteColor::Accent).bold());
            }
            (None, Some((seat, fault))) => {
                picture.put(
                    format!("{fault} of {}: ", names[seat.index()]),
                    Style::color(PaletteColor::Bad).bold(),
                );
                draw_name(picture, names, other_seat(seat));
                picture.text(" wins");
            }
            (None, None) => {
                let points = self.points(state);
                let best = usize::from(points[1] > points[0]);
                if points[0] == points[1] {
                    picture.text("a draw");
                } else {
                    draw_name(picture, names, SEATS[best]);
                    picture.text(" wins");
                }
                picture.text(format!(", {} to {}", points[best], points[1 - best]));
            }
        }
    }

    /// Draws a board. Letters of a counted word are joined with `-` in rows and `|` in columns.
    fn draw_board(&self, state: &State, seat: Seat, name: &str) -> Picture {
        let board = state.board(seat);
        let found = found_words(self.words(), board);
        let newest = state.places(seat).last().map(|&position| usize::from(position));
        let points = board_points(self.words(), board);
        let mut picture = Picture::new();
        picture.line().put(name, Style::color(PaletteColor::Seat(seat.0)).bold());
        picture.text(format!("  {points} points"));
        picture.line();
        for row in 0..SIDE {
            draw_row(&mut picture, board, &found, row, newest);
            if row + 1 < SIDE {
                draw_between(&mut picture, &found, row);
            }
        }
        draw_columns(&mut picture, &found);
        picture
    }
}

fn draw_name(picture: &mut Picture, names: &[String; 2], seat: Seat) {
    picture.put(names[seat.index() & 1].clone(), Style::color(PaletteColor::Seat(seat.0)).bold());
}

fn draw_last_turn(picture: &mut Picture, state: &State, shown: &[Seat], names: &[String; 2]) {
    let Some(turn) = state.calls().len().checked_sub(1) else {
        if let Some(letter) = state.board(Seat(0)).get(CENTRE) {
            picture.text("first letter ").put(letter.to_string(), Style::color(PaletteColor::Accent).bold());
        }
        return;
    };
    let caller = state.caller(turn);
    draw_name(picture, names, caller);
    picture.text(" called ").put(state.calls()[turn].to_string(), Style::color(PaletteColor::Accent).bold());
    for &seat in shown {
        if let Some(position) = state.places(seat).get(turn) {
            picture.text(", ");
            draw_name(picture, names, seat);
            picture.text(format!(" at {position}"));
        }
    }
}

fn in_row_word(found: &[FoundWord], cell: usize) -> bool {
    found.iter().any(|f| f.line < SIDE && f.cells.contains(&cell))
}

fn in_column_word(found: &[FoundWord], cell: usize) -> bool {
    found.iter().any(|f| f.line >= SIDE && f.cells.contains(&cell))
}

/// Whether two neighbouring cells belong to the same counted word.
fn joined(found: &[FoundWord], cell: usize, next: usize) -> bool {
    found.iter().any(|f| f.cells.windows(2).any(|pair| pair == [cell, next]))
}

fn draw_row(picture: &mut Picture, board: &Board, found: &[FoundWord], row: usize, newest: Option<usize>) {
    picture.line().put(format!("{:>3}  ", row * SIDE), Style::color(PaletteColor::Faint));
    for column in 0..SIDE {
        let cell = row * SIDE + column;
        let text = board.get(cell).map_or_else(|| ".".to_owned(), |letter| letter.to_string());
        let ink = match (board.get(cell), in_row_word(found, cell), in_column_word(found, cell)) {
            (None, ..) => PaletteColor::Faint,
            (_, true, true) => PaletteColor::Accent,
            (_, true, false) | (_, false, true) => PaletteColor::Good,
            (_, false, false) => PaletteColor::Plain,
        };
        let paper = if newest == Some(cell) { PaletteColor::Faint } else { PaletteColor::Plain };
        picture.put(
            text,
            Style {
                color: ink,
                background: paper,
                bold: matches!(ink, PaletteColor::Accent | PaletteColor::Good),
            },
        );
        if column + 1 < SIDE {
            let link = if joined(found, cell, cell + 1) { "-" } else { " " };
            picture.put(link, Style::color(PaletteColor::Good));
        }
    }
    let points = points_of(found, row);
    if points > 0 {
        picture.put(format!("  {points:>2}"), Style::color(PaletteColor::Good).bold());
        picture.text(format!(" {}", words_of(found, row)));
    }
}

fn draw_between(picture: &mut Picture, found: &[FoundWord], row: usize) {
    picture.line().text("     ");
    for column in 0..SIDE {
        let cell = row * SIDE + column;
        let link = if joined(found, cell, cell + SIDE) { "| " } else { "  " };
        picture.put(link, Style::color(PaletteColor::Good));
    }
}

/// Draws the points below the columns (every other one a line lower, so that they do not touch) and their words.
fn draw_columns(picture: &mut Picture, found: &[FoundWord]) {
    for odd in [0, 1] {
        picture.line().text("    ");
        for column in 0..SIDE {
            let points = points_of(found, SIDE + column);
            let text = if points > 0 && column % 2 == odd { format!("{points:>2}") } else { "  ".to_owned() };
            picture.put(text, Style::color(PaletteColor::Good).bold());
        }
    }
    picture.line();
    let words: Vec<String> = (SIDE..2 * SIDE)
        .filter(|&line| points_of(found, line) > 0)
        .map(|line| words_of(found, line))
        .collect();
    let mut width = 0;
    picture.line();
    for (i, words) in words.iter().enumerate() {
        let lead = match (i, width + words.len() + 3 > BOARD_WIDTH - 4) {
            (0, _) => "down ",
            (_, true) => {
                picture.line();
                width = 0;
                "     "
            }
            (_, false) => " / ",
        };
        width += lead.len() + words.len();
        picture.put(lead, Style::color(PaletteColor::Faint)).text(words.clone());
    }
}

fn points_of(found: &[FoundWord], line: usize) -> u32 {
    found.iter().filter(|f| f.line == line).map(|f| u32::from(f.points)).sum()
}

fn words_of(found: &[FoundWord], line: usize) -> String {
    found.iter().filter(|f| f.line == line).map(|f| f.word.as_str()).collect::<Vec<_>>().join(" ")
}

/// Appends blocks side by side, each [`BOARD_WIDTH`] wide.
fn side_by_side(picture: &mut Picture, blocks: &[Picture]) {
    let height = blocks.iter().map(|block| block.lines.len()).max().unwrap_or(0);
    for row in 0..height {
        picture.line();
        let mut missing = 0;
        for block in blocks {
            picture.text(" ".repeat(missing));
            let spans = block.lines.get(row).map_or(&[][..], Vec::as_slice);
            for span in spans {
                picture.put(span.text.clone(), span.style);
            }
            let width: usize = spans.iter().map(|span| span.text.chars().count()).sum();
            missing = BOARD_WIDTH.saturating_sub(width);
        }
    }
}
