//! The rules by which thinking time is limited, and the book-keeping. Reads no clock: times are given.

use std::time::Duration;

use serde::Serialize;

use crate::seat::{Seat, SeatSet};

/// What happens to a seat whose bank of time is empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenSpent {
    /// The late answer is a timeout; the game's rule for timeouts decides.
    Timeout,
    /// The late answer is a timeout, and the seat is not asked again in this game.
    SitOut,
}

/// A game's clock, as data.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ClockRule {
    /// So much for each answer.
    PerAnswer {
        /// The limit of one answer.
        limit: Duration,
    },
    /// So much for all answers of a seat in a game.
    Bank {
        /// What a seat has for the whole game.
        limit: Duration,
        /// What happens when it is gone.
        spent: WhenSpent,
    },
    /// So much for all seats together; past it the game ends and who thought least (weighted) wins.
    Shared {
        /// What all seats have together.
        limit: Duration,
        /// By how much each seat's thinking counts in the comparison.
        weights: Vec<u32>,
    },
}

impl ClockRule {
    /// The same with all limits so many times as long: on a machine that is so many times slower.
    #[must_use]
    pub fn scaled(mut self, scale: f64) -> Self {
        let (Self::PerAnswer { limit } | Self::Bank { limit, .. } | Self::Shared { limit, .. }) = &mut self;
        // A factor that makes no sense changes nothing.
        *limit = Duration::try_from_secs_f64(limit.as_secs_f64() * scale).unwrap_or(*limit);
        self
    }
}

/// What the clock says about an answer that took some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The answer counts.
    InTime,
    /// The answer is a timeout.
    Late,
    /// The game's shared time is over; this seat thought least.
    Expired {
        /// Who thought least, weighted. The lower seat when equal.
        least: Seat,
    },
}

/// One game's clock while it is played.
#[derive(Clone, Debug)]
pub struct Clock {
    rule: ClockRule,
    used: Vec<Duration>,
    total: Duration,
    sitting_out: SeatSet,
}

impl Clock {
    /// A fresh clock for so many seats.
    pub fn new(rule: ClockRule, seats: usize) -> Self {
        Self { rule, used: vec![Duration::ZERO; seats], total: Duration::ZERO, sitting_out: SeatSet::EMPTY }
    }

    /// The longest the next answer of this seat may take.
    pub fn limit(&self, seat: Seat) -> Duration {
        match &self.rule {
            ClockRule::PerAnswer { limit } => *limit,
            ClockRule::Bank { limit, .. } => limit.saturating_sub(self.used(seat)),
            ClockRule::Shared { limit, .. } => limit.saturating_sub(self.total),
        }
    }

    /// What this seat has been charged so far.
    pub fn used(&self, seat: Seat) -> Duration {
        self.used.get(seat.index()).copied().unwrap_or_default()
    }

    /// Whether this seat is no longer asked because its time is spent.
    #[inline]
    pub fn sits_out(&self, seat: Seat) -> bool {
        self.sitting_out.contains(seat)
    }

    /// Charges a seat for an answer and says what follows.
    #[inline]
    pub fn charge(&mut self, seat: Seat, time: Duration) -> Verdict {
        let Some(used) = self.used.get_mut(seat.index()) else { return Verdict::InTime };
        *used += time;
        self.total += time;
        match &self.rule {
            ClockRule::PerAnswer { limit } if time > *limit => Verdict::Late,
            ClockRule::Bank { limit, spent } if *used > *limit => {
                if *spent == WhenSpent::SitOut {
                    self.sitting_out.insert(seat);
                }
                Verdict::Late
            }
            ClockRule::Shared { limit, .. } if self.total > *limit => {
                Verdict::Expired { least: self.least() }
            }
            _ => Verdict::InTime,
        }
    }

    fn least(&self) -> Seat {
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
    fn per_answer_forgets_earlier_answers() {
        let mut clock = Clock::new(ClockRule::PerAnswer { limit: 10 * MS }, 2);
        assert_eq!(clock.charge(Seat(0), 10 * MS), Verdict::InTime);
        assert_eq!(clock.charge(Seat(0), 10 * MS), Verdict::InTime);
        assert_eq!(clock.charge(Seat(0), 11 * MS), Verdict::Late);
        assert_eq!(clock.limit(Seat(0)), 10 * MS);
    }

    #[test]
    fn a_slower_machine_gives_more_time() {
        let rule = ClockRule::Bank { limit: 10 * MS, spent: WhenSpent::Timeout };
        let mut clock = Clock::new(rule.clone().scaled(1.5), 1);
        assert_eq!(clock.charge(Seat(0), 14 * MS), Verdict::InTime);
        assert_eq!((clock.limit(Seat(0)), clock.charge(Seat(0), 2 * MS)), (MS, Verdict::Late));
        assert_eq!((rule.clone().scaled(1.0), rule.clone().scaled(f64::NAN)), (rule.clone(), rule));
    }

    #[test]
    fn a_bank_is_spent_once_and_then_the_seat_sits_out() {
        let rule = ClockRule::Bank { limit: 10 * MS, spent: WhenSpent::SitOut };
        let mut clock = Clock::new(rule, 2);
        assert_eq!(clock.charge(Seat(1), 8 * MS), Verdict::InTime);
        assert_eq!(clock.limit(Seat(1)), 2 * MS);
        assert!(!clock.sits_out(Seat(1)));
        assert_eq!(clock.charge(Seat(1), 3 * MS), Verdict::Late);
        assert!(clock.sits_out(Seat(1)));
        assert!(!clock.sits_out(Seat(0)));
    }

    #[test]
    fn a_shared_clock_names_who_thought_least_by_weight() {
        let rule = ClockRule::Shared { limit: 10 * MS, weights: vec![1, 2] };
        let mut clock = Clock::new(rule, 2);
        assert_eq!(clock.charge(Seat(0), 6 * MS), Verdict::InTime);
        // 6 against 2 x 4.5: the first seat thought less although it used more.
        assert_eq!(clock.charge(Seat(1), 9 * MS / 2), Verdict::Expired { least: Seat(0) });
    }
}
