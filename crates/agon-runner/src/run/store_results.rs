//! Stores what the executor reports: played matches, and results of cross-checks.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use agon_league::MatchKey;
use agon_store::{AppendResult, FinishedMatch, Snapshot};

use super::{CompetitionRun, PhaseRun};
use crate::event::{NOTICE_TARGET, RunEvent, RunListener};
use crate::executor::ExecutorEvent;
use crate::logs_dirs::FinishedGame;
use crate::{RunError, revoke};

/// Number of matches between two snapshots. Reading this many matches one by one takes no noticeable time.
const MATCHES_PER_SNAPSHOT: u64 = 16_384;
/// Interval of [`RunEvent::Tick`].
const TICK_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum number of matches in one transaction.
const MAX_MATCHES_PER_TRANSACTION: usize = 1024;

impl CompetitionRun<'_> {
    /// Stores played matches, as many in one transaction as have arrived.
    pub(super) fn store_results(
        &self,
        events: &Receiver<ExecutorEvent>,
        phase_run: &mut PhaseRun<'_>,
        listener: &mut dyn RunListener,
    ) -> Result<(), RunError> {
        let mut last_tick = Instant::now();
        loop {
            if last_tick.elapsed() >= TICK_INTERVAL {
                let playing = self.active_matches.playing();
                listener.event(&RunEvent::Tick { playing: &playing, tally: &phase_run.results.tally });
                last_tick = Instant::now();
            }
            let first = match events.recv_timeout(TICK_INTERVAL) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            let (mut batch, mut callbacks, mut other) = (Vec::new(), Vec::new(), None);
            for event in std::iter::once(first).chain(std::iter::from_fn(|| events.try_recv().ok())) {
                match event {
                    ExecutorEvent::Played { matches, on_stored } => {
                        batch.extend(matches);
                        callbacks.extend(on_stored);
                    }
                    event => other = Some(event),
                }
                if batch.len() >= MAX_MATCHES_PER_TRANSACTION || other.is_some() {
                    break;
                }
            }
            self.append(&batch, phase_run)?;
            if !self.executor.is_local() && !phase_run.logs_dirs.is_empty() {
                phase_run.logs_dirs.add_own_games(&games_of_batch(&batch))?;
            }
            for on_stored in callbacks {
                on_stored();
            }
            for one in &batch {
                listener.event(&RunEvent::MatchStored { result: &one.result, faults: &one.faults });
            }
            match other {
                None | Some(ExecutorEvent::Played { .. }) => {}
                Some(ExecutorEvent::Failed(error)) => return Err(error),
                Some(event) => {
                    phase_run.revoked = self.handle_cross_check(event, phase_run, listener)?;
                    if phase_run.revoked {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Applies a cross-check result of the executor. Returns whether matches of this phase were revoked and must be played again.
    fn handle_cross_check(
        &self,
        event: ExecutorEvent,
        phase_run: &PhaseRun<'_>,
        listener: &mut dyn RunListener,
    ) -> Result<bool, RunError> {
        let (phase, competition_id) = (phase_run.context.phase, &phase_run.context.competition_id);
        let dependents = revoke::Dependents {
            stages: phase_run.depends_on_results || phase_run.context.in_order(),
            bots: phase_run.context.in_order(),
        };
        let (revoked, on_stored) = match event {
            ExecutorEvent::Banned { worker, reason, on_stored } => {
                let future =
                    revoke::ban_worker(self.ledger, competition_id, phase, &worker, &reason, dependents);
                let revoked = self.runtime.block_on(future)?;
                tracing::warn!(target: NOTICE_TARGET, worker, reason, revoked, "worker banned");
                listener.event(&RunEvent::Banned { worker: &worker, reason: &reason, revoked });
                (revoked, on_stored)
            }
            ExecutorEvent::Outvoted { key, worker, reason, on_stored } => {
                let future =
                    revoke::revoke_match(self.ledger, competition_id, key, &worker, &reason, dependents);
                let revoked = self.runtime.block_on(future)?;
                if revoked > 0 {
                    let full_key = key.in_competition(competition_id);
                    tracing::warn!(target: NOTICE_TARGET, worker, "match" = %full_key, reason, revoked, "result outvoted");
                    listener.event(&RunEvent::Outvoted { key, worker: &worker, revoked });
                }
                (revoked, on_stored)
            }
            ExecutorEvent::Disputed { key, workers } => {
                let full_key = key.in_competition(competition_id);
                tracing::warn!(target: NOTICE_TARGET, ?workers, "match" = %full_key, "results differ, no majority");
                listener.event(&RunEvent::Disputed { key, workers: &workers });
                return Ok(false);
            }
            ExecutorEvent::RecordsRequested { key, reply } => {
                reply(self.match_records(key)?);
                return Ok(false);
            }
            ExecutorEvent::Played { .. } | ExecutorEvent::Failed(_) => return Ok(false),
        };
        if let Some(on_stored) = on_stored {
            on_stored();
        }
        Ok(revoked > 0)
    }

    /// Records of a match's games.
    fn match_records(&self, key: MatchKey) -> Result<Vec<Vec<u8>>, RunError> {
        let games = self.block_on(self.ledger.find(key))?.map_or(0, |one| one.result.games.len() as u32);
        let mut records = Vec::new();
        for game in 0..games {
            records.extend(self.block_on(self.ledger.record(key, game))?);
        }
        Ok(records)
    }

    fn append(&self, batch: &[FinishedMatch], phase_run: &mut PhaseRun<'_>) -> Result<(), RunError> {
        for one in batch {
            let MatchKey { stage, number, .. } = one.result.key;
            phase_run.results.tally.add(&one.result);
            phase_run.results.stages[stage as usize].insert(number);
        }
        phase_run.results.since_snapshot += batch.len() as u64;
        let snapshot = (phase_run.results.since_snapshot >= MATCHES_PER_SNAPSHOT)
            .then(|| Snapshot { phase: phase_run.context.phase, bytes: phase_run.results.tally.to_bytes() });
        if snapshot.is_some() {
            phase_run.results.since_snapshot = 0;
        }
        let appended = self.block_on(self.ledger.append(batch, snapshot.as_ref()))?;
        log_stored(batch, appended, &phase_run.context.competition_id);
        Ok(())
    }
}

/// Logs the matches of a transaction.
fn log_stored(batch: &[FinishedMatch], appended: AppendResult, competition_id: &str) {
    let what = match appended {
        AppendResult { already_stored: 0, .. } => "match stored",
        AppendResult { new: 0, .. } => "match is already in the ledger",
        AppendResult { .. } => "match stored or already in the ledger",
    };
    for one in batch {
        tracing::info!(
            "match" = %one.result.key.in_competition(competition_id),
            games = one.result.games.len(),
            faults = one.faults.len(),
            worker = one.worker.as_deref(),
            "{what}"
        );
    }
}

/// Games of the matches of a batch.
fn games_of_batch(batch: &[FinishedMatch]) -> Vec<FinishedGame> {
    let mut games = Vec::new();
    for one in batch {
        let seats = one.result.entrants();
        let records = one.games.iter().filter_map(|game| game.record.clone());
        games.extend(records.map(|record| FinishedGame { seats: seats.clone(), record }));
    }
    games
}
