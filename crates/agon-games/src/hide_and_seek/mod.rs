//! Competitive Hide and Seek: a seeker hunts a hider in a room of 20 x 20 cells with walls that block the view.
//!
//! Cells are `[x, y]`, x to the right and y downwards, so `UP` is y - 1. The seeker moves in every step, the hider in every
//! second step after the seeker. The score of both is the number of steps until they stand on the same cell. `map_seed`
//! determines the map and `game_seed` the spawn cells, bit-identical to the public generator.
//!
//! [`cells`] and [`map`]: the room; [`vision`]: lines of sight; [`state`]: the rules.

mod answer;
mod bots;
mod cells;
mod description;
mod drawing;
mod map;
mod state;
mod view;
mod vision;

use std::time::Duration;

use agon_core::{
    AnswerKey, Assets, BotLifetime, ClockRule, FastRng, Fault, FaultPenalty, Game, GameInfo, HouseBot,
    HouseBots, IllegalAnswer, Outcome, Reply, RequestInfo, Rng, RngStream, RoleInfo, ScoreDirection,
    ScoreInfo, Seat, SeatCount, SeatOutcome, SeatSet, SettingDefault, SettingKind, SettingSpec, Settings,
    SettingsError, StatInfo,
};
use serde::Serialize;

pub use answer::Answer;
pub use cells::{CELLS, Cell, CellSet, Direction, SIDE};
pub use map::{GameStart, Map};
pub use state::{Ending, EnemySighting, HIDER, LastTurn, SEEKER, State, Trail, enemy};
pub use vision::{field_of_view, line, see_each_other};

const SEED_KIND: SettingKind = SettingKind::Int { min: 0, max: u32::MAX as i64 };

const SETTINGS: &[SettingSpec] = &[
    SettingSpec {
        name: "map_seed",
        help: "seed of the map",
        kind: SEED_KIND,
        default: SettingDefault::Drawn("first draw of game_seed if that is set, else the seed of the game"),
    },
    SettingSpec {
        name: "game_seed",
        help: "seed of the spawn cells",
        kind: SEED_KIND,
        default: SettingDefault::Drawn("the seed of the game (32 bits drawn from it if it is larger)"),
    },
    SettingSpec {
        name: "steps",
        help: "number of steps after which the hider wins",
        kind: SettingKind::Int { min: 1, max: 100_000 },
        default: SettingDefault::Int(4000),
    },
    SettingSpec {
        name: "seconds",
        help: "thinking time of both players together, in seconds",
        kind: SettingKind::Int { min: 1, max: 86_400 },
        default: SettingDefault::Int(300),
    },
];

static INFO: GameInfo = GameInfo {
    id: "hide-and-seek",
    title: "Competitive Hide and Seek",
    summary: "a fast seeker hunts a hider in a room with walls that block the view; the score is the steps to the catch",
    rules_version: 1,
    seats: SeatCount { min: 2, max: 2 },
    roles: &[
        RoleInfo { name: "seeker", better: ScoreDirection::Lower },
        RoleInfo { name: "hider", better: ScoreDirection::Higher },
    ],
    settings: SETTINGS,
    requests: &[RequestInfo {
        name: "move",
        asks: "one step: LEFT (x-1), RIGHT (x+1), UP (y-1), DOWN (y+1) or STAY; or the target cell as x,y",
        example: "LEFT",
        keys: AnswerKey::STEPS,
    }],
    faults: [FaultPenalty::Stay; 4],
    clock: "300 s per game for both together; then the player with less thinking time wins (the hider's time counts double)",
    lifetime: BotLifetime::Game,
    names_shown: false,
    score: ScoreInfo { name: "steps", unit: "", decimals: 1 },
    stats: &[
        StatInfo { name: "enemy in sight %", decimals: 1 },
        StatInfo { name: "cells walked", decimals: 1 },
    ],
    bots: description::BOTS,
    standings: description::STANDINGS,
    competition: description::COMPETITION,
    texts: description::TEXTS,
    starters: description::STARTERS,
};

/// Rules of Hide and Seek with the settings of one game.
#[derive(Clone, Debug)]
pub struct HideAndSeek {
    map_seed: Option<u32>,
    game_seed: Option<u32>,
    steps: u32,
    limit: Duration,
}

/// Observation of a player before its move.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Observation<'s> {
    /// `seeker` or `hider`.
    pub role: &'static str,
    /// Current step, from 1.
    pub step: u32,
    /// Number of steps of the game.
    pub steps: u32,
    /// Own position.
    pub pos: Cell,
    /// Whether the enemy is visible now.
    pub enemy_is_visible: bool,
    /// Position of the enemy if visible, else its last known position.
    pub enemy_pos: Cell,
    /// Own spawn cell.
    pub spawn_position: Cell,
    /// Spawn cell of the enemy.
    pub enemy_spawn_position: Cell,
    /// The map.
    pub game_map: &'s Map,
}

impl HideAndSeek {
    /// Number of steps after which the hider wins.
    pub const fn steps(&self) -> u32 {
        self.steps
    }

    /// The two seeds of a game: from the settings, else from the seed of the game.
    fn seeds(&self, seed: u64) -> (Option<u32>, u32) {
        let own = || {
            u32::try_from(seed).unwrap_or_else(|_| (Rng::new(seed, RngStream::Game).next_u64() >> 32) as u32)
        };
        match (self.map_seed, self.game_seed) {
            (None, None) => (Some(own()), own()),
            (map_seed, game_seed) => (map_seed, game_seed.unwrap_or_else(own)),
        }
    }

    /// Score of a finished game.
    fn score(&self, state: &State) -> Option<u32> {
        state.ending.map(|ending| match ending {
            Ending::Caught => state.step,
            Ending::TimeOver(SEEKER) => 1,
            Ending::Escaped | Ending::TimeOver(_) => self.steps,
        })
    }
}

impl Game for HideAndSeek {
    type State = State;
    type Observation<'s> = Observation<'s>;
    type Answer = Answer;

    fn info() -> &'static GameInfo {
        &INFO
    }

    fn new(settings: &Settings, seats: usize, _: &Assets) -> Result<Self, SettingsError> {
        if !INFO.seats.allows(seats) {
            return Err(SettingsError::one(
                format!("Hide and Seek has 2 seats, not {seats}"),
                "use one seeker and one hider",
            ));
        }
        let seed = |name| settings.int(name).and_then(|n| u32::try_from(n).ok());
        let number =
            |name, default| settings.int(name).and_then(|n| u32::try_from(n).ok()).unwrap_or(default);
        Ok(Self {
            map_seed: seed("map_seed"),
            game_seed: seed("game_seed"),
            steps: number("steps", 4000).max(1),
            limit: Duration::from_secs(number("seconds", 300).into()),
        })
    }

    fn seats(&self) -> usize {
        2
    }

    fn clock(&self) -> ClockRule {
        // The hider moves half as often, so its time counts double.
        ClockRule::Shared { limit: self.limit, weights: vec![1, 2] }
    }

    fn start(&self, seed: u64) -> State {
        let (map_seed, game_seed) = self.seeds(seed);
        State::new(GameStart::generate(map_seed, game_seed))
    }

    fn to_move(&self, state: &State) -> SeatSet {
        if state.ending.is_some() { SeatSet::EMPTY } else { SeatSet::one(state.turn) }
    }

    fn observe<'s>(&'s self, state: &'s State, seat: Seat) -> Observation<'s> {
        let sight = state.enemy_sighting(seat);
        Observation {
            role: INFO.role(seat).name,
            step: state.step,
            steps: self.steps,
            pos: state.cell(seat),
            enemy_is_visible: sight.enemy_is_visible,
            enemy_pos: sight.enemy_pos,
            spawn_position: state.start.spawns[seat.index() & 1],
            enemy_spawn_position: state.start.spawns[enemy(seat).index() & 1],
            game_map: state.map(),
        }
    }

    fn check(&self, state: &State, seat: Seat, answer: Answer) -> Result<(), IllegalAnswer> {
        state.target(seat, answer).map(|_| ())
    }

    fn apply(&self, state: &mut State, replies: &[Reply<Answer>]) {
        let reply = replies.first().copied().unwrap_or(Reply::Fault(Fault::Crash));
        state.play(reply, self.steps);
    }

    fn expire(&self, state: &mut State, fastest: Seat) {
        if state.ending.is_none() {
            state.ending = Some(Ending::TimeOver(fastest));
        }
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        let score = f64::from(self.score(state)?);
        let (winner, ended) = match state.ending? {
            Ending::Caught => (SEEKER, "caught"),
            Ending::Escaped => (HIDER, "not caught"),
            Ending::TimeOver(SEEKER) => (SEEKER, "time over, the seeker thought less"),
            Ending::TimeOver(winner) => (winner, "time over, the hider thought less"),
        };
        let seats = [SEEKER, HIDER].map(|seat| {
            let i = seat.index();
            let in_sight = 100.0 * f64::from(state.visible_turns[i]) / f64::from(state.turns[i].max(1));
            SeatOutcome {
                score,
                place: if seat == winner { 1 } else { 2 },
                stats: [in_sight.min(100.0), f64::from(state.walked[i]), 0.0],
            }
        });
        Some(Outcome { seats: seats.to_vec(), ended: ended.into(), match_lost_by: None })
    }

    fn sample(&self, state: &State, seat: Seat, rng: &mut FastRng) -> Option<Answer> {
        state.sample(seat, rng)
    }

    fn resample(&self, state: &State, seat: Seat, rng: &mut FastRng) -> State {
        state.resample(seat, rng)
    }

    fn pack_observation(seen: &Observation<'_>, first: bool, out: &mut Vec<u8>) -> bool {
        // The map does not change, so only the first observation contains it.
        let side = if first { SIDE as u8 } else { 0 };
        out.extend_from_slice(&seen.step.to_le_bytes());
        out.extend_from_slice(&[u8::from(seen.enemy_is_visible), side, side, 0]);
        for cell in [seen.pos, seen.enemy_pos, seen.spawn_position, seen.enemy_spawn_position] {
            out.extend_from_slice(&[cell.x() as u8, 0, cell.y() as u8, 0]);
        }
        if first {
            seen.game_map.pack(out);
        }
        true
    }

    fn write_answer(answer: Answer, out: &mut Vec<u8>) {
        answer.write(out);
    }

    fn read_answer(text: &str) -> Result<Answer, String> {
        Answer::read(text)
    }
}

impl HouseBots for HideAndSeek {
    fn bots() -> &'static [HouseBot<Self>] {
        bots::ALL
    }
}
