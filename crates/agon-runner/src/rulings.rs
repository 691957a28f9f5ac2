//! Rulings of the organiser: making a ruling, and its effect on a phase.
//!
//! A ruling changes what counts; stored matches stay as they are. A step of a run uses the rulings in force when the step happened: the
//! field of a phase uses those at its start, and a match of a bracket is forfeited by an entrant that was disqualified when the match
//! ended. Therefore a stopped and resumed run gives the same result as an uninterrupted one.

use std::collections::HashSet;

use agon_league::config::CompetitionConfig;
use agon_league::standings::{RulingLift, RulingNote};
use agon_league::{Entrant, MatchKey};
use agon_store::{Ledger, NewRuling, PhaseState, PhaseStatus, Ruling, RulingKind};

use crate::RunError;

/// Makes a ruling if the competition allows it. Returns its number.
pub async fn make_ruling(
    ledger: &dyn Ledger,
    competition: &CompetitionConfig,
    ruling: &NewRuling,
) -> Result<u64, RunError> {
    if let RulingKind::Void(key) = ruling.kind
        && let Some(phase) = competition.phases.get(key.phase as usize)
        && phase.depends_on_results()
    {
        return Err(RunError::CannotVoid { key, phase: phase.name.clone() });
    }
    Ok(ledger.add_ruling(ruling).await?)
}

/// Entrants that are disqualified now, with the reasons.
pub async fn disqualified(ledger: &dyn Ledger) -> Result<Vec<(Entrant, String)>, RunError> {
    let Rulings(all) = Rulings::load(ledger).await?;
    let out = |one: Ruling| match one.kind {
        RulingKind::Disqualify(entrant) if one.lifted.is_none() => Some((entrant, one.reason)),
        _ => None,
    };
    Ok(all.into_iter().filter_map(out).collect())
}

/// All rulings of a competition, in order.
pub struct Rulings(Vec<Ruling>);

impl Rulings {
    /// Reads the rulings from the ledger.
    pub async fn load(ledger: &dyn Ledger) -> Result<Self, RunError> {
        Ok(Self(ledger.rulings().await?))
    }

    /// Numbers of the rulings in force.
    pub fn in_force(&self) -> Vec<u64> {
        self.0.iter().filter(|one| one.is_in_force()).map(|one| one.id).collect()
    }

    /// Numbers of the rulings that decide the field of a phase: those in force when it started, or now if it has not started.
    pub(crate) fn at_phase_start(&self, status: &PhaseStatus) -> Vec<u64> {
        if status.state == PhaseState::Waiting { self.in_force() } else { status.rulings_at_start.clone() }
    }

    /// Matches of a phase that are void under these rulings.
    pub(crate) fn voided_matches(&self, phase: u32, ruling_ids: &[u64]) -> HashSet<MatchKey> {
        let void = |one: &Ruling| match one.kind {
            RulingKind::Void(key) if key.phase == phase && ruling_ids.contains(&one.id) => Some(key),
            _ => None,
        };
        self.0.iter().filter_map(void).collect()
    }

    /// Disqualifications among these rulings. Used to compute a ranking.
    pub(crate) fn disqualified(&self, ruling_ids: &[u64]) -> Vec<RulingNote> {
        let is_disqualification =
            |one: &&Ruling| ruling_ids.contains(&one.id) && matches!(one.kind, RulingKind::Disqualify(_));
        self.0
            .iter()
            .filter(is_disqualification)
            .map(|one| RulingNote { lifted: None, ..ruling_note(one) })
            .collect()
    }

    /// Notes for the table of a phase.
    pub(crate) async fn notes_for_phase(
        &self,
        ledger: &dyn Ledger,
        status: &PhaseStatus,
    ) -> Result<Vec<RulingNote>, RunError> {
        let published = status.state >= PhaseState::Published;
        let mut notes = Vec::new();
        for one in &self.0 {
            let mut note = ruling_note(one);
            note.after_publication =
                published && status.rulings_at_publication.contains(&one.id) != one.is_in_force();
            if let RulingKind::Void(key) = one.kind {
                if key.phase != status.phase {
                    continue;
                }
                note.seats = ledger.find(key).await?.map_or_else(Vec::new, |found| found.result.entrants());
            }
            notes.push(note);
        }
        Ok(notes)
    }
}

fn ruling_note(one: &Ruling) -> RulingNote {
    let lifted = one.lifted.as_ref();
    RulingNote {
        number: one.id,
        kind: one.kind,
        seats: Vec::new(),
        reason: one.reason.clone(),
        at: Some(one.at.0),
        lifted: lifted.map(|lifted| RulingLift { reason: lifted.reason.clone(), at: Some(lifted.at.0) }),
        after_publication: false,
    }
}
