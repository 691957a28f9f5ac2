//! Matches that are played again by somebody else, to see whether it comes to the same.

use std::collections::BTreeMap;

use agon_league::MatchKey;
use agon_store::SecretSeed;
use sha2::{Digest as _, Sha256};

use super::workers::WorkerRegistry;
use crate::messages::JobMatch;

/// What must be the same whoever plays a match.
pub type MatchDigest = [u8; 32];

/// What decides which matches are looked at: the same in every run of a competition, and known to nobody before its end.
pub fn salt(secret: &SecretSeed) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"agon checks 1\0");
    hash.update(secret.expose().as_bytes());
    hash.finalize().into()
}

/// A match that is looked at twice.
#[derive(Debug)]
struct CrossCheck {
    asked: JobMatch,
    /// Who came to what; the first is in the ledger.
    opinions: Vec<(String, MatchDigest)>,
    /// Whether somebody was asked.
    is_out: bool,
}

impl CrossCheck {
    /// Who has said what it came to.
    fn names(&self) -> Vec<String> {
        self.opinions.iter().map(|(name, _)| name.clone()).collect()
    }
}

/// What an opinion leads to.
#[derive(PartialEq, Eq, Debug)]
pub enum CrossCheckOutcome {
    /// Nobody waits for it.
    Nothing,
    /// Two came to the same.
    Agreed,
    /// They differ: somebody else is asked.
    Asked,
    /// Two against this one.
    Outvoted {
        /// Who.
        worker: String,
        /// Whether what it came to is in the ledger.
        is_kept: bool,
    },
    /// All of these differ: the bots are to blame.
    AllDiffer(Vec<String>),
}

/// The matches of a stage that are looked at twice.
#[derive(Debug)]
pub struct CrossChecks {
    /// Nobody else knows it: so nobody knows which matches are looked at.
    salt: [u8; 32],
    share: f64,
    open: BTreeMap<u64, CrossCheck>,
}

impl CrossChecks {
    /// None yet.
    pub const fn new(salt: [u8; 32], share: f64) -> Self {
        Self { salt, share, open: BTreeMap::new() }
    }

    /// Whether this match is looked at, whoever played it.
    pub fn chosen(&self, key: MatchKey) -> bool {
        let mut hash = Sha256::new();
        hash.update(self.salt);
        hash.update(key.phase.to_le_bytes());
        hash.update(key.stage.to_le_bytes());
        hash.update(key.number.to_le_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&hash.finalize()[..8]);
        (u64::from_le_bytes(first) as f64) < self.share * u64::MAX as f64
    }

    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// A match is to be played again.
    pub fn begin(&mut self, asked: JobMatch, worker: &str, digest: MatchDigest) {
        let opinions = vec![(worker.to_owned(), digest)];
        self.open.entry(asked.number).or_insert(CrossCheck { asked, opinions, is_out: false });
    }

    /// Some that somebody is to be asked about, and who not; no more than `most`, none if there is nobody to ask.
    pub fn next(&mut self, company: &WorkerRegistry, most: usize) -> Option<(Vec<String>, Vec<JobMatch>)> {
        let ready = |check: &&mut CrossCheck| !check.is_out && company.has_other_than(&check.names());
        let not = self.open.values_mut().find(ready)?.names();
        let alike = self.open.values_mut().filter(|check| !check.is_out && check.names() == not);
        let asked = |check: &mut CrossCheck| {
            check.is_out = true;
            check.asked.clone()
        };
        Some((not.clone(), alike.take(most).map(asked).collect()))
    }

    /// Somebody came to this.
    pub fn add_result(&mut self, number: u64, worker: &str, digest: MatchDigest) -> CrossCheckOutcome {
        let Some(check) = self.open.get_mut(&number) else { return CrossCheckOutcome::Nothing };
        if check.opinions.iter().any(|(name, _)| name == worker) {
            return CrossCheckOutcome::Nothing;
        }
        check.opinions.push((worker.to_owned(), digest));
        let comes = match &check.opinions[..] {
            [(_, first), (_, second)] if first != second => {
                check.is_out = false;
                return CrossCheckOutcome::Asked;
            }
            [(_, first), (two, second), (_, third)] if first == third && first != second => {
                CrossCheckOutcome::Outvoted { worker: two.clone(), is_kept: false }
            }
            [(one, _), (_, second), (_, third)] if second == third => {
                CrossCheckOutcome::Outvoted { worker: one.clone(), is_kept: true }
            }
            [_, _, _] => CrossCheckOutcome::AllDiffer(check.names()),
            _ => CrossCheckOutcome::Agreed,
        };
        self.open.remove(&number);
        comes
    }

    /// Whose end of a match is in the ledger, if it is open.
    pub fn first(&self, number: u64) -> Option<&str> {
        Some(self.open.get(&number)?.opinions.first()?.0.as_str())
    }

    /// Who was asked did not say: somebody else is, unless somebody has said it since.
    pub fn ask_again(&mut self, number: u64) {
        if let Some(check) = self.open.get_mut(&number) {
            check.is_out = false;
        }
    }

    /// Those that are open: whose they are, and what they came to.
    pub fn into_open(self) -> impl Iterator<Item = (u64, String, MatchDigest)> {
        let first = |(number, mut check): (u64, CrossCheck)| {
            let (worker, digest) = check.opinions.swap_remove(0);
            (number, worker, digest)
        };
        self.open.into_iter().map(first)
    }

    /// Nobody is asked about it any more; says whether somebody was to be.
    pub fn give_up(&mut self, number: u64) -> bool {
        self.open.remove(&number).is_some()
    }

    /// Nobody believes this worker any more: what it played is played again anyway, and what it said of others does not count.
    pub fn forget(&mut self, worker: &str) {
        self.open.retain(|_, check| check.opinions[0].0 != worker);
        for check in self.open.values_mut() {
            check.opinions.retain(|(name, _)| name != worker);
        }
    }

    /// Gives up the checks that no worker is there for. Returns how many, and the disputed matches with the workers that differ. A dispute
    /// waits until nothing else is waited for (`at_last`, and every other check is done), because another worker may still come.
    pub fn give_up_hopeless(&mut self, company: &WorkerRegistry, at_last: bool) -> (u64, Vec<(u64, Vec<String>)>) {
        let (mut gone, mut differ) = (0, Vec::new());
        let at_last = at_last && !self.open.values().any(|check| company.others(&check.names()));
        self.open.retain(|number, check| {
            let names = check.names();
            let is_disputed = names.len() > 1;
            let stays = company.has_other_than(&names) || (is_disputed && !at_last);
            if !stays && is_disputed {
                differ.push((*number, names));
            } else if !stays {
                gone += 1;
            }
            stays
        });
        (gone, differ)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Hello;

    fn asked(number: u64) -> JobMatch {
        JobMatch { stage: 0, number, seats: vec![0, 1], variant: 0, seed: number, luggage: Vec::new() }
    }

    fn checks(share: f64) -> CrossChecks {
        CrossChecks::new([7; 32], share)
    }

    #[test]
    fn a_share_is_chosen_and_nobody_can_tell_which() {
        let chosen = |checks: &CrossChecks| -> Vec<u64> {
            (0..10_000).filter(|&number| checks.chosen(MatchKey { phase: 0, stage: 0, number })).collect()
        };
        let some = chosen(&checks(0.02));
        assert!((150..250).contains(&some.len()), "{}", some.len());
        assert_ne!(some, chosen(&CrossChecks::new([8; 32], 0.02)));
        assert_eq!((chosen(&checks(0.0)).len(), chosen(&checks(1.0)).len()), (0, 10_000));
    }

    #[test]
    fn who_is_outvoted_is_named() {
        for (second, third, comes) in [
            ([2; 32], [1; 32], CrossCheckOutcome::Outvoted { worker: "b".to_owned(), is_kept: false }),
            ([2; 32], [2; 32], CrossCheckOutcome::Outvoted { worker: "a".to_owned(), is_kept: true }),
            ([2; 32], [3; 32], CrossCheckOutcome::AllDiffer(["a", "b", "c"].map(str::to_owned).to_vec())),
        ] {
            let mut checks = checks(1.0);
            checks.begin(asked(5), "a", [1; 32]);
            assert_eq!(
                checks.add_result(5, "a", [9; 32]),
                CrossCheckOutcome::Nothing,
                "nobody is asked about what it played"
            );
            assert_eq!(checks.add_result(5, "b", second), CrossCheckOutcome::Asked);
            assert_eq!(checks.add_result(5, "c", third), comes);
            assert!(checks.is_empty());
        }
        let mut checks = checks(1.0);
        checks.begin(asked(5), "a", [1; 32]);
        assert_eq!(checks.add_result(5, "b", [1; 32]), CrossCheckOutcome::Agreed);
        assert_eq!(checks.add_result(5, "c", [1; 32]), CrossCheckOutcome::Nothing);
    }

    #[test]
    fn what_a_barred_worker_said_does_not_count() {
        let mut checks = checks(1.0);
        checks.begin(asked(1), "liar", [1; 32]);
        checks.begin(asked(2), "a", [1; 32]);
        assert_eq!(checks.add_result(2, "liar", [2; 32]), CrossCheckOutcome::Asked);
        checks.forget("liar");
        assert_eq!(checks.add_result(1, "b", [1; 32]), CrossCheckOutcome::Nothing);
        assert_eq!(checks.add_result(2, "b", [1; 32]), CrossCheckOutcome::Agreed);
    }

    #[test]
    fn without_anybody_to_ask_it_is_given_up() {
        let mut checks = checks(1.0);
        checks.begin(asked(1), "a", [1; 32]);
        let nobody = WorkerRegistry::new([]);
        assert!(checks.next(&nobody, 10).is_none());
        assert_eq!(checks.give_up_hopeless(&nobody, false), (1, Vec::new()));
        assert!(checks.is_empty());
    }

    #[test]
    fn what_two_differ_in_waits_for_a_third_as_long_as_there_is_something_to_wait_for() {
        let mut checks = checks(1.0);
        checks.begin(asked(1), "a", [1; 32]);
        assert_eq!(checks.add_result(1, "b", [2; 32]), CrossCheckOutcome::Asked);
        let nobody = WorkerRegistry::new([]);
        assert_eq!(checks.give_up_hopeless(&nobody, false), (0, Vec::new()));
        let differ = vec![(1, vec!["a".to_owned(), "b".to_owned()])];
        assert_eq!(checks.give_up_hopeless(&nobody, true), (0, differ));
        assert!(checks.is_empty());
    }

    #[test]
    fn dispute_while_another_check_can_be_done_waits() {
        let mut checks = checks(1.0);
        checks.begin(asked(1), "a", [1; 32]);
        assert_eq!(checks.opinion(1, "b", [2; 32]), Comes::Asked);
        checks.begin(asked(2), "a", [1; 32]);
        let mut company = Company::new([]);
        for name in ["a", "b"] {
            company.admit(&Hello {
                protocol: 1,
                worker: name.to_owned(),
                session: "1".to_owned(),
                engine: String::new(),
                rules: BTreeMap::new(),
                layers: Vec::new(),
                cores: 1,
                speed: 1.0,
            });
        }
        // "b" can still check match 2, and until it has, a third worker may come for match 1.
        assert_eq!(checks.give_up_hopeless(&company, true), (0, Vec::new()));
        assert_eq!(checks.opinion(2, "b", [1; 32]), Comes::Agreed);
        let differ = vec![(1, vec!["a".to_owned(), "b".to_owned()])];
        assert_eq!(checks.give_up_hopeless(&company, true), (0, differ));
    }
}
