//! Requests of a seat are derived from its record, for all games and faults. House bots give the same answers again.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::io;
use std::ops::ControlFlow;
use std::time::Duration;

use agon_core::record::{Record, RecordHeader, Recorder, read_all};
use agon_core::{AnswerTimes, Assets, ClockRule, Outcome, Player, Response, Seat, Settings};
use agon_engine::any_game::{MatchSetup, hooks_with_recorder};
use agon_engine::film::{Film as _, TypedFilm};
use agon_engine::referee::{self, GameHooks, SeatedPlayer};
use agon_engine::turn_log::{TurnLog, TurnLogEntry};
use agon_engine::{PlayerSpec, RecordedRequest, any_game};
use agon_games::connect_five::ConnectFive;
use agon_games::{GameVisitor, PlayableGame};
use common::{faults, record, referee, script};

#[test]
fn requests_from_the_record_match_the_game() {
    struct Look;
    impl GameVisitor for Look {
        type Output = ();
        fn visit<G: PlayableGame>(self) {
            for number in 0..40 {
                let script = script::<G>(number, 6);
                let time = Duration::from_micros(700);
                let record = record(&referee(&script, time));
                let film = TypedFilm::<G>::new(record.clone(), &Assets::none()).unwrap();
                let mut asked = 0;
                for seat in Seat::all(script.replies.len()) {
                    let requests = film.requests(seat);
                    asked += requests.len();
                    assert_eq!(requests.len(), record.times[seat.index()].len());
                    assert!(requests.is_sorted_by_key(|request| request.turn));
                    let wrong = requests.iter().filter(|request| request.recorded.is_err()).count();
                    assert_eq!(wrong, faults(&script, seat), "{} {number}", G::info().id);
                    for request in &requests {
                        let seen = film.observation(request.turn, seat);
                        assert!(serde_json::from_str::<serde_json::Value>(&seen.json).unwrap().is_object());
                        assert_eq!(seen.text.is_some(), G::text_protocol().is_some());
                        if let Ok(answer) = &request.recorded {
                            assert_eq!(film.judge_answer(request.turn, seat, answer).as_ref(), Ok(answer));
                        }
                    }
                    let answers_before = |request: &RecordedRequest| -> usize {
                        let turns = &record.turns[..request.turn as usize - 1];
                        turns.iter().map(|turn| turn.split(' ').count()).sum()
                    };
                    for (number, request) in requests.iter().enumerate() {
                        let expected = match script.game.clock() {
                            ClockRule::PerAnswer { limit } => limit,
                            ClockRule::Bank { limit, .. } => limit.saturating_sub(time * number as u32),
                            ClockRule::Shared { limit, .. } => {
                                limit.saturating_sub(time * answers_before(request) as u32)
                            }
                        };
                        assert_eq!(request.limit, expected, "{} turn {}", G::info().id, request.turn);
                    }
                }
                assert_eq!(asked, record.times.iter().map(Vec::len).sum::<usize>());
            }
        }
    }
    for info in agon_games::infos() {
        agon_games::visit(info.id, Look).unwrap();
    }
}

/// Records of a series between the weakest house bots.
fn series(id: &str, games: u32) -> (Vec<Record>, Vec<PlayerSpec>) {
    let game = any_game(id).unwrap();
    let bots = game.house_bots();
    let seats: Vec<PlayerSpec> = Seat::all(game.info().seats.min)
        .map(|seat| {
            let role = game.info().role(seat).name;
            let bot = bots.iter().find(|bot| bot.roles.contains(&role)).unwrap();
            PlayerSpec::House(bot.name.to_owned())
        })
        .collect();
    let settings = Settings::parse(game.info().settings, []).unwrap();
    let setup = MatchSetup { settings: &settings, seed: 9, seats: &seats, assets: &Assets::none() };
    let (mut records, mut recorder) = (Vec::new(), Recorder::new());
    game.play(&setup, 0..games, &mut hooks_with_recorder(Some(&mut recorder)), &mut |played| {
        records.extend(read_all(&played.record.unwrap().0).unwrap());
    })
    .unwrap();
    (records, seats)
}

#[test]
fn reasked_house_bots_give_the_same_answers() {
    for info in agon_games::infos() {
        let game = any_game(info.id).unwrap();
        let (records, seats) = series(info.id, 2);
        for seat in Seat::all(seats.len()) {
            let before = game.games_to_replay(&records, 1);
            let mut asked = 0;
            game.reask(&records[before], seat, &seats[seat.index()], &Assets::none(), &mut |reasked| {
                asked += 1;
                assert!(reasked.is_same(), "{} {seat}: {reasked:?}", info.id);
                ControlFlow::Continue(())
            })
            .unwrap();
            assert!(asked > 0);
        }
    }
}

#[test]
fn games_to_replay_includes_earlier_games_of_the_match() {
    let game = any_game("connect-five").unwrap();
    // Two matches in one file.
    let records = [series("connect-five", 3).0, series("connect-five", 2).0].concat();
    let before = |index| game.games_to_replay(&records, index);
    assert_eq!([0, 1, 2].map(before), [0..1, 0..2, 0..3]);
    // The second match equals the first game by game, so the first matching start is used.
    let other = |index| game.games_to_replay(&records[3..], index);
    assert_eq!([0, 1].map(other), [0..1, 0..2]);
    // A game whose match is incomplete is replayed alone, like a game without matches.
    assert_eq!(game.games_to_replay(&records[1..], 1), 1..2);
    let solitude = any_game("solitude-scramble").unwrap();
    assert_eq!(solitude.games_to_replay(&series("solitude-scramble", 3).0, 2), 2..3);
}

/// Answers column 4 and prints its calls.
struct Chatty(String);

impl Player<ConnectFive> for Chatty {
    fn begin(&mut self, _: u64) {
        self.0 += "begins;";
    }
    fn wait_until_ready(&mut self) {
        self.0 += "ready;";
    }
    fn ask(&mut self, _: &<ConnectFive as agon_core::Game>::Observation<'_>, _: Duration) {
        self.0 += "asked;";
    }
    fn answer(&mut self) -> Response<<ConnectFive as agon_core::Game>::Answer> {
        let reply = <ConnectFive as agon_core::Game>::read_answer("4").map_err(|_| unreachable!());
        Response { reply, times: AnswerTimes::default() }
    }
    fn take_output(&mut self) -> String {
        std::mem::take(&mut self.0)
    }
    fn game_over(&mut self) -> Option<Box<agon_core::FaultReport>> {
        self.0 += "over;";
        None
    }
}

#[derive(Default)]
struct Notes(Vec<String>);

impl TurnLog for Notes {
    fn begin_game(&mut self, game: u32, header: &RecordHeader) -> io::Result<()> {
        self.0.push(format!("game {game} of {}", header.seats.len()));
        Ok(())
    }
    fn output(&mut self, seat: Seat, printed: &str) -> io::Result<()> {
        self.0.push(format!("{seat} outside {printed}"));
        Ok(())
    }
    fn answer(&mut self, entry: &TurnLogEntry<'_>) -> io::Result<()> {
        let fault = entry.fault.map_or("", |fault| fault.fault.name());
        let answer = entry.answer.as_deref().unwrap_or("-");
        self.0.push(format!(
            "{} {} {} {answer}{fault} {}",
            entry.turn, entry.seat, entry.request, entry.output
        ));
        Ok(())
    }
    fn end_game(&mut self, outcome: &Outcome) -> io::Result<()> {
        self.0.push(outcome.ended.to_string());
        Err(io::Error::other("the disk is full"))
    }
}

#[test]
fn turn_log_gets_every_turn_and_output_from_outside_turns() {
    let script = script::<ConnectFive>(1, 1_000_000);
    let settings = Settings::parse(
        <ConnectFive as agon_core::Game>::info().settings,
        [("special", "0,1"), ("p", "0"), ("q", "0"), ("first", "0")],
    )
    .unwrap();
    let game = <ConnectFive as agon_core::Game>::new(&settings, 2, &Assets::none()).unwrap();
    let mut header = record(&referee(&script, Duration::ZERO)).header;
    header.settings = agon_engine::film::settings_json(&settings);
    let names = ["a".to_owned(), "b".to_owned()];
    let mut players: Vec<SeatedPlayer<ConnectFive>> =
        (0..2).map(|_| SeatedPlayer::Bot(Box::new(Chatty(String::new())) as Box<dyn Player<_>>)).collect();
    let mut notes = Notes::default();
    let mut hooks = GameHooks { log: Some(&mut notes), ..hooks_with_recorder(None) };
    let last_error = referee::play(&game, 5, &header, &names, &mut players, &mut hooks).unwrap_err();
    assert_eq!(last_error.to_string(), "the disk is full", "the error of the log is returned");
    let expected = [
        "game 5 of 2",
        "0 outside begins;ready;",
        "1 outside begins;ready;",
        "1 0 move 4 asked;",
        "2 1 move 4 asked;",
        "3 0 move 4 asked;",
        "4 1 move 4 asked;",
        "5 0 move 4 asked;",
        "6 1 move 4 asked;",
        "7 0 move 4 asked;",
        "8 1 move -illegal asked;",
        "0 outside over;",
        "1 outside over;",
    ];
    assert_eq!(notes.0[..expected.len()], expected);
}
