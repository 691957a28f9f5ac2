//! The cost of an answer, measured from outside with the kernel's figures about a process.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_core::{AnswerTimes, MeterKind};

use crate::test_switches::is_off;

use crate::sandbox::BotGroup;
use crate::sandbox::unsafe_syscalls::process_cpu_time;

/// Usage of a process since its start.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Usage {
    /// CPU time of all threads.
    pub cpu: Duration,
    /// Time that all threads were runnable and waited for a processor.
    pub wait: Duration,
    /// Time in which the bot was runnable and none of its threads had a processor, up to the last look at its cgroup. Counts
    /// threads and processes that have ended.
    pub group_wait: Option<Duration>,
    /// It has or had several threads or processes, so `group_wait` is from this reading and decides.
    pub is_parallel: bool,
}

impl Usage {
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { cpu: self.cpu + other.cpu, wait: self.wait + other.wait, ..self }
    }
}

/// The usage of a process at a point in time.
#[derive(Clone, Copy, Debug)]
pub struct UsageSample {
    /// The time of the sample.
    pub at: Instant,
    /// The usage up to that time.
    pub usage: Usage,
}

impl UsageSample {
    /// The times between an earlier sample and this one.
    ///
    /// The wait is at most the wall time minus the CPU time: threads of one bot that compete for a processor do not stop its clock.
    pub fn since(self, earlier: Self) -> AnswerTimes {
        let wall = self.at.saturating_duration_since(earlier.at);
        let cpu = self.usage.cpu.saturating_sub(earlier.usage.cpu);
        let wait = match (self.usage.group_wait, earlier.usage.group_wait) {
            (Some(now), Some(then)) if self.usage.is_parallel => now.saturating_sub(then),
            _ => self.usage.wait.saturating_sub(earlier.usage.wait),
        };
        AnswerTimes { wall, cpu, wait: wait.min(wall.saturating_sub(cpu)) }
    }
}

/// The times from a request until a sample. The request was sent at `first` at the earliest.
///
/// All CPU time since the last answer is charged, also what was used before the request: a bot that thinks on another bot's time
/// pays for it. Up to the wall time since the request the charge is exact. More than that can only come from before the request
/// or from several cores; a little of it is forgiven, because the Python host works a little after each answer.
pub fn since_asked(asked: UsageSample, first: Instant, until: UsageSample, limit: Duration) -> AnswerTimes {
    let times = until.since(asked);
    let wall = until.at.saturating_duration_since(first);
    let forgiven = MAX_FORGIVEN_CPU.min(limit / 100);
    // While this thread waited for a processor the bot may already have worked, so its CPU time is charged in any case.
    let all = times.cpu > wall + forgiven && !is_off("meter");
    times.charged_at_least(if all { times.cpu } else { times.cpu.min(wall) })
}

/// Whether the bot must have worked before the request: it used more CPU time than has passed since.
pub fn worked_before(times: AnswerTimes, wall: Duration) -> bool {
    times.cpu > wall + MAX_FORGIVEN_CPU && !is_off("meter")
}

/// Maximum CPU time beyond the wall time of an answer that is not charged; at most a hundredth of the limit.
const MAX_FORGIVEN_CPU: Duration = Duration::from_micros(200);

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
/// Link count of `/proc/PID/task` for a process with one thread: itself, its parent, and the thread.
const LINKS_OF_ONE_THREAD: u64 = 3;

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

/// Steal time: how long the host of a virtual machine gave this machine's processors to others. The kernel counts it neither as
/// running nor as waiting.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StealTime(Duration);

impl StealTime {
    /// A recent figure. A new reading takes long compared with a request.
    pub fn recent() -> Self {
        thread_local! {
            static LAST: Cell<Option<(Instant, StealTime)>> = const { Cell::new(None) };
        }
        let now = Instant::now();
        let fresh = |(at, _): &(Instant, Self)| now.saturating_duration_since(*at) < MAX_STEAL_TIME_AGE;
        if let Some((_, stolen)) = LAST.get().filter(fresh) {
            return stolen;
        }
        let stolen = Self::now();
        LAST.set(Some((now, stolen)));
        stolen
    }

    /// The figure of this thread's core if it is pinned, else of all cores.
    fn now() -> Self {
        let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let name = crate::pinning::core().map_or_else(|| "cpu".to_owned(), |core| format!("cpu{core}"));
        let line = text
            .lines()
            .map(str::split_ascii_whitespace)
            .find_map(|mut words| (words.next() == Some(name.as_str())).then_some(words));
        let ticks = line.and_then(|mut words| words.nth(7)).and_then(|word| word.parse::<u64>().ok());
        let each =
            Duration::from_secs(1) / u32::try_from(rustix::param::clock_ticks_per_second()).unwrap_or(100);
        Self(each * ticks.and_then(|ticks| u32::try_from(ticks).ok()).unwrap_or(0))
    }

    /// Subtracts the steal time since then from an answer that is over its limit. The bot's own CPU time stays charged.
    pub fn subtract_from(self, times: AnswerTimes, limit: Duration) -> AnswerTimes {
        if times.charged() <= limit {
            return times;
        }
        let stolen = Self::now().0.saturating_sub(self.0);
        let rest = times.charged().saturating_sub(times.cpu);
        AnswerTimes { wait: times.wait + stolen.min(rest), ..times }
    }
}

/// Maximum age of a figure that is used as a start value.
const MAX_STEAL_TIME_AGE: Duration = Duration::from_millis(50);

/// The usage of a process with one thread, read once.
pub fn usage_of(pid: u32) -> Usage {
    File::open(format!("/proc/{pid}/schedstat")).and_then(|file| read_schedstat(&file)).unwrap_or_default()
}

/// Whether a process has threads besides the first, looked up once.
pub fn has_threads(pid: u32) -> bool {
    std::fs::metadata(format!("/proc/{pid}/task")).is_ok_and(|about| about.nlink() > LINKS_OF_ONE_THREAD)
}

/// Whether the session of a process has other processes. A bot's processes cannot leave its session. Looks at all processes.
pub fn leads_others(pid: u32) -> bool {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let others = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let session = |other: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{other}/stat")).ok()?;
        // Field 6 of the line, field 4 after the name.
        stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(3)?.parse::<u32>().ok()
    };
    others.filter(|&other| other != pid).any(|other| session(other) == Some(pid))
}

/// Whether a process with one thread has never slept voluntarily since its start. Then it always ran, was runnable, or the machine
/// made it wait: the host took the processor away (the kernel reports that only in whole ticks, see [`StealTime`]), or a page of its
/// memory had to be read from disk again.
pub fn has_never_slept(pid: u32) -> bool {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
    shows_no_sleep(&read("status"), &read("stat"))
}

/// Maximum number of sleeps for one page read from disk: one for the page, one for a reader that is already reading it.
const MAX_SLEEPS_PER_PAGE: u64 = 2;

/// A process gives up its processor voluntarily to sleep, and once more to end.
fn shows_no_sleep(status: &str, stat: &str) -> bool {
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let has_ended = field("State:").is_some_and(|state| state.starts_with(['Z', 'X']));
    let switches = field("voluntary_ctxt_switches:").and_then(|number| number.parse::<u64>().ok());
    // Field 12 of the line, field 10 after the name.
    let pages = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_ascii_whitespace().nth(9));
    let pages = pages.and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
    let involuntary = u64::from(has_ended).saturating_add(pages.saturating_mul(MAX_SLEEPS_PER_PAGE));
    switches.is_some_and(|switches| switches <= involuntary)
}

/// The times of an answer without sleep: exactly its CPU time is charged.
pub fn without_sleep(times: AnswerTimes) -> AnswerTimes {
    AnswerTimes { wait: times.wait.max(times.wall.saturating_sub(times.cpu)), ..times }
}

/// Time that this thread has waited for a processor since its start.
pub fn thread_wait() -> Duration {
    thread_local! {
        static FIGURES: Option<File> = File::open("/proc/thread-self/schedstat").ok();
    }
    FIGURES.with(|file| file.as_ref().and_then(|file| read_schedstat(file).ok()).unwrap_or_default().wait)
}

/// Whether an answer is definitely past its limit. The kernel reports a wait for a processor only when the wait ends. So a program
/// gets `grace`, and more while it is runnable (`ready`) and has used less CPU time than its limit. A program that sleeps or runs
/// gains nothing by that.
pub fn is_late(times: AnswerTimes, limit: Duration, grace: Duration, ready: impl FnOnce() -> bool) -> bool {
    times.charged().checked_sub(limit).is_some_and(|over| over > grace) && (times.cpu >= limit || !ready())
}

fn pid_is_runnable(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name may contain anything; the text after its last bracket does not.
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('R'))
}

/// Parses nanoseconds on a processor, nanoseconds waiting for one, and the number of time slices.
fn read_schedstat(file: &File) -> io::Result<Usage> {
    let mut bytes = [0; 96];
    let length = file.read_at(&mut bytes, 0)?;
    let text = std::str::from_utf8(&bytes[..length]).unwrap_or_default();
    let mut figures = text.split_ascii_whitespace().map(|word| word.parse().map(Duration::from_nanos));
    match (figures.next(), figures.next()) {
        (Some(Ok(cpu)), Some(Ok(wait))) => Ok(Usage { cpu, wait, ..Usage::default() }),
        _ => Err(io::Error::from(io::ErrorKind::InvalidData)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn sample(start: Instant, at: u32, cpu: u32, wait: u32) -> UsageSample {
        let usage = Usage { cpu: cpu * MS, wait: wait * MS, ..Usage::default() };
        UsageSample { at: start + at * MS, usage }
    }

    #[test]
    fn wait_of_threads_that_have_ended_is_not_charged() {
        let start = Instant::now();
        let reading = |at: u32, cpu: u32, group: u32, is_parallel: bool| {
            let mut reading = sample(start, at, cpu, 0);
            reading.usage.group_wait = Some(group * MS);
            reading.usage.is_parallel = is_parallel;
            reading
        };
        let before = reading(0, 10, 5, false);
        assert_eq!(
            reading(100, 50, 65, true).since(before).charged(),
            40 * MS,
            "all of the rest was waiting"
        );
        assert_eq!(reading(150, 50, 65, true).since(before).charged(), 90 * MS, "50 ms of sleep are charged");
        assert_eq!(
            reading(100, 50, 65, false).since(before).charged(),
            100 * MS,
            "the only thread did not wait"
        );
        assert_eq!(
            reading(100, 50, 900, true).since(before).charged(),
            40 * MS,
            "CPU time is charged in any case"
        );
    }

    #[test]
    fn waiting_for_a_processor_is_not_charged() {
        let start = Instant::now();
        let times = sample(start, 100, 30, 60).since(sample(start, 0, 10, 10));
        assert_eq!((times.wall, times.cpu, times.wait), (100 * MS, 20 * MS, 50 * MS));
        assert_eq!(times.charged(), 50 * MS);
    }

    #[test]
    fn runnable_process_without_a_processor_is_not_late() {
        let times = |cpu: u32| AnswerTimes { wall: 200 * MS, cpu: cpu * MS, wait: Duration::ZERO };
        let late = |cpu, ready| is_late(times(cpu), 20 * MS, 50 * MS, || ready);
        assert!(late(5, false), "it sleeps");
        assert!(!late(5, true), "it has not used its limit yet");
        assert!(late(20, true), "it has");
        assert!(!is_late(times(5), 180 * MS, 50 * MS, || false), "not yet");
        // This thread runs; the thread that waits for it sleeps.
        assert!(CpuMeter::new(std::process::id()).is_runnable() || !CpuMeter::new(0).is_runnable());
        let mut sleeper = std::process::Command::new("sleep").arg("20").spawn().unwrap();
        let meter = CpuMeter::new(sleeper.id());
        let slept = (0..500).any(|_| {
            std::thread::sleep(10 * MS);
            !meter.is_runnable()
        });
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert!(slept && !meter.is_runnable());
    }

    #[test]
    fn waiting_threads_of_one_bot_are_charged() {
        let start = Instant::now();
        let times = sample(start, 100, 80, 900).since(sample(start, 0, 0, 0));
        assert_eq!(times.charged(), 80 * MS);
        let two_cores = sample(start, 100, 190, 900).since(sample(start, 0, 0, 0));
        assert_eq!(two_cores.charged(), 100 * MS);
    }

    #[test]
    fn busy_second_thread_is_counted() {
        let meter = CpuMeter::new(std::process::id());
        let counted = || {
            let before = meter.sample();
            let busy = std::thread::spawn(|| {
                let start = Instant::now();
                while start.elapsed() < 30 * MS {}
                // The thread ends only after the reading: ended threads are not counted.
                std::thread::park();
            });
            std::thread::sleep(60 * MS);
            let times = meter.sample().since(before);
            busy.thread().unpark();
            busy.join().unwrap();
            times.cpu >= 2 * MS
        };
        // Threads of other tests may end in between, and then their time is no longer counted.
        assert!((0..20).any(|_| counted()));
    }

    #[test]
    fn steal_time_is_subtracted_and_cpu_time_is_not() {
        let before = StealTime(Duration::ZERO);
        let stolen = StealTime::now().0;
        let times = AnswerTimes { wall: stolen + 50 * MS, cpu: 30 * MS, wait: Duration::ZERO };
        assert_eq!(before.subtract_from(times, Duration::MAX), times);
        assert_eq!(
            StealTime::now().subtract_from(AnswerTimes { cpu: times.wall, ..times }, 20 * MS).charged(),
            times.wall
        );
        assert!(before.subtract_from(times, 20 * MS).charged() <= 50 * MS);
        assert!(before.subtract_from(times, 20 * MS).charged() >= 30 * MS);
    }

    #[test]
    fn process_without_sleep_is_told_from_one_that_slept() {
        let status = |state: &str, switches: u32| {
            format!(
                "Name:\tx\nState:\t{state}\nThreads:\t1\nvoluntary_ctxt_switches:\t{switches}\nnonvoluntary_ctxt_switches:\t9\n"
            )
        };
        let stat = |pages: u32| format!("7 (a) b) R 1 2 3 0 -1 64 500 0 {pages} 0 1 1\n");
        assert!(shows_no_sleep(&status("R (running)", 0), &stat(0)));
        assert!(shows_no_sleep(&status("Z (zombie)", 1), &stat(0)), "it has ended");
        assert!(!shows_no_sleep(&status("R (running)", 1), &stat(0)));
        assert!(!shows_no_sleep(&status("Z (zombie)", 2), &stat(0)));
        assert!(shows_no_sleep(&status("Z (zombie)", 5), &stat(2)), "it waited for two pages");
        assert!(!shows_no_sleep(&status("Z (zombie)", 6), &stat(2)));
        assert!(!shows_no_sleep("", ""), "nothing is known");
        let mut sleeper = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let slept = (0..12_000).any(|_| {
            std::thread::sleep(10 * MS);
            !has_never_slept(sleeper.id())
        });
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert!(slept && !has_never_slept(u32::MAX));
    }

    #[test]
    fn answer_without_sleep_is_charged_its_processor_time() {
        let stolen = AnswerTimes { wall: 60 * MS, cpu: 11 * MS, wait: 39 * MS };
        assert_eq!((stolen.charged(), without_sleep(stolen).charged()), (21 * MS, 11 * MS));
        let all = AnswerTimes { wall: 10 * MS, cpu: 11 * MS, wait: Duration::ZERO };
        assert_eq!(without_sleep(all), all);
    }

    #[test]
    fn missing_process_has_no_usage() {
        assert_eq!(CpuMeter::new(u32::MAX).read(), Usage::default());
    }
}
