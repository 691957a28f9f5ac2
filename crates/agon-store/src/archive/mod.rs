//! Ledger archives: a whole ledger as one file, to move a competition between SQLite and PostgreSQL. The same ledger gives the same bytes
//! wherever it is stored: every table is in the order of its key, and computed data is left out.
//!
//! Format: a magic line with the format version, then zstd of all tables and their SHA-256. A table has its name, its columns, its rows
//! (a byte 1 before each) and a byte 0. A cell has a byte for its type, then a zigzag LEB128 number, or length and content of text or
//! bytes.

mod content;
mod read;
mod tables;
mod write;

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use agon_core::record::Digest;
use agon_files::TemporaryFolder;

use crate::ledger::Ledger;
use crate::sqlite::companions;
use crate::sqlite::open::NEW_FILE;
use crate::{PostgresLedger, Result, SqliteLedger, StoreError, run_lock};

pub use content::{ContentSummary, LedgerDigest};
pub(crate) use content::{LedgerDigester, SummarySink};
pub use read::ArchiveReader;
pub(crate) use tables::PHASE_STATE_COLUMN;
pub use tables::{Cell, ColumnKind, TABLES, TableSchema};
use write::ArchiveWriter;

/// First line of an archive; the number is the format version.
const MAGIC: &str = "agon ledger archive 3\n";
/// The versions before, which are still read. They lack the last table, and version 1 has seats without meters.
const PREVIOUS_MAGICS: [&str; 2] = ["agon ledger archive 1\n", "agon ledger archive 2\n"];
/// Number of tables in them.
const PREVIOUS_TABLE_COUNT: usize = 15;
/// Beginning of the first line in all format versions.
const MAGIC_PREFIX: &str = "agon ledger archive ";

/// Receives a ledger row by row.
pub trait RowSink: Send {
    /// Starts a table: its rows follow.
    fn table(&mut self, table: &'static TableSchema) -> Result<()>;
    /// Receives the next row.
    fn row(&mut self, row: &[Cell]) -> Result<()>;
}

/// Summary of an export or import.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArchiveSummary {
    /// Name of the competition.
    pub name: String,
    /// Number of matches.
    pub matches: u64,
    /// Digest of all matches: see [`LedgerDigest`].
    pub digest: Digest,
    /// Size of the archive in bytes.
    pub bytes: u64,
}

/// Writes the archive of a ledger, completely or not at all. Never overwrites a file. Only the owner can read the archive, because it
/// contains the secret seed. Fails while the competition runs, and if the ledger is damaged: its archive could not be imported.
///
/// The written archive is read again and compared with the ledger before it gets its name.
pub async fn export(ledger: &dyn Ledger, path: &Path) -> Result<ArchiveSummary> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(StoreError::Exists { place: path.display().to_string() });
    }
    let _run_lock = ledger.acquire_run_lock().await?;
    let name = ledger.competition().await?.name;
    let problems = ledger.check().await?;
    if !problems.is_empty() {
        return Err(StoreError::Damaged { place: name, what: problems.join("; ") });
    }
    let unfinished = UnfinishedFile::for_target(path, "write")?;
    let failed = io_failed(path, "write");
    let file =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished.path).map_err(failed)?;
    let mut writer = ArchiveWriter::new(file, path)?;
    ledger.dump(&mut writer).await?;
    let written = writer.finish()?;
    let place = path.display().to_string();
    verify(&place, &written, &ArchiveReader::open(&unfinished.path)?.read_to_end()?)?;
    verify_matches(&place, &ledger.match_digest().await?, &written.matches)?;
    let bytes = fs::metadata(&unfinished.path).map_err(failed)?.len();
    unfinished.publish(path, "write")?;
    let LedgerDigest { matches, digest } = written.matches;
    Ok(ArchiveSummary { name, matches, digest, bytes })
}

/// Creates a ledger file from an archive. The new ledger is compared with the archive before it gets its name, and again afterwards.
pub async fn import_to_file(archive: &Path, ledger: &Path) -> Result<ArchiveSummary> {
    if fs::symlink_metadata(ledger).is_ok() {
        return Err(StoreError::Exists { place: ledger.display().to_string() });
    }
    let mut reader = ArchiveReader::open(archive)?;
    let _run_lock = run_lock::lock_beside_file(ledger)?;
    companions::refuse_leftovers(ledger)?;
    let unfinished = UnfinishedFile::for_target(ledger, "create")?;
    SqliteLedger::import(&unfinished.path, &mut reader).await?;
    let (place, original) = (ledger.display().to_string(), reader.summary());
    let copy = SqliteLedger::open_to_read(&unfinished.path).await?;
    let mut sink = SummarySink::default();
    copy.dump(&mut sink).await?;
    copy.disconnect().await?;
    verify(&place, &original, &sink.finish())?;
    let published = unfinished.publish(ledger, "create")?;
    let opened = async {
        let restored = SqliteLedger::open_to_read(ledger).await?;
        let summary = summarise(&restored, &original, &place, archive).await;
        restored.disconnect().await?;
        summary
    };
    let summary = opened.await;
    if summary.is_err() {
        published.remove();
    }
    summary
}

/// Creates the ledger `slug` in a database from an archive. The new ledger is compared with the archive before the commit, and again
/// afterwards.
pub async fn import_to_database(archive: &Path, url: &str, slug: &str) -> Result<ArchiveSummary> {
    let mut reader = ArchiveReader::open(archive)?;
    PostgresLedger::import(url, slug, &mut reader).await?;
    let restored = PostgresLedger::open_to_read(url, slug).await?;
    summarise(&restored, &reader.summary(), slug, archive).await.map_err(|error| match error {
        // Committed: it stays, so that the cause can be found.
        StoreError::Unverified { place, what } => StoreError::Damaged { place, what },
        other => other,
    })
}

/// Summary of a restored ledger, if it holds the matches of the archive.
async fn summarise(
    ledger: &dyn Ledger,
    original: &ContentSummary,
    place: &str,
    archive: &Path,
) -> Result<ArchiveSummary> {
    let found = ledger.match_digest().await?;
    verify_matches(place, &original.matches, &found)?;
    let bytes = fs::metadata(archive).map_or(0, |file| file.len());
    let name = ledger.competition().await?.name;
    Ok(ArchiveSummary { name, matches: found.matches, digest: found.digest, bytes })
}

/// Checks that a copy equals its original.
pub(crate) fn verify(place: &str, original: &ContentSummary, copy: &ContentSummary) -> Result<()> {
    verify_matches(place, &original.matches, &copy.matches)?;
    if original.hash == copy.hash {
        return Ok(());
    }
    let what = "the matches are equal, but other data is not".to_owned();
    Err(StoreError::Unverified { place: place.to_owned(), what })
}

fn verify_matches(place: &str, original: &LedgerDigest, copy: &LedgerDigest) -> Result<()> {
    let what = if original.matches != copy.matches {
        format!("{} matches instead of {}", copy.matches, original.matches)
    } else if original.digest != copy.digest {
        format!("the digest of the matches is {} instead of {}", copy.digest.hex(), original.digest.hex())
    } else {
        return Ok(());
    };
    Err(StoreError::Unverified { place: place.to_owned(), what })
}

/// A file that is not complete yet, in a folder of its own: SQLite may write other files beside it. Dropping this removes the folder.
struct UnfinishedFile {
    path: PathBuf,
    _folder: TemporaryFolder,
}

/// A file that just got its name.
struct PublishedFile {
    path: PathBuf,
    device_and_inode: (u64, u64),
}

impl UnfinishedFile {
    fn for_target(path: &Path, doing: &'static str) -> Result<Self> {
        let folder = TemporaryFolder::beside(path).map_err(io_failed(path, doing))?;
        Ok(Self { path: folder.path().join(path.file_name().unwrap_or_default()), _folder: folder })
    }

    /// Gives the file its final name, unless that name is taken.
    fn publish(self, path: &Path, doing: &'static str) -> Result<PublishedFile> {
        let published = || {
            let found = fs::metadata(&self.path)?;
            NEW_FILE.publish(&self.path, path)?;
            Ok(PublishedFile { path: path.to_owned(), device_and_inode: (found.dev(), found.ino()) })
        };
        published().map_err(io_failed(path, doing))
    }
}

impl PublishedFile {
    /// Removes the file, unless another one has its name now.
    fn remove(&self) {
        let found = fs::symlink_metadata(&self.path).map(|found| (found.dev(), found.ino()));
        if found.is_ok_and(|found| found == self.device_and_inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Converts an I/O error of a file.
fn io_failed<'p>(path: &'p Path, doing: &'static str) -> impl Fn(io::Error) -> StoreError + Copy + 'p {
    move |error| {
        let place = path.display().to_string();
        match error.kind() {
            io::ErrorKind::AlreadyExists => StoreError::Exists { place },
            io::ErrorKind::StorageFull => StoreError::DiskFull { place },
            _ => StoreError::Io {
                place,
                doing,
                error,
                hint: "check the path, the free disk space and your permissions",
            },
        }
    }
}
