//! Connection to NATS, and its options.

use std::collections::VecDeque;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agon_core::LockIgnoringPoison as _;
use async_nats::jetstream::context::GetStreamErrorKind;
use async_nats::jetstream::stream::Stream;
use async_nats::jetstream::{self, ErrorCode};
use async_nats::{Client, ConnectOptions, Event, ServerAddr, ServerError};

use crate::connectivity::Connectivity;
use crate::{GridError, nats_errors};

/// Maximum time to connect.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Delay between attempts to connect to a server that does not answer.
const CONNECT_RETRY_DELAY: Duration = Duration::from_secs(1);
/// Maximum time to wait for a reply.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of server errors kept.
const MAX_SERVER_ERRORS: usize = 16;

/// Options of a connection.
#[derive(Clone, Default)]
pub struct NatsOptions {
    /// `nats://host:4222` or `tls://host:4222`, several separated by commas. May contain user and password.
    pub url: String,
    /// File with the password, if it is not in the URL.
    pub password_file: Option<PathBuf>,
    /// File with a JWT and its key, as `nsc` writes it.
    pub credentials: Option<PathBuf>,
    /// File with the CA certificates that the server's certificate is checked against.
    pub ca: Option<PathBuf>,
    /// File with the client certificate.
    pub certificate: Option<PathBuf>,
    /// File with the key of the client certificate.
    pub key: Option<PathBuf>,
    /// Connection name on the server, and prefix of the inbox subjects.
    pub name: String,
}

impl fmt::Debug for NatsOptions {
    /// Prints the URL without passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsOptions").field("url", &redact_passwords(&self.url)).finish_non_exhaustive()
    }
}

/// Removes user and password from a URL.
pub fn redact_passwords(url: &str) -> String {
    let one = |url: &str| {
        let (scheme, rest) = url.split_once("://").unwrap_or(("nats", url));
        let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
        format!("{scheme}://{host}")
    };
    url.split(',').map(|url| one(url.trim())).collect::<Vec<_>>().join(",")
}

/// Connection to NATS. Reconnects automatically.
#[derive(Clone)]
pub struct NatsConnection {
    client: Client,
    jetstream: jetstream::Context,
    url: String,
    /// Latest server errors. The server reports missing permissions here, never as a reply.
    server_errors: Arc<Mutex<VecDeque<String>>>,
    connectivity: Connectivity,
    /// User in the URL.
    user: Option<String>,
}

impl fmt::Debug for NatsConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Link({})", self.url)
    }
}

impl NatsConnection {
    /// Connects, within [`CONNECT_TIMEOUT`].
    pub async fn connect(options: &NatsOptions) -> Result<Self, GridError> {
        let (url, started) = (redact_passwords(&options.url), Instant::now());
        let server_errors = Arc::new(Mutex::new(VecDeque::new()));
        let connectivity = Connectivity::default();
        let addresses = parse_addresses(&options.url)?;
        let settings = connect_options(options, &addresses).await?.event_callback({
            let (server_errors, connectivity) = (Arc::clone(&server_errors), connectivity.clone());
            move |event| {
                record_server_error(&server_errors, &event);
                connectivity.note(&event);
                std::future::ready(())
            }
        });
        let client = match tokio::time::timeout(CONNECT_TIMEOUT, settings.connect(addresses)).await {
            Ok(Ok(client)) => client,
            Ok(Err(error)) => {
                return Err(nats_errors::connect_error(&url, options, &error, started.elapsed()));
            }
            Err(_) => {
                let what = "no reply".to_owned();
                return Err(GridError::Unreachable { url, what, seconds: CONNECT_TIMEOUT.as_secs() });
            }
        };
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(REQUEST_TIMEOUT);
        let user = user_in_url(&options.url);
        Ok(Self { client, jetstream, url, server_errors, connectivity, user })
    }

    /// Connects. Tries again for `wait` while no server answers; `retrying` receives the first error.
    pub async fn connect_within(
        options: &NatsOptions,
        wait: Duration,
        retrying: impl Fn(&GridError),
    ) -> Result<Self, GridError> {
        let (started, mut is_first) = (Instant::now(), true);
        loop {
            match Self::connect(options).await {
                Err(error @ GridError::Unreachable { .. }) if started.elapsed() < wait => {
                    if std::mem::take(&mut is_first) {
                        retrying(&error);
                    }
                    tokio::time::sleep(CONNECT_RETRY_DELAY.min(wait.saturating_sub(started.elapsed()))).await;
                }
                Err(GridError::Unreachable { url, what, .. }) => {
                    return Err(GridError::Unreachable { url, what, seconds: started.elapsed().as_secs() });
                }
                outcome => return outcome,
            }
        }
    }

    /// Client for plain messages.
    pub const fn client(&self) -> &Client {
        &self.client
    }

    /// JetStream context.
    pub const fn jetstream(&self) -> &jetstream::Context {
        &self.jetstream
    }

    /// Whether the server answers, and since when not.
    pub const fn connectivity(&self) -> &Connectivity {
        &self.connectivity
    }

    /// User in the URL, if it has one.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Server URL without passwords.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Converts a NATS or JetStream error. `doing` completes "cannot ...".
    pub fn jetstream_error(&self, doing: &str, error: &dyn std::error::Error) -> GridError {
        nats_errors::jetstream_error(&self.url, doing, error, self.last_server_error().as_deref())
    }

    /// A stream, or `None` if it does not exist.
    pub async fn find_stream(&self, name: &str) -> Result<Option<Stream>, GridError> {
        match self.jetstream.get_stream(name).await {
            Ok(stream) => Ok(Some(stream)),
            Err(error) => match error.kind() {
                GetStreamErrorKind::JetStream(found) if found.error_code() == ErrorCode::STREAM_NOT_FOUND => {
                    Ok(None)
                }
                _ => Err(self.jetstream_error("open a stream", &error)),
            },
        }
    }

    /// Latest server error, such as a permissions violation.
    pub fn last_server_error(&self) -> Option<String> {
        self.server_errors.lock_ignoring_poison().back().cloned()
    }

    /// Returns and clears the server errors.
    pub fn take_server_errors(&self) -> Vec<String> {
        self.server_errors.lock_ignoring_poison().drain(..).collect()
    }
}

fn record_server_error(server_errors: &Mutex<VecDeque<String>>, event: &Event) {
    if let Event::ServerError(ServerError::Other(text)) = event {
        let mut errors = server_errors.lock_ignoring_poison();
        if errors.len() == MAX_SERVER_ERRORS {
            errors.pop_front();
        }
        errors.push_back(text.clone());
    }
}

async fn connect_options(
    options: &NatsOptions,
    addresses: &[ServerAddr],
) -> Result<ConnectOptions, GridError> {
    let mut settings = ConnectOptions::new()
        .name(format!("agon {}", options.name))
        .connection_timeout(REQUEST_TIMEOUT)
        .request_timeout(Some(REQUEST_TIMEOUT))
        .ping_interval(Duration::from_secs(10));
    if !options.name.is_empty() {
        settings = settings.custom_inbox_prefix(format!("_INBOX_{}", options.name));
    }
    if let Some((user, password)) = user_and_password(options, addresses)? {
        settings = settings.user_and_password(user, password);
    }
    if let Some(path) = &options.credentials {
        settings = settings.credentials_file(path).await.map_err(|error| GridError::File {
            path: path.clone(),
            what: format!("cannot read credentials: {error}"),
            hint: "use a file with a JWT and its key, as `nsc generate creds` writes it",
        })?;
    }
    if let Some(path) = &options.ca {
        check_pem_file(path, "-----BEGIN CERTIFICATE-----")?;
        settings = settings.add_root_certificates(path.clone()).require_tls(true);
    }
    match (&options.certificate, &options.key) {
        (Some(certificate), Some(key)) => {
            check_pem_file(certificate, "-----BEGIN CERTIFICATE-----")?;
            check_pem_file(key, "PRIVATE KEY-----")?;
            settings = settings.add_client_certificate(certificate.clone(), key.clone()).require_tls(true);
        }
        (None, None) => {}
        (certificate, _) => {
            let (present, missing) = if certificate.is_some() {
                ("a certificate", "its key")
            } else {
                ("a key", "its certificate")
            };
            return Err(GridError::Usage {
                what: format!("{present} for NATS without {missing}"),
                hint: "use --nats-cert and --nats-key together".to_owned(),
            });
        }
    }
    Ok(settings)
}

/// User and password, if any. The client library does not read them from the URL.
fn user_and_password(
    options: &NatsOptions,
    addresses: &[ServerAddr],
) -> Result<Option<(String, String)>, GridError> {
    let with_user = addresses.iter().find(|one| one.username().is_some());
    let user = with_user.and_then(|one| one.username()).map(percent_decode);
    let password = match &options.password_file {
        None => with_user.and_then(|one| one.password()).map(percent_decode),
        Some(path) => Some(read_file(path)?.trim_end_matches(['\n', '\r']).to_owned()),
    };
    match (user, password) {
        (Some(user), password) => Ok(Some((user, password.unwrap_or_default()))),
        (None, None) => Ok(None),
        (None, Some(_)) => Err(GridError::Usage {
            what: "a password for NATS without a user".to_owned(),
            hint: "name the user in the address: nats://USER@HOST:4222".to_owned(),
        }),
    }
}

/// User in a URL.
pub fn user_in_url(url: &str) -> Option<String> {
    parse_addresses(url).ok()?.iter().find_map(|one| one.username().map(percent_decode))
}

/// Decodes percent escapes such as `%40`.
fn percent_decode(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let [first, after @ ..] = rest {
        let code = (*first == b'%')
            .then(|| after.get(..2).and_then(|two| std::str::from_utf8(two).ok()))
            .flatten()
            .and_then(|two| u8::from_str_radix(two, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn read_file(path: &Path) -> Result<String, GridError> {
    std::fs::read_to_string(path).map_err(|error| GridError::File {
        path: path.to_owned(),
        what: error.to_string(),
        hint: "check that the path is right and that the file is readable",
    })
}

/// Checks that a PEM file contains `mark`. Otherwise the TLS library fails much later with an unclear error.
fn check_pem_file(path: &Path, marker: &str) -> Result<(), GridError> {
    if read_file(path)?.contains(marker) {
        return Ok(());
    }
    let what = if marker.contains("PRIVATE") {
        "the file contains no private key"
    } else {
        "the file contains no certificate"
    };
    let hint = "use a PEM file: text with BEGIN and END lines";
    Err(GridError::File { path: path.to_owned(), what: what.to_owned(), hint })
}

fn parse_addresses(url: &str) -> Result<Vec<ServerAddr>, GridError> {
    let invalid = |one: &str, why: &str| GridError::Usage {
        what: format!("`{}` is not a NATS server address: {why}", redact_passwords(one)),
        hint: "use nats://HOST:4222 or tls://HOST:4222".to_owned(),
    };
    let parse = |one: &str| match one.parse::<ServerAddr>() {
        Ok(address) if address.host().is_empty() => Err(invalid(one, "the host name is missing")),
        Ok(address) => Ok(address),
        Err(error) => Err(invalid(one, &error.to_string())),
    };
    url.split(',').map(|one| parse(one.trim())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_password_come_from_the_url_and_the_password_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("password");
        std::fs::write(&file, "from the file\n").unwrap();
        let credentials = |url: &str, password_file: Option<&Path>| {
            let options = NatsOptions {
                url: url.to_owned(),
                password_file: password_file.map(Path::to_owned),
                ..NatsOptions::default()
            };
            user_and_password(&options, &parse_addresses(url).unwrap())
        };
        let pair = |user: &str, password: &str| Some((user.to_owned(), password.to_owned()));
        assert_eq!(credentials("nats://a.example", None).unwrap(), None);
        assert_eq!(
            credentials("nats://a.example,w1:p%40%25ss@b.example", None).unwrap(),
            pair("w1", "p@%ss")
        );
        assert_eq!(
            credentials("nats://w1:other@a.example", Some(&file)).unwrap(),
            pair("w1", "from the file")
        );
        assert!(
            credentials("nats://a.example", Some(&file))
                .unwrap_err()
                .to_string()
                .contains("hint: name the user")
        );
        let missing = credentials("nats://w1@a.example", Some(&folder.path().join("none"))).unwrap_err();
        assert!(missing.to_string().contains("none: No such file"), "{missing}");
        assert_eq!(user_in_url("tls://w%311@a.example").as_deref(), Some("w11"));
        assert_eq!(
            (percent_decode("100%"), percent_decode("%zz%4")),
            ("100%".to_owned(), "%zz%4".to_owned())
        );
    }

    #[test]
    fn nats_options_debug_output_has_no_passwords() {
        let options = NatsOptions {
            url: "w1:secret@a.example,tls://w1:secret@b.example".to_owned(),
            ..NatsOptions::default()
        };
        let text = format!("{options:?} {}", redact_passwords(&options.url));
        assert!(!text.contains("secret") && text.contains("nats://a.example,tls://b.example"), "{text}");
    }
}
