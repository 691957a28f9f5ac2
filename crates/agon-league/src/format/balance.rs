//! Reports how evenly a schedule is balanced, as data and as text.
//!
//! Schedules count with little work: groups read the counts from the design, leagues count one leg and multiply. All numbers are
//! exact. Meetings are omitted if there are too many entrants for a table of all pairs.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::result::Entrant;

/// Maximum number of entrants for which meetings are counted; the table takes 32 MiB.
const MAX_COUNTED_ENTRANTS: usize = 2896;

/// Smallest and largest of several counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CountRange {
    /// The smallest.
    pub least: u64,
    /// The largest.
    pub most: u64,
}

impl CountRange {
    fn of(all: impl Iterator<Item = u64>) -> Self {
        let mut range: Option<Self> = None;
        for n in all {
            let so_far = range.get_or_insert(Self { least: n, most: n });
            *so_far = Self { least: so_far.least.min(n), most: so_far.most.max(n) };
        }
        range.unwrap_or_default()
    }

    /// Difference between largest and smallest.
    pub const fn spread(self) -> u64 {
        self.most - self.least
    }
}

/// Two entrants and their number of meetings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PairCount {
    /// The two entrants.
    pub entrants: [Entrant; 2],
    /// Number of meetings.
    pub meetings: u64,
}

/// How evenly matches, meetings and seats are distributed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct BalanceReport {
    /// Number of entrants.
    pub entrants: u32,
    /// Number of matches covered.
    pub matches: u64,
    /// Whether the report covers the whole phase; otherwise only the matches played so far.
    pub complete: bool,
    /// Matches per entrant.
    pub played: CountRange,
    /// Meetings per pair that can meet. `None` for thousands of entrants.
    pub meetings: Option<CountRange>,
    /// Mean number of meetings per pair.
    pub mean_meetings: f64,
    /// A pair with the fewest meetings.
    pub least_met: Option<PairCount>,
    /// A pair with the most meetings.
    pub most_met: Option<PairCount>,
    /// Matches per entrant and seat. `None` if the role decides the seat.
    pub seats: Option<CountRange>,
    /// Largest difference between two seats of one entrant.
    pub seat_difference: u64,
    /// Matches per entrant on the first seat, which moves first in turn-based games.
    pub first: CountRange,
}

impl BalanceReport {
    /// Largest difference between the meetings of a pair and the mean.
    pub fn worst_deviation(&self) -> Option<f64> {
        let range = self.meetings?;
        Some((range.most as f64 - self.mean_meetings).max(self.mean_meetings - range.least as f64))
    }

    /// Display text, a few lines.
    pub fn describe(&self, name: &dyn Fn(Entrant) -> String) -> Vec<String> {
        let so_far = if self.complete { "" } else { " so far" };
        let matches = if self.matches == 1 { "match" } else { "matches" };
        let mut lines = vec![
            format!("{} entrants, {} {matches}{so_far}", self.entrants, self.matches),
            format!("matches of each     {}", describe_range(self.played)),
        ];
        lines.extend(self.meetings.map(|meetings| self.describe_meetings(meetings, name)));
        let Some(seats) = self.seats else {
            lines.push("on each seat        by role".into());
            return lines;
        };
        let even = match self.seat_difference {
            0 => "each entrant on all equally often".into(),
            n => format!("one entrant's seats differ by at most {n}"),
        };
        lines.push(format!("on each seat        {}; {even}", describe_range(seats)));
        lines.push(format!("on the first seat   {}", describe_range(self.first)));
        lines
    }

    fn describe_meetings(&self, meetings: CountRange, name: &dyn Fn(Entrant) -> String) -> String {
        let mut line = format!("meetings of a pair  {}", describe_range(meetings));
        if meetings.spread() > 0 {
            let off = self.worst_deviation().unwrap_or_default();
            line += &format!("; mean {:.2}, at most {off:.2} off", self.mean_meetings);
            for (pair, word) in [(self.least_met, "least"), (self.most_met, "most")] {
                if let Some(PairCount { entrants: [a, b], .. }) = pair {
                    line += &format!("; {word}: {} and {}", name(a), name(b));
                }
            }
        }
        line
    }
}

fn describe_range(range: CountRange) -> String {
    if range.spread() == 0 { range.most.to_string() } else { format!("{} to {}", range.least, range.most) }
}

/// Counts matches, meetings and seats of fixtures.
pub(super) struct FixtureCounts {
    entrants: Vec<Entrant>,
    index_of: HashMap<Entrant, usize>,
    matches: u64,
    played: Vec<u64>,
    /// Per entrant and seat.
    seats: Vec<Vec<u64>>,
    /// Square matrix of all pairs; empty if there are too many.
    meetings: Vec<u32>,
    /// Side of each entrant, if only entrants of different sides meet.
    sides: Option<Vec<bool>>,
    roles: bool,
}

impl FixtureCounts {
    pub fn new(entrants: &[Entrant]) -> Self {
        let n = entrants.len();
        Self {
            entrants: entrants.to_vec(),
            index_of: entrants.iter().enumerate().map(|(i, &entrant)| (entrant, i)).collect(),
            matches: 0,
            played: vec![0; n],
            seats: vec![Vec::new(); n],
            meetings: if n <= MAX_COUNTED_ENTRANTS { vec![0; n * n] } else { Vec::new() },
            sides: None,
            roles: false,
        }
    }

    /// Only entrants of different sides meet; `one` lists one side.
    pub fn with_sides(mut self, one: &[Entrant]) -> Self {
        let mut sides = vec![false; self.entrants.len()];
        one.iter().filter_map(|entrant| self.index_of.get(entrant)).for_each(|&i| sides[i] = true);
        self.sides = Some(sides);
        self
    }

    /// Seats are decided by role.
    pub const fn with_roles(mut self) -> Self {
        self.roles = true;
        self
    }

    /// Adds a match that is played `times` times.
    pub fn add(&mut self, seats: &[Entrant], times: u64) {
        let n = self.entrants.len();
        let places: Vec<usize> =
            seats.iter().filter_map(|entrant| self.index_of.get(entrant).copied()).collect();
        self.matches += times;
        for (seat, &i) in places.iter().enumerate() {
            self.played[i] += times;
            let counts = &mut self.seats[i];
            if counts.len() < seats.len() {
                counts.resize(seats.len(), 0);
            }
            counts[seat] += times;
            if !self.meetings.is_empty() {
                for &j in &places[..seat] {
                    let cell = i.min(j) * n + i.max(j);
                    self.meetings[cell] =
                        self.meetings[cell].saturating_add(u32::try_from(times).unwrap_or(u32::MAX));
                }
            }
        }
    }

    pub fn report(self, complete: bool) -> BalanceReport {
        let (least_met, most_met, mean_meetings) = self.extremes();
        let meetings = least_met
            .zip(most_met)
            .map(|(least, most)| CountRange { least: least.meetings, most: most.meetings });
        let width = self.seats.iter().map(Vec::len).max().unwrap_or_default();
        let seat = |i: usize, seat: usize| self.seats[i].get(seat).copied().unwrap_or_default();
        let entrants = 0..self.entrants.len();
        let seat_difference =
            entrants.clone().map(|i| CountRange::of((0..width).map(|s| seat(i, s))).spread()).max();
        BalanceReport {
            entrants: self.entrants.len() as u32,
            matches: self.matches,
            complete,
            played: CountRange::of(self.played.iter().copied()),
            meetings,
            mean_meetings,
            least_met,
            most_met,
            seats: (!self.roles).then(|| {
                CountRange::of(
                    entrants.clone().flat_map(|i| (0..width).map(move |s| (i, s))).map(|(i, s)| seat(i, s)),
                )
            }),
            seat_difference: if self.roles { 0 } else { seat_difference.unwrap_or_default() },
            first: CountRange::of(entrants.map(|i| seat(i, 0))),
        }
    }

    fn extremes(&self) -> (Option<PairCount>, Option<PairCount>, f64) {
        let n = self.entrants.len();
        let (mut least, mut most): (Option<PairCount>, Option<PairCount>) = (None, None);
        let (mut sum, mut pairs) = (0u64, 0u64);
        if self.meetings.is_empty() {
            return (None, None, 0.0);
        }
        for i in 0..n {
            for j in i + 1..n {
                if self.sides.as_ref().is_some_and(|sides| sides[i] == sides[j]) {
                    continue;
                }
                let meetings = u64::from(self.meetings[i * n + j]);
                let pair = PairCount { entrants: [self.entrants[i], self.entrants[j]], meetings };
                if least.is_none_or(|least| meetings < least.meetings) {
                    least = Some(pair);
                }
                if most.is_none_or(|most| meetings > most.meetings) {
                    most = Some(pair);
                }
                sum += meetings;
                pairs += 1;
            }
        }
        (least, most, sum as f64 / pairs.max(1) as f64)
    }
}
