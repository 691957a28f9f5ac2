//! Converts NATS errors to [`GridError`]s with hints.

use std::error::Error;
use std::io;
use std::time::Duration;

use async_nats::{ConnectError, ConnectErrorKind, rustls};

use crate::{GridError, NatsOptions, nats};

/// Error for a failed connection attempt.
pub fn connect_error(url: &str, options: &NatsOptions, error: &ConnectError, waited: Duration) -> GridError {
    let (url, what) = (url.to_owned(), with_sources(error));
    match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            let hint = if options.credentials.is_some() {
                "check that the server knows the account of these credentials"
            } else if nats::user_in_url(&options.url).is_some() {
                "check the user and password in the address (or in AGON_NATS_PASSWORD_FILE) against the server's configuration"
            } else {
                "this server requires a login: use nats://USER:PASSWORD@HOST as the address, or --nats-creds FILE"
            };
            GridError::Credentials { url, what, hint }
        }
        kind => match tls_hint(options, error, kind == ConnectErrorKind::Tls) {
            Some(hint) => GridError::Tls { url, what, hint },
            None => GridError::Unreachable { url, what, seconds: waited.as_secs() },
        },
    }
}

/// Hint for a TLS error, `None` for any other error. The client library reports failed handshakes as I/O errors.
fn tls_hint(options: &NatsOptions, error: &ConnectError, is_tls_error: bool) -> Option<&'static str> {
    use rustls::{AlertDescription as Alert, CertificateError as Bad, Error as Tls};
    const NO_TLS: &str =
        "check that this server uses TLS; if not, use nats://HOST:4222 without --nats-ca and --nats-cert";
    const CLIENT_CERTIFICATE_REQUIRED: &str =
        "this server requires a client certificate that it trusts: use --nats-cert FILE with --nats-key FILE";
    let sources = std::iter::successors(error.source(), |&inner| inner.source());
    let io = sources.filter_map(|inner| inner.downcast_ref::<io::Error>()).last();
    let tls = io.and_then(io::Error::get_ref).and_then(|inner| inner.downcast_ref::<Tls>());
    match tls {
        Some(Tls::InvalidCertificate(Bad::UnknownIssuer)) if options.ca.is_none() => {
            Some("use --nats-ca FILE with the certificate of the CA that signed the server's certificate")
        }
        Some(Tls::InvalidCertificate(Bad::UnknownIssuer | Bad::BadSignature)) => {
            Some("--nats-ca must name the CA that signed the server's certificate; this one did not sign it")
        }
        Some(Tls::InvalidCertificate(Bad::NotValidForName | Bad::NotValidForNameContext { .. })) => {
            Some("use the host name in the server's certificate, or add this name to the certificate")
        }
        Some(Tls::InvalidCertificate(Bad::Expired | Bad::ExpiredContext { .. })) => {
            Some("renew the server's certificate, or correct this machine's clock")
        }
        Some(Tls::InvalidCertificate(_)) => Some("replace the server's certificate"),
        Some(Tls::AlertReceived(
            Alert::CertificateRequired | Alert::BadCertificate | Alert::UnknownCA | Alert::HandshakeFailure,
        )) => Some(CLIENT_CERTIFICATE_REQUIRED),
        Some(Tls::InvalidMessage(_)) => Some(NO_TLS),
        Some(_) => Some("check that both sides support a common TLS version"),
        None if is_tls_error => Some("check that --nats-ca, --nats-cert and --nats-key are the right files"),
        None if wants_tls(options) && io.is_some_and(|io| io.kind() == io::ErrorKind::UnexpectedEof) => {
            Some(NO_TLS)
        }
        None => None,
    }
}

fn wants_tls(options: &NatsOptions) -> bool {
    options.ca.is_some() || options.certificate.is_some() || options.url.contains("tls://")
}

/// Error for a failed NATS or JetStream request. `server_error` is the latest error that the server sent besides replies.
pub fn jetstream_error(url: &str, doing: &str, error: &dyn Error, server_error: Option<&str>) -> GridError {
    const JETSTREAM_OFF: &str = "enable JetStream: `jetstream { store_dir: ... }` in the server's configuration, or `nats-server -js`";
    const MISSING_PERMISSION: &str =
        "this user needs a permission for that; docs/grid.md lists the permissions";
    const STORAGE_FULL: &str =
        "give JetStream more storage (max_file_store in the server's configuration), or free some";
    let mut what = with_sources(error);
    let violation = server_error.filter(|text| text.to_lowercase().contains("permissions violation"));
    let hint = if let Some(violation) = violation {
        violation.clone_into(&mut what);
        MISSING_PERMISSION
    } else if ["not enabled", "no responders", "resource does not exist"]
        .iter()
        .any(|text_part| what.contains(text_part))
    {
        JETSTREAM_OFF
    } else if ["insufficient", "exceed", "maximum"].iter().any(|text_part| what.contains(text_part)) {
        STORAGE_FULL
    } else {
        "run `agon doctor --nats` for details"
    };
    GridError::JetStream { url: url.to_owned(), doing: doing.to_owned(), what, hint }
}

/// Error text with the texts of its sources, each once.
pub fn with_sources(error: &dyn Error) -> String {
    let mut what = error.to_string();
    for inner in std::iter::successors(error.source(), |&inner| inner.source()) {
        let source_text = inner.to_string();
        if !what.contains(&source_text) {
            what += &format!(": {source_text}");
        }
    }
    what
}
