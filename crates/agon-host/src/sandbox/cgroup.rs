//! A cgroup for all of a bot's processes together, below folders the operator gave. Version 1 and 2 alike: whichever of the
//! files a folder has are used.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::policy::Limits;

/// The bot's groups: one below each folder that was given. Removed when dropped.
#[derive(Debug, Default)]
pub(super) struct Cgroups {
    folders: Vec<PathBuf>,
}

impl Cgroups {
    /// Makes a group below each of `parents`.
    pub(super) fn make(parents: &[PathBuf], name: &str, limits: &Limits) -> io::Result<Self> {
        let mut groups = Self::default();
        for parent in parents {
            let folder = parent.join(name);
            fs::create_dir(&folder)?;
            groups.folders.push(folder.clone());
            let memory = limits.memory.to_string();
            set(&folder, "memory.max", &memory)?;
            set(&folder, "memory.limit_in_bytes", &memory)?;
            set(&folder, "memory.swap.max", "0")?;
            set(&folder, "memory.oom.group", "1")?;
            set(&folder, "pids.max", &limits.processes.to_string())?;
        }
        Ok(groups)
    }

    /// What is bounded or can be ended through these groups.
    pub(super) fn powers(&self) -> Vec<&'static str> {
        let has = |file: &str| self.folders.iter().any(|folder| folder.join(file).exists());
        let mut powers = Vec::new();
        if has("memory.max") || has("memory.limit_in_bytes") {
            powers.push("memory");
        }
        if has("pids.max") {
            powers.push("processes");
        }
        if has("cgroup.kill") {
            powers.push("kill");
        }
        powers
    }

    /// Where a process writes `0` to join. Opened before it gives up the right to.
    pub(super) fn doors(&self) -> io::Result<Vec<File>> {
        self.folders
            .iter()
            .map(|folder| OpenOptions::new().write(true).open(folder.join("cgroup.procs")))
            .collect()
    }

    /// Ends every process in the groups.
    pub(super) fn kill(&self) {
        for folder in &self.folders {
            if fs::write(folder.join("cgroup.kill"), "1").is_ok() {
                continue;
            }
            let members = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
            for pid in members.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?)) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

/// Joins the groups.
pub(super) fn join(doors: &[File]) -> io::Result<()> {
    doors.iter().try_for_each(|mut door| door.write_all(b"0"))
}

impl Drop for Cgroups {
    fn drop(&mut self) {
        for folder in &self.folders {
            // A group is free a moment after its last process was reaped.
            for _ in 0..100 {
                match fs::remove_dir(folder) {
                    Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                        self.kill();
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    _ => break,
                }
            }
        }
    }
}

/// Writes to a file of a group, if the group has it.
fn set(folder: &Path, file: &str, value: &str) -> io::Result<()> {
    let path = folder.join(file);
    if !path.exists() {
        return Ok(());
    }
    fs::write(&path, value)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
