//! The folders that a bot writes to: their owner, and how much is in them.
//!
//! A folder that is not kept has a file system of its own where there are namespaces, with an exact size. All others are measured:
//! by blocks and by lengths, with the files that are deleted but still open. A bot cannot grow a folder by more than it writes, so
//! the launcher measures when that may exceed the quota, and ten times a second.

use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt as _, lchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::defence::Defence;
use super::kept_folders::KeptFolder;
use super::launcher_protocol::{Launch, StepContext as _, StepError};
use super::memory::{has_memory, pace};
use super::policy::{User, Writable};
use crate::scratch_dir::remove_all;

/// The fastest that a bot can write, in bytes per second.
const MAX_WRITE_RATE: u64 = 16 << 30;
/// The shortest interval between two measurements.
const MIN_INTERVAL: Duration = Duration::from_micros(300);
/// Interval between measurements, whatever a bot writes.
const MEASURE_INTERVAL: Duration = Duration::from_millis(100);
/// The smallest size of an entry.
const BLOCK_BYTES: u64 = 4096;
/// At most one part in this many of the launcher's time is for measuring a folder with many entries.
const MEASURE_SHARE: u32 = 4;

/// The folders that have no exact size.
fn inexact(launch: &Launch) -> impl Iterator<Item = &Writable> {
    let exact = launch.plan.mode.is_some();
    launch.policy.writable.iter().filter(move |writable| writable.kept || !exact)
}

/// Watches the size of a bot's folders.
pub(super) struct FolderWatch<'a> {
    folders: Vec<WatchedFolder<'a>>,
    counting: Counting<'a>,
    written: WrittenBytes,
}

/// A folder and what was measured last.
struct WatchedFolder<'a> {
    writable: &'a Writable,
    /// Its path without links, as the kernel names the files in it, or that of the file system in its place.
    real: PathBuf,
    /// Whether it has a file system of its size. Then only the lengths of files with holes can exceed its quota.
    is_exact: bool,
    used: u64,
    /// Bytes that the bot has written since the last measurement.
    since: u64,
    measured: Option<Instant>,
    took: Duration,
}

/// What counts.
struct Counting<'a> {
    weakened: &'a [Defence],
    /// The largest size that a file can have.
    file_size: u64,
    /// Whether the descriptors of the bot's processes can be listed.
    lists_descriptors: bool,
    /// All folders that are measured.
    folders: Vec<PathBuf>,
}

impl<'a> FolderWatch<'a> {
    /// Watches the folders of a bot that has just started.
    pub(super) fn of(launch: &'a Launch, processes: &[i32], kept: &[KeptFolder]) -> Self {
        let exact =
            |writable: &Writable| kept.iter().find(|kept| kept.path == writable.path).map(KeptFolder::inside);
        let folder = |writable: &'a Writable| WatchedFolder {
            writable,
            is_exact: exact(writable).is_some(),
            real: exact(writable)
                .or_else(|| fs::canonicalize(&writable.path).ok())
                .unwrap_or_else(|| writable.path.clone()),
            used: 0,
            since: 0,
            measured: None,
            took: Duration::ZERO,
        };
        let folders: Vec<WatchedFolder<'a>> = inexact(launch).map(folder).collect();
        let lists = |pid: &i32| fs::read_dir(format!("/proc/{pid}/fd")).is_ok();
        let counting = Counting {
            weakened: &launch.policy.weakened,
            file_size: launch.policy.limits.file_size,
            lists_descriptors: processes.iter().all(lists),
            folders: folders.iter().map(|folder| folder.real.clone()).collect(),
        };
        Self { folders, counting, written: WrittenBytes::default() }
    }

    /// Time until the next check: before a bot can have written a thirty-second more than its quota. The rest of the tenth is for a
    /// launcher that gets the processor a little later.
    pub(super) fn interval(&self) -> Duration {
        if !self.counting.has(Defence::FolderPace) {
            return MEASURE_INTERVAL;
        }
        let each = self.folders.iter().map(|folder| {
            if folder.is_exact {
                return MEASURE_INTERVAL;
            }
            let quota = folder.writable.bytes;
            let pace = pace(folder.used.saturating_add(folder.since), quota + quota / 32, MAX_WRITE_RATE);
            pace.max(folder.took * MEASURE_SHARE).max(MIN_INTERVAL)
        });
        each.min().unwrap_or(Duration::MAX)
    }

    /// A folder that exceeds its quota, if there is one.
    pub(super) fn full(&mut self, processes: &[i32]) -> Option<PathBuf> {
        if self.folders.is_empty() {
            return None;
        }
        let written = self.written.since_last(processes);
        self.folders.iter_mut().find_map(|folder| {
            if !folder.is_exact {
                folder.since = written.map_or(u64::MAX, |bytes| folder.since.saturating_add(bytes));
            }
            // Without the right pace it is never measured: a slow disk must not hold an attack up until the next measurement.
            if !self.counting.has(Defence::FolderPace) || !folder.needs_measuring() {
                return None;
            }
            let started = Instant::now();
            folder.used = if folder.is_exact {
                // Its file system limits the number of entries itself. An empty file beside full ones is not too much.
                self.counting.in_folder(&folder.real, folder.writable.bytes, 0)
            } else {
                self.counting.bytes(&folder.real, folder.writable.bytes, processes)
            };
            (folder.since, folder.measured, folder.took) = (0, Some(started), started.elapsed());
            (folder.used > folder.writable.bytes).then(|| folder.writable.path.clone())
        })
    }
}

impl WatchedFolder<'_> {
    fn needs_measuring(&self) -> bool {
        self.used.saturating_add(self.since) > self.writable.bytes
            || self.measured.is_none_or(|then| then.elapsed() >= MEASURE_INTERVAL)
    }
}

/// Counts the bytes that a bot's processes have written, to files and anywhere else.
#[derive(Default)]
struct WrittenBytes {
    each: HashMap<i32, u64>,
}

impl WrittenBytes {
    /// Bytes since the last call; `None` if the kernel does not tell, or a process has ended and may have written before.
    fn since_last(&mut self, processes: &[i32]) -> Option<u64> {
        let now: HashMap<i32, u64> =
            processes.iter().filter_map(|&pid| Some((pid, written_by(pid)?))).collect();
        let further = |(pid, bytes): (&i32, &u64)| bytes.saturating_sub(*self.each.get(pid).unwrap_or(&0));
        let complete = now.len() == processes.len() && self.each.keys().all(|pid| now.contains_key(pid));
        let sum = now.iter().map(further).sum();
        self.each = now;
        complete.then_some(sum)
    }
}

/// Bytes that a process has written: by calls, and by changing pages of files. Most bytes count twice.
fn written_by(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    let field =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name))?.trim().parse::<u64>().ok();
    Some(field("wchar:")? + field("write_bytes:")?)
}

impl Counting<'_> {
    fn has(&self, defence: Defence) -> bool {
        !self.weakened.contains(&defence)
    }

    /// Bytes in a folder and in deleted files, counted until they exceed the quota.
    fn bytes(&self, folder: &Path, quota: u64, processes: &[i32]) -> u64 {
        let named = self.in_folder(folder, quota, 1);
        if named > quota || !self.has(Defence::DeletedFiles) {
            return named;
        }
        let Ok(device) = fs::metadata(folder).map(|about| about.dev()) else { return named };
        let mut seen = HashSet::new();
        let deleted = processes.iter().map(|&pid| self.deleted(pid, folder, device, &mut seen));
        deleted.fold(named, u64::saturating_add)
    }

    /// Bytes of the files that have a name. A folder that cannot be listed (too deep, or made unreadable) counts as too large.
    /// Each entry counts as at least `least` bytes.
    fn in_folder(&self, folder: &Path, enough: u64, least: u64) -> u64 {
        let mut sum = 0;
        let mut folders = vec![folder.to_owned()];
        let mut linked = HashSet::new();
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(_) if self.has(Defence::UnlistableFolders) => return u64::MAX,
                Err(_) => continue,
            };
            for entry in entries.flatten() {
                let Ok(metadata) = entry.metadata() else { continue };
                // A file with several names in the folder counts once.
                if !metadata.is_dir() && metadata.nlink() > 1 && !linked.insert(metadata.ino()) {
                    continue;
                }
                if !metadata.is_dir() || least > 0 {
                    sum += self.entry(&metadata, least);
                }
                if sum > enough {
                    return sum;
                }
                if metadata.is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        sum
    }

    /// The size of an entry in whole blocks: its blocks or its length, whichever is more, and at least `least` bytes.
    fn entry(&self, metadata: &Metadata, least: u64) -> u64 {
        let blocks = if self.has(Defence::Blocks) { metadata.blocks() * 512 } else { 0 };
        let length = if self.has(Defence::Lengths) { metadata.len() } else { 0 };
        let least = if self.has(Defence::Entries) { least } else { 0 };
        blocks.max(length).max(least).next_multiple_of(BLOCK_BYTES)
    }

    /// Bytes of deleted files that a process keeps open or mapped. `seen` has the files that are already counted.
    fn deleted(&self, pid: i32, folder: &Path, device: u64, seen: &mut HashSet<u64>) -> u64 {
        let entries = match fs::read_dir(format!("/proc/{pid}/fd")) {
            Ok(entries) => entries,
            // What cannot be measured is not allowed, unless it never could be on this machine.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && self.lists_descriptors => {
                return if has_memory(pid) { u64::MAX } else { 0 };
            }
            Err(_) => return 0,
        };
        let mut sum = 0;
        for entry in entries.flatten() {
            let Ok(file) = fs::metadata(entry.path()) else { continue };
            if file.nlink() > 0 || file.dev() != device || !file.is_file() {
                continue;
            }
            // The kernel still knows where it was. A file of another folder counts there.
            let elsewhere =
                |path: PathBuf| self.folders.iter().any(|other| other != folder && path.starts_with(other));
            if !fs::read_link(entry.path()).is_ok_and(elsewhere) && seen.insert(file.ino()) {
                sum += self.entry(&file, 1);
            }
        }
        for (inode, range) in deleted_mappings(pid, folder) {
            if seen.insert(inode) {
                // Only root can ask for the size of a file that is only mapped.
                let file = fs::metadata(format!("/proc/{pid}/map_files/{range}"));
                sum += file.map_or(self.file_size, |file| self.entry(&file, 1));
            }
        }
        sum
    }
}

/// The deleted files of a folder that a process has mapped: inodes, and where they are mapped.
fn deleted_mappings(pid: i32, folder: &Path) -> Vec<(u64, String)> {
    let text = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let folder = folder.to_string_lossy().into_owned() + "/";
    let lines = text.lines().filter(|line| line.ends_with(" (deleted)") && line.contains(&folder));
    let fields = |line: &str| {
        let mut fields = line.split_whitespace();
        let range = fields.next()?.to_owned();
        Some((fields.nth(3)?.parse().ok()?, range))
    };
    lines.filter_map(fields).collect()
}

/// Gives the bot's user its writable folders, and empties its scratch folder.
pub(super) fn prepare_folders(launch: &Launch) -> Result<(), StepError> {
    for writable in inexact(launch) {
        let step = format!("preparing {}", writable.path.display());
        if !writable.kept {
            empty(&writable.path).step(&step)?;
        }
        if let Some(user) = launch.plan.user {
            give(&writable.path, user).step(&step)?;
        }
    }
    Ok(())
}

/// Removes everything in a folder.
pub(super) fn empty(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_all(&entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Changes the owner of everything.
fn give(path: &Path, user: User) -> io::Result<()> {
    lchown(path, Some(user.uid), Some(user.gid))?;
    if path.symlink_metadata()?.is_dir() {
        for entry in fs::read_dir(path)? {
            give(&entry?.path(), user)?;
        }
    }
    Ok(())
}
