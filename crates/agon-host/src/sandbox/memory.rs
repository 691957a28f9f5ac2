//! The memory that a bot really uses, over all its processes.
//!
//! The kernel's limit (`RLIMIT_DATA`) holds for each process and counts what is mapped for writing at the moment. It misses pages
//! that were written and then made read-only, copies of the stack's mapping, page tables, and forks that no longer share their
//! parent's pages. So the launcher counts pages. It counts as often as a bot could fill what is left of its limit, which is
//! seldom for most bots.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::time::{Duration, Instant};

use super::bot_processes::{ProcessStat, read_once};
use super::defence::Defence;
use super::policy::Policy;

/// The fastest that a bot can take memory, in bytes per second. Without huge pages each page costs a page fault.
const MAX_FAULT_RATE: u64 = 4 << 30;
/// Interval between counts of buffers in the kernel, which are limited by the number of descriptors.
const BUFFER_INTERVAL: Duration = Duration::from_millis(100);
/// The usual size of a socket's buffer. A bot cannot change it.
const SOCKET_BYTES: u64 = 208 << 10;
/// The usual size of a pipe. A bot cannot change it.
const PIPE_BYTES: u64 = 64 << 10;
/// The most that the kernel needs to describe the mappings of one process (65,530 of them).
const MAPPING_BYTES: u64 = 15 << 20;
/// Number of processes whose mappings are within the tolerance.
const FREE_PROCESSES: usize = 3;

/// Watches the memory of a bot's processes.
pub(super) struct MemoryWatch {
    limit: u64,
    open_files: u64,
    weakened: Vec<Defence>,
    /// Whether pages may be in the swap space, where the cheap count does not see them.
    has_swap: bool,
    /// The result of the last count.
    used: u64,
    buffers: u64,
    buffers_counted: Option<Instant>,
    /// The last exact count of a bot with forks.
    exact: Option<ExactCount>,
    /// For each process the page faults of all others when it was first seen.
    first_seen: HashMap<i32, u64>,
}

/// An exact count, and the page faults of each process at that time. Every further page costs a page fault.
struct ExactCount {
    bytes: u64,
    faults: HashMap<i32, u64>,
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
            open_files: policy.limits.open_files.into(),
            weakened: policy.weakened.clone(),
            has_swap: fs::read_to_string("/proc/swaps").is_ok_and(|text| text.lines().count() > 1),
            used: 0,
            buffers: 0,
            buffers_counted: None,
            exact: None,
            first_seen: HashMap::new(),
        }
    }

    fn has(&self, defence: Defence) -> bool {
        !self.weakened.contains(&defence)
    }

    /// What ends the bot: a sixteenth more than its limit. A bot that stays within the kernel's limit has, besides, its stack.
    const fn threshold(&self) -> u64 {
        self.limit + self.limit / 16
    }

    /// When to count again: before the bot can have taken a tenth more than its limit.
    pub(super) fn interval(&self) -> Duration {
        pace(self.used, self.limit, MAX_FAULT_RATE)
    }

    /// Whether all processes together exceed the limit.
    pub(super) fn exceeds_limit(&mut self, processes: &[i32]) -> bool {
        if !self.has(Defence::MemoryCount) {
            return false;
        }
        let each: Vec<ProcessMemory> = processes.iter().map(|&pid| ProcessMemory::of(pid)).collect();
        let more = self.tables_and_swap(&each) + self.kernel_bytes(processes);
        let plain = each.iter().map(|one| one.private).sum::<u64>() + more;
        self.used = if plain > self.threshold() && processes.len() > 1 {
            self.without_shared(&each).min(plain - more) + more
        } else {
            plain
        };
        self.note_first_seen(processes);
        self.used > self.threshold()
    }

    /// Page tables, which are a 512th of the address space at most, and pages in the swap space.
    fn tables_and_swap(&self, each: &[ProcessMemory]) -> u64 {
        let possible = each.iter().map(|one| one.mapped / 512).sum::<u64>();
        if !self.has(Defence::PageTables) || (possible < self.limit / 64 && !self.has_swap) {
            return 0;
        }
        each.iter().map(|one| one.tables_and_swap()).sum()
    }

    /// Buffers of sockets and pipes, and descriptions of mappings.
    fn kernel_bytes(&mut self, processes: &[i32]) -> u64 {
        if !self.has(Defence::Buffers) {
            return 0;
        }
        if self.buffers_counted.is_none_or(|then| then.elapsed() >= BUFFER_INTERVAL) {
            self.buffers_counted = Some(Instant::now());
            self.buffers = self.count_buffers(processes);
        }
        self.buffers + MAPPING_BYTES * processes.len().saturating_sub(FREE_PROCESSES) as u64
    }

    fn count_buffers(&self, processes: &[i32]) -> u64 {
        let mut seen = HashSet::new();
        let mut sum = 0;
        for (index, pid) in processes.iter().enumerate() {
            let entries = match fs::read_dir(format!("/proc/{pid}/fd")) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied && index > 0 => {
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

    /// The memory of several processes, with the pages that forks share counted once.
    fn without_shared(&mut self, each: &[ProcessMemory]) -> u64 {
        if !self.has(Defence::ForkedMemory) {
            let largest = each.iter().skip(1).map(|one| one.private).max().unwrap_or(0);
            let shared = each.first().map_or(0, |bot| bot.private.min(largest));
            return each.iter().map(|one| one.private).sum::<u64>() - shared;
        }
        let faults: HashMap<i32, u64> = each.iter().map(|one| (one.pid, faults(one.pid))).collect();
        let since = |exact: &ExactCount| {
            let further = faults.iter().map(|(pid, now)| now - exact.faults.get(pid).unwrap_or(&0).min(now));
            exact.bytes + further.sum::<u64>() * page_bytes()
        };
        if let Some(bytes) = self.exact.as_ref().map(since).filter(|bytes| *bytes <= self.threshold()) {
            return bytes;
        }
        // The kernel may refuse to tell.
        let exact: Option<u64> = each.iter().map(|one| proportional_bytes(one.pid)).sum();
        self.exact = exact.map(|bytes| ExactCount { bytes, faults: faults.clone() });
        exact.unwrap_or_else(|| self.by_faults(each, &faults))
    }

    /// An upper bound without the kernel's help. A page of one process that the largest process does not have was made by a page fault
    /// of either of them since the fork.
    fn by_faults(&self, each: &[ProcessMemory], faults: &HashMap<i32, u64>) -> u64 {
        let Some(largest) = each.iter().max_by_key(|one| one.private) else { return 0 };
        let all: u64 = faults.values().sum();
        let others = each.iter().filter(|one| one.pid != largest.pid).map(|one| {
            let since = all.saturating_sub(self.first_seen.get(&one.pid).copied().unwrap_or(0));
            one.private.min(since * page_bytes())
        });
        largest.private + others.sum::<u64>()
    }

    /// Remembers the page faults so far when a process is new.
    fn note_first_seen(&mut self, processes: &[i32]) {
        if self.first_seen.len() == processes.len()
            && processes.iter().all(|pid| self.first_seen.contains_key(pid))
        {
            return;
        }
        let old: Vec<i32> =
            processes.iter().copied().filter(|pid| self.first_seen.contains_key(pid)).collect();
        let before: u64 = old.iter().map(|&pid| faults(pid)).sum();
        let before = if old.is_empty() { 0 } else { before };
        self.first_seen.retain(|pid, _| processes.contains(pid));
        for &pid in processes {
            self.first_seen.entry(pid).or_insert(before);
        }
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

/// Time until something that grows at this rate (bytes per second) can exceed its limit by a tenth.
pub(super) fn pace(used: u64, limit: u64, rate: u64) -> Duration {
    let left = (limit + limit / 10).saturating_sub(used);
    Duration::from_micros(left / (rate / 1_000_000))
}

fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
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
        let mut policy = Policy::new("/dev/null", "/");
        policy.limits.memory = 100 << 20;
        let mut watch = MemoryWatch::of(&policy);
        let memory = |pid, private: u64| ProcessMemory { pid, private: private << 20, mapped: 0 };
        let each = [memory(1, 80), memory(2, 80), memory(3, 2)];
        watch.first_seen = HashMap::from([(1, 0), (2, 1000), (3, 1000)]);
        let faults = HashMap::from([(1, 1000), (2, 256), (3, 256)]);
        // 512 faults since the fork are 2 MiB, for each of the two others.
        assert_eq!(watch.by_faults(&each, &faults), 84 << 20);
        let faults = HashMap::from([(1, 1000), (2, 100_000), (3, 256)]);
        assert_eq!(watch.by_faults(&each, &faults), 162 << 20);
    }
}
