//! Persons who do not play at the terminal: requests, clocks, illegal answers, leaving, and bots beside them.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agon_core::record::{Recorder, read_all};
use agon_core::{AnswerTimes, Assets, Fault, Game, IllegalAnswer, Player, Response, Seat, Settings};
use agon_engine::any_game::MatchSetup;
use agon_engine::film::header;
use agon_engine::referee::{GameHooks, SeatedPlayer, play};
use agon_engine::{
    GameEvent, PersonAction, PersonClock, PersonRequest, Persons, PlayedGame, PlayerSpec, Reporter, any_game,
};
use agon_games::solitude_scramble::SolitudeScramble;

/// What a scripted person does when it is waited for.
enum Deed {
    /// Answers.
    Says(usize, &'static str),
    /// Answers with the first legal answer.
    Legal(usize),
    /// Answers with the first legal answer after the time is up.
    Late(usize),
    Leaves(usize),
    /// Does nothing until the time is up.
    Nothing,
}

/// Persons who follow a script.
struct Script {
    clock: PersonClock,
    deeds: VecDeque<Deed>,
    requests: Vec<Vec<PersonRequest>>,
    refusals: Vec<String>,
    log: Arc<Mutex<Vec<String>>>,
}

impl Script {
    fn new(clock: PersonClock, deeds: impl IntoIterator<Item = Deed>) -> Self {
        let deeds = deeds.into_iter().collect();
        Self { clock, deeds, requests: Vec::new(), refusals: Vec::new(), log: Arc::default() }
    }

    fn first_legal(&self, seat: usize) -> String {
        let asked = self.requests.last().unwrap().iter().find(|one| one.seat.index() == seat).unwrap();
        asked.legal[0].clone()
    }
}

impl Persons for Script {
    fn clock(&self) -> PersonClock {
        self.clock
    }

    fn ask(&mut self, requests: Vec<PersonRequest>) -> io::Result<()> {
        self.log.lock().unwrap().push(format!("ask {}", requests.len()));
        self.requests.push(requests);
        Ok(())
    }

    fn next(&mut self, until: Instant) -> io::Result<Option<PersonAction>> {
        let seat_of = |seat: usize| Seat(seat as u8);
        let at = Instant::now();
        Ok(match self.deeds.pop_front() {
            Some(Deed::Says(seat, text)) => {
                Some(PersonAction::Answer { seat: seat_of(seat), text: text.to_owned(), at })
            }
            Some(Deed::Legal(seat)) => {
                Some(PersonAction::Answer { seat: seat_of(seat), text: self.first_legal(seat), at })
            }
            Some(Deed::Late(seat)) => {
                let at = until + Duration::from_millis(1);
                Some(PersonAction::Answer { seat: seat_of(seat), text: self.first_legal(seat), at })
            }
            Some(Deed::Leaves(seat)) => Some(PersonAction::Leave { seat: seat_of(seat) }),
            Some(Deed::Nothing) | None => {
                std::thread::sleep(until.saturating_duration_since(at));
                None
            }
        })
    }

    fn judged(&mut self, _: Seat, result: Result<(), &IllegalAnswer>) {
        self.refusals.extend(result.err().map(ToString::to_string));
    }
}

const NO_CLOCK: PersonClock = PersonClock::LeftAfter(Duration::from_mins(10));

fn house(name: &str) -> PlayerSpec {
    PlayerSpec::House(name.to_owned())
}

/// Plays one recorded game, and checks that its record follows from the rules.
fn play_one(game: &str, settings: &[(&str, &str)], seats: &[PlayerSpec], script: &mut Script) -> PlayedGame {
    let game = any_game(game).unwrap();
    let settings = Settings::parse(game.info().settings, settings.iter().copied()).unwrap();
    let setup = MatchSetup { settings: &settings, seed: 7, seats, assets: &Assets::none() };
    let mut recorder = Recorder::new();
    let mut hooks = GameHooks {
        reporter: None,
        console: None,
        persons: Some(script),
        recorder: Some(&mut recorder),
        log: None,
    };
    let mut played = None;
    game.play(&setup, 0..1, &mut hooks, &mut |one| played = Some(one)).unwrap();
    let played: PlayedGame = played.unwrap();
    let record = read_all(&played.record.as_ref().unwrap().0).unwrap().remove(0);
    game.film(record, &Assets::none()).map(drop).unwrap();
    played
}

#[test]
fn all_persons_of_a_turn_are_asked_at_once_and_answer_in_any_order() {
    let seats = [PlayerSpec::Human, house("greedy"), PlayerSpec::Human, house("left")];
    let deeds = [Deed::Says(2, "RIGHT"), Deed::Says(0, "C"), Deed::Legal(0), Deed::Legal(2)];
    let mut script = Script::new(NO_CLOCK, deeds);
    let played = play_one("solitude-scramble", &[("turns", "2")], &seats, &mut script);
    assert!(played.faults.is_empty(), "{:?}", played.faults);
    assert_eq!(script.requests.len(), 2);
    for (turn, requests) in (1..).zip(&script.requests) {
        let asked: Vec<_> = requests.iter().map(|one| (one.turn, one.seat.0, one.limit)).collect();
        assert_eq!(asked, [(turn, 0, None), (turn, 2, None)]);
        assert_eq!(requests[0].legal, ["L", "R", "C"]);
        assert_eq!(requests[0].request.name, "move");
    }
    let record = read_all(&played.record.unwrap().0).unwrap().remove(0);
    let first: Vec<&str> = record.turns[0].split(' ').collect();
    assert_eq!((first[0], first[2]), ("C", "R"), "answers are recorded in seat order");
}

#[test]
fn illegal_answer_is_refused_with_the_reasons_and_costs_nothing() {
    let seats = [PlayerSpec::Human, house("random")];
    let deeds =
        [Deed::Says(0, "x"), Deed::Says(0, "99"), Deed::Says(1, "4"), Deed::Says(0, "4"), Deed::Leaves(0)];
    let mut script = Script::new(NO_CLOCK, deeds);
    let played = play_one("connect-five", &[], &seats, &mut script);
    assert_eq!(script.refusals.len(), 3, "{:?}", script.refusals);
    assert!(script.refusals[1].contains("column 99 does not exist"), "{:?}", script.refusals);
    assert!(script.refusals[2].contains("not asked now"), "{:?}", script.refusals);
    assert_eq!(played.faults.len(), 1, "only leaving is a fault");
    assert_eq!(played.faults[0].report.message, "the player left");
    assert_eq!(played.outcome.match_lost_by, Some(Seat(0)));
}

#[test]
fn person_who_has_left_is_not_asked_again_and_the_others_play_on() {
    let seats = [PlayerSpec::Human, PlayerSpec::Human, house("left"), house("right")];
    let deeds = [Deed::Leaves(0), Deed::Legal(1), Deed::Legal(1), Deed::Legal(1)];
    let mut script = Script::new(NO_CLOCK, deeds);
    let played = play_one("solitude-scramble", &[("turns", "3")], &seats, &mut script);
    let asked: Vec<usize> = script.requests.iter().map(Vec::len).collect();
    assert_eq!(asked, [2, 1, 1]);
    let faults: Vec<_> = played.faults.iter().map(|fault| (fault.turn, fault.seat.0)).collect();
    assert_eq!(faults, [(1, 0), (2, 0), (3, 0)]);
    assert!(played.faults.iter().all(|fault| fault.report.fault == Fault::Crash));
}

#[test]
fn without_a_clock_a_person_who_gives_no_answer_for_long_has_left() {
    let seats = [PlayerSpec::Human, house("random")];
    let mut script = Script::new(PersonClock::LeftAfter(Duration::from_millis(5)), [Deed::Nothing]);
    let played = play_one("connect-five", &[], &seats, &mut script);
    assert_eq!(played.faults[0].report.message, "the player left");
}

#[test]
fn with_the_rules_clock_a_late_person_times_out_as_a_bot_does() {
    let seats = [PlayerSpec::Human, house("random")];
    for deed in [Deed::Nothing, Deed::Late(0)] {
        let mut script = Script::new(PersonClock::Rules, [deed]);
        let played = play_one("connect-five", &[("seconds", "0.01")], &seats, &mut script);
        assert_eq!(script.requests[0][0].limit, Some(Duration::from_millis(10)));
        assert_eq!(played.faults[0].report.fault, Fault::Timeout);
        assert_eq!(played.outcome.ended, "timeout of seat 0");
    }
}

#[test]
fn person_with_an_empty_bank_is_not_asked_again() {
    let seats = [PlayerSpec::Human, house("sweeper")];
    let mut script = Script::new(PersonClock::Rules, [Deed::Nothing]);
    let played = play_one("colour-battle", &[("rounds", "10"), ("move_ms", "1")], &seats, &mut script);
    assert_eq!((script.requests.len(), played.turns), (1, 10));
    assert_eq!(played.faults.len(), 1, "{:?}", played.faults);
}

/// A bot that writes to a log when it is asked and when its answer is read.
struct Logger(Arc<Mutex<Vec<String>>>);

impl Player<SolitudeScramble> for Logger {
    fn ask(&mut self, _: &<SolitudeScramble as Game>::Observation<'_>, _: Duration) {
        self.0.lock().unwrap().push("bot asked".to_owned());
    }

    fn answer(&mut self) -> Response<<SolitudeScramble as Game>::Answer> {
        self.0.lock().unwrap().push("bot answered".to_owned());
        Response { reply: Ok(SolitudeScramble::read_answer("L").unwrap()), times: AnswerTimes::default() }
    }
}

#[test]
fn answers_of_bots_are_read_before_persons_are_waited_for() {
    let settings = Settings::parse(SolitudeScramble::info().settings, [("turns", "1")]).unwrap();
    let game = SolitudeScramble::new(&settings, 4, &Assets::none()).unwrap();
    let mut script = Script::new(NO_CLOCK, [Deed::Legal(0)]);
    let log = Arc::clone(&script.log);
    let bot = || SeatedPlayer::Bot(Box::new(Logger(Arc::clone(&log))) as Box<dyn Player<SolitudeScramble>>);
    let mut players = [SeatedPlayer::Person, bot(), bot(), bot()];
    let seats = ["a", "b", "c", "d"].map(|name| agon_core::record::SeatRecord {
        name: name.to_owned(),
        bot: "test".to_owned(),
        hash: String::new(),
    });
    let header = header::<SolitudeScramble>(&settings, 1, seats.to_vec());
    let names = seats.map(|seat| seat.name);
    let mut hooks =
        GameHooks { reporter: None, console: None, persons: Some(&mut script), recorder: None, log: None };
    play(&game, 0, &header, &names, &mut players, &mut hooks).unwrap();
    let order = log.lock().unwrap().join(", ");
    let expected = "ask 1, bot asked, bot asked, bot asked, bot answered, bot answered, bot answered";
    assert_eq!(order, expected, "a person is waited for after all of this");
}

#[test]
fn reporter_gets_the_frame_of_each_seat() {
    struct Frames(Vec<(serde_json::Value, serde_json::Value)>);
    impl Reporter for Frames {
        fn event(&mut self, event: &GameEvent<'_>) {
            if let GameEvent::Started { view, .. } | GameEvent::Turn { view, .. } = event {
                self.0.push((view.frame(), view.seat_frame(Seat(0))));
            }
        }
    }
    let game = any_game("connect-five").unwrap();
    let settings = Settings::defaults(game.info().settings);
    let seats = [PlayerSpec::Human, house("random")];
    let setup = MatchSetup { settings: &settings, seed: 7, seats: &seats, assets: &Assets::none() };
    let mut script = Script::new(NO_CLOCK, [Deed::Legal(0), Deed::Leaves(0)]);
    let mut frames = Frames(Vec::new());
    let mut hooks = GameHooks {
        reporter: Some(&mut frames),
        console: None,
        persons: Some(&mut script),
        recorder: None,
        log: None,
    };
    game.play(&setup, 0..1, &mut hooks, &mut |_| {}).unwrap();
    let (whole, shown) = &frames.0[2];
    assert_eq!(whole["board"], shown["board"]);
    assert_eq!(shown["special"], serde_json::json!([]));
    assert!(shown["p"].is_null() && !whole["p"].is_null());
    let (whole, shown) = frames.0.last().unwrap();
    assert_eq!(whole, shown, "the end shows everything");
}
