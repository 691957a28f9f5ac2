//! Matches that came to different ends: which of them counts, and what that means for who played them.

use std::sync::Arc;

use agon_league::MatchKey;
use agon_runner::ExecutorEvent;
use agon_store::FinishedMatch;

use super::StageCoordinator;
use crate::coordinator::listener::StageEvent;
use crate::coordinator::validate;
use crate::coordinator::{DisputedMatch, Revocation};

impl StageCoordinator<'_> {
    /// Plays a match's records through the rules, away from here.
    pub(super) fn replay(&mut self, worker: &str, finished: &FinishedMatch) {
        let records = finished.games.iter().filter_map(|game| game.record.clone()).collect();
        let replay = self.replaying(worker, finished.result.key);
        self.shared().runtime.spawn_blocking(move || replay(records));
    }

    /// The same with what the ledger has of a match: it may be from before this stage was begun anew, or was not looked at when it came.
    pub(super) fn replay_kept(&mut self, number: u64) {
        let Some(worker) = self.checks.first(number).map(str::to_owned) else { return };
        let (key, runtime) = (self.key(number), self.shared().runtime.clone());
        let replay = self.replaying(&worker, key);
        let give = Box::new(move |records| drop(runtime.spawn_blocking(move || replay(records))));
        self.over |= self.lots.send(ExecutorEvent::RecordsRequested { key, reply: give }).is_err();
    }

    /// What replays records of this worker's match, and says what came of it; it is waited for from now on.
    fn replaying(&mut self, worker: &str, key: MatchKey) -> impl FnOnce(Vec<Vec<u8>>) + Send + use<> {
        let token = self.fleet.number();
        self.replaying.insert(token);
        let (table, assets) = (Arc::clone(&self.fleet.table), self.hall.assets.clone());
        let (said, worker) = (self.shared().said.clone(), worker.to_owned());
        move |records| {
            let wrong = validate::replayed(&*table, &assets, &records).err();
            let wrong = wrong.map(|what| format!("match {key}: {what}"));
            let _ = said.send(StageEvent::Replayed(worker, token, wrong));
        }
    }

    /// Two came to something else than this worker in a match. What they came to counts, whatever becomes of the worker.
    pub(super) fn handle_outvoted(&mut self, worker: &str, theirs: FinishedMatch, is_kept: bool) {
        let key = theirs.result.key;
        let why = format!("two others came to something else in match {key}");
        if is_kept {
            self.fleet.memory().settled.push(theirs);
        }
        self.strike(worker, &why);
        // Of who is barred nothing counts anyway.
        if is_kept && self.shared().company().barred(worker).is_none() {
            self.revoke(Revocation::Outvote { key, worker: worker.to_owned(), why });
        }
    }

    /// Nothing tells which end of a match is right: it stays as it came first, and people are told.
    pub(super) fn dispute(&mut self, number: u64, workers: Vec<String>) {
        let key = self.key(number);
        let mut memory = self.fleet.memory();
        memory.figures.disputed += 1;
        memory.disputed.push(DisputedMatch { key, workers: workers.clone() });
        drop(memory);
        self.over |= self.lots.send(ExecutorEvent::Disputed { key, workers }).is_err();
    }

    /// Hands a sentence on; it is remembered until it was carried out.
    pub(super) fn revoke(&mut self, sentence: Revocation) {
        let token = self.fleet.number();
        self.fleet.memory().sentences.insert(token, sentence.clone());
        self.carry_out(token, sentence);
    }

    fn carry_out(&mut self, token: u64, sentence: Revocation) {
        let said = self.shared().said.clone();
        let then: agon_runner::executor::OnStored = Box::new(move || drop(said.send(StageEvent::Kept(token))));
        let then = Some(then);
        let lot = match sentence {
            Revocation::Bar { worker, why } => ExecutorEvent::Barred { worker, why, then },
            Revocation::Outvote { key, worker, why } => ExecutorEvent::Outvoted { key, worker, why, then },
        };
        self.over |= self.lots.send(lot).is_err();
    }

    /// What a stage that was begun anew left: sentences that nobody has carried out, and matches that two have come to the same in.
    pub(super) fn resume_pending(&mut self) {
        let (phase, stage) = (self.hall.phase, self.stage);
        let mut memory = self.fleet.memory();
        let sentences = memory.sentences.clone();
        let here = |one: &mut FinishedMatch| (one.result.key.phase, one.result.key.stage) == (phase, stage);
        let settled: Vec<FinishedMatch> = memory.settled.extract_if(.., here).collect();
        drop(memory);
        // Where matches are played in order they are played again: bots may have something else with them by then.
        let left = settled.into_iter().filter(|one| self.queue.remove(one.result.key.number).is_some());
        let matches: Vec<FinishedMatch> = left.collect();
        if !matches.is_empty() {
            self.over |= self.lots.send(ExecutorEvent::Played { matches, kept: None }).is_err();
        }
        for (token, sentence) in sentences {
            self.carry_out(token, sentence);
        }
    }
}
