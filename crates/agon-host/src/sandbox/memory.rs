//! The memory of all of a bot's processes together. The kernel's own limit is for each of them, and a cgroup is not had everywhere.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use rustix::process::{Pid, getpid};

use super::policy::Limits;

/// No bot has more processes.
const MOST: usize = 4096;
/// So many looks are left out when the exact count, which takes a while, was not too much.
const PAUSE: u32 = 10;

/// A bot that seems to be alone is looked at thoroughly every so many looks.
const THOROUGH: u32 = 5;

/// Looks at a bot's processes.
pub(super) struct Together {
    bot: i32,
    /// Who gets the bot's orphans: the launcher, the warm parent, the namespace's first process.
    adopt: Vec<i32>,
    most: u64,
    pause: u32,
    glance: Glance,
}

impl Together {
    /// Nothing to look at if the bot can have one process only.
    pub(super) fn of(bot: Pid, first: Option<Pid>, limits: &Limits) -> Option<Self> {
        let number = |pid: Pid| pid.as_raw_nonzero().get();
        let mut adopt = vec![number(getpid())];
        adopt.extend(first.map(number));
        adopt.extend(Stat::of(number(bot)).map(|stat| stat.parent));
        adopt.sort_unstable();
        adopt.dedup();
        // Looking ten times a second is not exact, and shared libraries' own data count for each.
        let most = limits.memory + limits.memory / 4;
        let bot = number(bot);
        let glance = Glance::at(bot, &adopt);
        (limits.processes > 1).then_some(Self { bot, adopt, most, pause: 0, glance })
    }

    /// Whether all processes together have more than they may.
    pub(super) fn is_too_much(&mut self) -> bool {
        if self.pause > 0 {
            self.pause -= 1;
            return false;
        }
        if self.glance.sees_nothing_new() {
            return false;
        }
        let others = self.others();
        // With one child (a game's fork) the limits of both are nearly the limit of all: a look now and then is enough.
        self.glance.alone = others.len() <= 1;
        if others.is_empty() {
            return false;
        }
        let own = private(self.bot);
        let each: Vec<u64> = others.iter().map(|&pid| private(pid)).collect();
        // Until a fork changes it, it has the memory of the process it was forked from, and both are counted for it.
        let twice = own.min(each.iter().copied().max().unwrap_or(0));
        if own + each.iter().sum::<u64>() - twice <= self.most {
            return false;
        }
        // With more forks than one only the kernel knows, and may not want to tell.
        let exact: Option<u64> = [self.bot].iter().chain(&others).map(|&pid| share(pid)).sum();
        let too_much = exact.is_none_or(|exact| exact > self.most);
        self.pause = if too_much { 0 } else { PAUSE };
        too_much
    }

    /// All processes of the bot's but the first.
    fn others(&self) -> Vec<i32> {
        let is_orphan = |pid: &i32| {
            // Nothing of the bot's can leave its session.
            *pid != self.bot && Stat::of(*pid).is_some_and(|stat| stat.session == self.bot)
        };
        let mut found: Vec<i32> =
            self.adopt.iter().flat_map(|&pid| children_of_first_thread(pid)).filter(is_orphan).collect();
        found.extend(children(self.bot));
        let mut looked = 0;
        while looked < found.len() && found.len() < MOST {
            found.extend(children(found[looked]));
            looked += 1;
        }
        // One may have become an orphan meanwhile.
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// A look that costs next to nothing, for the many bots that are one process: whether the lists of children and the number of the
/// bot's threads are what they were.
struct Glance {
    lists: Vec<(File, Vec<u8>)>,
    threads: Option<(File, u64)>,
    alone: bool,
    looks: u32,
}

impl Glance {
    fn at(bot: i32, adopt: &[i32]) -> Self {
        let list = |pid: &i32| File::open(format!("/proc/{pid}/task/{pid}/children")).ok();
        let lists = [bot].iter().chain(adopt).filter_map(list).map(|file| (file, Vec::new())).collect();
        let threads = File::open(format!("/proc/{bot}/task")).ok().map(|folder| (folder, 0));
        Self { lists, threads, alone: false, looks: 0 }
    }

    fn sees_nothing_new(&mut self) -> bool {
        let mut same = true;
        for (file, before) in &mut self.lists {
            let mut now = [0; 1024];
            let count = file.read_at(&mut now, 0).unwrap_or(0);
            same &= before[..] == now[..count];
            before.clear();
            before.extend_from_slice(&now[..count]);
        }
        if let Some((folder, before)) = &mut self.threads {
            let now = folder.metadata().map_or(0, |about| about.nlink());
            same &= *before == now;
            *before = now;
        }
        self.looks = (self.looks + 1) % THOROUGH;
        same && self.alone && self.looks != 0
    }
}

/// What `/proc` says of a process.
struct Stat {
    parent: i32,
    session: i32,
}

impl Stat {
    fn of(pid: i32) -> Option<Self> {
        let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
        // The name, in brackets, can hold anything.
        let after = text.iter().rposition(|&byte| byte == b')')?;
        let text = std::str::from_utf8(text.get(after + 1..)?).ok()?;
        let mut fields = text.split_whitespace().skip(1).map(|field| field.parse().ok());
        let parent = fields.next()??;
        let session = fields.nth(1)??;
        Some(Self { parent, session })
    }
}

/// Each thread has its own list of what it has forked.
fn children(pid: i32) -> Vec<i32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads.flat_map(|thread| listed(fs::read_to_string(thread.path().join("children")))).collect()
}

/// Orphans come to the first thread.
fn children_of_first_thread(pid: i32) -> Vec<i32> {
    listed(fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")))
}

fn listed(text: std::io::Result<String>) -> Vec<i32> {
    text.unwrap_or_default().split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Bytes that are in memory and of no file.
fn private(pid: i32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let mut pages = text.split_whitespace().skip(1).map(|field| field.parse::<u64>().unwrap_or(0));
    let (resident, of_files) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    resident.saturating_sub(of_files) * rustix::param::page_size() as u64
}

/// The same, where a page that several processes have is divided among them. Nothing if the kernel does not say; nothing
/// is counted for a process that has ended.
fn share(pid: i32) -> Option<u64> {
    let text = match fs::read_to_string(format!("/proc/{pid}/smaps_rollup")) {
        Ok(text) => text,
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => return Some(0),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(0),
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
    fn a_process_is_described() {
        let own = getpid().as_raw_nonzero().get();
        let stat = Stat::of(own).unwrap();
        assert_eq!(stat.parent, Pid::as_raw(rustix::process::getppid()));
        let before = private(own);
        let taken = std::hint::black_box(vec![1_u8; 64 << 20]);
        assert!(private(own) >= before + (60 << 20), "{before}");
        assert!(share(own).is_none_or(|bytes| bytes >= 60 << 20));
        drop(taken);
        assert!(Stat::of(0).is_none() && private(0) == 0 && children(0).is_empty());
    }

    /// The test's own session may be led from outside its namespace and then has no number: a session is made.
    #[test]
    fn the_session_of_a_process_is_told() {
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
    fn a_child_of_another_thread_is_seen() {
        let child = std::thread::spawn(|| std::process::Command::new("sleep").arg("20").spawn().unwrap());
        let mut child = child.join().unwrap();
        let own = getpid().as_raw_nonzero().get();
        let seen = children(own).contains(&i32::try_from(child.id()).unwrap());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(seen);
    }
}
