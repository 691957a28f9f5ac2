//! Creating and opening ledger files. A file that is not a ledger is rejected before SQLite opens it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use agon_files::{AtomicFile, AtomicFileOptions, IfExists, SyncToDisk};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, SqliteConnection, SqlitePool};
use tokio::sync::Mutex;

use super::companions::{refuse_leftovers, with_suffix};
use super::file_identity::FileIdentity;
use super::{SqliteLedger, Writer, db_error};
use crate::{NewLedger, Result, StoreError};

/// Application id in the file header: `Agon`.
const APPLICATION_ID: u32 = u32::from_be_bytes(*b"Agon");
/// All migrations, in order. A released migration never changes.
const MIGRATIONS: [&str; 5] = [
    include_str!("../../migrations/0001_ledger.sql"),
    include_str!("../../migrations/0002_rulings_and_logs.sql"),
    include_str!("../../migrations/0003_workers.sql"),
    include_str!("../../migrations/0004_seat_meters.sql"),
    include_str!("../../migrations/0005_bot_descriptions.sql"),
];
/// Current version: the number of migrations.
const VERSION: i64 = MIGRATIONS.len() as i64;
/// Maximum number of parallel read connections.
const MAX_READERS: u32 = 4;
/// Page cache of the writer: a negative number is a size in KiB.
const WRITER_CACHE_SIZE: &str = "-8000";
/// Pages in the `-wal` file (16 MiB) that trigger a checkpoint.
const CHECKPOINT_PAGES: &str = "4000";

/// How a new file is written. Never overwrites a file. Only the owner can read the file: it contains a secret seed or password hashes.
pub const NEW_FILE: AtomicFileOptions =
    AtomicFile::options().unnamed().mode(0o600).if_exists(IfExists::Keep).sync(SyncToDisk::FileAndFolder);

/// Hint for a file that cannot be created.
pub const FOLDER_HINT: &str = "choose a folder that exists and that you may write to";
const FILE_HINT: &str = "check the path and your permission to read the file";

/// Creates the file. It is built in memory, written to an unnamed file, and linked to its name once it is complete and synced.
pub async fn create(path: &Path, new_ledger: &NewLedger) -> Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(StoreError::Exists { place: path.display().to_string() });
    }
    refuse_leftovers(path)?;
    create_file(path, &database_image(Some(new_ledger)).await.map_err(db_error::in_file(path))?)
}

/// Creates a ledger without rows, to be filled by an import.
pub async fn create_empty(path: &Path) -> Result<()> {
    create_file(path, &database_image(None).await.map_err(db_error::in_file(path))?)
}

fn create_file(path: &Path, image: &[u8]) -> Result<()> {
    NEW_FILE.write(path, image).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => StoreError::Exists { place: path.display().to_string() },
        io::ErrorKind::StorageFull => StoreError::DiskFull { place: path.display().to_string() },
        _ => StoreError::Io { place: path.display().to_string(), doing: "create", error, hint: FOLDER_HINT },
    })
}

/// Bytes of a new ledger.
async fn database_image(new_ledger: Option<&NewLedger>) -> Result<Vec<u8>, sqlx::Error> {
    let mut connection =
        SqliteConnectOptions::new().in_memory(true).disable_statement_logging().connect().await?;
    let pragma = format!("PRAGMA application_id = {APPLICATION_ID}");
    sqlx::raw_sql(AssertSqlSafe(pragma)).execute(&mut connection).await?;
    migrate(&mut connection, &MIGRATIONS).await?;
    if let Some(new_ledger) = new_ledger {
        super::state::write_initial_rows(&mut connection, new_ledger).await?;
    }
    let bytes = connection.serialize(None).await?.as_ref().to_vec();
    connection.close().await?;
    Ok(bytes)
}

/// Opens a ledger for reading and writing.
pub async fn open(path: &Path) -> Result<SqliteLedger> {
    check_header(path, APPLICATION_ID)?;
    check_writable(path)?;
    let options = options(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .pragma("cache_size", WRITER_CACHE_SIZE)
        .pragma("wal_autocheckpoint", CHECKPOINT_PAGES);
    let mut connection = options.connect().await.map_err(db_error::in_file(path))?;
    let found = version(&mut connection, path, VERSION).await?;
    if found < VERSION {
        migrate(&mut connection, &MIGRATIONS).await.map_err(db_error::in_file(path))?;
        tracing::info!(ledger = %path.display(), from = found, to = VERSION, "ledger migrated");
    }
    tracing::debug!(ledger = %path.display(), "ledger opened");
    let writer = Mutex::new(Some(Writer::new(connection, options)));
    let readers = readers(self::options(path).read_only(true));
    Ok(SqliteLedger {
        path: path.to_owned(),
        writer: Some(writer),
        readers,
        identity: FileIdentity::of(path),
    })
}

/// Checks that file and folder are writable. SQLite would only say that it cannot open the file.
pub fn check_writable(path: &Path) -> Result<()> {
    for needed in [path, folder(path)] {
        rustix::fs::access(needed, rustix::fs::Access::WRITE_OK).map_err(|error| StoreError::ReadOnly {
            place: path.display().to_string(),
            what: format!("{}: {}", needed.display(), io::Error::from(error)),
        })?;
    }
    Ok(())
}

/// Opens a ledger for reading.
pub async fn open_to_read(path: &Path) -> Result<SqliteLedger> {
    check_header(path, APPLICATION_ID)?;
    let mut options = options(path).read_only(true);
    // Readers and writers share a file beside the ledger. If it cannot be created here, there is no writer either.
    let has_log = fs::metadata(with_suffix(path, "-wal")).is_ok_and(|log| log.len() > 0);
    if !has_log && rustix::fs::access(folder(path), rustix::fs::Access::WRITE_OK).is_err() {
        options = options.immutable(true);
    }
    let mut connection = options.connect().await.map_err(db_error::in_file(path))?;
    let found = version(&mut connection, path, VERSION).await?;
    connection.close().await.map_err(db_error::in_file(path))?;
    if found < VERSION {
        // Migration needs write access.
        open(path).await?.disconnect().await?;
    }
    let identity = FileIdentity::of(path);
    Ok(SqliteLedger { path: path.to_owned(), writer: None, readers: readers(options), identity })
}

/// Connection options of a file.
pub fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .foreign_keys(true)
        .busy_timeout(db_error::BUSY_TIMEOUT)
        .disable_statement_logging()
}

/// Pool of read connections.
pub fn readers(options: SqliteConnectOptions) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(MAX_READERS)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .connect_lazy_with(options)
}

/// Checks the file header before SQLite opens the file, because opening would change a database of another program.
pub fn check_header(path: &Path, application: u32) -> Result<()> {
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
    // https://sqlite.org/fileformat.html: the magic string and the application id.
    if !header.starts_with(b"SQLite format 3\0") {
        return Err(not("it is not an SQLite database"));
    }
    if header[68..72] != application.to_be_bytes() {
        return Err(not("it is an SQLite database of another program"));
    }
    Ok(())
}

/// Version of the file; an error if it is newer than `known`.
pub async fn version(connection: &mut SqliteConnection, path: &Path, known: i64) -> Result<i64> {
    let found: i64 = sqlx::query_scalar("PRAGMA user_version")
        .fetch_one(connection)
        .await
        .map_err(db_error::in_file(path))?;
    if found > known {
        return Err(StoreError::NewerVersion { place: path.display().to_string(), found, known });
    }
    Ok(found)
}

/// Runs the missing migrations, all or none.
pub async fn migrate(connection: &mut SqliteConnection, steps: &[&'static str]) -> Result<(), sqlx::Error> {
    let mut change = connection.begin_with("BEGIN IMMEDIATE").await?;
    // Read again inside the transaction: another process may have migrated first.
    let found: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *change).await?;
    for step in steps.iter().skip(found.max(0) as usize) {
        sqlx::raw_sql(*step).execute(&mut *change).await?;
    }
    let pragma = format!("PRAGMA user_version = {}", steps.len());
    sqlx::raw_sql(AssertSqlSafe(pragma)).execute(&mut *change).await?;
    change.commit().await
}

/// Folder of a file.
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}
