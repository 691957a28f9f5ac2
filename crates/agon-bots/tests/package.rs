//! Packs a bot of every kind and loads it elsewhere: the bot and the game stay the same.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use agon_bots::package::{self, BotPackage};
use agon_bots::prepare::{PrepareContext, PreparedBot, isolate};
use agon_bots::source::archive::ArchiveLimits;
use agon_bots::{BotSource, Diagnostic, SandboxMode, prepare};
use agon_core::record::{Digest, Recorder};
use agon_core::{Assets, Settings};
use agon_engine::{PlayerSpec, ProgramSpec};
use agon_league::{Entrant, MatchKey};
use agon_runner::match_progress::ResolvedPart;
use agon_runner::{LoadedEntrant, MatchRunner};
use tempfile::TempDir;

const GATHERER: &str = "import helper\n\n\nclass Gatherer:\n    def get_move(self, board, player, T, N):\n        return helper.move(board)\n";
const HELPER: &str = "from pathlib import Path\n\nWEIGHTS = (Path(__file__).parent / 'weights.bin').read_bytes()\n\n\ndef move(board):\n    free = [c for c in range(len(board[0])) if board[0][c] == 0]\n    return free[WEIGHTS[sum(map(sum, board)) % len(WEIGHTS)] % len(free)]\n";
const JSON_LINES: &str = "import json\nimport sys\n\nimport helper\n\nfor line in sys.stdin:\n    said = json.loads(line)\n    reply = {'id': said['id']}\n    if said['type'] == 'turn':\n        reply['answer'] = helper.move(said['observation']['board'])\n    print(json.dumps(reply), flush=True)\n";
const LINES: &str = "import sys\n\n\ndef line():\n    return sys.stdin.readline().strip()\n\n\nfree = [cell for cell in range(49) if cell != 24]\nletter, mine = line(), line() == '1'\nfor turn in range(48):\n    if mine:\n        print('ESTARION'[turn % 8], free.pop(0), flush=True)\n    else:\n        line()\n        print(free.pop(), flush=True)\n    mine = not mine\n";

fn place(files: &[(&str, &str)]) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    home
}

fn context<'c>(game: &'c str, folder: &'c Path) -> PrepareContext<'c> {
    let sandbox = SandboxMode::Off;
    PrepareContext {
        game,
        folder,
        sandbox,
        keep_data: false,
        extra_file: None,
        settings: None,
        archive_limits: ArchiveLimits::default(),
    }
}

fn program(bot: PreparedBot) -> ProgramSpec {
    if let PlayerSpec::Program(program) = bot.player { program } else { panic!("no program") }
}

fn seated(game: &str, bots: &[&str], folder: &Path) -> Vec<ProgramSpec> {
    let context = context(game, folder);
    let seat = |bot: &&str| {
        let prepared = BotSource::parse(bot, folder).and_then(|bot| prepare(&bot, &context, &mut |_| {}));
        prepared.map_err(Diagnostic::from).unwrap()
    };
    let mut bots: Vec<PreparedBot> = bots.iter().map(seat).collect();
    isolate(&mut bots, &context).unwrap();
    bots.into_iter().map(program).collect()
}

/// The bot of a package that was unpacked in a folder.
fn unpacked(game: &str, parcel: &BotPackage, folder: &Path) -> Result<ProgramSpec, Diagnostic> {
    let BotPackage { spec, hash, .. } = parcel.clone();
    let source = BotSource::Package { folder: folder.to_owned(), spec, hash };
    Ok(prepare(&source, &context(game, Path::new("")), &mut |_| {}).map(program)?)
}

fn arrived(game: &str, parcel: &BotPackage, elsewhere: &Path) -> ProgramSpec {
    package::unpack(&parcel.files, elsewhere).unwrap();
    unpacked(game, parcel, elsewhere).unwrap()
}

/// Digest of a game against a house bot.
fn digest(game: &str, seat: &ProgramSpec, house: &str) -> Digest {
    let table = agon_engine::any_game(game).unwrap();
    let settings = Settings::defaults(table.info().settings);
    let seatings = [PlayerSpec::Program(seat.clone()), PlayerSpec::House(house.to_owned())];
    let members = seatings.map(|seating| LoadedEntrant {
        name: seating.spec(),
        player: seating,
        commit: None,
        extra_file: None,
        says: agon_core::SelfDescription::default(),
    });
    let seats: Vec<(Entrant, &LoadedEntrant)> =
        members.iter().enumerate().map(|(n, one)| (Entrant(n as u32), one)).collect();
    let parts = [ResolvedPart { games: 1, first_to: 1, settings }];
    let runner = MatchRunner {
        game: table.as_ref(),
        assets: &Assets::none(),
        parts: &parts,
        parts_give_points: false,
    };
    let key = MatchKey { phase: 0, stage: 0, number: 0 };
    let played = runner.play(key, &seats, 7, &mut Recorder::new(), None).unwrap();
    assert!(played.faults.is_empty(), "{:?}", played.faults);
    played.games[0].digest
}

/// Packs the bot, removes its original folder, and checks that the loaded bot is the same.
fn travels(game: &str, house: &str, bot: &str, home: TempDir) -> TempDir {
    let at_home = seated(game, &[bot], home.path()).remove(0);
    let before = digest(game, &at_home, house);
    let packed = package::pack(game, &at_home, home.path()).map_err(|failure| failure.to_string()).unwrap();
    assert_eq!(
        packed,
        package::pack(game, &at_home, home.path()).unwrap(),
        "{bot}: packing twice gives different bytes"
    );
    drop((at_home.scratch_dir, home));
    let elsewhere = tempfile::tempdir().unwrap();
    let there = arrived(game, &packed, &elsewhere.path().join("parcel"));
    assert_eq!((&there.hash, there.spec.as_str()), (&at_home.hash, bot));
    assert_eq!(digest(game, &there, house), before, "{bot}");
    elsewhere
}

#[test]
fn packed_python_folder_file_class_and_archive_play_the_same_game() {
    let files = [
        ("mine/Gatherer.py", GATHERER),
        ("mine/helper.py", HELPER),
        ("mine/weights.bin", "3141592653589"),
        ("mine/data/old", "1"),
    ];
    let elsewhere = travels("connect-five", "tactician", "mine", place(&files));
    assert!(elsewhere.path().join("parcel/bot/mine/data/old").exists(), "the bot's data is missing");
    travels("connect-five", "tactician", "./mine/Gatherer.py", place(&files));
    travels("connect-five", "tactician", "mine/Gatherer.py:Gatherer", place(&files));
    let flat = files.map(|(name, text)| (name.strip_prefix("mine/").unwrap(), text));
    travels("connect-five", "tactician", "Gatherer.py", place(&flat));
    let home = place(&files);
    let names = ["mine/Gatherer.py", "mine/helper.py", "mine/weights.bin"];
    let mut zip = Command::new("python3");
    zip.args(["-m", "zipfile", "-c", "Mine.zip"]).args(names).current_dir(home.path());
    assert!(zip.status().unwrap().success());
    travels("connect-five", "tactician", "Mine.zip", home);
}

#[test]
fn packed_text_and_json_commands_play_the_same_game() {
    travels("word-racer", "rows", "python3 lines.py", place(&[("lines.py", LINES)]));
    let files = [
        ("bots/mine/speak.py", JSON_LINES),
        ("bots/mine/helper.py", HELPER),
        ("bots/mine/weights.bin", "27182818"),
    ];
    travels("connect-five", "tactician", "json:python3 bots/mine/speak.py", place(&files));
    let flat = files.map(|(name, text)| (name.strip_prefix("bots/mine/").unwrap(), text));
    travels("connect-five", "tactician", "json:python3 speak.py", place(&flat));
    // With an absolute path of this machine.
    let home = place(&files);
    let whole = home.path().canonicalize().unwrap().join("bots/mine/speak.py");
    travels("connect-five", "tactician", &format!("json:python3 {}", whole.display()), home);
}

#[test]
fn packed_list_entry_and_manifest_folder_play_the_same_game() {
    let list = "players:\n  - name: Lines\n    directory: racers/lines\n    command: python3 lines.py\n  - name: Other\n    directory: racers/other\n    command: python3 lines.py\n";
    let files = [("players.yml", list), ("racers/lines/lines.py", LINES), ("racers/other/lines.py", LINES)];
    travels("word-racer", "rows", "players.yml#Lines", place(&files));
    let script = format!("#!/usr/bin/env python3\n{JSON_LINES}");
    let files = [
        ("mine/agon.toml", "command = \"./bot\"\nbuild = \"make\"\n"),
        ("mine/bot", script.as_str()),
        ("mine/helper.py", HELPER),
        ("mine/weights.bin", "161803398"),
        ("mine/lib/deep/notes", "not covered by the hash"),
        ("mine/.git/config", "stays"),
    ];
    let elsewhere = travels("connect-five", "tactician", "mine", place(&files));
    let there = elsewhere.path().join("parcel/bot/mine");
    assert!(there.join("lib/deep/notes").exists() && !there.join(".git").exists());
    assert_eq!(there.join("bot").metadata().unwrap().permissions().mode() & 0o777, 0o755);
    // A git checkout is named by its absolute path.
    let files = [
        (".agon/git/mine-0123/commits/abc/mine/Gatherer.py", GATHERER),
        (".agon/git/mine-0123/commits/abc/mine/helper.py", HELPER),
        (".agon/git/mine-0123/commits/abc/mine/weights.bin", "55"),
    ];
    let home = place(&files);
    let whole = home.path().join(".agon/git/mine-0123/commits/abc/mine").display().to_string();
    travels("connect-five", "tactician", &whole, home);
}

/// Bots of one folder: a file that is hidden from a bot here is hidden there too, and the hash stays the same.
#[test]
fn package_contains_no_files_of_other_bots() {
    let rival = "class Rival:\n    def get_move(self, board, player, T, N):\n        return 0\n";
    let files = [
        ("bots/Gatherer.py", &*format!("# better than Rival\n{GATHERER}")),
        ("bots/helper.py", HELPER),
        ("bots/weights.bin", "1"),
        ("bots/Rival.py", rival),
        ("bots/Third.py", &*rival.replace("Rival", "Third")),
        ("cup.toml", "seed = \"secret\""),
        ("bots/cup.ledger", "secret"),
    ];
    let home = place(&files);
    symlink("/etc/passwd", home.path().join("bots/leads-out")).unwrap();
    symlink("weights.bin", home.path().join("bots/leads-on")).unwrap();
    let bots = ["bots/Gatherer.py", "bots/Rival.py", "bots/Third.py"];
    let seats = seated("connect-five", &bots, home.path());
    let packed = package::pack("connect-five", &seats[0], home.path()).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let folder = elsewhere.path().join("parcel");
    let there = arrived("connect-five", &packed, &folder);
    assert_eq!(there.hash, seats[0].hash);
    let has = |name: &str| folder.join("bot/bots").join(name).symlink_metadata().is_ok();
    assert!(has("helper.py") && has("weights.bin") && has("leads-on"));
    assert!(!has("Third.py") && !has("cup.ledger") && !has("leads-out"));
    // The bot mentions this file, so the hash covers it. It stays hidden.
    let rival = folder.join("bot/bots/Rival.py").canonicalize().unwrap();
    assert!(there.program.hidden.contains(&rival), "{:?}", there.program.hidden);
}

#[test]
fn package_that_was_changed_is_rejected() {
    let home =
        place(&[("mine/Gatherer.py", GATHERER), ("mine/helper.py", HELPER), ("mine/weights.bin", "3")]);
    let seat = seated("connect-five", &["mine"], home.path()).remove(0);
    let packed = package::pack("connect-five", &seat, home.path()).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let folder = elsewhere.path().join("parcel");
    package::unpack(&packed.files, &folder).unwrap();
    fs::write(folder.join("bot/mine/weights.bin"), "4").unwrap();
    let failure = unpacked("connect-five", &packed, &folder).unwrap_err();
    assert!(failure.to_string().starts_with("mine: the received files have the hash sha256:"), "{failure}");
}

#[test]
fn bot_with_paths_of_this_machine_cannot_be_packed() {
    let home = place(&[
        ("cup/agon-is-here", ""),
        ("outside/lines.py", LINES),
        ("cup/mine/agon.toml", "command = \"python3 lines.py\"\n"),
        ("cup/mine/real.py", ""),
    ]);
    let competition = home.path().join("cup");
    let failure = |game: &str, bot: &str| {
        let seat = seated(game, &[bot], &competition).remove(0);
        package::pack(game, &seat, &competition).unwrap_err().to_string()
    };
    let said = failure("word-racer", "python3 ../outside/lines.py");
    assert!(
        said.contains(
            "names ../outside/lines.py, a path of this machine\nhint: move it into the bot's folder"
        ),
        "{said}"
    );
    symlink("../../outside/lines.py", competition.join("mine/lines.py")).unwrap();
    let said = failure("connect-five", "mine");
    assert!(
        said.contains("lines.py: leads outside the bot's folder\nhint: replace the link by the file"),
        "{said}"
    );
}
