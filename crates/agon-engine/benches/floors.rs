//! Speed of the rules and the engine on one core, compared with the required limits.
//! `make bench`, or `cargo bench -p agon-engine --bench floors`.
//!
//! Each value is the median of several rounds, because machines are noisy. A value that misses its limit is marked, and the exit code
//! at the end is 1.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "the purpose of this program is its output"
)]

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon_core::record::Recorder;
use agon_core::{Assets, Bot, FastRng, Game, Reply, Seat, Settings};
use agon_engine::any_game::{MatchSetup, hooks_with_recorder};
use agon_engine::{PlayerSpec, any_game};
use agon_games::colour_battle::ColourBattle;
use agon_games::connect_five::ConnectFive;
use agon_games::hide_and_seek::{Cell, Map, see_each_other};
use agon_games::word_racer::{Board, Letter, WordList, board_points};
use agon_games::{GameVisitor, PlayableGame};

/// Number of rounds of each measurement; the median is used.
const ROUNDS: usize = 9;

/// Whether a value has missed its limit.
static MISSED: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    // `cargo test --benches` runs this with `--test` only to check that it builds.
    if std::env::args().any(|arg| arg == "--test") {
        return ExitCode::SUCCESS;
    }
    println!("{:<58} {:>18} {:>18}", "measurement (one core)", "limit", "measured");
    at_least("Connect Five, random playouts through the rules", 400_000.0, "/s", playouts());
    at_least("Colour Battle, 20 bots, moves through the rules", 10e6, " moves/s", paint());
    at_most("Hide and Seek, a map", 50.0, " us", 1e6 * map());
    at_most("Hide and Seek, a line of sight", 0.5, " us", 1e6 * line_of_sight());
    at_least("Solitude, whole matches through the engine", 100_000.0, "/s", matches(false));
    at_least("Solitude, whole matches through the engine, recorded", f64::NAN, "/s", matches(true));
    at_most("Word Racer, scoring a full board", 5.0, " us", 1e6 * scoring());
    for info in agon_games::infos() {
        let what = format!("engine overhead per recorded answer: {}", info.id);
        at_most(&what, 250.0, " ns", 1e9 * agon_games::visit(info.id, Overhead).unwrap());
    }
    if MISSED.load(Ordering::Relaxed) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn at_least(what: &str, limit: f64, unit: &str, measured: f64) {
    row(what, limit, unit, measured, limit.is_nan() || measured >= limit);
}

fn at_most(what: &str, limit: f64, unit: &str, measured: f64) {
    row(what, limit, unit, measured, measured <= limit);
}

fn row(what: &str, limit: f64, unit: &str, measured: f64, holds: bool) {
    if !holds {
        MISSED.store(true, Ordering::Relaxed);
    }
    let show = |x: f64| match x {
        _ if x.is_nan() => String::new(),
        _ if x >= 100.0 => format!("{x:.0}{unit}"),
        _ => format!("{x:.3}{unit}"),
    };
    println!("{what:<58} {:>18} {:>18}{}", show(limit), show(measured), if holds { "" } else { "  MISSED" });
}

/// Median seconds for one of the `count` items that `work` processes.
fn median_seconds(count: u32, mut work: impl FnMut()) -> f64 {
    work();
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[ROUNDS / 2].as_secs_f64() / f64::from(count)
}

fn defaults<G: Game>(seats: usize) -> G {
    G::new(&Settings::defaults(G::info().settings), seats, &Assets::none()).unwrap()
}

fn playouts() -> f64 {
    let game: ConnectFive = defaults(2);
    let mut rng = FastRng::new(1);
    let each = median_seconds(20_000, || {
        for seed in 0..20_000 {
            let mut state = game.start(seed);
            while let Some(seat) = game.to_move(&state).next() {
                let Some(column) = game.sample(&state, seat, &mut rng) else { break };
                game.apply(&mut state, &[Reply::Answer(column)]);
            }
            black_box(&state);
        }
    });
    1.0 / each
}

fn paint() -> f64 {
    let game: ColourBattle = defaults(20);
    let mut rng = FastRng::new(1);
    let start = game.start(1);
    let rounds: Vec<Vec<Reply<_>>> = (0..1000)
        .map(|_| {
            Seat::all(20).filter_map(|seat| game.sample(&start, seat, &mut rng)).map(Reply::Answer).collect()
        })
        .collect();
    let each = median_seconds(20_000, || {
        let mut state = game.start(1);
        for replies in &rounds {
            black_box(game.to_move(&state));
            game.apply(&mut state, replies);
        }
        black_box(&state);
    });
    1.0 / each
}

fn map() -> f64 {
    median_seconds(500, || {
        for seed in 0..500 {
            black_box(Map::generate(seed));
        }
    })
}

fn line_of_sight() -> f64 {
    let map = Map::generate(42);
    let open: Vec<Cell> = Cell::all().filter(|&cell| map.is_empty(cell)).collect();
    let mut rng = FastRng::new(1);
    let pairs: Vec<(Cell, Cell)> =
        (0..100_000).map(|_| (rng.pick(&open).unwrap(), rng.pick(&open).unwrap())).collect();
    median_seconds(100_000, || {
        for &(a, b) in &pairs {
            black_box(see_each_other(&map, a, b));
        }
    })
}

fn matches(record: bool) -> f64 {
    const GAMES: u32 = 5_000;
    let game = any_game("solitude-scramble").unwrap();
    let settings = Settings::defaults(game.info().settings);
    let seats = ["random", "greedy", "left", "right"].map(|name| PlayerSpec::House(name.into()));
    let setup = MatchSetup { settings: &settings, seed: 7, seats: &seats, assets: &Assets::none() };
    let mut recorder = record.then(Recorder::new);
    let each = median_seconds(GAMES, || {
        let mut hooks = hooks_with_recorder(recorder.as_mut());
        game.play(&setup, 0..GAMES, &mut hooks, &mut |played| drop(black_box(played))).unwrap();
    });
    1.0 / each
}

/// Boards with letters as frequent as in words, because random letters would form too few words.
fn scoring() -> f64 {
    let words = WordList::built_in();
    let mut rng = FastRng::new(1);
    let letters: Vec<u8> = b"EEEEAAAIIOOUTTTNNNSSSRRRLLDDHCMPGBFWYKV".to_vec();
    let boards: Vec<Board> = (0..2_000)
        .map(|_| {
            let mut board = Board::with_first(Letter::A);
            for position in 0..49 {
                board.put(position, Letter::from_code(rng.pick(&letters).unwrap() - b'A').unwrap());
            }
            board
        })
        .collect();
    median_seconds(2_000, || {
        for board in &boards {
            black_box(board_points(&words, board));
        }
    })
}

/// Seconds per answer that the engine with a recorder needs in addition to the rules with the same bots.
struct Overhead;

impl GameVisitor for Overhead {
    type Output = f64;

    fn visit<G: PlayableGame>(self) -> f64 {
        let info = G::info();
        let seats = if info.seats.max > 8 { 20 } else { info.seats.min };
        let settings = Settings::defaults(info.settings);
        let weakest = |seat: Seat| G::bots().iter().find(|bot| bot.plays(seat)).unwrap();
        let bots: Vec<_> = Seat::all(seats).map(weakest).collect();
        let seating: Vec<PlayerSpec> = bots.iter().map(|bot| PlayerSpec::House(bot.name.into())).collect();
        let games = match seats {
            20 => 4,
            _ => 200,
        };
        let answers = play_rules::<G>(&settings, &bots, games);
        let bare = median_seconds(answers, || {
            black_box(play_rules::<G>(&settings, &bots, games));
        });
        let game = any_game(info.id).unwrap();
        let setup = MatchSetup { settings: &settings, seed: 7, seats: &seating, assets: &Assets::none() };
        let mut recorder = Recorder::new();
        let full = median_seconds(answers, || {
            let mut hooks = hooks_with_recorder(Some(&mut recorder));
            game.play(&setup, 0..games, &mut hooks, &mut |played| drop(black_box(played))).unwrap();
        });
        full - bare
    }
}

/// Plays the rules without the engine. Returns the number of answers.
fn play_rules<G: PlayableGame>(settings: &Settings, bots: &[&agon_core::HouseBot<G>], games: u32) -> u32 {
    let mut answers = 0;
    let mut players: Vec<Box<dyn Bot<G>>> = Vec::new();
    let mut replies = Vec::new();
    for index in 0..games {
        if index == 0 || G::info().lifetime != agon_core::BotLifetime::Match {
            players = bots.iter().map(|bot| (bot.make)()).collect();
        }
        let (settings, seed) = G::series_game(settings, 7, index);
        let game = G::new(&settings, bots.len(), &Assets::none()).unwrap();
        for (player, seed) in players.iter_mut().zip(agon_core::random::bot_seeds(seed)) {
            player.begin(seed);
        }
        let mut state = game.start(seed);
        loop {
            let to_move = game.to_move(&state);
            if to_move.is_empty() {
                break;
            }
            replies.clear();
            for seat in to_move {
                replies.push(Reply::Answer(players[seat.index()].answer(&game.observe(&state, seat))));
                answers += 1;
            }
            game.apply(&mut state, &replies);
        }
        black_box(game.outcome(&state));
    }
    answers
}
