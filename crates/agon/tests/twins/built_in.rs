//! The strategies of `test-bots/twins/strategies.py` as built-in bots, where no house bot has them, and a function that plays built-in
//! bots.

use agon_core::record::{Recorder, SeatRecord, read_all};
use agon_core::{Assets, Bot, Settings};
use agon_engine::film::header;
use agon_engine::house_player::HousePlayer;
use agon_engine::referee::{self, GameHooks, SeatedPlayer};
use agon_games::PlayableGame;
use agon_games::colour_battle::{self, ColourBattle, Position, paint};
use agon_games::connect_five::board::{COLUMNS, ROWS};
use agon_games::connect_five::{self, Column, ConnectFive};
use agon_games::hide_and_seek::{self, Cell, CellSet, HideAndSeek, Map};
use agon_games::solitude_scramble::SolitudeScramble;
use agon_games::solitude_scramble::board::Move;
use agon_games::solitude_scramble::state::Observation;
use serde_json::{Value as Json, json};

/// Constructor of a bot.
pub type Make<G> = fn() -> Box<dyn Bot<G>>;

/// The house bot with this name.
pub fn house<G: PlayableGame>(name: &str) -> Make<G> {
    G::bots().iter().find(|bot| bot.name == name).unwrap_or_else(|| panic!("no {name}")).make
}

/// Plays games of a series with built-in bots, as `agon play` does. Returns the same form as [`super::replayed`].
pub fn play<G: PlayableGame>(settings: &[&str], seed: u64, games: u32, bots: &[Make<G>]) -> Vec<Json> {
    let pairs = settings.iter().map(|pair| pair.split_once('=').unwrap());
    let series = Settings::parse(G::info().settings, pairs).unwrap();
    let names: Vec<String> = (0..bots.len()).map(|i| format!("twin-{i}")).collect();
    let mut recorder = Recorder::new();
    let mut room =
        GameHooks { reporter: None, console: None, persons: None, recorder: Some(&mut recorder), log: None };
    let mut chairs: Vec<SeatedPlayer<G>> = Vec::new();
    let mut told = Vec::new();
    for index in 0..games {
        let (settings, seed) = G::series_game(&series, seed, index);
        let game = G::new(&settings, bots.len(), &Assets::none()).unwrap();
        if chairs.is_empty() || G::info().lifetime != agon_core::BotLifetime::Match {
            chairs =
                bots.iter().map(|make| SeatedPlayer::Bot(Box::new(HousePlayer::new(make())) as _)).collect();
        }
        let seat =
            |name: &String| SeatRecord { name: name.clone(), bot: "twin".into(), hash: "sha256:0".into() };
        let header = header::<G>(&settings, seed, names.iter().map(seat).collect());
        let played = referee::play(&game, index, &header, &names, &mut chairs, &mut room).unwrap();
        let record = read_all(&played.record.unwrap().0).unwrap().remove(0);
        let film = agon_engine::any_game(G::info().id).unwrap().film(record, &Assets::none()).unwrap();
        let (first, deltas) = film.frames();
        let record = film.record();
        told.push(json!({
            "header": record.header, "turns": record.turns, "faults": record.faults, "expired": record.expired,
            "outcome": record.outcome, "frames": {"first": first, "deltas": deltas},
        }));
    }
    told
}

/// Goes one rank lower after each turn without points.
pub struct Wary;

impl Bot<SolitudeScramble> for Wary {
    fn answer(&mut self, seen: &Observation<'_>) -> Move {
        let blanks = seen.history.iter().filter(|turn| turn.awards[seen.seat.index()] == 0).count();
        let mut moves = [Move::Center, Move::Left, Move::Right];
        moves.sort_by_key(|&chosen| std::cmp::Reverse(seen.deal.value(seen.seat, chosen)));
        moves[blanks % 3]
    }
}

/// Takes the first adjacent tile that it can paint and that is free, else the first tile.
pub struct Taker;

impl Bot<ColourBattle> for Taker {
    fn answer(&mut self, seen: &colour_battle::Observation<'_>) -> colour_battle::Move {
        let mut order = colour_battle::Move::STEPS;
        order.rotate_left(seen.game_info.current_round as usize % 4);
        let ways = order.map(|step| (step, seen.position.after(step, seen.grid.side())));
        let takes = |to: Position| {
            let (floor, own) = (seen.grid.at(to), seen.id);
            let free = seen.enemies.iter().all(|bot| bot.id == own || bot.position != to);
            floor != own && paint(floor, own) == own && free
        };
        let on_canvas = || ways.iter().filter(|(_, to)| *to != seen.position);
        on_canvas().find(|(_, to)| takes(*to)).or_else(|| on_canvas().next()).unwrap().0
    }
}

/// Plays where most pieces are around, its own counting most. Among equals it takes the first from a column that moves with each game.
pub struct Gatherer;

impl Bot<ConnectFive> for Gatherer {
    fn answer(&mut self, seen: &connect_five::Observation) -> Column {
        let rows = seen.board.rows();
        let columns = (0..COLUMNS).map(|i| (4 + seen.played as usize + i) % COLUMNS);
        let mut best: Option<(u32, usize)> = None;
        for column in columns.filter(|&column| seen.board.has_room(column)) {
            let row = (0..ROWS).rfind(|&row| rows[row][column] == 0).unwrap();
            let around = rows[row.saturating_sub(1)..(row + 2).min(ROWS)]
                .iter()
                .flat_map(|row| &row[column.saturating_sub(1)..(column + 2).min(COLUMNS)]);
            let worth = around
                .map(|&piece| match piece {
                    0 => 0,
                    own if own == seen.player.number() => 3,
                    _ => 2,
                })
                .sum();
            if best.is_none_or(|(most, _)| worth > most) {
                best = Some((worth, column));
            }
        }
        Column(best.map_or(0, |(_, column)| column as i64))
    }
}

/// A seeker that goes where it last saw the hider. If the hider is not there, it goes to the most distant cell.
#[derive(Default)]
pub struct Chaser {
    empty: Option<Cell>,
}

impl Bot<HideAndSeek> for Chaser {
    fn answer(&mut self, seen: &hide_and_seek::Observation<'_>) -> hide_and_seek::Answer {
        if seen.enemy_is_visible {
            self.empty = None;
        } else if seen.pos == seen.enemy_pos {
            self.empty = Some(seen.enemy_pos);
        }
        let map = seen.game_map;
        let goal = if self.empty == Some(seen.enemy_pos) {
            let far = distances(map, seen.pos);
            let most = far.iter().flatten().max();
            Cell::all().find(|cell| far[cell.index()].as_ref() == most).unwrap()
        } else {
            seen.enemy_pos
        };
        let far = distances(map, goal);
        let to = map.steps(seen.pos).min_by_key(|to| far[to.index()].unwrap()).unwrap();
        hide_and_seek::Answer::to(to)
    }
}

/// Steps from a cell to each other cell.
fn distances(map: &Map, start: Cell) -> Vec<Option<u32>> {
    let mut far = vec![None; hide_and_seek::CELLS];
    let mut reached = CellSet::one(start);
    let mut ring = reached;
    for distance in 0.. {
        if ring.is_empty() {
            break;
        }
        for cell in ring.iter() {
            far[cell.index()] = Some(distance);
        }
        ring = ring.grown(map.empty()).minus(&reached);
        reached = reached.union(&ring);
    }
    far
}
