//! What spectators cost the games: `make bench`, or `cargo bench -p agon-runner --bench gallery`.
//!
//! The same matches on one thread without a gallery, with one that nobody looks at, and with one and a thousand who follow the board. Measured is the processor
//! time of the whole process, spectators included: more than that nobody can take from the games, on a machine however small or busy. Rounds of all four take
//! turns, and the best of each counts. Nothing here fails: a figure beyond its bound is marked.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program whose output is its purpose"
)]

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use agon_core::Assets;
use agon_engine::{Seating, table};
use agon_league::Entrant;
use agon_league::config::CompetitionConfig;
use agon_league::format::{PhaseField, PhaseHistory};
use agon_runner::match_runner::PhaseContext;
use agon_runner::queue::Queue;
use agon_runner::{ActiveMatches, Executor as _, LiveGames, LocalExecutor, ExecutorEvent, LoadedEntrant, StopFlag, seeds};
use agon_store::SecretSeed;
use tokio::runtime::Builder;

const ROUNDS: usize = 3;

/// Who looks on.
#[derive(Clone, Copy, PartialEq)]
enum Looking {
    NoGallery,
    Followed(usize),
}

const CASES: [Looking; 4] =
    [Looking::NoGallery, Looking::Followed(0), Looking::Followed(1), Looking::Followed(1_000)];

fn main() {
    // `cargo test --benches` builds and runs this with `--test`: building it is all that is to be checked then.
    if std::env::args().any(|arg| arg == "--test") {
        return;
    }
    println!("{:<44} {:>12} {:>12} {:>12} {:>12}", "", "no gallery", "nobody", "1 follows", "1,000 follow");
    let solitude =
        Games { game: "solitude-scramble", bot: "left", bots: 4, matches: 120_000, format: "groups" };
    measure("Solitude Scramble, 4 house bots", &solitude);
    let connect =
        Games { game: "connect-five", bot: "line-counter", bots: 2, matches: 500, format: "round-robin" };
    measure("Connect Five, matches of 2 house bots", &connect);
    let colour = Games { game: "colour-battle", bot: "random", bots: 20, matches: 500, format: "arena" };
    measure("Colour Battle, 20 house bots", &colour);
}

/// What is played.
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
        for (number, looking) in CASES.into_iter().enumerate() {
            let (seconds, seen) = round(games, looking);
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
    println!("{line}{mark}   ({} and {} updates handed out)", updates[2], updates[3]);
}

/// Plays so many matches on one thread: seconds, and how many updates all followers got together.
fn round(games: &Games, looking: Looking) -> (f64, u64) {
    let Games { game, bot, bots, matches, .. } = *games;
    let table = table(game).unwrap();
    let text = games.file();
    let competition = CompetitionConfig::read(&text).unwrap_or_else(|wrong| panic!("{wrong:?}"));
    let (phase, seed, assets) = (&competition.phases[0], SecretSeed::new("b"), Assets::none());
    let member = |number| LoadedEntrant {
        name: format!("b{number}"),
        seating: Seating::House(bot.to_owned()),
        commit: None,
        extra_file: None,
    };
    let members: Vec<LoadedEntrant> = (0..bots).map(member).collect();
    let hall = PhaseContext::new(table.as_ref(), &assets, 0, phase, &members, &seed).unwrap();
    let entrants = (0..bots as u32).map(Entrant).collect();
    let field = PhaseField { entrants, roles: Vec::new(), variants: 0, rounds_in_order: false };
    let plan = phase.plan(&field, seeds::schedule_seed(&seed, 0)).unwrap();
    let stage = plan.stage(0, &PhaseHistory::default()).unwrap();
    let last = stage.len().min(matches);
    let stop = StopFlag::default();
    let queue = Queue::new(&*stage, std::iter::once(0..last).collect(), false, &stop);
    let gallery = LiveGames::new(Assets::none(), Vec::new());
    let (over, seen) = (AtomicBool::new(false), AtomicU64::new(0));
    let boards = match looking {
        Looking::NoGallery => ActiveMatches::default(),
        Looking::Followed(_) => ActiveMatches::with_gallery(Arc::clone(&gallery)),
    };
    let begun = processor();
    std::thread::scope(|scope| {
        if let Looking::Followed(count @ 1..) = looking {
            let (gallery, over, seen) = (Arc::clone(&gallery), &over, &seen);
            scope.spawn(move || follow(gallery, count, over, seen));
        }
        let local = LocalExecutor { jobs: 1, pin: false };
        let kept = local.play(&hall, 0, &queue, &boards, &mut |lots| {
            for lot in lots {
                assert!(matches!(lot, ExecutorEvent::Played { .. }), "{lot:?}");
            }
            Ok(())
        });
        kept.unwrap();
        over.store(true, Relaxed);
        // Nobody holds the gallery any more: it closes, and who follows is told.
        drop((boards, gallery));
    });
    (processor() - begun, seen.load(Relaxed))
}

/// Processor time of this process, in seconds.
fn processor() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// So many who follow the first board until all is over.
fn follow(gallery: Arc<LiveGames>, count: usize, over: &AtomicBool, seen: &AtomicU64) {
    let runtime = Builder::new_current_thread().build().unwrap();
    while gallery.boards().is_empty() && !over.load(Relaxed) {
        std::thread::sleep(Duration::from_millis(1));
    }
    let followers: Vec<_> = (0..count).filter_map(|_| gallery.follow(0).ok()).collect();
    drop(gallery);
    let one = |mut follower: agon_runner::LiveSubscriber| async move {
        while let Some(update) = follower.next().await {
            std::hint::black_box(update);
            seen.fetch_add(1, Relaxed);
        }
    };
    runtime.block_on(futures_util::future::join_all(followers.into_iter().map(one)));
}
