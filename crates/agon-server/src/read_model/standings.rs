//! Standings of a phase: computed from the ledger and cached as serialised JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agon_league::Entrant as Number;
use agon_league::standings::{self, Standings};
use agon_report::data::ThinkTimes;
use agon_report::scale::{self, HistogramScale};
use agon_runner::phase_results;
use agon_store::PhaseState;
use serde::{Serialize, Serializer};
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::chart_scales::{AxisScaleBody, HistogramScaleBody, PhaseScales};
use super::encoded_json::EncodedJson;
use super::overview::{Entrant, Overview, Ruling};
use super::{VisibleCompetition, overview};
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// The tables of a phase.
#[derive(Debug, Serialize, ToSchema)]
pub struct PhaseTableBody {
    /// The competition's name.
    pub competition: String,
    /// The phase's name.
    pub phase: String,
    /// The game's id.
    pub game: &'static str,
    /// Matches counted.
    pub matches: u64,
    /// Games counted.
    pub games: u64,
    /// Entrants of the phase.
    pub entrants: Vec<Entrant>,
    /// The tables, official ones first.
    #[serde(rename = "sheets")]
    pub tables: Vec<StandingsTableBody>,
    /// Results of each pair that met; empty if the field is too large.
    pub head_to_head: Vec<HeadToHead>,
    /// Distribution of the scores.
    pub histogram: Option<Histogram>,
    /// Ratings computed from pairwise results.
    pub ratings: Vec<Rating>,
    /// Scales of the charts.
    pub scales: PhaseScales,
    /// Entrants whose order relative to a neighbour is not settled.
    pub open: Vec<u32>,
    /// Entrants of a running phase that have not played yet. They are the last rows of the tables, without figures.
    pub without_games: Vec<u32>,
    /// Rulings of the whole competition.
    pub rulings: Vec<Ruling>,
    /// Increases with every change, as in `table` events.
    pub revision: u64,
    /// Since when the standings are frozen, if this is the state of that moment.
    pub frozen: Option<i64>,
}

/// One table.
#[derive(Debug, Serialize, ToSchema)]
pub struct StandingsTableBody {
    /// `score`, `efficiency` or `confidence`.
    pub id: String,
    /// Title of the table.
    pub title: String,
    /// Whether it is the table that the competition's rules define.
    pub official: bool,
    /// Columns from left to right.
    pub columns: Vec<Column>,
    /// Rows from top to bottom.
    pub rows: Vec<StandingsRowBody>,
    /// Notes shown below the table.
    pub notes: Vec<String>,
    /// Scale of the drawn intervals or of the shades of head-to-head cells; null if the table has neither.
    pub scale: Option<AxisScaleBody>,
}

/// A column of a table.
#[derive(Debug, Serialize, ToSchema)]
pub struct Column {
    /// Key of its cells in the rows.
    pub id: String,
    /// Title of the column.
    pub title: String,
    /// Whether it is right-aligned.
    pub right: bool,
    /// Whether it holds measured times.
    pub time: bool,
    /// Kind of its cells.
    pub kind: ColumnKind,
    /// Number of decimal places.
    pub decimals: usize,
    /// `%` or empty.
    pub unit: &'static str,
}

/// Kind of the cells of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    /// Text.
    Text,
    /// A number.
    Number,
    /// An interval.
    Interval,
    /// Microseconds.
    Time,
}

/// A row: besides the named fields, one cell per column under the column's id.
#[derive(Debug, Serialize, ToSchema)]
pub struct StandingsRowBody {
    /// The entrant.
    pub entrant: u32,
    /// The entrant's medal, if any. Null until the table is published.
    pub medal: Option<Medal>,
    /// Cells by column id.
    #[serde(flatten)]
    pub cells: BTreeMap<String, Cell>,
}

/// Medal of the first three.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Medal {
    /// First place.
    Gold,
    /// Second place.
    Silver,
    /// Third place.
    Bronze,
}

/// Content of a cell.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A number, or empty.
    Number(#[serde(serialize_with = "serialize_number")] Option<f64>),
    /// An interval.
    Interval {
        /// Lower bound.
        low: Option<f64>,
        /// Upper bound.
        high: Option<f64>,
    },
}

/// Results of two entrants against each other.
#[derive(Debug, Serialize, ToSchema)]
pub struct HeadToHead {
    /// The first entrant.
    pub one: u32,
    /// The second entrant.
    pub other: u32,
    /// Number of games.
    pub games: u64,
    /// Games won by the first.
    pub won: u64,
    /// Games drawn.
    pub drawn: u64,
    /// Games won by the second.
    pub lost: u64,
    /// Points of both, if matches give points.
    pub points: Option<[f64; 2]>,
    /// Mean scores of both.
    pub scores: [f64; 2],
}

/// Distribution of the scores.
#[derive(Debug, Serialize, ToSchema)]
pub struct Histogram {
    /// Name of the score.
    pub score: String,
    /// `%` or empty.
    pub unit: String,
    /// Lower bound of the first bin.
    pub from: f64,
    /// Width of a bin.
    pub width: f64,
    /// Counts per bin for each entrant.
    pub entrants: Vec<EntrantHistogram>,
    /// Scale of the chart.
    pub scale: HistogramScaleBody,
}

/// Counts of one entrant.
#[derive(Debug, Serialize, ToSchema)]
pub struct EntrantHistogram {
    /// The entrant.
    pub entrant: u32,
    /// Number of scores in each bin.
    pub counts: Vec<u64>,
}

/// Rating of an entrant, computed from pairwise results.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Rating {
    /// The entrant.
    pub entrant: u32,
    /// Rating on the Elo scale; null if unknown.
    pub rating: Option<f64>,
    /// Standard error of the rating.
    pub error: Option<f64>,
}

/// Statistics of an entrant in a phase.
#[derive(Clone, Copy, Debug)]
pub struct EntrantStats {
    /// Games played.
    pub games: u64,
    /// Faults, in the order of [`agon_core::Fault::ALL`].
    pub faults: [u64; 4],
    /// Number of requests.
    pub answers: u64,
    /// Charged time of all answers.
    pub thinking_ns: u64,
    /// Time of the longest answer.
    pub longest_ns: u64,
}

/// Standings of a phase.
pub struct PhaseStandings {
    /// The tables as serialised JSON.
    pub encoded: EncodedJson,
    /// The standings they were built from.
    pub standings: Standings,
    /// Statistics by entrant number.
    pub stats: BTreeMap<u32, EntrantStats>,
}

/// One of the first entrants of a phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placed {
    /// Entrant number.
    pub entrant: u32,
    /// Its rank.
    pub rank: u64,
}

/// A phase that is being played.
struct Unfinished {
    /// Entrants that have not played yet.
    without_games: Vec<u32>,
}

impl PhaseStandings {
    /// An entrant's rank in its official table, and the number of rows.
    pub fn rank_of(&self, entrant: u32) -> (Option<u64>, u64) {
        let own = self.standings.tables.iter().filter(|table| table.official).find_map(|table| {
            let row = table.rows.iter().find(|row| row.entrant == Some(Number(entrant)))?;
            Some((rank(table, row), table.rows.len() as u64))
        });
        own.unwrap_or((None, 0))
    }

    /// Entrants and places of each official table, from top to bottom.
    pub fn official_rows(&self) -> Vec<Vec<(u32, Option<u64>)>> {
        let tables = self.standings.tables.iter().filter(|table| table.official);
        let rows = |table: &standings::StandingsTable| {
            table.rows.iter().filter_map(|row| Some((row.entrant?.0, rank(table, row)))).collect()
        };
        tables.map(rows).collect()
    }

    /// The first few entrants of each role, with their ranks in the first official table of the role. `role_of` gives the role of an
    /// entrant, in a game with roles.
    pub fn leaders<'o>(&self, most: usize, role_of: impl Fn(u32) -> Option<&'o str>) -> Vec<Placed> {
        let mut leaders: Vec<Placed> = Vec::new();
        let mut listed: BTreeSet<Option<&str>> = BTreeSet::new();
        for table in self.standings.tables.iter().filter(|table| table.official) {
            let mut of_role: BTreeMap<Option<&str>, usize> = BTreeMap::new();
            for row in &table.rows {
                let (Some(entrant), Some(rank)) = (row.entrant, rank(table, row)) else { continue };
                let role = role_of(entrant.0);
                let count = of_role.entry(role).or_default();
                if *count < most && !listed.contains(&role) {
                    leaders.push(Placed { entrant: entrant.0, rank });
                    *count += 1;
                }
            }
            listed.extend(of_role.into_keys());
        }
        leaders
    }
}

impl VisibleCompetition {
    /// Standings of a phase (from 1), from the cache if possible.
    pub async fn standings(&self, app: &AppState, number: u32) -> ApiResult<Arc<PhaseStandings>> {
        let (_, _, phase) = self.handle.phase(number)?;
        let revision = self.handle.revision();
        let cached = self
            .handle
            .tables
            .get(phase, revision, self.is_running(), || compute(app, self, number, phase, revision))
            .await?;
        if cached.revision != revision {
            self.handle.publish_table_later(phase, cached.reusable_for);
        }
        Ok(cached.value)
    }
}

async fn compute(
    app: &AppState,
    visible: &VisibleCompetition,
    number: u32,
    phase: u32,
    revision: u64,
) -> ApiResult<PhaseStandings> {
    let (loaded, ledger, _) = visible.handle.phase(number)?;
    let overview = overview::load(app, &visible.handle, &visible.site_row).await?.value;
    let as_of = visible.handle.as_of();
    let work = move |handle: &Handle| {
        let (competition, info) = (&loaded.competition, loaded.table.info());
        let read = async {
            let played = phase_results::counted_results(&*ledger, info, phase).await?;
            let rulings = agon_runner::rulings::Rulings::load(&*ledger).await?;
            let mut standings =
                phase_results::standings_from(&*ledger, competition, info, phase, &played, &rulings).await?;
            let mut unfinished = None;
            if phase_results::phase_status(&*ledger, phase).await?.state == PhaseState::Running {
                standings.remove_medals();
                let added = phase_results::add_entrants_without_games(
                    &*ledger,
                    competition,
                    info,
                    phase,
                    &mut standings,
                );
                let without_games = added.await?.iter().map(|one| one.0).collect();
                unfinished = Some(Unfinished { without_games });
            }
            Ok::<_, agon_runner::RunError>((played, standings, unfinished))
        };
        let (played, standings, unfinished) = handle.block_on(read).map_err(ApiError::internal)?;
        let stats = played.tally.entrants().map(|(entrant, sums)| {
            let stats = EntrantStats {
                games: sums.games,
                faults: sums.faults,
                answers: sums.answers,
                thinking_ns: sums.thought_ns,
                longest_ns: sums.longest_ns,
            };
            (entrant.0, stats)
        });
        let think_times = played.tally.entrants().map(|(entrant, sums)| ThinkTimes {
            entrant,
            answers: sums.answers,
            mean: sums.mean_us() * 1000.0,
            longest: sums.longest_ns as f64,
        });
        let scales = PhaseScales::new(&standings, &think_times.collect::<Vec<_>>());
        let mut table = phase_table(&standings, unfinished.as_ref(), scales, &overview, phase, revision);
        table.frozen = as_of.map(|at| at.0);
        let encoded = EncodedJson::from_value(&table)?;
        Ok(PhaseStandings { encoded, stats: stats.collect(), standings })
    };
    app.competitions.compute(work).await
}

fn phase_table(
    standings: &Standings,
    unfinished: Option<&Unfinished>,
    scales: PhaseScales,
    overview: &Overview,
    phase: u32,
    revision: u64,
) -> PhaseTableBody {
    let meeting = |met: &standings::PairStanding| HeadToHead {
        one: met.one.0,
        other: met.other.0,
        games: met.games.into(),
        won: met.won.into(),
        drawn: met.drawn.into(),
        lost: met.lost.into(),
        points: met.points.map(|(one, other)| [round_to_millionths(one), round_to_millionths(other)]),
        scores: [round_to_millionths(met.scores.0), round_to_millionths(met.scores.1)],
    };
    let histogram = standings.histogram.as_ref().map(|all| Histogram {
        score: all.score.to_string(),
        unit: all.unit.to_string(),
        from: round_to_millionths(all.from),
        width: round_to_millionths(all.width),
        entrants: all
            .counts
            .iter()
            .map(|(entrant, counts)| EntrantHistogram { entrant: entrant.0, counts: counts.clone() })
            .collect(),
        scale: HistogramScale::new(all).into(),
    });
    let mut entrants: Vec<Entrant> = overview.entrant_owners.iter().map(|one| one.body.clone()).collect();
    entrants.retain(|one| one.entrant.is_some());
    PhaseTableBody {
        competition: standings.competition.clone(),
        phase: overview.phases.get(phase as usize).map_or_else(String::new, |phase| phase.name.clone()),
        game: standings.game,
        matches: standings.matches,
        games: standings.games,
        entrants,
        // Rulings are listed separately, with their subjects.
        tables: standings
            .tables
            .iter()
            .filter(|one| one.id != "rulings")
            .map(|table| standings_table(table, unfinished.is_none() && gives_medals(standings, table)))
            .collect(),
        head_to_head: standings.head_to_head.iter().map(meeting).collect(),
        histogram,
        ratings: standings.ratings.iter().map(rating).collect(),
        scales,
        open: standings.open.iter().map(|one| one.0).collect(),
        without_games: unfinished.map_or_else(Vec::new, |unfinished| unfinished.without_games.clone()),
        rulings: overview.rulings.clone(),
        revision,
        frozen: None,
    }
}

/// Converts a rating for the API.
pub fn rating(one: &agon_league::rating::Rating) -> Rating {
    let known = |x: f64| x.is_finite().then(|| round_to_millionths(x));
    Rating { entrant: one.entrant.0, rating: known(one.rating), error: known(one.error) }
}

fn standings_table(table: &standings::StandingsTable, with_medals: bool) -> StandingsTableBody {
    let column = |(at, column): (usize, &standings::TableColumn)| {
        let (kind, decimals, unit) = column_kind(table, at);
        Column {
            id: column.id.clone(),
            title: column.title.clone(),
            right: column.right_aligned,
            time: column.has_times,
            kind,
            decimals,
            unit,
        }
    };
    let row = |row: &standings::TableRow| {
        // The medal is a separate field of the row.
        let cells = table.columns.iter().zip(&row.cells).filter(|(column, _)| column.id != "medal");
        Some(StandingsRowBody {
            entrant: row.entrant?.0,
            medal: rank(table, row).filter(|_| with_medals).and_then(medal),
            cells: cells.map(|(column, own)| (column.id.clone(), cell_body(own))).collect(),
        })
    };
    StandingsTableBody {
        id: table.id.clone(),
        title: table.title.clone(),
        official: table.official,
        columns: table.columns.iter().enumerate().map(column).collect(),
        rows: table.rows.iter().filter_map(row).collect(),
        notes: table.notes.clone(),
        scale: scale::table(table).map(Into::into),
    }
}

/// Kind, decimals and unit of a column, from its first non-empty cell.
fn column_kind(table: &standings::StandingsTable, at: usize) -> (ColumnKind, usize, &'static str) {
    let cells = table.rows.iter().filter_map(|row| row.cells.get(at));
    let known = cells.filter_map(|cell| match cell {
        standings::TableCell::Empty => None,
        standings::TableCell::Text(_) | standings::TableCell::Faults(_) => Some((ColumnKind::Text, 0, "")),
        standings::TableCell::Int(_) => Some((ColumnKind::Number, 0, "")),
        standings::TableCell::Real(_, decimals, unit) => Some((ColumnKind::Number, *decimals, *unit)),
        standings::TableCell::Interval(_, _, decimals) => Some((ColumnKind::Interval, *decimals, "")),
        standings::TableCell::Time(_) => Some((ColumnKind::Time, 1, "")),
    });
    let right = table.columns.get(at).is_some_and(|column| column.right_aligned);
    known.into_iter().next().unwrap_or((if right { ColumnKind::Number } else { ColumnKind::Text }, 0, ""))
}

fn cell_body(cell: &standings::TableCell) -> Cell {
    let number = |x: f64| x.is_finite().then(|| round_to_millionths(x));
    match cell {
        standings::TableCell::Empty => Cell::Number(None),
        standings::TableCell::Text(text) => Cell::Text(text.clone()),
        standings::TableCell::Int(n) => Cell::Number(Some(*n as f64)),
        standings::TableCell::Real(x, ..) => Cell::Number(number(*x)),
        standings::TableCell::Interval(low, high, _) => {
            Cell::Interval { low: number(*low), high: number(*high) }
        }
        standings::TableCell::Time(ns) => Cell::Number(number(ns / 1000.0)),
        standings::TableCell::Faults(counts) => Cell::Text(standings::machine_faults(*counts)),
    }
}

/// Serialises whole numbers without `.0`.
#[allow(clippy::trivially_copy_pass_by_ref, clippy::ref_option, reason = "signature required by serde")]
fn serialize_number<S: Serializer>(number: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    match number {
        None => to.serialize_none(),
        Some(x) if x.fract() == 0.0 && x.abs() < 1e15 => to.serialize_i64(*x as i64),
        Some(x) => to.serialize_f64(*x),
    }
}

fn rank(table: &standings::StandingsTable, row: &standings::TableRow) -> Option<u64> {
    let at = table.columns.iter().position(|column| matches!(&*column.id, "rank" | "place"))?;
    match row.cells.get(at)? {
        standings::TableCell::Int(rank) => u64::try_from(*rank).ok(),
        _ => None,
    }
}

/// Whether the first three of a table get medals: not in a ranking by time, and beside the places of a knockout only these count.
fn gives_medals(standings: &Standings, table: &standings::StandingsTable) -> bool {
    table.official
        && !table.ranked_by_time
        && (table.id == "knockout" || standings.table("knockout").is_none())
}

const fn medal(rank: u64) -> Option<Medal> {
    match rank {
        1 => Some(Medal::Gold),
        2 => Some(Medal::Silver),
        3 => Some(Medal::Bronze),
        _ => None,
    }
}

/// Rounds to six decimal places. More would only look precise.
fn round_to_millionths(x: f64) -> f64 {
    let rounded = (x * 1e6).round() / 1e6;
    // Avoids -0.
    if rounded == 0.0 { 0.0 } else { rounded }
}
