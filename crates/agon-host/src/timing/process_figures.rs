//! What the kernel tells about a process, read once.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::time::Duration;

use super::Usage;

/// Link count of `/proc/PID/task` for a process with one thread: itself, its parent, and the thread.
pub(super) const LINKS_OF_ONE_THREAD: u64 = 3;

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
/// made it wait: the host took the processor away (the kernel reports that only in whole ticks, see [`super::StealTime`]), or a page of its
/// memory had to be read from disk again.
pub fn has_never_slept(pid: u32) -> bool {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
    shows_no_sleep(&read("status"), &read("stat"))
}

/// Maximum number of sleeps for one page read from disk: one for the page, one for a reader that is already reading it.
const MAX_SLEEPS_PER_PAGE: u64 = 2;

/// A process gives up its processor voluntarily to sleep, and once more to end.
pub(super) fn shows_no_sleep(status: &str, stat: &str) -> bool {
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let has_ended = field("State:").is_some_and(|state| state.starts_with(['Z', 'X']));
    let switches = field("voluntary_ctxt_switches:").and_then(|number| number.parse::<u64>().ok());
    // Field 12 of the line, field 10 after the name.
    let pages = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_ascii_whitespace().nth(9));
    let pages = pages.and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
    let involuntary = u64::from(has_ended).saturating_add(pages.saturating_mul(MAX_SLEEPS_PER_PAGE));
    switches.is_some_and(|switches| switches <= involuntary)
}

/// Time that this thread has waited for a processor since its start.
pub fn thread_wait() -> Duration {
    thread_local! {
        static FIGURES: Option<File> = File::open("/proc/thread-self/schedstat").ok();
    }
    FIGURES.with(|file| file.as_ref().and_then(|file| read_schedstat(file).ok()).unwrap_or_default().wait)
}

pub(super) fn pid_is_runnable(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name may contain anything; the text after its last bracket does not.
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('R'))
}

/// Parses nanoseconds on a processor, nanoseconds waiting for one, and the number of time slices.
pub(super) fn read_schedstat(file: &File) -> io::Result<Usage> {
    let mut bytes = [0; 96];
    let length = file.read_at(&mut bytes, 0)?;
    let text = std::str::from_utf8(&bytes[..length]).unwrap_or_default();
    let mut figures = text.split_ascii_whitespace().map(|word| word.parse().map(Duration::from_nanos));
    match (figures.next(), figures.next()) {
        (Some(Ok(cpu)), Some(Ok(wait))) => Ok(Usage { cpu, wait, ..Usage::default() }),
        _ => Err(io::Error::from(io::ErrorKind::InvalidData)),
    }
}
