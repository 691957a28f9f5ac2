//! Conversion of PostgreSQL errors. Codes: <https://www.postgresql.org/docs/current/errcodes-appendix.html>

use std::io;

use super::database_url::{DatabaseUrl, LOCK_TIMEOUT_SECONDS};
use crate::StoreError;

/// Error of one attempt.
#[derive(Debug)]
pub enum AttemptError {
    /// Error of the server or the connection; may be retried.
    Sql(sqlx::Error),
    /// Error of the ledger; never retried.
    Store(StoreError),
}

impl From<sqlx::Error> for AttemptError {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for AttemptError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Error for a row with invalid content.
pub fn damaged(what: &'static str) -> AttemptError {
    AttemptError::Sql(sqlx::Error::Decode(what.into()))
}

/// Whether a retry may succeed: the server is unreachable, starting, out of connections, or aborted a conflicting transaction.
pub fn is_transient(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(error) => !is_tls(error),
        sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(database) => database.code().is_some_and(|code| is_transient_code(&code)),
        _ => false,
    }
}

/// Whether the server aborted the transaction because of another one. It answers.
pub fn is_conflict(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(database) if database.code().is_some_and(|code| code == "40001" || code == "40P01"))
}

/// Whether the server runs but accepts no connections at the moment.
pub fn is_starting(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(database) if database.code().is_some_and(|code| code == "57P03" || code == "53300"))
}

fn is_transient_code(code: &str) -> bool {
    code.starts_with("08")
        || ["57P01", "57P02", "57P03", "57P05", "25P03", "53300", "40001", "40P01"].contains(&code)
}

fn is_tls(error: &io::Error) -> bool {
    let text = error.to_string();
    error.kind() == io::ErrorKind::InvalidData && (text.contains("certificate") || text.contains("Tls"))
}

/// Converts an error. `seconds` is the duration of the retries.
pub fn explain(target: &DatabaseUrl, place: &str, error: &sqlx::Error, seconds: u64) -> StoreError {
    let place = place.to_owned();
    let refused = |what: String, hint: &str, is_usage_error| StoreError::ServerRefused {
        place: place.clone(),
        what,
        hint: hint.to_owned(),
        is_usage_error,
    };
    let tls_hint = "sslmode=verify-full needs a server with TLS whose certificate names its host, and sslrootcert=FILE with the authority \
                    that signed it; sslmode=require encrypts without verifying the server";
    match error {
        sqlx::Error::Database(database) => {
            let code = database.code().unwrap_or_default();
            explain_server_error(target, place, &code, database.message(), seconds)
        }
        sqlx::Error::Tls(error) => {
            refused(format!("TLS failed (sslmode={}): {error}", target.ssl_mode()), tls_hint, true)
        }
        sqlx::Error::Io(error) if is_tls(error) => {
            refused(format!("TLS failed (sslmode={}): {error}", target.ssl_mode()), tls_hint, true)
        }
        sqlx::Error::Configuration(error) => refused(error.to_string(), "check the database URL", true),
        sqlx::Error::Io(error) => StoreError::Unreachable { place, what: error.to_string(), seconds },
        sqlx::Error::Protocol(what) => StoreError::Unreachable { place, what: what.clone(), seconds },
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) | sqlx::Error::ColumnNotFound(_) => {
            StoreError::Damaged { place, what: error.to_string() }
        }
        other => StoreError::Database { place, what: other.to_string() },
    }
}

/// Converts an error that the server reported.
fn explain_server_error(
    target: &DatabaseUrl,
    place: String,
    code: &str,
    message: &str,
    seconds: u64,
) -> StoreError {
    let (user, database) = (target.user(), target.database());
    let refused = |what: String, hint: String, is_usage_error| StoreError::ServerRefused {
        place: place.clone(),
        what,
        hint,
        is_usage_error,
    };
    match code {
        "28P01" => refused(
            format!("the server rejected the password of user {user}"),
            "set it in PGPASSWORD, ~/.pgpass or the URL (special characters as % and two digits)"
                .to_owned(),
            true,
        ),
        "28000" => refused(
            format!("the server rejected user {user}: {message}"),
            "check the user name, `pg_hba.conf` on the server, and whether the server requires TLS (sslmode=require)"
                .to_owned(),
            true,
        ),
        "3D000" => refused(
            "the database does not exist".to_owned(),
            format!("create it on the server: createdb -O {user} {database}"),
            true,
        ),
        "42501" => refused(
            format!("user {user} lacks a permission: {message}"),
            format!(
                "to start a competition: GRANT CREATE ON DATABASE \"{database}\" TO \"{user}\"; to resume one, own its schema; to read one, \
                 see docs/ledger.md"
            ),
            true,
        ),
        "25006" => refused(
            format!("the database is read-only: {message}"),
            "connect to the primary server, and check default_transaction_read_only"
                .to_owned(),
            false,
        ),
        "53100" => StoreError::DiskFull { place },
        "55P03" => StoreError::Locked { place, seconds: LOCK_TIMEOUT_SECONDS },
        "XX001" | "XX002" => StoreError::Damaged { place, what: message.to_owned() },
        "42P01" | "42703" | "3F000" => {
            StoreError::NotALedger { place, what: format!("part of it is missing: {message}") }
        }
        code if is_transient_code(code) => StoreError::Unreachable { place, what: message.to_owned(), seconds },
        _ => StoreError::Database { place, what: format!("{message} ({code})") },
    }
}
