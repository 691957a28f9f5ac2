//! Webhooks to a listener of the test: signatures, retries, and which addresses they may reach.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use agon_server::notify;
use agon_site_db::{AccountId, NotificationKind, Role};
use agon_test_servers::WAIT_TIMEOUT;
use common::Site;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// A request as the listener got it.
struct ReceivedRequest {
    head: String,
    body: String,
}

impl ReceivedRequest {
    fn header(&self, name: &str) -> &str {
        let found = self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        });
        found.unwrap_or_default()
    }
}

/// An HTTP server that answers each request with the next of these lines, the last one from then on.
async fn listen(answers: &'static [&'static str]) -> (String, mpsc::UnboundedReceiver<ReceivedRequest>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let (sender, requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut count = 0;
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = Vec::new();
            let request = loop {
                let mut part = [0; 4096];
                let length = stream.read(&mut part).await.unwrap();
                assert!(length > 0, "the request is incomplete");
                bytes.extend_from_slice(&part[..length]);
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let request = ReceivedRequest { head: head.to_owned(), body: body.to_owned() };
                if request.header("content-length").parse() == Ok(body.len()) {
                    break request;
                }
            };
            let answer = answers[count.min(answers.len() - 1)];
            count += 1;
            let reply = format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            stream.write_all(reply.as_bytes()).await.unwrap();
            sender.send(request).unwrap();
        }
    });
    (url, requests)
}

async fn next(requests: &mut mpsc::UnboundedReceiver<ReceivedRequest>) -> ReceivedRequest {
    tokio::time::timeout(WAIT_TIMEOUT, requests.recv()).await.unwrap().unwrap()
}

async fn site(private_webhooks: bool) -> Site {
    let site = Site::with(|config| {
        config.limits = agon_server::config::RateLimits::generous();
        config.public_url = Some("https://agon.example.org".to_owned());
        config.private_webhooks = private_webhooks;
    })
    .await;
    notify::start(&site.app);
    site
}

fn notice() -> notify::Notice {
    notify::Notice {
        kind: NotificationKind::CheckDone,
        topic: "submission/1".to_owned(),
        link: "/s/1".to_owned(),
        text: "Engine is accepted.".to_owned(),
    }
}

#[tokio::test]
async fn request_is_signed_with_the_secret_and_the_time() {
    let site = site(true).await;
    let ada = site.person("Ada", Role::Author).await;
    let (url, mut requests) = listen(&["204 No Content"]).await;
    let made = ada.post("me/webhooks", json!({"url": url})).await;
    assert_eq!(made.status, 201, "{}", made.json);
    let secret = made.json["secret"].as_str().unwrap();
    notify::send(&site.app, AccountId(ada.id), &notice()).await;
    let request = next(&mut requests).await;
    let body: Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!(
        (&body["event"], &body["text"], &body["link"]),
        (&json!("check_done"), &json!("Engine is accepted."), &json!("https://agon.example.org/s/1"))
    );
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("{}.{}", request.header("x-agon-timestamp"), request.body).as_bytes());
    let expected: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(request.header("x-agon-signature"), format!("sha256={expected}"));
    assert!(ada.get("me/webhooks").await.json["items"][0]["secret"].is_null(), "it is shown once");
}

#[tokio::test]
async fn failure_is_shown_and_a_redirect_is_not_followed() {
    let site = site(true).await;
    let ada = site.person("Ada", Role::Author).await;
    let (url, mut requests) = listen(&["302 Found\r\nLocation: /elsewhere"]).await;
    let made = ada.post("me/webhooks", json!({"url": url})).await.json;
    let test = format!("me/webhooks/{}/test", made["id"]);
    assert_eq!(ada.post(&test, json!({})).await.status, 202);
    assert!(next(&mut requests).await.body.contains("\"event\":\"test\""));
    let wait = std::time::Instant::now();
    loop {
        let shown = ada.get("me/webhooks").await.json["items"][0].clone();
        if shown["failures"] == 1 {
            assert!(shown["last_error"].as_str().unwrap().contains("302"), "{shown}");
            break;
        }
        assert!(wait.elapsed() < WAIT_TIMEOUT);
        tokio::task::yield_now().await;
    }
    assert!(requests.try_recv().is_err(), "it was followed");
}

#[tokio::test]
async fn only_public_addresses_and_https_are_accepted_unless_the_organiser_allows_others() {
    let site = site(false).await;
    let ada = site.person("Ada", Role::Author).await;
    for wrong in [
        "http://example.org/hook",
        "https://127.0.0.1/hook",
        "https://[::1]/hook",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://user:secret@example.org/",
        "ftp://example.org",
        "example.org",
        "",
    ] {
        let refused = ada.post("me/webhooks", json!({"url": wrong})).await;
        assert_eq!(refused.json["error"]["field"], "url", "{wrong}: {}", refused.json);
    }
    // A name that leads to this machine is refused when it is resolved.
    let made = ada.post("me/webhooks", json!({"url": "https://localhost:1/hook"})).await;
    assert_eq!(made.status, 201, "{}", made.json);
    ada.post(&format!("me/webhooks/{}/test", made.json["id"]), json!({})).await;
    let wait = std::time::Instant::now();
    loop {
        let shown = ada.get("me/webhooks").await.json["items"][0].clone();
        if shown["failures"] == 1 {
            assert!(shown["last_error"].as_str().unwrap().contains("not allowed"), "{shown}");
            break;
        }
        assert!(wait.elapsed() < WAIT_TIMEOUT);
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn webhook_belongs_to_its_account() {
    let site = site(true).await;
    let (ada, bob) = (site.person("Ada", Role::Author).await, site.person("Bob", Role::Author).await);
    let (url, _requests) = listen(&["204 No Content"]).await;
    let made = ada.post("me/webhooks", json!({"url": url})).await.json;
    let path = format!("me/webhooks/{}", made["id"]);
    assert_eq!(bob.post(&format!("{path}/test"), json!({})).await.status, 404);
    assert_eq!(bob.delete(&path).await.status, 404);
    assert_eq!(bob.get("me/webhooks").await.json["items"], json!([]));
    assert_eq!(ada.delete(&path).await.status, 204);
}
