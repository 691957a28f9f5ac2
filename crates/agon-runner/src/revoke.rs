//! Taking back what a worker has played that nobody believes any more, and what depends on it.

use std::collections::BTreeSet;

use agon_league::{Entrant, MatchKey};
use agon_store::{Ledger, MatchFilter, Timestamp};
use futures_util::StreamExt as _;

use crate::RunError;

/// What depends on a match.
#[derive(Clone, Copy)]
pub struct Dependents {
    /// All later stages.
    pub stages: bool,
    /// Later matches of those who played it: they keep something from match to match.
    pub bots: bool,
}

/// Bars a worker, and takes its matches of a running phase back; gives how many matches are to be played again.
pub async fn ban_worker(
    ledger: &dyn Ledger,
    phase: u32,
    worker: &str,
    why: &str,
    depends: Dependents,
) -> Result<u64, RunError> {
    ledger.ban_worker(worker, why, Timestamp::now()).await?;
    let own = ledger.played_by(phase, worker).await?;
    take_back(ledger, phase, own, &format!("{worker}: {why}"), depends).await
}

/// Takes one match back that others came to something else in, if it is still this worker's; gives how many are to be played again.
pub async fn revoke_match(
    ledger: &dyn Ledger,
    key: MatchKey,
    worker: &str,
    why: &str,
    depends: Dependents,
) -> Result<u64, RunError> {
    let mut own = ledger.played_by(key.phase, worker).await?;
    own.retain(|one| *one == key);
    take_back(ledger, key.phase, own, &format!("{worker}: {why}"), depends).await
}

/// Takes matches back, in the order of the schedule, and what depends on them.
async fn take_back(
    ledger: &dyn Ledger,
    phase: u32,
    own: Vec<MatchKey>,
    why: &str,
    depends: Dependents,
) -> Result<u64, RunError> {
    let Some(first) = own.first().copied() else { return Ok(0) };
    let mut gone: BTreeSet<MatchKey> = own.into_iter().collect();
    if depends.stages || depends.bots {
        let filter = MatchFilter { stages: first.stage..u32::MAX, ..MatchFilter::default() };
        let mut tainted: BTreeSet<Entrant> = BTreeSet::new();
        let mut matches = ledger.matches(phase, filter);
        while let Some(one) = matches.next().await {
            let result = one?.result;
            let seats = result.entrants();
            let late = depends.stages && result.key.stage > first.stage;
            if late || (depends.bots && seats.iter().any(|seat| tainted.contains(seat))) {
                gone.insert(result.key);
            }
            if gone.contains(&result.key) {
                tainted.extend(seats);
            }
        }
    }
    let keys: Vec<MatchKey> = gone.into_iter().collect();
    Ok(ledger.revoke_matches(phase, &keys, why, Timestamp::now()).await?)
}
