//! Restores what bots find in their folders: their `data/` and the logs of finished games.

use agon_league::{Entrant, MatchKey};
use agon_store::MatchFilter;
use futures_util::StreamExt as _;

use super::{CompetitionRun, PhaseRun};
use crate::logs_dirs::FinishedGame;
use crate::{RunError, data_dir};

impl CompetitionRun<'_> {
    /// Restores the bots' `data/` folders and the logs of earlier phases. Logs of this phase are added stage by stage.
    pub(super) fn restore_bot_data(&self, phase_run: &PhaseRun<'_>) -> Result<(), RunError> {
        let phase = phase_run.context.phase;
        let versions = self.block_on(self.ledger.bot_versions())?;
        for (number, loaded) in phase_run.context.entrants.iter().enumerate() {
            let (entrant, Some(folder)) = (Entrant(number as u32), loaded.data_dir()) else { continue };
            let stored = self.block_on(self.ledger.data_folder_before(entrant, phase, u32::MAX))?;
            let Some((key, data)) = stored else { continue };
            // A new version starts with its submitted data.
            let is_newer = |from: u32| from > key.phase && from <= phase;
            if !versions
                .iter()
                .any(|one| one.entrant == entrant && one.version > 1 && is_newer(one.from_phase))
            {
                data_dir::unpack(&data.bytes, folder)?;
            }
        }
        if phase_run.logs_dirs.is_empty() {
            return Ok(());
        }
        for earlier in 0..phase {
            for stage in 0..self.stage_count(earlier)? as u32 {
                phase_run
                    .logs_dirs
                    .add_stage_games(&self.finished_games(earlier, stage..stage + 1)?, true)?;
            }
        }
        Ok(())
    }

    fn stage_count(&self, phase: u32) -> Result<usize, RunError> {
        Ok(self.block_on(self.ledger.progress(phase))?.played.len())
    }

    /// Games of some stages, in the order of the schedule.
    pub(super) fn finished_games(
        &self,
        phase: u32,
        stages: std::ops::Range<u32>,
    ) -> Result<Vec<FinishedGame>, RunError> {
        let filter = MatchFilter { stages, ..MatchFilter::default() };
        self.runtime.block_on(async {
            let mut games = Vec::new();
            let mut records = self.ledger.records(phase, filter.clone());
            let mut seats: Option<(MatchKey, Vec<Entrant>)> = None;
            while let Some(one) = records.next().await {
                let one = one?;
                if seats.as_ref().is_none_or(|(key, _)| *key != one.key) {
                    let found = self.ledger.find(one.key).await?;
                    seats = Some((one.key, found.map_or_else(Vec::new, |found| found.result.entrants())));
                }
                let seats = seats.as_ref().map_or_else(Vec::new, |(_, seats)| seats.clone());
                games.push(FinishedGame { seats, record: one.bytes });
            }
            Ok(games)
        })
    }
}
