//! Live games: event streams for each of the five games.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use agon_competition::LoadedCompetition;
use agon_runner::live::LivePacing;
use agon_runner::{LiveGames, StopFlag};
use agon_server::read_model::FeedEvent;
use agon_site_db::CompetitionState;
use axum::body::BodyDataStream;
use common::competition::play;
use common::{Client, Site};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

/// An event stream as a browser reads it.
struct Events {
    body: BodyDataStream,
    text: String,
}

#[derive(Debug)]
struct Event {
    name: String,
    data: Value,
    id: Option<u64>,
}

async fn open(client: &Client, path: &str) -> Events {
    let response = client.router.clone().oneshot(client.request("GET", path)).await.unwrap();
    assert_eq!(response.status(), 200, "{path}");
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert!(response.headers().get("content-encoding").is_none());
    Events { body: response.into_body().into_data_stream(), text: String::new() }
}

impl Events {
    /// The next event; `None` at the end of the stream. Comments and `retry` are skipped.
    async fn next(&mut self) -> Option<Event> {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let start = format!("{name}: ");
                    block.lines().find_map(|line| line.strip_prefix(&start)).map(str::to_owned)
                };
                let event = field("event").map(|name| Event {
                    name,
                    data: serde_json::from_str(&field("data").unwrap()).unwrap(),
                    id: field("id").and_then(|id| id.parse().ok()),
                });
                let rest = rest.to_owned();
                self.text = rest;
                if event.is_some() {
                    return event;
                }
            }
            let more =
                tokio::time::timeout(agon_test_servers::WAIT_TIMEOUT, self.body.next()).await.unwrap()?;
            self.text += std::str::from_utf8(&more.unwrap()).unwrap();
        }
    }
}

fn competition_text(game: &str, phase: &str, settings: &str, bots: [&str; 4]) -> String {
    let mut text =
        format!("name = \"Live\"\ngame = \"{game}\"\nseed = \"live\"\n\n{settings}\n\n[[phase]]\n{phase}\n");
    for bot in bots.into_iter().filter(|bot| !bot.is_empty()) {
        text += &format!("\n[[entrant]]\nbot = \"house:{bot}\"\n");
    }
    text
}

fn write_competition(site: &Site, id: &str, text: &str) {
    let file = site.competition_file(id);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// Starts the competition as the server does. Returns the flag that stops it.
async fn run(site: &Site, id: &str) -> (Arc<StopFlag>, thread::JoinHandle<()>) {
    site.host(id, CompetitionState::Running, &[]).await;
    let (competition_handle, file) = (site.app.competitions.get(id).unwrap(), site.competition_file(id));
    let sitting = LoadedCompetition::read(&file).map_err(|failure| failure.to_string()).unwrap();
    let pace = LivePacing {
        update_interval: Duration::from_millis(20),
        finished_game_updates: 4,
        hold_ticks: 1,
        ..LivePacing::default()
    };
    let gallery = LiveGames::with_pacing(sitting.assets.clone(), Vec::new(), pace);
    let stop = Arc::new(StopFlag::default());
    let running = {
        let (gallery, stop, file) = (Arc::clone(&gallery), Arc::clone(&stop), file.clone());
        thread::spawn(move || {
            play(&file, &mut (), Some(gallery), &stop);
        })
    };
    // Waits until there is a live game.
    while gallery.games().is_empty() || !file.with_extension("ledger").exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    common::competition::show_file(&competition_handle, &file).await;
    competition_handle.show(Some(gallery));
    (stop, running)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn live_game_of_each_kind_is_streamed_to_its_end() {
    let competitions = [
        (
            "solitude",
            competition_text(
                "solitude-scramble",
                "format = \"groups\"\nmatches = 100000",
                "",
                ["random", "left", "greedy", "centre"],
            ),
        ),
        (
            "colours",
            competition_text(
                "colour-battle",
                "format = \"arena\"\ngames = 100000",
                "[settings]\nrounds = 40",
                ["random", "sweeper", "", ""],
            ),
        ),
        (
            "five",
            competition_text(
                "connect-five",
                "format = \"round-robin\"\nlegs = 10000\nparts = [{ games = 2, seconds = 1 }]",
                "",
                ["random", "stacker", "", ""],
            ),
        ),
        (
            "words",
            competition_text(
                "word-racer",
                "format = \"round-robin\"\nlegs = 10000",
                "",
                ["random", "filler", "", ""],
            ),
        ),
    ];
    for (id, text) in competitions {
        let site = Site::new().await;
        write_competition(&site, id, &text);
        let (stop, running) = run(&site, id).await;
        let reader = site.anonymous();
        // There may be no live game between two rounds.
        let board = loop {
            let boards = reader.get(&format!("competitions/{id}/boards")).await.json;
            match boards["items"].as_array().unwrap().first() {
                Some(board) => break board.clone(),
                None => tokio::time::sleep(Duration::from_millis(1)).await,
            }
        };
        assert_eq!((&board["hidden"], &board["phase"]), (&json!(false), &json!(1)), "{board}");
        assert!(board["since"].as_i64().unwrap() > 1_600_000_000_000);
        let mut events = open(&reader, &format!("competitions/{id}/boards/{}/watch", board["board"])).await;
        let (mut turns, mut outcome, mut names) = (0, Value::Null, Value::Null);
        let (mut at, mut wins) = (Value::Null, Value::Null);
        let end = loop {
            let event = events.next().await.unwrap();
            match event.name.as_str() {
                "head" => {
                    assert!(event.data.get("seed").is_none(), "the stream contains the seed");
                    turns = event.data["deltas"].as_array().unwrap().len();
                    (outcome, names) = (event.data["outcome"].clone(), event.data["names"].clone());
                    (at, wins) = (event.data["at"].clone(), event.data["wins"].clone());
                }
                "part" => {
                    assert_eq!(event.data["from"], turns + 1, "{id}: a turn is missing");
                    turns += event.data["turns"].as_array().unwrap().len();
                    outcome = event.data["outcome"].clone();
                }
                "end" => break event.data,
                other => assert_eq!(other, "ping"),
            }
        };
        assert!(outcome.is_object(), "{id}: {outcome}");
        stop.request();
        running.join().unwrap();
        drop(events);
        site.app.competitions.get(id).unwrap().changed();
        // The live film equals the stored one.
        let film = reader.get(end["film"].as_str().unwrap()).await.json;
        assert_eq!(film["deltas"].as_array().unwrap().len(), turns, "{id}: {end}");
        assert_eq!((&film["outcome"], &film["names"]), (&outcome, &names), "{id}");
        assert_eq!(film["wins"], wins, "{id}: {end}");
        assert_eq!(wins.is_null(), end["game"] == 1, "{id}: {end}");
        for key in ["phase", "match", "game"] {
            assert_eq!(at[key], end[key], "{id}: {at}");
        }
        assert_eq!(site.app.streams.total(), 0, "closed streams are still counted");
    }
}

/// Live games are shown more slowly than they are played: a viewer of the last game sees its end, and then the stream ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn last_game_is_streamed_to_its_end() {
    let site = Site::new().await;
    let phase = "format = \"round-robin\"\nlegs = 10000";
    write_competition(
        &site,
        "words",
        &competition_text("word-racer", phase, "", ["random", "filler", "", ""]),
    );
    let (stop, running) = run(&site, "words").await;
    let reader = site.anonymous();
    let mut events = loop {
        let boards = reader.get("competitions/words/boards").await.json;
        if let Some(board) = boards["items"].as_array().unwrap().first() {
            break open(&reader, &format!("competitions/words/boards/{}/watch", board["board"])).await;
        }
    };
    while events.next().await.unwrap().name != "head" {}
    stop.request();
    running.join().unwrap();
    site.app.competitions.get("words").unwrap().show(None);
    let mut names = Vec::new();
    while let Some(event) = events.next().await {
        names.push(event.name);
    }
    assert_eq!(names.last().map(String::as_str), Some("end"), "{names:?}");
    assert_eq!(reader.get("competitions/words/boards/0/watch").await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn games_with_hidden_seeds_are_not_streamed() {
    let site = Site::new().await;
    let text = competition_text(
        "hide-and-seek",
        "format = \"cross\"\nboards = 100000",
        "[settings]\nsteps = 60",
        ["random-seeker", "random-hider", "", ""],
    );
    write_competition(&site, "hiding", &text);
    let (stop, running) = run(&site, "hiding").await;
    let reader = site.anonymous();
    // There may be no live game between two rounds.
    let board = loop {
        let boards = reader.get("competitions/hiding/boards").await.json;
        if let Some(board) = boards["items"].as_array().unwrap().first() {
            break board.clone();
        }
    };
    assert_eq!(board["hidden"], true);
    let answer = loop {
        let answer = reader.get("competitions/hiding/boards/0/watch").await;
        if answer.status != 404 {
            break answer;
        }
    };
    assert_eq!((answer.status.as_u16(), answer.code()), (403, "hidden"));
    assert_eq!(reader.get("competitions/hiding/boards/99/watch").await.status, 404);
    stop.request();
    running.join().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn competition_events_are_streamed_until_the_server_stops() {
    let site = Site::new().await;
    write_competition(
        &site,
        "cup",
        &competition_text("word-racer", "format = \"round-robin\"", "", ["random", "filler", "", ""]),
    );
    site.host("cup", CompetitionState::Running, &[]).await;
    let competition_handle = site.app.competitions.get("cup").unwrap();
    let reader = site.anonymous();
    competition_handle.publish(FeedEvent::Progress(json!({"phase": 1, "matches": 7}).to_string().into()));
    let mut events = open(&reader, "competitions/cup/events").await;
    let first = events.next().await.unwrap();
    assert_eq!((first.name.as_str(), &first.data), ("state", &json!({"state": "running", "message": null})));
    let progress = events.next().await.unwrap();
    assert_eq!(
        (progress.name.as_str(), &progress.data["matches"]),
        ("progress", &json!(7)),
        "the first event is the current progress"
    );
    competition_handle.publish(FeedEvent::Table { phase: 0, revision: 12 });
    let table = events.next().await.unwrap();
    assert_eq!((table.name.as_str(), &table.data), ("table", &json!({"phase": 1, "revision": 12})));
    assert!(table.id > progress.id);
    competition_handle.publish(FeedEvent::State { state: CompetitionState::Finished, message: None });
    assert_eq!(events.next().await.unwrap().data["state"], "over");
    assert_eq!(site.app.streams.total(), 1);
    site.app.stopping.send_replace(true);
    assert!(events.next().await.is_none(), "the stream does not end");
    assert_eq!(reader.get("competitions/cup/events").await.status, 503);
}

/// Opens as many event streams as the server allows, at most `most`.
async fn open_streams(client: &Client, most: usize) -> (Vec<Events>, u16) {
    let mut opened = Vec::new();
    for _ in 0..most {
        let request = client.request("GET", "competitions/cup/events");
        let response = client.router.clone().oneshot(request).await.unwrap();
        if response.status() != 200 {
            assert_eq!(response.headers()["retry-after"], "30");
            return (opened, response.status().as_u16());
        }
        opened.push(Events { body: response.into_body().into_data_stream(), text: String::new() });
    }
    (opened, 200)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_address_or_account_holds_only_its_share_of_the_streams() {
    let site = Site::with(|config| config.proxies = 1).await;
    write_competition(
        &site,
        "cup",
        &competition_text("word-racer", "format = \"round-robin\"", "", ["random", "filler", "", ""]),
    );
    site.host("cup", CompetitionState::Running, &[]).await;
    let limits = site.app.config.streams;
    let from = |address: &str| site.anonymous().header("x-forwarded-for", address);
    let (held, status) = open_streams(&from("192.0.2.1"), 2_000).await;
    assert_eq!((held.len(), status), (limits.per_address, 429), "one address can hold all streams");
    let (other, status) = open_streams(&from("198.51.100.1"), 1).await;
    assert_eq!((other.len(), status), (1, 200));
    let ada = site.person("Ada", agon_site_db::Role::Author).await.header("x-forwarded-for", "192.0.2.1");
    let (of_ada, status) = open_streams(&ada, 2_000).await;
    assert_eq!((of_ada.len(), status), (limits.per_account, 429));
    drop(of_ada);
    // Many addresses can hold all streams of clients that are not signed in, but none of the users'.
    let mut all = vec![held, other];
    for number in 0..64 {
        all.push(open_streams(&from(&format!("203.{number}.113.1")), 100).await.0);
    }
    assert_eq!(all.iter().map(Vec::len).sum::<usize>(), limits.anonymous);
    let full = from("203.200.0.1").get("competitions/cup/events").await;
    assert_eq!((full.status.as_u16(), full.code(), full.header("retry-after")), (503, "busy", "30"));
    assert!(full.json["error"]["hint"].as_str().unwrap().contains("sign in"), "{}", full.json);
    assert_eq!(open_streams(&ada, 1).await.1, 200);
    drop(all);
    assert_eq!(site.app.streams.total(), 0, "closed streams are still counted");
}
