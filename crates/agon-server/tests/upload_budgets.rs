//! Budgets of uploads: disk space of an account and of the site, and fairness of the check queue.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use agon_server::config::RateLimits;
use agon_site_db::{Role, SubmissionState, SubmissionVerdict};
use agon_store::Timestamp;
use common::{Answer, Client, Site};
use serde_json::json;

const MIB: usize = 1 << 20;

async fn site(change: impl FnOnce(&mut agon_server::Config)) -> (Site, Client) {
    let site = Site::with(|config| {
        config.limits = RateLimits::generous();
        change(config);
    })
    .await;
    let organiser = site.person("organiser", Role::Organiser).await;
    let body = json!({"game": "connect-five", "name": "The cup", "id": "cup", "per_contributor": 100});
    assert_eq!(organiser.post("competitions", body).await.status, 201);
    let opened = organiser.post("competitions/cup/actions", json!({"action": "open"})).await;
    assert_eq!(opened.status, 200, "{}", opened.json);
    (site, organiser)
}

/// Submits a bot of this size.
async fn submit(client: &Client, name: &str, bytes: usize) -> Answer {
    client.submit("competitions/cup/bots", name, &vec![b'#'; bytes]).await
}

/// Takes the next submission from the queue and accepts it.
async fn accept_next(site: &Site) {
    let one = site.app.site_db.claim_next(Timestamp::now()).await.unwrap().unwrap();
    let verdict = SubmissionVerdict {
        state: SubmissionState::Accepted,
        report: None,
        folder: Some(format!("competitions/{}/bots/{}/{}", one.competition, one.entrant, one.id)),
        trials: Vec::new(),
        at: Timestamp::now(),
    };
    site.app.site_db.finish(&one.id, &verdict).await.unwrap();
}

#[tokio::test]
async fn account_cannot_fill_the_disk() {
    let (site, _) = site(|config| config.uploads.disk_per_account = 3 * MIB as u64).await;
    let (ada, bob) = (site.person("Ada", Role::Author).await, site.person("Bob", Role::Author).await);
    for name in ["One", "Two"] {
        assert_eq!(submit(&ada, name, MIB).await.status, 201);
    }
    let refused = submit(&ada, "Three", MIB).await;
    assert_eq!((refused.status.as_u16(), refused.code()), (409, "quota"), "{}", refused.json);
    let message = refused.json["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("old versions included, occupy 2.") && message.contains("of 3.0 MiB"),
        "{message}"
    );
    assert!(refused.json["error"]["hint"].as_str().unwrap().contains("withdraw"), "{}", refused.json);
    let names: Vec<String> = site
        .app
        .site_db
        .entrants("cup")
        .await
        .unwrap()
        .into_iter()
        .filter(|one| one.withdrawn.is_none())
        .map(|one| one.name)
        .collect();
    assert!(!names.contains(&"Three".to_owned()), "the refused bot takes part: {names:?}");
    let bots = site.app.config.data.join("competitions/cup/bots");
    let files = walk(&bots);
    assert_eq!(
        files
            .iter()
            .filter(|file| std::path::Path::new(file).extension().is_some_and(|ending| ending == "py"))
            .count(),
        2,
        "{files:?}"
    );
    assert_eq!(walk(&site.app.config.data.join("incoming")), [""; 0]);
    assert_eq!(submit(&bob, "Other", MIB).await.status, 201, "another account has a quota of its own");
}

fn walk(folder: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            found.extend(walk(&entry.path()));
        } else {
            found.push(entry.path().display().to_string());
        }
    }
    found
}

#[tokio::test]
async fn small_files_count_whole_blocks() {
    let (site, _) = site(|config| config.uploads.disk_per_account = 2 * MIB as u64).await;
    let ada = site.person("Ada", Role::Author).await;
    let mut body = b"--b\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nMany\r\n".to_vec();
    for number in 0..900 {
        let part = format!(
            "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f{number}.py\"\r\n\r\nx\r\n"
        );
        body.extend_from_slice(part.as_bytes());
    }
    body.extend_from_slice(b"--b--\r\n");
    let mut request = ada.request("POST", "competitions/cup/bots");
    request.headers_mut().insert("content-type", "multipart/form-data; boundary=b".parse().unwrap());
    *request.body_mut() = axum::body::Body::from(body);
    let refused = ada.ask(request).await;
    assert_eq!(
        (refused.status.as_u16(), refused.code()),
        (409, "quota"),
        "900 files of one byte: {}",
        refused.json
    );
}

#[tokio::test]
async fn old_versions_count_until_the_bot_is_withdrawn() {
    let (site, _) = site(|config| config.uploads.disk_per_account = 3 * MIB as u64).await;
    let ada = site.person("Ada", Role::Author).await;
    let first = submit(&ada, "One", MIB).await;
    accept_next(&site).await;
    let bot = format!("competitions/cup/bots/{}", first.json["bot"]);
    let version = || async {
        let mut body =
            b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.py\"\r\n\r\n".to_vec();
        body.extend_from_slice(&vec![b'#'; MIB]);
        body.extend_from_slice(b"\r\n--b--\r\n");
        let mut request = ada.request("POST", &format!("{bot}/versions"));
        request.headers_mut().insert("content-type", "multipart/form-data; boundary=b".parse().unwrap());
        *request.body_mut() = axum::body::Body::from(body);
        ada.ask(request).await
    };
    assert_eq!(version().await.status, 201);
    accept_next(&site).await;
    let refused = version().await;
    assert_eq!((refused.status.as_u16(), refused.code()), (409, "quota"), "{}", refused.json);
    assert_eq!(ada.delete(&bot).await.status, 204);
    assert_eq!(
        walk(&site.app.config.data.join("competitions/cup/bots")),
        [""; 0],
        "files of a withdrawn bot"
    );
    assert_eq!(site.app.site_db.disk_bytes(None).await.unwrap(), 0);
    assert_eq!(submit(&ada, "Two", MIB).await.status, 201);
}

#[tokio::test]
async fn all_accounts_together_cannot_fill_the_disk() {
    let (site, _) = site(|config| config.uploads.disk_total = 3 * MIB as u64).await;
    for (number, status) in [(1, 201), (2, 201), (3, 507)] {
        let author = site.person(&format!("Author {number}"), Role::Author).await;
        let answer = submit(&author, &format!("Bot {number}"), MIB).await;
        assert_eq!(answer.status, status, "{}", answer.json);
        if status == 507 {
            assert_eq!(answer.code(), "site_quota");
            assert!(answer.json["error"]["hint"].as_str().unwrap().contains("organiser"), "{}", answer.json);
        }
    }
    let text = String::from_utf8(site.anonymous().get("/metrics").await.bytes.to_vec()).unwrap();
    assert!(text.contains("agon_uploads_total{outcome=\"no_room\"} 1"), "{text}");
}

#[tokio::test]
async fn uploads_are_refused_while_the_disk_is_almost_full() {
    let (site, _) = site(|config| config.uploads.min_free_disk = u64::MAX).await;
    let ada = site.person("Ada", Role::Author).await;
    let refused = submit(&ada, "One", 100).await;
    assert_eq!((refused.status.as_u16(), refused.code()), (507, "disk_full"), "{}", refused.json);
}
