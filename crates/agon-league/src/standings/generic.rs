//! Any other event: points, then mean score. Games with roles: one table per role, by mean score only.

use agon_core::{GameInfo, ScoreDirection};

use super::hide_and_seek::role_of;
use super::row::rank_rows;
use super::{EntrantRow, ExactMean, RankGroup, StandingsTable, TableCell, TableColumn};
use crate::statistics::RankingMean;

pub(super) fn groups<'a>(game: &GameInfo, rows: &[EntrantRow<'a>]) -> Vec<RankGroup<'a>> {
    let of_role = |role: &agon_core::RoleInfo| {
        let rows: Vec<EntrantRow<'a>> =
            rows.iter().filter(|row| role_of(game, row) == role.name).copied().collect();
        let alone = game.roles.len() > 1;
        let sign = if role.better == ScoreDirection::Lower { 1 } else { -1 };
        let key = |row: &EntrantRow<'_>| {
            let mean = row.mean_score();
            (if alone { 0 } else { -row.totals.points }, ExactMean { sum: sign * mean.sum, ..mean })
        };
        RankGroup {
            role: role.name,
            mean_title: if alone { format!("Mean {}", game.score.name) } else { "Points a match".to_owned() },
            decimals: 3,
            ranking_mean: if alone { RankingMean::Score } else { RankingMean::Points },
            ranked: rank_rows(&rows, key),
        }
    };
    game.roles.iter().map(of_role).filter(|group| !group.ranked.is_empty()).collect()
}

pub(super) fn table(game: &GameInfo, group: &RankGroup<'_>, several: bool) -> StandingsTable {
    let (id, title) = if several {
        (format!("table-{}", group.role), format!("Table: {}", group.role))
    } else {
        ("table".to_owned(), "Table".to_owned())
    };
    let points = (!several).then(|| TableColumn::number("points", "Points"));
    let columns = points.into_iter().chain([
        TableColumn::number("score", format!("Mean {} {}", game.score.name, game.score.unit).trim_end()),
        TableColumn::number("won", "Won"),
        TableColumn::number("drawn", "Drawn"),
        TableColumn::number("lost", "Lost"),
        TableColumn::number("games", "Games"),
    ]);
    StandingsTable::ranked(&id, &title, group, columns, |row| {
        let totals = row.totals;
        let decimals =
            if totals.points % i128::from(crate::FixedPoint::ONE) == 0 { 0 } else { game.score.decimals };
        let points = (!several).then(|| TableCell::Real(totals.total_points(), decimals, ""));
        let score = TableCell::Real(row.mean_score().to_f64(), game.score.decimals, "");
        let counts = [totals.won, totals.drawn, totals.lost, totals.games].map(|n| TableCell::Int(n as i64));
        points.into_iter().chain([score]).chain(counts)
    })
}
