//! Honest programs play all five games to the end against house bots, by the real rules.

#![allow(clippy::unwrap_used, clippy::similar_names, reason = "a test may panic")]

mod common;

use agon_core::Seat;
use agon_games::colour_battle::ColourBattle;
use agon_games::connect_five::ConnectFive;
use agon_games::hide_and_seek::HideAndSeek;
use agon_games::solitude_scramble::SolitudeScramble;
use agon_games::word_racer::{WordRacer, text_protocol::write_request};
use agon_games::{GameVisitor, PlayableGame};
use agon_host::{PlayerOptions, Program, TextPlayer};
use common::{Seated, alone, answers, example_in_python, examples, faults, play, play_match, python, script};

/// Settings for a short game, and the number of seats.
fn short(id: &str) -> (&'static [(&'static str, &'static str)], usize) {
    match id {
        "solitude-scramble" => (&[("turns", "4")], 4),
        "colour-battle" => (&[("rounds", "40")], 5),
        "hide-and-seek" => (&[("steps", "60")], 2),
        _ => (&[], 2),
    }
}

/// The program at one seat, the weakest house bots at the others.
fn with_house<G: PlayableGame>(seat: usize, program: &Program) -> Vec<Seated<G>> {
    let house = |seat: usize| G::bots().iter().find(|bot| bot.plays(Seat(seat as u8))).unwrap().name;
    (0..short(G::info().id).1)
        .map(|i| if i == seat { Seated::Program(program.clone()) } else { Seated::House(house(i)) })
        .collect()
}

struct Plays(Program);

impl GameVisitor for Plays {
    type Output = Vec<String>;

    /// Plays with the program at the first and at the last seat. Returns the answers of each game.
    fn visit<G: PlayableGame>(self) -> Vec<String> {
        let (settings, seats) = short(G::info().id);
        [0, seats - 1]
            .map(|seat| {
                let played = play::<G>(settings, 7, with_house(seat, &self.0));
                assert!(faults(&played, seat as u8).is_empty(), "{}: {:?}", G::info().id, played.faults);
                let tally = &played.seats[seat];
                assert!(tally.answers > 0 && tally.time.wall > std::time::Duration::ZERO, "{tally:?}");
                answers(&played)
            })
            .to_vec()
    }
}

fn plays_all_games(program: &Program) -> Vec<String> {
    let ids = agon_games::infos().into_iter().map(|info| info.id);
    ids.flat_map(|id| agon_games::visit(id, Plays(program.clone())).unwrap()).collect()
}

#[test]
fn example_bots_in_five_languages_give_the_same_answers() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let wanted = plays_all_games(&example_in_python());
    let bot = |words: &[&str], at: &std::path::Path| Program::new(words.iter().copied(), at);
    let build = |tool: &str, arguments: &[&str]| {
        let mut command = std::process::Command::new(tool);
        command.args(arguments).current_dir(folder.path());
        match command.output() {
            Ok(output) => {
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                true
            }
            Err(error) => {
                agon_test_servers::cannot_run(agon_test_servers::Lacks::Machine, &format!("{tool}: {error}"));
                false
            }
        }
    };
    let source = |path: &str| examples().join(path).to_string_lossy().into_owned();
    let mut bots = Vec::new();
    if build("node", &["--version"]) {
        bots.push(bot(&["node", "bot.js"], &examples().join("javascript")));
    }
    if build("g++", &["-O2", "-std=c++17", "-Wall", "-Wextra", "-o", "cpp", &source("cpp/bot.cpp")]) {
        bots.push(bot(&["./cpp"], folder.path()));
    }
    if build("javac", &["-d", ".", &source("java/Bot.java"), &source("java/Agon.java")]) {
        bots.push(bot(&["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "Bot"], folder.path()));
    }
    if build("rustc", &["--edition", "2021", "-O", "-o", "rust", &source("rust/bot.rs")]) {
        bots.push(bot(&["./rust"], folder.path()));
    }
    for bot in bots {
        assert_eq!(plays_all_games(&bot), wanted, "{:?}", bot.words);
    }
}

#[test]
fn programs_play_against_each_other() {
    fn all<G: PlayableGame>(count: usize) -> Vec<Seated<G>> {
        (0..count).map(|_| Seated::Program(example_in_python())).collect()
    }
    let _alone = alone();
    assert!(play::<HideAndSeek>(&[("steps", "100")], 5, all(2)).faults.is_empty());
    assert!(play::<WordRacer>(&[], 5, all(2)).faults.is_empty());
    let played = play::<ColourBattle>(&[("rounds", "50")], 5, all(12));
    assert!(played.faults.is_empty(), "{:?}", played.faults);
}

#[test]
fn one_process_plays_all_games_of_a_match() {
    let _alone = alone();
    let counts = script(
        "
games = 1
while True:
    m = hear()
    if m['type'] == 'turn':
        assert m['observation']['N'] == games - 1, (games, m)
        answer(m, next(c for c in range(9) if m['observation']['board'][0][c] == 0))
    elif m['type'] == 'start':
        games += 1
        assert m['number'] == games
        ready(m)
    elif m['type'] == 'end':
        ready(m)
    else:
        sys.exit(0)
",
    );
    let played =
        play_match::<ConnectFive>(&[], 11, 6, vec![Seated::Program(counts), Seated::House("random")]);
    assert_eq!(played.len(), 6);
    assert!(played.iter().all(|game| game.faults.is_empty()), "{:?}", played[0].faults);
}

#[test]
fn hello_leaves_out_secret_settings() {
    let _alone = alone();
    let looks = common::bare_script(
        "
import json, sys
hello = json.loads(sys.stdin.readline())
sys.exit(json.dumps(sorted(hello['settings'])) + hello['role'] + json.dumps(hello['names']))
",
    );
    let settings = [("special", "2,6"), ("p", "0.5"), ("q", "0.25")];
    let played = play::<ConnectFive>(&settings, 1, vec![Seated::Program(looks), Seated::House("random")]);
    let (_, _, stderr) = common::first_fault(&played);
    assert_eq!(stderr.trim(), r#"["first", "played", "seconds"]player["bot-0", "bot-1"]"#);
}

#[test]
fn stateless_game_keeps_nothing_between_calls() {
    let _alone = alone();
    let keeps = script(
        "
calls = 0
while True:
    m = hear()
    calls += 1
    answer(m, 'LEFT' if calls == 1 and m['type'] == 'turn' else 'RIGHT')
",
    );
    let players = || {
        let mut players: Vec<Seated<SolitudeScramble>> = (0..3).map(|_| Seated::House("centre")).collect();
        players.insert(0, Seated::Program(keeps.clone()));
        players
    };
    let strict = play::<SolitudeScramble>(&[("turns", "3")], 1, players());
    assert_eq!(answers(&strict), r#"["L C C C", "L C C C", "L C C C"]"#);
    let mut loose = players();
    let conditions = PlayerOptions { stateless: false, ..PlayerOptions::of::<SolitudeScramble>() };
    loose[0] = Seated::ProgramWith(keeps.clone(), conditions);
    let loose = play::<SolitudeScramble>(&[("turns", "3")], 1, loose);
    assert_eq!(answers(&loose), r#"["L C C C", "R C C C", "R C C C"]"#);
}

#[test]
fn word_racer_text_protocol_works_from_both_seats() {
    let _alone = alone();
    let program = Program::new([python(), "word_racer.py".to_owned()], examples().join("python"));
    let player = || Seated::Player(Box::new(TextPlayer::<WordRacer>::new(program.clone(), write_request)));
    let played = play_match::<WordRacer>(&[], 9, 2, vec![player(), Seated::House("random")]);
    assert!(played.iter().all(|game| game.faults.is_empty() && game.turns == 96), "{:?}", played[0].faults);
    assert!(play::<WordRacer>(&[], 9, vec![player(), player()]).faults.is_empty());
}

#[test]
fn word_racer_text_protocol_reports_the_same_faults() {
    use agon_core::Fault;
    let _alone = alone();
    for (body, fault, words) in [
        ("import sys; input(); input(); print('Q')", Fault::Garbled, "expected a letter and a position"),
        ("import sys; input(); input(); print('Q 24')", Fault::Illegal, "24"),
        ("input(); input(); raise SystemExit(3)", Fault::Crash, "ended with status 3"),
        ("input(); input(); print('Q' * 70000)", Fault::Garbled, "longer than 64 KiB"),
        ("while True: pass", Fault::Timeout, "no answer within the limit"),
    ] {
        let program = common::bare_script(body);
        let player = Box::new(TextPlayer::<WordRacer>::new(program, write_request));
        let players = vec![Seated::Player(player), Seated::House("random")];
        let played = play::<WordRacer>(&[("seconds", "1")], 2, players);
        let (found, says, _) = common::first_fault(&played);
        assert_eq!(found, fault, "{body}: {says}");
        assert!(says.contains(words), "{body}: {says}");
    }
}
