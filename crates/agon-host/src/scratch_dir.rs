//! Temporary folders of a run, for unpacked archives and prepared copies.
//!
//! Dropping a [`ScratchDir`] removes its folder. If this program is killed first, the kernel releases the lock on the folder. The
//! next run that creates a folder finds it unlocked and removes it. Process ids would not work: they are reused and differ between
//! containers. A new folder that is not locked yet may be mistaken for a leftover; its owner then creates another one. So a kill
//! is harmless at any time.

use std::collections::hash_map::RandomState;
use std::fs::{self, DirEntry, File, Permissions, TryLockError};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

/// Prefix of the folders' names.
const PREFIX: &str = "agon-bot-";
/// Maximum number of attempts to create a folder. Losing this many in a row is not a coincidence.
const MAX_TRIES: u32 = 100;

/// A folder that is removed when this is dropped.
#[derive(Debug)]
pub struct ScratchDir {
    outer: PathBuf,
    inner: PathBuf,
    /// Folders elsewhere that were created for it. They are removed with it if they are still empty.
    made: Vec<PathBuf>,
    /// The lock; it is held while this file is open.
    _lock: File,
}

impl ScratchDir {
    /// An empty folder; the last part of its path is `name`. Removes leftovers of killed runs first.
    pub fn new(name: &str) -> io::Result<Self> {
        let base = std::env::temp_dir().canonicalize()?;
        remove_leftovers_in(&base);
        let (outer, lock) = Self::outer(&base)?;
        // A bot may run as another user: it can pass through this folder but not list it. Anything that it must not find has an
        // unguessable name.
        let secret = outer.join(random_name());
        let folder = Self { inner: secret.join(name), outer, made: Vec::new(), _lock: lock };
        fs::create_dir_all(&folder.inner)?;
        for (path, mode) in [(&folder.outer, 0o711), (&secret, 0o711), (&folder.inner, 0o755)] {
            fs::set_permissions(path, Permissions::from_mode(mode))?;
        }
        Ok(folder)
    }

    /// A new folder in `base`, and the lock on it.
    fn outer(base: &Path) -> io::Result<(PathBuf, File)> {
        for _ in 0..MAX_TRIES {
            let outer = base.join(format!("{PREFIX}{}", random_name()));
            fs::create_dir(&outer)?;
            if let Some(lock) = lock(&outer)? {
                return Ok((outer, lock));
            }
        }
        Err(io::Error::other(format!(
            "folders in {} are removed as soon as they are created",
            base.display()
        )))
    }

    /// Creates a folder elsewhere, which is removed with this one if it is still empty.
    pub fn make(&mut self, folder: &Path) -> io::Result<()> {
        fs::create_dir(folder)?;
        self.made.push(folder.to_owned());
        Ok(())
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.inner
    }

    /// The outer folder, with everything that is removed.
    pub fn whole(&self) -> &Path {
        &self.outer
    }
}

impl PartialEq for ScratchDir {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

impl Eq for ScratchDir {}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        remove(&self.outer);
        for folder in &self.made {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Makes everything in a folder readable for the bot's user, whatever this process's umask is.
pub fn make_world_readable(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            make_world_readable(&entry.path())?;
        } else if kind.is_file() {
            let mode = entry.metadata()?.permissions().mode();
            fs::set_permissions(entry.path(), Permissions::from_mode(mode & 0o777 | 0o444))?;
        }
    }
    fs::set_permissions(folder, Permissions::from_mode(0o755))
}

/// Removes leftovers of killed runs now, instead of when the next folder is created. Errors are ignored.
pub fn remove_leftovers() {
    if let Ok(base) = std::env::temp_dir().canonicalize() {
        remove_leftovers_in(&base);
    }
}

/// Removes leftovers of killed runs. Errors are ignored.
fn remove_leftovers_in(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else { return };
    let own = |entry: &DirEntry| entry.metadata().is_ok_and(|about| about.uid() == geteuid().as_raw());
    // Other users' files with such a name are not ours to open.
    for entry in entries.flatten().filter(own) {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(PREFIX)
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && let Ok(Some(_lock)) = lock(&entry.path())
        {
            remove(&entry.path());
        }
    }
}

/// Takes the lock that shows that the folder is in use. `None` if another process holds it, or the folder is gone.
fn lock(folder: &Path) -> io::Result<Option<File>> {
    let gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let lock = match File::open(folder) {
        Err(error) if gone(&error) => return Ok(None),
        opened => opened?,
    };
    match lock.try_lock() {
        Err(TryLockError::WouldBlock) => return Ok(None),
        locked => locked.map_err(io::Error::from)?,
    }
    // The previous owner may have removed the folder in the meantime.
    match folder.symlink_metadata() {
        Err(error) if gone(&error) => Ok(None),
        now => Ok((now?.ino() == lock.metadata()?.ino()).then_some(lock)),
    }
}

/// An unguessable name.
fn random_name() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// Removes a folder, whatever a bot has done in it. Errors are ignored.
fn remove(outer: &Path) {
    let _ = remove_all(outer);
}

/// Removes a folder with everything in it, even if a bot removed our permissions or made folders so deep that they cannot be opened
/// all at once.
pub(crate) fn remove_all(folder: &Path) -> io::Result<()> {
    if fs::remove_dir_all(folder).is_ok() {
        return Ok(());
    }
    remove_flattened(folder)?;
    fs::remove_dir(folder)
}

/// Empties a folder without ever going deeper than two levels: what is in a folder moves up before that folder is removed.
fn remove_flattened(top: &Path) -> io::Result<()> {
    let mut moved = 0_u64;
    loop {
        open(top)?;
        let entries: Vec<DirEntry> = fs::read_dir(top)?.collect::<io::Result<_>>()?;
        if entries.is_empty() {
            return Ok(());
        }
        for entry in entries {
            if !entry.file_type()?.is_dir() {
                fs::remove_file(entry.path())?;
                continue;
            }
            open(&entry.path())?;
            for inner in fs::read_dir(entry.path())? {
                let inner = inner?;
                if !inner.file_type()?.is_dir() {
                    fs::remove_file(inner.path())?;
                    continue;
                }
                // To move a folder its owner must be able to write to it.
                open(&inner.path())?;
                moved += 1;
                fs::rename(inner.path(), top.join(format!("{}-{moved}", random_name())))?;
            }
            fs::remove_dir(entry.path())?;
        }
    }
}

/// Gives the owner all permissions.
fn open(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o700))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_is_removed_with_its_owner() {
        let folder = ScratchDir::new("MyBot").unwrap();
        assert!(folder.path().is_dir() && folder.path().ends_with("MyBot"));
        let dark = folder.path().join("dark/deep");
        fs::create_dir_all(&dark).unwrap();
        fs::set_permissions(dark.parent().unwrap(), Permissions::from_mode(0o000)).unwrap();
        let outer = folder.outer.clone();
        drop(folder);
        assert!(!outer.exists());
    }

    #[test]
    fn folder_deeper_than_descriptors_is_removed() {
        let base = tempfile::tempdir().unwrap();
        let (deep, around) = (base.path().join("deep"), base.path().join("around"));
        fs::create_dir(&deep).unwrap();
        fs::write(deep.join("file"), "at the bottom").unwrap();
        for _ in 0..3000 {
            fs::create_dir(&around).unwrap();
            fs::write(around.join("beside"), "").unwrap();
            fs::rename(&deep, around.join("d")).unwrap();
            fs::rename(&around, &deep).unwrap();
        }
        remove_flattened(base.path()).unwrap();
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
        fs::create_dir_all(base.path().join("a/b")).unwrap();
        remove_all(&base.path().join("a")).unwrap();
        assert!(!base.path().join("a").exists());
    }

    #[test]
    fn leftovers_of_killed_runs_are_removed_and_used_folders_are_not() {
        let base = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = base.path().join(name);
            fs::create_dir_all(path.join("inside")).unwrap();
            path
        };
        let (left, used, strange) = (make("agon-bot-1"), make("agon-bot-2"), make("agon-bottle"));
        // The run was killed right after it created the folder.
        let empty = base.path().join("agon-bot-3");
        fs::create_dir(&empty).unwrap();
        drop(lock(&left).unwrap().unwrap());
        let _held = lock(&used).unwrap().unwrap();
        assert!(lock(&used).unwrap().is_none(), "another process holds it");
        remove_leftovers_in(base.path());
        assert!(!left.exists() && !empty.exists() && used.exists() && strange.exists());
        assert!(lock(&empty).unwrap().is_none(), "it is gone");
    }

    /// The clean-up may find folders that were just created and are not locked yet.
    #[test]
    fn concurrent_cleanup_never_removes_a_used_folder() {
        let base = tempfile::tempdir().unwrap();
        let busy = std::sync::atomic::AtomicBool::new(true);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while busy.load(std::sync::atomic::Ordering::Relaxed) {
                    remove_leftovers_in(base.path());
                }
            });
            for _ in 0..500 {
                let (outer, lock) = ScratchDir::outer(base.path()).unwrap();
                fs::write(outer.join("inside"), "kept").unwrap();
                assert_eq!(fs::read_to_string(outer.join("inside")).unwrap(), "kept");
                drop(lock);
            }
            busy.store(false, std::sync::atomic::Ordering::Relaxed);
        });
    }
}
