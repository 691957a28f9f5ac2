//! Time limits and the accounting of thinking time. This module never reads a clock; callers pass the measured times.

use std::time::Duration;

use serde::Serialize;

use crate::seat::{Seat, SeatSet};

/// Rule for a seat that has used up its time for the game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BankEmptyAction {
    /// The late answer is a timeout. The game's penalty for timeouts applies.
    Timeout,
    /// The late answer is a timeout, and the seat is not asked again in this game.
    SitOut,
}

/// Time limit of a game.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ClockRule {
    /// A limit for each answer.
    PerAnswer {
        /// The limit of one answer.
        limit: Duration,
    },
    /// A limit for all answers of a seat in a game.
    Bank {
        /// Thinking time of a seat for the whole game.
        limit: Duration,
        /// Rule for an empty bank.
        #[serde(rename = "spent")]
        when_empty: BankEmptyAction,
    },
    /// A limit for all seats together. When it is exceeded, the game ends and the seat with the least weighted thinking time wins.
    Shared {
        /// Thinking time of all seats together.
        limit: Duration,
        /// Factor for each seat's thinking time in the comparison.
        weights: Vec<u32>,
    },
}

impl ClockRule {
    /// The same rule with all limits multiplied by `scale`, for a machine that is slower by this factor.
    #[must_use]
    pub fn scaled(mut self, scale: f64) -> Self {
        let (Self::PerAnswer { limit } | Self::Bank { limit, .. } | Self::Shared { limit, .. }) = &mut self;
        // An invalid factor (negative, NaN, too large) changes nothing.
        *limit = Duration::try_from_secs_f64(limit.as_secs_f64() * scale).unwrap_or(*limit);
        self
    }
}

/// Result of charging an answer to the clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClockVerdict {
    /// The answer counts.
    InTime,
    /// The answer is a timeout.
    Late,
    /// The shared time is used up, and the game ends.
    Expired {
        /// Seat with the least weighted thinking time; the lower seat if equal.
        fastest: Seat,
    },
}

/// Clock of one running game.
#[derive(Clone, Debug)]
pub struct Clock {
    rule: ClockRule,
    used: Vec<Duration>,
    total: Duration,
    sitting_out: SeatSet,
}

impl Clock {
    /// A clock for a new game with this number of seats.
    pub fn new(rule: ClockRule, seats: usize) -> Self {
        Self { rule, used: vec![Duration::ZERO; seats], total: Duration::ZERO, sitting_out: SeatSet::EMPTY }
    }

    /// Time limit of this seat's next answer.
    pub fn limit(&self, seat: Seat) -> Duration {
        match &self.rule {
            ClockRule::PerAnswer { limit } => *limit,
            ClockRule::Bank { limit, .. } => limit.saturating_sub(self.used(seat)),
            ClockRule::Shared { limit, .. } => limit.saturating_sub(self.total),
        }
    }

    /// Time charged to this seat so far.
    pub fn used(&self, seat: Seat) -> Duration {
        self.used.get(seat.index()).copied().unwrap_or_default()
    }

    /// Whether this seat is no longer asked because its time is used up.
    #[inline]
    pub fn sits_out(&self, seat: Seat) -> bool {
        self.sitting_out.contains(seat)
    }

    /// Charges an answer to a seat.
    #[inline]
    pub fn charge(&mut self, seat: Seat, time: Duration) -> ClockVerdict {
        let Some(used) = self.used.get_mut(seat.index()) else { return ClockVerdict::InTime };
        *used += time;
        self.total += time;
        match &self.rule {
            ClockRule::PerAnswer { limit } if time > *limit => ClockVerdict::Late,
            ClockRule::Bank { limit, when_empty } if *used > *limit => {
                if *when_empty == BankEmptyAction::SitOut {
                    self.sitting_out.insert(seat);
                }
                ClockVerdict::Late
            }
            ClockRule::Shared { limit, .. } if self.total > *limit => {
                ClockVerdict::Expired { fastest: self.fastest() }
            }
            _ => ClockVerdict::InTime,
        }
    }

    fn fastest(&self) -> Seat {
        let weight = |seat: Seat| match &self.rule {
            ClockRule::Shared { weights, .. } => weights.get(seat.index()).copied().unwrap_or(1),
            _ => 1,
        };
        Seat::all(self.used.len()).min_by_key(|&s| self.used(s) * weight(s)).unwrap_or(Seat(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn per_answer_limit_ignores_earlier_answers() {
        let mut clock = Clock::new(ClockRule::PerAnswer { limit: 10 * MS }, 2);
        assert_eq!(clock.charge(Seat(0), 10 * MS), ClockVerdict::InTime);
        assert_eq!(clock.charge(Seat(0), 10 * MS), ClockVerdict::InTime);
        assert_eq!(clock.charge(Seat(0), 11 * MS), ClockVerdict::Late);
        assert_eq!(clock.limit(Seat(0)), 10 * MS);
    }

    #[test]
    fn scaled_rule_multiplies_the_limit() {
        let rule = ClockRule::Bank { limit: 10 * MS, when_empty: BankEmptyAction::Timeout };
        let mut clock = Clock::new(rule.clone().scaled(1.5), 1);
        assert_eq!(clock.charge(Seat(0), 14 * MS), ClockVerdict::InTime);
        assert_eq!((clock.limit(Seat(0)), clock.charge(Seat(0), 2 * MS)), (MS, ClockVerdict::Late));
        assert_eq!((rule.clone().scaled(1.0), rule.clone().scaled(f64::NAN)), (rule.clone(), rule));
    }

    #[test]
    fn empty_bank_makes_the_seat_sit_out() {
        let rule = ClockRule::Bank { limit: 10 * MS, when_empty: BankEmptyAction::SitOut };
        let mut clock = Clock::new(rule, 2);
        assert_eq!(clock.charge(Seat(1), 8 * MS), ClockVerdict::InTime);
        assert_eq!(clock.limit(Seat(1)), 2 * MS);
        assert!(!clock.sits_out(Seat(1)));
        assert_eq!(clock.charge(Seat(1), 3 * MS), ClockVerdict::Late);
        assert!(clock.sits_out(Seat(1)));
        assert!(!clock.sits_out(Seat(0)));
    }

    #[test]
    fn expired_shared_clock_names_the_seat_with_least_weighted_time() {
        let rule = ClockRule::Shared { limit: 10 * MS, weights: vec![1, 2] };
        let mut clock = Clock::new(rule, 2);
        assert_eq!(clock.charge(Seat(0), 6 * MS), ClockVerdict::InTime);
        // 6 against 2 x 4.5: the first seat has less weighted time although it used more.
        assert_eq!(clock.charge(Seat(1), 9 * MS / 2), ClockVerdict::Expired { fastest: Seat(0) });
    }
}
