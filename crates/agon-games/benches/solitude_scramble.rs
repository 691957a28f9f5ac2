//! Solitude Scramble: matches per second with cheap bots, and a turn of each strong bot.
#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "criterion generates the entry point; a benchmark may panic"
)]

use std::hint::black_box;

use agon_core::random::bot_seeds;
use agon_core::{Assets, Bot, Game, HouseBots, Reply, Seat, Settings};
use agon_games::solitude_scramble::SolitudeScramble;
use agon_games::solitude_scramble::board::Move;
use agon_games::solitude_scramble::state::State;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

type Players = [Box<dyn Bot<SolitudeScramble>>; 4];

fn game() -> SolitudeScramble {
    let settings = Settings::defaults(SolitudeScramble::info().settings);
    SolitudeScramble::new(&settings, 4, &Assets::none()).expect("defaults are valid")
}

fn players(names: [&str; 4]) -> Players {
    let bots = SolitudeScramble::bots();
    names.map(|name| (bots.iter().find(|bot| bot.name == name).expect("a house bot").make)())
}

fn play(game: &SolitudeScramble, players: &mut Players, seed: u64, turns: usize) -> State {
    for (player, seed) in players.iter_mut().zip(bot_seeds(seed)) {
        player.begin(seed);
    }
    let mut state = game.start(seed);
    while !game.to_move(&state).is_empty() && state.history().len() < turns {
        let mut replies = [Reply::Answer(Move::Left); 4];
        for (seat, (player, reply)) in Seat::all(4).zip(players.iter_mut().zip(&mut replies)) {
            *reply = Reply::Answer(player.answer(&game.observe(&state, seat)));
        }
        game.apply(&mut state, &replies);
    }
    state
}

fn matches(criterion: &mut Criterion) {
    let game = game();
    let mut group = criterion.benchmark_group("solitude-scramble");
    group.throughput(Throughput::Elements(1));
    let mut cheap = players(["random", "greedy", "left", "right"]);
    let mut seed = 0;
    group.bench_function("match of random, greedy, left, right", |bencher| {
        bencher.iter(|| {
            seed += 1;
            game.outcome(&play(&game, &mut cheap, seed, 10))
        });
    });
    group.bench_function("start", |bencher| {
        bencher.iter(|| {
            seed += 1;
            game.start(black_box(seed))
        });
    });
    group.finish();
}

fn turns(criterion: &mut Criterion) {
    let game = game();
    let mut group = criterion.benchmark_group("solitude-scramble turn 10");
    let before = play(&game, &mut players(["cautious", "greedy", "second-best", "profiler"]), 7, 9);
    for name in ["equilibrium", "counter", "profiler", "mastermind"] {
        let [mut bot, ..] = players([name; 4]);
        bot.begin(1);
        group.bench_function(name, |bencher| {
            bencher.iter(|| bot.answer(&game.observe(black_box(&before), Seat(0))));
        });
    }
    group.finish();
}

criterion_group!(benches, matches, turns);
criterion_main!(benches);
