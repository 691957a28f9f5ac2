//! The organiser's forms: changes of single values of a competition file, errors at their values, pictures of sponsors.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use agon_site_db::Role;
use axum::body::Body;
use common::{Answer, Client, Site};
use serde_json::{Value, json};

const FILE: &str = "# Our cup\nname = \"Cup\" # for all\ngame = \"connect-five\"\n\n[[phase]]\nname = \"First\"\nformat = \"round-robin\"\n";

async fn change(client: &Client, file: &str, changes: Value) -> Answer {
    let body = json!({"game": "connect-five", "file": file, "changes": changes});
    client.post("competition-files/change", body).await
}

async fn put_bytes(client: &Client, path: &str, content: &[u8]) -> Answer {
    let mut request = client.request("PUT", path);
    *request.body_mut() = Body::from(content.to_vec());
    client.ask(request).await
}

/// The beginning of a PNG of this size.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes
}

#[tokio::test]
async fn change_of_a_value_keeps_the_comments_and_returns_all_values() {
    let site = Site::new().await;
    let organiser = site.person("organiser", Role::Organiser).await;
    let changes = json!([
        {"change": "set", "path": "name", "value": "New cup"},
        {"change": "set", "path": "deadline", "value": "2999-04-26T23:59:00+02:00"},
        {"change": "insert", "path": "phase.1", "value": {"name": "Final", "format": "knockout"}},
        {"change": "set", "path": "phase.1.freeze", "value": true},
        {"change": "insert", "path": "sponsor.0", "value": {"name": "Somebody"}},
    ]);
    let changed = change(&organiser, FILE, changes).await;
    assert_eq!(changed.status, 200, "{}", changed.json);
    let file = changed.json["file"].as_str().unwrap();
    assert!(file.starts_with("# Our cup\nname = \"New cup\" # for all\n"), "{file}");
    assert_eq!(changed.json["values"]["phase"][1]["freeze"], true, "{file}");
    assert_eq!(changed.json["values"]["deadline"], "2999-04-26T23:59:00+02:00");
    assert_eq!(changed.json["errors"], json!([]), "{file}");
    // The text can be created and saved as it is.
    let made = json!({"game": "connect-five", "name": "New cup", "id": "cup", "file": file});
    assert_eq!(organiser.post("competitions", made).await.status, 201);
    let shown = organiser.get("competitions/cup").await.json;
    assert_eq!((&shown["freeze"]["phase"], &shown["sponsors"][0]["name"]), (&json!(2), &json!("Somebody")));
    let saved = organiser.put("competitions/cup/file", json!({"file": shown["file"]})).await;
    assert_eq!(saved.status, 200, "{}", saved.json);
}

#[tokio::test]
async fn errors_are_at_their_values() {
    let site = Site::new().await;
    let organiser = site.person("organiser", Role::Organiser).await;
    let changes = json!([
        {"change": "set", "path": "phase.0.legs", "value": 0},
        {"change": "set", "path": "prizes", "value": ["x".repeat(200)]},
        {"change": "insert", "path": "sponsor.0", "value": {"name": "S", "link": "javascript:alert(1)", "picture": "a.svg"}},
        {"change": "set", "path": "sandbox", "value": "off"},
    ]);
    let changed = change(&organiser, FILE, changes).await;
    assert_eq!(changed.status, 200, "{}", changed.json);
    let errors = changed.json["errors"].as_array().unwrap();
    let at = |path: &str| {
        errors.iter().any(|one| one["path"] == path && !one["what"].as_str().unwrap().is_empty())
    };
    for path in ["phase.0.legs", "prizes", "sponsor.0.link", "sponsor.0.picture"] {
        assert!(at(path), "{path}: {errors:?}");
    }
    let format = json!([{"change": "set", "path": "phase.0.format", "value": "rounds"}]);
    let wrong = change(&organiser, FILE, format).await;
    assert_eq!(wrong.json["errors"][0]["path"], "phase.0.format", "{}", wrong.json);
    // What only a server forbids is at its key too.
    let alone = change(&organiser, FILE, json!([{"change": "set", "path": "sandbox", "value": "off"}])).await;
    assert_eq!(alone.json["errors"][0]["path"], "sandbox", "{}", alone.json);
}

#[tokio::test]
async fn impossible_changes_and_too_large_requests_are_refused() {
    let site = Site::new().await;
    let organiser = site.person("organiser", Role::Organiser).await;
    for (changes, field) in [
        (json!([{"change": "set", "path": "phase", "value": 1}]), "changes"),
        (json!([{"change": "set", "path": "name", "value": null}]), "changes"),
        (json!([{"change": "move", "path": "phase.0"}]), "changes"),
        (json!([{"change": "set", "path": "x".repeat(300), "value": 1}]), "changes"),
        (json!(vec![json!({"change": "remove", "path": "name"}); 201]), "changes"),
    ] {
        let refused = change(&organiser, FILE, changes).await;
        assert_eq!((refused.status.as_u16(), refused.json["error"]["field"].as_str()), (422, Some(field)));
    }
    assert_eq!(change(&organiser, &"# x\n".repeat(12_500), json!([])).await.status, 422);
    let unknown = json!({"game": "chess", "file": FILE});
    assert_eq!(organiser.post("competition-files/change", unknown).await.status, 422);
    // A text that is not TOML has errors, but no values.
    let broken = change(&organiser, "name = ", json!([])).await.json;
    assert_eq!((&broken["values"], broken["errors"].as_array().unwrap().is_empty()), (&Value::Null, false));
}

#[tokio::test]
async fn pictures_of_sponsors_are_small_and_of_their_type() {
    let site = Site::new().await;
    let organiser = site.person("organiser", Role::Organiser).await;
    let made = json!({"game": "connect-five", "name": "Cup", "id": "cup"});
    assert_eq!(organiser.post("competitions", made).await.status, 201);
    organiser.post("competitions/cup/actions", json!({"action": "open"})).await;
    assert_eq!(
        put_bytes(&organiser, "competitions/cup/pictures/logo-1.png", &png(200, 80)).await.status,
        204
    );
    let shown = site.anonymous().get("competitions/cup/pictures/logo-1.png").await;
    assert_eq!((shown.status.as_u16(), shown.header("content-type")), (200, "image/png"));
    assert_eq!(shown.header("x-content-type-options"), "nosniff");
    for (name, content) in [
        ("logo.svg", b"<svg/>".to_vec()),
        ("logo.png", b"<svg/>".to_vec()),
        ("logo.webp", png(10, 10)),
        ("logo.png", png(2000, 10)),
        ("Logo.png", png(10, 10)),
    ] {
        let refused = put_bytes(&organiser, &format!("competitions/cup/pictures/{name}"), &content).await;
        assert_eq!(refused.status, 422, "{name}");
    }
    let mut large = png(10, 10);
    large.resize(300 << 10, 0);
    assert_eq!(put_bytes(&organiser, "competitions/cup/pictures/large.png", &large).await.status, 413);
    for number in 2..=20 {
        let path = format!("competitions/cup/pictures/logo-{number}.png");
        assert_eq!(put_bytes(&organiser, &path, &png(10, 10)).await.status, 204);
    }
    let many = put_bytes(&organiser, "competitions/cup/pictures/logo-21.png", &png(10, 10)).await;
    assert_eq!((many.status.as_u16(), many.code()), (409, "too_many"));
    assert_eq!(organiser.delete("competitions/cup/pictures/logo-1.png").await.status, 204);
    assert_eq!(site.anonymous().get("competitions/cup/pictures/logo-1.png").await.status, 404);
}

#[tokio::test]
async fn settings_of_games_say_what_values_they_take() {
    let site = Site::new().await;
    for game in site.anonymous().get("games").await.json["items"].as_array().unwrap() {
        for setting in game["settings"].as_array().unwrap() {
            let values = &setting["values"];
            let kind = values["kind"].as_str().unwrap();
            assert_eq!(kind == "file", setting["file"] == true, "{setting}");
            assert_eq!(matches!(kind, "whole" | "real" | "list"), values["min"].is_number(), "{setting}");
            assert_eq!(kind == "choice", !values["words"].as_array().unwrap().is_empty(), "{setting}");
        }
    }
}
