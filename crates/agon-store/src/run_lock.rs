//! The right to play a competition: one holder at a time, and none that is dead.
//!
//! For a ledger in a file it is a lock the kernel keeps on a file beside it, so that it ends with its process, however that
//! ends. What stands in the file only says whose it is.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::{Result, StoreError};

/// Held: nobody else plays this competition. Dropping it lets go.
#[must_use = "the claim ends when it is dropped"]
pub struct RunLock(#[expect(dead_code, reason = "held, not used")] Box<dyn Send + Sync>);

impl fmt::Debug for RunLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Claim(..)")
    }
}

impl RunLock {
    /// A claim that lasts as long as this does.
    pub(crate) fn of(held: impl Send + Sync + 'static) -> Self {
        Self(Box::new(held))
    }
}

/// The lock on a ledger's side file. The file is removed when it is let go.
struct FileRunLock {
    path: PathBuf,
    _file: File,
}

impl Drop for FileRunLock {
    fn drop(&mut self) {
        // Removed while it is still locked: whoever waits for it looks again whether it is still there.
        let _ = fs::remove_file(&self.path);
    }
}

/// Claims the ledger in this file.
pub(crate) fn file(ledger: &Path) -> Result<RunLock> {
    let mut path = ledger.as_os_str().to_owned();
    path.push("-running");
    let path = PathBuf::from(path);
    let failed = |error: io::Error| StoreError::Io {
        place: path.display().to_string(),
        doing: "lock",
        error,
        hint: "the folder of a ledger must be writable for whoever runs the competition",
    };
    loop {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                // Empty in the moment between a lock and its words.
                let mut words = String::new();
                let _ = file.read_to_string(&mut words);
                let mut words = words.lines();
                let pid = words.next().and_then(|pid| pid.parse().ok()).unwrap_or(0);
                let host = words.next().unwrap_or("an unknown machine").to_owned();
                return Err(StoreError::Running { place: ledger.display().to_string(), pid, host });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let held = file.metadata().map_err(failed)?;
        let is_there =
            fs::metadata(&path).is_ok_and(|there| (there.dev(), there.ino()) == (held.dev(), held.ino()));
        if is_there {
            let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
            let words = format!("{}\n{host}\n", std::process::id());
            file.set_len(0).and_then(|()| file.write_all(words.as_bytes())).map_err(failed)?;
            return Ok(RunLock::of(FileRunLock { path, _file: file }));
        }
        // Its last holder removed it between our opening and our lock: again.
    }
}
