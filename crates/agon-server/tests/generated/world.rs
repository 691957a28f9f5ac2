//! A site with data of every kind: competitions that were played, one that waits, one that is open, a draft; bots, faults,
//! submissions, tokens, invitations; and users of every role.

use std::collections::BTreeMap;
use std::fs;

use agon_server::played_games::NewPlayedGame;
use agon_server::practice::ladder_games::settings_json;
use agon_server::practice::play::{GameToPlay, play_game};
use agon_site_db::{Account, AccountId, CompetitionState, PlayedKind, PlayedSeat, Role};
use agon_store::Timestamp;
use serde_json::{Value, json};

use super::common::competition::played;
use super::common::{Client, Site};

/// The seed of a competition that is not finished. It must never be in a response.
pub const SECRET: &str = "a seed that must stay secret";

/// A bot that loads, but exits in its first turn.
const BROKEN: &str = r#"json:sh -c 'read x; echo "{\"id\": 1}"; echo oops >&2; exit 3'"#;

/// Competitions whose files can be edited.
const DRAFTS: [&str; 8] = ["edit-1", "edit-2", "edit-3", "edit-4", "edit-5", "edit-6", "edit-7", "edit-8"];
/// Competitions with word lists of their own.
const OWN_WORDS: [&str; 8] =
    ["words-1", "words-2", "words-3", "words-4", "words-5", "words-6", "words-7", "words-8"];

/// Names of the clients, in the order of [`World::clients`].
pub const CLIENT_NAMES: [&str; 7] = [
    "anonymous",
    "spectator",
    "author",
    "other author",
    "organiser",
    "user with a password",
    "organiser's program",
];

pub struct World {
    pub site: Site,
    accounts: Vec<(Account, Role)>,
    pub clients: Vec<Client>,
    /// Values for path parameters, by the preceding word.
    pub known: BTreeMap<String, Vec<String>>,
    /// Complete paths by operation, for those that random values would hardly ever find.
    pub addresses: BTreeMap<&'static str, Vec<String>>,
    /// Code of an invitation.
    code: String,
    rounds: usize,
}

fn competition_text(game: &str, head: &str, phase: &str, bots: &[&str]) -> String {
    let mut text = format!(
        "name = \"A {game} cup\"\ngame = \"{game}\"\n{head}\n\n[[phase]]\nname = \"First\"\n{phase}\n"
    );
    for bot in bots {
        let bot = if bot.contains(' ') { format!("{bot:?}") } else { format!("\"house:{bot}\"") };
        let name = if bot.contains("json:") { "name = \"broken\"\n" } else { "" };
        text += &format!("\n[[entrant]]\n{name}bot = {bot}\n");
    }
    text
}

fn over() -> Vec<(&'static str, String)> {
    let five = "format = \"round-robin\"\nlegs = 2\nparts = [{ games = 1, seconds = 1 }]";
    vec![
        (
            "solitude",
            competition_text(
                "solitude-scramble",
                "",
                "format = \"groups\"\nmatches = 4",
                &["random", "left", "greedy", "centre"],
            ),
        ),
        (
            "colours",
            competition_text(
                "colour-battle",
                "[settings]\nrounds = 30",
                "format = \"arena\"\ngames = 2",
                &["random", "sweeper", "seeker"],
            ),
        ),
        // One bot exits at once, so that there are faults.
        ("five", competition_text("connect-five", "sandbox = \"off\"", five, &["random", "stacker", BROKEN])),
        (
            "hiding",
            competition_text(
                "hide-and-seek",
                "[settings]\nsteps = 60",
                "format = \"cross\"\nboards = 2",
                &["random-seeker", "random-hider", "still-hider"],
            ),
        ),
        (
            "words",
            competition_text(
                "word-racer",
                "",
                "format = \"knockout\"\nseeding = \"file\"\npairs = 1\nthird = true",
                &["random", "filler", "rows", "z-racer"],
            ),
        ),
    ]
}

impl World {
    pub async fn new() -> Self {
        let site = Site::new().await;
        let mut accounts = Vec::new();
        for (name, role) in [
            ("spectator", Role::Spectator),
            ("author", Role::Author),
            ("other", Role::Author),
            ("organiser", Role::Organiser),
        ] {
            accounts.push((site.account(name, role).await, role));
        }
        // With a usable password.
        let mut signer = site.anonymous();
        assert_eq!(signer.sign_up("signer", None).await.status, 201);
        let signer = site.app.site_db.account_by_name("signer").await.unwrap();
        accounts.push((signer.unwrap(), Role::Author));
        // Two organisers, so that one can be demoted.
        site.account("second", Role::Organiser).await;
        let author = accounts[1].0.id.0;
        for (id, text) in over() {
            write_competition(&site, id, &text);
            played(&site.competition_file(id));
            site.host(id, CompetitionState::Finished, &[("broken", author), ("left", author)]).await;
        }
        let seed = format!("seed = \"{SECRET}\"\n[settings]\nsteps = 40");
        let two = "format = \"cross\"\nboards = 1\n\n[[phase]]\nname = \"Second\"\nresubmit = true\nformat = \"cross\"\nboards = 1";
        write_competition(
            &site,
            "waiting",
            &competition_text("hide-and-seek", &seed, two, &["random-seeker", "random-hider"]),
        );
        played(&site.competition_file("waiting"));
        site.host("waiting", CompetitionState::Waiting, &[("random-hider", author)]).await;
        let mut world = Self {
            site,
            accounts,
            clients: Vec::new(),
            known: BTreeMap::new(),
            addresses: BTreeMap::new(),
            code: String::new(),
            rounds: 0,
        };
        world.restore_accounts().await;
        world.fill().await;
        world.refresh_parameters().await;
        world
    }

    /// Restores all accounts and sessions after requests that changed them.
    pub async fn restore_accounts(&mut self) {
        self.rounds += 1;
        let site_db = &self.site.app.site_db;
        let mut clients = vec![self.site.anonymous()];
        for (account, role) in &self.accounts {
            let _ = site_db.set_disabled(AccountId(account.id.0), false, Timestamp::now()).await;
            let _ = site_db.set_role(account.id, *role).await;
            clients.push(self.site.signed_in(account).await);
        }
        let token = clients[4].post("me/tokens", json!({"label": format!("tests {}", self.rounds)})).await;
        let mut program = self.site.anonymous();
        program.token = token.json["token"].as_str().map(str::to_owned);
        assert!(program.token.is_some(), "{}", token.json);
        // The number of tokens per account is limited.
        let tokens = clients[4].get("me/tokens").await.json;
        for one in
            tokens["items"].as_array().into_iter().flatten().filter(|one| one["id"] != token.json["id"])
        {
            clients[4].delete(&format!("me/tokens/{}", one["id"])).await;
        }
        clients.push(program);
        self.clients = clients;
    }

    /// Creates data through the API.
    async fn fill(&mut self) {
        let (author, organiser) = (self.clients[2].clone(), self.clients[4].clone());
        for (id, action) in [("open", Some("open")), ("closed", Some("open")), ("draft", None)] {
            let body = json!({"game": "connect-five", "name": format!("The {id} one"), "id": id, "house": ["random", "stacker"], "max_bytes": 100_000});
            let made = organiser.post("competitions", body).await;
            assert_eq!(made.status, 201, "{}", made.json);
            if let Some(action) = action {
                organiser.post(&format!("competitions/{id}/actions"), json!({"action": action})).await;
            }
        }
        organiser.post("competitions/closed/actions", json!({"action": "close"})).await;
        // Several of each: random requests also delete competitions and files.
        for id in DRAFTS {
            let body = json!({"game": "connect-five", "name": id, "id": id, "house": ["random", "stacker"]});
            let made = organiser.post("competitions", body).await;
            assert_eq!(made.status, 201, "{}", made.json);
        }
        let edited =
            organiser.put("competitions/edit-1/file", json!({"file": super::mutate::COMPETITION})).await;
        assert_eq!(edited.status, 200, "{}", edited.json);
        for id in OWN_WORDS {
            let body = json!({"game": "word-racer", "name": id, "id": id, "house": ["random", "rows"]});
            let made = organiser.post("competitions", body).await;
            assert_eq!(made.status, 201, "{}", made.json);
            let mut request = organiser.request("PUT", &format!("competitions/{id}/files/words"));
            request.headers_mut().insert("content-type", "application/octet-stream".parse().unwrap());
            *request.body_mut() = super::mutate::WORDS.to_vec().into();
            let answer = organiser.ask(request).await;
            assert_eq!(answer.status, 204, "{}", answer.json);
        }
        let made = organiser.post("invitations", json!({"role": "author", "uses": 100})).await;
        made.json["code"].as_str().unwrap().clone_into(&mut self.code);
        author.post("me/tokens", json!({"label": "laptop"})).await;
        let body = "--X\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nmine\r\n--X\r\nContent-Disposition: form-data; name=\"file\"; \
            filename=\"bot.py\"\r\n\r\nclass Bot: pass\r\n--X--\r\n";
        let mut request = author.request("POST", "competitions/open/bots");
        request.headers_mut().insert("content-type", "multipart/form-data; boundary=X".parse().unwrap());
        *request.body_mut() = body.into();
        let answer = author.ask(request).await;
        assert_eq!(answer.status, 201, "{}", answer.json);
        let challenge =
            json!({"game": "connect-five", "bots": [{"house": "random"}, {"house": "stacker"}], "games": 1});
        let answer = organiser.post("challenges", challenge).await;
        assert_eq!(answer.status, 201, "{}", answer.json);
        self.store_game().await;
        let rule = json!({"kind": "void", "phase": 1, "match": "1-1", "reason": "a test"});
        let answer = organiser.post("competitions/solitude/rulings", rule).await;
        assert_eq!(answer.status, 201, "{}", answer.json);
    }

    /// Plays a game of two house bots and stores it as a game of a visitor.
    async fn store_game(&self) {
        let table = agon_engine::any_game("connect-five").unwrap();
        let settings = agon_core::Settings::defaults(table.info().settings);
        let names = ["random", "stacker"];
        let seats = names.map(|name| agon_engine::PlayerSpec::House(name.to_owned()));
        let game = GameToPlay {
            game: table.as_ref(),
            settings: &settings,
            assets: &agon_core::Assets::none(),
            seats: &seats,
            seed: 7,
            timeout: std::time::Duration::from_mins(1),
        };
        let played = play_game(game, &|| false).unwrap();
        let seat = |name: &str| PlayedSeat {
            name: name.to_owned(),
            house: Some(name.to_owned()),
            ..PlayedSeat::default()
        };
        let new = NewPlayedGame {
            game: "connect-five".to_owned(),
            kind: PlayedKind::Person,
            seats: names.map(seat).to_vec(),
            settings: settings_json(&settings),
            seed: played.seed,
            outcome: serde_json::to_value(&played.outcome).unwrap(),
            record: played.record,
            started: played.started,
            ended: played.ended,
            owner: None,
        };
        self.site.app.played_games.store(new).await.unwrap();
    }

    /// Reads the current values for path parameters.
    pub async fn refresh_parameters(&mut self) {
        let organiser = &self.clients[4];
        let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut put = |word: &str, value: &Value| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            if !value.is_null() {
                known.entry(word.to_owned()).or_default().push(text);
            }
        };
        let list = organiser.get("competitions?limit=200").await.json;
        for one in list["items"].as_array().unwrap() {
            put("competitions", &one["id"]);
            let id = one["id"].as_str().unwrap();
            let whole = organiser.get(&format!("competitions/{id}")).await.json;
            for bot in whole["entrants"].as_array().into_iter().flatten() {
                put(&format!("{id}/bots"), &bot["bot"]);
            }
            for file in whole["downloads"].as_array().into_iter().flatten() {
                let name = file["path"].as_str().unwrap_or_default().rsplit('/').next().unwrap_or_default();
                put("downloads", &json!(name));
            }
        }
        put("invitations", &json!(self.code));
        let mut addresses: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        let broken = organiser.get("competitions/five").await.json;
        let broken =
            broken["entrants"].as_array().unwrap().iter().find(|one| one["name"] == "broken").unwrap()["bot"]
                .clone();
        let of_broken = format!("/api/v1/competitions/five/bots/{broken}");
        for one in self.clients[2].get(&format!("{of_broken}/faults")).await.json["items"].as_array().unwrap()
        {
            let capsule = one["capsule"].as_str().expect("its author has it").to_owned();
            addresses
                .entry("/api/v1/competitions/{id}/bots/{bot}/faults/{fault}/capsule")
                .or_default()
                .push(capsule);
            let log = format!("{of_broken}/logs/1/{}/{}", one["match"].as_str().unwrap(), one["game"]);
            addresses
                .entry("/api/v1/competitions/{id}/bots/{bot}/logs/{phase}/{match}/{game}")
                .or_default()
                .push(log);
        }
        for (path, word, field) in
            [("games", "games", "id"), ("invitations", "invitations", "id"), ("accounts", "accounts", "id")]
        {
            for one in organiser.get(path).await.json["items"].as_array().unwrap() {
                put(word, &one[field]);
            }
        }
        for person in &self.clients[1..] {
            for one in person.get("me/tokens").await.json["items"].as_array().into_iter().flatten() {
                put("tokens", &one["id"]);
            }
            for bot in person.get("me/bots").await.json["items"].as_array().into_iter().flatten() {
                put("submissions", &bot["latest"]["id"]);
                if bot["accepts"] == true {
                    let path = format!(
                        "/api/v1/competitions/{}/bots/{}/versions",
                        bot["competition"].as_str().unwrap(),
                        bot["bot"]
                    );
                    addresses.entry("/api/v1/competitions/{id}/bots/{bot}/versions").or_default().push(path);
                }
            }
        }
        for (path, word) in [("challenges", "challenges"), ("played", "played")] {
            for one in organiser.get(path).await.json["items"].as_array().into_iter().flatten() {
                put(word, &one["id"]);
            }
        }
        add_addresses(&mut addresses);
        for (word, values) in [
            ("phases", &["1", "1", "1", "2"][..]),
            ("matches", &["1-1", "1-2", "2-1", "1-3"]),
            ("starter", &["python", "rust", "json"]),
            ("trials", &["1", "0"]),
            ("boards", &["0", "1"]),
            ("faults", &["1", "2", "0"]),
            ("rulings", &["1", "2"]),
            ("logs", &["1"]),
            ("people", &["author", "organiser"]),
            ("teams", &["1", "2"]),
            ("n", &["1", "2", "0"]),
        ] {
            for value in values {
                put(word, &json!(value));
            }
        }
        self.known = known;
        self.addresses = addresses;
    }
}

/// Addresses of operations that random values would hardly ever find.
fn add_addresses(addresses: &mut BTreeMap<&'static str, Vec<String>>) {
    let mut add = |path, whole: String| addresses.entry(path).or_default().push(whole);
    let lift = "/api/v1/competitions/solitude/rulings/1/lift";
    add("/api/v1/competitions/{id}/rulings/{ruling}/lift", lift.to_owned());
    for (id, _) in over() {
        add("/api/v1/competitions/{id}/rulings", format!("/api/v1/competitions/{id}/rulings"));
    }
    for id in DRAFTS {
        add("/api/v1/competitions/{id}/file", format!("/api/v1/competitions/{id}/file"));
    }
    for id in OWN_WORDS {
        let whole = format!("/api/v1/competitions/{id}/files/words");
        add("/api/v1/competitions/{id}/files/{setting}", whole);
    }
}

fn write_competition(site: &Site, id: &str, text: &str) {
    let file = site.competition_file(id);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}
