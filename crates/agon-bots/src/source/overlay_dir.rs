//! A bot's folder with files added to it, for one run: Word Racer's `words.dat`, Connect Five's `logs/`.
//!
//! The bot's own folder stays unchanged; it may be read-only or large. The overlay is a scratch folder. Small files at the top
//! are copies, so that a program that asks for its own path gets one in the overlay. Everything else is a link into the bot's
//! folder, which must be readable too ([`agon_host::Program::readable_dirs`]). A path means the same inside and outside the sandbox, so
//! nothing can be mounted over a folder of the bot.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use agon_host::sandbox::Writable;
use rustix::fs::{Access, access};

use super::scratch_dir::make_world_readable;
use super::{BotRejection, ScratchDir};

/// Maximum size of a file that is copied.
const MAX_COPIED_FILE_BYTES: u64 = 1 << 20;
/// Maximum size of all copies.
const MAX_COPIED_BYTES: u64 = 32 << 20;
/// Maximum number of files and folders in a bot's folder.
const MAX_ENTRIES: usize = 10_000;
/// Maximum size of `data/`.
pub const MAX_DATA_BYTES: u64 = 64 << 20;

/// An overlay of `source` (an absolute path) without the entries named in `but`.
pub fn of(source: &Path, but: &[&str]) -> Result<ScratchDir, BotRejection> {
    let name = source.file_name().unwrap_or(OsStr::new("bot")).to_string_lossy().into_owned();
    let broke = |error: io::Error| {
        BotRejection::new(
            format!("cannot prepare the bot's folder: {error}"),
            "check the space for temporary files",
        )
    };
    let view = ScratchDir::new(&name).map_err(broke)?;
    let entries = fs::read_dir(source).map_err(|error| BotRejection::io("list it", source, &error))?;
    let mut left = MAX_COPIED_BYTES;
    for (count, entry) in entries.flatten().enumerate() {
        if count == MAX_ENTRIES {
            let what = format!("the bot's folder has more than {MAX_ENTRIES} files");
            return Err(BotRejection::new(what, "put the bot into a separate folder"));
        }
        if !but.iter().any(|name| entry.file_name() == *name) {
            add(&entry.path(), &view.path().join(entry.file_name()), &mut left).map_err(broke)?;
        }
    }
    Ok(view)
}

/// Copies a small file, links a large one. A link stays a link: it is never followed here.
fn add(from: &Path, to: &Path, left: &mut u64) -> io::Result<()> {
    let about = from.symlink_metadata()?;
    if about.is_symlink() {
        return symlink(from.parent().unwrap_or(from).join(fs::read_link(from)?), to);
    }
    if about.is_file() && about.len() <= MAX_COPIED_FILE_BYTES.min(*left) && fs::copy(from, to).is_ok() {
        *left -= about.len();
        let mode = if about.permissions().mode() & 0o111 == 0 { 0o644 } else { 0o755 };
        return fs::set_permissions(to, Permissions::from_mode(mode));
    }
    let _ = fs::remove_file(to);
    symlink(from, to)
}

/// The folders of a bot that keeps data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BotDataDirs {
    /// The real path of `data/`.
    pub data: Writable,
    /// `logs/`.
    pub logs: PathBuf,
    /// Whether `data/` persists after the run.
    pub kept: bool,
}

/// An overlay of a bot's folder with `data/` and `logs/`. `data/` is the bot's real folder if it is writable and `keep` is set;
/// otherwise it is a copy that is removed with the overlay.
pub fn with_bot_data(source: &Path, keep: bool) -> Result<(ScratchDir, BotDataDirs), BotRejection> {
    let mut view = of(source, &["data", "logs"])?;
    let (own, logs) = (source.join("data"), view.path().join("logs"));
    let broke = |error: io::Error| {
        BotRejection::new(
            format!("cannot prepare data/ and logs/: {error}"),
            "check the space for temporary files",
        )
    };
    if own.symlink_metadata().is_ok_and(|about| !about.is_dir()) {
        return Err(
            BotRejection::new("is not a real folder", "make data/ a real folder, not a link").in_file("data")
        );
    }
    if size(&own) > MAX_DATA_BYTES {
        let what = format!("holds more than {} MiB", MAX_DATA_BYTES >> 20);
        return Err(BotRejection::new(what, "leave out what the bot does not need").in_file("data"));
    }
    link_all(&source.join("logs"), &logs).map_err(broke)?;
    let kept = keep && (own.is_dir() || view.make(&own).is_ok()) && access(&own, Access::WRITE_OK).is_ok();
    let shown = view.path().join("data");
    let data = if kept {
        symlink(&own, &shown).map_err(broke)?;
        own
    } else {
        copy_all(&own, &shown).map_err(broke)?;
        shown
    };
    Ok((view, BotDataDirs { data: Writable { path: data, bytes: MAX_DATA_BYTES, kept: true }, logs, kept }))
}

/// Creates `data/` and `logs/` in a scratch folder.
pub fn bot_data_in(folder: &Path) -> Result<BotDataDirs, BotRejection> {
    let (data, logs) = (folder.join("data"), folder.join("logs"));
    for path in [&data, &logs] {
        fs::create_dir_all(path).map_err(|error| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            BotRejection::new(format!("is not a folder: {error}"), "make data and logs folders").in_file(name)
        })?;
        make_world_readable(path).map_err(|error| BotRejection::io("open it to the bot", path, &error))?;
    }
    Ok(BotDataDirs { data: Writable { path: data, bytes: MAX_DATA_BYTES, kept: true }, logs, kept: false })
}

fn link_all(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from).into_iter().flatten().flatten().take(MAX_ENTRIES) {
        symlink(entry.path(), to.join(entry.file_name()))?;
    }
    make_world_readable(to)
}

/// Copies files and folders. Links are left out.
fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let (kind, there) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_all(&entry.path(), &there)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &there)?;
            // The bot may change the copy, even if the original is read-only.
            fs::set_permissions(there, Permissions::from_mode(0o644))?;
        }
    }
    Ok(())
}

/// Bytes in a folder. Links are not followed.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(about) if about.is_dir() => size(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlay_shows_everything_but_excluded_entries() {
        let source = tempfile::tempdir().unwrap();
        let source = source.path().canonicalize().unwrap();
        fs::write(source.join("bot.py"), "small").unwrap();
        fs::write(source.join("words.dat"), "OLD").unwrap();
        fs::write(source.join("large.jar"), vec![0; (MAX_COPIED_FILE_BYTES + 1) as usize]).unwrap();
        fs::create_dir(source.join("lib")).unwrap();
        fs::write(source.join("lib/a.py"), "nested").unwrap();
        symlink("bot.py", source.join("link.py")).unwrap();
        let view = of(&source, &["words.dat"]).unwrap();
        let at = |name: &str| view.path().join(name);
        assert!(at("bot.py").symlink_metadata().unwrap().is_file());
        assert!(at("large.jar").symlink_metadata().unwrap().is_symlink() && at("large.jar").is_file());
        assert_eq!(fs::read_to_string(at("lib/a.py")).unwrap(), "nested");
        assert_eq!(fs::read_to_string(at("link.py")).unwrap(), "small");
        assert!(!at("words.dat").exists());
        fs::write(at("bot.py"), "changed").unwrap();
        assert_eq!(fs::read_to_string(source.join("bot.py")).unwrap(), "small");
    }

    #[test]
    fn data_is_the_bots_folder_and_is_removed_if_unused() {
        let source = tempfile::tempdir().unwrap();
        let source = source.path().canonicalize().unwrap();
        let (view, bot_data) = with_bot_data(&source, true).unwrap();
        assert!(bot_data.kept && source.join("data").is_dir() && view.path().join("logs").is_dir());
        drop(view);
        assert!(!source.join("data").exists());
        let (view, _) = with_bot_data(&source, true).unwrap();
        fs::write(view.path().join("data/learnt"), "much").unwrap();
        drop(view);
        assert_eq!(fs::read_to_string(source.join("data/learnt")).unwrap(), "much");
        fs::set_permissions(source.join("data/learnt"), Permissions::from_mode(0o444)).unwrap();
        let (view, bot_data) = with_bot_data(&source, false).unwrap();
        assert!(!bot_data.kept);
        assert_eq!(fs::read_to_string(view.path().join("data/learnt")).unwrap(), "much");
        fs::write(view.path().join("data/learnt"), "more").unwrap();
        assert_eq!(view.path().join("data/learnt").metadata().unwrap().permissions().mode() & 0o200, 0o200);
        drop(view);
        assert_eq!(fs::read_to_string(source.join("data/learnt")).unwrap(), "much");
    }

    #[test]
    fn link_in_place_of_data_is_rejected() {
        let source = tempfile::tempdir().unwrap();
        symlink("/etc", source.path().join("data")).unwrap();
        assert_eq!(with_bot_data(source.path(), true).unwrap_err().file.as_deref(), Some("data"));
    }
}
