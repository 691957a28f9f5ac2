//! Parsing of database URLs. Every mistake is reported, and no password is shown.

use std::str::FromStr as _;

use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgSslMode};

use crate::{Result, StoreError};

/// Allowed query parameters of a URL.
const KNOWN_PARAMETERS: [&str; 8] =
    ["sslmode", "sslrootcert", "sslcert", "sslkey", "host", "port", "application_name", "hostaddr"];
/// Settings of each session. With these keepalives the server ends a session about a minute after its machine disappears.
const SESSION_SETTINGS: [(&str, &str); 6] = [
    ("tcp_keepalives_idle", "30"),
    ("tcp_keepalives_interval", "10"),
    ("tcp_keepalives_count", "3"),
    ("idle_in_transaction_session_timeout", "60s"),
    ("lock_timeout", "30s"),
    ("client_min_messages", "warning"),
];
/// Maximum wait for a lock of another session: `lock_timeout` above.
pub const LOCK_TIMEOUT_SECONDS: u64 = 30;

/// A parsed database URL.
#[derive(Clone, Debug)]
pub struct DatabaseUrl {
    options: PgConnectOptions,
}

impl DatabaseUrl {
    /// Parses `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=...`. Missing parts come from the environment (`PGHOST`,
    /// `PGUSER`, `PGPASSWORD`, ...) and from `~/.pgpass`, as with `psql`.
    pub fn parse(url: &str) -> Result<Self> {
        // Errors never contain the URL itself, because it may contain a password.
        let refused = |what: &str, hint: &str| StoreError::ServerRefused {
            place: "the database URL".to_owned(),
            what: what.to_owned(),
            hint: hint.to_owned(),
            is_usage_error: true,
        };
        let format_hint =
            "use the form postgres://USER@HOST:PORT/DATABASE; put the password into PGPASSWORD or ~/.pgpass";
        let Some(rest) = url.strip_prefix("postgres://").or_else(|| url.strip_prefix("postgresql://")) else {
            return Err(refused("it does not begin with postgres://", format_hint));
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let path_and_query = &rest[authority.len()..];
        if path_and_query.contains(['@', '#']) {
            return Err(refused(
                "unexpected `@` or `#`",
                "write special characters in a name or password as % and two digits: / is %2F, @ is %40, # is %23, ? is %3F",
            ));
        }
        if let Some((_, query)) = path_and_query.split_once('?') {
            for pair in query.split('&').filter(|pair| !pair.is_empty()) {
                let key = pair.split('=').next().unwrap_or_default();
                if !KNOWN_PARAMETERS.contains(&key) {
                    let what = format!("unknown parameter `{key}`");
                    return Err(refused(&what, &format!("use one of {}", KNOWN_PARAMETERS.join(", "))));
                }
            }
        }
        let options =
            PgConnectOptions::from_str(url).map_err(|error| refused(&error.to_string(), format_hint))?;
        if options.get_database().is_none_or(|name| name.is_empty() || name.contains('/')) {
            return Err(refused("it does not name a database", format_hint));
        }
        Ok(Self { options: options.disable_statement_logging() })
    }

    /// Options of a session in this schema (`None`: no schema yet). A `read_only` session cannot write.
    pub fn session(&self, schema: Option<&str>, read_only: bool) -> PgConnectOptions {
        let mut options = self.options.clone().options(SESSION_SETTINGS);
        if let Some(schema) = schema {
            options = options.options([("search_path", schema)]);
        }
        if read_only {
            options = options.options([("default_transaction_read_only", "on")]);
        }
        if options.get_application_name().is_none() {
            options = options.application_name("agon");
        }
        options
    }

    /// URL without the password, for messages.
    pub fn place(&self) -> String {
        let host = match self.options.get_socket() {
            Some(socket) => socket.display().to_string(),
            None => format!("{}:{}", self.options.get_host(), self.options.get_port()),
        };
        format!("postgres://{}@{host}/{}", self.user(), self.database())
    }

    /// [`Self::place`] with the name of the competition.
    pub fn place_of(&self, slug: &str) -> String {
        format!("{} ({slug})", self.place())
    }

    pub fn user(&self) -> &str {
        self.options.get_username()
    }

    pub fn database(&self) -> &str {
        self.options.get_database().unwrap_or_default()
    }

    /// Value of `sslmode`.
    pub fn ssl_mode(&self) -> &'static str {
        match self.options.get_ssl_mode() {
            PgSslMode::Disable => "disable",
            PgSslMode::Allow => "allow",
            PgSslMode::Prefer => "prefer",
            PgSslMode::Require => "require",
            PgSslMode::VerifyCa => "verify-ca",
            PgSslMode::VerifyFull => "verify-full",
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use agon_core::ErrorKind;

    use super::*;

    #[test]
    fn parse_reports_every_mistake_and_never_shows_the_password() {
        let target =
            DatabaseUrl::parse("postgres://ada:se%40cret@db.example:5433/cups?sslmode=require").unwrap();
        assert_eq!(target.place(), "postgres://ada@db.example:5433/cups");
        assert_eq!((target.ssl_mode(), target.database()), ("require", "cups"));
        for (url, expected) in [
            ("mysql://ada:hush@h/d", "postgres://"),
            ("cup.ledger", "postgres://"),
            ("postgres://ada:hush/x@h/d", "%2F"),
            ("postgres://ada:12#hush@h/d", "%23"),
            ("postgres://ada:12?hush@h/d", "%3F"),
            ("postgres://ada:hush@h/d?sslmod=require", "unknown parameter `sslmod`"),
            ("postgres://ada:hush@h/d?sslmode=maybe", "maybe"),
            ("postgres://ada:hush@h:port/d", "port"),
            ("postgres://ada:hush@h/d/e", "does not name a database"),
        ] {
            let error = DatabaseUrl::parse(url).unwrap_err();
            let text = error.to_string();
            assert!(
                text.contains(expected) && text.contains("\nhint: ") && error.kind() == ErrorKind::Usage,
                "{text}"
            );
            assert!(!text.contains("hush"), "{text}");
        }
    }
}
