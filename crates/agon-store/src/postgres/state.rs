//! Competition data and the state of phases.

use agon_core::record::Digest;
use sqlx::{PgConnection, Row as _};

use super::db_error::{AttemptError, damaged};
use super::rulings;
use super::text::{digest, digest_from_bytes, escape, number, optional_number, text, unescape};
use crate::model::{
    ConfigVersion, Counts, LedgerInfo, NewLedger, PhaseState, PhaseStatus, SecretSeed, Timestamp,
};
use crate::{StoreError, phase_transitions, ruling};

/// Writes the initial rows of a ledger.
pub async fn write_initial_rows(
    change: &mut PgConnection,
    new_ledger: &NewLedger,
) -> Result<(), AttemptError> {
    sqlx::query(
        "INSERT INTO competition (id, name, game, rules, engine, commitment) VALUES (1, $1, $2, $3, $4, $5)",
    )
    .bind(&*escape(&new_ledger.name))
    .bind(&*escape(&new_ledger.game))
    .bind(i64::from(new_ledger.rules))
    .bind(&*escape(&new_ledger.engine))
    .bind(&new_ledger.secret.commitment().0[..])
    .execute(&mut *change)
    .await?;
    sqlx::query("INSERT INTO secret (id, seed) VALUES (1, $1)")
        .bind(&*escape(new_ledger.secret.expose()))
        .execute(&mut *change)
        .await?;
    insert_config_version(change, &new_ledger.config).await?;
    sqlx::query("INSERT INTO phase (phase) SELECT generate_series(0, $1 - 1)")
        .bind(i64::from(new_ledger.phases))
        .execute(change)
        .await?;
    Ok(())
}

async fn insert_config_version(change: &mut PgConnection, config: &ConfigVersion) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO edition (edition, at, file, normal) SELECT coalesce(max(edition), 0) + 1, $1, $2, $3 FROM edition",
    )
    .bind(config.at.0)
    .bind(&*escape(&config.text))
    .bind(&*escape(&config.normalised))
    .execute(change)
    .await?;
    Ok(())
}

/// The phase with this number, or an error.
pub async fn phase(connection: &mut PgConnection, phase: u32) -> Result<PhaseStatus, AttemptError> {
    Ok(phase_transitions::find_phase(phases(connection).await?, phase)?)
}

pub async fn phases(connection: &mut PgConnection) -> Result<Vec<PhaseStatus>, AttemptError> {
    let rows = sqlx::query(
        "SELECT phase, state, final, started, published, closed, started_under, published_under FROM phase ORDER BY phase",
    )
    .fetch_all(connection)
    .await?;
    rows.iter()
        .map(|row| {
            let state: &str = row.try_get(1)?;
            let state = PhaseState::ALL.into_iter().find(|known| known.name() == state);
            let table_hash: Option<&[u8]> = row.try_get(2)?;
            let time = |column: usize| optional_number(row, column).map(|time| time.map(Timestamp));
            let numbers = |column: usize| {
                ruling::parse_ids(row.try_get(column)?).ok_or_else(|| damaged("invalid list of rulings"))
            };
            Ok(PhaseStatus {
                phase: number(row, 0)?,
                state: state.ok_or_else(|| damaged("unknown phase state"))?,
                table_hash: table_hash.map(digest_from_bytes).transpose()?,
                started: time(3)?,
                published: time(4)?,
                closed: time(5)?,
                rulings_at_start: numbers(6)?,
                rulings_at_publication: numbers(7)?,
            })
        })
        .collect()
}

pub async fn competition(connection: &mut PgConnection) -> Result<LedgerInfo, AttemptError> {
    let row = sqlx::query("SELECT name, game, rules, engine, commitment, revealed FROM competition")
        .fetch_one(&mut *connection)
        .await?;
    let rows = sqlx::query("SELECT at, file, normal FROM edition ORDER BY edition")
        .fetch_all(&mut *connection)
        .await?;
    let config_versions = rows
        .iter()
        .map(|row| {
            Ok(ConfigVersion {
                at: Timestamp(row.try_get(0)?),
                text: text(row, 1)?,
                normalised: text(row, 2)?,
            })
        })
        .collect::<Result<_, sqlx::Error>>()?;
    // Read only after the reveal, so that readers need no permission on `secret` before.
    let revealed = match row.try_get::<Option<i64>, _>(5)? {
        Some(at) => Some((secret(connection).await?, Timestamp(at))),
        None => None,
    };
    Ok(LedgerInfo {
        name: text(&row, 0)?,
        game: text(&row, 1)?,
        rules: number(&row, 2)?,
        engine: text(&row, 3)?,
        config_versions,
        commitment: digest(&row, 4)?,
        revealed,
    })
}

pub async fn secret(connection: &mut PgConnection) -> Result<SecretSeed, AttemptError> {
    let seed: String = sqlx::query_scalar("SELECT seed FROM secret").fetch_one(connection).await?;
    Ok(SecretSeed::new(unescape(seed)))
}

pub async fn reveal(change: &mut PgConnection, at: Timestamp) -> Result<(), AttemptError> {
    let sql = "UPDATE competition SET revealed = $1 WHERE revealed IS NULL";
    sqlx::query(sql).bind(at.0).execute(change).await?;
    Ok(())
}

pub async fn add_config_version(
    change: &mut PgConnection,
    config: &ConfigVersion,
) -> Result<(), AttemptError> {
    let (file, normal): (String, String) =
        sqlx::query_as("SELECT file, normal FROM edition ORDER BY edition DESC LIMIT 1")
            .fetch_one(&mut *change)
            .await?;
    if (unescape(file), unescape(normal)) != (config.text.clone(), config.normalised.clone()) {
        insert_config_version(change, config).await?;
    }
    Ok(())
}

pub async fn start(change: &mut PgConnection, number: u32, at: Timestamp) -> Result<(), AttemptError> {
    if !phase_transitions::check_start(&phase(change, number).await?)? {
        return Ok(());
    }
    let rulings = rulings::ids_in_force(change).await?;
    sqlx::query("UPDATE phase SET state = 'running', started = $1, started_under = $2 WHERE phase = $3")
        .bind(at.0)
        .bind(ruling::format_ids(&rulings))
        .bind(i64::from(number))
        .execute(change)
        .await?;
    Ok(())
}

pub async fn publish(
    change: &mut PgConnection,
    number: u32,
    table_hash: Digest,
    rulings: &[u64],
    at: Timestamp,
) -> Result<(), AttemptError> {
    if !phase_transitions::check_publish(&phase(change, number).await?, table_hash)? {
        return Ok(());
    }
    if rulings::ids_in_force(change).await? != rulings {
        return Err(StoreError::RulingsChanged { phase: number }.into());
    }
    sqlx::query(
        "UPDATE phase SET state = 'published', published = $1, final = $2, published_under = $3 WHERE phase = $4",
    )
    .bind(at.0)
    .bind(&table_hash.0[..])
    .bind(ruling::format_ids(rulings))
    .bind(i64::from(number))
    .execute(change)
    .await?;
    Ok(())
}

pub async fn close(change: &mut PgConnection, number: u32, at: Timestamp) -> Result<(), AttemptError> {
    if !phase_transitions::check_close(&phase(change, number).await?)? {
        return Ok(());
    }
    sqlx::query("UPDATE phase SET state = 'closed', closed = $1 WHERE phase = $2")
        .bind(at.0)
        .bind(i64::from(number))
        .execute(change)
        .await?;
    Ok(())
}

pub async fn counts(connection: &mut PgConnection, number: u32) -> Result<Counts, AttemptError> {
    let sums: Option<(i64, i64, i64)> =
        sqlx::query_as("SELECT matches, games, faults FROM phase WHERE phase = $1")
            .bind(i64::from(number))
            .fetch_optional(&mut *connection)
            .await?;
    let Some((matches, games, faults)) = sums else {
        // Produces the error that says how many phases exist.
        phase(connection, number).await?;
        return Ok(Counts::default());
    };
    Ok(Counts { matches: matches as u64, games: games as u64, faults: faults as u64 })
}
