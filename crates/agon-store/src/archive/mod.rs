//! A whole ledger as one file, to move a competition from one kind of ledger to another. The same ledger gives the same bytes wherever it
//! is kept: every table in the order of its keys, nothing that can be computed again.
//!
//! A magic line with the form's version, then zstd of: for each table its name, its columns, its rows (each after a 1), a 0; at the end
//! SHA-256 of all that. A cell is a byte for its kind and then, LEB128 and zigzag, a number, or length and content of text or bytes.

mod read;
mod tables;
mod write;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::ledger::Ledger;
use crate::{PostgresLedger, Result, SqliteLedger, StoreError};

pub use read::Reader;
pub(crate) use tables::STATE;
pub use tables::{Cell, Kind, TABLES, Table};
use write::Writer;

/// What every archive begins with; the number is the form's.
const MAGIC: &str = "agon ledger archive 1\n";
/// What archives of all forms begin with.
const ANY_FORM: &str = "agon ledger archive ";

/// Whoever is handed a ledger row by row.
pub trait RowSink: Send {
    /// The rows of this table follow.
    fn table(&mut self, table: &'static Table) -> Result<()>;
    /// The next row.
    fn row(&mut self, row: &[Cell]) -> Result<()>;
}

/// What was moved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArchiveSummary {
    /// The competition's name.
    pub name: String,
    /// Matches.
    pub matches: u64,
    /// Bytes of the archive.
    pub bytes: u64,
}

/// Writes a ledger's archive: whole or not at all, never over another file, and for its owner alone, as the secret seed is in it. Refused
/// while the competition is being played.
pub async fn write(ledger: &dyn Ledger, path: &Path) -> Result<ArchiveSummary> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(StoreError::Exists { place: path.display().to_string() });
    }
    let _claim = ledger.claim().await?;
    let draft = UnfinishedFile::beside(path);
    let failed = failed(path, "write");
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft.0).map_err(failed)?;
    let mut writer = Writer::new(file, path)?;
    ledger.dump(&mut writer).await?;
    writer.finish()?;
    let mut matches = 0;
    for phase in ledger.phases().await? {
        matches += ledger.counts(phase.phase).await?.matches;
    }
    let bytes = fs::metadata(&draft.0).map_err(failed)?.len();
    draft.becomes(path, "write")?;
    Ok(ArchiveSummary { name: ledger.competition().await?.name, matches, bytes })
}

/// Makes a ledger in a file of an archive.
pub async fn into_file(archive: &Path, ledger: &Path) -> Result<ArchiveSummary> {
    if fs::symlink_metadata(ledger).is_ok() {
        return Err(StoreError::Exists { place: ledger.display().to_string() });
    }
    let mut reader = Reader::open(archive)?;
    let draft = UnfinishedFile::beside(ledger);
    SqliteLedger::fill(&draft.0, &mut reader).await?;
    draft.becomes(ledger, "make")?;
    told(&SqliteLedger::open_to_read(ledger).await?, archive).await
}

/// Makes a ledger in a database of an archive, under this name.
pub async fn into_database(archive: &Path, url: &str, slug: &str) -> Result<ArchiveSummary> {
    let mut reader = Reader::open(archive)?;
    PostgresLedger::import(url, slug, &mut reader).await?;
    told(&PostgresLedger::open_to_read(url, slug).await?, archive).await
}

async fn told(ledger: &dyn Ledger, archive: &Path) -> Result<ArchiveSummary> {
    let mut matches = 0;
    for phase in ledger.phases().await? {
        matches += ledger.counts(phase.phase).await?.matches;
    }
    let bytes = fs::metadata(archive).map_or(0, |file| file.len());
    Ok(ArchiveSummary { name: ledger.competition().await?.name, matches, bytes })
}

/// A file that is not whole yet; gone when it is dropped.
struct UnfinishedFile(PathBuf);

impl UnfinishedFile {
    fn beside(path: &Path) -> Self {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        Self(name.into())
    }

    /// Gets its name, if nobody has that.
    fn becomes(self, path: &Path, doing: &'static str) -> Result<()> {
        let kept =
            File::open(&self.0).and_then(|file| file.sync_all()).and_then(|()| fs::hard_link(&self.0, path));
        kept.map_err(failed(path, doing))
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        for ending in ["", "-journal", "-wal", "-shm"] {
            let mut name = self.0.as_os_str().to_owned();
            name.push(ending);
            let _ = fs::remove_file(PathBuf::from(name));
        }
    }
}

/// What the machine says about a file.
fn failed<'p>(path: &'p Path, doing: &'static str) -> impl Fn(io::Error) -> StoreError + Copy + 'p {
    move |error| {
        let place = path.display().to_string();
        match error.kind() {
            io::ErrorKind::AlreadyExists => StoreError::Exists { place },
            io::ErrorKind::StorageFull => StoreError::Full { place },
            _ => StoreError::Io {
                place,
                doing,
                error,
                hint: "is the path right, is there room, and may you write there?",
            },
        }
    }
}
