//! A film as one JSON object, for viewers that know no rules. `docs/film.md` describes it.

use std::time::Duration;

use agon_core::record::{Record, RecordHeader, SeatRecord};
use agon_core::{GameInfo, Outcome, Seat, SeatSet, SettingDefault, SettingSpec};
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::Film;

/// Version of the film format. Viewers reject newer versions.
pub const FILM_VERSION: u32 = 1;

/// Data for a film beyond the record, and options.
#[derive(Clone, Debug, Default)]
pub struct FilmExtras {
    /// Authors of the bots in seat order; empty if none is named.
    pub contributors: Vec<Option<String>>,
    /// Numbers of the bots among all that take part, in seat order, so that a viewer gives a bot one colour in all its games.
    /// Empty if they are not known.
    pub colours: Vec<u32>,
    /// Games of the match that each seat has won before this game. Empty for the first game, and outside of matches.
    pub wins: Vec<u32>,
    /// Bot output, if the reader may see it.
    pub bot_output: Vec<BotOutputLine>,
    /// Whether to omit the seed because it is hidden. Frames of Hide and Seek still show the map.
    pub hide_seed: bool,
}

/// Counts a finished game of a match in the wins of its seats. A shared first place is a win for none.
pub fn add_win(wins: &mut Vec<u32>, outcome: &Outcome) {
    wins.resize(outcome.seats.len(), 0);
    let mut first = outcome.seats.iter().zip(wins.iter_mut()).filter(|(seat, _)| seat.place == 1);
    if let (Some((_, won)), None) = (first.next(), first.next()) {
        *won += 1;
    }
}

/// Bot output of one turn.
#[derive(Clone, Debug, Serialize)]
pub struct BotOutputLine {
    /// Turn, counted from 1; 0 for output before the first.
    pub turn: u32,
    /// Seat of the bot.
    pub seat: Seat,
    /// The output.
    pub text: String,
}

/// The film as JSON.
pub fn to_json(info: &GameInfo, film: &dyn Film, extras: &FilmExtras) -> Json {
    let record = film.record();
    let header = &record.header;
    let seats = header.seats.len();
    let (first, deltas) = film.frames();
    let mut json = film_header(info, header, extras);
    json["first"] = first;
    json["deltas"] = json!(deltas);
    json["answers"] = json!(record.turns);
    json["micros"] = json!(micros(record));
    json["faults"] = json!(record.faults);
    json["standing"] = chart(film);
    json["outcome"] = json!(record.outcome);
    json["digest"] = json!(record.digest);
    if let Some(movers) = movers(film, seats) {
        json["movers"] = movers;
    }
    if !extras.hide_seed {
        json["seed"] = json!(header.seed.to_string());
    }
    if !extras.bot_output.is_empty() {
        json["logs"] = json!(extras.bot_output);
    }
    json
}

/// The start of a film for a person who plays at this seat. `first` is the seat's own frame. It contains nothing that is hidden from
/// bots at this seat: no settings that are drawn at random, and, if bots must not recognise each other, only the own name. Chart values
/// are left out, because they may tell what is hidden.
pub fn seat_film_head(info: &GameInfo, header: &RecordHeader, seat: Seat, first: Json) -> Json {
    let mut json = film_header(info, header, &FilmExtras::default());
    let drawn = |spec: &&SettingSpec| matches!(spec.default, SettingDefault::Drawn(_));
    if let Some(settings) = json["settings"].as_object_mut() {
        for spec in info.settings.iter().filter(drawn) {
            settings.remove(spec.name);
        }
    }
    let seats = header.seats.len();
    // With two seats, the only opponent needs no name to be recognised.
    if !info.names_shown && seats > 2 {
        let name = |(other, record): (Seat, &SeatRecord)| {
            if other == seat { record.name.clone() } else { format!("{} {other}", info.role(other).name) }
        };
        json["names"] = json!(Seat::all(seats).zip(&header.seats).map(name).collect::<Vec<_>>());
    }
    json["first"] = first;
    for list in ["deltas", "answers", "faults"] {
        json[list] = json!([]);
    }
    json["micros"] = json!(vec![Vec::<Json>::new(); seats]);
    json["standing"] = json!({"of": "", "lines": []});
    json["live"] = json!(true);
    json
}

/// Public information that is known before the game starts.
pub(super) fn film_header(info: &GameInfo, header: &RecordHeader, extras: &FilmExtras) -> Json {
    let mut json = json!({
        "agon": "film",
        "version": FILM_VERSION,
        "game": info.id,
        "title": info.title,
        "rules": header.rules,
        "names": header.seats.iter().map(|seat| seat.name.as_str()).collect::<Vec<_>>(),
        "roles": Seat::all(header.seats.len()).map(|seat| info.role(seat).name).collect::<Vec<_>>(),
        "settings": header.settings,
        "score": info.score,
    });
    if let Some((index, stat)) = info.stat_beside_score() {
        json["beside"] = json!({"stat": index, "name": stat.name, "decimals": stat.decimals});
    }
    if extras.contributors.iter().any(Option::is_some) {
        json["contributors"] = json!(extras.contributors);
    }
    if !extras.colours.is_empty() {
        json["colours"] = json!(extras.colours);
    }
    if !extras.wins.is_empty() {
        json["wins"] = json!(extras.wins);
    }
    json
}

/// Charged times of the answers in microseconds, by seat.
fn micros(record: &Record) -> Vec<Vec<Json>> {
    record.times.iter().map(|times| times.iter().map(|t| json_micros(t.charged())).collect()).collect()
}

/// A time in microseconds: one decimal below ten, else whole.
pub(super) fn json_micros(time: Duration) -> Json {
    let nanos = time.as_nanos();
    if nanos < 10_000 && !nanos.is_multiple_of(1_000) {
        json!((nanos as f64 / 100.0).round() / 10.0)
    } else {
        json!((nanos + 500) / 1_000)
    }
}

/// Seats asked in each turn; `None` if every turn asked all seats.
fn movers(film: &dyn Film, seats: usize) -> Option<Json> {
    let all: Vec<SeatSet> = (1..film.len()).map(|turn| film.movers(turn)).collect();
    if all.iter().all(|movers| *movers == SeatSet::first(seats)) {
        return None;
    }
    Some(all.into_iter().map(|movers| movers.map(|seat| seat.0).collect::<Vec<_>>()).collect())
}

/// Chart lines, one for each seat or one for the game: a value at the start and after each turn.
fn chart(film: &dyn Film) -> Json {
    let mut lines = vec![Vec::with_capacity(film.len()); film.chart_values(0).len()];
    for turn in 0..film.len() {
        for (line, value) in lines.iter_mut().zip(film.chart_values(turn)) {
            line.push(json_number(value));
        }
    }
    json!({"of": film.chart_label(), "lines": lines})
}

/// A number; whole ones without `.0`, because a film has tens of thousands of them.
pub(super) fn json_number(value: f64) -> Json {
    if value.fract() == 0.0 && value.abs() < 1e9 { json!(value as i64) } else { json!(value) }
}
