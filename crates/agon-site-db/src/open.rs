//! Creating and opening the file. A file that is not a site database is rejected before SQLite opens it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use agon_store::StoreError;
use agon_store::sqlite_file::{self as files, Writer};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use tokio::sync::Mutex;

use super::{Inner, Result, SiteDb, SiteDbError, error};

/// Application id in the file header: `AgOf`.
const APPLICATION_ID: u32 = u32::from_be_bytes(*b"AgOf");
/// All migrations, in order. A released migration never changes.
const MIGRATIONS: [&str; 8] = [
    include_str!("../migrations/0001_site_db.sql"),
    include_str!("../migrations/0002_phase_columns.sql"),
    include_str!("../migrations/0003_known_clients_and_disk.sql"),
    include_str!("../migrations/0004_entrant_marks.sql"),
    include_str!("../migrations/0005_played_games.sql"),
    include_str!("../migrations/0006_people.sql"),
    include_str!("../migrations/0007_organiser.sql"),
    include_str!("../migrations/0008_drafts.sql"),
];
/// Current version: the number of migrations.
const VERSION: i64 = MIGRATIONS.len() as i64;

pub async fn open(path: &Path) -> Result<SiteDb> {
    match files::check_header(path, APPLICATION_ID) {
        Err(StoreError::Missing { .. }) => {
            create(path).await?;
            files::check_header(path, APPLICATION_ID)?;
        }
        looked => looked?,
    }
    files::check_writable(path)?;
    let failed = error::in_file(path);
    let options =
        files::options(path).journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Full);
    let mut connection = options.connect().await.map_err(&failed)?;
    if files::version(&mut connection, path, VERSION).await? < VERSION {
        files::migrate(&mut connection, &MIGRATIONS).await.map_err(&failed)?;
    }
    let writer = Mutex::new(Some(Writer::new(connection, options)));
    let readers = files::readers(files::options(path).read_only(true));
    Ok(SiteDb(Arc::new(Inner { path: path.to_owned(), writer, readers })))
}

/// Creates the file: built in memory, then written under its name as a whole.
async fn create(path: &Path) -> Result<()> {
    let image = database_image().await.map_err(error::in_file(path))?;
    let place = || path.display().to_string();
    files::refuse_leftovers(path)?;
    files::NEW_FILE.write(path, &image).or_else(|error| match error.kind() {
        // Another process created it first; its file is equal.
        io::ErrorKind::AlreadyExists => Ok(()),
        io::ErrorKind::StorageFull => Err(SiteDbError::DiskFull { place: place() }),
        _ => {
            let hint = files::FOLDER_HINT;
            Err(StoreError::Io { place: place(), doing: "create", error, hint }.into())
        }
    })
}

/// Bytes of a new database.
async fn database_image() -> Result<Vec<u8>, sqlx::Error> {
    let mut connection =
        SqliteConnectOptions::new().in_memory(true).disable_statement_logging().connect().await?;
    let pragma = format!("PRAGMA application_id = {APPLICATION_ID}");
    sqlx::raw_sql(AssertSqlSafe(pragma)).execute(&mut connection).await?;
    files::migrate(&mut connection, &MIGRATIONS).await?;
    let bytes = connection.serialize(None).await?.as_ref().to_vec();
    connection.close().await?;
    Ok(bytes)
}
