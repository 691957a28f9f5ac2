//! Random playouts through the rules, and one move of each house bot in the middle of a game.
#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;

use agon_core::{Assets, FastRng, Game, HouseBots, Reply, Seat, Settings};
use agon_games::connect_five::{ConnectFive, State};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// The game with default settings, and the first game of a match with pre-drawn settings.
fn games() -> [(&'static str, ConnectFive); 2] {
    let defaults = Settings::defaults(ConnectFive::info().settings);
    let (of_match, _) = ConnectFive::series_game(&defaults, 7, 0);
    let game = |settings| ConnectFive::new(settings, 2, &Assets::none()).unwrap();
    [("alone", game(&defaults)), ("of a match", game(&of_match))]
}

fn play_out(game: &ConnectFive, seed: u64, rng: &mut FastRng) -> State {
    let mut state = game.start(seed);
    while let Some(seat) = game.to_move(&state).next() {
        let Some(answer) = game.sample(&state, seat, rng) else { break };
        game.apply(&mut state, &[Reply::Answer(answer)]);
    }
    state
}

fn playouts(c: &mut Criterion) {
    let mut group = c.benchmark_group("connect-five playouts");
    group.throughput(Throughput::Elements(1));
    for (name, game) in games() {
        let mut rng = FastRng::new(1);
        let mut seed = 0;
        group.bench_function(name, |b| {
            b.iter(|| {
                seed += 1;
                black_box(play_out(&game, seed, &mut rng))
            });
        });
    }
    group.finish();
}

/// Each bot's move after 20 moves of two line counters.
fn moves(c: &mut Criterion) {
    let [_, (_, game)] = games();
    let mut state = game.start(7);
    let line_counter = ConnectFive::bots().iter().find(|bot| bot.name == "line-counter").unwrap();
    let mut players = [(line_counter.make)(), (line_counter.make)()];
    for _ in 0..20 {
        let Some(seat) = game.to_move(&state).next() else { break };
        let answer = players[seat.index()].answer(&game.observe(&state, seat));
        game.apply(&mut state, &[Reply::Answer(answer)]);
    }
    let mut group = c.benchmark_group("connect-five move");
    group.sample_size(20);
    for bot in ConnectFive::bots() {
        let seen = game.observe(&state, game.to_move(&state).next().unwrap_or(Seat(0)));
        group.bench_function(bot.name, |b| {
            b.iter_batched_ref(
                || {
                    let mut player = (bot.make)();
                    player.begin(1);
                    player
                },
                |player| black_box(player.answer(&seen)),
                criterion::BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, playouts, moves);
criterion_main!(benches);
