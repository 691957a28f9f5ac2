//! Handles failed and lost jobs.

use std::time::Instant;

use agon_core::Diagnostic;
use agon_runner::event::NOTICE_TARGET;

use super::{JobPurpose, PublishedJob, REPUBLISH_DELAY, RetryMatch, StageCoordinator};
use crate::coordinator::UnplayableMatch;
use crate::coordinator::listener::ReplyHandle;
use crate::messages::{JobError, JobErrorKind, ReportAck};

/// Maximum number of retry rounds of a match, each on workers that have not failed at it. Then it is unplayable.
const MAX_RETRY_ROUNDS: u32 = 3;

/// Number of failures in a row after which a worker is reported.
const MIN_FAILURES_REPORTED: u32 = 3;

impl StageCoordinator<'_> {
    /// Handles a job error of a worker.
    pub(super) fn handle_job_error(&mut self, worker: &str, job_error: JobError, reply: ReplyHandle) {
        let JobError { job, kind, message, .. } = job_error;
        match kind {
            JobErrorKind::Failed => {
                self.count_finished_job();
                self.report_failing_worker(worker, &message);
                self.handle_failed_job(worker, &job, message);
            }
            JobErrorKind::Unfit => {
                self.count_finished_job();
                self.remove_unfit_worker(worker, &message);
            }
            JobErrorKind::Missing { hash } => {
                tracing::warn!(worker, job, hash, "a worker misses a file; uploading it again");
                self.upload_again(&hash);
            }
            JobErrorKind::Poison { deliveries } => {
                tracing::warn!(worker, job, deliveries, "job was delivered too often");
                if let Some(published) = self.take_job(&job) {
                    self.handle_poison_job(published, deliveries);
                }
            }
        }
        reply.send(&ReportAck::Stored);
    }

    /// Tells the organiser about a worker whose jobs all fail: after some failures in a row, and whenever their number has doubled.
    fn report_failing_worker(&self, worker: &str, message: &str) {
        let failures = self.context().workers().count_failure(worker);
        if failures < MIN_FAILURES_REPORTED
            || !failures.is_multiple_of(MIN_FAILURES_REPORTED)
            || !(failures / MIN_FAILURES_REPORTED).is_power_of_two()
        {
            return;
        }
        let error = first_line(message);
        tracing::warn!(target: NOTICE_TARGET, worker, failures, error, "all jobs of a worker fail");
        self.context().notify(&format!(
            "worker {worker} fails at every job ({failures} in a row) and waits longer after each: {error}"
        ));
    }

    /// Takes a worker off the list that cannot play this phase. Its job is back in the queue.
    fn remove_unfit_worker(&self, worker: &str, message: &str) {
        let session = self.context().workers().get(worker).map(|one| one.session.clone());
        if let Some(session) = session {
            self.context().workers().remove(worker, &session);
        }
        let reason = first_line(message);
        tracing::warn!(target: NOTICE_TARGET, worker, reason, "worker cannot play this phase");
        self.context().notify(&format!("worker {worker} cannot play this phase: {reason}"));
    }

    /// Counts a failure of a job. For a job that excludes workers the failures count, not the deliveries.
    fn handle_failed_job(&mut self, worker: &str, job: &str, message: String) {
        let max_deliveries = self.coordinator.options.max_deliveries;
        let Some(published) = self.jobs.get(job) else { return };
        for one in &published.job.matches {
            let full_key = self.full_key(one.number);
            tracing::warn!("match" = %full_key, worker, job, error = first_line(&message), "job failed on a worker");
        }
        let Some(published) = self.jobs.get_mut(job) else { return };
        published.errors.push((worker.to_owned(), message));
        published.failures += 1;
        if published.job.excluded_workers.is_empty() || published.failures < max_deliveries {
            return;
        }
        let Some(published) = self.take_job(job) else { return };
        if let Some(sequence) = published.sequence {
            let job_queue = self.coordinator.job_queue.clone();
            self.context().runtime.spawn(async move { job_queue.remove(sequence).await });
        }
        let failures = u64::from(published.failures);
        self.handle_poison_job(published, failures);
    }

    /// Handles a job that was delivered too often. Its matches are tried one by one. A single match is retried on workers that have not
    /// failed at it. If all have, it is unplayable.
    fn handle_poison_job(&mut self, mut published: PublishedJob, deliveries: u64) {
        if published.purpose == JobPurpose::Check {
            for one in &published.job.matches {
                self.give_up_check(one.number);
            }
            return;
        }
        published
            .job
            .matches
            .retain(|one| self.requested.get(&one.number).is_some_and(|(_, job)| *job == published.job.id));
        if published.job.matches.len() > 1 {
            for one in std::mem::take(&mut published.job.matches) {
                self.republish(vec![one], Vec::new(), 0, published.errors.clone());
            }
            return;
        }
        let Some(one) = published.job.matches.pop() else { return };
        self.requested.remove(&one.number);
        let PublishedJob { errors, rounds, .. } = published;
        self.retries.push(RetryMatch { job_match: one, errors, rounds, deliveries });
        self.retry_on_other_workers();
    }

    /// Publishes failed matches for workers that have not failed at them. A match is unplayable if two workers have failed at it and no
    /// other is there, or after the maximum number of rounds.
    pub(super) fn retry_on_other_workers(&mut self) {
        for retry in std::mem::take(&mut self.retries) {
            let failed = retry.failed_workers();
            let others = self.context().workers().has_other_than(&failed);
            if retry.rounds + 1 < MAX_RETRY_ROUNDS && others {
                let RetryMatch { job_match: one, errors, rounds, .. } = retry;
                self.republish(vec![one], failed, rounds + 1, errors);
            } else if retry.rounds + 1 < MAX_RETRY_ROUNDS && failed.len() == 1 {
                self.retries.push(retry);
            } else {
                self.mark_unplayable(retry);
            }
        }
    }

    /// Nothing else is left to play: matches that still wait for another worker become unplayable. Returns whether the stage is finished.
    pub(super) fn finish_retries(&mut self) -> bool {
        self.retry_on_other_workers();
        if self.stopping.is_none() && !self.requested.is_empty() {
            return false;
        }
        for retry in std::mem::take(&mut self.retries) {
            self.mark_unplayable(retry);
        }
        true
    }

    fn mark_unplayable(&mut self, retry: RetryMatch) {
        let mut errors: Vec<String> = Vec::new();
        for (worker, message) in retry.errors {
            let error = format!("{worker}: {message}");
            if !errors.contains(&error) {
                errors.push(error);
            }
        }
        if errors.is_empty() {
            let deliveries = retry.deliveries;
            errors.push(format!("every worker that took it died or was lost ({deliveries} deliveries)"));
        }
        let key = self.key(retry.job_match.number);
        let full_key = self.full_key(retry.job_match.number);
        let error = first_line(&errors[0]);
        tracing::error!(target: NOTICE_TARGET, error, "match" = %full_key, "match is unplayable");
        self.context().notify(&format!("match {key} is unplayable: {}", first_line(&errors[0])));
        self.unplayable.push(UnplayableMatch { key, errors });
    }

    fn republish(
        &mut self,
        matches: Vec<crate::messages::JobMatch>,
        excluded: Vec<String>,
        rounds: u32,
        errors: Vec<(String, String)>,
    ) {
        let id = self.publish_job(matches, excluded, JobPurpose::Play);
        if let Some(published) = self.jobs.get_mut(&id) {
            (published.rounds, published.errors) = (rounds, errors);
        }
    }

    /// Publishes the matches that a report lacks again, in jobs of the current size.
    pub(super) fn republish_missing(&mut self, published: &PublishedJob) {
        if published.purpose == JobPurpose::Check {
            for one in &published.job.matches {
                self.checks.retry(one.number);
            }
            return;
        }
        let missing =
            |number: &u64| self.requested.get(number).is_some_and(|(_, job)| *job == published.job.id);
        let matches: Vec<_> =
            published.job.matches.iter().filter(|one| missing(&one.number)).cloned().collect();
        let cores = self.context().workers().cores();
        let size = self.batch_sizer.matches_per_job(matches.len() as u64, cores) as usize;
        for some in matches.chunks(size) {
            self.republish(
                some.to_vec(),
                published.job.excluded_workers.clone(),
                published.rounds,
                published.errors.clone(),
            );
        }
    }

    /// Schedules a job again that could not be published.
    pub(super) fn handle_publish_failure(&mut self, id: &str, why: &Diagnostic) {
        let Some(published) = self.jobs.get_mut(id) else { return };
        published.republish_at = Some(Instant::now() + REPUBLISH_DELAY);
        if self.last_repair_attempt.is_none() {
            self.last_repair_attempt = Some(Instant::now());
            tracing::warn!(target: NOTICE_TARGET, error = why.summary(), "cannot publish jobs; retrying");
            self.context().notify(&format!("cannot publish jobs, retrying: {}", why.summary()));
        }
    }

    /// Publishes lost jobs again, under new ids.
    pub(super) fn republish_lost(&mut self, ids: &[String]) {
        for id in ids {
            let Some(published) = self.take_job(id) else { continue };
            tracing::warn!(job = id, "job is no longer in the queue; publishing its matches again");
            match published.purpose {
                JobPurpose::Check => {
                    for one in &published.job.matches {
                        self.checks.retry(one.number);
                    }
                }
                JobPurpose::Play => self.republish_missing(&published),
            }
        }
    }

    /// Gives up the cross-check of a match.
    fn give_up_check(&mut self, number: u64) {
        if self.checks.give_up(number) {
            tracing::warn!("match" = %self.full_key(number), "cross-check given up");
            self.coordinator.state().stats.unchecked += 1;
        }
    }
}

impl RetryMatch {
    /// Workers that have failed at the match.
    fn failed_workers(&self) -> Vec<String> {
        let mut names: Vec<String> = self.errors.iter().map(|(worker, _)| worker.clone()).collect();
        names.sort();
        names.dedup();
        names
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
