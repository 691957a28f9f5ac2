//! Display of a game: frames for viewers, pictures for terminals.

use agon_core::{Drawing, Game, Outcome, PaletteColor, Picture, Seat, Style, View, Viewpoint};
use serde_json::{Value as Json, json};

use super::board::{COLUMNS, Mark, ROWS};
use super::{Column, ConnectFive, GameEnd, LastDrop, State};

/// Width of a column in characters.
const COLUMN_WIDTH: usize = 4;
/// Number of characters left of the centre of the first column.
const LEFT_MARGIN: usize = 5;

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
            GameEnd::Five(mark) => Some(self.seat_of(mark)),
            GameEnd::Fault(_, seat) => Some(Seat(1 - seat.0.min(1))),
            GameEnd::NotYet | GameEnd::Full => None,
        };
        let fault = match state.end {
            GameEnd::Fault(fault, seat) => Some(json!({ "fault": fault.name(), "seat": seat })),
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

    /// The special columns are hidden until the end, and the column that the opponent named: only where its piece landed can be
    /// seen.
    fn seat_frame(&self, state: &State, seat: Seat) -> Json {
        let mut frame = self.frame(state);
        if state.end != GameEnd::NotYet {
            return frame;
        }
        frame["special"] = json!([]);
        (frame["p"], frame["q"]) = (Json::Null, Json::Null);
        if let Some(last) = state.last.filter(|_| state.mover() == self.mark_of(seat)) {
            frame["last"]["named"] = json!(last.landed);
            frame["last"]["drift"] = json!(0);
        }
        frame
    }

    fn legal_answers(&self, state: &State, seat: Seat) -> Vec<Column> {
        if !self.to_move(state).contains(seat) {
            return Vec::new();
        }
        (0..COLUMNS)
            .filter(|&column| state.board.has_room(column))
            .map(|column| Column(column as i64))
            .collect()
    }

    const CHART_LABEL: &'static str = "pieces in the best line that can still become five";

    fn chart_values(&self, state: &State) -> Vec<f64> {
        [Seat(0), Seat(1)].map(|seat| f64::from(state.board.best_line(self.mark_of(seat)))).to_vec()
    }

    /// The player that moved and the board after it. The named column is omitted, because only the mover knows about a drift.
    fn write_log_entry(&self, state: &State, reader: Option<Seat>, out: &mut String) -> bool {
        let digit = |number: u8| char::from(b'0' + number);
        match (state.last, reader) {
            (None, Some(seat)) => {
                out.push_str("{\"you\":");
                out.push(digit(self.mark_of(seat).number()));
            }
            (None, None) => out.push_str("{\"you\":null"),
            (Some(_), _) => {
                out.push_str("{\"player\":");
                out.push(digit(state.mover().other().number()));
            }
        }
        out.push_str(",\"board\":");
        for (row, cells) in state.board.rows().iter().enumerate() {
            out.push_str(if row == 0 { "[[" } else { ",[" });
            for (column, &cell) in cells.iter().enumerate() {
                if column > 0 {
                    out.push(',');
                }
                out.push(digit(cell));
            }
            out.push(']');
        }
        out.push_str("]}");
        true
    }

    fn write_log_result(&self, outcome: &Outcome, reader: Option<Seat>, out: &mut String) {
        let winners: Vec<Seat> = Seat::all(2).filter(|seat| outcome.seats[seat.index()].place == 1).collect();
        let winner = if let [winner] = winners[..] { Some(winner) } else { None };
        let you = reader.map(|seat| match winner {
            None => "drew",
            Some(winner) if winner == seat => "won",
            Some(_) => "lost",
        });
        let result = json!({
            "winner": winner.map(|seat| self.mark_of(seat).number()),
            "winner_seat": winner.map(|seat| seat.0),
            "you": you,
            "score": reader.map(|seat| outcome.seats[seat.index()].score),
            "ended": outcome.ended,
        });
        out.push_str(&result.to_string());
    }

    fn drawing(&self, state: &State, viewpoint: Viewpoint, _names: &[String]) -> Drawing {
        self.shapes(state, viewpoint)
    }

    fn picture(&self, state: &State, viewpoint: Viewpoint, names: &[String]) -> Picture {
        let mut picture = Picture::new();
        self.put_heading(&mut picture, state, names);
        picture.line();
        self.put_last_drop(&mut picture, state, viewpoint);
        put_numbers(&mut picture);
        self.put_grid(&mut picture, state);
        if viewpoint == Viewpoint::All {
            put_special(&mut picture, state);
        }
        picture.line();
        self.put_status(&mut picture, state, viewpoint, names);
        picture
    }
}

/// Cells of the winning line as `[row, column]`, top row first.
pub(super) fn line_cells(state: &State) -> Vec<[usize; 2]> {
    let GameEnd::Five(mark) = state.end else { return Vec::new() };
    let line = state.board.winning_cells(mark);
    let cells = (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| [row, column]));
    cells.filter(|&[row, column]| line >> (column * ROWS + ROWS - 1 - row) & 1 == 1).collect()
}

fn put_numbers(picture: &mut Picture) {
    picture.line().text(" ".repeat(LEFT_MARGIN));
    for column in 0..COLUMNS {
        picture.text(format!("{column:<COLUMN_WIDTH$}"));
    }
}

/// Draws the special columns and their probabilities below the board.
fn put_special(picture: &mut Picture, state: &State) {
    let special = &state.special;
    picture.line().text(" ".repeat(LEFT_MARGIN));
    for column in 0..COLUMNS {
        let sign = if special.is_special(column) { "~" } else { " " };
        picture.put(format!("{sign:<COLUMN_WIDTH$}"), Style::color(PaletteColor::Accent).bold());
    }
    let [a, b] = special.columns;
    let (p, q) = (special.p, special.q);
    let text = format!(
        "   ~ special columns {a} and {b}: left {p:.3}, right {q:.3}, stays {:.3}",
        (1.0 - p - q).max(0.0)
    );
    picture.line().put(text, Style::color(PaletteColor::Accent));
}

/// Shortens a name to fit its line.
fn truncate_name(name: &str) -> String {
    const MAX_NAME_CHARS: usize = 28;
    if name.chars().count() <= MAX_NAME_CHARS {
        return name.to_owned();
    }
    name.chars().take(MAX_NAME_CHARS - 1).chain(['…']).collect()
}

impl ConnectFive {
    fn style(&self, mark: Mark) -> Style {
        Style::color(PaletteColor::Seat(self.seat_of(mark).0))
    }

    fn name(&self, mark: Mark, names: &[String]) -> String {
        let seat = self.seat_of(mark);
        names.get(seat.index()).map_or_else(|| format!("seat {seat}"), |name| truncate_name(name))
    }

    fn put_heading(&self, picture: &mut Picture, state: &State, names: &[String]) {
        picture.line().text("   ");
        for mark in [Mark::X, Mark::O] {
            picture.put(format!("{} {}", mark.letter(), self.name(mark, names)), self.style(mark).bold());
            if mark == Mark::X {
                picture.text("  against  ");
            }
        }
        let text = format!("   game {} of the match, move {}", self.played.saturating_add(1), state.moves);
        picture.line().put(text, Style::color(PaletteColor::Faint));
    }

    /// Draws the last drop above the column numbers, with an arrow to where the piece landed. Only the mover knows which column
    /// was named.
    fn put_last_drop(&self, picture: &mut Picture, state: &State, viewpoint: Viewpoint) {
        picture.line();
        let Some(last) = state.last else { return };
        let mark = state.mover().other();
        let named = if self.knows_chosen_column(mark, viewpoint) { last.named } else { last.landed };
        let mut line = [' '; LEFT_MARGIN + COLUMN_WIDTH * COLUMNS];
        let at = |column: u8| LEFT_MARGIN + COLUMN_WIDTH * usize::from(column);
        let (from, to) = (at(named), at(last.landed));
        let between = from.min(to)..=from.max(to);
        line.iter_mut().enumerate().filter(|(i, _)| between.contains(i)).for_each(|(_, c)| *c = '-');
        for (i, sign) in [(from, 'o'), (to, 'v')] {
            if let Some(c) = line.get_mut(i) {
                *c = sign;
            }
        }
        picture.put(line.iter().collect::<String>(), self.style(mark).bold());
    }

    /// Whether this viewpoint knows which column the bot of this mark named.
    pub(super) fn knows_chosen_column(&self, mark: Mark, viewpoint: Viewpoint) -> bool {
        match viewpoint {
            Viewpoint::All => true,
            Viewpoint::Seat(seat) => self.mark_of(seat) == mark,
        }
    }

    fn put_grid(&self, picture: &mut Picture, state: &State) {
        let frame = Style::color(PaletteColor::Faint);
        let line = line_cells(state);
        let rows = state.board.rows();
        for (row, cells) in rows.iter().enumerate() {
            picture.line().put("   |", frame);
            for (column, &cell) in cells.iter().enumerate() {
                let is_last = state.last.is_some_and(|LastDrop { landed, row: last_row, .. }| {
                    usize::from(last_row) == row && usize::from(landed) == column
                });
                let mark = if cell == 1 { Mark::X } else { Mark::O };
                let letter = mark.letter();
                match cell {
                    0 => picture.put(" . ", frame),
                    _ if line.contains(&[row, column]) => {
                        let paper = Style { background: PaletteColor::Good, ..self.style(mark).bold() };
                        picture.put(format!("[{letter}]"), paper)
                    }
                    _ if is_last => picture.put(format!("({letter})"), self.style(mark).bold()),
                    _ => picture.put(format!(" {letter} "), self.style(mark)),
                };
                picture.put(if column + 1 < COLUMNS { " " } else { "|" }, frame);
            }
        }
        picture.line().put(format!("   +{}+", "-".repeat(COLUMN_WIDTH * COLUMNS - 1)), frame);
    }

    /// Draws the last move, and the player to move or the result.
    fn put_status(&self, picture: &mut Picture, state: &State, viewpoint: Viewpoint, names: &[String]) {
        picture.line();
        if let Some(last) = state.last {
            let mark = state.mover().other();
            picture.text("   ").put(self.name(mark, names), self.style(mark).bold());
            let (named, landed) = (last.named, last.landed);
            picture.text(match named.cmp(&landed) {
                _ if !self.knows_chosen_column(mark, viewpoint) => {
                    format!(" put a piece into column {landed}")
                }
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
            GameEnd::NotYet => {
                let mark = state.mover();
                picture.put(format!("{} {}", mark.letter(), self.name(mark, names)), self.style(mark).bold());
                picture.text(" to move");
            }
            GameEnd::Full => {
                picture.put("draw: board full", Style::color(PaletteColor::Accent).bold());
            }
            GameEnd::Five(mark) => {
                picture.put(format!("{} {}", mark.letter(), self.name(mark, names)), self.style(mark).bold());
                picture.put(" wins: five in a line", Style::color(PaletteColor::Good).bold());
            }
            GameEnd::Fault(fault, seat) => {
                let mark = self.mark_of(seat);
                picture.put(format!("{} {}", mark.letter(), self.name(mark, names)), self.style(mark).bold());
                let lost = Self::info().penalty(fault).describe();
                picture.put(format!(" {lost}: {fault}"), Style::color(PaletteColor::Bad).bold());
            }
        }
    }
}
