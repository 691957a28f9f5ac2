//! Reading competitions: five small ones that were really played, with house bots.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;

use agon_site_db::{CompetitionState, Role};
use agon_store::{Ledger as _, NewRuling, RulingKind, SqliteLedger, Timestamp};
use common::competition::played;
use common::{Answer, Client, Site};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

fn competition_text(game: &str, phase: &str, settings: &str, bots: &[&str]) -> String {
    let mut text = format!(
        "name = \"A {game} cup\"\ngame = \"{game}\"\nseed = \"the seed of {game}\"\n\n{settings}\n\n[[phase]]\nname = \"First\"\n{phase}\n"
    );
    for bot in bots {
        text += &format!("\n[[entrant]]\nbot = \"house:{bot}\"\ncontributor = \"Ada\"\n");
    }
    text
}

fn five() -> [(&'static str, String); 5] {
    [
        (
            "solitude",
            competition_text(
                "solitude-scramble",
                "format = \"groups\"\nmatches = 8",
                "",
                &["random", "left", "greedy", "centre", "right"],
            ),
        ),
        (
            "colours",
            competition_text(
                "colour-battle",
                "format = \"arena\"\ngames = 6",
                "[settings]\nrounds = 30",
                &["random", "sweeper", "seeker"],
            ),
        ),
        (
            "five",
            competition_text(
                "connect-five",
                "format = \"round-robin\"\nlegs = 2\nparts = [{ games = 3, first_to = 2, seconds = 1 }]",
                "",
                &["random", "stacker", "tactician"],
            ),
        ),
        (
            "hiding",
            competition_text(
                "hide-and-seek",
                "format = \"cross\"\nboards = 3",
                "[settings]\nsteps = 60",
                &["random-seeker", "chasing-seeker", "random-hider", "still-hider"],
            ),
        ),
        (
            "words",
            competition_text(
                "word-racer",
                "format = \"knockout\"\nseeding = \"file\"\npairs = 1\nthird = true",
                "",
                &["random", "filler", "rows", "z-racer", "crossword"],
            ),
        ),
    ]
}

fn write_competition(site: &Site, id: &str, text: &str) {
    let file = site.competition_file(id);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

async fn good(client: &Client, path: &str) -> Value {
    let answer = client.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.json);
    answer.json
}

/// All items of a list, page by page.
async fn all(client: &Client, path: &str, limit: u32, items: impl Fn(&Value) -> &Value) -> Vec<Value> {
    let (mut found, mut after) = (Vec::new(), String::new());
    loop {
        let sign = if path.contains('?') { '&' } else { '?' };
        let page = good(client, &format!("{path}{sign}limit={limit}{after}")).await;
        let page = items(&page);
        let some = page["items"].as_array().unwrap();
        assert!(some.len() <= limit as usize);
        found.extend(some.iter().cloned());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => return found,
        }
    }
}

fn unpacked(answer: &Answer) -> Value {
    assert_eq!(answer.header("content-encoding"), "gzip");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&answer.bytes[..]).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_competitions_are_shown_completely() {
    let site = Site::new().await;
    for (id, text) in five() {
        write_competition(&site, id, &text);
        played(&site.competition_file(id));
        site.host(id, CompetitionState::Finished, &[]).await;
    }
    let reader = site.anonymous();
    let list = good(&reader, "competitions").await;
    assert_eq!(list["items"].as_array().unwrap().len(), 5);
    for (id, text) in five() {
        let item = list["items"].as_array().unwrap().iter().find(|one| one["id"] == id).unwrap();
        assert_eq!((&item["state"], &item["phase"]["number"]), (&json!("over"), &json!(1)), "{id}");
        assert_eq!(item["leaders"][0]["rank"], 1, "{id}: {item}");
        assert_eq!(item["matches"], item["expected"], "{id}");
        let bots = text.matches("[[entrant]]").count();
        assert_eq!(item["bots"], bots, "{id}");
        let whole = good(&reader, &format!("competitions/{id}")).await;
        assert_eq!(whole["leaders"], item["leaders"]);
        assert_eq!(whole["file"], Value::Null, "the file is visible to others than organisers");
        let seed = whole["seed"].as_str().unwrap();
        let commitment =
            Sha256::digest(seed).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        assert_eq!(whole["commitment"], commitment, "{id}");
        assert_eq!(whole["phases"][0]["hidden"], false, "a finished competition hides something: {id}");
        table(&reader, id, bots).await;
        schedule(&reader, id).await;
        matches(&reader, id).await;
        bot_pages(&reader, id, &whole).await;
        downloads(&reader, id, &whole).await;
    }
    bracket(&reader, "words").await;
}

async fn table(reader: &Client, id: &str, bots: usize) {
    let path = format!("competitions/{id}/phases/1/table");
    let answer = reader.get(&path).await;
    let table = &answer.json;
    assert_eq!(table["entrants"].as_array().unwrap().len(), bots);
    let tag = answer.header("etag").to_owned();
    assert!(tag.len() > 10);
    assert_eq!(reader.clone().header("if-none-match", &tag).get(&path).await.status, 304);
    let packed = reader.clone().header("accept-encoding", "gzip").get(&path).await;
    assert_eq!(&unpacked(&packed), table);
    assert_ne!(packed.header("etag"), tag);
    let sheets = table["sheets"].as_array().unwrap();
    assert!(sheets[0]["official"].as_bool().unwrap() && sheets.len() >= 2, "{id}");
    if id != "words" {
        assert_eq!(sheets[0]["rows"][0]["medal"], "gold", "{id}");
    }
    // The figures equal those of `agon table --format json`.
    let plain = good(reader, &format!("competitions/{id}/downloads/table-1.json")).await;
    for (sheet, other) in sheets.iter().zip(plain["sheets"].as_array().unwrap()) {
        assert_eq!(sheet["id"], other["id"]);
        let rows = sheet["rows"].as_array().unwrap();
        for (row, other) in rows.iter().zip(other["rows"].as_array().unwrap()) {
            for (name, value) in other.as_object().unwrap() {
                let same = match (row[name].as_f64(), value.as_f64()) {
                    (Some(a), Some(b)) => (a - b).abs() < 1e-9,
                    _ => row[name] == *value,
                };
                assert!(same, "{id} {} {name}: {} and {value}", sheet["id"], row[name]);
            }
        }
        for column in sheet["columns"].as_array().unwrap() {
            assert!(["text", "number", "interval", "time"].contains(&column["kind"].as_str().unwrap()));
        }
    }
    let history = good(reader, &format!("competitions/{id}/phases/1/ratings")).await;
    let points = history["points"].as_array().unwrap();
    assert!(!points.is_empty() && points.len() <= 31, "{id}");
    assert_eq!(points.last().unwrap()["matches"], table["matches"]);
    assert_eq!(
        points.last().unwrap()["ratings"].as_array().unwrap().len(),
        table["ratings"].as_array().unwrap().len()
    );
    for wrong in ["0", "2", "x", "-1", "99999999999"] {
        let answer = reader.get(&format!("competitions/{id}/phases/{wrong}/table")).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (404, "not_found"), "{wrong}");
    }
}

async fn schedule(reader: &Client, id: &str) {
    let path = format!("competitions/{id}/phases/1/schedule");
    let whole = good(reader, &path).await;
    let stages = whole["stages"].as_array().unwrap();
    let count: u64 = stages.iter().map(|stage| stage["matches"].as_u64().unwrap()).sum();
    let fixtures = all(reader, &path, 4, |page| &page["fixtures"]).await;
    assert_eq!(fixtures.len() as u64, count, "{id}");
    assert!(fixtures.iter().all(|one| one["state"] == "played"), "{id}: {fixtures:?}");
    let names: BTreeSet<&str> = fixtures.iter().map(|one| one["match"].as_str().unwrap()).collect();
    assert_eq!(names.len(), fixtures.len());
    assert!(whole["balance"]["matches"][1].as_u64().unwrap() > 0, "{id}");
}

async fn matches(reader: &Client, id: &str) {
    let path = format!("competitions/{id}/phases/1/matches");
    let found = all(reader, &path, 3, |page| page).await;
    let whole = good(reader, &format!("competitions/{id}")).await;
    assert_eq!(found.len() as u64, whole["phases"][0]["matches"].as_u64().unwrap());
    let finished: Vec<i64> = found.iter().map(|one| one["finished"].as_i64().unwrap()).collect();
    assert!(finished.is_sorted_by(|a, b| a >= b), "newest first");
    let of_one = all(reader, &format!("{path}?entrant=1"), 3, |page| page).await;
    let really = found.iter().filter(|one| one["entrants"].as_array().unwrap().contains(&json!(1))).count();
    assert_eq!(of_one.len(), really);
    assert_eq!(all(reader, &format!("{path}?faulty=true"), 3, |page| page).await.len(), 0);
    // From the first match to the last, and back.
    let mut chain = vec![good(reader, &format!("{path}/1-1")).await];
    while let Some(next) = chain.last().unwrap()["after"].as_str() {
        let next = good(reader, &format!("{path}/{next}")).await;
        assert_eq!(next["before"], chain.last().unwrap()["match"]);
        chain.push(next);
    }
    assert_eq!(chain.len(), found.len(), "{id}");
    let film = chain[0]["games"][0]["film"].as_str().unwrap();
    let packed = reader.clone().header("accept-encoding", "gzip").get(film).await;
    assert_eq!(packed.status, 200);
    let shown = unpacked(&packed);
    assert_eq!((&shown["agon"], shown["contributors"][0].as_str()), (&json!("film"), Some("Ada")), "{id}");
    assert!(shown["seed"].is_string() && shown.get("logs").is_none(), "{id}");
    assert_eq!(good(reader, film).await, shown, "the uncompressed response differs");
    let again =
        reader.clone().header("accept-encoding", "gzip").header("if-none-match", packed.header("etag"));
    assert_eq!(again.get(film).await.status, 304);
    let record = reader.get(&film.replace("/film", "/record")).await;
    assert_eq!(record.header("content-type"), "application/octet-stream");
    let (record, _) = agon_core::record::read(&record.bytes, 1).unwrap();
    assert_eq!(shown["digest"], serde_json::to_value(record.digest).unwrap());
    for wrong in
        ["1-0", "0-1", "x", "1-999999", "1-1/games/0/film", "1-1/games/99/film", "1-1/games/99/record"]
    {
        assert_eq!(reader.get(&format!("{path}/{wrong}")).await.status, 404, "{wrong}");
    }
    for wrong in ["limit=0", "limit=201", "after=x", "after=9-9", "entrant=x", "faulty=2"] {
        assert_eq!(reader.get(&format!("{path}?{wrong}")).await.status, 422, "{wrong}");
    }
}

async fn bot_pages(reader: &Client, id: &str, whole: &Value) {
    for entrant in whole["entrants"].as_array().unwrap() {
        let page = good(reader, &format!("competitions/{id}/bots/{}", entrant["bot"])).await;
        assert_eq!((&page["name"], &page["house"]), (&entrant["name"], &json!(true)));
        let phase = &page["phases"][0];
        assert!(phase["rank"].as_u64().unwrap() >= 1 && phase["games"].as_u64().unwrap() > 0, "{id}: {page}");
        assert!(phase["time"]["answers"].as_u64().unwrap() > 0);
        assert_eq!(page["versions"].as_array().unwrap().len(), 1, "{page}");
        let games = |one: &Value| one["games"].as_u64().unwrap();
        let met: u64 = phase["opponents"].as_array().unwrap().iter().map(games).sum();
        assert!(met >= games(phase), "{id}: {phase}");
        let faults = good(reader, &format!("competitions/{id}/bots/{}/faults", entrant["bot"])).await;
        assert_eq!(faults["items"], json!([]));
    }
    assert_eq!(reader.get(&format!("competitions/{id}/bots/99999")).await.status, 404);
}

async fn downloads(reader: &Client, id: &str, whole: &Value) {
    let files = whole["downloads"].as_array().unwrap();
    let names: Vec<&str> = files.iter().map(|file| file["name"].as_str().unwrap()).collect();
    assert!(names.starts_with(&["table-1.csv", "table-1.json", "table-1.md", "games.csv"]));
    assert_eq!(names.contains(&"history.json"), id == "solitude");
    for file in files {
        let answer = reader.get(file["path"].as_str().unwrap()).await;
        assert_eq!(answer.status, 200, "{file}");
        let disposition = answer.header("content-disposition");
        assert!(disposition.starts_with("attachment; filename=\"") && !answer.bytes.is_empty(), "{file}");
        let (text, matches) = (String::from_utf8_lossy(&answer.bytes), &whole["phases"][0]["matches"]);
        match file["name"].as_str().unwrap() {
            "games.csv" => {
                let games = whole["phases"][0]["games"].as_u64().unwrap();
                assert!(
                    text.lines().count() as u64 > games
                        && text.starts_with("phase,stage,match,game,part,seed,")
                );
            }
            "history.json" => {
                assert_eq!(
                    answer.json["matches"].as_object().unwrap().len() as u64,
                    matches.as_u64().unwrap()
                );
            }
            "records.agon" => assert!(answer.bytes.len() > 100),
            _ => {}
        }
    }
    for wrong in ["table-2.csv", "table-1.exe", "table-x.csv", "..%2F..%2Foffice.db", "cup.ledger"] {
        let status = reader.get(&format!("competitions/{id}/downloads/{wrong}")).await.status;
        assert_eq!(status, 404, "{wrong}");
    }
}

async fn bracket(reader: &Client, id: &str) {
    let bracket = good(reader, &format!("competitions/{id}/phases/1/bracket")).await;
    let rounds = bracket["rounds"].as_array().unwrap();
    assert!(rounds.len() >= 3, "{bracket}");
    assert_eq!(bracket["planned"], json!([]), "the bracket is finished");
    let last = rounds.iter().find(|round| round["name"] == "final").unwrap();
    let champion = last["matches"][0]["sides"].as_array().unwrap().iter().find(|side| side["won"] == true);
    assert_eq!(bracket["placing"][0]["entrants"], json!([champion.unwrap()["entrant"]]));
    let ties = rounds.iter().flat_map(|round| round["matches"].as_array().unwrap());
    for tie in ties.filter(|tie| !tie["match"].is_null()) {
        let name = tie["match"].as_str().unwrap();
        let played = good(reader, &format!("competitions/{id}/phases/1/matches/{name}")).await;
        let sides: BTreeSet<String> =
            tie["sides"].as_array().unwrap().iter().map(|one| one["entrant"].to_string()).collect();
        let seats: BTreeSet<String> =
            played["entrants"].as_array().unwrap().iter().map(Value::to_string).collect();
        assert_eq!(sides, seats);
    }
    let none = reader.get("competitions/five/phases/1/bracket").await;
    assert_eq!(none.status, 404);
}

/// Two phases with new versions of bots before the second: the state after the first phase.
fn waiting(game: &str, phase: &str, settings: &str, bots: &[&str]) -> String {
    let phases = format!("{phase}\n\n[[phase]]\nname = \"Second\"\nresubmit = true\n{phase}");
    competition_text(game, &phases, settings, bots)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn seeds_and_records_are_secret_until_the_end() {
    let site = Site::new().await;
    let hiding = waiting(
        "hide-and-seek",
        "format = \"cross\"\nboards = 2",
        "[settings]\nsteps = 40",
        &["random-seeker", "random-hider"],
    );
    let solitude = waiting(
        "solitude-scramble",
        "format = \"groups\"\nmatches = 4",
        "",
        &["left", "right", "centre", "random"],
    );
    for (id, text) in [("hiding", hiding), ("solitude", solitude)] {
        write_competition(&site, id, &text);
        played(&site.competition_file(id));
        site.host(id, CompetitionState::Waiting, &[]).await;
    }
    let organiser = site.person("organiser", Role::Organiser).await;
    for (id, hidden) in [("hiding", true), ("solitude", false)] {
        for reader in [&site.anonymous(), &organiser] {
            let whole = good(reader, &format!("competitions/{id}")).await;
            assert_eq!(whole["seed"], Value::Null);
            assert!(whole["commitment"].is_string());
            assert_eq!(whole["accepts"], true, "new versions are not accepted");
            assert_eq!(whole["phases"][0]["hidden"], hidden);
            let first = good(reader, &format!("competitions/{id}/phases/1/matches/1-1")).await;
            assert_eq!(first["games"][0]["film"].is_null(), hidden, "{first}");
            let film = reader.get(&format!("competitions/{id}/phases/1/matches/1-1/games/1/film")).await;
            if hidden {
                assert_eq!((film.status.as_u16(), film.code()), (403, "hidden"));
            } else {
                assert!(film.json.get("seed").is_none() && film.json["deltas"].is_array());
            }
            for path in ["phases/1/matches/1-1/games/1/record", "downloads/records.agon"] {
                let record = reader.get(&format!("competitions/{id}/{path}")).await;
                assert_eq!((record.status.as_u16(), record.code()), (403, "secret"), "{path}");
            }
            let games = reader.get(&format!("competitions/{id}/downloads/games.csv")).await;
            let text = String::from_utf8_lossy(&games.bytes).into_owned();
            let mut lines = text.lines().map(|line| line.split(',').nth(5).unwrap());
            assert_eq!(lines.next(), Some("seed"));
            assert!(lines.all(str::is_empty), "{text}");
            let to_come = good(reader, &format!("competitions/{id}/phases/2/schedule")).await;
            assert!(
                to_come["fixtures"]["items"].as_array().unwrap().iter().all(|one| one["state"] == "to come")
            );
            // No response contains the seed.
            let seed = format!("the seed of {}", whole["game"].as_str().unwrap());
            for path in
                ["", "/phases/1/table", "/phases/1/ratings", "/phases/1/schedule", "/phases/1/matches"]
            {
                let answer = reader.get(&format!("competitions/{id}{path}")).await;
                let told = String::from_utf8_lossy(&answer.bytes).into_owned();
                let file = reader.cookie.is_some() && path.is_empty();
                assert!(file || !told.contains(&seed), "{path}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unstarted_competition_has_no_table_and_drafts_are_only_for_organisers() {
    let site = Site::new().await;
    let (id, text) = &five()[0];
    write_competition(&site, id, text);
    site.host(id, CompetitionState::Open, &[]).await;
    write_competition(&site, "draft", text);
    site.host("draft", CompetitionState::Draft, &[]).await;
    let (anonymous, author) = (site.anonymous(), site.person("author", Role::Author).await);
    let organiser = site.person("organiser", Role::Organiser).await;
    let whole = good(&author, &format!("competitions/{id}")).await;
    assert_eq!((&whole["left"], &whole["accepts"]), (&json!(2), &json!(true)));
    assert_eq!(whole["limits"], json!({"per_contributor": 2, "max_bytes": 100_000}));
    assert_eq!(good(&anonymous, &format!("competitions/{id}")).await["left"], Value::Null);
    assert!(whole["entrants"].as_array().unwrap().iter().all(|one| one["entrant"].is_null()));
    for path in ["table", "ratings", "schedule", "matches", "matches/1-1", "matches/1-1/games/1/film"] {
        let answer = anonymous.get(&format!("competitions/{id}/phases/1/{path}")).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (409, "not_started"), "{path}");
    }
    for (client, status, shown) in [(&anonymous, 404, 1), (&author, 404, 1), (&organiser, 200, 2)] {
        assert_eq!(client.get("competitions/draft").await.status, status);
        assert_eq!(good(client, "competitions").await["items"].as_array().unwrap().len(), shown);
    }
    assert_eq!(anonymous.get("competitions/nothing").await.status, 404);
    let file = good(&organiser, "competitions/draft").await;
    let organiser_text = text.split_once("[[entrant]]").map(|(before, _)| before);
    assert_eq!(file["file"].as_str(), organiser_text, "entrants are not part of the text");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rulings_are_shown_in_tables_matches_and_schedules() {
    let site = Site::new().await;
    let (id, text) = &five()[0];
    write_competition(&site, id, text);
    played(&site.competition_file(id));
    site.host(id, CompetitionState::Finished, &[]).await;
    let reader = site.anonymous();
    let path = format!("competitions/{id}/phases/1/table");
    let before = good(&reader, &path).await;
    let ledger = SqliteLedger::open(site.competition_file(id).with_extension("ledger")).await.unwrap();
    let rule = |kind: RulingKind, reason: &str| NewRuling {
        kind,
        reason: reason.to_owned(),
        by: "organiser".to_owned(),
        at: Timestamp::now(),
    };
    let key = agon_league::MatchKey { phase: 0, stage: 0, number: 1 };
    ledger.add_ruling(&rule(RulingKind::Void(key), "the light went out")).await.unwrap();
    ledger
        .add_ruling(&rule(RulingKind::Disqualify(agon_league::Entrant(2)), "not its own work"))
        .await
        .unwrap();
    assert_eq!(good(&reader, &path).await, before, "the cache changed without an event");
    site.app.competitions.get(id).unwrap().changed();
    let after = good(&reader, &path).await;
    assert!(after["revision"].as_u64() > before["revision"].as_u64());
    assert_eq!(after["matches"].as_u64().unwrap() + 1, before["matches"].as_u64().unwrap());
    assert_eq!(after["rulings"][0]["match"], "1-2");
    assert_eq!(after["rulings"][1]["name"], after["entrants"][2]["name"]);
    assert_eq!(after["entrants"][2]["disqualified"], "not its own work");
    let row = after["sheets"][0]["rows"].as_array().unwrap().iter().find(|row| row["entrant"] == 2).unwrap();
    assert_eq!((&row["rank"], &row["medal"]), (&Value::Null, &Value::Null));
    let void = good(&reader, &format!("competitions/{id}/phases/1/matches/1-2")).await;
    assert_eq!(void["void"], "the light went out");
    let fixtures = good(&reader, &format!("competitions/{id}/phases/1/schedule")).await;
    assert_eq!(fixtures["fixtures"]["items"][1]["state"], "void");
    let history = good(&reader, &format!("competitions/{id}/phases/1/ratings")).await;
    assert_eq!(history["points"].as_array().unwrap().last().unwrap()["matches"], after["matches"]);
}
