//! What the official figures are worth: intervals, whether the order is settled, ratings, faults, times.

use agon_core::Fault;

use super::{Cell, Column, RankGroup, RankedRow, Row, StandingsTable};
use crate::rating::Rating;
use crate::statistics::{RankedMeans, MeanEstimate, NeighbourOrder};

pub(super) fn sheet(group: &RankGroup<'_>, several: bool, field: &RankedMeans<'_>, ratings: &[Rating]) -> StandingsTable {
    let (id, title) = if several {
        (format!("confidence-{}s", group.role), format!("Confidence: {}s", group.role))
    } else {
        ("confidence".to_owned(), "Confidence".to_owned())
    };
    let mut sheet = StandingsTable { official: false, ..StandingsTable::official(&id, &title) };
    sheet.columns = columns(group);
    let settled = field.settled(&group.placed());
    let known: std::collections::HashMap<_, _> = field.known().collect();
    for (at, ranked @ RankedRow { line, .. }) in group.ranked.iter().enumerate() {
        let known = known.get(&line.entrant);
        // Ratings are in the order of the file.
        let rating = ratings.binary_search_by_key(&line.entrant, |rating| rating.entrant);
        let rating = rating.ok().map(|at| &ratings[at]);
        let whole = |x: f64| Cell::Real(x, 0, "");
        let per_answer = line.sums.thought_ns as f64 / line.sums.answers.max(1) as f64;
        let cells = vec![
            ranked.place(),
            line.name(),
            known.map_or(Cell::Empty, |known| Cell::Real(known.mean, group.decimals, "")),
            known
                .and_then(MeanEstimate::interval)
                .map_or(Cell::Empty, |i| Cell::Interval(i.low, i.high, group.decimals)),
            match settled.get(at) {
                Some(NeighbourOrder::Settled) => Cell::Text("settled".to_owned()),
                Some(NeighbourOrder::Open) => Cell::Text("open".to_owned()),
                None => Cell::Empty,
            },
            rating.map_or(Cell::Empty, |rating| whole(rating.rating)),
            rating.map_or(Cell::Empty, |rating| whole(rating.error)),
            faults(line.sums.faults),
            Cell::Time(per_answer),
            Cell::Time(line.sums.longest_ns as f64),
        ];
        sheet.rows.push(Row { entrant: Some(line.entrant), cells });
    }
    sheet.notes.push(
        "Order to the next: settled when another run would hardly turn it round (95 % for the whole table)"
            .to_owned(),
    );
    sheet
}

fn columns(group: &RankGroup<'_>) -> Vec<Column> {
    vec![
        Column::number("rank", "Rank"),
        Column::text("name", "Name"),
        Column::number("mean", &group.metric),
        Column::number("interval", "95 % interval"),
        Column::text("order", "Order to the next"),
        Column::number("rating", "Rating"),
        Column::number("rating_error", "±"),
        Column::text("faults", "Faults"),
        Column::time("time_us", "Time per answer"),
        Column::time("longest_us", "Longest"),
    ]
}

/// `none`, or `3 illegal, 1 crash`.
fn faults(counts: [u64; 4]) -> Cell {
    let named: Vec<String> = Fault::ALL
        .into_iter()
        .zip(counts)
        .filter(|&(_, count)| count > 0)
        .map(|(fault, count)| format!("{count} {fault}"))
        .collect();
    Cell::Text(if named.is_empty() { "none".to_owned() } else { named.join(", ") })
}
