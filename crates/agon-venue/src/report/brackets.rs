//! Bracket of an elimination phase: stages from the schedule, scores from the ledger.

use agon_core::GameInfo;
use agon_league::format::{MatchVerdict, PhaseField, PhaseHistory, PhaseSchedule, Stage};
use agon_league::{Entrant, FixedPoint, MatchKey};
use agon_report::bracket::{Bracket, Round, Side, Tie};
use agon_report::data::GameList;
use agon_store::{Ledger, MatchFilter};
use futures_util::StreamExt as _;

use crate::error::Failure;

/// Names of the started stages; empty if there is only one.
pub fn stage_names(plan: &dyn PhaseSchedule, stages: &[Vec<MatchVerdict>], begun: u32) -> Vec<String> {
    if begun <= 1 && !plan.depends_on_results() {
        return Vec::new();
    }
    (0..begun)
        .map(|number| stage(plan, stages, number).map_or_else(String::new, |stage| stage.name()))
        .collect()
}

fn stage(plan: &dyn PhaseSchedule, stages: &[Vec<MatchVerdict>], number: u32) -> Option<Box<dyn Stage>> {
    let known = stages.len().min(number as usize);
    plan.stage(number, &PhaseHistory { stages: &stages[..known], ..PhaseHistory::default() })
}

/// A tie that is being summed up. Sums stay integers until all games are added.
struct TieSums {
    seats: [Entrant; 2],
    points: [FixedPoint; 2],
    second: [FixedPoint; 2],
    /// Sides that lost because they were disqualified.
    forfeited: [bool; 2],
    extra: u32,
    /// Whether all matches of the tie were played.
    finished: bool,
    stages: Vec<u32>,
    matches: Vec<MatchKey>,
}

/// The bracket up to the current stage.
pub async fn bracket(
    ledger: &dyn Ledger,
    info: &GameInfo,
    phase: u32,
    plan: &dyn PhaseSchedule,
    field: &PhaseField,
    stages: &[Vec<MatchVerdict>],
    games: &GameList,
) -> Result<Bracket, Failure> {
    let mut rounds: Vec<(String, Vec<TieSums>)> = Vec::new();
    for number in 0..=stages.len() as u32 {
        let Some(stage) = stage(plan, stages, number) else { break };
        let name = stage.name();
        // An extra pair belongs to the tie that it decides.
        let (round, is_extra) = match name.split_once(", extra pair") {
            Some((round, _)) => (round, true),
            None => (name.as_str(), false),
        };
        if !is_extra || rounds.is_empty() {
            rounds.push((round.to_owned(), Vec::new()));
        }
        let Some((_, ties)) = rounds.last_mut() else { break };
        ties_of_stage(ties, stage.as_ref(), field, number, is_extra, (number as usize) < stages.len());
        let filter = MatchFilter { stages: number..number + 1, ..MatchFilter::default() };
        let mut matches = ledger.matches(phase, filter);
        while let Some(one) = matches.next().await {
            let one = one?.result;
            add(ties, one.key, &MatchVerdict::of(info, &one));
        }
        for tie in ties.iter_mut() {
            for (side, lost) in tie.seats.iter().zip(&mut tie.forfeited) {
                *lost |= stages
                    .get(number as usize)
                    .is_some_and(|all| all.iter().any(|one| one.is_forfeited(*side)));
            }
        }
    }
    let second = match info.id {
        "word-racer" => "word points",
        "connect-five" => "games won - lost",
        _ => "score",
    };
    let round = |(name, ties): (String, Vec<TieSums>)| Round {
        name,
        ties: ties.iter().map(|tie| closed(tie, games)).collect(),
    };
    Ok(Bracket { rounds: rounds.into_iter().map(round).collect(), second })
}

/// Ties of a stage in its order; in each tie the better seed comes first.
fn ties_of_stage(
    ties: &mut Vec<TieSums>,
    stage: &dyn Stage,
    field: &PhaseField,
    number: u32,
    is_extra: bool,
    finished: bool,
) {
    let seed = |one: Entrant| field.entrants.iter().position(|known| *known == one);
    let fixtures = (0..stage.len()).filter_map(|at| stage.fixture(at));
    for fixture in fixtures {
        let [a, b] = fixture.seats[..] else { continue };
        let seats = if seed(a) <= seed(b) { [a, b] } else { [b, a] };
        let at = ties.iter().position(|tie| tie.seats == seats).unwrap_or_else(|| {
            let zero = [FixedPoint::ZERO; 2];
            ties.push(TieSums {
                seats,
                points: zero,
                second: zero,
                forfeited: [false; 2],
                extra: 0,
                finished: true,
                stages: Vec::new(),
                matches: Vec::new(),
            });
            ties.len() - 1
        });
        let tie = &mut ties[at];
        if !tie.stages.contains(&number) {
            tie.stages.push(number);
            tie.extra += u32::from(is_extra);
            tie.finished &= finished;
        }
    }
}

fn add(ties: &mut [TieSums], key: MatchKey, verdict: &MatchVerdict) {
    let Some(tie) = ties.iter_mut().find(|tie| tie.seats.iter().all(|one| verdict.seats.contains(one)))
    else {
        return;
    };
    tie.matches.push(key);
    for (seat, entrant) in verdict.seats.iter().enumerate() {
        let side = usize::from(*entrant != tie.seats[0]);
        tie.points[side] += verdict.points.get(seat).copied().unwrap_or_default();
        tie.second[side] += verdict.tie_break.get(seat).copied().unwrap_or_default();
    }
}

fn closed(tie: &TieSums, games: &GameList) -> Tie {
    let side = |at: usize| Side {
        entrant: tie.seats[at],
        points: tie.points[at].to_f64(),
        second: tie.second[at].to_f64(),
    };
    // Still equal after all extra pairs: the better seed advances.
    let worth = |side: usize| (!tie.forfeited[side], tie.points[side], tie.second[side]);
    let second_is_better = worth(1) > worth(0);
    let shown = games.shown.iter().filter(|game| game.has_page && tie.stages.contains(&game.key.stage));
    let own =
        shown.filter(|game| tie.seats.iter().all(|one| game.seats.iter().any(|seat| seat.entrant == *one)));
    Tie {
        sides: [side(0), side(1)],
        winner: tie.finished.then_some(usize::from(second_is_better)),
        extra: tie.extra,
        games: own.map(|game| (game.key, game.game)).collect(),
        matches: tie.matches.clone(),
    }
}
