//! The connection to NATS: how it is made, and what is said when it cannot be.

use std::collections::VecDeque;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_nats::jetstream;
use async_nats::{Client, ConnectOptions, Event, ServerAddr, ServerError};

use crate::{GridError, nats_errors};

/// Nobody waits longer for a server that does not answer.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A request is answered in this time, or was lost.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// So many complaints of the server are remembered.
const COMPLAINTS: usize = 16;

/// How to connect.
#[derive(Clone, Default)]
pub struct NatsOptions {
    /// `nats://host:4222` or `tls://host:4222`, several with commas between them; a user and password may stand in it.
    pub url: String,
    /// A file with the password, where it shall not stand in the address.
    pub password_file: Option<PathBuf>,
    /// A file with a JWT and its key (`nsc` writes them).
    pub credentials: Option<PathBuf>,
    /// A file with the certificates of who may vouch for the server.
    pub ca: Option<PathBuf>,
    /// Our own certificate, and its key.
    pub certificate: Option<PathBuf>,
    /// The key of our certificate.
    pub key: Option<PathBuf>,
    /// What the server's list of connections shows, and what our inboxes begin with.
    pub name: String,
}

impl fmt::Debug for NatsOptions {
    /// Without passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NatsOptions").field("url", &shown(&self.url)).finish_non_exhaustive()
    }
}

/// An address without the password that may stand in it.
pub fn shown(url: &str) -> String {
    let one = |url: &str| {
        let (scheme, rest) = url.split_once("://").unwrap_or(("nats", url));
        let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
        format!("{scheme}://{host}")
    };
    url.split(',').map(|url| one(url.trim())).collect::<Vec<_>>().join(",")
}

/// A connection. It comes back by itself when the server does.
#[derive(Clone)]
pub struct NatsConnection {
    client: Client,
    jetstream: jetstream::Context,
    url: String,
    /// What the server told us that we may not do: nobody is told by an answer.
    complaints: Arc<Mutex<VecDeque<String>>>,
}

impl fmt::Debug for NatsConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Link({})", self.url)
    }
}

impl NatsConnection {
    /// Connects, within [`CONNECT_TIMEOUT`].
    pub async fn connect(options: &NatsOptions) -> Result<Self, GridError> {
        let (url, begun) = (shown(&options.url), Instant::now());
        let complaints = Arc::new(Mutex::new(VecDeque::new()));
        let addresses = addresses(&options.url)?;
        let prepared = prepare(options, &addresses).await?.event_callback({
            let complaints = Arc::clone(&complaints);
            move |event| {
                remember(&complaints, &event);
                std::future::ready(())
            }
        });
        let client = match tokio::time::timeout(CONNECT_TIMEOUT, prepared.connect(addresses)).await {
            Ok(Ok(client)) => client,
            Ok(Err(error)) => return Err(nats_errors::connect_error(&url, options, &error, begun.elapsed())),
            Err(_) => {
                let what = "it does not answer".to_owned();
                return Err(GridError::Unreachable { url, what, seconds: CONNECT_TIMEOUT.as_secs() });
            }
        };
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(REQUEST_TIMEOUT);
        Ok(Self { client, jetstream, url, complaints })
    }

    /// For plain messages.
    pub const fn client(&self) -> &Client {
        &self.client
    }

    /// For streams.
    pub const fn jetstream(&self) -> &jetstream::Context {
        &self.jetstream
    }

    /// Where it leads, without passwords.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// JetStream said no.
    pub fn refused(&self, doing: &str, error: &dyn std::error::Error) -> GridError {
        nats_errors::jetstream_error(&self.url, doing, error, self.last_server_error().as_deref())
    }

    /// The latest thing that the server told us we may not do, in its words.
    pub fn last_server_error(&self) -> Option<String> {
        self.complaints.lock().unwrap_or_else(PoisonError::into_inner).back().cloned()
    }

    /// Everything it has complained about since it was last asked.
    pub fn take_complaints(&self) -> Vec<String> {
        self.complaints.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
    }
}

fn remember(complaints: &Mutex<VecDeque<String>>, event: &Event) {
    if let Event::ServerError(ServerError::Other(text)) = event {
        let mut kept = complaints.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == COMPLAINTS {
            kept.pop_front();
        }
        kept.push_back(text.clone());
    }
}

async fn prepare(options: &NatsOptions, addresses: &[ServerAddr]) -> Result<ConnectOptions, GridError> {
    let mut prepared = ConnectOptions::new()
        .name(format!("agon {}", options.name))
        .connection_timeout(REQUEST_TIMEOUT)
        .request_timeout(Some(REQUEST_TIMEOUT))
        .ping_interval(Duration::from_secs(10));
    if !options.name.is_empty() {
        prepared = prepared.custom_inbox_prefix(format!("_INBOX_{}", options.name));
    }
    if let Some((user, password)) = user(options, addresses)? {
        prepared = prepared.user_and_password(user, password);
    }
    if let Some(path) = &options.credentials {
        prepared = prepared.credentials_file(path).await.map_err(|error| GridError::File {
            path: path.clone(),
            what: format!("no credentials can be read from it: {error}"),
            hint: "it holds a JWT and its key, as `nsc generate creds` writes them",
        })?;
    }
    if let Some(path) = &options.ca {
        readable(path, "-----BEGIN CERTIFICATE-----")?;
        prepared = prepared.add_root_certificates(path.clone()).require_tls(true);
    }
    match (&options.certificate, &options.key) {
        (Some(certificate), Some(key)) => {
            readable(certificate, "-----BEGIN CERTIFICATE-----")?;
            readable(key, "PRIVATE KEY-----")?;
            prepared = prepared.add_client_certificate(certificate.clone(), key.clone()).require_tls(true);
        }
        (None, None) => {}
        (certificate, _) => {
            let (given, missing) = if certificate.is_some() {
                ("a certificate", "its key")
            } else {
                ("a key", "its certificate")
            };
            return Err(GridError::WrongUse {
                what: format!("{given} for NATS without {missing}"),
                hint: "--nats-cert and --nats-key belong together".to_owned(),
            });
        }
    }
    Ok(prepared)
}

/// Who we are: the client itself does not look for it in addresses.
fn user(options: &NatsOptions, addresses: &[ServerAddr]) -> Result<Option<(String, String)>, GridError> {
    let named = addresses.iter().find(|one| one.username().is_some());
    let user = named.and_then(|one| one.username()).map(plain);
    let password = match &options.password_file {
        None => named.and_then(|one| one.password()).map(plain),
        Some(path) => Some(read(path)?.trim_end_matches(['\n', '\r']).to_owned()),
    };
    match (user, password) {
        (Some(user), password) => Ok(Some((user, password.unwrap_or_default()))),
        (None, None) => Ok(None),
        (None, Some(_)) => Err(GridError::WrongUse {
            what: "a password for NATS, but nobody whose it is".to_owned(),
            hint: "name the user in the address: nats://USER@HOST:4222".to_owned(),
        }),
    }
}

/// The user that an address names.
pub fn user_of(url: &str) -> Option<String> {
    addresses(url).ok()?.iter().find_map(|one| one.username().map(plain))
}

/// Without the `%40` that stand for characters with a meaning in addresses.
fn plain(text: &str) -> String {
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

fn read(path: &Path) -> Result<String, GridError> {
    std::fs::read_to_string(path).map_err(|error| GridError::File {
        path: path.to_owned(),
        what: error.to_string(),
        hint: "is the path right, and may you read it?",
    })
}

/// What TLS needs is text with such a line in it. Else the client would say something dark, much later.
fn readable(path: &Path, mark: &str) -> Result<(), GridError> {
    if read(path)?.contains(mark) {
        return Ok(());
    }
    let what = if mark.contains("PRIVATE") {
        "there is no private key in it"
    } else {
        "there is no certificate in it"
    };
    let hint = "a PEM file is wanted: text with lines that say BEGIN and END";
    Err(GridError::File { path: path.to_owned(), what: what.to_owned(), hint })
}

fn addresses(url: &str) -> Result<Vec<ServerAddr>, GridError> {
    let wrong = |one: &str, why: &str| GridError::WrongUse {
        what: format!("`{}` is no address of a NATS server: {why}", shown(one)),
        hint: "nats://HOST:4222, or tls://HOST:4222".to_owned(),
    };
    let read = |one: &str| match one.parse::<ServerAddr>() {
        Ok(address) if address.host().is_empty() => Err(wrong(one, "it names no machine")),
        Ok(address) => Ok(address),
        Err(error) => Err(wrong(one, &error.to_string())),
    };
    url.split(',').map(|one| read(one.trim())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_read_from_the_address_and_its_password_from_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("password");
        std::fs::write(&file, "from the file\n").unwrap();
        let who = |url: &str, password_file: Option<&Path>| {
            let options = NatsOptions {
                url: url.to_owned(),
                password_file: password_file.map(Path::to_owned),
                ..NatsOptions::default()
            };
            user(&options, &addresses(url).unwrap())
        };
        let pair = |user: &str, password: &str| Some((user.to_owned(), password.to_owned()));
        assert_eq!(who("nats://a.example", None).unwrap(), None);
        assert_eq!(who("nats://a.example,w1:p%40%25ss@b.example", None).unwrap(), pair("w1", "p@%ss"));
        assert_eq!(who("nats://w1:other@a.example", Some(&file)).unwrap(), pair("w1", "from the file"));
        assert!(
            who("nats://a.example", Some(&file)).unwrap_err().to_string().contains("hint: name the user")
        );
        let missing = who("nats://w1@a.example", Some(&folder.path().join("none"))).unwrap_err();
        assert!(missing.to_string().contains("none: No such file"), "{missing}");
        assert_eq!(user_of("tls://w%311@a.example").as_deref(), Some("w11"));
        assert_eq!((plain("100%"), plain("%zz%4")), ("100%".to_owned(), "%zz%4".to_owned()));
    }

    #[test]
    fn passwords_are_not_shown() {
        let options = NatsOptions {
            url: "w1:secret@a.example,tls://w1:secret@b.example".to_owned(),
            ..NatsOptions::default()
        };
        let text = format!("{options:?} {}", shown(&options.url));
        assert!(!text.contains("secret") && text.contains("nats://a.example,tls://b.example"), "{text}");
    }
}
