//! What may be done with a phase as far as it is: the same for every kind of ledger.

use agon_core::record::Digest;

use crate::model::{PhaseState, PhaseStatus, NewBotVersion};
use crate::{Result, StoreError};

fn refused(status: &PhaseStatus, refused: &'static str, hint: &'static str) -> StoreError {
    StoreError::Phase { phase: status.phase, state: status.state, refused, hint }
}

/// The phase of this number, if there is one.
pub fn of_number(mut all: Vec<PhaseStatus>, phase: u32) -> Result<PhaseStatus> {
    let phases = all.len() as u32;
    if phase >= phases {
        return Err(StoreError::NoSuchPhase { phase, phases });
    }
    Ok(all.swap_remove(phase as usize))
}

/// What is said to matches for a phase that does not take any.
pub fn takes_no_matches(status: &PhaseStatus) -> StoreError {
    let hint = match status.state {
        PhaseState::Waiting => "start the phase first",
        _ => "results of a published phase never change; play them in the next one",
    };
    refused(status, "it takes no matches", hint)
}

/// Whether it is to be started now, or was.
pub fn start(status: &PhaseStatus) -> Result<bool> {
    match status.state {
        PhaseState::Waiting => Ok(true),
        PhaseState::Running => Ok(false),
        PhaseState::Published | PhaseState::Closed => {
            Err(refused(status, "it cannot be started again", "go on with the next phase"))
        }
    }
}

/// Whether it is to be published now, or was.
pub fn publish(status: &PhaseStatus, table: Digest) -> Result<bool> {
    match status.state {
        PhaseState::Running => Ok(true),
        PhaseState::Waiting => Err(refused(status, "it cannot be published", "start it and play it first")),
        PhaseState::Published | PhaseState::Closed if status.table == Some(table) => Ok(false),
        PhaseState::Published | PhaseState::Closed => {
            let hint =
                "another table came out of the same results: the version of Agon, or a setting, has changed";
            Err(refused(status, "it was published with another table", hint))
        }
    }
}

/// Whether it is to be closed now, or was.
pub fn close(status: &PhaseStatus) -> Result<bool> {
    match status.state {
        PhaseState::Published => Ok(true),
        PhaseState::Closed => Ok(false),
        PhaseState::Waiting | PhaseState::Running => {
            Err(refused(status, "it cannot be closed", "publish its table first"))
        }
    }
}

/// Whether its matches can be taken back.
pub fn withdraw(status: &PhaseStatus) -> Result<()> {
    if status.state == PhaseState::Running {
        return Ok(());
    }
    Err(refused(
        status,
        "its matches stay as they are",
        "only matches of a running phase can be played again",
    ))
}

/// Whether it takes a bot that plays from it on.
pub fn submit(status: &PhaseStatus) -> Result<()> {
    if status.state == PhaseState::Waiting {
        return Ok(());
    }
    Err(refused(
        status,
        "it takes no other bot than it was started with",
        "put the bot back as it was, or hand the new one in for the next phase",
    ))
}

/// An entrant's latest bot.
pub struct LatestBot {
    pub version: u32,
    pub hash: String,
    pub spec: String,
    pub from_phase: u32,
}

impl LatestBot {
    /// Whether this is handed in once more.
    pub fn is(&self, bot: &NewBotVersion) -> bool {
        self.hash == bot.hash && self.spec == bot.spec && self.from_phase <= bot.from_phase
    }
}
