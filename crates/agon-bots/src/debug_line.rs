//! The command line that an author pastes after a fault: it asks the bot again at that turn. A game without a record is first played again.

use std::path::{Path, PathBuf};

use agon_core::settings::SettingKind;
use agon_core::text_format::shell_quote_path;
use agon_core::{FaultReport, GameInfo, Seat};

use crate::prepare::SandboxMode;

/// Where a fault occurred in the games of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FaultPlace {
    /// Number of the game in the file, from 1.
    pub game: u32,
    /// Seat of the bot.
    pub seat: Seat,
    /// Turn, from 1. One more than the last turn for a fault in what the bot does after the game.
    pub turn: u32,
    /// Whether the game was over.
    pub is_after_game: bool,
}

/// `agon debug RECORD ...` for a fault of a recorded game. A bot that calls the debugger in a turn gets `--pdb`.
pub fn debug_line(
    record: &Path,
    place: FaultPlace,
    fault: &FaultReport,
    options: &GameOptions<'_>,
) -> String {
    let FaultPlace { game, seat, turn, is_after_game } = place;
    let mut line = format!(
        "agon debug {} --game {game} --seat {seat} --turn {turn}",
        quote(&record.display().to_string())
    );
    for pair in options.settings.iter().filter(|pair| options.names_a_file(pair)) {
        line += &format!(" --set {}", quote(pair));
    }
    if fault.message.contains("--pdb") && !is_after_game {
        line += " --pdb";
    } else {
        line += options.sandbox_words();
    }
    line + &options.python.words()
}

/// `agon play ... --record RECORD`: plays the games of a series again and records them.
pub fn play_line(options: &GameOptions<'_>, bots: &[String], seed: u64, games: u32, record: &Path) -> String {
    let bots: Vec<String> = bots.iter().map(|bot| quote(bot)).collect();
    format!(
        "agon play {} {} --seed {seed}{} --games {games} --record {}",
        options.info.id,
        bots.join(" "),
        options.words(),
        quote(&record.display().to_string()),
    )
}

/// The line for a fault of a game without a record: plays the series again up to this game, then asks the bot again. `folder` is the
/// folder in which the line is pasted.
pub fn play_and_debug_line(
    options: &GameOptions<'_>,
    bots: &[String],
    seed: u64,
    place: FaultPlace,
    fault: &FaultReport,
    folder: &Path,
) -> String {
    let record = unused_record(folder);
    let play = play_line(options, bots, seed, place.game, &record);
    format!("{play}; {}", debug_line(&record, place, fault, options))
}

/// How a game was played, as words of the command line.
#[derive(Clone, Copy, Debug)]
pub struct GameOptions<'o> {
    /// The game.
    pub info: &'static GameInfo,
    /// Settings as `key=value`.
    pub settings: &'o [String],
    /// Whether programs ran in the sandbox.
    pub sandbox: SandboxMode,
    /// Interpreter and packages for Python bots.
    pub python: PythonOptions<'o>,
    /// Games of a match, as the user wrote it.
    pub match_games: Option<u32>,
}

/// Interpreter and packages for Python bots, as the user wrote them.
#[derive(Clone, Copy, Default, Debug)]
pub struct PythonOptions<'o> {
    /// The interpreter.
    pub interpreter: Option<&'o Path>,
    /// The list of packages.
    pub packages: Option<&'o Path>,
}

impl PythonOptions<'_> {
    /// The options as words, each with a space before it.
    fn words(&self) -> String {
        let word = |option: &str, path: Option<&Path>| {
            path.map(|path| format!(" --{option} {}", quote(&path.display().to_string()))).unwrap_or_default()
        };
        word("python", self.interpreter) + &word("packages", self.packages)
    }
}

impl GameOptions<'_> {
    /// Whether a setting names a file, which a record contains only as a hash.
    fn names_a_file(&self, pair: &str) -> bool {
        let name = pair.split('=').next().unwrap_or_default();
        self.info.settings.iter().any(|spec| spec.name == name && spec.kind == SettingKind::Asset)
    }

    const fn sandbox_words(&self) -> &'static str {
        match self.sandbox {
            SandboxMode::On => "",
            SandboxMode::Off => " --sandbox off",
        }
    }

    /// The options as words, each with a space before it.
    pub fn words(&self) -> String {
        let mut words = String::new();
        if let Some(games) = self.match_games {
            words += &format!(" --match-games {games}");
        }
        for pair in self.settings {
            words += &format!(" --set {}", quote(pair));
        }
        words + self.sandbox_words() + &self.python.words()
    }
}

/// A word of a command line, quoted if needed. `house:NAME` and `key=value` need no quotes.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@%:=".contains(c);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(plain) {
        word.to_owned()
    } else {
        shell_quote_path(word)
    }
}

/// A name for a record that does not exist yet in this folder.
pub fn unused_record(folder: &Path) -> PathBuf {
    let name = |number: u32| match number {
        1 => PathBuf::from("fault.agon"),
        number => PathBuf::from(format!("fault-{number}.agon")),
    };
    (1..1000).map(name).find(|name| folder.join(name).symlink_metadata().is_err()).unwrap_or_else(|| name(1))
}

#[cfg(test)]
mod tests {
    use agon_core::Fault;

    use super::*;

    /// A game with a setting that names a file, and that setting.
    fn game_with_a_file() -> (&'static GameInfo, &'static str) {
        let asset = |info: &'static GameInfo| {
            info.settings.iter().find(|spec| spec.kind == SettingKind::Asset).map(|spec| (info, spec.name))
        };
        agon_games::infos().into_iter().find_map(asset).unwrap()
    }

    fn plain_options<'o>(info: &'static GameInfo, settings: &'o [String]) -> GameOptions<'o> {
        GameOptions {
            info,
            settings,
            sandbox: SandboxMode::On,
            python: PythonOptions::default(),
            match_games: None,
        }
    }

    #[test]
    fn line_has_the_options_that_the_record_lacks() {
        let (info, asset) = game_with_a_file();
        let settings = [format!("{asset}=my words.txt"), "other=3".to_owned()];
        let place = FaultPlace { game: 2, seat: Seat(1), turn: 7, is_after_game: false };
        let sandbox = SandboxMode::Off;
        let python = PythonOptions {
            interpreter: Some(Path::new("my env")),
            packages: Some(Path::new("requirements.txt")),
        };
        let options = GameOptions { info, settings: &settings, sandbox, python, match_games: Some(5) };
        let fault = FaultReport::new(Fault::Crash, "boom");
        assert_eq!(
            debug_line(Path::new("out/my game.agon"), place, &fault, &options),
            format!(
                "agon debug 'out/my game.agon' --game 2 --seat 1 --turn 7 --set '{asset}=my words.txt' --sandbox off \
                 --python 'my env' --packages requirements.txt"
            )
        );
        assert_eq!(
            options.words(),
            format!(
                " --match-games 5 --set '{asset}=my words.txt' --set other=3 --sandbox off --python 'my env' --packages requirements.txt"
            )
        );
    }

    #[test]
    fn bot_that_calls_the_debugger_gets_it_in_a_turn_only() {
        let (info, _) = game_with_a_file();
        let options = plain_options(info, &[]);
        let fault = FaultReport::new(Fault::Crash, "use agon debug FILE --pdb");
        let line = |is_after_game| {
            let place = FaultPlace { game: 1, seat: Seat(0), turn: 9, is_after_game };
            debug_line(Path::new("a.agon"), place, &fault, &options)
        };
        assert_eq!(line(false), "agon debug a.agon --game 1 --seat 0 --turn 9 --pdb");
        assert_eq!(line(true), "agon debug a.agon --game 1 --seat 0 --turn 9");
    }

    #[test]
    fn game_without_a_record_is_played_again_up_to_the_fault() {
        let (info, _) = game_with_a_file();
        let settings = ["n=3".to_owned()];
        let options = plain_options(info, &settings);
        let folder = tempfile::tempdir().unwrap();
        let place = FaultPlace { game: 4, seat: Seat(1), turn: 7, is_after_game: false };
        let bots = ["house:random".to_owned(), "my bot.py".to_owned()];
        let fault = FaultReport::new(Fault::Crash, "boom");
        assert_eq!(
            play_and_debug_line(&options, &bots, 8, place, &fault, folder.path()),
            format!(
                "agon play {} house:random 'my bot.py' --seed 8 --set n=3 --games 4 --record fault.agon; \
                 agon debug fault.agon --game 4 --seat 1 --turn 7",
                info.id
            )
        );
    }

    #[test]
    fn unused_record_does_not_exist() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(unused_record(folder.path()), Path::new("fault.agon"));
        std::fs::write(folder.path().join("fault.agon"), "").unwrap();
        assert_eq!(unused_record(folder.path()), Path::new("fault-2.agon"));
    }
}
