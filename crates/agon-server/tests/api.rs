//! The API description is complete and correct; errors have the described form; all responses have the security headers.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod common;

use std::collections::BTreeSet;

use common::Site;
use serde_json::{Value, json};

fn description() -> Value {
    serde_json::to_value(agon_server::description()).unwrap()
}

/// All operations: method, path, description.
fn operations(api: &Value) -> Vec<(String, String, &Value)> {
    let mut all = Vec::new();
    for (path, item) in api["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if matches!(method.as_str(), "get" | "put" | "post" | "patch" | "delete") {
                all.push((method.to_uppercase(), path.clone(), operation));
            }
        }
    }
    all
}

fn references(value: &Value, all: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(target) = fields.get("$ref").and_then(Value::as_str) {
                all.insert(target.to_owned());
            }
            fields.values().for_each(|value| references(value, all));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, all)),
        _ => {}
    }
}

#[test]
fn description_is_complete() {
    let api = description();
    assert!(api["openapi"].as_str().unwrap().starts_with("3.1"));
    assert_eq!(api["info"]["version"], env!("CARGO_PKG_VERSION"));
    for scheme in ["session", "csrf", "token"] {
        assert!(api["components"]["securitySchemes"][scheme].is_object(), "{scheme}");
    }
    let mut targets = BTreeSet::new();
    references(&api, &mut targets);
    for target in targets {
        let place = target.strip_prefix('#').unwrap();
        assert!(api.pointer(place).is_some(), "{target} does not exist");
    }
    let tags: BTreeSet<&str> =
        api["tags"].as_array().unwrap().iter().filter_map(|tag| tag["name"].as_str()).collect();
    let mut ids = BTreeSet::new();
    for (method, path, operation) in operations(&api) {
        let id = operation["operationId"].as_str().unwrap_or_default();
        assert!(
            ids.insert(id.to_owned()) && !id.is_empty(),
            "{method} {path}: the id `{id}` is missing or duplicate"
        );
        let own = operation["tags"].as_array().unwrap();
        assert!(
            own.len() == 1 && tags.contains(own[0].as_str().unwrap()),
            "{id}: {own:?} is not one of the tags"
        );
        assert!(
            operation["summary"].is_string() || operation["description"].is_string(),
            "{id}: the description is missing"
        );
        let responses = operation["responses"].as_object().unwrap();
        assert!(
            responses.keys().any(|status| status.starts_with('2')),
            "{id}: no successful response is described"
        );
        for (status, response) in responses {
            let refused = status.starts_with('4') || status.starts_with('5');
            let schema = &response["content"]["application/json"]["schema"]["$ref"];
            assert!(
                !refused || schema == "#/components/schemas/ErrorBody",
                "{id}: the body of {status} is not the error body"
            );
        }
        // Exactly the parameters of the path are described.
        let named: BTreeSet<&str> =
            path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        let told: BTreeSet<&str> = parameters
            .iter()
            .filter(|one| one["in"] == "path")
            .filter_map(|one| one["name"].as_str())
            .collect();
        assert_eq!(named, told, "{method} {path}");
    }
}

#[test]
fn paths_and_methods_change_only_on_purpose() {
    let api = description();
    let lines: Vec<String> =
        operations(&api).iter().map(|(method, path, _)| format!("{path} {method}")).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn every_route_is_in_the_description() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/routes");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            !text.contains(".route("),
            "{}: use `.routes(routes!(...))`, because `.route(...)` is not described",
            path.display()
        );
    }
}

#[tokio::test]
async fn every_described_route_exists() {
    let site = Site::new().await;
    let api = description();
    assert_eq!(site.anonymous().get("/api/openapi.json").await.json, api);
    for (method, path, _) in operations(&api) {
        // A letter instead of a number, or an unknown id: the handler rejects it, if there is one.
        let path: Vec<&str> =
            path.split('/').map(|part| if part.starts_with('{') { "x" } else { part }).collect();
        let answer = site.anonymous().send(&method, &path.join("/"), None).await;
        assert_ne!(answer.code(), "method", "{method} {path:?}");
        let lost = answer.json["error"]["message"] == "there is no such address";
        assert!(!lost, "{method} {path:?}");
        assert!(!answer.status.is_server_error(), "{method} {path:?}: {}", answer.json);
    }
}

#[tokio::test]
async fn unknown_address_has_the_error_body() {
    let site = Site::new().await;
    for path in [
        "/api",
        "/api/",
        "/api/v1",
        "/api/v1/nonsense",
        "/api/v2/site",
        "/api/v1/games/nonsense",
        "/api/v1/games/%ff",
    ] {
        let answer = site.anonymous().get(path).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (404, "not_found"), "{path}");
        assert!(answer.json["error"]["hint"].is_string(), "{path}");
    }
    let answer = site.anonymous().send("PATCH", "games", None).await;
    assert_eq!((answer.status.as_u16(), answer.code()), (405, "method"));
    assert!(answer.header("allow").contains("GET"), "{:?}", answer.headers);
    let organiser = site.person("Boss", agon_site_db::Role::Organiser).await;
    for query in ["limit=0", "limit=201", "limit=x", "after=x", "limit=-1"] {
        let answer = organiser.get(&format!("accounts?{query}")).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (422, "invalid"), "{query}");
    }
}

#[tokio::test]
async fn lists_are_paged() {
    let site = Site::new().await;
    let boss = site.person("Boss", agon_site_db::Role::Organiser).await;
    for number in 0..5 {
        site.account(&format!("author {number}"), agon_site_db::Role::Author).await;
    }
    let (mut names, mut path) = (Vec::new(), "accounts?limit=2".to_owned());
    loop {
        let page = boss.get(&path).await.json;
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 2);
        names.extend(items.iter().map(|item| item["name"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("accounts?limit=2&after={next}");
    }
    assert_eq!(names, ["author 4", "author 3", "author 2", "author 1", "author 0", "Boss"]);
}

#[tokio::test]
async fn every_response_has_the_security_headers() {
    let site = Site::new().await;
    for path in
        ["/", "/api/v1/site", "/api/v1/nonsense", "/healthz", "/metrics", "/api/openapi.json", "/c/some-cup"]
    {
        let answer = site.anonymous().get(path).await;
        let policy = answer.header("content-security-policy");
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "same-origin", "{path}");
        assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin", "{path}");
        assert!(answer.header("permissions-policy").contains("camera=()"), "{path}");
        assert!(answer.header("strict-transport-security").is_empty(), "HSTS without TLS");
        assert!(!answer.header("cache-control").is_empty() || !path.starts_with("/api"), "{path}");
    }
    let embedded = site.anonymous().get("/embed/cup/1/1-1/1").await;
    assert!(embedded.header("content-security-policy").ends_with("frame-ancestors *"));
    assert!(embedded.header("x-frame-options").is_empty());
    assert_eq!(site.anonymous().get("site").await.header("cache-control"), "no-store");
}

#[tokio::test]
async fn panic_in_a_handler_fails_only_its_request() {
    let site = Site::new().await;
    // A handler that panics, with the same layers.
    let broken = axum::routing::get(|| async { assert_eq!("boom", "quiet") });
    let router =
        agon_server::behind_the_gate(axum::Router::new().route("/api/v1/boom", broken), site.app.clone());
    let mut client = site.anonymous();
    client.router = router;
    let answer = client.get("boom").await;
    assert_eq!((answer.status.as_u16(), answer.code()), (500, "broke"));
    assert!(!answer.json.to_string().contains("boom"), "the panic message is in the response");
    assert_eq!(site.anonymous().get("site").await.status, 200);
}

#[tokio::test]
async fn games_have_rules_apis_and_starters() {
    let site = Site::new().await;
    let listed = site.anonymous().get("games").await.json;
    let ids: Vec<&str> =
        listed["items"].as_array().unwrap().iter().map(|game| game["id"].as_str().unwrap()).collect();
    assert_eq!(ids, agon_games::infos().iter().map(|info| info.id).collect::<Vec<_>>());
    assert!(listed["items"][0].get("rules").is_none());
    for id in ids {
        let game = site.anonymous().get(&format!("games/{id}")).await.json;
        assert!(game["rules"].as_str().unwrap().contains("## The competition"), "{id}");
        assert!(game["api"].as_str().unwrap().contains(&format!("agon check {id}")), "{id}");
        assert!(
            !game["house_bots"].as_array().unwrap().is_empty()
                && !game["settings"].as_array().unwrap().is_empty()
        );
        assert!(!game["requirements"].as_array().unwrap().is_empty(), "{id}");
        for language in game["languages"].as_array().unwrap() {
            let path = format!("games/{id}/starter/{}", language.as_str().unwrap());
            let answer = site.anonymous().get(&path).await;
            assert_eq!(answer.header("content-type"), "application/zip", "{path}");
            assert!(answer.header("content-disposition").starts_with("attachment; filename="), "{path}");
            let mut zip = zip::ZipArchive::new(std::io::Cursor::new(answer.bytes.to_vec())).unwrap();
            assert!(zip.len() >= 2 && zip.by_name("my-bot/README.md").is_ok(), "{path}");
            let again = site.anonymous().header("if-none-match", answer.header("etag")).get(&path).await;
            assert_eq!(again.status, 304);
        }
    }
    assert_eq!(site.anonymous().get("games/connect-five/starter/cobol").await.status, 404);
    let word_racer = site.anonymous().get("games/word-racer").await.json;
    assert_eq!(word_racer["seats"], json!({"min": 2, "max": 2}));
}

#[tokio::test]
async fn metrics_are_exported() {
    let site = Site::new().await;
    site.anonymous().get("site").await;
    site.anonymous().get("site").await;
    site.anonymous().get("games/nonsense").await;
    for number in 0..50 {
        site.anonymous().get(&format!("/some/page/{number}")).await;
    }
    site.app.meters.upload("refused");
    let text = String::from_utf8(site.anonymous().get("/metrics").await.bytes.to_vec()).unwrap();
    for line in [
        r#"agon_http_requests_total{route="/api/v1/site",method="GET",status="200"} 2"#,
        r#"agon_http_requests_total{route="/api/v1/games/{game}",method="GET",status="404"} 1"#,
        r#"agon_http_request_duration_seconds_count{route="/api/v1/site"} 2"#,
        r#"agon_http_request_duration_seconds_bucket{route="/api/v1/site",le="+Inf"} 2"#,
        r#"agon_uploads_total{outcome="refused"} 1"#,
        "agon_sessions 0",
        "agon_submissions_queued 0",
        "agon_watchers 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    assert!(text.contains("process_resident_memory_bytes ") && text.contains("process_open_fds "));
    assert!(
        !text.contains("/some/page"),
        "metrics must use routes, because the number of addresses is unlimited"
    );
    assert_eq!(site.anonymous().get("/healthz").await.bytes, "ok\n");
    site.app.site_db.disconnect().await.unwrap();
    assert_eq!(site.anonymous().get("/healthz").await.status, 503);
}
