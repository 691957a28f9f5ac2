//! Storing finished matches in one transaction.

use std::sync::LazyLock;

use agon_league::MatchKey;
use sqlx::{Row as _, SqliteConnection};

use super::insert::Insert;
use super::{SqliteLedger, bot_output, bots, db_error, digest, progress, state};
use crate::incoming::{self, IncomingGame, IncomingMatch};
use crate::model::{AppendResult, FinishedMatch, MatchFault, PhaseState, Snapshot};
use crate::{Result, encoding, phase_transitions};

static MATCHES: LazyLock<Insert> = LazyLock::new(|| {
    Insert::new(
        "match (id, phase, stage, number, finished, entrants, faults, digest, points, worker)",
        "ON CONFLICT (phase, stage, number) DO NOTHING",
    )
});
static GAMES: LazyLock<Insert> =
    LazyLock::new(|| Insert::new("game (match, game, part, seed, turns, ended, lost_by, digest, seats)", ""));
static RECORDS: LazyLock<Insert> = LazyLock::new(|| Insert::new("record (match, game, bytes)", ""));
static FAULTS: LazyLock<Insert> =
    LazyLock::new(|| Insert::new("fault (match, game, turn, seat, entrant, kind, says, stderr)", ""));

impl SqliteLedger {
    pub(super) async fn write_matches(
        &self,
        batch: &[FinishedMatch],
        snapshot: Option<&Snapshot>,
    ) -> Result<AppendResult> {
        // Validated before waiting for the writer.
        let incoming = incoming::validate_batch(batch)?;
        let mut writer = self.writer().await?;
        let mut change = writer.begin(false, &self.path).await?;
        let new = self.store_new(&mut change, incoming).await?;
        if let Some(snapshot) = snapshot {
            progress::store_snapshot(self, &mut change, snapshot).await?;
        }
        self.commit(change).await?;
        writer.sync_later(&self.path)?;
        Ok(AppendResult { new, already_stored: batch.len() as u64 - new })
    }

    /// Stores the new ones of these matches and returns their number.
    async fn store_new(
        &self,
        change: &mut SqliteConnection,
        mut incoming: Vec<IncomingMatch<'_>>,
    ) -> Result<u64> {
        let failed = db_error::in_file(&self.path);
        let phases = incoming::distinct_phases(&incoming);
        for &number in &phases {
            let status = state::phase(self, change, number).await?;
            if status.state != PhaseState::Running {
                // A caller that missed the acknowledgement may append stored matches again. New matches are too late.
                for one in incoming.iter().filter(|one| one.key().phase == number) {
                    if !self.is_already_stored(change, one).await? {
                        return Err(phase_transitions::takes_no_matches(&status));
                    }
                }
                incoming.retain(|one| one.key().phase != number);
            }
        }
        let last: i64 = sqlx::query_scalar(
            "SELECT max(coalesce((SELECT max(id) FROM match), 0), coalesce(max(last_match), 0)) FROM phase",
        )
        .fetch_one(&mut *change)
        .await
        .map_err(&failed)?;
        for (one, id) in incoming.iter_mut().zip(last + 1..) {
            one.id = id;
        }
        let new = MATCHES.run(change, &incoming, bind_match).await.map_err(&failed)?;
        if new < incoming.len() as u64 {
            incoming = self.only_new(change, incoming).await?;
        }
        self.insert_parts(change, &incoming).await.map_err(&failed)?;
        for phase in phases {
            update_phase_totals(change, phase, &incoming).await.map_err(&failed)?;
        }
        Ok(new)
    }

    /// Leaves out matches that are already stored.
    async fn only_new<'b>(
        &self,
        change: &mut SqliteConnection,
        incoming: Vec<IncomingMatch<'b>>,
    ) -> Result<Vec<IncomingMatch<'b>>> {
        let mut new = Vec::with_capacity(incoming.len());
        for one in incoming {
            if !self.is_already_stored(change, &one).await? {
                new.push(one);
            }
        }
        Ok(new)
    }

    /// Whether a match is stored under another ledger id. A different digest is an error.
    async fn is_already_stored(
        &self,
        change: &mut SqliteConnection,
        one: &IncomingMatch<'_>,
    ) -> Result<bool> {
        let failed = db_error::in_file(&self.path);
        let MatchKey { phase, stage, number } = one.key();
        let row = sqlx::query("SELECT id, digest FROM match WHERE phase = ? AND stage = ? AND number = ?")
            .bind(phase)
            .bind(stage)
            .bind(number as i64)
            .fetch_optional(change)
            .await
            .map_err(&failed)?;
        let Some(row) = row else { return Ok(false) };
        let id: i64 = row.try_get(0).map_err(&failed)?;
        let stored = row.try_get(1).and_then(digest).map_err(&failed)?;
        one.is_already_stored(id, stored)
    }

    /// Inserts games, records, faults, folders and bot output of new matches.
    async fn insert_parts(
        &self,
        change: &mut SqliteConnection,
        incoming: &[IncomingMatch<'_>],
    ) -> Result<(), sqlx::Error> {
        let games: Vec<IncomingGame<'_>> = incoming.iter().flat_map(IncomingMatch::games).collect();
        GAMES.run(change, &games, bind_game).await?;
        let records: Vec<(i64, u32, &[u8])> = games
            .iter()
            .filter_map(|game| Some((game.id, game.number, game.stored.record.as_deref()?)))
            .collect();
        RECORDS
            .run(change, &records, |values, &(id, game, bytes)| {
                values.add(id).add(game).add(bytes);
            })
            .await?;
        let faults: Vec<(i64, &MatchFault)> = incoming.iter().flat_map(IncomingMatch::faults).collect();
        FAULTS.run(change, &faults, bind_fault).await?;
        for one in incoming {
            store_data_folders(change, one.finished).await?;
        }
        let outputs: Vec<_> = incoming
            .iter()
            .flat_map(|one| one.finished.bot_outputs.iter().map(|output| (one.id, output)))
            .collect();
        bot_output::store(change, &outputs).await
    }
}

fn bind_match(values: &mut super::insert::Values, one: &IncomingMatch<'_>) {
    let MatchKey { phase, stage, number } = one.key();
    values
        .add(one.id)
        .add(phase)
        .add(stage)
        .add(number as i64)
        .add(one.finished.finished.0)
        .add(one.entrant_list());
    values
        .add(one.finished.faults.len() as i64)
        .add(&one.digest.0[..])
        .add(encoding::encode_points(&one.finished.result.points))
        .add(one.finished.worker.as_deref());
}

fn bind_game(values: &mut super::insert::Values, game: &IncomingGame<'_>) {
    let result = game.result;
    values.add(game.id).add(game.number).add(result.part).add(result.seed as i64).add(result.turns);
    values.add(result.ended.as_str()).add(result.match_lost_by);
    values.add(&game.stored.digest.0[..]).add(encoding::encode_seats(&result.seats));
}

fn bind_fault(values: &mut super::insert::Values, (id, fault): &(i64, &MatchFault)) {
    values.add(*id).add(fault.game).add(fault.turn).add(fault.seat).add(fault.entrant.0);
    values
        .add(fault.report.fault.name())
        .add(fault.report.message.as_str())
        .add(fault.report.stderr.as_str());
}

async fn store_data_folders(
    change: &mut SqliteConnection,
    finished: &FinishedMatch,
) -> Result<(), sqlx::Error> {
    let MatchKey { phase, stage, number } = finished.result.key;
    for folder in &finished.data {
        let blob = bots::store_blob(change, &folder.hash.0, &folder.bytes).await?;
        sqlx::query("INSERT INTO data (entrant, phase, stage, number, blob) VALUES (?, ?, ?, ?, ?)")
            .bind(folder.entrant.0)
            .bind(phase)
            .bind(stage)
            .bind(number as i64)
            .bind(blob)
            .execute(&mut *change)
            .await?;
    }
    Ok(())
}

/// Adds the new matches to the totals of the phase.
async fn update_phase_totals(
    change: &mut SqliteConnection,
    phase: u32,
    incoming: &[IncomingMatch<'_>],
) -> Result<(), sqlx::Error> {
    let in_phase = || incoming.iter().filter(|one| one.key().phase == phase);
    let Some(last) = in_phase().map(|one| one.id).max() else { return Ok(()) };
    sqlx::query(
        "UPDATE phase SET matches = matches + ?, games = games + ?, faults = faults + ?, last_match = ? WHERE phase = ?",
    )
    .bind(in_phase().count() as i64)
    .bind(in_phase().map(|one| one.finished.games.len() as i64).sum::<i64>())
    .bind(in_phase().map(|one| one.finished.faults.len() as i64).sum::<i64>())
    .bind(last)
    .bind(phase)
    .execute(change)
    .await?;
    Ok(())
}
