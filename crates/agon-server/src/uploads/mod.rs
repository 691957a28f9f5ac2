//! Bots that are handed in: uploads, and the queue of their checks.
//!
//! [`upload`] takes a form's files to the disk, [`unpack`] makes a bot's folder of them by an archive's strict rules, [`choose`] finds the
//! bot in it, [`checks`] runs the check of `agon check` in the sandbox. Nothing a user sends becomes a path but through those rules; the
//! folders themselves have names of ours: `competitions/ID/bots/ENTRANT/SUBMISSION/`. What was queued stands in the office before it is
//! acknowledged, so a killed server loses nothing.

pub mod check_workers;
pub mod find_bot;
pub mod report;
pub mod unpack;
pub mod upload;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use agon_store::Timestamp;
use agon_store::site_db::{HostedCompetition, Entrant, EntrantId, Origin, CompetitionState, Submission, SubmissionId};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::error::{ApiError, ApiResult, StartError};
use crate::state::AppState;

/// Bytes of an upload, unless the competition says less.
pub const MOST_BYTES: u64 = agon_host::intake::archive::PACKED;
/// Bots of one contributor, unless the competition says otherwise.
pub const PER_CONTRIBUTOR: u32 = 5;

/// Bots on their way to being checked.
#[derive(Debug, Default)]
pub struct CheckQueue {
    /// How often somebody came: workers wait for it to rise.
    came: Mutex<u64>,
    wake: Condvar,
    checking: AtomicUsize,
}

impl CheckQueue {
    /// None yet.
    pub fn new(_config: &Config) -> Self {
        Self::default()
    }

    /// Somebody came, or the server stops.
    pub fn wake(&self) {
        *self.came.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.wake.notify_all();
    }

    /// How many are being checked.
    pub fn checking(&self) -> usize {
        self.checking.load(Ordering::Relaxed)
    }

    /// Whether nothing is being checked.
    pub fn is_idle(&self) -> bool {
        self.checking() == 0
    }
}

/// The server has started: what was cut off is checked again.
pub async fn begin(app: &AppState) -> Result<(), StartError> {
    app.office.requeue_checking(Timestamp::now()).await?;
    // What came in and was never acknowledged.
    let _ = std::fs::remove_dir_all(incoming(&app.config));
    check_workers::begin(app)
}

/// Whether bots can be handed in just now: new ones while it is open, new versions also while it waits for them.
pub async fn accepts(app: &AppState, competition: &HostedCompetition) -> bool {
    match competition.state {
        CompetitionState::Open => competition.origin == Origin::Hosted,
        CompetitionState::Waiting if competition.origin == Origin::Hosted => {
            !matches!(app.office.setting(&format!("closed.{}", competition.id)).await, Ok(Some(_)))
        }
        _ => false,
    }
}

/// Who is to be shown, with the latest version that was accepted: nobody whose first one was not.
pub async fn entrants(app: &AppState, competition: &str) -> ApiResult<Vec<(Entrant, Option<u32>)>> {
    let versions = app.office.accepted_for_phase(competition, i32::MAX as u32).await?;
    let version =
        |entrant: EntrantId| versions.iter().find(|one| one.entrant == entrant).and_then(|one| one.version);
    let all = app.office.entrants(competition).await?.into_iter().map(|one| {
        let version = version(one.id);
        (one, version)
    });
    Ok(all.filter(|(one, version)| one.bot.is_some() || version.is_some()).collect())
}

/// Below the data folder: where a submission's files lie.
pub fn folder_of(competition: &str, entrant: EntrantId, id: &SubmissionId) -> String {
    format!("competitions/{competition}/bots/{entrant}/{id}")
}

/// Where what comes in lies until it is whole.
pub fn incoming(config: &Config) -> PathBuf {
    config.data.join("incoming")
}

/// What its sender said of a submission, and what was found to be the bot in it. It lies beside the folder.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct SubmissionMeta {
    /// The class that was named.
    pub class: Option<String>,
    /// The one file it came as, if it was one.
    pub single: Option<String>,
    /// The BOT, seen from the competition's folder, once it was found.
    pub bot: Option<String>,
}

impl SubmissionMeta {
    fn path(folder: &Path) -> PathBuf {
        folder.with_extension("slip")
    }

    /// Reads the one of a folder.
    pub fn read(folder: &Path) -> std::io::Result<Self> {
        Ok(serde_json::from_slice(&std::fs::read(Self::path(folder))?)?)
    }

    /// Writes it, whole or not at all.
    pub fn write(&self, folder: &Path) -> std::io::Result<()> {
        let (path, draft) = (Self::path(folder), folder.with_extension("slip-new"));
        std::fs::write(&draft, serde_json::to_vec(self)?)?;
        std::fs::rename(draft, path)
    }
}

/// The BOT of a submission that was accepted, seen from its competition's folder.
pub fn bot_of(app: &AppState, one: &Submission) -> ApiResult<String> {
    let lost = || ApiError::broke(format!("submission {}: its files are gone", one.id));
    let folder = app.config.data.join(one.folder.as_ref().ok_or_else(lost)?);
    SubmissionMeta::read(&folder).ok().and_then(|slip| slip.bot).ok_or_else(lost)
}
