//! A core for each game, also where several workers share a machine: who has a core holds a lock, which goes with its process.

use std::fs::{self, File};
use std::path::PathBuf;

/// A core that is ours as long as this is there.
#[derive(Debug)]
pub struct CoreLock {
    core: usize,
    _lock: File,
}

impl CoreLock {
    /// Keeps this thread, and what it starts from now on, on the core.
    pub fn pin_thread(&self) {
        agon_host::pinning::pin(self.core);
    }
}

/// So many cores that nobody else here has; none if there are fewer.
pub fn lock_cores(wanted: usize) -> Vec<CoreLock> {
    let folder = folder();
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
    let pins: Vec<CoreLock> = agon_host::pinning::cores().into_iter().filter_map(free).take(wanted).collect();
    if pins.len() == wanted { pins } else { Vec::new() }
}

fn folder() -> PathBuf {
    std::env::temp_dir().join(format!("agon-cores-{}", rustix::process::geteuid().as_raw()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_gets_a_core_that_somebody_has() {
        let first = lock_cores(1);
        let second = lock_cores(1);
        assert!(first.iter().all(|one| second.iter().all(|other| one.core != other.core)));
        assert!(lock_cores(1 << 20).is_empty(), "all or none");
    }
}
