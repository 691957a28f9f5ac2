//! Test bots, and functions that play games between them.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use agon_core::record::{FaultRecord, Recorder, SeatRecord, read_all};
use agon_core::{Assets, Fault, Game, Player, Seat, Settings};
use agon_engine::film::header;
use agon_engine::house_player::HousePlayer;
use agon_engine::referee::{self, GameHooks, PlayedGame, SeatedPlayer};
use agon_games::PlayableGame;
use agon_host::{HelloInfo, JsonLinesPlayer, PlayerOptions, Program};

/// Tests that measure times or list processes run one at a time.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The interpreter itself, not a wrapper script.
pub fn python() -> String {
    static PYTHON: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    PYTHON
        .get_or_init(|| {
            let ask = ["-c", "import sys; print(sys.executable)"];
            let output =
                std::process::Command::new("python3").args(ask).output().expect("python3 is installed");
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        })
        .clone()
}

/// The folder of the example bots.
pub fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bots")
}

/// The example bot in Python.
pub fn example_in_python() -> Program {
    Program::new([python(), "bot.py".to_owned()], examples().join("python"))
}

/// A few lines of Python as a bot. `say` writes a line, `hear` reads a message, `ready` answers it. The bot has already answered
/// `hello` and `start` when the script begins.
pub fn script(body: &str) -> Program {
    let prelude = "
import json, os, sys, time
def say(text): sys.stdout.write(text + '\\n'); sys.stdout.flush()
def hear():
    line = sys.stdin.readline()
    if not line: sys.exit(0)
    return json.loads(line)
def ready(message): say(json.dumps({'id': message['id']}))
def answer(message, what): say(json.dumps({'id': message['id'], 'answer': what}))
";
    bare_script(&format!("{prelude}\nready(hear()); ready(hear())\n{body}"))
}

/// A few lines of Python, with nothing before them.
pub fn bare_script(body: &str) -> Program {
    Program::new([python(), "-c".to_owned(), body.to_owned()], std::env::temp_dir())
}

/// The player at a seat.
pub enum Seated<G: Game> {
    House(&'static str),
    Program(Program),
    ProgramWith(Program, PlayerOptions),
    Player(Box<dyn Player<G>>),
}

/// Settings by name.
pub fn settings<G: Game>(pairs: &[(&str, &str)]) -> Settings {
    Settings::parse(G::info().settings, pairs.iter().copied()).unwrap()
}

/// Seats all players.
pub fn seat_players<G: PlayableGame>(
    game: &G,
    settings: &Settings,
    players: Vec<Seated<G>>,
) -> Vec<SeatedPlayer<G>> {
    let names: Vec<String> = (0..players.len()).map(|i| format!("bot-{i}")).collect();
    let told = |seat| HelloInfo::new(game, settings, Seat(seat as u8), &names);
    let lines = |seat, program, conditions| -> Box<dyn Player<G>> {
        Box::new(JsonLinesPlayer::new(program, told(seat), conditions))
    };
    let seated = players.into_iter().enumerate().map(|(seat, player)| match player {
        Seated::House(name) => {
            let bot = G::bots().iter().find(|bot| bot.name == name).unwrap_or_else(|| panic!("no {name}"));
            Box::new(HousePlayer::new((bot.make)())) as Box<dyn Player<G>>
        }
        Seated::Program(program) => lines(seat, program, PlayerOptions::of::<G>()),
        Seated::ProgramWith(program, conditions) => lines(seat, program, conditions),
        Seated::Player(player) => player,
    });
    seated.map(SeatedPlayer::Bot).collect()
}

/// Plays one game to its end.
pub fn play<G: PlayableGame>(pairs: &[(&str, &str)], seed: u64, players: Vec<Seated<G>>) -> PlayedGame {
    play_match(pairs, seed, 1, players).remove(0)
}

/// Plays several games with the same players.
pub fn play_match<G: PlayableGame>(
    pairs: &[(&str, &str)],
    seed: u64,
    games: u32,
    players: Vec<Seated<G>>,
) -> Vec<PlayedGame> {
    let series = settings::<G>(pairs);
    let game = G::new(&series, players.len(), &Assets::none()).unwrap();
    let names: Vec<String> = (0..players.len()).map(|i| format!("bot-{i}")).collect();
    let mut seated = seat_players(&game, &series, players);
    let mut recorder = Recorder::new();
    let mut room =
        GameHooks { reporter: None, console: None, persons: None, recorder: Some(&mut recorder), log: None };
    let mut all = Vec::new();
    for index in 0..games {
        let (settings, seed) = G::series_game(&series, seed, index);
        let game = G::new(&settings, names.len(), &Assets::none()).unwrap();
        let seat =
            |name: &String| SeatRecord { name: name.clone(), bot: "test".into(), hash: "sha256:0".into() };
        let header = header::<G>(&settings, seed, names.iter().map(seat).collect());
        let played = referee::play(&game, index, &header, &names, &mut seated, &mut room).unwrap();
        let lost = played.outcome.match_lost_by.is_some();
        all.push(played);
        if lost {
            break;
        }
    }
    for player in &mut seated {
        if let SeatedPlayer::Bot(player) = player {
            player.match_over();
        }
    }
    all
}

/// The answers and faults of a game as recorded, without the times.
pub fn answers(played: &PlayedGame) -> String {
    let record = read_all(&played.record.as_ref().unwrap().0).unwrap().remove(0);
    format!("{:?}", record.turns)
}

/// The faults of one seat.
pub fn faults(played: &PlayedGame, seat: u8) -> Vec<&FaultRecord> {
    played.faults.iter().filter(|fault| fault.seat == Seat(seat)).collect()
}

/// The first fault of seat 0: the fault, its message and stderr.
pub fn first_fault(played: &PlayedGame) -> (Fault, &str, &str) {
    let fault = faults(played, 0).into_iter().next().expect("seat 0 has a fault");
    (fault.report.fault, &fault.report.message, &fault.report.stderr)
}

/// Whether a process exists (a zombie counts).
pub fn is_there(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// The children of this process, including zombies.
pub fn children() -> Vec<u32> {
    let me = std::process::id();
    let tasks = std::fs::read_dir(format!("/proc/{me}/task")).unwrap().flatten();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|text| text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

/// A duration in milliseconds.
pub const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}
