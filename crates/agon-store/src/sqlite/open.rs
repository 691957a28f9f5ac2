//! Making and opening the file. What is no ledger is refused before SQLite has touched it.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, SqliteConnection, SqlitePool};
use tokio::sync::Mutex;

use super::{SqliteLedger, Writer, db_error};
use crate::{NewLedger, Result, StoreError};

/// In the file's header, so that `file` and we know it: `Agon`.
const APPLICATION: u32 = u32::from_be_bytes(*b"Agon");
/// Every step from an empty file to the ledger of today. One that was released never changes.
const MIGRATIONS: [&str; 3] = [
    include_str!("../../migrations/0001_ledger.sql"),
    include_str!("../../migrations/0002_rulings_and_logs.sql"),
    include_str!("../../migrations/0003_workers.sql"),
];
/// The version written: how many steps were taken.
const VERSION: i64 = MIGRATIONS.len() as i64;
/// Connections that read at the same time.
const READERS: u32 = 4;
/// What the writer may keep of the file in memory, in KiB.
const WRITER_CACHE: &str = "-8000";
/// So many pages of the log (16 MiB) are written into the file at once.
const CHECKPOINT: &str = "4000";

pub(crate) const FOLDER_HINT: &str = "choose a folder that exists and that you may write to";
const FILE_HINT: &str = "is the path right, and may you read it?";

/// Makes the file: in memory first, then as a file without a name, which gets its name when it is whole and on the disk.
pub async fn create(path: &Path, founding: &NewLedger) -> Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(StoreError::Exists { place: path.display().to_string() });
    }
    make(path, &image(Some(founding)).await.map_err(db_error::at(path))?)
}

/// Makes a ledger with nothing in it, for whoever fills it.
pub async fn create_empty(path: &Path) -> Result<()> {
    make(path, &image(None).await.map_err(db_error::at(path))?)
}

fn make(path: &Path, image: &[u8]) -> Result<()> {
    write_whole(path, image).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => StoreError::Exists { place: path.display().to_string() },
        io::ErrorKind::StorageFull => StoreError::Full { place: path.display().to_string() },
        _ => StoreError::Io { place: path.display().to_string(), doing: "make", error, hint: FOLDER_HINT },
    })
}

/// The bytes of a new ledger.
async fn image(founding: Option<&NewLedger>) -> Result<Vec<u8>, sqlx::Error> {
    let mut connection =
        SqliteConnectOptions::new().in_memory(true).disable_statement_logging().connect().await?;
    let pragma = format!("PRAGMA application_id = {APPLICATION}");
    sqlx::raw_sql(AssertSqlSafe(pragma)).execute(&mut connection).await?;
    migrate(&mut connection, &MIGRATIONS).await?;
    if let Some(founding) = founding {
        super::state::found(&mut connection, founding).await?;
    }
    let bytes = connection.serialize(None).await?.as_ref().to_vec();
    connection.close().await?;
    Ok(bytes)
}

/// Makes a file of these bytes, for its owner alone; never over another.
pub(crate) fn write_whole(path: &Path, image: &[u8]) -> io::Result<()> {
    let folder = folder(path);
    // A secret seed is in it, or hashes of passwords.
    let mode = 0o600;
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    if let Ok(file) = rustix::fs::open(folder, flags, Mode::from_raw_mode(mode)) {
        let mut file = File::from(file);
        file.write_all(image)?;
        file.sync_all()?;
        let here = format!("/proc/self/fd/{}", file.as_raw_fd());
        rustix::fs::linkat(CWD, here, CWD, path, AtFlags::SYMLINK_FOLLOW)?;
    } else {
        // Not every file system has files without a name.
        let draft = beside(path, &format!(".{}.part", std::process::id()));
        let written =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(&draft).and_then(
                |mut file| {
                    file.write_all(image)?;
                    file.sync_all()?;
                    fs::hard_link(&draft, path)
                },
            );
        let _ = fs::remove_file(&draft);
        written?;
    }
    File::open(folder)?.sync_all()
}

/// Opens for reading and writing.
pub async fn open(path: &Path) -> Result<SqliteLedger> {
    look(path, APPLICATION)?;
    writable(path)?;
    let options = options(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .pragma("cache_size", WRITER_CACHE)
        .pragma("wal_autocheckpoint", CHECKPOINT);
    let mut connection = options.connect().await.map_err(db_error::at(path))?;
    if version(&mut connection, path, VERSION).await? < VERSION {
        migrate(&mut connection, &MIGRATIONS).await.map_err(db_error::at(path))?;
    }
    let writer = Mutex::new(Some(Writer::new(connection, options)));
    let readers = readers(self::options(path).read_only(true));
    Ok(SqliteLedger { path: path.to_owned(), writer: Some(writer), readers })
}

/// Whether it may be written. SQLite itself would say of some of these that it cannot open the file.
pub(crate) fn writable(path: &Path) -> Result<()> {
    for needed in [path, folder(path)] {
        rustix::fs::access(needed, rustix::fs::Access::WRITE_OK).map_err(|error| StoreError::ReadOnly {
            place: path.display().to_string(),
            what: format!("{}: {}", needed.display(), io::Error::from(error)),
        })?;
    }
    Ok(())
}

/// Opens for reading.
pub async fn open_to_read(path: &Path) -> Result<SqliteLedger> {
    look(path, APPLICATION)?;
    let mut options = options(path).read_only(true);
    // Readers and writers talk through a file beside the ledger. Where none can be made, nobody writes either.
    let has_log = fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > 0);
    if !has_log && rustix::fs::access(folder(path), rustix::fs::Access::WRITE_OK).is_err() {
        options = options.immutable(true);
    }
    let mut connection = options.connect().await.map_err(db_error::at(path))?;
    let found = version(&mut connection, path, VERSION).await?;
    connection.close().await.map_err(db_error::at(path))?;
    if found < VERSION {
        // Brought up to date by whoever may write it.
        open(path).await?.disconnect().await?;
    }
    Ok(SqliteLedger { path: path.to_owned(), writer: None, readers: readers(options) })
}

pub(crate) fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .foreign_keys(true)
        .busy_timeout(db_error::BUSY_TIMEOUT)
        .disable_statement_logging()
}

pub(crate) fn readers(options: SqliteConnectOptions) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(READERS)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .connect_lazy_with(options)
}

/// Looks at the first bytes, as any other file's: SQLite would change another program's database by opening it as ours.
pub(crate) fn look(path: &Path, application: u32) -> Result<()> {
    let place = path.display().to_string();
    let not = |what: &str| StoreError::NotALedger { place: place.clone(), what: what.to_owned() };
    let mut header = [0; 100];
    let read = File::open(path).and_then(|mut file| {
        if file.metadata()?.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        file.read_exact(&mut header)
    });
    match read {
        Ok(()) => {}
        Err(error) => {
            return Err(match error.kind() {
                io::ErrorKind::NotFound => StoreError::Missing { place },
                io::ErrorKind::IsADirectory => not("it is a folder"),
                io::ErrorKind::UnexpectedEof => not("it is empty or very short"),
                _ => StoreError::Io { place, doing: "read", error, hint: FILE_HINT },
            });
        }
    }
    // https://sqlite.org/fileformat.html: the magic, and the application's own number.
    if !header.starts_with(b"SQLite format 3\0") {
        return Err(not("it is not an SQLite database"));
    }
    if header[68..72] != application.to_be_bytes() {
        return Err(not("it is an SQLite database of another program"));
    }
    Ok(())
}

/// The file's version, if it is known here.
pub(crate) async fn version(connection: &mut SqliteConnection, path: &Path, known: i64) -> Result<i64> {
    let found: i64 =
        sqlx::query_scalar("PRAGMA user_version").fetch_one(connection).await.map_err(db_error::at(path))?;
    if found > known {
        return Err(StoreError::Newer { place: path.display().to_string(), found, known });
    }
    Ok(found)
}

/// Takes the steps that were not taken yet, all or none.
pub(crate) async fn migrate(
    connection: &mut SqliteConnection,
    steps: &[&'static str],
) -> Result<(), sqlx::Error> {
    let mut change = connection.begin_with("BEGIN IMMEDIATE").await?;
    // Asked again inside: somebody else may have been quicker.
    let found: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *change).await?;
    for step in steps.iter().skip(found.max(0) as usize) {
        sqlx::raw_sql(*step).execute(&mut *change).await?;
    }
    let pragma = format!("PRAGMA user_version = {}", steps.len());
    sqlx::raw_sql(AssertSqlSafe(pragma)).execute(&mut *change).await?;
    change.commit().await
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

/// The same path with something added to the name.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
