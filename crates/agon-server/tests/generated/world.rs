//! A site with something of everything: competitions that were played, one that waits, one that is open, a draft; bots, faults,
//! submissions, tokens, invitations; and people of every role.

use std::collections::BTreeMap;
use std::fs;

use agon_site_db::{Account, AccountId, CompetitionState, Role};
use agon_store::Timestamp;
use serde_json::{Value, json};

use super::common::cup::played;
use super::common::{Client, Site};

/// Words that must never be in an answer, whoever asks: where the data lies, and the seed of a competition that is not over.
pub const SECRET: &str = "a seed that nobody may know";

/// A bot that comes up and ends when it is to play.
const BROKEN: &str = r#"json:sh -c 'read x; echo "{\"id\": 1}"; echo oops >&2; exit 3'"#;

/// Who asks, in the order of [`World::people`].
pub const PEOPLE: [&str; 7] = [
    "nobody",
    "spectator",
    "author",
    "other author",
    "organiser",
    "somebody with a password",
    "organiser's program",
];

pub struct World {
    pub site: Site,
    accounts: Vec<(Account, Role)>,
    pub people: Vec<Client>,
    /// What can stand in a path, by the word before it.
    pub known: BTreeMap<String, Vec<String>>,
    /// Whole addresses, by the operation: where chance alone would hardly ever find one.
    pub addresses: BTreeMap<&'static str, Vec<String>>,
    /// The code of an invitation.
    code: String,
    rounds: usize,
}

fn cup(game: &str, head: &str, phase: &str, bots: &[&str]) -> String {
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
            cup(
                "solitude-scramble",
                "",
                "format = \"groups\"\nmatches = 4",
                &["random", "left", "greedy", "centre"],
            ),
        ),
        (
            "colours",
            cup(
                "colour-battle",
                "[settings]\nrounds = 30",
                "format = \"arena\"\ngames = 2",
                &["random", "sweeper", "seeker"],
            ),
        ),
        // One of them ends at once: there are faults to see.
        ("five", cup("connect-five", "sandbox = \"off\"", five, &["random", "stacker", BROKEN])),
        (
            "hiding",
            cup(
                "hide-and-seek",
                "[settings]\nsteps = 60",
                "format = \"cross\"\nboards = 2",
                &["random-seeker", "random-hider", "still-hider"],
            ),
        ),
        (
            "words",
            cup(
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
        // With a password that works.
        let mut signer = site.nobody();
        assert_eq!(signer.sign_up("signer", None).await.status, 201);
        let signer = site.app.office.account_by_name("signer").await.unwrap();
        accounts.push((signer.unwrap(), Role::Author));
        // Two, so that one can go.
        site.account("second", Role::Organiser).await;
        let author = accounts[1].0.id.0;
        for (id, text) in over() {
            lay(&site, id, &text);
            played(&site.cup_file(id));
            site.host(id, CompetitionState::Finished, &[("broken", author), ("left", author)]).await;
        }
        let seed = format!("seed = \"{SECRET}\"\n[settings]\nsteps = 40");
        let two = "format = \"cross\"\nboards = 1\n\n[[phase]]\nname = \"Second\"\nresubmit = true\nformat = \"cross\"\nboards = 1";
        lay(&site, "waiting", &cup("hide-and-seek", &seed, two, &["random-seeker", "random-hider"]));
        played(&site.cup_file("waiting"));
        site.host("waiting", CompetitionState::Waiting, &[("random-hider", author)]).await;
        let mut world = Self {
            site,
            accounts,
            people: Vec::new(),
            known: BTreeMap::new(),
            addresses: BTreeMap::new(),
            code: String::new(),
            rounds: 0,
        };
        world.come_back().await;
        world.fill().await;
        world.look_around().await;
        world
    }

    /// Everybody is signed in, and is what they were: whatever was done to their accounts.
    pub async fn come_back(&mut self) {
        self.rounds += 1;
        let office = &self.site.app.office;
        let mut people = vec![self.site.nobody()];
        for (account, role) in &self.accounts {
            let _ = office.set_disabled(AccountId(account.id.0), false, Timestamp::now()).await;
            let _ = office.set_role(account.id, *role).await;
            people.push(self.site.signed_in(account).await);
        }
        let token = people[4].post("me/tokens", json!({"label": format!("tests {}", self.rounds)})).await;
        let mut program = self.site.nobody();
        program.token = token.json["token"].as_str().map(str::to_owned);
        assert!(program.token.is_some(), "{}", token.json);
        // There is a limit to how many one may have.
        let tokens = people[4].get("me/tokens").await.json;
        for one in
            tokens["items"].as_array().into_iter().flatten().filter(|one| one["id"] != token.json["id"])
        {
            people[4].delete(&format!("me/tokens/{}", one["id"])).await;
        }
        people.push(program);
        self.people = people;
    }

    /// What is made over the API.
    async fn fill(&mut self) {
        let (author, organiser) = (self.people[2].clone(), self.people[4].clone());
        for (id, action) in [("open", Some("open")), ("closed", Some("open")), ("draft", None)] {
            let body = json!({"game": "connect-five", "name": format!("The {id} one"), "id": id, "house": ["random", "stacker"], "max_bytes": 100_000});
            let made = organiser.post("competitions", body).await;
            assert_eq!(made.status, 201, "{}", made.json);
            if let Some(action) = action {
                organiser.post(&format!("competitions/{id}/actions"), json!({"action": action})).await;
            }
        }
        organiser.post("competitions/closed/actions", json!({"action": "close"})).await;
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
        let rule = json!({"kind": "void", "phase": 1, "match": "1-1", "reason": "a test"});
        let answer = organiser.post("competitions/solitude/rulings", rule).await;
        assert_eq!(answer.status, 201, "{}", answer.json);
    }

    /// What can stand in paths just now.
    pub async fn look_around(&mut self) {
        let organiser = &self.people[4];
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
        for one in self.people[2].get(&format!("{of_broken}/faults")).await.json["items"].as_array().unwrap()
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
        for person in &self.people[1..] {
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
        for (word, values) in [
            ("phases", &["1", "1", "1", "2"][..]),
            ("matches", &["1-1", "1-2", "2-1", "1-3"]),
            ("starter", &["python", "rust", "json"]),
            ("trials", &["1", "0"]),
            ("boards", &["0", "1"]),
            ("faults", &["1", "2", "0"]),
            ("rulings", &["1", "2"]),
            ("logs", &["1"]),
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

fn lay(site: &Site, id: &str, text: &str) {
    let file = site.cup_file(id);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}
