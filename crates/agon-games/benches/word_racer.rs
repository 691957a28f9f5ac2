//! Word Racer: scoring a full board, building the word list, and a game of the strongest house bot against itself.
#![allow(clippy::expect_used, missing_docs, reason = "a benchmark")]

use std::hint::black_box;

use agon_core::random::bot_seeds;
use agon_core::{Assets, FastRng, Game, HouseBots, Reply, Settings};
use agon_games::word_racer::{Board, WordList, WordRacer, board_points, found_words};
use criterion::{Criterion, criterion_group, criterion_main};

/// Full boards made of adjacent words, with more words than most real boards.
fn full_boards() -> Vec<Board> {
    let words: Vec<&str> = WordList::built_in_text().lines().collect();
    let mut rng = FastRng::new(1);
    (0..256)
        .map(|_| {
            let text: String = (0..25).filter_map(|_| rng.pick(&words)).collect();
            Board::read(&text[..49]).expect("49 letters")
        })
        .collect()
}

fn scoring(c: &mut Criterion) {
    let words = WordList::built_in();
    let boards = full_boards();
    let mut next = (0..boards.len()).cycle();
    let mut board = move || boards[next.next().unwrap_or(0)];
    c.bench_function("word-racer: points of a full board", |b| {
        b.iter(|| board_points(&words, black_box(&board())));
    });
    c.bench_function("word-racer: words of a full board", |b| {
        b.iter(|| found_words(&words, black_box(&board())));
    });
}

fn word_list(c: &mut Criterion) {
    c.bench_function("word-racer: building the word list", |b| {
        b.iter(|| WordList::read("bench", black_box(WordList::built_in_text().as_bytes())));
    });
}

fn strongest(c: &mut Criterion) {
    let bot = WordRacer::bots().last().expect("there are bots");
    let settings = Settings::defaults(WordRacer::info().settings);
    let game = WordRacer::new(&settings, 2, &Assets::none()).expect("the defaults are valid");
    let mut seed = 0;
    let mut group = c.benchmark_group("word-racer");
    group.sample_size(10);
    group.bench_function(format!("a game of {} against itself", bot.name), |b| {
        b.iter(|| {
            seed += 1;
            let mut players = [(bot.make)(), (bot.make)()];
            for (player, seed) in players.iter_mut().zip(bot_seeds(seed)) {
                player.begin(seed);
            }
            let mut state = game.start(seed);
            while let Some(seat) = game.to_move(&state).next() {
                let answer = players[seat.index()].answer(&game.observe(&state, seat));
                game.apply(&mut state, &[Reply::Answer(answer)]);
            }
            game.outcome(&state)
        });
    });
    group.finish();
}

criterion_group!(benches, scoring, word_list, strongest);
criterion_main!(benches);
