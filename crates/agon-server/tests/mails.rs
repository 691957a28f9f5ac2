//! Mails through a real SMTP conversation. The other side is a small SMTP server in this file and not a mail server of the system: it
//! accepts everything, keeps what it got, can refuse on purpose, and needs no installation and no network.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::sync::{Arc, Mutex};

use agon_server::notify;
use agon_server::notify::mail::{MailConfig, MailTls};
use agon_site_db::Role;
use agon_test_servers::WAIT_TIMEOUT;
use common::{Client, PASSWORD, Site};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// A mail as the server got it.
#[derive(Debug)]
struct ReceivedMail {
    to: String,
    /// Head and body, with the transfer encoding.
    text: String,
}

impl ReceivedMail {
    /// The text without soft line breaks and escapes of quoted-printable.
    fn decoded(&self) -> String {
        self.text.replace("=\r\n", "").replace("=3D", "=")
    }

    /// The rest of the first word that begins with this.
    fn word_after(&self, start: &str) -> String {
        let text = self.decoded();
        let rest = &text[text.find(start).unwrap_or_else(|| panic!("no {start} in {text}")) + start.len()..];
        rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next().unwrap().to_owned()
    }
}

/// An SMTP server that accepts mails, except for the given number of first ones.
struct MailSink {
    port: u16,
    mails: mpsc::UnboundedReceiver<ReceivedMail>,
}

impl MailSink {
    async fn start(refuse: u32) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, mails) = mpsc::unbounded_channel();
        let refuse = Arc::new(Mutex::new(refuse));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(converse(stream, sender.clone(), Arc::clone(&refuse)));
            }
        });
        Self { port, mails }
    }

    async fn next(&mut self) -> ReceivedMail {
        tokio::time::timeout(WAIT_TIMEOUT, self.mails.recv()).await.unwrap().unwrap()
    }

    /// A site that sends its mails here, with its tasks running.
    async fn site(&self, per_hour: u32) -> Site {
        let port = self.port;
        let site = Site::with(|config| {
            config.limits = agon_server::config::RateLimits::generous();
            config.public_url = Some("https://agon.example.org".to_owned());
            config.mail = Some(MailConfig {
                host: "127.0.0.1".to_owned(),
                port,
                tls: MailTls::Off,
                user: None,
                password: None,
                from: "Agon <agon@example.org>".to_owned(),
                per_hour,
            });
        })
        .await;
        notify::start(&site.app);
        site
    }
}

/// One SMTP conversation (RFC 5321).
async fn converse(stream: TcpStream, mails: mpsc::UnboundedSender<ReceivedMail>, refuse: Arc<Mutex<u32>>) {
    let (reading, mut writing) = stream.into_split();
    let mut lines = BufReader::new(reading).lines();
    let mut to = String::new();
    writing.write_all(b"220 sink ESMTP\r\n").await.unwrap();
    while let Ok(Some(line)) = lines.next_line().await {
        let upper = line.to_ascii_uppercase();
        let reply = if upper.starts_with("EHLO") || upper.starts_with("HELO") {
            "250-sink\r\n250 8BITMIME"
        } else if upper.starts_with("RCPT TO:") {
            line[8..].trim_matches(|c| c == '<' || c == '>' || c == ' ').clone_into(&mut to);
            "250 ok"
        } else if upper == "DATA" {
            writing.write_all(b"354 go on\r\n").await.unwrap();
            let mut text = String::new();
            while let Ok(Some(line)) = lines.next_line().await {
                if line == "." {
                    break;
                }
                text += &format!("{}\r\n", line.strip_prefix('.').unwrap_or(&line));
            }
            let refused = {
                let mut left = refuse.lock().unwrap();
                let refused = *left > 0;
                *left = left.saturating_sub(1);
                refused
            };
            if refused {
                "554 not today"
            } else {
                mails.send(ReceivedMail { to: to.clone(), text }).unwrap();
                "250 stored"
            }
        } else if upper == "QUIT" {
            let _ = writing.write_all(b"221 bye\r\n").await;
            return;
        } else {
            "250 ok"
        };
        if writing.write_all(format!("{reply}\r\n").as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Sets and verifies the address of an account.
async fn verify(client: &Client, sink: &mut MailSink, address: &str) {
    let set = client.put("me/mail", json!({"address": address})).await;
    assert_eq!((set.status.as_u16(), &set.json["verified"]), (200, &json!(false)), "{}", set.json);
    let mail = sink.next().await;
    assert_eq!(mail.to, address);
    let code = mail.word_after("/verify-mail/");
    assert_eq!(client.post("mail/verify", json!({"code": code})).await.status, 204);
    assert_eq!(client.get("me/mail").await.json["verified"], true);
    assert_eq!(client.post("mail/verify", json!({"code": code})).await.status, 404, "it works once");
}

fn notice(text: &str) -> notify::Notice {
    notify::Notice {
        kind: agon_site_db::NotificationKind::CheckDone,
        topic: text.to_owned(),
        link: "/s/0123456789abcdef".to_owned(),
        text: text.to_owned(),
    }
}

#[tokio::test]
async fn new_password_by_mail_works_once_and_ends_all_sessions() {
    let mut sink = MailSink::start(0).await;
    let site = sink.site(10).await;
    let ada = site.person("Ada", Role::Author).await;
    let visitor = site.anonymous();
    // Without a verified address, and for an unknown name, the answer is the same and nothing is sent.
    for account in ["Ada", "nobody", "nobody@example.org"] {
        assert_eq!(visitor.post("password-resets", json!({"account": account})).await.status, 202);
    }
    verify(&ada, &mut sink, "ada@example.org").await;
    assert_eq!(visitor.post("password-resets", json!({"account": "ADA@example.org"})).await.status, 202);
    let mail = sink.next().await;
    assert!(mail.text.contains("Subject: [Agon] Choose a new password"), "{}", mail.text);
    assert!(
        mail.text.contains("From: Agon <agon@example.org>")
            || mail.text.contains("From: \"Agon\" <agon@example.org>"),
        "{}",
        mail.text
    );
    let code = mail.word_after("https://agon.example.org/reset-password/");
    let use_it = json!({"code": code, "password": PASSWORD});
    assert_eq!(visitor.post("password-resets/use", use_it.clone()).await.status, 204);
    assert_eq!(ada.get("me/tokens").await.status, 401);
    assert_eq!(visitor.post("password-resets/use", use_it).await.status, 404);
    assert_eq!(site.anonymous().sign_in("Ada", PASSWORD).await.status, 200);
}

#[tokio::test]
async fn notification_mail_has_a_link_that_ends_them_without_signing_in() {
    let mut sink = MailSink::start(0).await;
    let site = sink.site(10).await;
    let ada = site.person("Ada", Role::Author).await;
    verify(&ada, &mut sink, "ada@example.org").await;
    let account = agon_site_db::AccountId(ada.id);
    notify::send(&site.app, account, &notice("Engine is accepted.")).await;
    let mail = sink.next().await;
    let text = mail.decoded();
    assert!(
        text.contains("Engine is accepted.") && text.contains("https://agon.example.org/s/0123456789abcdef"),
        "{text}"
    );
    assert!(text.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click"), "{text}");
    let code = mail.word_after("https://agon.example.org/unsubscribe/");
    let visitor = site.anonymous();
    assert_eq!(visitor.post(&format!("mail/unsubscribe/{code}x"), json!({})).await.status, 404);
    // As a mail program sends it: a form without a session.
    let mut request = visitor.request("POST", &format!("mail/unsubscribe/{code}"));
    let kind = "application/x-www-form-urlencoded".parse().unwrap();
    request.headers_mut().insert("content-type", kind);
    *request.body_mut() = "List-Unsubscribe=One-Click".into();
    assert_eq!(visitor.ask(request).await.status, 204);
    notify::send(&site.app, account, &notice("Another one.")).await;
    assert_eq!(site.app.site_db.count_queued_mails().await.unwrap(), 0);
    assert_eq!(ada.get("me/notifications/unread").await.json["unread"], 2, "the site has both");
}

#[tokio::test]
async fn mails_beyond_the_limit_wait_in_the_database_and_survive_a_restart() {
    let mut sink = MailSink::start(0).await;
    let site = sink.site(1).await;
    let ada = site.person("Ada", Role::Author).await;
    verify(&ada, &mut sink, "ada@example.org").await;
    let account = agon_site_db::AccountId(ada.id);
    notify::send(&site.app, account, &notice("One.")).await;
    assert!(sink.next().await.decoded().contains("One."));
    for text in ["Two.", "Three."] {
        notify::send(&site.app, account, &notice(text)).await;
    }
    let wait = std::time::Instant::now();
    while site.app.site_db.count_queued_mails().await.unwrap() != 2 {
        assert!(wait.elapsed() < WAIT_TIMEOUT);
        tokio::task::yield_now().await;
    }
    // Another server opens the same folder, with another limit.
    let port = sink.port;
    let data = site.app.config.data.clone();
    let again = Site::with(|config| {
        config.data = data;
        config.mail = Some(MailConfig {
            host: "127.0.0.1".to_owned(),
            port,
            tls: MailTls::Off,
            user: None,
            password: None,
            from: "agon@example.org".to_owned(),
            per_hour: 10,
        });
    })
    .await;
    notify::start(&again.app);
    let mail = sink.next().await.decoded();
    assert!(mail.contains("2 notifications") && mail.contains("Two.") && mail.contains("Three."), "{mail}");
}

#[tokio::test]
async fn mail_that_the_server_refuses_for_good_is_dropped() {
    let mut sink = MailSink::start(1).await;
    let site = sink.site(10).await;
    let ada = site.person("Ada", Role::Author).await;
    assert_eq!(ada.put("me/mail", json!({"address": "ada@example.org"})).await.status, 200);
    let wait = std::time::Instant::now();
    while site.app.site_db.count_queued_mails().await.unwrap() > 0 {
        assert!(wait.elapsed() < WAIT_TIMEOUT);
        tokio::task::yield_now().await;
    }
    // The next one is sent.
    verify(&ada, &mut sink, "other@example.org").await;
}

#[tokio::test]
async fn address_is_refused_if_it_is_not_one_or_the_site_sends_no_mails() {
    let sink = MailSink::start(0).await;
    let site = sink.site(10).await;
    let ada = site.person("Ada", Role::Author).await;
    for wrong in ["", "ada", "a@b.org\r\nBcc: c@d.org"] {
        let refused = ada.put("me/mail", json!({"address": wrong})).await;
        assert_eq!(refused.json["error"]["field"], "address", "{}", refused.json);
    }
    assert_eq!(site.anonymous().get("site").await.json["mail"], true);
    let silent = Site::new().await;
    let bob = silent.person("Bob", Role::Author).await;
    assert_eq!(bob.put("me/mail", json!({"address": "b@example.org"})).await.code(), "no_mail");
    assert_eq!(silent.anonymous().post("password-resets", json!({"account": "Bob"})).await.code(), "no_mail");
    assert_eq!(silent.anonymous().get("site").await.json["mail"], false);
}
