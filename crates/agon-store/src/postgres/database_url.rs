//! Which server and which database: a URL, read so that no mistake in it is passed over and no password is shown.

use std::str::FromStr as _;

use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgSslMode};

use crate::{Result, StoreError};

/// What a URL may say behind the `?`.
const KNOWN: [&str; 8] =
    ["sslmode", "sslrootcert", "sslcert", "sslkey", "host", "port", "application_name", "hostaddr"];
/// A session that holds a lock and whose machine is gone is ended by the server after about a minute.
const SETTINGS: [(&str, &str); 6] = [
    ("tcp_keepalives_idle", "30"),
    ("tcp_keepalives_interval", "10"),
    ("tcp_keepalives_count", "3"),
    ("idle_in_transaction_session_timeout", "60s"),
    ("lock_timeout", "30s"),
    ("client_min_messages", "warning"),
];
/// How long another session may hold what we want to write: `lock_timeout` above.
pub const LOCK_SECONDS: u64 = 30;

/// A database on a server.
#[derive(Clone, Debug)]
pub struct DatabaseUrl {
    options: PgConnectOptions,
}

impl DatabaseUrl {
    /// Reads `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=...`. What is not there is taken from the environment (`PGHOST`,
    /// `PGUSER`, `PGPASSWORD`, ...) and from `~/.pgpass`, as `psql` does.
    pub fn read(url: &str) -> Result<Self> {
        // Whatever is wrong with it, its text is not shown: there may be a password in it.
        let refused = |what: &str, hint: &str| StoreError::Refused {
            place: "the database's URL".to_owned(),
            what: what.to_owned(),
            hint: hint.to_owned(),
            wrong_use: true,
        };
        let shape = "it has the form postgres://USER@HOST:PORT/DATABASE; the password is best in PGPASSWORD or ~/.pgpass";
        let Some(rest) = url.strip_prefix("postgres://").or_else(|| url.strip_prefix("postgresql://")) else {
            return Err(refused("it does not begin with postgres://", shape));
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let behind = &rest[authority.len()..];
        if behind.contains(['@', '#']) {
            return Err(refused(
                "there is a `@` or `#` where none can be",
                "a special character in a name or password is written as % and two digits: / is %2F, @ is %40, # is %23, ? is %3F",
            ));
        }
        if let Some((_, query)) = behind.split_once('?') {
            for pair in query.split('&').filter(|pair| !pair.is_empty()) {
                let key = pair.split('=').next().unwrap_or_default();
                if !KNOWN.contains(&key) {
                    let what = format!("`{key}` is not known");
                    return Err(refused(&what, &format!("known are {}", KNOWN.join(", "))));
                }
            }
        }
        let options = PgConnectOptions::from_str(url).map_err(|error| refused(&error.to_string(), shape))?;
        if options.get_database().is_none_or(|name| name.is_empty() || name.contains('/')) {
            return Err(refused("it names no database", shape));
        }
        Ok(Self { options: options.disable_statement_logging() })
    }

    /// Sessions in this schema (none: to look for one); `to_read` ones cannot write.
    pub fn session(&self, schema: Option<&str>, to_read: bool) -> PgConnectOptions {
        let mut options = self.options.clone().options(SETTINGS);
        if let Some(schema) = schema {
            options = options.options([("search_path", schema)]);
        }
        if to_read {
            options = options.options([("default_transaction_read_only", "on")]);
        }
        if options.get_application_name().is_none() {
            options = options.application_name("agon");
        }
        options
    }

    /// For people: everything but the password.
    pub fn place(&self) -> String {
        let host = match self.options.get_socket() {
            Some(socket) => socket.display().to_string(),
            None => format!("{}:{}", self.options.get_host(), self.options.get_port()),
        };
        format!("postgres://{}@{host}/{}", self.user(), self.database())
    }

    /// The same, with the competition.
    pub fn place_of(&self, slug: &str) -> String {
        format!("{} ({slug})", self.place())
    }

    pub fn user(&self) -> &str {
        self.options.get_username()
    }

    pub fn database(&self) -> &str {
        self.options.get_database().unwrap_or_default()
    }

    /// How TLS was asked for, as in the URL.
    pub fn tls(&self) -> &'static str {
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
    use super::*;

    #[test]
    fn a_url_is_read_whole_and_its_password_never_shown() {
        let target = DatabaseUrl::read("postgres://ada:se%40cret@db.example:5433/cups?sslmode=require").unwrap();
        assert_eq!(target.place(), "postgres://ada@db.example:5433/cups");
        assert_eq!((target.tls(), target.database()), ("require", "cups"));
        for (url, says) in [
            ("mysql://ada:hush@h/d", "postgres://"),
            ("cup.ledger", "postgres://"),
            ("postgres://ada:hush/x@h/d", "%2F"),
            ("postgres://ada:12#hush@h/d", "%23"),
            ("postgres://ada:12?hush@h/d", "%3F"),
            ("postgres://ada:hush@h/d?sslmod=require", "`sslmod` is not known"),
            ("postgres://ada:hush@h/d?sslmode=maybe", "maybe"),
            ("postgres://ada:hush@h:port/d", "port"),
            ("postgres://ada:hush@h/d/e", "names no database"),
        ] {
            let told = DatabaseUrl::read(url).unwrap_err();
            let text = told.to_string();
            assert!(text.contains(says) && text.contains("\nhint: ") && told.is_wrong_use(), "{text}");
            assert!(!text.contains("hush"), "{text}");
        }
    }
}
