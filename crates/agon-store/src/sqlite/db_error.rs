//! Conversion of SQLite errors.

use std::path::Path;
use std::time::Duration;

use crate::StoreError;

/// Maximum wait for another program that writes to the same file.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// SQLite's primary result codes that have their own error here.
const BUSY: i32 = 5;
const LOCKED: i32 = 6;
const READ_ONLY: i32 = 8;
const IO: i32 = 10;
const CORRUPT: i32 = 11;
const FULL: i32 = 13;
const CANNOT_OPEN: i32 = 14;
const NOT_A_DATABASE: i32 = 26;

/// Converts errors of this file; for `map_err`.
pub fn in_file(path: &Path) -> impl Fn(sqlx::Error) -> StoreError + '_ {
    |error| explain(path, &error)
}

/// Error for a row with invalid content.
pub fn damaged(path: &Path, what: impl Into<String>) -> StoreError {
    StoreError::Damaged { place: path.display().to_string(), what: what.into() }
}

fn explain(path: &Path, error: &sqlx::Error) -> StoreError {
    let place = path.display().to_string();
    let database = match error {
        sqlx::Error::Database(database) => database,
        // Agon never writes rows with missing columns or wrong types.
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) | sqlx::Error::ColumnNotFound(_) => {
            return StoreError::Damaged { place, what: error.to_string() };
        }
        other => return StoreError::Database { place, what: other.to_string() },
    };
    let what = database.message().to_owned();
    let code = database.code().and_then(|code| code.parse::<i32>().ok()).unwrap_or_default();
    match code & 0xff {
        BUSY | LOCKED => StoreError::Locked { place, seconds: BUSY_TIMEOUT.as_secs() },
        READ_ONLY => StoreError::ReadOnly { place, what },
        CORRUPT => StoreError::Damaged { place, what },
        FULL => StoreError::DiskFull { place },
        NOT_A_DATABASE => StoreError::NotALedger { place, what },
        // A full disk can appear as a failed write to the shared-memory file.
        IO if is_full(path) => StoreError::DiskFull { place },
        IO | CANNOT_OPEN => StoreError::Io {
            place,
            doing: "use",
            error: std::io::Error::other(what),
            hint: "check the disk, and the permissions of the file and its folder",
        },
        _ => StoreError::Database { place, what },
    }
}

/// Whether the disk of this file is full.
fn is_full(path: &Path) -> bool {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    rustix::fs::statvfs(folder).is_ok_and(|disk| disk.f_bavail * disk.f_frsize < 64 * 1024)
}
