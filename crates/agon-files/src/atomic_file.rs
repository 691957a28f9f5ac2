//! A file that appears complete or not at all: it is written under a temporary name, or without a name, and gets its final name at the end.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use crate::temporary_name::create_beside;

/// Permissions that the process's umask restricts, as for every new file.
const DEFAULT_MODE: u32 = 0o666;

/// What happens if the target exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IfExists {
    /// The new content replaces the old content.
    Replace,
    /// The target stays as it is, and the new content gets an error: [`io::ErrorKind::AlreadyExists`] for a file.
    Keep,
}

/// What must be on the disk before the file is finished. A write that is not synced survives a killed program, but perhaps not a power
/// failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SyncToDisk {
    /// Nothing.
    Never,
    /// The content, before the file gets its name: after a power failure the name never belongs to an incomplete file.
    File,
    /// The content and the name: the file is still there after a power failure.
    FileAndFolder,
}

/// How a file is written. [`AtomicFile::options`] returns the default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtomicFileOptions {
    if_exists: IfExists,
    sync: SyncToDisk,
    mode: Option<u32>,
    unnamed: bool,
}

impl AtomicFileOptions {
    /// What happens if the file exists.
    #[must_use]
    pub const fn if_exists(mut self, if_exists: IfExists) -> Self {
        self.if_exists = if_exists;
        self
    }

    /// What must be on the disk at the end.
    #[must_use]
    pub const fn sync(mut self, sync: SyncToDisk) -> Self {
        self.sync = sync;
        self
    }

    /// The file's permissions, whatever the umask is. The file never has more permissions than these.
    #[must_use]
    pub const fn mode(mut self, mode: u32) -> Self {
        self.mode = Some(mode);
        self
    }

    /// The file has no name until it is finished, so nothing remains of it if this program is killed. It has a temporary name on file systems
    /// without unnamed files. Takes a system call more than a named file if it replaces a file.
    #[must_use]
    pub const fn unnamed(mut self) -> Self {
        self.unnamed = true;
        self
    }

    /// Opens a new file for `path`, in a folder that exists. Nothing appears at `path` before [`AtomicFile::finish`].
    pub fn create(self, path: &Path) -> io::Result<AtomicFile> {
        let unnamed = if self.unnamed { self.open_unnamed(path).ok() } else { None };
        let (file, temporary) = if let Some(file) = unnamed {
            (file, None)
        } else {
            let (name, file) = create_beside(path, |name| self.open_named(name))?;
            (file, Some(TemporaryFile::new(name)))
        };
        if let Some(mode) = self.mode {
            file.set_permissions(Permissions::from_mode(mode))?;
        }
        Ok(AtomicFile { file, temporary, path: path.to_owned(), options: self })
    }

    /// Writes a whole file.
    pub fn write(self, path: &Path, content: &[u8]) -> io::Result<()> {
        let mut file = self.create(path)?;
        file.write_all(content)?;
        file.finish()
    }

    /// Gives a complete file that another library has written its final name, on the same file system. The permissions stay as they are. With
    /// [`IfExists::Keep`] the old name stays too; it is the caller's to remove.
    pub fn publish(self, from: &Path, path: &Path) -> io::Result<()> {
        if self.sync != SyncToDisk::Never {
            File::open(from)?.sync_all()?;
        }
        match self.if_exists {
            IfExists::Replace => fs::rename(from, path)?,
            IfExists::Keep => fs::hard_link(from, path)?,
        }
        self.sync_folder(path)
    }

    fn open_named(self, name: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).mode(self.mode.unwrap_or(DEFAULT_MODE)).open(name)
    }

    /// Opens an unnamed file in the folder of `path`. Not every file system supports this.
    fn open_unnamed(self, path: &Path) -> io::Result<File> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(self.mode.unwrap_or(DEFAULT_MODE));
        Ok(File::from(rustix::fs::open(folder_of(path), flags, mode)?))
    }

    fn sync_folder(self, path: &Path) -> io::Result<()> {
        match self.sync {
            SyncToDisk::FileAndFolder => File::open(folder_of(path))?.sync_all(),
            SyncToDisk::Never | SyncToDisk::File => Ok(()),
        }
    }
}

/// A file that is being written. It gets its name by [`Self::finish`]. Dropping it before removes it.
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    /// The temporary name. `None` for a file without a name.
    temporary: Option<TemporaryFile>,
    path: PathBuf,
    options: AtomicFileOptions,
}

impl AtomicFile {
    /// The default: a named temporary file with the usual permissions replaces an existing file, and is not synced.
    pub const fn options() -> AtomicFileOptions {
        AtomicFileOptions {
            if_exists: IfExists::Replace,
            sync: SyncToDisk::Never,
            mode: None,
            unnamed: false,
        }
    }

    /// The file's metadata, such as the number of bytes written.
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }

    /// Gives the file its final name.
    pub fn finish(self) -> io::Result<()> {
        let Self { file, temporary, path, options } = self;
        if options.sync != SyncToDisk::Never {
            file.sync_all()?;
        }
        match (options.if_exists, temporary) {
            (IfExists::Keep, None) => link_unnamed(&file, &path)?,
            (IfExists::Keep, Some(temporary)) => fs::hard_link(&temporary.path, &path)?,
            // A link cannot replace a file, so the unnamed file first gets a temporary name.
            (IfExists::Replace, None) => {
                let (name, ()) = create_beside(&path, |name| link_unnamed(&file, name))?;
                TemporaryFile::new(name).rename(&path)?;
            }
            (IfExists::Replace, Some(temporary)) => temporary.rename(&path)?,
        }
        options.sync_folder(&path)
    }
}

impl Write for AtomicFile {
    fn write(&mut self, content: &[u8]) -> io::Result<usize> {
        self.file.write(content)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A file with a temporary name. Dropping it removes the file.
#[derive(Debug)]
struct TemporaryFile {
    path: PathBuf,
    /// Whether the file has its final name.
    renamed: bool,
}

impl TemporaryFile {
    const fn new(path: PathBuf) -> Self {
        Self { path, renamed: false }
    }

    fn rename(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if !self.renamed {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Gives an unnamed file a name that is free.
fn link_unnamed(file: &File, name: &Path) -> io::Result<()> {
    let fd_path = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, fd_path, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests;
