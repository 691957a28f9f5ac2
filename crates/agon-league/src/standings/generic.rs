//! Anyone's own event: points, then mean score; roles apart, and by mean score alone where less is better.

use agon_core::{Better, GameInfo};

use super::hide_and_seek::role_of;
use super::line::{Ranked, ranked};
use super::{Cell, Column, Group, Line, Ratio, Row, Sheet};
use crate::statistics::Counted;

pub(super) fn groups<'a>(game: &GameInfo, lines: &[Line<'a>]) -> Vec<Group<'a>> {
    let of_role = |role: &agon_core::RoleInfo| {
        let lines: Vec<Line<'a>> =
            lines.iter().filter(|line| role_of(game, line) == role.name).copied().collect();
        let alone = game.roles.len() > 1;
        let sign = if role.better == Better::Lower { 1 } else { -1 };
        let key = |line: &Line<'_>| {
            let mean = line.mean_score();
            (if alone { 0 } else { -line.sums.points }, Ratio { sum: sign * mean.sum, ..mean })
        };
        Group {
            role: role.name,
            metric: if alone { format!("Mean {}", game.score.name) } else { "Points a match".to_owned() },
            decimals: 3,
            counted: if alone { Counted::Score } else { Counted::Points },
            ranked: ranked(&lines, key),
        }
    };
    game.roles.iter().map(of_role).filter(|group| !group.ranked.is_empty()).collect()
}

pub(super) fn sheet(game: &GameInfo, group: &Group<'_>, several: bool) -> Sheet {
    let mut sheet = if several {
        Sheet::official(&format!("table-{}", group.role), &format!("Table: {}", group.role))
    } else {
        Sheet::official("table", "Table")
    };
    let with_contributors = group.ranked.iter().any(|r| r.line.contributor() != Cell::Empty);
    sheet.columns = vec![Column::number("rank", "Rank"), Column::text("name", "Name")];
    sheet.columns.extend(with_contributors.then(|| Column::text("contributor", "Contributor")));
    sheet.columns.extend((!several).then(|| Column::number("points", "Points")));
    sheet.columns.extend([
        Column::number("score", format!("Mean {} {}", game.score.name, game.score.unit).trim_end()),
        Column::number("won", "Won"),
        Column::number("drawn", "Drawn"),
        Column::number("lost", "Lost"),
        Column::number("games", "Games"),
    ]);
    for Ranked { rank, line } in &group.ranked {
        let sums = line.sums;
        let mut cells = vec![Cell::Int(*rank as i64), line.name()];
        cells.extend(with_contributors.then(|| line.contributor()));
        let decimals = if sums.points % i128::from(crate::Fixed::ONE) == 0 { 0 } else { game.score.decimals };
        cells.extend((!several).then(|| Cell::Real(sums.total_points(), decimals, "")));
        cells.push(Cell::Real(line.mean_score().real(), game.score.decimals, ""));
        cells.extend([sums.won, sums.drawn, sums.lost, sums.games].map(|n| Cell::Int(n as i64)));
        sheet.rows.push(Row { entrant: line.entrant, cells });
    }
    sheet
}
