//! Anyone's own event: points, then mean score; roles apart, and by mean score alone where less is better.

use agon_core::{Better, GameInfo};

use super::hide_and_seek::role_of;
use super::row::ranked;
use super::{Cell, Column, RankGroup, EntrantRow, Ratio, StandingsTable};
use crate::statistics::RankingMean;

pub(super) fn groups<'a>(game: &GameInfo, lines: &[EntrantRow<'a>]) -> Vec<RankGroup<'a>> {
    let of_role = |role: &agon_core::RoleInfo| {
        let lines: Vec<EntrantRow<'a>> =
            lines.iter().filter(|line| role_of(game, line) == role.name).copied().collect();
        let alone = game.roles.len() > 1;
        let sign = if role.better == Better::Lower { 1 } else { -1 };
        let key = |line: &EntrantRow<'_>| {
            let mean = line.mean_score();
            (if alone { 0 } else { -line.sums.points }, Ratio { sum: sign * mean.sum, ..mean })
        };
        RankGroup {
            role: role.name,
            metric: if alone { format!("Mean {}", game.score.name) } else { "Points a match".to_owned() },
            decimals: 3,
            counted: if alone { RankingMean::Score } else { RankingMean::Points },
            ranked: ranked(&lines, key),
        }
    };
    game.roles.iter().map(of_role).filter(|group| !group.ranked.is_empty()).collect()
}

pub(super) fn sheet(game: &GameInfo, group: &RankGroup<'_>, several: bool) -> StandingsTable {
    let (id, title) = if several {
        (format!("table-{}", group.role), format!("Table: {}", group.role))
    } else {
        ("table".to_owned(), "Table".to_owned())
    };
    let points = (!several).then(|| Column::number("points", "Points"));
    let columns = points.into_iter().chain([
        Column::number("score", format!("Mean {} {}", game.score.name, game.score.unit).trim_end()),
        Column::number("won", "Won"),
        Column::number("drawn", "Drawn"),
        Column::number("lost", "Lost"),
        Column::number("games", "Games"),
    ]);
    StandingsTable::ranked(&id, &title, group, columns, |line| {
        let sums = line.sums;
        let decimals = if sums.points % i128::from(crate::FixedPoint::ONE) == 0 { 0 } else { game.score.decimals };
        let points = (!several).then(|| Cell::Real(sums.total_points(), decimals, ""));
        let score = Cell::Real(line.mean_score().real(), game.score.decimals, "");
        let counts = [sums.won, sums.drawn, sums.lost, sums.games].map(|n| Cell::Int(n as i64));
        points.into_iter().chain([score]).chain(counts)
    })
}
