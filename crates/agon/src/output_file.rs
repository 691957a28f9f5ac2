//! Files that a command writes for the user, with the errors that the user reads.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use agon_bots::Diagnostic;
use agon_files::{AtomicFile, IfExists, SyncToDisk};

const HINT: &str = "choose an existing folder with write permission";

/// A file that is written completely or not at all. It has no name until it is complete, so nothing remains if this program is killed.
pub struct OutputFile {
    path: PathBuf,
    /// Name of the content for errors, such as `the record`.
    what: &'static str,
    file: AtomicFile,
}

impl OutputFile {
    /// Opens the file, so that a path that cannot be written is reported before any work is done.
    pub fn create(path: &Path, what: &'static str) -> Result<Self, Diagnostic> {
        Self::open(path, what, IfExists::Replace)
    }

    /// Like [`OutputFile::create`], but refuses a file that exists.
    pub fn create_new(path: &Path, what: &'static str) -> Result<Self, Diagnostic> {
        if path.is_file() {
            let message = format!("{} exists; {what} would overwrite it", path.display());
            return Err(Diagnostic::wrong_use(message, "use --force to overwrite it, or name another file"));
        }
        Self::open(path, what, IfExists::Keep)
    }

    fn open(path: &Path, what: &'static str, if_exists: IfExists) -> Result<Self, Diagnostic> {
        if path.is_dir() {
            let message = format!("cannot write {what} {}: it is a folder", path.display());
            return Err(Diagnostic::wrong_use(message, "name a file in it"));
        }
        let file = AtomicFile::options().if_exists(if_exists).unnamed().sync(SyncToDisk::File).create(path);
        let file = file.map_err(|e| write_error(path, what, &e, HINT))?;
        Ok(Self { path: path.to_owned(), what, file })
    }

    /// Writes `content` as a complete file.
    pub fn write(path: &Path, what: &'static str, content: &[u8]) -> Result<(), Diagnostic> {
        let mut file = Self::create(path, what)?;
        file.add(content)?;
        file.finish()
    }

    /// Appends `content`.
    pub fn add(&mut self, content: &[u8]) -> Result<(), Diagnostic> {
        let written = self.file.write_all(content);
        written.map_err(|e| write_error(&self.path, self.what, &e, "check the free disk space"))
    }

    /// Completes the file and gives it its name.
    pub fn finish(self) -> Result<(), Diagnostic> {
        self.file.finish().map_err(|e| write_error(&self.path, self.what, &e, HINT))
    }
}

fn write_error(path: &Path, what: &str, error: &io::Error, hint: &str) -> Diagnostic {
    Diagnostic::named_path(format!("write {what}"), path, error, hint)
}
