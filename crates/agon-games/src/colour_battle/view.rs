//! Display of Colour Battle: frames for viewers, pictures for terminals.

use std::cmp::Ordering::{Greater, Less};
use std::cmp::Reverse;

use agon_core::{PaletteColor, Picture, Reply, Seat, Style, View, Viewpoint};
use serde_json::{Value as Json, json};

use super::canvas::{Move, Position};
use super::state::{PaintEffect, Painter, State};
use super::{ColourBattle, INFO};

/// Largest side drawn with two characters per tile (20 bots, 100 columns with the scoreboard). Larger canvases use one
/// character per tile.
const MAX_WIDE_SIDE: u8 = 36;

/// Letter of each id: lower case for the floor, upper case for the bot.
const FLOOR_LETTERS: &str = "abcdefghijklmnopqrstuvwxyz0123456789αβγδεζηθικλμνξοπρστυφχψωбгдж";
const BOT_LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩБГДЖ";

fn letter(letters: &str, id: u8) -> char {
    usize::from(id).checked_sub(1).and_then(|i| letters.chars().nth(i)).unwrap_or('·')
}

const fn arrow(step: Move) -> char {
    match step {
        Move::Up => '↑',
        Move::Down => '↓',
        Move::Left => '←',
        Move::Right => '→',
        Move::Stay => '·',
    }
}

impl View for ColourBattle {
    /// `grid` is a flat list, row by row from `y = 0`, so that a delta contains only the changed tiles.
    fn frame(&self, state: &State) -> Json {
        let counts = state.grid().counts_by_id();
        let bots: Vec<Json> = Seat::all(self.seats)
            .map(|seat| {
                let Painter { id, position } = state.painter(seat);
                let tiles = counts[usize::from(id)];
                let share = (self.share(tiles) * 1000.0).round() / 1000.0;
                let mut bot =
                    json!({ "seat": seat, "id": id, "position": position, "tiles": tiles, "share": share });
                if let Some(action) = state.last_action(id) {
                    bot["from"] = json!(action.from);
                    bot["floor"] = json!(action.floor);
                    bot["did"] = json!(action.effect);
                    match action.reply {
                        Reply::Answer(step) => bot["move"] = json!(step.name()),
                        Reply::Fault(fault) => bot["fault"] = json!(fault),
                    }
                }
                bot
            })
            .collect();
        json!({
            "round": state.rounds_played(),
            "rounds": self.rounds,
            "side": self.side,
            "grid": state.grid().tiles(),
            "white": counts[0],
            "bots": bots,
            "clashes": clashes(state),
        })
    }

    const CHART_LABEL: &'static str = "share of the canvas in %";

    fn chart_values(&self, state: &State) -> Vec<f64> {
        let counts = state.grid().counts_by_id();
        let share = |seat| self.share(counts[usize::from(state.painter(seat).id)]);
        Seat::all(self.seats).map(|seat| (share(seat) * 100.0).round() / 100.0).collect()
    }

    fn picture(&self, state: &State, viewpoint: Viewpoint, names: &[String]) -> Picture {
        let board = self.scoreboard(state, viewpoint, names);
        let mut picture = Picture::new();
        self.put_title(&mut picture, state, viewpoint);
        let width = usize::from(self.side) * if self.side <= MAX_WIDE_SIDE { 2 } else { 1 };
        let edge = |l, r| format!("{l}{}{r}", "─".repeat(width));
        let frame = Style::color(PaletteColor::Faint);
        picture.line().put(edge('┌', '┐'), frame);
        put_entry(&mut picture, &board, 0);
        for y in (0..self.side).rev() {
            picture.line().put("│", frame);
            self.put_row(&mut picture, state, viewpoint, y);
            picture.put("│", frame);
            put_entry(&mut picture, &board, usize::from(self.side - y));
        }
        picture.line().put(edge('└', '┘'), frame);
        put_entry(&mut picture, &board, usize::from(self.side) + 1);
        picture
    }
}

/// Tiles on which two or more bots met in the last round.
fn clashes(state: &State) -> Vec<Position> {
    let mut tiles: Vec<Position> = state
        .painters()
        .iter()
        .filter(|bot| state.last_action(bot.id).is_some_and(|action| action.effect == PaintEffect::Clashed))
        .map(|bot| bot.position)
        .collect();
    tiles.sort_unstable_by_key(|p| (p.y, p.x));
    tiles.dedup();
    tiles
}

/// A line of the scoreboard.
struct ScoreboardEntry {
    id: u8,
    text: String,
    bold: bool,
}

impl ColourBattle {
    fn put_title(&self, picture: &mut Picture, state: &State, viewpoint: Viewpoint) {
        let bold = Style::default().bold();
        let white = state.grid().counts_by_id()[0];
        picture.line().put(INFO.title, bold);
        picture.text(format!("  round {} of {}", state.rounds_played(), self.rounds));
        picture.text(format!("  white {:.1} %", self.share(white)));
        if let Viewpoint::Seat(seat) = viewpoint {
            let Painter { id, position } = state.painter(seat);
            picture.put(format!("  you are {} (id {id})", letter(BOT_LETTERS, id)), bold);
            picture.text(format!(" at [{}, {}]", position.x, position.y));
        } else {
            let met = clashes(state);
            if let Some(first) = met.first() {
                let more = if met.len() > 1 { format!(" and {} more", met.len() - 1) } else { String::new() };
                let text = format!("  * clash at [{}, {}]{more}", first.x, first.y);
                picture.put(text, Style::color(PaletteColor::Bad));
            }
        }
    }

    /// Draws one row of tiles: the floor letter on its colour, then the bot on it (`*` for several).
    fn put_row(&self, picture: &mut Picture, state: &State, viewpoint: Viewpoint, y: u8) {
        let own = if let Viewpoint::Seat(seat) = viewpoint { state.painter(seat).id } else { 0 };
        for x in 0..self.side {
            let here = Position { x, y };
            let floor = state.grid().at(here);
            let paper = if floor == 0 { PaletteColor::Plain } else { PaletteColor::Seat(floor - 1) };
            let style = if floor == 0 { Style::color(PaletteColor::Faint) } else { Style::background(paper) };
            let bot = match state.bots_on(here) {
                0 => None,
                1 => state.painters().iter().find(|bot| bot.position == here),
                _ => Some(&Painter { id: 0, position: here }),
            };
            let wide = self.side <= MAX_WIDE_SIDE;
            if wide || bot.is_none() {
                picture.put(letter(FLOOR_LETTERS, floor), style);
            }
            match bot {
                Some(bot) => {
                    let mark = if bot.id == 0 { '*' } else { letter(BOT_LETTERS, bot.id) };
                    let ink = match bot.id {
                        0 => PaletteColor::Bad,
                        id if id == own => PaletteColor::Accent,
                        _ => PaletteColor::Plain,
                    };
                    picture.put(mark, Style { color: ink, background: paper, bold: true });
                }
                None if wide => {
                    picture.put(" ", style);
                }
                None => {}
            }
        }
    }

    /// Bots by share, best first. A player sees ids and what is visible on the canvas. A spectator also sees names, moves and
    /// faults.
    fn scoreboard(&self, state: &State, viewpoint: Viewpoint, names: &[String]) -> Vec<ScoreboardEntry> {
        let counts = state.grid().counts_by_id();
        let mut bots: Vec<Painter> = state.painters().to_vec();
        bots.sort_by_key(|bot| (Reverse(counts[usize::from(bot.id)]), bot.id));
        let own = if let Viewpoint::Seat(seat) = viewpoint { state.painter(seat).id } else { 0 };
        let entry = |bot: &Painter| {
            let seat = state.seat_of(bot.id).unwrap_or(Seat(0));
            let name = match viewpoint {
                Viewpoint::Seat(_) if bot.id == own => "you".to_owned(),
                Viewpoint::Seat(_) => format!("id {}", bot.id),
                Viewpoint::All => {
                    names.get(seat.index()).cloned().unwrap_or_else(|| format!("id {}", bot.id))
                }
            };
            let last = match state.last_action(bot.id) {
                None => ' ',
                Some(action) if viewpoint == Viewpoint::All => match action.reply {
                    Reply::Answer(step) => arrow(step),
                    Reply::Fault(_) => '!',
                },
                Some(action) => arrow(step_between(action.from, bot.position)),
            };
            let name: String = name.chars().take(12).collect();
            let share = self.share(counts[usize::from(bot.id)]);
            let text = format!(" {name:<12} {share:6.2}% {last}");
            ScoreboardEntry { id: bot.id, text, bold: bot.id == own }
        };
        bots.iter().map(entry).collect()
    }
}

/// Move from one tile to an adjacent one.
fn step_between(from: Position, to: Position) -> Move {
    match (to.x.cmp(&from.x), to.y.cmp(&from.y)) {
        (_, Greater) => Move::Up,
        (_, Less) => Move::Down,
        (Less, _) => Move::Left,
        (Greater, _) => Move::Right,
        _ => Move::Stay,
    }
}

fn put_entry(picture: &mut Picture, board: &[ScoreboardEntry], row: usize) {
    if let Some(entry) = board.get(row) {
        picture.text(" ").put(
            letter(BOT_LETTERS, entry.id),
            Style::background(PaletteColor::Seat(entry.id.saturating_sub(1))).bold(),
        );
        picture.put(entry.text.as_str(), Style { bold: entry.bold, ..Style::default() });
    }
}
