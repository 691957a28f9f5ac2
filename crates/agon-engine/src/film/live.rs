//! A film of a game that is not over yet. A reel computes every turn again from the answers, beside the game and never from its bots;
//! what it gives is shown as it comes ([`part`]) and added to what was shown before ([`LiveFilm`]). `docs/film.md` describes both.

use std::borrow::Cow;
use std::time::Duration;

use agon_core::game::View;
use agon_core::record::{Expiry, FaultRecord, Header, SITS_OUT};
use agon_core::{Assets, Outcome, SeatSet, frame};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::json::{head, short_number, short_time};
use super::{ReplayError, advance, read_turn, set_up};

/// A turn as it was played.
#[derive(Clone, Copy, Debug)]
pub struct PlayedTurn<'t> {
    /// The answers of those to move, separated by blanks, as they stand in the record.
    pub answers: &'t str,
    /// What each answer was charged; nothing for a seat that is no longer asked.
    pub charged: &'t [Duration],
    /// What went wrong.
    pub faults: &'t [FaultRecord],
    /// The shared clock ran out with this turn.
    pub expired: Option<Expiry>,
}

/// A turn as it is shown: an element of the `turns` of a part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LiveTurn {
    delta: Json,
    answers: String,
    /// Nothing when all seats were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    movers: Option<Vec<u8>>,
    /// In the order of the answers; `null` for a seat that is no longer asked.
    micros: Vec<Json>,
    standing: Vec<Json>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    faults: Vec<FaultRecord>,
}

/// A part that was made elsewhere ([`part`]), read again.
#[derive(Clone, Debug, Deserialize)]
pub struct LivePart {
    /// The number of its first turn, counted from 1.
    pub from: usize,
    /// Its turns.
    pub turns: Vec<LiveTurn>,
    /// The last part of a game brings it.
    #[serde(default)]
    pub outcome: Option<Outcome>,
}

impl LivePart {
    /// From its bytes; nothing if they are none.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// Its bytes again, made here: one line of JSON whoever wrote it.
    pub fn json(&self) -> Vec<u8> {
        part(self.from, &self.turns, self.outcome.as_ref())
    }
}

/// Computes the turns of a game again, one by one.
pub trait Reel: Send {
    /// The next turn. What the rules refuse was not played.
    fn push(&mut self, turn: &PlayedTurn<'_>) -> Result<LiveTurn, ReplayError>;

    /// The result, once the game is over.
    fn outcome(&self) -> Option<Outcome>;
}

struct ReelOf<G: View> {
    game: G,
    state: G::State,
    turns: usize,
    /// The frame after the last turn.
    frame: Json,
}

/// A film with nothing but its start, and the reel of its turns.
pub(crate) fn begin<G: View>(
    header: &Header,
    contributors: &[Option<String>],
    assets: &Assets,
) -> Result<(LiveFilm, impl Reel + use<G>), ReplayError> {
    let (game, _) = set_up::<G>(header, assets)?;
    let state = game.start(header.seed);
    let frame = game.frame(&state);
    let mut start = head(G::info(), header, contributors);
    start["first"] = frame.clone();
    let standing = game.standing(&state).into_iter().map(short_number).collect::<Vec<_>>();
    let film = LiveFilm::new(&start, header.seats.len(), G::STANDING, &standing);
    Ok((film, ReelOf { game, state, turns: 0, frame }))
}

impl<G: View> Reel for ReelOf<G> {
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
            SITS_OUT => Json::Null,
            _ => charged.next().map_or(Json::Null, |time| short_time(*time)),
        };
        // What a bot wrote to stderr is for its author; a live film is for everybody.
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
            standing: game.standing(state).into_iter().map(short_number).collect(),
            faults: turn.faults.iter().map(public).collect(),
        })
    }

    fn outcome(&self) -> Option<Outcome> {
        self.game.outcome(&self.state)
    }
}

/// Turns that follow what was shown before; `from` is the number of the first of them, counted from 1. The last part of a game brings its
/// outcome.
pub fn part(from: usize, turns: &[LiveTurn], outcome: Option<&Outcome>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Part<'p> {
        from: usize,
        turns: &'p [LiveTurn],
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<&'p Outcome>,
    }
    written(&Part { from, turns, outcome })
}

/// All that was shown of a game, for those who come late. Kept as text: putting it together is copying.
#[derive(Clone, Debug)]
pub struct LiveFilm {
    /// The object without its closing brace.
    start: Vec<u8>,
    seats: usize,
    turns: usize,
    deltas: List,
    answers: List,
    /// Nothing while all seats are asked in every turn.
    movers: Option<List>,
    micros: Vec<List>,
    faults: List,
    standing_of: Cow<'static, str>,
    lines: Vec<List>,
    outcome: Option<Outcome>,
}

impl LiveFilm {
    fn new(start: &Json, seats: usize, standing_of: &'static str, standing: &[Json]) -> Self {
        let mut start = written(start);
        start.pop();
        let line = |value: &Json| {
            let mut line = List::default();
            line.push(value);
            line
        };
        Self {
            start,
            seats,
            turns: 0,
            deltas: List::default(),
            answers: List::default(),
            movers: None,
            micros: vec![List::default(); seats],
            faults: List::default(),
            standing_of: Cow::Borrowed(standing_of),
            lines: standing.iter().map(line).collect(),
            outcome: None,
        }
    }

    /// A live film that was made elsewhere, to be shown on from here, by these contributors (in seat order); nothing if it is none.
    pub fn read(bytes: &[u8], contributors: &[Option<String>]) -> Option<Self> {
        let Json::Object(mut film) = serde_json::from_slice(bytes).ok()? else { return None };
        if film.get("agon")? != "film" || !film.contains_key("first") {
            return None;
        }
        let mut list = |name: &str| Some(List::of(film.remove(name)?.as_array()?));
        let (deltas, answers, faults) = (list("deltas")?, list("answers")?, list("faults")?);
        let movers = list("movers");
        let lists = |value: &Json| -> Option<Vec<List>> {
            value.as_array()?.iter().map(|one| one.as_array().map(|one| List::of(one))).collect()
        };
        let micros = lists(&film.remove("micros")?)?;
        let standing = film.remove("standing")?;
        let lines = lists(standing.get("lines")?)?;
        let of = standing.get("of")?.as_str()?.to_owned();
        let outcome = film.remove("outcome").map(serde_json::from_value).transpose().ok()?;
        // What only those may see who play, or nobody yet, is not for who looks on.
        for key in ["live", "contributors", "seed", "logs", "digest"] {
            film.remove(key);
        }
        if contributors.iter().any(Option::is_some) {
            film.insert("contributors".to_owned(), serde_json::json!(contributors));
        }
        let mut start = written(&film);
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
            standing_of: Cow::Owned(of),
            lines,
            outcome,
        })
    }

    /// Whether its end was shown.
    pub fn is_over(&self) -> bool {
        self.outcome.is_some()
    }

    /// How many turns were shown.
    pub fn turns(&self) -> usize {
        self.turns
    }

    /// Another turn was shown.
    pub fn push(&mut self, turn: &LiveTurn) {
        let all: Vec<u8> = (0..self.seats as u8).collect();
        if turn.movers.is_some() && self.movers.is_none() {
            let mut movers = List::default();
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
        for (line, value) in self.lines.iter_mut().zip(&turn.standing) {
            line.push(value);
        }
    }

    /// The end was shown: from now on it is a film like any other.
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
        key("micros", &[&nested(&self.micros)]);
        let of = written(&self.standing_of);
        key("standing", &[b"{\"of\":", &of, b",\"lines\":", &nested(&self.lines), b"}"]);
        match &self.outcome {
            Some(outcome) => key("outcome", &[&written(outcome)]),
            None => key("live", &[b"true"]),
        }
        out.push(b'}');
        out
    }
}

/// The elements of a JSON list, without its brackets, and how many they are.
#[derive(Clone, Debug, Default)]
struct List(Vec<u8>, usize);

impl List {
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
        self.0.extend_from_slice(&written(element));
    }
}

/// A list of lists.
fn nested(lists: &[List]) -> Vec<u8> {
    let mut out = b"[".to_vec();
    for (i, list) in lists.iter().enumerate() {
        out.extend_from_slice(if i == 0 { b"[" } else { b",[" });
        out.extend_from_slice(&list.0);
        out.push(b']');
    }
    out.push(b']');
    out
}

/// What is written here always serialises: plain structs with text keys.
fn written(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|_| b"null".to_vec())
}
