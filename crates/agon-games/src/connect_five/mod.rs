//! Connect Five with special columns: two players drop pieces into a board of 9 columns and 7 rows; five in a line win.
//! A piece dropped into one of two special columns may drift to a neighbouring column. The special columns and the drift
//! probabilities are the same for all games of a match, and hidden from the bots.
//!
//! [`board`]: the board; `special`: the drift; `state`: state of a game; `view`: display; `bots`: the house bots.

pub mod board;
mod bots;
mod description;
mod drawing;
mod special;
mod state;
mod view;

use std::time::Duration;

use agon_core::{
    AnswerKey, Assets, BotLifetime, ClockRule, FastRng, Fault, FaultPenalty, Game, GameInfo, IllegalAnswer,
    Outcome, Reply, RequestInfo, RoleInfo, ScoreDirection, ScoreInfo, Seat, SeatCount, SeatSet,
    SettingDefault, SettingKind, SettingSpec, SettingValue, Settings, SettingsError, StatInfo, TerminalKey,
    random,
};
use serde::{Serialize, Serializer};

use board::{Board, COLUMNS, Mark};
pub use special::SpecialColumns;
use special::SpecialSettings;
pub use state::State;
use state::{GameEnd, LastDrop};

/// Maximum of the setting `played`.
const MAX_GAMES_PLAYED: i64 = 1_000_000_000;

static INFO: GameInfo = GameInfo {
    id: "connect-five",
    title: "Connect Five with special columns",
    summary: "drop pieces into 9 columns, five in a line win; in two secret columns pieces may drift",
    rules_version: 1,
    seats: SeatCount { min: 2, max: 2 },
    roles: &[RoleInfo { name: "player", better: ScoreDirection::Higher }],
    settings: &[
        SettingSpec {
            name: "first",
            help: "seat that moves first; the seats alternate in the games of a match",
            kind: SettingKind::Int { min: 0, max: 1 },
            default: SettingDefault::Int(0),
        },
        SettingSpec {
            name: "special",
            help: "the two special columns, the same for a whole match",
            kind: SettingKind::List { len: 2, min: 0, max: 8 },
            default: SettingDefault::Drawn("two different columns, uniform, once per match"),
        },
        SettingSpec {
            name: "p",
            help: "probability that a piece dropped into a special column moves one column left",
            kind: SettingKind::Real { min: 0.0, max: 1.0 },
            default: SettingDefault::Drawn(
                "with q uniformly on p >= 0, q >= 0, p + q <= 1, once for a match",
            ),
        },
        SettingSpec {
            name: "q",
            help: "probability that a piece dropped into a special column moves one column right",
            kind: SettingKind::Real { min: 0.0, max: 1.0 },
            default: SettingDefault::Drawn(
                "with p uniformly on p >= 0, q >= 0, p + q <= 1, once for a match",
            ),
        },
        SettingSpec {
            name: "seconds",
            help: "T: time limit of a move in seconds",
            kind: SettingKind::Real { min: 0.001, max: 3600.0 },
            default: SettingDefault::Real(1.0),
        },
        SettingSpec {
            name: "played",
            help: "N: number of games already played against this opponent in this match",
            kind: SettingKind::Int { min: 0, max: MAX_GAMES_PLAYED },
            default: SettingDefault::Int(0),
        },
    ],
    requests: &[RequestInfo {
        name: "move",
        asks: "the column to drop a piece into, 0 (left) to 8 (right)",
        example: "4",
        keys: &[
            AnswerKey::new(TerminalKey::Character('0'), "0"),
            AnswerKey::new(TerminalKey::Character('1'), "1"),
            AnswerKey::new(TerminalKey::Character('2'), "2"),
            AnswerKey::new(TerminalKey::Character('3'), "3"),
            AnswerKey::new(TerminalKey::Character('4'), "4"),
            AnswerKey::new(TerminalKey::Character('5'), "5"),
            AnswerKey::new(TerminalKey::Character('6'), "6"),
            AnswerKey::new(TerminalKey::Character('7'), "7"),
            AnswerKey::new(TerminalKey::Character('8'), "8"),
        ],
    }],
    faults: [
        FaultPenalty::LoseGame,
        FaultPenalty::LoseMatch,
        FaultPenalty::LoseGame,
        FaultPenalty::LoseMatch,
    ],
    clock: "T seconds for each move (setting `seconds`)",
    lifetime: BotLifetime::Match,
    names_shown: true,
    score: ScoreInfo { name: "score", unit: "", decimals: 3 },
    stats: &[StatInfo { name: "moves", decimals: 1 }],
    bots: description::BOTS,
    standings: description::STANDINGS,
    competition: description::COMPETITION,
    texts: description::TEXTS,
    starters: description::STARTERS,
};

/// Rules of Connect Five with the settings of one game.
#[derive(Clone, Debug)]
pub struct ConnectFive {
    first: Seat,
    special: SpecialSettings,
    seconds: f64,
    played: u32,
}

/// A column as named by a bot: any whole number, possibly outside the board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column(pub i64);

impl Column {
    /// Index of the column, if it is on the board.
    #[inline]
    const fn index(self) -> Option<usize> {
        if 0 <= self.0 && self.0 < COLUMNS as i64 { Some(self.0 as usize) } else { None }
    }
}

/// Observation of a player: the arguments of `get_move`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Observation {
    /// The board, top row first; 0 empty, 1 and 2 the players.
    pub board: Board,
    /// 1 for the player that moved first, 2 for the other.
    #[serde(serialize_with = "number")]
    pub player: Mark,
    /// Time limit of a move in seconds.
    #[serde(rename = "T", serialize_with = "seconds")]
    pub seconds: f64,
    /// Number of games already played in this match.
    #[serde(rename = "N")]
    pub played: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn number<S: Serializer>(mark: &Mark, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u8(mark.number())
}

/// Writes whole seconds as an integer.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn seconds<S: Serializer>(seconds: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if seconds.fract() == 0.0 {
        serializer.serialize_u64(*seconds as u64)
    } else {
        serializer.serialize_f64(*seconds)
    }
}

impl ConnectFive {
    /// Mark of a seat.
    #[inline]
    const fn mark_of(&self, seat: Seat) -> Mark {
        if seat.0 == self.first.0 { Mark::X } else { Mark::O }
    }

    /// Seat of a mark.
    #[inline]
    const fn seat_of(&self, mark: Mark) -> Seat {
        Seat(self.first.0 ^ mark as u8)
    }
}

impl Game for ConnectFive {
    type State = State;
    type Observation<'s> = Observation;
    type Answer = Column;

    fn info() -> &'static GameInfo {
        &INFO
    }

    fn new(settings: &Settings, seats: usize, _assets: &Assets) -> Result<Self, SettingsError> {
        let mut problems = Vec::new();
        if seats != 2 {
            let what = format!("Connect Five has 2 seats, not {seats}");
            problems.extend(SettingsError::one(what, "use exactly two bots").problems);
        }
        match SpecialSettings::from_settings(settings) {
            Ok(special) if problems.is_empty() => Ok(Self {
                first: Seat(settings.int("first").unwrap_or(0).clamp(0, 1) as u8),
                special,
                seconds: settings.real("seconds").unwrap_or(1.0),
                played: settings.int("played").unwrap_or(0).clamp(0, MAX_GAMES_PLAYED) as u32,
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

    /// The special columns are drawn once per match, the first move alternates, and N counts up.
    fn series_game(settings: &Settings, seed: u64, index: u32) -> (Settings, u64) {
        let mut of_game = settings.clone();
        if let Ok(special) = SpecialSettings::from_settings(settings) {
            special.draw(seed).write(&mut of_game);
        }
        let first = settings.int("first").unwrap_or(0) ^ i64::from(index % 2);
        of_game.set("first", SettingValue::Int(first));
        let played = settings.int("played").unwrap_or(0).saturating_add(i64::from(index));
        of_game.set("played", SettingValue::Int(played.min(MAX_GAMES_PLAYED)));
        (of_game, random::series_seed(seed, index))
    }

    #[inline]
    fn start(&self, seed: u64) -> State {
        State::new(seed, self.special.draw(seed))
    }

    #[inline]
    fn to_move(&self, state: &State) -> SeatSet {
        match state.end {
            GameEnd::NotYet => SeatSet::one(self.seat_of(state.mover())),
            _ => SeatSet::EMPTY,
        }
    }

    #[inline]
    fn observe<'s>(&'s self, state: &'s State, seat: Seat) -> Observation {
        Observation {
            board: state.board,
            player: self.mark_of(seat),
            seconds: self.seconds,
            played: self.played,
        }
    }

    fn check(&self, state: &State, seat: Seat, answer: Column) -> Result<(), IllegalAnswer> {
        let mut reasons = Vec::new();
        if state.end != GameEnd::NotYet {
            reasons.push("the game is over".to_owned());
        } else if !self.to_move(state).contains(seat) {
            reasons.push(format!("seat {seat} is not to move"));
        }
        match answer.index() {
            None => reasons.push(format!("column {} does not exist; use 0 to 8", answer.0)),
            Some(column) if !state.board.has_room(column) => reasons.push(format!("column {column} is full")),
            Some(_) => {}
        }
        IllegalAnswer::unless_empty(reasons)
    }

    #[inline]
    fn apply(&self, state: &mut State, replies: &[Reply<Column>]) {
        if state.end != GameEnd::NotYet {
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
        state.end = GameEnd::Fault(fault, self.seat_of(state.mover()));
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        state.outcome(self.first)
    }

    #[inline]
    fn sample(&self, state: &State, seat: Seat, rng: &mut FastRng) -> Option<Column> {
        if !self.to_move(state).contains(seat) {
            return None;
        }
        // A running game has a column with room, and most columns have room: try until one is found.
        loop {
            let column = rng.below(COLUMNS as u32) as usize;
            if state.board.has_room(column) {
                return Some(Column(column as i64));
            }
        }
    }

    fn resample(&self, state: &State, seat: Seat, rng: &mut FastRng) -> State {
        state.resample(self.mark_of(seat), rng)
    }

    fn pack_observation(seen: &Observation, _first: bool, out: &mut Vec<u8>) -> bool {
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

/// Parses a whole number of any length. Numbers outside `i64` are clamped; they are off the board in any case.
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
