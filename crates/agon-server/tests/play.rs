//! Games that persons play in the browser: sessions, seats, answers, clocks, limits, and what each seat is shown.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::sync::Arc;
use std::time::Duration;

use agon_core::record::{Record, read_all};
use agon_core::{Assets, FastRng, Fault, Reply, Seat, Settings, frame};
use agon_games::{GameVisitor, PlayableGame};
use agon_server::play::settings::PlayAccess;
use agon_site_db::{CompetitionState, Role};
use axum::body::BodyDataStream;
use common::{Answer, Client, Site};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

/// The event stream of a seat, as a browser reads it.
struct Events {
    body: BodyDataStream,
    text: String,
}

/// Name and data of an event.
type Event = (String, Value);

impl Events {
    async fn open(client: &Client, id: &str, key: &str) -> Self {
        let path = format!("play/{id}/events?key={key}");
        let response = client.router.clone().oneshot(client.request("GET", &path)).await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { body: response.into_body().into_data_stream(), text: String::new() }
    }

    /// The next event; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Event> {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    block.lines().find_map(|line| line.strip_prefix(name)).map(|text| text.trim().to_owned())
                };
                let event = field("event:").map(|name| {
                    let data = serde_json::from_str(&field("data:").unwrap()).unwrap();
                    (name, data)
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

    /// The data of the next event with this name.
    async fn until(&mut self, wanted: &str) -> Value {
        loop {
            let (name, data) = self.next().await.unwrap();
            if name == wanted {
                return data;
            }
        }
    }
}

/// A person at a seat.
struct Person {
    client: Client,
    id: String,
    key: String,
}

impl Person {
    fn of(client: &Client, taken: &Answer) -> Self {
        assert_eq!(taken.status, 201, "{}", taken.json);
        let text = |name: &str| taken.json[name].as_str().unwrap().to_owned();
        let (id, key) = (text("id"), text("key"));
        assert!(key.len() == 32 && key.bytes().all(|b| b.is_ascii_hexdigit()), "{key}");
        Self { client: client.clone().header("x-agon-seat", &key), id, key }
    }

    async fn open(client: &Client, body: Value) -> Self {
        Self::of(client, &client.post("play", body).await)
    }

    async fn events(&self) -> Events {
        Events::open(&self.client, &self.id, &self.key).await
    }

    async fn answer(&self, turn: &Value, text: &str) -> Answer {
        self.client.post(&format!("play/{}/answers", self.id), json!({"turn": turn, "answer": text})).await
    }

    async fn leave(&self, seat: usize) -> Answer {
        self.client.delete(&format!("play/{}/seats/{seat}", self.id)).await
    }

    async fn session(&self) -> Value {
        self.client.get(&format!("play/{}", self.id)).await.json
    }

    /// Plays to the end with the first or last legal answer. Returns the frames that were shown, and the `end` event.
    async fn play(&self, events: &mut Events) -> (Vec<Value>, Value) {
        let mut frames: Vec<Value> = Vec::new();
        loop {
            let (name, data) = events.next().await.unwrap();
            match name.as_str() {
                "head" => {
                    assert!(frames.is_empty() && data["seed"].is_null(), "{data}");
                    frames.push(data["first"].clone());
                }
                "part" => {
                    assert_eq!(data["from"], frames.len());
                    for turn in data["turns"].as_array().unwrap() {
                        assert!(turn["answers"].is_null() && turn["standing"] == json!([]), "{turn}");
                        let mut next = frames.last().unwrap().clone();
                        frame::patch(&mut next, &turn["delta"]);
                        frames.push(next);
                    }
                }
                "ask" => {
                    let legal = data["legal"].as_array().unwrap();
                    let index = if frames.len().is_multiple_of(2) { 0 } else { legal.len() - 1 };
                    let answered = self.answer(&data["turn"], legal[index].as_str().unwrap()).await;
                    assert_eq!(answered.status, 204, "{}", answered.json);
                }
                "end" => return (frames, data),
                _ => {}
            }
        }
    }
}

fn against(game: &str, person: usize, others: &[&str]) -> Value {
    let mut seats: Vec<Value> = others.iter().map(|name| json!({"house": name})).collect();
    seats.insert(person, json!({"person": true}));
    json!({"game": game, "seats": seats, "name": "Ada"})
}

fn connect_five() -> Value {
    against("connect-five", 0, &["random"])
}

/// Computes the frames of a seat from the record, and the same frames from states that the seat cannot distinguish.
struct SeatFrames<'r> {
    record: &'r Record,
    seat: Seat,
}

impl GameVisitor for SeatFrames<'_> {
    type Output = Vec<(Value, Option<Value>)>;

    fn visit<G: PlayableGame>(self) -> Self::Output {
        let header = &self.record.header;
        let settings = Settings::from_json(G::info().settings, &header.settings).unwrap();
        let game = G::new(&settings, header.seats.len(), &Assets::none()).unwrap();
        let mut state = game.start(header.seed);
        let mut rng = FastRng::new(1);
        let mut frames = Vec::new();
        let mut push = |state: &G::State| {
            let over = game.to_move(state).is_empty();
            let other =
                (!over).then(|| game.seat_frame(&game.resample(state, self.seat, &mut rng), self.seat));
            frames.push((game.seat_frame(state, self.seat), other));
        };
        push(&state);
        for turn in &self.record.turns {
            let reply = |token: &str| match token.strip_prefix('!') {
                Some(_) => Reply::Fault(Fault::Crash),
                None => Reply::Answer(G::read_answer(token).unwrap()),
            };
            game.apply(&mut state, &turn.split(' ').map(reply).collect::<Vec<_>>());
            push(&state);
        }
        frames
    }
}

async fn check_game(game: &str, person: usize, others: &[&str], settings: Value) {
    let site = Site::new().await;
    let mut body = against(game, person, others);
    body["settings"] = settings;
    let client = site.anonymous();
    let ada = Person::open(&client, body).await;
    let mut events = ada.events().await;
    let (shown, end) = ada.play(&mut events).await;
    assert!(events.next().await.is_none(), "the stream ends after the game");
    let session = ada.session().await;
    assert_eq!(
        (session["state"].as_str(), session["played"].as_str()),
        (Some("over"), end["played"].as_str())
    );
    let played = end["played"].as_str().unwrap();
    let answer = client.get(&format!("played/{played}/record")).await;
    assert_eq!(answer.status, 200);
    let record = read_all(&answer.bytes).unwrap().remove(0);
    assert!(record.faults.iter().all(|fault| fault.seat.index() != person), "{:?}", record.faults);
    assert_eq!(record.header.seats[person].name, "Ada");
    assert_eq!(client.get(&format!("played/{played}/film")).await.status, 200);
    // Neither side sees what is hidden from it: every frame is that of all states which the seat cannot distinguish.
    let expected = agon_games::visit(game, SeatFrames { record: &record, seat: Seat(person as u8) }).unwrap();
    assert_eq!(shown.len(), expected.len());
    for (turn, (shown, (frame, other))) in shown.iter().zip(&expected).enumerate() {
        assert_eq!(shown, frame, "turn {turn}");
        assert!(other.as_ref().is_none_or(|other| other == shown), "turn {turn} shows something hidden");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn person_plays_connect_five_to_the_end() {
    check_game("connect-five", 1, &["random"], json!({})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn person_plays_colour_battle_to_the_end() {
    check_game("colour-battle", 1, &["sweeper", "random"], json!({"rounds": "20"})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn person_plays_solitude_scramble_to_the_end() {
    check_game("solitude-scramble", 2, &["left", "random", "greedy"], json!({"turns": 4})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn person_plays_word_racer_to_the_end() {
    check_game("word-racer", 0, &["random"], json!({})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn person_plays_hide_and_seek_to_the_end() {
    check_game("hide-and-seek", 0, &["still-hider"], json!({"steps": "30"})).await;
    check_game("hide-and-seek", 1, &["roaming-seeker"], json!({"steps": "30"})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn head_of_a_seat_hides_drawn_settings_and_request_has_keys() {
    let site = Site::new().await;
    let mut body = connect_five();
    body["settings"] = json!({"special": "2,6", "p": 0.5, "q": "0.25"});
    let ada = Person::open(&site.anonymous(), body).await;
    let mut events = ada.events().await;
    let head = events.until("head").await;
    for name in ["special", "p", "q"] {
        assert!(head["settings"][name].is_null() && !head["settings"]["seconds"].is_null(), "{head}");
    }
    assert_eq!(head["names"], json!(["Ada", "random"]));
    let ask = events.until("ask").await;
    assert_eq!((&ask["turn"], &ask["limit_ms"]), (&json!(1), &Value::Null));
    assert_eq!(ask["legal"], json!(["0", "1", "2", "3", "4", "5", "6", "7", "8"]));
    assert_eq!(ask["request"]["keys"][4], json!({"key": "4", "answer": "4"}));
    assert_eq!(events.until("wait").await, json!({"seats": [0]}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_of_others_are_hidden_where_bots_must_not_recognise_each_other() {
    let site = Site::new().await;
    let ada = Person::open(&site.anonymous(), against("colour-battle", 1, &["sweeper", "random"])).await;
    let head = ada.events().await.until("head").await;
    assert_eq!(head["names"], json!(["painter 0", "Ada", "painter 2"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn key_of_the_seat_is_required() {
    let site = Site::new().await;
    let client = site.anonymous();
    let ada = Person::open(&client, connect_five()).await;
    let (events, answers) = (format!("play/{}/events", ada.id), format!("play/{}/answers", ada.id));
    let other = Person::open(&client, connect_five()).await;
    for key in [String::new(), "?key=".to_owned(), format!("?key={}", other.key)] {
        let answer = client.get(&format!("{events}{key}")).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (403, "no_seat"), "{key}");
    }
    let text = json!({"turn": 1, "answer": "4"});
    for client in [&client, &other.client] {
        let answer = client.post(&answers, text.clone()).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (403, "no_seat"));
        assert_eq!(client.delete(&format!("play/{}/seats/0", ada.id)).await.status, 403);
    }
    assert_eq!(ada.leave(1).await.status, 403, "the key of another seat");
    // Everybody with the link sees the session, and only the own seat is `mine`.
    let seen = client.get(&format!("play/{}", ada.id)).await.json;
    assert_eq!(
        (&seen["seats"][0]["mine"], &ada.session().await["seats"][0]["mine"]),
        (&json!(false), &json!(true))
    );
    assert!(!seen.to_string().contains(&ada.key));
    assert_eq!(client.get("play/00000000000000000000000000000000").await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn illegal_answer_is_422_with_reasons_and_the_person_is_asked_again() {
    let site = Site::new().await;
    let ada = Person::open(&site.anonymous(), connect_five()).await;
    let mut events = ada.events().await;
    let ask = events.until("ask").await;
    for (text, reason) in [("99", "column 99 does not exist"), ("left", "expected a column")] {
        let answer = ada.answer(&ask["turn"], text).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (422, "illegal"), "{}", answer.json);
        assert!(answer.json["error"]["details"][0].as_str().unwrap().contains(reason), "{}", answer.json);
        let refused = events.until("refused").await;
        assert!(refused["turn"] == 1 && refused["message"].as_str().unwrap().contains(reason), "{refused}");
    }
    let long = ada.answer(&ask["turn"], &"4".repeat(300)).await;
    assert_eq!((long.status.as_u16(), long.code()), (422, "invalid"));
    let answer = ada.answer(&json!(2), "4").await;
    assert_eq!((answer.status.as_u16(), answer.code()), (409, "other_turn"));
    assert_eq!(ada.answer(&ask["turn"], " 4 ").await.status, 204);
    let again = ada.answer(&ask["turn"], "4").await;
    assert_eq!((again.status.as_u16(), again.code()), (409, "other_turn"), "an answer counts once");
    let part = events.until("part").await;
    assert!(part["turns"][0]["faults"].is_null(), "{part}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_that_reconnects_gets_the_film_and_the_open_request() {
    let site = Site::new().await;
    let ada = Person::open(&site.anonymous(), connect_five()).await;
    let mut events = ada.events().await;
    let ask = events.until("ask").await;
    assert_eq!(ada.answer(&ask["turn"], "4").await.status, 204);
    let next = events.until("ask").await;
    drop(events);
    let mut again = ada.events().await;
    let mut names = Vec::new();
    let ask = loop {
        let (name, data) = again.next().await.unwrap();
        if name == "ask" {
            break data;
        }
        names.push(name);
    };
    assert_eq!(names, ["lobby", "head", "part", "part"]);
    assert_eq!(ask, next);
    let (_, end) = {
        assert_eq!(ada.answer(&ask["turn"], ask["legal"][0].as_str().unwrap()).await.status, 204);
        let mut fresh = ada.events().await;
        ada.play(&mut fresh).await
    };
    assert!(end["played"].is_string());
    // Also after the end.
    let mut late = ada.events().await;
    assert_eq!(late.until("end").await, end);
    assert!(late.next().await.is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_persons_play_by_a_link_and_are_asked_together() {
    let site = Site::new().await;
    let ada = site.person("ada", Role::Spectator).await;
    let seats = json!([{"person": true}, {"house": "left"}, {"person": true}, {"house": "right"}]);
    let body = json!({"game": "solitude-scramble", "seats": seats, "settings": {"turns": 2}});
    let ada = Person::open(&ada, body).await;
    let mut ada_sees = ada.events().await;
    let lobby = ada_sees.until("lobby").await;
    assert_eq!((&lobby["state"], &lobby["names"]), (&json!("lobby"), &json!(["ada", "left", "", "right"])));
    let visitor = site.anonymous();
    let seat = |seat: usize| format!("play/{}/seats/{seat}", ada.id);
    assert_eq!(visitor.post(&seat(0), json!({"name": "Eve"})).await.code(), "taken");
    assert_eq!(visitor.post(&seat(1), json!({})).await.status, 404, "a bot's seat");
    assert_eq!(visitor.post(&seat(9), json!({})).await.status, 404);
    let name = "x".repeat(41);
    assert_eq!(visitor.post(&seat(2), json!({ "name": name })).await.status, 422);
    let bob = Person::of(&visitor, &visitor.post(&seat(2), json!({"name": " Bob "})).await);
    assert_eq!(bob.session().await["state"], "lobby", "Bob's page is not open yet");
    let mut bob_sees = bob.events().await;
    let (ask, other) = (ada_sees.until("ask").await, bob_sees.until("ask").await);
    assert_eq!(ask["turn"], other["turn"]);
    assert_eq!(ada_sees.until("wait").await, json!({"seats": [0, 2]}));
    assert_eq!(visitor.post(&seat(2), json!({})).await.code(), "over", "the game has started");
    assert_eq!(bob.answer(&json!(1), "LEFT").await.status, 204);
    assert_eq!(ada_sees.until("wait").await, json!({"seats": [0]}));
    assert_eq!(ada.answer(&json!(1), "R").await.status, 204);
    // Bob leaves: Ada plays on.
    bob_sees.until("ask").await;
    assert_eq!(bob.leave(2).await.status, 204);
    ada_sees.until("ask").await;
    assert_eq!(ada.answer(&json!(2), "C").await.status, 204);
    let end = ada_sees.until("end").await;
    assert_eq!(bob_sees.until("end").await, end);
    assert_eq!(ada.answer(&json!(3), "C").await.code(), "over");
    let played = site.anonymous().get(&format!("played/{}/record", end["played"].as_str().unwrap())).await;
    let record = read_all(&played.bytes).unwrap().remove(0);
    assert_eq!(record.faults.len(), 1);
    assert_eq!(record.faults[0].report.message, "the player left");
    assert_eq!(record.header.seats[2].name, "Bob");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn seed_and_hidden_settings_are_for_one_person_only() {
    let site = Site::new().await;
    let client = site.anonymous();
    let two = json!([{"person": true}, {"person": true}]);
    for (name, value) in [("seed", json!("7")), ("settings", json!({"special": "2,6"}))] {
        let mut body = json!({"game": "connect-five", "seats": two});
        body[name] = value.clone();
        let answer = client.post("play", body).await;
        assert_eq!((answer.status.as_u16(), &answer.json["error"]["field"]), (422, &json!(name)));
        let mut alone = connect_five();
        alone[name] = value;
        assert_eq!(client.post("play", alone).await.status, 201);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_session_is_422_and_names_the_field() {
    let site = Site::new().await;
    let client = site.anonymous();
    let with = |name: &str, value: Value| {
        let mut body = connect_five();
        body[name] = value;
        body
    };
    let person = json!({"person": true});
    for (body, field) in [
        (with("game", json!("chess")), "game"),
        (with("seats", json!([person])), "seats"),
        (with("seats", json!([person, {}])), "seats"),
        (with("seats", json!([person, {"person": true, "house": "random"}])), "seats"),
        (with("seats", json!([person, {"house": "nobody"}])), "seats"),
        (with("seats", json!([{"house": "random"}, {"house": "random"}])), "seats"),
        (with("seat", json!(1)), "seat"),
        (with("seed", json!("x")), "seed"),
        (with("settings", json!({"no-such": 1})), "settings"),
        (with("settings", json!({"seconds": {}})), "settings"),
        (with("name", json!("a\nb")), "name"),
    ] {
        let answer = client.post("play", body.clone()).await;
        assert_eq!(
            (answer.status.as_u16(), answer.json["error"]["field"].as_str()),
            (422, Some(field)),
            "{body}: {}",
            answer.json
        );
    }
    let words = json!({"game": "word-racer", "seats": [person, {"house": "random"}], "settings": {"words": "my.txt"}});
    assert_eq!(client.post("play", words).await.json["error"]["field"], "settings");
    let bot = with("seats", json!([person, {"bot": 4711}]));
    assert_eq!(client.post("play", bot).await.status, 404);
    assert_eq!(client.get("play/opponents?game=chess").await.status, 422);
    let opponents = client.get("play/opponents?game=hide-and-seek").await.json;
    assert_eq!(opponents["bots"], json!([]));
    assert!(opponents["house"].as_array().unwrap().iter().any(|bot| bot["roles"] == json!(["hider"])));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn late_answer_by_the_rules_clock_is_a_timeout() {
    let site = Site::new().await;
    let mut body = connect_five();
    body["clock"] = json!("rules");
    body["settings"] = json!({"seconds": 0.05});
    let ada = Person::open(&site.anonymous(), body).await;
    let mut events = ada.events().await;
    let ask = events.until("ask").await;
    assert_eq!(ask["limit_ms"], 50);
    let end = events.until("end").await;
    assert_eq!(end["outcome"]["ended"], "timeout of seat 0");
    assert_eq!(ada.answer(&ask["turn"], "4").await.code(), "over");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn person_whose_page_is_closed_for_long_has_left() {
    let site = Site::with(|config| config.play.left_after = Duration::ZERO).await;
    let body = against("solitude-scramble", 0, &["left", "right", "greedy"]);
    let ada = Person::open(&site.anonymous(), body).await;
    drop(ada.events().await);
    // The session is swept whenever somebody asks for it.
    let ended = async {
        while ada.session().await["state"] != "over" {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(agon_test_servers::WAIT_TIMEOUT, ended).await.unwrap();
    assert!(ada.session().await["played"].is_string());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn session_that_does_not_start_in_time_is_closed() {
    let site = Site::with(|config| config.play.lobby_timeout = Duration::ZERO).await;
    let ada = Person::open(&site.anonymous(), connect_five()).await;
    let session = ada.session().await;
    assert_eq!(session["state"], "over");
    assert!(session["error"].as_str().unwrap().contains("did not start in time"), "{session}");
    let site = Site::with(|config| config.play.keep_finished = Duration::ZERO).await;
    let ada = Person::open(&site.anonymous(), connect_five()).await;
    assert_eq!(ada.leave(0).await.status, 204);
    site.app.play.sweep(std::time::Instant::now() + Duration::from_secs(1));
    assert_eq!(ada.client.get(&format!("play/{}", ada.id)).await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn open_sessions_are_limited_by_owner_and_in_total() {
    let site = Site::with(|config| {
        config.play.max_sessions_per_owner = 2;
        config.play.max_sessions = 3;
    })
    .await;
    let (visitor, user) = (site.anonymous(), site.person("ada", Role::Spectator).await);
    let first = Person::open(&visitor, connect_five()).await;
    Person::open(&visitor, connect_five()).await;
    let refused = visitor.post("play", connect_five()).await;
    assert_eq!((refused.status.as_u16(), refused.code()), (429, "too_many_games"));
    Person::open(&user, connect_five()).await;
    let refused = user.post("play", connect_five()).await;
    assert_eq!((refused.status.as_u16(), refused.code()), (503, "busy"));
    assert_eq!(first.leave(0).await.status, 204);
    Person::open(&user, connect_five()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn organisers_of_the_server_decide_who_may_play() {
    let site = Site::with(|config| config.play.access = PlayAccess::Off).await;
    let refused = site.anonymous().post("play", connect_five()).await;
    assert_eq!((refused.status.as_u16(), refused.code()), (403, "play_off"));
    assert_eq!(site.anonymous().get("site").await.json["play"], false);
    let site = Site::with(|config| config.play.access = PlayAccess::Accounts).await;
    assert_eq!(site.anonymous().post("play", connect_five()).await.status, 401);
    let user = site.person("ada", Role::Spectator).await;
    assert_eq!(user.get("site").await.json["play"], true);
    let ada = Person::open(&user, connect_five()).await;
    assert_eq!(ada.session().await["names"][0], "Ada", "the name in the request");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_server_ends_games_and_stores_them() {
    let site = Site::new().await;
    let ada = Person::open(&site.anonymous(), connect_five()).await;
    let mut events = ada.events().await;
    events.until("ask").await;
    tokio::time::timeout(agon_test_servers::WAIT_TIMEOUT, site.app.play.shut_down()).await.unwrap();
    assert_eq!(site.app.play.playing(), 0);
    let end = events.until("end").await;
    assert!(end["played"].is_string(), "{end}");
    assert_eq!(end["outcome"]["ended"], "crash of seat 0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn seat_that_was_left_shows_nothing_of_its_next_person() {
    let site = Site::new().await;
    let client = site.anonymous();
    let body = json!({"game": "connect-five", "seats": [{"person": true}, {"person": true}]});
    let ada = Person::open(&client, body).await;
    let seat = format!("play/{}/seats/1", ada.id);
    let bob = Person::of(&client, &client.post(&seat, json!({"name": "Bob"})).await);
    let mut bob_sees = bob.events().await;
    assert_eq!(bob.leave(1).await.status, 204);
    let eve = Person::of(&client, &client.post(&seat, json!({"name": "Eve"})).await);
    let mut eve_sees = eve.events().await;
    let _ada_sees = ada.events().await;
    eve_sees.until("head").await;
    while let Some((name, _)) = bob_sees.next().await {
        assert_eq!(name, "lobby");
    }
    assert_eq!(bob.client.get(&format!("play/{}/events?key={}", bob.id, bob.key)).await.status, 403);
}

const CUP: &str = r#"name = "Cup"
game = "connect-five"
seed = "a cup"

[[phase]]
format = "round-robin"
parts = [{ games = 2, seconds = 1 }]

[[entrant]]
name = "Mine"
bot = "Mine.py"

[[entrant]]
bot = "house:random"
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn submitted_bot_plays_only_if_its_author_allows_it() {
    let site = Site::new().await;
    let (author, other) =
        (site.person("author", Role::Author).await, site.person("other", Role::Author).await);
    let file = site.competition_file("cup");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file.with_file_name("Mine.py"), "class Mine:\n    pass\n").unwrap();
    std::fs::write(&file, CUP).unwrap();
    site.host("cup", CompetitionState::Open, &[("Mine", author.id)]).await;
    let entrants = site.app.site_db.entrants("cup").await.unwrap();
    let bot = entrants.iter().find(|one| one.name == "Mine").unwrap().id;
    let listed = async |client: &Client| {
        let opponents = client.get("play/opponents?game=connect-five").await.json;
        opponents["bots"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["bot"].as_i64().unwrap())
            .collect::<Vec<_>>()
    };
    let open = async |client: &Client, seat: usize| {
        let mut seats = vec![json!({"person": true})];
        seats.insert(seat, json!({"bot": bot.0}));
        client.post("play", json!({"game": "connect-five", "seats": seats})).await
    };
    assert_eq!((listed(&other).await, listed(&author).await), (vec![], vec![bot.0]));
    assert_eq!(open(&other, 0).await.status, 403);
    assert_eq!(
        open(&author, 0).await.code(),
        "files_missing",
        "the own bot may play; this site has no files of it"
    );
    site.app.site_db.set_practice_allowed(bot, true).await.unwrap();
    assert_eq!((listed(&other).await, listed(&site.anonymous()).await), (vec![bot.0], vec![bot.0]));
    assert_eq!(open(&other, 1).await.code(), "files_missing");
    let wrong = json!({"game": "word-racer", "seats": [{"person": true}, {"bot": bot.0}]});
    assert_eq!(other.post("play", wrong).await.status, 422, "it plays another game");
    assert_eq!(other.get("play/opponents?game=word-racer").await.json["bots"], json!([]));
    site.app.site_db.withdraw(bot, agon_store::Timestamp::now()).await.unwrap();
    assert_eq!((listed(&other).await, open(&other, 0).await.status.as_u16()), (vec![], 404));
}

#[test]
fn sessions_are_shared_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Arc<agon_server::play::session::Session>>();
}
