//! Confidence table: intervals, settled orders, ratings, faults, times.

use super::{RankGroup, RankedRow, StandingsTable, TableCell, TableColumn, TableRow};
use crate::rating::Rating;
use crate::statistics::{MeanEstimate, NeighbourOrder, RankedMeans};

pub(super) fn table(
    group: &RankGroup<'_>,
    several: bool,
    means: &RankedMeans<'_>,
    ratings: &[Rating],
) -> StandingsTable {
    let (id, title) = if several {
        (format!("confidence-{}s", group.role), format!("Confidence: {}s", group.role))
    } else {
        ("confidence".to_owned(), "Confidence".to_owned())
    };
    let mut table = StandingsTable { official: false, ..StandingsTable::official(&id, &title) };
    table.columns = columns(group);
    let settled = means.neighbour_orders(&group.ranked_entrants());
    let estimates: std::collections::HashMap<_, _> = means.estimates().collect();
    for (at, ranked @ RankedRow { row, .. }) in group.ranked.iter().enumerate() {
        let estimate = estimates.get(&row.entrant);
        // Ratings are sorted in the order of the file.
        let rating = ratings.binary_search_by_key(&row.entrant, |rating| rating.entrant);
        let rating = rating.ok().map(|at| &ratings[at]);
        let whole = |x: f64| TableCell::Real(x, 0, "");
        let per_answer = row.totals.mean_us() * 1000.0;
        let cells = vec![
            ranked.rank_cell(),
            row.name_cell(),
            estimate.map_or(TableCell::Empty, |estimate| TableCell::Real(estimate.mean, group.decimals, "")),
            estimate
                .and_then(MeanEstimate::interval)
                .map_or(TableCell::Empty, |i| TableCell::Interval(i.low, i.high, group.decimals)),
            match settled.get(at) {
                Some(NeighbourOrder::Settled) => TableCell::Text("settled".to_owned()),
                Some(NeighbourOrder::Open) => TableCell::Text("open".to_owned()),
                None => TableCell::Empty,
            },
            rating.map_or(TableCell::Empty, |rating| whole(rating.rating)),
            rating.map_or(TableCell::Empty, |rating| whole(rating.error)),
            TableCell::Faults(row.totals.faults),
            TableCell::Time(per_answer),
            TableCell::Time(row.totals.longest_ns as f64),
        ];
        table.rows.push(TableRow { entrant: Some(row.entrant), cells });
    }
    table.notes.push(
        "Order to the next: settled when another run would hardly turn it round (95 % for the whole table)"
            .to_owned(),
    );
    table
}

fn columns(group: &RankGroup<'_>) -> Vec<TableColumn> {
    vec![
        TableColumn::number("rank", "Rank"),
        TableColumn::text("name", "Name"),
        TableColumn::number("mean", group.mean_title),
        TableColumn::number("interval", "95 % interval"),
        TableColumn::text("order", "Order to the next"),
        TableColumn::number("rating", "Rating"),
        TableColumn::number("rating_error", "±"),
        TableColumn::text("faults", "Faults"),
        TableColumn::time("time_us", "Time per answer"),
        TableColumn::time("longest_us", "Longest"),
    ]
}
