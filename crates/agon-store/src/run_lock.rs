//! Lock for running a competition: one process at a time, released when the process dies.
//!
//! For a ledger file it is a kernel lock on a file beside the ledger, so it ends with the process in every case. The content of
//! that file only names the holder.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::{Result, StoreError};

/// Held lock: no other process runs this competition. Released on drop.
#[must_use = "the lock is released when it is dropped"]
pub struct RunLock(#[expect(dead_code, reason = "held, not used")] Box<dyn Send + Sync>);

impl fmt::Debug for RunLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunLock(..)")
    }
}

impl RunLock {
    /// A lock that lasts as long as `held`.
    pub(crate) fn holding(held: impl Send + Sync + 'static) -> Self {
        Self(Box::new(held))
    }
}

/// Lock on the file beside a ledger. The file is removed on release.
struct FileRunLock {
    path: PathBuf,
    _file: File,
}

impl Drop for FileRunLock {
    fn drop(&mut self) {
        // Removed while still locked: a process that gets the lock afterwards checks that the file still exists.
        let _ = fs::remove_file(&self.path);
    }
}

/// Takes the lock of the ledger in this file.
pub fn lock_beside_file(ledger: &Path) -> Result<RunLock> {
    let mut path = ledger.as_os_str().to_owned();
    path.push("-running");
    let path = PathBuf::from(path);
    let failed = |error: io::Error| StoreError::Io {
        place: path.display().to_string(),
        doing: "lock",
        error,
        hint: "make the folder of the ledger writable for the user who runs the competition",
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
                // The file is empty for a moment after it was locked.
                let mut content = String::new();
                let _ = file.read_to_string(&mut content);
                let mut lines = content.lines();
                let pid = lines.next().and_then(|pid| pid.parse().ok()).unwrap_or(0);
                let host = lines.next().unwrap_or("an unknown machine").to_owned();
                return Err(StoreError::AlreadyRunning { place: ledger.display().to_string(), pid, host });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let held = file.metadata().map_err(failed)?;
        let is_same_file = fs::metadata(&path)
            .is_ok_and(|current| (current.dev(), current.ino()) == (held.dev(), held.ino()));
        if is_same_file {
            let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
            let content = format!("{}\n{host}\n", std::process::id());
            file.set_len(0).and_then(|()| file.write_all(content.as_bytes())).map_err(failed)?;
            return Ok(RunLock::holding(FileRunLock { path, _file: file }));
        }
        // The previous holder removed the file between our open and our lock: try again.
    }
}
