//! Disk cache of files by hash. Files are checked at every use, and the least recently used are evicted first.
//!
//! Several workers may share a folder: files are written atomically under their hash, and missing or damaged ones are fetched again.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use agon_core::LockIgnoringPoison as _;
use agon_files::AtomicFile;
use agon_files::temporary_name::is_temporary;

use crate::blobs::hash;

/// A temporary file older than this was left by a killed worker.
const STALE_TEMPORARY_AFTER: Duration = Duration::from_hours(1);

/// When the cache is full, `1 / SPARE_DIVISOR` of its size is freed.
const SPARE_DIVISOR: u64 = 20;

/// A folder with files by hash.
#[derive(Debug)]
pub struct BlobCache {
    folder: PathBuf,
    max_bytes: u64,
    /// Approximate size of all files. `None` before the first scan.
    used_bytes: Mutex<Option<u64>>,
}

impl BlobCache {
    /// Cache in a folder, with a maximum size. The folder is created when needed.
    pub const fn new(folder: PathBuf, max_bytes: u64) -> Self {
        Self { folder, max_bytes, used_bytes: Mutex::new(None) }
    }

    /// The file with this hash, if it is cached and intact.
    pub fn get(&self, wanted: &str) -> Option<Vec<u8>> {
        let path = self.path(wanted)?;
        let bytes = fs::read(&path).ok()?;
        if hash(&bytes) != wanted {
            let _ = fs::remove_file(&path);
            return None;
        }
        // Mark as recently used. If this fails, the file is only evicted a little earlier.
        let _ =
            File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        Some(bytes)
    }

    /// Stores a file. Files larger than the whole cache are ignored.
    pub fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let Some(path) = self.path(name) else { return Ok(()) };
        if bytes.len() as u64 > self.max_bytes {
            return Ok(());
        }
        fs::create_dir_all(&self.folder)?;
        self.make_room(bytes.len() as u64);
        AtomicFile::options().write(&path, bytes)
    }

    /// Path of a file. `None` if the name is not a hash.
    fn path(&self, name: &str) -> Option<PathBuf> {
        let is_hash = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then(|| self.folder.join(name))
    }

    /// Makes room for a file. Scans the folder only when the cache is full by its own count: scanning thousands of files for each new one
    /// would take longer than fetching it.
    fn make_room(&self, bytes: u64) {
        let mut used_bytes = self.used_bytes.lock_ignoring_poison();
        let now = match *used_bytes {
            Some(used_bytes) if used_bytes.saturating_add(bytes) <= self.max_bytes => used_bytes,
            _ => self.evict(bytes),
        };
        *used_bytes = Some(now + bytes);
    }

    /// Removes the least recently used files until there is room for the bytes and some spare. Returns the remaining size.
    fn evict(&self, bytes: u64) -> u64 {
        let mut files = list_files(&self.folder);
        let now = SystemTime::now();
        files.retain(|(path, used, _)| {
            let temporary = is_temporary(path);
            if temporary && now.duration_since(*used).is_ok_and(|age| age > STALE_TEMPORARY_AFTER) {
                let _ = fs::remove_file(path);
            }
            !temporary
        });
        files.sort_by_key(|(_, used, _)| *used);
        let mut used_bytes: u64 = files.iter().map(|(_, _, size)| size).sum();
        if used_bytes.saturating_add(bytes) <= self.max_bytes {
            return used_bytes;
        }
        let target = self.max_bytes - self.max_bytes / SPARE_DIVISOR;
        for (path, _, size) in files {
            if used_bytes.saturating_add(bytes) <= target {
                break;
            }
            let _ = fs::remove_file(path);
            used_bytes -= size;
        }
        used_bytes
    }
}

/// Files of a folder: path, last use, size.
fn list_files(folder: &Path) -> Vec<(PathBuf, SystemTime, u64)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let metadata = |entry: fs::DirEntry| {
        let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some((entry.path(), metadata.modified().ok()?, metadata.len()))
    };
    entries.filter_map(metadata).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(cache: &BlobCache, byte: u8) -> String {
        let bytes = vec![byte; 1000];
        let name = hash(&bytes);
        cache.put(&name, &bytes).unwrap();
        // Set the time explicitly, because file times may be coarse.
        let age = SystemTime::now() - Duration::from_secs(100 - u64::from(byte));
        File::options().append(true).open(cache.folder.join(&name)).unwrap().set_modified(age).unwrap();
        name
    }

    #[test]
    fn cache_evicts_the_least_recently_used_and_drops_damaged_files() {
        let folder = tempfile::tempdir().unwrap();
        let cache = BlobCache::new(folder.path().join("cache"), 3500);
        let names: Vec<String> = (0..3).map(|byte| put(&cache, byte)).collect();
        assert_eq!(cache.get(&names[0]), Some(vec![0; 1000]), "recently used");
        let fourth = put(&cache, 3);
        let there = |name: &String| cache.folder.join(name).exists();
        assert!(there(&names[0]) && !there(&names[1]) && there(&names[2]) && there(&fourth));
        fs::write(cache.folder.join(&fourth), "damaged").unwrap();
        assert_eq!(cache.get(&fourth), None);
        assert!(!there(&fourth), "a damaged file is removed");
        let large = vec![9; 4000];
        cache.put(&hash(&large), &large).unwrap();
        assert!(
            cache.get(&hash(&large)).is_none() && there(&names[0]),
            "a file larger than the cache evicts nothing"
        );
        assert_eq!(cache.get("../../etc/passwd"), None);
    }

    #[test]
    fn temporary_file_of_a_killed_worker_is_removed_when_it_is_old() {
        let folder = tempfile::tempdir().unwrap();
        let cache = BlobCache::new(folder.path().to_owned(), 3500);
        let leftover = |age: Duration| {
            let path = folder.path().join(format!(".blob.{:x}.part", age.as_secs()));
            fs::write(&path, "part").unwrap();
            let file = File::options().append(true).open(&path).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
            path
        };
        let old = leftover(STALE_TEMPORARY_AFTER + Duration::from_mins(1));
        let in_use = leftover(Duration::ZERO);
        put(&cache, 1);
        assert!(!old.exists() && in_use.exists());
    }

    #[test]
    fn cache_shared_by_two_workers_stays_consistent() {
        let folder = tempfile::tempdir().unwrap();
        let caches = [(); 2].map(|()| BlobCache::new(folder.path().to_owned(), 20_000));
        std::thread::scope(|scope| {
            for cache in &caches {
                scope.spawn(move || {
                    for round in 0..200u32 {
                        let bytes = vec![(round % 40) as u8; 1000];
                        let name = hash(&bytes);
                        match cache.get(&name) {
                            Some(found) => assert_eq!(found, bytes),
                            None => cache.put(&name, &bytes).unwrap(),
                        }
                    }
                });
            }
        });
    }
}
