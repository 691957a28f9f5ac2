//! Making, lifting and listing rulings.

use agon_league::{Entrant, MatchKey};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::{SqliteLedger, db_error};
use crate::Result;
use crate::model::Timestamp;
use crate::ruling::{self, NewRuling, Ruling, RulingKind, RulingLift, validate};

/// Highest ledger id of a match. Matches with higher ids end later.
const LAST_MATCH: &str = "(SELECT coalesce(max(id), 0) FROM match)";

impl SqliteLedger {
    pub(super) async fn write_ruling(&self, new: &NewRuling) -> Result<u64> {
        validate(&new.reason, &new.by)?;
        let failed = db_error::in_file(&self.path);
        let mut writer = self.writer().await?;
        let mut change = writer.begin(true, &self.path).await?;
        let (kind, id, entrant) = match new.kind {
            RulingKind::Void(key) => ("void", Some(self.match_id(&mut change, key).await?), None),
            RulingKind::Disqualify(entrant) => {
                self.check_entrant_exists(&mut change, entrant).await?;
                ("disqualify", None, Some(entrant.0))
            }
        };
        let known: Option<i64> =
            sqlx::query_scalar("SELECT id FROM ruling WHERE lifted IS NULL AND (match = ? OR entrant = ?)")
                .bind(id)
                .bind(entrant)
                .fetch_optional(&mut *change)
                .await
                .map_err(&failed)?;
        if let Some(known) = known {
            return Err(ruling::already_ruled(new.kind, known as u64));
        }
        let text = format!(
            "INSERT INTO ruling (kind, match, entrant, reason, who, at, last_match) VALUES (?, ?, ?, ?, ?, ?, {LAST_MATCH})"
        );
        let done = sqlx::query(sqlx::AssertSqlSafe(text))
            .bind(kind)
            .bind(id)
            .bind(entrant)
            .bind(&new.reason)
            .bind(&new.by)
            .bind(new.at.0)
            .execute(&mut *change)
            .await
            .map_err(&failed)?;
        self.commit(change).await?;
        Ok(done.last_insert_rowid() as u64)
    }

    /// Ledger id of a stored match.
    async fn match_id(&self, change: &mut SqliteConnection, key: MatchKey) -> Result<i64> {
        let id = sqlx::query_scalar("SELECT id FROM match WHERE phase = ? AND stage = ? AND number = ?")
            .bind(key.phase)
            .bind(key.stage)
            .bind(key.number as i64)
            .fetch_optional(change)
            .await
            .map_err(db_error::in_file(&self.path))?;
        id.ok_or_else(|| ruling::match_not_played(key))
    }

    /// Checks that the entrant exists: it has at least one bot version.
    async fn check_entrant_exists(&self, change: &mut SqliteConnection, entrant: Entrant) -> Result<()> {
        let versions: i64 = sqlx::query_scalar("SELECT count(*) FROM bot WHERE entrant = ?")
            .bind(entrant.0)
            .fetch_one(change)
            .await
            .map_err(db_error::in_file(&self.path))?;
        if versions == 0 { Err(ruling::no_such_entrant(entrant)) } else { Ok(()) }
    }

    pub(super) async fn write_lift(&self, id: u64, lifted: &RulingLift) -> Result<()> {
        validate(&lifted.reason, &lifted.by)?;
        let failed = db_error::in_file(&self.path);
        let mut writer = self.writer().await?;
        let mut change = writer.begin(true, &self.path).await?;
        let before: Option<Option<i64>> = sqlx::query_scalar("SELECT lifted FROM ruling WHERE id = ?")
            .bind(id as i64)
            .fetch_optional(&mut *change)
            .await
            .map_err(&failed)?;
        match before {
            None => return Err(ruling::no_such_ruling(id)),
            Some(Some(_)) => return Err(ruling::already_lifted(id)),
            Some(None) => {}
        }
        let text = format!(
            "UPDATE ruling SET lifted = ?, lifted_by = ?, lifted_for = ?, lifted_last_match = {LAST_MATCH} WHERE id = ?"
        );
        sqlx::query(sqlx::AssertSqlSafe(text))
            .bind(lifted.at.0)
            .bind(&lifted.by)
            .bind(&lifted.reason)
            .bind(id as i64)
            .execute(&mut *change)
            .await
            .map_err(&failed)?;
        self.commit(change).await
    }

    pub(super) async fn read_rulings(&self) -> Result<Vec<Ruling>> {
        sqlx::query(
            "SELECT r.id, r.entrant, m.phase, m.stage, m.number, r.reason, r.who, r.at, r.lifted, r.lifted_by, r.lifted_for
             FROM ruling r LEFT JOIN match m ON m.id = r.match ORDER BY r.id",
        )
        .try_map(|row: SqliteRow| {
            let (id, entrant): (i64, Option<u32>) = (row.try_get(0)?, row.try_get(1)?);
            let kind = match entrant {
                Some(entrant) => RulingKind::Disqualify(Entrant(entrant)),
                None => RulingKind::Void(key(&row, 2)?),
            };
            let lifted = match row.try_get::<Option<i64>, _>(8)? {
                Some(at) => Some(RulingLift { at: Timestamp(at), by: row.try_get(9)?, reason: row.try_get(10)? }),
                None => None,
            };
            let (reason, by, at) = (row.try_get(5)?, row.try_get(6)?, Timestamp(row.try_get(7)?));
            Ok(Ruling { id: id as u64, kind, reason, by, at, lifted })
        })
        .fetch_all(&self.readers)
        .await
        .map_err(db_error::in_file(&self.path))
    }

    pub(super) async fn read_forfeits(&self, phase: u32) -> Result<Vec<(MatchKey, Entrant)>> {
        sqlx::query(
            "SELECT m.phase, m.stage, m.number, r.entrant FROM ruling r JOIN match m
             ON m.id > r.last_match AND m.id <= coalesce(r.lifted_last_match, m.id)
             WHERE r.entrant IS NOT NULL AND m.phase = ? AND instr(m.entrants, ' ' || r.entrant || ' ') > 0
             ORDER BY m.stage, m.number, r.entrant",
        )
        .bind(phase)
        .try_map(|row: SqliteRow| Ok((key(&row, 0)?, Entrant(row.try_get(3)?))))
        .fetch_all(&self.readers)
        .await
        .map_err(db_error::in_file(&self.path))
    }
}

/// Match key from three columns: phase, stage and number.
fn key(row: &SqliteRow, from: usize) -> Result<MatchKey, sqlx::Error> {
    let number: i64 = row.try_get(from + 2)?;
    Ok(MatchKey { phase: row.try_get(from)?, stage: row.try_get(from + 1)?, number: number as u64 })
}

/// Ids of the rulings in force.
pub async fn ids_in_force(ledger: &SqliteLedger, connection: &mut SqliteConnection) -> Result<Vec<u64>> {
    let all: Vec<i64> = sqlx::query_scalar("SELECT id FROM ruling WHERE lifted IS NULL ORDER BY id")
        .fetch_all(connection)
        .await
        .map_err(db_error::in_file(&ledger.path))?;
    Ok(all.into_iter().map(|id| id as u64).collect())
}
