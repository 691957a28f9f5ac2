//! Where a bot comes from, and what it is exactly: everything that is looked at before a bot is started.
//!
//! - [`archive`]: a `.zip`, unpacked by strict rules
//! - [`git`]: a bot in a git repository, fetched
//! - [`players_yml`]: an entry of a `players.yml`
//! - [`overlay_dir`]: a bot's folder with something added to it
//! - [`class_name`]: the class that gives a bot its name
//! - [`content_hash`]: the hash of a bot's files
//! - [`source_check`]: what a Python bot's source says, without running it
//!
//! Problems come back as data ([`BotRejection`]).

pub mod archive;
mod archive_paths;
pub mod class_name;
pub mod content_hash;
pub mod git;
pub mod notebook;
pub mod overlay_dir;
pub mod players_yml;
pub mod published_name;
pub mod source_check;
pub mod submitted_folder;

use std::path::{Path, PathBuf};

use agon_core::sanitize::short_line;
use agon_host::{BotRejection, ScratchDir, scratch_dir};

pub use source_check::{Finding, SourceReport};

/// The folder in which a submission really begins: the folder itself, or its only sub-folder if there is no Python file
/// beside it (an archive often has one more level).
pub fn submission_root(folder: &Path) -> PathBuf {
    let mut root = folder.to_owned();
    for _ in 0..archive_paths::MAX_DEPTH {
        let Ok(entries) = std::fs::read_dir(&root) else { break };
        let paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        let named = |path: &Path, name: &str| path.file_name().is_some_and(|own| own == name);
        if paths.iter().any(|path| path.extension().is_some_and(|e| e == "py") && path.is_file()) {
            break;
        }
        let beside = |path: &&PathBuf| {
            let hidden = path.file_name().is_none_or(|name| name.to_string_lossy().starts_with(['.', '_']));
            path.is_dir() && !hidden && !["data", "logs"].iter().any(|name| named(path, name))
        };
        let inner: Vec<&PathBuf> = paths.iter().filter(beside).collect();
        let [only] = inner[..] else { break };
        root.clone_from(only);
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_more_level_is_no_matter() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("MyBot");
        std::fs::create_dir_all(inner.join("data")).unwrap();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        std::fs::write(folder.path().join("README"), "").unwrap();
        std::fs::write(inner.join("MyBot.py"), "").unwrap();
        assert_eq!(submission_root(folder.path()), inner);
        std::fs::write(folder.path().join("Top.py"), "").unwrap();
        assert_eq!(submission_root(folder.path()), folder.path());
    }
}
