//! What a series says about its seats, with honest doubt.

use std::time::Duration;

use agon_core::{Seat, Times};
use serde::Serialize;

use crate::referee::Played;

/// An estimate with its 95 % interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Estimate {
    /// The best guess.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Mean and spread of numbers that come one by one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Running {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Running {
    /// Takes a number (Welford's method).
    pub fn push(&mut self, x: f64) {
        self.count += 1;
        let delta = x - self.mean;
        self.mean += delta / self.count as f64;
        self.squares += delta * (x - self.mean);
    }

    /// The mean with Student's 95 % interval; with fewer than two numbers the interval is the number itself.
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

/// The two-sided 95 % quantile of Student's t.
fn student_95(freedom: u64) -> f64 {
    const Z: f64 = 1.959_963_984_540_054;
    match freedom {
        0 => f64::INFINITY,
        1 => 12.706_204_736,
        2 => 4.302_652_730,
        3 => 3.182_446_305,
        // Cornish-Fisher expansion around the normal quantile: four digits from here on.
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

/// A share (of wins) with Wilson's 95 % interval.
pub fn share(wins: f64, games: u64) -> Estimate {
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

/// One seat's part in a series.
#[derive(Clone, Debug, Default)]
pub struct SeatSummary {
    /// Official scores.
    pub score: Running,
    /// Extra figures.
    pub stats: [Running; agon_core::outcome::MAX_STATS],
    /// Games won; a shared first place counts its share.
    pub wins: f64,
    /// In the order of [`agon_core::Fault::ALL`].
    pub faults: [u64; 4],
    /// How often it was asked.
    pub answers: u64,
    /// Sum over all answers.
    pub time: Times,
    /// The longest answer, as charged.
    pub longest: Duration,
}

impl SeatSummary {
    /// Counts a game in which this was at `seat`.
    pub fn push(&mut self, played: &Played, seat: Seat) {
        self.wins += played.outcome.win_share(seat);
        if let Some(result) = played.outcome.seats.get(seat.index()) {
            self.score.push(result.score);
            self.stats.iter_mut().zip(result.stats).for_each(|(running, x)| running.push(x));
        }
        if let Some(tally) = played.seats.get(seat.index()) {
            self.faults.iter_mut().zip(tally.faults).for_each(|(sum, n)| *sum += u64::from(n));
            self.answers += u64::from(tally.answers);
            self.time.wall += tally.time.wall;
            self.time.cpu += tally.time.cpu;
            self.time.wait += tally.time.wait;
            self.longest = self.longest.max(tally.longest);
        }
    }

    /// Mean charged time of an answer.
    pub fn time_per_answer(&self) -> Duration {
        self.time.charged().checked_div(self.answers.max(1) as u32).unwrap_or_default()
    }
}

/// What a series says about its seats.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Games counted.
    pub games: u64,
    /// Turns in all of them.
    pub turns: u64,
    /// In seat order.
    pub seats: Vec<SeatSummary>,
}

impl Summary {
    /// Counts a game.
    pub fn push(&mut self, played: &Played) {
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
    fn intervals_of_known_numbers() {
        let mut running = Running::default();
        for x in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            running.push(x);
        }
        let estimate = running.estimate();
        assert!((estimate.mean - 5.0).abs() < 1e-12);
        // sd 2.138, n 8, t 2.365: half width 1.7877
        assert!((estimate.high - 6.7877).abs() < 0.01, "{estimate:?}");
        let wilson = share(8.0, 10);
        assert!((wilson.low - 0.4902).abs() < 0.001 && (wilson.high - 0.9433).abs() < 0.001, "{wilson:?}");
    }
}
