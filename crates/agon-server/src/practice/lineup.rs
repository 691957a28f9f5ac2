//! Which players of a ladder meet next. Pure functions of the players and their results.

use std::collections::BTreeMap;

use agon_core::random::Rng;
use agon_site_db::{EntrantId, PracticePlayer};

/// Rating of a player without games.
const START_RATING: f64 = 1500.0;
/// Difference of ratings at which an opponent is chosen much less often than an equal one.
const NEAR_RATING: f64 = 200.0;
/// Weight of an opponent of any strength, compared with an equal one. It connects the whole field.
const FAR_WEIGHT: f64 = 0.05;
/// House bots meet each other for this many games each, so that their places are known.
pub const HOUSE_BOT_GAMES: u32 = 30;

/// When a player needs no more games of its own.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LadderTarget {
    /// Its rating is known this well.
    pub error: f64,
    /// It has played this many games.
    pub games: u32,
}

/// Number of games between two players, by their ids, the lower one first.
pub type Meetings = BTreeMap<(i64, i64), u32>;

/// Key of two players in [`Meetings`].
pub fn pair_key(one: i64, other: i64) -> (i64, i64) {
    (one.min(other), one.max(other))
}

/// Whether a player can be seated.
pub fn is_active(player: &PracticePlayer) -> bool {
    !player.is_replaced && player.failed.is_none()
}

/// How urgently a player needs games; `None` if it needs none. New versions come first, then those whose rating is known worst.
fn urgency(player: &PracticePlayer, target: LadderTarget) -> Option<f64> {
    if !is_active(player) {
        return None;
    }
    if player.house.is_some() {
        // Before a bot is there, and after all others.
        return (player.games < HOUSE_BOT_GAMES).then(|| -f64::from(player.games));
    }
    let error = player.error.unwrap_or(f64::INFINITY);
    if player.games >= target.games || error <= target.error {
        return None;
    }
    // The first games of a new version are urgent: its author waits for them.
    Some(if player.games < 10 { 1e9 - f64::from(player.games) } else { error })
}

/// Indexes of the players of the next games, in seat order; `None` if no player needs games or there are too few. `roles` has the role of
/// each seat; in games with one role all are empty.
pub fn choose_lineup(
    players: &[PracticePlayer],
    meetings: &Meetings,
    roles: &[&str],
    target: LadderTarget,
    rng: &mut Rng,
) -> Option<Vec<usize>> {
    // Equal urgency is decided by chance, so that several versions start together.
    let mut needy: Vec<(f64, f64, usize)> = players
        .iter()
        .enumerate()
        .filter_map(|(index, player)| Some((urgency(player, target)?, rng.unit(), index)))
        .collect();
    needy.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
    needy.into_iter().find_map(|(_, _, own)| lineup_of(own, players, meetings, roles, rng))
}

/// The lineup of a player that needs games.
fn lineup_of(
    own: usize,
    players: &[PracticePlayer],
    meetings: &Meetings,
    roles: &[&str],
    rng: &mut Rng,
) -> Option<Vec<usize>> {
    let player = players.get(own)?;
    let fitting: Vec<usize> = (0..roles.len()).filter(|&seat| roles[seat] == player.role).collect();
    let own_seat = *fitting.get(rng.below(fitting.len() as u32) as usize)?;
    let mut lineup = vec![own; roles.len()];
    let mut seated = vec![own];
    for (seat, role) in roles.iter().enumerate().filter(|(seat, _)| *seat != own_seat) {
        let opponent = choose_opponent(player, &seated, role, players, meetings, rng)?;
        lineup[seat] = opponent;
        seated.push(opponent);
    }
    Some(lineup)
}

/// An opponent for a player: near in rating, not met too often, of another bot than those that are seated.
fn choose_opponent(
    player: &PracticePlayer,
    seated: &[usize],
    role: &str,
    players: &[PracticePlayer],
    meetings: &Meetings,
    rng: &mut Rng,
) -> Option<usize> {
    let rating = |one: &PracticePlayer| one.rating.unwrap_or(START_RATING);
    let is_seated = |index: usize, other: &PracticePlayer| {
        let same_bot = |entrant: Option<EntrantId>| entrant.is_some() && entrant == other.entrant;
        seated
            .iter()
            .any(|&there| there == index || players.get(there).is_some_and(|there| same_bot(there.entrant)))
    };
    let weights: Vec<(usize, f64)> = players
        .iter()
        .enumerate()
        .filter(|(index, other)| is_active(other) && other.role == role && !is_seated(*index, other))
        .map(|(index, other)| {
            let apart = (rating(other) - rating(player)) / NEAR_RATING;
            let met = meetings.get(&pair_key(player.id, other.id)).copied().unwrap_or_default();
            (index, (FAR_WEIGHT + (-apart * apart).exp()) / (1.0 + f64::from(met)))
        })
        .collect();
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let mut drawn = rng.unit() * total;
    for (index, weight) in &weights {
        drawn -= weight;
        if drawn <= 0.0 {
            return Some(*index);
        }
    }
    weights.last().map(|(index, _)| *index)
}

#[cfg(test)]
mod tests {
    use agon_core::random::RngStream;

    use super::*;

    const TARGET: LadderTarget = LadderTarget { error: 35.0, games: 600 };

    fn player(id: i64, entrant: Option<i64>, role: &str) -> PracticePlayer {
        PracticePlayer {
            id,
            entrant: entrant.map(EntrantId),
            submission: None,
            version: entrant.map(|_| 1),
            account: None,
            name: format!("p{id}"),
            house: entrant.is_none().then(|| format!("h{id}")),
            role: role.to_owned(),
            is_replaced: false,
            games: 100,
            faults: 0,
            beaten: 50.0,
            beaten_squares: 50.0,
            form: String::new(),
            rating: Some(START_RATING),
            error: Some(100.0),
            failed: None,
        }
    }

    fn choose(players: &[PracticePlayer], meetings: &Meetings, roles: &[&str]) -> Vec<Vec<usize>> {
        let mut rng = Rng::new(7, RngStream::Game);
        (0..200).filter_map(|_| choose_lineup(players, meetings, roles, TARGET, &mut rng)).collect()
    }

    #[test]
    fn new_versions_play_first_then_the_widest_error() {
        let mut players = vec![player(1, Some(1), ""), player(2, Some(2), ""), player(3, None, "")];
        players[1].error = Some(150.0);
        assert!(choose(&players, &Meetings::new(), &["", ""]).iter().all(|lineup| lineup.contains(&1)));
        players[0] = PracticePlayer { games: 0, error: None, rating: None, ..players[0].clone() };
        assert!(choose(&players, &Meetings::new(), &["", ""]).iter().all(|lineup| lineup.contains(&0)));
    }

    #[test]
    fn opponents_are_near_and_change() {
        let mut players: Vec<_> = (1..=4).map(|id| player(id, Some(id), "")).collect();
        players[0].error = Some(200.0);
        players[3].rating = Some(2500.0);
        let lineups = choose(&players, &Meetings::new(), &["", ""]);
        let with = |opponent: usize| lineups.iter().filter(|lineup| lineup.contains(&opponent)).count();
        assert!(with(1) > 50 && with(2) > 50 && with(3) < 30, "{} {} {}", with(1), with(2), with(3));
        let often = Meetings::from([(pair_key(2, 1), 50)]);
        let lineups = choose(&players, &often, &["", ""]);
        assert!(lineups.iter().filter(|lineup| lineup.contains(&1)).count() < 30);
    }

    #[test]
    fn seats_have_players_of_their_roles() {
        let players = [player(1, Some(1), "seeker"), player(2, Some(2), "hider"), player(3, None, "hider")];
        let lineups = choose(&players, &Meetings::new(), &["seeker", "hider"]);
        assert!(!lineups.is_empty());
        assert!(lineups.iter().all(|lineup| lineup[0] == 0 && lineup[1] != 0));
    }

    #[test]
    fn finished_replaced_and_failed_players_are_left_alone() {
        let mut settled = player(1, Some(1), "");
        settled.error = Some(30.0);
        let mut replaced = player(2, Some(2), "");
        replaced.is_replaced = true;
        let mut failed = player(3, Some(3), "");
        failed.failed = Some("does not load".to_owned());
        let house = player(4, None, "");
        let all = [settled.clone(), replaced.clone(), failed.clone(), house.clone()];
        assert!(choose(&all, &Meetings::new(), &["", ""]).is_empty(), "nobody needs games");
        let mut own = player(5, Some(5), "");
        own.games = 600;
        assert!(choose(&[own, house.clone()], &Meetings::new(), &["", ""]).is_empty(), "enough games");
        // Two versions of one bot never meet.
        let versions = [player(6, Some(6), ""), player(7, Some(6), "")];
        assert!(choose(&versions, &Meetings::new(), &["", ""]).is_empty());
        let lineups = choose(&[player(8, Some(8), ""), replaced, failed, house], &Meetings::new(), &["", ""]);
        assert!(lineups.iter().all(|lineup| lineup.contains(&0) && lineup.contains(&3)));
        assert!(!lineups.is_empty() && settled.failed.is_none());
    }
}
