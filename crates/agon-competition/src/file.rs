//! A competition's file, from disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use agon_bots::error::Failure;
use agon_bots::source::players_yml;
use agon_core::ErrorKind;
use agon_league::CompetitionConfig;
use agon_league::config::ConfigError;

/// At most so many mistakes are shown; who has more begins with these.
const SHOWN: usize = 20;

/// A file larger than this was not written by hand.
const MOST_BYTES: u64 = 4 << 20;

/// A competition and where it is described.
pub struct CompetitionFile {
    /// As it was read.
    pub competition: CompetitionConfig,
    /// The folder that paths in it are read from, as a whole path.
    pub folder: PathBuf,
    /// Its text, to be kept.
    pub text: String,
}

/// Reads one.
pub fn load(path: &Path) -> Result<CompetitionFile, Failure> {
    if path.extension().is_some_and(|ending| ending == "ledger") {
        let hint = "name the competition's file; its ledger is found beside it";
        return Err(Failure::wrong_use(format!("{} is a ledger", path.display()), hint));
    }
    if path.metadata().is_ok_and(|about| about.len() > MOST_BYTES) {
        let what = format!("{}: larger than {} MiB", path.display(), MOST_BYTES >> 20);
        return Err(Failure::wrong_use(what, "is this a competition's file?"));
    }
    let text = fs::read(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::wrong_use(
            format!("there is no file {}", path.display()),
            format!("`agon init GAME {}` writes one", path.display()),
        ),
        _ => Failure::io("read", path, &error, "is it a file, and may you read it?"),
    })?;
    let text = String::from_utf8(text).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.split(|&byte| byte == b'\n').count();
        Failure::wrong_use(format!("{}:{line}: not UTF-8 text", path.display()), "save the file as UTF-8")
    })?;
    let competition = CompetitionConfig::read(&text).map_err(|found| mistakes(path, &found))?;
    let whole =
        path.canonicalize().map_err(|error| Failure::io("find", path, &error, "is it still there?"))?;
    let folder = whole.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned);
    Ok(CompetitionFile { competition, folder, text })
}

/// A `players.yml` as a competition: each pair plays twice. Directories are read from `base`.
pub fn from_players(list: &Path, base: &Path) -> Result<CompetitionConfig, Failure> {
    let shown = list.display();
    let found = players_yml::read(list, Some(base))
        .map_err(|refusal| Failure::refused(&shown.to_string(), &refusal))?;
    if found.len() < 2 {
        return Err(Failure::wrong_use(
            format!("{shown} has only one bot"),
            "a competition takes two: add another",
        ));
    }
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (list, base) = (whole(list), whole(base));
    let bot = |name: &str| format!("{}#{name}@{}", list.display(), base.display());
    let Some(info) = agon_games::infos().into_iter().find(|info| info.bots.players_yml) else {
        return Err(Failure::wrong_use(
            format!("{shown}: no game has a players.yml"),
            "write a competition file: agon init",
        ));
    };
    Ok(CompetitionConfig::from_players(
        info,
        found.into_iter().map(|player| (player.name.clone(), bot(&player.name))),
    ))
}

/// All that is wrong with a file.
pub fn mistakes(path: &Path, found: &[ConfigError]) -> Failure {
    let file = path.display().to_string();
    let mut told: Vec<String> = found.iter().take(SHOWN).map(|mistake| mistake.describe(&file)).collect();
    match found.len() {
        0 | 1 => {}
        all if all > SHOWN => told.push(format!("{file}: {all} mistakes; these are the first {SHOWN}")),
        all => told.push(format!("{file}: {all} mistakes")),
    }
    Failure { kind: ErrorKind::Usage, message: told.join("\n") }
}
