//! Taking finished matches: the one transaction everything else stands on.

use std::sync::LazyLock;

use agon_league::MatchKey;
use sqlx::{Row as _, SqliteConnection};

use super::insert::Insert;
use super::{SqliteLedger, bots, digest, logs, progress, state, db_error};
use crate::incoming::{self, IncomingMatch, IncomingGame};
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
        // Whatever can be done before the writer is held.
        let coming = incoming::validate_batch(batch)?;
        let mut writer = self.writer().await?;
        let mut change = writer.begin(false, &self.path).await?;
        let new = self.keep(&mut change, coming).await?;
        if let Some(snapshot) = snapshot {
            progress::keep_snapshot(self, &mut change, snapshot).await?;
        }
        self.commit(change).await?;
        Ok(AppendResult { new, known: batch.len() as u64 - new })
    }

    /// Keeps what is new of these; gives how many were.
    async fn keep(&self, change: &mut SqliteConnection, mut coming: Vec<IncomingMatch<'_>>) -> Result<u64> {
        let failed = db_error::at(&self.path);
        let phases = incoming::phases(&coming);
        for &number in &phases {
            let status = state::phase(self, change, number).await?;
            if status.state != PhaseState::Running {
                // Whoever did not hear that a match was kept may say it again; anything else comes too late.
                for one in coming.iter().filter(|one| one.key().phase == number) {
                    if !self.is_known(change, one).await? {
                        return Err(phase_transitions::takes_no_matches(&status));
                    }
                }
                coming.retain(|one| one.key().phase != number);
            }
        }
        let last: i64 = sqlx::query_scalar(
            "SELECT max(coalesce((SELECT max(id) FROM match), 0), coalesce(max(last_match), 0)) FROM phase",
        )
        .fetch_one(&mut *change)
        .await
        .map_err(&failed)?;
        for (one, id) in coming.iter_mut().zip(last + 1..) {
            one.id = id;
        }
        let new = MATCHES.run(change, &coming, bind_match).await.map_err(&failed)?;
        if new < coming.len() as u64 {
            coming = self.only_new(change, coming).await?;
        }
        self.keep_parts(change, &coming).await.map_err(&failed)?;
        for phase in phases {
            count(change, phase, &coming).await.map_err(&failed)?;
        }
        Ok(new)
    }

    /// Leaves out what was there already.
    async fn only_new<'b>(
        &self,
        change: &mut SqliteConnection,
        coming: Vec<IncomingMatch<'b>>,
    ) -> Result<Vec<IncomingMatch<'b>>> {
        let mut new = Vec::with_capacity(coming.len());
        for one in coming {
            if !self.is_known(change, &one).await? {
                new.push(one);
            }
        }
        Ok(new)
    }

    /// Whether a match was kept under another number than the one it comes with. With another digest it is an error.
    async fn is_known(&self, change: &mut SqliteConnection, one: &IncomingMatch<'_>) -> Result<bool> {
        let failed = db_error::at(&self.path);
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
        let kept = row.try_get(1).and_then(digest).map_err(&failed)?;
        one.is_known(id, kept)
    }

    /// Games, records, faults, folders and logs of matches that are new.
    async fn keep_parts(
        &self,
        change: &mut SqliteConnection,
        coming: &[IncomingMatch<'_>],
    ) -> Result<(), sqlx::Error> {
        let games: Vec<IncomingGame<'_>> = coming.iter().flat_map(IncomingMatch::games).collect();
        GAMES.run(change, &games, bind_game).await?;
        let records: Vec<(i64, u32, &[u8])> = games
            .iter()
            .filter_map(|game| Some((game.id, game.number, game.kept.record.as_deref()?)))
            .collect();
        RECORDS
            .run(change, &records, |values, &(id, game, bytes)| {
                values.add(id).add(game).add(bytes);
            })
            .await?;
        let faults: Vec<(i64, &MatchFault)> = coming.iter().flat_map(IncomingMatch::faults).collect();
        FAULTS.run(change, &faults, bind_fault).await?;
        for one in coming {
            keep_data(change, one.finished).await?;
        }
        let printed: Vec<_> =
            coming.iter().flat_map(|one| one.finished.logs.iter().map(|log| (one.id, log))).collect();
        logs::keep(change, &printed).await
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
        .add(one.entrants());
    values
        .add(one.finished.faults.len() as i64)
        .add(&one.digest.0[..])
        .add(encoding::points(&one.finished.result.points))
        .add(one.finished.worker.as_deref());
}

fn bind_game(values: &mut super::insert::Values, game: &IncomingGame<'_>) {
    let result = game.result;
    values.add(game.id).add(game.number).add(result.part).add(result.seed as i64).add(result.turns);
    values.add(result.ended.as_str()).add(result.match_lost_by);
    values.add(&game.kept.digest.0[..]).add(encoding::seats(&result.seats));
}

fn bind_fault(values: &mut super::insert::Values, (id, fault): &(i64, &MatchFault)) {
    values.add(*id).add(fault.game).add(fault.turn).add(fault.seat).add(fault.entrant.0);
    values.add(fault.report.fault.name()).add(fault.report.says.as_str()).add(fault.report.stderr.as_str());
}

async fn keep_data(change: &mut SqliteConnection, finished: &FinishedMatch) -> Result<(), sqlx::Error> {
    let MatchKey { phase, stage, number } = finished.result.key;
    for folder in &finished.data {
        let blob = bots::keep_blob(change, &folder.hash.0, &folder.bytes).await?;
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

/// Adds what is new to the phase's sums.
async fn count(change: &mut SqliteConnection, phase: u32, coming: &[IncomingMatch<'_>]) -> Result<(), sqlx::Error> {
    let mine = || coming.iter().filter(|one| one.key().phase == phase);
    let Some(last) = mine().map(|one| one.id).max() else { return Ok(()) };
    sqlx::query(
        "UPDATE phase SET matches = matches + ?, games = games + ?, faults = faults + ?, last_match = ? WHERE phase = ?",
    )
    .bind(mine().count() as i64)
    .bind(mine().map(|one| one.finished.games.len() as i64).sum::<i64>())
    .bind(mine().map(|one| one.finished.faults.len() as i64).sum::<i64>())
    .bind(last)
    .bind(phase)
    .execute(change)
    .await?;
    Ok(())
}
