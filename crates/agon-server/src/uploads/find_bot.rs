//! Finds the bot in an uploaded folder. The content is untrusted: it is read, but never run here.

use std::fs;
use std::path::{Path, PathBuf};

use agon_bots::manifest::{self, Manifest};
use agon_bots::source::source_check::{check_source, only_bot};
use agon_bots::source::{players_yml, submission_root};
use agon_core::{GameInfo, PythonApi};
use agon_host::BotRejection;

use super::SubmissionMeta;
use agon_league::config::edit::toml_quote;

/// Bot spec of a submission, relative to the competition's folder `home`. `submission_path` is the path from there to the submission.
/// A command can name only files that the bot itself can see, so that a rejection says nothing about other files of this machine.
pub fn find_bot(
    game: &str,
    home: &Path,
    submission_path: &str,
    meta: &SubmissionMeta,
) -> Result<String, BotRejection> {
    let bot = find_files(game, home, submission_path, meta)?;
    if home.join(&bot).join(manifest::FILE).is_file() {
        // Errors in the manifest itself are reported by the check, all at once.
        if let Ok(manifest) = Manifest::read(game, &bot, home) {
            let in_manifest = |error| BotRejection::from(error).in_file(manifest::FILE);
            manifest.check_own_view().map_err(in_manifest)?;
        }
    }
    Ok(bot)
}

fn find_files(
    game: &str,
    home: &Path,
    submission_path: &str,
    meta: &SubmissionMeta,
) -> Result<String, BotRejection> {
    let info = agon_games::game_info(game)
        .map_err(|unknown| BotRejection::new(format!("unknown game `{}`", unknown.id), unknown.hint))?;
    let folder = home.join(submission_path);
    let root = manifest_folder(&folder).unwrap_or_else(|| submission_root(&folder));
    let relative = |path: &Path| {
        let path = path.strip_prefix(home).unwrap_or(path);
        path.to_str()
            .map(str::to_owned)
            .ok_or_else(|| BotRejection::new("a file name is not UTF-8", "rename the file"))
    };
    if root.join(manifest::FILE).is_file() {
        return relative(&root);
    }
    let Some(python) = info.bots.python else {
        return relative(&command_folder(info, &root)?);
    };
    if let Some(single) = &meta.single_file {
        let bot = relative(&folder.join(single))?;
        return Ok(with_class(bot, meta.class.as_deref()));
    }
    if !has_python(&root) {
        let hint = "add the bot's .py file, or an agon.toml with the command that runs it";
        return Err(BotRejection::new("there is no Python file and no agon.toml", hint));
    }
    let mut target = root.clone();
    if meta.class.is_none() && python == PythonApi::Class {
        let program = agon_host::python::bot(info, &root, None).map_err(BotRejection::from)?;
        target = only_bot(&root, &check_source(&program.sandboxed(), &[])?)?.unwrap_or(root);
    }
    Ok(with_class(relative(&target)?, meta.class.as_deref()))
}

fn with_class(bot: String, class: Option<&str>) -> String {
    match class {
        Some(class) => format!("{bot}:{class}"),
        None => bot,
    }
}

/// The folder with an `agon.toml`: this one, or its only subfolder, and so on.
fn manifest_folder(folder: &Path) -> Option<PathBuf> {
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

/// In a game without a Python API bots are commands. Writes an `agon.toml` for an upload with a `players.yml` of one entry, or with a
/// single Python file.
fn command_folder(info: &GameInfo, root: &Path) -> Result<PathBuf, BotRejection> {
    let entries = || fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let file_name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(list) =
        entries().find(|path| players_yml::is_list(path) && file_name(path).starts_with("players."))
        && info.bots.players_yml
    {
        let (shown, hint) = (file_name(&list), "submit each bot separately, with a list of one");
        let found = players_yml::read(&list, None).map_err(|rejection| rejection.in_file(&shown))?;
        let [player] = &found[..] else {
            return Err(BotRejection::new(format!("it lists {} bots", found.len()), hint).in_file(shown));
        };
        let inside = player
            .directory
            .canonicalize()
            .ok()
            .filter(|at| root.canonicalize().is_ok_and(|root| at.starts_with(root)));
        let Some(home) = inside else {
            let what = format!("the directory of {} is not in the upload", player.name);
            return Err(BotRejection::new(what, "include its files in the upload").in_file(shown));
        };
        write_manifest(info, &home, &player.command)?;
        // Relative to the competition's folder, not canonical.
        let rest = root.canonicalize().ok().and_then(|root| home.strip_prefix(root).ok().map(Path::to_owned));
        return Ok(rest.map_or_else(|| root.to_owned(), |rest| root.join(rest)));
    }
    let scripts: Vec<PathBuf> =
        entries().filter(|path| path.extension().is_some_and(|ending| ending == "py")).collect();
    match &scripts[..] {
        [one] => {
            write_manifest(info, root, &format!("python3 '{}'", file_name(one).replace('\'', "'\\''")))?;
            Ok(root.to_owned())
        }
        [] => Err(BotRejection::new(
            "there is no agon.toml, no players.yml and no Python file",
            "add an agon.toml with the command that runs the bot",
        )),
        _ => Err(BotRejection::new(
            "there are several Python files, and it is unclear which is the bot",
            "add an agon.toml with command = \"python3 FILE.py\"",
        )),
    }
}

fn write_manifest(info: &GameInfo, folder: &Path, command: &str) -> Result<(), BotRejection> {
    let protocol = info.bots.text_protocol.unwrap_or(manifest::JSON_LINES);
    let text = format!("command = {}\nprotocol = {}\n", toml_quote(command), toml_quote(protocol));
    fs::write(folder.join(manifest::FILE), text).map_err(|error| {
        BotRejection::new(
            format!("cannot be stored: {error}"),
            "ask an organiser to check the server's disk space",
        )
    })
}
