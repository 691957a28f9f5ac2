//! Result of a game.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::fault::FaultPenalty;
use crate::info::GameInfo;
use crate::record::FaultRecord;
use crate::seat::Seat;

/// Maximum number of additional statistics for a seat.
pub const MAX_STATS: usize = 3;

/// Result of one seat.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct SeatOutcome {
    /// Official score ([`crate::ScoreInfo`] describes it).
    pub score: f64,
    /// Place, 1 for the best; equal seats share a place.
    pub place: u8,
    /// Additional statistics, named by [`crate::GameInfo::stats`]; unused ones are 0.
    #[serde(default)]
    pub stats: [f64; MAX_STATS],
}

/// The result of a game.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// Results in seat order.
    pub seats: Vec<SeatOutcome>,
    /// Short reason for the end: `five in a line`, `caught`, `crash of seat 1`. Replays compare it with the record.
    pub ended: Cow<'static, str>,
    /// Seat that loses the whole match because of a fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub match_lost_by: Option<Seat>,
}

impl Outcome {
    /// An outcome in which a higher score gives a better place.
    pub fn ranked(scores: &[f64], ended: impl Into<Cow<'static, str>>) -> Self {
        let seats = scores
            .iter()
            .map(|&score| {
                let better = scores.iter().filter(|&&other| other > score).count();
                SeatOutcome { score, place: better as u8 + 1, stats: [0.0; MAX_STATS] }
            })
            .collect();
        Self { seats, ended: ended.into(), match_lost_by: None }
    }

    /// The outcome after faults that happened when the game was over, in what bots do after a game. They do not change the
    /// game, but a fault that costs the match costs it then, too. `turns` is the number of turns of the game.
    #[must_use]
    pub fn with_faults_after(mut self, info: &GameInfo, turns: u32, faults: &[FaultRecord]) -> Self {
        let costs_match = |fault: &&FaultRecord| {
            fault.is_after_game(turns) && info.penalty(fault.report.fault) == FaultPenalty::LoseMatch
        };
        if self.match_lost_by.is_none() {
            self.match_lost_by = faults.iter().find(costs_match).map(|fault| fault.seat);
        }
        self
    }

    /// 1 for a win, 0 for a loss. Seats that share the first place share the win.
    pub fn win_share(&self, seat: Seat) -> f64 {
        let first = self.seats.iter().filter(|s| s.place == 1).count();
        match self.seats.get(seat.index()) {
            Some(s) if s.place == 1 => 1.0 / first.max(1) as f64,
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_with_equal_scores_share_place_and_win() {
        let outcome = Outcome::ranked(&[3.0, 7.0, 7.0, 1.0], "played out");
        assert_eq!(outcome.seats.iter().map(|s| s.place).collect::<Vec<_>>(), [3, 1, 1, 4]);
        assert!((outcome.win_share(Seat(1)) - 0.5).abs() < 1e-12);
        assert!(outcome.win_share(Seat(0)).abs() < 1e-12);
    }
}
