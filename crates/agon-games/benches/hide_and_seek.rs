//! Hide and Seek: map generation, a line of sight, games of the strongest pair, and an answer of each house bot.
#![allow(missing_docs, clippy::expect_used, reason = "a benchmark")]

use std::hint::black_box;

use agon_core::random::bot_seeds;
use agon_core::{Assets, Bot, FastRng, Game, HouseBot, HouseBots, Reply, Settings};
use agon_games::hide_and_seek::{Cell, HIDER, HideAndSeek, Map, SEEKER, State, see_each_other};
use criterion::{Criterion, criterion_group, criterion_main};

fn game() -> HideAndSeek {
    let settings = Settings::defaults(HideAndSeek::info().settings);
    HideAndSeek::new(&settings, 2, &Assets::none()).expect("defaults are valid")
}

/// Plays a game and returns all states in which a seat was asked.
fn play(game: &HideAndSeek, table: [&HouseBot<HideAndSeek>; 2], seed: u64) -> Vec<State> {
    let mut players: Vec<Box<dyn Bot<HideAndSeek>>> = table.iter().map(|bot| (bot.make)()).collect();
    for (player, seed) in players.iter_mut().zip(bot_seeds(seed)) {
        player.begin(seed);
    }
    let mut states = Vec::new();
    let mut state = game.start(seed);
    while let Some(seat) = game.to_move(&state).next() {
        let answer = players[seat.index()].answer(&game.observe(&state, seat));
        states.push(state.clone());
        game.apply(&mut state, &[Reply::Answer(answer)]);
    }
    states
}

fn strongest() -> [&'static HouseBot<HideAndSeek>; 2] {
    let best = |role: &str| HideAndSeek::bots().iter().rfind(|bot| bot.roles.contains(&role));
    [best("seeker").expect("there are seekers"), best("hider").expect("there are hiders")]
}

fn rules(c: &mut Criterion) {
    let mut seed = 0;
    c.bench_function("hide-and-seek/map", |b| {
        b.iter(|| {
            seed += 1;
            Map::generate(black_box(seed))
        });
    });
    let map = Map::generate(42);
    let cells: Vec<Cell> = map.empty().iter().collect();
    let mut rng = FastRng::new(1);
    let mut any = || rng.pick(&cells).expect("there are empty cells");
    let pairs: Vec<(Cell, Cell)> = (0..4096).map(|_| (any(), any())).collect();
    let mut next = 0;
    c.bench_function("hide-and-seek/line of sight", |b| {
        b.iter(|| {
            next = (next + 1) % pairs.len();
            see_each_other(black_box(&map), pairs[next].0, pairs[next].1)
        });
    });
    let game = game();
    c.bench_function("hide-and-seek/random game of 4000 steps at most", |b| {
        b.iter(|| {
            seed += 1;
            let mut rng = FastRng::new(u64::from(seed));
            let mut state = game.start(u64::from(seed));
            while let Some(seat) = game.to_move(&state).next() {
                let answer = game.sample(&state, seat, &mut rng).expect("a move is legal");
                game.apply(&mut state, &[Reply::Answer(answer)]);
            }
            game.outcome(&state)
        });
    });
}

fn bots(c: &mut Criterion) {
    let game = game();
    let mut seed = 0;
    c.bench_function("hide-and-seek/game of the strongest pair", |b| {
        b.iter(|| {
            seed += 1;
            play(&game, strongest(), seed).len()
        });
    });
    // Answers in the middle of a game, when the data of the map is computed already.
    let states = play(&game, strongest(), 42);
    for bot in HideAndSeek::bots() {
        let seat = if bot.plays(SEEKER) { SEEKER } else { HIDER };
        let asked: Vec<&State> = states.iter().filter(|s| game.to_move(s).contains(seat)).collect();
        let mut player = (bot.make)();
        player.begin(1);
        let mut next = 0;
        c.bench_function(&format!("hide-and-seek/answer of {}", bot.name), |b| {
            b.iter(|| {
                next = (next + 1) % asked.len();
                player.answer(&game.observe(asked[next], seat))
            });
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(30).measurement_time(std::time::Duration::from_secs(1))
        .warm_up_time(std::time::Duration::from_millis(300));
    targets = rules, bots
}
criterion_main!(benches);
