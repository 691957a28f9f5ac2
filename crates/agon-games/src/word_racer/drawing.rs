//! The boards as shapes: letters, the words that count, their points, and the newest letter.

use std::collections::BTreeSet;

use agon_core::drawing::{Anchor, Color, Drawing, Shape, ThemeColor};
use agon_core::{Seat, Viewpoint};

use super::WordRacer;
use super::board::{CELLS, CENTRE, SIDE};
use super::scoring::{FoundWord, board_points, found_words};
use super::state::{State, TURNS};

const CELL: f32 = 50.0;
/// Side of the squares of a board.
const SQUARES: f32 = SIDE as f32 * CELL;
/// Height of the line with the name, and space right and below for the points of lines.
const HEADER: f32 = 44.0;
const SUMS: f32 = 40.0;
const MARGIN: f32 = 6.0;
/// Width and height of a board with name and points.
const BOARD_WIDTH: f32 = SQUARES + SUMS;
const HEIGHT: f32 = HEADER + SQUARES + SUMS;
/// Space between two boards.
const GAP: f32 = 14.0;
/// Height of the line with the called letters.
const CALLS: f32 = 36.0;
/// A letter of a new word, which glows in all themes.
const ON_GLOW: Color = Color::Rgb([16, 18, 22]);

fn corner(cell: usize) -> [f32; 2] {
    [(cell % SIDE) as f32 * CELL, HEADER + (cell / SIDE) as f32 * CELL]
}

impl WordRacer {
    /// The boards that a viewpoint may see: during the game, a player sees only its own.
    pub(super) fn shapes(&self, state: &State, viewpoint: Viewpoint, names: &[String]) -> Drawing {
        let seats = match viewpoint {
            Viewpoint::Seat(seat) if state.request().is_some() => vec![Seat(seat.0 & 1)],
            _ => vec![Seat(0), Seat(1)],
        };
        let boards = seats.len() as f32;
        let width = 2.0 * MARGIN + boards * BOARD_WIDTH + (boards - 1.0) * GAP;
        let turn = (state.turns_done() + 1).min(TURNS);
        let mut drawing = Drawing::new(width, 2.0 * MARGIN + CALLS + HEIGHT);
        drawing.title = format!("Word Racer, turn {turn} of {TURNS}");
        let first = state.board(Seat(0)).get(CENTRE);
        let calls: String = first.iter().chain(state.calls()).map(|letter| letter.to_char()).collect();
        let line = Shape::text(width / 2.0, MARGIN + 22.0, 20.0, calls).within(width - 2.0 * MARGIN);
        drawing.add(line.fill(ThemeColor::Muted));
        for (index, seat) in seats.into_iter().enumerate() {
            let x = MARGIN + index as f32 * (BOARD_WIDTH + GAP);
            let name = names.get(seat.index()).map_or("", String::as_str);
            drawing.add_at(x, MARGIN + CALLS, self.board_shapes(state, seat, name));
        }
        drawing
    }

    fn board_shapes(&self, state: &State, seat: Seat, name: &str) -> Drawing {
        let mut drawing = Drawing::new(BOARD_WIDTH, HEIGHT);
        let board = state.board(seat);
        drawing.add(Shape::mark(2.0, 4.0, 25.0, name).fill(seat));
        let name = Shape::text(36.0, 25.0, 22.0, name).bold().anchored(Anchor::Start).within(SQUARES - 110.0);
        drawing.add(name.fill(ThemeColor::Ink));
        let points = format!("{} points", board_points(self.words(), board));
        let points = Shape::text(SQUARES, 25.0, 20.0, points).anchored(Anchor::End);
        drawing.add(points.fill(ThemeColor::Ink));
        let found = found_words(self.words(), board);
        let newest = state.places(seat).last().map(|&position| usize::from(position));
        for cell in 0..CELLS {
            add_cell(&mut drawing, cell, board.get(cell).is_some());
        }
        let is_new = |word: &FoundWord| newest.is_some_and(|cell| word.cells.contains(&cell));
        let lit: BTreeSet<usize> =
            found.iter().filter(|word| is_new(word)).flat_map(|word| word.cells.iter().copied()).collect();
        for &cell in &lit {
            let [x, y] = corner(cell);
            let glow = Shape::rect(x + 3.0, y + 3.0, CELL - 6.0, CELL - 6.0).rounded(4.0);
            drawing.add(glow.fill(ThemeColor::Glow));
        }
        for word in &found {
            add_word(&mut drawing, seat, word, is_new(word));
        }
        for cell in 0..CELLS {
            let Some(letter) = board.get(cell) else { continue };
            let [x, y] = corner(cell);
            let text = Shape::text(x + CELL / 2.0, y + CELL / 2.0 + 9.5, 27.0, letter.to_string());
            let ink = if lit.contains(&cell) { ON_GLOW } else { ThemeColor::Ink.into() };
            drawing.add(text.bold().fill(ink));
        }
        if let Some([x, y]) = newest.map(corner) {
            let frame = Shape::rect(x + 1.5, y + 1.5, CELL - 3.0, CELL - 3.0).rounded(5.0);
            drawing.add(frame.stroke(ThemeColor::Ink, 2.5));
        }
        add_sums(&mut drawing, &found);
        drawing
    }
}

fn add_cell(drawing: &mut Drawing, cell: usize, filled: bool) {
    let [x, y] = corner(cell);
    let square = Shape::rect(x + 1.0, y + 1.0, CELL - 2.0, CELL - 2.0).rounded(5.0);
    let (fill, line) = if filled {
        (ThemeColor::Background, ThemeColor::Muted)
    } else {
        (ThemeColor::Cell, ThemeColor::Line)
    };
    let square = square.fill(fill);
    drawing.add(if cell == CENTRE { square.stroke(ThemeColor::Ink, 2.5) } else { square.stroke(line, 1.0) });
}

/// Frames a word, slightly inside its cells. Vertical words have a narrower, dashed frame.
fn add_word(drawing: &mut Drawing, seat: Seat, word: &FoundWord, is_new: bool) {
    let (Some(&first), Some(&last)) = (word.cells.first(), word.cells.last()) else { return };
    let in_row = word.line < SIDE;
    let inset = if in_row { 4.0 } else { 8.0 };
    let ([x, y], [right, bottom]) = (corner(first), corner(last));
    let (width, height) = (right - x + CELL - 2.0 * inset, bottom - y + CELL - 2.0 * inset);
    let frame = Shape::rect(x + inset, y + inset, width, height).rounded(12.0).title(&word.word);
    drawing.add(frame.clone().fill(seat).opacity(if in_row { 0.16 } else { 0.1 }));
    let frame = frame.stroke(seat, if is_new { 4.5 } else { 2.5 });
    drawing.add(if in_row { frame } else { frame.dashed(7.0, 4.0) });
}

/// Draws the points of the rows at the right and of the columns below.
fn add_sums(drawing: &mut Drawing, found: &[FoundWord]) {
    let points = |line: usize| -> u32 {
        found.iter().filter(|word| word.line == line).map(|word| u32::from(word.points)).sum()
    };
    for line in 0..SIDE {
        let along = line as f32 * CELL + CELL / 2.0;
        let places =
            [(line, SQUARES + 20.0, HEADER + along + 6.0), (SIDE + line, along, HEADER + SQUARES + 24.0)];
        for (line, x, y) in places {
            if points(line) > 0 {
                drawing.add(Shape::text(x, y, 17.0, points(line).to_string()).bold().fill(ThemeColor::Muted));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use agon_core::drawing::ShapeForm;
    use agon_core::{Assets, Fault, Game as _, Reply, Settings};

    use super::*;

    #[test]
    fn a_player_sees_the_other_board_only_at_the_end() {
        let game =
            WordRacer::new(&Settings::defaults(WordRacer::info().settings), 2, &Assets::none()).unwrap();
        let names = ["a".to_owned(), "b".to_owned()];
        let boards = |state: &State, viewpoint| {
            let is_mark = |shape: &&Shape| matches!(shape.form, ShapeForm::Mark { .. });
            game.shapes(state, viewpoint, &names).shapes.iter().filter(is_mark).count()
        };
        let mut state = game.start(3);
        assert_eq!(boards(&state, Viewpoint::All), 2);
        assert_eq!(boards(&state, Viewpoint::Seat(Seat(1))), 1);
        game.apply(&mut state, &[Reply::Fault(Fault::Crash)]);
        assert_eq!(boards(&state, Viewpoint::Seat(Seat(1))), 2);
    }
}
