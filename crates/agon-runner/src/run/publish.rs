//! Publishes the table of a finished phase.

use agon_core::record::Digest;
use agon_league::config::PhaseConfig;
use agon_league::standings::Standings;
use agon_store::{StoreError, Timestamp};
use sha2::{Digest as _, Sha256};

use super::CompetitionRun;
use crate::event::{RunEvent, RunListener};
use crate::phase_results::PhaseResults;
use crate::rulings::Rulings;
use crate::{RunError, phase_results};

impl CompetitionRun<'_> {
    /// Computes the standings under the rulings in force, and stores their hash with the phase.
    pub(super) fn publish(
        &self,
        number: u32,
        phase: &PhaseConfig,
        results: &PhaseResults,
        listener: &mut dyn RunListener,
    ) -> Result<(), RunError> {
        loop {
            let rulings = self.runtime.block_on(Rulings::load(self.ledger))?;
            let standings = self.runtime.block_on(self.standings(number, results, &rulings))?;
            let table = Digest(Sha256::digest(standings.json().to_string().as_bytes()).into());
            let ruling_ids = rulings.in_force();
            match self.runtime.block_on(self.ledger.publish_phase(
                number,
                table,
                &ruling_ids,
                Timestamp::now(),
            )) {
                // A ruling was made in the meantime. Try again.
                Err(StoreError::RulingsChanged { .. }) => {}
                done => {
                    done?;
                    let matches = standings.matches;
                    tracing::info!(
                        phase = number + 1,
                        name = phase.name,
                        matches,
                        "phase finished, table published"
                    );
                    listener.event(&RunEvent::Published { phase: number, name: &phase.name, matches });
                    return Ok(());
                }
            }
        }
    }

    /// Standings of the played matches under the rulings in force.
    async fn standings(
        &self,
        number: u32,
        results: &PhaseResults,
        rulings: &Rulings,
    ) -> Result<Standings, RunError> {
        let (ledger, game, ruling_ids) = (self.ledger, self.game_info(), rulings.in_force());
        let counted = if rulings.voided_matches(number, &ruling_ids).is_empty() {
            None
        } else {
            Some(phase_results::results_under_rulings(ledger, game, number, rulings, &ruling_ids).await?)
        };
        let counted = counted.as_ref().unwrap_or(results);
        let standings =
            phase_results::standings_from(ledger, self.competition, game, number, counted, rulings);
        Ok(standings.await?.without_times())
    }
}
