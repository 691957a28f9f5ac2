//! How busy a worker is.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Rates are over so long.
const WINDOW: Duration = Duration::from_secs(10);

/// Counts since a worker started.
#[derive(Debug)]
pub struct WorkerMetrics {
    /// Games that were played.
    pub games: AtomicU64,
    /// Faults of bots in them.
    pub faults: AtomicU64,
    /// Jobs that failed.
    pub failed: AtomicU64,
    since: SystemTime,
    lanes: Mutex<ThreadTimes>,
}

#[derive(Debug, Default)]
struct ThreadTimes {
    /// Since when each of them plays.
    playing: Vec<Option<Instant>>,
    /// For how long all of them have played.
    spent: Duration,
    /// When it was looked at: games and time spent by then.
    looks: VecDeque<(Instant, u64, Duration)>,
}

/// What a beat says of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MetricsSample {
    /// How many lanes play just now.
    pub busy: u32,
    /// Games a second.
    pub rate: f64,
    /// The share of the lanes' time that went into games.
    pub used: f64,
}

impl WorkerMetrics {
    /// For so many lanes.
    pub fn new(lanes: usize) -> Self {
        let lanes = ThreadTimes { playing: vec![None; lanes], ..ThreadTimes::default() };
        let [games, faults, failed] = [(); 3].map(|()| AtomicU64::new(0));
        Self { games, faults, failed, since: SystemTime::now(), lanes: Mutex::new(lanes) }
    }

    /// When it started: milliseconds since 1970.
    pub fn since_ms(&self) -> i64 {
        self.since.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
    }

    /// A lane begins to play, or ends.
    pub fn plays(&self, lane: usize, plays: bool) {
        let mut lanes = self.lanes();
        let Some(place) = lanes.playing.get_mut(lane) else { return };
        let before = if plays { place.replace(Instant::now()) } else { place.take() };
        lanes.spent += before.map_or(Duration::ZERO, |since| since.elapsed());
    }

    /// How it is over the last ten seconds. Looked at with every beat.
    pub fn read(&self) -> MetricsSample {
        self.read_at(Instant::now())
    }

    fn read_at(&self, now: Instant) -> MetricsSample {
        let games = self.games.load(Relaxed);
        let mut lanes = self.lanes();
        let on: Duration =
            lanes.playing.iter().flatten().map(|since| now.saturating_duration_since(*since)).sum();
        let spent = lanes.spent + on;
        let old = |look: &(Instant, u64, Duration)| now.saturating_duration_since(look.0) > WINDOW;
        // One that is older stays, so that all of the window is covered.
        while lanes.looks.len() > 1 && lanes.looks.get(1).is_some_and(old) {
            lanes.looks.pop_front();
        }
        let (busy, all) = (lanes.playing.iter().flatten().count() as u32, lanes.playing.len().max(1));
        let reading = lanes.looks.front().map_or(
            MetricsSample { busy, rate: 0.0, used: 0.0 },
            |&(then, before, spent_before)| {
                let seconds = now.saturating_duration_since(then).as_secs_f64().max(1e-3);
                let used = spent.saturating_sub(spent_before).as_secs_f64() / (seconds * all as f64);
                MetricsSample { busy, rate: (games - before) as f64 / seconds, used: used.clamp(0.0, 1.0) }
            },
        );
        lanes.looks.push_back((now, games, spent));
        reading
    }

    fn lanes(&self) -> MutexGuard<'_, ThreadTimes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_of_the_last_ten_seconds() {
        let meters = WorkerMetrics::new(2);
        let begun = Instant::now();
        let at = |seconds: u64| meters.read_at(begun + Duration::from_secs(seconds));
        assert_eq!(at(0), MetricsSample { busy: 0, rate: 0.0, used: 0.0 });
        meters.plays(0, true);
        // By so much less than half is used: one of two lanes plays since then at the latest.
        let late = begun.elapsed().as_secs_f64() / 4.0 / 2.0;
        meters.games.fetch_add(40, Relaxed);
        let reading = at(4);
        assert_eq!((reading.busy, reading.rate), (1, 10.0));
        assert!((0.5 - late - 1e-6..=0.5).contains(&reading.used), "{reading:?}");
        meters.plays(0, false);
        at(12);
        assert!(at(30).rate < 1e-9);
        assert_eq!(at(30).busy, 0);
    }
}
