//! Swiss system: entrants with equal points meet.
//!
//! Each round is a stage. Entrants are ordered by points, then by seeding, and [paired up](super::pairing) by these criteria, most
//! important first. 1. Avoid rematches. 2. Do not pair two entrants that both had the first seat two times too often (or too rarely).
//! 3. Pair similar points. 4. Among equal points, the upper half meets the lower half. With an odd number, one entrant has a bye: the
//! lowest of those with the fewest byes, if the others can then be paired without a rematch. For pairing, a bye counts as the best
//! result of its round.
//!
//! The first seat goes to the entrant that had it less often; if equal, to the one that did not have it last.

use super::balance::BalanceReport;
use super::pairing::{can_pair, pair_up};
use super::ties::{PairStage, played_balance};
use super::{FormatError, MatchVerdict, PhaseField, PhaseHistory, PhaseSchedule, Stage, checked_product};
use crate::result::{Entrant, FixedPoint};
use std::collections::HashMap;

pub(super) struct Swiss {
    entrants: Vec<Entrant>,
    index_of: HashMap<Entrant, usize>,
    rounds: u32,
    variants: u32,
    swap: bool,
}

/// State after the rounds so far.
struct SwissState {
    points: Vec<FixedPoint>,
    /// Square matrix of meetings.
    met: Vec<u8>,
    byes: Vec<u32>,
    /// Games on the first seat minus games on the second.
    first_seat_balance: Vec<i32>,
    /// The same for the last round only.
    last_seat_balance: Vec<i32>,
}

impl Swiss {
    pub fn new(field: &PhaseField, rounds: u32, swap: bool) -> Result<Self, FormatError> {
        field.validate(2)?;
        if rounds == 0 {
            return Err(FormatError::ZeroCount { field: "rounds" });
        }
        checked_product(&[u64::from(rounds), field.len() as u64, u64::from(field.variants()), 2])?;
        let index_of = field.entrants.iter().enumerate().map(|(i, &entrant)| (entrant, i)).collect();
        Ok(Self { entrants: field.entrants.clone(), index_of, rounds, variants: field.variants(), swap })
    }

    fn state_after(&self, rounds: &[Vec<MatchVerdict>]) -> SwissState {
        let n = self.entrants.len();
        let mut state = SwissState {
            points: vec![FixedPoint::ZERO; n],
            met: vec![0; n * n],
            byes: vec![0; n],
            first_seat_balance: vec![0; n],
            last_seat_balance: vec![0; n],
        };
        for round in rounds {
            self.add_round(&mut state, round);
        }
        state
    }

    fn add_round(&self, state: &mut SwissState, round: &[MatchVerdict]) {
        let n = self.entrants.len();
        let mut points: Vec<Option<FixedPoint>> = vec![None; n];
        let mut opponent = vec![usize::MAX; n];
        state.last_seat_balance.fill(0);
        for verdict in round {
            let seats: Vec<usize> =
                verdict.seats.iter().filter_map(|entrant| self.index_of.get(entrant).copied()).collect();
            let &[one, other] = seats.as_slice() else { continue };
            for (seat, i, against) in [(0, one, other), (1, other, one)] {
                *points[i].get_or_insert_default() += verdict.points.get(seat).copied().unwrap_or_default();
                opponent[i] = against;
                state.last_seat_balance[i] += if seat == 0 { 1 } else { -1 };
            }
        }
        let best = points.iter().flatten().max().copied().unwrap_or_default();
        for i in 0..n {
            state.points[i] += points[i].unwrap_or(best);
            state.first_seat_balance[i] += state.last_seat_balance[i];
            match opponent[i] {
                usize::MAX => state.byes[i] += 1,
                other => state.met[i * n + other] = state.met[i * n + other].saturating_add(1),
            }
        }
    }

    /// Pairs of the round, the first seat first.
    fn pair(&self, state: &SwissState, round: u32) -> Vec<[usize; 2]> {
        let n = self.entrants.len();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&i| (std::cmp::Reverse(state.points[i]), i));
        if n % 2 == 1 {
            let bye = bye_position(state, &order);
            order.remove(bye);
        }
        let groups = points_groups(state, &order);
        let met = |i: usize, j: usize| u32::from(state.met[order[i] * n + order[j]]);
        let cost = |i: usize, j: usize| {
            let ((group, place, size), (other, other_place, _)) = (groups[i], groups[j]);
            let gap = (group.abs_diff(other) as u64).min(1 << 10);
            let fold =
                if gap == 0 { place.abs_diff(other_place).abs_diff(size / 2).min(60) as u64 } else { 0 };
            gap * gap * (1 << 10)
                + self.seat_cost(state.first_seat_balance[order[i]], state.first_seat_balance[order[j]])
                + fold
        };
        let pairs = pair_up(order.len(), &met, &cost);
        let seat = |(at, (i, j)): (usize, (usize, usize))| {
            let (i, j) = (order[i], order[j]);
            let claim = |i: usize| (state.first_seat_balance[i], state.last_seat_balance[i]);
            let turned = match claim(i).cmp(&claim(j)) {
                std::cmp::Ordering::Less => false,
                std::cmp::Ordering::Greater => true,
                std::cmp::Ordering::Equal => (at as u32 + round) % 2 == 1,
            };
            if turned { [j, i] } else { [i, j] }
        };
        pairs.into_iter().enumerate().map(seat).collect()
    }

    /// Cost if both had the first seat too often (or too rarely): one of them gets it again.
    fn seat_cost(&self, one: i32, other: i32) -> u64 {
        if self.swap || i64::from(one) * i64::from(other) <= 0 {
            return 0;
        }
        match u64::from(one.unsigned_abs().min(other.unsigned_abs())) {
            1 => 64,
            more => (more - 1).min(10).pow(2) << 24,
        }
    }

    fn games_per_pair(&self) -> u64 {
        u64::from(self.variants) * (1 + u64::from(self.swap))
    }

    fn finished_rounds<'p>(&self, past: &PhaseHistory<'p>, rounds: u32) -> &'p [Vec<MatchVerdict>] {
        &past.stages[..past.stages.len().min(rounds.min(self.rounds) as usize)]
    }
}

/// Position in `order` of the entrant with the bye.
fn bye_position(state: &SwissState, order: &[usize]) -> usize {
    let n = order.len();
    let fewest = state.byes.iter().min().copied().unwrap_or_default();
    let candidates: Vec<usize> = (0..n).rev().filter(|&at| state.byes[order[at]] == fewest).collect();
    let works = |&at: &usize| {
        let rest: Vec<usize> = (0..n).filter(|&i| i != at).map(|i| order[i]).collect();
        can_pair(rest.len(), &|i, j| state.met[rest[i] * n + rest[j]] == 0)
    };
    candidates.iter().copied().find(|at| works(at)).or_else(|| candidates.first().copied()).unwrap_or(n - 1)
}

/// For each position in `order`: group of equal points, position in the group, group size.
fn points_groups(state: &SwissState, order: &[usize]) -> Vec<(usize, usize, usize)> {
    let mut all = Vec::with_capacity(order.len());
    for (group, equals) in order.chunk_by(|&i, &j| state.points[i] == state.points[j]).enumerate() {
        all.extend((0..equals.len()).map(|place| (group, place, equals.len())));
    }
    all
}

impl PhaseSchedule for Swiss {
    fn stage(&self, number: u32, past: &PhaseHistory<'_>) -> Option<Box<dyn Stage>> {
        if number >= self.rounds || (past.stages.len() as u64) < u64::from(number) {
            return None;
        }
        let pairs = self.pair(&self.state_after(self.finished_rounds(past, number)), number);
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

    fn expected_matches(&self) -> (u64, u64) {
        let all = u64::from(self.rounds) * (self.entrants.len() as u64 / 2) * self.games_per_pair();
        (all, all)
    }

    fn matches_each(&self) -> Option<u64> {
        self.entrants.len().is_multiple_of(2).then(|| u64::from(self.rounds) * self.games_per_pair())
    }

    fn balance(&self, past: &PhaseHistory<'_>) -> BalanceReport {
        played_balance(&self.entrants, past, past.stages.len() >= self.rounds as usize)
    }

    fn byes(&self, past: &PhaseHistory<'_>) -> Vec<(u32, Entrant)> {
        let mut all = Vec::new();
        for (stage, round) in self.finished_rounds(past, u32::MAX).iter().enumerate() {
            let missing = self
                .entrants
                .iter()
                .filter(|entrant| round.iter().all(|verdict| !verdict.seats.contains(entrant)));
            all.extend(missing.map(|&entrant| (stage as u32, entrant)));
        }
        all
    }
}
