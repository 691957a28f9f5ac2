//! The memory limit over all processes of a bot. The kernel's own limit is for each process, and a cgroup is not always available.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use rustix::process::{Pid, getpid};

use super::policy::Limits;

/// Maximum number of processes of a bot.
const MAX_PROCESSES: usize = 4096;
/// Number of scans to skip after an exact count, which is slow, was within the limit.
const SKIPPED_SCANS: u32 = 10;

/// A bot with at most one further process gets a full scan every this many scans.
const SCANS_PER_FULL_SCAN: u32 = 5;

/// Watches the memory of a bot's processes.
pub(super) struct MemoryWatch {
    bot: i32,
    /// Processes that adopt the bot's orphans: the namespace's first process, or else the launcher or the zygote.
    adopters: Vec<i32>,
    /// All processes of the bot except the first, as of the last scan.
    others: Vec<i32>,
    limit: u64,
    skip: u32,
    scans: u32,
    scan: ProcessScan,
}

impl MemoryWatch {
    /// `None` if the bot can have only one process: then there is nothing to watch.
    pub(super) fn of(bot: Pid, first: Option<Pid>, limits: &Limits) -> Option<Self> {
        let number = |pid: Pid| pid.as_raw_nonzero().get();
        let bot = number(bot);
        // Orphans stay in their namespace.
        let mut adopters: Vec<i32> = match first {
            Some(first) => vec![number(first)],
            None => [number(getpid())].into_iter().chain(Stat::of(bot).map(|stat| stat.parent)).collect(),
        };
        adopters.dedup();
        // Allow a quarter more: ten scans a second are not exact, and private data of shared libraries counts for each process.
        let limit = limits.memory + limits.memory / 4;
        let scan = ProcessScan::at(bot, &adopters);
        (limits.processes > 1).then(|| Self {
            bot,
            adopters,
            others: Vec::new(),
            limit,
            skip: 0,
            scans: 0,
            scan,
        })
    }

    /// Whether all processes together exceed the limit.
    pub(super) fn exceeds_limit(&mut self) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.scans = (self.scans + 1) % SCANS_PER_FULL_SCAN;
        let now_and_then = self.scans == 0;
        let ScanResult { changed, all } = self.scan.run();
        let many = self.others.len() > 1;
        if changed || many || (now_and_then && !all) {
            self.others = self.find_others();
            self.scan.follow(&self.others);
        } else if !now_and_then {
            // With one child (a game's fork) the two process limits are nearly the limit for both.
            return false;
        }
        !self.others.is_empty() && self.sum_exceeds_limit()
    }

    fn sum_exceeds_limit(&mut self) -> bool {
        let own = private_bytes(self.bot);
        let each: Vec<u64> = self.others.iter().map(|&pid| private_bytes(pid)).collect();
        // A fork starts with its parent's memory, and the shared pages are counted for both.
        let twice = own.min(each.iter().copied().max().unwrap_or(0));
        if own + each.iter().sum::<u64>() - twice <= self.limit {
            return false;
        }
        // With several forks only the kernel knows the exact value, and it may refuse to tell.
        let exact: Option<u64> =
            [self.bot].iter().chain(&self.others).map(|&pid| proportional_bytes(pid)).sum();
        let too_much = exact.is_none_or(|exact| exact > self.limit);
        self.skip = if too_much { 0 } else { SKIPPED_SCANS };
        too_much
    }

    fn find_others(&self) -> Vec<i32> {
        let is_orphan = |pid: &i32| {
            // The bot's processes cannot leave its session.
            *pid != self.bot && Stat::of(*pid).is_some_and(|stat| stat.session == self.bot)
        };
        let mut found: Vec<i32> =
            self.adopters.iter().flat_map(|&pid| children_of_first_thread(pid)).filter(is_orphan).collect();
        found.extend(children(self.bot));
        let mut looked = 0;
        while looked < found.len() && found.len() < MAX_PROCESSES {
            found.extend(children(found[looked]));
            looked += 1;
        }
        // A process may have become an orphan in the meantime.
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// A cheap scan for the many bots with one or two processes: compares the lists of children and the number of threads with the
/// last scan.
struct ProcessScan {
    bot: ScannedProcess,
    adopters: Vec<ChildrenFile>,
    /// The bot's only child, if it has one.
    child: Option<(i32, ScannedProcess)>,
}

/// Result of a cheap scan.
#[derive(Clone, Copy)]
struct ScanResult {
    /// Something differs from the last scan.
    changed: bool,
    /// The scan cannot have missed a process.
    all: bool,
}

impl ProcessScan {
    fn at(bot: i32, adopters: &[i32]) -> Self {
        let adopters = adopters.iter().map(|&pid| ChildrenFile::of(pid)).collect();
        Self { bot: ScannedProcess::at(bot), adopters, child: None }
    }

    /// Also scans the bot's only child from now on; its state counts as changed at the next scan. (With more children every scan is a
    /// full one.)
    fn follow(&mut self, others: &[i32]) {
        let only = if let [only] = others { Some(*only) } else { None };
        if self.child.as_ref().map(|(pid, _)| *pid) != only {
            self.child = only.map(|pid| (pid, ScannedProcess::at(pid)));
        }
    }

    fn run(&mut self) -> ScanResult {
        let mut seen = self.bot.run();
        for list in &mut self.adopters {
            seen.changed |= list.has_changed();
        }
        if let Some((_, child)) = &mut self.child {
            let its = child.run();
            seen = ScanResult { changed: seen.changed | its.changed, all: seen.all & its.all };
        }
        seen
    }
}

/// A process in the cheap scan.
struct ScannedProcess {
    list: ChildrenFile,
    folder: Option<File>,
    links: u64,
}

impl ScannedProcess {
    fn at(pid: i32) -> Self {
        Self { list: ChildrenFile::of(pid), folder: File::open(format!("/proc/{pid}/task")).ok(), links: 0 }
    }

    fn run(&mut self) -> ScanResult {
        let links =
            self.folder.as_ref().and_then(|folder| folder.metadata().ok()).map_or(0, |about| about.nlink());
        let changed = self.list.has_changed() || links != self.links;
        self.links = links;
        // A folder has two links, plus one for each thread. Threads other than the first have their own children file.
        ScanResult { changed, all: links == 3 && self.list.file.is_some() }
    }
}

/// The children of the first thread of a process.
struct ChildrenFile {
    file: Option<File>,
    before: Vec<u8>,
}

impl ChildrenFile {
    fn of(pid: i32) -> Self {
        Self { file: File::open(format!("/proc/{pid}/task/{pid}/children")).ok(), before: Vec::new() }
    }

    fn has_changed(&mut self) -> bool {
        let mut now = [0; 1024];
        let count = self.file.as_ref().and_then(|file| file.read_at(&mut now, 0).ok()).unwrap_or(0);
        let changed = self.before[..] != now[..count];
        if changed {
            self.before = now[..count].to_vec();
        }
        changed
    }
}

/// Fields of `/proc/PID/stat`.
struct Stat {
    parent: i32,
    session: i32,
}

impl Stat {
    fn of(pid: i32) -> Option<Self> {
        let mut room = [0; 1024];
        let text = read_once(&format!("/proc/{pid}/stat"), &mut room).ok()?;
        // The name, in brackets, may contain anything.
        let after = text.iter().rposition(|&byte| byte == b')')?;
        let text = std::str::from_utf8(text.get(after + 1..)?).ok()?;
        let mut fields = text.split_whitespace().skip(1).map(|field| field.parse().ok());
        let parent = fields.next()??;
        let session = fields.nth(1)??;
        Some(Self { parent, session })
    }
}

/// Reads a short file of `/proc` with one call.
fn read_once<'r>(path: &str, room: &'r mut [u8]) -> io::Result<&'r [u8]> {
    let count = File::open(path)?.read(room)?;
    Ok(&room[..count])
}

/// All children. Each thread has its own list of them.
fn children(pid: i32) -> Vec<i32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.flat_map(|thread| listed(fs::read_to_string(thread.path().join("children")))).collect()
}

/// The children of the first thread, which adopts orphans.
fn children_of_first_thread(pid: i32) -> Vec<i32> {
    listed(fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")))
}

fn listed(text: io::Result<String>) -> Vec<i32> {
    text.unwrap_or_default().split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Bytes of resident memory that belong to no file.
fn private_bytes(pid: i32) -> u64 {
    let mut room = [0; 128];
    let text = read_once(&format!("/proc/{pid}/statm"), &mut room).unwrap_or_default();
    let text = std::str::from_utf8(text).unwrap_or_default();
    let mut pages = text.split_whitespace().skip(1).map(|field| field.parse::<u64>().unwrap_or(0));
    let (resident, of_files) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    resident.saturating_sub(of_files) * rustix::param::page_size() as u64
}

/// The same, with shared pages divided among the processes that share them. `None` if the kernel does not tell; 0 for a process
/// that has ended.
fn proportional_bytes(pid: i32) -> Option<u64> {
    let text = match fs::read_to_string(format!("/proc/{pid}/smaps_rollup")) {
        Ok(text) => text,
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Some(0),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Some(0),
        Err(_) => return None,
    };
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    };
    Some(field("Pss_Anon:").or_else(|| field("Pss:"))? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_of_this_process_is_read() {
        let own = getpid().as_raw_nonzero().get();
        let stat = Stat::of(own).unwrap();
        assert_eq!(stat.parent, Pid::as_raw(rustix::process::getppid()));
        let before = private_bytes(own);
        let taken = std::hint::black_box(vec![1_u8; 64 << 20]);
        assert!(private_bytes(own) >= before + (60 << 20), "{before}");
        assert!(proportional_bytes(own).is_none_or(|bytes| bytes >= 60 << 20));
        drop(taken);
        assert!(Stat::of(0).is_none() && private_bytes(0) == 0 && children(0).is_empty());
    }

    /// The test's session may be led from outside its namespace and then has no number, so the test creates a session.
    #[test]
    fn stat_has_the_session_of_a_process() {
        let mut child = std::process::Command::new("setsid").args(["sleep", "20"]).spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let leads = || Stat::of(pid).is_some_and(|stat| stat.session == pid);
        let seen = (0..500).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            leads()
        });
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(seen);
    }

    #[test]
    fn cheap_scan_sees_children_of_the_bot_and_of_its_only_child() {
        // It starts a child when it reads a line, and leaves it as an orphan when it ends.
        let script = "read line; sleep 20 & read line";
        let mut shell = std::process::Command::new("sh");
        let mut child = shell.args(["-c", script]).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let (own, pid) = (getpid().as_raw_nonzero().get(), i32::try_from(child.id()).unwrap());
        let mut scan = ProcessScan::at(pid, &[own]);
        let settles = |scan: &mut ProcessScan| (0..20).any(|_| !scan.run().changed);
        assert!(scan.run().changed && settles(&mut scan));
        let say = |child: &mut std::process::Child| {
            io::Write::write_all(child.stdin.as_mut().unwrap(), b"go\n").unwrap();
        };
        say(&mut child);
        let mut changes = || {
            (0..500).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(10));
                scan.run().changed
            })
        };
        assert!(changes());
        let sleeper = children(pid)[0];
        scan.follow(&[sleeper]);
        assert!(scan.run().changed, "everything is new to the first scan");
        assert!(settles(&mut scan) && scan.run().all);
        scan.follow(&[sleeper]);
        assert!(!scan.run().changed);
        rustix::process::kill_process(Pid::from_raw(sleeper).unwrap(), rustix::process::Signal::KILL)
            .unwrap();
        say(&mut child);
        child.wait().unwrap();
        assert!(scan.run().changed);
    }

    #[test]
    fn child_of_another_thread_is_seen() {
        let child = std::thread::spawn(|| std::process::Command::new("sleep").arg("20").spawn().unwrap());
        let mut child = child.join().unwrap();
        let own = getpid().as_raw_nonzero().get();
        let seen = children(own).contains(&i32::try_from(child.id()).unwrap());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(seen);
    }
}
