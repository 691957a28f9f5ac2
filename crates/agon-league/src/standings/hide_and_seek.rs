//! Hide and Seek: mean steps, the least for seekers, the most for hiders; medals in each table.

use agon_core::{Better, GameInfo, Seat};

use super::row::ranked;
use super::{Cell, Column, RankGroup, EntrantRow, StandingsTable};
use crate::statistics::RankingMean;

/// What an entrant plays: as its file says, else as it sat.
pub(super) fn role_of(game: &GameInfo, line: &EntrantRow<'_>) -> &'static str {
    let seat = Seat(line.sums.usual_seat().min(u8::MAX.into()) as u8);
    line.spec.and_then(|spec| spec.role).unwrap_or_else(|| game.role(seat).name)
}

pub(super) fn groups<'a>(game: &GameInfo, lines: &[EntrantRow<'a>]) -> Vec<RankGroup<'a>> {
    let of_role = |role: &agon_core::RoleInfo| {
        let lines: Vec<EntrantRow<'a>> =
            lines.iter().filter(|line| role_of(game, line) == role.name).copied().collect();
        let sign = if role.better == Better::Lower { 1 } else { -1 };
        let key = |line: &EntrantRow<'_>| {
            let mean = line.mean_score();
            super::Ratio { sum: sign * mean.sum, ..mean }
        };
        RankGroup {
            role: role.name,
            metric: "Mean steps".to_owned(),
            decimals: 1,
            counted: RankingMean::Score,
            ranked: ranked(&lines, key),
        }
    };
    game.roles.iter().map(of_role).filter(|group| !group.ranked.is_empty()).collect()
}

fn medal(rank: Option<u64>) -> Cell {
    match rank {
        Some(1) => Cell::Text("gold".to_owned()),
        Some(2) => Cell::Text("silver".to_owned()),
        Some(3) => Cell::Text("bronze".to_owned()),
        _ => Cell::Empty,
    }
}

pub(super) fn sheet(group: &RankGroup<'_>) -> StandingsTable {
    let seekers = group.role == "seeker";
    let (id, title) = if seekers { ("seekers", "Seekers") } else { ("hiders", "Hiders") };
    let columns = [
        Column::number("steps", "Mean steps"),
        Column::number("caught", if seekers { "Caught [%]" } else { "Got away [%]" }),
        Column::number("games", "Games"),
    ];
    let mut sheet = StandingsTable::ranked(id, title, group, columns, |line| {
        [
            Cell::Real(line.mean_score().real(), 1, ""),
            Cell::Real(100.0 * line.sums.won as f64 / line.sums.games.max(1) as f64, 1, ""),
            Cell::Int(line.sums.games as i64),
        ]
    });
    // Between rank and name.
    sheet.columns.insert(1, Column::text("medal", "Medal"));
    for (row, ranked) in sheet.rows.iter_mut().zip(&group.ranked) {
        row.cells.insert(1, medal(ranked.rank));
    }
    let best = if seekers { "fewest" } else { "most" };
    sheet.notes.push(format!("The {best} steps to the catch are best"));
    sheet
}
