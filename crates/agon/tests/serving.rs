//! A server started from the command line: a whole competition with real Python bots in the real sandbox, and recovery after a kill.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

const PASSWORD: &str = "a good long password";

struct Served {
    child: Child,
    url: String,
    invitation: Option<String>,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(words).current_dir(folder).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    if let Some(python) = common::python() {
        command.env("AGON_PYTHON", python);
    }
    command
}

fn serve(folder: &Path, files: &[&str]) -> Served {
    let words =
        [&["serve", "--listen", "127.0.0.1:0", "--data", "data", "--sign-up", "open", "--jobs", "2"], files]
            .concat();
    let mut child = command(folder, &words).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    said.read_line(&mut first).unwrap();
    let url = first.trim_end().strip_prefix("Agon is at ").unwrap_or_else(|| panic!("{first}")).to_owned();
    // The server answers after it has printed everything, so the output is complete.
    assert_eq!(read(agent().get(format!("{url}/healthz")).call().unwrap()).0, 200);
    rustix::io::ioctl_fionbio(said.get_ref(), true).unwrap();
    let rest: Vec<String> = said.by_ref().lines().map_while(Result::ok).collect();
    rustix::io::ioctl_fionbio(said.get_ref(), false).unwrap();
    let link = rest.iter().find(|line| line.contains("http"));
    let invitation = link.map(|line| line.rsplit('=').next().unwrap().to_owned());
    std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
    Served { child, url, invitation }
}

/// A user with a token.
struct Person {
    agent: ureq::Agent,
    url: String,
    token: String,
    cookie: String,
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(agon_test_servers::WAIT_TIMEOUT))
        .build()
        .into()
}

fn read(mut response: ureq::http::Response<ureq::Body>) -> (u16, Value) {
    let text = response.body_mut().read_to_string().unwrap();
    (response.status().as_u16(), serde_json::from_str(&text).unwrap_or(Value::Null))
}

impl Person {
    fn new(served: &Served, name: &str, invitation: Option<&str>) -> Self {
        let agent = agent();
        let api = |path: &str| format!("{}/api/v1/{path}", served.url);
        let body = json!({"name": name, "password": PASSWORD, "invitation": invitation});
        let response = agent.post(api("accounts")).send_json(&body).unwrap();
        let cookie = response.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
        let (status, site) = read(response);
        assert_eq!(status, 201, "{site}");
        let request = agent
            .post(api("me/tokens"))
            .header("cookie", &cookie)
            .header("x-csrf-token", site["csrf"].as_str().unwrap());
        let (_, token) = read(request.send_json(json!({"label": "tests"})).unwrap());
        let token = token["token"].as_str().unwrap().to_owned();
        Self { agent, url: served.url.clone(), token, cookie }
    }

    fn moved(&self, served: &Served) -> Self {
        let (token, cookie) = (self.token.clone(), self.cookie.clone());
        Self { agent: agent(), url: served.url.clone(), token, cookie }
    }

    /// The site's session data for this user's cookie.
    fn session(&self) -> Value {
        let request = self.agent.get(format!("{}/api/v1/site", self.url)).header("cookie", &self.cookie);
        read(request.call().unwrap()).1
    }

    fn matches(&self, id: &str) -> u64 {
        self.get(&format!("competitions/{id}")).1["matches"].as_u64().unwrap()
    }

    /// Waits until `wanted` matches, or all, are stored. Returns their number.
    fn wait_for_matches(&self, id: &str, wanted: u64) -> u64 {
        let begun = Instant::now();
        loop {
            let (_, now) = self.get(&format!("competitions/{id}"));
            let matches = now["matches"].as_u64().unwrap();
            if matches >= wanted || now["state"] == "over" {
                return matches;
            }
            assert!(begun.elapsed() < agon_test_servers::WAIT_TIMEOUT, "{id} has only {matches} matches");
            sleep(Duration::from_millis(20));
        }
    }

    /// Waits until no more matches are played, although some are left.
    fn rests(&self, id: &str) {
        let begun = Instant::now();
        let mut last = (self.matches(id), Instant::now());
        while last.1.elapsed() < Duration::from_secs(2) {
            sleep(Duration::from_millis(100));
            let matches = self.matches(id);
            if matches != last.0 {
                last = (matches, Instant::now());
            }
            assert!(begun.elapsed() < agon_test_servers::WAIT_TIMEOUT, "{id} is still playing");
        }
    }

    fn get(&self, path: &str) -> (u16, Value) {
        let request = self.agent.get(format!("{}/api/v1/{path}", self.url));
        read(request.header("authorization", format!("Bearer {}", self.token)).call().unwrap())
    }

    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let request = self.agent.post(format!("{}/api/v1/{path}", self.url));
        read(request.header("authorization", format!("Bearer {}", self.token)).send_json(body).unwrap())
    }

    fn act(&self, id: &str, action: &str) -> Value {
        let (status, answer) = self.post(&format!("competitions/{id}/actions"), &json!({"action": action}));
        assert_eq!(status, 200, "{action}: {answer}");
        answer
    }

    /// State of a started competition, from the error message when it is started again.
    fn state(&self, id: &str) -> String {
        let (status, answer) = self.post(&format!("competitions/{id}/actions"), &json!({"action": "start"}));
        assert_eq!(status, 409, "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        message.split(" is ").nth(1).and_then(|rest| rest.split(':').next()).unwrap_or(message).to_owned()
    }

    fn wait_for(&self, id: &str, wanted: &str) {
        let begun = Instant::now();
        loop {
            let state = self.state(id);
            if state == wanted {
                return;
            }
            assert!(state == "running", "{id} is {state}, not {wanted}");
            assert!(begun.elapsed() < 2 * agon_test_servers::WAIT_TIMEOUT, "{id} is still {state}");
            sleep(Duration::from_millis(100));
        }
    }

    /// Submits a bot with `agon submit`. Returns the exit code and the output.
    fn submit(&self, folder: &Path, words: &[&str]) -> (i32, String) {
        let words = [&["submit", "--server", &self.url], words].concat();
        let output = command(folder, &words).env("AGON_TOKEN", &self.token).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap_or(-1), String::from_utf8(said).unwrap())
    }

    /// Submits a bot with `agon submit --json`. Returns the exit code and the document.
    fn submit_for_json(&self, folder: &Path, words: &[&str]) -> (Option<i32>, Value) {
        let words = [&["submit", "--json", "--server", &self.url], words].concat();
        let output = command(folder, &words).env("AGON_TOKEN", &self.token).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let document: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
        assert_eq!(document["agon"], "submission", "{document}");
        common::schema::check_document(&document);
        (output.status.code(), document)
    }
}

fn folder() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn write_starter(game: &str, folder: &Path) {
    for (path, content, _) in agon_bots::starter::files(game, "python", "starter").unwrap() {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

const PHASES: &str = "game = \"solitude-scramble\"\nseed = \"a secret\"\n\n[[phase]]\nname = \"One\"\nformat = \"groups\"\nmatches = 6\n\n\
    [[phase]]\nname = \"Two\"\nformat = \"groups\"\nmatches = 6\nresubmit = true\n\n[[phase]]\nname = \"Three\"\nformat = \"groups\"\nmatches = 6\n";

#[test]
fn competition_of_three_phases_with_a_resubmission_is_played() {
    let place = folder();
    let served = serve(place.path(), &[]);
    let organiser = Person::new(&served, "olga", served.invitation.as_deref());
    let author = Person::new(&served, "ada", None);
    let made = json!({"game": "solitude-scramble", "name": "Cup", "file": PHASES, "house": ["random", "greedy", "counter"]});
    let (status, desk) = organiser.post("competitions", &made);
    assert_eq!(status, 201, "{desk}");
    organiser.act("cup", "open");
    let bot = place.path().join("mine");
    write_starter("solitude-scramble", &bot);
    // A bot with an error is rejected with the place, and its name stays free.
    fs::write(place.path().join("bad.py"), "def broken(:\n").unwrap();
    let (code, said) = author.submit(place.path(), &["cup", "bad.py", "--name", "Mine"]);
    assert!(code == 1 && said.contains("line 1"), "{code}: {said}");
    let (code, said) = author.submit(place.path(), &["cup", "mine", "--name", "Mine"]);
    assert!(code == 0 && said.contains("yes: accepted") && said.contains("version 1"), "{code}: {said}");
    let (_, mine) = author.get("me/bots");
    let latest = &mine["items"][0]["latest"];
    assert!(latest["trials"].as_u64().unwrap() > 0, "{mine}");
    let film = author.get(&format!("submissions/{}/trials/1", latest["id"].as_str().unwrap()));
    assert_eq!((film.0, film.1["game"] == "solitude-scramble" || film.1["deltas"].is_array()), (200, true));
    organiser.act("cup", "start");
    organiser.wait_for("cup", "waiting");
    // A new bot is too late, but a new version is accepted.
    let (code, said) = author.submit(place.path(), &["cup", "mine", "--name", "Late"]);
    assert!(code == 2 && said.contains("does not accept bots now"), "{code}: {said}");
    fs::write(bot.join("notes.txt"), "another version").unwrap();
    let page = format!("{}/c/cup", served.url);
    let version = [&*page, "mine", "--version-of", "mine"];
    let (code, said) = author.submit(place.path(), &[&version[..], &["--mark", "winner"]].concat());
    assert!(code == 2 && said.contains("authors can use AI and exploit"), "{code}: {said}");
    let (code, said) = author.submit(place.path(), &[&version[..], &["--mark", "AI=wrote worth()"]].concat());
    assert!(code == 0 && said.contains("version 2"), "{code}: {said}");
    organiser.act("cup", "next");
    organiser.wait_for("cup", "over");
    let file = place.path().join("data/competitions/cup/cup.toml");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("name = \"Mine\"") && text.contains("contributor = \"ada\""), "{text}");
    assert!(text.contains("AI") && text.contains("wrote worth()"), "the mark of the second version: {text}");
    let shown = command(place.path(), &["table", file.to_str().unwrap(), "--phase", "3"]).output().unwrap();
    assert!(common::good(&shown).contains("Mine (AI)"), "{}", common::good(&shown));
    let (_, cup) = organiser.get("competitions/cup");
    let marks = |cup: &Value| -> Value {
        let entrants = cup["entrants"].as_array().unwrap();
        entrants.iter().find(|one| one["name"] == "Mine").unwrap()["marks"].clone()
    };
    assert_eq!(marks(&cup), json!([{"mark": "AI", "note": "wrote worth()"}]));
    let out = command(place.path(), &["table", file.to_str().unwrap(), "--phase", "3", "--format", "json"])
        .output()
        .unwrap();
    assert!(common::good(&out).contains("Mine"));
    let (_, audit) = organiser.get("audit?competition=cup");
    let deeds: Vec<&str> =
        audit["items"].as_array().unwrap().iter().map(|one| one["action"].as_str().unwrap()).collect();
    for deed in
        ["competition.create", "competition.open", "competition.start", "competition.next", "bot.accepted"]
    {
        assert!(deeds.contains(&deed), "{deed}: {deeds:?}");
    }
}

#[test]
fn submission_as_json_fits_its_schema_and_has_the_version_of_the_bot() {
    let place = folder();
    let served = serve(place.path(), &[]);
    let organiser = Person::new(&served, "olga", served.invitation.as_deref());
    let author = Person::new(&served, "ada", None);
    let made = json!({"game": "solitude-scramble", "name": "Cup", "file": PHASES, "house": ["random", "greedy", "counter"]});
    let (status, desk) = organiser.post("competitions", &made);
    assert_eq!(status, 201, "{desk}");
    organiser.act("cup", "open");
    fs::write(place.path().join("bad.py"), "def broken(:\n").unwrap();
    let (code, refused) = author.submit_for_json(place.path(), &["cup", "bad.py", "--name", "Mine"]);
    assert_eq!((code, &refused["state"]), (Some(1), &json!("refused")), "{refused}");
    assert!(refused["bot_version"].is_null() && refused["report"]["accepted"] == false, "{refused}");
    fs::write(place.path().join("not.zip"), "this is not an archive").unwrap();
    let (code, rejected) = author.submit_for_json(place.path(), &["cup", "not.zip", "--name", "Mine"]);
    assert_eq!((code, &rejected["error"]["field"]), (Some(1), &json!("file")), "{rejected}");
    write_starter("solitude-scramble", &place.path().join("mine"));
    for (version, words) in
        [(1, ["cup", "mine", "--name", "Mine"]), (2, ["cup", "mine", "--version-of", "Mine"])]
    {
        let (code, accepted) = author.submit_for_json(place.path(), &words);
        assert_eq!((code, &accepted["state"]), (Some(0), &json!("accepted")), "{accepted}");
        assert_eq!(accepted["bot_version"], version, "{accepted}");
        assert!(accepted["trials"].as_u64().unwrap() > 0, "{accepted}");
    }
}

/// The data of the next event with this name, or of the end.
fn next_event(events: &mut impl std::io::BufRead, wanted: &str) -> Value {
    let mut is_wanted = false;
    for line in events.lines() {
        let line = line.unwrap();
        if let Some(name) = line.strip_prefix("event: ") {
            is_wanted = name == wanted || name == "end";
        } else if let Some(data) = line.strip_prefix("data: ").filter(|_| is_wanted) {
            return serde_json::from_str(data).unwrap();
        }
    }
    panic!("the stream ended without {wanted}");
}

#[test]
fn visitor_plays_a_submitted_bot_whose_author_allows_it() {
    let place = folder();
    let served = serve(place.path(), &[]);
    let organiser = Person::new(&served, "olga", served.invitation.as_deref());
    let author = Person::new(&served, "ada", None);
    let made = json!({"game": "connect-five", "name": "Cup", "house": ["random", "tactician"]});
    assert_eq!(organiser.post("competitions", &made).0, 201);
    organiser.act("cup", "open");
    let bot = "class First:\n    def get_move(self, board, player, T, N):\n        return [c for c in range(9) if not board[0][c]][0]\n";
    fs::write(place.path().join("First.py"), bot).unwrap();
    let (code, said) = author.submit(place.path(), &["cup", "First.py", "--name", "First"]);
    assert_eq!(code, 0, "{said}");
    let bot = author.get("me/bots").1["items"][0]["bot"].as_i64().unwrap();
    let api = |path: &str| format!("{}/api/v1/{path}", served.url);
    let game = json!({"game": "connect-five", "seats": [{"bot": bot}, {"person": true}], "name": "Bob"});
    let open = || read(agent().post(api("play")).send_json(&game).unwrap());
    assert_eq!(open().0, 403, "its author has not allowed it");
    let allow = agent()
        .put(api(&format!("competitions/cup/bots/{bot}/practice")))
        .header("authorization", format!("Bearer {}", author.token));
    assert_eq!(allow.send_json(json!({"allowed": true})).unwrap().status(), 200);
    let (status, seat) = open();
    assert_eq!((status, &seat["seat"]), (201, &json!(1)), "{seat}");
    let (id, key) = (seat["id"].as_str().unwrap(), seat["key"].as_str().unwrap());
    let stream = agent().get(api(&format!("play/{id}/events?key={key}"))).call().unwrap();
    let mut events = BufReader::new(stream.into_body().into_reader());
    let end = loop {
        let asked = next_event(&mut events, "ask");
        let Some(turn) = asked.get("turn") else { break asked };
        let answer = json!({"turn": turn, "answer": asked["legal"].as_array().unwrap().last()});
        let request = agent().post(api(&format!("play/{id}/answers"))).header("x-agon-seat", key);
        assert_eq!(request.send_json(&answer).unwrap().status(), 204);
    };
    let played = end["played"].as_str().unwrap();
    assert!(!end["outcome"]["ended"].as_str().unwrap().contains("crash"), "{end}");
    let (status, page) = read(agent().get(api(&format!("played/{played}"))).call().unwrap());
    assert_eq!(status, 200, "{page}");
    assert!(page.to_string().contains("First") && page.to_string().contains("Bob"), "{page}");
}

const LEAGUE: &str = "name = \"League\"\ngame = \"connect-five\"\nseed = \"a secret\"\n\n[[phase]]\nformat = \"round-robin\"\nlegs = 2\n\
    parts = [{ games = 4, seconds = 1 }]\n\n[[entrant]]\nbot = \"house:random\"\n\n[[entrant]]\nbot = \"house:tactician\"\n\n\
    [[entrant]]\nbot = \"house:line-counter\"\n\n[[entrant]]\nname = \"Other\"\nbot = \"house:tactician\"\n";

fn table(folder: &Path, file: &str) -> String {
    common::good(&command(folder, &["table", file, "--format", "json", "--no-times"]).output().unwrap())
}

fn matches_in(table: &str) -> u64 {
    serde_json::from_str::<Value>(table).unwrap()["matches"].as_u64().unwrap()
}

/// The same league, long enough to be stopped before its end.
fn long_league() -> String {
    LEAGUE.replace("legs = 2", "legs = 400")
}

#[test]
fn killed_server_resumes_and_loses_nothing() {
    let place = folder();
    fs::write(place.path().join("league.toml"), long_league()).unwrap();
    fs::write(place.path().join("alone.toml"), long_league()).unwrap();
    let mut served = serve(place.path(), &["league.toml"]);
    let mut organiser = Person::new(&served, "olga", served.invitation.as_deref());
    organiser.act("league", "start");
    let mut cuts = Vec::new();
    for more in [1, 150, 150] {
        let seen = organiser.wait_for_matches("league", cuts.last().map_or(1, |cut| cut + more));
        served.child.kill().unwrap();
        served.child.wait().unwrap();
        let kept = matches_in(&table(place.path(), "league.toml"));
        assert!(kept >= seen, "{seen} matches were shown, but only {kept} are stored");
        cuts.push(kept);
        served = serve(place.path(), &["league.toml"]);
        assert!(served.invitation.is_none(), "an organiser exists already");
        organiser = organiser.moved(&served);
        assert_eq!(organiser.session()["me"]["name"], "olga", "the session was lost");
        let (_, now) = organiser.get("competitions/league");
        let state = now["state"].as_str().unwrap();
        assert!(["running", "over"].contains(&state), "the competition was not resumed: {now}");
        assert!(now["matches"].as_u64().unwrap() >= kept, "{kept} matches were stored: {now}");
    }
    organiser.wait_for("league", "over");
    let run = command(place.path(), &["run", "alone.toml", "--json"]).stdout(Stdio::null()).output().unwrap();
    assert!(run.status.success());
    let (league, alone) = (table(place.path(), "league.toml"), table(place.path(), "alone.toml"));
    assert!(cuts[0] < matches_in(&alone), "the run was not interrupted");
    assert_eq!(league, alone);
}

#[test]
fn competition_can_be_paused_and_ruled_and_the_server_stopped() {
    let place = folder();
    fs::write(place.path().join("league.toml"), long_league()).unwrap();
    let mut served = serve(place.path(), &["league.toml"]);
    let organiser = Person::new(&served, "olga", served.invitation.as_deref());
    let ruling = json!({"kind": "void", "phase": 1, "match": "1-1", "reason": "a test"});
    let (status, early) = organiser.post("competitions/league/rulings", &ruling);
    assert_eq!((status, &early["error"]["code"]), (409, &json!("not_started")));
    organiser.act("league", "start");
    assert_eq!(organiser.act("league", "pause")["state"], "paused");
    organiser.rests("league");
    assert_eq!(organiser.state("league"), "paused");
    organiser.act("league", "resume");
    organiser.wait_for("league", "over");
    let (status, made) = organiser.post("competitions/league/rulings", &ruling);
    assert_eq!((status, &made["match"]), (201, &json!("1-1")), "{made}");
    let (status, _) = organiser.post(
        "competitions/league/rulings",
        &json!({"kind": "void", "phase": 1, "match": "9-9", "reason": "x"}),
    );
    assert_eq!(status, 409);
    let (status, _) = organiser.post(
        "competitions/league/rulings",
        &json!({"kind": "void", "phase": 1, "match": "1-1", "reason": " "}),
    );
    assert_eq!(status, 422);
    let (status, out) = organiser.post(
        "competitions/league/rulings",
        &json!({"kind": "disqualify", "bot": 1, "reason": "reads minds"}),
    );
    assert_eq!(status, 201, "{out}");
    let shown = common::good(&command(place.path(), &["table", "league.toml"]).output().unwrap());
    assert!(shown.contains("reads minds") && shown.contains("a test"), "{shown}");
    let lift = format!("competitions/league/rulings/{}/lift", out["id"]);
    assert_eq!(organiser.post(&lift, &json!({"reason": "it does not"})).0, 200);
    assert_eq!(organiser.post(&lift, &json!({"reason": "it does not"})).0, 409);
    let (status, machine) = organiser.get("machine");
    assert_eq!((status, machine["cores"].as_u64().unwrap() > 0), (200, true), "{machine}");
    // The server stops on SIGTERM.
    let pid = rustix::process::Pid::from_child(&served.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(served.child.wait().unwrap().success());
}

#[test]
fn server_that_is_stopped_while_it_starts_ends_cleanly() {
    let folder = folder();
    let words = ["serve", "--listen", "127.0.0.1:0", "--data", "data"];
    let mut child = command(folder.path(), &words).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    // Printed before the first request is answered.
    said.read_line(&mut first).unwrap();
    assert!(first.starts_with("Agon is at "), "{first}");
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::TERM)
        .unwrap();
    std::io::copy(&mut said, &mut std::io::sink()).unwrap();
    let status = child.wait().unwrap();
    assert!(status.success(), "{status}");
}

#[test]
fn wrong_options_are_usage_errors() {
    let place = folder();
    for (words, code, said) in [
        (&["serve", "--database", "mysql://x"][..], 2, "unknown kind of database"),
        (
            &["serve", "--listen", "127.0.0.1:0", "--database", "postgres://127.0.0.1:1/agon"],
            3,
            "127.0.0.1:1",
        ),
        (&["serve", "--listen", "127.0.0.1:0", "--nats", "nats://127.0.0.1:1"], 3, "no NATS server answers"),
        (&["serve", "--nats-ca", "ca.pem"], 2, "without a NATS server"),
        (&["serve", "--public-url", "example.org"], 2, "not a web address"),
        (&["serve", "missing.toml", "--listen", "127.0.0.1:0"], 3, "missing.toml"),
        (&["submit", "cup", "missing.py", "--server", "example.org"], 2, "not a web address"),
        (&["submit", "A B", "missing.py"], 2, "not a competition id"),
        (&["submit", "cup", "missing.py"], 2, "missing token"),
    ] {
        let output =
            command(place.path(), words).env("HOME", place.path()).env_remove("AGON_TOKEN").output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(code) && told.contains(said),
            "{words:?}: {:?} {told}",
            output.status
        );
    }
}

/// A submitted bot that tries to read and change files. It keeps playing only if it found nothing.
const BURGLAR: &str = r##"
import os
import socket
import sys


def burgle(data, port, other):
    found = []

    def attempt(what, deed):
        try:
            if deed() is not False:
                found.append(what)
        except BaseException:
            pass

    here = os.path.dirname(os.path.abspath(__file__))
    attempt("changed its own file", lambda: open(os.path.abspath(__file__), "a").write("#"))
    attempt("put a file beside it", lambda: open(os.path.join(here, "new.txt"), "w"))
    attempt("took a file away", lambda: os.remove(os.path.join(here, "README.md")))
    attempt("linked out of its folder", lambda: os.symlink("/etc", os.path.join(here, "etc")))
    attempt("read the office", lambda: open(data + "/office.db", "rb").read(1))
    attempt("saw the office", lambda: "office.db" in os.listdir(data))
    attempt("read the competition", lambda: open(data + "/competitions/cup/cup.toml").read())
    attempt("read another's bot", lambda: open(other).read())
    attempt("read a slip", lambda: [open(os.path.join(here, "..", name)) for name in os.listdir(here + "/..") if "slip" in name] or False)
    attempt("called the server", lambda: socket.create_connection(("127.0.0.1", port), 2))
    attempt("saw the server's environment", lambda: "XDG_CACHE_HOME" in os.environ)
    processes = []
    attempt("", lambda: processes.extend(filter(str.isdigit, os.listdir("/proc"))) or False)
    for pid in processes:
        attempt("read the environment of " + pid, lambda: b"XDG_CACHE_HOME" in open(f"/proc/{pid}/environ", "rb").read())
    up = here
    while up != "/":
        up = os.path.dirname(up)
        attempt("saw secrets in " + up, lambda: bool({"office.db", "cup.toml", "cup.ledger", "incoming", "uploads"} & set(os.listdir(up))))
    if found:
        raise RuntimeError("burgled: " + ", ".join(found))


burgle(DATA, PORT, OTHER)
"##;

#[test]
fn bot_cannot_read_or_change_the_servers_files_during_its_check() {
    let place = folder();
    let served = serve(place.path(), &[]);
    let organiser = Person::new(&served, "olga", served.invitation.as_deref());
    let made = json!({"game": "solitude-scramble", "name": "Cup", "file": PHASES, "house": ["random", "greedy", "counter"]});
    assert_eq!(organiser.post("competitions", &made).0, 201);
    organiser.act("cup", "open");
    let (victim, burglar) = (Person::new(&served, "ada", None), Person::new(&served, "bob", None));
    let bot = place.path().join("mine");
    write_starter("solitude-scramble", &bot);
    assert_eq!(victim.submit(place.path(), &["cup", "mine", "--name", "Victim"]).0, 0);
    // The bot knows all paths.
    let data = place.path().join("data").canonicalize().unwrap();
    let other = files_below(&data.join("competitions/cup/bots")).find(|path| path.ends_with("README.md"));
    let other = other.expect("the other bot's files exist");
    let port = served.url.rsplit(':').next().unwrap();
    let script =
        files_below(&bot).find(|path| path.extension().is_some_and(|ending| ending == "py")).unwrap();
    let honest = fs::read_to_string(&script).unwrap();
    let code = |burglar: &str| {
        let burglar = burglar
            .replace("DATA,", &format!("{data:?},"))
            .replace("PORT,", &format!("{port},"))
            .replace("OTHER)", &format!("{other:?})"));
        fs::write(&script, format!("{burglar}\n\n{honest}")).unwrap();
    };
    code(&BURGLAR.replace("    found = []", "    found = [\"the words of this bot\"]"));
    let (status, said) = burglar.submit(place.path(), &["cup", "mine", "--name", "Burglar"]);
    assert!(
        status == 1 && said.contains("the words of this bot"),
        "the message of a bot that finds something is not shown: {status} {said}"
    );
    let heard: Vec<&str> = said.split("RuntimeError: burgled: ").skip(1).collect();
    assert!(
        heard
            .iter()
            .all(|rest| rest.starts_with("the words of this bot")
                && !rest.lines().next().unwrap().contains(',')),
        "{said}"
    );
    code(BURGLAR);
    // The source check already rejects it, because it opens files. But it was loaded, and found nothing.
    let (status, said) = burglar.submit(place.path(), &["cup", "mine", "--name", "Burglar"]);
    assert!(
        status == 1 && said.contains("loads   pass") && !said.contains("RuntimeError: burgled"),
        "{said}"
    );
}

fn files_below(folder: &Path) -> impl Iterator<Item = std::path::PathBuf> + use<> {
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let list = if entry.path().is_dir() { &mut folders } else { &mut files };
            list.push(entry.path());
        }
    }
    files.sort();
    files.into_iter()
}

#[test]
fn demo_plays_five_competitions_and_prints_their_tables() {
    let place = folder();
    let output = command(place.path(), &["demo", "--house", "--no-serve", "--json"]).output().unwrap();
    let told: Value = serde_json::from_str(&common::good(&output)).unwrap();
    let tables = told["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 5, "{told}");
    assert!(tables.iter().all(|table| table["matches"].as_u64().unwrap() > 0), "{told}");
}

/// A Colour Battle bot that names itself.
fn painter(name: &str, contributor: &str, first_line: &str) -> String {
    format!(
        "{first_line}\nfrom bot_control import Move\n\nclass Painter:\n    def get_name(self):\n        return {name:?}\n\n    \
         def get_contributor(self):\n        return {contributor:?}\n\n    \
         def determine_next_move(self, grid, enemies, game_info):\n        return Move.UP\n"
    )
}

#[test]
fn uploaded_bot_names_itself_and_forbidden_libraries_are_refused() {
    if common::python().is_none() {
        return;
    }
    let place = folder();
    let served = serve(place.path(), &[]);
    let organiser = Person::new(&served, "olga", served.invitation.as_deref());
    let author = Person::new(&served, "rayman", None);
    let file = "game = \"colour-battle\"\nforbidden_libraries = [\"heapq\"]\n[settings]\nrounds = 20\n\
        [[phase]]\nname = \"One\"\nformat = \"arena\"\ngames = 2\n";
    let made = json!({"game": "colour-battle", "name": "Cup", "file": file, "house": ["random"]});
    let (status, desk) = organiser.post("competitions", &made);
    assert_eq!(status, 201, "{desk}");
    organiser.act("cup", "open");
    fs::write(place.path().join("lib.py"), painter("Library", "Rayman", "import heapq")).unwrap();
    let (code, said) = author.submit(place.path(), &["cup", "lib.py"]);
    assert!(code == 1 && said.contains("imports heapq; this competition forbids heapq"), "{code}: {said}");
    assert!(said.contains("line 1"), "{said}");
    fs::write(place.path().join("mine.py"), painter("Kadabra", "Someone", "")).unwrap();
    let (code, said) = author.submit(place.path(), &["cup", "mine.py"]);
    assert!(code == 0 && said.contains("Kadabra was accepted"), "{code}: {said}");
    assert!(
        said.contains("the bot says that its contributor is \"Someone\", but tables show \"rayman\""),
        "{said}"
    );
    // A name that the author gives wins, and the report says that the bot has another one.
    let (code, said) = author.submit(place.path(), &["cup", "mine.py", "--name", "Abra"]);
    assert!(code == 0 && said.contains("Abra was accepted"), "{code}: {said}");
    assert!(said.contains("the bot says that its name is \"Kadabra\", but tables show \"Abra\""), "{said}");
    organiser.act("cup", "start");
    organiser.wait_for("cup", "over");
    let file = place.path().join("data/competitions/cup/cup.toml");
    let table: Value = serde_json::from_str(&table(place.path(), file.to_str().unwrap())).unwrap();
    let shown: Vec<(&str, Option<&str>)> = table["entrants"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["name"].as_str().unwrap(), one["contributor"].as_str()))
        .collect();
    assert!(
        shown.contains(&("Kadabra", Some("rayman"))) && shown.contains(&("Abra", Some("rayman"))),
        "{shown:?}"
    );
}
