//! Workers: bans, the matches they played, and revoking matches of a banned worker.

use agon_core::record::Digest;
use agon_league::MatchKey;
use sqlx::{PgConnection, Row as _};

use super::db_error::AttemptError;
use super::state;
use super::text::{digest, escape, number, unescape};
use crate::model::{BannedWorker, Timestamp};
use crate::phase_transitions;

pub async fn ban(
    change: &mut PgConnection,
    worker: &str,
    reason: &str,
    at: Timestamp,
) -> Result<(), AttemptError> {
    sqlx::query("INSERT INTO barred (worker, why, at) VALUES ($1, $2, $3) ON CONFLICT (worker) DO NOTHING")
        .bind(&*escape(worker))
        .bind(&*escape(reason))
        .bind(at.0)
        .execute(change)
        .await?;
    Ok(())
}

pub async fn banned_workers(connection: &mut PgConnection) -> Result<Vec<BannedWorker>, AttemptError> {
    // Byte order, as in SQLite.
    let sql = "SELECT worker, why, at FROM barred ORDER BY at, worker COLLATE \"C\"";
    let rows: Vec<(String, String, i64)> = sqlx::query_as(sql).fetch_all(connection).await?;
    let banned_workers = |(worker, reason, at)| BannedWorker {
        worker: unescape(worker),
        reason: unescape(reason),
        at: Timestamp(at),
    };
    Ok(rows.into_iter().map(banned_workers).collect())
}

pub async fn matches_played_by(
    connection: &mut PgConnection,
    phase: u32,
    worker: &str,
) -> Result<Vec<MatchKey>, AttemptError> {
    let sql = "SELECT stage, number FROM match WHERE worker = $1 AND phase = $2 ORDER BY stage, number";
    let rows = sqlx::query(sql).bind(&*escape(worker)).bind(i64::from(phase)).fetch_all(connection).await?;
    rows.iter()
        .map(|row| Ok(MatchKey { phase, stage: number(row, 0)?, number: row.try_get::<i64, _>(1)? as u64 }))
        .collect()
}

pub async fn matches_with_workers(
    connection: &mut PgConnection,
    phase: u32,
) -> Result<Vec<(MatchKey, String, Digest)>, AttemptError> {
    let sql = "SELECT stage, number, worker, digest FROM match WHERE phase = $1 AND worker IS NOT NULL
               ORDER BY stage, number";
    let rows = sqlx::query(sql).bind(i64::from(phase)).fetch_all(connection).await?;
    rows.iter()
        .map(|row| {
            let key = MatchKey { phase, stage: number(row, 0)?, number: row.try_get::<i64, _>(1)? as u64 };
            Ok((key, unescape(row.try_get(2)?), digest(row, 3)?))
        })
        .collect()
}

/// Revokes matches with all their data. With `is_retry`, an earlier attempt may have done so without an acknowledgement.
pub async fn revoke(
    change: &mut PgConnection,
    phase: u32,
    keys: &[MatchKey],
    reason: &str,
    at: Timestamp,
    is_retry: bool,
) -> Result<u64, AttemptError> {
    phase_transitions::check_revoke(&state::phase(change, phase).await?)?;
    let keys: Vec<&MatchKey> = keys.iter().filter(|key| key.phase == phase).collect();
    let stages: Vec<i64> = keys.iter().map(|key| key.stage.into()).collect();
    let numbers: Vec<i64> = keys.iter().map(|key| key.number as i64).collect();
    let before: i64 = if is_retry {
        sqlx::query_scalar(
            "SELECT count(*) FROM withdrawn WHERE phase = $1 AND why = $2 AND at = $3
             AND (stage, number) IN (SELECT * FROM unnest($4::bigint[], $5::bigint[]))",
        )
        .bind(i64::from(phase))
        .bind(&*escape(reason))
        .bind(at.0)
        .bind(&stages)
        .bind(&numbers)
        .fetch_one(&mut *change)
        .await?
    } else {
        0
    };
    let ids: Vec<i64> = sqlx::query_scalar(
        "INSERT INTO withdrawn (match, phase, stage, number, worker, digest, why, at)
         SELECT id, phase, stage, number, worker, digest, $1, $2 FROM match
         WHERE phase = $3 AND (stage, number) IN (SELECT * FROM unnest($4::bigint[], $5::bigint[]))
         AND id NOT IN (SELECT match FROM ruling WHERE match IS NOT NULL) RETURNING match",
    )
    .bind(&*escape(reason))
    .bind(at.0)
    .bind(i64::from(phase))
    .bind(&stages)
    .bind(&numbers)
    .fetch_all(&mut *change)
    .await?;
    remove(change, phase, &ids).await?;
    Ok(ids.len() as u64 + before as u64)
}

/// Deletes the matches with these ledger ids.
async fn remove(change: &mut PgConnection, phase: u32, ids: &[i64]) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE phase SET matches = matches - (SELECT count(*) FROM match WHERE id = ANY($1)),
         games = games - (SELECT count(*) FROM game WHERE match = ANY($1)),
         faults = faults - (SELECT count(*) FROM fault WHERE match = ANY($1)) WHERE phase = $2",
    )
    .bind(ids)
    .bind(i64::from(phase))
    .execute(&mut *change)
    .await?;
    // The snapshot covers revoked matches.
    sqlx::query("DELETE FROM snapshot WHERE phase = $1").bind(i64::from(phase)).execute(&mut *change).await?;
    for sql in [
        "UPDATE log_size SET bytes = bytes - (SELECT coalesce(sum(length(bytes)), 0) FROM log WHERE match = ANY($1))",
        "DELETE FROM data USING match WHERE match.id = ANY($1) AND (data.phase, data.stage, data.number) =
         (match.phase, match.stage, match.number)",
        "DELETE FROM log WHERE match = ANY($1)",
        "DELETE FROM fault WHERE match = ANY($1)",
        "DELETE FROM record WHERE match = ANY($1)",
        "DELETE FROM game WHERE match = ANY($1)",
        "DELETE FROM match WHERE id = ANY($1)",
    ] {
        sqlx::query(sql).bind(ids).execute(&mut *change).await?;
    }
    Ok(())
}
