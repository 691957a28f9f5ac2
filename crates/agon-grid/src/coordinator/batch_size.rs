//! How many matches make a job, and how many jobs wait: by what matches took so far.

use std::time::Duration;

/// The largest job, however short its matches: a report must stay small.
const LARGEST: u64 = 512;
/// Jobs that wait should keep everybody busy for so long.
const AHEAD: f64 = 4.0;
/// What waits is never more than everybody plays in so long.
const MOST: f64 = 55.0;
/// While nobody is there, so many jobs wait for whoever comes first.
const FIRST: u64 = 2;
/// How much of the average a report of shorter matches makes. One of longer matches is believed at once: jobs that are too small cost a little,
/// one that is too large keeps a worker for minutes.
const NEWEST: f64 = 0.2;

/// What matches take.
#[derive(Clone, Copy, Debug)]
pub struct BatchSizer {
    /// About so much work in a job, in seconds.
    batch: f64,
    /// Of one match, in seconds, as far as it is known.
    each: Option<f64>,
}

impl BatchSizer {
    /// Nothing is known yet.
    pub fn new(batch: Duration) -> Self {
        Self { batch: batch.as_secs_f64(), each: None }
    }

    /// Matches were played in this time.
    pub fn observe(&mut self, matches: usize, took: Duration) {
        if matches == 0 {
            return;
        }
        // Nobody is believed who says that it took no time, or a week.
        let each = (took.as_secs_f64() / matches as f64).clamp(1e-6, 3600.0);
        self.each = Some(self.each.map_or(each, |known| each.max(known + (each - known) * NEWEST)));
    }

    /// How many matches the next job has, with so many left for so many cores: one until something is known, and small ones at the end, so that
    /// all cores end together.
    pub fn size(&self, left: u64, cores: u64) -> u64 {
        let Some(each) = self.each else { return 1 };
        let fair = left.div_ceil(2 * cores.max(1)).clamp(1, LARGEST);
        ((self.batch / each) as u64).clamp(1, fair)
    }

    /// How many jobs of this size may be out, waiting or being played, for so many cores.
    pub fn max_jobs(&self, size: u64, cores: u64) -> u64 {
        if cores == 0 {
            return FIRST;
        }
        let Some(each) = self.each else { return 2 * cores };
        let job = each * size as f64;
        let of = |seconds: f64| (seconds / job * cores as f64) as u64;
        // One for each core is being played. What waits: at least one for each, if that is no more than the most.
        cores + of(AHEAD).max(cores).min(of(MOST)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paced(each: Duration) -> BatchSizer {
        let mut pace = BatchSizer::new(Duration::from_secs(1));
        pace.observe(1, each);
        pace
    }

    #[test]
    fn the_first_jobs_are_one_match_each() {
        let pace = BatchSizer::new(Duration::from_secs(1));
        assert_eq!((pace.size(1_000_000, 8), pace.max_jobs(1, 8), pace.max_jobs(1, 0)), (1, 16, 2));
    }

    #[test]
    fn a_job_is_about_a_second_and_the_last_ones_are_shared() {
        assert_eq!(paced(Duration::from_millis(50)).size(1_000_000, 8), 20);
        assert_eq!(paced(Duration::from_secs(10)).size(1_000_000, 8), 1);
        assert_eq!(paced(Duration::from_micros(10)).size(1_000_000, 8), LARGEST);
        assert_eq!(paced(Duration::from_millis(50)).size(32, 8), 2);
        assert_eq!(paced(Duration::from_millis(50)).size(1, 8), 1);
    }

    #[test]
    fn what_waits_is_some_seconds_and_never_a_minute() {
        assert_eq!(paced(Duration::from_millis(50)).max_jobs(20, 8), 8 + 32);
        assert_eq!(paced(Duration::from_secs(30)).max_jobs(1, 8), 8 + 8);
        assert_eq!(paced(Duration::from_secs(110)).max_jobs(1, 8), 8 + 4);
        assert_eq!(paced(Duration::from_hours(1)).max_jobs(1, 8), 8 + 1);
    }

    #[test]
    fn the_pace_follows_what_is_measured() {
        let mut pace = paced(Duration::from_secs(1));
        for _ in 0..50 {
            pace.observe(10, Duration::from_millis(100));
        }
        assert!((95..=100).contains(&pace.size(1_000_000, 1)), "{}", pace.size(1_000_000, 1));
        pace.observe(0, Duration::from_secs(1));
        pace.observe(1, Duration::ZERO);
        // Long matches among short ones: the next job is not hundreds of them.
        pace.observe(1, Duration::from_secs(2));
        assert_eq!(pace.size(1_000_000, 1), 1);
    }
}
