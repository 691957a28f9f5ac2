//! A cgroup for all processes of a bot, below folders that the caller gave. Works with version 1 and 2: it uses the control files
//! that exist.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::policy::Limits;

/// The bot's cgroups: one below each given folder. Dropping this removes them.
#[derive(Debug, Default)]
pub(super) struct Cgroups {
    folders: Vec<PathBuf>,
}

impl Cgroups {
    /// Creates a cgroup below each of `parents`.
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

    /// The resources that these cgroups limit, and whether they can kill.
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

    /// The files to which a process writes `0` to join. Opened before it drops its privileges.
    pub(super) fn join_files(&self) -> io::Result<Vec<File>> {
        self.folders
            .iter()
            .map(|folder| OpenOptions::new().write(true).open(folder.join("cgroup.procs")))
            .collect()
    }

    /// Kills every process in the cgroups.
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

/// Joins the cgroups.
pub(super) fn join(join_files: &[File]) -> io::Result<()> {
    join_files.iter().try_for_each(|mut door| door.write_all(b"0"))
}

impl Drop for Cgroups {
    fn drop(&mut self) {
        for folder in &self.folders {
            // The kernel frees a cgroup shortly after its last process was reaped.
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

/// Writes to a control file, if the cgroup has it.
fn set(folder: &Path, file: &str, value: &str) -> io::Result<()> {
    let path = folder.join(file);
    if !path.exists() {
        return Ok(());
    }
    fs::write(&path, value)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
