//! A film as one JSON object, for viewers that know no rules. `docs/film.md` describes it.

use std::time::Duration;

use agon_core::record::{Header, Record};
use agon_core::{GameInfo, Seat, SeatSet};
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::Film;

/// The version written. Viewers refuse newer ones.
pub const VERSION: u32 = 1;

/// What a record does not say, or should not.
#[derive(Clone, Debug, Default)]
pub struct Extras {
    /// Who wrote the bots, in seat order; empty when nobody is named.
    pub contributors: Vec<Option<String>>,
    /// What bots printed, where the reader may see it.
    pub logs: Vec<LogLine>,
    /// Leave the seed out: it belongs to a hidden set. Frames of Hide and Seek show its map all the same.
    pub hide_seed: bool,
}

/// What a bot printed before it answered.
#[derive(Clone, Debug, Serialize)]
pub struct LogLine {
    /// Turns count from 1; 0 is before the first.
    pub turn: u32,
    /// Who.
    pub seat: Seat,
    /// What.
    pub text: String,
}

/// The film as JSON.
pub fn to_json(info: &GameInfo, film: &dyn Film, extras: &Extras) -> Json {
    let record = film.record();
    let header = &record.header;
    let seats = header.seats.len();
    let (first, deltas) = film.frames();
    let mut json = head(info, header, &extras.contributors);
    json["first"] = first;
    json["deltas"] = json!(deltas);
    json["answers"] = json!(record.turns);
    json["micros"] = json!(micros(record));
    json["faults"] = json!(record.faults);
    json["standing"] = standing(film);
    json["outcome"] = json!(record.outcome);
    json["digest"] = json!(record.digest);
    if let Some(movers) = movers(film, seats) {
        json["movers"] = movers;
    }
    if !extras.hide_seed {
        json["seed"] = json!(header.seed.to_string());
    }
    if !extras.logs.is_empty() {
        json["logs"] = json!(extras.logs);
    }
    json
}

/// What is known of a game before it begins, and may be shown.
pub(super) fn head(info: &GameInfo, header: &Header, contributors: &[Option<String>]) -> Json {
    let mut json = json!({
        "agon": "film",
        "version": VERSION,
        "game": info.id,
        "title": info.title,
        "rules": header.rules,
        "names": header.seats.iter().map(|seat| seat.name.as_str()).collect::<Vec<_>>(),
        "roles": Seat::all(header.seats.len()).map(|seat| info.role(seat).name).collect::<Vec<_>>(),
        "settings": header.settings,
        "score": info.score,
    });
    if contributors.iter().any(Option::is_some) {
        json["contributors"] = json!(contributors);
    }
    json
}

/// For each seat what each of its answers was charged.
fn micros(record: &Record) -> Vec<Vec<Json>> {
    record.times.iter().map(|times| times.iter().map(|t| short_time(t.charged())).collect()).collect()
}

/// In microseconds: to a tenth below ten, else whole.
pub(super) fn short_time(time: Duration) -> Json {
    let nanos = time.as_nanos();
    if nanos < 10_000 && !nanos.is_multiple_of(1_000) {
        json!((nanos as f64 / 100.0).round() / 10.0)
    } else {
        json!((nanos + 500) / 1_000)
    }
}

/// Who was asked in each turn; nothing when that was everybody in every turn.
fn movers(film: &dyn Film, seats: usize) -> Option<Json> {
    let all: Vec<SeatSet> = (1..film.len()).map(|turn| film.movers(turn)).collect();
    if all.iter().all(|movers| *movers == SeatSet::first(seats)) {
        return None;
    }
    Some(all.into_iter().map(|movers| movers.map(|seat| seat.0).collect::<Vec<_>>()).collect())
}

/// A line for each seat, or one for the game: a value at the start and after each turn.
fn standing(film: &dyn Film) -> Json {
    let mut lines = vec![Vec::with_capacity(film.len()); film.standing(0).len()];
    for turn in 0..film.len() {
        for (line, value) in lines.iter_mut().zip(film.standing(turn)) {
            line.push(short_number(value));
        }
    }
    json!({"of": film.standing_of(), "lines": lines})
}

/// Whole numbers without `.0`: there are tens of thousands of them.
pub(super) fn short_number(value: f64) -> Json {
    if value.fract() == 0.0 && value.abs() < 1e9 { json!(value as i64) } else { json!(value) }
}
