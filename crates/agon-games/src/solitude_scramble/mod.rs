//! Solitude Scramble: four bots, five platforms, and points only for a bot that is alone on its platform.
//!
//! In each turn, sides are dealt and platforms get scores from 1 to 6. Then all four bots choose LEFT, RIGHT or CENTER at the same
//! time. Only the other bots' choices are hidden; every bot sees the whole history.
//!
//! - [`board`]: sides, platforms and moves
//! - [`state`]: deals, the scoring rule, the match so far, observations
//! - [`history`]: the match in the published JSON shape
//! - [`view`]: frames for graphical viewers, pictures for terminals
//! - [`bots`]: the house bots

use std::time::Duration;

use agon_core::{
    AnswerKey, Assets, BotLifetime, ClockRule, FastRng, FaultPenalty, Game, GameInfo, IllegalAnswer, Outcome,
    Reply, RequestInfo, RoleInfo, ScoreDirection, ScoreInfo, Seat, SeatCount, SeatSet, SettingDefault,
    SettingKind, SettingSpec, Settings, SettingsError, StatInfo, TerminalKey,
};

pub mod board;
pub mod bots;
mod description;
mod drawing;
pub mod history;
pub mod state;
pub mod view;

use board::Move;
use state::{Observation, SEATS, State};

static INFO: GameInfo = GameInfo {
    id: "solitude-scramble",
    title: "Solitude Scramble",
    summary: "four bots choose a platform at the same time; only a bot that is alone on its platform scores",
    rules_version: 1,
    seats: SeatCount { min: SEATS, max: SEATS },
    roles: &[RoleInfo { name: "player", better: ScoreDirection::Higher }],
    settings: &[
        SettingSpec {
            name: "turns",
            help: "number of turns in a match",
            kind: SettingKind::Int { min: 1, max: MAX_TURNS as i64 },
            default: SettingDefault::Int(DEFAULT_TURNS as i64),
        },
        SettingSpec {
            name: "seconds",
            help: "time limit of an answer in seconds",
            kind: SettingKind::Real { min: 0.001, max: 3600.0 },
            default: SettingDefault::Real(DEFAULT_SECONDS),
        },
    ],
    requests: &[RequestInfo {
        name: "move",
        asks: "where to go from your side, facing the centre: LEFT, RIGHT or CENTER",
        example: "LEFT",
        keys: &[
            AnswerKey::new(TerminalKey::Left, "LEFT"),
            AnswerKey::new(TerminalKey::Right, "RIGHT"),
            AnswerKey::new(TerminalKey::Up, "CENTER"),
        ],
    }],
    faults: [FaultPenalty::ForfeitMove; 4],
    clock: "2 s for each answer",
    lifetime: BotLifetime::Call,
    names_shown: true,
    score: ScoreInfo { name: "points", unit: "", decimals: 2 },
    stats: &[
        StatInfo { name: "alone", decimals: 2 },
        StatInfo { name: "collisions", decimals: 2 },
        StatInfo { name: "forfeits", decimals: 2 },
    ],
    bots: description::BOTS,
    standings: description::STANDINGS,
    competition: description::COMPETITION,
    texts: description::TEXTS,
    starters: description::STARTERS,
};

const DEFAULT_TURNS: u16 = 10;
const MAX_TURNS: u16 = 1000;
const DEFAULT_SECONDS: f64 = 2.0;

/// Rules of Solitude Scramble: number of turns and time limit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SolitudeScramble {
    turns: u16,
    limit: Duration,
}

impl SolitudeScramble {
    /// Number of turns of a match.
    pub const fn turns(&self) -> u16 {
        self.turns
    }

    /// Whether all turns are played.
    #[inline]
    pub fn is_over(&self, state: &State) -> bool {
        state.history().len() >= self.turns.into()
    }
}

impl Game for SolitudeScramble {
    type State = State;
    type Observation<'s> = Observation<'s>;
    type Answer = Move;

    fn info() -> &'static GameInfo {
        &INFO
    }

    fn new(settings: &Settings, seats: usize, _assets: &Assets) -> Result<Self, SettingsError> {
        if seats != SEATS {
            let what = format!("Solitude Scramble has {SEATS} seats, not {seats}");
            return Err(SettingsError::one(what, "use exactly four bots"));
        }
        let turns = settings.int("turns").unwrap_or(DEFAULT_TURNS.into()).clamp(1, MAX_TURNS.into()) as u16;
        let seconds = settings.real("seconds").unwrap_or(DEFAULT_SECONDS);
        let limit = Duration::try_from_secs_f64(seconds).map_err(|_| {
            SettingsError::one(
                format!("`{seconds}` seconds is not a valid time limit"),
                "use for example seconds=2",
            )
        })?;
        Ok(Self { turns, limit })
    }

    fn seats(&self) -> usize {
        SEATS
    }

    fn clock(&self) -> ClockRule {
        ClockRule::PerAnswer { limit: self.limit }
    }

    fn start(&self, seed: u64) -> State {
        State::new(seed, self.turns)
    }

    #[inline]
    fn to_move(&self, state: &State) -> SeatSet {
        if self.is_over(state) { SeatSet::EMPTY } else { SeatSet::first(SEATS) }
    }

    #[inline]
    fn observe<'s>(&'s self, state: &'s State, seat: Seat) -> Observation<'s> {
        Observation { seat, turns: self.turns, deal: *state.deal(), history: state.history() }
    }

    #[inline]
    fn check(&self, state: &State, seat: Seat, _answer: Move) -> Result<(), IllegalAnswer> {
        // All three moves are possible from every side, so only the seat or the time can be wrong.
        let mut reasons = Vec::new();
        if seat.index() >= SEATS {
            reasons.push(format!("seat {seat} does not exist"));
        }
        if self.is_over(state) {
            reasons.push("the match is over".to_owned());
        }
        IllegalAnswer::unless_empty(reasons)
    }

    fn apply(&self, state: &mut State, replies: &[Reply<Move>]) {
        if self.is_over(state) {
            return;
        }
        let moves = std::array::from_fn(|seat| replies.get(seat).and_then(|reply| reply.answer()));
        let last = state.history().len() + 1 >= self.turns.into();
        state.play(moves, last);
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        if !self.is_over(state) {
            return None;
        }
        let mut outcome = Outcome::ranked(&state.totals().map(f64::from), "all turns played");
        for (seat, result) in Seat::all(SEATS).zip(&mut outcome.seats) {
            let count =
                |is: &dyn Fn(&state::Turn) -> bool| state.history().iter().filter(|t| is(t)).count() as f64;
            result.stats = [
                count(&|turn| turn.awards[seat.index()] > 0),
                count(&|turn| turn.collided(seat)),
                count(&|turn| turn.moves[seat.index()].is_none()),
            ];
        }
        Some(outcome)
    }

    fn sample(&self, state: &State, seat: Seat, rng: &mut FastRng) -> Option<Move> {
        if self.to_move(state).contains(seat) { rng.pick(&Move::ALL) } else { None }
    }

    fn resample(&self, state: &State, _seat: Seat, rng: &mut FastRng) -> State {
        state.with_future_seed(rng.next_u64())
    }

    fn pack_observation(seen: &Observation<'_>, _first: bool, out: &mut Vec<u8>) -> bool {
        let Ok(turn) = u8::try_from(seen.turn()) else { return false };
        out.extend_from_slice(&[turn, seen.seat.0]);
        seen.deal.pack(out);
        for turn in seen.history {
            turn.deal.pack(out);
            out.extend(turn.moves.map(|chosen| chosen.map_or(Move::ALL.len() as u8, |chosen| chosen as u8)));
            out.extend_from_slice(&turn.awards);
        }
        true
    }

    fn write_answer(answer: Move, out: &mut Vec<u8>) {
        out.push(answer.letter());
    }

    fn read_answer(text: &str) -> Result<Move, String> {
        Move::read(text).ok_or_else(|| "expected LEFT, RIGHT or CENTER (or L, R, C)".to_owned())
    }
}
