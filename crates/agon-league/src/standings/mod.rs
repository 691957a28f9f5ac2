//! Tables of a phase: ranked exactly as each competition's document says, plus the confidence of the numbers.
//!
//! The game describes its order and its official tables as data ([`agon_core::standings_rules`]). The common parts (intervals, ratings,
//! head to head) are built here.

mod confidence;
mod empty_answers;
mod head_to_head;
mod histogram;
mod json;
mod meters;
mod official;
mod order;
mod provisional;
mod row;
mod rulings;
mod table;

#[cfg(test)]
mod interval_tests;
#[cfg(test)]
mod ruling_tests;
#[cfg(test)]
mod tests;

use agon_core::{GameInfo, MeterKind};

use crate::config::EntrantSpec;
use crate::rating::{self, Rating, ratings_by_seed};
use crate::result::Entrant;
use crate::statistics::{RankedMeans, RankingMean};
use crate::tally::Tally;

pub use head_to_head::PairStanding;
pub use histogram::ScoreHistograms;
pub use json::VERSION;
pub use row::{EntrantRow, ExactMean, RankedRow};
pub use rulings::{RulingKind, RulingLift, RulingNote, format_timestamp};
pub use table::{StandingsTable, TableCell, TableColumn, TableRow, format_duration, machine_faults};

/// Input of the standings.
#[derive(Clone, Copy, Debug)]
pub struct StandingsRequest<'a> {
    /// Name of the competition.
    pub competition: &'a str,
    /// Name of the phase.
    pub phase: &'a str,
    /// The game.
    pub game: &'static GameInfo,
    /// Entrants in the order of the competition file.
    pub entrants: &'a [EntrantSpec],
    /// Result of a knockout, if there was one: best first, shared places grouped.
    pub placing: &'a [Vec<Entrant>],
    /// Rulings on entrants and on matches of this phase. The tally must not contain void matches.
    pub rulings: &'a [RulingNote],
}

/// Tables of a phase.
#[derive(Clone, PartialEq, Debug)]
pub struct Standings {
    /// Name of the competition.
    pub competition: String,
    /// Name of the phase.
    pub phase: String,
    /// The game's id.
    pub game: &'static str,
    /// Matches counted.
    pub matches: u64,
    /// Games counted.
    pub games: u64,
    /// Entrants in the order of the file.
    pub entrants: Vec<EntrantName>,
    /// Tables, official ones first.
    pub tables: Vec<StandingsTable>,
    /// Results of all pairs that met; empty in large fields.
    pub head_to_head: Vec<PairStanding>,
    /// Distribution of scores.
    pub histogram: Option<ScoreHistograms>,
    /// Ratings in the order of the file.
    pub ratings: Vec<Rating>,
    /// Entrants whose order to a neighbour is open.
    pub open: Vec<Entrant>,
    /// Rulings, oldest first.
    pub rulings: Vec<RulingNote>,
    /// Games of bots by the meter of their CPU time. A game counts once for each bot.
    pub meters: Vec<(MeterKind, u64)>,
    /// Mean cost of an empty answer in microseconds, which is not part of the times. `None` if it was not measured.
    pub empty_answer_us: Option<f64>,
}

/// Name, contributor and marks of an entrant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntrantName {
    /// Index in the file.
    pub entrant: Entrant,
    /// Name without marks.
    pub name: String,
    /// Author of the bot.
    pub contributor: Option<String>,
    /// Marks with notes: `AI`, `exploit`.
    pub marks: Vec<(String, Option<String>)>,
}

/// Entrants ranked against each other.
struct RankGroup<'a> {
    /// `player`, `seeker`: part of the table ids if there are several groups.
    role: &'static str,
    /// Title of the mean that decides.
    mean_title: &'static str,
    decimals: usize,
    ranking_mean: RankingMean,
    ranked: Vec<RankedRow<'a>>,
}

impl RankGroup<'_> {
    /// All entrants, disqualified ones last.
    fn all_entrants(&self) -> Vec<Entrant> {
        self.ranked.iter().map(|ranked| ranked.row.entrant).collect()
    }

    /// All entrants with a rank.
    fn ranked_entrants(&self) -> Vec<Entrant> {
        let placed = self.ranked.iter().filter(|ranked| ranked.rank.is_some());
        placed.map(|ranked| ranked.row.entrant).collect()
    }
}

/// Builds the tables of a phase.
pub fn standings(tally: &Tally, request: &StandingsRequest<'_>) -> Standings {
    let rows = EntrantRow::all(tally, request);
    let groups = order::groups(request.game, tally, &rows);
    let ratings = phase_ratings(tally, request, &groups);
    let mut tables: Vec<StandingsTable> = knockout_table(request).into_iter().collect();
    tables.extend(official::tables(request.game, &groups));
    table::add_notes(&mut tables, &rows);
    let meters = meters::count(tally);
    meters::add_note(&mut tables, &meters);
    let empty_answer_us = empty_answers::mean_us(tally);
    empty_answers::add_notes(&mut tables, request.game, empty_answer_us);
    rulings::add_notes(&mut tables, request.rulings, request.entrants);
    tables.extend(rulings::table(request.rulings, request.entrants));
    let mut open = Vec::new();
    for group in &groups {
        let means = RankedMeans::new(tally, group.ranking_mean, &group.all_entrants());
        open.extend(means.open_entrants(&group.ranked_entrants()));
        tables.push(confidence::table(group, groups.len() > 1, &means, &ratings));
    }
    let order: Vec<&EntrantRow<'_>> =
        groups.iter().flat_map(|group| group.ranked.iter().map(|ranked| &ranked.row)).collect();
    tables.extend(head_to_head::table(tally, request, &groups));
    Standings {
        competition: request.competition.to_owned(),
        phase: request.phase.to_owned(),
        game: request.game.id,
        matches: tally.matches,
        games: tally.games,
        entrants: rows.iter().map(EntrantRow::entrant_name).collect(),
        tables,
        head_to_head: head_to_head::pair_standings(tally, &order),
        histogram: ScoreHistograms::of(request.game, &order),
        ratings,
        open,
        rulings: request.rulings.to_vec(),
        meters,
        empty_answer_us,
    }
}

/// Entrants whose order to a neighbour is still open, for `stop = "settled"`.
pub fn open_entrants(tally: &Tally, request: &StandingsRequest<'_>) -> Vec<Entrant> {
    let rows = EntrantRow::all(tally, request);
    let open_of = |group: &RankGroup<'_>| {
        RankedMeans::new(tally, group.ranking_mean, &group.all_entrants())
            .open_entrants(&group.ranked_entrants())
    };
    order::groups(request.game, tally, &rows).iter().flat_map(open_of).collect()
}

/// Official order, best first; roles one after the other. Entrants with the same rank are in the order of the file. Disqualified
/// entrants are not included.
pub fn official_order(tally: &Tally, request: &StandingsRequest<'_>) -> Vec<Entrant> {
    let rows = EntrantRow::all(tally, request);
    order::groups(request.game, tally, &rows).iter().flat_map(RankGroup::ranked_entrants).collect()
}

/// Ratings only, for a rating history.
pub fn ratings(tally: &Tally, request: &StandingsRequest<'_>) -> Vec<Rating> {
    let rows = EntrantRow::all(tally, request);
    phase_ratings(tally, request, &order::groups(request.game, tally, &rows))
}

/// Ratings in the order of the file; separate per role if possible.
fn phase_ratings(tally: &Tally, request: &StandingsRequest<'_>, groups: &[RankGroup<'_>]) -> Vec<Rating> {
    let apart = || -> Option<Vec<Rating>> {
        let mut all = Vec::new();
        for group in groups.iter().filter(|_| request.game.roles.len() > 1) {
            let role = request.game.roles.iter().find(|role| role.name == group.role)?;
            all.extend(ratings_by_seed(tally, &group.all_entrants(), role.better)?);
        }
        all.sort_by_key(|rating| rating.entrant);
        Some(all).filter(|all| !all.is_empty())
    };
    apart().unwrap_or_else(|| rating::ratings(tally))
}

/// Table of the knockout result.
fn knockout_table(request: &StandingsRequest<'_>) -> Option<StandingsTable> {
    if request.placing.is_empty() {
        return None;
    }
    let mut table = StandingsTable::official("knockout", "Knockout");
    table.columns = vec![TableColumn::number("place", "Place"), TableColumn::text("name", "Name")];
    let is_out = |entrant: Entrant| rulings::disqualification_reason(request.rulings, entrant).is_some();
    let row = |entrant: Entrant, place: TableCell| {
        let name = request.entrants.get(entrant.index()).map_or_else(String::new, row::name_with_marks);
        let name = if is_out(entrant) { format!("{name} ({})", row::DISQUALIFIED) } else { name };
        TableRow { entrant: Some(entrant), cells: vec![place, TableCell::Text(name)] }
    };
    let mut place = 1;
    let mut last = Vec::new();
    for shared in request.placing {
        let (out, placed): (Vec<Entrant>, Vec<Entrant>) =
            shared.iter().partition(|entrant| is_out(**entrant));
        table.rows.extend(placed.iter().map(|&entrant| row(entrant, TableCell::Int(place))));
        last.extend(out.into_iter().map(|entrant| row(entrant, TableCell::Empty)));
        place += placed.len() as i64;
    }
    table.rows.extend(last);
    Some(table)
}

impl Standings {
    /// The same without measured times: what another run of the same competition must reproduce.
    #[must_use]
    pub fn without_times(&self) -> Self {
        let mut tables: Vec<StandingsTable> = self
            .tables
            .iter()
            .filter(|table| !table.ranked_by_time)
            .map(StandingsTable::without_times)
            .collect();
        let notes = [meters::note(&self.meters), empty_answers::note(self.empty_answer_us)];
        for table in &mut tables {
            table.notes.retain(|text| !notes.iter().flatten().any(|note| note == text));
        }
        let rulings = self.rulings.iter().map(RulingNote::without_times).collect();
        Self { tables, rulings, meters: Vec::new(), empty_answer_us: None, ..self.clone() }
    }

    /// Table by id.
    pub fn table(&self, id: &str) -> Option<&StandingsTable> {
        self.tables.iter().find(|table| table.id == id)
    }
}
