//! Phases that are being played: tables, leaders and brackets before the end.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::path::Path;
use std::thread;

use agon_runner::{RunEvent, RunListener, StopFlag};
use agon_site_db::CompetitionState;
use common::competition::{play, played};
use common::{Client, Site};
use serde_json::{Value, json};

/// Writes a competition of house bots.
fn write_competition(site: &Site, id: &str, game: &str, phase: &str, bots: &[&str]) {
    let mut text = format!(
        "name = \"A cup\"\ngame = \"{game}\"\nseed = \"seed\"\n\n[[phase]]\nname = \"First\"\n{phase}\n"
    );
    for (number, bot) in bots.iter().enumerate() {
        text += &format!("\n[[entrant]]\nname = \"bot {number}\"\nbot = \"house:{bot}\"\n");
    }
    let file = site.competition_file(id);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

async fn good(client: &Client, path: &str) -> Value {
    let answer = client.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.json);
    answer.json
}

/// Stops a run when a stage starts, before its first match.
struct StopAtStage<'s> {
    stage: u32,
    stop: &'s StopFlag,
}

impl RunListener for StopAtStage<'_> {
    fn event(&mut self, event: &RunEvent<'_>) {
        if matches!(event, RunEvent::StageStarted { stage, .. } if *stage == self.stage) {
            self.stop.request();
        }
    }
}

/// Plays until this stage starts.
fn played_until_stage(file: &Path, stage: u32) {
    thread::scope(|scope| {
        let until = || {
            let stop = StopFlag::default();
            play(file, &mut StopAtStage { stage, stop: &stop }, None, &stop);
        };
        scope.spawn(until).join().unwrap();
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn running_phase_lists_bots_without_games_and_gives_no_medals_until_its_table_is_published() {
    let site = Site::new().await;
    let phase = "format = \"swiss\"\nrounds = 3\nparts = [{ games = 1, seconds = 1 }]";
    let bots = ["random", "stacker", "tactician", "random", "stacker"];
    write_competition(&site, "swiss", "connect-five", phase, &bots);
    // Of five bots one has no opponent in the first round.
    played_until_stage(&site.competition_file("swiss"), 1);
    site.host("swiss", CompetitionState::Paused, &[]).await;
    let reader = site.anonymous();
    let path = "competitions/swiss/phases/1/table";
    let running = good(&reader, path).await;
    assert!(running["matches"].as_u64().unwrap() > 0, "{running}");
    let without = running["without_games"].as_array().unwrap().clone();
    assert_eq!(without.len(), 1, "{running}");
    for sheet in running["sheets"].as_array().unwrap() {
        let rows = sheet["rows"].as_array().unwrap();
        assert!(rows.iter().all(|row| row["medal"].is_null()), "medals before the end: {sheet}");
        if sheet["id"] != "head-to-head" {
            assert_eq!(rows.len(), 5, "{sheet}");
            let last = rows.last().unwrap();
            assert_eq!((&last["entrant"], &last["rank"]), (&without[0], &Value::Null), "{sheet}");
            assert!(last["name"].is_string(), "{sheet}");
        }
    }
    let leaders = good(&reader, "competitions/swiss").await["leaders"].as_array().unwrap().clone();
    assert!(leaders.iter().all(|one| one["entrant"] != without[0]), "{leaders:?}");
    played(&site.competition_file("swiss"));
    site.app.competitions.get("swiss").unwrap().changed();
    let published = good(&reader, path).await;
    assert_eq!(published["without_games"], json!([]));
    assert_eq!(published["sheets"][0]["rows"][0]["medal"], "gold");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bracket_has_its_whole_shape_before_it_is_played() {
    let site = Site::new().await;
    let phase = "format = \"knockout\"\nseeding = \"file\"\npairs = 1\nthird = true";
    write_competition(
        &site,
        "words",
        "word-racer",
        phase,
        &["random", "filler", "rows", "z-racer", "crossword"],
    );
    played_until_stage(&site.competition_file("words"), 0);
    site.host("words", CompetitionState::Paused, &[]).await;
    let bracket = good(&site.anonymous(), "competitions/words/phases/1/bracket").await;
    // Five bots: one tie in the first round, byes for the others.
    assert_eq!(bracket["rounds"].as_array().unwrap().len(), 1, "{bracket}");
    let planned = json!([
        {"name": "semi-finals", "ties": 2}, {"name": "match for the third place", "ties": 1}, {"name": "final", "ties": 1}
    ]);
    assert_eq!(bracket["planned"], planned);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leaders_are_listed_for_each_role() {
    let site = Site::new().await;
    let id = "hiding";
    let phase = "format = \"cross\"\nboards = 2\nsettings = { steps = 60 }";
    let bots = ["random-seeker", "chasing-seeker", "random-hider", "still-hider"];
    write_competition(&site, id, "hide-and-seek", phase, &bots);
    played(&site.competition_file(id));
    site.host(id, CompetitionState::Finished, &[]).await;
    let item = good(&site.anonymous(), &format!("competitions/{id}")).await;
    let leaders = item["leaders"].as_array().unwrap();
    let of_role = |role: &str| leaders.iter().filter(|one| one["role"] == role).collect::<Vec<_>>();
    for role in ["seeker", "hider"] {
        let own = of_role(role);
        assert_eq!((own.len(), &own[0]["rank"]), (2, &json!(1)), "{leaders:?}");
        for one in own {
            let entrants = item["entrants"].as_array().unwrap();
            let entrant = entrants.iter().find(|entrant| entrant["entrant"] == one["entrant"]).unwrap();
            assert_eq!((&entrant["bot"], &entrant["name"]), (&one["bot"], &one["name"]));
        }
    }
}
