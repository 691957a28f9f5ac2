//! How far a phase is, from its latest snapshot and what came after it.

use sqlx::{Connection as _, PgConnection, Row as _};

use super::text::number;
use super::db_error::{AttemptError, damaged};
use super::{page, state};
use crate::model::{PhaseProgress, Snapshot};
use crate::encoding;
use crate::ranges::{Ranges, note};

/// Matches that are read at once.
const PAGE: u64 = 2048;
/// Everything that is read is of one moment.
pub const ONE_MOMENT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// The snapshot that is kept, and what it covers.
#[derive(Default)]
struct Kept {
    last_match: i64,
    done: Vec<Ranges>,
    bytes: Option<Vec<u8>>,
}

pub async fn progress(connection: &mut PgConnection, phase: u32) -> Result<PhaseProgress, AttemptError> {
    let mut reader = connection.begin_with(ONE_MOMENT).await?;
    state::phase(&mut reader, phase).await?;
    let Kept { mut last_match, mut done, bytes } = kept_snapshot(&mut reader, phase).await?;
    let up_to = last_of(&mut reader, phase).await?;
    let mut after = Vec::new();
    while last_match < up_to {
        let listed = page::list_appended(&mut reader, phase, last_match, up_to, PAGE).await?;
        let Some(last) = listed.last() else { break };
        last_match = last.id;
        for one in &listed {
            note(&mut done, one.key.stage, one.key.number);
        }
        let matches = page::with_games(&mut reader, listed).await?;
        after.extend(matches.into_iter().map(|kept| kept.result));
    }
    reader.commit().await?;
    Ok(PhaseProgress { stages: done, snapshot: bytes, after })
}

async fn kept_snapshot(connection: &mut PgConnection, phase: u32) -> Result<Kept, AttemptError> {
    let row: Option<(i64, Vec<u8>, Vec<u8>)> =
        sqlx::query_as("SELECT last_match, done, bytes FROM snapshot WHERE phase = $1")
            .bind(i64::from(phase))
            .fetch_optional(connection)
            .await?;
    let Some((last_match, done, bytes)) = row else { return Ok(Kept::default()) };
    let done =
        encoding::read_done(&done).ok_or_else(|| damaged("what a snapshot covers was not packed here"))?;
    Ok(Kept { last_match, done, bytes: Some(bytes) })
}

/// Keeps a snapshot in place of the one before, with the numbers it covers.
pub async fn keep_snapshot(change: &mut PgConnection, snapshot: &Snapshot) -> Result<(), AttemptError> {
    let phase = snapshot.phase;
    state::phase(change, phase).await?;
    let Kept { last_match, mut done, .. } = kept_snapshot(change, phase).await?;
    let up_to = last_of(change, phase).await?;
    let rows = sqlx::query("SELECT stage, number FROM match WHERE id > $1 AND id <= $2 AND phase + 0 = $3")
        .bind(last_match)
        .bind(up_to)
        .bind(i64::from(phase))
        .fetch_all(&mut *change)
        .await?;
    for row in &rows {
        note(&mut done, number(row, 0)?, row.try_get::<i64, _>(1)? as u64);
    }
    sqlx::query(
        "INSERT INTO snapshot (phase, last_match, done, bytes) VALUES ($1, $2, $3, $4)
         ON CONFLICT (phase) DO UPDATE SET last_match = excluded.last_match, done = excluded.done, bytes = excluded.bytes",
    )
    .bind(i64::from(phase))
    .bind(up_to)
    .bind(encoding::done(&done))
    .bind(&snapshot.bytes[..])
    .execute(change)
    .await?;
    Ok(())
}

/// The highest number in the ledger of a match of this phase.
async fn last_of(connection: &mut PgConnection, phase: u32) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("SELECT last_match FROM phase WHERE phase = $1")
        .bind(i64::from(phase))
        .fetch_one(connection)
        .await
}
