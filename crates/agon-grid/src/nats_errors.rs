//! Why a NATS server does not let us do something, in words that say what to do.

use std::error::Error;
use std::io;
use std::time::Duration;

use async_nats::{ConnectError, ConnectErrorKind, rustls};

use crate::{GridError, NatsOptions, nats};

/// Why there is no connection, after so long.
pub fn connect_error(url: &str, options: &NatsOptions, error: &ConnectError, after: Duration) -> GridError {
    let (url, what) = (url.to_owned(), chain(error));
    match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            let hint = if options.credentials.is_some() {
                "does the server know the account of these credentials?"
            } else if nats::user_of(&options.url).is_some() {
                "are the user and the password in the address (or in AGON_NATS_PASSWORD_FILE) those of the server's configuration?"
            } else {
                "this server wants to know who you are: nats://USER:PASSWORD@HOST in the address, or --nats-creds FILE"
            };
            GridError::Credentials { url, what, hint }
        }
        kind => match tls_hint(options, error, kind == ConnectErrorKind::Tls) {
            Some(hint) => GridError::Tls { url, what, hint },
            None => GridError::Unreachable { url, what, seconds: after.as_secs() },
        },
    }
}

/// What to do about TLS, if it is to blame. The client tells failed handshakes as plain trouble with reading and writing.
fn tls_hint(options: &NatsOptions, error: &ConnectError, sure: bool) -> Option<&'static str> {
    use rustls::{AlertDescription as Alert, CertificateError as Bad, Error as Tls};
    const NO_TLS: &str =
        "does this server speak TLS? If not, write nats://HOST:4222 and leave --nats-ca and --nats-cert out";
    const CERTIFICATE: &str =
        "this server wants to see a certificate that it trusts: --nats-cert FILE with --nats-key FILE";
    let sources = std::iter::successors(error.source(), |&inner| inner.source());
    let io = sources.filter_map(|inner| inner.downcast_ref::<io::Error>()).last();
    let tls = io.and_then(io::Error::get_ref).and_then(|inner| inner.downcast_ref::<Tls>());
    match tls {
        Some(Tls::InvalidCertificate(Bad::UnknownIssuer)) if options.ca.is_none() => {
            Some("--nats-ca FILE names the certificate of who signed the server's")
        }
        Some(Tls::InvalidCertificate(Bad::UnknownIssuer | Bad::BadSignature)) => {
            Some("--nats-ca must hold the certificate of who signed the server's: this is somebody else's")
        }
        Some(Tls::InvalidCertificate(Bad::NotValidForName | Bad::NotValidForNameContext { .. })) => {
            Some("use the name that the server's certificate is for, or give it one for this name too")
        }
        Some(Tls::InvalidCertificate(Bad::Expired | Bad::ExpiredContext { .. })) => {
            Some("renew the server's certificate (and look at this machine's clock)")
        }
        Some(Tls::InvalidCertificate(_)) => Some("the server needs another certificate"),
        Some(Tls::AlertReceived(
            Alert::CertificateRequired | Alert::BadCertificate | Alert::UnknownCA | Alert::HandshakeFailure,
        )) => Some(CERTIFICATE),
        Some(Tls::InvalidMessage(_)) => Some(NO_TLS),
        Some(_) => Some("do both sides speak the same versions of TLS?"),
        None if sure => Some("are --nats-ca, --nats-cert and --nats-key the right files?"),
        None if wants_tls(options) && io.is_some_and(|io| io.kind() == io::ErrorKind::UnexpectedEof) => {
            Some(NO_TLS)
        }
        None => None,
    }
}

fn wants_tls(options: &NatsOptions) -> bool {
    options.ca.is_some() || options.certificate.is_some() || options.url.contains("tls://")
}

/// Why JetStream did not do something. `complaint` is what the server said beside it.
pub fn jetstream_error(url: &str, doing: &str, error: &dyn Error, complaint: Option<&str>) -> GridError {
    const OFF: &str = "JetStream must be on: `jetstream { store_dir: ... }` in the server's configuration, or `nats-server -js`";
    const MAY_NOT: &str = "this user needs a permission for that: docs/grid.md lists who may what";
    const FULL: &str =
        "give JetStream more room (max_file_store in the server's configuration), or free some";
    let mut what = chain(error);
    let denied = complaint.filter(|text| text.to_lowercase().contains("permissions violation"));
    let hint = if let Some(denied) = denied {
        denied.clone_into(&mut what);
        MAY_NOT
    } else if ["not enabled", "no responders", "resource does not exist"]
        .iter()
        .any(|mark| what.contains(mark))
    {
        OFF
    } else if ["insufficient", "exceed", "maximum"].iter().any(|mark| what.contains(mark)) {
        FULL
    } else {
        "is the server well? `agon doctor --nats` looks closer"
    };
    GridError::JetStream { url: url.to_owned(), doing: doing.to_owned(), what, hint }
}

/// An error with what is behind it, each thing once.
pub fn chain(error: &dyn Error) -> String {
    let mut what = error.to_string();
    for inner in std::iter::successors(error.source(), |&inner| inner.source()) {
        let more = inner.to_string();
        if !what.contains(&more) {
            what += &format!(": {more}");
        }
    }
    what
}
