//! Scoreboard freeze: after it, no route shows a newer result to anybody but organisers.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use agon_server::read_model::FeedEvent;
use agon_site_db::{CompetitionState, Role};
use common::competition::{Once, played, show_file};
use common::{Client, Site};
use serde_json::{Value, json};

/// The second phase begins with a second run.
const COMPETITION: &str = r#"name = "Cup"
game = "connect-five"
seed = "a cup's seed"
prizes = ["a cup", "a book"]

[[sponsor]]
name = "Somebody"
link = "https://example.org"

[[phase]]
name = "First"
format = "round-robin"
parts = [{ games = 1, first_to = 1 }]

[[phase]]
name = "Final"
format = "knockout"
resubmit = true
parts = [{ games = 1, first_to = 1 }]

[[entrant]]
bot = "house:random"

[[entrant]]
bot = "house:stacker"

[[entrant]]
name = "second random"
bot = "house:random"

[[entrant]]
name = "second stacker"
bot = "house:stacker"
"#;

static FIRST_PHASE_PLAYED: Once = Once::new();

struct FrozenCup {
    site: Site,
    file: PathBuf,
    /// Anonymous, spectator, author.
    readers: [Client; 3],
    organiser: Client,
}

impl FrozenCup {
    /// A competition whose first phase is played, and that waits for its final.
    async fn new(text: &str) -> Self {
        let site = Site::new().await;
        let author = site.person("author", Role::Author).await;
        let readers = [site.anonymous(), site.person("spectator", Role::Spectator).await, author];
        let organiser = site.person("organiser", Role::Organiser).await;
        let file = site.competition_file("cup");
        if text == COMPETITION {
            FIRST_PHASE_PLAYED.write_to(file.parent().unwrap(), text, &[]);
        } else {
            Once::new().write_to(file.parent().unwrap(), text, &[]);
        }
        site.host("cup", CompetitionState::Waiting, &[]).await;
        Self { site, file, readers, organiser }
    }

    async fn change(&self, body: Value) -> Value {
        let answer = self.organiser.post("competitions/cup/freeze", body).await;
        assert_eq!(answer.status, 200, "{}", answer.json);
        answer.json
    }

    /// Plays the final, as a run of the server does.
    async fn play_final(&self) {
        let file = self.file.clone();
        tokio::task::spawn_blocking(move || played(&file)).await.unwrap();
        show_file(&self.site.app.competitions.get("cup").unwrap(), &self.file).await;
    }

    /// Paths of all GET routes below a competition, with all objects that the organiser knows.
    async fn paths(&self) -> BTreeSet<String> {
        let mut values: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let cup = self.organiser.get("competitions/cup").await.json;
        let texts = |list: &Value, key: &str| -> BTreeSet<String> {
            list.as_array()
                .unwrap()
                .iter()
                .map(|one| one[key].to_string().trim_matches('"').to_owned())
                .collect()
        };
        values.insert("id", BTreeSet::from(["cup".to_owned()]));
        values.insert("phase", BTreeSet::from(["1".to_owned(), "2".to_owned()]));
        values.insert("bot", texts(&cup["entrants"], "bot"));
        values.insert("file", texts(&cup["downloads"], "name"));
        let mut matches = BTreeSet::new();
        for phase in [1, 2] {
            let list = self.organiser.get(&format!("competitions/cup/phases/{phase}/matches")).await.json;
            if list["items"].is_array() {
                matches.extend(texts(&list["items"], "match"));
            }
        }
        values.insert("match", matches);
        let api = serde_json::to_value(agon_server::description()).unwrap();
        let mut all = BTreeSet::from(["competitions".to_owned(), "me/bots".to_owned()]);
        for (path, item) in api["paths"].as_object().unwrap() {
            // Streams have no end. What they send is tested below.
            let is_stream = path.ends_with("/events") || path.ends_with("/watch");
            if item["get"].is_null() || is_stream || !path.starts_with("/api/v1/competitions/{id}") {
                continue;
            }
            let mut filled = vec![path.strip_prefix("/api/v1/").unwrap().to_owned()];
            while let Some(name) =
                filled.first().and_then(|path| path.split('{').nth(1)?.split('}').next().map(str::to_owned))
            {
                let one = BTreeSet::from(["1".to_owned()]);
                let known = values.get(name.as_str()).unwrap_or(&one);
                let each = |path: &String| {
                    known
                        .iter()
                        .map(|value| path.replacen(&format!("{{{name}}}"), value, 1))
                        .collect::<Vec<_>>()
                };
                filled = filled.iter().flat_map(each).collect();
            }
            all.extend(filled);
        }
        all
    }

    /// What each reader gets at each path.
    async fn walk(&self, paths: &BTreeSet<String>) -> BTreeMap<(usize, String), (u16, Vec<u8>)> {
        let mut seen = BTreeMap::new();
        for (reader, client) in self.readers.iter().enumerate() {
            for path in paths {
                let answer = client.get(path).await;
                let body = match comparable(answer.json) {
                    Value::Null => answer.bytes.to_vec(),
                    json => json.to_string().into_bytes(),
                };
                seen.insert((reader, path.clone()), (answer.status.as_u16(), body));
            }
        }
        seen
    }
}

/// Removes what differs between two sites and two requests: the id of the request, and when the competition was created.
fn comparable(mut json: Value) -> Value {
    match &mut json {
        Value::Object(fields) => {
            fields.retain(|key, _| !matches!(key.as_str(), "request_id" | "created"));
            fields.values_mut().for_each(|value| *value = comparable(value.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| *value = comparable(value.take())),
        _ => {}
    }
    json
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_route_shows_results_after_the_freeze() {
    let cup = FrozenCup::new(COMPETITION).await;
    cup.change(json!({"action": "freeze"})).await;
    let before = cup.organiser.get("competitions/cup").await.json;
    assert_eq!(before["seed"], Value::Null);
    cup.play_final().await;
    // All paths of the finished competition: those of the final must look as if it had not been played.
    let paths = cup.paths().await;
    assert!(paths.iter().any(|path| path.contains("phases/2/matches/1-1/games/1/film")), "{paths:?}");
    let after = cup.walk(&paths).await;
    // The same competition without the final, frozen at the same place.
    let other = FrozenCup::new(COMPETITION).await;
    let since = cup.site.app.competitions.get("cup").unwrap().freeze().unwrap();
    other.site.app.site_db.set_standings_freeze("cup", since).await.unwrap();
    other.site.app.competitions.get("cup").unwrap().set_freeze(Some(since));
    let expected = other.walk(&paths).await;
    for (place, (status, body)) in &expected {
        let (found_status, found) = &after[place];
        assert_eq!(
            (status, String::from_utf8_lossy(body)),
            (found_status, String::from_utf8_lossy(found)),
            "{place:?}"
        );
    }
    // Organisers see everything.
    let now = cup.organiser.get("competitions/cup").await.json;
    assert!(now["seed"].is_string(), "{now}");
    assert_eq!(
        (&now["frozen"]["hides"], &now["phases"][1]["bracket"]),
        (&json!(false), &json!(true)),
        "{now}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn finished_competition_stays_running_for_readers_until_the_freeze_is_lifted() {
    let cup = FrozenCup::new(COMPETITION).await;
    cup.change(json!({"action": "freeze"})).await;
    cup.play_final().await;
    let finished = CompetitionState::Finished;
    cup.site.app.site_db.set_state("cup", &[CompetitionState::Waiting], finished, None).await.unwrap();
    cup.site.app.competitions.get("cup").unwrap().changed();
    for reader in &cup.readers {
        let shown = reader.get("competitions/cup").await.json;
        assert_eq!((&shown["state"], &shown["seed"]), (&json!("running"), &Value::Null), "{shown}");
        assert_eq!(shown["frozen"]["hides"], true);
        let table = reader.get("competitions/cup/phases/1/table").await.json;
        assert!(table["frozen"].is_i64(), "{table}");
        let listed = reader.get("competitions").await.json;
        assert_eq!(listed["items"][0]["state"], "running");
        assert!(listed["items"][0]["frozen_since"].is_i64());
        assert_eq!(reader.get("competitions/cup/downloads/records.agon").await.status, 403);
    }
    assert_eq!(cup.organiser.get("competitions/cup").await.json["state"], "over");
    cup.change(json!({"action": "lift"})).await;
    for reader in &cup.readers {
        let shown = reader.get("competitions/cup").await.json;
        assert_eq!((&shown["state"], &shown["frozen"]), (&json!("over"), &Value::Null), "{shown}");
        assert!(shown["seed"].is_string());
        assert_eq!(reader.get("competitions/cup/downloads/records.agon").await.status, 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn places_are_revealed_from_the_last_one_upwards() {
    let cup = FrozenCup::new(COMPETITION).await;
    let refused =
        cup.organiser.post("competitions/cup/freeze", json!({"action": "reveal", "places": 1})).await;
    assert_eq!((refused.status.as_u16(), refused.code()), (409, "not_frozen"));
    cup.change(json!({"action": "freeze"})).await;
    let twice = cup.organiser.post("competitions/cup/freeze", json!({"action": "freeze"})).await;
    assert_eq!((twice.status.as_u16(), twice.code()), (409, "frozen"));
    cup.play_final().await;
    let reader = &cup.readers[0];
    let places = reader.get("competitions/cup").await.json["frozen"]["places"].as_u64().unwrap();
    assert_eq!(places, 4);
    let table = cup.organiser.get("competitions/cup/phases/2/table").await.json;
    let order: Vec<i64> = table["sheets"][0]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["entrant"].as_i64().unwrap())
        .collect();
    for count in 1..=places {
        cup.change(json!({"action": "reveal", "places": count})).await;
        let frozen = reader.get("competitions/cup").await.json["frozen"].clone();
        let shown: Vec<i64> =
            frozen["rows"].as_array().unwrap().iter().map(|row| row["entrant"].as_i64().unwrap()).collect();
        let expected: Vec<i64> = order.iter().rev().take(count as usize).copied().collect();
        assert_eq!(shown, expected, "{frozen}");
        // The table itself stays frozen.
        let table = reader.get("competitions/cup/phases/2/table").await.json;
        assert_eq!(table["matches"], 0, "{table}");
    }
    let many = cup.organiser.post("competitions/cup/freeze", json!({"action": "reveal", "places": 5})).await;
    assert_eq!(many.status, 422);
    let missing = cup.organiser.post("competitions/cup/freeze", json!({"action": "reveal"})).await;
    assert_eq!(missing.status, 422);
    let log = cup.organiser.get("audit").await.json;
    for action in ["competition.freeze", "competition.reveal"] {
        assert!(log["items"].as_array().unwrap().iter().any(|one| one["action"] == action), "{log}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_tell_readers_nothing_about_results_while_frozen() {
    let cup = FrozenCup::new(COMPETITION).await;
    let handle = cup.site.app.competitions.get("cup").unwrap();
    // Both subscribed before the freeze.
    let (mut public, mut all) = (handle.subscribe(false).1, handle.subscribe(true).1);
    handle.publish(FeedEvent::Table { phase: 0, revision: 7 });
    cup.change(json!({"action": "freeze"})).await;
    handle.publish(FeedEvent::Progress(bytes::Bytes::from_static(b"{\"matches\":9}")));
    handle.publish(FeedEvent::Table { phase: 1, revision: 9 });
    handle.publish(FeedEvent::State { state: CompetitionState::Finished, message: None });
    cup.change(json!({"action": "lift"})).await;
    handle.publish(FeedEvent::Table { phase: 1, revision: 10 });
    let names = |feed: &mut tokio::sync::broadcast::Receiver<bytes::Bytes>| {
        let mut names = Vec::new();
        while let Ok(bytes) = feed.try_recv() {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            names.push(text.lines().find_map(|line| line.strip_prefix("event: ")).unwrap().to_owned());
        }
        names
    };
    assert_eq!(names(&mut public), ["table", "freeze", "freeze", "table"]);
    assert_eq!(names(&mut all), ["table", "freeze", "progress", "table", "state", "freeze", "table"]);
    cup.change(json!({"action": "freeze"})).await;
    // The view of the freeze has no live games.
    let watch = cup.readers[0].get("competitions/cup/boards/0/watch").await;
    assert_eq!((watch.status.as_u16(), watch.code()), (403, "frozen"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn freeze_of_the_file_begins_at_its_moment_and_survives_a_restart() {
    let past = COMPETITION.replace("prizes =", "freeze = 2001-01-01T00:00:00Z\nprizes =");
    let cup = FrozenCup::new(&past).await;
    let shown = cup.readers[0].get("competitions/cup").await.json;
    assert_eq!(shown["frozen"]["since"], 978_307_200_000_i64, "{shown}");
    assert_eq!(shown["phases"][0]["matches"], 0, "nothing was played by then: {shown}");
    assert_eq!(shown["prizes"], json!(["a cup", "a book"]));
    assert_eq!(shown["sponsors"][0]["link"], "https://example.org");
    cup.change(json!({"action": "lift"})).await;
    assert_eq!(cup.readers[0].get("competitions/cup").await.json["frozen"], Value::Null);
    // As after a restart of the server.
    let handle = cup.site.app.competitions.get("cup").unwrap();
    handle.set_freeze(None);
    handle.restore_freeze(&cup.site.app.site_db).await.unwrap();
    assert_eq!(cup.readers[0].get("competitions/cup").await.json["frozen"], Value::Null);
    let future = COMPETITION.replace("prizes =", "freeze = 2999-01-01T00:00:00Z\nprizes =");
    let cup = FrozenCup::new(&future).await;
    let shown = cup.readers[0].get("competitions/cup").await.json;
    assert_eq!((&shown["frozen"], &shown["freeze"]["text"]), (&Value::Null, &json!("2999-01-01T00:00:00Z")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn phase_that_freezes_the_standings_is_found_after_a_restart() {
    let text = COMPETITION.replace("name = \"Final\"", "name = \"Final\"\nfreeze = true");
    let cup = FrozenCup::new(&text).await;
    let shown = cup.readers[0].get("competitions/cup").await.json;
    assert_eq!((&shown["frozen"], &shown["freeze"]["phase"]), (&Value::Null, &json!(2)), "{shown}");
    cup.play_final().await;
    // The run was not one of this server, so it learns of the start as after a restart.
    let handle = cup.site.app.competitions.get("cup").unwrap();
    handle.restore_freeze(&cup.site.app.site_db).await.unwrap();
    assert!(cup.site.app.site_db.standings_freeze("cup").await.unwrap().is_some());
    let shown = cup.readers[0].get("competitions/cup").await.json;
    assert!(shown["phases"][0]["matches"].as_u64().unwrap() > 0, "{shown}");
    assert_eq!(shown["phases"][1]["matches"], 0, "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn presentation_and_freeze_can_be_changed_after_the_start_and_results_cannot() {
    let cup = FrozenCup::new(COMPETITION).await;
    let file = cup.organiser.get("competitions/cup").await.json["file"].as_str().unwrap().to_owned();
    let put = |file: String| cup.organiser.put("competitions/cup/file", json!({"file": file}));
    let refused = put(file.replace("first_to = 1", "first_to = 2").replace("games = 1", "games = 3")).await;
    assert_eq!((refused.status.as_u16(), refused.code()), (409, "state"), "{}", refused.json);
    assert!(refused.json["error"]["details"][0].as_str().unwrap().contains("phase 1"), "{}", refused.json);
    let house =
        format!("{file}\n[[entrant]]\nbot = \"house:random\"\n[[entrant]]\nbot = \"house:stacker\"\n");
    assert_eq!(put(house).await.status, 409);
    let changed = file
        .replace("\"a book\"", "\"a big book\"")
        .replace("prizes =", "freeze = 2001-01-01T00:00:00Z\nprizes =");
    let saved = put(changed).await;
    assert_eq!(saved.status, 200, "{}", saved.json);
    let shown = cup.readers[0].get("competitions/cup").await.json;
    assert_eq!(
        (&shown["prizes"][1], &shown["frozen"]["since"]),
        (&json!("a big book"), &json!(978_307_200_000_i64))
    );
}
