//! How far a phase is, from its latest snapshot and what came after it.

use sqlx::{Row as _, SqliteConnection};

use super::{SqliteLedger, page, state, db_error};
use crate::model::{PhaseProgress, Snapshot};
use crate::ranges::{Ranges, note};
use crate::{Result, encoding};

/// Matches that are read at once.
const PAGE: u64 = 2048;

/// The snapshot that is kept, and what it covers.
#[derive(Default)]
struct Kept {
    last_match: i64,
    done: Vec<Ranges>,
    bytes: Option<Vec<u8>>,
}

impl SqliteLedger {
    pub(super) async fn read_progress(&self, phase: u32) -> Result<PhaseProgress> {
        let failed = db_error::at(&self.path);
        // One transaction: the snapshot and what is after it must fit together.
        let mut reader = self.readers.begin().await.map_err(&failed)?;
        state::phase(self, &mut reader, phase).await?;
        let Kept { mut last_match, mut done, bytes } = self.kept_snapshot(&mut reader, phase).await?;
        let up_to = last_of(&mut reader, phase).await.map_err(&failed)?;
        let mut after = Vec::new();
        while last_match < up_to {
            let listed =
                page::list_appended(&mut reader, phase, last_match, up_to, PAGE).await.map_err(&failed)?;
            let Some(last) = listed.last() else { break };
            last_match = last.id;
            for one in &listed {
                note(&mut done, one.key.stage, one.key.number);
            }
            let matches = page::with_games(&mut reader, listed).await.map_err(&failed)?;
            after.extend(matches.into_iter().map(|kept| kept.result));
        }
        Ok(PhaseProgress { stages: done, snapshot: bytes, after })
    }

    async fn kept_snapshot(&self, connection: &mut SqliteConnection, phase: u32) -> Result<Kept> {
        let row: Option<(i64, Vec<u8>, Vec<u8>)> =
            sqlx::query_as("SELECT last_match, done, bytes FROM snapshot WHERE phase = ?")
                .bind(phase)
                .fetch_optional(connection)
                .await
                .map_err(db_error::at(&self.path))?;
        let Some((last_match, done, bytes)) = row else { return Ok(Kept::default()) };
        let done = encoding::read_done(&done)
            .ok_or_else(|| db_error::damaged(&self.path, "what a snapshot covers was not packed here"))?;
        Ok(Kept { last_match, done, bytes: Some(bytes) })
    }
}

/// Keeps a snapshot in place of the one before, with the numbers it covers.
pub async fn keep_snapshot(
    ledger: &SqliteLedger,
    change: &mut SqliteConnection,
    snapshot: &Snapshot,
) -> Result<()> {
    let failed = db_error::at(&ledger.path);
    let phase = snapshot.phase;
    state::phase(ledger, change, phase).await?;
    let Kept { last_match, mut done, .. } = ledger.kept_snapshot(change, phase).await?;
    let up_to = last_of(change, phase).await.map_err(&failed)?;
    let rows = sqlx::query("SELECT stage, number FROM match WHERE id > ? AND id <= ? AND +phase = ?")
        .bind(last_match)
        .bind(up_to)
        .bind(phase)
        .fetch_all(&mut *change)
        .await
        .map_err(&failed)?;
    for row in rows {
        let number: i64 = row.try_get(1).map_err(&failed)?;
        note(&mut done, row.try_get(0).map_err(&failed)?, number as u64);
    }
    sqlx::query("INSERT OR REPLACE INTO snapshot (phase, last_match, done, bytes) VALUES (?, ?, ?, ?)")
        .bind(phase)
        .bind(up_to)
        .bind(encoding::done(&done))
        .bind(&snapshot.bytes[..])
        .execute(change)
        .await
        .map_err(&failed)?;
    Ok(())
}

/// The highest number in the ledger of a match of this phase.
async fn last_of(connection: &mut SqliteConnection, phase: u32) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("SELECT last_match FROM phase WHERE phase = ?").bind(phase).fetch_one(connection).await
}
