//! A bot's files as they are sent, and the token that is sent with them.

use std::fs;
use std::io::{Cursor, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use agon_bots::error::Failure;
use agon_bots::source::archive::{MAX_ENTRIES, MAX_PACKED_BYTES, MAX_UNPACKED_BYTES};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// What nobody means to send.
const IGNORED_NAMES: [&str; 6] = ["__pycache__", "node_modules", "target", "venv", "__MACOSX", "logs"];

/// The name and content that are sent for a BOT's path.
pub fn zip_bot(path: &Path) -> Result<(String, Vec<u8>), Failure> {
    let whole = path.canonicalize().map_err(|error| Failure::io("read", path, &error, "is it there?"))?;
    let name = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if whole.is_dir() {
        return Ok((format!("{name}.zip"), zipped(&whole)?));
    }
    let length = whole.metadata()?.len();
    if length > MAX_PACKED_BYTES {
        let what = format!("{}: larger than {} MiB", path.display(), MAX_PACKED_BYTES >> 20);
        return Err(Failure::wrong_use(what, "leave out what the bot does not need"));
    }
    let content = fs::read(&whole).map_err(|error| Failure::io("read", path, &error, "may you read it?"))?;
    Ok((name, content))
}

fn zipped(folder: &Path) -> Result<Vec<u8>, Failure> {
    let mut files = Vec::new();
    collect(folder, folder, &mut files)?;
    files.sort();
    let broke = |error: zip::result::ZipError| {
        Failure::wrong_use(error.to_string(), "pack it yourself, and send the .zip")
    };
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let mut size = 0;
    for (name, path) in files {
        let content =
            fs::read(&path).map_err(|error| Failure::io("read", &path, &error, "may you read it?"))?;
        size += content.len() as u64;
        if size > MAX_UNPACKED_BYTES {
            let what = format!("{}: more than {} MiB", folder.display(), MAX_UNPACKED_BYTES >> 20);
            return Err(Failure::wrong_use(what, "leave out what the bot does not need"));
        }
        let mode = path.metadata()?.permissions().mode() & 0o777;
        writer.start_file(name, SimpleFileOptions::default().unix_permissions(mode)).map_err(broke)?;
        writer.write_all(&content)?;
    }
    Ok(writer.finish().map_err(broke)?.into_inner())
}

/// Plain files, as they are seen from `top`. Hidden ones, and what machines leave behind, stay at home.
fn collect(top: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) -> Result<(), Failure> {
    for entry in
        fs::read_dir(folder).map_err(|error| Failure::io("read", folder, &error, "may you read it?"))?
    {
        let entry = entry?;
        let (name, kind) = (entry.file_name().to_string_lossy().into_owned(), entry.file_type()?);
        if name.starts_with('.') || IGNORED_NAMES.contains(&name.as_str()) {
            continue;
        }
        if kind.is_dir() {
            collect(top, &entry.path(), files)?;
        } else if kind.is_file() {
            let path = entry.path();
            let seen = path.strip_prefix(top).unwrap_or(&path).to_string_lossy().into_owned();
            files.push((seen, path));
        }
        if files.len() > MAX_ENTRIES {
            let what = format!("{}: more than {MAX_ENTRIES} files", top.display());
            return Err(Failure::wrong_use(what, "leave out what the bot does not need"));
        }
    }
    Ok(())
}

/// The token, from the environment or from its file.
pub fn token() -> Result<String, Failure> {
    let hint = "make a token on your page of the site; then: export AGON_TOKEN=...";
    if let Ok(token) = std::env::var("AGON_TOKEN")
        && !token.trim().is_empty()
    {
        return Ok(token.trim().to_owned());
    }
    let home = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config")));
    let none = || Failure::wrong_use("there is no token", hint);
    let path = home.ok_or_else(none)?.join("agon/token");
    let Ok(about) = path.metadata() else { return Err(none()) };
    if about.permissions().mode() & 0o077 != 0 {
        let what = format!("{} can be read by others", path.display());
        return Err(Failure::wrong_use(
            what,
            format!("chmod 600 {}; if somebody else was there, revoke it", path.display()),
        ));
    }
    let text =
        fs::read_to_string(&path).map_err(|error| Failure::io("read", &path, &error, "may you read it?"))?;
    match text.trim() {
        "" => Err(Failure::wrong_use(format!("{} is empty", path.display()), hint)),
        token => Ok(token.to_owned()),
    }
}
