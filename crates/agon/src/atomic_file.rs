//! Atomic file writing, and reading of record files.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use agon_bots::Diagnostic;
use agon_core::record::{Digest, Record, read_all};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use sha2::{Digest as _, Sha256};

/// A file that is written completely or not at all. It gets its name only when it is complete. Until then it has no name,
/// so nothing remains if this program is killed.
pub struct AtomicFile {
    path: PathBuf,
    /// Name of the content for errors, such as `the record`.
    what: &'static str,
    /// Temporary name. A file system without unnamed files uses it from the start; otherwise the file has it only for a moment
    /// before it replaces the old file.
    temporary: PathBuf,
    file: Option<File>,
    unnamed: bool,
}

const HINT: &str = "choose an existing folder with write permission";

impl AtomicFile {
    /// Opens the temporary file, so that a path that cannot be written is reported before any work is done.
    pub fn create(path: &Path, what: &'static str) -> Result<Self, Diagnostic> {
        if path.is_dir() {
            let message = format!("cannot write {what} {}: it is a folder", path.display());
            return Err(Diagnostic::internal(message).hint("name a file in it"));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let mut file = Self { path: path.to_owned(), what, temporary, file: None, unnamed: false };
        file.file = open_unnamed(path).ok();
        file.unnamed = file.file.is_some();
        if !file.unnamed {
            file.file = Some(File::create(&file.temporary).map_err(|e| file.write_error(&e, HINT))?);
        }
        Ok(file)
    }

    /// Writes `content` as a complete file.
    pub fn write(path: &Path, what: &'static str, content: &[u8]) -> Result<(), Diagnostic> {
        let mut file = Self::create(path, what)?;
        file.add(content)?;
        file.finish()
    }

    /// Appends `content`.
    pub fn add(&mut self, content: &[u8]) -> Result<(), Diagnostic> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.write_all(content).map_err(|e| self.write_error(&e, "check the free disk space"))
    }

    /// Completes the file and gives it its name.
    pub fn finish(mut self) -> Result<(), Diagnostic> {
        if let Some(file) = self.file.take() {
            file.sync_all().map_err(|e| self.write_error(&e, HINT))?;
            if self.unnamed {
                link_unnamed(&file, &self.temporary).map_err(|e| self.write_error(&e, HINT))?;
            }
        }
        fs::rename(&self.temporary, &self.path).map_err(|e| self.write_error(&e, HINT))
    }

    fn write_error(&self, error: &io::Error, hint: &str) -> Diagnostic {
        Diagnostic::io(format!("write {}", self.what), &self.path, error, hint)
    }
}

impl Drop for AtomicFile {
    /// Removes a temporary file that was never finished.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Opens an unnamed file in the folder of `path`. Not every file system supports this.
fn open_unnamed(path: &Path) -> io::Result<File> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666))?))
}

/// Gives an unnamed file a name.
fn link_unnamed(file: &File, name: &Path) -> io::Result<()> {
    let here = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, here, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

/// Reads all games of a record file.
pub fn read(path: &Path) -> Result<Vec<Record>, Diagnostic> {
    let bytes = fs::read(path)
        .map_err(|e| Diagnostic::io("read", path, &e, "check that the file exists and is readable"))?;
    read_all(&bytes).map_err(|e| Diagnostic::record(path, &e))
}

/// Digest of several games: for one game its own digest, for more the hash of their digests in order.
pub fn digest_of(digests: &[Digest]) -> Option<Digest> {
    match digests {
        [] => None,
        [one] => Some(*one),
        all => {
            let mut hash = Sha256::new();
            for digest in all {
                hash.update(digest.0);
            }
            Some(Digest(hash.finalize().into()))
        }
    }
}
