//! Cost of live viewing: `make bench`, or `cargo bench -p agon-runner --bench live`.
//!
//! Plays the same matches on one thread without live viewing, with it but without subscribers, with one subscriber and with a thousand.
//! Measures the CPU time of the whole process, including the subscribers: this is an upper bound of the time taken from the games. The four
//! cases take turns, and the best round of each counts. The benchmark never fails; a value above its bound is marked.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that prints its results"
)]

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use agon_core::Assets;
use agon_engine::{PlayerSpec, any_game};
use agon_league::Entrant;
use agon_league::config::CompetitionConfig;
use agon_league::format::{PhaseField, PhaseHistory};
use agon_runner::phase_context::PhaseContext;
use agon_runner::queue::MatchQueue;
use agon_runner::{
    ActiveMatches, Executor as _, ExecutorEvent, LiveGames, LoadedEntrant, LocalExecutor, StopFlag, seeds,
};
use agon_store::SecretSeed;
use tokio::runtime::Builder;

const ROUNDS: usize = 3;

/// Kind of live viewing.
#[derive(Clone, Copy, PartialEq)]
enum LiveViewing {
    Off,
    Subscribers(usize),
}

const CASES: [LiveViewing; 4] = [
    LiveViewing::Off,
    LiveViewing::Subscribers(0),
    LiveViewing::Subscribers(1),
    LiveViewing::Subscribers(1_000),
];

fn main() {
    // `cargo test --benches` runs this with `--test`. Then it only has to build.
    if std::env::args().any(|arg| arg == "--test") {
        return;
    }
    println!("{:<44} {:>12} {:>12} {:>12} {:>12}", "", "off", "0 viewers", "1 viewer", "1,000 viewers");
    let solitude =
        Games { game: "solitude-scramble", bot: "left", bots: 4, matches: 120_000, format: "groups" };
    measure("Solitude Scramble, 4 house bots", &solitude);
    let connect =
        Games { game: "connect-five", bot: "line-counter", bots: 2, matches: 500, format: "round-robin" };
    measure("Connect Five, matches of 2 house bots", &connect);
    let colour = Games { game: "colour-battle", bot: "random", bots: 20, matches: 500, format: "arena" };
    measure("Colour Battle, 20 house bots", &colour);
}

/// The matches to play.
struct Games {
    game: &'static str,
    bot: &'static str,
    bots: usize,
    matches: u64,
    format: &'static str,
}

impl Games {
    fn file(&self) -> String {
        let Self { game, bot, bots, matches, format } = self;
        let count = match *format {
            "groups" => "matches",
            "arena" => "games",
            _ => "legs",
        };
        let mut text = format!(
            "name = \"B\"\ngame = \"{game}\"\nseed = \"b\"\n\n[[phase]]\nformat = \"{format}\"\n{count} = {matches}\n"
        );
        for number in 0..*bots {
            write!(text, "\n[[entrant]]\nname = \"b{number}\"\nbot = \"house:{bot}\"\n").unwrap();
        }
        text
    }
}

fn measure(what: &str, games: &Games) {
    let mut best = [f64::INFINITY; CASES.len()];
    let mut updates = [0; CASES.len()];
    for _ in 0..ROUNDS {
        for (number, viewing) in CASES.into_iter().enumerate() {
            let (seconds, seen) = round(games, viewing);
            best[number] = best[number].min(1e6 * seconds / games.matches as f64);
            updates[number] = seen;
        }
    }
    let more = |us: f64| 100.0 * (us / best[0] - 1.0);
    let mut line = format!("{what:<44} {:>9.1} us", best[0]);
    for us in &best[1..] {
        write!(line, " {:>10.1} %", more(*us)).unwrap();
    }
    let mark = if best[1..].iter().any(|us| more(*us) > 5.0) { "  BEYOND 5 %" } else { "" };
    println!("{line}{mark}   ({} and {} updates sent)", updates[2], updates[3]);
}

/// Plays the matches on one thread. Returns the CPU seconds, and the number of updates that all subscribers received.
fn round(games: &Games, viewing: LiveViewing) -> (f64, u64) {
    let Games { game, bot, bots, matches, .. } = *games;
    let any_game = any_game(game).unwrap();
    let text = games.file();
    let competition = CompetitionConfig::read(&text).unwrap_or_else(|wrong| panic!("{wrong:?}"));
    let (phase, seed, assets) = (&competition.phases[0], SecretSeed::new("b"), Assets::none());
    let load = |number| LoadedEntrant {
        name: format!("b{number}"),
        player: PlayerSpec::House(bot.to_owned()),
        commit: None,
        extra_file: None,
        says: agon_core::SelfDescription::default(),
    };
    let loaded: Vec<LoadedEntrant> = (0..bots).map(load).collect();
    let context = PhaseContext::new(any_game.as_ref(), &assets, 0, phase, &loaded, &seed).unwrap();
    let entrants = (0..bots as u32).map(Entrant).collect();
    let field = PhaseField { entrants, roles: Vec::new(), variants: 0, rounds_in_order: false };
    let schedule = phase.schedule(&field, seeds::schedule_seed(&seed, 0)).unwrap();
    let stage = schedule.stage(0, &PhaseHistory::default()).unwrap();
    let last = stage.len().min(matches);
    let stop = StopFlag::default();
    let queue = MatchQueue::new(&*stage, std::iter::once(0..last).collect(), false, &stop);
    let live_games = LiveGames::new(Assets::none(), Vec::new());
    let (over, seen) = (AtomicBool::new(false), AtomicU64::new(0));
    let active_matches = match viewing {
        LiveViewing::Off => ActiveMatches::default(),
        LiveViewing::Subscribers(_) => ActiveMatches::with_live_games(Arc::clone(&live_games)),
    };
    let started = cpu_seconds();
    std::thread::scope(|scope| {
        if let LiveViewing::Subscribers(count @ 1..) = viewing {
            let (live_games, over, seen) = (Arc::clone(&live_games), &over, &seen);
            scope.spawn(move || run_subscribers(live_games, count, over, seen));
        }
        let local = LocalExecutor { jobs: 1, pin: false };
        let result = local.play(&context, 0, &queue, &active_matches, &mut |events| {
            for event in events {
                assert!(matches!(event, ExecutorEvent::Played { .. }), "{event:?}");
            }
            Ok(())
        });
        result.unwrap();
        over.store(true, Relaxed);
        // Dropping the last references ends live viewing and all subscriptions.
        drop((active_matches, live_games));
    });
    (cpu_seconds() - started, seen.load(Relaxed))
}

/// CPU time of this process, in seconds.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Runs `count` subscribers of the first slot until all matches are played.
fn run_subscribers(live_games: Arc<LiveGames>, count: usize, over: &AtomicBool, seen: &AtomicU64) {
    let runtime = Builder::new_current_thread().build().unwrap();
    while live_games.games().is_empty() && !over.load(Relaxed) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let subscribers: Vec<_> = (0..count).filter_map(|_| live_games.subscribe(0).ok()).collect();
    drop(live_games);
    let one = |mut subscriber: agon_runner::LiveSubscriber| async move {
        while let Some(update) = subscriber.next().await {
            std::hint::black_box(update);
            seen.fetch_add(1, Relaxed);
        }
    };
    runtime.block_on(futures_util::future::join_all(subscribers.into_iter().map(one)));
}
