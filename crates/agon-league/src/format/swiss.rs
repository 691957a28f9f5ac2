//! Those with equally many points meet.
//!
//! Each round is a stage. Entrants are ordered by points, then by seeding, and [paired up](super::pairing) so that, in this order of importance: nobody meets anybody
//! again while that can be avoided; no two meet who have both had the first seat two times too often (or too rarely); their points are near; and in a group of equals
//! the upper half meets the lower. With an odd number the lowest has a bye of those who had the fewest, if the others can
//! be paired without a rematch then. A bye counts, for pairing, as the best result of its round.
//!
//! First seats: who had fewer has it; if equal, who did not have it last.

use super::balance::BalanceReport;
use super::pairing::{can_pair, pair_up};
use super::ties::{PairStage, balance_of};
use super::{PhaseField, FormatError, PhaseHistory, PhaseSchedule, Stage, MatchVerdict, product};
use crate::result::{Entrant, FixedPoint};
use std::collections::HashMap;

pub(super) struct Swiss {
    entrants: Vec<Entrant>,
    place: HashMap<Entrant, usize>,
    rounds: u32,
    variants: u32,
    swap: bool,
}

/// What the rounds so far mean for the next.
struct Standing {
    points: Vec<FixedPoint>,
    /// All pairs, as a square.
    met: Vec<u8>,
    byes: Vec<u32>,
    /// How much more often on the first seat than on the second.
    first: Vec<i32>,
    /// The same for the last round alone.
    last: Vec<i32>,
}

impl Swiss {
    pub fn new(field: &PhaseField, rounds: u32, swap: bool) -> Result<Self, FormatError> {
        field.check(2)?;
        if rounds == 0 {
            return Err(FormatError::Nothing { field: "rounds" });
        }
        product(&[u64::from(rounds), field.len() as u64, u64::from(field.variants()), 2])?;
        let place = field.entrants.iter().enumerate().map(|(i, &entrant)| (entrant, i)).collect();
        Ok(Self { entrants: field.entrants.clone(), place, rounds, variants: field.variants(), swap })
    }

    fn standing(&self, rounds: &[Vec<MatchVerdict>]) -> Standing {
        let n = self.entrants.len();
        let mut standing = Standing {
            points: vec![FixedPoint::ZERO; n],
            met: vec![0; n * n],
            byes: vec![0; n],
            first: vec![0; n],
            last: vec![0; n],
        };
        for round in rounds {
            self.add_round(&mut standing, round);
        }
        standing
    }

    fn add_round(&self, standing: &mut Standing, round: &[MatchVerdict]) {
        let n = self.entrants.len();
        let mut points: Vec<Option<FixedPoint>> = vec![None; n];
        let mut opponent = vec![usize::MAX; n];
        standing.last.fill(0);
        for verdict in round {
            let seats: Vec<usize> =
                verdict.seats.iter().filter_map(|entrant| self.place.get(entrant).copied()).collect();
            let &[one, other] = seats.as_slice() else { continue };
            for (seat, i, against) in [(0, one, other), (1, other, one)] {
                *points[i].get_or_insert_default() += verdict.points.get(seat).copied().unwrap_or_default();
                opponent[i] = against;
                standing.last[i] += if seat == 0 { 1 } else { -1 };
            }
        }
        let best = points.iter().flatten().max().copied().unwrap_or_default();
        for i in 0..n {
            standing.points[i] += points[i].unwrap_or(best);
            standing.first[i] += standing.last[i];
            match opponent[i] {
                usize::MAX => standing.byes[i] += 1,
                other => standing.met[i * n + other] = standing.met[i * n + other].saturating_add(1),
            }
        }
    }

    /// Who meets whom, the first seat first.
    fn pair(&self, standing: &Standing, round: u32) -> Vec<[usize; 2]> {
        let n = self.entrants.len();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&i| (std::cmp::Reverse(standing.points[i]), i));
        if n % 2 == 1 {
            let bye = bye(standing, &order);
            order.remove(bye);
        }
        let groups = groups(standing, &order);
        let met = |i: usize, j: usize| u32::from(standing.met[order[i] * n + order[j]]);
        let cost = |i: usize, j: usize| {
            let ((group, place, size), (other, other_place, _)) = (groups[i], groups[j]);
            let gap = (group.abs_diff(other) as u64).min(1 << 10);
            let fold =
                if gap == 0 { place.abs_diff(other_place).abs_diff(size / 2).min(60) as u64 } else { 0 };
            gap * gap * (1 << 10) + self.seat_cost(standing.first[order[i]], standing.first[order[j]]) + fold
        };
        let pairs = pair_up(order.len(), &met, &cost);
        let seat = |(at, (i, j)): (usize, (usize, usize))| {
            let (i, j) = (order[i], order[j]);
            let claim = |i: usize| (standing.first[i], standing.last[i]);
            let turned = match claim(i).cmp(&claim(j)) {
                std::cmp::Ordering::Less => false,
                std::cmp::Ordering::Greater => true,
                std::cmp::Ordering::Equal => (at as u32 + round) % 2 == 1,
            };
            if turned { [j, i] } else { [i, j] }
        };
        pairs.into_iter().enumerate().map(seat).collect()
    }

    /// Two who both have had the first seat too often: one of them will have it again.
    fn seat_cost(&self, one: i32, other: i32) -> u64 {
        if self.swap || i64::from(one) * i64::from(other) <= 0 {
            return 0;
        }
        match u64::from(one.unsigned_abs().min(other.unsigned_abs())) {
            1 => 64,
            more => (more - 1).min(10).pow(2) << 24,
        }
    }

    fn meetings_each(&self) -> u64 {
        u64::from(self.variants) * (1 + u64::from(self.swap))
    }

    fn played<'p>(&self, past: &PhaseHistory<'p>, rounds: u32) -> &'p [Vec<MatchVerdict>] {
        &past.stages[..past.stages.len().min(rounds.min(self.rounds) as usize)]
    }
}

/// The place in the order of who has the bye.
fn bye(standing: &Standing, order: &[usize]) -> usize {
    let n = order.len();
    let fewest = standing.byes.iter().min().copied().unwrap_or_default();
    let candidates: Vec<usize> = (0..n).rev().filter(|&at| standing.byes[order[at]] == fewest).collect();
    let works = |&at: &usize| {
        let rest: Vec<usize> = (0..n).filter(|&i| i != at).map(|i| order[i]).collect();
        can_pair(rest.len(), &|i, j| standing.met[rest[i] * n + rest[j]] == 0)
    };
    candidates.iter().copied().find(|at| works(at)).or_else(|| candidates.first().copied()).unwrap_or(n - 1)
}

/// For each of the order: its group of equal points, its place in it, and the group's size.
fn groups(standing: &Standing, order: &[usize]) -> Vec<(usize, usize, usize)> {
    let mut all = Vec::with_capacity(order.len());
    for (group, equals) in order.chunk_by(|&i, &j| standing.points[i] == standing.points[j]).enumerate() {
        all.extend((0..equals.len()).map(|place| (group, place, equals.len())));
    }
    all
}

impl PhaseSchedule for Swiss {
    fn stage(&self, number: u32, past: &PhaseHistory<'_>) -> Option<Box<dyn Stage>> {
        if number >= self.rounds || (past.stages.len() as u64) < u64::from(number) {
            return None;
        }
        let pairs = self.pair(&self.standing(self.played(past, number)), number);
        Some(Box::new(PairStage {
            name: format!("round {}", number + 1),
            stage: number,
            ties: pairs.into_iter().map(|pair| pair.map(|i| self.entrants[i])).collect(),
            pairs: 1,
            variants: (0, self.variants),
            swap: self.swap,
        }))
    }

    fn depends_on_results(&self) -> bool {
        true
    }

    fn stages(&self) -> Option<u32> {
        Some(self.rounds)
    }

    fn expected(&self) -> (u64, u64) {
        let all = u64::from(self.rounds) * (self.entrants.len() as u64 / 2) * self.meetings_each();
        (all, all)
    }

    fn matches_each(&self) -> Option<u64> {
        self.entrants.len().is_multiple_of(2).then(|| u64::from(self.rounds) * self.meetings_each())
    }

    fn balance(&self, past: &PhaseHistory<'_>) -> BalanceReport {
        balance_of(&self.entrants, past, past.stages.len() >= self.rounds as usize)
    }

    fn byes(&self, past: &PhaseHistory<'_>) -> Vec<(u32, Entrant)> {
        let mut all = Vec::new();
        for (stage, round) in self.played(past, u32::MAX).iter().enumerate() {
            let missing = self
                .entrants
                .iter()
                .filter(|entrant| round.iter().all(|verdict| !verdict.seats.contains(entrant)));
            all.extend(missing.map(|&entrant| (stage as u32, entrant)));
        }
        all
    }
}
