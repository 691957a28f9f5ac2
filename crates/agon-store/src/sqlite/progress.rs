//! Progress of a phase: the latest snapshot and the matches after it.

use sqlx::{Row as _, SqliteConnection};

use super::{SqliteLedger, db_error, page, state};
use crate::model::{PhaseProgress, Snapshot};
use crate::ranges::{Ranges, insert_played};
use crate::{Result, encoding};

/// Matches read per query.
const MAX_PAGE_MATCHES: u64 = 2048;

/// The stored snapshot and the matches it covers.
#[derive(Default)]
struct StoredSnapshot {
    last_match: i64,
    played: Vec<Ranges>,
    bytes: Option<Vec<u8>>,
}

impl SqliteLedger {
    pub(super) async fn read_progress(&self, phase: u32) -> Result<PhaseProgress> {
        let failed = db_error::in_file(&self.path);
        // One transaction: the snapshot and the matches after it must be consistent.
        let mut reader = self.readers.begin().await.map_err(&failed)?;
        state::phase(self, &mut reader, phase).await?;
        let StoredSnapshot { mut last_match, mut played, bytes } =
            self.load_snapshot(&mut reader, phase).await?;
        let up_to = last_match_id(&mut reader, phase).await.map_err(&failed)?;
        let mut after = Vec::new();
        while last_match < up_to {
            let match_rows = page::list_appended(&mut reader, phase, last_match, up_to, MAX_PAGE_MATCHES)
                .await
                .map_err(&failed)?;
            let Some(last) = match_rows.last() else { break };
            last_match = last.id;
            for one in &match_rows {
                insert_played(&mut played, one.key.stage, one.key.number);
            }
            let matches = page::with_games(&mut reader, match_rows).await.map_err(&failed)?;
            after.extend(matches.into_iter().map(|stored| stored.result));
        }
        Ok(PhaseProgress { played, snapshot: bytes, results_after_snapshot: after })
    }

    async fn load_snapshot(&self, connection: &mut SqliteConnection, phase: u32) -> Result<StoredSnapshot> {
        let row: Option<(i64, Vec<u8>, Vec<u8>)> =
            sqlx::query_as("SELECT last_match, done, bytes FROM snapshot WHERE phase = ?")
                .bind(phase)
                .fetch_optional(connection)
                .await
                .map_err(db_error::in_file(&self.path))?;
        let Some((last_match, played, bytes)) = row else { return Ok(StoredSnapshot::default()) };
        let played = encoding::decode_played(&played)
            .ok_or_else(|| db_error::damaged(&self.path, "invalid match numbers of a snapshot"))?;
        Ok(StoredSnapshot { last_match, played, bytes: Some(bytes) })
    }
}

/// Replaces the snapshot of a phase, and stores the match numbers it covers.
pub async fn store_snapshot(
    ledger: &SqliteLedger,
    change: &mut SqliteConnection,
    snapshot: &Snapshot,
) -> Result<()> {
    let failed = db_error::in_file(&ledger.path);
    let phase = snapshot.phase;
    state::phase(ledger, change, phase).await?;
    let StoredSnapshot { last_match, mut played, .. } = ledger.load_snapshot(change, phase).await?;
    let up_to = last_match_id(change, phase).await.map_err(&failed)?;
    let rows = sqlx::query("SELECT stage, number FROM match WHERE id > ? AND id <= ? AND +phase = ?")
        .bind(last_match)
        .bind(up_to)
        .bind(phase)
        .fetch_all(&mut *change)
        .await
        .map_err(&failed)?;
    for row in rows {
        let number: i64 = row.try_get(1).map_err(&failed)?;
        insert_played(&mut played, row.try_get(0).map_err(&failed)?, number as u64);
    }
    sqlx::query("INSERT OR REPLACE INTO snapshot (phase, last_match, done, bytes) VALUES (?, ?, ?, ?)")
        .bind(phase)
        .bind(up_to)
        .bind(encoding::encode_played(&played))
        .bind(&snapshot.bytes[..])
        .execute(change)
        .await
        .map_err(&failed)?;
    Ok(())
}

/// Highest ledger id of a match of this phase.
async fn last_match_id(connection: &mut SqliteConnection, phase: u32) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("SELECT last_match FROM phase WHERE phase = ?").bind(phase).fetch_one(connection).await
}
