//! The editor in the browser: drafts on the server, checks without submitting, files of submitted versions.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use agon_site_db::Role;
use common::{Client, Site};
use serde_json::{Value, json};

async fn open_cup(site: &Site, game: &str) -> Client {
    let organiser = site.person("organiser", Role::Organiser).await;
    let made = json!({"game": game, "name": "Cup", "id": "cup"});
    assert_eq!(organiser.post("competitions", made).await.status, 201);
    organiser.post("competitions/cup/actions", json!({"action": "open"})).await;
    organiser
}

fn files(text: &str) -> Value {
    json!([{"path": "bot.py", "text": text}])
}

#[tokio::test]
async fn draft_begins_with_the_starter_and_is_kept() {
    let site = Site::new().await;
    open_cup(&site, "connect-five").await;
    let author = site.person("author", Role::Author).await;
    let first = author.get("competitions/cup/draft").await.json;
    assert_eq!((&first["source"], &first["revision"]), (&json!("starter"), &json!(0)), "{first}");
    assert!(
        first["files"].as_array().unwrap().iter().any(|file| file["path"].as_str().unwrap().ends_with(".py"))
    );
    let put = author.put("competitions/cup/draft", json!({"files": files("x = 1\n"), "revision": 0})).await;
    assert_eq!((put.status.as_u16(), &put.json["revision"]), (200, &json!(1)), "{}", put.json);
    let kept = author.get("competitions/cup/draft").await.json;
    assert_eq!((&kept["source"], &kept["files"]), (&json!("draft"), &files("x = 1\n")));
    // Another author has another draft.
    let other = site.person("other", Role::Author).await;
    assert_eq!(other.get("competitions/cup/draft").await.json["source"], "starter");
    // A change of an old revision was made elsewhere.
    let old = author.put("competitions/cup/draft", json!({"files": files("y"), "revision": 0})).await;
    assert_eq!((old.status.as_u16(), old.code()), (409, "conflict"));
    assert_eq!(author.delete("competitions/cup/draft").await.status, 204);
    assert_eq!(author.get("competitions/cup/draft").await.json["source"], "starter");
}

#[tokio::test]
async fn drafts_have_limits_and_plain_file_names() {
    let site = Site::new().await;
    open_cup(&site, "connect-five").await;
    let author = site.person("author", Role::Author).await;
    let put = |files: Value| author.put("competitions/cup/draft", json!({"files": files, "revision": 0}));
    for path in ["../bot.py", "/bot.py", "a//b.py", ".hidden", "a\\b.py", ""] {
        assert_eq!(put(json!([{"path": path, "text": ""}])).await.status, 422, "{path}");
    }
    assert_eq!(put(json!([])).await.status, 422);
    assert_eq!(put(json!([{"path": "a.py", "text": ""}, {"path": "A.py", "text": ""}])).await.status, 422);
    assert_eq!(put(json!([{"path": "a.py"}])).await.status, 422);
    assert_eq!(put(json!([{"path": "a.py", "text": "x".repeat(520 << 10)}])).await.status, 422);
    assert_eq!(put(json!([{"path": "a.py", "text": "x".repeat(900 << 10)}])).await.status, 413);
    // 100 KiB is more than other requests may have.
    assert_eq!(put(json!([{"path": "a.py", "text": "x".repeat(100 << 10)}])).await.status, 200);
}

#[tokio::test]
async fn only_authors_have_drafts_and_only_of_their_own_bots() {
    let site = Site::new().await;
    open_cup(&site, "connect-five").await;
    let author = site.person("author", Role::Author).await;
    let made = author.submit("competitions/cup/bots", "Mine", b"class Mine:\n    pass\n").await.json;
    let path = format!("competitions/cup/draft?bot={}", made["bot"]);
    assert_eq!(author.get(&path).await.status, 200);
    let other = site.person("other", Role::Author).await;
    assert_eq!(other.get(&path).await.status, 403);
    assert_eq!(other.put(&path, json!({"files": files("x"), "revision": 0})).await.status, 403);
    assert_eq!(
        site.person("spectator", Role::Spectator).await.get("competitions/cup/draft").await.status,
        403
    );
    assert_eq!(site.anonymous().get("competitions/cup/draft").await.status, 401);
    assert_eq!(author.get("competitions/cup/draft?bot=999").await.status, 404);
    let files = format!("submissions/{}/files", made["id"].as_str().unwrap());
    assert_eq!(other.get(&files).await.status, 404);
    assert_eq!(site.anonymous().get(&files).await.status, 401);
}

#[tokio::test]
async fn check_needs_a_stored_draft_and_one_runs_for_each_author() {
    let site = Site::new().await;
    open_cup(&site, "connect-five").await;
    let author = site.person("author", Role::Author).await;
    let none = author.send("POST", "competitions/cup/draft/check", None).await;
    assert_eq!(none.status, 404);
    assert_eq!(author.get("competitions/cup/draft/check").await.status, 404);
    // A file that is no bot: the check ends without running anything.
    let put = json!({"files": [{"path": "notes.txt", "text": "nothing"}], "revision": 0});
    assert_eq!(author.put("competitions/cup/draft", put).await.status, 200);
    let started = author.send("POST", "competitions/cup/draft/check", None).await;
    assert_eq!(started.status, 202, "{}", started.json);
    let done = loop {
        let check = author.get("competitions/cup/draft/check").await.json;
        match check["state"].as_str().unwrap() {
            "queued" | "checking" => tokio::task::yield_now().await,
            _ => break check,
        }
    };
    assert_eq!(
        (&done["state"], &done["revision"], &done["trials"]),
        (&json!("refused"), &json!(1), &json!(0)),
        "{done}"
    );
    assert_eq!(done["report"]["steps"][0]["name"], "found");
    assert_eq!(author.get("competitions/cup/draft/trials/1").await.status, 404);
    // Nothing was submitted, and nothing is left of the files.
    assert_eq!(author.get("me/bots").await.json["items"], json!([]));
    let bots = site.app.config.data.join("competitions/cup/bots");
    let left = std::fs::read_dir(bots).map_or(0, Iterator::count);
    assert_eq!(left, 0);
    // It can be checked again.
    assert_eq!(author.send("POST", "competitions/cup/draft/check", None).await.status, 202);
}

#[tokio::test]
async fn drafts_cannot_be_checked_through_other_roads() {
    let site = Site::new().await;
    open_cup(&site, "connect-five").await;
    let author = site.person("author", Role::Author).await;
    let mut request = author.request("PUT", "competitions/cup/draft");
    *request.body_mut() = axum::body::Body::from("{\"files\": [], \"revision\": 0}");
    assert_eq!(author.ask(request).await.status, 415, "the content type is missing");
    let unknown =
        author.put("competitions/cup/draft", json!({"files": files("x"), "revision": 0, "more": 1})).await;
    assert_eq!(unknown.status, 422);
}
