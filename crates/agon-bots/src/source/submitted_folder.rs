//! Finds the bot in the files of a submission: an uploaded folder, or an unpacked `.zip`. The content is untrusted: it is read, but
//! never run here.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use agon_core::GameInfo;
use agon_league::config::edit::toml_quote;

use super::{BotRejection, players_yml};
use crate::manifest;

/// The folder with an `agon.toml`: this one, or its only subfolder, and so on.
pub fn manifest_folder(folder: &Path) -> Option<PathBuf> {
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

/// In a game without a Python API bots are commands. Writes an `agon.toml` for an upload with a `players.yml` of one entry, or with a
/// single Python file.
pub fn command_folder(info: &GameInfo, root: &Path) -> Result<PathBuf, BotRejection> {
    let entries = || fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let file_name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(list) =
        entries().find(|path| players_yml::is_list(path) && file_name(path).starts_with("players."))
        && info.bots.players_yml
    {
        let (shown, hint) = (file_name(&list), "submit each bot separately, with a list of one");
        let mut found = players_yml::read(&list, None).map_err(|rejection| rejection.in_file(&shown))?;
        // House bots in the list are opponents for tests at home.
        found.retain(|player| player.house_bot().is_none());
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

/// Makes programs and scripts executable, because archives do not always store the permission.
pub fn make_programs_executable(folder: &Path) -> io::Result<()> {
    use std::io::Read as _;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_programs_executable(&entry.path())?;
            continue;
        }
        let mut start = [0; 4];
        let read = fs::File::open(entry.path())?.read(&mut start)?;
        if start[..read].starts_with(b"#!") || start[..read] == *b"\x7fELF" {
            fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}
