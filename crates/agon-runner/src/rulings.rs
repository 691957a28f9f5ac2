//! What the organiser decided: making a ruling, and what the rulings mean for a phase.
//!
//! What was played stays as it was: a ruling changes what counts. Whatever a run has begun by the rulings of that time goes on by them: a
//! phase's field is taken by those in force when it began, a match of a bracket is lost by who was disqualified when it ended. So a run that
//! was stopped goes on as if it had not been.

use std::collections::HashSet;

use agon_league::config::CompetitionConfig;
use agon_league::standings::{RulingLift, RulingNote};
use agon_league::{Entrant, MatchKey};
use agon_store::{Ledger, NewRuling, PhaseState, PhaseStatus, Ruling, RulingKind};

use crate::RunError;

/// Makes a ruling, if it can be made in this competition. Gives its number.
pub async fn rule(
    ledger: &dyn Ledger,
    competition: &CompetitionConfig,
    ruling: &NewRuling,
) -> Result<u64, RunError> {
    if let RulingKind::Void(key) = ruling.kind
        && let Some(phase) = competition.phases.get(key.phase as usize)
        && phase.looks_back()
    {
        return Err(RunError::CannotVoid { key, phase: phase.name.clone() });
    }
    Ok(ledger.rule(ruling).await?)
}

/// Everybody who is disqualified now, and why.
pub async fn disqualified(ledger: &dyn Ledger) -> Result<Vec<(Entrant, String)>, RunError> {
    let Rulings(all) = Rulings::of(ledger).await?;
    let out = |one: Ruling| match one.kind {
        RulingKind::Disqualify(entrant) if one.lifted.is_none() => Some((entrant, one.reason)),
        _ => None,
    };
    Ok(all.into_iter().filter_map(out).collect())
}

/// Every ruling of a competition, in order.
pub struct Rulings(Vec<Ruling>);

impl Rulings {
    /// As they are now.
    pub async fn of(ledger: &dyn Ledger) -> Result<Self, RunError> {
        Ok(Self(ledger.rulings().await?))
    }

    /// The numbers of those in force.
    pub fn in_force(&self) -> Vec<u64> {
        self.0.iter().filter(|one| one.is_in_force()).map(|one| one.id).collect()
    }

    /// The numbers of those by which the field of a phase is taken: in force when it began, or now if it did not.
    pub(crate) fn at_start(&self, status: &PhaseStatus) -> Vec<u64> {
        if status.state == PhaseState::Waiting { self.in_force() } else { status.started_under.clone() }
    }

    /// The matches of a phase that are void by these rulings.
    pub(crate) fn voided(&self, phase: u32, under: &[u64]) -> HashSet<MatchKey> {
        let void = |one: &Ruling| match one.kind {
            RulingKind::Void(key) if key.phase == phase && under.contains(&one.id) => Some(key),
            _ => None,
        };
        self.0.iter().filter_map(void).collect()
    }

    /// Who is disqualified by these rulings, for an order alone.
    pub(crate) fn disqualified(&self, under: &[u64]) -> Vec<RulingNote> {
        let of = |one: &&Ruling| under.contains(&one.id) && matches!(one.kind, RulingKind::Disqualify(_));
        self.0.iter().filter(of).map(|one| RulingNote { lifted: None, ..shown(one) }).collect()
    }

    /// All that the table of a phase shows.
    pub(crate) async fn ruled(
        &self,
        ledger: &dyn Ledger,
        status: &PhaseStatus,
    ) -> Result<Vec<RulingNote>, RunError> {
        let published = status.state >= PhaseState::Published;
        let mut list = Vec::new();
        for one in &self.0 {
            let mut ruled = shown(one);
            ruled.late = published && status.published_under.contains(&one.id) != one.is_in_force();
            if let RulingKind::Void(key) = one.kind {
                if key.phase != status.phase {
                    continue;
                }
                ruled.seats = ledger.find(key).await?.map_or_else(Vec::new, |found| found.result.entrants());
            }
            list.push(ruled);
        }
        Ok(list)
    }
}

fn shown(one: &Ruling) -> RulingNote {
    let lifted = one.lifted.as_ref();
    RulingNote {
        number: one.id,
        kind: one.kind,
        seats: Vec::new(),
        reason: one.reason.clone(),
        at: Some(one.at.0),
        lifted: lifted.map(|lifted| RulingLift { reason: lifted.reason.clone(), at: Some(lifted.at.0) }),
        late: false,
    }
}
