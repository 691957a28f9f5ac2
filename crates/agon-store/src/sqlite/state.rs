//! Competition data and the state of phases.

use agon_core::record::Digest;
use sqlx::{Row as _, Sqlite, SqliteConnection, Transaction};

use super::{SqliteLedger, db_error, digest, rulings};
use crate::model::{
    ConfigVersion, Counts, LedgerInfo, NewLedger, PhaseState, PhaseStatus, SecretSeed, Timestamp,
};
use crate::{Result, StoreError, phase_transitions, ruling};

/// Writes the initial rows of a ledger.
pub async fn write_initial_rows(
    connection: &mut SqliteConnection,
    new_ledger: &NewLedger,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO competition (id, name, game, rules, engine, commitment) VALUES (1, ?, ?, ?, ?, ?)",
    )
    .bind(&new_ledger.name)
    .bind(&new_ledger.game)
    .bind(new_ledger.rules)
    .bind(&new_ledger.engine)
    .bind(&new_ledger.secret.commitment().0[..])
    .execute(&mut *connection)
    .await?;
    sqlx::query("INSERT INTO secret (id, seed) VALUES (1, ?)")
        .bind(new_ledger.secret.expose())
        .execute(&mut *connection)
        .await?;
    insert_config_version(connection, &new_ledger.config).await?;
    for phase in 0..new_ledger.phases {
        sqlx::query("INSERT INTO phase (phase) VALUES (?)").bind(phase).execute(&mut *connection).await?;
    }
    Ok(())
}

async fn insert_config_version(
    connection: &mut SqliteConnection,
    config: &ConfigVersion,
) -> Result<(), sqlx::Error> {
    sqlx::query("INSERT INTO edition (at, file, normal) VALUES (?, ?, ?)")
        .bind(config.at.0)
        .bind(&config.text)
        .bind(&config.normalised)
        .execute(connection)
        .await?;
    Ok(())
}

/// The phase with this number, or an error.
pub async fn phase(
    ledger: &SqliteLedger,
    connection: &mut SqliteConnection,
    phase: u32,
) -> Result<PhaseStatus> {
    phase_transitions::find_phase(phases(ledger, connection).await?, phase)
}

async fn phases(ledger: &SqliteLedger, connection: &mut SqliteConnection) -> Result<Vec<PhaseStatus>> {
    let rows =
        sqlx::query("SELECT phase, state, final, started, published, closed, started_under, published_under FROM phase ORDER BY phase")
            .fetch_all(connection)
            .await
            .map_err(db_error::in_file(&ledger.path))?;
    rows.iter()
        .map(|row| {
            let state: &str = row.try_get(1)?;
            let state = PhaseState::ALL.into_iter().find(|known| known.name() == state);
            let table_hash: Option<Vec<u8>> = row.try_get(2)?;
            let numbers = |text| {
                ruling::parse_ids(text).ok_or_else(|| sqlx::Error::Decode("invalid list of rulings".into()))
            };
            let time = |column: usize| row.try_get::<Option<i64>, _>(column).map(|time| time.map(Timestamp));
            Ok(PhaseStatus {
                phase: row.try_get(0)?,
                state: state.ok_or_else(|| sqlx::Error::Decode("unknown phase state".into()))?,
                table_hash: table_hash.as_deref().map(digest).transpose()?,
                started: time(3)?,
                published: time(4)?,
                closed: time(5)?,
                rulings_at_start: numbers(row.try_get(6)?)?,
                rulings_at_publication: numbers(row.try_get(7)?)?,
            })
        })
        .collect::<Result<_, sqlx::Error>>()
        .map_err(db_error::in_file(&ledger.path))
}

impl SqliteLedger {
    pub(super) async fn read_competition(&self) -> Result<LedgerInfo> {
        let failed = db_error::in_file(&self.path);
        let mut reader = self.readers.begin().await.map_err(&failed)?;
        let config_versions = sqlx::query("SELECT at, file, normal FROM edition ORDER BY edition")
            .try_map(|row: sqlx::sqlite::SqliteRow| {
                Ok(ConfigVersion {
                    at: Timestamp(row.try_get(0)?),
                    text: row.try_get(1)?,
                    normalised: row.try_get(2)?,
                })
            })
            .fetch_all(&mut *reader)
            .await
            .map_err(&failed)?;
        let row = sqlx::query(
            "SELECT name, game, rules, engine, commitment, revealed, iif(revealed IS NULL, NULL, (SELECT seed FROM secret))
             FROM competition",
        )
        .fetch_one(&mut *reader)
        .await
        .map_err(&failed)?;
        let read = || -> Result<LedgerInfo, sqlx::Error> {
            let (at, seed): (Option<i64>, Option<String>) = (row.try_get(5)?, row.try_get(6)?);
            Ok(LedgerInfo {
                name: row.try_get(0)?,
                game: row.try_get(1)?,
                rules: row.try_get(2)?,
                engine: row.try_get(3)?,
                config_versions,
                commitment: digest(row.try_get(4)?)?,
                revealed: seed.zip(at).map(|(seed, at)| (SecretSeed::new(seed), Timestamp(at))),
            })
        };
        read().map_err(&failed)
    }

    pub(super) async fn read_secret(&self) -> Result<SecretSeed> {
        let seed: String = sqlx::query_scalar("SELECT seed FROM secret")
            .fetch_one(&self.readers)
            .await
            .map_err(db_error::in_file(&self.path))?;
        Ok(SecretSeed::new(seed))
    }

    pub(super) async fn write_reveal(&self, at: Timestamp) -> Result<()> {
        let mut writer = self.writer().await?;
        let mut change = writer.begin(true, &self.path).await?;
        sqlx::query("UPDATE competition SET revealed = ? WHERE revealed IS NULL")
            .bind(at.0)
            .execute(&mut *change)
            .await
            .map_err(db_error::in_file(&self.path))?;
        self.commit(change).await
    }

    pub(super) async fn write_config_version(&self, config: &ConfigVersion) -> Result<()> {
        let failed = db_error::in_file(&self.path);
        let mut writer = self.writer().await?;
        let mut change = writer.begin(true, &self.path).await?;
        let (file, normal): (String, String) =
            sqlx::query_as("SELECT file, normal FROM edition ORDER BY edition DESC LIMIT 1")
                .fetch_one(&mut *change)
                .await
                .map_err(&failed)?;
        if (&file, &normal) != (&config.text, &config.normalised) {
            insert_config_version(&mut change, config).await.map_err(&failed)?;
        }
        self.commit(change).await
    }

    pub(super) async fn read_phases(&self) -> Result<Vec<PhaseStatus>> {
        let mut reader = self.readers.acquire().await.map_err(db_error::in_file(&self.path))?;
        phases(self, &mut reader).await
    }

    pub(super) async fn write_start(&self, number: u32, at: Timestamp) -> Result<()> {
        let mut writer = self.writer().await?;
        let mut change = writer.begin(true, &self.path).await?;
        let status = phase(self, &mut change, number).await?;
        if !phase_transitions::check_start(&status)? {
            return Ok(());
        }
        let rulings = rulings::ids_in_force(self, &mut change).await?;
        let sql = "UPDATE phase SET state = 'running', started = ?, started_under = ? WHERE phase = ?";
        sqlx::query(sql)
            .bind(at.0)
            .bind(ruling::format_ids(&rulings))
            .bind(number)
            .execute(&mut *change)
            .await
            .map_err(db_error::in_file(&self.path))?;
        self.commit(change).await
    }

    pub(super) async fn write_publish(
        &self,
        number: u32,
        table_hash: Digest,
        rulings: &[u64],
        at: Timestamp,
    ) -> Result<()> {
        let mut writer = self.writer().await?;
        let mut change = writer.begin(true, &self.path).await?;
        let status = phase(self, &mut change, number).await?;
        if !phase_transitions::check_publish(&status, table_hash)? {
            return Ok(());
        }
        if rulings::ids_in_force(self, &mut change).await? != rulings {
            return Err(StoreError::RulingsChanged { phase: number });
        }
        let sql = "UPDATE phase SET state = 'published', published = ?, final = ?, published_under = ? WHERE phase = ?";
        sqlx::query(sql)
            .bind(at.0)
            .bind(&table_hash.0[..])
            .bind(ruling::format_ids(rulings))
            .bind(number)
            .execute(&mut *change)
            .await
            .map_err(db_error::in_file(&self.path))?;
        self.commit(change).await
    }

    pub(super) async fn write_close(&self, number: u32, at: Timestamp) -> Result<()> {
        let mut writer = self.writer().await?;
        let mut change = writer.begin(true, &self.path).await?;
        let status = phase(self, &mut change, number).await?;
        if !phase_transitions::check_close(&status)? {
            return Ok(());
        }
        let sql = "UPDATE phase SET state = 'closed', closed = ? WHERE phase = ?";
        sqlx::query(sql)
            .bind(at.0)
            .bind(number)
            .execute(&mut *change)
            .await
            .map_err(db_error::in_file(&self.path))?;
        self.commit(change).await
    }

    pub(super) async fn read_counts(&self, number: u32) -> Result<Counts> {
        let failed = db_error::in_file(&self.path);
        let mut reader = self.readers.acquire().await.map_err(&failed)?;
        let sums: Option<(i64, i64, i64)> =
            sqlx::query_as("SELECT matches, games, faults FROM phase WHERE phase = ?")
                .bind(number)
                .fetch_optional(&mut *reader)
                .await
                .map_err(&failed)?;
        let Some((matches, games, faults)) = sums else {
            // Produces the error that says how many phases exist.
            phase(self, &mut reader, number).await?;
            return Ok(Counts::default());
        };
        Ok(Counts { matches: matches as u64, games: games as u64, faults: faults as u64 })
    }

    /// Commits a transaction. Fails if it was committed to a file that is not at its path any more.
    pub(super) async fn commit(&self, change: Transaction<'_, Sqlite>) -> Result<()> {
        change.commit().await.map_err(db_error::in_file(&self.path))?;
        self.identity.check_with_log()
    }
}
