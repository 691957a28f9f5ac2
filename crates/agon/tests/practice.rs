//! Practice on a server with real Python bots in the real sandbox: the ladder, challenges, replays, and a restart.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const PASSWORD: &str = "a good long password";
const FILE: &str = "game = \"colour-battle\"\nseed = \"a cup's seed\"\n\
    [settings]\nrounds = 60\n[[phase]]\nformat = \"round-robin\"\n";

/// A server in a folder. It is killed at the end.
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

fn serve(folder: &Path) -> Served {
    let words = ["serve", "--listen", "127.0.0.1:0", "--data", "data", "--sign-up", "open", "--jobs", "2"];
    let mut child = command(folder, &words).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let first = lines.next().unwrap();
    let url = first.strip_prefix("Agon is at ").unwrap_or_else(|| panic!("{first}")).to_owned();
    // The link follows at once if there is no organiser.
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in lines {
            let _ = sender.send(line);
        }
    });
    let agent = agent();
    assert_eq!(read(agent.get(format!("{url}/healthz")).call().unwrap()).0, 200);
    let mut invitation = None;
    while let Ok(line) = receiver.recv_timeout(Duration::from_millis(200)) {
        if line.contains("invite=") {
            invitation = line.rsplit('=').next().map(str::to_owned);
            break;
        }
    }
    Served { child, url, invitation }
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

/// A user with an API token.
struct Person {
    agent: ureq::Agent,
    url: String,
    token: String,
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
        Self { agent, url: served.url.clone(), token: token["token"].as_str().unwrap().to_owned() }
    }

    fn at(&self, served: &Served) -> Self {
        Self { agent: agent(), url: served.url.clone(), token: self.token.clone() }
    }

    fn get(&self, path: &str) -> (u16, Value) {
        let request = self.agent.get(format!("{}/api/v1/{path}", self.url));
        read(request.header("authorization", format!("Bearer {}", self.token)).call().unwrap())
    }

    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let request = self.agent.post(format!("{}/api/v1/{path}", self.url));
        read(request.header("authorization", format!("Bearer {}", self.token)).send_json(body).unwrap())
    }

    fn wait_for<T>(&self, what: &str, value: impl Fn(&Self) -> Option<T>) -> T {
        let until = Instant::now() + 2 * agon_test_servers::WAIT_TIMEOUT;
        loop {
            if let Some(found) = value(self) {
                return found;
            }
            assert!(Instant::now() < until, "{what} did not happen");
            sleep(Duration::from_millis(50));
        }
    }

    fn submit(&self, folder: &Path, name: &str) -> i64 {
        let words = ["submit", "--server", &self.url, "cup", "mine", "--name", name];
        let output = command(folder, &words).env("AGON_TOKEN", &self.token).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let (_, mine) = self.get("me/bots");
        let items = mine["items"].as_array().unwrap();
        items.iter().find(|one| one["name"] == name).unwrap()["bot"].as_i64().unwrap()
    }

    /// The row of a bot on the ladder, after this many games.
    fn rated(&self, bot: i64, games: u64) -> Value {
        self.wait_for("the games of the bot", |me| {
            let (_, ladder) = me.get("competitions/cup/practice");
            let rows = ladder["players"].as_array()?;
            let own = rows.iter().find(|one| one["bot"] == bot)?;
            (own["games"].as_u64()? >= games && own["rating"].is_f64()).then(|| own.clone())
        })
    }
}

#[test]
fn accepted_bots_practise_are_challenged_and_keep_their_ratings() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let served = serve(place.path());
    let organiser = Person::new(&served, "olga", served.invitation.as_deref());
    let ada = Person::new(&served, "ada", None);
    let bob = Person::new(&served, "bob", None);
    let made = json!({"game": "colour-battle", "name": "Cup", "id": "cup", "file": FILE});
    assert_eq!(organiser.post("competitions", &made).0, 201);
    assert_eq!(organiser.post("competitions/cup/actions", &json!({"action": "open"})).0, 200);
    for (path, content, _) in agon_bots::starter::files("colour-battle", "python", "starter").unwrap() {
        let path = place.path().join("mine").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let hers = ada.submit(place.path(), "Hers");
    let his = bob.submit(place.path(), "His");
    let row = ada.rated(hers, 4);
    assert!(row["error"].as_f64().unwrap() > 0.0 && row["failed"].is_null(), "{row}");
    bob.rated(his, 4);
    // The first games are kept, with films for everybody.
    let (_, games) = bob.get(&format!("played?kind=practice&entrant={hers}"));
    let game = &games["items"][0];
    let (status, film) = bob.get(&format!("played/{}/film", game["id"].as_str().unwrap()));
    assert_eq!((status, film["game"].as_str()), (200, Some("colour-battle")), "{film}");
    // A challenge with her own bot and a house bot.
    let body = json!({"competition": "cup", "bots": [{"bot": hers}, {"house": "random"}], "games": 4});
    let (status, challenge) = ada.post("challenges", &body);
    assert_eq!(status, 201, "{challenge}");
    let path = format!("challenges/{}", challenge["id"].as_str().unwrap());
    let done = ada.wait_for("the end of the challenge", |me| {
        let (_, now) = me.get(&path);
        (now["state"] != "queued" && now["state"] != "playing").then_some(now)
    });
    assert_eq!((done["state"].as_str(), done["played"].as_u64()), (Some("done"), Some(4)), "{done}");
    assert!(done["bots"][0]["wins"].as_f64() > done["bots"][1]["wins"].as_f64(), "{done}");
    assert_eq!(bob.post("challenges", &body).0, 403, "she does not allow it");
    // A server that was killed knows the ladder.
    let before = ada.rated(hers, 6)["games"].as_u64().unwrap();
    drop(served);
    let served = serve(place.path());
    let row = ada.at(&served).rated(hers, before + 2);
    assert!(row["rating"].is_f64(), "{row}");
}
