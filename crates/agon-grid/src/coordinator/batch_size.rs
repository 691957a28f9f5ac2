//! Chooses the number of matches in a job and the number of published jobs, from the match durations so far.

use std::time::Duration;

/// Maximum number of matches in a job. Keeps reports small when matches are short.
const MAX_MATCHES_PER_JOB: u64 = 512;
/// Waiting jobs should keep all workers busy for this time.
const QUEUE_AHEAD_SECONDS: f64 = 4.0;
/// Waiting jobs never hold more work than all workers do in this time.
const MAX_QUEUE_SECONDS: f64 = 55.0;
/// Number of published jobs while no worker is connected.
const JOBS_WITHOUT_WORKERS: u64 = 2;
/// Weight of each shorter match in the moving average. Longer matches replace the average at once: jobs that are too small cost
/// little, but a job that is too large keeps a worker busy for minutes.
const NEW_SAMPLE_WEIGHT: f64 = 0.2;

/// Adapts the job size to the measured match duration.
#[derive(Clone, Copy, Debug)]
pub struct BatchSizer {
    /// Target duration of a job.
    target_seconds: f64,
    /// Average duration of a match, if known.
    seconds_per_match: Option<f64>,
}

impl BatchSizer {
    /// Starts without measurements.
    pub fn new(batch: Duration) -> Self {
        Self { target_seconds: batch.as_secs_f64(), seconds_per_match: None }
    }

    /// Adds a measurement.
    pub fn observe(&mut self, matches: usize, duration: Duration) {
        if matches == 0 {
            return;
        }
        // Clamp, because workers may report implausible durations.
        let seconds = (duration.as_secs_f64() / matches as f64).clamp(1e-6, 3600.0);
        let weight = 1.0 - (1.0 - NEW_SAMPLE_WEIGHT).powi(matches.min(1000) as i32);
        self.seconds_per_match = Some(
            self.seconds_per_match.map_or(seconds, |known| seconds.max(known + (seconds - known) * weight)),
        );
    }

    /// Average duration of a match, if known.
    pub const fn seconds_per_match(&self) -> Option<f64> {
        self.seconds_per_match
    }

    /// Number of matches in the next job, for `left` remaining matches. One until a duration is known. Smaller jobs near the end let all
    /// cores finish at the same time.
    pub fn matches_per_job(&self, left: u64, cores: u64) -> u64 {
        let Some(seconds) = self.seconds_per_match else { return 1 };
        let fair = left.div_ceil(2 * cores.max(1)).clamp(1, MAX_MATCHES_PER_JOB);
        ((self.target_seconds / seconds) as u64).clamp(1, fair)
    }

    /// Maximum number of published jobs of this size, waiting or being played.
    pub fn max_jobs(&self, size: u64, cores: u64) -> u64 {
        if cores == 0 {
            return JOBS_WITHOUT_WORKERS;
        }
        let Some(seconds) = self.seconds_per_match else { return 2 * cores };
        let job = seconds * size as f64;
        let jobs_in = |seconds: f64| (seconds / job * cores as f64) as u64;
        // One job per core is being played. At least one per core waits, unless that exceeds the maximum.
        cores + jobs_in(QUEUE_AHEAD_SECONDS).max(cores).min(jobs_in(MAX_QUEUE_SECONDS)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizer_with(seconds: Duration) -> BatchSizer {
        let mut sizer = BatchSizer::new(Duration::from_secs(1));
        sizer.observe(1, seconds);
        sizer
    }

    #[test]
    fn batch_size_without_measurements_is_one_match() {
        let sizer = BatchSizer::new(Duration::from_secs(1));
        assert_eq!(
            (sizer.matches_per_job(1_000_000, 8), sizer.max_jobs(1, 8), sizer.max_jobs(1, 0)),
            (1, 16, 2)
        );
    }

    #[test]
    fn matches_per_job_fills_the_target_and_shrinks_at_the_end() {
        assert_eq!(sizer_with(Duration::from_millis(50)).matches_per_job(1_000_000, 8), 20);
        assert_eq!(sizer_with(Duration::from_secs(10)).matches_per_job(1_000_000, 8), 1);
        assert_eq!(sizer_with(Duration::from_micros(10)).matches_per_job(1_000_000, 8), MAX_MATCHES_PER_JOB);
        assert_eq!(sizer_with(Duration::from_millis(50)).matches_per_job(32, 8), 2);
        assert_eq!(sizer_with(Duration::from_millis(50)).matches_per_job(1, 8), 1);
    }

    #[test]
    fn max_jobs_covers_some_seconds_and_never_a_minute() {
        assert_eq!(sizer_with(Duration::from_millis(50)).max_jobs(20, 8), 8 + 32);
        assert_eq!(sizer_with(Duration::from_secs(30)).max_jobs(1, 8), 8 + 8);
        assert_eq!(sizer_with(Duration::from_secs(110)).max_jobs(1, 8), 8 + 4);
        assert_eq!(sizer_with(Duration::from_hours(1)).max_jobs(1, 8), 8 + 1);
    }

    #[test]
    fn observe_adapts_to_measured_durations() {
        let mut sizer = sizer_with(Duration::from_secs(1));
        for _ in 0..50 {
            sizer.observe(10, Duration::from_millis(100));
        }
        assert!(
            (95..=100).contains(&sizer.matches_per_job(1_000_000, 1)),
            "{}",
            sizer.matches_per_job(1_000_000, 1)
        );
        sizer.observe(0, Duration::from_secs(1));
        sizer.observe(1, Duration::ZERO);
        // One long match among short ones: the next job must not hold hundreds of them.
        sizer.observe(1, Duration::from_secs(2));
        assert_eq!(sizer.matches_per_job(1_000_000, 1), 1);
    }
}
