//! Reads a competition file from disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use agon_bots::error::{Diagnostic, Place};
use agon_bots::source::players_yml;
use agon_core::ErrorKind;
use agon_league::CompetitionConfig;
use agon_league::config::ConfigError;

/// Maximum number of mistakes that are listed.
const MAX_MISTAKES_SHOWN: usize = 20;

/// Maximum size of a competition file in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// A competition file.
pub struct CompetitionFile {
    /// Parsed content.
    pub competition: CompetitionConfig,
    /// Absolute path of the folder that relative paths in the file start at.
    pub folder: PathBuf,
    /// Text of the file, which the ledger stores.
    pub text: String,
}

/// Reads a competition file.
pub fn load(path: &Path) -> Result<CompetitionFile, Diagnostic> {
    if path.extension().is_some_and(|ending| ending == "ledger") {
        let hint = "name the competition file; Agon finds its ledger beside it";
        return Err(Diagnostic::wrong_use(format!("{} is a ledger", path.display()), hint));
    }
    if path.metadata().is_ok_and(|about| about.len() > MAX_BYTES) {
        let what = format!("{}: larger than {} MiB", path.display(), MAX_BYTES >> 20);
        return Err(Diagnostic::wrong_use(what, "check that this is a competition file"));
    }
    let text = fs::read(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Diagnostic::wrong_use(
            format!("{} does not exist", path.display()),
            format!("write one with `agon init GAME {}`", path.display()),
        ),
        _ => Diagnostic::named_path("read", path, &error, "check that it is a readable file"),
    })?;
    let text = String::from_utf8(text).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.split(|&byte| byte == b'\n').count();
        Diagnostic::wrong_use("not UTF-8 text", "save the file as UTF-8")
            .at(Place::file(path.display().to_string()).line(line))
    })?;
    let competition = CompetitionConfig::read(&text).map_err(|found| mistakes(path, &found))?;
    let whole = path
        .canonicalize()
        .map_err(|error| Diagnostic::io("find", path, &error, "check that the file exists"))?;
    let folder = whole.parent().map_or_else(|| PathBuf::from("/"), Path::to_owned);
    Ok(CompetitionFile { competition, folder, text })
}

/// Converts a `players.yml` to a competition in which each pair plays twice. Folders of bots are relative to `base`.
pub fn from_players(list: &Path, base: &Path) -> Result<CompetitionConfig, Diagnostic> {
    let shown = list.display();
    let found = players_yml::read(list, Some(base)).map_err(|refusal| refusal.of_bot(&shown.to_string()))?;
    if found.len() < 2 {
        return Err(Diagnostic::wrong_use(format!("{shown} has only one bot"), "add a second bot"));
    }
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (list, base) = (whole(list), whole(base));
    let bot = |name: &str| format!("{}#{name}@{}", list.display(), base.display());
    let Some(info) = agon_games::infos().into_iter().find(|info| info.bots.players_yml) else {
        return Err(Diagnostic::wrong_use(
            format!("{shown}: no game has a players.yml"),
            "write a competition file: agon init",
        ));
    };
    let houses = agon_engine::any_game(info.id)?.house_bots();
    let mut players = Vec::new();
    for player in &found {
        let spec = match player.house_bot() {
            None => bot(&player.name),
            Some(house) if houses.iter().any(|known| known.name == house) => format!("house:{house}"),
            Some(house) => {
                let names: Vec<&str> = houses.iter().map(|known| known.name).collect();
                let what = format!("{} has no house bot `{house}`", info.title);
                let hint = format!("choose one of {}", names.join(", "));
                return Err(player.reject_command(what, hint).of_bot(&player.name));
            }
        };
        players.push((player.name.clone(), spec));
    }
    Ok(CompetitionConfig::from_players(info, players))
}

/// All mistakes of a file as one failure.
pub fn mistakes(path: &Path, found: &[ConfigError]) -> Diagnostic {
    let file = path.display().to_string();
    let mut errors: Vec<Diagnostic> =
        found.iter().take(MAX_MISTAKES_SHOWN).map(|mistake| mistake.diagnostic(&file)).collect();
    let count = |what: String| Diagnostic::new(ErrorKind::Usage, what).at(Place::file(&file));
    match found.len() {
        0 | 1 => {}
        all if all > MAX_MISTAKES_SHOWN => {
            errors.push(count(format!("{all} mistakes; the first {MAX_MISTAKES_SHOWN} are listed")));
        }
        all => errors.push(count(format!("{all} mistakes"))),
    }
    Diagnostic::several(errors).unwrap_or_else(|| count("not a competition file".to_owned()))
}
