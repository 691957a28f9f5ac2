//! CPU time of processes and threads, from `/proc`.

use std::fs;

/// CPU seconds of a process.
pub fn process_time(pid: u32) -> f64 {
    fs::read_to_string(format!("/proc/{pid}/stat")).map_or(0.0, |text| parse_stat(&text))
}

/// CPU seconds of a process and its running descendants.
pub fn process_tree_time(pid: u32) -> f64 {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    process_time(pid)
        + children.split_whitespace().filter_map(|pid| pid.parse().ok()).map(process_tree_time).sum::<f64>()
}

/// CPU seconds of one thread of this process.
pub fn thread_time(tid: u32) -> f64 {
    fs::read_to_string(format!("/proc/self/task/{tid}/stat")).map_or(0.0, |text| parse_stat(&text))
}

/// Id of the current thread.
pub fn this_thread() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get() as u32
}

/// Parses CPU seconds from a `stat` file. The fields follow the name, which may contain anything; user and system time are the 12th and
/// 13th after it, in hundredths of a second.
fn parse_stat(text: &str) -> f64 {
    let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields = rest.split_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}
