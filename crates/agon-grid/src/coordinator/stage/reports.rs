//! What workers hand in: looked at, handed on to the ledger, and the receipt when it is there.

use std::time::Duration;

use agon_runner::ExecutorEvent;

use super::{StageCoordinator, PendingCommit, JobPurpose};
use crate::coordinator::Revocation;
use crate::coordinator::workers::StrikeOutcome;
use crate::coordinator::listener::{ReplyHandle, StageEvent};
use crate::coordinator::validate::{self, SeatBots};
use crate::coordinator::cross_check::CrossCheckOutcome;
use crate::subjects;
use crate::messages::match_report::MatchReport;
use crate::messages::{JobMatch, WorkerCommand, ReportAck, JobReport};

/// So many earlier matches of a worker are looked at when it has a strike.
const LOOKED_BACK: usize = 8;

impl StageCoordinator<'_> {
    /// A worker hands something in.
    pub(super) fn report(
        &mut self,
        worker: &str,
        report: JobReport,
        sat: Result<Vec<SeatBots>, String>,
        answer: ReplyHandle,
    ) {
        if let Some(why) = self.shared().company().barred(worker).map(str::to_owned) {
            return answer.give(&ReportAck::Refused { why });
        }
        self.one_less_to_wait_for();
        let sat = match sat {
            Ok(sat) => sat,
            Err(why) => return self.reject_report(worker, &why, answer),
        };
        let job = self.take_job(&report.job);
        if report.brief != self.kit.brief {
            // Of a phase that is over.
            return answer.give(&ReportAck::Kept);
        }
        self.pace.observe(report.matches.len(), Duration::from_micros(report.took_us));
        let kind = job.as_ref().map(|out| out.kind);
        let taken = match kind {
            Some(JobPurpose::Check) => self.opinions(worker, &report.matches, &sat).map(|()| Vec::new()),
            _ => self.new_matches(&report, &sat),
        };
        match taken {
            Ok(fresh) => self.store(worker, fresh, report.matches, answer),
            Err(why) => self.reject_report(worker, &why, answer),
        }
        if let Some(out) = &job {
            self.republish_missing(out);
        }
    }

    /// Which matches of a report are still missing, as they were asked for. An error if one of them cannot be what was asked for.
    fn new_matches(&mut self, report: &JobReport, sat: &[SeatBots]) -> Result<Vec<JobMatch>, String> {
        let mut fresh: Vec<JobMatch> = Vec::new();
        for (played, sat) in report.matches.iter().zip(sat) {
            let key = played.result.key;
            let Some(fixture) = self.queue.fixture(key.number) else { continue };
            if (key.phase, key.stage) != (self.hall.phase, self.stage) {
                continue;
            }
            let asked = match self.asked.get(&key.number) {
                // What bots had with them in another job may not be what they have now.
                Some((_, job)) if self.queue.in_order() && *job != report.job => continue,
                Some((asked, _)) => asked.clone(),
                None => self.match_of(key.number, &fixture),
            };
            validate::check_against_job(played, sat, &asked, &self.kit.entrants)?;
            if fresh.iter().all(|one| one.number != key.number) {
                fresh.push(asked);
            }
        }
        // Those of a job from before this coordinator were perhaps not handed out yet.
        fresh.retain(|one| self.asked.contains_key(&one.number) || self.queue.remove(one.number).is_some());
        Ok(fresh)
    }

    /// Hands matches on.
    fn store(&mut self, worker: &str, fresh: Vec<JobMatch>, played: Vec<MatchReport>, answer: ReplyHandle) {
        if fresh.is_empty() {
            // Perhaps it is said again, because the ledger is slow.
            let waiting = played.iter().find_map(|one| self.on_their_way.get(&one.result.key.number));
            match waiting.and_then(|token| self.keeping.get_mut(token)) {
                Some(keeping) => keeping.answers.push(answer),
                None => answer.give(&ReportAck::Kept),
            }
            return;
        }
        let token = self.fleet.number();
        let is_watched = self.shared().company().is_watched(worker);
        let (mut matches, mut data) = (Vec::with_capacity(fresh.len()), Vec::new());
        for one in played {
            let number = one.result.key.number;
            let Some(asked) = fresh.iter().find(|asked| asked.number == number) else { continue };
            if self.on_their_way.insert(number, token).is_some() {
                continue;
            }
            self.asked.remove(&number);
            let finished = one.finished(worker);
            let digest = finished.digest().0;
            if self.checks.chosen(finished.result.key) || is_watched {
                self.checks.begin(asked.clone(), worker, digest);
                self.replay(worker, &finished);
            }
            self.played.entry(worker.to_owned()).or_default().push((number, digest));
            if self.queue.in_order() {
                data.extend(finished.data.iter().map(|one| (one.entrant.0, one.bytes.clone())));
            }
            matches.push(finished);
        }
        let keeping = PendingCommit { answers: vec![answer], matches: fresh, data };
        self.keeping.insert(token, keeping);
        let said = self.shared().said.clone();
        let kept = Box::new(move || drop(said.send(StageEvent::Kept(token))));
        self.over |= self.lots.send(ExecutorEvent::Played { matches, kept: Some(kept) }).is_err();
    }

    /// It is in the ledger.
    pub(super) fn kept(&mut self, token: u64) {
        self.fleet.memory().sentences.remove(&token);
        let Some(keeping) = self.keeping.remove(&token) else { return };
        for answer in keeping.answers {
            answer.give(&ReportAck::Kept);
        }
        if let Some(baggage) = &mut self.baggage {
            for one in &keeping.matches {
                let data = keeping.data.iter().filter(|(entrant, _)| one.seats.contains(entrant)).cloned();
                if let Err(error) = baggage.kept(self.hall, &one.seats, data.collect()) {
                    self.over |= self.lots.send(ExecutorEvent::Failed(error.into())).is_err();
                }
            }
        }
        for one in &keeping.matches {
            self.on_their_way.remove(&one.number);
            self.queue.finished(one.number);
        }
    }

    /// Others came to this.
    fn opinions(&mut self, worker: &str, matches: &[MatchReport], sat: &[SeatBots]) -> Result<(), String> {
        for (played, sat) in matches.iter().zip(sat) {
            let number = played.result.key.number;
            let Some(fixture) = self.queue.fixture(number) else { continue };
            validate::check_against_job(played, sat, &self.match_of(number, &fixture), &self.kit.entrants)?;
            let finished = played.clone().finished(worker);
            match self.checks.add_result(number, worker, finished.digest().0) {
                CrossCheckOutcome::Nothing => {}
                CrossCheckOutcome::Agreed => self.fleet.memory().figures.checked += 1,
                CrossCheckOutcome::Asked => {
                    self.fleet.memory().figures.disagreed += 1;
                    self.replay(worker, &finished);
                    self.replay_kept(number);
                }
                CrossCheckOutcome::Outvoted { worker, is_kept } => self.handle_outvoted(&worker, finished, is_kept),
                CrossCheckOutcome::AllDiffer(workers) => self.dispute(number, workers),
            }
        }
        Ok(())
    }

    /// A worker was wrong once. From now on all it plays is looked at, and some of what it has played.
    pub(super) fn strike(&mut self, worker: &str, why: &str) {
        let strike = self.shared().company().strike(worker, why);
        self.shared().tell(&format!("worker {worker} is doubted: {why}"));
        match strike {
            StrikeOutcome::Out(why) => self.bar(worker, &why),
            StrikeOutcome::Watched if self.queue.in_order() => {}
            StrikeOutcome::Watched => {
                let earlier = self.played.get(worker).cloned().unwrap_or_default();
                let every = (earlier.len() / LOOKED_BACK).max(1);
                for (number, digest) in earlier.into_iter().step_by(every) {
                    if let Some(fixture) = self.queue.fixture(number) {
                        self.checks.begin(self.match_of(number, &fixture), worker, digest);
                    }
                }
            }
        }
    }

    /// What was handed in cannot be true.
    fn reject_report(&mut self, worker: &str, why: &str, answer: ReplyHandle) {
        answer.give(&ReportAck::Refused { why: why.to_owned() });
        self.bar(worker, why);
    }

    /// Nobody believes this worker any more.
    pub(super) fn bar(&mut self, worker: &str, why: &str) {
        if !self.shared().company().bar(worker, why) {
            return;
        }
        self.checks.forget(worker);
        self.fleet.memory().figures.barred += 1;
        let (cup, why) = (self.shared().cup.id.clone(), why.to_owned());
        self.shared().publish(subjects::order(worker), &WorkerCommand::Leave { competition_id: cup, why: why.clone() });
        self.revoke(Revocation::Bar { worker: worker.to_owned(), why });
    }
}
