//! The command line that an author pastes after a fault: it asks the bot again at that turn.

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
    /// Turn, from 1.
    pub turn: u32,
}

/// `agon debug RECORD ...` for a fault of a recorded game. A bot that calls the debugger gets `--pdb`.
pub fn debug_line(
    record: &Path,
    place: FaultPlace,
    fault: &FaultReport,
    options: &GameOptions<'_>,
) -> String {
    let FaultPlace { game, seat, turn } = place;
    let mut line = format!(
        "agon debug {} --game {game} --seat {seat} --turn {turn}",
        quote(&record.display().to_string())
    );
    for pair in options.settings.iter().filter(|pair| options.names_a_file(pair)) {
        line += &format!(" --set {}", quote(pair));
    }
    if fault.message.contains("--pdb") {
        line += " --pdb";
    } else {
        line += options.sandbox_words();
    }
    line
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

    /// The settings and the sandbox as words, each with a space before it.
    pub fn words(&self) -> String {
        let mut words = String::new();
        for pair in self.settings {
            words += &format!(" --set {}", quote(pair));
        }
        words + self.sandbox_words()
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

    #[test]
    fn line_has_the_options_that_the_record_lacks() {
        let info = agon_games::infos()
            .into_iter()
            .find(|info| info.settings.iter().any(|spec| spec.kind == SettingKind::Asset));
        let info = info.unwrap();
        let asset = info.settings.iter().find(|spec| spec.kind == SettingKind::Asset).unwrap().name;
        let settings = [format!("{asset}=my words.txt"), "other=3".to_owned()];
        let place = FaultPlace { game: 2, seat: Seat(1), turn: 7 };
        let options = GameOptions { info, settings: &settings, sandbox: SandboxMode::Off };
        let fault = FaultReport::new(Fault::Crash, "boom");
        assert_eq!(
            debug_line(Path::new("out/my game.agon"), place, &fault, &options),
            format!(
                "agon debug 'out/my game.agon' --game 2 --seat 1 --turn 7 --set '{asset}=my words.txt' --sandbox off"
            )
        );
        assert_eq!(options.words(), format!(" --set '{asset}=my words.txt' --set other=3 --sandbox off"));
        let fault = FaultReport::new(Fault::Crash, "use agon debug FILE --pdb");
        assert!(debug_line(Path::new("a.agon"), place, &fault, &options).ends_with(" --pdb"));
    }

    #[test]
    fn unused_record_does_not_exist() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(unused_record(folder.path()), Path::new("fault.agon"));
        std::fs::write(folder.path().join("fault.agon"), "").unwrap();
        assert_eq!(unused_record(folder.path()), Path::new("fault-2.agon"));
    }
}
