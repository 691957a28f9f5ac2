//! Films of running games. A replayer computes every turn again from the answers, without the game's bots. Each part is sent to
//! viewers ([`film_part`]) and added to the film so far ([`LiveFilm`]). `docs/film.md` describes both.

use std::borrow::Cow;
use std::time::Duration;

use agon_core::game::View;
use agon_core::record::{ClockExpiry, FaultRecord, RecordHeader, SITS_OUT_TOKEN};
use agon_core::{Assets, Outcome, SeatSet, frame};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::json::{FilmExtras, film_header, json_micros, json_number};
use super::{ReplayError, advance, game_from_header, read_turn};

/// A played turn as input of the replayer.
#[derive(Clone, Copy, Debug)]
pub struct PlayedTurn<'t> {
    /// Answers of the seats to move in record form, separated by blanks.
    pub answers: &'t str,
    /// Charged time of each answer. Seats that are no longer asked are skipped.
    pub charged: &'t [Duration],
    /// Faults of the turn.
    pub faults: &'t [FaultRecord],
    /// Set if the shared clock ran out in this turn.
    pub expired: Option<ClockExpiry>,
}

/// A turn of a live film: an element of `turns` in a part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LiveTurn {
    delta: Json,
    answers: String,
    /// Seats that were asked; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    movers: Option<Vec<u8>>,
    /// Charged times in the order of the answers; `null` for a seat that is no longer asked.
    micros: Vec<Json>,
    #[serde(rename = "standing")]
    chart_values: Vec<Json>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    faults: Vec<FaultRecord>,
}

/// A part received from another process (see [`film_part`]).
#[derive(Clone, Debug, Deserialize)]
pub struct FilmPart {
    /// Number of its first turn, counted from 1.
    pub from: usize,
    /// Turns of the part.
    pub turns: Vec<LiveTurn>,
    /// Result of the game, in the last part.
    #[serde(default)]
    pub outcome: Option<Outcome>,
}

impl FilmPart {
    /// Parses a part; `None` if the bytes are invalid.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// Serialises the part again as one line of JSON, independent of the sender's formatting.
    pub fn json(&self) -> Vec<u8> {
        film_part(self.from, &self.turns, self.outcome.as_ref())
    }
}

/// Computes the turns of a game again, one by one.
pub trait TurnReplayer: Send {
    /// Replays the next turn. Fails if the rules reject it.
    fn push(&mut self, turn: &PlayedTurn<'_>) -> Result<LiveTurn, ReplayError>;

    /// The result, once the game is over.
    fn outcome(&self) -> Option<Outcome>;
}

struct TypedTurnReplayer<G: View> {
    game: G,
    state: G::State,
    turns: usize,
    /// The frame after the last turn.
    frame: Json,
}

/// Creates a film with only its start, and the replayer of its turns.
pub(crate) fn start_live_film<G: View>(
    header: &RecordHeader,
    extras: &FilmExtras,
    assets: &Assets,
) -> Result<(LiveFilm, impl TurnReplayer + use<G>), ReplayError> {
    let (game, _) = game_from_header::<G>(header, assets)?;
    let state = game.start(header.seed);
    let frame = game.frame(&state);
    let mut start = film_header(G::info(), header, extras);
    start["first"] = frame.clone();
    let standing = game.chart_values(&state).into_iter().map(json_number).collect::<Vec<_>>();
    let film = LiveFilm::new(&start, header.seats.len(), G::CHART_LABEL, &standing);
    Ok((film, TypedTurnReplayer { game, state, turns: 0, frame }))
}

impl<G: View> TurnReplayer for TypedTurnReplayer<G> {
    fn push(&mut self, turn: &PlayedTurn<'_>) -> Result<LiveTurn, ReplayError> {
        let Self { game, state, .. } = self;
        let movers = game.to_move(state);
        let replies = read_turn(game, state, turn.answers)
            .map_err(|what| ReplayError::Differs { turn: self.turns + 1, what })?;
        self.turns += 1;
        advance(game, state, self.turns, &replies, turn.expired);
        let after = game.frame(state);
        let delta = frame::diff(&self.frame, &after);
        self.frame = after;
        let mut charged = turn.charged.iter();
        let micros = |token: &str| match token {
            SITS_OUT_TOKEN => Json::Null,
            _ => charged.next().map_or(Json::Null, |time| json_micros(*time)),
        };
        // A live film is public, but stderr is only for the bot's author.
        let public = |fault: &FaultRecord| {
            let mut fault = fault.clone();
            fault.report.stderr.clear();
            fault
        };
        Ok(LiveTurn {
            delta,
            answers: turn.answers.to_owned(),
            movers: (movers != SeatSet::first(game.seats())).then(|| movers.map(|seat| seat.0).collect()),
            micros: turn.answers.split(' ').map(micros).collect(),
            chart_values: game.chart_values(state).into_iter().map(json_number).collect(),
            faults: turn.faults.iter().map(public).collect(),
        })
    }

    fn outcome(&self) -> Option<Outcome> {
        self.game.outcome(&self.state)
    }
}

/// Serialises turns that follow the film so far. `from` is the number of the first one, counted from 1. The last part of a game
/// contains its outcome.
pub fn film_part(from: usize, turns: &[LiveTurn], outcome: Option<&Outcome>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Part<'p> {
        from: usize,
        turns: &'p [LiveTurn],
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<&'p Outcome>,
    }
    json_bytes(&Part { from, turns, outcome })
}

/// The film of a running game so far, for viewers that join late. Stored as JSON text, so that building it only copies bytes.
#[derive(Clone, Debug)]
pub struct LiveFilm {
    /// JSON object of the start without its closing brace.
    start: Vec<u8>,
    seats: usize,
    turns: usize,
    deltas: JsonList,
    answers: JsonList,
    /// Seats asked in each turn; `None` as long as every turn asked all seats.
    movers: Option<JsonList>,
    micros: Vec<JsonList>,
    faults: JsonList,
    chart_label: Cow<'static, str>,
    chart_lines: Vec<JsonList>,
    outcome: Option<Outcome>,
}

impl LiveFilm {
    fn new(start: &Json, seats: usize, chart_label: &'static str, standing: &[Json]) -> Self {
        let mut start = json_bytes(start);
        start.pop();
        let line = |value: &Json| {
            let mut line = JsonList::default();
            line.push(value);
            line
        };
        Self {
            start,
            seats,
            turns: 0,
            deltas: JsonList::default(),
            answers: JsonList::default(),
            movers: None,
            micros: vec![JsonList::default(); seats],
            faults: JsonList::default(),
            chart_label: Cow::Borrowed(chart_label),
            chart_lines: standing.iter().map(line).collect(),
            outcome: None,
        }
    }

    /// Parses a live film from another process and sets its contributors (in seat order). `None` if the bytes are invalid.
    pub fn read(bytes: &[u8], contributors: &[Option<String>]) -> Option<Self> {
        let Json::Object(mut film) = serde_json::from_slice(bytes).ok()? else { return None };
        if film.get("agon")? != "film" || !film.contains_key("first") {
            return None;
        }
        let mut list = |name: &str| Some(JsonList::of(film.remove(name)?.as_array()?));
        let (deltas, answers, faults) = (list("deltas")?, list("answers")?, list("faults")?);
        let movers = list("movers");
        let lists = |value: &Json| -> Option<Vec<JsonList>> {
            value.as_array()?.iter().map(|one| one.as_array().map(|one| JsonList::of(one))).collect()
        };
        let micros = lists(&film.remove("micros")?)?;
        let standing = film.remove("standing")?;
        let chart_lines = lists(standing.get("lines")?)?;
        let of = standing.get("of")?.as_str()?.to_owned();
        let outcome = film.remove("outcome").map(serde_json::from_value).transpose().ok()?;
        // Remove what spectators must not see, and what the server adds itself.
        for key in ["live", "contributors", "seed", "logs", "digest", "at"] {
            film.remove(key);
        }
        if contributors.iter().any(Option::is_some) {
            film.insert("contributors".to_owned(), serde_json::json!(contributors));
        }
        let mut start = json_bytes(&film);
        start.pop();
        Some(Self {
            start,
            seats: micros.len(),
            turns: deltas.1,
            deltas,
            answers,
            movers,
            micros,
            faults,
            chart_label: Cow::Owned(of),
            chart_lines,
            outcome,
        })
    }

    /// Whether the film contains the end of the game.
    pub fn is_over(&self) -> bool {
        self.outcome.is_some()
    }

    /// Number of turns in the film.
    pub fn turns(&self) -> usize {
        self.turns
    }

    /// Adds a turn.
    pub fn push(&mut self, turn: &LiveTurn) {
        let all: Vec<u8> = (0..self.seats as u8).collect();
        if turn.movers.is_some() && self.movers.is_none() {
            let mut movers = JsonList::default();
            for _ in 0..self.turns {
                movers.push(&all);
            }
            self.movers = Some(movers);
        }
        let asked = turn.movers.as_ref().unwrap_or(&all);
        if let Some(movers) = &mut self.movers {
            movers.push(asked);
        }
        self.turns += 1;
        self.deltas.push(&turn.delta);
        self.answers.push(&turn.answers);
        for (seat, micros) in asked.iter().zip(&turn.micros).filter(|(_, micros)| !micros.is_null()) {
            if let Some(list) = self.micros.get_mut(usize::from(*seat)) {
                list.push(micros);
            }
        }
        for fault in &turn.faults {
            self.faults.push(fault);
        }
        for (line, value) in self.chart_lines.iter_mut().zip(&turn.chart_values) {
            line.push(value);
        }
    }

    /// Adds the end: from now on the film is like that of any finished game.
    pub fn end(&mut self, outcome: Outcome) {
        self.outcome = Some(outcome);
    }

    /// The film so far, as JSON.
    pub fn json(&self) -> Vec<u8> {
        let mut out =
            Vec::with_capacity(self.start.len() + self.deltas.0.len() + self.answers.0.len() + 4096);
        out.extend_from_slice(&self.start);
        let mut key = |name: &str, lists: &[&[u8]]| {
            out.extend_from_slice(b",\"");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\":");
            for bytes in lists {
                out.extend_from_slice(bytes);
            }
        };
        for (name, list) in [("deltas", &self.deltas), ("answers", &self.answers), ("faults", &self.faults)] {
            key(name, &[b"[", &list.0, b"]"]);
        }
        if let Some(movers) = &self.movers {
            key("movers", &[b"[", &movers.0, b"]"]);
        }
        key("micros", &[&json_nested(&self.micros)]);
        let of = json_bytes(&self.chart_label);
        key("standing", &[b"{\"of\":", &of, b",\"lines\":", &json_nested(&self.chart_lines), b"}"]);
        match &self.outcome {
            Some(outcome) => key("outcome", &[&json_bytes(outcome)]),
            None => key("live", &[b"true"]),
        }
        out.push(b'}');
        out
    }
}

/// Elements of a JSON list without brackets, and their number.
#[derive(Clone, Debug, Default)]
struct JsonList(Vec<u8>, usize);

impl JsonList {
    fn of(elements: &[Json]) -> Self {
        let mut list = Self::default();
        for element in elements {
            list.push(element);
        }
        list
    }

    fn push(&mut self, element: &impl Serialize) {
        self.1 += 1;
        if !self.0.is_empty() {
            self.0.push(b',');
        }
        self.0.extend_from_slice(&json_bytes(element));
    }
}

/// A JSON list of lists.
fn json_nested(lists: &[JsonList]) -> Vec<u8> {
    let mut out = b"[".to_vec();
    for (i, list) in lists.iter().enumerate() {
        out.extend_from_slice(if i == 0 { b"[" } else { b",[" });
        out.extend_from_slice(&list.0);
        out.push(b']');
    }
    out.push(b']');
    out
}

/// Serialises a value. Plain structs with text keys always serialise.
fn json_bytes(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|_| b"null".to_vec())
}
