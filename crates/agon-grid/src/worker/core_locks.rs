//! Reserves CPU cores, also among several workers on a machine. A file lock marks a core as taken and ends with the process.

use std::fs::{self, File};
use std::path::PathBuf;

/// A reserved core. Dropping it releases the core.
#[derive(Debug)]
pub struct CoreLock {
    core: usize,
    _lock: File,
}

impl CoreLock {
    /// Pins this thread and its future child processes to the core.
    pub fn pin_thread(&self) {
        agon_host::pinning::pin(self.core);
    }
}

/// Reserves free cores: as many as wanted, or none.
pub fn lock_cores(wanted: usize) -> Vec<CoreLock> {
    let folder = lock_folder();
    if fs::create_dir_all(&folder).is_err() {
        return Vec::new();
    }
    let free = |core: usize| {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(folder.join(core.to_string()))
            .ok()?;
        file.try_lock().ok()?;
        Some(CoreLock { core, _lock: file })
    };
    let locks: Vec<CoreLock> =
        agon_host::pinning::cores().into_iter().filter_map(free).take(wanted).collect();
    if locks.len() == wanted { locks } else { Vec::new() }
}

fn lock_folder() -> PathBuf {
    std::env::temp_dir().join(format!("agon-cores-{}", rustix::process::geteuid().as_raw()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_cores_twice_gives_different_cores() {
        let first = lock_cores(1);
        let second = lock_cores(1);
        assert!(first.iter().all(|one| second.iter().all(|other| one.core != other.core)));
        assert!(lock_cores(1 << 20).is_empty(), "all or none");
    }
}
