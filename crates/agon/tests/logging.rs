//! The program's log: `--log`, `AGON_LOG` and the formats; and one match and one request followed through the logs of a server and a worker.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use agon_test_servers::{Nats, wait_until};
use serde_json::{Value, json};
use tempfile::TempDir;

const COMPETITION: &str = "name = \"Log cup\"\ngame = \"connect-five\"\nseed = \"the hidden seed\"\n\n[[phase]]\nformat = \"round-robin\"\n\
    parts = [{ games = 2, seconds = 1 }]\n\n[[entrant]]\nbot = \"house:random\"\n\n[[entrant]]\nbot = \"house:line-counter\"\n";

fn folder() -> TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(folder.path().join("cup.toml"), COMPETITION).unwrap();
    folder
}

fn agon(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.args(words).current_dir(folder).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    for name in ["AGON_LOG", "AGON_LOG_FORMAT", "AGON_NATS"] {
        command.env_remove(name);
    }
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

/// A field of a log line, of the event or of one of its spans.
fn field<'l>(line: &'l Value, name: &str) -> &'l Value {
    let spans = line["spans"].as_array().into_iter().flatten();
    let mut found = std::iter::once(line).chain(spans).filter_map(|part| part.get(name));
    found.next_back().unwrap_or(&Value::Null)
}

#[test]
fn wrong_filter_is_an_error_that_names_the_part() {
    let place = folder();
    let wrong = [
        (agon(place.path(), &["games", "--log", "info,agon_grid=loud"]), "--log: `agon_grid=loud`"),
        (agon(place.path(), &["--log", "inof", "games"]), "--log: `inof`"),
        (agon(place.path(), &["games", "--log", ""]), "--log: ``"),
    ];
    for (mut command, what) in wrong {
        let output = command.output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
        let expected = format!("error: {what} is not a log filter\nhint: write a level (off, error,");
        assert!(stderr(&output).starts_with(&expected), "{}", stderr(&output));
    }
    let output = agon(place.path(), &["games"]).env("AGON_LOG", "warn,loud").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("error: AGON_LOG: `loud` is not a log filter\nhint: "));
    let output = agon(place.path(), &["games"]).env("AGON_LOG_FORMAT", "xml").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("error: AGON_LOG_FORMAT: `xml` is not a log format\nhint: "));
    let output = agon(place.path(), &["games", "--log-format", "xml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn log_option_wins_over_the_variable_and_leaves_stdout_alone() {
    let place = folder();
    let quiet = agon(place.path(), &["run", "cup.toml", "--json"]).output().unwrap();
    assert!(quiet.status.success() && quiet.stderr.is_empty(), "{}", stderr(&quiet));
    let logged = |words: &[&str], variable: &str| {
        let words = [&["run", "cup.toml", "--fresh", "--json"], words].concat();
        let output = agon(place.path(), &words).env("AGON_LOG", variable).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        // The seed of the file makes the same games; only the first line of stderr tells about the old ledger.
        assert_eq!(String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&quiet.stdout));
        stderr(&output)
    };
    let info = logged(&[], "info");
    assert!(info.contains(" INFO run{competition=log-cup-") && info.contains("match stored match=log-cup-"));
    assert!(!info.contains("game finished") && !info.contains('\u{1b}'), "{info}");
    let debug = logged(&["--log", "agon_engine=debug"], "off");
    assert!(debug.contains("DEBUG") && debug.contains("game finished game=1"), "{debug}");
    assert!(!debug.contains("match stored"), "{debug}");
    assert!(!logged(&["--log", "off"], "trace").contains("INFO"));
    for said in [info, debug] {
        assert!(!said.contains("the hidden seed"), "{said}");
    }
}

#[test]
fn error_in_the_json_log_has_its_parts() {
    let place = folder();
    fs::write(place.path().join("bad.toml"), COMPETITION.replace("round-robin", "round-robni")).unwrap();
    let output = agon(place.path(), &["run", "bad.toml", "--log-format", "json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let lines = json_lines(&stderr(&output));
    let [line] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!((&line["level"], &line["target"]), (&json!("ERROR"), &json!("agon")));
    let error = &line["error"];
    assert_eq!(error["kind"], "usage");
    assert_eq!(error["place"], json!({"file": "bad.toml", "line": 6, "column": 10}));
    assert_eq!(error["message"], "there is no format \"round-robni\"");
    assert_eq!(error["hints"], json!(["did you mean \"round-robin\"?"]));
    // The message is the whole text, as without JSON.
    let text = stderr(&agon(place.path(), &["run", "bad.toml"]).output().unwrap());
    assert_eq!(text, format!("error: {}\n", line["message"].as_str().unwrap()));
}

#[test]
fn json_log_has_nothing_but_json_lines() {
    let place = folder();
    let words = ["run", "cup.toml", "--log", "info,agon=debug", "--log-format", "json"];
    let output = agon(place.path(), &words).output().unwrap();
    assert!(output.status.success());
    let lines = json_lines(&stderr(&output));
    for line in &lines {
        assert!(line["timestamp"].is_string() && line["level"].is_string() && line["target"].is_string());
    }
    let stored = lines.iter().find(|line| line["message"] == "match stored").unwrap();
    assert!(stored["match"].as_str().unwrap().ends_with("/1.1.1"), "{stored}");
    let note = |text: &str| lines.iter().any(|line| line["message"].as_str().unwrap_or("").contains(text));
    assert!(note("agon table cup.toml"), "messages of the command are lines too");
    let output = agon(place.path(), &["run", "none.toml"]).env("AGON_LOG_FORMAT", "json").output().unwrap();
    let lines = json_lines(&stderr(&output));
    assert_eq!((output.status.success(), &lines[0]["level"]), (false, &json!("ERROR")));
}

/// A process with its log.
struct Logged {
    child: Child,
    lines: Arc<Mutex<Vec<Value>>>,
}

impl Logged {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let (log, from) = (Arc::clone(&lines), BufReader::new(child.stderr.take().unwrap()));
        std::thread::spawn(move || {
            for line in from.lines().map_while(Result::ok) {
                log.lock().unwrap().push(serde_json::from_str(&line).unwrap_or_else(|_| json!(line)));
            }
        });
        Self { child, lines }
    }

    fn lines(&self) -> Vec<Value> {
        self.lines.lock().unwrap().clone()
    }

    /// Waits for a line with this message and returns it.
    fn wait_for(&self, message: &str) -> Value {
        let has = |line: &Value| line["message"].as_str().is_some_and(|text| text.contains(message));
        wait_until(message, || self.lines().iter().any(has));
        self.lines().into_iter().find(has).unwrap()
    }

    /// Messages of the lines whose `name` is `value`, in order.
    fn messages(&self, name: &str, value: &str) -> Vec<String> {
        let lines = self.lines();
        let found = lines.iter().filter(|line| field(line, name) == value);
        found.map(|line| line["message"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Checks that the messages contain these, in this order.
#[track_caller]
fn in_order(messages: &[String], expected: &[&str]) {
    let mut rest = messages.iter();
    for step in expected {
        assert!(rest.any(|message| message.starts_with(step)), "`{step}` is missing in {messages:#?}");
    }
}

fn read(mut response: ureq::http::Response<ureq::Body>) -> (u16, Value) {
    let text = response.body_mut().read_to_string().unwrap();
    (response.status().as_u16(), serde_json::from_str(&text).unwrap_or(Value::Null))
}

#[test]
fn one_match_and_one_request_are_followed_through_server_and_worker() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let (place, nats) = (folder(), Nats::start());
    let log = ["--log", "agon=debug", "--log-format", "json"];
    let cache = place.path().join("cache");
    let worker = ["worker", "--name", "w1", "--jobs", "1", "--cache", cache.to_str().unwrap()];
    let worker = agon(place.path(), &[&worker[..], &["--nats", &nats.url()], &log].concat());
    let worker = Logged::start(worker);
    let serve = ["serve", "cup.toml", "--listen", "127.0.0.1:0", "--data", "data", "--nats", &nats.url()];
    let server = Logged::start(agon(place.path(), &[&serve[..], &log].concat()));

    // The first organiser signs up and starts the competition.
    let said = server.wait_for("Agon is at ");
    let url = said["message"].as_str().unwrap().strip_prefix("Agon is at ").unwrap().to_owned();
    let invitation = server.wait_for("There is no organiser yet");
    let code = invitation["message"].as_str().unwrap().rsplit('=').next().unwrap().to_owned();
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let api = |path: &str| format!("{url}/api/v1/{path}");
    let body = json!({"name": "olga", "password": "a good long password", "invitation": code});
    let response = agent.post(api("accounts")).send_json(&body).unwrap();
    let cookie = response.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let (status, site) = read(response);
    assert_eq!(status, 201, "{site}");
    let start = agent
        .post(api("competitions/cup/actions"))
        .header("cookie", &cookie)
        .header("x-csrf-token", site["csrf"].as_str().unwrap())
        .header("x-request-id", "start-of-the-cup");
    let response = start.send_json(json!({"action": "start"})).unwrap();
    assert_eq!(response.headers()["x-request-id"], "start-of-the-cup");
    assert_eq!(read(response).0, 200);
    server.wait_for("competition finished");

    // One match, by the key that the API gives.
    let get = |path: &str| read(agent.get(api(path)).header("cookie", &cookie).call().unwrap()).1;
    let competition = get("competitions/cup");
    let played = &get("competitions/cup/phases/1/matches")["items"][0];
    let (phase, name) = (played["phase"].as_u64().unwrap(), played["match"].as_str().unwrap());
    let commitment = &competition["commitment"].as_str().unwrap()[..16];
    let key = format!("log-cup-{commitment}/{phase}.{}", name.replace('-', "."));
    let stored = server.wait_for("match stored");
    assert_eq!((field(&stored, "match"), field(&stored, "id")), (&json!(key), &json!("cup")));
    assert_eq!(stored["worker"], "w1");
    in_order(&server.messages("match", &key), &["match queued", "result received", "match stored"]);
    worker.wait_for("result acknowledged");
    let by_worker = worker.messages("match", &key);
    in_order(&by_worker, &["match started", "game started", "game finished", "match played", "result ackn"]);
    let lines = worker.lines();
    let finished = lines.iter().find(|line| line["message"] == "game finished").unwrap();
    assert_eq!((field(finished, "worker"), field(finished, "match")), (&json!("w1"), &json!(key)));
    assert!(field(finished, "job").is_string(), "{finished}");
    let joined = server.wait_for("worker joined");
    assert_eq!(field(&joined, "worker"), "w1");

    // One request, by its id.
    let by_request = server.messages("request_id", "start-of-the-cup");
    in_order(&by_request, &["state of a competition changed", "response"]);

    // Nothing hidden is in the logs.
    for line in server.lines().iter().chain(&worker.lines()) {
        let text = line.to_string();
        let is_invitation = text.contains("There is no organiser yet");
        let cookie = cookie.split('=').next_back().unwrap();
        for secret in ["the hidden seed", "a good long password", cookie, &code] {
            assert!(is_invitation || !text.contains(secret), "{secret}: {text}");
        }
    }
}
