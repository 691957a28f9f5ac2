//! Bot output: stored with its match, limited in total per competition.

use std::sync::LazyLock;

use agon_league::MatchKey;
use sqlx::{Row as _, SqliteConnection};

use super::insert::Insert;
use super::{SqliteLedger, db_error};
use crate::Result;
use crate::bot_output::{BotOutput, MAX_PACKED_BYTES, PackedOutput};

/// Maximum number of games whose output is dropped per query.
const MAX_GAMES_PER_DROP: i64 = 64;

static OUTPUTS: LazyLock<Insert> = LazyLock::new(|| Insert::new("log (match, game, seat, bytes)", ""));

/// Stores outputs, each with the ledger id of its match. Drops the oldest when the limit is exceeded.
pub async fn store(
    change: &mut SqliteConnection,
    outputs: &[(i64, &PackedOutput)],
) -> Result<(), sqlx::Error> {
    if outputs.is_empty() {
        return Ok(());
    }
    OUTPUTS
        .run(change, outputs, |values, (id, output)| {
            values.add(*id).add(output.game).add(output.seat).add(&output.packed[..]);
        })
        .await?;
    let added_bytes: i64 = outputs.iter().map(|(_, output)| output.packed.len() as i64).sum();
    let mut size: i64 = sqlx::query_scalar("SELECT bytes FROM log_size").fetch_one(&mut *change).await?;
    size += added_bytes;
    while size > MAX_PACKED_BYTES {
        size -= drop_oldest(change, size - MAX_PACKED_BYTES).await?;
    }
    sqlx::query("UPDATE log_size SET bytes = ?").bind(size).execute(change).await?;
    Ok(())
}

/// Drops the output of some of the oldest games, at most until `wanted_bytes` are free. Returns the number of freed bytes.
async fn drop_oldest(change: &mut SqliteConnection, wanted_bytes: i64) -> Result<i64, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT match, game, sum(length(bytes)) FROM log GROUP BY match, game ORDER BY match, game LIMIT ?",
    )
    .bind(MAX_GAMES_PER_DROP)
    .fetch_all(&mut *change)
    .await?;
    let mut freed_bytes = 0;
    for row in rows {
        if freed_bytes >= wanted_bytes {
            break;
        }
        let (id, game, bytes): (i64, i64, i64) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        sqlx::query("DELETE FROM log WHERE match = ? AND game = ?")
            .bind(id)
            .bind(game)
            .execute(&mut *change)
            .await?;
        freed_bytes += bytes;
    }
    // Nothing left to drop means that the stored total was wrong. Avoids an endless loop.
    Ok(if freed_bytes == 0 { wanted_bytes } else { freed_bytes })
}

impl SqliteLedger {
    pub(super) async fn read_bot_output(
        &self,
        key: MatchKey,
        game: u32,
        seat: u8,
    ) -> Result<Option<BotOutput>> {
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
        .map_err(db_error::in_file(&self.path))?;
        let unpacked = packed.map(|packed| {
            BotOutput::unpack(&packed)
                .ok_or_else(|| db_error::damaged(&self.path, format!("invalid bot output of match {key}")))
        });
        unpacked.transpose()
    }
}
