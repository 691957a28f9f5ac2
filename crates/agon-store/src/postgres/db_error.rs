//! What PostgreSQL says when something is wrong, in the ledger's words. <https://www.postgresql.org/docs/current/errcodes-appendix.html>

use std::io;

use super::database_url::{LOCK_SECONDS, DatabaseUrl};
use crate::StoreError;

/// Why one try did not work.
#[derive(Debug)]
pub enum AttemptError {
    /// The server, or the way there.
    Sql(sqlx::Error),
    /// What was asked for cannot be.
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

/// A row that is not what was written.
pub fn damaged(what: &'static str) -> AttemptError {
    AttemptError::Sql(sqlx::Error::Decode(what.into()))
}

/// Whether the same again may work in a moment: the server is gone, starts, is full up, or had to choose between two.
pub fn is_transient(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(error) => !is_tls(error),
        sqlx::Error::Protocol(_) | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(database) => database.code().is_some_and(|code| is_passing_code(&code)),
        _ => false,
    }
}

/// The server is there, and takes nobody for the moment.
pub fn is_starting(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(database) if database.code().is_some_and(|code| code == "57P03" || code == "53300"))
}

fn is_passing_code(code: &str) -> bool {
    code.starts_with("08")
        || ["57P01", "57P02", "57P03", "57P05", "25P03", "53300", "40001", "40P01"].contains(&code)
}

fn is_tls(error: &io::Error) -> bool {
    let text = error.to_string();
    error.kind() == io::ErrorKind::InvalidData && (text.contains("certificate") || text.contains("Tls"))
}

/// In the ledger's words. `seconds`: for how long it was tried.
pub fn explain(target: &DatabaseUrl, place: &str, error: &sqlx::Error, seconds: u64) -> StoreError {
    let place = place.to_owned();
    let refused = |what: String, hint: &str, wrong_use| StoreError::Refused {
        place: place.clone(),
        what,
        hint: hint.to_owned(),
        wrong_use,
    };
    let tls_hint = "sslmode=verify-full needs a server with TLS whose certificate names its host, and sslrootcert=FILE with the authority \
                    that signed it; sslmode=require encrypts without looking who is there";
    match error {
        sqlx::Error::Database(database) => {
            let code = database.code().unwrap_or_default();
            said(target, place, &code, database.message(), seconds)
        }
        sqlx::Error::Tls(error) => {
            refused(format!("no TLS as sslmode={} asks for: {error}", target.tls()), tls_hint, true)
        }
        sqlx::Error::Io(error) if is_tls(error) => {
            refused(format!("no TLS as sslmode={} asks for: {error}", target.tls()), tls_hint, true)
        }
        sqlx::Error::Configuration(error) => refused(error.to_string(), "check the database's URL", true),
        sqlx::Error::Io(error) => StoreError::Unreachable { place, what: error.to_string(), seconds },
        sqlx::Error::Protocol(what) => StoreError::Unreachable { place, what: what.clone(), seconds },
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) | sqlx::Error::ColumnNotFound(_) => {
            StoreError::Damaged { place, what: error.to_string() }
        }
        other => StoreError::Database { place, what: other.to_string() },
    }
}

/// What the server itself said.
fn said(target: &DatabaseUrl, place: String, code: &str, message: &str, seconds: u64) -> StoreError {
    let (user, database) = (target.user(), target.database());
    let refused = |what: String, hint: String, wrong_use| StoreError::Refused {
        place: place.clone(),
        what,
        hint,
        wrong_use,
    };
    match code {
        "28P01" => refused(
            format!("the password of user {user} is not accepted"),
            "give it in PGPASSWORD, in ~/.pgpass or in the URL (special characters as % and two digits)"
                .to_owned(),
            true,
        ),
        "28000" => refused(
            format!("user {user} is not let in: {message}"),
            "check the user's name, `pg_hba.conf` of the server, and whether it wants TLS (sslmode=require)"
                .to_owned(),
            true,
        ),
        "3D000" => refused(
            "there is no such database".to_owned(),
            format!("make it once, on the server: createdb -O {user} {database}"),
            true,
        ),
        "42501" => refused(
            format!("user {user} may not do that: {message}"),
            format!(
                "to start a competition: GRANT CREATE ON DATABASE \"{database}\" TO \"{user}\"; who goes on with one must own its schema; to read one, \
                 see docs/ledger.md"
            ),
            true,
        ),
        "25006" => refused(
            format!("the database cannot be written: {message}"),
            "is this a standby, or is default_transaction_read_only set? use the server that takes changes"
                .to_owned(),
            false,
        ),
        "53100" => StoreError::Full { place },
        "55P03" => StoreError::Locked { place, seconds: LOCK_SECONDS },
        "XX001" | "XX002" => StoreError::Damaged { place, what: message.to_owned() },
        "42P01" | "42703" | "3F000" => {
            StoreError::NotALedger { place, what: format!("something of it is missing: {message}") }
        }
        code if is_passing_code(code) => StoreError::Unreachable { place, what: message.to_owned(), seconds },
        _ => StoreError::Database { place, what: format!("{message} ({code})") },
    }
}
