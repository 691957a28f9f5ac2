//! The official order of entrants, by the criteria of the game.

use std::cmp::Reverse;

use agon_core::standings_rules::{MeanOf, RankCriterion};
use agon_core::{GameInfo, RoleInfo, ScoreDirection, Seat};

use super::row::{RankedRow, rank_rows};
use super::{EntrantRow, ExactMean, RankGroup};
use crate::statistics::RankingMean;
use crate::tally::Tally;

/// Role of an entrant: from the file, else from its most frequent seat.
fn role_of(game: &GameInfo, row: &EntrantRow<'_>) -> &'static str {
    let seat = Seat(row.totals.usual_seat().min(u8::MAX.into()) as u8);
    row.spec.and_then(|spec| spec.role).unwrap_or_else(|| game.role(seat).name)
}

/// Entrants that are ranked against each other: all of them, or those of each role.
pub(super) fn groups<'a>(game: &GameInfo, tally: &Tally, rows: &[EntrantRow<'a>]) -> Vec<RankGroup<'a>> {
    if let [role] = game.roles {
        return vec![group(game, tally, *role, rows)];
    }
    let of_role = |role: &RoleInfo| {
        let own: Vec<EntrantRow<'a>> =
            rows.iter().filter(|row| role_of(game, row) == role.name).copied().collect();
        group(game, tally, *role, &own)
    };
    game.roles.iter().map(of_role).filter(|group| !group.ranked.is_empty()).collect()
}

fn group<'a>(game: &GameInfo, tally: &Tally, role: RoleInfo, rows: &[EntrantRow<'a>]) -> RankGroup<'a> {
    let rules = &game.standings;
    let key = |row: &EntrantRow<'a>| -> Vec<Reverse<ExactMean>> {
        rules.order.iter().filter_map(|criterion| value(*criterion, role, row)).map(Reverse).collect()
    };
    let mut ranked = rank_rows(rows, key);
    if rules.order.contains(&RankCriterion::HeadToHead) {
        ranked = ranked
            .chunk_by(|a, b| a.rank == b.rank)
            .flat_map(|tied| break_ties_head_to_head(tally, tied))
            .collect();
    }
    RankGroup {
        role: role.name,
        mean_title: rules.mean.title,
        decimals: rules.mean.decimals,
        ranking_mean: match rules.mean.of {
            MeanOf::Points => RankingMean::Points,
            MeanOf::Score => RankingMean::Score,
        },
        ranked,
    }
}

/// Value of a criterion; higher is better. `None` for one that is not a number.
fn value(criterion: RankCriterion, role: RoleInfo, row: &EntrantRow<'_>) -> Option<ExactMean> {
    let total = |sum: i128| ExactMean { sum, count: 1 };
    Some(match criterion {
        RankCriterion::PointsPerMatch => row.points_per_match(),
        RankCriterion::TotalPoints => total(row.totals.points),
        RankCriterion::MeanScore => {
            let mean = row.mean_score();
            let sign = if role.better == ScoreDirection::Lower { -1 } else { 1 };
            ExactMean { sum: sign * mean.sum, ..mean }
        }
        RankCriterion::TotalStat(index) => total(row.totals.stats.get(index).copied().unwrap_or_default()),
        RankCriterion::GamesWonMinusLost => total(row.won_minus_lost().into()),
        RankCriterion::HeadToHead => return None,
    })
}

/// Orders entrants that share a rank by their matches against each other: points, then games won minus lost. If a smaller group is still
/// equal, repeats this among them.
fn break_ties_head_to_head<'a>(tally: &Tally, tied: &[RankedRow<'a>]) -> Vec<RankedRow<'a>> {
    let Some(base) = tied.first().filter(|_| tied.len() > 1).and_then(|ranked| ranked.rank) else {
        return tied.to_vec();
    };
    let rows: Vec<EntrantRow<'a>> = tied.iter().map(|ranked| ranked.row).collect();
    let among = |row: &EntrantRow<'_>| {
        let others = rows.iter().filter(|other| other.entrant != row.entrant);
        others.fold((0_i128, 0_i64), |(points, games), other| {
            let met = tally.pairs().get(row.entrant, other.entrant);
            let given = tally.pairs().points(row.entrant, other.entrant).map_or(0, |(mine, _)| mine.0);
            (
                points + i128::from(given),
                games + met.map_or(0, |met| i64::from(met.won) - i64::from(met.lost)),
            )
        })
    };
    let again = rank_rows(&rows, |row| Reverse(among(row)));
    let mut settled = Vec::with_capacity(tied.len());
    for still in again.chunk_by(|a, b| a.rank == b.rank) {
        let shifted: Vec<RankedRow<'a>> =
            still.iter().map(|r| RankedRow { rank: r.rank.map(|rank| base + rank - 1), ..*r }).collect();
        settled.extend(if still.len() < tied.len() {
            break_ties_head_to_head(tally, &shifted)
        } else {
            shifted
        });
    }
    settled
}
