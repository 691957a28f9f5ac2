//! Metrics of a worker.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime};

use agon_core::LockIgnoringPoison as _;

/// Period for rates.
const RATE_WINDOW: Duration = Duration::from_secs(10);

/// Counters since the start of the worker.
#[derive(Debug)]
pub struct WorkerMetrics {
    /// Games played.
    pub games: AtomicU64,
    /// Bot faults.
    pub faults: AtomicU64,
    /// Failed jobs.
    pub failed: AtomicU64,
    started: SystemTime,
    threads: Mutex<ThreadTimes>,
}

#[derive(Debug, Default)]
struct ThreadTimes {
    /// Start of the current job of each thread.
    playing: Vec<Option<Instant>>,
    /// Total time of finished jobs of all threads.
    busy_time: Duration,
    /// Earlier samples: time, games, busy time.
    samples: VecDeque<(Instant, u64, Duration)>,
}

/// Values for a heartbeat.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MetricsSample {
    /// Threads that play a game now.
    pub busy_threads: u32,
    /// Games per second.
    pub games_per_second: f64,
    /// Share of thread time spent on games, 0 to 1.
    pub utilization: f64,
}

impl WorkerMetrics {
    /// For this number of game threads.
    pub fn new(threads: usize) -> Self {
        let threads = ThreadTimes { playing: vec![None; threads], ..ThreadTimes::default() };
        let [games, faults, failed] = [(); 3].map(|()| AtomicU64::new(0));
        Self { games, faults, failed, started: SystemTime::now(), threads: Mutex::new(threads) }
    }

    /// Start time in milliseconds since 1970.
    pub fn started_ms(&self) -> i64 {
        self.started.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |started| started.as_millis() as i64)
    }

    /// Notes that a thread starts or ends a job.
    pub fn set_playing(&self, thread: usize, playing: bool) {
        let mut threads = self.threads();
        let Some(started_at) = threads.playing.get_mut(thread) else { return };
        let before = if playing { started_at.replace(Instant::now()) } else { started_at.take() };
        threads.busy_time += before.map_or(Duration::ZERO, |started| started.elapsed());
    }

    /// Values over the last ten seconds. Called for every heartbeat.
    pub fn sample(&self) -> MetricsSample {
        self.sample_at(Instant::now())
    }

    fn sample_at(&self, now: Instant) -> MetricsSample {
        let games = self.games.load(Relaxed);
        let mut threads = self.threads();
        let running: Duration =
            threads.playing.iter().flatten().map(|started| now.saturating_duration_since(*started)).sum();
        let busy_time = threads.busy_time + running;
        let old = |sample: &(Instant, u64, Duration)| now.saturating_duration_since(sample.0) > RATE_WINDOW;
        // Keep one older sample, so that the samples cover the whole period.
        while threads.samples.len() > 1 && threads.samples.get(1).is_some_and(old) {
            threads.samples.pop_front();
        }
        let (busy, count) = (threads.playing.iter().flatten().count() as u32, threads.playing.len().max(1));
        let sample = threads.samples.front().map_or(
            MetricsSample { busy_threads: busy, games_per_second: 0.0, utilization: 0.0 },
            |&(then, before, busy_before)| {
                let seconds = now.saturating_duration_since(then).as_secs_f64().max(1e-3);
                let used = busy_time.saturating_sub(busy_before).as_secs_f64() / (seconds * count as f64);
                MetricsSample {
                    busy_threads: busy,
                    games_per_second: (games - before) as f64 / seconds,
                    utilization: used.clamp(0.0, 1.0),
                }
            },
        );
        threads.samples.push_back((now, games, busy_time));
        sample
    }

    fn threads(&self) -> MutexGuard<'_, ThreadTimes> {
        self.threads.lock_ignoring_poison()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_rates_cover_the_last_ten_seconds() {
        let metrics = WorkerMetrics::new(2);
        let start = Instant::now();
        let at = |seconds: u64| metrics.sample_at(start + Duration::from_secs(seconds));
        assert_eq!(at(0), MetricsSample { busy_threads: 0, games_per_second: 0.0, utilization: 0.0 });
        metrics.set_playing(0, true);
        // The thread started this much after the first sample, which lowers the utilization of two threads below one half.
        let late = start.elapsed().as_secs_f64() / 4.0 / 2.0;
        metrics.games.fetch_add(40, Relaxed);
        let sample = at(4);
        assert_eq!((sample.busy_threads, sample.games_per_second), (1, 10.0));
        assert!((0.5 - late - 1e-6..=0.5).contains(&sample.utilization), "{sample:?}");
        metrics.set_playing(0, false);
        at(12);
        assert!(at(30).games_per_second < 1e-9);
        assert_eq!(at(30).busy_threads, 0);
    }
}
