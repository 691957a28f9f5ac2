//! Schedule of a phase: its known stages, and which matches were played.

use std::sync::Arc;

use agon_competition::LoadedCompetition;
use agon_league::config::StopRule;
use agon_league::format::{BalanceReport, PhaseHistory, Stage};
use agon_league::{Entrant, MatchKey, standings};
use agon_runner::phase_results;
use agon_store::{Ledger, Ranges};
use tokio::runtime::Handle;

use super::VisibleCompetition;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Maximum number of stages that are listed.
const MAX_STAGES: u32 = 2_000;

/// A stage of a phase.
pub struct PlannedStage {
    /// The stage's fixtures.
    pub stage: Box<dyn Stage>,
    /// The stage's name.
    pub name: String,
    /// Numbers of the matches that were played.
    pub done: Ranges,
}

/// The stages of a phase and their progress.
pub struct StageProgress {
    /// Stages known so far.
    pub stages: Vec<PlannedStage>,
    /// How evenly opponents and seats are distributed.
    pub balance: Option<BalanceReport>,
}

impl StageProgress {
    /// The played match before this one in the schedule.
    pub fn previous_played(&self, key: MatchKey) -> Option<MatchKey> {
        let of_stage = |stage: u32, below: u64| {
            let done = &self.stages.get(stage as usize)?.done;
            let range = done.iter().take_while(|range| range.start < below).last()?;
            Some(MatchKey { phase: key.phase, stage, number: range.end.min(below) - 1 })
        };
        of_stage(key.stage, key.number)
            .or_else(|| (0..key.stage).rev().find_map(|stage| of_stage(stage, u64::MAX)))
    }

    /// The played match after this one in the schedule.
    pub fn next_played(&self, key: MatchKey) -> Option<MatchKey> {
        let of_stage = |stage: u32, from: u64| {
            let done = &self.stages.get(stage as usize)?.done;
            let range = done.iter().find(|range| range.end > from)?;
            Some(MatchKey { phase: key.phase, stage, number: range.start.max(from) })
        };
        of_stage(key.stage, key.number + 1)
            .or_else(|| (key.stage + 1..self.stages.len() as u32).find_map(|stage| of_stage(stage, 0)))
    }
}

impl VisibleCompetition {
    /// The stages of a phase (from 1).
    pub async fn stage_progress(&self, app: &AppState, number: u32) -> ApiResult<Arc<StageProgress>> {
        let (loaded, ledger, phase) = self.handle.phase(number)?;
        let make = || {
            app.competitions
                .compute(move |handle: &Handle| handle.block_on(compute(&loaded, &*ledger, phase)))
        };
        let cached = self.handle.plans.get(phase, self.handle.revision(), self.is_running(), make).await?;
        Ok(cached.value)
    }
}

async fn compute(loaded: &LoadedCompetition, ledger: &dyn Ledger, number: u32) -> ApiResult<StageProgress> {
    let (competition, info) = (&loaded.competition, loaded.table.info());
    let phase = &competition.phases[number as usize];
    let broke = |error: agon_runner::RunError| ApiError::internal(error);
    let done = ledger.progress(number).await.map_err(ApiError::internal)?.played;
    let seed = ledger.secret_seed().await.map_err(ApiError::internal)?;
    // The phase has no schedule before its entrants are known.
    let Ok(plan) = phase_results::schedule(ledger, competition, info, number, &seed).await else {
        return Ok(StageProgress { stages: Vec::new(), balance: None });
    };
    let started = done.len() as u32;
    let finished = if plan.depends_on_results() {
        phase_results::finished_stages(ledger, info, number, plan.as_ref(), started).await.map_err(broke)?
    } else {
        Vec::new()
    };
    let mut stages = Vec::new();
    for at in 0..MAX_STAGES {
        // The next stage depends on the results of this one, so it is unknown until this one is finished.
        if plan.depends_on_results() && at as usize > finished.len() {
            break;
        }
        let until_settled = matches!(phase.stop, StopRule::Settled { .. }) && at > 0;
        if until_settled && at > started {
            break;
        }
        let (open, order): (Vec<Entrant>, Vec<Entrant>) = if until_settled {
            let tally = phase_results::tally_before_stage(ledger, info, number, at).await.map_err(broke)?;
            let request = phase_results::standings_request(competition, info, phase, &[]);
            (standings::open_entrants(&tally, &request), standings::official_order(&tally, &request))
        } else {
            (Vec::new(), Vec::new())
        };
        let known = finished.len().min(at as usize);
        let past = PhaseHistory { stages: &finished[..known], open: &open, order: &order };
        let Some(stage) = plan.stage(at, &past) else { break };
        // An extra stage is listed only once it has started, or once the stage before it is finished.
        if until_settled && at == started && !is_finished(stages.last(), at) {
            break;
        }
        let name = stage.name();
        stages.push(PlannedStage { stage, name, done: done.get(at as usize).cloned().unwrap_or_default() });
    }
    let past = PhaseHistory { stages: &finished, ..PhaseHistory::default() };
    let is_empty = plan.depends_on_results() && finished.is_empty();
    Ok(StageProgress { balance: (!is_empty).then(|| plan.balance(&past)), stages })
}

fn is_finished(last: Option<&PlannedStage>, at: u32) -> bool {
    at == 0 || last.is_some_and(|last| last.done.len() >= last.stage.len())
}

#[cfg(test)]
mod tests {
    use agon_league::format::Fixture;

    use super::*;

    struct StubStage;

    impl Stage for StubStage {
        fn name(&self) -> String {
            String::new()
        }
        fn len(&self) -> u64 {
            9
        }
        fn fixture(&self, _: u64) -> Option<Fixture> {
            None
        }
    }

    #[test]
    fn previous_and_next_skip_matches_that_were_not_played() {
        let stage = |numbers: &[u64]| {
            let mut done = Ranges::new();
            for number in numbers {
                done.insert(*number);
            }
            PlannedStage { stage: Box::new(StubStage), name: String::new(), done }
        };
        let progress =
            StageProgress { stages: vec![stage(&[0, 1, 4]), stage(&[]), stage(&[2, 3])], balance: None };
        let key = |stage: u32, number: u64| MatchKey { phase: 0, stage, number };
        let all = [key(0, 0), key(0, 1), key(0, 4), key(2, 2), key(2, 3)];
        for two in all.windows(2) {
            assert_eq!(progress.next_played(two[0]), Some(two[1]));
            assert_eq!(progress.previous_played(two[1]), Some(two[0]));
        }
        assert_eq!((progress.previous_played(all[0]), progress.next_played(all[4])), (None, None));
        assert_eq!(
            progress.previous_played(key(0, 3)),
            Some(key(0, 1)),
            "a match that was not played has neighbours too"
        );
    }
}
