//! Pages of matches, records and faults.

use std::fmt::Write as _;

use agon_core::{Fault, FaultReport};
use agon_league::{Entrant, GameResult, MatchKey};
use async_trait::async_trait;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Arguments as _, AssertSqlSafe, Row as _, SqliteConnection};

use super::{SqliteLedger, db_error, digest};
use crate::filter::{FaultFilter, MatchFilter, MatchOrder};
use crate::model::{MatchFault, StoredFault, StoredMatch, StoredRecord, Timestamp};
use crate::pagination::{self, GamesByMatch, MatchRow, PageReader, RecordPage};
use crate::{Result, encoding};

/// First columns of a match query.
const COLUMNS: &str = "m.id, m.phase, m.stage, m.number, m.finished, m.faults, m.points";

#[async_trait]
impl PageReader for SqliteLedger {
    async fn match_page(&self, phase: u32, filter: &MatchFilter, limit: u64) -> Result<Vec<StoredMatch>> {
        let failed = db_error::in_file(&self.path);
        let mut reader = self.readers.acquire().await.map_err(&failed)?;
        let matches = list(&mut reader, phase, filter, limit).await.map_err(&failed)?;
        with_games(&mut reader, matches).await.map_err(&failed)
    }

    async fn record_page(&self, phase: u32, filter: &MatchFilter, limit: u64) -> Result<RecordPage> {
        let failed = db_error::in_file(&self.path);
        let mut reader = self.readers.acquire().await.map_err(&failed)?;
        let matches = list(&mut reader, phase, filter, limit).await.map_err(&failed)?;
        let records = records_of(&mut reader, &matches).await.map_err(&failed)?;
        Ok(RecordPage { records, matches: matches.len(), last: matches.last().map(|one| one.key) })
    }

    async fn fault_page(&self, filter: &FaultFilter, limit: u64) -> Result<Vec<StoredFault>> {
        let failed = db_error::in_file(&self.path);
        let mut reader = self.readers.acquire().await.map_err(&failed)?;
        fault_page(&mut reader, filter, limit).await.map_err(&failed)
    }
}

impl SqliteLedger {
    pub(super) async fn read_record(&self, key: MatchKey, game: u32) -> Result<Option<Vec<u8>>> {
        sqlx::query_scalar(
            "SELECT bytes FROM match JOIN record ON record.match = match.id
             WHERE phase = ? AND stage = ? AND number = ? AND game = ?",
        )
        .bind(key.phase)
        .bind(key.stage)
        .bind(key.number as i64)
        .bind(game)
        .fetch_optional(&self.readers)
        .await
        .map_err(db_error::in_file(&self.path))
    }
}

/// Builds a query from conditions.
struct QueryBuilder {
    text: String,
    arguments: SqliteArguments,
}

impl QueryBuilder {
    /// Adds a condition with its integer values.
    fn and(&mut self, condition: &str, values: &[i64]) -> Result<(), sqlx::Error> {
        let _ = write!(self.text, " AND {condition}");
        values.iter().try_for_each(|value| self.arguments.add(*value).map_err(sqlx::Error::Encode))
    }
}

/// The next matches after `filter.after`.
async fn list(
    connection: &mut SqliteConnection,
    phase: u32,
    filter: &MatchFilter,
    limit: u64,
) -> Result<Vec<MatchRow>, sqlx::Error> {
    let mut query = QueryBuilder {
        text: format!("SELECT {COLUMNS} FROM match m WHERE 1"),
        arguments: SqliteArguments::default(),
    };
    let id_of_key = "(SELECT id FROM match WHERE phase = ? AND stage = ? AND number = ?)";
    let after = filter.after.map(|key| [phase.into(), key.stage.into(), key.number as i64]);
    let order = if filter.order == MatchOrder::Schedule {
        query.and("m.phase = ?", &[phase.into()])?;
        if let Some([_, stage, number]) = after {
            query.and("(m.stage, m.number) > (?, ?)", &[stage, number])?;
        }
        "m.stage, m.number"
    } else {
        // The `+` keeps SQLite from using the other index and sorting.
        query.and("+m.phase = ?", &[phase.into()])?;
        query.and("m.id <= (SELECT last_match FROM phase WHERE phase = ?)", &[phase.into()])?;
        let (sign, order) =
            if filter.order == MatchOrder::NewestFirst { ("<", "m.id DESC") } else { (">", "m.id") };
        if let Some(after) = after {
            query.and(&format!("m.id {sign} {id_of_key}"), &after)?;
        }
        order
    };
    if let Some(entrant) = filter.entrant {
        // A scan: an index would cost more per stored match than all scans together.
        query.and("instr(m.entrants, ' ' || ? || ' ') > 0", &[entrant.0.into()])?;
    }
    if filter.stages != MatchFilter::default().stages {
        query.and("m.stage >= ?", &[filter.stages.start.into()])?;
        query.and("m.stage < ?", &[filter.stages.end.into()])?;
    }
    if filter.faulty {
        query.and("m.faults > 0", &[])?;
    }
    let text = format!("{} ORDER BY {order} LIMIT {limit}", query.text);
    let rows = sqlx::query_with(AssertSqlSafe(text), query.arguments).fetch_all(connection).await?;
    rows.iter().map(match_row).collect()
}

/// Reads a row that starts with [`COLUMNS`].
fn match_row(row: &SqliteRow) -> Result<MatchRow, sqlx::Error> {
    let number: i64 = row.try_get(3)?;
    Ok(MatchRow {
        id: row.try_get(0)?,
        key: MatchKey { phase: row.try_get(1)?, stage: row.try_get(2)?, number: number as u64 },
        finished: Timestamp(row.try_get(4)?),
        faults: row.try_get(5)?,
        points: encoding::decode_points(row.try_get(6)?)
            .ok_or_else(|| sqlx::Error::Decode("invalid points".into()))?,
    })
}

/// Matches of a phase with ids above `above` and up to `up_to`, in the order of appending.
pub async fn list_appended(
    connection: &mut SqliteConnection,
    phase: u32,
    above: i64,
    up_to: i64,
    limit: u64,
) -> Result<Vec<MatchRow>, sqlx::Error> {
    let text = format!(
        "SELECT {COLUMNS} FROM match m WHERE m.id > ? AND m.id <= ? AND +m.phase = ? ORDER BY m.id LIMIT {limit}"
    );
    let query = sqlx::query(AssertSqlSafe(text)).bind(above).bind(up_to).bind(phase);
    query.fetch_all(connection).await?.iter().map(match_row).collect()
}

/// Ledger ids as a JSON list for `json_each`.
fn ids(matches: &[MatchRow]) -> String {
    let list: Vec<String> = matches.iter().map(|one| one.id.to_string()).collect();
    format!("[{}]", list.join(","))
}

/// Adds the games to these matches.
pub async fn with_games(
    connection: &mut SqliteConnection,
    matches: Vec<MatchRow>,
) -> Result<Vec<StoredMatch>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT match, part, seed, turns, ended, lost_by, digest, seats FROM game
         WHERE match IN (SELECT value FROM json_each(?)) ORDER BY match, game",
    )
    .bind(ids(&matches))
    .fetch_all(connection)
    .await?;
    let mut games = GamesByMatch::with_capacity(matches.len());
    for row in rows {
        let seed: i64 = row.try_get(2)?;
        let (results, digests) = games.entry(row.try_get(0)?).or_default();
        results.push(GameResult {
            part: row.try_get(1)?,
            seed: seed as u64,
            turns: row.try_get(3)?,
            ended: row.try_get(4)?,
            match_lost_by: row.try_get(5)?,
            seats: encoding::decode_seats(row.try_get(7)?)
                .ok_or_else(|| sqlx::Error::Decode("invalid seats".into()))?,
        });
        digests.push(digest(row.try_get(6)?)?);
    }
    Ok(pagination::with_games(matches, games))
}

/// Records of these matches, in the same order.
async fn records_of(
    connection: &mut SqliteConnection,
    matches: &[MatchRow],
) -> Result<Vec<StoredRecord>, sqlx::Error> {
    let rows =
        sqlx::query("SELECT match, game, bytes FROM record WHERE match IN (SELECT value FROM json_each(?))")
            .bind(ids(matches))
            .fetch_all(connection)
            .await?;
    let found = rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)));
    Ok(pagination::sort_records(matches, found.collect::<Result<_, sqlx::Error>>()?))
}

async fn fault_page(
    connection: &mut SqliteConnection,
    filter: &FaultFilter,
    limit: u64,
) -> Result<Vec<StoredFault>, sqlx::Error> {
    let text = "SELECT f.id, m.phase, m.stage, m.number, m.finished, f.game, f.turn, f.seat, f.entrant, f.kind, f.says, f.stderr
                FROM fault f JOIN match m ON m.id = f.match WHERE 1";
    let mut query = QueryBuilder { text: text.to_owned(), arguments: SqliteArguments::default() };
    if let Some(before) = filter.before {
        query.and("f.id < ?", &[before as i64])?;
    }
    if let Some(phase) = filter.phase {
        query.and("+m.phase = ?", &[phase.into()])?;
    }
    if let Some(entrant) = filter.entrant {
        query.and("f.entrant = ?", &[entrant.0.into()])?;
    }
    if let Some(fault) = filter.fault {
        query.and(&format!("f.kind = '{}'", fault.name()), &[])?;
    }
    let text = format!("{} ORDER BY f.id DESC LIMIT {limit}", query.text);
    let rows = sqlx::query_with(AssertSqlSafe(text), query.arguments).fetch_all(connection).await?;
    rows.iter().map(stored_fault).collect()
}

fn stored_fault(row: &SqliteRow) -> Result<StoredFault, sqlx::Error> {
    let (id, number): (i64, i64) = (row.try_get(0)?, row.try_get(3)?);
    let kind: &str = row.try_get(9)?;
    let fault = Fault::ALL.into_iter().find(|fault| fault.name() == kind);
    Ok(StoredFault {
        id: id as u64,
        key: MatchKey { phase: row.try_get(1)?, stage: row.try_get(2)?, number: number as u64 },
        finished: Timestamp(row.try_get(4)?),
        fault: MatchFault {
            game: row.try_get(5)?,
            turn: row.try_get(6)?,
            seat: row.try_get(7)?,
            entrant: Entrant(row.try_get(8)?),
            report: FaultReport {
                fault: fault.ok_or_else(|| sqlx::Error::Decode("unknown kind of fault".into()))?,
                message: row.try_get(10)?,
                stderr: row.try_get(11)?,
            },
        },
    })
}
