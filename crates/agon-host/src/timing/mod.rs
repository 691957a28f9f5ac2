//! The cost of an answer, measured from outside with the kernel's figures about a process.
//!
//! - [`cpu_meter`]: the usage of one bot, read while it runs
//! - [`process_figures`]: what the kernel tells about a process, read once
//! - [`steal_time`]: time that the host of a virtual machine gave to others

mod cpu_meter;
mod process_figures;
mod steal_time;

use std::time::{Duration, Instant};

use agon_core::AnswerTimes;

pub use self::cpu_meter::{CpuMeter, TaskFlags};
pub use self::process_figures::{has_never_slept, has_threads, leads_others, thread_wait, usage_of};
pub use self::steal_time::StealTime;
use crate::test_switches::is_off;

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

/// The times of an answer without sleep: exactly its CPU time is charged.
pub fn without_sleep(times: AnswerTimes) -> AnswerTimes {
    AnswerTimes { wait: times.wait.max(times.wall.saturating_sub(times.cpu)), ..times }
}

/// Whether an answer is definitely past its limit. The kernel reports a wait for a processor only when the wait ends. So a program
/// gets `grace`, and more while it is runnable (`ready`) and has used less CPU time than its limit. A program that sleeps or runs
/// gains nothing by that.
pub fn is_late(times: AnswerTimes, limit: Duration, grace: Duration, ready: impl FnOnce() -> bool) -> bool {
    times.charged().checked_sub(limit).is_some_and(|over| over > grace) && (times.cpu >= limit || !ready())
}

#[cfg(test)]
mod tests;
