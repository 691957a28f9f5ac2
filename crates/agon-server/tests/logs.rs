//! The server's log: request ids, internal errors, secrets, and the matches of a run by their keys.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use agon_test_servers::CapturedLog;
use common::{PASSWORD, Site, competition};
use serde_json::{Value, json};

const COMPETITION: &str = "name = \"Log cup\"\ngame = \"connect-five\"\nseed = \"a hidden seed\"\n\n[[phase]]\nformat = \"round-robin\"\n\
    parts = [{ games = 2, seconds = 1 }]\n\n[[entrant]]\nbot = \"house:random\"\n\n[[entrant]]\nbot = \"house:line-counter\"\n";

/// A field of a log line, of the event or of one of its spans.
fn field<'l>(line: &'l Value, name: &str) -> &'l Value {
    let spans = line["spans"].as_array().into_iter().flatten();
    let mut found = std::iter::once(line).chain(spans).filter_map(|part| part.get(name));
    found.next_back().unwrap_or(&Value::Null)
}

fn parsed(lines: &[String]) -> Vec<Value> {
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn request_id_of_the_client_is_in_the_response_the_error_and_the_log() {
    let log = CapturedLog::start();
    let site = Site::new().await;
    let client = site.anonymous().header("x-request-id", "proxy-17.a_B");
    let answer = client.get("competitions/none?token=s3cret").await;
    assert_eq!(answer.status, 404);
    assert_eq!(answer.header("x-request-id"), "proxy-17.a_B");
    assert_eq!(answer.json["error"]["request_id"], "proxy-17.a_B");
    let lines = parsed(&log.lines_with("proxy-17.a_B"));
    let response = lines.iter().find(|line| line["message"] == "response").unwrap();
    assert_eq!((&response["method"], &response["level"]), (&json!("GET"), &json!("INFO")));
    assert_eq!((&response["path"], &response["status"]), (&json!("/api/v1/competitions/none"), &json!(404)));
    assert!(response["ms"].as_f64().unwrap() >= 0.0);
    assert_eq!(field(response, "request_id"), "proxy-17.a_B");
}

#[tokio::test]
async fn request_without_a_valid_id_gets_a_new_one() {
    let log = CapturedLog::start();
    let site = Site::new().await;
    let first = site.anonymous().get("site").await;
    let second = site.anonymous().header("x-request-id", "not valid {}").get("site").await;
    let ids = [first.header("x-request-id"), second.header("x-request-id")];
    assert!(ids.iter().all(|id| id.len() >= 15 && !id.contains(' ')) && ids[0] != ids[1], "{ids:?}");
    for id in ids {
        assert_eq!(parsed(&log.lines_with(id)).last().unwrap()["path"], "/api/v1/site");
    }
    assert!(first.json["error"].is_null());
}

#[tokio::test]
async fn internal_error_is_logged_with_its_cause_and_sent_without_it() {
    let log = CapturedLog::start();
    let site = Site::new().await;
    let broken = axum::routing::get(|| async { assert_eq!("the cause", "another") });
    let router =
        agon_server::behind_the_gate(axum::Router::new().route("/api/v1/broken", broken), site.app.clone());
    let mut client = site.anonymous().header("x-request-id", "broken-1");
    client.router = router;
    let answer = client.get("broken").await;
    assert_eq!((answer.status.as_u16(), answer.code()), (500, "broke"));
    assert_eq!(answer.json["error"]["request_id"], "broken-1");
    assert!(!answer.json.to_string().contains("the cause"), "{}", answer.json);
    let lines = parsed(&log.lines_with("broken-1"));
    let error = lines.iter().find(|line| line["level"] == "ERROR").unwrap();
    assert!(error["cause"].as_str().unwrap().contains("the cause"), "{error}");
    assert_eq!(field(error, "request_id"), "broken-1");
}

#[tokio::test]
async fn secrets_of_requests_are_not_logged() {
    let log = CapturedLog::start();
    let site = Site::new().await;
    let mut author = site.anonymous();
    assert_eq!(author.sign_up("ada", None).await.status, 201);
    assert_eq!(author.sign_in("ada", PASSWORD).await.status, 200);
    let token = author.post("me/tokens", json!({"label": "tests"})).await.json["token"].clone();
    assert_eq!(site.anonymous().get("invitations/a-secret-code").await.status, 404);
    let (cookie, csrf) = (author.cookie.clone().unwrap(), author.csrf.clone().unwrap());
    let session = cookie.split('=').next_back().unwrap();
    for secret in [PASSWORD, session, &csrf, token.as_str().unwrap(), "a-secret-code"] {
        assert_eq!(log.lines_with(secret), [""; 0], "{secret}");
    }
}

#[test]
fn match_is_logged_by_its_key_from_its_start_to_the_ledger() {
    let log = CapturedLog::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cup.toml");
    std::fs::write(&file, COMPETITION).unwrap();
    competition::played(&file);
    let started = parsed(&log.lines_with("competition started"));
    let started = started.iter().find(|line| line["name"] == "Log cup").unwrap();
    let id = field(started, "competition").as_str().unwrap();
    assert!(id.starts_with("log-cup-") && id.len() == "log-cup-".len() + 16, "{id}");
    let lines = parsed(&log.lines_with(&format!("{id}/1.1.1")));
    assert!(lines.iter().all(|line| field(line, "match") == &format!("{id}/1.1.1")));
    let messages: Vec<&str> = lines.iter().filter_map(|line| line["message"].as_str()).collect();
    let steps = ["match started", "game started", "game finished", "match finished", "match stored"];
    let mut rest = messages.iter();
    for step in steps {
        assert!(rest.any(|message| *message == step), "{step} is missing in {messages:?}");
    }
    assert_eq!(log.lines_with("a hidden seed"), [""; 0]);
    let finished = log.lines_with("competition finished");
    assert!(finished.iter().any(|line| line.contains(id)));
}
