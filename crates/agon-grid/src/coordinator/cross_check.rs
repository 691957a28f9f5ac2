//! Cross-checks: another worker plays a match again and the results are compared.

use std::collections::BTreeMap;

use agon_league::MatchKey;
use agon_store::SecretSeed;
use sha2::{Digest as _, Sha256};

use super::workers::WorkerRegistry;
use crate::messages::JobMatch;

/// Digest of a match. It is the same for all correct workers.
pub type MatchDigest = [u8; 32];

/// Salt that selects the matches to check. It is the same in every run of a competition, and secret until its end.
pub fn salt(secret: &SecretSeed) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"agon checks 1\0");
    hash.update(secret.expose().as_bytes());
    hash.finalize().into()
}

/// Number of a match that workers cannot predict, different for each purpose.
pub fn secret_number(salt: &[u8; 32], purpose: &[u8], key: MatchKey) -> u64 {
    let mut hash = Sha256::new();
    hash.update(salt);
    hash.update(key.phase.to_le_bytes());
    hash.update(key.stage.to_le_bytes());
    hash.update(key.number.to_le_bytes());
    hash.update(purpose);
    let mut first = [0; 8];
    first.copy_from_slice(&hash.finalize()[..8]);
    u64::from_le_bytes(first)
}

/// A match being checked.
#[derive(Debug)]
struct CrossCheck {
    job_match: JobMatch,
    /// Workers and their results. The first one is in the ledger.
    results: Vec<(String, MatchDigest)>,
    /// Whether a job for the check is published.
    is_published: bool,
}

impl CrossCheck {
    /// Workers that have played the match.
    fn names(&self) -> Vec<String> {
        self.results.iter().map(|(name, _)| name.clone()).collect()
    }
}

/// Outcome of adding a result.
#[derive(PartialEq, Eq, Debug)]
pub enum CrossCheckOutcome {
    /// There is no open check for this result.
    Ignored,
    /// Two results are equal.
    Agreed,
    /// Two results differ: a third worker must play the match.
    NeedsThird,
    /// Two results are equal, and this worker's differs.
    Outvoted {
        /// Worker name.
        worker: String,
        /// Whether this worker's result is in the ledger.
        is_stored: bool,
    },
    /// Three workers have different results: the bots are not deterministic.
    AllDiffer(Vec<String>),
}

/// Open cross-checks of a stage.
#[derive(Debug)]
pub struct CrossChecks {
    /// Secret, so that workers cannot predict which matches are checked.
    salt: [u8; 32],
    share: f64,
    open: BTreeMap<u64, CrossCheck>,
}

impl CrossChecks {
    /// Without open checks.
    pub const fn new(salt: [u8; 32], share: f64) -> Self {
        Self { salt, share, open: BTreeMap::new() }
    }

    /// Whether this match is selected for a check.
    pub fn is_selected(&self, key: MatchKey) -> bool {
        (secret_number(&self.salt, b"", key) as f64) < self.share * u64::MAX as f64
    }

    /// Number of open checks without a published job.
    pub fn unpublished(&self) -> u64 {
        self.open.values().filter(|check| !check.is_published).count() as u64
    }

    /// Whether no check is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Opens a check for a match.
    pub fn start(&mut self, job_match: JobMatch, worker: &str, digest: MatchDigest) {
        let results = vec![(worker.to_owned(), digest)];
        self.open.entry(job_match.number).or_insert(CrossCheck { job_match, results, is_published: false });
    }

    /// Next checks to publish as one job, at most `most`, with the workers that must not take it. `None` if no other worker is present.
    pub fn next_batch(
        &mut self,
        workers: &WorkerRegistry,
        max: usize,
    ) -> Option<(Vec<String>, Vec<JobMatch>)> {
        let ready = |check: &&mut CrossCheck| !check.is_published && workers.has_other_than(&check.names());
        let excluded = self.open.values_mut().find(ready)?.names();
        let same_workers =
            self.open.values_mut().filter(|check| !check.is_published && check.names() == excluded);
        let job_match = |check: &mut CrossCheck| {
            check.is_published = true;
            check.job_match.clone()
        };
        Some((excluded.clone(), same_workers.take(max).map(job_match).collect()))
    }

    /// Adds a worker's result.
    pub fn add_result(&mut self, number: u64, worker: &str, digest: MatchDigest) -> CrossCheckOutcome {
        let Some(check) = self.open.get_mut(&number) else { return CrossCheckOutcome::Ignored };
        if check.results.iter().any(|(name, _)| name == worker) {
            return CrossCheckOutcome::Ignored;
        }
        check.results.push((worker.to_owned(), digest));
        let outcome = match &check.results[..] {
            [(_, first), (_, second)] if first != second => {
                check.is_published = false;
                return CrossCheckOutcome::NeedsThird;
            }
            [(_, first), (two, second), (_, third)] if first == third && first != second => {
                CrossCheckOutcome::Outvoted { worker: two.clone(), is_stored: false }
            }
            [(one, _), (_, second), (_, third)] if second == third => {
                CrossCheckOutcome::Outvoted { worker: one.clone(), is_stored: true }
            }
            [_, _, _] => CrossCheckOutcome::AllDiffer(check.names()),
            _ => CrossCheckOutcome::Agreed,
        };
        self.open.remove(&number);
        outcome
    }

    /// Worker whose result is in the ledger, if the check is open.
    pub fn first_worker(&self, number: u64) -> Option<&str> {
        Some(self.open.get(&number)?.results.first()?.0.as_str())
    }

    /// Publishes the check again later, if it is still open: the worker did not report a result.
    pub fn retry(&mut self, number: u64) {
        if let Some(check) = self.open.get_mut(&number) {
            check.is_published = false;
        }
    }

    /// Open checks: match number, worker and digest of the result in the ledger.
    pub fn into_open(self) -> impl Iterator<Item = (u64, String, MatchDigest)> {
        let first = |(number, mut check): (u64, CrossCheck)| {
            let (worker, digest) = check.results.swap_remove(0);
            (number, worker, digest)
        };
        self.open.into_iter().map(first)
    }

    /// Closes a check without a result. Returns whether it was open.
    pub fn give_up(&mut self, number: u64) -> bool {
        self.open.remove(&number).is_some()
    }

    /// Removes a banned worker: its own matches are played again anyway, and its results for others do not count.
    pub fn drop_worker(&mut self, worker: &str) {
        self.open.retain(|_, check| check.results[0].0 != worker);
        for check in self.open.values_mut() {
            check.results.retain(|(name, _)| name != worker);
        }
    }

    /// Closes the checks that no present worker can do. Returns their number, and the disputed matches with their workers. A disputed match
    /// stays open until nothing else is pending (`at_last`, and every other check is done), because another worker may still join.
    pub fn give_up_impossible(
        &mut self,
        workers: &WorkerRegistry,
        at_last: bool,
    ) -> (u64, Vec<(u64, Vec<String>)>) {
        let (mut given_up, mut disputed) = (0, Vec::new());
        let at_last = at_last && !self.open.values().any(|check| workers.has_other_than(&check.names()));
        self.open.retain(|number, check| {
            let names = check.names();
            let is_disputed = names.len() > 1;
            let stays_open = workers.has_other_than(&names) || (is_disputed && !at_last);
            if !stays_open && is_disputed {
                disputed.push((*number, names));
            } else if !stays_open {
                given_up += 1;
            }
            stays_open
        });
        (given_up, disputed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::JoinRequest;

    fn job_match(number: u64) -> JobMatch {
        JobMatch { stage: 0, number, seats: vec![0, 1], variant: 0, seed: number, bot_data: Vec::new() }
    }

    fn checks(share: f64) -> CrossChecks {
        CrossChecks::new([7; 32], share)
    }

    #[test]
    fn is_selected_picks_the_share_and_depends_on_the_salt() {
        let chosen = |checks: &CrossChecks| -> Vec<u64> {
            (0..10_000)
                .filter(|&number| checks.is_selected(MatchKey { phase: 0, stage: 0, number }))
                .collect()
        };
        let some = chosen(&checks(0.02));
        assert!((150..250).contains(&some.len()), "{}", some.len());
        assert_ne!(some, chosen(&CrossChecks::new([8; 32], 0.02)));
        assert_eq!((chosen(&checks(0.0)).len(), chosen(&checks(1.0)).len()), (0, 10_000));
    }

    #[test]
    fn add_result_of_three_names_the_outvoted_worker() {
        for (second, third, outcome) in [
            ([2; 32], [1; 32], CrossCheckOutcome::Outvoted { worker: "b".to_owned(), is_stored: false }),
            ([2; 32], [2; 32], CrossCheckOutcome::Outvoted { worker: "a".to_owned(), is_stored: true }),
            ([2; 32], [3; 32], CrossCheckOutcome::AllDiffer(["a", "b", "c"].map(str::to_owned).to_vec())),
        ] {
            let mut checks = checks(1.0);
            checks.start(job_match(5), "a", [1; 32]);
            assert_eq!(
                checks.add_result(5, "a", [9; 32]),
                CrossCheckOutcome::Ignored,
                "a worker cannot check its own match"
            );
            assert_eq!(checks.add_result(5, "b", second), CrossCheckOutcome::NeedsThird);
            assert_eq!(checks.add_result(5, "c", third), outcome);
            assert!(checks.is_empty());
        }
        let mut checks = checks(1.0);
        checks.start(job_match(5), "a", [1; 32]);
        assert_eq!(checks.add_result(5, "b", [1; 32]), CrossCheckOutcome::Agreed);
        assert_eq!(checks.add_result(5, "c", [1; 32]), CrossCheckOutcome::Ignored);
    }

    #[test]
    fn drop_worker_removes_its_matches_and_results() {
        let mut checks = checks(1.0);
        checks.start(job_match(1), "liar", [1; 32]);
        checks.start(job_match(2), "a", [1; 32]);
        assert_eq!(checks.add_result(2, "liar", [2; 32]), CrossCheckOutcome::NeedsThird);
        checks.drop_worker("liar");
        assert_eq!(checks.add_result(1, "b", [1; 32]), CrossCheckOutcome::Ignored);
        assert_eq!(checks.add_result(2, "b", [1; 32]), CrossCheckOutcome::Agreed);
    }

    #[test]
    fn check_without_another_worker_is_given_up() {
        let mut checks = checks(1.0);
        checks.start(job_match(1), "a", [1; 32]);
        let no_workers = WorkerRegistry::new([]);
        assert!(checks.next_batch(&no_workers, 10).is_none());
        assert_eq!(checks.give_up_impossible(&no_workers, false), (1, Vec::new()));
        assert!(checks.is_empty());
    }

    #[test]
    fn dispute_without_a_third_worker_waits_for_the_end_of_the_stage() {
        let mut checks = checks(1.0);
        checks.start(job_match(1), "a", [1; 32]);
        assert_eq!(checks.add_result(1, "b", [2; 32]), CrossCheckOutcome::NeedsThird);
        let no_workers = WorkerRegistry::new([]);
        assert_eq!(checks.give_up_impossible(&no_workers, false), (0, Vec::new()));
        let disputed = vec![(1, vec!["a".to_owned(), "b".to_owned()])];
        assert_eq!(checks.give_up_impossible(&no_workers, true), (0, disputed));
        assert!(checks.is_empty());
    }

    #[test]
    fn dispute_while_another_check_is_possible_stays_open() {
        let mut checks = checks(1.0);
        checks.start(job_match(1), "a", [1; 32]);
        assert_eq!(checks.add_result(1, "b", [2; 32]), CrossCheckOutcome::NeedsThird);
        checks.start(job_match(2), "a", [1; 32]);
        let mut workers = WorkerRegistry::new([]);
        for name in ["a", "b"] {
            workers.admit(&JoinRequest {
                protocol: 1,
                worker: name.to_owned(),
                session: "1".to_owned(),
                engine: String::new(),
                rules: BTreeMap::new(),
                layers: Vec::new(),
                cores: 1,
                speed: 1.0,
                missing: Vec::new(),
            });
        }
        // "b" can still check match 2. Until then a third worker may join and decide match 1.
        assert_eq!(checks.give_up_impossible(&workers, true), (0, Vec::new()));
        assert_eq!(checks.add_result(2, "b", [1; 32]), CrossCheckOutcome::Agreed);
        let disputed = vec![(1, vec!["a".to_owned(), "b".to_owned()])];
        assert_eq!(checks.give_up_impossible(&workers, true), (0, disputed));
    }
}
