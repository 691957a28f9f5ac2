//! Results of pairs of entrants.

use agon_core::standings_rules::PairValue;

use super::{EntrantRow, RankGroup, StandingsRequest, StandingsTable, TableCell, TableColumn, TableRow};
use crate::result::{Entrant, FixedPoint};
use crate::tally::{PairTotals, Tally};

/// Results of two entrants that met, from the view of the first.
#[derive(Clone, PartialEq, Debug)]
pub struct PairStanding {
    /// First entrant.
    pub one: Entrant,
    /// Second entrant.
    pub other: Entrant,
    /// Common games.
    pub games: u32,
    /// Games in which the first was better.
    pub won: u32,
    /// Games with the same place.
    pub drawn: u32,
    /// Games in which the second was better.
    pub lost: u32,
    /// Points of each, if points are given for matches.
    pub points: Option<(f64, f64)>,
    /// Sum of each one's scores.
    pub scores: (f64, f64),
}

/// Maximum number of entrants for the list of pairs.
const MAX_LISTED_ENTRANTS: usize = 200;
/// Maximum number of entrants for the head-to-head table; larger ones are too wide.
const MAX_TABLE_ENTRANTS: usize = 40;

/// Results of all pairs that met, in table order.
pub(super) fn pair_standings(tally: &Tally, order: &[&EntrantRow<'_>]) -> Vec<PairStanding> {
    if order.len() > MAX_LISTED_ENTRANTS {
        return Vec::new();
    }
    let mut list = Vec::new();
    for (at, one) in order.iter().enumerate() {
        for other in &order[at + 1..] {
            let Some(met) = tally.pairs().get(one.entrant, other.entrant) else { continue };
            let points = tally.pairs().points(one.entrant, other.entrant);
            list.push(PairStanding {
                one: one.entrant,
                other: other.entrant,
                games: met.games,
                won: met.won,
                drawn: met.drawn(),
                lost: met.lost,
                points: points.map(|(a, b)| (a.to_f64(), b.to_f64())),
                scores: (FixedPoint(met.score_a).to_f64(), FixedPoint(met.score_b).to_f64()),
            });
        }
    }
    list
}

/// Table for two-player games: all against all, or the first role against the second.
pub(super) fn table(
    tally: &Tally,
    request: &StandingsRequest<'_>,
    groups: &[RankGroup<'_>],
) -> Option<StandingsTable> {
    let pair_cell = request.game.standings.head_to_head?;
    if groups.iter().any(|group| group.ranked.len() > MAX_TABLE_ENTRANTS) {
        return None;
    }
    let (down, across) = (groups.first()?, groups.last()?);
    let mut table =
        StandingsTable { official: false, ..StandingsTable::official("head-to-head", "Head to head") };
    table.columns = vec![TableColumn::number("number", "#"), TableColumn::text("name", "Name")];
    for (at, ranked) in across.ranked.iter().enumerate() {
        let title = match groups.len() {
            1 => (at + 1).to_string(),
            _ => super::json::plain_name(&ranked.row),
        };
        table.columns.push(TableColumn::number(&format!("against_{}", ranked.row.entrant.0), &title));
    }
    for (at, ranked) in down.ranked.iter().enumerate() {
        let row = &ranked.row;
        let mut cells = vec![TableCell::Int(at as i64 + 1), row.name_cell()];
        cells.extend(across.ranked.iter().map(|other| cell(tally, pair_cell.value, row, &other.row)));
        table.rows.push(TableRow { entrant: Some(row.entrant), cells });
    }
    table.notes.push(pair_cell.note.to_owned());
    Some(table)
}

fn cell(tally: &Tally, value: PairValue, row: &EntrantRow<'_>, other: &EntrantRow<'_>) -> TableCell {
    if row.entrant == other.entrant {
        return TableCell::Empty;
    }
    let Some(met) = tally.pairs().get(row.entrant, other.entrant) else { return TableCell::Empty };
    match value {
        PairValue::PointsAndGames => {
            let points =
                tally.pairs().points(row.entrant, other.entrant).map_or(0.0, |(mine, _)| mine.to_f64());
            TableCell::Text(
                format!("{points:+.0} ({}-{})", met.won, met.lost)
                    .replace("-0 (", "0 (")
                    .replace("+0 (", "0 ("),
            )
        }
        PairValue::MeanScore(decimals) => {
            TableCell::Real(FixedPoint(met.score_a).to_f64() / f64::from(met.games.max(1)), decimals, "")
        }
        PairValue::WonDrawnLost => TableCell::Text(won_drawn_lost(&met)),
    }
}

fn won_drawn_lost(met: &PairTotals) -> String {
    format!("{}-{}-{}", met.won, met.drawn(), met.lost)
}
