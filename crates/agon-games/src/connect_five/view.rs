//! How to look at a game: frames for viewers, pictures for terminals.

use agon_core::{Eye, Game, Ink, Picture, Seat, Style, View};
use serde_json::{Value as Json, json};

use super::board::{COLUMNS, Mark, ROWS};
use super::{ConnectFive, Dropped, End, State};

/// Characters from one column to the next.
const STEP: usize = 4;
/// Characters left of the first column's middle.
const MARGIN: usize = 5;

impl View for ConnectFive {
    fn frame(&self, state: &State) -> Json {
        let special = &state.special;
        let last = state.last.map(|last| {
            let mark = state.mover().other();
            json!({
                "seat": self.seat_of(mark),
                "player": mark.number(),
                "named": last.named,
                "column": last.landed,
                "row": last.row,
                "drift": i16::from(last.landed) - i16::from(last.named),
            })
        });
        let winner = match state.end {
            End::Five(mark) => Some(self.seat_of(mark)),
            End::Fault(_, seat) => Some(Seat(1 - seat.0.min(1))),
            End::NotYet | End::Full => None,
        };
        let fault = match state.end {
            End::Fault(fault, seat) => Some(json!({ "fault": fault.name(), "seat": seat })),
            _ => None,
        };
        json!({
            "board": state.board.rows(),
            "moves": state.moves,
            "players": [self.mark_of(Seat(0)).number(), self.mark_of(Seat(1)).number()],
            "to_move": self.to_move(state).next(),
            "last": last,
            "line": line_cells(state),
            "special": special.columns,
            "p": special.p,
            "q": special.q,
            "played": self.played,
            "ended": self.outcome(state).map(|outcome| outcome.ended),
            "winner": winner,
            "fault": fault,
        })
    }

    const STANDING: &'static str = "pieces in the best line that can still become five";

    fn standing(&self, state: &State) -> Vec<f64> {
        [Seat(0), Seat(1)].map(|seat| f64::from(state.board.best_line(self.mark_of(seat)))).to_vec()
    }

    /// Who moved, and the board then; not which column was named: that the piece drifted is the mover's to know.
    fn log(&self, state: &State, seat: Seat) -> Option<Json> {
        let board = state.board.rows();
        Some(match state.last {
            None => json!({ "you": self.mark_of(seat).number(), "board": board }),
            Some(_) => json!({ "player": state.mover().other().number(), "board": board }),
        })
    }

    fn picture(&self, state: &State, eye: Eye, names: &[String]) -> Picture {
        let mut picture = Picture::new();
        self.put_heading(&mut picture, state, names);
        picture.line();
        self.put_drop(&mut picture, state, eye);
        put_numbers(&mut picture);
        self.put_grid(&mut picture, state);
        if eye == Eye::All {
            put_special(&mut picture, state);
        }
        picture.line();
        self.put_news(&mut picture, state, eye, names);
        picture
    }
}

/// The cells of the winning line, as `[row, column]` with the top row first.
fn line_cells(state: &State) -> Vec<[usize; 2]> {
    let End::Five(mark) = state.end else { return Vec::new() };
    let line = state.board.line(mark);
    let cells = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| [row, column]));
    cells.filter(|&[row, column]| line >> (column * ROWS + ROWS - 1 - row) & 1 == 1).collect()
}

fn put_numbers(picture: &mut Picture) {
    picture.line().text(" ".repeat(MARGIN));
    for column in 0..COLUMNS {
        picture.text(format!("{column:<STEP$}"));
    }
}

/// Below the grid: which columns are special, and what they do.
fn put_special(picture: &mut Picture, state: &State) {
    let special = &state.special;
    picture.line().text(" ".repeat(MARGIN));
    for column in 0..COLUMNS {
        let sign = if special.is_special(column) { "~" } else { " " };
        picture.put(format!("{sign:<STEP$}"), Style::ink(Ink::Accent).bold());
    }
    let [a, b] = special.columns;
    let (p, q) = (special.p, special.q);
    let text = format!(
        "   ~ special columns {a} and {b}: left {p:.3}, right {q:.3}, stays {:.3}",
        (1.0 - p - q).max(0.0)
    );
    picture.line().put(text, Style::ink(Ink::Accent));
}

/// A name that leaves room for the rest of its line.
fn short(name: &str) -> String {
    const MOST: usize = 28;
    if name.chars().count() <= MOST {
        return name.to_owned();
    }
    name.chars().take(MOST - 1).chain(['…']).collect()
}

impl ConnectFive {
    fn ink(&self, mark: Mark) -> Style {
        Style::ink(Ink::Seat(self.seat_of(mark).0))
    }

    fn name(&self, mark: Mark, names: &[String]) -> String {
        let seat = self.seat_of(mark);
        names.get(seat.index()).map_or_else(|| format!("seat {seat}"), |name| short(name))
    }

    fn put_heading(&self, picture: &mut Picture, state: &State, names: &[String]) {
        picture.line().text("   ");
        for mark in [Mark::X, Mark::O] {
            picture.put(format!("{} {}", mark.letter(), self.name(mark, names)), self.ink(mark).bold());
            if mark == Mark::X {
                picture.text("  against  ");
            }
        }
        let text = format!("   game {} of the match, move {}", self.played.saturating_add(1), state.moves);
        picture.line().put(text, Style::ink(Ink::Faint));
    }

    /// Above the column numbers: where the last piece was dropped, and an arrow to where it fell. A player knows
    /// only which column it named itself.
    fn put_drop(&self, picture: &mut Picture, state: &State, eye: Eye) {
        picture.line();
        let Some(last) = state.last else { return };
        let mark = state.mover().other();
        let named = if self.knows_name(mark, eye) { last.named } else { last.landed };
        let mut line = [' '; MARGIN + STEP * COLUMNS];
        let at = |column: u8| MARGIN + STEP * usize::from(column);
        let (from, to) = (at(named), at(last.landed));
        let between = from.min(to)..=from.max(to);
        line.iter_mut().enumerate().filter(|(i, _)| between.contains(i)).for_each(|(_, c)| *c = '-');
        for (i, sign) in [(from, 'o'), (to, 'v')] {
            if let Some(c) = line.get_mut(i) {
                *c = sign;
            }
        }
        picture.put(line.iter().collect::<String>(), self.ink(mark).bold());
    }

    /// Whether this eye knows which column this mark's bot named.
    fn knows_name(&self, mark: Mark, eye: Eye) -> bool {
        match eye {
            Eye::All => true,
            Eye::Seat(seat) => self.mark_of(seat) == mark,
        }
    }

    fn put_grid(&self, picture: &mut Picture, state: &State) {
        let frame = Style::ink(Ink::Faint);
        let line = line_cells(state);
        let rows = state.board.rows();
        for (row, cells) in rows.iter().enumerate() {
            picture.line().put("   |", frame);
            for (column, &cell) in cells.iter().enumerate() {
                let is_last = state.last.is_some_and(|Dropped { landed, row: last_row, .. }| {
                    usize::from(last_row) == row && usize::from(landed) == column
                });
                let mark = if cell == 1 { Mark::X } else { Mark::O };
                let letter = mark.letter();
                match cell {
                    0 => picture.put(" . ", frame),
                    _ if line.contains(&[row, column]) => {
                        let paper = Style { paper: Ink::Good, ..self.ink(mark).bold() };
                        picture.put(format!("[{letter}]"), paper)
                    }
                    _ if is_last => picture.put(format!("({letter})"), self.ink(mark).bold()),
                    _ => picture.put(format!(" {letter} "), self.ink(mark)),
                };
                picture.put(if column + 1 < COLUMNS { " " } else { "|" }, frame);
            }
        }
        picture.line().put(format!("   +{}+", "-".repeat(STEP * COLUMNS - 1)), frame);
    }

    /// What happened last, and what comes next or how it ended.
    fn put_news(&self, picture: &mut Picture, state: &State, eye: Eye, names: &[String]) {
        picture.line();
        if let Some(last) = state.last {
            let mark = state.mover().other();
            picture.text("   ").put(self.name(mark, names), self.ink(mark).bold());
            let (named, landed) = (last.named, last.landed);
            picture.text(match named.cmp(&landed) {
                _ if !self.knows_name(mark, eye) => format!(" put a piece into column {landed}"),
                std::cmp::Ordering::Equal => format!(" dropped into column {named}"),
                std::cmp::Ordering::Greater => {
                    format!(" dropped into column {named}, the piece drifted left to {landed}")
                }
                std::cmp::Ordering::Less => {
                    format!(" dropped into column {named}, the piece drifted right to {landed}")
                }
            });
        }
        picture.line().text("   ");
        match state.end {
            End::NotYet => {
                let mark = state.mover();
                picture.put(format!("{} {}", mark.letter(), self.name(mark, names)), self.ink(mark).bold());
                picture.text(" to move");
            }
            End::Full => {
                picture.put("draw: board full", Style::ink(Ink::Accent).bold());
            }
            End::Five(mark) => {
                picture.put(format!("{} {}", mark.letter(), self.name(mark, names)), self.ink(mark).bold());
                picture.put(" wins: five in a line", Style::ink(Ink::Good).bold());
            }
            End::Fault(fault, seat) => {
                let mark = self.mark_of(seat);
                picture.put(format!("{} {}", mark.letter(), self.name(mark, names)), self.ink(mark).bold());
                let lost = Self::info().cost(fault).words();
                picture.put(format!(" {lost}: {fault}"), Style::ink(Ink::Bad).bold());
            }
        }
    }
}
