//! Requirements of a server: nothing depends on a thread or on the current folder.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;
use std::thread;

use agon_bots::check::{CheckRequest, CheckResult, DebugLines, check};
use agon_bots::{SandboxMode, starter};
use agon_competition::LoadedCompetition;
use agon_competition::run::{RunContext, run_competition};
use agon_core::record::read;
use agon_report::write::write_report;
use agon_report::{GameSelection, collect, export};
use agon_runner::{ActiveMatches, LocalExecutor, RunEvent, RunListener, RunOutcome, StopFlag};
use agon_store::Ledger as _;
use tokio::runtime::{Builder, Runtime};

fn write_starter(game: &str, lang: &str, name: &str, folder: &Path) {
    for (path, content, _) in starter::files(game, lang, name).unwrap() {
        let path = folder.join(name).join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

fn checked(bot: &str, folder: &Path, keep_record: bool) -> CheckResult {
    let order = CheckRequest {
        game: "connect-five",
        bot,
        settings: &[],
        seed: None,
        // Only the program `agon` has the sandbox launcher, and these bots are trusted.
        sandbox: SandboxMode::Off,
        folder,
        seats: None,
        keep_record,
        keep_output: keep_record,
        deadline: None,
        forbidden_libraries: &[],
        max_zip_mib: None,
        make_log: None,
        debug: DebugLines::Off,
    };
    check(&order, &mut |note| panic!("{note}")).unwrap()
}

#[test]
fn check_finds_bots_relative_to_its_folder_and_returns_the_trial_games() {
    let home = tempfile::tempdir().unwrap();
    write_starter("connect-five", "python", "my-bot", home.path());
    let own = home.path().join("my-bot/MyBot.py");
    let text = fs::read_to_string(&own).unwrap();
    fs::write(&own, format!("print('hello')\n{text}")).unwrap();
    let plain = checked("my-bot", home.path(), false);
    assert!(plain.accepted && plain.records.is_empty() && plain.logs.is_empty(), "{}", plain.text());
    let kept = checked("my-bot", home.path(), true);
    assert!(kept.accepted, "{}", kept.text());
    assert_eq!(
        (kept.records.len(), kept.logs.len()),
        (4, 4),
        "against two house bots, one game for each first move"
    );
    let table = agon_engine::any_game("connect-five").unwrap();
    let (record, _) = read(&kept.records[0], 1).unwrap();
    assert!(table.film(record, &agon_core::Assets::none()).unwrap().len() > 1);
    assert!(kept.logs.iter().flatten().any(|line| line.text.contains("hello")), "{:?}", kept.logs);
    let nowhere = checked("my-bot", Path::new("/"), false);
    assert!(!nowhere.accepted && nowhere.name.is_none());
}

struct Quiet;

impl RunListener for Quiet {
    fn event(&mut self, _: &RunEvent<'_>) {}
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

/// Both competitions use the same bot spec for different bots.
#[test]
fn two_competitions_run_in_parallel_each_with_the_bots_of_its_folder() {
    let homes = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let file = "game = \"connect-five\"\nsandbox = \"off\"\n\n[[entrant]]\nname = \"Mine\"\nbot = \"bots/mine\"\n\n\
                [[entrant]]\nname = \"House\"\nbot = \"house:random\"\n\n[[phase]]\nformat = \"round-robin\"\nparts = [{ games = 2, seconds = 1 }]\n";
    for home in &homes {
        write_starter("connect-five", "python", "mine", &home.path().join("bots"));
        fs::write(home.path().join("cup.toml"), file).unwrap();
    }
    fs::write(homes[1].path().join("bots/mine/other.txt"), "another bot").unwrap();
    let before = std::env::current_dir().unwrap();
    let run = |home: &Path| {
        let loaded = LoadedCompetition::read(&home.join("cup.toml")).unwrap();
        let runtime = runtime();
        let ledger = runtime.block_on(loaded.ledger()).unwrap();
        let local = LocalExecutor { jobs: 1, pin: false };
        let means = RunContext {
            runtime: &runtime,
            executor: &local,
            stop: &StopFlag::new(),
            boards: ActiveMatches::default(),
            run_through: false,
        };
        let ended = run_competition(&loaded, &ledger, means, &mut Quiet, &mut |_| {}).unwrap();
        assert!(matches!(ended, RunOutcome::Finished));
        let bots = runtime.block_on(ledger.bot_versions()).unwrap();
        let pages = home.join("pages");
        let written = write_report(&loaded, &pages, GameSelection::Some(1), &[]);
        assert!(runtime.block_on(written).unwrap().games > 0);
        bots.into_iter().find(|bot| bot.entrant.index() == 0).unwrap().hash
    };
    let hashes = thread::scope(|scope| {
        let both = homes.each_ref().map(|home| scope.spawn(|| run(home.path())));
        both.map(|one| one.join().unwrap())
    });
    assert_ne!(hashes[0], hashes[1]);
    assert_eq!(std::env::current_dir().unwrap(), before);
}

/// A server moves these values between threads. The function is never run: it compiles or it does not.
#[allow(dead_code, reason = "compiling it is the test")]
fn values_can_move_between_threads(loaded: &LoadedCompetition, ledger: &dyn agon_store::Ledger) {
    const fn sends<T: Send>(_: &T) {}
    const fn shares<T: Send + Sync>() {}
    shares::<LoadedCompetition>();
    shares::<CheckResult>();
    sends(&loaded.ledger());
    sends(&loaded.ledger_to_read());
    sends(&agon_competition::history::write_history(loaded, ledger, 0..1, Path::new("")));
    sends(&export::all(loaded, ledger, 1, true, Path::new("")));
    sends(&collect::report(loaded, ledger, GameSelection::All));
    sends(&write_report(loaded, Path::new(""), GameSelection::All, &[]));
}
