//! Clocks on a busy machine: a bot that uses half its limit never loses on time, and a bot that uses 1.3 times its limit always does.
//!
//! Real Python bots in the real sandbox, with limits of about 20 ms per call, on an idle machine, beside four busy processes per core, and
//! beside processes that fill memory and caches. This test plays a few games of each kind; `make soak` (`AGON_SOAK=1`) plays 200 with
//! honest bots beside other processes, and 50 of each other kind.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

#[path = "../common/mod.rs"]
mod common;
mod machine;
mod threads;

use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use machine::{Machine, OtherProcesses};
use serde_json::Value as Json;
use tempfile::TempDir;

/// The largest part of a limit that a bot may be charged which uses half of it. The rest is what a fork costs, on a busy machine.
const MAX_CHARGED: f64 = 0.75;
/// Number of games that may have an answer that is charged more, beside one for each tick of steal time. On a virtual machine whose host
/// gives the processor to others for some milliseconds, the kernel counts that in ticks of 10 ms: less looks like sleep. (A limit is never
/// missed by it.)
const GAMES_WITH_STEAL_TIME: u64 = 1;

/// A short game with a limit of about 20 ms per call.
struct TestGame {
    game: &'static str,
    /// Bots that all use the given thinking time.
    thinkers: &'static [&'static str],
    /// The first of them with house bots as opponents.
    one: &'static [&'static str],
    settings: &'static [&'static str],
    clock: Clock,
    /// Whether the Python API of the game needs `NumPy`.
    numpy: bool,
}

/// Time limit in milliseconds of an answer or of a game, and the number of calls that share it.
enum Clock {
    Answer(f64),
    /// For each seat: limit, calls.
    Bank(f64, f64),
    /// For all seats together: limit, calls of all seats, calls of the first seat.
    Shared(f64, f64, f64),
}

const SOLITUDE: TestGame = TestGame {
    game: "solitude-scramble",
    thinkers: &[".", ".", ".", "."],
    one: &[".", "house:left", "house:right", "house:greedy"],
    settings: &["turns=5", "seconds=0.02"],
    clock: Clock::Answer(20.0),
    numpy: false,
};
const COLOUR: TestGame = TestGame {
    game: "colour-battle",
    thinkers: &["colour.py", "colour.py"],
    one: &["colour.py", "house:random"],
    settings: &["rounds=5", "move_ms=20"],
    clock: Clock::Bank(100.0, 5.0),
    numpy: true,
};
const CONNECT: TestGame = TestGame {
    game: "connect-five",
    thinkers: &["Stacker.py", "Stacker.py"],
    one: &["Stacker.py", "house:stacker"],
    settings: &["seconds=0.02", "special=3,5", "p=0", "q=0"],
    clock: Clock::Answer(20.0),
    numpy: false,
};
// The seeker is asked 33 times, the hider 16 times.
const HIDE: TestGame = TestGame {
    game: "hide-and-seek",
    thinkers: &["hide.py", "hide.py"],
    one: &["hide.py", "house:still-hider"],
    settings: &["steps=33", "seconds=1"],
    clock: Clock::Shared(1000.0, 49.0, 33.0),
    numpy: true,
};
const WORD: TestGame = TestGame {
    game: "word-racer",
    thinkers: &["python3 word_racer.py", "python3 word_racer.py"],
    one: &["python3 word_racer.py", "house:filler"],
    settings: &["seconds=1"],
    clock: Clock::Bank(1000.0, 48.0),
    numpy: false,
};

impl TestGame {
    /// Milliseconds per call that use this part of the limit. `alone` means that only the first seat thinks.
    fn call(&self, part: f64, alone: bool) -> f64 {
        part * match self.clock {
            Clock::Answer(limit) => limit,
            Clock::Bank(limit, calls) => limit / calls,
            Clock::Shared(limit, all, first) => limit / if alone { first } else { all },
        }
    }

    /// Plays games in which the bots use a part of their limit.
    fn play(&self, games: usize, part: f64, alone: bool, machine: Machine) -> Option<Vec<Game>> {
        let python = if self.numpy { Some(common::python()?) } else { None };
        let folder = bots(self.call(part, alone) / 1000.0);
        let others = OtherProcesses::start(machine);
        let begin = Instant::now();
        let games_wanted = games.to_string();
        let mut words = vec!["play", self.game];
        words.extend(if alone { self.one } else { self.thinkers });
        words.extend(["--games", &games_wanted, "--seed", "1", "--force", "--record", "a.agon", "--json"]);
        words.extend(self.settings.iter().flat_map(|setting| ["--set", setting]));
        let match_games = games.div_ceil(5).to_string();
        if self.game == "connect-five" {
            words.extend(["--match-games", &match_games]);
        }
        let agon = |words: &[&str]| {
            let mut command = common::agon(folder.path(), words);
            command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
            if let Some(python) = &python {
                command.env("AGON_PYTHON", python);
            }
            serde_json::from_str::<Json>(&common::good(&command.output().unwrap())).unwrap()
        };
        agon(&words);
        drop(others);
        let took = begin.elapsed().as_secs_f64();
        let replay = agon(&["replay", "a.agon", "--json"]);
        let played: Vec<Game> =
            replay["games"].as_array().unwrap().iter().map(|game| self.judge(game)).collect();
        assert_eq!(played.len(), games);
        self.say(&played, part, machine, took);
        Some(played)
    }

    /// Clock results of a recorded game.
    fn judge(&self, game: &Json) -> Game {
        let faults = game["faults"].as_array().unwrap();
        let seats: Vec<Vec<f64>> = game["times"].as_array().unwrap().iter().map(charged_times).collect();
        let total = |seat: &Vec<f64>| seat.iter().sum::<f64>();
        let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        Game {
            late: faults.iter().filter(|fault| fault["fault"] == "timeout").count(),
            other: faults.iter().find(|fault| fault["fault"] != "timeout").map(Json::to_string),
            faults: faults.len(),
            expired: !game["expired"].is_null(),
            answers: seats[0].len(),
            used: match self.clock {
                Clock::Answer(limit) => most(&mut seats.iter().flatten().copied()) / limit,
                Clock::Bank(limit, _) => most(&mut seats.iter().map(total)) / limit,
                Clock::Shared(limit, ..) => seats.iter().map(total).sum::<f64>() / limit,
            },
        }
    }

    /// Prints a line for the log of the test run.
    fn say(&self, games: &[Game], part: f64, machine: Machine, took: f64) {
        let late = games.iter().filter(|game| game.late > 0 || game.expired).count();
        let mut used: Vec<f64> = games.iter().map(|game| 100.0 * game.used).collect();
        used.sort_by(f64::total_cmp);
        eprintln!(
            "{:17} {:11} thinks {:3.0} % of its limit: {late} of {} games late; charged of the limit: \
             median {:.0} %, least {:.0} %, most {:.0} %; {took:.1} s",
            self.game,
            machine.word(),
            100.0 * part,
            games.len(),
            used[used.len() / 2],
            used[0],
            used[used.len() - 1],
        );
    }

    /// All seats use half the limit, and none is late. The idle machine is only tested in the soak test.
    fn honest_bots_are_never_late(&self) {
        let _alone = alone();
        let machines = [Machine::Idle, Machine::Busy, Machine::FullMemory];
        for machine in machines.into_iter().filter(|machine| *machine != Machine::Idle || soak()) {
            let wanted = count(if machine == Machine::Idle { 50 } else { 200 });
            let stolen_before = steal_ticks();
            let Some(games) = self.play(wanted, 0.5, false, machine) else { return };
            let stolen = steal_ticks() - stolen_before;
            for (i, game) in games.iter().enumerate() {
                assert!(game.late == 0 && !game.expired, "{} {i} {machine:?} {game:?}", self.game);
                assert_eq!(game.other, None, "{} {i} {machine:?}", self.game);
            }
            let charged_more = games.iter().filter(|game| game.used > MAX_CHARGED).count() as u64;
            let explained = GAMES_WITH_STEAL_TIME + stolen;
            assert!(charged_more <= explained, "{} {machine:?} {stolen} {games:?}", self.game);
        }
    }

    /// The bot uses 1.3 times the limit, and is late in every game. If each answer has a limit, no answer counts (a bot far over the
    /// limit is killed, and its further answers are missing).
    fn slow_bots_are_always_late(&self) {
        let _alone = alone();
        for machine in [Machine::Idle, Machine::Busy] {
            let Some(games) = self.play(count(50), 1.3, true, machine) else { return };
            for (i, game) in games.iter().enumerate() {
                let caught = match self.clock {
                    Clock::Answer(_) => game.late > 0 && game.faults == game.answers,
                    Clock::Bank(..) => game.late > 0,
                    Clock::Shared(..) => game.expired,
                };
                assert!(caught, "{} {i} {machine:?} {game:?}", self.game);
            }
        }
    }
}

/// Clock results of one game.
#[derive(Debug)]
struct Game {
    /// Number of late answers.
    late: usize,
    /// Number of faults.
    faults: usize,
    /// A fault other than a timeout.
    other: Option<String>,
    /// Whether the shared clock of all seats ran out.
    expired: bool,
    /// Number of answers of the first seat.
    answers: usize,
    /// Largest charged part of a limit.
    used: f64,
}

/// Milliseconds that a seat of a recorded game was charged, for each answer.
fn charged_times(seat: &Json) -> Vec<f64> {
    let list = |name: &str| seat[name].as_array().unwrap().iter().map(|time| time.as_f64().unwrap());
    list("wall_us").zip(list("wait_us")).map(|(wall, wait)| (wall - wait) / 1000.0).collect()
}

/// Steal time of all processors so far, in ticks of the kernel.
fn steal_ticks() -> u64 {
    let text = fs::read_to_string("/proc/stat").unwrap();
    // The line `cpu user nice system idle iowait irq softirq steal`.
    text.split_ascii_whitespace().nth(8).unwrap().parse().unwrap()
}

/// Whether this is the soak test.
fn soak() -> bool {
    std::env::var_os("AGON_SOAK").is_some()
}

/// Number of games: a few, or `whole` in the soak test.
fn count(whole: usize) -> usize {
    if soak() { whole } else { 5 }
}

/// Runs these tests one at a time, because each creates its own load.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder with the bots of `test-bots/load`, which think for this time per call.
fn bots(seconds: f64) -> TempDir {
    let folder = common::copy_of("load");
    let thinking = folder.path().join("thinking.py");
    let text = fs::read_to_string(&thinking).unwrap();
    assert!(text.contains("SECONDS = 0.010"), "{text}");
    let with = text.replace("SECONDS = 0.010", &format!("SECONDS = {seconds}"));
    fs::write(thinking, with).unwrap();
    folder
}

#[test]
fn honest_bots_are_never_late_in_solitude_scramble() {
    SOLITUDE.honest_bots_are_never_late();
}

#[test]
fn honest_bots_are_never_late_in_colour_battle() {
    COLOUR.honest_bots_are_never_late();
}

#[test]
fn honest_bots_are_never_late_in_connect_five() {
    CONNECT.honest_bots_are_never_late();
}

#[test]
fn honest_bots_are_never_late_in_hide_and_seek() {
    HIDE.honest_bots_are_never_late();
}

#[test]
fn honest_bots_are_never_late_in_word_racer() {
    WORD.honest_bots_are_never_late();
}

#[test]
fn slow_bots_are_always_late_in_solitude_scramble() {
    SOLITUDE.slow_bots_are_always_late();
}

#[test]
fn slow_bots_are_always_late_in_colour_battle() {
    COLOUR.slow_bots_are_always_late();
}

#[test]
fn slow_bots_are_always_late_in_connect_five() {
    CONNECT.slow_bots_are_always_late();
}

#[test]
fn slow_bots_are_always_late_in_hide_and_seek() {
    HIDE.slow_bots_are_always_late();
}

#[test]
fn slow_bots_are_always_late_in_word_racer() {
    WORD.slow_bots_are_always_late();
}
