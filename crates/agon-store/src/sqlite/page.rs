//! Matches, records and faults, a page at a time: between two pages no transaction is open, so that a slow reader holds
//! nobody up.

use std::collections::HashMap;
use std::fmt::Write as _;

use agon_core::record::Digest;
use agon_core::{Fault, FaultReport};
use agon_league::{Entrant, Fixed, GameResult, MatchKey, MatchResult};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Arguments as _, AssertSqlSafe, Row as _, SqliteConnection};

use super::{SqliteLedger, digest, trouble};
use crate::filter::{FaultFilter, MatchFilter, Order};
use crate::kept::{KeptFault, KeptMatch, KeptRecord, MatchFault, Time};
use crate::ledger::Rows;
use crate::{Result, StoreError, packing};

/// Matches or faults of a page.
const PAGE: u64 = 256;
/// Matches of a page of records, which may be large.
const RECORDS_PAGE: u64 = 16;

/// What a match's row starts with.
const COLUMNS: &str = "m.id, m.phase, m.stage, m.number, m.finished, m.faults, m.points";

/// A match's row, still without its games.
pub struct Listed {
    pub id: i64,
    pub key: MatchKey,
    finished: Time,
    faults: u32,
    points: Vec<Fixed>,
}

impl SqliteLedger {
    pub(super) async fn read_match(&self, key: MatchKey) -> Result<Option<KeptMatch>> {
        let MatchKey { phase, stage, number } = key;
        // The page with this match alone.
        let after = number.checked_sub(1).map(|before| MatchKey { phase, stage, number: before });
        let filter = MatchFilter { stages: stage..stage.saturating_add(1), after, ..MatchFilter::default() };
        let page = self.match_page(phase, &filter, 1).await?;
        Ok(page.into_iter().find(|kept| kept.result.key == key))
    }

    pub(super) fn stream_matches(&self, phase: u32, filter: MatchFilter) -> Rows<'_, KeptMatch> {
        let pages = stream::try_unfold((filter, false), move |(mut filter, over)| async move {
            let most = filter.limit.unwrap_or(PAGE).min(PAGE);
            if over || most == 0 {
                return Ok::<_, StoreError>(None);
            }
            let page = self.match_page(phase, &filter, most).await?;
            let over = go_on(&mut filter, page.len(), most, page.last().map(|kept| kept.result.key));
            Ok(Some((page, (filter, over))))
        });
        pages.map_ok(|page| stream::iter(page.into_iter().map(Ok))).try_flatten().boxed()
    }

    pub(super) fn stream_records(&self, phase: u32, filter: MatchFilter) -> Rows<'_, KeptRecord> {
        let pages = stream::try_unfold((filter, false), move |(mut filter, over)| async move {
            let most = filter.limit.unwrap_or(RECORDS_PAGE).min(RECORDS_PAGE);
            if over || most == 0 {
                return Ok::<_, StoreError>(None);
            }
            let failed = trouble::at(&self.path);
            let mut reader = self.readers.acquire().await.map_err(&failed)?;
            let listed = list(&mut reader, phase, &filter, most).await.map_err(&failed)?;
            let page = records_of(&mut reader, &listed).await.map_err(&failed)?;
            let over = go_on(&mut filter, listed.len(), most, listed.last().map(|one| one.key));
            Ok(Some((page, (filter, over))))
        });
        pages.map_ok(|page| stream::iter(page.into_iter().map(Ok))).try_flatten().boxed()
    }

    pub(super) fn stream_faults(&self, filter: FaultFilter) -> Rows<'_, KeptFault> {
        let pages = stream::try_unfold((filter, false), move |(mut filter, over)| async move {
            let most = filter.limit.unwrap_or(PAGE).min(PAGE);
            if over || most == 0 {
                return Ok::<_, StoreError>(None);
            }
            let failed = trouble::at(&self.path);
            let mut reader = self.readers.acquire().await.map_err(&failed)?;
            let page = fault_page(&mut reader, &filter, most).await.map_err(&failed)?;
            let over = (page.len() as u64) < most;
            filter.limit = filter.limit.map(|limit| limit - page.len() as u64);
            filter.before = page.last().map(|fault| fault.id);
            Ok(Some((page, (filter, over))))
        });
        pages.map_ok(|page| stream::iter(page.into_iter().map(Ok))).try_flatten().boxed()
    }

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
        .map_err(trouble::at(&self.path))
    }

    async fn match_page(&self, phase: u32, filter: &MatchFilter, most: u64) -> Result<Vec<KeptMatch>> {
        let failed = trouble::at(&self.path);
        let mut reader = self.readers.acquire().await.map_err(&failed)?;
        let listed = list(&mut reader, phase, filter, most).await.map_err(&failed)?;
        with_games(&mut reader, listed).await.map_err(&failed)
    }
}

/// Moves the filter behind a page; whether that was the last one.
fn go_on(filter: &mut MatchFilter, found: usize, most: u64, last: Option<MatchKey>) -> bool {
    let found = found as u64;
    filter.limit = filter.limit.map(|limit| limit - found);
    filter.after = last.or(filter.after);
    found < most
}

/// A query that grows with what is asked for.
struct Question {
    text: String,
    arguments: SqliteArguments,
}

impl Question {
    /// Adds a condition and its values, all of them whole numbers.
    fn and(&mut self, condition: &str, values: &[i64]) -> Result<(), sqlx::Error> {
        let _ = write!(self.text, " AND {condition}");
        values.iter().try_for_each(|value| self.arguments.add(*value).map_err(sqlx::Error::Encode))
    }
}

/// The next rows behind `filter.after`.
async fn list(
    connection: &mut SqliteConnection,
    phase: u32,
    filter: &MatchFilter,
    most: u64,
) -> Result<Vec<Listed>, sqlx::Error> {
    let mut question = Question {
        text: format!("SELECT {COLUMNS} FROM match m WHERE 1"),
        arguments: SqliteArguments::default(),
    };
    let of_key = "(SELECT id FROM match WHERE phase = ? AND stage = ? AND number = ?)";
    let after = filter.after.map(|key| [phase.into(), key.stage.into(), key.number as i64]);
    let order = if filter.order == Order::Schedule {
        question.and("m.phase = ?", &[phase.into()])?;
        if let Some([_, stage, number]) = after {
            question.and("(m.stage, m.number) > (?, ?)", &[stage, number])?;
        }
        "m.stage, m.number"
    } else {
        // The sign keeps SQLite from choosing the other index and sorting.
        question.and("+m.phase = ?", &[phase.into()])?;
        question.and("m.id <= (SELECT last_match FROM phase WHERE phase = ?)", &[phase.into()])?;
        let (sign, order) = if filter.order == Order::Newest { ("<", "m.id DESC") } else { (">", "m.id") };
        if let Some(after) = after {
            question.and(&format!("m.id {sign} {of_key}"), &after)?;
        }
        order
    };
    if let Some(entrant) = filter.entrant {
        // Walked, not looked up: an index would cost more for each match kept than all walks together.
        question.and("instr(m.entrants, ' ' || ? || ' ') > 0", &[entrant.0.into()])?;
    }
    if filter.stages != MatchFilter::default().stages {
        question.and("m.stage >= ?", &[filter.stages.start.into()])?;
        question.and("m.stage < ?", &[filter.stages.end.into()])?;
    }
    if filter.faulty {
        question.and("m.faults > 0", &[])?;
    }
    let text = format!("{} ORDER BY {order} LIMIT {most}", question.text);
    let rows = sqlx::query_with(AssertSqlSafe(text), question.arguments).fetch_all(connection).await?;
    rows.iter().map(listed).collect()
}

/// A row that starts with [`COLUMNS`].
fn listed(row: &SqliteRow) -> Result<Listed, sqlx::Error> {
    let number: i64 = row.try_get(3)?;
    Ok(Listed {
        id: row.try_get(0)?,
        key: MatchKey { phase: row.try_get(1)?, stage: row.try_get(2)?, number: number as u64 },
        finished: Time(row.try_get(4)?),
        faults: row.try_get(5)?,
        points: packing::read_points(row.try_get(6)?)
            .ok_or_else(|| sqlx::Error::Decode("points that were not packed here".into()))?,
    })
}

/// The phase's matches above one number and up to another, in the order they were appended.
pub async fn list_appended(
    connection: &mut SqliteConnection,
    phase: u32,
    above: i64,
    up_to: i64,
    most: u64,
) -> Result<Vec<Listed>, sqlx::Error> {
    let text = format!(
        "SELECT {COLUMNS} FROM match m WHERE m.id > ? AND m.id <= ? AND +m.phase = ? ORDER BY m.id LIMIT {most}"
    );
    let query = sqlx::query(AssertSqlSafe(text)).bind(above).bind(up_to).bind(phase);
    query.fetch_all(connection).await?.iter().map(listed).collect()
}

/// The numbers in the ledger, as SQLite's `json_each` takes a list.
fn ids(listed: &[Listed]) -> String {
    let list: Vec<String> = listed.iter().map(|one| one.id.to_string()).collect();
    format!("[{}]", list.join(","))
}

/// Adds the games to these matches.
pub async fn with_games(
    connection: &mut SqliteConnection,
    listed: Vec<Listed>,
) -> Result<Vec<KeptMatch>, sqlx::Error> {
    let rows = sqlx::query(
        "SELECT match, part, seed, turns, ended, lost_by, digest, seats FROM game
         WHERE match IN (SELECT value FROM json_each(?)) ORDER BY match, game",
    )
    .bind(ids(&listed))
    .fetch_all(connection)
    .await?;
    let mut games: HashMap<i64, (Vec<GameResult>, Vec<Digest>)> = HashMap::with_capacity(listed.len());
    for row in rows {
        let seed: i64 = row.try_get(2)?;
        let (results, digests) = games.entry(row.try_get(0)?).or_default();
        results.push(GameResult {
            part: row.try_get(1)?,
            seed: seed as u64,
            turns: row.try_get(3)?,
            ended: row.try_get(4)?,
            match_lost_by: row.try_get(5)?,
            seats: packing::read_seats(row.try_get(7)?)
                .ok_or_else(|| sqlx::Error::Decode("seats that were not packed here".into()))?,
        });
        digests.push(digest(row.try_get(6)?)?);
    }
    let whole = listed.into_iter().map(|Listed { id, key, finished, faults, points }| {
        let (results, digests) = games.remove(&id).unwrap_or_default();
        KeptMatch { result: MatchResult { key, games: results, points }, games: digests, faults, finished }
    });
    Ok(whole.collect())
}

/// The records of these matches, in their order.
async fn records_of(
    connection: &mut SqliteConnection,
    listed: &[Listed],
) -> Result<Vec<KeptRecord>, sqlx::Error> {
    let rows =
        sqlx::query("SELECT match, game, bytes FROM record WHERE match IN (SELECT value FROM json_each(?))")
            .bind(ids(listed))
            .fetch_all(connection)
            .await?;
    let places: HashMap<i64, usize> = listed.iter().enumerate().map(|(place, one)| (one.id, place)).collect();
    let mut records = Vec::with_capacity(rows.len());
    for row in rows {
        let place = places.get(&row.try_get(0)?).copied().unwrap_or_default();
        let game: u32 = row.try_get(1)?;
        records.push((place, KeptRecord { key: listed[place].key, game, bytes: row.try_get(2)? }));
    }
    records.sort_unstable_by_key(|(place, record)| (*place, record.game));
    Ok(records.into_iter().map(|(_, record)| record).collect())
}

async fn fault_page(
    connection: &mut SqliteConnection,
    filter: &FaultFilter,
    most: u64,
) -> Result<Vec<KeptFault>, sqlx::Error> {
    let text = "SELECT f.id, m.phase, m.stage, m.number, m.finished, f.game, f.turn, f.seat, f.entrant, f.kind, f.says, f.stderr
                FROM fault f JOIN match m ON m.id = f.match WHERE 1";
    let mut question = Question { text: text.to_owned(), arguments: SqliteArguments::default() };
    if let Some(before) = filter.before {
        question.and("f.id < ?", &[before as i64])?;
    }
    if let Some(phase) = filter.phase {
        question.and("+m.phase = ?", &[phase.into()])?;
    }
    if let Some(entrant) = filter.entrant {
        question.and("f.entrant = ?", &[entrant.0.into()])?;
    }
    if let Some(fault) = filter.fault {
        question.and(&format!("f.kind = '{}'", fault.name()), &[])?;
    }
    let text = format!("{} ORDER BY f.id DESC LIMIT {most}", question.text);
    let rows = sqlx::query_with(AssertSqlSafe(text), question.arguments).fetch_all(connection).await?;
    rows.iter().map(kept_fault).collect()
}

fn kept_fault(row: &SqliteRow) -> Result<KeptFault, sqlx::Error> {
    let (id, number): (i64, i64) = (row.try_get(0)?, row.try_get(3)?);
    let kind: &str = row.try_get(9)?;
    let fault = Fault::ALL.into_iter().find(|fault| fault.name() == kind);
    Ok(KeptFault {
        id: id as u64,
        key: MatchKey { phase: row.try_get(1)?, stage: row.try_get(2)?, number: number as u64 },
        finished: Time(row.try_get(4)?),
        fault: MatchFault {
            game: row.try_get(5)?,
            turn: row.try_get(6)?,
            seat: row.try_get(7)?,
            entrant: Entrant(row.try_get(8)?),
            report: FaultReport {
                fault: fault.ok_or_else(|| sqlx::Error::Decode("an unknown kind of fault".into()))?,
                says: row.try_get(10)?,
                stderr: row.try_get(11)?,
            },
        },
    })
}
