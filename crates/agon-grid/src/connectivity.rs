//! Whether the NATS server answers: since when it is away, how often it was, and messages about it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_nats::Event;
use tokio::sync::watch;

/// Interval at which a long outage is reported again.
const REMINDER_INTERVAL: Duration = Duration::from_mins(1);

/// State of a connection and its history. Clones share it.
#[derive(Clone)]
pub struct Connectivity(Arc<ConnectionState>);

struct ConnectionState {
    history: Mutex<History>,
    /// Changes when the connection is lost or established.
    changes: watch::Sender<Option<Outage>>,
}

#[derive(Debug)]
struct History {
    /// Start of the current or last connection.
    connected_since: Instant,
    outage: Option<Outage>,
    outages: u64,
    /// Total time of the outages that have ended.
    away: Duration,
}

/// An outage of the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    /// Start, by the monotonic clock.
    pub since: Instant,
    /// Start, by the clock of this machine.
    pub since_clock: SystemTime,
}

impl Outage {
    fn now() -> Self {
        Self { since: Instant::now(), since_clock: SystemTime::now() }
    }
}

/// Figures of a connection, for metrics.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ConnectivityStats {
    /// Whether the server answers.
    pub is_connected: bool,
    /// Number of outages since the start.
    pub outages: u64,
    /// Total time of all outages, including the current one.
    pub away: Duration,
}

impl Default for Connectivity {
    fn default() -> Self {
        let history =
            History { connected_since: Instant::now(), outage: None, outages: 0, away: Duration::ZERO };
        Self(Arc::new(ConnectionState { history: Mutex::new(history), changes: watch::Sender::new(None) }))
    }
}

impl fmt::Debug for Connectivity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.history().fmt(f)
    }
}

impl Connectivity {
    fn history(&self) -> MutexGuard<'_, History> {
        self.0.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an event of the client library.
    pub(crate) fn note(&self, event: &Event) {
        match event {
            Event::Connected => self.set(None),
            Event::Disconnected | Event::Closed => self.set(Some(Outage::now())),
            _ => {}
        }
    }

    fn set(&self, outage: Option<Outage>) {
        let mut history = self.history();
        match (history.outage, outage) {
            (None, Some(_)) => {
                history.outages += 1;
                history.outage = outage;
            }
            (Some(before), None) => {
                history.away += before.since.elapsed();
                (history.outage, history.connected_since) = (None, Instant::now());
            }
            _ => return,
        }
        drop(history);
        self.0.changes.send_replace(outage);
    }

    /// The current outage, if the server is away.
    pub fn outage(&self) -> Option<Outage> {
        self.history().outage
    }

    /// Whether the connection was lost since then.
    pub fn was_lost_since(&self, then: Instant) -> bool {
        let history = self.history();
        history.outage.is_some() || history.connected_since > then
    }

    /// Time without a message from a sender that was last heard at `last_heard`. Outages of the server do not count: then no message can
    /// arrive, and after an outage every sender has the whole time again.
    pub fn silence(&self, last_heard: Instant, now: Instant) -> Duration {
        let history = self.history();
        let until = history.outage.map_or(now, |outage| outage.since);
        // Before the first outage, only another program can have heard a sender before this connection began.
        let is_first = history.outages == 0;
        let from = if is_first { last_heard } else { last_heard.max(history.connected_since) };
        until.saturating_duration_since(from)
    }

    /// Figures for metrics.
    pub fn stats(&self) -> ConnectivityStats {
        let history = self.history();
        let current = history.outage.map_or(Duration::ZERO, |outage| outage.since.elapsed());
        ConnectivityStats {
            is_connected: history.outage.is_none(),
            outages: history.outages,
            away: history.away + current,
        }
    }

    /// Reports every outage that lasts for `notice_after`: what is away, since when and what is done meanwhile, once a minute, and its
    /// end. Runs until it is dropped.
    pub async fn report_outages(
        &self,
        server: &str,
        notice_after: Duration,
        meanwhile: &str,
        tell: impl Fn(&str),
    ) {
        let mut changes = self.0.changes.subscribe();
        loop {
            let Ok(found) = changes.wait_for(Option::is_some).await.map(|found| *found) else { return };
            let Some(outage) = found else { continue };
            let mut notice_at = notice_after;
            loop {
                let wait = notice_at.saturating_sub(outage.since.elapsed());
                match tokio::time::timeout(wait, changes.wait_for(|now| *now != Some(outage))).await {
                    Ok(Ok(_)) => break,
                    Ok(Err(_)) => return,
                    Err(_) => {
                        let (seconds, since) = (outage.since.elapsed().as_secs(), clock(outage.since_clock));
                        tell(&format!(
                            "the NATS server at {server} does not answer since {since} UTC ({seconds} s); {meanwhile}"
                        ));
                        notice_at = outage.since.elapsed() + REMINDER_INTERVAL;
                    }
                }
            }
            if outage.since.elapsed() >= notice_after {
                let seconds = outage.since.elapsed().as_secs_f64();
                tell(&format!("the NATS server at {server} is back after {seconds:.0} s"));
            }
        }
    }
}

/// Time of the day, UTC.
fn clock(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()) % 86_400;
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_does_not_count_outages() {
        let connectivity = Connectivity::default();
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        assert_eq!(connectivity.silence(start, start + 7 * second), 7 * second);
        connectivity.note(&Event::Disconnected);
        assert!(connectivity.silence(start, start + 60 * second) < second, "the server is away");
        connectivity.note(&Event::Connected);
        let back = Instant::now();
        assert!(connectivity.silence(start, back) < second, "the sender has the whole time again");
        assert!(connectivity.silence(start, back + 7 * second) >= 7 * second);
        let stats = connectivity.stats();
        assert_eq!((stats.is_connected, stats.outages), (true, 1));
        assert!(connectivity.was_lost_since(start) && !connectivity.was_lost_since(back));
    }

    #[tokio::test]
    async fn outage_is_reported_with_its_start_and_its_end() {
        let (connectivity, said) = (Connectivity::default(), Mutex::new(Vec::new()));
        let tell = |words: &str| said.lock().unwrap().push(words.to_owned());
        let events = async {
            connectivity.note(&Event::Disconnected);
            // A second loss without a connection in between is the same outage.
            connectivity.note(&Event::Disconnected);
            while said.lock().unwrap().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            connectivity.note(&Event::Connected);
            while said.lock().unwrap().len() < 2 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            () = events => {}
            () = connectivity.report_outages("nats://x", Duration::from_millis(20), "retrying", tell) => {}
        }
        let said = said.lock().unwrap();
        assert!(said[0].contains("nats://x does not answer since ") && said[0].ends_with("s); retrying"));
        assert!(said[1].contains("nats://x is back after 0 s"), "{said:?}");
        assert_eq!(said.len(), 2);
    }

    #[test]
    fn clock_shows_the_time_of_the_day() {
        assert_eq!(clock(UNIX_EPOCH + Duration::from_secs(86_400 + 3_600 + 62)), "01:01:02");
    }
}
