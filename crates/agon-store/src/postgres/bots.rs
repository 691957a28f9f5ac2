//! Bot versions and `data/` folders.

use agon_core::SelfDescription;
use agon_league::{Entrant, MatchKey};
use sha2::{Digest as _, Sha256};
use sqlx::{PgConnection, Row as _};

use super::db_error::AttemptError;
use super::state;
use super::text::{digest, digest_from_bytes, escape, key, narrow, number, optional_text, text, unescape};
use crate::model::{BotVersion, DataFolder, FinishedMatch, NewBotVersion, Timestamp};
use crate::phase_transitions::{self, LatestBot};

/// Id of the blob with these bytes. Each blob is stored once.
async fn store_blob(change: &mut PgConnection, hash: &[u8; 32], bytes: &[u8]) -> Result<i64, sqlx::Error> {
    let known: Option<i64> = sqlx::query_scalar("SELECT id FROM blob WHERE hash = $1")
        .bind(&hash[..])
        .fetch_optional(&mut *change)
        .await?;
    if let Some(id) = known {
        return Ok(id);
    }
    sqlx::query_scalar(
        "INSERT INTO blob (id, hash, bytes) SELECT coalesce(max(id), 0) + 1, $1, $2 FROM blob RETURNING id",
    )
    .bind(&hash[..])
    .bind(bytes)
    .fetch_one(change)
    .await
}

pub async fn store_data_folders(
    change: &mut PgConnection,
    finished: &FinishedMatch,
) -> Result<(), sqlx::Error> {
    let MatchKey { phase, stage, number } = finished.result.key;
    for folder in &finished.data {
        let blob = store_blob(change, &folder.hash.0, &folder.bytes).await?;
        sqlx::query("INSERT INTO data (entrant, phase, stage, number, blob) VALUES ($1, $2, $3, $4, $5)")
            .bind(i64::from(folder.entrant.0))
            .bind(i64::from(phase))
            .bind(i64::from(stage))
            .bind(number as i64)
            .bind(blob)
            .execute(&mut *change)
            .await?;
    }
    Ok(())
}

pub async fn add_version(change: &mut PgConnection, bot: &NewBotVersion) -> Result<u32, AttemptError> {
    let latest: Option<(i64, String, String, i64)> = sqlx::query_as(
        "SELECT version, hash, spec, from_phase FROM bot WHERE entrant = $1 ORDER BY version DESC LIMIT 1",
    )
    .bind(i64::from(bot.entrant.0))
    .fetch_optional(&mut *change)
    .await?;
    let version = match latest {
        Some((version, hash, spec, from_phase)) => {
            let latest = LatestBot {
                version: narrow(version)?,
                hash: unescape(hash),
                spec: unescape(spec),
                from_phase: narrow(from_phase)?,
            };
            if latest.is_same(bot) {
                return Ok(latest.version);
            }
            latest.version + 1
        }
        None => 1,
    };
    phase_transitions::check_new_bot(&state::phase(change, bot.from_phase).await?)?;
    let archive = match &bot.archive {
        Some(bytes) => Some(store_blob(change, &Sha256::digest(bytes).into(), bytes).await?),
        None => None,
    };
    sqlx::query(
        "INSERT INTO bot (entrant, version, hash, spec, git_commit, archive, from_phase, submitted)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(i64::from(bot.entrant.0))
    .bind(i64::from(version))
    .bind(&*escape(&bot.hash))
    .bind(&*escape(&bot.spec))
    .bind(bot.commit.as_deref().map(escape))
    .bind(archive)
    .bind(i64::from(bot.from_phase))
    .bind(bot.at.0)
    .execute(&mut *change)
    .await?;
    if !bot.says.is_empty() {
        sqlx::query(
            "INSERT INTO bot_description (entrant, version, name, contributor) VALUES ($1, $2, $3, $4)",
        )
        .bind(i64::from(bot.entrant.0))
        .bind(i64::from(version))
        .bind(bot.says.name.as_deref().map(escape))
        .bind(bot.says.contributor.as_deref().map(escape))
        .execute(change)
        .await?;
    }
    Ok(version)
}

pub async fn all(connection: &mut PgConnection) -> Result<Vec<BotVersion>, AttemptError> {
    let rows = sqlx::query(
        "SELECT bot.entrant, bot.version, bot.hash, spec, git_commit, blob.hash, from_phase, submitted, says.name, says.contributor
         FROM bot LEFT JOIN blob ON blob.id = bot.archive
         LEFT JOIN bot_description says ON says.entrant = bot.entrant AND says.version = bot.version
         ORDER BY bot.entrant, bot.version",
    )
    .fetch_all(connection)
    .await?;
    rows.iter()
        .map(|row| {
            let archive: Option<&[u8]> = row.try_get(5)?;
            Ok(BotVersion {
                entrant: Entrant(number(row, 0)?),
                version: number(row, 1)?,
                hash: text(row, 2)?,
                spec: text(row, 3)?,
                commit: optional_text(row, 4)?,
                archive: archive.map(digest_from_bytes).transpose()?,
                from_phase: number(row, 6)?,
                at: Timestamp(row.try_get(7)?),
                says: SelfDescription { name: optional_text(row, 8)?, contributor: optional_text(row, 9)? },
            })
        })
        .collect()
}

pub async fn archive(
    connection: &mut PgConnection,
    entrant: Entrant,
    version: u32,
) -> Result<Option<Vec<u8>>, AttemptError> {
    let sql =
        "SELECT blob.bytes FROM bot JOIN blob ON blob.id = bot.archive WHERE entrant = $1 AND version = $2";
    Ok(sqlx::query_scalar(sql)
        .bind(i64::from(entrant.0))
        .bind(i64::from(version))
        .fetch_optional(connection)
        .await?)
}

pub async fn data_folder_before(
    connection: &mut PgConnection,
    entrant: Entrant,
    phase: u32,
    stage: u32,
) -> Result<Option<(MatchKey, DataFolder)>, AttemptError> {
    let row = sqlx::query(
        "SELECT phase, stage, number, hash, bytes FROM data JOIN blob ON blob.id = data.blob
         WHERE entrant = $1 AND (phase, stage) < ($2, $3) ORDER BY phase DESC, stage DESC, number DESC LIMIT 1",
    )
    .bind(i64::from(entrant.0))
    .bind(i64::from(phase))
    .bind(i64::from(stage))
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some((key(&row, 0)?, DataFolder { entrant, hash: digest(&row, 3)?, bytes: row.try_get(4)? })))
}
