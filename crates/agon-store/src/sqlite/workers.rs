//! Workers: bans, the matches they played, and revoking matches of a banned worker.

use agon_core::record::Digest;
use agon_league::MatchKey;
use sqlx::{Row as _, SqliteConnection};

use super::{SqliteLedger, db_error, digest, state};
use crate::model::{BannedWorker, Timestamp};
use crate::{Result, phase_transitions};

impl SqliteLedger {
    pub(super) async fn write_banned_worker(&self, worker: &str, reason: &str, at: Timestamp) -> Result<()> {
        let mut writer = self.writer().await?;
        let mut change = writer.begin(true, &self.path).await?;
        sqlx::query("INSERT INTO barred (worker, why, at) VALUES (?, ?, ?) ON CONFLICT (worker) DO NOTHING")
            .bind(worker)
            .bind(reason)
            .bind(at.0)
            .execute(&mut *change)
            .await
            .map_err(db_error::in_file(&self.path))?;
        self.commit(change).await
    }

    pub(super) async fn read_banned_workers(&self) -> Result<Vec<BannedWorker>> {
        let failed = db_error::in_file(&self.path);
        let mut reader = self.readers.acquire().await.map_err(&failed)?;
        let rows: Vec<(String, String, i64)> =
            sqlx::query_as("SELECT worker, why, at FROM barred ORDER BY at, worker")
                .fetch_all(&mut *reader)
                .await
                .map_err(&failed)?;
        Ok(rows
            .into_iter()
            .map(|(worker, reason, at)| BannedWorker { worker, reason, at: Timestamp(at) })
            .collect())
    }

    pub(super) async fn read_matches_played_by(&self, phase: u32, worker: &str) -> Result<Vec<MatchKey>> {
        let failed = db_error::in_file(&self.path);
        let mut reader = self.readers.acquire().await.map_err(&failed)?;
        let sql = "SELECT stage, number FROM match WHERE worker = ? AND phase = ? ORDER BY stage, number";
        let rows: Vec<(u32, i64)> =
            sqlx::query_as(sql).bind(worker).bind(phase).fetch_all(&mut *reader).await.map_err(&failed)?;
        let key = |(stage, number): (u32, i64)| MatchKey { phase, stage, number: number as u64 };
        Ok(rows.into_iter().map(key).collect())
    }

    pub(super) async fn read_matches_with_workers(
        &self,
        phase: u32,
    ) -> Result<Vec<(MatchKey, String, Digest)>> {
        let failed = db_error::in_file(&self.path);
        let mut reader = self.readers.acquire().await.map_err(&failed)?;
        let sql = "SELECT stage, number, worker, digest FROM match WHERE phase = ? AND worker IS NOT NULL \
                   ORDER BY stage, number";
        let rows = sqlx::query(sql).bind(phase).fetch_all(&mut *reader).await.map_err(&failed)?;
        let read = |row: &sqlx::sqlite::SqliteRow| {
            let key = MatchKey { phase, stage: row.try_get(0)?, number: row.try_get::<i64, _>(1)? as u64 };
            Ok((key, row.try_get(2)?, row.try_get(3).and_then(digest)?))
        };
        rows.iter().map(read).collect::<Result<_, sqlx::Error>>().map_err(&failed)
    }

    pub(super) async fn write_revocation(
        &self,
        phase: u32,
        keys: &[MatchKey],
        reason: &str,
        at: Timestamp,
    ) -> Result<u64> {
        let failed = db_error::in_file(&self.path);
        let mut writer = self.writer().await?;
        let mut change = writer.begin(true, &self.path).await?;
        let status = state::phase(self, &mut change, phase).await?;
        phase_transitions::check_revoke(&status)?;
        let mut revoked = 0;
        for key in keys.iter().filter(|key| key.phase == phase) {
            revoked += u64::from(revoke(&mut change, *key, reason, at).await.map_err(&failed)?);
        }
        // The snapshot covers revoked matches.
        sqlx::query("DELETE FROM snapshot WHERE phase = ?")
            .bind(phase)
            .execute(&mut *change)
            .await
            .map_err(&failed)?;
        self.commit(change).await?;
        Ok(revoked)
    }
}

/// Revokes a match with all its data. Returns `false` if it is not stored or has a ruling.
async fn revoke(
    change: &mut SqliteConnection,
    key: MatchKey,
    reason: &str,
    at: Timestamp,
) -> Result<bool, sqlx::Error> {
    let MatchKey { phase, stage, number } = key;
    let row = sqlx::query(
        "INSERT INTO withdrawn (match, phase, stage, number, worker, digest, why, at) \
         SELECT id, phase, stage, number, worker, digest, ?, ? FROM match \
         WHERE phase = ? AND stage = ? AND number = ? AND id NOT IN (SELECT match FROM ruling WHERE match IS NOT NULL) \
         RETURNING match",
    )
    .bind(reason)
    .bind(at.0)
    .bind(phase)
    .bind(stage)
    .bind(number as i64)
    .fetch_optional(&mut *change)
    .await?;
    let Some(row) = row else { return Ok(false) };
    let id: i64 = row.try_get(0)?;
    sqlx::query(
        "UPDATE phase SET matches = matches - 1, games = games - (SELECT count(*) FROM game WHERE match = ?1), \
         faults = faults - (SELECT count(*) FROM fault WHERE match = ?1) WHERE phase = ?2",
    )
    .bind(id)
    .bind(phase)
    .execute(&mut *change)
    .await?;
    sqlx::query(
        "UPDATE log_size SET bytes = bytes - (SELECT coalesce(sum(length(bytes)), 0) FROM log WHERE match = ?)",
    )
    .bind(id)
    .execute(&mut *change)
    .await?;
    sqlx::query("DELETE FROM data WHERE phase = ? AND stage = ? AND number = ?")
        .bind(phase)
        .bind(stage)
        .bind(number as i64)
        .execute(&mut *change)
        .await?;
    for sql in [
        "DELETE FROM log WHERE match = ?",
        "DELETE FROM fault WHERE match = ?",
        "DELETE FROM record WHERE match = ?",
        "DELETE FROM game WHERE match = ?",
        "DELETE FROM match WHERE id = ?",
    ] {
        sqlx::query(sql).bind(id).execute(&mut *change).await?;
    }
    Ok(true)
}
