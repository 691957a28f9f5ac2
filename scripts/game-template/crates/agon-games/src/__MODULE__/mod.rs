//! __TITLE__: FILL IN: what the game is about, in one or two sentences.
//!
//! `description`: what other crates need to know; `view`: display; `bots`: the house bots.

mod bots;
mod description;
mod view;

use std::time::Duration;

use agon_core::{
    Assets, BotLifetime, ClockRule, FastRng, Fault, FaultPenalty, Game, GameInfo, IllegalAnswer, Outcome,
    Reply, RequestInfo, RoleInfo, ScoreDirection, ScoreInfo, Seat, SeatCount, SeatSet, SettingDefault,
    SettingKind, SettingSpec, Settings, SettingsError, StatInfo,
};
use serde::Serialize;

static INFO: GameInfo = GameInfo {
    id: "__ID__",
    title: "__TITLE__",
    summary: "FILL IN: the game in one line",
    rules_version: 1,
    // FILL IN: the number of seats.
    seats: SeatCount { min: 2, max: 2 },
    // FILL IN: one role for all seats, or one for each seat.
    roles: &[RoleInfo { name: "player", better: ScoreDirection::Higher }],
    // FILL IN: the settings. A competition can swap the first move if there is a setting `first`.
    settings: &[SettingSpec {
        name: "seconds",
        help: "time limit of an answer in seconds",
        kind: SettingKind::Real { min: 0.001, max: 3600.0 },
        default: SettingDefault::Real(1.0),
    }],
    requests: &[RequestInfo { name: "move", asks: "FILL IN: what the bot must answer", example: "1", keys: &[] }],
    // FILL IN: what each fault costs: illegal, crash, timeout, garbled.
    faults: [FaultPenalty::LoseGame; 4],
    clock: "1 s for each answer (setting `seconds`)",
    // FILL IN: how long a bot lives, and whether bots get the names of their opponents.
    lifetime: BotLifetime::Game,
    names_shown: false,
    score: ScoreInfo { name: "points", unit: "", decimals: 2 },
    stats: &[StatInfo { name: "moves", decimals: 1 }],
    bots: description::BOTS,
    standings: description::STANDINGS,
    competition: description::COMPETITION,
    texts: description::TEXTS,
    starters: description::STARTERS,
};

/// FILL IN: remove it; the rules decide when a game ends.
const TURNS: u32 = 4;

/// Rules of __TITLE__ with the settings of one game.
#[derive(Clone, Debug)]
pub struct __TYPE__ {
    limit: Duration,
}

/// A move as a bot names it. It may be illegal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move(pub u32);

/// State of a game.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    /// FILL IN: the board. Nothing here may depend on a clock or on unseeded chance.
    turn: u32,
    last: Option<Move>,
    /// The seat that lost by a fault.
    fault: Option<(Fault, Seat)>,
}

/// Observation of a player.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Observation {
    /// FILL IN: what the player sees.
    pub turn: u32,
}

impl __TYPE__ {
    /// The seat to move.
    fn mover(state: &State) -> Seat {
        Seat((state.turn % 2) as u8)
    }

    /// Whether the game is over.
    fn is_over(state: &State) -> bool {
        // FILL IN: when a game ends.
        state.fault.is_some() || state.turn >= TURNS
    }

    /// Legal moves.
    fn legal(_state: &State) -> Vec<Move> {
        // FILL IN: the legal moves.
        vec![Move(1)]
    }
}

impl Game for __TYPE__ {
    type State = State;
    type Observation<'s> = Observation;
    type Answer = Move;

    fn info() -> &'static GameInfo {
        &INFO
    }

    fn new(settings: &Settings, seats: usize, _assets: &Assets) -> Result<Self, SettingsError> {
        if seats != 2 {
            let what = format!("__TITLE__ has 2 seats, not {seats}");
            return Err(SettingsError::one(what, "use exactly two bots"));
        }
        let seconds = settings.real("seconds").unwrap_or(1.0);
        Ok(Self { limit: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(1)) })
    }

    fn seats(&self) -> usize {
        2
    }

    fn clock(&self) -> ClockRule {
        ClockRule::PerAnswer { limit: self.limit }
    }

    fn start(&self, _seed: u64) -> State {
        // FILL IN: the start. All chance comes from `agon_core::Rng::new(seed, RngStream::Game)`.
        State { turn: 0, last: None, fault: None }
    }

    fn to_move(&self, state: &State) -> SeatSet {
        if Self::is_over(state) { SeatSet::EMPTY } else { SeatSet::one(Self::mover(state)) }
    }

    fn observe<'s>(&'s self, state: &'s State, _seat: Seat) -> Observation {
        Observation { turn: state.turn }
    }

    fn check(&self, state: &State, seat: Seat, answer: Move) -> Result<(), IllegalAnswer> {
        let mut reasons = Vec::new();
        if !self.to_move(state).contains(seat) {
            reasons.push(format!("seat {seat} is not to move"));
        }
        if !Self::legal(state).contains(&answer) {
            reasons.push(format!("{} is not a legal move", answer.0));
        }
        IllegalAnswer::unless_empty(reasons)
    }

    fn apply(&self, state: &mut State, replies: &[Reply<Move>]) {
        if Self::is_over(state) {
            return;
        }
        let fault = match replies.first() {
            Some(Reply::Answer(answer)) if Self::legal(state).contains(answer) => {
                // FILL IN: what a move changes.
                state.turn += 1;
                state.last = Some(*answer);
                return;
            }
            Some(Reply::Answer(_)) => Fault::Illegal,
            Some(Reply::Fault(fault)) => *fault,
            None => Fault::Crash,
        };
        state.fault = Some((fault, Self::mover(state)));
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        if !Self::is_over(state) {
            return None;
        }
        // FILL IN: the scores in seat order, and why the game ended.
        let (scores, ended) = match state.fault {
            Some((fault, seat)) => {
                ([f64::from(seat.0), 1.0 - f64::from(seat.0)], format!("{fault} of seat {seat}"))
            }
            None => ([0.5, 0.5], "all turns played".to_owned()),
        };
        let mut outcome = Outcome::ranked(&scores, ended);
        for (seat, result) in outcome.seats.iter_mut().enumerate() {
            let moves = if seat == 0 { state.turn.div_ceil(2) } else { state.turn / 2 };
            result.stats[0] = f64::from(moves);
        }
        Some(outcome)
    }

    fn sample(&self, state: &State, seat: Seat, rng: &mut FastRng) -> Option<Move> {
        if !self.to_move(state).contains(seat) {
            return None;
        }
        rng.pick(&Self::legal(state))
    }

    fn resample(&self, state: &State, _seat: Seat, _rng: &mut FastRng) -> State {
        // FILL IN: draw again what this seat cannot know. If nothing is hidden, the state stays the same.
        state.clone()
    }

    fn write_answer(answer: Move, out: &mut Vec<u8>) {
        out.extend_from_slice(answer.0.to_string().as_bytes());
    }

    fn read_answer(text: &str) -> Result<Move, String> {
        // FILL IN: what a person types.
        let text = text.trim();
        text.parse().map(Move).map_err(|_| format!("expected a whole number, not `{text}`"))
    }
}
