//! Ledger archives: a whole ledger as one file, to move a competition between SQLite and PostgreSQL. The same ledger gives the same bytes
//! wherever it is stored: every table is in the order of its key, and computed data is left out.
//!
//! Format: a magic line with the format version, then zstd of all tables and their SHA-256. A table has its name, its columns, its rows
//! (a byte 1 before each) and a byte 0. A cell has a byte for its type, then a zigzag LEB128 number, or length and content of text or
//! bytes.

mod read;
mod tables;
mod write;

use std::fs;
use std::io;
use std::path::Path;

use agon_files::{SyncToDisk, TemporaryFolder};

use crate::ledger::Ledger;
use crate::sqlite::open::NEW_FILE;
use crate::{PostgresLedger, Result, SqliteLedger, StoreError};

pub use read::ArchiveReader;
pub(crate) use tables::PHASE_STATE_COLUMN;
pub use tables::{Cell, ColumnKind, TABLES, TableSchema};
use write::ArchiveWriter;

/// First line of an archive; the number is the format version.
const MAGIC: &str = "agon ledger archive 1\n";
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
    /// Size of the archive in bytes.
    pub bytes: u64,
}

/// Writes the archive of a ledger, completely or not at all. Never overwrites a file. Only the owner can read the archive, because it
/// contains the secret seed. Fails while the competition runs.
pub async fn export(ledger: &dyn Ledger, path: &Path) -> Result<ArchiveSummary> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(StoreError::Exists { place: path.display().to_string() });
    }
    let _run_lock = ledger.acquire_run_lock().await?;
    let failed = io_failed(path, "write");
    let file = NEW_FILE.sync(SyncToDisk::File).create(path).map_err(failed)?;
    let mut writer = ArchiveWriter::new(file, path)?;
    ledger.dump(&mut writer).await?;
    let file = writer.finish()?;
    let mut matches = 0;
    for phase in ledger.phases().await? {
        matches += ledger.counts(phase.phase).await?.matches;
    }
    let bytes = file.metadata().map_err(failed)?.len();
    file.finish().map_err(failed)?;
    Ok(ArchiveSummary { name: ledger.competition().await?.name, matches, bytes })
}

/// Creates a ledger file from an archive.
pub async fn import_to_file(archive: &Path, ledger: &Path) -> Result<ArchiveSummary> {
    if fs::symlink_metadata(ledger).is_ok() {
        return Err(StoreError::Exists { place: ledger.display().to_string() });
    }
    let mut reader = ArchiveReader::open(archive)?;
    let failed = io_failed(ledger, "create");
    // SQLite may write other files beside the ledger. They are removed with the folder.
    let folder = TemporaryFolder::beside(ledger).map_err(failed)?;
    let unfinished = folder.path().join(ledger.file_name().unwrap_or_default());
    SqliteLedger::import(&unfinished, &mut reader).await?;
    NEW_FILE.sync(SyncToDisk::File).publish(&unfinished, ledger).map_err(failed)?;
    summarise(&SqliteLedger::open_to_read(ledger).await?, archive).await
}

/// Creates the ledger `slug` in a database from an archive.
pub async fn import_to_database(archive: &Path, url: &str, slug: &str) -> Result<ArchiveSummary> {
    let mut reader = ArchiveReader::open(archive)?;
    PostgresLedger::import(url, slug, &mut reader).await?;
    summarise(&PostgresLedger::open_to_read(url, slug).await?, archive).await
}

async fn summarise(ledger: &dyn Ledger, archive: &Path) -> Result<ArchiveSummary> {
    let mut matches = 0;
    for phase in ledger.phases().await? {
        matches += ledger.counts(phase.phase).await?.matches;
    }
    let bytes = fs::metadata(archive).map_or(0, |file| file.len());
    Ok(ArchiveSummary { name: ledger.competition().await?.name, matches, bytes })
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
