//! The board as shapes: pieces behind a front with holes, the last move, the winning line, and at the end the special columns.

use agon_core::Viewpoint;
use agon_core::drawing::{Color, Drawing, Shape, ThemeColor};

use super::board::{COLUMNS, Mark, ROWS};
use super::view::line_cells;
use super::{ConnectFive, GameEnd, INFO, LastDrop, State};

/// Side of a cell.
const CELL: f32 = 60.0;
/// Height above the board, where the last move is drawn.
const TOP: f32 = 62.0;
/// Space left and right of the board.
const SIDE: f32 = 30.0;
const WIDTH: f32 = 2.0 * SIDE + COLUMNS as f32 * CELL;
const HEIGHT: f32 = TOP + ROWS as f32 * CELL + 46.0;
/// Radius of a piece and of a hole.
const RADIUS: f32 = 25.0;

fn x(column: usize) -> f32 {
    SIDE + (column as f32 + 0.5) * CELL
}

fn y(row: usize) -> f32 {
    TOP + (row as f32 + 0.5) * CELL
}

impl ConnectFive {
    /// The board as a viewpoint sees it. The special columns are a secret of the match, so spectators learn them at the end, and
    /// players never.
    pub(super) fn shapes(&self, state: &State, viewpoint: Viewpoint) -> Drawing {
        let mut drawing = Drawing::new(WIDTH, HEIGHT).titled(format!("{}, move {}", INFO.title, state.moves));
        let front =
            Shape::rect(SIDE - 8.0, TOP - 6.0, COLUMNS as f32 * CELL + 16.0, ROWS as f32 * CELL + 14.0);
        drawing.add(front.rounded(14.0).fill(ThemeColor::Board));
        let shows_special = viewpoint == Viewpoint::All && state.end != GameEnd::NotYet;
        let special = |column: usize| shows_special && state.special.is_special(column);
        for column in (0..COLUMNS).filter(|&column| special(column)) {
            let stripe = Shape::rect(x(column) - 28.0, TOP - 6.0, 56.0, ROWS as f32 * CELL + 14.0);
            drawing.add(stripe.fill(ThemeColor::Ink).opacity(0.18));
        }
        self.add_pieces(&mut drawing, state);
        add_winning_line(&mut drawing, state);
        if let Some(last) = state.last {
            self.add_last_drop(&mut drawing, state, last, viewpoint);
        }
        for column in 0..COLUMNS {
            let text = |sign: String| Shape::text(x(column), TOP + ROWS as f32 * CELL + 34.0, 19.0, sign);
            drawing.add(if special(column) {
                text(format!("~{column}~")).bold().fill(ThemeColor::Ink)
            } else {
                text(column.to_string()).fill(ThemeColor::Muted)
            });
        }
        drawing
    }

    fn add_pieces(&self, drawing: &mut Drawing, state: &State) {
        let line = line_cells(state);
        for (row, cells) in state.board.rows().iter().enumerate() {
            for (column, &cell) in cells.iter().enumerate() {
                let (x, y) = (x(column), y(row));
                if cell == 0 {
                    drawing.add(Shape::circle(x, y, RADIUS).fill(ThemeColor::Background));
                    continue;
                }
                let mark = if cell == Mark::X.number() { Mark::X } else { Mark::O };
                let seat = self.seat_of(mark);
                let edge = if line.contains(&[row, column]) {
                    (ThemeColor::Ink, 5.0)
                } else {
                    (ThemeColor::Edge, 1.5)
                };
                drawing.add(Shape::circle(x, y, RADIUS).fill(seat).stroke(edge.0, edge.1));
                let ink = Color::OnSeat(seat.0);
                if mark == Mark::X {
                    for (a, b) in [([-9.0, -9.0], [9.0, 9.0]), ([9.0, -9.0], [-9.0, 9.0])] {
                        let line = Shape::line([x + a[0], y + a[1]], [x + b[0], y + b[1]]);
                        drawing.add(line.stroke(ink, 5.0));
                    }
                } else {
                    drawing.add(Shape::circle(x, y, 10.0).stroke(ink, 5.0));
                }
            }
        }
    }

    /// Draws a ring around the newest piece, and an arrow if it drifted. Only the mover and spectators know the named column.
    fn add_last_drop(&self, drawing: &mut Drawing, state: &State, last: LastDrop, viewpoint: Viewpoint) {
        let mark = state.mover().other();
        let named = if self.knows_chosen_column(mark, viewpoint) { last.named } else { last.landed };
        let (from, to) = (x(named.into()), x(last.landed.into()));
        let ring = Shape::circle(to, y(last.row.into()), 28.0);
        drawing.add(ring.stroke(ThemeColor::Ink, 3.0).dashed(5.0, 4.0));
        let height = TOP - 34.0;
        if named == last.landed {
            let points = vec![[from - 9.0, height], [from + 9.0, height], [from, height + 12.0]];
            drawing.add(Shape::polygon(points).fill(ThemeColor::Ink));
        } else {
            drawing.add(Shape::circle(from, height, 6.0).fill(ThemeColor::Ink));
            drawing.add(Shape::arrow([from, height], [to, height]).stroke(ThemeColor::Ink, 4.0));
        }
    }
}

fn add_winning_line(drawing: &mut Drawing, state: &State) {
    let cells = line_cells(state);
    let (Some(&[row, column]), Some(&[last_row, last_column])) = (cells.first(), cells.last()) else {
        return;
    };
    // The cells are in the order of the rows, so the first and the last are the ends of the line.
    let (from, to) = ([x(column), y(row)], [x(last_column), y(last_row)]);
    drawing.add(Shape::line(from, to).stroke(ThemeColor::Background, 13.0));
    drawing.add(Shape::line(from, to).stroke(ThemeColor::Ink, 7.0));
}

#[cfg(test)]
mod tests {
    use agon_core::drawing::ShapeForm;
    use agon_core::{Assets, Fault, Game as _, Reply, Seat, Settings};

    use super::*;

    fn special_marks(game: &ConnectFive, state: &State, viewpoint: Viewpoint) -> usize {
        let is_mark =
            |shape: &&Shape| matches!(&shape.form, ShapeForm::Text { text, .. } if text.starts_with('~'));
        game.shapes(state, viewpoint).shapes.iter().filter(is_mark).count()
    }

    #[test]
    fn special_columns_are_shown_to_spectators_at_the_end_and_to_players_never() {
        let game = ConnectFive::new(&Settings::defaults(INFO.settings), 2, &Assets::none()).unwrap();
        let mut state = game.start(3);
        assert_eq!(special_marks(&game, &state, Viewpoint::All), 0);
        game.apply(&mut state, &[Reply::Fault(Fault::Crash)]);
        assert_eq!(special_marks(&game, &state, Viewpoint::All), 2);
        assert_eq!(special_marks(&game, &state, Viewpoint::Seat(Seat(0))), 0);
    }
}
