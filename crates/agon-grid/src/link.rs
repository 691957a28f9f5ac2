//! The connection to NATS: how it is made, and what is said when it cannot be.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use async_nats::jetstream;
use async_nats::{Client, ConnectErrorKind, ConnectOptions};

use crate::GridError;

/// Nobody waits longer for a server that does not answer.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// A request is answered in this time, or was lost.
pub const ANSWER: Duration = Duration::from_secs(5);

/// How to connect.
#[derive(Clone, Default)]
pub struct NatsOptions {
    /// `nats://host:4222` or `tls://host:4222`, several with commas between them; a user and password may stand in it.
    pub url: String,
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
pub struct Link {
    client: Client,
    jetstream: jetstream::Context,
    url: String,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Link({})", self.url)
    }
}

impl Link {
    /// Connects, within [`PATIENCE`].
    pub async fn connect(options: &NatsOptions) -> Result<Self, GridError> {
        let url = shown(&options.url);
        let connecting =
            tokio::time::timeout(PATIENCE, prepare(options).await?.connect(addresses(&options.url)?));
        let client = match connecting.await {
            Ok(Ok(client)) => client,
            Ok(Err(error)) => return Err(refusal(&url, options, &error)),
            Err(_) => {
                let what = "it does not answer".to_owned();
                return Err(GridError::Unreachable { url, what, seconds: PATIENCE.as_secs() });
            }
        };
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(ANSWER);
        Ok(Self { client, jetstream, url })
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
        let mut what = error.to_string();
        let mut inner = error.source();
        while let Some(error) = inner {
            what += &format!(": {error}");
            inner = error.source();
        }
        let hint = "JetStream must be on (`nats-server -js`), and this user allowed to use it: docs/grid.md lists the subjects";
        GridError::JetStream { url: self.url.clone(), doing: doing.to_owned(), what, hint }
    }
}

async fn prepare(options: &NatsOptions) -> Result<ConnectOptions, GridError> {
    let mut prepared = ConnectOptions::new()
        .name(format!("agon {}", options.name))
        .connection_timeout(ANSWER)
        .request_timeout(Some(ANSWER))
        .ping_interval(Duration::from_secs(10));
    if !options.name.is_empty() {
        prepared = prepared.custom_inbox_prefix(format!("_INBOX_{}", options.name));
    }
    if let Some(path) = &options.credentials {
        prepared = prepared.credentials_file(path).await.map_err(|error| GridError::File {
            path: path.clone(),
            what: format!("no credentials can be read from it: {error}"),
            hint: "it holds a JWT and its key, as `nsc generate creds` writes them",
        })?;
    }
    if let Some(path) = &options.ca {
        readable(path)?;
        prepared = prepared.add_root_certificates(path.clone()).require_tls(true);
    }
    match (&options.certificate, &options.key) {
        (Some(certificate), Some(key)) => {
            readable(certificate)?;
            readable(key)?;
            prepared = prepared.add_client_certificate(certificate.clone(), key.clone());
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

fn readable(path: &PathBuf) -> Result<(), GridError> {
    std::fs::read(path).map(|_| ()).map_err(|error| GridError::File {
        path: path.clone(),
        what: error.to_string(),
        hint: "is the path right, and may you read it?",
    })
}

fn addresses(url: &str) -> Result<Vec<async_nats::ServerAddr>, GridError> {
    url.split(',')
        .map(|one| {
            one.trim().parse().map_err(|error| GridError::WrongUse {
                what: format!("`{}` is no address of a NATS server: {error}", shown(one)),
                hint: "nats://HOST:4222, or tls://HOST:4222".to_owned(),
            })
        })
        .collect()
}

/// Why it could not be done, in words that say what to do.
fn refusal(url: &str, options: &NatsOptions, error: &async_nats::ConnectError) -> GridError {
    let url = url.to_owned();
    let mut what = error.to_string();
    let mut inner = std::error::Error::source(error);
    while let Some(error) = inner {
        let more = error.to_string();
        if !what.contains(&more) {
            what += &format!(": {more}");
        }
        inner = error.source();
    }
    match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            let hint = if options.credentials.is_some() {
                "does the server know the account of these credentials?"
            } else {
                "give a user and password in the address, or --nats-creds FILE"
            };
            GridError::Credentials { url, what, hint }
        }
        ConnectErrorKind::Tls => {
            let hint = if options.ca.is_some() {
                "does --nats-ca hold the certificate of who signed the server's, and is the name in the address the one it is for?"
            } else {
                "--nats-ca FILE names the certificate of who signed the server's; a server that wants a certificate of ours gets --nats-cert and --nats-key"
            };
            GridError::Tls { url, what, hint }
        }
        _ => GridError::Unreachable { url, what, seconds: PATIENCE.as_secs() },
    }
}
