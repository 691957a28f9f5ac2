//! Bot versions and `data/` folders.

use agon_core::SelfDescription;
use agon_league::{Entrant, MatchKey};
use sha2::{Digest as _, Sha256};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::{SqliteLedger, db_error, digest, state};
use crate::model::{BotVersion, DataFolder, NewBotVersion, Timestamp};
use crate::phase_transitions::LatestBot;
use crate::{Result, phase_transitions};

/// Id of the blob with these bytes. Each blob is stored once.
pub async fn store_blob(
    connection: &mut SqliteConnection,
    hash: &[u8; 32],
    bytes: &[u8],
) -> Result<i64, sqlx::Error> {
    let known: Option<i64> = sqlx::query_scalar("SELECT id FROM blob WHERE hash = ?")
        .bind(&hash[..])
        .fetch_optional(&mut *connection)
        .await?;
    if let Some(id) = known {
        return Ok(id);
    }
    let done = sqlx::query("INSERT INTO blob (hash, bytes) VALUES (?, ?)")
        .bind(&hash[..])
        .bind(bytes)
        .execute(connection)
        .await?;
    Ok(done.last_insert_rowid())
}

impl SqliteLedger {
    pub(super) async fn write_bot(&self, bot: &NewBotVersion) -> Result<u32> {
        let failed = db_error::in_file(&self.path);
        let archive_hash = bot.archive.as_ref().map(|bytes| <[u8; 32]>::from(Sha256::digest(bytes)));
        let mut writer = self.writer().await?;
        let mut change = writer.begin(true, &self.path).await?;
        let latest: Option<(u32, String, String, u32)> = sqlx::query_as(
            "SELECT version, hash, spec, from_phase FROM bot WHERE entrant = ? ORDER BY version DESC LIMIT 1",
        )
        .bind(bot.entrant.0)
        .fetch_optional(&mut *change)
        .await
        .map_err(&failed)?;
        let latest =
            latest.map(|(version, hash, spec, from_phase)| LatestBot { version, hash, spec, from_phase });
        let version = match latest {
            Some(latest) if latest.is_same(bot) => return Ok(latest.version),
            Some(latest) => latest.version + 1,
            None => 1,
        };
        phase_transitions::check_new_bot(&state::phase(self, &mut change, bot.from_phase).await?)?;
        let archive = match bot.archive.as_deref().zip(archive_hash) {
            Some((bytes, hash)) => Some(store_blob(&mut change, &hash, bytes).await.map_err(&failed)?),
            None => None,
        };
        sqlx::query(
            "INSERT INTO bot (entrant, version, hash, spec, git_commit, archive, from_phase, submitted)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(bot.entrant.0)
        .bind(version)
        .bind(&bot.hash)
        .bind(&bot.spec)
        .bind(bot.commit.as_deref())
        .bind(archive)
        .bind(bot.from_phase)
        .bind(bot.at.0)
        .execute(&mut *change)
        .await
        .map_err(&failed)?;
        if !bot.says.is_empty() {
            sqlx::query(
                "INSERT INTO bot_description (entrant, version, name, contributor) VALUES (?, ?, ?, ?)",
            )
            .bind(bot.entrant.0)
            .bind(version)
            .bind(bot.says.name.as_deref())
            .bind(bot.says.contributor.as_deref())
            .execute(&mut *change)
            .await
            .map_err(&failed)?;
        }
        self.commit(change).await?;
        Ok(version)
    }

    pub(super) async fn read_bots(&self) -> Result<Vec<BotVersion>> {
        sqlx::query(
            "SELECT bot.entrant, bot.version, bot.hash, spec, git_commit, blob.hash, from_phase, submitted, says.name, says.contributor
             FROM bot LEFT JOIN blob ON blob.id = bot.archive
             LEFT JOIN bot_description says ON says.entrant = bot.entrant AND says.version = bot.version
             ORDER BY bot.entrant, bot.version",
        )
        .try_map(|row: SqliteRow| {
            let archive: Option<Vec<u8>> = row.try_get(5)?;
            Ok(BotVersion {
                entrant: Entrant(row.try_get(0)?),
                version: row.try_get(1)?,
                hash: row.try_get(2)?,
                spec: row.try_get(3)?,
                commit: row.try_get(4)?,
                archive: archive.as_deref().map(digest).transpose()?,
                from_phase: row.try_get(6)?,
                at: Timestamp(row.try_get(7)?),
                says: SelfDescription { name: row.try_get(8)?, contributor: row.try_get(9)? },
            })
        })
        .fetch_all(&self.readers)
        .await
        .map_err(db_error::in_file(&self.path))
    }

    pub(super) async fn read_archive(&self, entrant: Entrant, version: u32) -> Result<Option<Vec<u8>>> {
        sqlx::query_scalar(
            "SELECT blob.bytes FROM bot JOIN blob ON blob.id = bot.archive WHERE entrant = ? AND version = ?",
        )
        .bind(entrant.0)
        .bind(version)
        .fetch_optional(&self.readers)
        .await
        .map_err(db_error::in_file(&self.path))
    }

    pub(super) async fn read_data_folder(
        &self,
        entrant: Entrant,
        phase: u32,
        stage: u32,
    ) -> Result<Option<(MatchKey, DataFolder)>> {
        sqlx::query(
            "SELECT phase, stage, number, hash, bytes FROM data JOIN blob ON blob.id = data.blob
             WHERE entrant = ? AND (phase, stage) < (?, ?) ORDER BY phase DESC, stage DESC, number DESC LIMIT 1",
        )
        .bind(entrant.0)
        .bind(phase)
        .bind(stage)
        .try_map(|row: SqliteRow| {
            let number: i64 = row.try_get(2)?;
            let key = MatchKey { phase: row.try_get(0)?, stage: row.try_get(1)?, number: number as u64 };
            let hash = digest(row.try_get(3)?)?;
            Ok((key, DataFolder { entrant, hash, bytes: row.try_get(4)? }))
        })
        .fetch_optional(&self.readers)
        .await
        .map_err(db_error::in_file(&self.path))
    }
}
