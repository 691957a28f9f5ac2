//! Prepares bots of every kind from what a user wrote, and isolates them from each other.

use std::fs;
use std::path::PathBuf;

use agon_host::Program;
use agon_league::config::{EntrantBot, EntrantSpec};
use tempfile::TempDir;

use super::*;
use crate::parse_options;

const BOT: &str =
    "class Bot:\n    def get_move(self, board, player, T, N):\n        return board[0].index(0)\n";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn context<'c>(game: &'c str, folder: &'c Path) -> PrepareContext<'c> {
    let sandbox = SandboxMode::Off;
    PrepareContext {
        game,
        folder,
        sandbox,
        keep_data: true,
        extra_file: None,
        settings: None,
        archive_limits: ArchiveLimits::default(),
    }
}

fn prepared(bot: &str, context: &PrepareContext<'_>) -> Result<PreparedBot, PrepareError> {
    prepare(&BotSource::parse(bot, context.folder)?, context, &mut |_| {})
}

fn program(bot: &PreparedBot) -> &Program {
    &bot.program().unwrap().program
}

#[test]
fn prepared_bot_keeps_the_spec_that_the_user_wrote() {
    let folder = folder(&[
        ("python/Bot.py", BOT),
        ("lines.py", ""),
        ("built/agon.toml", "command = \"python3 main.py\"\n"),
        ("built/main.py", ""),
    ]);
    let context = context("connect-five", folder.path());
    for bot in [
        "house:random",
        "human",
        "./python",
        "python/Bot.py:Bot",
        "built",
        "python3 lines.py",
        "json:python3 lines.py",
    ] {
        let prepared = prepared(bot, &context).map_err(Diagnostic::from).unwrap();
        assert_eq!(prepared.player.spec(), bot);
        assert_eq!(prepared.source.to_string(), bot);
        assert_eq!(prepared.commit, None);
    }
}

#[test]
fn bot_that_plays_itself_gets_separate_data_and_sees_no_other_bot() {
    let folder = folder(&[("Bot.py", BOT), ("Other.py", BOT), ("data/known", "1")]);
    let context = context("connect-five", folder.path());
    let bots = ["./Bot.py", "./Bot.py", "./Other.py"].map(|bot| prepared(bot, &context));
    let mut bots = bots.into_iter().collect::<Result<Vec<_>, _>>().map_err(Diagnostic::from).unwrap();
    isolate(&mut bots, &context).unwrap();
    let data: Vec<&PathBuf> = bots.iter().map(|bot| &program(bot).writable[0].path).collect();
    assert_eq!(*data[0], folder.path().canonicalize().unwrap().join("data"));
    assert_ne!(data[0], data[1]);
    let other = folder.path().canonicalize().unwrap().join("Other.py");
    for bot in &bots[..2] {
        assert!(program(bot).hidden.contains(&other), "{:?}", program(bot).hidden);
    }
}

#[test]
fn file_of_the_game_has_the_content_that_the_settings_define() {
    let folder = folder(&[("bot.py", ""), ("own.txt", "STONE\nTONES\n")]);
    let info = agon_games::game_info("word-racer").unwrap();
    let pairs = ["words=own.txt".to_owned()];
    let (settings, assets) = parse_options::settings(info, &pairs, folder.path()).unwrap();
    let default = context("word-racer", folder.path());
    let own = PrepareContext { settings: Some((&settings, &assets)), ..default };
    let words = |context| {
        let bot = prepared("python3 bot.py", context).map_err(Diagnostic::from).unwrap();
        fs::read_to_string(program(&bot).folder.join("words.dat")).unwrap()
    };
    assert_eq!(words(&own), "STONE\nTONES\n");
    assert!(words(&default).lines().count() > 1000);
}

#[test]
fn entrant_with_a_repository_that_was_never_fetched_is_rejected_by_its_name() {
    let folder = folder(&[]);
    let bot = EntrantBot::Git {
        repository: "https://example.invalid/bot.git".to_owned(),
        branch: None,
        path: Some("Bot.py".to_owned()),
    };
    let entrant = EntrantSpec {
        name: "mine".to_owned(),
        name_given: true,
        bot,
        contributor: None,
        marks: Vec::new(),
        role: None,
    };
    let source = BotSource::of_entrant(&entrant, folder.path()).map_err(Diagnostic::from).unwrap();
    let error = prepare(&source, &context("connect-five", folder.path()), &mut |_| {}).unwrap_err();
    assert!(matches!(&error, PrepareError::Repository { entrant, .. } if entrant == "mine"));
    assert_eq!(
        Diagnostic::from(error).to_string(),
        "mine: https://example.invalid/bot.git was never fetched\nhint: run `agon update` with the competition's file"
    );
}

#[test]
fn missing_file_is_rejected_with_the_path_as_written() {
    let folder = folder(&[]);
    let error = prepared("bots/none.py", &context("connect-five", folder.path())).unwrap_err();
    assert!(matches!(&error, PrepareError::Refused { bot, .. } if bot == "bots/none.py"));
}

#[test]
fn house_bot_is_prepared_without_files() {
    let bot = PreparedBot::house("random");
    assert_eq!(bot.player, PlayerSpec::House("random".to_owned()));
    assert_eq!(bot.source, BotSource::House("random".to_owned()));
}
