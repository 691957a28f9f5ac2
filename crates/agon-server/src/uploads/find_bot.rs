//! Finds the bot in an uploaded folder. The content is untrusted: it is read, but never run here.

use std::fs;
use std::path::Path;

use agon_bots::manifest::{self, Manifest};
use agon_bots::source::source_check::{check_source, only_bot};
use agon_bots::source::submission_root;
use agon_bots::source::submitted_folder::{command_folder, manifest_folder};
use agon_core::PythonApi;
use agon_host::BotRejection;

use super::SubmissionMeta;

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

fn has_python(folder: &Path) -> bool {
    let is_python = |entry: fs::DirEntry| entry.path().extension().is_some_and(|ending| ending == "py");
    fs::read_dir(folder).is_ok_and(|entries| entries.flatten().any(is_python))
}
