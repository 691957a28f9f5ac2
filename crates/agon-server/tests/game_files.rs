//! A competition on the server with a word list of its own.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use agon_site_db::Role;
use axum::body::Body;
use common::{Answer, Client, Site};
use serde_json::json;

async fn put(client: &Client, path: &str, content: &[u8]) -> Answer {
    let mut request = client.request("PUT", path);
    *request.body_mut() = Body::from(content.to_vec());
    client.ask(request).await
}

async fn cup(site: &Site) -> Client {
    let organiser = site.person("organiser", Role::Organiser).await;
    let made = json!({"game": "word-racer", "name": "Cup", "id": "cup"});
    assert_eq!(organiser.post("competitions", made).await.status, 201);
    organiser
}

#[tokio::test]
async fn uploaded_word_list_is_used_until_the_games_own_is_restored() {
    let site = Site::new().await;
    let organiser = cup(&site).await;
    assert_eq!(organiser.get("competitions/cup/files/words").await.status, 404, "the game's own list");
    let put_words = put(&organiser, "competitions/cup/files/words", b"ZZ\nZEBRA\n").await;
    assert_eq!(put_words.status, 204, "{}", put_words.json);
    let file = organiser.get("competitions/cup").await.json["file"].as_str().unwrap().to_owned();
    assert!(file.contains("words = \"words.dat\""), "{file}");
    let words = organiser.get("competitions/cup/files/words").await;
    assert_eq!(words.status, 200);
    // The text that the server wrote is accepted when the organiser saves it again.
    let saved = organiser.put("competitions/cup/file", json!({"file": file})).await;
    assert_eq!(saved.status, 200, "{}", saved.json);
    assert_eq!(organiser.delete("competitions/cup/files/words").await.status, 204);
    assert_eq!(organiser.get("competitions/cup/files/words").await.status, 404);
}

#[tokio::test]
async fn file_that_is_no_word_list_and_unknown_files_are_refused() {
    let site = Site::new().await;
    let organiser = cup(&site).await;
    let refused = put(&organiser, "competitions/cup/files/words", b"no words\x00here 12\n").await;
    assert_eq!(
        (refused.status.as_u16(), refused.json["error"]["field"].as_str()),
        (422, Some("file")),
        "{}",
        refused.json
    );
    assert_eq!(put(&organiser, "competitions/cup/files/seconds", b"AA\n").await.status, 404, "not a file");
    let text =
        "game = \"word-racer\"\n[settings]\nwords = \"words.dat\"\n[[phase]]\nformat = \"round-robin\"\n";
    let refused = organiser.put("competitions/cup/file", json!({"file": text})).await;
    assert_eq!(refused.status, 422);
    assert!(
        refused.json["error"]["message"].as_str().unwrap().contains("was not uploaded"),
        "{}",
        refused.json
    );
}
