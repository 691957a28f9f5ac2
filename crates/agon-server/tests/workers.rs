//! Workers in the organiser dashboard: list, drain, live games, metrics.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use agon_competition::LedgerLocation;
use agon_core::Assets;
use agon_grid::live::RemoteLiveGames;
use agon_grid::messages::{self, CommandReply, Heartbeat, WorkerCommand};
use agon_grid::worker::live::{LiveStreams, live_game_infos};
use agon_grid::worker::{Worker, WorkerOptions};
use agon_grid::{NatsConnection, NatsOptions, subjects};
use agon_runner::live::LivePacing;
use agon_runner::{LiveGames, StopFlag};
use agon_server::grid::WorkerStats;
use agon_site_db::{CompetitionState, Role};
use agon_test_servers::{Nats, Postgres};
use common::competition::play;
use common::{Client, Site};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

const EVENT_TIMEOUT: Duration = agon_test_servers::WAIT_TIMEOUT;

fn options(nats: &Nats, name: &str) -> NatsOptions {
    NatsOptions { url: nats.url(), name: name.to_owned(), ..NatsOptions::default() }
}

async fn site(nats: &Nats) -> Site {
    let options = options(nats, "coordinator");
    Site::with(|config| {
        config.limits = agon_server::config::RateLimits::generous();
        config.nats = Some(options);
    })
    .await
}

fn beat(worker: &str) -> Heartbeat {
    Heartbeat {
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        layers: vec!["landlock".to_owned()],
        cores: 4,
        busy: 3,
        games: 1_234,
        games_per_second: 20.5,
        utilization: 0.75,
        speed: 1.1,
        faults: 7,
        failed_jobs: 1,
        started_ms: 1_700_000_000_000,
        ..Heartbeat::new(worker, "1")
    }
}

async fn say(link: &NatsConnection, beat: &Heartbeat) {
    let bytes = messages::encode(beat).unwrap();
    link.client().publish(subjects::heartbeat(&beat.worker), bytes.into()).await.unwrap();
    agon_grid::permissions::round_trip(link).await.unwrap();
}

/// Repeats a request until the response is as expected.
async fn until(client: &Client, path: &str, is_there: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let answer = client.get(path).await.json;
        if is_there(&answer) {
            return answer;
        }
        assert!(begun.elapsed() < EVENT_TIMEOUT, "{answer}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn organisers_list_workers_and_drain_one() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let nats = Nats::start();
    let site = site(&nats).await;
    let organiser = site.person("organiser", Role::Organiser).await;
    let empty = organiser.get("workers").await.json;
    assert_eq!((&empty["workers"], &empty["server"]), (&json!([]), &json!(nats.url())));
    assert_eq!(empty["jobs"], json!({"waiting": 0, "out": 0}), "jobs before the start");
    let link = NatsConnection::connect(&options(&nats, "w")).await.unwrap();
    let seen = WorkerStats {
        competition_id: "cup-1".to_owned(),
        checked: 5,
        disagreed: 1,
        ..WorkerStats::default()
    };
    site.app.grid.as_ref().unwrap().saw("my-cup", seen);
    say(&link, &beat("w1")).await;
    let refused = vec![("cup-1".to_owned(), "it is of version 0.0.9".to_owned())];
    say(&link, &Heartbeat { busy: 0, games_per_second: f64::NAN, refused, ..beat("w2") }).await;
    let both = until(&organiser, "workers", |one| one["workers"].as_array().unwrap().len() == 2).await;
    let w1 = &both["workers"][0];
    assert_eq!(
        (&w1["name"], &w1["state"], &w1["cores"], &w1["busy"]),
        (&json!("w1"), &json!("playing"), &json!(4), &json!(3))
    );
    assert_eq!(
        (&w1["used"], &w1["games_per_second"], &w1["faults"]),
        (&json!(0.75), &json!(20.5), &json!(7))
    );
    let w2 = &both["workers"][1];
    assert_eq!((&w2["state"], &w2["games_per_second"]), (&json!("refused"), &json!(0.0)));
    assert_eq!(w2["refused"], json!([{"competition": "my-cup", "why": "it is of version 0.0.9"}]));

    // Draining: only by organisers, only a connected worker, and only if it replies.
    for (client, status) in [(site.anonymous(), 401), (site.person("author", Role::Author).await, 403)] {
        assert_eq!(client.get("workers").await.status, status);
        assert_eq!(client.send("POST", "workers/w1/drain", None).await.status, status);
    }
    for name in ["w9", "*", "w1.order"] {
        assert_eq!(organiser.send("POST", &format!("workers/{name}/drain"), None).await.status, 404);
    }
    let silent = organiser.send("POST", "workers/w1/drain", None).await;
    assert_eq!((silent.status.as_u16(), silent.code()), (409, "no_answer"));
    let mut orders = link.client().subscribe(subjects::command("w1")).await.unwrap();
    agon_grid::permissions::round_trip(&link).await.unwrap();
    let answering = tokio::spawn({
        let link = link.clone();
        async move {
            let order = orders.next().await.unwrap();
            let answer = messages::encode(&CommandReply::Yes).unwrap();
            link.client().publish(order.reply.unwrap(), answer.into()).await.unwrap();
            messages::decode::<WorkerCommand>(&order.payload).unwrap()
        }
    });
    assert_eq!(organiser.send("POST", "workers/w1/drain", None).await.status, 204);
    assert_eq!(answering.await.unwrap(), WorkerCommand::Drain);
    let log = organiser.get("audit").await.json;
    let entry = &log["items"][0];
    assert_eq!(
        (&entry["action"], &entry["subject"], &entry["by"]),
        (&json!("worker.drain"), &json!("w1"), &json!("organiser"))
    );
    assert_eq!(log["items"].as_array().unwrap().len(), 1, "a failed action is in the log");

    let text = String::from_utf8(site.anonymous().get("/metrics").await.bytes.to_vec()).unwrap();
    for line in [
        "agon_workers{state=\"playing\"} 1",
        "agon_workers{state=\"refused\"} 1",
        "agon_workers{state=\"lost\"} 0",
        "agon_worker_cores 8",
        "agon_worker_games 3",
        "agon_worker_games_per_second 20.5",
        "agon_matches_checked{outcome=\"agreed\"} 5",
        "agon_matches_checked{outcome=\"disagreed\"} 1",
        "agon_workers_barred 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    say(&link, &Heartbeat { gone: true, ..beat("w1") }).await;
    until(&organiser, "workers", |one| one["workers"].as_array().unwrap().len() == 1).await;
}

/// Plays a competition with separate live games and streams them as a worker does.
async fn play_elsewhere(
    site: &Site,
    nats: &Nats,
    id: &str,
    text: &str,
) -> (Arc<StopFlag>, thread::JoinHandle<()>) {
    let file = site.competition_file(id);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    site.host(id, CompetitionState::Running, &[]).await;
    let pace = LivePacing {
        update_interval: Duration::from_millis(20),
        finished_game_updates: 4,
        hold_ticks: 1,
        ..LivePacing::default()
    };
    let there = LiveGames::with_pacing(Assets::none(), vec![None; 4], pace);
    let stop = Arc::new(StopFlag::default());
    let running = {
        let (gallery, stop, file) = (Arc::clone(&there), Arc::clone(&stop), file.clone());
        thread::spawn(move || {
            play(&file, &mut (), Some(gallery), &stop);
        })
    };
    let link = NatsConnection::connect(&options(nats, "w1")).await.unwrap();
    let mut orders = link.client().subscribe(subjects::command("w1")).await.unwrap();
    agon_grid::permissions::round_trip(&link).await.unwrap();
    let shows = LiveStreams::new(link.clone(), "w1");
    tokio::spawn(async move {
        let mut tick = tokio::time::interval(Duration::from_millis(50));
        loop {
            tokio::select! {
                _ = tick.tick() => say(&link, &Heartbeat { live_games: live_game_infos("cup-1", &there), ..beat("w1") }).await,
                Some(message) = orders.next() => {
                    let Ok(WorkerCommand::Show { competition_id, slot, duration_ms, full_film }) = messages::decode(&message.payload) else { continue };
                    let done = messages::encode(&shows.show(Some(&there), &competition_id, slot, duration_ms, full_film)).unwrap();
                    link.client().publish(message.reply.unwrap(), done.into()).await.unwrap();
                }
            }
        }
    });
    while !file.with_extension("ledger").exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let competition_handle = site.app.competitions.get(id).unwrap();
    common::competition::show_file(&competition_handle, &file).await;
    let here = LiveGames::new(Assets::none(), vec![Some("Ann".to_owned()); 4]);
    let link = site.app.grid.as_ref().unwrap().link.clone();
    let runtime = tokio::runtime::Handle::current();
    here.set_remote(RemoteLiveGames::open(link, &runtime, "cup-1", here.contributors().to_vec(), 0));
    competition_handle.show(Some(here));
    (stop, running)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn live_game_of_a_worker_is_streamed_and_hidden_seeds_stay_hidden() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let bots = |list: [&str; 2]| list.map(|bot| format!("\n[[entrant]]\nbot = \"house:{bot}\"\n")).concat();
    let open = format!(
        "name = \"L\"\ngame = \"word-racer\"\nseed = \"l\"\n\n[[phase]]\nformat = \"round-robin\"\nlegs = 10000\n{}",
        bots(["random", "filler"])
    );
    // A long competition, so that a test finds it running.
    let hidden = open.replace("[[phase]]\n", "[[phase]]\nhidden = true\n");
    for (text, secret) in [(open, false), (hidden, true)] {
        let nats = Nats::start();
        let site = site(&nats).await;
        let (stop, running) = play_elsewhere(&site, &nats, "cup", &text).await;
        let reader = site.anonymous();
        let there = |one: &Value| !one["items"].as_array().unwrap().is_empty();
        let board = until(&reader, "competitions/cup/boards", there).await["items"][0].clone();
        assert_eq!(board["hidden"], secret, "{board}");
        let path = format!("competitions/cup/boards/{}/watch", board["board"]);
        if secret {
            let answer = reader.get(&path).await;
            assert_eq!((answer.status.as_u16(), answer.code()), (403, "hidden"));
        } else {
            let response = reader.router.clone().oneshot(reader.request("GET", &path)).await.unwrap();
            assert_eq!(response.status(), 200);
            let (mut body, mut text) = (response.into_body().into_data_stream(), String::new());
            while !text.contains("event: end") {
                let more = tokio::time::timeout(EVENT_TIMEOUT, body.next()).await.unwrap().unwrap();
                text += std::str::from_utf8(&more.unwrap()).unwrap();
            }
            let head = text.lines().skip_while(|line| *line != "event: head").nth(1).unwrap();
            let film: Value = serde_json::from_str(head.strip_prefix("data: ").unwrap()).unwrap();
            assert_eq!((&film["agon"], &film["contributors"]), (&json!("film"), &json!(["Ann", "Ann"])));
            assert!(film.get("seed").is_none() && text.contains("\"outcome\""));
        }
        stop.request();
        running.join().unwrap();
    }
}

/// A worker in a thread, until it is drained.
fn work(nats: &Nats, name: &str, cache: std::path::PathBuf) -> thread::JoinHandle<()> {
    let options = options(nats, name);
    let worker = WorkerOptions {
        cores: 1,
        pin_cores: false,
        cache_folder: cache,
        speed: Some(1.0),
        ..WorkerOptions::new(name.to_owned())
    };
    thread::spawn(move || {
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
        let link = runtime.block_on(NatsConnection::connect(&options)).unwrap();
        Worker::run(link, &runtime, worker, &StopFlag::default(), &|_| {}).unwrap();
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn competition_is_played_by_workers_and_stored_in_a_database() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let (nats, database) = (Nats::start(), Postgres::shared().database());
    let (options, url) = (options(&nats, "coordinator"), database.url);
    let site = Site::with(|config| {
        config.limits = agon_server::config::RateLimits::generous();
        config.nats = Some(options);
        config.ledgers = LedgerLocation::Database(url);
    })
    .await;
    let organiser = site.person("organiser", Role::Organiser).await;
    let file = site.competition_file("cup");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let text = "name = \"D\"\ngame = \"word-racer\"\nseed = \"d\"\n\n[[phase]]\nformat = \"round-robin\"\nlegs = 20\n\n\
                [[entrant]]\nbot = \"house:random\"\n\n[[entrant]]\nbot = \"house:filler\"\n";
    fs::write(&file, text).unwrap();
    site.host("cup", CompetitionState::Running, &[]).await;
    agon_server::runs::play(&site.app, "cup");
    let worker = work(&nats, "w1", site.folder.path().join("cache"));
    let over = until(&organiser, "competitions/cup", |one| one["state"] != "running").await;
    assert_eq!((&over["state"], &over["message"]), (&json!("over"), &Value::Null));
    let table = organiser.get("competitions/cup/phases/1/table").await.json;
    assert_eq!((&table["matches"], &table["games"]), (&json!(20), &json!(20)), "{table}");
    assert!(!file.with_extension("ledger").exists(), "the ledger is a file");
    let workers = organiser.get("competitions/cup/workers").await.json;
    assert_eq!((&workers["grid"], &workers["aside"]), (&json!(true), &json!([])));
    assert_eq!(organiser.send("POST", "workers/w1/drain", None).await.status, 204);
    tokio::task::spawn_blocking(|| worker.join().unwrap()).await.unwrap();
    until(&organiser, "workers", |one| one["workers"].as_array().unwrap().is_empty()).await;
}

#[tokio::test]
async fn without_nats_this_machine_plays() {
    let site = Site::new().await;
    let organiser = site.person("organiser", Role::Organiser).await;
    let list = organiser.get("workers").await;
    assert_eq!((list.status.as_u16(), &list.json["server"]), (200, &Value::Null));
    assert_eq!(organiser.send("POST", "workers/w1/drain", None).await.status, 404);
    let text = String::from_utf8(site.anonymous().get("/metrics").await.bytes.to_vec()).unwrap();
    assert!(!text.contains("agon_worker"), "{text}");
}
