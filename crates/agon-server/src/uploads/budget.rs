//! Budgets of uploads: places for receiving them, and disk space.
//!
//! An upload is written to disk as it arrives, which needs little memory. Only then is its form read and unpacked, one upload at a time
//! ([`READING`]), because that can need tens of megabytes. So the memory for uploads does not depend on how many there are or how slow
//! their clients are.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fs, io};

use agon_site_db::{AccountId, DiskQuota, SubmissionId, SubmissionPlace};
use axum::http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::submission_folder;
use crate::config::{Config, UploadBudgets};
use crate::error::{ApiError, ApiResult, StartError};
use crate::state::AppState;

/// For reading the form of an upload and unpacking it: one at a time.
pub static READING: Semaphore = Semaphore::const_new(1);
/// Number of rejected submissions of an account whose trial games are kept.
const KEPT_REJECTED_TRIALS: u32 = 20;

/// Places for uploads that are being received.
pub struct UploadSlots {
    all: Arc<Semaphore>,
    per_account: usize,
    by_account: Mutex<HashMap<i64, Arc<Semaphore>>>,
}

/// A place. Dropping it lets the next upload begin.
pub struct UploadSlot<'s> {
    slots: &'s UploadSlots,
    account: i64,
    permits: Option<(OwnedSemaphorePermit, OwnedSemaphorePermit)>,
}

impl UploadSlots {
    /// With all places free.
    pub fn new(budgets: &UploadBudgets) -> Self {
        Self {
            all: Arc::new(Semaphore::new(budgets.receiving.max(1))),
            per_account: budgets.receiving_per_account.max(1),
            by_account: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i64, Arc<Semaphore>>> {
        self.by_account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a place. An account waits for its own places first, so that it cannot take those of others.
    pub async fn acquire(&self, account: AccountId) -> ApiResult<UploadSlot<'_>> {
        let own = Arc::clone(
            self.lock().entry(account.0).or_insert_with(|| Arc::new(Semaphore::new(self.per_account))),
        );
        // Removes the entry again if the client disconnects while it waits.
        let mut slot = UploadSlot { slots: self, account: account.0, permits: None };
        let own = own.acquire_owned().await.map_err(ApiError::internal)?;
        let all = Arc::clone(&self.all).acquire_owned().await.map_err(ApiError::internal)?;
        slot.permits = Some((own, all));
        Ok(slot)
    }
}

impl Drop for UploadSlot<'_> {
    fn drop(&mut self) {
        let mut by_account = self.slots.lock();
        self.permits = None;
        // Waiting uploads and held places have references of their own.
        if by_account.get(&self.account).is_some_and(|own| Arc::strong_count(own) == 1) {
            by_account.remove(&self.account);
        }
    }
}

/// Bytes that a file or folder occupies on disk. Counts blocks, because a small file needs a whole one. Holes of sparse files count too:
/// the bot or a copy may fill them.
pub fn disk_bytes(path: &Path) -> io::Result<u64> {
    let (mut total, mut left) = (0, vec![path.to_owned()]);
    while let Some(path) = left.pop() {
        let about = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            about => about?,
        };
        total += (about.blocks() * 512).max(about.len().next_multiple_of(4096));
        if about.is_dir() {
            for entry in fs::read_dir(&path)? {
                left.push(entry?.path());
            }
        }
    }
    Ok(total)
}

/// Waits until all files of a folder are on the disk. Not while an upload is read: it can take a while, and uploads are read one at a time.
pub fn sync_files(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_files(&entry.path())?;
        } else {
            fs::File::open(entry.path())?.sync_all()?;
        }
    }
    fs::File::open(folder)?.sync_all()
}

/// Bytes on disk of everything that belongs to a submission, except its trial records.
fn files_bytes(config: &Config, place: &SubmissionPlace) -> io::Result<u64> {
    let folder = config.data.join(submission_folder(&place.competition, place.entrant, &place.id));
    Ok(disk_bytes(&folder)?
        + disk_bytes(&folder.with_extension("slip"))?
        + disk_bytes(&folder.with_extension("logs"))?)
}

/// The disk quota of the configuration.
pub fn quota(config: &Config) -> DiskQuota {
    DiskQuota { per_account: config.uploads.disk_per_account, total: config.uploads.disk_total }
}

/// Rejects an upload before any of it is read, if there is no room for it.
pub async fn check_room(app: &AppState, account: AccountId) -> ApiResult<()> {
    let budgets = &app.config.uploads;
    let free = rustix::fs::statvfs(&app.config.data).map(|disk| disk.f_bavail * disk.f_frsize);
    if free.is_ok_and(|free| free < budgets.min_free_disk) {
        app.meters.upload("no_room");
        return Err(ApiError::new(
            StatusCode::INSUFFICIENT_STORAGE,
            "disk_full",
            "the server's disk is almost full",
        )
        .hint("ask an organiser to free some space, and submit again"));
    }
    for (account, limit) in [(Some(account), budgets.disk_per_account), (None, budgets.disk_total)] {
        let used = app.site_db.disk_bytes(account).await?;
        if used >= limit {
            app.meters.upload("no_room");
            let of_site = account.is_none();
            return Err(agon_site_db::SiteDbError::QuotaExceeded { of_site, used, more: 1, limit }.into());
        }
    }
    Ok(())
}

/// Measures submissions that were stored by an earlier version of the program.
pub async fn measure_old_submissions(app: &AppState) -> Result<(), StartError> {
    for place in app.site_db.unmeasured_submissions().await? {
        let config = app.config.clone();
        let id = place.id.clone();
        let bytes = tokio::task::spawn_blocking(move || files_bytes(&config, &place).unwrap_or_default());
        app.site_db.set_disk_bytes(&id, bytes.await.map_err(StartError::other)?).await?;
    }
    Ok(())
}

/// Stores what a checked submission occupies, and deletes what is no longer kept of older ones of the account.
pub async fn settle(
    app: &AppState,
    place: &SubmissionPlace,
    account: AccountId,
    accepted: bool,
) -> ApiResult<()> {
    if accepted && app.site_db.entrant(place.entrant).await?.withdrawn.is_some() {
        delete_files(app, place).await?;
    } else {
        let files = files_bytes(&app.config, place).map_err(ApiError::internal)?;
        app.site_db.set_disk_bytes(&place.id, files + trial_bytes(app, &place.id).await?).await?;
    }
    for old in app.site_db.prune_trials(account, KEPT_REJECTED_TRIALS).await? {
        let folder = app.config.data.join(submission_folder(&old.competition, old.entrant, &old.id));
        for ending in ["slip", "logs"] {
            let _ = fs::remove_file(folder.with_extension(ending));
        }
    }
    Ok(())
}

/// Deletes the files of a submission that will never play.
pub async fn delete_files(app: &AppState, place: &SubmissionPlace) -> ApiResult<()> {
    let folder = app.config.data.join(submission_folder(&place.competition, place.entrant, &place.id));
    if let Err(error) = fs::remove_dir_all(&folder)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(ApiError::internal(error));
    }
    for ending in ["slip", "logs"] {
        let _ = fs::remove_file(folder.with_extension(ending));
    }
    app.site_db.set_disk_bytes(&place.id, trial_bytes(app, &place.id).await?).await?;
    Ok(())
}

/// Bytes of the trial records of a submission.
async fn trial_bytes(app: &AppState, id: &SubmissionId) -> ApiResult<u64> {
    Ok(app.site_db.trials(id).await?.iter().map(|record| record.len() as u64).sum())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn disk_bytes_counts_whole_blocks_and_holes() {
        let place = tempfile::tempdir().unwrap();
        let empty = disk_bytes(place.path()).unwrap();
        for number in 0..10 {
            fs::write(place.path().join(number.to_string()), "x").unwrap();
        }
        let small = disk_bytes(place.path()).unwrap() - empty;
        assert!(small >= 10 * 4096, "{small}");
        fs::File::create(place.path().join("sparse")).unwrap().set_len(1 << 20).unwrap();
        assert!(disk_bytes(place.path()).unwrap() - empty >= (1 << 20) + 10 * 4096);
        assert_eq!(disk_bytes(&place.path().join("none")).unwrap(), 0);
    }

    #[tokio::test]
    async fn account_cannot_take_the_places_of_others() {
        let budgets = UploadBudgets { receiving: 3, receiving_per_account: 2, ..UploadBudgets::default() };
        let slots = UploadSlots::new(&budgets);
        let soon =
            |account| tokio::time::timeout(Duration::from_millis(20), slots.acquire(AccountId(account)));
        let held = (slots.acquire(AccountId(1)).await.unwrap(), slots.acquire(AccountId(1)).await.unwrap());
        assert!(soon(1).await.is_err(), "a third one of the same account");
        let other = soon(2).await.unwrap().unwrap();
        assert!(soon(3).await.is_err(), "all places are taken");
        drop(held.0);
        let third = soon(3).await.unwrap().unwrap();
        drop((held.1, other, third));
        assert!(slots.lock().is_empty(), "accounts without uploads are forgotten");
        assert_eq!(slots.all.available_permits(), 3);
    }
}
