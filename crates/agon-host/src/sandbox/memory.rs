//! The memory that a bot really uses, over all its processes.
//!
//! The kernel's limit (`RLIMIT_DATA`) holds for each process and counts what is mapped for writing at the moment. It misses pages
//! that were written and then made read-only, copies of the stack's mapping, page tables, and forks that no longer share their
//! parent's pages. So the launcher counts pages. It counts as often as a bot could fill what is left of its limit, which is
//! seldom for most bots.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Read as _};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::bot_processes::{ProcessStat, read_once};
use super::defence::Defence;
use super::policy::Policy;

/// The fastest that a bot can take memory, in bytes per second. Without huge pages each page costs a page fault.
const MAX_FAULT_RATE: u64 = 4 << 30;
/// The fastest that a bot can fill buffers in the kernel, in bytes per second.
const MAX_BUFFER_RATE: u64 = 2 << 30;
/// The longest interval between counts of buffers.
const BUFFER_INTERVAL: Duration = Duration::from_millis(100);
/// At most one part in this many of the launcher's time is for counting buffers.
const BUFFER_SHARE: u32 = 4;
/// The usual size of a socket's buffer. A bot cannot change it.
const SOCKET_BYTES: u64 = 208 << 10;
/// The usual size of a pipe. A bot cannot change it.
const PIPE_BYTES: u64 = 64 << 10;
/// The most that the kernel needs to describe the mappings of one process (65,530 of them).
const MAPPING_BYTES: u64 = 15 << 20;
/// A longer list of mappings counts as the longest. The list of an ordinary process is a tenth of this.
const MAX_MAPPING_TEXT: u64 = 256 << 10;
/// Number of processes whose mappings are within the tolerance.
const FREE_PROCESSES: usize = 3;

/// What ends a bot: a sixteenth more than its limit. A bot that stays within the kernel's limit has, besides, its stack.
pub(super) const fn kill_threshold(limit: u64) -> u64 {
    limit + limit / 16
}

/// Watches the memory of a bot's processes.
pub(super) struct MemoryWatch {
    limit: u64,
    /// Whether the bot had several processes at the last count.
    has_several: bool,
    open_files: u64,
    weakened: Vec<Defence>,
    /// Whether pages may be in the swap space, where the cheap count does not see them.
    has_swap: bool,
    /// The result of the last count.
    used: u64,
    /// The pages in it, with those that forks share counted once.
    pages: u64,
    buffers: u64,
    /// The number of descriptors when they were counted.
    descriptors: u64,
    /// When to count them again.
    buffers_due: Option<Instant>,
    /// The last exact count of a bot with forks.
    exact: Option<ExactCount>,
    faults: FaultCount,
}

/// An exact count, and the number of page faults until then. Every further page costs a page fault.
struct ExactCount {
    bytes: u64,
    faults: u64,
}

/// One process in a count.
struct ProcessMemory {
    pid: i32,
    /// Pages that belong to no file.
    private: u64,
    /// Size of the address space.
    mapped: u64,
}

impl MemoryWatch {
    pub(super) fn of(policy: &Policy) -> Self {
        Self {
            limit: policy.limits.memory,
            has_several: false,
            open_files: policy.limits.open_files.into(),
            weakened: policy.weakened.clone(),
            has_swap: fs::read_to_string("/proc/swaps").is_ok_and(|text| text.lines().count() > 1),
            used: 0,
            pages: u64::MAX,
            buffers: 0,
            descriptors: 0,
            buffers_due: None,
            exact: None,
            faults: FaultCount::default(),
        }
    }

    fn has(&self, defence: Defence) -> bool {
        !self.weakened.contains(&defence)
    }

    /// What ends the bot. One with several processes gets less beyond its limit: counting them takes longer.
    const fn threshold(&self) -> u64 {
        if self.has_several { self.limit + self.limit / 32 } else { kill_threshold(self.limit) }
    }

    /// When to count again: soon after the bot can have reached what ends it. The rest of the tenth is for a launcher that gets the
    /// processor a little later.
    pub(super) fn interval(&self) -> Duration {
        pace(self.used, self.threshold() + self.limit / 64, MAX_FAULT_RATE)
    }

    /// Whether all processes together exceed the limit.
    pub(super) fn exceeds_limit(&mut self, processes: &[i32]) -> bool {
        if !self.has(Defence::MemoryCount) {
            return false;
        }
        self.has_several = processes.len() > 1;
        let each: Vec<ProcessMemory> = processes.iter().map(|&pid| ProcessMemory::of(pid)).collect();
        self.faults.update(processes.iter().map(|&pid| (pid, faults(pid))).collect());
        let plain = each.iter().map(|one| one.private).sum::<u64>();
        let tables = self.tables_and_swap(&each);
        let kernel = self.kernel_bytes(processes, tables + plain.min(self.pages));
        let mut paused = PausedProcesses::default();
        self.pages = if plain + tables + kernel > self.threshold() && processes.len() > 1 {
            self.without_shared(&each, &mut paused).min(plain)
        } else {
            plain
        };
        self.used = self.pages + tables + kernel;
        let exceeds = self.used > self.threshold();
        // The launcher kills a bot that exceeds its limit. Until then it takes no more memory.
        if !exceeds {
            paused.resume();
        }
        exceeds
    }

    /// Page tables, which are a 512th of the address space at most, and pages in the swap space.
    fn tables_and_swap(&self, each: &[ProcessMemory]) -> u64 {
        let possible = each.iter().map(|one| one.mapped / 512).sum::<u64>();
        if !self.has(Defence::PageTables) || (possible < self.limit / 64 && !self.has_swap) {
            return 0;
        }
        each.iter().map(ProcessMemory::tables_and_swap).sum()
    }

    /// Buffers of sockets and pipes, and descriptions of mappings. `other` is the memory besides.
    fn kernel_bytes(&mut self, processes: &[i32], other: u64) -> u64 {
        if !self.has(Defence::Buffers) {
            return 0;
        }
        let open = self.open_descriptors(processes);
        if processes.len() <= FREE_PROCESSES && self.used + open * SOCKET_BYTES <= self.limit {
            return 0;
        }
        // Every descriptor since the last count may be a socket.
        let started = Instant::now();
        let at_most = self.buffers + open.saturating_sub(self.descriptors) * SOCKET_BYTES;
        let may_exceed = open > self.descriptors && other + at_most > self.threshold();
        if !may_exceed && self.buffers_due.is_some_and(|due| started < due) {
            return at_most;
        }
        self.buffers = self.count_buffers(processes) + count_mappings(processes);
        self.descriptors = open;
        let pace = pace(other + self.buffers, self.limit, MAX_BUFFER_RATE).min(BUFFER_INTERVAL);
        self.buffers_due = Some(started + pace.max(started.elapsed() * BUFFER_SHARE));
        self.buffers
    }

    /// The number of descriptors of all processes. Older kernels do not tell; then the most that is possible.
    fn open_descriptors(&self, processes: &[i32]) -> u64 {
        let each = processes.iter().map(|pid| {
            let count = fs::metadata(format!("/proc/{pid}/fd")).map_or(0, |about| about.len());
            if count == 0 { self.open_files } else { count }
        });
        each.sum()
    }

    fn count_buffers(&self, processes: &[i32]) -> u64 {
        let mut seen = HashSet::new();
        let mut sum = 0;
        for (index, pid) in processes.iter().enumerate() {
            let entries = match fs::read_dir(format!("/proc/{pid}/fd")) {
                Ok(entries) => entries,
                Err(error) if index > 0 && is_hidden(&error, *pid) => {
                    sum += self.open_files * SOCKET_BYTES;
                    continue;
                }
                Err(_) => continue,
            };
            for link in entries.flatten().filter_map(|entry| fs::read_link(entry.path()).ok()) {
                let name = link.to_string_lossy();
                let bytes = match &*name {
                    name if name.starts_with("socket:") => SOCKET_BYTES,
                    name if name.starts_with("pipe:") => PIPE_BYTES,
                    _ => continue,
                };
                sum += if seen.insert(name.into_owned()) { bytes } else { 0 };
            }
        }
        sum
    }

    /// The memory of several processes, with the pages that forks share counted once. An exact count takes milliseconds, and longer
    /// on a busy core, so the processes are paused for it.
    fn without_shared(&mut self, each: &[ProcessMemory], paused: &mut PausedProcesses) -> u64 {
        if !self.has(Defence::ForkedMemory) {
            // As if forks never stopped sharing.
            return each.iter().map(|one| one.private).max().unwrap_or(0);
        }
        let since = |exact: &ExactCount| exact.bytes + (self.faults.sum() - exact.faults) * page_bytes();
        if let Some(bytes) = self.exact.as_ref().map(since).filter(|bytes| *bytes <= self.threshold()) {
            return bytes;
        }
        paused.pause(each);
        // The kernel may refuse to tell.
        let exact: Option<u64> = each.iter().map(|one| proportional_bytes(one.pid)).sum();
        self.exact = exact.map(|bytes| ExactCount { bytes, faults: self.faults.sum() });
        exact.unwrap_or_else(|| self.faults.upper_bound(each))
    }
}

/// Processes that are stopped while their memory is counted.
#[derive(Default)]
struct PausedProcesses(Vec<Pid>);

impl PausedProcesses {
    /// Stops the processes that are not stopped by others.
    fn pause(&mut self, each: &[ProcessMemory]) {
        let running = each.iter().filter(|one| ProcessStat::of(one.pid).is_some_and(|stat| !stat.is_stopped));
        for pid in running.filter_map(|one| Pid::from_raw(one.pid)) {
            if kill_process(pid, Signal::STOP).is_ok() {
                self.0.push(pid);
            }
        }
    }

    fn resume(self) {
        for pid in self.0 {
            let _ = kill_process(pid, Signal::CONT);
        }
    }
}

/// The page faults of a bot's processes. They bound the memory of forks where the kernel does not tell what they share.
#[derive(Default)]
struct FaultCount {
    /// The faults of each process.
    each: HashMap<i32, u64>,
    /// The faults of processes that have ended.
    ended: u64,
    /// For each process the sum before it was first seen.
    first_seen: HashMap<i32, u64>,
}

impl FaultCount {
    /// The faults of all processes so far. It never decreases.
    fn sum(&self) -> u64 {
        self.ended + self.each.values().sum::<u64>()
    }

    fn update(&mut self, now: HashMap<i32, u64>) {
        let before = self.sum();
        let gone = self.each.iter().filter(|(pid, _)| !now.contains_key(pid));
        self.ended += gone.map(|(_, faults)| faults).sum::<u64>();
        self.first_seen.retain(|pid, _| now.contains_key(pid));
        for (&pid, &faults) in &now {
            self.first_seen.entry(pid).or_insert(before);
            // A process that has just ended shows no faults any more.
            let known = self.each.get(&pid).copied().unwrap_or(0);
            self.ended += known.saturating_sub(faults);
        }
        self.each = now;
    }

    /// An upper bound of the memory. A page that one process has and the largest one has not was made by a page fault of either of
    /// them since the fork.
    fn upper_bound(&self, each: &[ProcessMemory]) -> u64 {
        let Some(largest) = each.iter().max_by_key(|one| one.private) else { return 0 };
        let (sum, first_seen) = (self.sum(), |pid| self.first_seen.get(&pid).copied().unwrap_or(0));
        let others = each.iter().filter(|one| one.pid != largest.pid).map(|one| {
            let fork = first_seen(one.pid).max(first_seen(largest.pid));
            one.private.min((sum - fork) * page_bytes())
        });
        largest.private + others.sum::<u64>()
    }
}

impl ProcessMemory {
    /// Zeroes for a process that has ended.
    fn of(pid: i32) -> Self {
        let mut room = [0; 128];
        let text = read_once(&format!("/proc/{pid}/statm"), &mut room).unwrap_or_default();
        let text = std::str::from_utf8(text).unwrap_or_default();
        let mut pages = text.split_whitespace().map(|field| field.parse::<u64>().unwrap_or(0));
        let mut next = || pages.next().unwrap_or(0) * page_bytes();
        let (mapped, resident, of_files) = (next(), next(), next());
        Self { pid, private: resident.saturating_sub(of_files), mapped }
    }

    fn tables_and_swap(&self) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        kilobytes(&text, "VmPTE:").unwrap_or(0) + kilobytes(&text, "VmSwap:").unwrap_or(0)
    }
}

/// Whether a process has memory. One that is about to end has none, and the kernel tells nothing more about it.
pub(super) fn has_memory(pid: i32) -> bool {
    ProcessMemory::of(pid).mapped > 0
}

/// Time until something that grows at this rate (bytes per second) can reach this size.
pub(super) fn pace(used: u64, size: u64, rate: u64) -> Duration {
    Duration::from_micros(size.saturating_sub(used) / (rate / 1_000_000))
}

fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

/// Whether the kernel refuses to tell about a process that runs.
fn is_hidden(error: &io::Error, pid: i32) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && has_memory(pid)
}

/// Bytes that the kernel needs to describe the mappings of processes with very many of them.
fn count_mappings(processes: &[i32]) -> u64 {
    let has_many = |pid: &&i32| {
        let file = fs::File::open(format!("/proc/{pid}/maps"));
        let read = file.and_then(|file| io::copy(&mut file.take(MAX_MAPPING_TEXT), &mut io::sink()));
        match read {
            Ok(bytes) => bytes == MAX_MAPPING_TEXT,
            Err(error) => is_hidden(&error, **pid),
        }
    };
    processes.iter().skip(FREE_PROCESSES).filter(has_many).count() as u64 * MAPPING_BYTES
}

/// Page faults of a process so far, 0 for one that has ended.
fn faults(pid: i32) -> u64 {
    ProcessStat::of(pid).map_or(0, |stat| stat.faults)
}

/// The private memory of a process, with shared pages divided among the processes that share them. `None` if the kernel does not
/// tell; 0 for a process that has ended.
fn proportional_bytes(pid: i32) -> Option<u64> {
    let text = match fs::read_to_string(format!("/proc/{pid}/smaps_rollup")) {
        Ok(text) => text,
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Some(0),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Some(0),
        Err(_) if !has_memory(pid) => return Some(0),
        Err(_) => return None,
    };
    kilobytes(&text, "Pss_Anon:").or_else(|| kilobytes(&text, "Pss:"))
}

/// A field in kilobytes, as bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> i32 {
        rustix::process::getpid().as_raw_nonzero().get()
    }

    #[test]
    fn memory_of_this_process_is_counted() {
        let before = ProcessMemory::of(own()).private;
        let taken = std::hint::black_box(vec![1_u8; 64 << 20]);
        let now = ProcessMemory::of(own());
        assert!(now.private >= before + (60 << 20) && now.mapped > now.private, "{before}");
        assert!(proportional_bytes(own()).is_none_or(|bytes| bytes >= 60 << 20));
        assert!(now.tables_and_swap() > 0);
        drop(taken);
        assert_eq!(ProcessMemory::of(0).private, 0);
    }

    #[test]
    fn small_bot_is_counted_seldom_and_a_large_one_often() {
        let (limit, ms) = (512 << 20, Duration::from_millis(1));
        assert!(pace(30 << 20, limit, MAX_FAULT_RATE) > 100 * ms);
        assert!(pace(500 << 20, limit, MAX_FAULT_RATE) < 20 * ms);
        assert_eq!(pace(2 * limit, limit, MAX_FAULT_RATE), Duration::ZERO);
    }

    #[test]
    fn pages_that_a_fork_shares_are_counted_once_and_faults_after_it_on_top() {
        let memory = |pid, private: u64| ProcessMemory { pid, private: private << 20, mapped: 0 };
        let each = [memory(1, 80), memory(2, 80), memory(3, 2)];
        let mut faults = FaultCount::default();
        faults.update([(1, 1000)].into());
        faults.update([(1, 1000), (2, 256), (3, 256)].into());
        // 512 faults since the fork are 2 MiB, for each of the two others.
        assert_eq!(faults.upper_bound(&each), 84 << 20);
        faults.update([(1, 1000), (2, 100_000), (3, 256)].into());
        assert_eq!(faults.upper_bound(&each), 162 << 20);
        // A process that ends does not take its faults with it.
        let sum = faults.sum();
        faults.update([(1, 1000), (2, 100_000), (3, 0)].into());
        faults.update([(1, 1000), (2, 100_000)].into());
        assert_eq!(faults.sum(), sum);
    }
}
