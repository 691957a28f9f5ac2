//! What a phase plays: its stages as far as they are known, and what of them was played.

use std::sync::Arc;

use agon_league::config::StopRule;
use agon_league::format::{BalanceReport, PhaseHistory, Stage};
use agon_league::{Entrant, MatchKey, standings};
use agon_runner::phase_results;
use agon_store::{Ledger, Ranges};
use agon_venue::Sitting;
use tokio::runtime::Handle;

use super::VisibleCompetition;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// More stages are not listed: no phase that people look at has them.
const MOST_STAGES: u32 = 2_000;

/// A stage.
pub struct PlannedStage {
    /// What is played.
    pub stage: Box<dyn Stage>,
    /// For people.
    pub name: String,
    /// Which of it was played.
    pub done: Ranges,
}

/// A phase.
pub struct StageProgress {
    /// As far as they are known.
    pub stages: Vec<PlannedStage>,
    /// How evenly it is spread.
    pub balance: Option<BalanceReport>,
}

impl StageProgress {
    /// The match that stands before this one in the schedule, of those that were played.
    pub fn before(&self, key: MatchKey) -> Option<MatchKey> {
        let of_stage = |stage: u32, below: u64| {
            let done = &self.stages.get(stage as usize)?.done;
            let range = done.iter().take_while(|range| range.start < below).last()?;
            Some(MatchKey { phase: key.phase, stage, number: range.end.min(below) - 1 })
        };
        of_stage(key.stage, key.number)
            .or_else(|| (0..key.stage).rev().find_map(|stage| of_stage(stage, u64::MAX)))
    }

    /// The one after it.
    pub fn after(&self, key: MatchKey) -> Option<MatchKey> {
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
    /// What a phase, from 1, plays.
    pub async fn planned(&self, app: &AppState, number: u32) -> ApiResult<Arc<StageProgress>> {
        let (sitting, ledger, phase) = self.arena.phase(number)?;
        let make =
            || app.arenas.work(move |handle: &Handle| handle.block_on(make(&sitting, &*ledger, phase)));
        let kept = self.arena.plans.get(phase, self.arena.revision(), self.is_running(), make).await?;
        Ok(kept.value)
    }
}

async fn make(sitting: &Sitting, ledger: &dyn Ledger, number: u32) -> ApiResult<StageProgress> {
    let (competition, info) = (&sitting.competition, sitting.table.info());
    let phase = &competition.phases[number as usize];
    let broke = |error: agon_runner::RunError| ApiError::broke(error);
    let done = ledger.progress(number).await.map_err(ApiError::broke)?.stages;
    let seed = ledger.secret().await.map_err(ApiError::broke)?;
    // Before those who play it are known there is nothing to show.
    let Ok(plan) = phase_results::plan(ledger, competition, info, number, &seed).await else {
        return Ok(StageProgress { stages: Vec::new(), balance: None });
    };
    let begun = done.len() as u32;
    let finished = if plan.depends_on_results() {
        phase_results::finished_stages(ledger, info, number, plan.as_ref(), begun).await.map_err(broke)?
    } else {
        Vec::new()
    };
    let mut stages = Vec::new();
    for at in 0..MOST_STAGES {
        // What comes of a stage that is not finished decides what the next one plays.
        if plan.depends_on_results() && at as usize > finished.len() {
            break;
        }
        let settles = matches!(phase.stop, StopRule::Settled { .. }) && at > 0;
        if settles && at > begun {
            break;
        }
        let (open, order): (Vec<Entrant>, Vec<Entrant>) = if settles {
            let tally = phase_results::tally_before(ledger, info, number, at).await.map_err(broke)?;
            let asked = phase_results::standings_request(competition, info, phase, &[]);
            (standings::open(&tally, &asked), standings::order(&tally, &asked))
        } else {
            (Vec::new(), Vec::new())
        };
        let known = finished.len().min(at as usize);
        let past = PhaseHistory { stages: &finished[..known], open: &open, order: &order };
        let Some(stage) = plan.stage(at, &past) else { break };
        // A further stage only shows once it was begun: the one before may not be over.
        if settles && at == begun && !is_whole(stages.last(), at) {
            break;
        }
        let name = stage.name();
        stages.push(PlannedStage { stage, name, done: done.get(at as usize).cloned().unwrap_or_default() });
    }
    let past = PhaseHistory { stages: &finished, ..PhaseHistory::default() };
    let is_empty = plan.depends_on_results() && finished.is_empty();
    Ok(StageProgress { balance: (!is_empty).then(|| plan.balance(&past)), stages })
}

fn is_whole(last: Option<&PlannedStage>, at: u32) -> bool {
    at == 0 || last.is_some_and(|last| last.done.len() >= last.stage.len())
}

#[cfg(test)]
mod tests {
    use agon_league::format::Fixture;

    use super::*;

    struct Empty;

    impl Stage for Empty {
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
    fn neighbours_are_those_that_were_played() {
        let stage = |numbers: &[u64]| {
            let mut done = Ranges::new();
            for number in numbers {
                done.insert(*number);
            }
            PlannedStage { stage: Box::new(Empty), name: String::new(), done }
        };
        let planned = StageProgress { stages: vec![stage(&[0, 1, 4]), stage(&[]), stage(&[2, 3])], balance: None };
        let key = |stage: u32, number: u64| MatchKey { phase: 0, stage, number };
        let all = [key(0, 0), key(0, 1), key(0, 4), key(2, 2), key(2, 3)];
        for two in all.windows(2) {
            assert_eq!(planned.after(two[0]), Some(two[1]));
            assert_eq!(planned.before(two[1]), Some(two[0]));
        }
        assert_eq!((planned.before(all[0]), planned.after(all[4])), (None, None));
        assert_eq!(planned.before(key(0, 3)), Some(key(0, 1)), "one that was not played has neighbours too");
    }
}
