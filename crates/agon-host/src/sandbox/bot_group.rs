//! The version 2 cgroup of one bot, as the engine uses it: one meter, one switch and one list for all processes of the bot.
//!
//! `cpu.stat`, `cpu.pressure`, `cgroup.freeze`, `cgroup.kill` and `cgroup.procs` need no controller, so they also exist on a hybrid
//! hierarchy.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Maximum number of rounds in which leftover processes are killed. A second round finds what started before the freeze.
const MAX_KILL_ROUNDS: u32 = 20;
/// Pause between two such rounds.
const KILL_ROUND_INTERVAL: Duration = Duration::from_millis(1);

/// The cgroup of a running bot. The files stay open, so a reading costs a few microseconds.
#[derive(Debug)]
pub struct BotGroup {
    folder: PathBuf,
    cpu_stat: File,
    /// Missing if the kernel does not count pressure.
    cpu_pressure: Option<File>,
    freeze: File,
    processes: File,
}

impl BotGroup {
    /// Opens the files of a bot's cgroup.
    pub(super) fn open(folder: PathBuf) -> io::Result<Self> {
        let open = |name: &str| File::open(folder.join(name));
        let (cpu_stat, processes) = (open("cpu.stat")?, open("cgroup.procs")?);
        let freeze = OpenOptions::new().write(true).open(folder.join("cgroup.freeze"))?;
        let cpu_pressure = open("cpu.pressure").ok();
        Ok(Self { folder, cpu_stat, cpu_pressure, freeze, processes })
    }

    /// CPU time of all processes that are or were in the cgroup. It lags behind a process that is running by up to a tick.
    pub fn cpu_time(&self) -> Option<Duration> {
        let mut bytes = [0; 64];
        let length = self.cpu_stat.read_at(&mut bytes, 0).ok()?;
        parse_usage(bytes.get(..length)?)
    }

    /// Time in which processes or threads of the cgroup were runnable and none of them had a processor. Those that have ended
    /// are counted, and a wait that has not ended yet.
    pub fn wait_time(&self) -> Option<Duration> {
        let mut bytes = [0; 256];
        let length = self.cpu_pressure.as_ref()?.read_at(&mut bytes, 0).ok()?;
        parse_full_pressure(bytes.get(..length)?)
    }

    /// Stops all processes of the cgroup, or continues them. No signal of the bot's own can continue them.
    pub fn set_frozen(&self, frozen: bool) -> io::Result<()> {
        self.freeze.write_all_at(if frozen { b"1" } else { b"0" }, 0)
    }

    /// Whether all processes of the cgroup are stopped. That takes a moment after [`Self::set_frozen`].
    pub fn is_frozen(&self) -> bool {
        let events = fs::read_to_string(self.folder.join("cgroup.events")).unwrap_or_default();
        events.lines().any(|line| line == "frozen 1")
    }

    /// The ids of all processes in the cgroup.
    pub fn pids(&self) -> Vec<u32> {
        let mut bytes = [0; 4096];
        let length = self.processes.read_at(&mut bytes, 0).unwrap_or(0);
        let text = std::str::from_utf8(&bytes[..length]).unwrap_or_default();
        text.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect()
    }

    /// Whether there is a process besides these.
    pub fn has_others(&self, known: &[u32]) -> bool {
        self.pids().iter().any(|pid| !known.contains(pid))
    }

    /// Kills all processes except these, and waits until they have ended. Returns whether all have. The processes are frozen
    /// meanwhile, so none can start another.
    pub fn kill_others(&self, kept: &[u32]) -> bool {
        if !self.has_others(kept) {
            return true;
        }
        let _ = self.set_frozen(true);
        let ended = (0..MAX_KILL_ROUNDS).any(|_| {
            let others: Vec<u32> = self.pids().into_iter().filter(|pid| !kept.contains(pid)).collect();
            for pid in others.iter().filter_map(|&pid| Pid::from_raw(i32::try_from(pid).ok()?)) {
                let _ = kill_process(pid, Signal::KILL);
            }
            if !others.is_empty() {
                std::thread::sleep(KILL_ROUND_INTERVAL);
            }
            others.is_empty()
        });
        let _ = self.set_frozen(false);
        ended
    }

    /// Removes the cgroup after its last process. Usually the launcher has done that.
    pub(super) fn remove(&self) {
        remove(&self.folder);
    }
}

/// Kills what is left in a cgroup and removes it. An error means that it is gone, or that its owner removes it.
pub(super) fn remove(folder: &Path) {
    if fs::remove_dir(folder).is_err() && folder.exists() {
        let _ = fs::write(folder.join("cgroup.kill"), "1");
        std::thread::sleep(KILL_ROUND_INTERVAL);
        let _ = fs::remove_dir(folder);
    }
}

/// The first line of `cpu.stat`.
fn parse_usage(bytes: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(bytes).ok()?;
    let word = text.lines().next()?.strip_prefix("usage_usec ")?;
    word.parse().ok().map(Duration::from_micros)
}

/// The total in the line `full` of `cpu.pressure`.
fn parse_full_pressure(bytes: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(bytes).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("full "))?;
    let word = line.split_ascii_whitespace().find_map(|word| word.strip_prefix("total="))?;
    word.parse().ok().map(Duration::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_is_the_total_in_the_line_full() {
        let wait = |text: &str| parse_full_pressure(text.as_bytes());
        let some = "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        let full = "full avg10=0.10 avg60=0.00 avg300=0.00 total=2500\n";
        assert_eq!(wait(&format!("{some}{full}")), Some(Duration::from_micros(2500)));
        assert_eq!(wait(some), None, "kernels before 5.13 have no such line");
        assert_eq!(wait(""), None);
    }

    #[test]
    fn usage_is_the_first_line_in_microseconds() {
        let usage = |text: &str| parse_usage(text.as_bytes());
        assert_eq!(usage("usage_usec 1500\nuser_usec 1"), Some(Duration::from_micros(1500)));
        assert_eq!(usage("user_usec 1500\n"), None);
        assert_eq!(usage(""), None);
    }
}
