//! Submitted bots: uploads, and the queue of their checks.
//!
//! [`budget`] limits what uploads can use, [`upload`] writes the files of a form to disk, [`unpack`] turns them into a bot's folder by the strict rules for archives, [`find_bot`]
//! finds the bot in it, [`check_workers`] runs `agon check` in the sandbox, [`draft_checks`] runs it for what authors have not submitted yet. User input becomes a path only through those rules. The folders
//! themselves have generated names: `competitions/ID/bots/ENTRANT/SUBMISSION/`. A submission is in the site database before it is
//! acknowledged, so a killed server loses nothing.

pub mod budget;
pub mod check_workers;
pub mod deadline;
pub mod draft_checks;
pub mod find_bot;
pub mod report;
pub mod unpack;
pub mod upload;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

use agon_core::LockIgnoringPoison as _;
use agon_files::AtomicFile;
use agon_site_db::{
    CompetitionState, Entrant, EntrantId, HostedCompetition, Origin, Submission, SubmissionId,
};
use agon_store::Timestamp;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::error::{ApiError, ApiResult, StartError};
use crate::state::AppState;

/// Maximum size of an upload in bytes that a competition can set.
pub const MAX_UPLOAD_BYTES: u64 = agon_bots::source::archive::MAX_PACKED_BYTES;
/// Maximum size of an upload in bytes, unless the competition sets another.
pub const DEFAULT_UPLOAD_BYTES: u64 = agon_bots::source::archive::DEFAULT_PACKED_BYTES;
/// Default for the maximum number of bots per contributor.
pub const DEFAULT_BOTS_PER_CONTRIBUTOR: u32 = 5;

/// Wakes the threads that check submissions. The queue itself is in the site database.
#[derive(Debug, Default)]
pub struct CheckQueue {
    /// Number of wake-ups. Idle threads wait for it to change.
    arrivals: Mutex<u64>,
    wake: Condvar,
    checking: AtomicUsize,
    threads: AtomicUsize,
    started_threads: AtomicUsize,
}

/// Counts something until it is dropped, also by a panic.
struct Counted<'c>(&'c AtomicUsize);

impl<'c> Counted<'c> {
    fn new(counter: &'c AtomicUsize) -> Self {
        counter.fetch_add(1, Ordering::Relaxed);
        Self(counter)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl CheckQueue {
    /// With idle threads.
    pub fn new(_config: &Config) -> Self {
        Self::default()
    }

    /// Wakes the threads: there is a new submission, or the server stops.
    pub fn wake(&self) {
        *self.arrivals.lock_ignoring_poison() += 1;
        self.wake.notify_all();
    }

    /// Counts a thread that checks submissions.
    fn enter(&self) -> Counted<'_> {
        Counted::new(&self.threads)
    }

    /// Counts a check in progress.
    fn begin(&self) -> Counted<'_> {
        Counted::new(&self.checking)
    }

    /// Number of threads that were started.
    pub fn started_threads(&self) -> usize {
        self.started_threads.load(Ordering::Acquire)
    }

    /// Number of threads that check submissions.
    pub fn threads(&self) -> usize {
        self.threads.load(Ordering::Relaxed)
    }

    /// Number of checks in progress.
    pub fn checking(&self) -> usize {
        self.checking.load(Ordering::Relaxed)
    }

    /// Whether no check is in progress.
    pub fn is_idle(&self) -> bool {
        self.checking() == 0
    }
}

/// Starts the checks, and repeats those that were interrupted.
pub async fn start(app: &AppState) -> Result<(), StartError> {
    app.site_db.requeue_checking(Timestamp::now()).await?;
    // Uploads that were never acknowledged.
    let _ = std::fs::remove_dir_all(incoming_folder(&app.config));
    budget::measure_old_submissions(app).await?;
    check_workers::start_threads(app)
}

/// Whether a competition accepts bots now: new ones while it is open, new versions also while it waits for them.
pub fn accepts_bots(competition: &HostedCompetition) -> bool {
    let is_open = match competition.state {
        CompetitionState::Open => true,
        CompetitionState::Waiting => !competition.closed_between_phases,
        _ => false,
    };
    is_open && competition.origin == Origin::Hosted
}

/// The visible entrants, each with its latest accepted version. Entrants without an accepted version are left out.
pub async fn entrants(app: &AppState, competition: &str) -> ApiResult<Vec<(Entrant, Option<u32>)>> {
    let versions = app.site_db.accepted_for_phase(competition, i32::MAX as u32).await?;
    let version =
        |entrant: EntrantId| versions.iter().find(|one| one.entrant == entrant).and_then(|one| one.version);
    let all = app.site_db.entrants(competition).await?.into_iter().map(|one| {
        let version = version(one.id);
        (one, version)
    });
    Ok(all.filter(|(one, version)| one.bot.is_some() || version.is_some()).collect())
}

/// Folder of a submission, relative to the data folder.
pub fn submission_folder(competition: &str, entrant: EntrantId, id: &SubmissionId) -> String {
    format!("competitions/{competition}/bots/{entrant}/{id}")
}

/// Folder for incomplete uploads.
pub fn incoming_folder(config: &Config) -> PathBuf {
    config.data.join("incoming")
}

/// Metadata of a submission: what the author specified, and the bot that was found. Stored in a file next to the submission's folder.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct SubmissionMeta {
    /// Class named by the author.
    pub class: Option<String>,
    /// Name of the file, if the upload was a single file.
    #[serde(rename = "single")]
    pub single_file: Option<String>,
    /// Bot spec relative to the competition's folder, once it was found.
    pub bot: Option<String>,
    /// Whether the author gave no name, so that the bot's own is used.
    #[serde(default)]
    pub names_itself: bool,
}

impl SubmissionMeta {
    fn path(folder: &Path) -> PathBuf {
        folder.with_extension("slip")
    }

    /// Reads the metadata of a folder.
    pub fn read(folder: &Path) -> std::io::Result<Self> {
        Ok(serde_json::from_slice(&std::fs::read(Self::path(folder))?)?)
    }

    /// Writes the metadata atomically.
    pub fn write(&self, folder: &Path) -> std::io::Result<()> {
        AtomicFile::options().write(&Self::path(folder), &serde_json::to_vec(self)?)
    }
}

/// Bot spec of an accepted submission, relative to the competition's folder.
pub fn bot_spec(config: &Config, one: &Submission) -> ApiResult<String> {
    let missing = || {
        ApiError::conflict("files_missing", format!("the files of submission {} are missing", one.id))
            .hint("restore the server's data folder from a backup")
    };
    let folder = config.data.join(one.folder.as_ref().ok_or_else(missing)?);
    SubmissionMeta::read(&folder).ok().and_then(|meta| meta.bot).ok_or_else(missing)
}
