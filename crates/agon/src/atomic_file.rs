//! Files: written whole or not at all, read with care.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use agon_bots::Failure;
use agon_core::ErrorKind;
use agon_core::record::{Digest, Record, read_all};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use sha2::{Digest as _, Sha256};

/// A file in the making. It appears under its name only when it is complete; until then it has none, so that nothing is left
/// of it even if this program is killed.
pub struct AtomicFile {
    path: PathBuf,
    /// What it is, for errors: `the record`.
    what: &'static str,
    /// The name it has for a moment before it replaces what was there; from the start where files without a name are not
    /// to be had.
    draft: PathBuf,
    file: Option<File>,
    nameless: bool,
}

const HINT: &str = "choose a folder that exists and that you may write to";

impl AtomicFile {
    /// Opens the draft, so that a path that cannot be written is found before any work is done.
    pub fn create(path: &Path, what: &'static str) -> Result<Self, Failure> {
        if path.is_dir() {
            let message =
                format!("cannot write {what} {}: it is a folder\nhint: name a file in it", path.display());
            return Err(Failure { kind: ErrorKind::Internal, message });
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let draft = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let mut whole = Self { path: path.to_owned(), what, draft, file: None, nameless: false };
        whole.file = nameless(path).ok();
        whole.nameless = whole.file.is_some();
        if !whole.nameless {
            whole.file = Some(File::create(&whole.draft).map_err(|e| whole.failed(&e, HINT))?);
        }
        Ok(whole)
    }

    /// Writes a whole file at once.
    pub fn write(path: &Path, what: &'static str, content: &[u8]) -> Result<(), Failure> {
        let mut file = Self::create(path, what)?;
        file.add(content)?;
        file.finish()
    }

    /// Adds to it.
    pub fn add(&mut self, content: &[u8]) -> Result<(), Failure> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.write_all(content).map_err(|e| self.failed(&e, "is the disk full?"))
    }

    /// Gives the file its name.
    pub fn finish(mut self) -> Result<(), Failure> {
        if let Some(file) = self.file.take() {
            file.sync_all().map_err(|e| self.failed(&e, HINT))?;
            if self.nameless {
                give_name(&file, &self.draft).map_err(|e| self.failed(&e, HINT))?;
            }
        }
        fs::rename(&self.draft, &self.path).map_err(|e| self.failed(&e, HINT))
    }

    fn failed(&self, error: &io::Error, hint: &str) -> Failure {
        Failure::io(format!("write {}", self.what), &self.path, error, hint)
    }
}

impl Drop for AtomicFile {
    /// A draft that was never finished goes away with it.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.draft);
    }
}

/// Opens a file without a name on the disk where this one is to be. Not every file system has them.
fn nameless(path: &Path) -> io::Result<File> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666))?))
}

/// Gives it a name.
fn give_name(file: &File, name: &Path) -> io::Result<()> {
    let here = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, here, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

/// Reads all games of a file.
pub fn read(path: &Path) -> Result<Vec<Record>, Failure> {
    let bytes = fs::read(path)
        .map_err(|e| Failure::io("read", path, &e, "is the path right, and may you read it?"))?;
    read_all(&bytes).map_err(|e| Failure::record(path, &e))
}

/// The digest of several games: of one game its own, of more the hash of theirs in order.
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
