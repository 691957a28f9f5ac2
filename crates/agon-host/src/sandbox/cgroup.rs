//! The cgroups of a bot, as the launcher creates them: one below each parent folder. Works with version 1 and 2: it uses the control
//! files that exist. The version 2 cgroup is the bot's meter ([`super::bot_group`]).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use super::bot_group;
use super::memory;
use super::policy::Limits;

/// The bot's cgroups: one below each given folder. Dropping this removes them.
#[derive(Debug, Default)]
pub(super) struct Cgroups {
    folders: Vec<PathBuf>,
}

/// How a bot enters its cgroups. Opened before it drops its privileges.
#[derive(Debug, Default)]
pub(super) struct CgroupEntries {
    /// The folder of the version 2 cgroup. A process is started in it, which costs nothing; moving one there costs milliseconds.
    pub group: Option<File>,
    /// The files of the other cgroups, to which a process writes `0` to join.
    pub join_files: Vec<File>,
}

impl Cgroups {
    /// Creates a cgroup below each of `parents`.
    pub(super) fn make(parents: &[PathBuf], name: &str, limits: &Limits) -> io::Result<Self> {
        let mut groups = Self::default();
        for parent in parents {
            let folder = parent.join(name);
            fs::create_dir(&folder)?;
            groups.folders.push(folder.clone());
            let memory = memory::kill_threshold(limits.memory).to_string();
            set(&folder, "memory.max", &memory)?;
            set(&folder, "memory.limit_in_bytes", &memory)?;
            set(&folder, "memory.swap.max", "0")?;
            set(&folder, "memory.oom.group", "1")?;
            set(&folder, "pids.max", &limits.processes.to_string())?;
        }
        Ok(groups)
    }

    /// The resources that these cgroups measure or limit, and whether they can freeze and kill.
    pub(super) fn powers(&self) -> Vec<&'static str> {
        let has = |file: &str| self.folders.iter().any(|folder| folder.join(file).exists());
        let powers = [
            ("CPU time", has("cgroup.controllers") && has("cpu.stat")),
            ("memory", has("memory.max") || has("memory.limit_in_bytes")),
            ("processes", has("pids.max")),
            ("freeze", has("cgroup.freeze")),
            ("kill", has("cgroup.kill")),
        ];
        powers.into_iter().filter(|(_, has)| *has).map(|(power, _)| power).collect()
    }

    /// The bot's ways into its cgroups.
    pub(super) fn entries(&self) -> io::Result<CgroupEntries> {
        let group = self.folders.iter().find(|folder| is_version_2(folder));
        let others = self.folders.iter().filter(|folder| Some(*folder) != group);
        Ok(CgroupEntries {
            group: group.map(File::open).transpose()?,
            join_files: others.map(|folder| join_file(folder)).collect::<io::Result<_>>()?,
        })
    }

    /// Whether the kernel has killed a process because a cgroup exceeded its memory limit.
    pub(super) fn ran_out_of_memory(&self) -> bool {
        self.folders.iter().any(|folder| {
            let events = fs::read_to_string(folder.join("memory.events")).unwrap_or_default();
            events.lines().filter_map(|line| line.strip_prefix("oom_kill ")).any(|count| count.trim() != "0")
        })
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

/// Whether a cgroup is one of version 2.
pub(super) fn is_version_2(folder: &Path) -> bool {
    folder.join("cgroup.controllers").exists()
}

fn join_file(folder: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(folder.join("cgroup.procs"))
}

/// Joins the cgroups.
pub(super) fn join(join_files: &[File]) -> io::Result<()> {
    join_files.iter().try_for_each(|mut door| door.write_all(b"0"))
}

/// Joins a version 2 cgroup by its open folder: for a process that could not be started in it.
pub(super) fn join_folder(group: &File) -> io::Result<()> {
    use rustix::fs::{Mode, OFlags, openat};
    let door = openat(group, "cgroup.procs", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    File::from(door).write_all(b"0")
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

/// The folder of this process's own version 2 cgroup, below which it may be able to create others. Only trying shows whether it can.
pub(super) fn own_folder() -> Option<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    own_folder_in(&own, &mounts).filter(|folder| is_version_2(folder))
}

/// The same for the content of `/proc/self/cgroup` and `/proc/self/mountinfo`.
fn own_folder_in(own: &str, mounts: &str) -> Option<PathBuf> {
    let own = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        if after.split(' ').next() != Some("cgroup2") {
            return None;
        }
        let mut words = before.split(' ').skip(3);
        let (root, point) = (words.next()?, words.next()?);
        let below = Path::new(own).strip_prefix(root).ok()?;
        // A path with `..` is outside this mount.
        let is_plain = below.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        is_plain.then(|| Path::new(point).join(below))
    })
}

/// The prefix of the names of all cgroups that this program creates. The id of the engine's process and a number follow.
pub(super) const NAME_PREFIX: &str = "agon-";

/// Removes cgroups whose engine has ended without removing them.
pub(super) fn remove_stale(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().and_then(engine_of).is_some_and(|engine| !is_running(engine)) {
            // In another process namespace the engine may run under another number. A cgroup with processes then stays.
            if sees_all_processes() {
                bot_group::remove(&entry.path());
            } else {
                let _ = fs::remove_dir(entry.path());
            }
        }
    }
}

/// Whether this process is in the kernel's first process namespace.
fn sees_all_processes() -> bool {
    /// The kernel's number of that namespace (`PROC_PID_INIT_INO`).
    const FIRST_NAMESPACE: u64 = 0xEFFF_FFFC;
    fs::metadata("/proc/self/ns/pid").is_ok_and(|about| about.ino() == FIRST_NAMESPACE)
}

/// The engine's process id in the name of a cgroup.
fn engine_of(name: &str) -> Option<Pid> {
    let (engine, number) = name.strip_prefix(NAME_PREFIX)?.split_once('-')?;
    number.parse::<u32>().ok()?;
    Pid::from_raw(engine.parse().ok()?)
}

fn is_running(pid: Pid) -> bool {
    test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_folder_is_found_on_unified_and_hybrid_hierarchies() {
        let unified = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        let scope = "0::/user.slice/user-1000.slice/run-7.scope\n";
        let folder = |own, mounts| own_folder_in(own, mounts).map(|path| path.display().to_string());
        assert_eq!(
            folder(scope, unified).as_deref(),
            Some("/sys/fs/cgroup/user.slice/user-1000.slice/run-7.scope")
        );
        let hybrid = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
                      32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        assert_eq!(folder("8:pids:/x\n0::/\n", hybrid).as_deref(), Some("/sys/fs/cgroup/unified/"));
        let part = "30 23 0:26 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup ro\n";
        assert_eq!(folder("0::/docker/1/a\n", part).as_deref(), Some("/sys/fs/cgroup/a"));
        assert_eq!(folder("0::/other\n", part), None);
        assert_eq!(folder("0::/../x\n", unified), None);
        assert_eq!(folder("8:pids:/\n", unified), None);
        assert_eq!(folder(scope, "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"), None);
    }

    #[test]
    fn only_our_own_names_are_stale() {
        assert_eq!(engine_of("agon-77-3"), Pid::from_raw(77));
        for other in ["agon-77", "agon-x-3", "agon-77-x", "other-77-3", "agon-engine-1", "agon-probe-5"] {
            assert_eq!(engine_of(other), None, "{other}");
        }
        assert!(is_running(rustix::process::getpid()));
        assert!(!is_running(Pid::from_raw(i32::MAX).unwrap()));
    }
}
