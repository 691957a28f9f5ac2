//! The competition itself and how far its phases are.

use agon_core::record::Digest;
use sqlx::{PgConnection, Row as _};

use super::rulings;
use super::text::{digest, kept, maybe_number, number, read, text, to_digest};
use super::db_error::{AttemptError, damaged};
use crate::model::{LedgerInfo, Counts, ConfigVersion, NewLedger, PhaseState, PhaseStatus, SecretSeed, Timestamp};
use crate::{StoreError, ruling, phase_transitions};

/// Writes what a new ledger starts with.
pub async fn found(change: &mut PgConnection, founding: &NewLedger) -> Result<(), AttemptError> {
    sqlx::query(
        "INSERT INTO competition (id, name, game, rules, engine, commitment) VALUES (1, $1, $2, $3, $4, $5)",
    )
    .bind(&*kept(&founding.name))
    .bind(&*kept(&founding.game))
    .bind(i64::from(founding.rules))
    .bind(&*kept(&founding.engine))
    .bind(&founding.secret.commitment().0[..])
    .execute(&mut *change)
    .await?;
    sqlx::query("INSERT INTO secret (id, seed) VALUES (1, $1)")
        .bind(&*kept(founding.secret.expose()))
        .execute(&mut *change)
        .await?;
    add_edition(change, &founding.edition).await?;
    sqlx::query("INSERT INTO phase (phase) SELECT generate_series(0, $1 - 1)")
        .bind(i64::from(founding.phases))
        .execute(change)
        .await?;
    Ok(())
}

async fn add_edition(change: &mut PgConnection, edition: &ConfigVersion) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO edition (edition, at, file, normal) SELECT coalesce(max(edition), 0) + 1, $1, $2, $3 FROM edition",
    )
    .bind(edition.at.0)
    .bind(&*kept(&edition.file))
    .bind(&*kept(&edition.normal))
    .execute(change)
    .await?;
    Ok(())
}

/// A phase, or that there is none of that number.
pub async fn phase(connection: &mut PgConnection, phase: u32) -> Result<PhaseStatus, AttemptError> {
    Ok(phase_transitions::of_number(phases(connection).await?, phase)?)
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
            let table: Option<&[u8]> = row.try_get(2)?;
            let time = |column: usize| maybe_number(row, column).map(|time| time.map(Timestamp));
            let numbers = |column: usize| {
                ruling::read_numbers(row.try_get(column)?)
                    .ok_or_else(|| damaged("a list of rulings that is none"))
            };
            Ok(PhaseStatus {
                phase: number(row, 0)?,
                state: state.ok_or_else(|| damaged("an unknown state of a phase"))?,
                table: table.map(to_digest).transpose()?,
                started: time(3)?,
                published: time(4)?,
                closed: time(5)?,
                started_under: numbers(6)?,
                published_under: numbers(7)?,
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
    let editions = rows
        .iter()
        .map(|row| Ok(ConfigVersion { at: Timestamp(row.try_get(0)?), file: text(row, 1)?, normal: text(row, 2)? }))
        .collect::<Result<_, sqlx::Error>>()?;
    // Only asked for when it may be shown: a reader needs no right to it before.
    let revealed = match row.try_get::<Option<i64>, _>(5)? {
        Some(at) => Some((secret(connection).await?, Timestamp(at))),
        None => None,
    };
    Ok(LedgerInfo {
        name: text(&row, 0)?,
        game: text(&row, 1)?,
        rules: number(&row, 2)?,
        engine: text(&row, 3)?,
        editions,
        commitment: digest(&row, 4)?,
        revealed,
    })
}

pub async fn secret(connection: &mut PgConnection) -> Result<SecretSeed, AttemptError> {
    let seed: String = sqlx::query_scalar("SELECT seed FROM secret").fetch_one(connection).await?;
    Ok(SecretSeed::new(read(seed)))
}

pub async fn reveal(change: &mut PgConnection, at: Timestamp) -> Result<(), AttemptError> {
    let sql = "UPDATE competition SET revealed = $1 WHERE revealed IS NULL";
    sqlx::query(sql).bind(at.0).execute(change).await?;
    Ok(())
}

pub async fn amend(change: &mut PgConnection, edition: &ConfigVersion) -> Result<(), AttemptError> {
    let (file, normal): (String, String) =
        sqlx::query_as("SELECT file, normal FROM edition ORDER BY edition DESC LIMIT 1")
            .fetch_one(&mut *change)
            .await?;
    if (read(file), read(normal)) != (edition.file.clone(), edition.normal.clone()) {
        add_edition(change, edition).await?;
    }
    Ok(())
}

pub async fn start(change: &mut PgConnection, number: u32, at: Timestamp) -> Result<(), AttemptError> {
    if !phase_transitions::start(&phase(change, number).await?)? {
        return Ok(());
    }
    let under = rulings::in_force(change).await?;
    sqlx::query("UPDATE phase SET state = 'running', started = $1, started_under = $2 WHERE phase = $3")
        .bind(at.0)
        .bind(ruling::numbers(&under))
        .bind(i64::from(number))
        .execute(change)
        .await?;
    Ok(())
}

pub async fn publish(
    change: &mut PgConnection,
    number: u32,
    table: Digest,
    under: &[u64],
    at: Timestamp,
) -> Result<(), AttemptError> {
    if !phase_transitions::publish(&phase(change, number).await?, table)? {
        return Ok(());
    }
    if rulings::in_force(change).await? != under {
        return Err(StoreError::Ruled { phase: number }.into());
    }
    sqlx::query(
        "UPDATE phase SET state = 'published', published = $1, final = $2, published_under = $3 WHERE phase = $4",
    )
    .bind(at.0)
    .bind(&table.0[..])
    .bind(ruling::numbers(under))
    .bind(i64::from(number))
    .execute(change)
    .await?;
    Ok(())
}

pub async fn close(change: &mut PgConnection, number: u32, at: Timestamp) -> Result<(), AttemptError> {
    if !phase_transitions::close(&phase(change, number).await?)? {
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
        // Says how many there are.
        phase(connection, number).await?;
        return Ok(Counts::default());
    };
    Ok(Counts { matches: matches as u64, games: games as u64, faults: faults as u64 })
}
