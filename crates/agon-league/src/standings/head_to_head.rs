//! Who did what against whom.

use super::{StandingsRequest, Cell, Column, RankGroup, EntrantRow, Ranking, Row, StandingsTable};
use crate::result::{Entrant, FixedPoint};
use crate::tally::{PairTotals, Tally};

/// Two who met, as the first of them sees it.
#[derive(Clone, PartialEq, Debug)]
pub struct PairStanding {
    /// One of them.
    pub one: Entrant,
    /// The other.
    pub other: Entrant,
    /// Games in which both sat.
    pub games: u32,
    /// Of these the first was better in.
    pub won: u32,
    /// Of these with the same place.
    pub drawn: u32,
    /// Of these the other was better in.
    pub lost: u32,
    /// The points given to each, where points are given for matches.
    pub points: Option<(f64, f64)>,
    /// The sum of each one's scores in these games.
    pub scores: (f64, f64),
}

/// Larger fields have more meetings than anybody reads.
const MOST_LISTED: usize = 200;
/// Wider tables fit nowhere.
const MOST_SHOWN: usize = 40;

/// All meetings, both entrants in the order of the tables.
pub(super) fn meetings(tally: &Tally, order: &[&EntrantRow<'_>]) -> Vec<PairStanding> {
    if order.len() > MOST_LISTED {
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
                points: points.map(|(a, b)| (a.real(), b.real())),
                scores: (FixedPoint(met.score_a).real(), FixedPoint(met.score_b).real()),
            });
        }
    }
    list
}

/// The table of games of two: everybody against everybody, or the first role against the second.
pub(super) fn sheet(tally: &Tally, asked: &StandingsRequest<'_>, groups: &[RankGroup<'_>]) -> Option<StandingsTable> {
    if asked.game.seats.max != 2 || groups.iter().any(|group| group.ranked.len() > MOST_SHOWN) {
        return None;
    }
    let (down, across) = (groups.first()?, groups.last()?);
    let mut sheet = StandingsTable { official: false, ..StandingsTable::official("head-to-head", "Head to head") };
    sheet.columns = vec![Column::number("number", "#"), Column::text("name", "Name")];
    for (at, ranked) in across.ranked.iter().enumerate() {
        let title = match groups.len() {
            1 => (at + 1).to_string(),
            _ => super::json::plain_name(&ranked.line),
        };
        sheet.columns.push(Column::number(&format!("against_{}", ranked.line.entrant.0), &title));
    }
    for (at, ranked) in down.ranked.iter().enumerate() {
        let line = &ranked.line;
        let mut cells = vec![Cell::Int(at as i64 + 1), line.name()];
        cells.extend(across.ranked.iter().map(|other| cell(tally, asked.ranking, line, &other.line)));
        sheet.rows.push(Row { entrant: Some(line.entrant), cells });
    }
    let says = match asked.ranking {
        Ranking::ConnectFive => "A row reads: points (games won-lost) against the entrant of that number",
        Ranking::HideAndSeek => "Mean steps of the seeker of the row against the hider of the column",
        _ => "A row reads: games won-drawn-lost against the entrant of that number",
    };
    sheet.notes.push(says.to_owned());
    Some(sheet)
}

fn cell(tally: &Tally, ranking: Ranking, line: &EntrantRow<'_>, other: &EntrantRow<'_>) -> Cell {
    if line.entrant == other.entrant {
        return Cell::Empty;
    }
    let Some(met) = tally.pairs().get(line.entrant, other.entrant) else { return Cell::Empty };
    match ranking {
        Ranking::ConnectFive => {
            let points =
                tally.pairs().points(line.entrant, other.entrant).map_or(0.0, |(mine, _)| mine.real());
            Cell::Text(
                format!("{points:+.0} ({}-{})", met.won, met.lost)
                    .replace("-0 (", "0 (")
                    .replace("+0 (", "0 ("),
            )
        }
        Ranking::HideAndSeek => Cell::Real(FixedPoint(met.score_a).real() / f64::from(met.games.max(1)), 1, ""),
        _ => Cell::Text(won_drawn_lost(&met)),
    }
}

fn won_drawn_lost(met: &PairTotals) -> String {
    format!("{}-{}-{}", met.won, met.drawn(), met.lost)
}
