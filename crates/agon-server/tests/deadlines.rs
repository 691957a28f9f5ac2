//! Deadlines for submissions, and limits that the competition's file sets.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use agon_site_db::Role;
use axum::body::Body;
use axum::http::header;
use common::{Answer, Client, Site};
use serde_json::{Value, json};

const BOUNDARY: &str = "a-boundary";
const BOT: &str = "class Bot:\n    def get_move(self, board, player, T, N):\n        return 0\n";

async fn submit(client: &Client, content: &[u8]) -> Answer {
    let head = |name: &str| format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"");
    let mut body =
        format!("{}\r\n\r\nBot\r\n{}; filename=\"Bot.py\"\r\n\r\n", head("name"), head("file")).into_bytes();
    body.extend_from_slice(content);
    body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
    let mut request = client.request("POST", "competitions/cup/bots");
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    request.headers_mut().insert(header::CONTENT_TYPE, kind.parse().unwrap());
    *request.body_mut() = Body::from(body);
    client.ask(request).await
}

/// An open competition whose file has these lines at its top.
async fn open(site: &Site, lines: &str) {
    let organiser = site.person("organiser", Role::Organiser).await;
    let file = format!(
        "{lines}\ngame = \"connect-five\"\nname = \"The cup\"\n\n[[phase]]\nformat = \"round-robin\"\nparts = [{{ games = 1, first_to = 1 }}]\n"
    );
    let made = organiser
        .post("competitions", json!({"game": "connect-five", "name": "The cup", "id": "cup", "file": file}))
        .await;
    assert_eq!(made.status, 201, "{}", made.json);
    let opened = organiser.post("competitions/cup/actions", json!({"action": "open"})).await;
    assert_eq!(opened.status, 200, "{}", opened.json);
}

#[tokio::test]
async fn upload_after_the_deadline_is_refused_and_the_deadline_is_shown() {
    let site = Site::new().await;
    open(&site, "deadline = 2020-04-26T23:59:00+02:00").await;
    let author = site.person("ada", Role::Author).await;
    let shown = author.get("competitions/cup").await.json;
    assert_eq!(
        shown["deadline"],
        json!({"at": 1_587_938_340_000_i64, "text": "2020-04-26T23:59:00+02:00", "past": true})
    );
    let refused = submit(&author, BOT.as_bytes()).await;
    assert_eq!(
        (refused.status.as_u16(), &refused.json["error"]["code"]),
        (409, &json!("deadline")),
        "{}",
        refused.json
    );
    let message = refused.json["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(message.contains("The cup accepted bots until 2020-04-26T23:59:00+02:00"), "{message}");
}

#[tokio::test]
async fn upload_before_the_deadline_is_accepted() {
    let site = Site::new().await;
    open(&site, "deadline = 2999-04-26T23:59:00Z\nmax_zip_mib = 1").await;
    let author = site.person("ada", Role::Author).await;
    let shown = author.get("competitions/cup").await.json;
    assert_eq!((&shown["deadline"]["past"], &shown["limits"]["max_bytes"]), (&json!(false), &json!(1 << 20)));
    let large = submit(&author, &vec![b'#'; (1 << 20) + 1]).await;
    assert_eq!(large.status, 413, "{}", large.json);
    assert!(
        large.json.to_string().contains("larger than 1 MiB (1048576 bytes), the limit of this competition"),
        "{}",
        large.json
    );
    let accepted = submit(&author, BOT.as_bytes()).await;
    assert_eq!(accepted.status, 201, "{}", accepted.json);
}

#[tokio::test]
async fn competition_without_a_deadline_shows_none() {
    let site = Site::new().await;
    open(&site, "").await;
    let author = site.person("ada", Role::Author).await;
    let shown = author.get("competitions/cup").await.json;
    assert_eq!((&shown["deadline"], &shown["limits"]["max_bytes"]), (&Value::Null, &json!(64 << 20)));
}
