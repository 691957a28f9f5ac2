//! The usage of one bot, read while it runs.

use std::cell::Cell;
use std::fs::File;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_core::MeterKind;

use super::process_figures::{LINKS_OF_ONE_THREAD, pid_is_runnable, read_schedstat};
use super::{Usage, UsageSample};
use crate::sandbox::BotGroup;
use crate::sandbox::unsafe_syscalls::process_cpu_time;
use crate::test_switches::is_off;

/// Minimum interval between two readings of a bot's cgroup, which cost more than an answer of a fast bot may.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);
/// The same for a bot that can have only one thread and no children: the look only confirms that.
const LOOK_INTERVAL_IF_SINGLE: Duration = Duration::from_millis(20);
/// CPU time of starting a fork for a call and of ending it after its answer, which only the cgroup counts.
const CALL_EXIT_ALLOWANCE: Duration = Duration::from_millis(2);
/// The cgroup's figure lags behind running processes by up to a tick of the kernel.
const GROUP_LAG: Duration = Duration::from_millis(4);

/// Reads the usage of a bot: all CPU time of all its processes, ended ones included. It keeps the files open, so a reading costs a
/// few microseconds.
///
/// The clock of the answering process counts all its threads. What other processes use is found by comparing that clock with the
/// bot's cgroup at intervals ([`CpuMeter::look`]). The cgroup only ever counts up, so nothing is missed between two looks. Without a
/// cgroup a sandboxed bot cannot start processes.
#[derive(Debug)]
pub struct CpuMeter {
    tasks: Option<File>,
    leader: Option<File>,
    children: Option<File>,
    pid: u32,
    group: Option<Arc<BotGroup>>,
    /// The process that has loaded the bot, if another one answers. It only runs the host's code.
    loader: Option<u32>,
    /// The process can have only one thread and no children.
    is_single: bool,
    seen: Cell<CgroupReadings>,
}

/// What the looks at the bot's cgroup have shown.
#[derive(Clone, Copy, Default, Debug)]
struct CgroupReadings {
    at: Option<Instant>,
    /// CPU time in the cgroup that neither known process had used at the first look.
    base: Option<Duration>,
    /// CPU time of other processes since then.
    others: Duration,
    /// Clock of the process at the last reading. It stays when the process is gone.
    own: Duration,
    loader: Duration,
    /// CPU time of forks that gave one answer each.
    calls: Duration,
    /// Time in which no process of the cgroup had a processor although one was runnable, at the last look.
    wait: Option<Duration>,
}

/// Whether a process has more threads than one, and children.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TaskFlags {
    /// It has threads besides the first.
    pub threads: bool,
    /// It has children.
    pub children: bool,
}

impl TaskFlags {
    /// One thread and no children.
    pub const NONE: Self = Self { threads: false, children: false };

    /// Whether it has further threads or children.
    pub const fn any(self) -> bool {
        self.threads || self.children
    }
}

/// The clock of a process and that of its only thread may differ by this much, because they are read one after the other.
const MAX_CLOCK_DIFFERENCE: Duration = Duration::from_micros(100);

impl CpuMeter {
    /// A meter of a process without a cgroup. If the kernel has no such figures, every reading is zero, and the wall time is charged.
    pub fn new(pid: u32) -> Self {
        let tasks = File::open(format!("/proc/{pid}/task")).ok();
        let leader = File::open(format!("/proc/{pid}/schedstat")).ok();
        let children = File::open(format!("/proc/{pid}/task/{pid}/children")).ok();
        Self {
            tasks,
            leader,
            children,
            pid,
            group: None,
            loader: None,
            is_single: false,
            seen: Cell::default(),
        }
    }

    /// A meter of a bot that answers with this process. `loader` is the process that has loaded the bot, if it is another one.
    /// `is_single`: it should have only one thread and no children, so a reading costs less; if it has some nevertheless, the looks at
    /// its cgroup find them.
    pub fn of_bot(pid: u32, group: Option<Arc<BotGroup>>, loader: Option<u32>, is_single: bool) -> Self {
        let loader = loader.filter(|&loader| loader != pid);
        let meter = Self { group, loader, is_single, ..Self::new(pid) };
        meter.look();
        meter
    }

    /// How this meter measures a sandboxed bot.
    pub fn kind(&self) -> MeterKind {
        if self.group.is_some() { MeterKind::Cgroup } else { MeterKind::Process }
    }

    /// Forgets what the looks have shown: from now on the bot itself is measured, not how it was loaded.
    pub fn start_over(&self) {
        self.seen.set(CgroupReadings::default());
        self.look();
    }

    /// Counts a fork that gave an answer.
    pub fn add_call(&self, usage: Usage) {
        let mut seen = self.seen.get();
        seen.calls += usage.cpu + CALL_EXIT_ALLOWANCE;
        self.seen.set(seen);
    }

    /// Compares the bot's cgroup with the clocks of the known processes.
    pub fn look(&self) {
        let mut seen = self.seen.get();
        seen.at = Some(Instant::now());
        let total = self.group.as_ref().and_then(|group| group.cpu_time());
        seen.wait = if self.is_single { None } else { self.group_wait() };
        // The clocks are read after the cgroup: a process that runs meanwhile must not look like two.
        seen.own = self.own_cpu_time().unwrap_or(seen.own);
        seen.loader = self.loader.and_then(process_cpu_time).unwrap_or(seen.loader);
        if let Some(total) = total {
            let unknown = total.saturating_sub(seen.own + seen.loader + seen.calls);
            let base = *seen.base.get_or_insert(unknown + GROUP_LAG);
            seen.others = seen.others.max(unknown.saturating_sub(base));
        }
        self.seen.set(seen);
    }

    /// CPU time of the answering process. If it should have one thread, only that one is counted, so that others show up as unknown.
    fn own_cpu_time(&self) -> Option<Duration> {
        if !self.is_single {
            return process_cpu_time(self.pid);
        }
        self.leader.as_ref().and_then(|leader| read_schedstat(leader).ok()).map(|usage| usage.cpu)
    }

    /// The same, if the last look was some time ago.
    pub fn look_if_due(&self) {
        let interval = if self.is_single { LOOK_INTERVAL_IF_SINGLE } else { LOOK_INTERVAL };
        if self.group.is_some() && self.seen.get().at.is_none_or(|at| at.elapsed() >= interval) {
            self.look();
        }
    }

    /// The usage until now, with a look at the cgroup.
    pub fn read(&self) -> Usage {
        self.look();
        self.read_with(self.task_flags())
    }

    /// The usage of a bot with these threads and children, without a look at the cgroup.
    pub fn read_with(&self, flags: TaskFlags) -> Usage {
        if self.is_single {
            return self.read_single();
        }
        let leader = self.leader.as_ref().and_then(|leader| read_schedstat(leader).ok()).unwrap_or_default();
        let mut seen = self.seen.get();
        seen.own = process_cpu_time(self.pid).unwrap_or(seen.own);
        // The process's clock also counts threads that have ended.
        let had_threads = seen.own > leader.cpu + MAX_CLOCK_DIFFERENCE;
        let is_parallel = flags.any() || had_threads || !seen.others.is_zero();
        if is_parallel && seen.wait.is_some() {
            seen.wait = self.group_wait();
        }
        // Only the cgroup knows how long threads waited that have ended. Without it they are charged for that time.
        let wait = if flags.threads && seen.wait.is_none() { self.wait_of_threads() } else { leader.wait };
        if is_off("meter") {
            seen.own = self.cpu_of_running_threads();
        }
        self.seen.set(seen);
        let mut cpu = seen.own + seen.others;
        // Without a cgroup, only what still runs can be counted, and the children may occupy the processor for which it waits.
        if self.group.is_none() && flags.children {
            cpu += self.read_children().cpu;
            return Usage { cpu, ..Usage::default() };
        }
        Usage { cpu, wait, group_wait: seen.wait, is_parallel }
    }

    /// The usage of a process that can have only one thread and no children, without a look at the cgroup.
    pub fn read_single(&self) -> Usage {
        let own = self.leader.as_ref().and_then(|leader| read_schedstat(leader).ok()).unwrap_or_default();
        Usage { cpu: own.cpu + self.seen.get().others, wait: own.wait, ..Usage::default() }
    }

    /// Time in which the bot's cgroup waited for a processor.
    fn group_wait(&self) -> Option<Duration> {
        self.group.as_ref().filter(|_| !is_off("pressure")).and_then(|group| group.wait_time())
    }

    fn has_threads(&self) -> bool {
        let about = self.tasks.as_ref().and_then(|tasks| tasks.metadata().ok());
        about.is_some_and(|about| about.nlink() > LINKS_OF_ONE_THREAD)
    }

    /// Time that its running threads have waited for a processor.
    fn wait_of_threads(&self) -> Duration {
        self.usage_of_threads().map(|usage| usage.wait).sum()
    }

    /// CPU time of the threads that still run: what a weaker meter would count.
    fn cpu_of_running_threads(&self) -> Duration {
        self.usage_of_threads().map(|usage| usage.cpu).sum()
    }

    fn usage_of_threads(&self) -> impl Iterator<Item = Usage> {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.pid)).into_iter().flatten().flatten();
        threads.filter_map(|thread| {
            let file = File::open(thread.path().join("schedstat")).ok()?;
            read_schedstat(&file).ok()
        })
    }

    /// The usage of its children that run or wait to be reaped.
    pub fn read_children(&self) -> Usage {
        self.pids_of_children().map(|pid| Self::new(pid).read()).fold(Usage::default(), Usage::plus)
    }

    fn pids_of_children(&self) -> impl Iterator<Item = u32> + use<> {
        let mut bytes = [0; 1024];
        let read = self.children.as_ref().and_then(|file| file.read_at(&mut bytes, 0).ok()).unwrap_or(0);
        let text = std::str::from_utf8(&bytes[..read]).unwrap_or_default();
        let pids: Vec<u32> = text.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
        pids.into_iter()
    }

    /// Whether the process is runnable now. The kernel reports the length of a wait only when the wait has ended.
    pub fn is_runnable(&self) -> bool {
        pid_is_runnable(self.pid)
    }

    /// Whether one of its children is runnable.
    pub fn has_runnable_child(&self) -> bool {
        self.pids_of_children().any(pid_is_runnable)
    }

    /// Its threads and children now.
    pub fn task_flags(&self) -> TaskFlags {
        TaskFlags { threads: self.has_threads(), children: self.has_children() }
    }

    /// Whether it has children.
    pub fn has_children(&self) -> bool {
        let mut first = [0; 1];
        self.children.as_ref().is_some_and(|file| file.read_at(&mut first, 0).is_ok_and(|count| count > 0))
    }

    /// The current time and usage.
    pub fn sample(&self) -> UsageSample {
        UsageSample { at: Instant::now(), usage: self.read() }
    }
}
