//! Folders that a bot writes to and whose content is kept (`data/`), with an exact size.
//!
//! A bot writes several gigabytes a second, in one call if it likes, so a folder that is only measured can exceed its quota before the
//! launcher runs again. Where there are namespaces, the bot therefore gets a file system in memory of exactly that size. The launcher
//! copies the folder to it before the bot starts, and back when all processes of the bot have ended. Each file is replaced as a whole.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File, FileTimes, Metadata, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, lchown};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use agon_files::{AtomicFile, IfExists};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen,
};
use rustix::process::{getgid, getuid};

use super::defence::Defence;
use super::launcher_protocol::{Launch, StepContext as _, StepError};
use super::policy::{MAX_FOLDER_ENTRIES, User, Writable};
use crate::scratch_dir::remove_all;

/// Folders below folders, deeper than which nothing is kept.
const MAX_DEPTH: usize = 64;
/// Mode bits of files and folders that are kept.
const KEPT_MODE: u32 = 0o777;

/// A kept folder and the file system that stands for it while the bot runs.
#[derive(Debug)]
pub(super) struct KeptFolder {
    /// The path that the policy names.
    pub path: PathBuf,
    /// The same without symbolic links.
    pub real: PathBuf,
    quota: u64,
    owner: Option<User>,
    mount: OwnedFd,
    /// What was copied to the file system, relative to the folder. Of the kept folder only this can have been deleted by the bot.
    copied: RefCell<HashSet<PathBuf>>,
}

impl KeptFolder {
    /// The file systems for all kept folders of a bot, with their content. None without namespaces, or if the kernel cannot create them
    /// (before 5.2): the launcher measures these folders instead. Call it after [`super::namespaces::open`].
    pub(super) fn make_all(launch: &Launch) -> Result<Vec<Self>, StepError> {
        if launch.plan.mode.is_none() || launch.policy.weakened.contains(&Defence::ExactFolders) {
            return Ok(Vec::new());
        }
        let mut made = Vec::new();
        for writable in launch.policy.writable.iter().filter(|writable| writable.kept) {
            let Ok(folder) = Self::make(writable, launch.plan.user) else { return Ok(Vec::new()) };
            let step = format!("copying {}", writable.path.display());
            folder.copy_in().step(&step)?;
            made.push(folder);
        }
        Ok(made)
    }

    fn make(writable: &Writable, owner: Option<User>) -> io::Result<Self> {
        let (uid, gid) =
            owner.map_or_else(|| (getuid().as_raw(), getgid().as_raw()), |user| (user.uid, user.gid));
        let system = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        // The folder itself is an entry, too.
        let options = [
            ("size", writable.bytes.to_string()),
            ("nr_inodes", (MAX_FOLDER_ENTRIES + 1).to_string()),
            ("mode", "700".to_owned()),
            ("uid", uid.to_string()),
            ("gid", gid.to_string()),
        ];
        for (name, value) in &options {
            fsconfig_set_string(system.as_fd(), *name, value.as_str())?;
        }
        fsconfig_create(system.as_fd())?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let mount = fsmount(system.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        let real = fs::canonicalize(&writable.path)?;
        Ok(Self {
            path: writable.path.clone(),
            real,
            quota: writable.bytes,
            owner,
            mount,
            copied: RefCell::default(),
        })
    }

    /// The mount, to be attached in the bot's namespace.
    pub(super) fn mount(&self) -> BorrowedFd<'_> {
        self.mount.as_fd()
    }

    /// A path to the file system that only this process can use.
    pub(super) fn inside(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.mount.as_raw_fd()))
    }

    /// Copies the folder to the file system, which is empty.
    fn copy_in(&self) -> io::Result<()> {
        let mut copied = HashSet::new();
        FolderCopy { from: &self.real, to: &self.inside() }.copy_all(Path::new(""), 0, &mut copied)?;
        *self.copied.borrow_mut() = copied;
        Ok(())
    }

    /// Stores what the bot has left after a match, and empties the file system until [`Self::load`]. Call it when only the process runs
    /// that has loaded the bot, which runs no code of the bot between matches.
    pub(super) fn store(&self) -> io::Result<()> {
        self.copy_back()?;
        self.empty()
    }

    /// Empties the file system. From now on nothing counts as deleted by the bot.
    fn empty(&self) -> io::Result<()> {
        self.copied.borrow_mut().clear();
        for (name, _) in entries(&self.inside())? {
            remove(&self.inside().join(name))?;
        }
        Ok(())
    }

    /// Copies the folder to the file system again, for the next match.
    pub(super) fn load(&self) -> io::Result<()> {
        // What was copied in part must not be copied back.
        self.copy_in().or_else(|error| self.empty().and(Err(error)))?;
        let Some(owner) = self.owner else { return Ok(()) };
        // Another process of the same bot, with another user, may have written the files.
        for entry in &*self.copied.borrow() {
            lchown(self.inside().join(entry), Some(owner.uid), Some(owner.gid))?;
        }
        Ok(())
    }

    /// Repeats in the kept folder what the bot has changed. What is there besides, and was not shown to the bot, stays. Call it when no process of the bot runs. If the bot has left more than its
    /// quota (by lengths), or folders that cannot be listed, the kept folder stays as it was before.
    pub(super) fn copy_back(&self) -> io::Result<()> {
        let inside = self.inside();
        if total_bytes(&inside, 0)? > self.quota {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let copy = FolderCopy { from: &inside, to: &self.real };
        copy.copy_changes(Path::new(""), &self.copied.borrow(), self.owner)
    }
}

/// The entries of a folder: only files and folders, because a bot can create nothing else.
fn entries(folder: &Path) -> io::Result<Vec<(OsString, Metadata)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        if metadata.is_file() || metadata.is_dir() {
            found.push((entry.file_name(), metadata));
        }
    }
    Ok(found)
}

/// The sum of the lengths of all files. Fails if folders are nested too deep.
fn total_bytes(folder: &Path, depth: usize) -> io::Result<u64> {
    if depth > MAX_DEPTH {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut sum = 0_u64;
    for (name, metadata) in entries(folder)? {
        let size =
            if metadata.is_dir() { total_bytes(&folder.join(name), depth + 1)? } else { metadata.len() };
        sum = sum.saturating_add(size);
    }
    Ok(sum)
}

/// A copy from one folder to another.
struct FolderCopy<'a> {
    from: &'a Path,
    to: &'a Path,
}

impl FolderCopy<'_> {
    /// Copies the content of a folder, relative to both, with owners, modes and times. Adds what was copied to a list. No file counts
    /// as read: a bot that reads one while it is loaded must be loaded again for its next match (`agon_bot/match_isolation.py`).
    fn copy_all(&self, at: &Path, depth: usize, copied: &mut HashSet<PathBuf>) -> io::Result<()> {
        if depth > MAX_DEPTH {
            return Err(io::Error::other("its folders are nested too deep"));
        }
        for (name, metadata) in entries(&self.from.join(at))? {
            let entry = at.join(name);
            let (source, target) = (self.from.join(&entry), self.to.join(&entry));
            let permissions = Permissions::from_mode(metadata.mode() & KEPT_MODE);
            if metadata.is_dir() {
                fs::create_dir(&target)?;
                self.copy_all(&entry, depth + 1, copied)?;
                fs::set_permissions(&target, permissions)?;
            } else {
                let mut file = File::create_new(&target)?;
                io::copy(&mut File::open(&source)?, &mut file)?;
                file.set_permissions(permissions)?;
                let times = FileTimes::new().set_modified(metadata.modified()?);
                file.set_times(times.set_accessed(SystemTime::UNIX_EPOCH))?;
            }
            // Where every process has the same user there is nothing to change.
            if getuid().is_root() {
                lchown(&target, Some(metadata.uid()), Some(metadata.gid()))?;
            }
            copied.insert(entry);
        }
        Ok(())
    }

    /// Copies what has changed since everything in `copied` was copied in the other direction. A file with the same length and time
    /// stays.
    fn copy_changes(&self, at: &Path, copied: &HashSet<PathBuf>, owner: Option<User>) -> io::Result<()> {
        let wanted = entries(&self.from.join(at))?;
        for entry in fs::read_dir(self.to.join(at))? {
            let entry = entry?;
            let is_wanted = wanted.iter().any(|(name, metadata)| {
                let kind = entry.file_type();
                *name == entry.file_name() && kind.is_ok_and(|kind| kind.is_dir() == metadata.is_dir())
            });
            if !is_wanted && copied.contains(&at.join(entry.file_name())) {
                remove(&entry.path())?;
            }
        }
        for (name, metadata) in wanted {
            let entry = at.join(name);
            let (source, target) = (self.from.join(&entry), self.to.join(&entry));
            if metadata.is_dir() {
                if !target.is_dir() {
                    fs::create_dir(&target)?;
                }
                self.copy_changes(&entry, copied, owner)?;
                fs::set_permissions(&target, Permissions::from_mode(metadata.mode() & KEPT_MODE))?;
            } else if !is_same(&metadata, &target) {
                let mode = metadata.mode() & KEPT_MODE;
                let mut file =
                    AtomicFile::options().mode(mode).if_exists(IfExists::Replace).create(&target)?;
                io::copy(&mut File::open(&source)?, &mut file)?;
                file.finish()?;
                File::open(&target)?.set_times(FileTimes::new().set_modified(metadata.modified()?))?;
            }
            if let Some(user) = owner {
                lchown(&target, Some(user.uid), Some(user.gid))?;
            }
        }
        Ok(())
    }
}

fn remove(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_dir() { remove_all(path) } else { fs::remove_file(path) }
}

fn is_same(metadata: &Metadata, other: &Path) -> bool {
    other.symlink_metadata().is_ok_and(|other| {
        let key = |one: &Metadata| (one.len(), one.mtime(), one.mtime_nsec(), one.mode() & KEPT_MODE);
        other.is_file() && key(metadata) == key(&other)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(folder: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    fn list(folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(at) = folders.pop() {
            for (name, metadata) in entries(&at).unwrap() {
                let path = at.join(name);
                let shown = path.strip_prefix(folder).unwrap().display().to_string();
                if metadata.is_dir() {
                    found.push(format!("{shown}/"));
                    folders.push(path);
                } else {
                    found.push(format!("{shown} {}", fs::read_to_string(path).unwrap()));
                }
            }
        }
        found.sort();
        found
    }

    fn copy_in(from: &Path, to: &Path) -> io::Result<HashSet<PathBuf>> {
        let mut copied = HashSet::new();
        FolderCopy { from, to }.copy_all(Path::new(""), 0, &mut copied).map(|()| copied)
    }

    #[test]
    fn changes_of_the_bot_are_repeated_and_unchanged_files_stay() {
        let (kept, inside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let before =
            [("same", "1"), ("changed", "old"), ("gone", "x"), ("sub/deep/file", "y"), ("was_folder/a", "b")];
        tree(kept.path(), &before);
        let copied = copy_in(kept.path(), inside.path()).unwrap();
        assert_eq!(list(kept.path()), list(inside.path()));
        let inode = || fs::metadata(kept.path().join("same")).unwrap().ino();
        let number = inode();
        fs::write(inside.path().join("changed"), "longer").unwrap();
        fs::remove_file(inside.path().join("gone")).unwrap();
        fs::remove_dir_all(inside.path().join("was_folder")).unwrap();
        tree(inside.path(), &[("was_folder", "a file now"), ("new/one", "z")]);
        let back = FolderCopy { from: inside.path(), to: kept.path() };
        back.copy_changes(Path::new(""), &copied, None).unwrap();
        assert_eq!(list(kept.path()), list(inside.path()));
        assert_eq!(inode(), number);
    }

    #[test]
    fn what_the_bot_never_saw_stays() {
        let (kept, inside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        tree(kept.path(), &[("own", "1"), ("sub/own", "2")]);
        std::os::unix::fs::symlink("/nowhere", kept.path().join("link")).unwrap();
        let copied = copy_in(kept.path(), inside.path()).unwrap();
        // Another bot with the same folder, or its author, adds something meanwhile.
        tree(kept.path(), &[("other", "3"), ("sub/other", "4")]);
        fs::remove_file(inside.path().join("own")).unwrap();
        let back = FolderCopy { from: inside.path(), to: kept.path() };
        back.copy_changes(Path::new(""), &copied, None).unwrap();
        assert_eq!(list(kept.path()), ["other 3", "sub/", "sub/other 4", "sub/own 2"]);
        assert!(kept.path().join("link").symlink_metadata().is_ok());
    }

    #[test]
    fn folders_nested_too_deep_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut path = folder.path().to_owned();
        for _ in 0..=MAX_DEPTH {
            path.push("d");
        }
        fs::create_dir_all(&path).unwrap();
        assert!(total_bytes(folder.path(), 0).is_err());
        let to = tempfile::tempdir().unwrap();
        assert!(copy_in(folder.path(), to.path()).is_err());
    }

    #[test]
    fn lengths_of_files_with_holes_count() {
        let folder = tempfile::tempdir().unwrap();
        File::create(folder.path().join("sparse")).unwrap().set_len(1 << 30).unwrap();
        assert_eq!(total_bytes(folder.path(), 0).unwrap(), 1 << 30);
    }
}
