//! Statistics of a series by seat, with confidence intervals.

use std::time::Duration;

use agon_core::{AnswerTimes, Seat};
use serde::Serialize;

use crate::referee::PlayedGame;

/// An estimate with its 95 % confidence interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Estimate {
    /// The estimate.
    pub mean: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// Streaming mean and variance.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunningStats {
    count: u64,
    mean: f64,
    squares: f64,
}

impl RunningStats {
    /// Adds a number (Welford's method).
    pub fn push(&mut self, x: f64) {
        self.count += 1;
        let delta = x - self.mean;
        self.mean += delta / self.count as f64;
        self.squares += delta * (x - self.mean);
    }

    /// Mean with Student's 95 % interval. With fewer than two numbers the interval is the number itself.
    pub fn estimate(&self) -> Estimate {
        let half = if self.count < 2 {
            0.0
        } else {
            let variance = self.squares / (self.count - 1) as f64;
            student_95(self.count - 1) * (variance / self.count as f64).sqrt()
        };
        Estimate { mean: self.mean, low: self.mean - half, high: self.mean + half }
    }
}

/// Two-sided 95 % quantile of Student's t distribution.
fn student_95(freedom: u64) -> f64 {
    const Z: f64 = 1.959_963_984_540_054;
    match freedom {
        0 => f64::INFINITY,
        1 => 12.706_204_736,
        2 => 4.302_652_730,
        3 => 3.182_446_305,
        // Cornish-Fisher expansion around the normal quantile, accurate to four digits for these degrees of freedom.
        n => {
            let n = n as f64;
            let (z3, z5, z7, z9) = (Z.powi(3), Z.powi(5), Z.powi(7), Z.powi(9));
            Z + (z3 + Z) / (4.0 * n)
                + (5.0 * z5 + 16.0 * z3 + 3.0 * Z) / (96.0 * n * n)
                + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * Z) / (384.0 * n.powi(3))
                + (79.0 * z9 + 776.0 * z7 + 1482.0 * z5 - 1920.0 * z3 - 945.0 * Z) / (92160.0 * n.powi(4))
        }
    }
}

/// Share of wins with Wilson's 95 % interval.
pub fn share_estimate(wins: f64, games: u64) -> Estimate {
    const Z: f64 = 1.959_963_984_540_054;
    if games == 0 {
        return Estimate { mean: 0.0, low: 0.0, high: 1.0 };
    }
    let n = games as f64;
    let p = wins / n;
    let centre = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    Estimate { mean: p, low: (centre - half).clamp(0.0, p), high: (centre + half).clamp(p, 1.0) }
}

/// Statistics of one seat over a series.
#[derive(Clone, Debug, Default)]
pub struct SeatSummary {
    /// Official scores.
    pub score: RunningStats,
    /// Additional statistics of the game.
    pub stats: [RunningStats; agon_core::outcome::MAX_STATS],
    /// Games won; a shared first place counts its share.
    pub wins: f64,
    /// Number of faults, in the order of [`agon_core::Fault::ALL`].
    pub faults: [u64; 4],
    /// Number of requests.
    pub answers: u64,
    /// Sum of the times of all answers.
    pub time: AnswerTimes,
    /// Longest charged time of an answer.
    pub longest: Duration,
    /// Part of the charged time that empty answers cost.
    pub empty: Duration,
}

impl SeatSummary {
    /// Adds a game in which this bot played at `seat`.
    pub fn push(&mut self, played: &PlayedGame, seat: Seat) {
        self.wins += played.outcome.win_share(seat);
        if let Some(result) = played.outcome.seats.get(seat.index()) {
            self.score.push(result.score);
            self.stats.iter_mut().zip(result.stats).for_each(|(running, x)| running.push(x));
        }
        if let Some(stats) = played.seats.get(seat.index()) {
            self.faults.iter_mut().zip(stats.faults).for_each(|(sum, n)| *sum += u64::from(n));
            self.answers += u64::from(stats.answers);
            self.time.wall += stats.time.wall;
            self.time.cpu += stats.time.cpu;
            self.time.wait += stats.time.wait;
            self.longest = self.longest.max(stats.longest);
            self.empty += stats.empty_total();
        }
    }

    /// The bot's own mean time of an answer: without what an empty answer costs.
    pub fn own_time_per_answer(&self) -> Duration {
        self.time_per_answer().saturating_sub(self.empty_answer().unwrap_or_default())
    }

    /// Mean cost of an empty answer, if it was measured.
    pub fn empty_answer(&self) -> Option<Duration> {
        let mean = self.empty.checked_div(self.answers.max(1) as u32).unwrap_or_default();
        (!mean.is_zero()).then_some(mean)
    }

    /// Mean charged time of an answer.
    pub fn time_per_answer(&self) -> Duration {
        self.time.charged().checked_div(self.answers.max(1) as u32).unwrap_or_default()
    }
}

/// Statistics of a series.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Number of games.
    pub games: u64,
    /// Number of turns of all games.
    pub turns: u64,
    /// Statistics in seat order.
    pub seats: Vec<SeatSummary>,
}

impl Summary {
    /// Adds a game.
    pub fn push(&mut self, played: &PlayedGame) {
        self.games += 1;
        self.turns += u64::from(played.turns);
        self.seats.resize_with(played.seats.len(), SeatSummary::default);
        for (seat, summary) in Seat::all(played.seats.len()).zip(&mut self.seats) {
            summary.push(played, seat);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn student_quantiles_match_tables() {
        for (freedom, table) in
            [(4, 2.776), (5, 2.571), (9, 2.262), (29, 2.045), (99, 1.984), (100_000, 1.960)]
        {
            assert!((student_95(freedom) - table).abs() < 0.002, "{freedom}: {}", student_95(freedom));
        }
    }

    #[test]
    fn estimates_of_known_numbers_have_the_expected_intervals() {
        let mut running = RunningStats::default();
        for x in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            running.push(x);
        }
        let estimate = running.estimate();
        assert!((estimate.mean - 5.0).abs() < 1e-12);
        // sd 2.138, n 8, t 2.365: half width 1.7877
        assert!((estimate.high - 6.7877).abs() < 0.01, "{estimate:?}");
        let wilson = share_estimate(8.0, 10);
        assert!((wilson.low - 0.4902).abs() < 0.001 && (wilson.high - 0.9433).abs() < 0.001, "{wilson:?}");
    }
}
