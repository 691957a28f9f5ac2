//! Folders of a run's own, for what must not lie in anybody else's: unpacked archives, prepared copies.
//!
//! A folder is removed when it is dropped. Should this program be killed first, the kernel lets go of the lock the folder
//! holds, and the next run that makes one finds it unlocked and removes it. Process ids would not do: they are used
//! again, and mean nothing from one container to the next.

use std::collections::hash_map::RandomState;
use std::fs::{self, DirEntry, File, Permissions};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::geteuid;

/// How the folders' names begin.
const PREFIX: &str = "agon-bot-";
/// How they begin until their lock is held.
const DRAFT: &str = "agon-new-";
/// The file whose lock says that the owner lives.
const LOCK: &str = "owner";
/// A folder that has been a draft for so long was never finished.
const STALE: Duration = Duration::from_hours(1);

/// A folder that is gone when this is dropped.
#[derive(Debug)]
pub struct PrivateFolder {
    outer: PathBuf,
    inner: PathBuf,
    /// Folders elsewhere that were made for its sake: removed with it if nothing was put into them.
    made: Vec<PathBuf>,
    /// Locked as long as it is open.
    _lock: File,
}

impl PrivateFolder {
    /// An empty folder; the last part of its path is `name`. What runs before us left behind is cleared first.
    pub fn new(name: &str) -> io::Result<Self> {
        let base = std::env::temp_dir().canonicalize()?;
        clear(&base);
        let word = format!("{:016x}", RandomState::new().build_hasher().finish());
        let draft = base.join(format!("{DRAFT}{word}"));
        let outer = base.join(format!("{PREFIX}{word}"));
        fs::create_dir(&draft)?;
        let made = Self::lock(&draft).and_then(|lock| fs::rename(&draft, &outer).map(|()| lock));
        let lock = made.inspect_err(|_| drop(fs::remove_dir_all(&draft)))?;
        // A bot may run as another user: it goes through, and cannot look around. What it must not find has a name
        // nobody can guess.
        let secret = outer.join(format!("{:016x}", RandomState::new().build_hasher().finish()));
        let folder = Self { inner: secret.join(name), outer, made: Vec::new(), _lock: lock };
        fs::create_dir_all(&folder.inner)?;
        for (path, mode) in [(&folder.outer, 0o711), (&secret, 0o711), (&folder.inner, 0o755)] {
            fs::set_permissions(path, Permissions::from_mode(mode))?;
        }
        Ok(folder)
    }

    fn lock(folder: &Path) -> io::Result<File> {
        let lock = File::create_new(folder.join(LOCK))?;
        lock.try_lock().map_err(io::Error::from)?;
        Ok(lock)
    }

    /// Makes a folder elsewhere, which is removed with this one if it is still empty then.
    pub(super) fn make(&mut self, folder: &Path) -> io::Result<()> {
        fs::create_dir(folder)?;
        self.made.push(folder.to_owned());
        Ok(())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.inner
    }

    /// All that goes with it.
    pub fn whole(&self) -> &Path {
        &self.outer
    }
}

impl PartialEq for PrivateFolder {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

impl Eq for PrivateFolder {}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        remove(&self.outer);
        for folder in &self.made {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Makes everything in a folder readable for the user a bot runs as, whatever this process's own habit (umask) is.
pub fn show_to_all(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            show_to_all(&entry.path())?;
        } else if kind.is_file() {
            let mode = entry.metadata()?.permissions().mode();
            fs::set_permissions(entry.path(), Permissions::from_mode(mode & 0o777 | 0o444))?;
        }
    }
    fs::set_permissions(folder, Permissions::from_mode(0o755))
}

/// Removes what runs that were killed have left. Nothing here is worth an error.
fn clear(base: &Path) {
    let Ok(entries) = fs::read_dir(base) else { return };
    let own = |entry: &DirEntry| entry.metadata().is_ok_and(|about| about.uid() == geteuid().as_raw());
    // What others have put there under such a name is not ours to open.
    for entry in entries.flatten().filter(own) {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let left = if name.starts_with(PREFIX) {
            File::open(entry.path().join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok())
        } else {
            let age =
                entry.metadata().and_then(|about| about.modified()).ok().and_then(|time| time.elapsed().ok());
            name.starts_with(DRAFT) && age.is_some_and(|age| age > STALE)
        };
        if left && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&entry.path());
        }
    }
}

/// Removes a folder, also one in which a bot took rights away from us. The lock goes last: a run that is ended here leaves
/// a folder that the next one still knows.
fn remove(outer: &Path) {
    for entry in fs::read_dir(outer).into_iter().flatten().flatten() {
        if entry.file_name() != LOCK && fs::remove_dir_all(entry.path()).is_err() {
            open_up(&entry.path());
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    let _ = fs::remove_dir_all(outer);
}

fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_gone_with_its_owner() {
        let folder = PrivateFolder::new("MyBot").unwrap();
        assert!(folder.path().is_dir() && folder.path().ends_with("MyBot"));
        let dark = folder.path().join("dark/deep");
        fs::create_dir_all(&dark).unwrap();
        fs::set_permissions(dark.parent().unwrap(), Permissions::from_mode(0o000)).unwrap();
        let outer = folder.outer.clone();
        drop(folder);
        assert!(!outer.exists());
    }

    #[test]
    fn what_a_killed_run_left_is_cleared_and_what_is_in_use_is_not() {
        let base = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let path = base.path().join(name);
            fs::create_dir_all(path.join("inside")).unwrap();
            path
        };
        let (left, used, strange, draft) =
            (make("agon-bot-1"), make("agon-bot-2"), make("agon-bottle"), make("agon-new-1"));
        drop(PrivateFolder::lock(&left).unwrap());
        let _held = PrivateFolder::lock(&used).unwrap();
        clear(base.path());
        assert!(!left.exists() && used.exists() && strange.exists() && draft.exists());
    }
}
