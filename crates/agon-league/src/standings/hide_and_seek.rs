//! Hide and Seek: mean steps, fewest for seekers, most for hiders; medals in each table.

use agon_core::{GameInfo, ScoreDirection, Seat};

use super::row::rank_rows;
use super::{EntrantRow, RankGroup, StandingsTable, TableCell, TableColumn};
use crate::statistics::RankingMean;

/// Role of an entrant: from the file, else from its most frequent seat.
pub(super) fn role_of(game: &GameInfo, row: &EntrantRow<'_>) -> &'static str {
    let seat = Seat(row.totals.usual_seat().min(u8::MAX.into()) as u8);
    row.spec.and_then(|spec| spec.role).unwrap_or_else(|| game.role(seat).name)
}

pub(super) fn groups<'a>(game: &GameInfo, rows: &[EntrantRow<'a>]) -> Vec<RankGroup<'a>> {
    let of_role = |role: &agon_core::RoleInfo| {
        let rows: Vec<EntrantRow<'a>> =
            rows.iter().filter(|row| role_of(game, row) == role.name).copied().collect();
        let sign = if role.better == ScoreDirection::Lower { 1 } else { -1 };
        let key = |row: &EntrantRow<'_>| {
            let mean = row.mean_score();
            super::ExactMean { sum: sign * mean.sum, ..mean }
        };
        RankGroup {
            role: role.name,
            mean_title: "Mean steps".to_owned(),
            decimals: 1,
            ranking_mean: RankingMean::Score,
            ranked: rank_rows(&rows, key),
        }
    };
    game.roles.iter().map(of_role).filter(|group| !group.ranked.is_empty()).collect()
}

fn medal(rank: Option<u64>) -> TableCell {
    match rank {
        Some(1) => TableCell::Text("gold".to_owned()),
        Some(2) => TableCell::Text("silver".to_owned()),
        Some(3) => TableCell::Text("bronze".to_owned()),
        _ => TableCell::Empty,
    }
}

pub(super) fn table(group: &RankGroup<'_>) -> StandingsTable {
    let seekers = group.role == "seeker";
    let (id, title) = if seekers { ("seekers", "Seekers") } else { ("hiders", "Hiders") };
    let columns = [
        TableColumn::number("steps", "Mean steps"),
        TableColumn::number("caught", if seekers { "Caught [%]" } else { "Got away [%]" }),
        TableColumn::number("games", "Games"),
    ];
    let mut table = StandingsTable::ranked(id, title, group, columns, |row| {
        [
            TableCell::Real(row.mean_score().to_f64(), 1, ""),
            TableCell::Real(100.0 * row.totals.won as f64 / row.totals.games.max(1) as f64, 1, ""),
            TableCell::Int(row.totals.games as i64),
        ]
    });
    // Between rank and name.
    table.columns.insert(1, TableColumn::text("medal", "Medal"));
    for (row, ranked) in table.rows.iter_mut().zip(&group.ranked) {
        row.cells.insert(1, medal(ranked.rank));
    }
    let best = if seekers { "fewest" } else { "most" };
    table.notes.push(format!("The {best} steps to the catch are best"));
    table
}
