//! Which BOT it is, in a folder that came in. The folder is the sender's: it is looked at, nothing in it is run.

use std::fs;
use std::path::{Path, PathBuf};

use agon_host::intake::survey::{only_bot, survey};
use agon_host::intake::{Refusal, players, submission_root};
use agon_venue::manifest;

use super::SubmissionMeta;
use crate::runs::competition_file::toml_quote;

/// The BOT of a submission, seen from its competition's folder `home`; `below` leads from there to the submission's own.
pub fn find_bot(game: &str, home: &Path, below: &str, slip: &SubmissionMeta) -> Result<String, Refusal> {
    let folder = home.join(below);
    let root = described(&folder).unwrap_or_else(|| submission_root(&folder));
    let seen = |path: &Path| {
        let path = path.strip_prefix(home).unwrap_or(path);
        path.to_str().map(str::to_owned).ok_or_else(|| Refusal::new("a name that is not UTF-8", "rename it"))
    };
    if root.join(manifest::FILE).is_file() {
        return seen(&root);
    }
    if game == manifest::WORD_RACER {
        return seen(&word_racer(&root)?);
    }
    if let Some(single) = &slip.single {
        let bot = seen(&folder.join(single))?;
        return Ok(with_class(bot, slip.class.as_deref()));
    }
    if !has_python(&root) {
        let hint = "put the bot's .py into it, or an agon.toml that says how it is run";
        return Err(Refusal::new("there is no Python file and no agon.toml", hint));
    }
    let mut target = root.clone();
    if slip.class.is_none() && ["connect-five", "colour-battle"].contains(&game) {
        let program = agon_host::python::bot(game, &root, None).map_err(Refusal::from)?;
        target = only_bot(&root, &survey(&program.guarded())?)?.unwrap_or(root);
    }
    Ok(with_class(seen(&target)?, slip.class.as_deref()))
}

fn with_class(bot: String, class: Option<&str>) -> String {
    match class {
        Some(class) => format!("{bot}:{class}"),
        None => bot,
    }
}

/// The folder with an `agon.toml`: this one, or the only one in it, and so on.
fn described(folder: &Path) -> Option<PathBuf> {
    let mut at = folder.to_owned();
    for _ in 0..12 {
        if at.join(manifest::FILE).is_file() {
            return Some(at);
        }
        let mut inner = fs::read_dir(&at).ok()?.flatten();
        let (only, none) = (inner.next()?, inner.next());
        if none.is_some() || !only.path().is_dir() {
            return None;
        }
        at = only.path();
    }
    None
}

fn has_python(folder: &Path) -> bool {
    let is_python = |entry: fs::DirEntry| entry.path().extension().is_some_and(|ending| ending == "py");
    fs::read_dir(folder).is_ok_and(|entries| entries.flatten().any(is_python))
}

/// Word Racer's bots are commands. One that came as a `players.yml` with one entry, or as one Python file, gets an `agon.toml`.
fn word_racer(root: &Path) -> Result<PathBuf, Refusal> {
    let entries = || fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let named = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(list) = entries().find(|path| players::is_list(path) && named(path).starts_with("players.")) {
        let (shown, hint) = (named(&list), "hand in each bot for itself, with a list of one");
        let found = players::read(&list, None).map_err(|refusal| refusal.in_file(&shown))?;
        let [player] = &found[..] else {
            return Err(Refusal::new(format!("it lists {} bots", found.len()), hint).in_file(shown));
        };
        let inside = player
            .directory
            .canonicalize()
            .ok()
            .filter(|at| root.canonicalize().is_ok_and(|root| at.starts_with(root)));
        let Some(home) = inside else {
            let what = format!("the directory of {} is not in the upload", player.name);
            return Err(Refusal::new(what, "send its files with the list").in_file(shown));
        };
        describe(&home, &player.command)?;
        // As it lies below the competition's folder, not as the machine would say.
        let rest = root.canonicalize().ok().and_then(|root| home.strip_prefix(root).ok().map(Path::to_owned));
        return Ok(rest.map_or_else(|| root.to_owned(), |rest| root.join(rest)));
    }
    let scripts: Vec<PathBuf> =
        entries().filter(|path| path.extension().is_some_and(|ending| ending == "py")).collect();
    match &scripts[..] {
        [one] => {
            describe(root, &format!("python3 '{}'", named(one).replace('\'', "'\\''")))?;
            Ok(root.to_owned())
        }
        [] => Err(Refusal::new(
            "there is no agon.toml, no players.yml and no Python file",
            "add an agon.toml that says how the bot is run",
        )),
        _ => Err(Refusal::new(
            "several Python files, and none is said to be the bot",
            "add an agon.toml with command = \"python3 FILE.py\"",
        )),
    }
}

fn describe(folder: &Path, command: &str) -> Result<(), Refusal> {
    let text = format!("command = {}\nprotocol = {}\n", toml_quote(command), toml_quote(manifest::WORD_RACER));
    fs::write(folder.join(manifest::FILE), text)
        .map_err(|error| Refusal::new(format!("cannot be kept: {error}"), "is there room for it?"))
}
