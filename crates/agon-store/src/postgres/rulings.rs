//! Making, lifting and listing rulings.

use agon_league::{Entrant, MatchKey};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row as _};

use super::db_error::AttemptError;
use super::text::{escape, key, number, optional_number, text};
use crate::model::Timestamp;
use crate::ruling::{self, NewRuling, Ruling, RulingKind, RulingLift};

/// Makes a ruling. With `is_retry`, an earlier attempt may have stored it without an acknowledgement.
pub async fn add(change: &mut PgConnection, ruling: &NewRuling, is_retry: bool) -> Result<u64, AttemptError> {
    let (kind, id, entrant) = match ruling.kind {
        RulingKind::Void(key) => ("void", Some(match_id(change, key).await?), None),
        RulingKind::Disqualify(entrant) => {
            check_entrant_exists(change, entrant).await?;
            ("disqualify", None, Some(i64::from(entrant.0)))
        }
    };
    let known: Option<i64> =
        sqlx::query_scalar("SELECT id FROM ruling WHERE lifted IS NULL AND (match = $1 OR entrant = $2)")
            .bind(id)
            .bind(entrant)
            .fetch_optional(&mut *change)
            .await?;
    if let Some(known) = known {
        if is_retry && is_same_ruling(change, known, ruling).await? {
            return Ok(known as u64);
        }
        return Err(ruling::already_ruled(ruling.kind, known as u64).into());
    }
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO ruling (id, kind, match, entrant, reason, who, at, last_match)
         SELECT coalesce(max(id), 0) + 1, $1, $2, $3, $4, $5, $6, (SELECT coalesce(max(id), 0) FROM match) FROM ruling RETURNING id",
    )
    .bind(kind)
    .bind(id)
    .bind(entrant)
    .bind(&*escape(&ruling.reason))
    .bind(&*escape(&ruling.by))
    .bind(ruling.at.0)
    .fetch_one(change)
    .await?;
    Ok(id as u64)
}

async fn is_same_ruling(
    change: &mut PgConnection,
    id: i64,
    ruling: &NewRuling,
) -> Result<bool, AttemptError> {
    let all = all(change).await?;
    let NewRuling { kind, reason, by, at } = ruling;
    Ok(all.iter().any(|one| {
        one.id == id as u64 && (one.kind, &one.reason, &one.by, one.at) == (*kind, reason, by, *at)
    }))
}

/// Ledger id of a stored match.
async fn match_id(change: &mut PgConnection, key: MatchKey) -> Result<i64, AttemptError> {
    let id: Option<i64> =
        sqlx::query_scalar("SELECT id FROM match WHERE phase = $1 AND stage = $2 AND number = $3")
            .bind(i64::from(key.phase))
            .bind(i64::from(key.stage))
            .bind(key.number as i64)
            .fetch_optional(change)
            .await?;
    Ok(id.ok_or_else(|| ruling::match_not_played(key))?)
}

/// Checks that the entrant exists: it has at least one bot version.
async fn check_entrant_exists(change: &mut PgConnection, entrant: Entrant) -> Result<(), AttemptError> {
    let versions: i64 = sqlx::query_scalar("SELECT count(*) FROM bot WHERE entrant = $1")
        .bind(i64::from(entrant.0))
        .fetch_one(change)
        .await?;
    if versions == 0 { Err(ruling::no_such_entrant(entrant).into()) } else { Ok(()) }
}

/// Lifts a ruling. With `is_retry`, an earlier attempt may have lifted it without an acknowledgement.
pub async fn lift(
    change: &mut PgConnection,
    id: u64,
    lifted: &RulingLift,
    is_retry: bool,
) -> Result<(), AttemptError> {
    let before = all(change).await?.into_iter().find(|one| one.id == id);
    match before {
        None => return Err(ruling::no_such_ruling(id).into()),
        Some(Ruling { lifted: Some(known), .. }) if is_retry && known == *lifted => return Ok(()),
        Some(Ruling { lifted: Some(_), .. }) => return Err(ruling::already_lifted(id).into()),
        Some(_) => {}
    }
    sqlx::query(
        "UPDATE ruling SET lifted = $1, lifted_by = $2, lifted_for = $3, lifted_last_match = (SELECT coalesce(max(id), 0) FROM match)
         WHERE id = $4",
    )
    .bind(lifted.at.0)
    .bind(&*escape(&lifted.by))
    .bind(&*escape(&lifted.reason))
    .bind(id as i64)
    .execute(change)
    .await?;
    Ok(())
}

pub async fn all(connection: &mut PgConnection) -> Result<Vec<Ruling>, AttemptError> {
    let rows = sqlx::query(
        "SELECT r.id, r.entrant, m.phase, m.stage, m.number, r.reason, r.who, r.at, r.lifted, r.lifted_by, r.lifted_for
         FROM ruling r LEFT JOIN match m ON m.id = r.match ORDER BY r.id",
    )
    .fetch_all(connection)
    .await?;
    rows.iter().map(read_ruling).collect()
}

fn read_ruling(row: &PgRow) -> Result<Ruling, AttemptError> {
    let kind = match optional_number(row, 1)? {
        Some(entrant) => RulingKind::Disqualify(Entrant(entrant)),
        None => RulingKind::Void(key(row, 2)?),
    };
    let lifted = match row.try_get::<Option<i64>, _>(8)? {
        Some(at) => Some(RulingLift { at: Timestamp(at), by: text(row, 9)?, reason: text(row, 10)? }),
        None => None,
    };
    let (reason, by, at) = (text(row, 5)?, text(row, 6)?, Timestamp(row.try_get(7)?));
    Ok(Ruling { id: number(row, 0)?, kind, reason, by, at, lifted })
}

pub async fn forfeits(
    connection: &mut PgConnection,
    phase: u32,
) -> Result<Vec<(MatchKey, Entrant)>, AttemptError> {
    let rows = sqlx::query(
        "SELECT m.phase, m.stage, m.number, r.entrant FROM ruling r JOIN match m
         ON m.id > r.last_match AND m.id <= coalesce(r.lifted_last_match, m.id)
         WHERE r.entrant IS NOT NULL AND m.phase = $1 AND strpos(m.entrants, ' ' || r.entrant || ' ') > 0
         ORDER BY m.stage, m.number, r.entrant",
    )
    .bind(i64::from(phase))
    .fetch_all(connection)
    .await?;
    rows.iter().map(|row| Ok((key(row, 0)?, Entrant(number(row, 3)?)))).collect()
}

/// Ids of the rulings in force.
pub async fn ids_in_force(connection: &mut PgConnection) -> Result<Vec<u64>, AttemptError> {
    let all: Vec<i64> = sqlx::query_scalar("SELECT id FROM ruling WHERE lifted IS NULL ORDER BY id")
        .fetch_all(connection)
        .await?;
    Ok(all.into_iter().map(|id| id as u64).collect())
}
