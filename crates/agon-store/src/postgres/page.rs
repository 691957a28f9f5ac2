//! Pages of matches, records and faults.

use std::fmt::Write as _;

use agon_core::{Fault, FaultReport};
use agon_league::{Entrant, GameResult, MatchKey};
use async_trait::async_trait;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::{Arguments as _, AssertSqlSafe, PgConnection, Row as _};

use super::PostgresLedger;
use super::connection_pool::{QUERY_TIMEOUT, run_read};
use super::db_error::{AttemptError, damaged};
use super::text::{digest, key, number, optional_number, text};
use crate::filter::{FaultFilter, MatchFilter, MatchOrder};
use crate::model::{MatchFault, StoredFault, StoredMatch, Timestamp};
use crate::pagination::{self, GamesByMatch, MatchRow, PageReader, RecordPage};
use crate::{Result, encoding};

/// First columns of a match query.
const COLUMNS: &str = "m.phase, m.stage, m.number, m.id, m.finished, m.faults, m.points";

#[async_trait]
impl PageReader for PostgresLedger {
    async fn match_page(&self, phase: u32, filter: &MatchFilter, limit: u64) -> Result<Vec<StoredMatch>> {
        run_read!(self, QUERY_TIMEOUT, |connection| async {
            let matches = list(connection, phase, filter, limit).await?;
            with_games(connection, matches).await
        })
    }

    async fn record_page(&self, phase: u32, filter: &MatchFilter, limit: u64) -> Result<RecordPage> {
        run_read!(self, QUERY_TIMEOUT, |connection| async {
            let matches = list(connection, phase, filter, limit).await?;
            records_of(connection, &matches).await
        })
    }

    async fn fault_page(&self, filter: &FaultFilter, limit: u64) -> Result<Vec<StoredFault>> {
        run_read!(self, QUERY_TIMEOUT, |connection| faults(connection, filter, limit))
    }
}

pub async fn record(
    connection: &mut PgConnection,
    key: MatchKey,
    game: u32,
) -> Result<Option<Vec<u8>>, AttemptError> {
    let sql = "SELECT bytes FROM match JOIN record ON record.match = match.id
               WHERE phase = $1 AND stage = $2 AND number = $3 AND game = $4";
    Ok(sqlx::query_scalar(sql)
        .bind(i64::from(key.phase))
        .bind(i64::from(key.stage))
        .bind(key.number as i64)
        .bind(i64::from(game))
        .fetch_optional(connection)
        .await?)
}

/// Builds a query from conditions.
struct QueryBuilder {
    text: String,
    arguments: PgArguments,
}

impl QueryBuilder {
    fn new(text: String) -> Self {
        Self { text, arguments: PgArguments::default() }
    }

    /// Adds a condition with one integer value for each `?`.
    fn and(&mut self, condition: &str, values: &[i64]) -> Result<(), sqlx::Error> {
        self.text.push_str(" AND ");
        let mut values = values.iter();
        for letter in condition.chars() {
            if letter != '?' {
                self.text.push(letter);
                continue;
            }
            self.arguments.add(values.next().copied().unwrap_or_default()).map_err(sqlx::Error::Encode)?;
            let _ = write!(self.text, "${}", self.arguments.len());
        }
        Ok(())
    }
}

/// The next matches after `filter.after`.
async fn list(
    connection: &mut PgConnection,
    phase: u32,
    filter: &MatchFilter,
    limit: u64,
) -> Result<Vec<MatchRow>, AttemptError> {
    let mut query = QueryBuilder::new(format!("SELECT {COLUMNS} FROM match m WHERE true"));
    let id_of_key = "(SELECT id FROM match WHERE phase = ? AND stage = ? AND number = ?)";
    let after = filter.after.map(|key| [phase.into(), key.stage.into(), key.number as i64]);
    let order = if filter.order == MatchOrder::Schedule {
        query.and("m.phase = ?", &[phase.into()])?;
        if let Some([_, stage, number]) = after {
            query.and("(m.stage, m.number) > (?, ?)", &[stage, number])?;
        }
        "m.stage, m.number"
    } else {
        // `+ 0` keeps the server from using the other index and sorting.
        query.and("m.phase + 0 = ?", &[phase.into()])?;
        query.and("m.id <= (SELECT last_match FROM phase WHERE phase = ?)", &[phase.into()])?;
        let (sign, order) =
            if filter.order == MatchOrder::NewestFirst { ("<", "m.id DESC") } else { (">", "m.id") };
        if let Some(after) = after {
            query.and(&format!("m.id {sign} {id_of_key}"), &after)?;
        }
        order
    };
    if let Some(entrant) = filter.entrant {
        query.and("strpos(m.entrants, ' ' || ?::bigint || ' ') > 0", &[entrant.0.into()])?;
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
fn match_row(row: &PgRow) -> Result<MatchRow, AttemptError> {
    Ok(MatchRow {
        key: key(row, 0)?,
        id: row.try_get(3)?,
        finished: Timestamp(row.try_get(4)?),
        faults: number(row, 5)?,
        points: encoding::decode_points(row.try_get(6)?).ok_or_else(|| damaged("invalid points"))?,
    })
}

/// Matches of a phase with ids above `above` and up to `up_to`, in the order of appending.
pub async fn list_appended(
    connection: &mut PgConnection,
    phase: u32,
    above: i64,
    up_to: i64,
    limit: u64,
) -> Result<Vec<MatchRow>, AttemptError> {
    let text = format!(
        "SELECT {COLUMNS} FROM match m WHERE m.id > $1 AND m.id <= $2 AND m.phase + 0 = $3 ORDER BY m.id LIMIT {limit}"
    );
    let query = sqlx::query(AssertSqlSafe(text)).bind(above).bind(up_to).bind(i64::from(phase));
    query.fetch_all(connection).await?.iter().map(match_row).collect()
}

fn ids(matches: &[MatchRow]) -> Vec<i64> {
    matches.iter().map(|one| one.id).collect()
}

/// Adds the games to these matches.
pub async fn with_games(
    connection: &mut PgConnection,
    matches: Vec<MatchRow>,
) -> Result<Vec<StoredMatch>, AttemptError> {
    let rows = sqlx::query(
        "SELECT match, part, seed, turns, ended, lost_by, digest, seats FROM game WHERE match = ANY($1) ORDER BY match, game",
    )
    .bind(ids(&matches))
    .fetch_all(connection)
    .await?;
    let mut games = GamesByMatch::with_capacity(matches.len());
    for row in &rows {
        let seed: i64 = row.try_get(2)?;
        let (results, digests) = games.entry(row.try_get(0)?).or_default();
        results.push(GameResult {
            part: number(row, 1)?,
            seed: seed as u64,
            turns: number(row, 3)?,
            ended: text(row, 4)?,
            match_lost_by: optional_number(row, 5)?,
            seats: encoding::decode_seats(row.try_get(7)?).ok_or_else(|| damaged("invalid seats"))?,
        });
        digests.push(digest(row, 6)?);
    }
    Ok(pagination::with_games(matches, games))
}

/// Records of these matches, in the same order.
async fn records_of(connection: &mut PgConnection, matches: &[MatchRow]) -> Result<RecordPage, AttemptError> {
    let rows = sqlx::query("SELECT match, game, bytes FROM record WHERE match = ANY($1)")
        .bind(ids(matches))
        .fetch_all(connection)
        .await?;
    let found = rows.iter().map(|row| Ok((row.try_get(0)?, number(row, 1)?, row.try_get(2)?)));
    let records = pagination::sort_records(matches, found.collect::<Result<_, sqlx::Error>>()?);
    Ok(RecordPage { records, matches: matches.len(), last: matches.last().map(|one| one.key) })
}

async fn faults(
    connection: &mut PgConnection,
    filter: &FaultFilter,
    limit: u64,
) -> Result<Vec<StoredFault>, AttemptError> {
    let text = "SELECT m.phase, m.stage, m.number, f.id, m.finished, f.game, f.turn, f.seat, f.entrant, f.kind, f.says, f.stderr
                FROM fault f JOIN match m ON m.id = f.match WHERE true";
    let mut query = QueryBuilder::new(text.to_owned());
    if let Some(before) = filter.before {
        query.and("f.id < ?", &[before as i64])?;
    }
    if let Some(phase) = filter.phase {
        query.and("m.phase + 0 = ?", &[phase.into()])?;
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

fn stored_fault(row: &PgRow) -> Result<StoredFault, AttemptError> {
    let kind: &str = row.try_get(9)?;
    let fault = Fault::ALL.into_iter().find(|fault| fault.name() == kind);
    Ok(StoredFault {
        id: number(row, 3)?,
        key: key(row, 0)?,
        finished: Timestamp(row.try_get(4)?),
        fault: MatchFault {
            game: number(row, 5)?,
            turn: number(row, 6)?,
            seat: number(row, 7)?,
            entrant: Entrant(number(row, 8)?),
            report: FaultReport {
                fault: fault.ok_or_else(|| damaged("unknown kind of fault"))?,
                message: text(row, 10)?,
                stderr: text(row, 11)?,
            },
        },
    })
}
