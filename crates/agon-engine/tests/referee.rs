//! The referee: clocks, faults, persons, events, series.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use agon_core::record::{Recorder, SeatRecord};
use agon_core::{
    AnswerTimes, Assets, BotLifetime, FastRng, Fault, Game, Picture, Player, Reply, RequestInfo, Response,
    Seat, Settings,
};
use agon_engine::any_game::{MatchSetup, seat_names};
use agon_engine::film::{TypedFilm, header};
use agon_engine::referee::{self, GameHooks, PlayedGame, SeatedPlayer};
use agon_engine::{Film as _, GameEvent, HumanConsole, PlayerSpec, Reporter, Series, any_game};
use agon_games::PlayableGame;
use agon_games::colour_battle::ColourBattle;
use agon_games::connect_five::ConnectFive;
use agon_games::hide_and_seek::HideAndSeek;
use agon_games::solitude_scramble::SolitudeScramble;
use agon_games::word_racer::WordRacer;

/// Gives the same answer each time, with scripted times.
struct Slow {
    text: &'static str,
    times: VecDeque<Duration>,
    asked: u32,
}

impl<G: Game> Player<G> for Slow {
    fn ask(&mut self, _: &G::Observation<'_>, _: Duration) {
        self.asked += 1;
    }

    fn answer(&mut self) -> Response<G::Answer> {
        let wall = self.times.pop_front().unwrap_or_default();
        // Half of the wall time is waiting for a CPU, which is never charged.
        let times = AnswerTimes { wall: wall * 2, cpu: wall, wait: wall };
        Response { reply: Ok(G::read_answer(self.text).unwrap()), times }
    }
}

fn slow<G: Game>(text: &'static str, millis: &[u64]) -> SeatedPlayer<G> {
    let times = millis.iter().map(|ms| Duration::from_millis(*ms)).collect();
    SeatedPlayer::Bot(Box::new(Slow { text, times, asked: 0 }))
}

fn play<G: PlayableGame>(
    pairs: &[(&str, &str)],
    mut players: Vec<SeatedPlayer<G>>,
) -> (PlayedGame, TypedFilm<G>) {
    let settings = Settings::parse(G::info().settings, pairs.iter().copied()).unwrap();
    let game = G::new(&settings, players.len(), &Assets::none()).unwrap();
    let names: Vec<String> = (0..players.len()).map(|i| format!("bot-{i}")).collect();
    let seats =
        names.iter().map(|n| SeatRecord { name: n.clone(), bot: n.clone(), hash: String::new() }).collect();
    let mut recorder = Recorder::new();
    let mut hooks =
        GameHooks { reporter: None, console: None, persons: None, recorder: Some(&mut recorder), log: None };
    let played =
        referee::play(&game, 0, &header::<G>(&settings, 7, seats), &names, &mut players, &mut hooks).unwrap();
    let film = TypedFilm::new(common::record(&played), &Assets::none()).unwrap();
    (played, film)
}

#[test]
fn solitude_limits_each_call_to_two_seconds() {
    let players = vec![slow("L", &[2000, 2001, 0]), slow("L", &[]), slow("R", &[]), slow("C", &[])];
    let (played, film) = play::<SolitudeScramble>(&[], players);
    assert_eq!(
        played.seats[0].faults,
        [1, 0, 0, 0],
        "2.001 s is late, 2 s is not, and waiting is not charged"
    );
    assert_eq!(played.faults[0].turn, 2);
    assert_eq!(played.faults[0].report.fault, Fault::Timeout);
    assert!(film.record().turns[1].starts_with("!timeout "));
    assert!(film.record().turns[2].starts_with("L "), "the limit starts again with each call");
}

#[test]
fn colour_battle_bot_stays_after_its_time_is_used_up() {
    // 10 rounds at 20 ms: 200 ms in total. The third answer exceeds it.
    let players = vec![slow("U", &[150, 50, 1, 0, 0]), slow("R", &[20; 10])];
    let (played, film) = play::<ColourBattle>(&[("rounds", "10")], players);
    let turns = &film.record().turns;
    assert_eq!(turns[1], "U R");
    assert_eq!(turns[2], "!timeout R");
    assert!(turns[3..].iter().all(|turn| turn == "- R"), "{turns:?}");
    assert_eq!(played.seats[0].answers, 3, "not asked again");
    assert!(
        played.faults[0].report.message.contains("used up the limit of 200ms for the game; not asked again"),
        "{:?}",
        played.faults
    );
    assert_eq!(played.seats[1].faults, [0; 4], "20 ms per move on average is allowed");
}

#[test]
fn connect_five_late_move_loses_the_game() {
    let (played, _) = play::<ConnectFive>(&[("special", "7,8")], vec![slow("0", &[0, 1001]), slow("1", &[])]);
    assert_eq!(played.outcome.win_share(Seat(1)).to_bits(), 1f64.to_bits());
    assert_eq!(played.outcome.match_lost_by, None, "a timeout loses the game, not the match");
    let (played, _) = play::<ConnectFive>(
        &[("special", "7,8"), ("seconds", "10")],
        vec![slow("0", &[0, 1001]), slow("1", &[])],
    );
    assert_eq!(played.seats[0].faults[0], 0, "T can be set");
}

#[test]
fn hide_and_seek_expired_clock_makes_the_player_with_less_weighted_time_win() {
    // The seeker used 200.5 s, the hider 100 s: twice that is less than the seeker's time.
    let seeker = || slow("S", &[100_000, 100_000, 500]);
    let (played, film) = play::<HideAndSeek>(&[], vec![seeker(), slow("S", &[100_000])]);
    assert_eq!(film.record().expired.unwrap().fastest, Seat(1));
    assert_eq!(played.outcome.seats[1].score.to_bits(), 4000f64.to_bits());
    // The hider used 101 s: twice that is more than the seeker's 200.5 s.
    let (played, film) = play::<HideAndSeek>(&[], vec![seeker(), slow("S", &[101_000])]);
    assert_eq!(film.record().expired.unwrap().fastest, Seat(0));
    assert_eq!(played.outcome.seats[0].score.to_bits(), 1f64.to_bits());
}

#[test]
fn word_racer_limits_all_answers_of_a_game_to_ten_seconds() {
    let call = |seconds: u64| slow::<WordRacer>("E 0", &[1000 * seconds]);
    let (played, _) = play::<WordRacer>(&[], vec![call(10), slow("E 0", &[])]);
    assert_eq!(
        played.faults[0].report.fault,
        Fault::Illegal,
        "ten seconds are in time; the wrong kind of answer is illegal"
    );
    let (played, _) = play::<WordRacer>(&[], vec![slow("E 0", &[10_001]), slow("E 0", &[])]);
    assert_eq!(played.faults[0].report.fault, Fault::Timeout);
    assert_eq!(played.outcome.seats[1].score.to_bits(), 3f64.to_bits());
}

#[test]
fn connect_five_crash_loses_the_match() {
    let script = VecDeque::from([Reply::Fault(Fault::Crash)]);
    let crash =
        SeatedPlayer::Bot(
            Box::new(common::Scripted::<ConnectFive> { replies: script, time: Duration::ZERO })
                as Box<dyn Player<_>>,
        );
    let (played, _) = play::<ConnectFive>(&[], vec![crash, slow("0", &[])]);
    assert_eq!(played.outcome.match_lost_by, Some(Seat(0)));
}

#[test]
fn illegal_answer_is_recorded_with_the_answer_and_every_reason() {
    let (played, _) = play::<ConnectFive>(&[], vec![slow("12", &[]), slow("0", &[])]);
    let report = &played.faults[0].report;
    assert_eq!(report.fault, Fault::Illegal);
    assert!(report.message.starts_with("answered `12`: "), "{}", report.message);
}

/// A person who types the texts of a list.
struct Typist(VecDeque<&'static str>, Vec<String>);

impl HumanConsole for Typist {
    fn ask(
        &mut self,
        _: Seat,
        _: &Picture,
        _: &RequestInfo,
        last_error: Option<&str>,
    ) -> io::Result<Option<String>> {
        self.1.extend(last_error.map(str::to_owned));
        Ok(self.0.pop_front().map(str::to_owned))
    }
}

#[test]
fn person_is_asked_until_the_answer_is_legal_and_may_leave() {
    let game = any_game("connect-five").unwrap();
    let settings = Settings::defaults(game.info().settings);
    let seats = [PlayerSpec::Human, PlayerSpec::House("random".into())];
    let setup = MatchSetup { settings: &settings, seed: 7, seats: &seats, assets: &Assets::none() };
    let mut typist = Typist(["x", "99", "4"].into(), Vec::new());
    let mut recorder = Recorder::new();
    let mut hooks = GameHooks {
        reporter: None,
        console: Some(&mut typist),
        persons: None,
        recorder: Some(&mut recorder),
        log: None,
    };
    let mut games = Vec::new();
    game.play(&setup, 0..5, &mut hooks, &mut |played| games.push(played)).unwrap();
    assert_eq!(typist.1.len(), 2, "two answers were rejected with a reason: {:?}", typist.1);
    assert_eq!(games.len(), 1, "leaving loses the match, so there is no further game");
    assert_eq!(games[0].faults[0].report.message, "the player left");
    assert_eq!(games[0].outcome.win_share(Seat(1)).to_bits(), 1f64.to_bits());
}

#[test]
fn reporters_see_every_turn_in_order() {
    #[derive(Default)]
    struct Log(Vec<String>);
    impl Reporter for Log {
        fn event(&mut self, event: &GameEvent<'_>) {
            self.0.push(match event {
                GameEvent::Started { view, .. } => format!("start {}", view.frame().is_object()),
                GameEvent::Turn { turn, .. } => format!("turn {turn}"),
                GameEvent::Fault { fault, .. } => format!("fault {}", fault.turn),
                GameEvent::Over { outcome, .. } => format!("over {}", outcome.seats.len()),
            });
        }
    }
    let game = any_game("solitude-scramble").unwrap();
    let settings = Settings::parse(game.info().settings, [("turns", "3")]).unwrap();
    let seats = ["random", "greedy", "left", "right"].map(|name| PlayerSpec::House(name.into()));
    let setup = MatchSetup { settings: &settings, seed: 7, seats: &seats, assets: &Assets::none() };
    let mut log = Log::default();
    let mut hooks =
        GameHooks { reporter: Some(&mut log), console: None, persons: None, recorder: None, log: None };
    game.play(&setup, 0..1, &mut hooks, &mut |_| {}).unwrap();
    assert_eq!(log.0, ["start true", "turn 1", "turn 2", "turn 3", "over 4"]);
}

/// Digests of a series with the weakest bots and short settings.
fn digests(id: &str, seed: u64, jobs: usize) -> Vec<String> {
    let game = any_game(id).unwrap();
    let info = game.info();
    let (pairs, _) = common::short_settings(id, &mut FastRng::new(1));
    let settings = Settings::parse(info.settings, pairs.iter().map(|(n, t)| (*n, t.as_str()))).unwrap();
    let fitting = |seat: Seat| {
        let role = info.role(seat).name;
        let bots = game.house_bots();
        let of_role: Vec<_> = bots.iter().filter(|bot| bot.roles.contains(&role)).collect();
        PlayerSpec::House(of_role[seat.index() % of_role.len().min(3)].name.to_owned())
    };
    let seats: Vec<PlayerSpec> = Seat::all(info.seats.min).map(fitting).collect();
    let series = Series {
        game: game.as_ref(),
        settings: &settings,
        seed,
        games: 12,
        match_games: 5,
        seats: &seats,
        assets: &Assets::none(),
        record: true,
        jobs,
        pin: false,
        make_log: None,
        make_reporter: None,
        stop_requests: None,
    };
    let mut digests = Vec::new();
    series
        .play::<()>(|played| {
            assert_eq!(played.index as usize, digests.len(), "in order");
            digests.push(played.record.unwrap().1.to_string());
            Ok(())
        })
        .unwrap();
    digests
}

#[test]
fn number_of_threads_does_not_change_results() {
    for info in agon_games::infos() {
        let one = digests(info.id, 7, 1);
        assert_eq!(one.len(), 12);
        assert_eq!(one, digests(info.id, 7, 2), "{}", info.id);
        assert_eq!(one, digests(info.id, 7, 5), "{}", info.id);
        assert_ne!(one, digests(info.id, 8, 1), "{}", info.id);
        assert!((1..12).all(|i| one[i] != one[0]), "{}: games of a series differ", info.id);
    }
}

#[test]
fn seat_names_are_unique() {
    let house = |name: &str| PlayerSpec::House(name.into());
    let names = seat_names(&[house("a"), house("a"), house("a-2"), house("a"), PlayerSpec::Human]);
    assert_eq!(names, ["a", "a-2", "a-2-2", "a-3", "human"]);
}

#[test]
fn only_connect_five_bots_live_for_a_match() {
    let of_match = agon_games::infos().into_iter().filter(|info| info.lifetime == BotLifetime::Match);
    assert_eq!(of_match.map(|info| info.id).collect::<Vec<_>>(), ["connect-five"]);
}
