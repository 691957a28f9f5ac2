//! Colour Battle: all bots in one arena, each painting the floor beneath it; most tiles at the end wins.
//!
//! A round: every bot sees the same canvas and answers once, then all move, then all paint. Whether paint
//! takes hold depends on the two ids ([`paint`]); a tile with two or more bots on it turns white. Ids are dealt
//! anew each game, so nobody knows which bot is which.

mod bots;
mod canvas;
mod state;
mod view;

use std::time::Duration;

use agon_core::settings::{Default as Preset, Kind, Spec};
use agon_core::{
    Assets, Better, ClockRule, Cost, Game, GameInfo, House, HouseBot, Lifetime, Outcome, QuickRng, Refusal,
    Reply, RequestInfo, Rng, RoleInfo, ScoreInfo, Seat, SeatCount, SeatSet, Settings, SettingsError,
    StatInfo, Stream, WhenSpent,
};
use serde::Serialize;

pub use canvas::{Grid, MAX_SIDE, MAX_TILES, Move, Position, TILES_PER_BOT, paint, side_for};
pub use state::{Deed, Effect, Painter, State};

static INFO: GameInfo = GameInfo {
    id: "colour-battle",
    title: "Colour Battle",
    summary: "all bots in one arena paint the floor; whose colour covers most tiles at the end wins",
    rules_version: 1,
    seats: SeatCount { min: 2, max: 64 },
    roles: &[RoleInfo { name: "painter", better: Better::Higher }],
    settings: &[
        Spec {
            name: "rounds",
            help: "rounds in a game",
            kind: Kind::Int { min: 1, max: 100_000 },
            default: Preset::Int(1000),
        },
        Spec {
            name: "move_ms",
            help: "milliseconds a move on average: a bot has move_ms x rounds for the whole game",
            kind: Kind::Real { min: 0.001, max: 60_000.0 },
            default: Preset::Real(20.0),
        },
    ],
    requests: &[RequestInfo { name: "move", asks: "UP, DOWN, LEFT, RIGHT or STAY", example: "UP" }],
    faults: [Cost::Stay; 4],
    clock: "20 ms a move on average: 20 ms x rounds for the game; once that is spent, the bot stays put",
    lifetime: Lifetime::Game,
    names_shown: false,
    score: ScoreInfo { name: "share", unit: "%", decimals: 3 },
    stats: &[StatInfo { name: "tiles", decimals: 1 }],
};

/// Colour Battle for a number of bots and rounds.
#[derive(Clone, Debug)]
pub struct ColourBattle {
    seats: usize,
    side: u8,
    rounds: u32,
    budget: Duration,
}

/// What a bot sees. The same for all but `id` and `position`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Seen<'s> {
    /// Its own id.
    pub id: u8,
    /// Where it stands.
    pub position: Position,
    /// The canvas, `grid[y][x]`.
    pub grid: Grid<'s>,
    /// All bots, itself included, by id.
    pub enemies: &'s [Painter],
    /// The game as a whole.
    pub game_info: RoundInfo,
}

/// Where the game is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct RoundInfo {
    /// The round that is to be played, from 1.
    pub current_round: u32,
    /// How many there are.
    pub number_of_rounds: u32,
    /// Width and height of the canvas.
    pub grid_size: u8,
}

impl ColourBattle {
    /// Width and height of the canvas.
    pub const fn side(&self) -> u8 {
        self.side
    }

    /// How many rounds are played.
    pub const fn rounds(&self) -> u32 {
        self.rounds
    }

    /// A start with these ids and tiles, in seat order, instead of drawn ones. `None` unless the ids are
    /// 1 to the number of seats in some order and every start is on the canvas.
    pub fn start_with(&self, bots: &[Painter]) -> Option<State> {
        let sound = bots.len() == self.seats
            && (1..=self.seats as u8).all(|id| bots.iter().any(|bot| bot.id == id))
            && bots.iter().all(|bot| bot.position.x < self.side && bot.position.y < self.side);
        sound.then(|| State::placed(self.side, bots))
    }

    /// Tiles of all seats.
    fn tiles(&self, state: &State) -> impl Iterator<Item = u32> {
        let tally = state.grid().tally();
        let ids: Vec<u8> = Seat::all(self.seats).map(|seat| state.painter(seat).id).collect();
        ids.into_iter().map(move |id| tally[usize::from(id)])
    }

    /// So many tiles as a share of the canvas in per cent.
    fn share(&self, tiles: u32) -> f64 {
        100.0 * f64::from(tiles) / f64::from(u32::from(self.side).pow(2))
    }
}

impl Game for ColourBattle {
    type State = State;
    type Observation<'s> = Seen<'s>;
    type Answer = Move;

    fn info() -> &'static GameInfo {
        &INFO
    }

    fn new(settings: &Settings, seats: usize, _: &Assets) -> Result<Self, SettingsError> {
        if !INFO.seats.allows(seats) {
            let what = format!("an arena of {seats} bots");
            return Err(SettingsError::one(what, format!("an arena holds {}", INFO.seats.words())));
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
        ClockRule::Bank { limit: self.budget, spent: WhenSpent::SitOut }
    }

    fn start(&self, seed: u64) -> State {
        let mut rng = Rng::new(seed, Stream::Game);
        let mut ids: Vec<u8> = (1..=self.seats as u8).collect();
        rng.shuffle(&mut ids);
        let mut draw = || rng.below(self.side.into()) as u8;
        let bots: Vec<Painter> =
            ids.iter().map(|&id| Painter { id, position: Position { x: draw(), y: draw() } }).collect();
        State::placed(self.side, &bots)
    }

    #[inline]
    fn to_move(&self, state: &State) -> SeatSet {
        if state.played() < self.rounds { SeatSet::first(self.seats) } else { SeatSet::EMPTY }
    }

    #[inline]
    fn observe<'s>(&'s self, state: &'s State, seat: Seat) -> Seen<'s> {
        let Painter { id, position } = state.painter(seat);
        let game_info = RoundInfo {
            current_round: (state.played() + 1).min(self.rounds),
            number_of_rounds: self.rounds,
            grid_size: self.side,
        };
        Seen { id, position, grid: state.grid(), enemies: state.painters(), game_info }
    }

    fn check(&self, _: &State, _: Seat, _: Move) -> Result<(), Refusal> {
        Ok(())
    }

    #[inline]
    fn apply(&self, state: &mut State, replies: &[Reply<Move>]) {
        if state.played() < self.rounds {
            state.play(replies);
        }
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        if state.played() < self.rounds {
            return None;
        }
        let tiles: Vec<u32> = self.tiles(state).collect();
        let shares: Vec<f64> = tiles.iter().map(|&n| self.share(n)).collect();
        let mut outcome = Outcome::ranked(&shares, "all rounds played");
        for (seat, tiles) in outcome.seats.iter_mut().zip(tiles) {
            seat.stats[0] = tiles.into();
        }
        Some(outcome)
    }

    fn sample(&self, state: &State, seat: Seat, rng: &mut QuickRng) -> Option<Move> {
        if self.to_move(state).contains(seat) { rng.pick(&Move::ALL) } else { None }
    }

    fn resample(&self, state: &State, seat: Seat, rng: &mut QuickRng) -> State {
        state.with_ids_dealt(seat, |n| rng.below(n))
    }

    fn pack(seen: &Seen<'_>, _first: bool, out: &mut Vec<u8>) -> bool {
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

impl House for ColourBattle {
    fn bots() -> &'static [HouseBot<Self>] {
        bots::ALL
    }
}
