//! Connect Five with special columns: two players drop pieces into a grid of 9 columns and 7 rows; five in a line
//! win. Two columns are special: a piece dropped there may drift to a neighbour. Which columns, and how likely they
//! drift, stays the same for all games of a match, and nobody is told.
//!
//! [`board`] is the grid, `special` the drift, `state` a game in progress, `view` how to look at it, `bots` who plays.

pub mod board;
mod bots;
mod special;
mod state;
mod view;

use std::time::Duration;

use agon_core::{
    Assets, Better, ClockRule, Cost, Default, Fault, Game, GameInfo, Kind, Lifetime, Outcome, QuickRng,
    Refusal, Reply, RequestInfo, RoleInfo, ScoreInfo, Seat, SeatCount, SeatSet, Settings, SettingsError,
    Spec, StatInfo, Value, random,
};
use serde::{Serialize, Serializer};

use board::{Board, COLUMNS, Mark};
pub use special::Special;
use special::Wanted;
pub use state::State;
use state::{Dropped, End};

/// The most games a match can have counted.
const MOST_PLAYED: i64 = 1_000_000_000;

static INFO: GameInfo = GameInfo {
    id: "connect-five",
    title: "Connect Five with special columns",
    summary: "drop pieces into 9 columns, five in a line win; two secret columns let pieces drift",
    rules_version: 1,
    seats: SeatCount { min: 2, max: 2 },
    roles: &[RoleInfo { name: "player", better: Better::Higher }],
    settings: &[
        Spec {
            name: "first",
            help: "the seat that moves first; the other one does in every second game of a match",
            kind: Kind::Int { min: 0, max: 1 },
            default: Default::Int(0),
        },
        Spec {
            name: "special",
            help: "the two special columns, the same for a whole match",
            kind: Kind::List { len: 2, min: 0, max: 8 },
            default: Default::Drawn("two different columns, uniformly, once for a match"),
        },
        Spec {
            name: "p",
            help: "how likely a piece dropped into a special column goes one column left",
            kind: Kind::Real { min: 0.0, max: 1.0 },
            default: Default::Drawn("with q uniformly on p >= 0, q >= 0, p + q <= 1, once for a match"),
        },
        Spec {
            name: "q",
            help: "how likely a piece dropped into a special column goes one column right",
            kind: Kind::Real { min: 0.0, max: 1.0 },
            default: Default::Drawn("with p uniformly on p >= 0, q >= 0, p + q <= 1, once for a match"),
        },
        Spec {
            name: "seconds",
            help: "T: how long a move may take",
            kind: Kind::Real { min: 0.001, max: 3600.0 },
            default: Default::Real(1.0),
        },
        Spec {
            name: "played",
            help: "N: games already played against this opponent in this match",
            kind: Kind::Int { min: 0, max: MOST_PLAYED },
            default: Default::Int(0),
        },
    ],
    requests: &[RequestInfo {
        name: "move",
        asks: "the column to drop a piece into, 0 (left) to 8 (right)",
        example: "4",
    }],
    faults: [Cost::LoseGame, Cost::LoseMatch, Cost::LoseGame, Cost::LoseMatch],
    clock: "T seconds for each move (setting `seconds`)",
    lifetime: Lifetime::Match,
    names_shown: true,
    score: ScoreInfo { name: "score", unit: "", decimals: 3 },
    stats: &[StatInfo { name: "moves", decimals: 1 }],
};

/// The rules under given settings.
#[derive(Clone, Debug)]
pub struct ConnectFive {
    first: Seat,
    wanted: Wanted,
    seconds: f64,
    played: u32,
}

/// A column as a bot names it: a whole number, perhaps none of the nine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column(pub i64);

impl Column {
    /// The column as an index, if it is one of the nine.
    #[inline]
    const fn index(self) -> Option<usize> {
        if 0 <= self.0 && self.0 < COLUMNS as i64 { Some(self.0 as usize) } else { None }
    }
}

/// What a player sees: the arguments of `get_move`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Seen {
    /// The top row first; 0 empty, 1 and 2 the players.
    pub board: Board,
    /// 1 for who moved first, 2 for the other.
    #[serde(serialize_with = "number")]
    pub player: Mark,
    /// Seconds for a move.
    #[serde(rename = "T", serialize_with = "seconds")]
    pub seconds: f64,
    /// Games already played in this match.
    #[serde(rename = "N")]
    pub played: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn number<S: Serializer>(mark: &Mark, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u8(mark.number())
}

/// Whole seconds are written as the whole number they are for a bot.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn seconds<S: Serializer>(seconds: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if seconds.fract() == 0.0 {
        serializer.serialize_u64(*seconds as u64)
    } else {
        serializer.serialize_f64(*seconds)
    }
}

impl ConnectFive {
    /// The mark of a seat.
    #[inline]
    const fn mark_of(&self, seat: Seat) -> Mark {
        if seat.0 == self.first.0 { Mark::X } else { Mark::O }
    }

    /// The seat of a mark.
    #[inline]
    const fn seat_of(&self, mark: Mark) -> Seat {
        Seat(self.first.0 ^ mark as u8)
    }
}

impl Game for ConnectFive {
    type State = State;
    type Observation<'s> = Seen;
    type Answer = Column;

    fn info() -> &'static GameInfo {
        &INFO
    }

    fn new(settings: &Settings, seats: usize, _assets: &Assets) -> Result<Self, SettingsError> {
        let mut problems = Vec::new();
        if seats != 2 {
            let what = format!("Connect Five is played by 2, not {seats}");
            problems.extend(SettingsError::one(what, "seat exactly two bots").problems);
        }
        match Wanted::from_settings(settings) {
            Ok(wanted) if problems.is_empty() => Ok(Self {
                first: Seat(settings.int("first").unwrap_or(0).clamp(0, 1) as u8),
                wanted,
                seconds: settings.real("seconds").unwrap_or(1.0),
                played: settings.int("played").unwrap_or(0).clamp(0, MOST_PLAYED) as u32,
            }),
            Ok(_) => Err(SettingsError { problems }),
            Err(error) => {
                problems.extend(error.problems);
                Err(SettingsError { problems })
            }
        }
    }

    fn seats(&self) -> usize {
        2
    }

    fn clock(&self) -> ClockRule {
        let limit = Duration::try_from_secs_f64(self.seconds).unwrap_or(Duration::from_secs(1));
        ClockRule::PerAnswer { limit }
    }

    /// The special columns are drawn once, the first move alternates, and N counts up.
    fn in_series(settings: &Settings, seed: u64, index: u32) -> (Settings, u64) {
        let mut of_game = settings.clone();
        if let Ok(wanted) = Wanted::from_settings(settings) {
            wanted.settle(seed).write(&mut of_game);
        }
        let first = settings.int("first").unwrap_or(0) ^ i64::from(index % 2);
        of_game.set("first", Value::Int(first));
        let played = settings.int("played").unwrap_or(0).saturating_add(i64::from(index));
        of_game.set("played", Value::Int(played.min(MOST_PLAYED)));
        (of_game, random::series_seed(seed, index))
    }

    #[inline]
    fn start(&self, seed: u64) -> State {
        State::new(seed, self.wanted.settle(seed))
    }

    #[inline]
    fn to_move(&self, state: &State) -> SeatSet {
        match state.end {
            End::NotYet => SeatSet::one(self.seat_of(state.mover())),
            _ => SeatSet::EMPTY,
        }
    }

    #[inline]
    fn observe<'s>(&'s self, state: &'s State, seat: Seat) -> Seen {
        Seen { board: state.board, player: self.mark_of(seat), seconds: self.seconds, played: self.played }
    }

    fn check(&self, state: &State, seat: Seat, answer: Column) -> Result<(), Refusal> {
        let mut reasons = Vec::new();
        if state.end != End::NotYet {
            reasons.push("the game is over".to_owned());
        } else if !self.to_move(state).contains(seat) {
            reasons.push(format!("it is not the turn of seat {seat}"));
        }
        match answer.index() {
            None => reasons.push(format!("there is no column {}, only 0 to 8", answer.0)),
            Some(column) if !state.board.has_room(column) => reasons.push(format!("column {column} is full")),
            Some(_) => {}
        }
        Refusal::unless_empty(reasons)
    }

    #[inline]
    fn apply(&self, state: &mut State, replies: &[Reply<Column>]) {
        if state.end != End::NotYet {
            return;
        }
        let fault = match replies.first() {
            Some(Reply::Answer(answer)) => match answer.index() {
                Some(column) if state.board.has_room(column) => return state.drop_into(column),
                _ => Fault::Illegal,
            },
            Some(Reply::Fault(fault)) => *fault,
            None => Fault::Crash,
        };
        state.end = End::Fault(fault, self.seat_of(state.mover()));
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        state.outcome(self.first)
    }

    #[inline]
    fn sample(&self, state: &State, seat: Seat, rng: &mut QuickRng) -> Option<Column> {
        if !self.to_move(state).contains(seat) {
            return None;
        }
        // A game that is not over has a column with room, and most columns have: try until one does.
        loop {
            let column = rng.below(COLUMNS as u32) as usize;
            if state.board.has_room(column) {
                return Some(Column(column as i64));
            }
        }
    }

    fn resample(&self, state: &State, seat: Seat, rng: &mut QuickRng) -> State {
        state.imagine(self.mark_of(seat), rng)
    }

    /// The number; one below 0 in brackets, `(-1)`, since a record keeps a leading `-` for itself.
    fn pack(seen: &Seen, _first: bool, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(&seen.seconds.to_le_bytes());
        out.extend_from_slice(&seen.played.to_le_bytes());
        out.extend_from_slice(&[seen.player.number(), board::ROWS as u8, COLUMNS as u8, 0]);
        out.extend(seen.board.rows().into_iter().flatten());
        true
    }

    fn write_answer(answer: Column, out: &mut Vec<u8>) {
        let text = if answer.0 < 0 { format!("({})", answer.0) } else { answer.0.to_string() };
        out.extend_from_slice(text.as_bytes());
    }

    fn read_answer(text: &str) -> Result<Column, String> {
        let text = text.trim();
        let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(text).trim();
        whole_number(inner)
            .map(Column)
            .ok_or_else(|| format!("expected a column, a whole number from 0 to 8, not `{text}`"))
    }
}

/// A whole number of any length; one too long for us is as far outside the board as the longest we can hold.
fn whole_number(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let beyond = if negative { i64::MIN } else { i64::MAX };
    Some(text.parse().unwrap_or(beyond))
}
