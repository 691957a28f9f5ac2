//! Bot output: stored with its match, limited in total per competition.

use agon_league::MatchKey;
use sqlx::PgConnection;

use super::db_error::{AttemptError, damaged};
use crate::bot_output::{BotOutput, MAX_PACKED_BYTES, PackedOutput};

/// Stores outputs, each with the ledger id of its match. Drops the oldest when the limit is exceeded.
pub async fn store(change: &mut PgConnection, outputs: &[(i64, &PackedOutput)]) -> Result<(), sqlx::Error> {
    if outputs.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "INSERT INTO log (match, game, seat, bytes)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[])",
    )
    .bind(outputs.iter().map(|(id, _)| *id).collect::<Vec<_>>())
    .bind(outputs.iter().map(|(_, output)| i64::from(output.game)).collect::<Vec<_>>())
    .bind(outputs.iter().map(|(_, output)| i64::from(output.seat)).collect::<Vec<_>>())
    .bind(outputs.iter().map(|(_, output)| &output.packed[..]).collect::<Vec<_>>())
    .execute(&mut *change)
    .await?;
    let added_bytes: i64 = outputs.iter().map(|(_, output)| output.packed.len() as i64).sum();
    let size: i64 = sqlx::query_scalar("UPDATE log_size SET bytes = bytes + $1 RETURNING bytes")
        .bind(added_bytes)
        .fetch_one(&mut *change)
        .await?;
    if size > MAX_PACKED_BYTES {
        drop_oldest(change, size - MAX_PACKED_BYTES).await?;
    }
    Ok(())
}

/// Drops the output of the oldest games until `wanted_bytes` are free.
async fn drop_oldest(change: &mut PgConnection, wanted_bytes: i64) -> Result<(), sqlx::Error> {
    // A game is dropped if the games before it do not free enough.
    sqlx::query(
        "WITH game AS (SELECT match, game, sum(length(bytes)) AS bytes FROM log GROUP BY match, game),
              aged AS (SELECT match, game, sum(bytes) OVER (ORDER BY match, game) - bytes AS before FROM game),
              gone AS (DELETE FROM log USING aged WHERE log.match = aged.match AND log.game = aged.game AND aged.before < $1
                       RETURNING length(log.bytes) AS bytes)
         UPDATE log_size SET bytes = bytes - (SELECT coalesce(sum(bytes), 0) FROM gone)",
    )
    .bind(wanted_bytes)
    .execute(change)
    .await?;
    Ok(())
}

pub async fn read(
    connection: &mut PgConnection,
    key: MatchKey,
    game: u32,
    seat: u8,
) -> Result<Option<BotOutput>, AttemptError> {
    let packed: Option<Vec<u8>> = sqlx::query_scalar(
        "SELECT bytes FROM match JOIN log ON log.match = match.id
         WHERE phase = $1 AND stage = $2 AND number = $3 AND game = $4 AND seat = $5",
    )
    .bind(i64::from(key.phase))
    .bind(i64::from(key.stage))
    .bind(key.number as i64)
    .bind(i64::from(game))
    .bind(i64::from(seat))
    .fetch_optional(connection)
    .await?;
    packed.map(|packed| BotOutput::unpack(&packed).ok_or_else(|| damaged("invalid bot output"))).transpose()
}
