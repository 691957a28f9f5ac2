//! Speed of bots in separate processes with the sandbox on, compared with the required limits: `make bench`, or
//! `cargo bench -p agon-engine --bench bots`.
//!
//! A value that misses its limit is marked, and the exit code at the end is 1.
//!
//! Do not use a real-time priority (`chrt`) on a shared machine unless `kernel.sched_rt_runtime_us` is -1: by default the kernel
//! takes 5 % of each second from such processes, and a stalled core counts as not thinking.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "the purpose of this program is its output"
)]

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon_core::record::RecordHeader;
use agon_core::{Assets, Outcome, Seat, Settings};
use agon_engine::any_game::{MatchSetup, hooks_with_recorder};
use agon_engine::referee::PlayedGame;
use agon_engine::turn_log::{TurnLog, TurnLogEntry};
use agon_engine::{PlayerSpec, ProgramSpec, Series, any_game};
use agon_host::python;

/// Number of rounds of each measurement; the median is used.
const ROUNDS: usize = 5;

/// Number of loop iterations in `thinker.py` as stored.
const THINKER_ITERATIONS: u32 = 1900;

/// Number of calls in a game of two bots of `fixed_pattern.py`, if no piece moves to another column.
const PATTERN_CALLS: u32 = 40;

/// Whether a value has missed its limit.
static MISSED: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    agon_host::sandbox::run_launcher_if_requested();
    // `cargo test --benches` runs this with `--test` only to check that it builds.
    if std::env::args().any(|arg| arg == "--test") {
        return ExitCode::SUCCESS;
    }
    println!("{:<64} {:>14} {:>14}", "measurement (sandbox on)", "limit", "measured");
    let only = std::env::args().nth(1).filter(|arg| !arg.starts_with('-'));
    let wanted = |what: &str| only.as_ref().is_none_or(|only| what.contains(only.as_str()));
    if wanted("colour") {
        let alone = shared_process_micros();
        row("Colour Battle, 20 trivial bots in one Python process, per call", f64::NAN, " us", alone, true);
        at_most("Colour Battle, 20 trivial Python bots, one core, per call", 20.0, " us", colour());
    }
    if wanted("connect") {
        at_most("Connect Five, a Python bot, per call", 25.0, " us", connect());
        at_most("Connect Five, a game of two trivial Python bots", 1.1, " ms", connect_game());
    }
    if wanted("load") {
        // Loaded for each match, this would take 15 s.
        at_most("Connect Five, 5 matches of a bot with an import of 3 s", 4.0, " s", connect_loading());
    }
    if wanted("strict") {
        at_least("Solitude, strict, whole matches, two cores", 80.0, "/s", solitude());
    }
    if wanted("hide") {
        at_least("Hide and Seek, Python seeker and hider, whole games, two cores", 300.0, "/s", hide());
    }
    if wanted("start") {
        let (milliseconds, mebibytes) = start();
        at_most("starting a Python bot that uses NumPy, with a zygote", 15.0, " ms", milliseconds);
        at_most("memory of such a bot (PSS)", 12.0, " MiB", mebibytes);
    }
    if wanted("share") {
        at_least("share of core time spent thinking, 14 bots of about 125 us", 85.0, " %", thinking_share());
    }
    if MISSED.load(Ordering::Relaxed) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn at_least(what: &str, limit: f64, unit: &str, measured: f64) {
    row(what, limit, unit, measured, measured >= limit);
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
        _ => format!("{x:.1}{unit}"),
    };
    println!("{what:<64} {:>14} {:>14}{}", show(limit), show(measured), if holds { "" } else { "  MISSED" });
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/bots")
}

/// A sandboxed Python bot of this folder.
fn bot(game: &str, file: &str) -> PlayerSpec {
    let program =
        python::bot(agon_games::game_info(game).unwrap(), &folder().join(file), None).unwrap().sandboxed();
    PlayerSpec::Program(ProgramSpec {
        name: file.to_owned(),
        spec: file.to_owned(),
        hash: String::new(),
        program,
        json_lines: true,
        isolates_calls: true,
        logs_dir: None,
        scratch_dir: None,
    })
}

/// Plays a series. Returns the games and the duration.
fn play(
    game: &str,
    seats: &[PlayerSpec],
    settings: &[(&str, &str)],
    games: u32,
    jobs: usize,
) -> (Vec<PlayedGame>, Duration) {
    let game = any_game(game).unwrap();
    let settings = Settings::parse(game.info().settings, settings.iter().copied()).unwrap();
    let series = Series {
        game: game.as_ref(),
        settings: &settings,
        seed: 7,
        games,
        match_games: games,
        seats,
        assets: &Assets::none(),
        record: false,
        jobs,
        pin: true,
        make_log: None,
        make_reporter: None,
        stop_requests: None,
    };
    let mut played = Vec::new();
    let start = Instant::now();
    series
        .play(|one| {
            played.push(one);
            Ok::<(), std::convert::Infallible>(())
        })
        .unwrap();
    let took = start.elapsed();
    let faults = played.iter().flat_map(|one: &PlayedGame| &one.faults).next();
    assert!(faults.is_none(), "{faults:?}");
    (played, took)
}

fn calls(played: &[PlayedGame]) -> f64 {
    played.iter().flat_map(|one| &one.seats).map(|seat| f64::from(seat.answers)).sum()
}

fn median(mut measure: impl FnMut() -> f64) -> f64 {
    let mut all: Vec<f64> = (0..ROUNDS).map(|_| measure()).collect();
    all.sort_by(f64::total_cmp);
    all[ROUNDS / 2]
}

/// Microseconds per call: the difference between a long and a short series.
fn micros_per_call(
    game: &str,
    seats: &[PlayerSpec],
    short: &[(&str, &str)],
    long: &[(&str, &str)],
    games: [u32; 2],
) -> f64 {
    median(|| {
        let (short_games, json_micros) = play(game, seats, short, games[0], 1);
        let (long_games, long_time) = play(game, seats, long, games[1], 1);
        let more = calls(&long_games) - calls(&short_games);
        1e6 * (long_time.as_secs_f64() - json_micros.as_secs_f64()) / more
    })
}

fn colour() -> f64 {
    let seats = vec![bot("colour-battle", "trivial.py"); 20];
    micros_per_call("colour-battle", &seats, &[("rounds", "100")], &[("rounds", "1100")], [1, 1])
}

fn connect() -> f64 {
    let python = bot("connect-five", "first_column.py");
    let seats = [python, PlayerSpec::House("random".to_owned())];
    median(|| {
        let time = |games: u32| {
            let (played, took) = play("connect-five", &seats, &[], games, 1);
            (played.iter().map(|one| f64::from(one.seats[0].answers)).sum::<f64>(), took.as_secs_f64())
        };
        let (few, short) = time(50);
        let (many, long) = time(1050);
        1e6 * (long - short) / (many - few)
    })
}

/// Milliseconds of a game of two Python bots in a long match, with 40 calls and a log for each bot, without the time to load them.
fn connect_game() -> f64 {
    let folder = memory_folder().join(format!("agon-bench-logs-{}", std::process::id()));
    let seat = |name: &str| {
        let logs = folder.join(name);
        std::fs::create_dir_all(&logs).unwrap();
        let PlayerSpec::Program(one) = bot("connect-five", "fixed_pattern.py") else { unreachable!() };
        PlayerSpec::Program(ProgramSpec { name: name.to_owned(), logs_dir: Some(logs), ..one })
    };
    let seats = [seat("one"), seat("two")];
    let milliseconds = median(|| {
        let time = |games: u32| {
            let (played, took) = play("connect-five", &seats, &[("p", "0"), ("q", "0")], games, 1);
            let calls: u32 = played.iter().flat_map(|one| &one.seats).map(|seat| seat.answers).sum();
            assert_eq!(calls, games * PATTERN_CALLS, "the pattern was played");
            took.as_secs_f64()
        };
        let (few, many) = (time(50), time(1050));
        // Milliseconds of one of the thousand games more.
        many - few
    });
    std::fs::remove_dir_all(&folder).unwrap();
    milliseconds
}

/// A folder in memory, if there is one. A new file on a disk with ext4 takes 20 us, but 800 us for half a minute after thousands of files
/// were removed there, as other benchmarks do: that is not what this one measures.
fn memory_folder() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}

/// Seconds of five matches of one game. The bot is loaded in the first of them.
fn connect_loading() -> f64 {
    let seats = [bot("connect-five", "slow_import.py"), PlayerSpec::House("random".to_owned())];
    let game = any_game("connect-five").unwrap();
    let settings = Settings::defaults(game.info().settings);
    let assets = Assets::none();
    let start = Instant::now();
    for seed in 0..5 {
        let setup = MatchSetup { settings: &settings, seed, seats: &seats, assets: &assets };
        let faults = |played: PlayedGame| assert!(played.faults.is_empty(), "{:?}", played.faults);
        game.play(&setup, 0..1, &mut hooks_with_recorder(None), &mut { faults }).unwrap();
    }
    start.elapsed().as_secs_f64()
}

/// Games per second without the time to load the bots: the difference between a long and a short series.
fn games_per_second(game: &str, seats: &[PlayerSpec], games: u32) -> f64 {
    median(|| {
        let (_, few) = play(game, seats, &[], games / 4, 2);
        let (_, many) = play(game, seats, &[], games, 2);
        f64::from(games - games / 4) / (many.as_secs_f64() - few.as_secs_f64())
    })
}

fn solitude() -> f64 {
    let seats = vec![bot("solitude-scramble", "solitude"); 4];
    games_per_second("solitude-scramble", &seats, 160)
}

fn hide() -> f64 {
    let one = bot("hide-and-seek", "players.py");
    games_per_second("hide-and-seek", &[one.clone(), one], 600)
}

/// Milliseconds from the start of a bot to its first message, and its memory then.
fn start() -> (f64, f64) {
    use agon_host::connection::BotConnection as _;
    use agon_host::zygote::ForkedBot;
    let PlayerSpec::Program(seat) = bot("colour-battle", "trivial.py") else {
        return (0.0, 0.0);
    };
    let zygote = seat.program.zygote.clone().unwrap();
    let hello = br#"{"type":"hello","id":1,"game":"colour-battle","seat":0,"seed":"1"}"#;
    let go = || {
        let start = Instant::now();
        let mut link = ForkedBot::start(&seat.program, &zygote, &[]).unwrap();
        link.ask(hello, 1, Duration::from_secs(10));
        link.wait().1.unwrap();
        (1e3 * start.elapsed().as_secs_f64(), link)
    };
    go();
    let links: Vec<(f64, ForkedBot)> = (0..21).map(|_| go()).collect();
    let mut times: Vec<f64> = links.iter().map(|(time, _)| *time).collect();
    times.sort_by(f64::total_cmp);
    let mut memory: Vec<f64> = links.iter().map(|(_, link)| pss(link.id())).collect();
    memory.sort_by(f64::total_cmp);
    (times[10], memory[10])
}

/// Proportional set size in MiB: private pages and the share of common pages.
fn pss(pid: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
    let line = text.lines().find(|line| line.starts_with("Pss:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}

/// Percentage of core time in which a bot is thinking, compared with the same moves in one process without a game around
/// them.
fn thinking_share() -> f64 {
    // The goal is 125 us of thinking. The number of loop iterations for that depends on the machine.
    let own = |folder: &Path| direct_call_micros(folder, "thinker.py", "Thinker");
    let text = std::fs::read_to_string(folder().join("thinker.py")).unwrap();
    let rounds = (f64::from(THINKER_ITERATIONS) * 125.0 / own(&folder())).round();
    let folder = std::env::temp_dir().join(format!("agon-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("thinker.py"),
        text.replace(&THINKER_ITERATIONS.to_string(), &rounds.to_string()),
    )
    .unwrap();
    let seats = vec![bot("colour-battle", folder.join("thinker.py").to_str().unwrap()); 14];
    // Both values come from the same games, because the speed of the machine changes over time. The thinking time of these games is only
    // about 125 us, so the overhead is measured and related to exactly 125 us.
    let share = median(|| {
        let (thought_short, short) = thinking_seconds(&seats, 100);
        let (thought_long, long) = thinking_seconds(&seats, 1100);
        let calls = f64::from(1100 - 100) * seats.len() as f64;
        let around = 1e6 * (long - short - (thought_long - thought_short)) / calls;
        100.0 * 125.0 / (125.0 + around)
    });
    std::fs::remove_dir_all(&folder).unwrap();
    share
}

/// Seconds that the bots report as thinking time in a game of this number of rounds, and seconds of the whole game.
fn thinking_seconds(seats: &[PlayerSpec], rounds: u32) -> (f64, f64) {
    struct ThoughtCollector<'l>(&'l Mutex<Vec<f64>>);
    impl TurnLog for ThoughtCollector<'_> {
        fn begin_game(&mut self, _: u32, _: &RecordHeader) -> io::Result<()> {
            Ok(())
        }
        fn output(&mut self, _: Seat, printed: &str) -> io::Result<()> {
            let thought =
                printed.lines().filter_map(|line| line.strip_prefix("thought ")?.trim().parse::<f64>().ok());
            self.0.lock().unwrap().extend(thought.map(|ns| ns / 1e9));
            Ok(())
        }
        fn answer(&mut self, entry: &TurnLogEntry<'_>) -> io::Result<()> {
            self.output(entry.seat, entry.output)
        }
        fn end_game(&mut self, _: &Outcome) -> io::Result<()> {
            Ok(())
        }
    }
    let reported = Mutex::new(Vec::new());
    let make = |_: u32| Box::new(ThoughtCollector(&reported)) as Box<dyn TurnLog + '_>;
    let game = any_game("colour-battle").unwrap();
    let settings = Settings::parse(game.info().settings, [("rounds", &*rounds.to_string())]).unwrap();
    let series = Series {
        game: game.as_ref(),
        settings: &settings,
        seed: 7,
        games: 1,
        match_games: 1,
        seats,
        assets: &Assets::none(),
        record: false,
        jobs: 1,
        pin: true,
        make_log: Some(&make),
        make_reporter: None,
        stop_requests: None,
    };
    let begun = Instant::now();
    series.play(|_| Ok::<(), std::convert::Infallible>(())).unwrap();
    let took = begun.elapsed().as_secs_f64();
    let reported = reported.into_inner().unwrap();
    assert_eq!(reported.len(), seats.len());
    (f64::from(rounds) * reported.iter().sum::<f64>(), took)
}

/// Microseconds per call of a bot that is called directly.
fn direct_call_micros(folder: &Path, file: &str, class: &str) -> f64 {
    let script = format!(
        "import sys, time\nsys.path[:0] = ['{}', '{}']\nfrom {} import {class}\nbot = {class}()\nbest = 1e9\n\
         for _ in range(20):\n    start = time.perf_counter()\n    for _ in range(500): bot.determine_next_move(None, None, None)\n    \
         best = min(best, (time.perf_counter() - start) / 500)\nprint(best * 1e6)",
        library().display(),
        folder.display(),
        file.trim_end_matches(".py"),
    );
    run_python(&script)
}

/// Microseconds per call with twenty bots in one Python process. Each bot gets its position, id and round; the grid is shared.
fn shared_process_micros() -> f64 {
    let script = format!(
        "import sys, time\nimport numpy as np\nsys.path[:0] = ['{}', '{}']\nfrom trivial import Trivial\n\
         class Info: pass\n\
         bots = [Trivial() for _ in range(20)]\ngrid = np.zeros((36, 36), dtype=np.int16)\n\
         places = np.zeros((20, 2), dtype=np.int16)\ninfo = Info()\nbest = 1e9\n\
         for _ in range(20):\n    start = time.perf_counter()\n    for turn in range(50):\n        info.current_round = turn\n        \
         for number, bot in enumerate(bots):\n            bot.id = number\n            bot.position = places[number].copy()\n            \
         enemies = [{{'id': n, 'position': p}} for n, p in enumerate(places.copy())]\n            \
         bot.determine_next_move(grid, enemies, info)\n    best = min(best, (time.perf_counter() - start) / 1000)\nprint(best * 1e6)",
        library().display(),
        folder().display(),
    );
    run_python(&script)
}

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/agon_bot/library")
}

fn run_python(script: &str) -> f64 {
    let python = std::env::var_os("AGON_PYTHON").unwrap_or_else(|| "python3".into());
    let output = std::process::Command::new(python).args(["-c", script]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().parse().unwrap()
}
