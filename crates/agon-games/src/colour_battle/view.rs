//! Display of Colour Battle: frames for viewers, pictures for terminals.

use std::cmp::Ordering::{Greater, Less};
use std::cmp::Reverse;

use agon_core::{Drawing, Game as _, PaletteColor, Picture, Reply, Seat, Style, View, Viewpoint};
use serde_json::{Value as Json, json};

use super::canvas::{Move, Position};
use super::state::{PaintEffect, Painter, State};
use super::{ColourBattle, INFO};

/// How ids are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IdStyle {
    /// As letters: `a` for the floor, `A` for the bot.
    Letters,
    /// As numbers, so that `(own - floor) % 3` can be read off. Bots stay letters.
    Numbers,
}

/// Largest side drawn with two characters per tile (20 bots, 100 columns with the scoreboard). Larger canvases use one
/// character per tile.
const MAX_WIDE_SIDE: u8 = 36;

/// Letter of each id: lower case for the floor, upper case for the bot.
const FLOOR_LETTERS: &str = "abcdefghijklmnopqrstuvwxyz0123456789αβγδεζηθικλμνξοπρστυφχψωбгдж";
const BOT_LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩБГДЖ";

fn letter(letters: &str, id: u8) -> char {
    usize::from(id).checked_sub(1).and_then(|i| letters.chars().nth(i)).unwrap_or('·')
}

/// Letter of a bot with this id.
pub(super) fn bot_letter(id: u8) -> char {
    letter(BOT_LETTERS, id)
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

    /// Bots must not recognise each other, so a seat sees the others in the order of their ids, at the remaining places of the
    /// list, with what the canvas shows of their actions: a step instead of the answer.
    fn seat_frame(&self, state: &State, seat: Seat) -> Json {
        let mut frame = self.frame(state);
        let own = state.painter(seat).id;
        let Some(bots) = frame["bots"].as_array_mut() else { return frame };
        let others = state.painters().iter().filter(|bot| bot.id != own);
        let mut others: Vec<Json> = others
            .filter_map(|bot| {
                let mut shown = bots.get(state.seat_of(bot.id)?.index())?.clone();
                if let (Some(action), Some(fields)) = (state.last_action(bot.id), shown.as_object_mut()) {
                    fields.remove("fault");
                    let step = step_between(action.from, bot.position);
                    fields.insert("move".to_owned(), json!(step.name()));
                }
                Some(shown)
            })
            .collect();
        if let Some(mine) = bots.get(seat.index()).cloned() {
            others.insert(seat.index().min(others.len()), mine);
        }
        for (place, bot) in Seat::all(others.len()).zip(&mut others) {
            bot["seat"] = json!(place);
        }
        frame["bots"] = Json::Array(others);
        frame
    }

    fn legal_answers(&self, state: &State, seat: Seat) -> Vec<Move> {
        if self.to_move(state).contains(seat) { Move::ALL.to_vec() } else { Vec::new() }
    }

    const CHART_LABEL: &'static str = "share of the canvas in %";

    fn chart_values(&self, state: &State) -> Vec<f64> {
        let counts = state.grid().counts_by_id();
        let share = |seat| self.share(counts[usize::from(state.painter(seat).id)]);
        Seat::all(self.seats).map(|seat| (share(seat) * 100.0).round() / 100.0).collect()
    }

    fn drawing(&self, state: &State, viewpoint: Viewpoint, _names: &[String]) -> Drawing {
        self.shapes(state, viewpoint)
    }

    fn picture(&self, state: &State, viewpoint: Viewpoint, names: &[String]) -> Picture {
        self.draw(state, viewpoint, names, IdStyle::Letters)
    }

    fn picture_with_numbers(&self, state: &State, viewpoint: Viewpoint, names: &[String]) -> Option<Picture> {
        Some(self.draw(state, viewpoint, names, IdStyle::Numbers))
    }
}

impl ColourBattle {
    fn draw(&self, state: &State, viewpoint: Viewpoint, names: &[String], ids: IdStyle) -> Picture {
        let board = self.scoreboard(state, viewpoint, names, ids);
        let mut picture = Picture::new();
        self.put_title(&mut picture, state, viewpoint);
        let width = usize::from(self.side) * self.tile_width(ids);
        let edge = |l, r| format!("{l}{}{r}", "─".repeat(width));
        let frame = Style::color(PaletteColor::Faint);
        picture.line().put(edge('┌', '┐'), frame);
        put_entry(&mut picture, &board, 0);
        for y in (0..self.side).rev() {
            picture.line().put("│", frame);
            match ids {
                IdStyle::Letters => self.put_row(&mut picture, state, viewpoint, y),
                IdStyle::Numbers => self.put_row_with_numbers(&mut picture, state, viewpoint, y),
            }
            picture.put("│", frame);
            put_entry(&mut picture, &board, usize::from(self.side - y));
        }
        picture.line().put(edge('└', '┘'), frame);
        put_entry(&mut picture, &board, usize::from(self.side) + 1);
        picture
    }

    /// Number of characters of a tile.
    const fn tile_width(&self, ids: IdStyle) -> usize {
        match ids {
            // Two digits of the floor, and the letter of a bot.
            IdStyle::Numbers => 3,
            IdStyle::Letters if self.side <= MAX_WIDE_SIDE => 2,
            IdStyle::Letters => 1,
        }
    }
}

/// Tiles on which two or more bots met in the last round.
pub(super) fn clashes(state: &State) -> Vec<Position> {
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
    colour: PaletteColor,
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
            let (paper, style) = floor_style(state, viewpoint, floor);
            let bot = bot_on(state, here);
            let wide = self.side <= MAX_WIDE_SIDE;
            if wide || bot.is_none() {
                picture.put(letter(FLOOR_LETTERS, floor), style);
            }
            match bot {
                Some(id) => put_bot(picture, id, own, paper),
                None if wide => {
                    picture.put(" ", style);
                }
                None => {}
            }
        }
    }

    /// Draws one row of tiles: the number of the floor, then the letter of the bot on it (`*` for several).
    fn put_row_with_numbers(&self, picture: &mut Picture, state: &State, viewpoint: Viewpoint, y: u8) {
        let own = if let Viewpoint::Seat(seat) = viewpoint { state.painter(seat).id } else { 0 };
        for x in 0..self.side {
            let here = Position { x, y };
            let floor = state.grid().at(here);
            let (paper, style) = floor_style(state, viewpoint, floor);
            let number = if floor == 0 { " ·".to_owned() } else { format!("{floor:>2}") };
            picture.put(number, style);
            match bot_on(state, here) {
                Some(id) => put_bot(picture, id, own, paper),
                None => {
                    picture.put(" ", style);
                }
            }
        }
    }

    /// Bots by share, best first. A player sees ids and what is visible on the canvas. A spectator also sees names, moves and
    /// faults.
    fn scoreboard(
        &self,
        state: &State,
        viewpoint: Viewpoint,
        names: &[String],
        ids: IdStyle,
    ) -> Vec<ScoreboardEntry> {
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
            let number = if ids == IdStyle::Numbers { format!(" {:>2}", bot.id) } else { String::new() };
            let text = format!("{number} {name:<12} {share:6.2}% {last}");
            ScoreboardEntry {
                id: bot.id,
                colour: colour_of(state, viewpoint, bot.id),
                text,
                bold: bot.id == own,
            }
        };
        bots.iter().map(entry).collect()
    }
}

/// Colour of a bot: for spectators by its seat, so that it keeps its colour when ids are dealt for the next game. A player must not
/// recognise other bots, so it sees a colour for each id.
fn colour_of(state: &State, viewpoint: Viewpoint, id: u8) -> PaletteColor {
    match viewpoint {
        Viewpoint::Seat(_) => PaletteColor::Seat(id.saturating_sub(1)),
        Viewpoint::All => state.seat_of(id).map_or(PaletteColor::Plain, |seat| PaletteColor::Seat(seat.0)),
    }
}

/// Colour of the floor, and the style of what is written on it.
fn floor_style(state: &State, viewpoint: Viewpoint, floor: u8) -> (PaletteColor, Style) {
    if floor == 0 {
        return (PaletteColor::Plain, Style::color(PaletteColor::Faint));
    }
    let paper = colour_of(state, viewpoint, floor);
    (paper, Style::background(paper))
}

/// Id of the bot on a tile; 0 for several.
fn bot_on(state: &State, here: Position) -> Option<u8> {
    match state.bots_on(here) {
        0 => None,
        1 => state.painters().iter().find(|bot| bot.position == here).map(|bot| bot.id),
        _ => Some(0),
    }
}

/// Draws the bot on a tile, or `*` for several.
fn put_bot(picture: &mut Picture, id: u8, own: u8, paper: PaletteColor) {
    let mark = if id == 0 { '*' } else { letter(BOT_LETTERS, id) };
    let ink = match id {
        0 => PaletteColor::Bad,
        id if id == own => PaletteColor::Accent,
        _ => PaletteColor::Plain,
    };
    picture.put(mark, Style { color: ink, background: paper, bold: true });
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
        picture.text(" ").put(letter(BOT_LETTERS, entry.id), Style::background(entry.colour).bold());
        picture.put(entry.text.as_str(), Style { bold: entry.bold, ..Style::default() });
    }
}
