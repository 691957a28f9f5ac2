//! Identity of an open database file. An open file that was moved, deleted, or whose disk was unmounted can still be written, but what is
//! written there is lost with the process.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::companions::with_suffix;
use crate::{Result, StoreError};

/// Device and inode of a file when it was opened.
#[derive(Debug)]
pub struct FileIdentity {
    path: PathBuf,
    /// `None` for a database without a file.
    device_and_inode: Option<(u64, u64)>,
    /// Whether the `-wal` file was there. Some file systems do not support it.
    has_log: AtomicBool,
}

impl FileIdentity {
    /// Identity of the file that has this path now.
    pub fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), device_and_inode: find(path).ok(), has_log: AtomicBool::new(false) }
    }

    /// Fails if the path names another file now, or none.
    pub fn check(&self) -> Result<()> {
        let Some(opened) = self.device_and_inode else { return Ok(()) };
        let what = match find(&self.path) {
            Ok(found) if found == opened => return Ok(()),
            Ok(_) => "another file has its name now".to_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                "it was moved or deleted, or its disk was unmounted".to_owned()
            }
            Err(error) => error.to_string(),
        };
        Err(self.lost(what))
    }

    /// [`Self::check`] after a commit: the file with the latest changes must be there too, if it was there before.
    pub fn check_with_log(&self) -> Result<()> {
        self.check()?;
        match fs::metadata(with_suffix(&self.path, "-wal")) {
            Ok(_) => self.has_log.store(true, Ordering::Relaxed),
            Err(error) if self.has_log.load(Ordering::Relaxed) => {
                return Err(self.lost(format!("the file with its latest changes, ending in -wal: {error}")));
            }
            Err(_) => {}
        }
        Ok(())
    }

    fn lost(&self, what: String) -> StoreError {
        StoreError::Lost { place: self.path.display().to_string(), what }
    }
}

fn find(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|found| (found.dev(), found.ino()))
}
