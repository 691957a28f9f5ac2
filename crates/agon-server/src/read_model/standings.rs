//! A phase's tables: computed from the ledger, kept as the bytes that are sent.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_league::Entrant as Number;
use agon_league::standings::{self, Standings};
use agon_runner::phase_results;
use serde::{Serialize, Serializer};
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::overview::{Entrant, Overview, Ruling};
use super::encoded_json::EncodedJson;
use super::{VisibleCompetition, overview};
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// The tables of a phase.
#[derive(Debug, Serialize, ToSchema)]
pub struct Table {
    /// The competition's name.
    pub competition: String,
    /// The phase's name.
    pub phase: String,
    /// The game.
    pub game: &'static str,
    /// Matches counted.
    pub matches: u64,
    /// Games counted.
    pub games: u64,
    /// Who takes part.
    pub entrants: Vec<Entrant>,
    /// The official tables first.
    pub sheets: Vec<StandingsTableBody>,
    /// Any two who met; empty in fields too large to look at.
    pub head_to_head: Vec<HeadToHead>,
    /// How often each score came.
    pub histogram: Option<Histogram>,
    /// How good they are, by who beat whom.
    pub ratings: Vec<Rating>,
    /// Whose order to a neighbour is not settled.
    pub open: Vec<u32>,
    /// What was decided, in the whole competition.
    pub rulings: Vec<Ruling>,
    /// Rises with every change, as in `table` events.
    pub revision: u64,
}

/// One table.
#[derive(Debug, Serialize, ToSchema)]
pub struct StandingsTableBody {
    /// `score`, `efficiency`, `confidence`.
    pub id: String,
    /// For people.
    pub title: String,
    /// Whether this is what the competition's document calls its table.
    pub official: bool,
    /// From left to right.
    pub columns: Vec<Column>,
    /// From top to bottom.
    pub rows: Vec<SheetRow>,
    /// What is to be said below it.
    pub notes: Vec<String>,
}

/// What stands in a column.
#[derive(Debug, Serialize, ToSchema)]
pub struct Column {
    /// The name of its cells in the rows.
    pub id: String,
    /// For people.
    pub title: String,
    /// Whether it goes to the right.
    pub right: bool,
    /// Whether it holds measured times.
    pub time: bool,
    /// What its cells are.
    pub kind: ColumnKind,
    /// So many digits after the point.
    pub decimals: usize,
    /// `%`, or nothing.
    pub unit: &'static str,
}

/// What cells are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    /// Words.
    Text,
    /// A number.
    Number,
    /// From where to where.
    Interval,
    /// Microseconds.
    Time,
}

/// An entrant's row: beside what is named here a cell for each column, by the column's id.
#[derive(Debug, Serialize, ToSchema)]
pub struct SheetRow {
    /// Whose.
    pub entrant: u32,
    /// What it has won, if that.
    pub medal: Option<Medal>,
    /// By the column's id.
    #[serde(flatten)]
    pub cells: BTreeMap<String, Cell>,
}

/// For the first three.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Medal {
    /// For the first.
    Gold,
    /// For the second.
    Silver,
    /// For the third.
    Bronze,
}

/// What stands in a cell: nothing, words, a number, or from where to where.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number, or nothing.
    Number(#[serde(serialize_with = "plainly")] Option<f64>),
    /// From where to where.
    Interval {
        /// From here.
        low: Option<f64>,
        /// To here.
        high: Option<f64>,
    },
}

/// What came of the games of two.
#[derive(Debug, Serialize, ToSchema)]
pub struct HeadToHead {
    /// Who.
    pub one: u32,
    /// Against whom.
    pub other: u32,
    /// How many games.
    pub games: u64,
    /// Won by the one.
    pub won: u64,
    /// By nobody.
    pub drawn: u64,
    /// By the other.
    pub lost: u64,
    /// Their points, where a match gives some.
    pub points: Option<[f64; 2]>,
    /// Their mean scores.
    pub scores: [f64; 2],
}

/// How often each score came.
#[derive(Debug, Serialize, ToSchema)]
pub struct Histogram {
    /// What the score is called.
    pub score: String,
    /// `%`, or nothing.
    pub unit: String,
    /// Where the first class begins.
    pub from: f64,
    /// How wide each class is.
    pub width: f64,
    /// For each entrant how many in each class.
    pub entrants: Vec<HistogramLine>,
}

/// Of one entrant.
#[derive(Debug, Serialize, ToSchema)]
pub struct HistogramLine {
    /// Whose.
    pub entrant: u32,
    /// How many in each class.
    pub counts: Vec<u64>,
}

/// How good one is, by who beat whom.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Rating {
    /// Whose.
    pub entrant: u32,
    /// On the scale of Elo; null if nothing is known.
    pub rating: Option<f64>,
    /// Its standard error.
    pub error: Option<f64>,
}

/// What an entrant did in a phase.
#[derive(Clone, Copy, Debug)]
pub struct EntrantStats {
    /// Games it sat in.
    pub games: u64,
    /// In the order of [`agon_core::Fault::ALL`].
    pub faults: [u64; 4],
    /// How often it was asked.
    pub answers: u64,
    /// Time charged, all answers together.
    pub thought_ns: u64,
    /// The longest answer.
    pub longest_ns: u64,
}

/// What is known of a phase.
pub struct PhaseStandings {
    /// The table, ready to be sent.
    pub ready: EncodedJson,
    /// The same as it was computed.
    pub standings: Standings,
    /// What each did.
    pub deeds: BTreeMap<u32, EntrantStats>,
}

impl PhaseStandings {
    /// An entrant's place in the official tables, and of how many.
    pub fn place(&self, entrant: u32) -> (Option<u64>, u64) {
        let own = self.standings.sheets.iter().filter(|sheet| sheet.official).find_map(|sheet| {
            let row = sheet.rows.iter().find(|row| row.entrant == Some(Number(entrant)))?;
            Some((rank(sheet, row), sheet.rows.len() as u64))
        });
        own.unwrap_or((None, 0))
    }

    /// The first few of the official table.
    pub fn leaders(&self, most: usize) -> Vec<(u32, u64)> {
        let Some(sheet) = self.standings.sheets.iter().find(|sheet| sheet.official) else {
            return Vec::new();
        };
        let placed = sheet.rows.iter().filter_map(|row| Some((row.entrant?.0, rank(sheet, row)?)));
        placed.take(most).collect()
    }
}

impl VisibleCompetition {
    /// The figures of a phase, from 1.
    pub async fn figures(&self, app: &AppState, number: u32) -> ApiResult<Arc<PhaseStandings>> {
        let (_, _, phase) = self.arena.phase(number)?;
        let revision = self.arena.revision();
        let kept = self
            .arena
            .tables
            .get(phase, revision, self.is_running(), || make(app, self, number, phase, revision))
            .await?;
        if kept.revision != revision {
            self.arena.remind(phase, kept.good_for);
        }
        Ok(kept.value)
    }
}

async fn make(app: &AppState, seen: &VisibleCompetition, number: u32, phase: u32, revision: u64) -> ApiResult<PhaseStandings> {
    let (sitting, ledger, _) = seen.arena.phase(number)?;
    let overview = overview::of(app, &seen.arena, &seen.row).await?.value;
    let work = move |handle: &Handle| {
        let (competition, info) = (&sitting.competition, sitting.table.info());
        let read = async {
            let played = phase_results::played(&*ledger, info, phase).await?;
            let rulings = agon_runner::rulings::Rulings::of(&*ledger).await?;
            let standings =
                phase_results::standings_from(&*ledger, competition, info, phase, &played, &rulings).await?;
            Ok::<_, agon_runner::RunError>((played, standings))
        };
        let (played, standings) = handle.block_on(read).map_err(ApiError::broke)?;
        let deeds = played.tally.entrants().map(|(entrant, sums)| {
            let deeds = EntrantStats {
                games: sums.games,
                faults: sums.faults,
                answers: sums.answers,
                thought_ns: sums.thought_ns,
                longest_ns: sums.longest_ns,
            };
            (entrant.0, deeds)
        });
        let ready = EncodedJson::json(&table(&standings, &overview, phase, revision))?;
        Ok(PhaseStandings { ready, deeds: deeds.collect(), standings })
    };
    app.arenas.work(work).await
}

fn table(standings: &Standings, overview: &Overview, phase: u32, revision: u64) -> Table {
    let meeting = |met: &standings::PairStanding| HeadToHead {
        one: met.one.0,
        other: met.other.0,
        games: met.games.into(),
        won: met.won.into(),
        drawn: met.drawn.into(),
        lost: met.lost.into(),
        points: met.points.map(|(one, other)| [short(one), short(other)]),
        scores: [short(met.scores.0), short(met.scores.1)],
    };
    let histogram = standings.histogram.as_ref().map(|all| Histogram {
        score: all.score.to_string(),
        unit: all.unit.to_string(),
        from: short(all.from),
        width: short(all.width),
        entrants: all
            .counts
            .iter()
            .map(|(entrant, counts)| HistogramLine { entrant: entrant.0, counts: counts.clone() })
            .collect(),
    });
    let mut entrants: Vec<Entrant> = overview.takers.iter().map(|one| one.shown.clone()).collect();
    entrants.retain(|one| one.entrant.is_some());
    Table {
        competition: standings.competition.clone(),
        phase: overview.phases.get(phase as usize).map_or_else(String::new, |phase| phase.name.clone()),
        game: standings.game,
        matches: standings.matches,
        games: standings.games,
        entrants,
        // Rulings are listed apart, with whom they are about.
        sheets: standings.sheets.iter().filter(|one| one.id != "rulings").map(sheet).collect(),
        head_to_head: standings.head_to_head.iter().map(meeting).collect(),
        histogram,
        ratings: standings.ratings.iter().map(rating).collect(),
        open: standings.open.iter().map(|one| one.0).collect(),
        rulings: overview.rulings.clone(),
        revision,
    }
}

/// As it is sent.
pub fn rating(one: &agon_league::rating::Rating) -> Rating {
    let known = |x: f64| x.is_finite().then(|| short(x));
    Rating { entrant: one.entrant.0, rating: known(one.rating), error: known(one.error) }
}

fn sheet(sheet: &standings::StandingsTable) -> StandingsTableBody {
    let column = |(at, column): (usize, &standings::Column)| {
        let (kind, decimals, unit) = kind(sheet, at);
        Column {
            id: column.id.clone(),
            title: column.title.clone(),
            right: column.right,
            time: column.time,
            kind,
            decimals,
            unit,
        }
    };
    let row = |row: &standings::Row| {
        // A row's medal is a field of its own.
        let cells = sheet.columns.iter().zip(&row.cells).filter(|(column, _)| column.id != "medal");
        Some(SheetRow {
            entrant: row.entrant?.0,
            medal: medal(sheet, row),
            cells: cells.map(|(column, own)| (column.id.clone(), cell(own))).collect(),
        })
    };
    StandingsTableBody {
        id: sheet.id.clone(),
        title: sheet.title.clone(),
        official: sheet.official,
        columns: sheet.columns.iter().enumerate().map(column).collect(),
        rows: sheet.rows.iter().filter_map(row).collect(),
        notes: sheet.notes.clone(),
    }
}

/// By the first cell of the column that has something in it.
fn kind(sheet: &standings::StandingsTable, at: usize) -> (ColumnKind, usize, &'static str) {
    let cells = sheet.rows.iter().filter_map(|row| row.cells.get(at));
    let known = cells.filter_map(|cell| match cell {
        standings::Cell::Empty => None,
        standings::Cell::Text(_) => Some((ColumnKind::Text, 0, "")),
        standings::Cell::Int(_) => Some((ColumnKind::Number, 0, "")),
        standings::Cell::Real(_, decimals, unit) => Some((ColumnKind::Number, *decimals, *unit)),
        standings::Cell::Interval(_, _, decimals) => Some((ColumnKind::Interval, *decimals, "")),
        standings::Cell::Time(_) => Some((ColumnKind::Time, 1, "")),
    });
    let right = sheet.columns.get(at).is_some_and(|column| column.right);
    known.into_iter().next().unwrap_or((if right { ColumnKind::Number } else { ColumnKind::Text }, 0, ""))
}

fn cell(cell: &standings::Cell) -> Cell {
    let number = |x: f64| x.is_finite().then(|| short(x));
    match cell {
        standings::Cell::Empty => Cell::Number(None),
        standings::Cell::Text(text) => Cell::Text(text.clone()),
        standings::Cell::Int(n) => Cell::Number(Some(*n as f64)),
        standings::Cell::Real(x, ..) => Cell::Number(number(*x)),
        standings::Cell::Interval(low, high, _) => Cell::Interval { low: number(*low), high: number(*high) },
        standings::Cell::Time(ns) => Cell::Number(number(ns / 1000.0)),
    }
}

/// Whole numbers without `.0`.
#[allow(clippy::trivially_copy_pass_by_ref, clippy::ref_option, reason = "serde hands it over so")]
fn plainly<S: Serializer>(number: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    match number {
        None => to.serialize_none(),
        Some(x) if x.fract() == 0.0 && x.abs() < 1e15 => to.serialize_i64(*x as i64),
        Some(x) => to.serialize_f64(*x),
    }
}

fn rank(sheet: &standings::StandingsTable, row: &standings::Row) -> Option<u64> {
    let at = sheet.columns.iter().position(|column| matches!(&*column.id, "rank" | "place"))?;
    match row.cells.get(at)? {
        standings::Cell::Int(rank) => u64::try_from(*rank).ok(),
        _ => None,
    }
}

fn medal(sheet: &standings::StandingsTable, row: &standings::Row) -> Option<Medal> {
    if !sheet.official || sheet.time {
        return None;
    }
    match rank(sheet, row)? {
        1 => Some(Medal::Gold),
        2 => Some(Medal::Silver),
        3 => Some(Medal::Bronze),
        _ => None,
    }
}

/// Six digits after the point: more is noise, and looks like knowledge.
fn short(x: f64) -> f64 {
    let rounded = (x * 1e6).round() / 1e6;
    // No minus before nothing.
    if rounded == 0.0 { 0.0 } else { rounded }
}
