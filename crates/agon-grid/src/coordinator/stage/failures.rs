//! What workers could not play, and what is in nobody's hands.

use std::time::Instant;

use super::{AGAIN, StageCoordinator, JobPurpose, PublishedJob, RetryMatch};
use crate::coordinator::UnplayableMatch;
use crate::coordinator::listener::ReplyHandle;
use crate::messages::{ReportAck, JobError, JobErrorKind};

/// So often a match is tried by those who have not failed at it yet, before it is set aside.
const ROUNDS: u32 = 3;

impl StageCoordinator<'_> {
    /// A worker could not play something.
    pub(super) fn trouble(&mut self, worker: &str, trouble: JobError, answer: ReplyHandle) {
        let JobError { job, kind, says, .. } = trouble;
        match kind {
            JobErrorKind::Failed => {
                self.one_less_to_wait_for();
                self.failed(worker, &job, says);
            }
            JobErrorKind::Missing { hash } => self.upload_again(&hash),
            JobErrorKind::Poison { deliveries } => {
                if let Some(out) = self.take_job(&job) {
                    self.handle_poison_job(out, deliveries);
                }
            }
        }
        answer.give(&ReportAck::Kept);
    }

    /// A job failed somewhere. Deliveries of one that is not for everybody say nothing: what counts is how often it failed.
    fn failed(&mut self, worker: &str, job: &str, says: String) {
        let tries = self.fleet.options.tries;
        let Some(out) = self.jobs.get_mut(job) else { return };
        out.errors.push((worker.to_owned(), says));
        out.failures += 1;
        if out.job.excluded_workers.is_empty() || out.failures < tries {
            return;
        }
        let Some(out) = self.take_job(job) else { return };
        if let Some(place) = out.place {
            let line = self.fleet.line.clone();
            self.shared().runtime.spawn(async move { line.remove(place).await });
        }
        let failures = u64::from(out.failures);
        self.handle_poison_job(out, failures);
    }

    /// A job was delivered too often. Its matches are tried one by one; one that is alone in its job by those who have not failed at it yet;
    /// and when everybody has, it is set aside.
    fn handle_poison_job(&mut self, mut out: PublishedJob, deliveries: u64) {
        if out.kind == JobPurpose::Check {
            for one in &out.job.matches {
                self.give_up(one.number);
            }
            return;
        }
        out.job.matches.retain(|one| self.asked.get(&one.number).is_some_and(|(_, job)| *job == out.job.id));
        if out.job.matches.len() > 1 {
            for one in std::mem::take(&mut out.job.matches) {
                self.publish_again(vec![one], Vec::new(), 0, out.errors.clone());
            }
            return;
        }
        let Some(one) = out.job.matches.pop() else { return };
        self.asked.remove(&one.number);
        let PublishedJob { errors, round, .. } = out;
        self.postponed.push(RetryMatch { one, errors, round, deliveries });
        self.try_postponed();
    }

    /// Has postponed matches tried by somebody who has not failed at them; sets those aside that two have failed at, or that were tried often.
    pub(super) fn try_postponed(&mut self) {
        for waiting in std::mem::take(&mut self.postponed) {
            let failed = waiting.failed();
            let others = self.shared().company().has_other_than(&failed);
            if waiting.round + 1 < ROUNDS && others {
                let RetryMatch { one, errors, round, .. } = waiting;
                self.publish_again(vec![one], failed, round + 1, errors);
            } else if waiting.round + 1 < ROUNDS && failed.len() == 1 {
                self.postponed.push(waiting);
            } else {
                self.set_aside(waiting);
            }
        }
    }

    /// Nothing else is left to be played: whoever could play what was postponed is not there. Says whether it was all that was left.
    pub(super) fn settle_postponed(&mut self) -> bool {
        self.try_postponed();
        if self.stopping.is_none() && !self.asked.is_empty() {
            return false;
        }
        for waiting in std::mem::take(&mut self.postponed) {
            self.set_aside(waiting);
        }
        true
    }

    fn set_aside(&mut self, waiting: RetryMatch) {
        let mut errors: Vec<String> = Vec::new();
        for (worker, says) in waiting.errors {
            let error = format!("{worker}: {says}");
            if !errors.contains(&error) {
                errors.push(error);
            }
        }
        if errors.is_empty() {
            let deliveries = waiting.deliveries;
            errors
                .push(format!("whoever took it died or was never heard of again ({deliveries} deliveries)"));
        }
        let key = self.key(waiting.one.number);
        self.shared().tell(&format!("match {key} is set aside: {}", first_line(&errors[0])));
        self.aside.push(UnplayableMatch { key, errors });
    }

    fn publish_again(
        &mut self,
        matches: Vec<crate::messages::JobMatch>,
        not: Vec<String>,
        round: u32,
        errors: Vec<(String, String)>,
    ) {
        let id = self.publish(matches, not, JobPurpose::Play);
        if let Some(out) = self.jobs.get_mut(&id) {
            (out.round, out.errors) = (round, errors);
        }
    }

    /// A report lacks some of its job's matches: they are published again, in jobs as large as they should be by now.
    pub(super) fn republish_missing(&mut self, out: &PublishedJob) {
        if out.kind == JobPurpose::Check {
            for one in &out.job.matches {
                self.checks.ask_again(one.number);
            }
            return;
        }
        let missing = |number: &u64| self.asked.get(number).is_some_and(|(_, job)| *job == out.job.id);
        let matches: Vec<_> = out.job.matches.iter().filter(|one| missing(&one.number)).cloned().collect();
        let cores = self.shared().company().cores();
        let size = self.pace.size(matches.len() as u64, cores) as usize;
        for some in matches.chunks(size) {
            self.publish_again(some.to_vec(), out.job.excluded_workers.clone(), out.round, out.errors.clone());
        }
    }

    /// A job could not be published: it is tried again.
    pub(super) fn unpublished(&mut self, id: &str, why: &str) {
        let Some(out) = self.jobs.get_mut(id) else { return };
        out.again = Some(Instant::now() + AGAIN);
        if self.broken.is_none() {
            self.broken = Some(Instant::now());
            self.shared()
                .tell(&format!("work cannot be handed out just now, trying again: {}", first_line(why)));
        }
    }

    /// Jobs that are in nobody's hands: published again, under another id.
    pub(super) fn republish_lost(&mut self, ids: &[String]) {
        for id in ids {
            let Some(out) = self.take_job(id) else { continue };
            match out.kind {
                JobPurpose::Check => {
                    for one in &out.job.matches {
                        self.checks.ask_again(one.number);
                    }
                }
                JobPurpose::Play => self.republish_missing(&out),
            }
        }
    }

    /// Nobody is asked about this match any more.
    fn give_up(&mut self, number: u64) {
        if self.checks.give_up(number) {
            self.fleet.memory().figures.unchecked += 1;
        }
    }
}

impl RetryMatch {
    /// Who has failed at it.
    fn failed(&self) -> Vec<String> {
        let mut names: Vec<String> = self.errors.iter().map(|(worker, _)| worker.clone()).collect();
        names.sort();
        names.dedup();
        names
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
