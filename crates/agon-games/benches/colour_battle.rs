//! Colour Battle: moves per second through the rules, and the cost of an answer of each house bot.
#![allow(missing_docs, clippy::expect_used, reason = "a benchmark")]

use agon_core::random::bot_seeds;
use agon_core::{Assets, FastRng, Game, HouseBots, Reply, Seat, Settings};
use agon_games::colour_battle::{ColourBattle, Move, State};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

const BOTS: usize = 20;
const ROUNDS: usize = 1000;

fn arena() -> ColourBattle {
    let settings = Settings::defaults(ColourBattle::info().settings);
    ColourBattle::new(&settings, BOTS, &Assets::none()).expect("20 bots are allowed")
}

/// 1000 rounds of 20 bots with pre-drawn moves.
fn moves(c: &mut Criterion) {
    let game = arena();
    let mut rng = FastRng::new(1);
    let rounds: Vec<Vec<Reply<Move>>> = (0..ROUNDS)
        .map(|_| (0..BOTS).map(|_| Reply::Answer(Move::ALL[rng.below(5) as usize])).collect())
        .collect();
    let mut group = c.benchmark_group("colour-battle");
    group.throughput(Throughput::Elements((BOTS * ROUNDS) as u64));
    group.bench_function("moves of 20 bots", |b| {
        b.iter_batched_ref(
            || game.start(7),
            |state| {
                for replies in &rounds {
                    if !game.to_move(state).is_empty() {
                        game.apply(state, replies);
                    }
                }
                game.outcome(state)
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

/// One answer of each house bot, over rounds of an arena of 20 house bots.
fn answers(c: &mut Criterion) {
    let game = arena();
    let bots = ColourBattle::bots();
    let seated: Vec<_> = (0..BOTS).map(|seat| &bots[seat % bots.len()]).collect();
    let mut players: Vec<_> = seated.iter().map(|bot| (bot.make)()).collect();
    for (player, seed) in players.iter_mut().zip(bot_seeds(7)) {
        player.begin(seed);
    }
    let mut state = game.start(7);
    let mut seen: Vec<State> = Vec::new();
    for round in 0..400 {
        if round >= 200 {
            seen.push(state.clone());
        }
        let replies: Vec<_> = Seat::all(BOTS)
            .map(|seat| Reply::Answer(players[seat.index()].answer(&game.observe(&state, seat))))
            .collect();
        game.apply(&mut state, &replies);
    }
    let mut group = c.benchmark_group("colour-battle answer");
    for (seat, bot) in bots.iter().enumerate() {
        let mut player = (bot.make)();
        player.begin(7);
        let mut rounds = seen.iter().cycle();
        group.bench_function(bot.name, |b| {
            b.iter(|| rounds.next().map(|state| player.answer(&game.observe(state, Seat(seat as u8)))));
        });
    }
    group.finish();
}

criterion_group!(benches, moves, answers);
criterion_main!(benches);
