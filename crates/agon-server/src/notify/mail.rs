//! Sends the mails of the queue through the organiser's mail server.

use std::time::Duration;

use agon_core::{Diagnostic, ErrorKind};
use agon_site_db::{AccountId, NewMail, QueuedMail, SecretString};
use agon_store::Timestamp;
use lettre::message::Mailbox;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor};

use super::unsubscribe;
use crate::error::{ApiError, ApiResult};
use crate::middleware::cookie;
use crate::state::AppState;

/// Timeout of a conversation with the mail server.
const SMTP_TIMEOUT: Duration = Duration::from_secs(30);
/// Longest wait before the queue is read again, for mails that waited for the limit per hour.
const QUEUE_INTERVAL: Duration = Duration::from_mins(1);
/// Delay before the second attempt. It doubles with each further one.
const RETRY_DELAY_MS: i64 = 60_000;
/// Maximum length of a subject.
const MAX_SUBJECT_CHARS: usize = 150;
/// Maximum number of notifications in one mail. Others are counted.
const MAX_DIGEST_ITEMS: usize = 30;

/// Encryption of the connection to the mail server.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MailTls {
    /// TLS from the first byte, usually on port 465.
    #[default]
    Implicit,
    /// Starts in plain text and must change to TLS, usually on port 587.
    StartTls,
    /// Plain text, for a mail server on the same machine.
    Off,
}

/// The organiser's mail server.
#[derive(Clone, Debug)]
pub struct MailConfig {
    /// Host name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Encryption.
    pub tls: MailTls,
    /// User name, if the server asks for one.
    pub user: Option<String>,
    /// Password of the user.
    pub password: Option<SecretString>,
    /// Sender of all mails: `agon@example.org` or `Agon <agon@example.org>`.
    pub from: String,
    /// Maximum number of notification mails to one account per hour. Further notifications are sent together.
    pub per_hour: u32,
}

/// Sends mails.
pub struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
}

impl Mailer {
    /// Checks the configuration. Does not connect.
    pub fn new(config: &MailConfig) -> Result<Self, Diagnostic> {
        let usage = |what: String, hint: &str| Diagnostic::new(ErrorKind::Usage, what).hint(hint);
        let from = config.from.parse::<Mailbox>().map_err(|error| {
            usage(
                format!("the sender of mails `{}` is not valid: {error}", config.from),
                "write --mail-from \"Agon <agon@example.org>\"",
            )
        })?;
        let parameters = || {
            TlsParameters::new(config.host.clone()).map_err(|error| {
                usage(format!("TLS for the mail server {}: {error}", config.host), "check --smtp")
            })
        };
        let tls = match config.tls {
            MailTls::Implicit => Tls::Wrapper(parameters()?),
            MailTls::StartTls => Tls::Required(parameters()?),
            MailTls::Off => Tls::None,
        };
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(config.host.clone())
            .port(config.port)
            .tls(tls)
            .timeout(Some(SMTP_TIMEOUT));
        if let Some(user) = &config.user {
            let Some(password) = &config.password else {
                return Err(usage(
                    format!("there is no password for `{user}` on the mail server"),
                    "set AGON_SMTP_PASSWORD_FILE or AGON_SMTP_PASSWORD",
                ));
            };
            builder = builder.credentials(Credentials::new(user.clone(), password.expose().to_owned()));
        }
        Ok(Self { transport: builder.build(), from })
    }

    async fn send(&self, mail: &ComposedMail) -> Result<(), MailFailure> {
        let permanent = |what: String| MailFailure { what, permanent: true };
        let to =
            mail.address.parse::<Mailbox>().map_err(|error| permanent(format!("the address: {error}")))?;
        let header =
            |name: &'static str, value: String| HeaderValue::new(HeaderName::new_from_ascii_str(name), value);
        let mut builder = Message::builder()
            .from(self.from.clone())
            .to(to)
            .subject(mail.subject.clone())
            .message_id(Some(format!("<{}@{}>", mail.id, self.from.email.domain())))
            .raw_header(header("Auto-Submitted", "auto-generated".to_owned()))
            .header(ContentType::TEXT_PLAIN);
        if let Some(link) = &mail.unsubscribe {
            builder = builder
                .raw_header(header("List-Unsubscribe", format!("<{link}>")))
                .raw_header(header("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".to_owned()));
        }
        let message = builder.body(mail.body.clone()).map_err(|error| permanent(error.to_string()))?;
        let sent = tokio::time::timeout(SMTP_TIMEOUT, self.transport.send(message)).await;
        match sent {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(MailFailure { permanent: error.is_permanent(), what: error.to_string() }),
            Err(_) => Err(MailFailure { permanent: false, what: "the mail server took too long".to_owned() }),
        }
    }
}

/// Why a mail was not sent.
struct MailFailure {
    what: String,
    /// Whether another attempt would fail too.
    permanent: bool,
}

/// A mail that is ready to be sent.
struct ComposedMail {
    id: String,
    address: String,
    subject: String,
    body: String,
    /// Link for one-click unsubscription.
    unsubscribe: Option<String>,
}

/// Queues a mail that the account asked for: a link that verifies an address or resets a password.
pub async fn queue_link(
    app: &AppState,
    account: AccountId,
    address: &str,
    subject: &str,
    body: String,
) -> ApiResult<()> {
    let mail = NewMail {
        account,
        address: address.to_owned(),
        subject: subject.to_owned(),
        body,
        digest: false,
        at: Timestamp::now(),
    };
    app.site_db.queue_mail(&mail).await?;
    app.notify.wake_mails();
    Ok(())
}

/// Sends queued mails until the server stops.
pub async fn run(app: AppState) {
    let Some(mailer) = &app.mailer else { return };
    while !app.is_stopping() {
        match send_next(&app, mailer).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => tracing::error!(error = error.message(), "the mail queue failed"),
        }
        tokio::select! {
            () = app.notify.mails.notified() => {}
            () = tokio::time::sleep(QUEUE_INTERVAL) => {}
            () = app.wait_for_stop() => return,
        }
    }
}

/// Sends the next mail that is due. Returns whether there was one.
async fn send_next(app: &AppState, mailer: &Mailer) -> ApiResult<bool> {
    let per_hour = app.config.mail.as_ref().map_or(1, |mail| mail.per_hour);
    let mails = app.site_db.due_mails(Timestamp::now(), per_hour).await?;
    let Some(first) = mails.first() else { return Ok(false) };
    let composed = compose(app, &mails, first).await?;
    let sent = mailer.send(&composed).await;
    let now = Timestamp::now();
    match sent {
        Ok(()) => {
            app.meters.mail("sent");
            app.site_db.mails_sent(&mails, now).await?;
        }
        Err(failure) => {
            let delay = RETRY_DELAY_MS << first.attempts.min(8);
            let removed =
                app.site_db.mails_failed(&mails, Timestamp(now.0 + delay), failure.permanent).await?;
            app.meters.mail(if removed { "dropped" } else { "failed" });
            // The address is personal, so the log names the account.
            tracing::warn!(
                account = %first.mail.account,
                attempt = first.attempts + 1,
                removed,
                error = failure.what,
                "a mail was not sent"
            );
        }
    }
    Ok(true)
}

/// One mail with the content of several. The caller asked for a link, or gets notifications with a link to end them.
async fn compose(app: &AppState, mails: &[QueuedMail], first: &QueuedMail) -> ApiResult<ComposedMail> {
    let site = &app.config.name;
    let mut composed = ComposedMail {
        id: cookie::random_secret()?.chars().take(32).collect(),
        address: first.mail.address.clone(),
        subject: subject(site, &first.mail.subject),
        body: first.mail.body.clone(),
        unsubscribe: None,
    };
    if !first.mail.digest {
        return Ok(composed);
    }
    if mails.len() > 1 {
        composed.subject = subject(site, &format!("{} notifications", mails.len()));
        let shown: Vec<&str> =
            mails.iter().take(MAX_DIGEST_ITEMS).map(|mail| mail.mail.body.as_str()).collect();
        composed.body = shown.join("\n");
        if mails.len() > MAX_DIGEST_ITEMS {
            composed.body +=
                &format!("\n{} more notifications are on the site.\n", mails.len() - MAX_DIGEST_ITEMS);
        }
    }
    let code = unsubscribe::code(app, first.mail.account, &first.mail.address).await?;
    let url = app.config.url();
    composed.body += &format!(
        "\n-- \n{site}: {url}\nChoose which mails you get: {url}/me/notifications\nEnd all notification mails: {url}/unsubscribe/{code}\n"
    );
    composed.unsubscribe = Some(format!("{url}/api/v1/mail/unsubscribe/{code}"));
    Ok(composed)
}

/// A subject in one line.
fn subject(site: &str, text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("[{site}] {line}").chars().take(MAX_SUBJECT_CHARS).collect()
}

/// The mailer of a configuration, if it has a mail server.
pub fn open(config: Option<&MailConfig>) -> Result<Option<Mailer>, crate::error::StartError> {
    config.map(Mailer::new).transpose().map_err(crate::error::StartError::Other)
}

/// The error of what needs mails on a server without a mail server.
pub fn no_mail_error() -> ApiError {
    ApiError::conflict("no_mail", "this site sends no mails")
        .hint("an organiser can set a mail server: agon serve --smtp HOST")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> MailConfig {
        MailConfig {
            host: "smtp.example.org".to_owned(),
            port: 465,
            tls: MailTls::Implicit,
            user: None,
            password: None,
            from: "Agon <agon@example.org>".to_owned(),
            per_hour: 4,
        }
    }

    #[test]
    fn configuration_of_the_mail_server_is_checked_at_the_start() {
        assert!(Mailer::new(&config()).is_ok());
        for (wrong, about) in [
            (MailConfig { from: "Agon".to_owned(), ..config() }, "--mail-from"),
            (MailConfig { user: Some("agon".to_owned()), ..config() }, "AGON_SMTP_PASSWORD"),
        ] {
            let error = Mailer::new(&wrong).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(about), "{error}");
        }
    }

    #[test]
    fn subject_is_one_line_of_limited_length() {
        assert_eq!(subject("Agon", "one\r\nBcc: two"), "[Agon] one  Bcc: two");
        assert_eq!(subject("Agon", &"x".repeat(500)).chars().count(), MAX_SUBJECT_CHARS);
    }
}
