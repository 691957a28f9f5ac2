//! Files by their hash, on this machine's disk: fetched once, checked whenever they are used, the longest unused out first.
//!
//! Several workers may share a folder: a file appears whole, under its hash, and one that is gone or damaged is fetched again.

use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use crate::blobs::hash;

/// A draft that is so old was never finished.
const STALE: Duration = Duration::from_hours(1);

/// When there is no room, a so-manieth part of all of it is made free.
const SPARE: u64 = 20;

/// A folder with files by their hash.
#[derive(Debug)]
pub struct BlobCache {
    folder: PathBuf,
    most: u64,
    /// About how much is there; nobody knows before the first look.
    held: Mutex<Option<u64>>,
}

impl BlobCache {
    /// In a folder, with so many bytes at most. The folder is made when it is needed.
    pub const fn new(folder: PathBuf, most: u64) -> Self {
        Self { folder, most, held: Mutex::new(None) }
    }

    /// The file with this hash, if it is here and whole.
    pub fn get(&self, wanted: &str) -> Option<Vec<u8>> {
        let path = self.path(wanted)?;
        let bytes = fs::read(&path).ok()?;
        if hash(&bytes) != wanted {
            let _ = fs::remove_file(&path);
            return None;
        }
        // So it was used last. If that cannot be written down, it goes a little early.
        let _ =
            File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        Some(bytes)
    }

    /// Keeps a file. What is larger than all of the cache is not kept.
    pub fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let Some(path) = self.path(name) else { return Ok(()) };
        if bytes.len() as u64 > self.most {
            return Ok(());
        }
        fs::create_dir_all(&self.folder)?;
        self.make_room(bytes.len() as u64);
        // Not by process: two containers may share a folder, and have the same numbers.
        let draft = self.folder.join(format!("draft-{:016x}", RandomState::new().build_hasher().finish()));
        let written = File::create_new(&draft)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| fs::rename(&draft, &path));
        if written.is_err() {
            let _ = fs::remove_file(&draft);
        }
        written
    }

    /// Only what is a hash can be the name of a file here.
    fn path(&self, name: &str) -> Option<PathBuf> {
        let is_hash = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then(|| self.folder.join(name))
    }

    /// Sees to it that there is room for so many bytes. Where thousands of files are kept, looking at all of them for each new one would take longer than
    /// fetching it: that is done when they are too many by what was put there.
    fn make_room(&self, bytes: u64) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let now = match *held {
            Some(held) if held.saturating_add(bytes) <= self.most => held,
            _ => self.tidy(bytes),
        };
        *held = Some(now + bytes);
    }

    /// Removes the longest unused files until there is room for so many bytes, and some more. Gives what is left.
    fn tidy(&self, bytes: u64) -> u64 {
        let mut files = list(&self.folder);
        let now = SystemTime::now();
        files.retain(|(path, used, _)| {
            let draft = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"draft-"));
            if draft && now.duration_since(*used).is_ok_and(|age| age > STALE) {
                let _ = fs::remove_file(path);
            }
            !draft
        });
        files.sort_by_key(|(_, used, _)| *used);
        let mut held: u64 = files.iter().map(|(_, _, size)| size).sum();
        if held.saturating_add(bytes) <= self.most {
            return held;
        }
        let wanted = self.most - self.most / SPARE;
        for (path, _, size) in files {
            if held.saturating_add(bytes) <= wanted {
                break;
            }
            let _ = fs::remove_file(path);
            held -= size;
        }
        held
    }
}

/// What is in a folder: where, last used when, how large.
fn list(folder: &Path) -> Vec<(PathBuf, SystemTime, u64)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let about = |entry: fs::DirEntry| {
        let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some((entry.path(), about.modified().ok()?, about.len()))
    };
    entries.filter_map(about).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(cache: &BlobCache, byte: u8) -> String {
        let bytes = vec![byte; 1000];
        let name = hash(&bytes);
        cache.put(&name, &bytes).unwrap();
        // Times of files may be coarse.
        let age = SystemTime::now() - Duration::from_secs(100 - u64::from(byte));
        File::options().append(true).open(cache.folder.join(&name)).unwrap().set_modified(age).unwrap();
        name
    }

    #[test]
    fn the_longest_unused_goes_first_and_what_is_damaged_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let cache = BlobCache::new(folder.path().join("cache"), 3500);
        let names: Vec<String> = (0..3).map(|byte| put(&cache, byte)).collect();
        assert_eq!(cache.get(&names[0]), Some(vec![0; 1000]), "used again");
        let fourth = put(&cache, 3);
        let there = |name: &String| cache.folder.join(name).exists();
        assert!(there(&names[0]) && !there(&names[1]) && there(&names[2]) && there(&fourth));
        fs::write(cache.folder.join(&fourth), "damaged").unwrap();
        assert_eq!(cache.get(&fourth), None);
        assert!(!there(&fourth), "it is fetched again");
        let large = vec![9; 4000];
        cache.put(&hash(&large), &large).unwrap();
        assert!(cache.get(&hash(&large)).is_none() && there(&names[0]), "one file does not empty it");
        assert_eq!(cache.get("../../etc/passwd"), None);
    }

    #[test]
    fn two_share_a_folder() {
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
