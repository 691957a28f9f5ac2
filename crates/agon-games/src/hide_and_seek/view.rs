//! Display of a game: frames for the web viewer, pictures for terminals, the map as text.

use std::fmt::Write as _;

use agon_core::{Drawing, Game as _, PaletteColor, Picture, Seat, Style, View, Viewpoint};
use serde_json::{Value as Json, json};

use super::cells::{Cell, CellSet, Direction, SIDE};
use super::state::{Ending, HIDER, LastTurn, SEEKER, State, enemy};
use super::vision::{field_of_view, line};
use super::{Answer, HideAndSeek, Map};

impl View for HideAndSeek {
    fn frame(&self, state: &State) -> Json {
        let sees = state.see_each_other();
        let player = |seat: Seat| {
            let sight = state.enemy_sighting(seat);
            json!({
                "pos": state.cell(seat),
                "spawn": state.start.spawns[seat.index() & 1],
                "enemy_is_visible": sight.enemy_is_visible,
                "enemy_pos": sight.enemy_pos,
                "enemy_pos_since": sight.since,
                "view": field_of_view(state.map(), state.cell(seat)).rows(),
                "walked": state.walked[seat.index() & 1],
            })
        };
        json!({
            "map": state.map(),
            "map_seed": state.start.map_seed,
            "game_seed": state.start.game_seed,
            "step": state.step,
            "steps": self.steps,
            "turn": state.ending.is_none().then_some(state.turn),
            "sees": sees,
            "line": sees.then(|| line(state.cell(SEEKER), state.cell(HIDER)).iter().collect::<Vec<_>>()),
            "seeker": player(SEEKER),
            "hider": player(HIDER),
            "last": state.last.map(frame_of_last),
            "ending": state.ending.map(ending_name),
            "score": self.score(state),
        })
    }

    /// A seat knows about the enemy only what it saw at the beginning of its own last move. The seeds are hidden: they would
    /// give away the draws of the other player.
    fn seat_frame(&self, state: &State, seat: Seat) -> Json {
        let mut frame = self.frame(state);
        if state.ending.is_some() {
            return frame;
        }
        let sight = state.enemy_sighting(seat);
        let visible = sight.enemy_is_visible;
        let hidden = if seat == SEEKER { "hider" } else { "seeker" };
        for name in ["map_seed", "game_seed"] {
            frame[name] = Json::Null;
        }
        frame[hidden] = json!({
            "pos": visible.then_some(sight.enemy_pos),
            "spawn": state.start.spawns[enemy(seat).index() & 1],
            "enemy_is_visible": visible,
            "enemy_pos": Json::Null,
            "enemy_pos_since": Json::Null,
            "view": [],
            "walked": Json::Null,
        });
        let sees = visible && state.turn == seat;
        frame["sees"] = json!(visible);
        frame["line"] =
            json!(sees.then(|| line(state.cell(seat), sight.enemy_pos).iter().collect::<Vec<_>>()));
        frame["last"] = json!(state.last.filter(|last| last.seat == seat).map(frame_of_last));
        frame
    }

    fn legal_answers(&self, state: &State, seat: Seat) -> Vec<Answer> {
        if !self.to_move(state).contains(seat) {
            return Vec::new();
        }
        let from = state.cell(seat);
        Direction::ALL
            .into_iter()
            .filter(|&step| state.map().step(from, step).is_some())
            .map(Answer::Step)
            .collect()
    }

    const CHART_LABEL: &'static str = "steps between the two, round the walls";

    fn chart_values(&self, state: &State) -> Vec<f64> {
        let (target, open) = (state.cell(HIDER), state.map().empty());
        let mut reached = CellSet::one(state.cell(SEEKER));
        let mut steps = 0.0;
        while !reached.contains(target) {
            let next = reached.union(&reached.grown(open));
            if next == reached {
                return Vec::new();
            }
            reached = next;
            steps += 1.0;
        }
        vec![steps]
    }

    fn drawing(&self, state: &State, viewpoint: Viewpoint, _names: &[String]) -> Drawing {
        self.shapes(state, viewpoint)
    }

    fn picture(&self, state: &State, viewpoint: Viewpoint, names: &[String]) -> Picture {
        let panel = panel(self, state, viewpoint, names);
        let mut picture = Picture::new();
        heading(self, state, &mut picture);
        picture.line().put(format!("   {}", ruler()), Style::color(PaletteColor::Faint));
        let marks = marks(state, viewpoint);
        let mut notes = panel.lines.into_iter();
        for y in 0..SIDE {
            picture.line().put(format!("{y:2} "), Style::color(PaletteColor::Faint));
            for x in 0..SIDE {
                let cell = Cell::from_index(y * SIDE + x);
                let (text, style) = marks[cell.index()].unwrap_or_else(|| floor(state.map(), cell));
                picture.put(text, style);
            }
            if let Some(spans) = notes.next() {
                picture.text("   ");
                for span in spans {
                    picture.put(span.text, span.style);
                }
            }
        }
        picture
    }

    fn show(&self, state: &State) -> String {
        let map = state.map();
        let mut out = format!(
            "Map is generated with seed {}. Good connectivity? {}. Wall fraction: {:.2}.\n",
            state.start.map_seed,
            if map.is_connected() { "True" } else { "False" },
            map.wall_fraction(),
        );
        out.push_str(&matrix(map));
        out.push_str("0 - empty\n1 - wall\n2 - seeker\n3 - hider\n");
        let [seeker, hider] = state.start.spawns;
        // Writing to a string does not fail.
        let _ = write!(out, "\nseeker spawns at {seeker}\nhider spawns at {hider}\n");
        out
    }
}

fn frame_of_last(last: LastTurn) -> Json {
    json!({
        "seat": last.seat,
        "step": last.step,
        "from": last.from,
        "to": last.to,
        "move": Direction::between(last.from, last.to).map(Direction::name),
        "fault": last.fault,
    })
}

const fn ending_name(ending: Ending) -> &'static str {
    match ending {
        Ending::Caught => "caught",
        Ending::Escaped => "not caught",
        Ending::TimeOver(SEEKER) => "time over, the seeker wins",
        Ending::TimeOver(_) => "time over, the hider wins",
    }
}

/// The map as `NumPy` prints it, rows = y and columns = x.
fn matrix(map: &Map) -> String {
    let row = |y: usize| {
        let digits = (0..SIDE).map(|x| if map.is_empty(Cell::from_index(y * SIDE + x)) { "0" } else { "1" });
        format!("[{}]", digits.collect::<Vec<_>>().join(" "))
    };
    let rows: Vec<String> = (0..SIDE).map(row).collect();
    format!("[{}]\n", rows.join("\n "))
}

fn ruler() -> String {
    (0..SIDE).flat_map(|x| [char::from(b'0' + (x % 10) as u8), ' ']).collect()
}

fn heading(game: &HideAndSeek, state: &State, picture: &mut Picture) {
    picture
        .line()
        .put(format!("Hide and Seek   step {} of {}", state.step, game.steps), Style::default().bold());
    let seeds = format!("   map {}, game {}", state.start.map_seed, state.start.game_seed);
    picture.put(seeds, Style::color(PaletteColor::Faint));
}

fn floor(map: &Map, cell: Cell) -> (&'static str, Style) {
    if map.is_empty(cell) {
        ("\u{b7} ", Style::color(PaletteColor::Faint))
    } else {
        ("\u{2588}\u{2588}", Style::default())
    }
}

type Marks = Vec<Option<(&'static str, Style)>>;

const fn seat_color(seat: Seat) -> PaletteColor {
    PaletteColor::Seat(seat.0)
}

/// Marks on the floor. Important marks overwrite others.
fn marks(state: &State, viewpoint: Viewpoint) -> Marks {
    let mut marks: Marks = vec![None; SIDE * SIDE];
    let mut put = |cell: Cell, text, style| marks[cell.index()] = Some((text, style));
    let shown = |seat| viewpoint == Viewpoint::All || viewpoint == Viewpoint::Seat(seat);
    for (seat, footprint) in [(SEEKER, "+ "), (HIDER, "o ")] {
        if shown(seat) {
            for cell in state.trails[seat.index()].iter() {
                put(cell, footprint, Style::color(seat_color(seat)));
            }
        }
    }
    for cell in sight_line(state, viewpoint).iter() {
        put(cell, "* ", Style::color(PaletteColor::Accent));
    }
    for (seat, belief) in [(SEEKER, "h "), (HIDER, "s ")] {
        if shown(seat) && (viewpoint != Viewpoint::All || !state.see_each_other()) {
            put(state.enemy_sighting(seat).enemy_pos, belief, Style::color(seat_color(enemy(seat))));
        }
    }
    for (seat, letter) in [(HIDER, "H "), (SEEKER, "S ")] {
        // The player's own cell, and the enemy's if it is visible.
        let sight = state.enemy_sighting(enemy(seat));
        if shown(seat) {
            put(state.cell(seat), letter, Style::color(seat_color(seat)).bold());
        } else if sight.enemy_is_visible {
            put(sight.enemy_pos, letter, Style::color(seat_color(seat)).bold());
        }
    }
    if state.ending == Some(Ending::Caught) {
        put(state.cell(SEEKER), "SH", Style::color(PaletteColor::Bad).bold());
    }
    marks
}

/// Cells between the players while they see each other, as far as this viewpoint knows.
fn sight_line(state: &State, viewpoint: Viewpoint) -> CellSet {
    match viewpoint {
        Viewpoint::All if state.see_each_other() => line(state.cell(SEEKER), state.cell(HIDER)),
        Viewpoint::Seat(seat) if state.turn == seat && state.enemy_sighting(seat).enemy_is_visible => {
            line(state.cell(seat), state.enemy_sighting(seat).enemy_pos)
        }
        _ => CellSet::EMPTY,
    }
}

/// Notes beside the map.
fn panel(game: &HideAndSeek, state: &State, viewpoint: Viewpoint, names: &[String]) -> Picture {
    let mut notes = Picture::new();
    for seat in [SEEKER, HIDER] {
        player_notes(state, viewpoint, seat, names, &mut notes);
    }
    status_note(game, state, viewpoint, &mut notes);
    notes.line();
    let legend = match viewpoint {
        Viewpoint::All => [
            "+ o   their last steps",
            "h     last place the seeker saw H",
            "s     last place the hider saw S",
            "*     the line of sight",
        ],
        Viewpoint::Seat(SEEKER) => {
            ["+     your last steps", "h     last place you saw H", "*     the line of sight", ""]
        }
        Viewpoint::Seat(_) => {
            ["o     your last steps", "s     last place you saw S", "*     the line of sight", ""]
        }
    };
    for text in legend {
        notes.line().put(text, Style::color(PaletteColor::Faint));
    }
    notes
}

fn player_notes(state: &State, viewpoint: Viewpoint, seat: Seat, names: &[String], notes: &mut Picture) {
    let (letter, role) = if seat == SEEKER { ("S", "seeker") } else { ("H", "hider") };
    let name: String = names.get(seat.index()).map_or(role, String::as_str).chars().take(24).collect();
    notes.line().put(format!("{letter} {name}"), Style::color(seat_color(seat)).bold());
    if name != role {
        notes.put(format!(" ({role})"), Style::color(PaletteColor::Faint));
    }
    if state.ending.is_none() && state.turn == seat {
        notes.put(" to move", Style::color(PaletteColor::Accent));
    }
    if viewpoint != Viewpoint::All && viewpoint != Viewpoint::Seat(seat) {
        let sight = state.enemy_sighting(enemy(seat));
        let place = sight.enemy_pos;
        let text = match (sight.enemy_is_visible, sight.since) {
            (true, _) => format!("  at {place}"),
            (false, 0) => format!("  out of sight, spawned at {place}"),
            (false, step) => format!("  out of sight, at {place} in step {step}"),
        };
        notes.line().text(text);
        notes.line();
        return;
    }
    notes.line().text(format!("  at {}", state.cell(seat)));
    if let Some(last) = state.last.filter(|last| last.seat == seat) {
        let word = Direction::between(last.from, last.to).map_or("", Direction::name);
        match last.fault {
            Some(fault) => notes.put(format!(", stays ({fault})"), Style::color(PaletteColor::Bad)),
            None => notes.text(format!(", last move {word}")),
        };
    }
    notes.line();
}

fn status_note(game: &HideAndSeek, state: &State, viewpoint: Viewpoint, notes: &mut Picture) {
    let sees = match viewpoint {
        Viewpoint::All => state.see_each_other(),
        Viewpoint::Seat(seat) => state.enemy_sighting(seat).enemy_is_visible,
    };
    notes.line();
    match (state.ending, game.score(state)) {
        (Some(ending), Some(score)) => {
            notes.put(
                format!("{}: {score} steps", ending_name(ending)),
                Style::color(PaletteColor::Accent).bold(),
            );
        }
        _ if sees => {
            notes.put("they see each other", Style::color(PaletteColor::Good).bold());
        }
        _ => {
            notes.put("they do not see each other", Style::color(PaletteColor::Faint));
        }
    }
}
