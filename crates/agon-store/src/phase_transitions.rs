//! Allowed operations for each state of a phase, common to all ledgers.

use agon_core::record::Digest;

use crate::model::{NewBotVersion, PhaseState, PhaseStatus};
use crate::{Result, StoreError};

fn refused(status: &PhaseStatus, refused: &'static str, hint: &'static str) -> StoreError {
    StoreError::WrongPhaseState { phase: status.phase, state: status.state, refused, hint }
}

/// The phase with this number, or an error.
pub fn find_phase(mut all: Vec<PhaseStatus>, phase: u32) -> Result<PhaseStatus> {
    let phases = all.len() as u32;
    if phase >= phases {
        return Err(StoreError::NoSuchPhase { phase, phases });
    }
    Ok(all.swap_remove(phase as usize))
}

/// Error for appending matches to a phase that is not running.
pub fn takes_no_matches(status: &PhaseStatus) -> StoreError {
    let hint = match status.state {
        PhaseState::Waiting => "start the phase first",
        _ => "results of a published phase never change; play them in the next one",
    };
    refused(status, "it accepts no matches", hint)
}

/// Whether the phase must be started now; `false` if it already runs.
pub fn check_start(status: &PhaseStatus) -> Result<bool> {
    match status.state {
        PhaseState::Waiting => Ok(true),
        PhaseState::Running => Ok(false),
        PhaseState::Published | PhaseState::Closed => {
            Err(refused(status, "it cannot be started again", "continue with the next phase"))
        }
    }
}

/// Whether the phase must be published now; `false` if it already is.
pub fn check_publish(status: &PhaseStatus, table_hash: Digest) -> Result<bool> {
    match status.state {
        PhaseState::Running => Ok(true),
        PhaseState::Waiting => Err(refused(status, "it cannot be published", "start and play it first")),
        PhaseState::Published | PhaseState::Closed if status.table_hash == Some(table_hash) => Ok(false),
        PhaseState::Published | PhaseState::Closed => {
            let hint = "check whether Agon or a setting changed: the same results gave another table";
            Err(refused(status, "it was published with another table", hint))
        }
    }
}

/// Whether the phase must be closed now; `false` if it already is.
pub fn check_close(status: &PhaseStatus) -> Result<bool> {
    match status.state {
        PhaseState::Published => Ok(true),
        PhaseState::Closed => Ok(false),
        PhaseState::Waiting | PhaseState::Running => {
            Err(refused(status, "it cannot be closed", "publish its table first"))
        }
    }
}

/// Checks that matches of the phase can be revoked.
pub fn check_revoke(status: &PhaseStatus) -> Result<()> {
    if status.state == PhaseState::Running {
        return Ok(());
    }
    Err(refused(
        status,
        "its matches cannot be revoked",
        "only matches of a running phase can be played again",
    ))
}

/// Checks that the phase accepts a new bot version.
pub fn check_new_bot(status: &PhaseStatus) -> Result<()> {
    if status.state == PhaseState::Waiting {
        return Ok(());
    }
    Err(refused(
        status,
        "its bots cannot change any more",
        "restore the old bot, or submit the new one for the next phase",
    ))
}

/// Latest bot version of an entrant.
pub struct LatestBot {
    pub version: u32,
    pub hash: String,
    pub spec: String,
    pub from_phase: u32,
}

impl LatestBot {
    /// Whether `bot` is this version again.
    pub fn is_same(&self, bot: &NewBotVersion) -> bool {
        self.hash == bot.hash && self.spec == bot.spec && self.from_phase <= bot.from_phase
    }
}
