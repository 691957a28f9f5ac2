//! The files that SQLite keeps beside a database: the log of the latest changes (`-wal`), its index (`-shm`) and the rollback journal.
//! They belong to the database that they were written for. SQLite finds them by name only, and would apply those of an old database to
//! a new one of the same name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{Result, RunLock, StoreError, run_lock};

/// Endings of the files that can hold changes.
const WITH_CHANGES: [&str; 2] = ["-wal", "-journal"];
/// Endings of all files.
const ALL: [&str; 3] = ["-wal", "-journal", "-shm"];
/// Maximum number of renamed ledgers beside a competition file.
const MAX_RENAMED: u32 = 10_000;

/// The path with a suffix added to the file name.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Refuses to create a database beside files that an earlier one of this name left behind, if they hold changes. They stay: they may be
/// the latest changes of a database that was moved away. Empty files do no harm and stay too: they may belong to another process that
/// creates the database at this moment.
pub fn refuse_leftovers(path: &Path) -> Result<()> {
    let holds_changes =
        |file: &PathBuf| fs::symlink_metadata(file).is_ok_and(|found| !found.is_file() || found.len() > 0);
    let files: Vec<String> = WITH_CHANGES
        .iter()
        .map(|ending| with_suffix(path, ending))
        .filter(holds_changes)
        .map(|file| file.display().to_string())
        .collect();
    // If the database exists by now, another process has created it, and the files are not left behind.
    if files.is_empty() || fs::symlink_metadata(path).is_ok() {
        return Ok(());
    }
    Err(StoreError::Leftovers { place: path.display().to_string(), files })
}

/// Renames a ledger with its files, to free its name. Returns the new path, or `None` if there is no ledger. Fails while the competition
/// runs.
pub fn rename_old(ledger: &Path) -> Result<Option<PathBuf>> {
    if fs::symlink_metadata(ledger).is_err() {
        return Ok(None);
    }
    let _run_lock: RunLock = run_lock::lock_beside_file(ledger)?;
    let is_free = |path: &PathBuf| {
        [""].iter().chain(&ALL).all(|ending| fs::symlink_metadata(with_suffix(path, ending)).is_err())
    };
    let new_name = (1..MAX_RENAMED)
        .map(|number| with_suffix(ledger, &format!(".{number}")))
        .find(is_free)
        .ok_or_else(|| StoreError::Io {
            place: ledger.display().to_string(),
            doing: "rename",
            error: io::Error::other("there are too many old ledgers"),
            hint: "remove some of them",
        })?;
    // The ledger first: after a crash between two steps the rest is reported as leftovers. A ledger without its log would lose matches.
    for ending in ["", "-wal", "-journal", "-shm"] {
        let renamed = fs::rename(with_suffix(ledger, ending), with_suffix(&new_name, ending));
        match renamed {
            Err(error) if ending.is_empty() || error.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::Io {
                    place: with_suffix(ledger, ending).display().to_string(),
                    doing: "rename",
                    error,
                    hint: "check the write permission of the folder",
                });
            }
            _ => {}
        }
    }
    Ok(Some(new_name))
}
