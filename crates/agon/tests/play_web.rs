//! `agon play GAME human BOT --web`: a game in the browser with a server of its own, driven by HTTP as the page does.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use common::{agon, folder_with, good, run_in};
use serde_json::{Value, json};

/// Drops into the first column with room. It takes its time, which is charged to nobody else.
const FIRST_ROOM: &str = "class FirstRoom:
    def get_move(self, board, player, T, N):
        return [column for column in range(9) if not board[0][column]][0]
";

/// A link to a seat.
struct Seat {
    url: String,
    session: String,
    key: String,
}

impl Seat {
    /// Reads `... plays at http://HOST/play/s/ID#seat=N&key=KEY`.
    fn read(line: &str) -> Self {
        let link = line.trim_end().rsplit(' ').next().unwrap();
        let (page, part) = link.split_once('#').unwrap_or_else(|| panic!("{line}"));
        let (url, session) = page.split_once("/play/s/").unwrap();
        let key = part.split("key=").nth(1).unwrap();
        Self { url: url.to_owned(), session: session.to_owned(), key: key.to_owned() }
    }

    fn path(&self, rest: &str) -> String {
        format!("{}/api/v1/play/{}{rest}", self.url, self.session)
    }

    fn events(&self) -> Events {
        let response = agent().get(self.path(&format!("/events?key={}", self.key))).call().unwrap();
        assert_eq!(response.status(), 200);
        Events(BufReader::new(Box::new(response.into_body().into_reader())))
    }

    fn answer(&self, turn: &Value, answer: &Value) -> u16 {
        let request = agent().post(self.path("/answers")).header("x-agon-seat", &self.key);
        request.send_json(json!({"turn": turn, "answer": answer})).unwrap().status().as_u16()
    }

    /// Answers with the last legal answer until the game is over. Returns the `end` event.
    fn play(&self, events: &mut Events) -> Value {
        loop {
            let (name, data) = events.next().unwrap();
            match name.as_str() {
                "ask" => {
                    let legal = data["legal"].as_array().unwrap();
                    assert_eq!(self.answer(&data["turn"], legal.last().unwrap()), 204);
                }
                "end" => return data,
                _ => {}
            }
        }
    }
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(agon_test_servers::WAIT_TIMEOUT))
        .build()
        .into()
}

/// An event stream.
struct Events(BufReader<Box<dyn Read>>);

impl Events {
    fn next(&mut self) -> Option<(String, Value)> {
        let (mut name, mut data) = (String::new(), Value::Null);
        for line in self.0.by_ref().lines() {
            let line = line.unwrap();
            if let Some(text) = line.strip_prefix("event: ") {
                text.clone_into(&mut name);
            } else if let Some(text) = line.strip_prefix("data: ") {
                data = serde_json::from_str(text).unwrap();
            } else if line.is_empty() && !name.is_empty() {
                return Some((name, data));
            }
        }
        None
    }
}

/// A running command, and the links that it has printed.
struct Game {
    child: Child,
    seats: Vec<Seat>,
    said: BufReader<std::process::ChildStderr>,
}

fn start(folder: &Path, words: &[&str], persons: usize) -> Game {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    command.arg("play").args(words).arg("--web").current_dir(folder);
    command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    if let Some(python) = common::python() {
        command.env("AGON_PYTHON", python);
    }
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut seats = Vec::new();
    while seats.len() < persons {
        let mut line = String::new();
        assert!(said.read_line(&mut line).unwrap() > 0, "it ended without a link");
        if line.contains("plays at") {
            seats.push(Seat::read(&line));
        }
    }
    Game { child, seats, said }
}

impl Game {
    fn finish(mut self) -> Output {
        let mut said = String::new();
        self.said.read_to_string(&mut said).unwrap();
        let output = self.child.wait_with_output().unwrap();
        Output { stderr: said.into_bytes(), ..output }
    }
}

#[test]
fn person_plays_a_python_bot_in_the_browser_and_gets_the_record() {
    if common::python().is_none() {
        return;
    }
    let folder = folder_with(&[("FirstRoom.py", FIRST_ROOM)]);
    let words = ["connect-five", "human", "FirstRoom.py", "--seed", "3", "--record", "game.agon"];
    let game = start(folder.path(), &words, 1);
    let seat = &game.seats[0];
    let site =
        agent().get(format!("{}/api/v1/site", seat.url)).call().unwrap().body_mut().read_json::<Value>();
    let site = site.unwrap();
    assert_eq!((&site["me"], &site["signup"]), (&Value::Null, &json!("closed")));
    let other = agent()
        .post(format!("{}/api/v1/play", seat.url))
        .send_json(json!({"game": "connect-five", "seats": []}));
    assert_eq!(other.unwrap().status(), 403, "only the game of the command is played here");
    let end = seat.play(&mut seat.events());
    assert!(end["played"].is_null() && end["outcome"]["ended"].is_string(), "{end}");
    let text = good(&game.finish());
    assert!(text.contains("Connect Five") && text.contains("1 game, seed 3"), "{text}");
    assert!(
        text.contains("human") && text.contains("FirstRoom") && text.contains("record: game.agon"),
        "{text}"
    );
    good(&run_in(folder.path(), "replay game.agon --verify", ""));
}

#[test]
fn several_persons_get_a_link_each_and_the_game_waits_for_all_of_them() {
    let folder = folder_with(&[]);
    let words = ["solitude-scramble", "human", "house:left", "human", "house:right", "--set", "turns=3"];
    let game = start(folder.path(), &words, 2);
    let [one, two] = &game.seats[..] else { panic!("two links") };
    assert!(one.key != two.key && one.session == two.session);
    let mut first = one.events();
    assert_eq!(first.next().unwrap().1["state"], "lobby", "the other page is not open yet");
    std::thread::scope(|scope| {
        let other = scope.spawn(|| two.play(&mut two.events()));
        assert_eq!(one.play(&mut first), other.join().unwrap());
    });
    let text = good(&game.finish());
    assert!(text.contains("human-2") && text.contains("ended: all turns played after 3 turns"), "{text}");
}

#[test]
fn ctrl_c_ends_the_game_and_prints_it() {
    let folder = folder_with(&[]);
    let game = start(folder.path(), &["connect-five", "human", "house:random"], 1);
    let mut events = game.seats[0].events();
    while events.next().unwrap().0 != "ask" {}
    let id = rustix::process::Pid::from_child(&game.child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let text = good(&game.finish());
    assert!(text.contains("fault: game 1, turn 1, human: crash: the player left"), "{text}");
}

#[test]
fn rules_clock_holds_for_the_person_too() {
    let folder = folder_with(&[]);
    let words = ["connect-five", "human", "house:random", "--clock", "rules", "--set", "seconds=0.05"];
    let game = start(folder.path(), &words, 1);
    let mut events = game.seats[0].events();
    while events.next().unwrap().0 != "end" {}
    let text = good(&game.finish());
    assert!(text.contains("ended: timeout of seat 0 after 1 turns"), "{text}");
}

#[test]
fn wrong_use_is_explained() {
    let folder = folder_with(&[]);
    for (words, message) in [
        (&["connect-five", "house:random", "house:random", "--web"][..], "no seat is yours"),
        (&["connect-five", "human", "house:random", "--web", "--games", "2"][..], "--web plays one game"),
        (&["connect-five", "human", "house:random", "--clock", "rules"][..], "--web"),
        (&["connect-five", "human", "house:random", "--web", "--step"][..], "--step"),
    ] {
        let output = agon(folder.path(), &[&["play"], words].concat()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(message), "{words:?}: {said}");
    }
}
