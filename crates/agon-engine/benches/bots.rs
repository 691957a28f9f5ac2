//! The table of floors for bots in processes of their own, sandbox on, in one run: `make bench`, or
//! `cargo bench -p agon-engine --bench bots`.
//!
//! Nothing here fails: a figure under its floor is marked, and it is for people to decide what to do about it.
//!
//! On a machine that others use, not with a real-time priority (`chrt`) unless `kernel.sched_rt_runtime_us` is -1: as a rule
//! the kernel takes 5 % of each second away from such processes, and a core that stands still counts as not thinking.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program whose output is its purpose"
)]

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use agon_core::record::RecordHeader;
use agon_core::{Assets, Outcome, Seat, Settings};
use agon_engine::referee::PlayedGame;
use agon_engine::turn_log::{TurnLog, TurnLogEntry};
use agon_engine::{PlayerSpec, ProgramSpec, Series, any_game};
use agon_host::python;

/// Rounds of each measurement; the median counts.
const ROUNDS: usize = 5;

/// How often `thinker.py` goes round its loop as it stands.
const ROUNDS_OF_THINKER: u32 = 1900;

fn main() {
    agon_host::sandbox::run_launcher_if_requested();
    // `cargo test --benches` builds and runs this with `--test`: building it is all that is to be checked then.
    if std::env::args().any(|arg| arg == "--test") {
        return;
    }
    println!("{:<64} {:>14} {:>14}", "what (sandbox on)", "floor", "measured");
    let only = std::env::args().nth(1).filter(|arg| !arg.starts_with('-'));
    let wanted = |what: &str| only.as_ref().is_none_or(|only| what.contains(only.as_str()));
    if wanted("colour") {
        let alone = in_one_process();
        row(
            "Colour Battle, 20 trivial bots in one Python, no isolation, a call",
            f64::NAN,
            " us",
            alone,
            true,
        );
        at_most("Colour Battle, 20 trivial Python bots, one core, a call", 20.0, " us", colour());
    }
    if wanted("connect") {
        at_most("Connect Five, a Python bot, a call", 25.0, " us", connect());
    }
    if wanted("strict") {
        at_least("Solitude, strict, whole matches, two cores", 80.0, "/s", solitude());
    }
    if wanted("hide") {
        at_least("Hide and Seek, Python seeker and hider, whole games, two cores", 300.0, "/s", hide());
    }
    if wanted("start") {
        let (milliseconds, mebibytes) = start();
        at_most("starting a Python bot that uses NumPy, warm parent", 15.0, " ms", milliseconds);
        at_most("its own memory (PSS)", 12.0, " MiB", mebibytes);
    }
    if wanted("share") {
        at_least("share of core time that is thinking, 14 bots of about 125 us", 85.0, " %", share());
    }
}

fn at_least(what: &str, floor: f64, unit: &str, measured: f64) {
    row(what, floor, unit, measured, measured >= floor);
}

fn at_most(what: &str, floor: f64, unit: &str, measured: f64) {
    row(what, floor, unit, measured, measured <= floor);
}

fn row(what: &str, floor: f64, unit: &str, measured: f64, holds: bool) {
    let show = |x: f64| match x {
        _ if x.is_nan() => String::new(),
        _ if x >= 100.0 => format!("{x:.0}{unit}"),
        _ => format!("{x:.1}{unit}"),
    };
    println!("{what:<64} {:>14} {:>14}{}", show(floor), show(measured), if holds { "" } else { "  BELOW" });
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/bots")
}

/// A Python bot of ours behind the sandbox.
fn bot(game: &str, file: &str) -> PlayerSpec {
    let program = python::bot(game, &folder().join(file), None).unwrap().sandboxed();
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

/// Plays a series and returns the games and how long they took.
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

/// Microseconds that a call costs beyond a game that has none: the difference of two lengths.
fn a_call(
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
    a_call("colour-battle", &seats, &[("rounds", "100")], &[("rounds", "1100")], [1, 1])
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

/// Whole matches a second after the bots are loaded: the difference of two numbers of matches.
fn a_second(game: &str, seats: &[PlayerSpec], games: u32) -> f64 {
    median(|| {
        let (_, few) = play(game, seats, &[], games / 4, 2);
        let (_, many) = play(game, seats, &[], games, 2);
        f64::from(games - games / 4) / (many.as_secs_f64() - few.as_secs_f64())
    })
}

fn solitude() -> f64 {
    let seats = vec![bot("solitude-scramble", "solitude"); 4];
    a_second("solitude-scramble", &seats, 160)
}

fn hide() -> f64 {
    let one = bot("hide-and-seek", "players.py");
    a_second("hide-and-seek", &[one.clone(), one], 600)
}

/// Milliseconds from the wish to the bot's first word, and its own memory then.
fn start() -> (f64, f64) {
    use agon_host::connection::BotConnection as _;
    use agon_host::zygote::ForkedBot;
    let PlayerSpec::Program(seat) = bot("colour-battle", "trivial.py") else {
        return (0.0, 0.0);
    };
    let warm = seat.program.warm.clone().unwrap();
    let hello = br#"{"type":"hello","id":1,"game":"colour-battle","seat":0,"seed":"1"}"#;
    let go = || {
        let start = Instant::now();
        let mut link = ForkedBot::start(&seat.program, &warm, &[]).unwrap();
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

/// Proportional set size in MiB: its own pages, and its share of those it has in common with others.
fn pss(pid: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
    let line = text.lines().find(|line| line.starts_with("Pss:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}

/// Per cent of the core's time in which a bot was thinking: what the same moves take in one process without anything
/// around them, of what the game takes.
fn share() -> f64 {
    // What is asked for is 125 us of thinking: how many rounds of its loop that takes depends on the machine.
    let own = |folder: &Path| in_process(folder, "thinker.py", "Thinker");
    let text = std::fs::read_to_string(folder().join("thinker.py")).unwrap();
    let rounds = (f64::from(ROUNDS_OF_THINKER) * 125.0 / own(&folder())).round();
    let folder = std::env::temp_dir().join(format!("agon-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("thinker.py"),
        text.replace(&ROUNDS_OF_THINKER.to_string(), &rounds.to_string()),
    )
    .unwrap();
    let seats = vec![bot("colour-battle", folder.join("thinker.py").to_str().unwrap()); 14];
    // Both of the same games: the machine is now faster, now slower, and the share must not depend on when each was measured.
    // For the same reason the thinking of these games is 125 us only about; what is around it counts, with 125 us exactly.
    let share = median(|| {
        let (thought_short, short) = thoughts(&seats, 100);
        let (thought_long, long) = thoughts(&seats, 1100);
        let calls = f64::from(1100 - 100) * seats.len() as f64;
        let around = 1e6 * (long - short - (thought_long - thought_short)) / calls;
        100.0 * 125.0 / (125.0 + around)
    });
    std::fs::remove_dir_all(&folder).unwrap();
    share
}

/// Seconds that thinkers say they have thought in a game of so many rounds, and that the whole game took.
fn thoughts(seats: &[PlayerSpec], rounds: u32) -> (f64, f64) {
    struct Listener<'l>(&'l Mutex<Vec<f64>>);
    impl TurnLog for Listener<'_> {
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
    let heard = Mutex::new(Vec::new());
    let make = |_: u32| Box::new(Listener(&heard)) as Box<dyn TurnLog + '_>;
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
    };
    let begun = Instant::now();
    series.play(|_| Ok::<(), std::convert::Infallible>(())).unwrap();
    let took = begun.elapsed().as_secs_f64();
    let heard = heard.into_inner().unwrap();
    assert_eq!(heard.len(), seats.len());
    (f64::from(rounds) * heard.iter().sum::<f64>(), took)
}

/// Microseconds of a call of a bot that is just called.
fn in_process(folder: &Path, file: &str, class: &str) -> f64 {
    let script = format!(
        "import sys, time\nsys.path[:0] = ['{}', '{}']\nfrom {} import {class}\nbot = {class}()\nbest = 1e9\n\
         for _ in range(20):\n    start = time.perf_counter()\n    for _ in range(500): bot.determine_next_move(None, None, None)\n    \
         best = min(best, (time.perf_counter() - start) / 500)\nprint(best * 1e6)",
        library().display(),
        folder.display(),
        file.trim_end_matches(".py"),
    );
    python_says(&script)
}

/// Microseconds of a call with twenty bots in one Python process: positions, ids and round handed over as each bot gets
/// them, the grid shared.
fn in_one_process() -> f64 {
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
    python_says(&script)
}

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/agon_bot/library")
}

fn python_says(script: &str) -> f64 {
    let python = std::env::var_os("AGON_PYTHON").unwrap_or_else(|| "python3".into());
    let output = std::process::Command::new(python).args(["-c", script]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().parse().unwrap()
}
