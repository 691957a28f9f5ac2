//! Colour Battle: all bots move in one arena and paint the floor. The bot with the most tiles at the end wins.
//!
//! In a round, every bot sees the same canvas and answers once. Then all bots move, then all paint. The ids of bot and floor
//! decide whether paint takes hold ([`paint`]). A tile with two or more bots turns white. Ids are dealt for each game, so bots
//! cannot recognise each other.

mod bots;
mod canvas;
mod description;
mod drawing;
mod state;
mod view;

use std::time::Duration;

use agon_core::settings::{SettingDefault, SettingKind, SettingSpec};
use agon_core::{
    AnswerKey, Assets, BankEmptyAction, BotLifetime, ClockRule, FastRng, FaultPenalty, Game, GameInfo,
    HouseBot, HouseBots, IllegalAnswer, Outcome, Reply, RequestInfo, Rng, RngStream, RoleInfo,
    ScoreDirection, ScoreInfo, Seat, SeatCount, SeatSet, Settings, SettingsError, StatInfo,
};
use serde::Serialize;

pub use canvas::{CanvasTiles, MAX_SIDE, MAX_TILES, Move, Position, TILES_PER_BOT, paint, side_for};
pub use state::{LastAction, PaintEffect, Painter, State};

static INFO: GameInfo = GameInfo {
    id: "colour-battle",
    title: "Colour Battle",
    summary: "all bots paint the floor of one arena; the colour with the most tiles at the end wins",
    rules_version: 1,
    seats: SeatCount { min: 2, max: 64 },
    roles: &[RoleInfo { name: "painter", better: ScoreDirection::Higher }],
    settings: &[
        SettingSpec {
            name: "rounds",
            help: "number of rounds in a game",
            kind: SettingKind::Int { min: 1, max: 100_000 },
            default: SettingDefault::Int(1000),
        },
        SettingSpec {
            name: "move_ms",
            help: "average milliseconds per move: a bot has move_ms x rounds for the whole game",
            kind: SettingKind::Real { min: 0.001, max: 60_000.0 },
            default: SettingDefault::Real(20.0),
        },
    ],
    requests: &[RequestInfo {
        name: "move",
        asks: "UP, DOWN, LEFT, RIGHT or STAY",
        example: "UP",
        keys: AnswerKey::STEPS,
    }],
    faults: [FaultPenalty::Stay; 4],
    clock: "20 ms per move on average: 20 ms x rounds for the game; after that the bot no longer moves",
    lifetime: BotLifetime::Game,
    names_shown: false,
    score: ScoreInfo { name: "share", unit: "%", decimals: 3 },
    stats: &[StatInfo { name: "tiles", decimals: 1 }],
    bots: description::BOTS,
    standings: description::STANDINGS,
    competition: description::COMPETITION,
    texts: description::TEXTS,
    starters: description::STARTERS,
};

/// Rules of Colour Battle for a number of bots and rounds.
#[derive(Clone, Debug)]
pub struct ColourBattle {
    seats: usize,
    side: u8,
    rounds: u32,
    budget: Duration,
}

/// Observation of a bot. Only `id` and `position` differ between bots.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Observation<'s> {
    /// Own id.
    pub id: u8,
    /// Own position.
    pub position: Position,
    /// The canvas, `grid[y][x]`.
    pub grid: CanvasTiles<'s>,
    /// All bots by id, including this one.
    pub enemies: &'s [Painter],
    /// Progress of the game.
    pub game_info: RoundInfo,
}

/// Progress and size of the game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct RoundInfo {
    /// Round to be played, from 1.
    pub current_round: u32,
    /// Number of rounds.
    pub number_of_rounds: u32,
    /// Width and height of the canvas.
    pub grid_size: u8,
}

impl ColourBattle {
    /// Width and height of the canvas.
    pub const fn side(&self) -> u8 {
        self.side
    }

    /// Number of rounds.
    pub const fn rounds(&self) -> u32 {
        self.rounds
    }

    /// A start with these ids and positions in seat order instead of drawn ones. `None` unless the ids are a permutation of
    /// 1 to the number of seats and all positions are on the canvas.
    pub fn start_with(&self, bots: &[Painter]) -> Option<State> {
        let valid = bots.len() == self.seats
            && (1..=self.seats as u8).all(|id| bots.iter().any(|bot| bot.id == id))
            && bots.iter().all(|bot| bot.position.x < self.side && bot.position.y < self.side);
        valid.then(|| State::with_bots(self.side, bots))
    }

    /// Number of tiles of each seat.
    fn tiles_by_seat(&self, state: &State) -> impl Iterator<Item = u32> {
        let counts = state.grid().counts_by_id();
        let ids: Vec<u8> = Seat::all(self.seats).map(|seat| state.painter(seat).id).collect();
        ids.into_iter().map(move |id| counts[usize::from(id)])
    }

    /// A number of tiles as a percentage of the canvas.
    fn share(&self, tiles: u32) -> f64 {
        100.0 * f64::from(tiles) / f64::from(u32::from(self.side).pow(2))
    }
}

impl Game for ColourBattle {
    type State = State;
    type Observation<'s> = Observation<'s>;
    type Answer = Move;

    fn info() -> &'static GameInfo {
        &INFO
    }

    fn new(settings: &Settings, seats: usize, _: &Assets) -> Result<Self, SettingsError> {
        if !INFO.seats.allows(seats) {
            let what = format!("an arena cannot have {seats} bots");
            return Err(SettingsError::one(what, format!("use {} bots", INFO.seats.describe())));
        }
        let rounds = settings.int("rounds").unwrap_or(1000).clamp(1, 100_000) as u32;
        let move_ms = settings.real("move_ms").unwrap_or(20.0).clamp(0.0, 60_000.0);
        let budget = Duration::from_secs_f64(move_ms / 1000.0 * f64::from(rounds));
        Ok(Self { seats, side: side_for(seats) as u8, rounds, budget })
    }

    fn seats(&self) -> usize {
        self.seats
    }

    fn clock(&self) -> ClockRule {
        ClockRule::Bank { limit: self.budget, when_empty: BankEmptyAction::SitOut }
    }

    fn start(&self, seed: u64) -> State {
        let mut rng = Rng::new(seed, RngStream::Game);
        let mut ids: Vec<u8> = (1..=self.seats as u8).collect();
        rng.shuffle(&mut ids);
        let mut draw = || rng.below(self.side.into()) as u8;
        let bots: Vec<Painter> =
            ids.iter().map(|&id| Painter { id, position: Position { x: draw(), y: draw() } }).collect();
        State::with_bots(self.side, &bots)
    }

    #[inline]
    fn to_move(&self, state: &State) -> SeatSet {
        if state.rounds_played() < self.rounds { SeatSet::first(self.seats) } else { SeatSet::EMPTY }
    }

    #[inline]
    fn observe<'s>(&'s self, state: &'s State, seat: Seat) -> Observation<'s> {
        let Painter { id, position } = state.painter(seat);
        let game_info = RoundInfo {
            current_round: (state.rounds_played() + 1).min(self.rounds),
            number_of_rounds: self.rounds,
            grid_size: self.side,
        };
        Observation { id, position, grid: state.grid(), enemies: state.painters(), game_info }
    }

    fn check(&self, _: &State, _: Seat, _: Move) -> Result<(), IllegalAnswer> {
        Ok(())
    }

    #[inline]
    fn apply(&self, state: &mut State, replies: &[Reply<Move>]) {
        if state.rounds_played() < self.rounds {
            state.play(replies);
        }
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        if state.rounds_played() < self.rounds {
            return None;
        }
        let tiles: Vec<u32> = self.tiles_by_seat(state).collect();
        let shares: Vec<f64> = tiles.iter().map(|&n| self.share(n)).collect();
        let mut outcome = Outcome::ranked(&shares, "all rounds played");
        for (seat, tiles) in outcome.seats.iter_mut().zip(tiles) {
            seat.stats[0] = tiles.into();
        }
        Some(outcome)
    }

    fn sample(&self, state: &State, seat: Seat, rng: &mut FastRng) -> Option<Move> {
        if self.to_move(state).contains(seat) { rng.pick(&Move::ALL) } else { None }
    }

    fn resample(&self, state: &State, seat: Seat, rng: &mut FastRng) -> State {
        state.with_ids_redealt(seat, |n| rng.below(n))
    }

    fn pack_observation(seen: &Observation<'_>, _first: bool, out: &mut Vec<u8>) -> bool {
        let RoundInfo { current_round, number_of_rounds, grid_size } = seen.game_info;
        let small = |number: u8| u16::from(number).to_le_bytes();
        out.extend_from_slice(&current_round.to_le_bytes());
        out.extend_from_slice(&number_of_rounds.to_le_bytes());
        out.extend_from_slice(&small(grid_size));
        out.extend_from_slice(&(seen.enemies.len() as u16).to_le_bytes());
        out.extend([seen.id, 0].into_iter().flat_map(small));
        out.extend(seen.enemies.iter().flat_map(|enemy| small(enemy.id)));
        let places = std::iter::once(seen.position).chain(seen.enemies.iter().map(|enemy| enemy.position));
        out.extend(places.flat_map(|place| [place.x, 0, place.y, 0]));
        out.extend(seen.grid.tiles().iter().flat_map(|&tile| [tile, 0]));
        true
    }

    fn write_answer(answer: Move, out: &mut Vec<u8>) {
        out.push(answer.letter());
    }

    fn read_answer(text: &str) -> Result<Move, String> {
        Move::from_word(text.trim()).ok_or_else(|| "expected UP, DOWN, LEFT, RIGHT or STAY".to_owned())
    }
}

impl HouseBots for ColourBattle {
    fn bots() -> &'static [HouseBot<Self>] {
        bots::ALL
    }
}
