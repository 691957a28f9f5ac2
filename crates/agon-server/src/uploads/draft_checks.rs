//! Checks of drafts: the same as those of submissions, but nothing is submitted. Results are kept in memory, the latest one of each draft.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};

use agon_bots::source::archive::{UploadedFile, write_files};
use agon_bots::source::submitted_folder::make_programs_executable;
use agon_core::LockIgnoringPoison as _;
use agon_engine::film::json::BotOutputLine;
use agon_host::scratch_dir::make_world_readable;
use agon_site_db::{DraftKey, MAX_TRIALS_BYTES, SubmissionId};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use utoipa::ToSchema;

use super::SubmissionMeta;
use super::check_workers::{CheckSubject, check_files};
use super::report::CheckReport;
use super::unpack::rejection_error;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Maximum number of files of a draft.
pub const MAX_DRAFT_FILES: usize = 50;
/// Maximum number of checks that wait or run, for all accounts.
const MAX_PENDING: usize = 20;
/// Number of results that are kept.
const MAX_RESULTS: usize = 40;

/// A file of a draft.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DraftFile {
    /// Path in the bot's folder, with slashes.
    #[schema(max_length = 200)]
    pub path: String,
    /// The text.
    pub text: String,
}

/// Result of the check of a draft.
pub struct DraftVerdict {
    /// `accepted`, `refused` or `broke`.
    pub state: &'static str,
    /// The report.
    pub report: CheckReport,
    /// Records of the trial games.
    pub records: Vec<Vec<u8>>,
    /// The bot's output in each of them.
    pub logs: Vec<Vec<BotOutputLine>>,
}

/// Progress of a check.
#[derive(Clone)]
pub enum DraftProgress {
    /// Waits for the checks before it.
    Queued,
    /// Is running.
    Checking,
    /// Is finished.
    Finished(Arc<DraftVerdict>),
}

impl DraftProgress {
    const fn is_pending(&self) -> bool {
        !matches!(self, Self::Finished(_))
    }
}

struct DraftCheck {
    key: DraftKey,
    /// Revision of the draft that is checked.
    revision: i64,
    progress: DraftProgress,
}

/// The checks of drafts. One runs at a time, so that submissions are checked as fast as without them.
pub struct DraftChecks {
    checks: Mutex<VecDeque<DraftCheck>>,
    running: Arc<Semaphore>,
}

impl Default for DraftChecks {
    fn default() -> Self {
        Self { checks: Mutex::default(), running: Arc::new(Semaphore::new(1)) }
    }
}

impl DraftChecks {
    /// The latest check of a draft: its revision and its progress.
    pub fn latest(&self, key: &DraftKey) -> Option<(i64, DraftProgress)> {
        let checks = self.checks.lock_ignoring_poison();
        checks.iter().find(|one| one.key == *key).map(|one| (one.revision, one.progress.clone()))
    }

    /// Forgets the checks of a draft.
    pub fn forget(&self, key: &DraftKey) {
        self.checks.lock_ignoring_poison().retain(|one| one.key != *key);
    }

    fn add(&self, key: &DraftKey, revision: i64) -> ApiResult<()> {
        let mut checks = self.checks.lock_ignoring_poison();
        let pending = |one: &&DraftCheck| one.progress.is_pending();
        if checks.iter().filter(pending).any(|one| one.key.account == key.account) {
            return Err(ApiError::conflict("checking", "a draft of yours is being checked")
                .hint("wait for its result"));
        }
        if checks.iter().filter(pending).count() >= MAX_PENDING {
            return Err(ApiError::busy("too many drafts are being checked at the moment", 10));
        }
        checks.retain(|one| one.key != *key);
        while checks.len() >= MAX_RESULTS {
            let Some(oldest) = checks.iter().position(|one| !one.progress.is_pending()) else { break };
            checks.remove(oldest);
        }
        let progress = DraftProgress::Queued;
        checks.push_back(DraftCheck { key: key.clone(), revision, progress });
        Ok(())
    }

    fn set(&self, key: &DraftKey, revision: i64, progress: DraftProgress) {
        let mut checks = self.checks.lock_ignoring_poison();
        let found = checks.iter_mut().find(|one| one.key == *key && one.revision == revision);
        if let Some(found) = found {
            found.progress = progress;
        }
    }
}

/// Starts the check of a draft. Its result is in [`DraftChecks::latest`].
pub fn start(
    app: &AppState,
    key: DraftKey,
    revision: i64,
    files: Vec<DraftFile>,
    subject: DraftSubject,
) -> ApiResult<()> {
    app.draft_checks.add(&key, revision)?;
    let app = app.clone();
    tokio::spawn(async move {
        let Ok(_running) = Arc::clone(&app.draft_checks.running).acquire_owned().await else { return };
        app.draft_checks.set(&key, revision, DraftProgress::Checking);
        let (worker, handle, draft) = (app.clone(), tokio::runtime::Handle::current(), key.clone());
        let checked =
            tokio::task::spawn_blocking(move || check(&worker, &handle, &draft, &files, subject)).await;
        let verdict = checked.unwrap_or_else(|error| broken(&ApiError::internal(error)));
        app.draft_checks.set(&key, revision, DraftProgress::Finished(Arc::new(verdict)));
    });
    Ok(())
}

/// What a check must know besides the files.
#[derive(Clone, Debug)]
pub struct DraftSubject {
    /// Name that tables would show.
    pub name: String,
    /// First phase (from 0) in which it would play.
    pub from_phase: u32,
}

fn check(
    app: &AppState,
    handle: &tokio::runtime::Handle,
    key: &DraftKey,
    files: &[DraftFile],
    subject: DraftSubject,
) -> DraftVerdict {
    let id = match SubmissionId::random() {
        Ok(id) => id,
        Err(error) => return broken(&ApiError::internal(error)),
    };
    // Beside the submissions, so that other bots see it as little as those.
    let bot_path = format!("bots/draft-{}/{id}", key.account);
    let folder = app.config.data.join("competitions").join(&key.competition).join(&bot_path);
    let verdict = match write_draft(files, &folder) {
        Ok(()) => {
            let subject = CheckSubject {
                competition: key.competition.clone(),
                account: key.account,
                name: subject.name,
                from_phase: subject.from_phase,
                bot_path,
            };
            let mut verdict = check_files(app, handle, &subject);
            while verdict.records.iter().map(Vec::len).sum::<usize>() > MAX_TRIALS_BYTES {
                verdict.records.pop();
            }
            verdict
        }
        Err(error) => broken(&error),
    };
    let _ = std::fs::remove_dir_all(&folder);
    let _ = std::fs::remove_file(folder.with_extension("slip"));
    if let Some(parent) = folder.parent() {
        // Fails while another draft of the account is there.
        let _ = std::fs::remove_dir(parent);
    }
    verdict
}

/// Rejects files that an upload could not have, before they are stored.
pub fn validate_files(files: &[DraftFile]) -> ApiResult<()> {
    if files.is_empty() || files.len() > MAX_DRAFT_FILES {
        return Err(ApiError::invalid("files", format!("files: there must be 1 to {MAX_DRAFT_FILES}")));
    }
    for (at, file) in files.iter().enumerate() {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | ' ');
        let is_name = |part: &str| {
            !part.is_empty()
                && !part.starts_with([' ', '.'])
                && !part.ends_with([' ', '.'])
                && part.chars().all(plain)
        };
        if file.path.len() > 200 || !file.path.split('/').all(is_name) {
            let what =
                format!("files: `{}` is not a file name", file.path.chars().take(60).collect::<String>());
            return Err(ApiError::invalid("files", what)
                .hint("use letters, digits, spaces and . _ - +, and slashes between folders"));
        }
        let same = |other: &DraftFile| other.path.eq_ignore_ascii_case(&file.path);
        if files.iter().take(at).any(same) {
            return Err(ApiError::invalid("files", format!("files: `{}` is there twice", file.path)));
        }
    }
    Ok(())
}

/// Writes the files by the rules for uploads.
fn write_draft(files: &[DraftFile], folder: &Path) -> ApiResult<()> {
    let incoming = folder.with_extension("incoming");
    let written = (|| -> ApiResult<()> {
        std::fs::create_dir_all(folder).map_err(ApiError::internal)?;
        std::fs::create_dir_all(&incoming).map_err(ApiError::internal)?;
        let mut uploaded = Vec::new();
        for (number, file) in files.iter().enumerate() {
            let at = incoming.join(number.to_string());
            std::fs::write(&at, &file.text).map_err(ApiError::internal)?;
            uploaded.push(UploadedFile { name: file.path.clone(), at });
        }
        write_files(&uploaded, folder).map_err(|rejection| rejection_error(&rejection))?;
        let single = match files {
            [one] if !one.path.contains('/') && one.path.ends_with(".py") => Some(one.path.clone()),
            _ => None,
        };
        let meta = SubmissionMeta { single_file: single, ..SubmissionMeta::default() };
        make_world_readable(folder)
            .and_then(|()| make_programs_executable(folder))
            .and_then(|()| meta.write(folder))
            .map_err(ApiError::internal)
    })();
    let _ = std::fs::remove_dir_all(&incoming);
    written
}

/// A verdict without a check.
fn broken(error: &ApiError) -> DraftVerdict {
    let rejection = agon_host::BotRejection::new(error.message().to_owned(), String::new());
    DraftVerdict {
        state: if error.status().is_server_error() { "broke" } else { "refused" },
        report: CheckReport::rejected("found", &rejection),
        records: Vec::new(),
        logs: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draft_files_have_plain_and_different_names() {
        let file = |path: &str| DraftFile { path: path.to_owned(), text: String::new() };
        assert!(validate_files(&[file("bot.py"), file("lib/search tree.py")]).is_ok());
        for wrong in ["", "/bot.py", "../bot.py", "a//b.py", "a/", ".hidden", "a\\b.py", "a\nb.py"] {
            assert!(validate_files(&[file(wrong)]).is_err(), "{wrong:?}");
        }
        assert!(validate_files(&[file("a.py"), file("A.py")]).is_err());
        assert!(validate_files(&[]).is_err());
        assert!(validate_files(&vec![file("a"); MAX_DRAFT_FILES + 1]).is_err());
    }
}
