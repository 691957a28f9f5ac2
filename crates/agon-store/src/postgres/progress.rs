//! Progress of a phase: the latest snapshot and the matches after it.

use sqlx::{Connection as _, PgConnection, Row as _};

use super::db_error::{AttemptError, damaged};
use super::text::number;
use super::{page, state};
use crate::encoding;
use crate::model::{PhaseProgress, Snapshot};
use crate::ranges::{Ranges, insert_played};

/// Matches read per query.
const MAX_PAGE_MATCHES: u64 = 2048;
/// Begins a transaction that reads one consistent state.
pub const BEGIN_CONSISTENT_READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// The stored snapshot and the matches it covers.
#[derive(Default)]
struct StoredSnapshot {
    last_match: i64,
    played: Vec<Ranges>,
    bytes: Option<Vec<u8>>,
}

pub async fn progress(connection: &mut PgConnection, phase: u32) -> Result<PhaseProgress, AttemptError> {
    let mut reader = connection.begin_with(BEGIN_CONSISTENT_READ).await?;
    state::phase(&mut reader, phase).await?;
    let StoredSnapshot { mut last_match, mut played, bytes } = load_snapshot(&mut reader, phase).await?;
    let up_to = last_match_id(&mut reader, phase).await?;
    let mut after = Vec::new();
    while last_match < up_to {
        let match_rows = page::list_appended(&mut reader, phase, last_match, up_to, MAX_PAGE_MATCHES).await?;
        let Some(last) = match_rows.last() else { break };
        last_match = last.id;
        for one in &match_rows {
            insert_played(&mut played, one.key.stage, one.key.number);
        }
        let matches = page::with_games(&mut reader, match_rows).await?;
        after.extend(matches.into_iter().map(|stored| stored.result));
    }
    reader.commit().await?;
    Ok(PhaseProgress { played, snapshot: bytes, results_after_snapshot: after })
}

async fn load_snapshot(connection: &mut PgConnection, phase: u32) -> Result<StoredSnapshot, AttemptError> {
    let row: Option<(i64, Vec<u8>, Vec<u8>)> =
        sqlx::query_as("SELECT last_match, done, bytes FROM snapshot WHERE phase = $1")
            .bind(i64::from(phase))
            .fetch_optional(connection)
            .await?;
    let Some((last_match, played, bytes)) = row else { return Ok(StoredSnapshot::default()) };
    let played =
        encoding::decode_played(&played).ok_or_else(|| damaged("invalid match numbers of a snapshot"))?;
    Ok(StoredSnapshot { last_match, played, bytes: Some(bytes) })
}

/// Replaces the snapshot of a phase, and stores the match numbers it covers.
pub async fn store_snapshot(change: &mut PgConnection, snapshot: &Snapshot) -> Result<(), AttemptError> {
    let phase = snapshot.phase;
    state::phase(change, phase).await?;
    let StoredSnapshot { last_match, mut played, .. } = load_snapshot(change, phase).await?;
    let up_to = last_match_id(change, phase).await?;
    let rows = sqlx::query("SELECT stage, number FROM match WHERE id > $1 AND id <= $2 AND phase + 0 = $3")
        .bind(last_match)
        .bind(up_to)
        .bind(i64::from(phase))
        .fetch_all(&mut *change)
        .await?;
    for row in &rows {
        insert_played(&mut played, number(row, 0)?, row.try_get::<i64, _>(1)? as u64);
    }
    sqlx::query(
        "INSERT INTO snapshot (phase, last_match, done, bytes) VALUES ($1, $2, $3, $4)
         ON CONFLICT (phase) DO UPDATE SET last_match = excluded.last_match, done = excluded.done, bytes = excluded.bytes",
    )
    .bind(i64::from(phase))
    .bind(up_to)
    .bind(encoding::encode_played(&played))
    .bind(&snapshot.bytes[..])
    .execute(change)
    .await?;
    Ok(())
}

/// Highest ledger id of a match of this phase.
async fn last_match_id(connection: &mut PgConnection, phase: u32) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("SELECT last_match FROM phase WHERE phase = $1")
        .bind(i64::from(phase))
        .fetch_one(connection)
        .await
}
