//! What bots printed: kept with their matches, bounded over the whole competition.

use std::sync::LazyLock;

use agon_league::MatchKey;
use sqlx::{Row as _, SqliteConnection};

use super::insert::Insert;
use super::{SqliteLedger, db_error};
use crate::Result;
use crate::bot_output::{BotOutput, MOST, PackedOutput};

/// So many games' logs are dropped at once.
const DROPPED: i64 = 64;

static LOGS: LazyLock<Insert> = LazyLock::new(|| Insert::new("log (match, game, seat, bytes)", ""));

/// Keeps these, each with its match's number in the ledger; the oldest make room.
pub async fn keep(change: &mut SqliteConnection, logs: &[(i64, &PackedOutput)]) -> Result<(), sqlx::Error> {
    if logs.is_empty() {
        return Ok(());
    }
    LOGS.run(change, logs, |values, (id, log)| {
        values.add(*id).add(log.game).add(log.seat).add(&log.packed[..]);
    })
    .await?;
    let more: i64 = logs.iter().map(|(_, log)| log.packed.len() as i64).sum();
    let mut size: i64 = sqlx::query_scalar("SELECT bytes FROM log_size").fetch_one(&mut *change).await?;
    size += more;
    while size > MOST {
        size -= drop_oldest(change, size - MOST).await?;
    }
    sqlx::query("UPDATE log_size SET bytes = ?").bind(size).execute(change).await?;
    Ok(())
}

/// Drops the logs of the oldest games until so many bytes are free, or of some of them; gives how many bytes are free.
async fn drop_oldest(change: &mut SqliteConnection, wanted: i64) -> Result<i64, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT match, game, sum(length(bytes)) FROM log GROUP BY match, game ORDER BY match, game LIMIT ?",
    )
    .bind(DROPPED)
    .fetch_all(&mut *change)
    .await?;
    let mut free = 0;
    for row in rows {
        if free >= wanted {
            break;
        }
        let (id, game, bytes): (i64, i64, i64) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        sqlx::query("DELETE FROM log WHERE match = ? AND game = ?")
            .bind(id)
            .bind(game)
            .execute(&mut *change)
            .await?;
        free += bytes;
    }
    // With nothing left to drop the sum was wrong: that must not go on for ever.
    Ok(if free == 0 { wanted } else { free })
}

impl SqliteLedger {
    pub(super) async fn read_log(&self, key: MatchKey, game: u32, seat: u8) -> Result<Option<BotOutput>> {
        let packed: Option<Vec<u8>> = sqlx::query_scalar(
            "SELECT bytes FROM match JOIN log ON log.match = match.id
             WHERE phase = ? AND stage = ? AND number = ? AND game = ? AND seat = ?",
        )
        .bind(key.phase)
        .bind(key.stage)
        .bind(key.number as i64)
        .bind(game)
        .bind(seat)
        .fetch_optional(&self.readers)
        .await
        .map_err(db_error::at(&self.path))?;
        let unpacked = packed.map(|packed| {
            BotOutput::unpack(&packed).ok_or_else(|| {
                db_error::damaged(&self.path, format!("a log of match {key} was not packed here"))
            })
        });
        unpacked.transpose()
    }
}
