//! Decides between different results of a match, and revokes results.

use std::sync::Arc;

use agon_league::MatchKey;
use agon_runner::ExecutorEvent;
use agon_store::FinishedMatch;

use super::StageCoordinator;
use crate::coordinator::listener::StageEvent;
use crate::coordinator::validate;
use crate::coordinator::{DisputedMatch, Revocation};

impl StageCoordinator<'_> {
    /// Replays the stored records of a match. A restarted coordinator may have found them in the ledger.
    pub(super) fn replay_stored(&mut self, number: u64) {
        let Some(worker) = self.checks.first_worker(number).map(str::to_owned) else { return };
        let (key, runtime) = (self.key(number), self.context().runtime.clone());
        let replay = self.replay_task(&worker, key);
        let reply_records = Box::new(move |records| drop(runtime.spawn_blocking(move || replay(records))));
        self.receiver_gone |=
            self.run_events.send(ExecutorEvent::RecordsRequested { key, reply: reply_records }).is_err();
    }

    /// Returns a function that replays records of this worker's match and sends the outcome as an event. The stage waits for it from now
    /// on.
    fn replay_task(&mut self, worker: &str, key: MatchKey) -> impl FnOnce(Vec<Vec<u8>>) + Send + use<> {
        let token = self.coordinator.next_number();
        self.replaying.insert(token);
        let competition = &self.context().competition;
        let (game, assets) = (Arc::clone(&competition.game), competition.assets.clone());
        let (events, worker) = (self.context().events.clone(), worker.to_owned());
        move |records| {
            let violation = validate::check_replay(&*game, &assets, &records).err();
            let violation = violation.map(|what| format!("match {key}: {what}"));
            let _ = events.send(StageEvent::Replayed(worker, token, violation));
        }
    }

    /// Two other workers agree on another result. Their result counts, whether or not the worker is banned.
    pub(super) fn handle_outvoted(&mut self, worker: &str, winning: FinishedMatch, is_stored: bool) {
        let key = winning.result.key;
        let why = format!("two other workers agree on another result of match {key}");
        if is_stored {
            self.coordinator.state().majority_results.push(winning);
        }
        self.strike(worker, &why);
        // A ban revokes all results of the worker anyway.
        if is_stored && self.context().workers().ban_reason(worker).is_none() {
            self.revoke(Revocation::RevokeMatch { key, worker: worker.to_owned(), why });
        }
    }

    /// Reports a match without a majority. The first result stays.
    pub(super) fn report_dispute(&mut self, number: u64, workers: Vec<String>) {
        let key = self.key(number);
        let mut state = self.coordinator.state();
        state.stats.disputed += 1;
        state.disputed.push(DisputedMatch { key, workers: workers.clone() });
        drop(state);
        self.receiver_gone |= self.run_events.send(ExecutorEvent::Disputed { key, workers }).is_err();
    }

    /// Starts a revocation. It is kept until it is executed.
    pub(super) fn revoke(&mut self, revocation: Revocation) {
        let token = self.coordinator.next_number();
        self.coordinator.state().revocations.insert(token, revocation.clone());
        self.send_revocation(token, revocation);
    }

    fn send_revocation(&mut self, token: u64, revocation: Revocation) {
        let events = self.context().events.clone();
        let then: agon_runner::executor::OnStored =
            Box::new(move || drop(events.send(StageEvent::Stored(token))));
        let then = Some(then);
        let event = match revocation {
            Revocation::Ban { worker, why } => ExecutorEvent::Banned { worker, reason: why, on_stored: then },
            Revocation::RevokeMatch { key, worker, why } => {
                ExecutorEvent::Outvoted { key, worker, reason: why, on_stored: then }
            }
        };
        self.receiver_gone |= self.run_events.send(event).is_err();
    }

    /// Resumes after a restart of the stage: pending revocations, and matches with a majority result.
    pub(super) fn resume_pending(&mut self) {
        let (phase, stage) = (self.phase_context.phase, self.stage);
        let mut state = self.coordinator.state();
        let revocations = state.revocations.clone();
        let here = |one: &mut FinishedMatch| (one.result.key.phase, one.result.key.stage) == (phase, stage);
        let majority_results: Vec<FinishedMatch> = state.majority_results.extract_if(.., here).collect();
        drop(state);
        // Where matches are played in order, they are played again, because the bots' data may have changed since.
        let left =
            majority_results.into_iter().filter(|one| self.queue.remove(one.result.key.number).is_some());
        let matches: Vec<FinishedMatch> = left.collect();
        if !matches.is_empty() {
            self.receiver_gone |=
                self.run_events.send(ExecutorEvent::Played { matches, on_stored: None }).is_err();
        }
        for (token, revocation) in revocations {
            self.send_revocation(token, revocation);
        }
    }
}
