//! How to look at a Colour Battle: frames for viewers, pictures for terminals.

use std::cmp::Ordering::{Greater, Less};
use std::cmp::Reverse;

use agon_core::{Eye, Ink, Picture, Reply, Seat, Style, View};
use serde_json::{Value as Json, json};

use super::canvas::{Move, Position};
use super::state::{Effect, Painter, State};
use super::{ColourBattle, INFO};

/// Canvases up to this side are drawn two characters a tile (that is 20 bots, 100 columns with the
/// scoreboard); larger ones one character a tile.
const WIDE_SIDE: u8 = 36;

/// One letter for each id: lower case on the floor, upper case for the bot itself.
const FLOOR: &str = "abcdefghijklmnopqrstuvwxyz0123456789αβγδεζηθικλμνξοπρστυφχψωбгдж";
const BOTS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩБГДЖ";

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
    /// `grid` is flat, row by row from `y = 0`, so that a round's delta names just the tiles that changed.
    fn frame(&self, state: &State) -> Json {
        let tally = state.grid().tally();
        let bots: Vec<Json> = Seat::all(self.seats)
            .map(|seat| {
                let Painter { id, position } = state.painter(seat);
                let tiles = tally[usize::from(id)];
                let share = (self.share(tiles) * 1000.0).round() / 1000.0;
                let mut bot =
                    json!({ "seat": seat, "id": id, "position": position, "tiles": tiles, "share": share });
                if let Some(deed) = state.deed(id) {
                    bot["from"] = json!(deed.from);
                    bot["floor"] = json!(deed.floor);
                    bot["did"] = json!(deed.effect);
                    match deed.reply {
                        Reply::Answer(step) => bot["move"] = json!(step.name()),
                        Reply::Fault(fault) => bot["fault"] = json!(fault),
                    }
                }
                bot
            })
            .collect();
        json!({
            "round": state.played(),
            "rounds": self.rounds,
            "side": self.side,
            "grid": state.grid().tiles(),
            "white": tally[0],
            "bots": bots,
            "clashes": clashes(state),
        })
    }

    const STANDING: &'static str = "share of the canvas in %";

    fn standing(&self, state: &State) -> Vec<f64> {
        let tally = state.grid().tally();
        let share = |seat| self.share(tally[usize::from(state.painter(seat).id)]);
        Seat::all(self.seats).map(|seat| (share(seat) * 100.0).round() / 100.0).collect()
    }

    fn picture(&self, state: &State, eye: Eye, names: &[String]) -> Picture {
        let board = self.scoreboard(state, eye, names);
        let mut picture = Picture::new();
        self.put_title(&mut picture, state, eye);
        let width = usize::from(self.side) * if self.side <= WIDE_SIDE { 2 } else { 1 };
        let edge = |l, r| format!("{l}{}{r}", "─".repeat(width));
        let frame = Style::ink(Ink::Faint);
        picture.line().put(edge('┌', '┐'), frame);
        put_entry(&mut picture, &board, 0);
        for y in (0..self.side).rev() {
            picture.line().put("│", frame);
            self.put_row(&mut picture, state, eye, y);
            picture.put("│", frame);
            put_entry(&mut picture, &board, usize::from(self.side - y));
        }
        picture.line().put(edge('└', '┘'), frame);
        put_entry(&mut picture, &board, usize::from(self.side) + 1);
        picture
    }
}

/// The tiles where two or more bots met in the last round.
fn clashes(state: &State) -> Vec<Position> {
    let mut tiles: Vec<Position> = state
        .painters()
        .iter()
        .filter(|bot| state.deed(bot.id).is_some_and(|deed| deed.effect == Effect::Clashed))
        .map(|bot| bot.position)
        .collect();
    tiles.sort_unstable_by_key(|p| (p.y, p.x));
    tiles.dedup();
    tiles
}

/// A line of the scoreboard.
struct Entry {
    id: u8,
    text: String,
    bold: bool,
}

impl ColourBattle {
    fn put_title(&self, picture: &mut Picture, state: &State, eye: Eye) {
        let bold = Style::default().bold();
        let white = state.grid().tally()[0];
        picture.line().put(INFO.title, bold);
        picture.text(format!("  round {} of {}", state.played(), self.rounds));
        picture.text(format!("  white {:.1} %", self.share(white)));
        if let Eye::Seat(seat) = eye {
            let Painter { id, position } = state.painter(seat);
            picture.put(format!("  you are {} (id {id})", letter(BOTS, id)), bold);
            picture.text(format!(" at [{}, {}]", position.x, position.y));
        } else {
            let met = clashes(state);
            if let Some(first) = met.first() {
                let more = if met.len() > 1 { format!(" and {} more", met.len() - 1) } else { String::new() };
                let text = format!("  * clash at [{}, {}]{more}", first.x, first.y);
                picture.put(text, Style::ink(Ink::Bad));
            }
        }
    }

    /// One row of tiles: the floor's letter on its colour, then the bot that stands there (`*` for several).
    fn put_row(&self, picture: &mut Picture, state: &State, eye: Eye, y: u8) {
        let own = if let Eye::Seat(seat) = eye { state.painter(seat).id } else { 0 };
        for x in 0..self.side {
            let here = Position { x, y };
            let floor = state.grid().at(here);
            let paper = if floor == 0 { Ink::Plain } else { Ink::Seat(floor - 1) };
            let style = if floor == 0 { Style::ink(Ink::Faint) } else { Style::on(paper) };
            let bot = match state.crowd(here) {
                0 => None,
                1 => state.painters().iter().find(|bot| bot.position == here),
                _ => Some(&Painter { id: 0, position: here }),
            };
            let wide = self.side <= WIDE_SIDE;
            if wide || bot.is_none() {
                picture.put(letter(FLOOR, floor), style);
            }
            match bot {
                Some(bot) => {
                    let mark = if bot.id == 0 { '*' } else { letter(BOTS, bot.id) };
                    let ink = match bot.id {
                        0 => Ink::Bad,
                        id if id == own => Ink::Accent,
                        _ => Ink::Plain,
                    };
                    picture.put(mark, Style { ink, paper, bold: true });
                }
                None if wide => {
                    picture.put(" ", style);
                }
                None => {}
            }
        }
    }

    /// The bots by share, best first. A player sees ids and what can be seen on the canvas, a spectator names,
    /// moves and faults too.
    fn scoreboard(&self, state: &State, eye: Eye, names: &[String]) -> Vec<Entry> {
        let tally = state.grid().tally();
        let mut bots: Vec<Painter> = state.painters().to_vec();
        bots.sort_by_key(|bot| (Reverse(tally[usize::from(bot.id)]), bot.id));
        let own = if let Eye::Seat(seat) = eye { state.painter(seat).id } else { 0 };
        let entry = |bot: &Painter| {
            let seat = state.seat_of(bot.id).unwrap_or(Seat(0));
            let name = match eye {
                Eye::Seat(_) if bot.id == own => "you".to_owned(),
                Eye::Seat(_) => format!("id {}", bot.id),
                Eye::All => names.get(seat.index()).cloned().unwrap_or_else(|| format!("id {}", bot.id)),
            };
            let last = match state.deed(bot.id) {
                None => ' ',
                Some(deed) if eye == Eye::All => match deed.reply {
                    Reply::Answer(step) => arrow(step),
                    Reply::Fault(_) => '!',
                },
                Some(deed) => arrow(step_between(deed.from, bot.position)),
            };
            let name: String = name.chars().take(12).collect();
            let share = self.share(tally[usize::from(bot.id)]);
            let text = format!(" {name:<12} {share:6.2}% {last}");
            Entry { id: bot.id, text, bold: bot.id == own }
        };
        bots.iter().map(entry).collect()
    }
}

/// The move that leads from one tile to the other.
fn step_between(from: Position, to: Position) -> Move {
    match (to.x.cmp(&from.x), to.y.cmp(&from.y)) {
        (_, Greater) => Move::Up,
        (_, Less) => Move::Down,
        (Less, _) => Move::Left,
        (Greater, _) => Move::Right,
        _ => Move::Stay,
    }
}

fn put_entry(picture: &mut Picture, board: &[Entry], row: usize) {
    if let Some(entry) = board.get(row) {
        picture
            .text(" ")
            .put(letter(BOTS, entry.id), Style::on(Ink::Seat(entry.id.saturating_sub(1))).bold());
        picture.put(entry.text.as_str(), Style { bold: entry.bold, ..Style::default() });
    }
}
