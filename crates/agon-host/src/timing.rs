//! What an answer cost, measured from outside: the kernel's own figures about a process.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::time::{Duration, Instant};

use agon_core::AnswerTimes;

/// What a process has used since it was started.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Usage {
    /// On a processor, all threads together.
    pub cpu: Duration,
    /// Ready to run, but waiting for a processor, all threads together.
    pub wait: Duration,
}

impl Usage {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { cpu: self.cpu + other.cpu, wait: self.wait + other.wait }
    }
}

/// A moment in the life of a process.
#[derive(Clone, Copy, Debug)]
pub struct UsageSample {
    /// When.
    pub at: Instant,
    /// What it had used by then.
    pub usage: Usage,
}

impl UsageSample {
    /// What passed from an earlier moment to this one.
    ///
    /// Waiting is never more than what is left of the wall time without the processor time: the threads of one bot that
    /// wait for each other's processor do not make its time stand still.
    pub fn since(self, earlier: Self) -> AnswerTimes {
        let wall = self.at.saturating_duration_since(earlier.at);
        let cpu = self.usage.cpu.saturating_sub(earlier.usage.cpu);
        let wait = self.usage.wait.saturating_sub(earlier.usage.wait);
        AnswerTimes { wall, cpu, wait: wait.min(wall.saturating_sub(cpu)) }
    }
}

/// What passed from a question to a moment. The question was on its way at `first` at the earliest: while we ourselves
/// waited for a processor the bot may have been at work already, so what it has used is charged in any case. And one
/// that has children waits for a processor that they have.
pub fn since_asked(
    asked: UsageSample,
    first: Instant,
    until: UsageSample,
    has_children: bool,
) -> AnswerTimes {
    let mut times = until.since(asked);
    if has_children {
        times.wait = Duration::ZERO;
    }
    times.charged_at_least(times.cpu.min(until.at.saturating_duration_since(first)))
}

/// Reads what a process has used. The files stay open: a reading costs a few microseconds.
#[derive(Debug)]
pub struct CpuMeter {
    tasks: Option<File>,
    leader: Option<File>,
    children: Option<File>,
    pid: u32,
}

/// Who is with a process: threads besides its first, and children.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TaskFlags {
    /// It has threads besides the first.
    pub threads: bool,
    /// It has children.
    pub children: bool,
}

impl TaskFlags {
    /// Nobody.
    pub const NONE: Self = Self { threads: false, children: false };

    /// Whether there is anybody.
    pub const fn is_there(self) -> bool {
        self.threads || self.children
    }
}

/// Links of `/proc/PID/task` for a process of one thread: itself, its parent, and the thread.
const LINKS_OF_ONE_THREAD: u64 = 3;

impl CpuMeter {
    /// A meter of this process. Where the kernel keeps no such figures, every reading is zero, so that the wall time is
    /// what is charged.
    pub fn new(pid: u32) -> Self {
        let tasks = File::open(format!("/proc/{pid}/task")).ok();
        let leader = File::open(format!("/proc/{pid}/schedstat")).ok();
        let children = File::open(format!("/proc/{pid}/task/{pid}/children")).ok();
        Self { tasks, leader, children, pid }
    }

    /// What it has used until now. A thread that has ended is no longer counted.
    pub fn read(&self) -> Usage {
        self.read_with(self.company())
    }

    /// The same, when it is known who is with it.
    pub fn read_with(&self, company: TaskFlags) -> Usage {
        let Some(leader) = &self.leader else { return Usage::default() };
        let own = if company.threads { self.read_threads() } else { read_figures(leader) };
        let mut usage = own.unwrap_or_default();
        // What its children think, it thinks.
        if company.children {
            usage.cpu += self.read_children().cpu;
        }
        usage
    }

    /// The same for a process that can have no other thread.
    pub fn read_single(&self) -> Usage {
        self.leader.as_ref().and_then(|leader| read_figures(leader).ok()).unwrap_or_default()
    }

    fn has_threads(&self) -> bool {
        let about = self.tasks.as_ref().and_then(|tasks| tasks.metadata().ok());
        about.is_some_and(|about| about.nlink() > LINKS_OF_ONE_THREAD)
    }

    fn read_threads(&self) -> io::Result<Usage> {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.pid))?.flatten();
        let usage = threads.filter_map(|thread| {
            let file = File::open(thread.path().join("schedstat")).ok()?;
            read_figures(&file).ok()
        });
        Ok(usage.fold(Usage::default(), Usage::plus))
    }

    /// What its children have used, those that run or wait to be reaped.
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

    /// Whether it stands ready to run just now. How long it has waited for that the kernel tells only when the wait is over.
    pub fn is_runnable(&self) -> bool {
        stands_ready(self.pid)
    }

    /// Whether one of its children does.
    pub fn child_stands_ready(&self) -> bool {
        self.pids_of_children().any(stands_ready)
    }

    /// Who is with it now.
    pub fn company(&self) -> TaskFlags {
        TaskFlags { threads: self.has_threads(), children: self.has_children() }
    }

    /// Whether it has children.
    pub fn has_children(&self) -> bool {
        let mut first = [0; 1];
        self.children.as_ref().is_some_and(|file| file.read_at(&mut first, 0).is_ok_and(|count| count > 0))
    }

    /// Now, and what it has used.
    pub fn mark(&self) -> UsageSample {
        UsageSample { at: Instant::now(), usage: self.read() }
    }
}

/// How long processors of this machine were taken away from it: a virtual machine's host gave them to others. The kernel
/// counts that neither as running nor as waiting.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StealTime(Duration);

impl StealTime {
    /// A figure from a moment ago: looking it up takes long compared with a question.
    pub fn lately() -> Self {
        thread_local! {
            static LAST: Cell<Option<(Instant, StealTime)>> = const { Cell::new(None) };
        }
        let now = Instant::now();
        let fresh = |(at, _): &(Instant, Self)| now.saturating_duration_since(*at) < STOLEN_IS_FRESH;
        if let Some((_, stolen)) = LAST.get().filter(fresh) {
            return stolen;
        }
        let stolen = Self::now();
        LAST.set(Some((now, stolen)));
        stolen
    }

    /// Of the core this thread is on, if it stays there; else of all.
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

    /// Takes what was stolen since then off the time of an answer that is over its limit. What the bot has used itself
    /// stays.
    pub fn subtract_from(self, times: AnswerTimes, limit: Duration) -> AnswerTimes {
        if times.charged() <= limit {
            return times;
        }
        let stolen = Self::now().0.saturating_sub(self.0);
        let rest = times.charged().saturating_sub(times.cpu);
        AnswerTimes { wait: times.wait + stolen.min(rest), ..times }
    }
}

/// So old may a figure be that is taken as the beginning.
const STOLEN_IS_FRESH: Duration = Duration::from_millis(50);

/// What a process of one thread has used, read once.
pub fn used_by(pid: u32) -> Usage {
    File::open(format!("/proc/{pid}/schedstat")).and_then(|file| read_figures(&file)).unwrap_or_default()
}

/// Whether a process of one thread has never slept of its own accord since it was started. All its time it had a processor or stood ready for
/// one, or the machine kept it waiting: its host took the processor away (the kernel tells of that in whole ticks only, see [`StealTime`]), or a
/// page of its memory had to be read from the disk again.
pub fn has_never_slept(pid: u32) -> bool {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
    tells_of_no_sleep(&read("status"), &read("stat"))
}

/// A page that is read from the disk makes a process wait so often at most: for the page, and for who reads it already.
const SLEEPS_A_PAGE: u64 = 2;

/// A process gives up its processor by itself to sleep, and once more to end.
fn tells_of_no_sleep(status: &str, stat: &str) -> bool {
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let has_ended = field("State:").is_some_and(|state| state.starts_with(['Z', 'X']));
    let switches = field("voluntary_ctxt_switches:").and_then(|number| number.parse::<u64>().ok());
    // The twelfth field, the tenth behind the name.
    let pages = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_ascii_whitespace().nth(9));
    let pages = pages.and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
    let not_its_own = u64::from(has_ended).saturating_add(pages.saturating_mul(SLEEPS_A_PAGE));
    switches.is_some_and(|switches| switches <= not_its_own)
}

/// The times of an answer that took nothing but processor time: what is charged is just that.
pub fn without_sleep(times: AnswerTimes) -> AnswerTimes {
    AnswerTimes { wait: times.wait.max(times.wall.saturating_sub(times.cpu)), ..times }
}

/// How long this very thread has waited for a processor since it was started.
pub fn own_wait() -> Duration {
    thread_local! {
        static FIGURES: Option<File> = File::open("/proc/thread-self/schedstat").ok();
    }
    FIGURES.with(|file| file.as_ref().and_then(|file| read_figures(file).ok()).unwrap_or_default().wait)
}

/// Whether an answer is past its limit for good. What the kernel says of a program's waiting for a processor is behind by the stretch it
/// waits for now: so it gets a little more, and as much more as it needs while it stands ready (`ready`) and has not had its limit of
/// processor time. A program that sleeps or is at work gains nothing by that.
pub fn is_late(times: AnswerTimes, limit: Duration, grace: Duration, ready: impl FnOnce() -> bool) -> bool {
    times.charged().checked_sub(limit).is_some_and(|over| over > grace) && (times.cpu >= limit || !ready())
}

fn stands_ready(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Its name may hold anything; what comes behind its last bracket does not.
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('R'))
}

/// Nanoseconds on a processor, nanoseconds waiting for one, and how often it had one.
fn read_figures(file: &File) -> io::Result<Usage> {
    let mut bytes = [0; 96];
    let length = file.read_at(&mut bytes, 0)?;
    let text = std::str::from_utf8(&bytes[..length]).unwrap_or_default();
    let mut figures = text.split_ascii_whitespace().map(|word| word.parse().map(Duration::from_nanos));
    match (figures.next(), figures.next()) {
        (Some(Ok(cpu)), Some(Ok(wait))) => Ok(Usage { cpu, wait }),
        _ => Err(io::Error::from(io::ErrorKind::InvalidData)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn mark(start: Instant, at: u32, cpu: u32, wait: u32) -> UsageSample {
        UsageSample { at: start + at * MS, usage: Usage { cpu: cpu * MS, wait: wait * MS } }
    }

    #[test]
    fn waiting_for_a_processor_is_not_charged() {
        let start = Instant::now();
        let times = mark(start, 100, 30, 60).since(mark(start, 0, 10, 10));
        assert_eq!((times.wall, times.cpu, times.wait), (100 * MS, 20 * MS, 50 * MS));
        assert_eq!(times.charged(), 50 * MS);
    }

    #[test]
    fn who_stands_ready_without_a_processor_is_waited_for() {
        let times = |cpu: u32| AnswerTimes { wall: 200 * MS, cpu: cpu * MS, wait: Duration::ZERO };
        let late = |cpu, ready| is_late(times(cpu), 20 * MS, 50 * MS, || ready);
        assert!(late(5, false), "it sleeps");
        assert!(!late(5, true), "it has not had its limit yet");
        assert!(late(20, true), "it has");
        assert!(!is_late(times(5), 180 * MS, 50 * MS, || false), "not yet");
        // This thread runs; whoever waits for it sleeps.
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
    fn many_waiting_threads_do_not_make_time_free() {
        let start = Instant::now();
        let times = mark(start, 100, 80, 900).since(mark(start, 0, 0, 0));
        assert_eq!(times.charged(), 80 * MS);
        let two_cores = mark(start, 100, 190, 900).since(mark(start, 0, 0, 0));
        assert_eq!(two_cores.charged(), 100 * MS);
    }

    #[test]
    fn a_busy_thread_besides_the_first_is_counted() {
        let meter = CpuMeter::new(std::process::id());
        let counted = || {
            let before = meter.mark();
            let busy = std::thread::spawn(|| {
                let start = Instant::now();
                while start.elapsed() < 30 * MS {}
                // Ends only after the reading: a thread that has ended is not counted.
                std::thread::park();
            });
            std::thread::sleep(60 * MS);
            let times = meter.mark().since(before);
            busy.thread().unpark();
            busy.join().unwrap();
            times.cpu >= 2 * MS
        };
        // Threads of other tests that end in between take their time with them.
        assert!((0..20).any(|_| counted()));
    }

    #[test]
    fn what_was_stolen_is_forgiven_and_what_was_used_is_not() {
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
    fn process_that_never_slept_is_told_from_one_that_did() {
        let status = |state: &str, switches: u32| {
            format!(
                "Name:\tx\nState:\t{state}\nThreads:\t1\nvoluntary_ctxt_switches:\t{switches}\nnonvoluntary_ctxt_switches:\t9\n"
            )
        };
        let stat = |pages: u32| format!("7 (a) b) R 1 2 3 0 -1 64 500 0 {pages} 0 1 1\n");
        assert!(tells_of_no_sleep(&status("R (running)", 0), &stat(0)));
        assert!(tells_of_no_sleep(&status("Z (zombie)", 1), &stat(0)), "it has ended");
        assert!(!tells_of_no_sleep(&status("R (running)", 1), &stat(0)));
        assert!(!tells_of_no_sleep(&status("Z (zombie)", 2), &stat(0)));
        assert!(tells_of_no_sleep(&status("Z (zombie)", 5), &stat(2)), "it waited for two pages");
        assert!(!tells_of_no_sleep(&status("Z (zombie)", 6), &stat(2)));
        assert!(!tells_of_no_sleep("", ""), "nothing is known");
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
    fn of_a_process_that_is_not_there_nothing_is_known() {
        assert_eq!(CpuMeter::new(u32::MAX).read(), Usage::default());
    }
}
