//! Display of a match: frames for graphical viewers, pictures for terminals.

use agon_core::{Drawing, Game as _, PaletteColor, Picture, Seat, Style, View, Viewpoint};
use serde_json::{Value as Json, json};

use super::SolitudeScramble;
use super::board::{Move, Platform, Side, move_name};
use super::history::{four_names, history_json};
use super::state::{Deal, SEATS, State, Turn};

mod canvas;

use canvas::Canvas;

impl View for SolitudeScramble {
    const CHART_LABEL: &'static str = "points";

    fn frame(&self, state: &State) -> Json {
        let over = self.is_over(state);
        json!({
            "turn": state.history().len() + usize::from(!over),
            "turns": self.turns(),
            "over": over,
            "now": (!over).then(|| deal_json(state.deal())),
            "last": state.history().last().map(turn_json),
            "totals": state.totals(),
            "alone": count(state, |turn, seat| turn.awards[seat.index()] > 0),
            "collisions": count(state, Turn::collided),
            "forfeits": count(state, |turn, seat| turn.platform_of(seat).is_none()),
        })
    }

    /// Only future deals and the moves of this turn are hidden, and frames show neither.
    fn seat_frame(&self, state: &State, _: Seat) -> Json {
        self.frame(state)
    }

    fn legal_answers(&self, state: &State, seat: Seat) -> Vec<Move> {
        if self.to_move(state).contains(seat) { Move::ALL.to_vec() } else { Vec::new() }
    }

    fn published_json(&self, state: &State, names: &[String]) -> Option<String> {
        Some(history_json(state, names))
    }

    fn chart_values(&self, state: &State) -> Vec<f64> {
        state.totals().iter().map(|&total| f64::from(total)).collect()
    }

    fn drawing(&self, state: &State, viewpoint: Viewpoint, names: &[String]) -> Drawing {
        self.shapes(state, viewpoint, names)
    }

    fn picture(&self, state: &State, viewpoint: Viewpoint, names: &[String]) -> Picture {
        let names = four_names(names);
        let mut picture = Picture::new();
        self.draw_title(&mut picture, state, &names);
        picture.line();
        self.draw_boards(&mut picture, state, &names);
        picture.line();
        draw_table(&mut picture, state, viewpoint, &names);
        if let Viewpoint::Seat(seat) = viewpoint
            && !self.is_over(state)
        {
            picture.line();
            draw_choices(&mut picture, state.deal(), seat);
        }
        picture
    }
}

fn deal_json(deal: &Deal) -> Json {
    json!({ "platform_scores": deal.scores(), "sides": deal.sides() })
}

fn turn_json(turn: &Turn) -> Json {
    let went: Vec<Option<Platform>> = Seat::all(SEATS).map(|seat| turn.platform_of(seat)).collect();
    let collided: Vec<Platform> =
        Platform::ALL.into_iter().filter(|&platform| turn.visitors(platform).count() > 1).collect();
    json!({
        "turn": turn.number,
        "platform_scores": turn.deal.scores(),
        "sides": turn.deal.sides(),
        "moves": turn.moves.map(move_name),
        "went": went,
        "collided": collided,
        "awards": turn.awards,
    })
}

fn count(state: &State, is: impl Fn(&Turn, Seat) -> bool) -> Vec<usize> {
    Seat::all(SEATS).map(|seat| state.history().iter().filter(|turn| is(turn, seat)).count()).collect()
}

/// Letter of a seat on the board, because several names would not fit on one platform.
fn letter(seat: Seat) -> char {
    char::from(b'A' + seat.0 % SEATS as u8)
}

/// Shortens a name and replaces control characters.
fn truncate_name(name: &str, max_chars: usize) -> String {
    name.chars().take(max_chars).map(|c| if c.is_control() { '?' } else { c }).collect()
}

const FAINT: Style = Style::color(PaletteColor::Faint);
const STRONG: Style = Style::color(PaletteColor::Plain).bold();

impl SolitudeScramble {
    fn draw_title(&self, picture: &mut Picture, state: &State, names: &[String; SEATS]) {
        picture.line().put("Solitude Scramble", STRONG);
        if self.is_over(state) {
            let best = state.totals().iter().max().copied().unwrap_or(0);
            let mut winners = Seat::all(SEATS).filter(|seat| state.totals()[seat.index()] == best);
            let who = match (winners.next(), winners.count()) {
                (Some(seat), 0) => truncate_name(&names[seat.index()], MAX_BOARD_NAME_CHARS),
                (_, others) => format!("{} share the first place", others + 1),
            };
            picture.text(format!("   finished after {} turns: {who} with {best} points", self.turns()));
        } else {
            picture.text(format!("   turn {} of {}", state.history().len() + 1, self.turns()));
        }
    }

    /// Draws the last turn on the left and the turn to be played on the right.
    fn draw_boards(&self, picture: &mut Picture, state: &State, names: &[String; SEATS]) {
        let mut canvas = Canvas::new(2 * BOARD_WIDTH + GAP, BOARD_HEIGHT + 1);
        let mut x = 0;
        if let Some(turn) = state.history().last() {
            canvas.write(x + 2, 0, &format!("turn {}: revealed", turn.number), STRONG);
            draw_board(&mut canvas, x, &turn.deal, Some(turn), names);
            x += BOARD_WIDTH + GAP;
        }
        if !self.is_over(state) {
            let number = state.history().len() + 1;
            canvas.write(x + 2, 0, &format!("turn {number}: all bots choose"), STRONG);
            draw_board(&mut canvas, x, state.deal(), None, names);
        }
        canvas.draw(picture);
    }
}

const BOARD_WIDTH: usize = 47;
const BOARD_HEIGHT: usize = 12;
const GAP: usize = 4;
/// Columns and rows of the three by three places, relative to the corner of the board (row 0 is the heading).
const COLUMNS: [usize; 3] = [7, 23, 39];
const ROWS: [usize; 3] = [1, 6, 11];

/// Lines of the empty board, as in the rule document.
const LINES: [&str; BOARD_HEIGHT] = [
    "       ------------------------------",
    "",
    "       |    \\          |          /    |",
    "       |      \\        |        /      |",
    "       |        \\      |      /        |",
    "       ------------------------------",
    "",
    "       |        /      |      \\        |",
    "       |      /        |        \\      |",
    "       |    /          |          \\    |",
    "       ------------------------------",
    "",
];

fn draw_board(canvas: &mut Canvas, x: usize, deal: &Deal, turn: Option<&Turn>, names: &[String; SEATS]) {
    for (y, line) in LINES.iter().enumerate() {
        canvas.write(x, y + 1, line, FAINT);
    }
    for side in Side::ALL {
        let (column, row) = match side {
            Side::North => (1, 0),
            Side::East => (2, 1),
            Side::South => (1, 2),
            Side::West => (0, 1),
        };
        let (at, seat) = (x + COLUMNS[column], deal.seat_on(side));
        canvas.center(at, ROWS[row], &format!(" {} ", side.name()), Style::default());
        let name = truncate_name(&names[seat.index()], MAX_BOARD_NAME_CHARS);
        let who = Style::color(PaletteColor::Seat(seat.0));
        canvas.center(at, ROWS[row] + 1, &format!("{} {name}", letter(seat)), who);
    }
    for platform in Platform::ALL {
        let (column, row) = match platform {
            Platform::Nw => (0, 0),
            Platform::Ne => (2, 0),
            Platform::Center => (1, 1),
            Platform::Sw => (0, 2),
            Platform::Se => (2, 2),
        };
        let at = x + COLUMNS[column];
        let label = format!(" ({} {}) ", platform.name(), deal.scores().of(platform));
        canvas.center(at, ROWS[row], &label, Style::color(PaletteColor::Accent).bold());
        if let Some(turn) = turn {
            let (text, style) = visitors(turn, platform);
            canvas.center(at, ROWS[row] + 1, &text, style);
        }
    }
}

const MAX_BOARD_NAME_CHARS: usize = 12;

/// `B +5` for a lone bot, `A x C` for a collision, nothing for an empty platform.
fn visitors(turn: &Turn, platform: Platform) -> (String, Style) {
    let seats: Vec<Seat> = turn.visitors(platform).collect();
    match seats.as_slice() {
        [] => (String::new(), FAINT),
        [alone] => {
            let text = format!("{} +{}", letter(*alone), turn.awards[alone.index()]);
            (text, Style::color(PaletteColor::Seat(alone.0)).bold())
        }
        met => {
            let letters: Vec<String> = met.iter().map(|seat| letter(*seat).to_string()).collect();
            (letters.join(" x "), Style::color(PaletteColor::Bad))
        }
    }
}

/// Draws one row for each seat: total, last move, points turn by turn.
fn draw_table(picture: &mut Picture, state: &State, viewpoint: Viewpoint, names: &[String; SEATS]) {
    let header = format!("  {:<24}{:>6}  {:<18}{}", "bot", "total", "last turn", "points turn by turn");
    picture.line().put(header, FAINT);
    for seat in Seat::all(SEATS) {
        let name = truncate_name(&names[seat.index()], 16);
        let you = if viewpoint == Viewpoint::Seat(seat) { "(you)" } else { "" };
        let who = format!("  {} {name:<16} {you:<5}", letter(seat));
        picture.line().put(who, Style::color(PaletteColor::Seat(seat.0)));
        picture.put(format!("{:>6}  ", state.totals()[seat.index()]), STRONG);
        let (text, ink) = state.history().last().map_or_else(Default::default, |turn| last_move(turn, seat));
        picture.put(format!("{text:<18}"), Style::color(ink));
        picture.text(points_strip(state, seat));
    }
    picture.line().put("  digit: points   x: collision   -: forfeit", FAINT);
}

fn last_move(turn: &Turn, seat: Seat) -> (String, PaletteColor) {
    let name = move_name(turn.moves[seat.index()]);
    match turn.platform_of(seat) {
        None => (format!("{name:<6} forfeit"), PaletteColor::Bad),
        Some(platform) if turn.collided(seat) => {
            (format!("{name:<6} {} x", platform.name()), PaletteColor::Bad)
        }
        Some(platform) => {
            (format!("{name:<6} {} +{}", platform.name(), turn.awards[seat.index()]), PaletteColor::Good)
        }
    }
}

/// The last turns of a seat, one character each.
fn points_strip(state: &State, seat: Seat) -> String {
    const MAX_STRIP_TURNS: usize = 40;
    let recent = &state.history()[state.history().len().saturating_sub(MAX_STRIP_TURNS)..];
    let mut strip = String::from(if recent.len() < state.history().len() { "..." } else { "" });
    strip.extend(recent.iter().map(|turn| match turn.awards[seat.index()] {
        0 if turn.collided(seat) => 'x',
        0 => '-',
        points => char::from(b'0' + points),
    }));
    strip
}

fn draw_choices(picture: &mut Picture, deal: &Deal, seat: Seat) {
    picture.line().text(format!("  You are on {}:", deal.side(seat).name()));
    for chosen in Move::ALL {
        let platform = deal.platform(seat, chosen);
        let target = if platform == Platform::Center { "" } else { platform.name() };
        let gap = if target.is_empty() { "" } else { " -> " };
        picture.text("   ").put(chosen.name(), STRONG);
        picture.text(format!("{gap}{target} for {}", deal.value(seat, chosen)));
    }
}
