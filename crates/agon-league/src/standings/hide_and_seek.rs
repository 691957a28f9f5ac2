//! Hide and Seek: mean steps, the least for seekers, the most for hiders; medals in each table.

use agon_core::{Better, GameInfo, Seat};

use super::line::{Ranked, ranked};
use super::{Cell, Column, Group, Line, Row, Sheet};
use crate::statistics::Counted;

/// What an entrant plays: as its file says, else as it sat.
pub(super) fn role_of(game: &GameInfo, line: &Line<'_>) -> &'static str {
    let seat = Seat(line.sums.usual_seat().min(u8::MAX.into()) as u8);
    line.spec.and_then(|spec| spec.role).unwrap_or_else(|| game.role(seat).name)
}

pub(super) fn groups<'a>(game: &GameInfo, lines: &[Line<'a>]) -> Vec<Group<'a>> {
    let of_role = |role: &agon_core::RoleInfo| {
        let lines: Vec<Line<'a>> =
            lines.iter().filter(|line| role_of(game, line) == role.name).copied().collect();
        let sign = if role.better == Better::Lower { 1 } else { -1 };
        let key = |line: &Line<'_>| {
            let mean = line.mean_score();
            super::Ratio { sum: sign * mean.sum, ..mean }
        };
        Group {
            role: role.name,
            metric: "Mean steps".to_owned(),
            decimals: 1,
            counted: Counted::Score,
            ranked: ranked(&lines, key),
        }
    };
    game.roles.iter().map(of_role).filter(|group| !group.ranked.is_empty()).collect()
}

fn medal(rank: u64) -> Cell {
    match rank {
        1 => Cell::Text("gold".to_owned()),
        2 => Cell::Text("silver".to_owned()),
        3 => Cell::Text("bronze".to_owned()),
        _ => Cell::Empty,
    }
}

pub(super) fn sheet(group: &Group<'_>) -> Sheet {
    let seekers = group.role == "seeker";
    let (id, title) = if seekers { ("seekers", "Seekers") } else { ("hiders", "Hiders") };
    let mut sheet = Sheet::official(id, title);
    let with_contributors = group.ranked.iter().any(|r| r.line.contributor() != Cell::Empty);
    sheet.columns =
        vec![Column::number("rank", "Rank"), Column::text("medal", "Medal"), Column::text("name", "Name")];
    sheet.columns.extend(with_contributors.then(|| Column::text("contributor", "Contributor")));
    sheet.columns.extend([
        Column::number("steps", "Mean steps"),
        Column::number("caught", if seekers { "Caught [%]" } else { "Got away [%]" }),
        Column::number("games", "Games"),
    ]);
    for Ranked { rank, line } in &group.ranked {
        let mut cells = vec![Cell::Int(*rank as i64), medal(*rank), line.name()];
        cells.extend(with_contributors.then(|| line.contributor()));
        cells.extend([
            Cell::Real(line.mean_score().real(), 1, ""),
            Cell::Real(100.0 * line.sums.won as f64 / line.sums.games.max(1) as f64, 1, ""),
            Cell::Int(line.sums.games as i64),
        ]);
        sheet.rows.push(Row { entrant: line.entrant, cells });
    }
    let best = if seekers { "fewest" } else { "most" };
    sheet.notes.push(format!("The {best} steps to the catch are best"));
    sheet
}
