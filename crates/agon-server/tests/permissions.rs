//! Permissions: every route of the API description for every kind of user. A route without a row fails the test.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod common;

use std::collections::BTreeSet;

use agon_site_db::{CompetitionState, Role};
use common::competition::Once;
use common::{Client, PASSWORD, Site};
use serde_json::{Value, json};

/// A site with one of everything. It is created again after each change, so that no request sees the effect of an earlier one.
struct World {
    /// Keeps the site's folder.
    _site: Site,
    /// Users in the order of a row: anonymous, spectator, the author of the tested objects, another author, an organiser.
    people: [Client; 5],
    /// A token of the author.
    token: i64,
    /// Number and code of an invitation.
    invitation: (i64, String),
    /// The author's bot in the played competition `cup`, and one of its faults.
    bot: (i64, u64),
    /// A bot of the author in the competition `open`, which accepts submissions, and its submission.
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

/// Its first phase was played. New versions of bots are accepted before the second one.
const COMPETITION: &str = r#"name = "Cup"
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
            site.anonymous(),
            site.person("spectator", Role::Spectator).await,
            site.person("author", Role::Author).await,
            site.person("other", Role::Author).await,
            site.person("organiser", Role::Organiser).await,
        ];
        let token =
            people[2].post("me/tokens", json!({"label": "laptop"})).await.json["id"].as_i64().unwrap();
        let made = people[4].post("invitations", json!({"role": "author", "uses": 3})).await.json;
        let invitation = (made["id"].as_i64().unwrap(), made["code"].as_str().unwrap().to_owned());
        CUP_PLAYED.write_to(
            site.competition_file("cup").parent().unwrap(),
            COMPETITION,
            &[("Trips.py", TRIPS)],
        );
        site.host("cup", CompetitionState::Waiting, &[("Trips", people[2].id)]).await;
        std::fs::create_dir_all(site.competition_file("draft").parent().unwrap()).unwrap();
        std::fs::write(site.competition_file("draft"), COMPETITION).unwrap();
        site.host("draft", CompetitionState::Draft, &[]).await;
        let bots = people[2].get("competitions/cup").await.json;
        let bot = bots["entrants"][0]["bot"].as_i64().unwrap();
        let faults = people[2].get(&format!("competitions/cup/bots/{bot}/faults")).await.json;
        let bot = (bot, faults["items"][0]["id"].as_u64().unwrap());
        let made =
            json!({"game": "connect-five", "name": "Open", "id": "open", "house": ["random", "tactician"]});
        assert_eq!(people[4].post("competitions", made).await.status, 201);
        people[4].post("competitions/open/actions", json!({"action": "open"})).await;
        let made = people[2].submit("competitions/open/bots", "Mine", b"class Mine:\n    pass\n").await.json;
        let entry = (made["bot"].as_i64().unwrap(), made["id"].as_str().unwrap().to_owned());
        Self { _site: site, people, token, invitation, bot, entry }
    }
}

/// A request and its expected status for each user.
struct Row {
    /// Route in the API description, without `/api/v1`.
    route: &'static str,
    /// Path with the numbers of this site.
    path: fn(&World) -> String,
    body: fn() -> Option<Value>,
    /// Expected status: anonymous, spectator, author, other author, organiser.
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

/// All rows. [anonymous, spectator, author, other author, organiser]
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
    rows.extend(sharing());
    rows.extend(practising());
    rows.extend(meeting());
    rows.extend(commenting());
    rows.extend(playing());
    rows.extend(running());
    rows.extend(organising());
    rows
}

/// Pictures and embedding: what can be seen can be shared.
fn sharing() -> Vec<Row> {
    const GAME: &str = "competitions/cup/phases/1/matches/1-1/games/1";
    const DRAFT: [u16; 5] = [404, 404, 404, 404, 200];
    let read = |route: &'static str, path: fn(&World) -> String, expected: [u16; 5]| {
        row(route, path, none, expected)
    };
    vec![
        read(
            "GET /competitions/{id}/phases/{phase}/matches/{match}/games/{game}/picture.png",
            |_| format!("{GAME}/picture.png?turn=1"),
            [200; 5],
        ),
        read(
            "GET /competitions/{id}/phases/{phase}/matches/{match}/games/{game}/card.png",
            |_| format!("{GAME}/card.png"),
            [200; 5],
        ),
        read(
            "GET /competitions/{id}/phases/{phase}/matches/{match}/games/{game}/clip.gif",
            |_| format!("{GAME}/clip.gif?to=2&width=240"),
            [200; 5],
        ),
        read("GET /competitions/{id}/card.png", |_| at("competitions/cup/card.png"), [200; 5]),
        read("GET /competitions/{id}/card.png", |_| at("competitions/draft/card.png"), DRAFT),
        read(
            "GET /competitions/{id}/bots/{bot}/card.png",
            |world| format!("competitions/cup/bots/{}/card.png", world.bot.0),
            [200; 5],
        ),
        read("GET /played/{id}/picture.png", |_| at("played/0123456789abcdef/picture.png"), [404; 5]),
        read("GET /played/{id}/card.png", |_| at("played/0123456789abcdef/card.png"), [404; 5]),
        read("GET /played/{id}/clip.gif", |_| at("played/0123456789abcdef/clip.gif"), [404; 5]),
        read("GET /oembed", |_| at("oembed?url=https%3A%2F%2Fother.test%2Fc%2Fcup"), [404; 5]),
    ]
}

/// Games in the browser: open to everyone; what a seat sees and does needs its key, which `play.rs` tests.
fn playing() -> Vec<Row> {
    vec![
        row("GET /play/opponents", |_| at("play/opponents?game=connect-five"), none, [200; 5]),
        row(
            "POST /play",
            |_| at("play"),
            || Some(json!({"game": "connect-five", "seats": [{"person": true}, {"house": "random"}]})),
            [201; 5],
        ),
        row("GET /play/{id}", |_| at("play/none"), none, [404; 5]),
        row("GET /play/{id}/events", |_| at("play/none/events"), none, [404; 5]),
        row("POST /play/{id}/seats/{seat}", |_| at("play/none/seats/0"), || Some(json!({})), [404; 5]),
        row("DELETE /play/{id}/seats/{seat}", |_| at("play/none/seats/0"), none, [404; 5]),
        row(
            "POST /play/{id}/answers",
            |_| at("play/none/answers"),
            || Some(json!({"turn": 1, "answer": "4"})),
            [404; 5],
        ),
    ]
}

/// Profiles, teams, notifications, webhooks, new passwords, search.
#[allow(clippy::too_many_lines, reason = "a table")]
fn meeting() -> Vec<Row> {
    const SIGNED_IN: [u16; 5] = [401, 200, 200, 200, 200];
    // The routes of teams and invitations that do not exist; `people.rs` tests those that do.
    const NONE: [u16; 5] = [401, 404, 404, 404, 404];
    const NONE_OF_AUTHORS: [u16; 5] = [401, 403, 404, 404, 404];
    let read = |route: &'static str, path: fn(&World) -> String, expected: [u16; 5]| {
        row(route, path, none, expected)
    };
    let team: fn() -> Option<Value> = || Some(json!({"name": "New team", "about": ""}));
    vec![
        read("GET /people/{name}", |_| at("people/author"), [200; 5]),
        read("GET /people/{name}", |_| at("people/nobody"), [404; 5]),
        read("GET /me/profile", |_| at("me/profile"), SIGNED_IN),
        row(
            "PUT /me/profile",
            |_| at("me/profile"),
            || Some(json!({"shown": "", "about": "x", "link": null, "list_bots": true})),
            SIGNED_IN,
        ),
        read("GET /me/mail", |_| at("me/mail"), SIGNED_IN),
        // This site sends no mails.
        row(
            "PUT /me/mail",
            |_| at("me/mail"),
            || Some(json!({"address": "a@example.org"})),
            [401, 409, 409, 409, 409],
        ),
        read("DELETE /me/mail", |_| at("me/mail"), [401, 204, 204, 204, 204]),
        row("POST /mail/verify", |_| at("mail/verify"), || Some(json!({"code": "x"})), [404; 5]),
        read("POST /mail/unsubscribe/{code}", |_| at("mail/unsubscribe/1-x"), [404; 5]),
        row(
            "POST /password-resets",
            |_| at("password-resets"),
            || Some(json!({"account": "author"})),
            [409; 5],
        ),
        row(
            "POST /password-resets/use",
            |_| at("password-resets/use"),
            || Some(json!({"code": "x", "password": PASSWORD})),
            [404; 5],
        ),
        read(
            "POST /accounts/{id}/password-reset",
            |world| format!("accounts/{}/password-reset", world.people[2].id),
            [401, 403, 403, 403, 201],
        ),
        read("GET /me/teams", |_| at("me/teams"), SIGNED_IN),
        row("POST /teams", |_| at("teams"), team, [401, 403, 201, 201, 201]),
        read("GET /teams/{id}", |_| at("teams/99"), [404; 5]),
        row("PUT /teams/{id}", |_| at("teams/99"), team, NONE),
        row(
            "POST /teams/{id}/invitations",
            |_| at("teams/99/invitations"),
            || Some(json!({"account": null})),
            NONE,
        ),
        read("DELETE /teams/{id}/members/{account}", |_| at("teams/99/members/1"), NONE),
        row("PUT /teams/{id}/owner", |_| at("teams/99/owner"), || Some(json!({"account": 1})), NONE),
        read("GET /team-links/{code}", |_| at("team-links/x"), [404; 5]),
        read("POST /team-links/{code}/accept", |_| at("team-links/x/accept"), NONE_OF_AUTHORS),
        read("POST /team-invitations/{id}", |_| at("team-invitations/99"), NONE_OF_AUTHORS),
        read("DELETE /team-invitations/{id}", |_| at("team-invitations/99"), NONE),
        read("GET /me/notifications", |_| at("me/notifications"), SIGNED_IN),
        read("GET /me/notifications/unread", |_| at("me/notifications/unread"), SIGNED_IN),
        row(
            "POST /me/notifications/read",
            |_| at("me/notifications/read"),
            || Some(json!({"up_to": 1})),
            SIGNED_IN,
        ),
        read("GET /me/notifications/settings", |_| at("me/notifications/settings"), SIGNED_IN),
        row(
            "PUT /me/notifications/settings",
            |_| at("me/notifications/settings"),
            || Some(json!({"settings": []})),
            SIGNED_IN,
        ),
        read("GET /me/webhooks", |_| at("me/webhooks"), SIGNED_IN),
        row(
            "POST /me/webhooks",
            |_| at("me/webhooks"),
            || Some(json!({"url": "https://example.org/hook"})),
            [401, 201, 201, 201, 201],
        ),
        row(
            "POST /me/webhooks",
            |_| at("me/webhooks"),
            || Some(json!({"url": "https://example.org/hook", "competition": "cup"})),
            [401, 403, 403, 403, 201],
        ),
        read("DELETE /me/webhooks/{id}", |_| at("me/webhooks/99"), NONE),
        read("POST /me/webhooks/{id}/enable", |_| at("me/webhooks/99/enable"), NONE),
        read("POST /me/webhooks/{id}/test", |_| at("me/webhooks/99/test"), NONE),
        read("GET /search", |_| at("search?q=author"), [200; 5]),
    ]
}

/// Comments and their moderation.
fn commenting() -> Vec<Row> {
    const ORGANISERS: [u16; 5] = [401, 403, 403, 403, 200];
    const NONE: [u16; 5] = [401, 404, 404, 404, 404];
    let text: fn() -> Option<Value> = || Some(json!({"text": "Well played."}));
    let reason: fn() -> Option<Value> = || Some(json!({"reason": "rude"}));
    let switch: fn() -> Option<Value> = || Some(json!({"on": false}));
    vec![
        row("GET /competitions/{id}/comments", |_| at("competitions/cup/comments"), none, [200; 5]),
        row(
            "GET /competitions/{id}/comments",
            |_| at("competitions/draft/comments"),
            none,
            [404, 404, 404, 404, 200],
        ),
        row(
            "POST /competitions/{id}/comments",
            |_| at("competitions/cup/comments"),
            text,
            [401, 201, 201, 201, 201],
        ),
        row("PUT /competitions/{id}/comments", |_| at("competitions/cup/comments"), switch, ORGANISERS),
        row("PATCH /comments/{id}", |_| at("comments/99"), text, NONE),
        row("DELETE /comments/{id}", |_| at("comments/99"), none, NONE),
        row("POST /comments/{id}/reports", |_| at("comments/99/reports"), reason, NONE),
        row("PUT /comments/{id}/hidden", |_| at("comments/99/hidden"), reason, [401, 403, 403, 403, 404]),
        row("DELETE /comments/{id}/hidden", |_| at("comments/99/hidden"), none, [401, 403, 403, 403, 404]),
        row("GET /comments/reported", |_| at("comments/reported"), none, ORGANISERS),
        row("GET /admin/comments", |_| at("admin/comments"), none, ORGANISERS),
        row("PUT /admin/comments", |_| at("admin/comments"), switch, ORGANISERS),
    ]
}

/// Practice ladders, challenges, played games.
fn practising() -> Vec<Row> {
    let challenge: fn() -> Option<Value> =
        || Some(json!({"game": "connect-five", "bots": [{"house": "random"}, {"house": "random"}], "games": 1}));
    vec![
        row("GET /competitions/{id}/practice", |_| at("competitions/cup/practice"), none, [200; 5]),
        row(
            "GET /competitions/{id}/practice",
            |_| at("competitions/draft/practice"),
            none,
            [404, 404, 404, 404, 200],
        ),
        row(
            "PUT /competitions/{id}/practice",
            |_| at("competitions/open/practice"),
            || Some(json!({"ladder": false})),
            [401, 403, 403, 403, 200],
        ),
        row(
            "GET /competitions/{id}/bots/{bot}/practice",
            |world| format!("competitions/open/bots/{}/practice", world.entry.0),
            none,
            [200; 5],
        ),
        row(
            "PUT /competitions/{id}/bots/{bot}/practice",
            |world| format!("competitions/open/bots/{}/practice", world.entry.0),
            || Some(json!({"allowed": true})),
            [401, 403, 200, 403, 200],
        ),
        row("GET /challenges", |_| at("challenges"), none, [401, 200, 200, 200, 200]),
        row("POST /challenges", |_| at("challenges"), challenge, [401, 201, 201, 201, 201]),
        row(
            "GET /challenges/opponents",
            |_| at("challenges/opponents?game=connect-five"),
            none,
            [401, 200, 200, 200, 200],
        ),
        row("GET /challenges/{id}", |_| at("challenges/0123456789abcdef"), none, [404; 5]),
        row(
            "DELETE /challenges/{id}",
            |_| at("challenges/0123456789abcdef"),
            none,
            [401, 404, 404, 404, 404],
        ),
        row("GET /challenges/{id}/events", |_| at("challenges/0123456789abcdef/events"), none, [404; 5]),
        row("GET /played", |_| at("played"), none, [200; 5]),
        row("GET /played/{id}", |_| at("played/0123456789abcdef"), none, [404; 5]),
        row("GET /played/{id}/film", |_| at("played/0123456789abcdef/film"), none, [404; 5]),
        row("GET /played/{id}/record", |_| at("played/0123456789abcdef/record"), none, [404; 5]),
    ]
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

/// The output of a bot is only in the responses for its author.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bot_output_is_visible_only_to_its_author() {
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
        assert_eq!(mine_there, false, "a cached table depends on the user");
    }
    let author = &world.people[2];
    let log = author.get(&format!("competitions/cup/bots/{bot}/logs/1/1-1/1")).await.json;
    assert!(
        log["turns"][0]["text"].as_str().unwrap().starts_with("thinking") && log["cut"] == false,
        "{log}"
    );
    let film = author.get("competitions/cup/phases/1/matches/1-1/games/1/film").await;
    let anonymous = world.people[0].get("competitions/cup/phases/1/matches/1-1/games/1/film").await;
    assert_ne!(film.header("etag"), anonymous.header("etag"));
    let missing = author.get(&format!("competitions/cup/bots/{bot}/faults/{}/capsule", fault + 1000)).await;
    assert_eq!(missing.status, 404);
}

/// Submissions, administration, rulings, system.
#[allow(clippy::too_many_lines, reason = "a table")]
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
        // There are no workers: this machine plays the games.
        row("POST /workers/{name}/drain", |_| at("workers/w1/drain"), none, for_organisers(404)),
        row("GET /competitions/{id}/workers", |_| at("competitions/cup/workers"), none, for_organisers(200)),
        // Without a form: users who may submit get an error about the form.
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
            "PUT /competitions/{id}/bots/{bot}/marks",
            |world| format!("competitions/open/bots/{}/marks", world.entry.0),
            || Some(json!({"marks": [{"mark": "AI", "note": "wrote it"}]})),
            [401, 403, 200, 403, 200],
        ),
        // Connect Five has no file that could be replaced.
        row(
            "PUT /competitions/{id}/files/{setting}",
            |_| at("competitions/open/files/words"),
            none,
            for_organisers(404),
        ),
        row(
            "DELETE /competitions/{id}/files/{setting}",
            |_| at("competitions/open/files/words"),
            none,
            for_organisers(404),
        ),
        row(
            "GET /competitions/{id}/files/{setting}",
            |_| at("competitions/open/files/words"),
            none,
            [404; 5],
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

/// The organiser's forms, the freeze of the standings, the dashboard, and the drafts of authors.
fn organising() -> Vec<Row> {
    const FILE: &str = "game = \"connect-five\"\n\n[[phase]]\nformat = \"round-robin\"\n";
    let for_organisers = |status| [401, 403, 403, 403, status];
    let for_authors = |status| [401, 403, status, status, status];
    vec![
        row(
            "POST /competition-files/change",
            |_| at("competition-files/change"),
            || Some(json!({"game": "connect-five", "file": FILE})),
            for_organisers(200),
        ),
        row(
            "POST /competitions/{id}/freeze",
            |_| at("competitions/cup/freeze"),
            || Some(json!({"action": "freeze"})),
            for_organisers(200),
        ),
        // An empty body is no picture.
        row(
            "PUT /competitions/{id}/pictures/{name}",
            |_| at("competitions/open/pictures/logo.png"),
            none,
            for_organisers(422),
        ),
        row(
            "DELETE /competitions/{id}/pictures/{name}",
            |_| at("competitions/open/pictures/logo.png"),
            none,
            for_organisers(404),
        ),
        row(
            "GET /competitions/{id}/pictures/{name}",
            |_| at("competitions/open/pictures/logo.png"),
            none,
            [404; 5],
        ),
        row("GET /dashboard/events", |_| at("dashboard/events"), none, for_organisers(200)),
        row("GET /competitions/{id}/draft", |_| at("competitions/open/draft"), none, for_authors(200)),
        row(
            "GET /competitions/{id}/draft",
            |world| format!("competitions/open/draft?bot={}", world.entry.0),
            none,
            [401, 403, 200, 403, 403],
        ),
        row(
            "PUT /competitions/{id}/draft",
            |_| at("competitions/open/draft"),
            || Some(json!({"files": [{"path": "bot.py", "text": "x"}], "revision": 0})),
            for_authors(200),
        ),
        row("DELETE /competitions/{id}/draft", |_| at("competitions/open/draft"), none, for_authors(204)),
        // Nothing is stored, so there is nothing to check.
        row(
            "POST /competitions/{id}/draft/check",
            |_| at("competitions/open/draft/check"),
            none,
            for_authors(404),
        ),
        row(
            "GET /competitions/{id}/draft/check",
            |_| at("competitions/open/draft/check"),
            none,
            for_authors(404),
        ),
        row(
            "GET /competitions/{id}/draft/trials/{n}",
            |_| at("competitions/open/draft/trials/1"),
            none,
            for_authors(404),
        ),
        // Its check is not finished, so its files are not kept yet.
        row(
            "GET /submissions/{id}/files",
            |world| format!("submissions/{}/files", world.entry.1),
            none,
            [401, 404, 404, 404, 404],
        ),
    ]
}

/// All operations of the API description, as rows name them.
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
async fn every_user_gets_the_expected_status_for_every_route() {
    let names = ["anonymous", "spectator", "author", "other author", "organiser"];
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
async fn private_site_shows_anonymous_users_only_the_sign_in() {
    let open = ["GET /site", "POST /session", "DELETE /session", "POST /accounts", "GET /invitations/{code}"];
    let site = Site::with(|config| config.private = true).await;
    let world = World::new().await;
    for row in rows() {
        let (method, _) = row.route.split_once(' ').unwrap();
        let answer = site.anonymous().send(method, &(row.path)(&world), (row.body)()).await;
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
    assert_eq!(site.anonymous().get("/api/openapi.json").await.status, 401);
    assert_eq!(site.anonymous().get("/metrics").await.status, 401);
    assert_eq!(site.anonymous().get("/healthz").await.status, 200);
    let spectator = site.person("spectator", Role::Spectator).await;
    assert_eq!(spectator.get("games").await.status, 200);
    assert_eq!(spectator.get("/metrics").await.status, 200);
}
