//! Whether the database servers of this process answer: since when one is away, and when it is back. All ledgers of a database share one
//! state, so that an outage is reported once.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use agon_core::LockIgnoringPoison as _;

use crate::model::Timestamp;

/// A database that gives no answer for this long is reported as away, although the request may still succeed.
pub const NO_ANSWER_AFTER: Duration = Duration::from_secs(5);
/// How often an outage that lasts is reported again.
const OUTAGE_REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// State of the connection to a database, for readiness checks and metrics.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DatabaseStatus {
    /// Location of the database, without the password.
    pub place: String,
    /// The current outage. `None` if the last request was answered.
    pub outage: Option<DatabaseOutage>,
    /// Number of outages so far, with the current one.
    pub outages: u64,
    /// Number of failed attempts so far.
    pub failed_attempts: u64,
}

/// A time during which a database gives no answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DatabaseOutage {
    /// Time of the first request without an answer.
    pub since: Timestamp,
    /// How long it has lasted.
    pub duration: Duration,
    /// The last error.
    pub error: String,
    /// Whether requests are being retried. Otherwise the last one was given up, and the next one tries again.
    pub is_retrying: bool,
}

/// States of all databases that this process has used, by location.
pub fn connectivity() -> Vec<DatabaseStatus> {
    let monitors: Vec<Arc<DatabaseMonitor>> = all_monitors().values().cloned().collect();
    monitors.iter().map(|monitor| monitor.status()).collect()
}

fn all_monitors() -> MutexGuard<'static, BTreeMap<String, Arc<DatabaseMonitor>>> {
    static MONITORS: LazyLock<Mutex<BTreeMap<String, Arc<DatabaseMonitor>>>> = LazyLock::new(Mutex::default);
    MONITORS.lock_ignoring_poison()
}

/// Follows and reports the outages of one database.
#[derive(Debug)]
pub struct DatabaseMonitor {
    place: String,
    state: Mutex<MonitorState>,
}

#[derive(Debug, Default)]
struct MonitorState {
    outage: Option<OutageState>,
    outages: u64,
    failed_attempts: u64,
}

#[derive(Debug)]
struct OutageState {
    since: Timestamp,
    begin: Instant,
    last_report: Instant,
    error: String,
    is_retrying: bool,
}

/// What to report after an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum OutageReport {
    /// An outage began.
    Begins,
    /// It has lasted for some time.
    Lasts,
    /// It was reported a moment ago.
    Nothing,
}

impl DatabaseMonitor {
    /// The monitor of the database at this location.
    pub fn of(place: &str) -> Arc<Self> {
        let new = || Arc::new(Self { place: place.to_owned(), state: Mutex::default() });
        Arc::clone(all_monitors().entry(place.to_owned()).or_insert_with(new))
    }

    /// Current state.
    pub fn status(&self) -> DatabaseStatus {
        let state = self.state();
        let outage = state.outage.as_ref().map(|outage| DatabaseOutage {
            since: outage.since,
            duration: outage.begin.elapsed(),
            error: outage.error.clone(),
            is_retrying: outage.is_retrying,
        });
        DatabaseStatus {
            place: self.place.clone(),
            outage,
            outages: state.outages,
            failed_attempts: state.failed_attempts,
        }
    }

    /// Records that a request has had no answer since `start` and still waits for it.
    pub fn no_answer_since(&self, start: Instant) {
        self.attempt_without_answer(start, &format_args!("no answer to a request"), true);
    }

    /// Records a failed attempt that began at `start` and is repeated.
    pub fn attempt_failed(&self, start: Instant, error: &dyn Display) {
        self.state().failed_attempts += 1;
        self.attempt_without_answer(start, error, true);
    }

    /// Records a failed attempt that is not repeated, of a check.
    pub fn check_failed(&self, start: Instant, error: &dyn Display) {
        self.state().failed_attempts += 1;
        self.attempt_without_answer(start, error, false);
    }

    fn attempt_without_answer(&self, start: Instant, error: &dyn Display, is_retrying: bool) {
        let report = self.state().no_answer(start, Instant::now(), error.to_string(), is_retrying);
        let (database, seconds) = (&self.place, self.seconds_away());
        match report {
            OutageReport::Begins if is_retrying => {
                tracing::warn!(%database, %error, "the database does not answer; retrying");
            }
            OutageReport::Begins => tracing::warn!(%database, %error, "the database does not answer"),
            OutageReport::Lasts => {
                tracing::warn!(%database, seconds, %error, "the database still does not answer; retrying");
            }
            OutageReport::Nothing => {
                tracing::debug!(%database, seconds, %error, "the database still does not answer");
            }
        }
    }

    /// Records that a request was given up.
    pub fn gave_up(&self, error: &dyn Display) {
        if let Some(outage) = &mut self.state().outage {
            outage.is_retrying = false;
        }
        let (database, seconds) = (&self.place, self.seconds_away());
        tracing::error!(%database, seconds, %error, "the database does not answer; gave up a request");
    }

    /// Records an answer, which ends an outage.
    pub fn answered(&self) {
        let Some(outage) = self.state().outage.take() else { return };
        let (database, seconds) = (&self.place, outage.begin.elapsed().as_secs());
        tracing::warn!(%database, seconds, "the database answers again");
    }

    fn seconds_away(&self) -> u64 {
        self.state().outage.as_ref().map_or(0, |outage| outage.begin.elapsed().as_secs())
    }

    fn state(&self) -> MutexGuard<'_, MonitorState> {
        self.state.lock_ignoring_poison()
    }
}

impl MonitorState {
    /// Records that a request that began at `start` has no answer at `now`.
    fn no_answer(&mut self, start: Instant, now: Instant, error: String, is_retrying: bool) -> OutageReport {
        match &mut self.outage {
            None => {
                self.outages += 1;
                let before = now.saturating_duration_since(start).as_millis() as i64;
                let since = Timestamp(Timestamp::now().0 - before);
                self.outage = Some(OutageState { since, begin: start, last_report: now, error, is_retrying });
                OutageReport::Begins
            }
            Some(outage) => {
                outage.error = error;
                outage.is_retrying |= is_retrying;
                if now.saturating_duration_since(outage.last_report) < OUTAGE_REPORT_INTERVAL {
                    return OutageReport::Nothing;
                }
                outage.last_report = now;
                OutageReport::Lasts
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outage_is_reported_at_its_begin_and_then_at_intervals() {
        let mut state = MonitorState::default();
        let begin = Instant::now();
        let reports: Vec<OutageReport> = (0..24)
            .map(|second| {
                state.no_answer(begin, begin + Duration::from_secs(second), "refused".to_owned(), true)
            })
            .collect();
        for (second, report) in reports.iter().enumerate() {
            let expected = match second {
                0 => OutageReport::Begins,
                10 | 20 => OutageReport::Lasts,
                _ => OutageReport::Nothing,
            };
            assert_eq!(*report, expected, "second {second}");
        }
        assert_eq!(state.outages, 1);
    }

    #[test]
    fn database_has_one_state_for_all_ledgers_and_is_listed() {
        let monitor = DatabaseMonitor::of("ada@nowhere.example/cups");
        let listed = || {
            let all = connectivity();
            all.into_iter().find(|one| one.place == "ada@nowhere.example/cups").unwrap()
        };
        assert_eq!(listed().outage, None);
        let start = Instant::now().checked_sub(Duration::from_secs(3)).unwrap_or_else(Instant::now);
        DatabaseMonitor::of("ada@nowhere.example/cups").attempt_failed(start, &"connection refused");
        let outage = monitor.status().outage.unwrap();
        assert!(outage.is_retrying && outage.error == "connection refused");
        assert!(outage.duration >= Duration::from_secs(3) && outage.since.0 <= Timestamp::now().0 - 3_000);
        monitor.gave_up(&"connection refused");
        assert!(!listed().outage.unwrap().is_retrying);
        monitor.answered();
        let status = listed();
        assert_eq!((status.outage, status.outages, status.failed_attempts), (None, 1, 1));
    }
}
