//! Timing statistics of one bot's moves.

use std::time::Duration;

use agon_bots::debug_line::FaultPlace;
use agon_core::{ClockRule, Fault, FaultReport, GameInfo, Seat};
use agon_engine::Film;
use agon_engine::debug_replay::fault_after_game;
use serde_json::{Value as Json, json};

use crate::output;

/// A fault and its place.
pub struct PlacedFault {
    pub place: FaultPlace,
    pub report: FaultReport,
}

impl PlacedFault {
    /// Game, turn, kind and message.
    pub fn text(&self) -> String {
        let FaultPlace { game, turn, is_after_game, .. } = self.place;
        let when = if is_after_game { "after its end".to_owned() } else { format!("turn {turn}") };
        format!("game {game}, {when}: {}: {}", self.report.fault, self.report.message)
    }
}

/// Timings of one bot in one role.
pub struct BotTimings {
    pub spec: String,
    /// Bot specs of all seats.
    pub seats: Vec<String>,
    pub name: String,
    pub seat: Seat,
    pub games: u32,
    /// The recorded games, if they are needed again.
    pub films: Vec<Box<dyn Film>>,
    /// Charged times of all answered moves, sorted.
    pub moves: Vec<Duration>,
    /// The same without what an empty answer costs, sorted.
    pub own: Vec<Duration>,
    /// Cost of an empty answer in each game in which it was measured.
    pub empty: Vec<Duration>,
    /// CPU time of all moves.
    pub cpu: Duration,
    /// Longest charged time in the unit of the clock rule: of one move, or of one game.
    pub longest: Duration,
    /// Number of faults, in the order of [`Fault::ALL`].
    pub faults: [u64; 4],
    /// The first fault.
    pub first_fault: Option<PlacedFault>,
}

impl BotTimings {
    /// Timings without any moves of the bot at `seat`. `seats` are the bot specs of all seats.
    pub fn new(seats: Vec<String>, name: String, seat: Seat) -> Self {
        Self {
            spec: seats[seat.index()].clone(),
            seats,
            name,
            seat,
            games: 0,
            films: Vec::new(),
            moves: Vec::new(),
            own: Vec::new(),
            empty: Vec::new(),
            cpu: Duration::ZERO,
            longest: Duration::ZERO,
            faults: [0; 4],
            first_fault: None,
        }
    }

    /// Adds a game. A crash is not counted, because its time says nothing about the bot's thinking time.
    pub fn add(&mut self, film: &dyn Film, clock: &ClockRule) {
        self.games += 1;
        let empty = film.record().empty_answers.get(self.seat.index()).copied().flatten();
        self.empty.extend(empty);
        let mut of_game = Duration::ZERO;
        for request in film.requests(self.seat) {
            if let Err(report) = &request.recorded {
                self.add_fault(request.turn, false, report);
                if report.fault == Fault::Crash {
                    continue;
                }
            }
            let charged = request.times.charged();
            self.moves.push(charged);
            self.own.push(charged.saturating_sub(empty.unwrap_or_default()));
            self.cpu += request.times.cpu;
            of_game += charged;
            if matches!(clock, ClockRule::PerAnswer { .. }) {
                self.longest = self.longest.max(charged);
            }
        }
        if !matches!(clock, ClockRule::PerAnswer { .. }) {
            self.longest = self.longest.max(of_game);
        }
        if let Some(report) = fault_after_game(film.record(), self.seat) {
            self.add_fault(film.len() as u32, true, report);
        }
    }

    /// Adds a fault of the latest game.
    fn add_fault(&mut self, turn: u32, is_after_game: bool, report: &FaultReport) {
        self.faults[report.fault.index()] += 1;
        let place = FaultPlace { game: self.games, seat: self.seat, turn, is_after_game };
        self.first_fault.get_or_insert_with(|| PlacedFault { place, report: report.clone() });
    }

    /// Mean, min, p50, p99, max of the charged times of the moves.
    pub fn figures(&self) -> [Duration; 5] {
        figures(&self.moves)
    }

    /// The same of the bot's own times.
    pub fn own_figures(&self) -> [Duration; 5] {
        figures(&self.own)
    }

    /// Mean cost of an empty answer, if it was measured.
    pub fn empty_answer(&self) -> Option<Duration> {
        self.empty.iter().sum::<Duration>().checked_div(self.empty.len() as u32)
    }

    /// Mean CPU time per move.
    pub fn cpu_mean(&self) -> Duration {
        self.cpu.checked_div(self.moves.len() as u32).unwrap_or_default()
    }

    /// The timings as JSON.
    pub fn json(&self, info: &GameInfo, clock_used: f64) -> Json {
        let [mean, min, p50, p99, max] = self.figures().map(output::micros);
        let own = self.own_figures().map(output::micros);
        let faults: serde_json::Map<_, _> = Fault::ALL
            .iter()
            .zip(self.faults)
            .map(|(fault, n)| (fault.name().to_owned(), json!(n)))
            .collect();
        json!({
            "bot": self.spec,
            "name": self.name,
            "role": info.role(self.seat).name,
            "games": self.games,
            "moves": self.moves.len(),
            "faults": faults,
            "time_us": {"mean": mean, "min": min, "p50": p50, "p99": p99, "max": max},
            "own_us": {"mean": own[0], "min": own[1], "p50": own[2], "p99": own[3], "max": own[4]},
            "empty_us": self.empty_answer().map(output::micros),
            "cpu_us": {"mean": output::micros(self.cpu_mean())},
            "clock_used": clock_used,
        })
    }
}

/// Mean, min, p50, p99, max of sorted times.
fn figures(sorted: &[Duration]) -> [Duration; 5] {
    let sum: Duration = sorted.iter().sum();
    let mean = sum.checked_div(sorted.len() as u32).unwrap_or_default();
    [mean, quantile(sorted, 0), quantile(sorted, 50), quantile(sorted, 99), quantile(sorted, 100)]
}

/// The smallest of the sorted times that at least `per_cent` percent of the times do not exceed.
fn quantile(sorted: &[Duration], per_cent: usize) -> Duration {
    let rank = (sorted.len() * per_cent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_is_always_one_of_the_measured_times() {
        let moves: Vec<Duration> = (1..=200).map(Duration::from_millis).collect();
        let ms = |per_cent| quantile(&moves, per_cent).as_millis();
        assert_eq!([0, 50, 99, 100].map(ms), [1, 100, 198, 200]);
        assert_eq!(quantile(&moves[..1], 99).as_millis(), 1);
        assert_eq!(quantile(&[], 50), Duration::ZERO);
    }
}
