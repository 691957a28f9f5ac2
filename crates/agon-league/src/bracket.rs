//! Bracket of an elimination: rounds, ties, scores and places, built from the stages of the schedule and the results so far.

use agon_core::GameInfo;

use crate::format::{MatchVerdict, PhaseField, PhaseHistory, PhaseSchedule, Stage, stage_after};
use crate::{Entrant, FixedPoint, MatchKey};

/// A bracket, up to the stage that is being played.
#[derive(Clone, Debug, Default)]
pub struct Bracket {
    /// Rounds, in playing order.
    pub rounds: Vec<BracketRound>,
    /// Name of the tie-break value: `word points`.
    pub tie_break: &'static str,
    /// Final places known so far, best first. Empty before the first loss.
    pub places: Vec<BracketPlace>,
}

/// Ties that are played at the same time.
#[derive(Clone, Debug)]
pub struct BracketRound {
    /// Name of the round: `quarter-finals`.
    pub name: String,
    /// Ties, from top to bottom.
    pub ties: Vec<BracketTie>,
}

/// Two entrants, one of which advances.
#[derive(Clone, Debug)]
pub struct BracketTie {
    /// The two entrants, the better seed first.
    pub sides: [BracketSide; 2],
    /// Index of the side that advances. `None` while the tie is open.
    pub winner: Option<usize>,
    /// Number of extra pairs of games.
    pub extra_pairs: u32,
    /// Stages in which the tie is played.
    pub stages: Vec<u32>,
    /// Matches that were played.
    pub matches: Vec<MatchKey>,
}

/// One side of a tie.
#[derive(Clone, Copy, Debug)]
pub struct BracketSide {
    /// The entrant.
    pub entrant: Entrant,
    /// Place in the seeding, from 1.
    pub seed: Option<u32>,
    /// Points in this tie.
    pub points: f64,
    /// Tie-break value.
    pub tie_break: f64,
}

/// Entrants that share a final place.
#[derive(Clone, Debug)]
pub struct BracketPlace {
    /// The place, from 1.
    pub place: u32,
    /// The entrants.
    pub entrants: Vec<Entrant>,
}

impl BracketTie {
    /// Whether the tie is finished with equal points, so that the tie-break value or the seeding decided it.
    pub fn is_level(&self) -> bool {
        self.winner.is_some() && self.sides[0].points.total_cmp(&self.sides[1].points).is_eq()
    }
}

/// Builds the bracket. `stages` are the verdicts of finished stages; `results` are the verdicts of all played matches, without forfeits.
pub fn build(
    game: &GameInfo,
    schedule: &dyn PhaseSchedule,
    field: &PhaseField,
    stages: &[Vec<MatchVerdict>],
    results: &[(MatchKey, MatchVerdict)],
) -> Bracket {
    let mut rounds: Vec<(String, Vec<TieSums>)> = Vec::new();
    for number in 0..=stages.len() as u32 {
        let Some(stage) = stage_after(schedule, stages, number) else { break };
        let finished = stages.get(number as usize);
        let name = stage.name();
        // An extra pair belongs to the tie that needed it.
        let (round, is_extra) = match name.split_once(", extra pair") {
            Some((round, _)) => (round, true),
            None => (name.as_str(), false),
        };
        if !is_extra || rounds.is_empty() {
            rounds.push((round.to_owned(), Vec::new()));
        }
        let Some((_, ties)) = rounds.last_mut() else { break };
        add_stage(ties, stage.as_ref(), field, number, is_extra, finished.is_some());
        for (key, verdict) in results.iter().filter(|(key, _)| key.stage == number) {
            add_result(ties, *key, verdict);
        }
        for tie in ties.iter_mut() {
            for (side, lost) in tie.entrants.iter().zip(&mut tie.forfeited) {
                *lost |= finished.is_some_and(|all| all.iter().any(|one| one.is_forfeited(*side)));
            }
        }
    }
    let round = |(name, ties): (String, Vec<TieSums>)| BracketRound {
        name,
        ties: ties.iter().map(|tie| tie.result(field)).collect(),
    };
    Bracket {
        rounds: rounds.into_iter().map(round).collect(),
        tie_break: game.standings.tie_break.name(game),
        places: places(schedule, stages),
    }
}

/// Final places known so far.
fn places(schedule: &dyn PhaseSchedule, stages: &[Vec<MatchVerdict>]) -> Vec<BracketPlace> {
    let past = PhaseHistory { stages, ..PhaseHistory::default() };
    let mut place = 1;
    let mut places = Vec::new();
    for entrants in schedule.placing(&past).unwrap_or_default() {
        let shared = entrants.len() as u32;
        places.push(BracketPlace { place, entrants });
        place += shared;
    }
    // Before the first loss all entrants share the first place, which tells nothing.
    if places.len() < 2 {
        places.clear();
    }
    places
}

/// Sums of a tie. They stay whole numbers until all results are added.
struct TieSums {
    entrants: [Entrant; 2],
    points: [FixedPoint; 2],
    tie_break: [FixedPoint; 2],
    /// Which side lost by disqualification.
    forfeited: [bool; 2],
    extra_pairs: u32,
    /// Whether all stages of the tie are finished.
    finished: bool,
    stages: Vec<u32>,
    matches: Vec<MatchKey>,
}

impl TieSums {
    const fn new(entrants: [Entrant; 2]) -> Self {
        let zero = [FixedPoint::ZERO; 2];
        Self {
            entrants,
            points: zero,
            tie_break: zero,
            forfeited: [false; 2],
            extra_pairs: 0,
            finished: true,
            stages: Vec::new(),
            matches: Vec::new(),
        }
    }

    fn result(&self, field: &PhaseField) -> BracketTie {
        let side = |at: usize| BracketSide {
            entrant: self.entrants[at],
            seed: seed(field, self.entrants[at]).map(|at| at as u32 + 1),
            points: self.points[at].to_f64(),
            tie_break: self.tie_break[at].to_f64(),
        };
        // Still equal after all extra pairs: the better seed advances.
        let worth = |side: usize| (!self.forfeited[side], self.points[side], self.tie_break[side]);
        let second_is_better = worth(1) > worth(0);
        BracketTie {
            sides: [side(0), side(1)],
            winner: self.finished.then_some(usize::from(second_is_better)),
            extra_pairs: self.extra_pairs,
            stages: self.stages.clone(),
            matches: self.matches.clone(),
        }
    }
}

/// Position of an entrant in the seeding, from 0.
fn seed(field: &PhaseField, entrant: Entrant) -> Option<usize> {
    field.entrants.iter().position(|known| *known == entrant)
}

/// Adds the ties of a stage, in its order, the better seed first in each.
fn add_stage(
    ties: &mut Vec<TieSums>,
    stage: &dyn Stage,
    field: &PhaseField,
    number: u32,
    is_extra: bool,
    finished: bool,
) {
    let fixtures = (0..stage.len()).filter_map(|at| stage.fixture(at));
    for fixture in fixtures {
        let [a, b] = fixture.seats[..] else { continue };
        let entrants = if seed(field, a) <= seed(field, b) { [a, b] } else { [b, a] };
        let at = ties.iter().position(|tie| tie.entrants == entrants).unwrap_or_else(|| {
            ties.push(TieSums::new(entrants));
            ties.len() - 1
        });
        let tie = &mut ties[at];
        if !tie.stages.contains(&number) {
            tie.stages.push(number);
            tie.extra_pairs += u32::from(is_extra);
            tie.finished &= finished;
        }
    }
}

fn add_result(ties: &mut [TieSums], key: MatchKey, verdict: &MatchVerdict) {
    let Some(tie) = ties.iter_mut().find(|tie| tie.entrants.iter().all(|one| verdict.seats.contains(one)))
    else {
        return;
    };
    tie.matches.push(key);
    for (seat, entrant) in verdict.seats.iter().enumerate() {
        let side = usize::from(*entrant != tie.entrants[0]);
        tie.points[side] += verdict.points.get(seat).copied().unwrap_or_default();
        tie.tie_break[side] += verdict.tie_break.get(seat).copied().unwrap_or_default();
    }
}

/// A round that is still to come. Its number of ties is known before its entrants are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlannedRound {
    /// Name of the round: `final`.
    pub name: String,
    /// Number of ties.
    pub ties: u32,
}

/// Larger brackets have no planned rounds, because they are found by playing the rest of the bracket.
const MAX_PLANNED_ENTRANTS: usize = 1024;

/// Rounds after the current one. `stages` are the verdicts of finished stages. The better seed is assumed to win every tie: that changes
/// neither the names nor the sizes of the rounds, except that the second match of a grand final is only played if it is needed.
pub fn planned_rounds(
    schedule: &dyn PhaseSchedule,
    field: &PhaseField,
    stages: &[Vec<MatchVerdict>],
) -> Vec<PlannedRound> {
    let mut rounds = Vec::new();
    if field.entrants.len() > MAX_PLANNED_ENTRANTS {
        return rounds;
    }
    let mut all = stages.to_vec();
    while let Some(stage) = stage_after(schedule, &all, all.len() as u32) {
        let fixtures: Vec<_> = (0..stage.len()).filter_map(|number| stage.fixture(number)).collect();
        if all.len() > stages.len() {
            let mut ties: Vec<[Entrant; 2]> = fixtures.iter().filter_map(|one| sorted(&one.seats)).collect();
            ties.sort_unstable();
            ties.dedup();
            rounds.push(PlannedRound { name: stage.name(), ties: ties.len() as u32 });
        }
        let verdict = |seats: Vec<Entrant>| {
            let best = seats.iter().copied().min_by_key(|one| seed(field, *one));
            let points = |one: &Entrant| FixedPoint::from_int(i64::from(Some(*one) == best));
            MatchVerdict { points: seats.iter().map(points).collect(), tie_break: Vec::new(), seats }
        };
        all.push(fixtures.into_iter().map(|one| verdict(one.seats)).collect());
    }
    rounds
}

/// Both entrants of a match, in the order of the file.
fn sorted(seats: &[Entrant]) -> Option<[Entrant; 2]> {
    let [a, b] = *seats else { return None };
    Some(if a <= b { [a, b] } else { [b, a] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Format, TieRule};

    const TIES: TieRule = TieRule { top: None, pairs: 1, extra: 2, third: true };

    fn names(format: &Format, entrants: u32, finished: usize) -> Vec<(String, u32)> {
        let field = PhaseField::of((0..entrants).map(Entrant).collect());
        let schedule = format.schedule(&field, 1).unwrap();
        // The stages that the better seeds have won so far.
        let mut stages = Vec::new();
        for number in 0..finished as u32 {
            let stage = stage_after(schedule.as_ref(), &stages, number).unwrap();
            let fixtures = (0..stage.len()).filter_map(|at| stage.fixture(at));
            let verdict = |seats: Vec<Entrant>| {
                let points =
                    |one: &Entrant| FixedPoint::from_int(i64::from(seats.iter().all(|other| one <= other)));
                MatchVerdict {
                    points: seats.iter().map(points).collect(),
                    tie_break: Vec::new(),
                    seats: seats.clone(),
                }
            };
            stages.push(fixtures.map(|one| verdict(one.seats)).collect());
        }
        let planned = planned_rounds(schedule.as_ref(), &field, &stages);
        planned.into_iter().map(|round| (round.name, round.ties)).collect()
    }

    #[test]
    fn planned_rounds_follow_the_current_one() {
        let knockout = Format::Knockout(TIES);
        let third = ("match for the third place".to_owned(), 1);
        let after = |names: &[(&str, u32)]| {
            let mut all: Vec<(String, u32)> =
                names.iter().map(|(name, ties)| ((*name).to_owned(), *ties)).collect();
            all.insert(all.len() - 1, third.clone());
            all
        };
        assert_eq!(names(&knockout, 7, 0), after(&[("semi-finals", 2), ("final", 1)]));
        assert_eq!(names(&knockout, 9, 0), after(&[("quarter-finals", 4), ("semi-finals", 2), ("final", 1)]));
        assert_eq!(names(&knockout, 8, 1), after(&[("final", 1)]));
        assert!(names(&knockout, 8, 3).is_empty(), "the final is the current round");
    }

    #[test]
    fn double_elimination_has_its_losers_rounds_and_the_grand_final() {
        let rounds = names(&Format::DoubleElimination(TIES), 4, 0);
        let ties: u32 = rounds.iter().map(|(_, ties)| ties).sum();
        // Four entrants: every one but the winner loses twice. Two ties are in the first round.
        assert_eq!(ties, 4, "{rounds:?}");
        assert_eq!(rounds.last().map(|(_, ties)| *ties), Some(1));
    }

    #[test]
    fn large_bracket_has_no_planned_rounds() {
        assert!(names(&Format::Knockout(TIES), MAX_PLANNED_ENTRANTS as u32 + 1, 0).is_empty());
    }
}
