//! Time that the host of a virtual machine gave to others.

use std::cell::Cell;
use std::time::{Duration, Instant};

use agon_core::AnswerTimes;

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

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

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
}
