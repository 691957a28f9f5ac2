//! The remaining matches of a stage, handed out to threads.
//!
//! Matches are usually handed out in batches, so that short games cause little overhead. Where bots keep data from match to match, matches
//! are handed out one at a time, and only when their bots have finished all earlier matches: the order is part of the result.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agon_core::LockIgnoringPoison as _;
use agon_league::format::Stage;
use agon_league::{Entrant, Fixture};

use crate::stop_flag::StopFlag;

/// Target duration of a batch. Short, so that all threads end at about the same time; long enough to make handing out cheap.
const TARGET_BATCH_DURATION: Duration = Duration::from_millis(20);
/// Maximum number of matches in a batch.
const MAX_BATCH_SIZE: u64 = 256;
/// Interval at which a waiting thread checks whether a stop was requested.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// The remaining matches of a stage.
pub struct MatchQueue<'q> {
    stage: &'q dyn Stage,
    stop: &'q StopFlag,
    /// Whether a bot's matches must be played one after the other.
    in_order: bool,
    /// Entrants that keep nothing from match to match, such as house bots. They can play several matches at the same time.
    free: Vec<Entrant>,
    state: Mutex<QueueState>,
    bot_freed: Condvar,
}

struct QueueState {
    /// Ranges of matches to play, in reverse order.
    todo: Vec<Range<u64>>,
    /// Matches that wait for a busy bot, and matches being played.
    waiting: BTreeMap<u64, Fixture>,
    playing: BTreeMap<u64, Vec<Entrant>>,
}

impl<'q> MatchQueue<'q> {
    /// Creates a queue of the matches in `todo`, in that order.
    pub fn new(stage: &'q dyn Stage, mut todo: Vec<Range<u64>>, in_order: bool, stop: &'q StopFlag) -> Self {
        todo.reverse();
        let state = QueueState { todo, waiting: BTreeMap::new(), playing: BTreeMap::new() };
        Self { stage, stop, in_order, free: Vec::new(), state: Mutex::new(state), bot_freed: Condvar::new() }
    }

    /// The same queue, where these entrants can play several matches at the same time.
    #[must_use]
    pub fn with_free_entrants(mut self, free: Vec<Entrant>) -> Self {
        self.free = free;
        self
    }

    /// The entrants of a match that play one match at a time.
    fn bound_entrants(&self, fixture: &Fixture) -> Vec<Entrant> {
        fixture.seats.iter().copied().filter(|seat| !self.free.contains(seat)).collect()
    }

    /// The next matches for a thread. `last` is the average duration of its latest matches. Blocks while all remaining matches wait for
    /// busy bots. Empty when no match is left to start.
    pub fn claim_batch(&self, last: Option<Duration>, jobs: usize) -> Vec<(u64, Fixture)> {
        if self.in_order {
            return self.claim_in_order().into_iter().collect();
        }
        let mut state = self.lock();
        if self.stop.is_requested() {
            return Vec::new();
        }
        let left: u64 = state.todo.iter().map(|range| range.end - range.start).sum();
        let fair = (left / (4 * jobs.max(1) as u64)).clamp(1, MAX_BATCH_SIZE);
        let quick = last.map_or(1, |each| (TARGET_BATCH_DURATION.as_nanos() / each.as_nanos().max(1)) as u64);
        let size = quick.clamp(1, fair);
        let mut batch = Vec::with_capacity(size as usize);
        while (batch.len() as u64) < size {
            let Some(number) = state.take_next() else { break };
            if let Some(fixture) = self.stage.fixture(number) {
                batch.push((number, fixture));
            }
        }
        batch
    }

    /// Up to `max_matches` matches, without blocking. Where matches are played in order, at most one match whose bots are all free. Empty
    /// when no match can start now.
    pub fn next_batch(&self, max_matches: u64) -> Vec<(u64, Fixture)> {
        let mut state = self.lock();
        if self.stop.is_requested() {
            return Vec::new();
        }
        if self.in_order {
            let found = state.take_ready(self);
            if let Some((number, fixture)) = &found {
                state.playing.insert(*number, self.bound_entrants(fixture));
            }
            return found.into_iter().collect();
        }
        let mut batch = Vec::new();
        while (batch.len() as u64) < max_matches {
            let Some(number) = state.take_next() else { break };
            batch.extend(self.stage.fixture(number).map(|fixture| (number, fixture)));
        }
        batch
    }

    /// Removes a match that was played elsewhere, so that it is not handed out. `None` if it is not pending, or if matches are played in
    /// order.
    pub fn remove(&self, number: u64) -> Option<Fixture> {
        if self.in_order || !self.lock().remove(number) {
            return None;
        }
        self.stage.fixture(number)
    }

    /// Whether a match was not handed out yet.
    pub fn is_pending(&self, number: u64) -> bool {
        let state = self.lock();
        state.waiting.contains_key(&number) || state.todo.iter().any(|range| range.contains(&number))
    }

    /// A match of the stage, played or not.
    pub fn fixture(&self, number: u64) -> Option<Fixture> {
        self.stage.fixture(number)
    }

    /// Number of matches that were not handed out yet.
    pub fn pending_count(&self) -> u64 {
        let state = self.lock();
        state.todo.iter().map(|range| range.end - range.start).sum::<u64>() + state.waiting.len() as u64
    }

    /// Whether a bot's matches must be played one after the other.
    pub const fn in_order(&self) -> bool {
        self.in_order
    }

    /// Whether a stop was requested. Then no more matches start.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_requested()
    }

    /// Waits for a match whose bots have finished all earlier matches.
    fn claim_in_order(&self) -> Option<(u64, Fixture)> {
        let mut state = self.lock();
        loop {
            if self.stop.is_requested() {
                return None;
            }
            if let Some(found) = state.take_ready(self) {
                state.playing.insert(found.0, self.bound_entrants(&found.1));
                return Some(found);
            }
            if state.waiting.is_empty() {
                return None;
            }
            state = self
                .bot_freed
                .wait_timeout(state, STOP_CHECK_INTERVAL)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Marks a match as finished. Its bots are free again.
    pub fn mark_finished(&self, number: u64) {
        if self.in_order {
            self.lock().playing.remove(&number);
            self.bot_freed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock_ignoring_poison()
    }
}

impl QueueState {
    fn take_next(&mut self) -> Option<u64> {
        let range = self.todo.last_mut()?;
        let number = range.next()?;
        if range.is_empty() {
            self.todo.pop();
        }
        Some(number)
    }

    /// Removes a match from the ranges. Returns whether it was there.
    fn remove(&mut self, number: u64) -> bool {
        let Some(place) = self.todo.iter().position(|range| range.contains(&number)) else { return false };
        let Range { start, end } = self.todo[place];
        // The ranges are in reverse order: matches after this number come first.
        let around = [number + 1..end, start..number];
        self.todo.splice(place..=place, around.into_iter().filter(|range| !range.is_empty()));
        true
    }

    /// Takes the first match that shares no bot with a match being played or with an earlier waiting match, bots that keep nothing aside.
    fn take_ready(&mut self, queue: &MatchQueue<'_>) -> Option<(u64, Fixture)> {
        let stage = queue.stage;
        let mut busy: Vec<Entrant> = self.playing.values().flatten().copied().collect();
        let free =
            |fixture: &Fixture, busy: &[Entrant]| !fixture.seats.iter().any(|seat| busy.contains(seat));
        let mut found = None;
        for (&number, fixture) in &self.waiting {
            if free(fixture, &busy) {
                found = Some(number);
                break;
            }
            busy.extend(queue.bound_entrants(fixture));
        }
        if let Some(number) = found {
            return self.waiting.remove(&number).map(|fixture| (number, fixture));
        }
        while let Some(number) = self.take_next() {
            let Some(fixture) = stage.fixture(number) else { continue };
            if free(&fixture, &busy) {
                return Some((number, fixture));
            }
            busy.extend(queue.bound_entrants(&fixture));
            self.waiting.insert(number, fixture);
        }
        None
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "a list that contains one range")]
mod tests {
    use super::*;

    /// A stage of this many matches. Bots `i` and `i + 1` meet in match `i`.
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

    fn numbers(batch: &[(u64, Fixture)]) -> Vec<u64> {
        batch.iter().map(|(number, _)| *number).collect()
    }

    #[test]
    fn claim_batch_hands_out_every_match_once() {
        let (stage, stop) = (Chain(1000), StopFlag::new());
        let queue = MatchQueue::new(&stage, vec![0..10, 20..1000], false, &stop);
        let mut all = Vec::new();
        loop {
            let batch = numbers(&queue.claim_batch(Some(Duration::from_micros(10)), 2));
            if batch.is_empty() {
                break;
            }
            all.extend(batch);
        }
        assert_eq!(all, (0..10).chain(20..1000).collect::<Vec<_>>());
    }

    #[test]
    fn removed_matches_are_not_handed_out() {
        let (stage, stop) = (Chain(20), StopFlag::new());
        let queue = MatchQueue::new(&stage, vec![0..5, 10..14], false, &stop);
        for number in [2, 0, 13] {
            assert_eq!(queue.remove(number).unwrap().seed_index, number);
            assert!(queue.remove(number).is_none());
        }
        assert!(queue.remove(7).is_none());
        assert_eq!([1, 2, 7, 12].map(|number| queue.is_pending(number)), [true, false, false, true]);
        assert_eq!((queue.pending_count(), numbers(&queue.next_batch(100))), (6, vec![1, 3, 4, 10, 11, 12]));
        assert!(queue.remove(1).is_none());
    }

    #[test]
    fn claim_batch_hands_out_long_games_one_by_one() {
        let (stage, stop) = (Chain(1000), StopFlag::new());
        let queue = MatchQueue::new(&stage, vec![0..1000], false, &stop);
        assert_eq!(queue.claim_batch(Some(Duration::from_secs(1)), 2).len(), 1);
        assert_eq!(queue.claim_batch(Some(Duration::from_nanos(1)), 2).len(), 124);
    }

    #[test]
    fn queue_in_order_hands_out_a_match_after_its_bots_finished_earlier_ones() {
        let (stage, stop) = (Chain(4), StopFlag::new());
        let queue = MatchQueue::new(&stage, vec![0..4], true, &stop);
        assert_eq!(numbers(&queue.claim_batch(None, 2)), [0]);
        // Match 1 needs a bot of match 0. Match 2 needs a bot of match 1, which comes first. Match 3 needs a bot of match 2.
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| numbers(&queue.claim_batch(None, 2)));
            std::thread::sleep(Duration::from_millis(20));
            queue.mark_finished(0);
            assert_eq!(waits.join().unwrap(), [1]);
        });
        queue.mark_finished(1);
        assert_eq!(numbers(&queue.claim_batch(None, 2)), [2]);
        queue.mark_finished(2);
        assert_eq!(numbers(&queue.claim_batch(None, 2)), [3]);
        queue.mark_finished(3);
        assert!(queue.claim_batch(None, 2).is_empty());
    }

    #[test]
    fn queue_in_order_hands_out_matches_that_share_only_a_bot_without_data() {
        let (stage, stop) = (Chain(3), StopFlag::new());
        let queue = MatchQueue::new(&stage, vec![0..3], true, &stop).with_free_entrants(vec![Entrant(1)]);
        assert_eq!(numbers(&queue.claim_batch(None, 2)), [0]);
        assert_eq!(numbers(&queue.claim_batch(None, 2)), [1], "bot 1 plays both");
        assert!(queue.next_batch(1).is_empty(), "bot 2 plays match 1");
        queue.mark_finished(1);
        assert_eq!(numbers(&queue.claim_batch(None, 2)), [2]);
    }

    #[test]
    fn claim_batch_is_empty_after_a_stop() {
        let (stage, stop) = (Chain(4), StopFlag::new());
        for in_order in [false, true] {
            let queue = MatchQueue::new(&stage, vec![0..4], in_order, &stop);
            stop.request();
            assert!(queue.claim_batch(None, 2).is_empty());
        }
    }
}
