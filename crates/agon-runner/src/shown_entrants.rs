//! Entrants as tables, records and pages show them: with the names and authors that bots give themselves, where the file has none.

use agon_core::SelfDescription;
use agon_league::Entrant;
use agon_league::config::self_descriptions;
use agon_league::config::{CompetitionConfig, EntrantSpec};
use agon_store::{BotVersion, Ledger};

use crate::RunError;

/// The entrants of a phase, as tables show them. The descriptions are those of the bot versions that play the phase.
pub async fn shown_entrants(
    ledger: &dyn Ledger,
    competition: &CompetitionConfig,
    phase: u32,
) -> Result<Vec<EntrantSpec>, RunError> {
    let versions = ledger.bot_versions().await?;
    let says = descriptions(&versions, competition.entrants.len(), phase);
    Ok(self_descriptions::shown_entrants(&competition.entrants, &says))
}

/// What the bots of a phase say about themselves, by entrant.
fn descriptions(versions: &[BotVersion], entrants: usize, phase: u32) -> Vec<SelfDescription> {
    let latest = |number: usize| {
        let entrant = Entrant(number as u32);
        versions.iter().rfind(|one| one.entrant == entrant && one.from_phase <= phase)
    };
    (0..entrants).map(|number| latest(number).map(|one| one.says.clone()).unwrap_or_default()).collect()
}
