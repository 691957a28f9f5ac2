//! Practice ladders, challenges and the store of played games. Only house bots play here; `crates/agon/tests/practice.rs` has uploaded bots.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use agon_runner::StopFlag;
use agon_server::config::RateLimits;
use agon_server::practice;
use agon_server::runs::core_pool::BackgroundWork;
use agon_site_db::{
    AccountId, CompetitionState, NewEntrant, NewSubmission, OpenChallengeLimits, Role, SubmissionId,
    SubmissionState, SubmissionVerdict, token_hash,
};
use agon_store::Timestamp;
use common::{Client, Site};
use serde_json::{Value, json};
use tower::ServiceExt as _;

const FILE: &str = "game = \"colour-battle\"\nseed = \"a cup's seed\"\n\
    [settings]\nrounds = 60\n[[phase]]\nformat = \"round-robin\"\n";

/// Waits until `value` gives something.
async fn wait_for<T>(what: &str, value: impl AsyncFn() -> Option<T>) -> T {
    let until = Instant::now() + agon_test_servers::WAIT_TIMEOUT;
    loop {
        if let Some(found) = value().await {
            return found;
        }
        assert!(Instant::now() < until, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn site() -> Site {
    Site::with(|config| {
        config.limits = RateLimits::generous();
        config.jobs = 2;
    })
    .await
}

/// Opens a competition. Returns its organiser.
async fn open_cup(site: &Site) -> Client {
    let organiser = site.person("organiser", Role::Organiser).await;
    let made = json!({"game": "colour-battle", "name": "Cup", "id": "cup", "file": FILE});
    let made = organiser.post("competitions", made).await;
    assert_eq!(made.status, 201, "{}", made.json);
    let opened = organiser.post("competitions/cup/actions", json!({"action": "open"})).await;
    assert_eq!(opened.status, 200, "{}", opened.json);
    organiser
}

/// Adds a bot with an accepted version, but without files.
async fn bot(site: &Site, owner: &Client, name: &str) -> i64 {
    let site_db = &site.app.site_db;
    let account = AccountId(owner.id);
    let new = NewEntrant {
        competition: "cup".to_owned(),
        account: Some(account),
        name: name.to_owned(),
        role: None,
        bot: None,
        at: Timestamp::now(),
    };
    let entrant = site_db.add_entrant(&new, CompetitionState::ALL).await.unwrap();
    let submission = NewSubmission {
        id: SubmissionId::random().unwrap(),
        entrant: entrant.id,
        account,
        file: "bot.zip".to_owned(),
        bytes: 100,
        hash: token_hash(name),
        from_phase: 0,
        at: Timestamp::now(),
    };
    site_db.enqueue(&submission, CompetitionState::ALL).await.unwrap();
    site_db.claim_next(Timestamp::now()).await.unwrap().unwrap();
    let verdict = SubmissionVerdict {
        state: SubmissionState::Accepted,
        report: None,
        folder: Some("competitions/cup/bots/nowhere".to_owned()),
        trials: Vec::new(),
        at: Timestamp::now(),
    };
    site_db.finish(&submission.id, &verdict).await.unwrap();
    entrant.id.0
}

fn house_challenge(games: u32) -> Value {
    json!({
        "game": "colour-battle", "bots": [{"house": "random"}, {"house": "planner"}], "games": games,
        "settings": {"rounds": 60},
    })
}

async fn finished(client: &Client, id: &str) -> Value {
    wait_for("the end of the challenge", async || {
        let shown = client.get(&format!("challenges/{id}")).await.json;
        (!["queued", "playing"].contains(&shown["state"].as_str()?)).then_some(shown)
    })
    .await
}

#[tokio::test]
async fn challenge_of_house_bots_is_played_with_result_and_replays() {
    let site = site().await;
    let ada = site.person("ada", Role::Spectator).await;
    practice::start(&site.app).await.unwrap();
    let made = ada.post("challenges", house_challenge(6)).await;
    assert_eq!(made.status, 201, "{}", made.json);
    let id = made.json["id"].as_str().unwrap();
    let done = finished(&ada, id).await;
    assert_eq!((done["state"].as_str(), done["played"].as_u64()), (Some("done"), Some(6)), "{done}");
    let wins = |bot: usize| done["bots"][bot]["wins"].as_f64().unwrap();
    assert!((wins(0) + wins(1) - 6.0).abs() < 1e-9 && wins(1) > wins(0), "{done}");
    assert!(done["bots"][1]["win_share"]["low"].as_f64() > Some(0.3), "{done}");
    // The bots change seats.
    assert_eq!((&done["items"][0]["bots"], &done["items"][1]["bots"]), (&json!([0, 1]), &json!([1, 0])));
    let game = &done["items"][1]["game"];
    assert_eq!(
        (game["kind"].as_str(), game["seats"][0]["house"].as_str()),
        (Some("challenge"), Some("planner"))
    );
    // Whoever has the link may watch.
    let visitor = site.anonymous();
    let film = visitor.get(game["film"].as_str().unwrap()).await;
    assert_eq!((film.status.as_u16(), film.json["names"][0].as_str()), (200, Some("planner")));
    let again = visitor.clone().header("if-none-match", film.header("etag"));
    assert_eq!(again.get(game["film"].as_str().unwrap()).await.status, 304);
    let record = visitor.get(&format!("played/{}/record", game["id"].as_str().unwrap())).await;
    assert!(record.status == 200 && record.header("content-disposition").contains(".agon"));
    let (header, _) = agon_core::record::read(&record.bytes, 1).unwrap();
    assert_eq!(header.header.seats[0].bot, "house:planner");
    // Only the account itself lists it.
    assert_eq!(ada.get("challenges").await.json["items"][0]["id"].as_str(), Some(id));
    assert_eq!(ada.get("played?kind=challenge").await.json["items"].as_array().unwrap().len(), 6);
    assert_eq!(visitor.get("played").await.json["items"], json!([]));
    assert_eq!(visitor.get("played?kind=none").await.status, 422);
}

#[tokio::test]
async fn events_of_a_challenge_end_with_its_result() {
    let site = site().await;
    let ada = site.person("ada", Role::Spectator).await;
    let id = ada.post("challenges", house_challenge(3)).await.json["id"].as_str().unwrap().to_owned();
    let request = ada.request("GET", &format!("challenges/{id}/events"));
    let response = ada.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    practice::start(&site.app).await.unwrap();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let data: Vec<Value> =
        text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect();
    let states: Vec<&str> = data.iter().filter_map(|one| one["state"].as_str()).collect();
    assert_eq!((states.first(), states.last()), (Some(&"queued"), Some(&"done")), "{states:?}");
    assert_eq!(data.last().unwrap()["items"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn requests_that_cannot_be_played_say_why() {
    let site = site().await;
    open_cup(&site).await;
    let ada = site.person("ada", Role::Author).await;
    let house = |name: &str| json!({"house": name});
    let two = || json!([house("random"), house("planner")]);
    for (body, field) in [
        (json!({"game": "chess", "bots": two(), "games": 1}), "game"),
        (json!({"bots": two(), "games": 1}), "game"),
        (json!({"game": "connect-five", "competition": "cup", "bots": two(), "games": 1}), "game"),
        (json!({"game": "colour-battle", "bots": two(), "games": 0}), "games"),
        (json!({"game": "colour-battle", "bots": two(), "games": 101}), "games"),
        (json!({"game": "colour-battle", "bots": [house("random")], "games": 1}), "bots"),
        (json!({"game": "colour-battle", "bots": [house("random"), house("nobody")], "games": 1}), "bots"),
        (json!({"game": "colour-battle", "bots": [house("random"), {}], "games": 1}), "bots"),
        (
            json!({"game": "hide-and-seek", "bots": [house("still-hider"), house("still-hider")], "games": 1}),
            "bots",
        ),
        (json!({"game": "colour-battle", "bots": two(), "games": 1, "settings": {"rounds": -1}}), "settings"),
        (json!({"game": "colour-battle", "bots": two(), "games": 1, "settings": {"turns": 1}}), "settings"),
        (json!({"game": "colour-battle", "bots": two(), "games": 1, "settings": []}), "settings"),
        (
            json!({"game": "word-racer", "bots": two(), "games": 1, "settings": {"words": "/etc/passwd"}}),
            "bots",
        ),
    ] {
        let refused = ada.post("challenges", body.clone()).await;
        let found = (refused.status.as_u16(), refused.json["error"]["field"].as_str());
        assert_eq!(found, (422, Some(field)), "{body}: {}", refused.json);
    }
    let missing = json!({"game": "colour-battle", "bots": [house("random"), {"bot": 999}], "games": 1});
    assert_eq!(ada.post("challenges", missing).await.status, 404);
    let missing = json!({"competition": "none", "bots": two(), "games": 1});
    assert_eq!(ada.post("challenges", missing).await.status, 404);
    // With a competition, its settings are used.
    let made = ada.post("challenges", json!({"competition": "cup", "bots": two(), "games": 1})).await;
    assert_eq!(
        (made.status.as_u16(), made.json["settings"]["rounds"].as_i64()),
        (201, Some(60)),
        "{}",
        made.json
    );
}

#[tokio::test]
async fn bots_of_others_are_challenged_only_with_permission() {
    let site = site().await;
    open_cup(&site).await;
    let ada = site.person("ada", Role::Author).await;
    let bob = site.person("bob", Role::Author).await;
    let hers = bot(&site, &ada, "Hers").await;
    let body = json!({"competition": "cup", "bots": [{"bot": hers}, {"house": "random"}], "games": 1});
    let opponents = async |client: &Client| {
        let listed = client.get("challenges/opponents?game=colour-battle").await.json;
        listed["bots"].as_array().unwrap().len()
    };
    let page = format!("competitions/cup/bots/{hers}/practice");
    assert_eq!(bob.post("challenges", body.clone()).await.status, 403);
    assert_eq!((opponents(&bob).await, opponents(&ada).await), (0, 1));
    let shown = bob.get(&page).await.json;
    assert_eq!(
        (&shown["allowed"], &shown["can_allow"], &shown["can_challenge"]),
        (&json!(false), &json!(false), &json!(false))
    );
    assert_eq!(bob.put(&page, json!({"allowed": true})).await.status, 403);
    assert_eq!(ada.put(&page, json!({"allowed": true})).await.status, 200);
    assert_eq!(bob.get(&page).await.json["can_challenge"], true);
    assert_eq!(opponents(&bob).await, 1);
    let made = bob.post("challenges", body).await;
    assert_eq!(
        (made.status.as_u16(), made.json["bots"][0]["version"].as_u64()),
        (201, Some(1)),
        "{}",
        made.json
    );
    let twice = json!({"competition": "cup", "bots": [{"bot": hers}, {"bot": hers}], "games": 1});
    assert_eq!(bob.post("challenges", twice).await.status, 422);
    // Its files are missing on this site: the challenge fails with a message without paths.
    practice::start(&site.app).await.unwrap();
    let failed = finished(&bob, made.json["id"].as_str().unwrap()).await;
    assert_eq!(failed["state"], "failed", "{failed}");
    let error = failed["error"].as_str().unwrap();
    assert!(!error.is_empty() && !error.contains(&*site.folder.path().to_string_lossy()), "{error}");
}

#[tokio::test]
async fn challenges_are_limited_per_account_and_can_be_ended_by_it() {
    let site = Site::with(|config| {
        config.limits = RateLimits::generous();
        config.practice.challenge_limits = OpenChallengeLimits { per_account: 1, per_hour: 3, total: 9 };
    })
    .await;
    let ada = site.person("ada", Role::Author).await;
    let bob = site.person("bob", Role::Author).await;
    let made = ada.post("challenges", house_challenge(5)).await.json;
    let over = ada.post("challenges", house_challenge(5)).await;
    assert_eq!((over.status.as_u16(), over.code()), (409, "too_many"), "{}", over.json);
    assert_eq!(bob.post("challenges", house_challenge(5)).await.json["waiting"], 1);
    let path = format!("challenges/{}", made["id"].as_str().unwrap());
    assert_eq!(bob.delete(&path).await.status, 403);
    assert_eq!(ada.delete(&path).await.json["state"], "cancelled");
    assert_eq!(ada.delete(&path).await.json["state"], "cancelled");
    assert_eq!(ada.post("challenges", house_challenge(5)).await.status, 201);
}

#[tokio::test]
async fn challenge_that_is_being_played_ends_at_once_when_cancelled() {
    let site = site().await;
    let ada = site.person("ada", Role::Author).await;
    practice::start(&site.app).await.unwrap();
    let mut body = house_challenge(100);
    body["settings"]["rounds"] = json!(5000);
    let id = ada.post("challenges", body).await.json["id"].as_str().unwrap().to_owned();
    let path = format!("challenges/{id}");
    wait_for("the start", async || (ada.get(&path).await.json["state"] == "playing").then_some(())).await;
    assert_eq!(ada.delete(&path).await.json["state"], "cancelled");
    wait_for("the end", async || site.app.practice.is_idle().then_some(())).await;
    let after = ada.get(&path).await.json;
    assert_eq!(after["state"], "cancelled");
    assert!(after["played"].as_u64() < Some(100), "{after}");
}

#[tokio::test]
async fn interrupted_challenge_continues_after_a_restart() {
    let site = site().await;
    let ada = site.person("ada", Role::Author).await;
    let id = ada.post("challenges", house_challenge(2)).await.json["id"].as_str().unwrap().to_owned();
    // The server was killed while it played.
    site.app.site_db.claim_next_challenge(Timestamp::now()).await.unwrap().unwrap();
    assert_eq!(ada.get(&format!("challenges/{id}")).await.json["state"], "playing");
    practice::start(&site.app).await.unwrap();
    assert_eq!(finished(&ada, &id).await["state"], "done");
}

#[tokio::test]
async fn ladder_starts_with_the_first_bot_and_orders_the_house_bots() {
    let site = site().await;
    let organiser = open_cup(&site).await;
    let ada = site.person("ada", Role::Author).await;
    practice::start(&site.app).await.unwrap();
    assert_eq!(site.anonymous().get("competitions/cup/practice").await.json["players"], json!([]));
    bot(&site, &ada, "Hers").await;
    site.app.practice.ladders.refresh();
    site.app.practice.wake();
    // Thirty games each are enough for the ends of the order.
    let rated = async || {
        let shown = ada.get("competitions/cup/practice").await.json;
        let players = shown["players"].as_array()?.clone();
        let house = players.iter().filter(|one| one["house"] == true);
        let is_done = players.len() == 7 && house.into_iter().all(|one| one["games"].as_u64() >= Some(30));
        let is_rated = players.iter().all(|one| one["house"] == false || one["rating"].is_f64());
        (is_done && is_rated).then_some(shown)
    };
    let shown = wait_for("the ladder of the house bots", rated).await;
    let rating = |name: &str| {
        let players = shown["players"].as_array().unwrap();
        players.iter().find(|one| one["name"] == name).unwrap()["rating"].as_f64().unwrap()
    };
    assert!(rating("random") < rating("seeker") && rating("random") < rating("planner"), "{shown}");
    // The files of the bot are missing here. Only its author reads why it does not play.
    let failed = |shown: &Value| {
        let players = shown["players"].as_array().unwrap();
        players.iter().find(|one| one["name"] == "Hers").unwrap()["failed"].clone()
    };
    let reason = failed(&ada.get("competitions/cup/practice").await.json);
    assert!(reason.as_str().is_some_and(|reason| reason.contains("missing")), "{reason}");
    assert_eq!(failed(&site.anonymous().get("competitions/cup/practice").await.json), Value::Null);
    // An organiser switches it off.
    let off = organiser.put("competitions/cup/practice", json!({"ladder": false})).await;
    assert_eq!((off.status.as_u16(), &off.json["ladder"]), (200, &json!(false)));
    assert_eq!(ada.get("competitions/cup/practice").await.json["on"], false);
    let log = organiser.get("audit").await.json;
    assert!(log["items"].as_array().unwrap().iter().any(|one| one["action"] == "practice.off"), "{log}");
}

#[tokio::test]
async fn competition_gets_all_cores_from_the_ladder_and_challenges_are_answered_beside_it() {
    let site = site().await;
    open_cup(&site).await;
    let ada = site.person("ada", Role::Author).await;
    bot(&site, &ada, "Hers").await;
    practice::start(&site.app).await.unwrap();
    let pool = &site.app.runs.core_pool;
    let games = || site.app.practice.ladder_games.load(Ordering::Relaxed);
    wait_for("the first ladder game", async || (games() > 0).then_some(())).await;
    pool.join("final");
    assert_eq!(pool.acquire("final", &Arc::new(StopFlag::new()), || false), 2);
    wait_for("the end of the ladder games", async || (pool.lent(BackgroundWork::Ladder) == 0).then_some(()))
        .await;
    let before = games();
    let id = ada.post("challenges", house_challenge(5)).await.json["id"].as_str().unwrap().to_owned();
    assert_eq!(finished(&ada, &id).await["state"], "done");
    assert_eq!((games(), pool.lent(BackgroundWork::Ladder), pool.is_full()), (before, 0, true));
    pool.leave("final");
    let borrowed = wait_for("a free core", async || pool.borrow_core(BackgroundWork::Challenge, 9)).await;
    pool.give_back(&borrowed);
}

#[tokio::test]
async fn practice_can_be_switched_off() {
    let site = Site::with(|config| {
        config.limits = RateLimits::generous();
        config.practice.challenges = false;
        config.practice.ladder = false;
    })
    .await;
    open_cup(&site).await;
    let ada = site.person("ada", Role::Author).await;
    practice::start(&site.app).await.unwrap();
    assert_eq!(ada.post("challenges", house_challenge(1)).await.status, 403);
    assert_eq!(ada.get("competitions/cup/practice").await.json["on"], false);
}
