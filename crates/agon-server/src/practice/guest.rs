//! Budget of challenges while competitions hold all cores.
//!
//! A challenge must be answered soon, and a competition must not become slower. So challenges play one game at a time beside the competition,
//! and only as long as a budget of time lasts. The budget grows by a small share of the time of all cores, up to a maximum that is
//! enough for a short challenge. Over any time the competition loses at most that share, plus the maximum once.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use agon_core::LockIgnoringPoison as _;

/// Time that challenges may use beside competitions.
#[derive(Debug)]
pub struct GuestBudget {
    /// Seconds that are added per second.
    rate: f64,
    /// Maximum in seconds.
    burst: f64,
    state: Mutex<BudgetState>,
}

#[derive(Debug)]
struct BudgetState {
    /// Seconds that are left at `at`. Negative after a game that took longer than expected.
    left: f64,
    at: Instant,
    /// When the game that is played now began.
    playing_since: Option<Instant>,
}

impl GuestBudget {
    /// A full budget of `share` of the time of `cores` cores, with a maximum of `burst`.
    pub fn new(share: f64, cores: usize, burst: Duration) -> Self {
        let burst = burst.as_secs_f64();
        let state = BudgetState { left: burst, at: Instant::now(), playing_since: None };
        Self { rate: share.max(0.0) * cores as f64, burst, state: Mutex::new(state) }
    }

    /// Starts work if the budget is not used up and nothing else uses it. The caller must call [`GuestBudget::end`] afterwards.
    pub fn try_begin(&self, now: Instant) -> bool {
        let mut state = self.state.lock_ignoring_poison();
        self.refill(&mut state, now);
        if state.playing_since.is_some() || state.left <= 0.0 {
            return false;
        }
        state.playing_since = Some(now);
        true
    }

    /// Whether the work that has begun has used up the budget. It must end then.
    pub fn is_used_up(&self, now: Instant) -> bool {
        let mut state = self.state.lock_ignoring_poison();
        self.refill(&mut state, now);
        let playing =
            state.playing_since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        state.left - playing.as_secs_f64() <= 0.0
    }

    /// Ends work and charges its time.
    pub fn end(&self, now: Instant) {
        let mut state = self.state.lock_ignoring_poison();
        self.refill(&mut state, now);
        if let Some(since) = state.playing_since.take() {
            state.left -= now.saturating_duration_since(since).as_secs_f64();
        }
    }

    fn refill(&self, state: &mut BudgetState, now: Instant) {
        let passed = now.saturating_duration_since(state.at).as_secs_f64();
        state.left = (state.left + passed * self.rate).min(self.burst);
        state.at = now.max(state.at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guests_never_use_more_than_their_share_and_one_burst() {
        let budget = GuestBudget::new(0.03, 2, Duration::from_secs(10));
        let start = Instant::now();
        let (mut now, mut used) = (start, Duration::ZERO);
        // Challenges that never end, in games of 300 ms.
        let game = Duration::from_millis(300);
        while now < start + Duration::from_hours(1) {
            if budget.try_begin(now) {
                assert!(!budget.try_begin(now), "one at a time");
                now += game;
                used += game;
                budget.end(now);
            } else {
                now += Duration::from_millis(50);
            }
        }
        let allowed = 0.06 * 3600.0 + 10.0 + 0.3;
        assert!(used.as_secs_f64() <= allowed, "{used:?}");
        assert!(used.as_secs_f64() > 0.9 * allowed, "the share is usable: {used:?}");
    }

    #[test]
    fn budget_is_charged_for_the_whole_game_and_grows_again() {
        let budget = GuestBudget::new(0.05, 2, Duration::from_secs(4));
        let start = Instant::now();
        assert!(budget.try_begin(start) && !budget.is_used_up(start + Duration::from_secs(2)));
        assert!(budget.is_used_up(start + Duration::from_secs(5)));
        budget.end(start + Duration::from_secs(5));
        assert!(!budget.try_begin(start + Duration::from_secs(6)));
        assert!(budget.try_begin(start + Duration::from_secs(20)));
    }
}
