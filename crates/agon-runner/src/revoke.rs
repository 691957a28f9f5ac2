//! Revokes stored matches of banned or outvoted workers, and the matches that depend on them.

use std::collections::BTreeSet;

use agon_league::{Entrant, MatchKey};
use agon_store::{Ledger, MatchFilter, Timestamp};
use futures_util::StreamExt as _;

use crate::RunError;

/// Which other matches depend on a match.
#[derive(Clone, Copy)]
pub struct Dependents {
    /// All matches of later stages.
    pub stages: bool,
    /// Later matches of the same bots, because bots keep data from match to match.
    pub bots: bool,
}

/// Bans a worker and revokes its matches of a running phase. Returns the number of matches that must be played again.
pub async fn ban_worker(
    ledger: &dyn Ledger,
    competition_id: &str,
    phase: u32,
    worker: &str,
    reason: &str,
    dependents: Dependents,
) -> Result<u64, RunError> {
    ledger.ban_worker(worker, reason, Timestamp::now()).await?;
    let initial = ledger.matches_played_by(phase, worker).await?;
    let reason = format!("{worker}: {reason}");
    revoke_with_dependents(ledger, competition_id, phase, initial, &reason, dependents).await
}

/// Revokes one match that was outvoted, if the stored result is still this worker's. Returns the number of matches that must be played
/// again.
pub async fn revoke_match(
    ledger: &dyn Ledger,
    competition_id: &str,
    key: MatchKey,
    worker: &str,
    reason: &str,
    dependents: Dependents,
) -> Result<u64, RunError> {
    let mut initial = ledger.matches_played_by(key.phase, worker).await?;
    initial.retain(|one| *one == key);
    let reason = format!("{worker}: {reason}");
    revoke_with_dependents(ledger, competition_id, key.phase, initial, &reason, dependents).await
}

/// Revokes matches and the matches that depend on them. `initial` is in the order of the schedule.
async fn revoke_with_dependents(
    ledger: &dyn Ledger,
    competition_id: &str,
    phase: u32,
    initial: Vec<MatchKey>,
    reason: &str,
    dependents: Dependents,
) -> Result<u64, RunError> {
    let Some(first) = initial.first().copied() else { return Ok(0) };
    let mut revoked: BTreeSet<MatchKey> = initial.into_iter().collect();
    if dependents.stages || dependents.bots {
        let filter = MatchFilter { stages: first.stage..u32::MAX, ..MatchFilter::default() };
        let mut tainted: BTreeSet<Entrant> = BTreeSet::new();
        let mut matches = ledger.matches(phase, filter);
        while let Some(one) = matches.next().await {
            let result = one?.result;
            let seats = result.entrants();
            let late = dependents.stages && result.key.stage > first.stage;
            if late || (dependents.bots && seats.iter().any(|seat| tainted.contains(seat))) {
                revoked.insert(result.key);
            }
            if revoked.contains(&result.key) {
                tainted.extend(seats);
            }
        }
    }
    let keys: Vec<MatchKey> = revoked.into_iter().collect();
    let revoked = ledger.revoke_matches(phase, &keys, reason, Timestamp::now()).await?;
    for key in keys {
        tracing::info!("match" = %key.in_competition(competition_id), reason, "match revoked; it is played again");
    }
    Ok(revoked)
}
