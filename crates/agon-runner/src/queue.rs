//! What of a stage is still to be played, handed out to threads.
//!
//! Usually in lots, so that handing out costs nothing beside short games. Where bots keep something from match to match, one at a
//! time, and never a match of a bot that has an earlier one to finish: the order is part of the result.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agon_league::format::Stage;
use agon_league::{Entrant, Fixture};

use crate::stop_flag::StopFlag;

/// A lot should take about so long: short enough that two threads end together, long enough that taking it is free.
const LOT: Duration = Duration::from_millis(20);
/// The largest lot.
const LARGEST: u64 = 256;
/// Whoever waits for another match to end looks up from time to time whether everybody was asked to stop.
const LOOK_UP: Duration = Duration::from_millis(100);

/// The matches of one stage that are still to be played.
pub struct Queue<'q> {
    stage: &'q dyn Stage,
    stop: &'q StopFlag,
    /// Whether a bot's matches must be played one after the other.
    in_order: bool,
    state: Mutex<State>,
    freed: Condvar,
}

struct State {
    /// The next one last.
    todo: Vec<Range<u64>>,
    /// Matches that could not be begun yet because of a bot that is busy, and those being played.
    waiting: BTreeMap<u64, Fixture>,
    playing: BTreeMap<u64, Vec<Entrant>>,
}

impl<'q> Queue<'q> {
    /// All of `todo`, in its order.
    pub fn new(stage: &'q dyn Stage, mut todo: Vec<Range<u64>>, in_order: bool, stop: &'q StopFlag) -> Self {
        todo.reverse();
        let state = State { todo, waiting: BTreeMap::new(), playing: BTreeMap::new() };
        Self { stage, stop, in_order, state: Mutex::new(state), freed: Condvar::new() }
    }

    /// The next matches for a thread that took `last` for each of its last ones. Empty when there is nothing left to begin.
    pub fn claim(&self, last: Option<Duration>, jobs: usize) -> Vec<(u64, Fixture)> {
        if self.in_order {
            return self.claim_one().into_iter().collect();
        }
        let mut state = self.lock();
        if self.stop.is_requested() {
            return Vec::new();
        }
        let left: u64 = state.todo.iter().map(|range| range.end - range.start).sum();
        let fair = (left / (4 * jobs.max(1) as u64)).clamp(1, LARGEST);
        let quick = last.map_or(1, |each| (LOT.as_nanos() / each.as_nanos().max(1)) as u64);
        let size = quick.clamp(1, fair);
        let mut lot = Vec::with_capacity(size as usize);
        while (lot.len() as u64) < size {
            let Some(number) = state.take() else { break };
            if let Some(fixture) = self.stage.fixture(number) {
                lot.push((number, fixture));
            }
        }
        lot
    }

    /// Up to so many matches, without waiting: where bots keep something from match to match, one, if there is one whose bots have no earlier
    /// one to finish. Empty when there is nothing to begin just now.
    pub fn next_batch(&self, most: u64) -> Vec<(u64, Fixture)> {
        let mut state = self.lock();
        if self.stop.is_requested() {
            return Vec::new();
        }
        if self.in_order {
            let found = state.ready(self.stage);
            if let Some((number, fixture)) = &found {
                state.playing.insert(*number, fixture.seats.clone());
            }
            return found.into_iter().collect();
        }
        let mut lot = Vec::new();
        while (lot.len() as u64) < most {
            let Some(number) = state.take() else { break };
            lot.extend(self.stage.fixture(number).map(|fixture| (number, fixture)));
        }
        lot
    }

    /// A match that was not handed out yet, and is not to be: somebody has played it already. `None` if it is not waiting, or must wait for its turn.
    pub fn remove(&self, number: u64) -> Option<Fixture> {
        if self.in_order || !self.lock().remove(number) {
            return None;
        }
        self.stage.fixture(number)
    }

    /// Whether a match was not handed out yet.
    pub fn is_left(&self, number: u64) -> bool {
        let state = self.lock();
        state.waiting.contains_key(&number) || state.todo.iter().any(|range| range.contains(&number))
    }

    /// A match of the stage, whether it was played or not.
    pub fn fixture(&self, number: u64) -> Option<Fixture> {
        self.stage.fixture(number)
    }

    /// How many matches were not handed out yet.
    pub fn left(&self) -> u64 {
        let state = self.lock();
        state.todo.iter().map(|range| range.end - range.start).sum::<u64>() + state.waiting.len() as u64
    }

    /// Whether a bot's matches must be played one after the other.
    pub const fn in_order(&self) -> bool {
        self.in_order
    }

    /// Whether nothing more is to be begun: somebody asked for a stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_requested()
    }

    /// A match whose bots have no earlier one to finish. Waits for one.
    fn claim_one(&self) -> Option<(u64, Fixture)> {
        let mut state = self.lock();
        loop {
            if self.stop.is_requested() {
                return None;
            }
            if let Some(found) = state.ready(self.stage) {
                state.playing.insert(found.0, found.1.seats.clone());
                return Some(found);
            }
            if state.waiting.is_empty() {
                return None;
            }
            state = self.freed.wait_timeout(state, LOOK_UP).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A match was played to its end.
    pub fn finished(&self, number: u64) {
        if self.in_order {
            self.lock().playing.remove(&number);
            self.freed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self) -> Option<u64> {
        let range = self.todo.last_mut()?;
        let number = range.next()?;
        if range.is_empty() {
            self.todo.pop();
        }
        Some(number)
    }

    /// Takes one out of the middle; says whether it was there.
    fn remove(&mut self, number: u64) -> bool {
        let Some(place) = self.todo.iter().position(|range| range.contains(&number)) else { return false };
        let Range { start, end } = self.todo[place];
        // The next one is last: what comes after this number stands before it.
        let around = [number + 1..end, start..number];
        self.todo.splice(place..=place, around.into_iter().filter(|range| !range.is_empty()));
        true
    }

    /// The first match, in order, that shares no bot with one that is played or must come before it.
    fn ready(&mut self, stage: &dyn Stage) -> Option<(u64, Fixture)> {
        let mut busy: Vec<Entrant> = self.playing.values().flatten().copied().collect();
        let free =
            |fixture: &Fixture, busy: &[Entrant]| !fixture.seats.iter().any(|seat| busy.contains(seat));
        let mut found = None;
        for (&number, fixture) in &self.waiting {
            if free(fixture, &busy) {
                found = Some(number);
                break;
            }
            busy.extend(&fixture.seats);
        }
        if let Some(number) = found {
            return self.waiting.remove(&number).map(|fixture| (number, fixture));
        }
        while let Some(number) = self.take() {
            let Some(fixture) = stage.fixture(number) else { continue };
            if free(&fixture, &busy) {
                return Some((number, fixture));
            }
            busy.extend(&fixture.seats);
            self.waiting.insert(number, fixture);
        }
        None
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "a list of ranges with one in it")]
mod tests {
    use super::*;

    /// Bots `i` and `i + 1` meet in match `i`, of so many.
    struct Chain(u64);

    impl Stage for Chain {
        fn name(&self) -> String {
            "chain".to_owned()
        }

        fn len(&self) -> u64 {
            self.0
        }

        fn fixture(&self, number: u64) -> Option<Fixture> {
            let seats = vec![Entrant(number as u32), Entrant(number as u32 + 1)];
            (number < self.0).then_some(Fixture { seats, seed_index: number, variant: 0 })
        }
    }

    fn numbers(lot: &[(u64, Fixture)]) -> Vec<u64> {
        lot.iter().map(|(number, _)| *number).collect()
    }

    #[test]
    fn every_match_is_handed_out_once() {
        let (stage, stop) = (Chain(1000), StopFlag::new());
        let queue = Queue::new(&stage, vec![0..10, 20..1000], false, &stop);
        let mut all = Vec::new();
        loop {
            let lot = numbers(&queue.claim(Some(Duration::from_micros(10)), 2));
            if lot.is_empty() {
                break;
            }
            all.extend(lot);
        }
        assert_eq!(all, (0..10).chain(20..1000).collect::<Vec<_>>());
    }

    #[test]
    fn what_was_taken_out_is_not_handed_out() {
        let (stage, stop) = (Chain(20), StopFlag::new());
        let queue = Queue::new(&stage, vec![0..5, 10..14], false, &stop);
        for number in [2, 0, 13] {
            assert_eq!(queue.remove(number).unwrap().seed_index, number);
            assert!(queue.remove(number).is_none());
        }
        assert!(queue.remove(7).is_none());
        assert_eq!([1, 2, 7, 12].map(|number| queue.is_left(number)), [true, false, false, true]);
        assert_eq!((queue.left(), numbers(&queue.next_batch(100))), (6, vec![1, 3, 4, 10, 11, 12]));
        assert!(queue.remove(1).is_none());
    }

    #[test]
    fn long_games_are_handed_out_one_by_one() {
        let (stage, stop) = (Chain(1000), StopFlag::new());
        let queue = Queue::new(&stage, vec![0..1000], false, &stop);
        assert_eq!(queue.claim(Some(Duration::from_secs(1)), 2).len(), 1);
        assert_eq!(queue.claim(Some(Duration::from_nanos(1)), 2).len(), 124);
    }

    #[test]
    fn a_bot_finishes_a_match_before_it_begins_its_next() {
        let (stage, stop) = (Chain(4), StopFlag::new());
        let queue = Queue::new(&stage, vec![0..4], true, &stop);
        assert_eq!(numbers(&queue.claim(None, 2)), [0]);
        // Match 1 needs a bot of match 0, match 2 one of match 1, which comes first; match 3 needs one of 2.
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| numbers(&queue.claim(None, 2)));
            std::thread::sleep(Duration::from_millis(20));
            queue.finished(0);
            assert_eq!(waits.join().unwrap(), [1]);
        });
        queue.finished(1);
        assert_eq!(numbers(&queue.claim(None, 2)), [2]);
        queue.finished(2);
        assert_eq!(numbers(&queue.claim(None, 2)), [3]);
        queue.finished(3);
        assert!(queue.claim(None, 2).is_empty());
    }

    #[test]
    fn nothing_is_begun_after_a_stop() {
        let (stage, stop) = (Chain(4), StopFlag::new());
        for in_order in [false, true] {
            let queue = Queue::new(&stage, vec![0..4], in_order, &stop);
            stop.request();
            assert!(queue.claim(None, 2).is_empty());
        }
    }
}
