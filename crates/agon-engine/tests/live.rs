//! Live films: turn by turn they become the film of the finished record.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::time::Duration;

use agon_core::record::{FaultRecord, Record, RecordHeader, Recorder};
use agon_core::{Assets, FastRng, Outcome, Seat, Settings};
use agon_engine::film::json::{FilmExtras, to_json};
use agon_engine::film::live::{PlayedTurn, film_part};
use agon_engine::referee::GameHooks;
use agon_engine::{
    AnyGame, FilmPart, GameEvent, LiveFilm, MatchSetup, PlayerSpec, Reporter, TurnReplayer, any_game,
};
use agon_games::{GameVisitor, PlayableGame};
use serde_json::{Value as Json, json};

/// Follows a game using only the events of reporters.
struct Spectator {
    game: Box<dyn AnyGame>,
    shown: Option<(LiveFilm, Box<dyn TurnReplayer>)>,
    faults: Vec<FaultRecord>,
    /// State of a viewer that has appended every part.
    viewer: Json,
    /// Film sent to another process after the third turn; it grows by parts.
    elsewhere: Option<LiveFilm>,
    outcome: Option<Outcome>,
}

impl Spectator {
    fn new(id: &str) -> Self {
        let game = any_game(id).unwrap();
        Self { game, shown: None, faults: Vec::new(), viewer: Json::Null, elsewhere: None, outcome: None }
    }

    fn start(&mut self, header: &RecordHeader) {
        let (film, replayer) = self.game.live_film(header, &FilmExtras::default(), &Assets::none()).unwrap();
        self.viewer = serde_json::from_slice(&film.json()).unwrap();
        assert_eq!(self.viewer["live"], true);
        self.shown = Some((film, replayer));
        self.elsewhere = None;
    }

    fn hand_on(&mut self, bytes: &[u8]) {
        append(&mut self.viewer, &serde_json::from_slice(bytes).unwrap());
        let Some(elsewhere) = &mut self.elsewhere else { return };
        let part = FilmPart::read(bytes).unwrap();
        assert_eq!((part.from, part.json()), (elsewhere.turns() + 1, bytes.to_vec()));
        part.turns.iter().for_each(|turn| elsewhere.push(turn));
        if let Some(outcome) = part.outcome {
            elsewhere.end(outcome);
        }
    }
}

impl Reporter for Spectator {
    fn event(&mut self, event: &GameEvent<'_>) {
        match event {
            GameEvent::Started { header, .. } => self.start(header),
            GameEvent::Fault { fault, .. } => self.faults.push((*fault).clone()),
            GameEvent::Turn { turn, answers, .. } => {
                let (film, replayer) = self.shown.as_mut().unwrap();
                let turn_answers = answers.unwrap();
                let answers = std::str::from_utf8(turn_answers.answers()).unwrap();
                let charged: Vec<Duration> = turn_answers.charged().collect();
                let faults = std::mem::take(&mut self.faults);
                let expired = turn_answers.expired;
                let shown = replayer
                    .push(&PlayedTurn { answers, charged: &charged, faults: &faults, expired })
                    .unwrap();
                let bytes = film_part(film.turns() + 1, std::slice::from_ref(&shown), None);
                film.push(&shown);
                assert_eq!(film.turns(), *turn as usize);
                let so_far = (*turn == 3).then(|| LiveFilm::read(&film.json(), &[]).unwrap());
                self.hand_on(&bytes);
                self.elsewhere = so_far.or(self.elsewhere.take());
            }
            GameEvent::Over { .. } => {
                let (film, replayer) = self.shown.as_mut().unwrap();
                let outcome = replayer.outcome().unwrap();
                let bytes = film_part(film.turns() + 1, &[], Some(&outcome));
                film.end(outcome.clone());
                self.outcome = Some(outcome);
                self.hand_on(&bytes);
            }
        }
    }
}

/// Appends a part as `docs/film.md` describes.
fn append(film: &mut Json, part: &Json) {
    let seats = film["names"].as_array().unwrap().len();
    let push = |film: &mut Json, value: Json| film.as_array_mut().unwrap().push(value);
    for (i, turn) in part["turns"].as_array().unwrap().iter().enumerate() {
        let number = film["deltas"].as_array().unwrap().len() + 1;
        assert_eq!(part["from"].as_u64().unwrap() as usize + i, number);
        let all = json!((0..seats).collect::<Vec<_>>());
        if turn.get("movers").is_some() && film.get("movers").is_none() {
            film["movers"] = vec![all.clone(); number - 1].into();
        }
        let movers = turn.get("movers").unwrap_or(&all).clone();
        if film.get("movers").is_some() {
            push(&mut film["movers"], movers.clone());
        }
        push(&mut film["deltas"], turn["delta"].clone());
        push(&mut film["answers"], turn["answers"].clone());
        for (seat, micros) in movers.as_array().unwrap().iter().zip(turn["micros"].as_array().unwrap()) {
            if !micros.is_null() {
                push(&mut film["micros"][seat.as_u64().unwrap() as usize], micros.clone());
            }
        }
        for fault in turn["faults"].as_array().into_iter().flatten() {
            push(&mut film["faults"], fault.clone());
        }
        for (line, value) in turn["standing"].as_array().unwrap().iter().enumerate() {
            push(&mut film["standing"]["lines"][line], value.clone());
        }
    }
    if let Some(outcome) = part.get("outcome") {
        film["outcome"] = outcome.clone();
        film.as_object_mut().unwrap().remove("live");
    }
}

/// Checks that the live film equals the film of the record, except for data that only a record has.
fn check(spectator: &Spectator, record: Record) {
    let id = record.header.game.clone();
    let seed = record.header.seed.to_string();
    let film = spectator.game.film(record, &Assets::none()).unwrap();
    let mut whole =
        to_json(spectator.game.info(), &*film, &FilmExtras { hide_seed: true, ..FilmExtras::default() });
    whole.as_object_mut().unwrap().remove("digest");
    assert_eq!(spectator.viewer, whole, "{id}: parts");
    let bytes = spectator.shown.as_ref().unwrap().0.json();
    let late: Json = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(late, whole, "{id}: late viewer");
    for broken in [&b"{}"[..], b"[]", b"", &bytes[1..], b"{\"agon\":\"film\",\"first\":1}"] {
        assert!(LiveFilm::read(broken, &[]).is_none() && FilmPart::read(broken).is_none());
    }
    let Some(elsewhere) = &spectator.elsewhere else { return assert!(film.len() <= 3, "{id}") };
    assert!(elsewhere.is_over());
    let elsewhere: Json = serde_json::from_slice(&elsewhere.json()).unwrap();
    assert_eq!(elsewhere, whole, "{id}: other process");
    let named = LiveFilm::read(&bytes, &[None, Some("Ann\nBo".to_owned())]).unwrap().json();
    assert!(!named.contains(&b'\n'), "the film is one line of JSON");
    let mut named: Json = serde_json::from_slice(&named).unwrap();
    assert_eq!(named.as_object_mut().unwrap().remove("contributors"), Some(json!([null, "Ann\nBo"])));
    assert_eq!(named, whole);
    assert!(late.get("seed").is_none() && !String::from_utf8(bytes).unwrap().contains(&seed), "{id}");
}

struct Scripts;

impl GameVisitor for Scripts {
    type Output = ();

    fn visit<G: PlayableGame>(self) {
        // The third time exceeds every clock: seats sit out, and a shared clock ends the game.
        for (number, time) in [(1, 900), (2, 1_234_567), (3, 4_000_000_000), (4, 12_345), (5, 60_000_000)] {
            let script = common::script::<G>(number, 6);
            let mut spectator = Spectator::new(G::info().id);
            let played = common::watched(&script, Duration::from_nanos(time), Some(&mut spectator));
            assert_eq!(spectator.outcome.as_ref(), Some(&played.outcome));
            check(&spectator, common::record(&played));
        }
    }
}

#[test]
fn live_film_of_random_games_with_faults_equals_the_record() {
    for info in agon_games::infos() {
        agon_games::visit(info.id, Scripts).unwrap();
    }
}

#[test]
fn live_film_of_house_bot_games_equals_the_record() {
    for info in agon_games::infos() {
        for number in 0..8 {
            let mut rng = FastRng::new(number);
            let (pairs, seats) = common::short_settings(info.id, &mut rng);
            let game = any_game(info.id).unwrap();
            let pairs = pairs.iter().map(|(name, text)| (*name, text.as_str()));
            let settings = Settings::parse(info.settings, pairs).unwrap();
            let bots = game.house_bots();
            let weak = |seat: Seat| {
                let role = info.role(seat).name;
                let fitting: Vec<_> = bots.iter().filter(|bot| bot.roles.contains(&role)).collect();
                PlayerSpec::House(fitting[rng.below(fitting.len().min(3) as u32) as usize].name.to_owned())
            };
            let seats: Vec<PlayerSpec> = Seat::all(seats).map(weak).collect();
            let assets = Assets::none();
            let setup = MatchSetup { settings: &settings, seed: 77 + number, seats: &seats, assets: &assets };
            let (mut spectator, mut recorder) = (Spectator::new(info.id), Recorder::new());
            let mut hooks = GameHooks {
                reporter: Some(&mut spectator),
                console: None,
                persons: None,
                recorder: Some(&mut recorder),
                log: None,
            };
            let mut played = Vec::new();
            // A later game of a match, whose drawn settings must be known too.
            game.play(&setup, 1..2, &mut hooks, &mut |one| played.push(one)).unwrap();
            check(&spectator, common::record(&played[0]));
        }
    }
}

#[test]
fn replayer_rejects_illegal_turns_and_removes_stderr() {
    let script = common::script::<agon_games::connect_five::ConnectFive>(3, 1_000);
    let played = common::referee(&script, Duration::ZERO);
    let record = common::record(&played);
    let game = any_game("connect-five").unwrap();
    let (_, mut replayer) = game.live_film(&record.header, &FilmExtras::default(), &Assets::none()).unwrap();
    let turn = |answers| PlayedTurn { answers, charged: &[], faults: &[], expired: None };
    for wrong in ["", "1 2", "nine", "!tired"] {
        assert!(replayer.push(&turn(wrong)).is_err(), "{wrong:?}");
    }
    assert!(replayer.outcome().is_none());
    let mut report = agon_core::FaultReport::new(agon_core::Fault::Crash, "public message");
    report.stderr = "private secrets".to_owned();
    let faults = [FaultRecord { turn: 1, seat: Seat(0), report }];
    let shown = replayer.push(&PlayedTurn { faults: &faults, ..turn("!crash") }).unwrap();
    let text = String::from_utf8(film_part(1, &[shown], None)).unwrap();
    assert!(text.contains("public message") && !text.contains("secrets"), "{text}");
    let mut other = record.header;
    other.rules += 1;
    assert!(game.live_film(&other, &FilmExtras::default(), &Assets::none()).is_err());
}
