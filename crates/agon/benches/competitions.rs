//! Large competitions through the real program: `make bench`, or `cargo bench -p agon --bench competitions`.
//!
//! A ledger with a million generated results of 2,000 bots: time of its table, time to resume, memory. Start time of a league with 2,000
//! bots and two million games. Overhead of ledger and scheduler per game. Nothing here fails: a figure beyond its bound is marked.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program whose output is its purpose"
)]

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use agon_core::record::Digest;
use agon_core::{Assets, Settings};
use agon_engine::{PlayerSpec, Series, any_game};
use agon_league::config::CompetitionConfig;
use agon_league::format::PhaseHistory;
use agon_league::tally::Tally;
use agon_league::{FixedPoint, GameResult, MatchKey, MatchResult, SeatResult};
use agon_runner::phase_results;
use agon_store::{FinishedMatch, Ledger as _, NewBotVersion, Snapshot, SqliteLedger, StoredGame, Timestamp};
use tokio::runtime::{Builder, Runtime};

const BOTS: usize = 2_000;
/// Matches per bot: 2,000 x 2,000 / 4 are a million.
const MATCHES: u64 = 2_000;
/// Matches that are left for the resumed run.
const LEFT: u64 = 8;
/// Matches per transaction and per snapshot, as in the runner.
const BATCH: usize = 1_000;
const SNAPSHOT: usize = 16_000;

fn main() {
    // `cargo test --benches` runs this with `--test`: only the build is checked then.
    if std::env::args().any(|arg| arg == "--test") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    println!("{:<58} {:>14} {:>14}", "what", "bound", "measured");
    million(folder.path(), &runtime);
    start(folder.path());
    overhead(folder.path());
}

fn row(what: &str, bound: f64, unit: &str, measured: f64) {
    let mark = if measured > bound { "  BEYOND" } else { "" };
    println!("{what:<58} {:>14} {:>14}{mark}", format!("{bound:.0}{unit}"), format!("{measured:.2}{unit}"));
}

/// A competition of this number of bots, all the same house bot.
fn file(folder: &Path, name: &str, bots: usize, matches: u64) -> String {
    let mut text = format!(
        "name = \"Large\"\ngame = \"solitude-scramble\"\nseed = \"large\"\n\n[[phase]]\nname = \"All\"\nformat = \"groups\"\nmatches = {matches}\n"
    );
    for bot in 0..bots {
        write!(text, "\n[[entrant]]\nname = \"bot {bot}\"\nbot = \"house:left\"\n").unwrap();
    }
    std::fs::write(folder.join(name), &text).unwrap();
    text
}

/// Runs the program. Returns seconds and peak memory in MiB.
fn run(folder: &Path, words: &[&str]) -> (f64, f64) {
    let begun = Instant::now();
    let mut child = agon(folder, words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0.0;
    let done = loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
        most = kib.map_or(most, |kib| f64::max(most, kib / 1024.0));
        if let Some(done) = child.try_wait().unwrap() {
            break done;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    };
    assert!(done.success(), "{words:?}");
    (begun.elapsed().as_secs_f64(), most)
}

fn agon(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(words).current_dir(folder);
    command
}

fn million(folder: &Path, runtime: &Runtime) {
    let text = file(folder, "million.toml", BOTS, MATCHES);
    let begun = Instant::now();
    runtime.block_on(fill(&folder.join("million.ledger"), &text));
    println!("  (filled in {:.0} s)", begun.elapsed().as_secs_f64());
    let (seconds, mebibytes) = run(folder, &["table", "million.toml", "--format", "json"]);
    row("agon table, 1,000,000 results of 2,000 bots", 1.0, " s", seconds);
    row("its memory", 200.0, " MiB", mebibytes);
    let (seconds, mebibytes) = run(folder, &["run", "million.toml"]);
    row("agon run, going on with them, the last 8 and publishing", 2.0, " s", seconds);
    row("its memory", 200.0, " MiB", mebibytes);
}

/// Writes all results except the last few, generated under the keys of the real schedule.
async fn fill(path: &Path, text: &str) {
    let competition = CompetitionConfig::read(text).unwrap();
    let info = any_game(competition.game).unwrap().info();
    let founding = agon_store::NewLedger {
        name: competition.name.clone(),
        game: info.id.to_owned(),
        rules: info.rules_version,
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        config: agon_store::ConfigVersion {
            text: text.to_owned(),
            normalised: competition.normalised().to_string(),
            at: Timestamp(0),
        },
        phases: 1,
        secret: agon_store::SecretSeed::new("large"),
    };
    let ledger = SqliteLedger::create(path, &founding).await.unwrap();
    let seating = PlayerSpec::House("left".to_owned());
    for number in 0..BOTS as u32 {
        let hash = any_game::bot_hash(info, &seating);
        let entrant = agon_league::Entrant(number);
        let (spec, commit, archive) = (seating.spec(), None, None);
        let (at, says) = (Timestamp(0), agon_core::SelfDescription::default());
        let bot = NewBotVersion { entrant, hash, spec, commit, archive, from_phase: 0, at, says };
        ledger.add_bot_version(&bot).await.unwrap();
    }
    ledger.start_phase(0, Timestamp(0)).await.unwrap();
    let secret = ledger.secret_seed().await.unwrap();
    let plan = phase_results::schedule(&ledger, &competition, info, 0, &secret).await.unwrap();
    let stage = plan.stage(0, &PhaseHistory::default()).unwrap();
    let mut tally = Tally::new(info);
    let (mut batch, mut since) = (Vec::with_capacity(BATCH), 0);
    let last = stage.len() - LEFT;
    for number in 0..last {
        let fixture = stage.fixture(number).unwrap();
        let key = MatchKey { phase: 0, stage: 0, number };
        let result = made_up(key, &fixture.seats);
        tally.add(&result);
        let games = vec![StoredGame { digest: Digest([number as u8; 32]), record: None }];
        batch.push(FinishedMatch {
            result,
            games,
            faults: Vec::new(),
            data: Vec::new(),
            bot_outputs: Vec::new(),
            finished: Timestamp(0),
            worker: None,
        });
        if batch.len() == BATCH || number + 1 == last {
            since += batch.len();
            let snapshot = (since >= SNAPSHOT).then(|| Snapshot { phase: 0, bytes: tally.to_bytes() });
            since = if snapshot.is_some() { 0 } else { since };
            ledger.append(&batch, snapshot.as_ref()).await.unwrap();
            batch.clear();
        }
    }
    ledger.disconnect().await.unwrap();
}

fn made_up(key: MatchKey, entrants: &[agon_league::Entrant]) -> MatchResult {
    let seat = |(seat, &entrant): (usize, &agon_league::Entrant)| SeatResult {
        entrant,
        score: FixedPoint::from_int((key.number.wrapping_mul(7 + seat as u64) % 41) as i64),
        place: seat as u8 + 1,
        stats: [FixedPoint::from_int(3); 3],
        answers: 10,
        faults: [0; 4],
        thought_ns: 5_000,
        longest_ns: 900,
        meter: None,
        empty_ns: 0,
    };
    let seats = entrants.iter().enumerate().map(seat).collect();
    let game = GameResult {
        part: 0,
        seed: key.number,
        turns: 10,
        ended: "played out".to_owned(),
        match_lost_by: None,
        seats,
    };
    MatchResult { key, games: vec![game], points: Vec::new() }
}

/// Time until the first of two million games of 2,000 bots is stored.
fn start(folder: &Path) {
    file(folder, "start.toml", BOTS, 2 * MATCHES);
    let begun = Instant::now();
    let mut child = agon(folder, &["run", "start.toml", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.map_while(Result::ok).find(|line| line.contains("\"event\":\"match\""));
    let seconds = begun.elapsed().as_secs_f64();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(first.is_some());
    row("2,000 bots, 2,000,000 games: until the first is kept", 1.0, " s", seconds);
}

/// Cost of a game in a competition beyond playing and recording it in the engine, on one core.
fn overhead(folder: &Path) {
    const GAMES: u64 = 40_000;
    file(folder, "many.toml", 60, GAMES * 4 / 60);
    let (seconds, _) = run(folder, &["run", "many.toml", "--jobs", "1"]);
    let game = any_game("solitude-scramble").unwrap();
    let settings = Settings::defaults(game.info().settings);
    let seats = vec![PlayerSpec::House("left".to_owned()); 4];
    let assets = Assets::none();
    let series = Series {
        game: game.as_ref(),
        settings: &settings,
        seed: 7,
        games: GAMES as u32,
        match_games: 1,
        seats: &seats,
        assets: &assets,
        record: true,
        jobs: 1,
        pin: false,
        make_log: None,
        make_reporter: None,
        stop_requests: None,
    };
    let begun = Instant::now();
    series.play::<std::io::Error>(|_| Ok(())).unwrap();
    let alone = begun.elapsed().as_secs_f64();
    row(
        "ledger and scheduler, a game, beyond the engine",
        50.0,
        " us",
        1e6 * (seconds - alone) / GAMES as f64,
    );
    println!(
        "  ({:.1} us a game in the engine alone, {:.1} us in a competition)",
        1e6 * alone / GAMES as f64,
        1e6 * seconds / GAMES as f64
    );
}
