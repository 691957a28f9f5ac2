//! Files of a bot for an upload, and the user's token.

use std::fs;
use std::io::{Cursor, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use agon_bots::error::Diagnostic;
use agon_bots::source::archive::{MAX_ENTRIES, MAX_PACKED_BYTES};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Names that are not uploaded.
const IGNORED_NAMES: [&str; 6] = ["__pycache__", "node_modules", "target", "venv", "__MACOSX", "logs"];

/// File name and content of the upload for a bot's path.
pub fn zip_bot(path: &Path) -> Result<(String, Vec<u8>), Diagnostic> {
    let whole = path
        .canonicalize()
        .map_err(|error| Diagnostic::named_path("read", path, &error, "check that the path exists"))?;
    let name = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if whole.is_dir() {
        return Ok((format!("{name}.zip"), zipped(&whole)?));
    }
    let length = whole.metadata()?.len();
    if length > MAX_PACKED_BYTES {
        let what = format!("{}: larger than {} MiB", path.display(), MAX_PACKED_BYTES >> 20);
        return Err(Diagnostic::wrong_use(what, "remove files that the bot does not need"));
    }
    let content = fs::read(&whole)
        .map_err(|error| Diagnostic::named_path("read", path, &error, "check the read permission"))?;
    Ok((name, content))
}

fn zipped(folder: &Path) -> Result<Vec<u8>, Diagnostic> {
    let mut files = Vec::new();
    collect(folder, folder, &mut files)?;
    files.sort();
    let broke = |error: zip::result::ZipError| {
        Diagnostic::wrong_use(error.to_string(), "create the .zip yourself and submit it")
    };
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let mut size = 0;
    for (name, path) in files {
        let content = fs::read(&path)
            .map_err(|error| Diagnostic::named_path("read", &path, &error, "check the read permission"))?;
        size += content.len() as u64;
        if size > MAX_PACKED_BYTES {
            let what = format!("{}: larger than {} MiB", folder.display(), MAX_PACKED_BYTES >> 20);
            return Err(Diagnostic::wrong_use(what, "remove files that the bot does not need"));
        }
        let mode = path.metadata()?.permissions().mode() & 0o777;
        writer.start_file(name, SimpleFileOptions::default().unix_permissions(mode)).map_err(broke)?;
        writer.write_all(&content)?;
    }
    Ok(writer.finish().map_err(broke)?.into_inner())
}

/// Collects regular files with their paths relative to `top`. Skips hidden files and ignored names.
fn collect(top: &Path, folder: &Path, files: &mut Vec<(String, PathBuf)>) -> Result<(), Diagnostic> {
    for entry in fs::read_dir(folder)
        .map_err(|error| Diagnostic::named_path("read", folder, &error, "check the read permission"))?
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
            return Err(Diagnostic::wrong_use(what, "remove files that the bot does not need"));
        }
    }
    Ok(())
}

/// The token, from the environment or from its file.
pub fn token() -> Result<String, Diagnostic> {
    let hint = "create a token on your account page of the site; then: export AGON_TOKEN=...";
    if let Ok(token) = std::env::var("AGON_TOKEN")
        && !token.trim().is_empty()
    {
        return Ok(token.trim().to_owned());
    }
    let home = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config")));
    let none = || Diagnostic::wrong_use("missing token", hint);
    let path = home.ok_or_else(none)?.join("agon/token");
    let Ok(about) = path.metadata() else { return Err(none()) };
    if about.permissions().mode() & 0o077 != 0 {
        let what = format!("{} is readable by other users", path.display());
        return Err(Diagnostic::wrong_use(
            what,
            format!("run chmod 600 {}; if another user may have read the token, revoke it", path.display()),
        ));
    }
    let text = fs::read_to_string(&path)
        .map_err(|error| Diagnostic::named_path("read", &path, &error, "check the read permission"))?;
    match text.trim() {
        "" => Err(Diagnostic::wrong_use(format!("{} is empty", path.display()), hint)),
        token => Ok(token.to_owned()),
    }
}
