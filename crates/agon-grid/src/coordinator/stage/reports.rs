//! Handles reports: validates them, passes matches to the ledger, and acknowledges them once they are stored.

use std::time::Duration;

use agon_league::MatchKey;
use agon_runner::ExecutorEvent;
use agon_runner::event::NOTICE_TARGET;

use super::{JobPurpose, PendingCommit, PublishedJob, StageCoordinator};
use crate::coordinator::Revocation;
use crate::coordinator::cross_check::CrossCheckOutcome;
use crate::coordinator::listener::{ReplyHandle, StageEvent};
use crate::coordinator::rank_checks::{self, SingleResult};
use crate::coordinator::validate::{self, ReadMatch, RequestedMatch};
use crate::coordinator::workers::StrikeOutcome;
use crate::messages::match_report::MatchReport;
use crate::messages::{JobMatch, JobReport, ReportAck, WorkerCommand};
use crate::subjects;
use crate::worker::OWN_ACK_PERIOD;

/// Number of earlier matches of a worker that are checked after a strike.
const EARLIER_MATCHES_CHECKED: usize = 8;

impl StageCoordinator<'_> {
    /// Handles a report.
    pub(super) fn handle_report(
        &mut self,
        worker: &str,
        report: JobReport,
        read: Result<Vec<ReadMatch>, String>,
        reply: ReplyHandle,
    ) {
        if let Some(why) = self.context().workers().ban_reason(worker).map(str::to_owned) {
            tracing::debug!(worker, job = report.job, "report of a banned worker rejected");
            return reply.send(&ReportAck::Refused { why });
        }
        self.count_finished_job();
        let read = match read {
            Ok(read) => read,
            Err(why) => return self.reject_report(worker, &why, reply),
        };
        let job = self.take_job(&report.job);
        if report.phase_spec != self.phase_files.phase_spec {
            // Report of an earlier phase.
            tracing::debug!(worker, job = report.job, "report of an earlier phase ignored");
            return reply.send(&ReportAck::Stored);
        }
        self.batch_sizer.observe(report.matches.len(), Duration::from_micros(report.duration_us));
        let purpose = job.as_ref().map(|published| published.purpose);
        let outcome = match purpose {
            Some(JobPurpose::Check) => {
                self.handle_check_results(worker, &report.matches, &read).map(|()| Vec::new())
            }
            _ => self.new_matches(&report, &read),
        };
        match outcome {
            Ok(new_matches) => {
                self.context().workers().count_success(worker);
                self.remove_held_job(job.as_ref());
                self.store(worker, new_matches, report.matches, reply);
            }
            Err(why) => self.reject_report(worker, &why, reply),
        }
        if let Some(published) = &job {
            self.republish_missing(published);
        }
    }

    /// Deletes a reported job that its worker may not be able to acknowledge, because it was held for long or the connection was lost.
    fn remove_held_job(&self, job: Option<&PublishedJob>) {
        let Some((published, sequence)) = job.and_then(|one| Some((one, one.sequence?))) else { return };
        let connectivity = self.context().link.connectivity();
        if published.published_at.elapsed() < OWN_ACK_PERIOD
            && !connectivity.was_lost_since(published.published_at)
        {
            return;
        }
        let job_queue = self.coordinator.job_queue.clone();
        self.context().runtime.spawn(async move { job_queue.remove(sequence).await });
    }

    /// Matches of a report that are still missing, as requested. An error if a match is not the requested one.
    fn new_matches(&mut self, report: &JobReport, read: &[ReadMatch]) -> Result<Vec<JobMatch>, String> {
        let mut new_matches: Vec<JobMatch> = Vec::new();
        for (played, read) in report.matches.iter().zip(read) {
            let key = played.result.key;
            let Some(fixture) = self.queue.fixture(key.number) else { continue };
            if (key.phase, key.stage) != (self.phase_context.phase, self.stage) {
                continue;
            }
            let job_match = match self.requested.get(&key.number) {
                // In another job the bots may have had other data.
                Some((_, job)) if self.queue.in_order() && *job != report.job => continue,
                Some((job_match, _)) => job_match.clone(),
                None => self.job_match(key.number, &fixture),
            };
            self.check_request(played, read, &job_match)?;
            if new_matches.iter().all(|one| one.number != key.number) {
                new_matches.push(job_match);
            }
        }
        // Matches of a job from before a restart of the coordinator may still be in the queue.
        new_matches.retain(|one| {
            self.requested.contains_key(&one.number) || self.queue.remove(one.number).is_some()
        });
        for played in &report.matches {
            let key = played.result.key;
            if new_matches.iter().all(|one| one.number != key.number) {
                let full_key = key.in_competition(&self.context().competition.id);
                tracing::info!("match" = %full_key, worker = report.worker, "duplicate result ignored");
            }
        }
        Ok(new_matches)
    }

    /// Checks that a reported match is the requested one.
    fn check_request(
        &self,
        played: &MatchReport,
        read: &ReadMatch,
        job_match: &JobMatch,
    ) -> Result<(), String> {
        let variants = self.phase_context.variants();
        let parts = variants.get(job_match.variant as usize).or(variants.first());
        let requested = RequestedMatch {
            job_match,
            entrants: &self.phase_files.entrants,
            parts: parts.map_or(&[], Vec::as_slice),
            parts_give_points: self.phase_context.parts_give_points(),
            game: self.phase_context.game,
        };
        validate::check_request(played, read, requested)
    }

    /// Sends matches to the run to be stored.
    fn store(
        &mut self,
        worker: &str,
        new_matches: Vec<JobMatch>,
        played: Vec<MatchReport>,
        reply: ReplyHandle,
    ) {
        if new_matches.is_empty() {
            // The worker may repeat a report because the commit is slow.
            let token = played.iter().find_map(|one| self.committing.get(&one.result.key.number));
            match token.and_then(|token| self.pending_commits.get_mut(token)) {
                Some(commit) => commit.replies.push(reply),
                None => reply.send(&ReportAck::Stored),
            }
            return;
        }
        let token = self.coordinator.next_number();
        let is_watched = self.context().workers().is_watched(worker);
        let (mut matches, mut data) = (Vec::with_capacity(new_matches.len()), Vec::new());
        for one in played {
            let number = one.result.key.number;
            let Some(job_match) = new_matches.iter().find(|one| one.number == number) else { continue };
            if self.committing.insert(number, token).is_some() {
                continue;
            }
            self.requested.remove(&number);
            let finished = one.into_finished_match(worker);
            let digest = finished.digest().0;
            let is_checked = self.checks.is_selected(finished.result.key) || is_watched;
            if is_checked {
                self.checks.start(job_match.clone(), worker, digest);
            }
            if self.coordinator.options.cross_check_share > 0.0 {
                self.rank_checks.add(SingleResult::new(&finished.result, worker, digest), is_checked);
            }
            self.played_by_worker.entry(worker.to_owned()).or_default().push((number, digest));
            if self.queue.in_order() {
                data.extend(finished.data.iter().map(|one| (one.entrant.0, one.bytes.clone())));
            }
            matches.push(finished);
        }
        let commit = PendingCommit { replies: vec![reply], matches: new_matches, data };
        self.pending_commits.insert(token, commit);
        let events = self.context().events.clone();
        let on_stored = Box::new(move || drop(events.send(StageEvent::Stored(token))));
        self.receiver_gone |=
            self.run_events.send(ExecutorEvent::Played { matches, on_stored: Some(on_stored) }).is_err();
    }

    /// At the end of the stage: lets other workers check some matches that decide a rank. Returns whether there are any.
    pub(super) fn start_rank_checks(&mut self) -> bool {
        if std::mem::replace(&mut self.rank_checks_started, true)
            || self.queue.in_order()
            || self.stopping.is_some()
        {
            return false;
        }
        let options = &self.coordinator.options;
        let cores = self.context().workers().cores();
        let max = rank_checks::max_checks(
            options.cross_check_share,
            self.played_by_worker.values().map(Vec::len).sum::<usize>() as u64,
            self.started.elapsed(),
            self.batch_sizer.seconds_per_match().unwrap_or_default(),
            cores,
        );
        let (salt, phase, stage) = (self.coordinator.salt, self.phase_context.phase, self.stage);
        let order = |number| rank_checks::secret_order(&salt, MatchKey { phase, stage, number });
        let mut is_any = false;
        for one in self.rank_checks.take_deciding(max, order) {
            // Without another worker the stage would wait for one.
            let others = self.context().workers().has_other_than(std::slice::from_ref(&one.worker));
            if let Some(fixture) = self.queue.fixture(one.number).filter(|_| others) {
                tracing::debug!("match" = %self.full_key(one.number), "match decides a rank; checking it");
                self.checks.start(self.job_match(one.number, &fixture), &one.worker, one.digest);
                is_any = true;
            }
        }
        is_any
    }

    /// The ledger has stored a commit or executed a revocation.
    pub(super) fn handle_stored(&mut self, token: u64) {
        self.coordinator.state().revocations.remove(&token);
        let Some(commit) = self.pending_commits.remove(&token) else { return };
        for reply in commit.replies {
            reply.send(&ReportAck::Stored);
        }
        if let Some(bot_data) = &mut self.bot_data {
            for one in &commit.matches {
                let data = commit.data.iter().filter(|(entrant, _)| one.seats.contains(entrant)).cloned();
                if let Err(error) = bot_data.match_stored(self.phase_context, &one.seats, data.collect()) {
                    self.receiver_gone |= self.run_events.send(ExecutorEvent::Failed(error.into())).is_err();
                }
            }
        }
        for one in &commit.matches {
            tracing::debug!("match" = %self.full_key(one.number), "in the ledger; report acknowledged");
            self.committing.remove(&one.number);
            self.queue.mark_finished(one.number);
        }
    }

    /// Handles results of cross-checks.
    fn handle_check_results(
        &mut self,
        worker: &str,
        matches: &[MatchReport],
        read: &[ReadMatch],
    ) -> Result<(), String> {
        for (played, read) in matches.iter().zip(read) {
            let number = played.result.key.number;
            let Some(fixture) = self.queue.fixture(number) else { continue };
            self.check_request(played, read, &self.job_match(number, &fixture))?;
            let finished = played.clone().into_finished_match(worker);
            match self.checks.add_result(number, worker, finished.digest().0) {
                CrossCheckOutcome::Ignored => {}
                CrossCheckOutcome::Agreed => {
                    tracing::info!("match" = %self.full_key(number), worker, "cross-check agrees");
                    self.coordinator.state().stats.checked += 1;
                }
                CrossCheckOutcome::NeedsThird => {
                    let full_key = self.full_key(number);
                    tracing::warn!("match" = %full_key, worker, "cross-check differs; a third worker decides");
                    self.coordinator.state().stats.disagreed += 1;
                    self.replay_stored(number);
                }
                CrossCheckOutcome::Outvoted { worker, is_stored } => {
                    self.handle_outvoted(&worker, finished, is_stored);
                }
                CrossCheckOutcome::AllDiffer(workers) => self.report_dispute(number, workers),
            }
        }
        Ok(())
    }

    /// Gives a worker a strike. All its matches are checked from now on, and some earlier ones.
    pub(super) fn strike(&mut self, worker: &str, why: &str) {
        let strike = self.context().workers().strike(worker, why);
        tracing::warn!(target: NOTICE_TARGET, worker, reason = why, "worker returned a wrong result");
        self.context().notify(&format!("worker {worker} returned a wrong result: {why}"));
        match strike {
            StrikeOutcome::Banned(why) => self.ban(worker, &why),
            StrikeOutcome::Watched if self.queue.in_order() => {}
            StrikeOutcome::Watched => {
                let earlier = self.played_by_worker.get(worker).cloned().unwrap_or_default();
                let every = (earlier.len() / EARLIER_MATCHES_CHECKED).max(1);
                for (number, digest) in earlier.into_iter().step_by(every) {
                    if let Some(fixture) = self.queue.fixture(number) {
                        self.checks.start(self.job_match(number, &fixture), worker, digest);
                    }
                }
            }
        }
    }

    /// Rejects an impossible report and bans the worker.
    fn reject_report(&mut self, worker: &str, why: &str, reply: ReplyHandle) {
        tracing::warn!(worker, reason = why, "report rejected");
        reply.send(&ReportAck::Refused { why: why.to_owned() });
        self.ban(worker, why);
    }

    /// Bans a worker.
    pub(super) fn ban(&mut self, worker: &str, why: &str) {
        if !self.context().workers().ban(worker, why) {
            return;
        }
        self.checks.drop_worker(worker);
        self.coordinator.state().stats.banned += 1;
        let (competition_id, why) = (self.context().competition.id.clone(), why.to_owned());
        self.context()
            .publish(subjects::command(worker), &WorkerCommand::Leave { competition_id, why: why.clone() });
        self.revoke(Revocation::Ban { worker: worker.to_owned(), why });
    }
}
