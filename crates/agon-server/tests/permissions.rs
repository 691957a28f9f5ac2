//! Who gets what: every route of the API's description x everybody who may ask. A route without a row fails the test.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod common;

use std::collections::BTreeSet;

use agon_site_db::{CompetitionState, Role};
use common::cup::Once;
use common::{Client, PASSWORD, Site};
use serde_json::{Value, json};

/// A site with one of everything, made anew whenever somebody has changed it: what one does, the next must not see.
struct World {
    /// Its folder goes when it goes.
    _site: Site,
    /// In the order of a row: nobody, a spectator, the author of the things in question, another author, an organiser.
    people: [Client; 5],
    /// A token of the author's.
    token: i64,
    /// An invitation's number and its code.
    invitation: (i64, String),
    /// The author's bot in the competition `cup`, which was played, and a fault of it.
    bot: (i64, u64),
    /// A bot of the author's in the competition `open`, which takes bots, and its submission.
    entry: (i64, String),
}

/// Fails at its third move.
const TRIPS: &str = "class Trips:
    asked = 0

    def get_move(self, board, player, T, N):
        print('thinking')
        self.asked += 1
        if self.asked == 3:
            raise ValueError('three is too much')
        return [c for c in range(9) if not board[0][c]][0]
";

/// Its first phase was played; before the second one bots may be handed in anew.
const CUP: &str = r#"name = "Cup"
game = "connect-five"
seed = "a cup's seed"
sandbox = "off"

[[phase]]
name = "First"
format = "round-robin"
parts = [{ games = 2, seconds = 1 }]

[[phase]]
name = "Second"
format = "round-robin"
resubmit = true
parts = [{ games = 2, seconds = 1 }]

[[entrant]]
name = "Trips"
bot = "Trips.py"

[[entrant]]
bot = "house:random"
"#;

static CUP_PLAYED: Once = Once::new();

impl World {
    async fn new() -> Self {
        let site = Site::new().await;
        let people = [
            site.nobody(),
            site.person("spectator", Role::Spectator).await,
            site.person("author", Role::Author).await,
            site.person("other", Role::Author).await,
            site.person("organiser", Role::Organiser).await,
        ];
        let token =
            people[2].post("me/tokens", json!({"label": "laptop"})).await.json["id"].as_i64().unwrap();
        let made = people[4].post("invitations", json!({"role": "author", "uses": 3})).await.json;
        let invitation = (made["id"].as_i64().unwrap(), made["code"].as_str().unwrap().to_owned());
        CUP_PLAYED.lay(site.cup_file("cup").parent().unwrap(), CUP, &[("Trips.py", TRIPS)]);
        site.host("cup", CompetitionState::Waiting, &[("Trips", people[2].id)]).await;
        std::fs::create_dir_all(site.cup_file("draft").parent().unwrap()).unwrap();
        std::fs::write(site.cup_file("draft"), CUP).unwrap();
        site.host("draft", CompetitionState::Draft, &[]).await;
        let bots = people[2].get("competitions/cup").await.json;
        let bot = bots["entrants"][0]["bot"].as_i64().unwrap();
        let faults = people[2].get(&format!("competitions/cup/bots/{bot}/faults")).await.json;
        let bot = (bot, faults["items"][0]["id"].as_u64().unwrap());
        let made =
            json!({"game": "connect-five", "name": "Open", "id": "open", "house": ["random", "tactician"]});
        assert_eq!(people[4].post("competitions", made).await.status, 201);
        people[4].post("competitions/open/actions", json!({"action": "open"})).await;
        let made = people[2].hand_in("competitions/open/bots", "Mine", b"class Mine:\n    pass\n").await.json;
        let entry = (made["bot"].as_i64().unwrap(), made["id"].as_str().unwrap().to_owned());
        Self { _site: site, people, token, invitation, bot, entry }
    }
}

/// A request, and what each gets for it.
struct Row {
    /// As the API's description has it, without `/api/v1`.
    route: &'static str,
    /// With a world's own numbers in it.
    path: fn(&World) -> String,
    body: fn() -> Option<Value>,
    /// Nobody, spectator, author, other author, organiser.
    expected: [u16; 5],
}

const fn row(
    route: &'static str,
    path: fn(&World) -> String,
    body: fn() -> Option<Value>,
    expected: [u16; 5],
) -> Row {
    Row { route, path, body, expected }
}

fn none() -> Option<Value> {
    None
}

fn at(path: &str) -> String {
    path.to_owned()
}

/// The table. [nobody, spectator, author, other author, organiser]
fn rows() -> Vec<Row> {
    let mut rows = vec![
        row("GET /site", |_| at("site"), none, [200; 5]),
        row(
            "POST /session",
            |_| at("session"),
            || Some(json!({"name": "author", "password": PASSWORD})),
            [401; 5],
        ),
        row("DELETE /session", |_| at("session"), none, [200; 5]),
        row(
            "PUT /me/password",
            |_| at("me/password"),
            || Some(json!({"old": "x", "new": "a new long password"})),
            [401, 403, 403, 403, 403],
        ),
        row(
            "POST /accounts",
            |_| at("accounts"),
            || Some(json!({"name": "new", "password": PASSWORD})),
            [201; 5],
        ),
        row("GET /accounts", |_| at("accounts"), none, [401, 403, 403, 403, 200]),
        row(
            "PATCH /accounts/{id}",
            |world| format!("accounts/{}", world.people[3].id),
            || Some(json!({"role": "spectator"})),
            [401, 403, 403, 403, 200],
        ),
        row(
            "PATCH /accounts/{id}",
            |world| format!("accounts/{}", world.people[4].id),
            || Some(json!({"disabled": true})),
            [401, 403, 403, 403, 409],
        ),
        row("GET /me/tokens", |_| at("me/tokens"), none, [401, 200, 200, 200, 200]),
        row(
            "POST /me/tokens",
            |_| at("me/tokens"),
            || Some(json!({"label": "new"})),
            [401, 201, 201, 201, 201],
        ),
        row(
            "DELETE /me/tokens/{id}",
            |world| format!("me/tokens/{}", world.token),
            none,
            [401, 404, 204, 404, 404],
        ),
        row("GET /invitations", |_| at("invitations"), none, [401, 403, 403, 403, 200]),
        row(
            "POST /invitations",
            |_| at("invitations"),
            || Some(json!({"role": "author"})),
            [401, 403, 403, 403, 201],
        ),
        row("GET /invitations/{code}", |world| format!("invitations/{}", world.invitation.1), none, [200; 5]),
        row("GET /invitations/{code}", |world| format!("invitations/{}", world.invitation.0), none, [404; 5]),
        row(
            "DELETE /invitations/{code}",
            |world| format!("invitations/{}", world.invitation.0),
            none,
            [401, 403, 403, 403, 204],
        ),
        row("GET /audit", |_| at("audit"), none, [401, 403, 403, 403, 200]),
        row("GET /games", |_| at("games"), none, [200; 5]),
        row("GET /games/{game}", |_| at("games/connect-five"), none, [200; 5]),
        row(
            "GET /games/{game}/starter/{language}",
            |_| at("games/connect-five/starter/python"),
            none,
            [200; 5],
        ),
    ];
    rows.extend(reading());
    rows.extend(running());
    rows
}

/// Competitions, phases, matches, bots, live games, downloads.
fn reading() -> Vec<Row> {
    const DRAFT: [u16; 5] = [404, 404, 404, 404, 200];
    const AUTHORS: [u16; 5] = [401, 403, 200, 403, 403];
    let read = |route: &'static str, path: fn(&World) -> String, expected: [u16; 5]| {
        row(route, path, none, expected)
    };
    vec![
        read("GET /competitions", |_| at("competitions"), [200; 5]),
        read("GET /competitions/{id}", |_| at("competitions/cup"), [200; 5]),
        read("GET /competitions/{id}", |_| at("competitions/draft"), DRAFT),
        read(
            "GET /competitions/{id}/phases/{phase}/table",
            |_| at("competitions/cup/phases/1/table"),
            [200; 5],
        ),
        read(
            "GET /competitions/{id}/phases/{phase}/table",
            |_| at("competitions/draft/phases/1/table"),
            [404, 404, 404, 404, 409],
        ),
        read(
            "GET /competitions/{id}/phases/{phase}/ratings",
            |_| at("competitions/cup/phases/1/ratings"),
            [200; 5],
        ),
        read(
            "GET /competitions/{id}/phases/{phase}/schedule",
            |_| at("competitions/cup/phases/1/schedule"),
            [200; 5],
        ),
        read(
            "GET /competitions/{id}/phases/{phase}/bracket",
            |_| at("competitions/cup/phases/1/bracket"),
            [404; 5],
        ),
        read(
            "GET /competitions/{id}/phases/{phase}/matches",
            |_| at("competitions/cup/phases/1/matches"),
            [200; 5],
        ),
        read(
            "GET /competitions/{id}/phases/{phase}/matches/{match}",
            |_| at("competitions/cup/phases/1/matches/1-1"),
            [200; 5],
        ),
        read(
            "GET /competitions/{id}/phases/{phase}/matches/{match}/games/{game}/film",
            |_| at("competitions/cup/phases/1/matches/1-1/games/1/film"),
            [200; 5],
        ),
        read(
            "GET /competitions/{id}/phases/{phase}/matches/{match}/games/{game}/record",
            |_| at("competitions/cup/phases/1/matches/1-1/games/1/record"),
            [403; 5],
        ),
        read(
            "GET /competitions/{id}/downloads/{file}",
            |_| at("competitions/cup/downloads/games.csv"),
            [200; 5],
        ),
        read(
            "GET /competitions/{id}/downloads/{file}",
            |_| at("competitions/cup/downloads/records.agon"),
            [403; 5],
        ),
        read(
            "GET /competitions/{id}/bots/{bot}",
            |world| format!("competitions/cup/bots/{}", world.bot.0),
            [200; 5],
        ),
        read(
            "GET /competitions/{id}/bots/{bot}/faults",
            |world| format!("competitions/cup/bots/{}/faults", world.bot.0),
            [200; 5],
        ),
        read(
            "GET /competitions/{id}/bots/{bot}/logs/{phase}/{match}/{game}",
            |world| format!("competitions/cup/bots/{}/logs/1/1-1/1", world.bot.0),
            AUTHORS,
        ),
        read(
            "GET /competitions/{id}/bots/{bot}/faults/{fault}/capsule",
            |world| format!("competitions/cup/bots/{}/faults/{}/capsule", world.bot.0, world.bot.1),
            AUTHORS,
        ),
        read("GET /competitions/{id}/events", |_| at("competitions/cup/events"), [200; 5]),
        read("GET /competitions/{id}/events", |_| at("competitions/draft/events"), DRAFT),
        read("GET /competitions/{id}/boards", |_| at("competitions/cup/boards"), [200; 5]),
        read(
            "GET /competitions/{id}/boards/{board}/watch",
            |_| at("competitions/cup/boards/0/watch"),
            [404; 5],
        ),
    ]
}

/// What is an author's alone is in nobody else's answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_bot_prints_is_for_its_author_alone() {
    let world = World::new().await;
    let (bot, fault) = world.bot;
    for (place, client) in world.people.iter().enumerate() {
        let mine = place == 2;
        let film = client.get("competitions/cup/phases/1/matches/1-1/games/1/film").await;
        assert_eq!(film.json["logs"][0]["text"] == "thinking\n", mine, "{}", film.json["logs"]);
        let item = client.get(&format!("competitions/cup/bots/{bot}/faults")).await.json["items"][0].clone();
        assert_eq!((&item["fault"], item["id"].as_u64()), (&json!("crash"), Some(fault)));
        assert!(item["says"].as_str().unwrap().contains("three is too much"));
        assert_eq!((item["stderr"].is_string(), item["capsule"].is_string()), (mine, mine), "{item}");
        let page = client.get(&format!("competitions/cup/bots/{bot}")).await.json;
        assert_eq!(page["mine"], mine);
        assert_eq!(page["versions"][0]["submission"].is_string(), mine || place == 4, "{page}");
        let whole = client.get("competitions/cup").await.json;
        assert_eq!(whole["entrants"][0]["mine"], mine);
        let mine_there =
            client.get("competitions/cup/phases/1/table").await.json["entrants"][0]["mine"].clone();
        assert_eq!(mine_there, false, "a table is the same for all");
    }
    let author = &world.people[2];
    let log = author.get(&format!("competitions/cup/bots/{bot}/logs/1/1-1/1")).await.json;
    assert!(
        log["turns"][0]["text"].as_str().unwrap().starts_with("thinking") && log["cut"] == false,
        "{log}"
    );
    let film = author.get("competitions/cup/phases/1/matches/1-1/games/1/film").await;
    let nobodys = world.people[0].get("competitions/cup/phases/1/matches/1-1/games/1/film").await;
    assert_ne!(film.header("etag"), nobodys.header("etag"));
    let missing = author.get(&format!("competitions/cup/bots/{bot}/faults/{}/capsule", fault + 1000)).await;
    assert_eq!(missing.status, 404);
}

/// Submissions, the desk, rulings, the machine.
fn running() -> Vec<Row> {
    const FILE: &str = "game = \"connect-five\"\n\n[[phase]]\nformat = \"round-robin\"\n";
    let for_organisers = |status| [401, 403, 403, 403, status];
    vec![
        row("GET /presets", |_| at("presets"), none, for_organisers(200)),
        row(
            "POST /competitions",
            |_| at("competitions"),
            || Some(json!({"game": "word-racer", "name": "New"})),
            for_organisers(201),
        ),
        row(
            "PUT /competitions/{id}/file",
            |_| at("competitions/open/file"),
            || Some(json!({"file": FILE})),
            for_organisers(200),
        ),
        row("DELETE /competitions/{id}", |_| at("competitions/draft"), none, for_organisers(204)),
        row("DELETE /competitions/{id}", |_| at("competitions/open"), none, for_organisers(409)),
        row(
            "POST /competitions/{id}/actions",
            |_| at("competitions/open/actions"),
            || Some(json!({"action": "close"})),
            for_organisers(200),
        ),
        row(
            "POST /competitions/{id}/rulings",
            |_| at("competitions/open/rulings"),
            || Some(json!({"kind": "void", "phase": 1, "match": "1-1", "reason": "x"})),
            for_organisers(409),
        ),
        row(
            "POST /competitions/{id}/rulings/{ruling}/lift",
            |_| at("competitions/open/rulings/1/lift"),
            || Some(json!({"reason": "x"})),
            for_organisers(409),
        ),
        row("GET /machine", |_| at("machine"), none, for_organisers(200)),
        row("GET /workers", |_| at("workers"), none, for_organisers(200)),
        // Nobody is there: games are played on this machine.
        row("POST /workers/{name}/drain", |_| at("workers/w1/drain"), none, for_organisers(404)),
        row("GET /competitions/{id}/workers", |_| at("competitions/cup/workers"), none, for_organisers(200)),
        // A form is asked for: who may hand in gets as far as that.
        row(
            "POST /competitions/{id}/bots",
            |_| at("competitions/open/bots"),
            || Some(json!({})),
            [401, 403, 415, 415, 415],
        ),
        row(
            "POST /competitions/{id}/bots",
            |_| at("competitions/draft/bots"),
            || Some(json!({})),
            [401, 403, 404, 404, 409],
        ),
        row(
            "POST /competitions/{id}/bots/{bot}/versions",
            |world| format!("competitions/open/bots/{}/versions", world.entry.0),
            || Some(json!({})),
            [401, 403, 415, 403, 403],
        ),
        row(
            "DELETE /competitions/{id}/bots/{bot}",
            |world| format!("competitions/open/bots/{}", world.entry.0),
            none,
            [401, 403, 204, 403, 204],
        ),
        row(
            "GET /submissions/{id}",
            |world| format!("submissions/{}", world.entry.1),
            none,
            [401, 404, 200, 404, 200],
        ),
        row(
            "GET /submissions/{id}/trials/{n}",
            |world| format!("submissions/{}/trials/1", world.entry.1),
            none,
            [401, 404, 404, 404, 404],
        ),
        row("GET /me/bots", |_| at("me/bots"), none, [401, 200, 200, 200, 200]),
    ]
}

/// Every operation of the API's description, as a row names it.
fn described() -> BTreeSet<String> {
    let api = serde_json::to_value(agon_server::description()).unwrap();
    let mut all = BTreeSet::new();
    for (path, item) in api["paths"].as_object().unwrap() {
        let path = path.strip_prefix("/api/v1").unwrap();
        for method in item.as_object().unwrap().keys() {
            if matches!(method.as_str(), "get" | "put" | "post" | "patch" | "delete") {
                all.insert(format!("{} {path}", method.to_uppercase()));
            }
        }
    }
    all
}

#[test]
fn every_route_has_a_row_and_every_row_a_route() {
    let rows: BTreeSet<String> = rows().iter().map(|row| row.route.to_owned()).collect();
    assert_eq!(rows, described());
}

#[tokio::test]
async fn everybody_gets_what_is_theirs_and_no_more() {
    let names = ["nobody", "spectator", "author", "other author", "organiser"];
    let mut wrong = Vec::new();
    let mut world = World::new().await;
    for row in rows() {
        for (place, expected) in row.expected.into_iter().enumerate() {
            let (method, _) = row.route.split_once(' ').unwrap();
            let path = (row.path)(&world);
            let answer = world.people[place].send(method, &path, (row.body)()).await;
            if answer.status.as_u16() != expected {
                wrong.push(format!(
                    "{} ({path}) as {}: {}, expected {expected}: {}",
                    row.route, names[place], answer.status, answer.json
                ));
            }
            if method != "GET" && answer.status.is_success() {
                world = World::new().await;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_private_site_shows_nobody_anything_but_the_way_in() {
    let open = ["GET /site", "POST /session", "DELETE /session", "POST /accounts", "GET /invitations/{code}"];
    let site = Site::with(|config| config.private = true).await;
    let world = World::new().await;
    for row in rows() {
        let (method, _) = row.route.split_once(' ').unwrap();
        let answer = site.nobody().send(method, &(row.path)(&world), (row.body)()).await;
        let is_open = open.contains(&row.route) && row.route != "DELETE /session";
        assert_eq!(
            answer.status == 401 && answer.code() == "sign_in",
            !is_open,
            "{}: {} {}",
            row.route,
            answer.status,
            answer.json
        );
    }
    assert_eq!(site.nobody().get("/api/openapi.json").await.status, 401);
    assert_eq!(site.nobody().get("/metrics").await.status, 401);
    assert_eq!(site.nobody().get("/healthz").await.status, 200);
    let somebody = site.person("somebody", Role::Spectator).await;
    assert_eq!(somebody.get("games").await.status, 200);
    assert_eq!(somebody.get("/metrics").await.status, 200);
}
