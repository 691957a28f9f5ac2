//! Making and opening the file, as ledgers are: what is no office is refused before SQLite has touched it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use tokio::sync::Mutex;

use super::{Inner, SiteDb, SiteDbError, Result, error};
use crate::StoreError;
use crate::sqlite::{Writer, open as files};

/// In the file's header: `AgOf`.
const APPLICATION: u32 = u32::from_be_bytes(*b"AgOf");
/// Every step from an empty file to the office of today. One that was released never changes.
const MIGRATIONS: [&str; 1] = [include_str!("../../migrations-office/0001_office.sql")];
/// The version written: how many steps were taken.
const VERSION: i64 = MIGRATIONS.len() as i64;

pub async fn open(path: &Path) -> Result<SiteDb> {
    match files::look(path, APPLICATION) {
        Err(StoreError::Missing { .. }) => {
            create(path).await?;
            files::look(path, APPLICATION)?;
        }
        looked => looked?,
    }
    files::writable(path)?;
    let failed = error::at(path);
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

/// Makes the file: in memory first, then whole under its name.
async fn create(path: &Path) -> Result<()> {
    let image = image().await.map_err(error::at(path))?;
    let place = || path.display().to_string();
    files::write_whole(path, &image).or_else(|error| match error.kind() {
        // Somebody else was quicker: theirs is as good.
        io::ErrorKind::AlreadyExists => Ok(()),
        io::ErrorKind::StorageFull => Err(SiteDbError::Full { place: place() }),
        _ => {
            let hint = files::FOLDER_HINT;
            Err(StoreError::Io { place: place(), doing: "make", error, hint }.into())
        }
    })
}

/// The bytes of a new office.
async fn image() -> Result<Vec<u8>, sqlx::Error> {
    let mut connection =
        SqliteConnectOptions::new().in_memory(true).disable_statement_logging().connect().await?;
    let pragma = format!("PRAGMA application_id = {APPLICATION}");
    sqlx::raw_sql(AssertSqlSafe(pragma)).execute(&mut connection).await?;
    files::migrate(&mut connection, &MIGRATIONS).await?;
    let bytes = connection.serialize(None).await?.as_ref().to_vec();
    connection.close().await?;
    Ok(bytes)
}
