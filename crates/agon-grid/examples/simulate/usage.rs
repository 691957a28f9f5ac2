//! Processor time of other processes, from `/proc`.

use std::fs;

/// Seconds of processor time of a process.
pub fn own(pid: u32) -> f64 {
    fs::read_to_string(format!("/proc/{pid}/stat")).map_or(0.0, |text| ticks(&text))
}

/// Seconds of processor time of a process, and of those below it that still run.
pub fn processor(pid: u32) -> f64 {
    let below = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    own(pid) + below.split_whitespace().filter_map(|pid| pid.parse().ok()).map(processor).sum::<f64>()
}

/// Seconds of processor time of one thread of this process.
pub fn thread(tid: u32) -> f64 {
    fs::read_to_string(format!("/proc/self/task/{tid}/stat")).map_or(0.0, |text| ticks(&text))
}

/// The thread that asks.
pub fn this_thread() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get() as u32
}

/// The fields behind the name, which may hold anything: user and system time are the 12th and 13th of them, in hundredths of a second.
fn ticks(text: &str) -> f64 {
    let behind = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields = behind.split_whitespace().skip(11).take(2);
    fields.filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}
