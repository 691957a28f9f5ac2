//! All processes of a bot, as the launcher finds them in `/proc`.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use rustix::process::{Pid, getpid};

/// Maximum number of processes of a bot.
const MAX_PROCESSES: usize = 4096;

/// Every this many scans is a full one.
const SCANS_PER_FULL_SCAN: u32 = 5;

/// The processes of a bot.
pub(super) struct BotProcesses {
    bot: i32,
    /// Processes that adopt the bot's orphans: the namespace's first process, or else the launcher or the zygote.
    adopters: Vec<i32>,
    /// The first process, then all others as of the last scan.
    all: Vec<i32>,
    scans: u32,
    /// `None` if the bot can have only one process.
    scan: Option<ProcessScan>,
}

impl BotProcesses {
    /// Looks for processes if the bot may have more than one.
    pub(super) fn of(bot: Pid, first: Option<Pid>, may_fork: bool) -> Self {
        let number = |pid: Pid| pid.as_raw_nonzero().get();
        let bot = number(bot);
        // Orphans stay in their namespace.
        let mut adopters: Vec<i32> = match first {
            Some(first) => vec![number(first)],
            None => {
                [number(getpid())].into_iter().chain(ProcessStat::of(bot).map(|stat| stat.parent)).collect()
            }
        };
        adopters.dedup();
        let scan = may_fork.then(|| ProcessScan::at(bot, &adopters));
        Self { bot, adopters, all: vec![bot], scans: 0, scan }
    }

    /// All processes as of the last scan. The bot's first one comes first.
    pub(super) fn all(&self) -> &[i32] {
        &self.all
    }

    /// Looks for new and ended processes. Costs little as long as nothing has changed.
    pub(super) fn refresh(&mut self) {
        let Some(scan) = &mut self.scan else { return };
        self.scans = (self.scans + 1) % SCANS_PER_FULL_SCAN;
        // The kernel's lists can lack an entry while processes start and end, so nothing is believed for long.
        if scan.run() || self.all.len() > 2 || self.scans == 0 {
            self.find();
        }
    }

    fn find(&mut self) {
        let others = self.find_others();
        if let Some(scan) = &mut self.scan {
            scan.follow(&others);
        }
        self.all.truncate(1);
        self.all.extend(others);
    }

    fn find_others(&self) -> Vec<i32> {
        let is_orphan = |pid: &i32| {
            // The bot's processes cannot leave its session.
            *pid != self.bot && ProcessStat::of(*pid).is_some_and(|stat| stat.session == self.bot)
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

    /// Whether something differs from the last scan.
    fn run(&mut self) -> bool {
        let mut changed = self.bot.run();
        for list in &mut self.adopters {
            changed |= list.has_changed();
        }
        if let Some((_, child)) = &mut self.child {
            changed |= child.run();
        }
        changed
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

    /// Whether its children or the number of its threads differ from the last scan.
    fn run(&mut self) -> bool {
        let links =
            self.folder.as_ref().and_then(|folder| folder.metadata().ok()).map_or(0, |about| about.nlink());
        let changed = self.list.has_changed() || links != self.links;
        self.links = links;
        changed
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
pub(super) struct ProcessStat {
    pub parent: i32,
    pub session: i32,
    /// Page faults that needed no disk.
    pub faults: u64,
    /// Whether a signal has stopped it.
    pub is_stopped: bool,
}

impl ProcessStat {
    /// `None` for a process that does not exist.
    pub(super) fn of(pid: i32) -> Option<Self> {
        let mut room = [0; 1024];
        let text = read_once(&format!("/proc/{pid}/stat"), &mut room).ok()?;
        // The name, in brackets, may contain anything.
        let after = text.iter().rposition(|&byte| byte == b')')?;
        let text = std::str::from_utf8(text.get(after + 1..)?).ok()?;
        let mut fields = text.split_whitespace();
        let is_stopped = fields.next()? == "T";
        let parent = fields.next()?.parse().ok()?;
        let session = fields.nth(1)?.parse().ok()?;
        let faults = fields.nth(3)?.parse().ok()?;
        Some(Self { parent, session, faults, is_stopped })
    }
}

/// Reads a short file of `/proc` with one call.
pub(super) fn read_once<'r>(path: &str, room: &'r mut [u8]) -> io::Result<&'r [u8]> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_of_this_process_is_read() {
        let own = getpid().as_raw_nonzero().get();
        let stat = ProcessStat::of(own).unwrap();
        assert_eq!(stat.parent, Pid::as_raw(rustix::process::getppid()));
        let taken = std::hint::black_box(vec![1_u8; 64 << 20]);
        assert!(ProcessStat::of(own).unwrap().faults > stat.faults);
        drop(taken);
        assert!(ProcessStat::of(0).is_none() && children(0).is_empty());
    }

    /// The test's session may be led from outside its namespace and then has no number, so the test creates a session.
    #[test]
    fn stat_has_the_session_of_a_process() {
        let mut child = std::process::Command::new("setsid").args(["sleep", "20"]).spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let leads = || ProcessStat::of(pid).is_some_and(|stat| stat.session == pid);
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
        let settles = |scan: &mut ProcessScan| (0..20).any(|_| !scan.run());
        assert!(scan.run() && settles(&mut scan));
        let say = |child: &mut std::process::Child| {
            io::Write::write_all(child.stdin.as_mut().unwrap(), b"go\n").unwrap();
        };
        say(&mut child);
        let mut changes = || {
            (0..500).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(10));
                scan.run()
            })
        };
        assert!(changes());
        let sleeper = children(pid)[0];
        scan.follow(&[sleeper]);
        assert!(scan.run(), "everything is new to the first scan");
        assert!(settles(&mut scan));
        scan.follow(&[sleeper]);
        assert!(!scan.run());
        rustix::process::kill_process(Pid::from_raw(sleeper).unwrap(), rustix::process::Signal::KILL)
            .unwrap();
        say(&mut child);
        child.wait().unwrap();
        assert!(scan.run());
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
