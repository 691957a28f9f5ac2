//! Spectators of games that the tests play turn by turn.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use agon_core::record::{Recorder, read_all};
use agon_core::{Settings, frame};
use agon_engine::film::json::{Extras, to_json};
use agon_engine::referee::{Played, Room};
use agon_engine::{Event, Plan, Reporter, Seating, table};
use agon_league::MatchResult;
use agon_league::config::CompetitionConfig;
use agon_league::format::{PhaseField, PhaseHistory};
use agon_store::SecretSeed;
use serde_json::Value as Json;
use tokio::runtime::{Builder, Runtime};

use super::*;
use crate::StopFlag;
use crate::executor::{Executor as _, ExecutorEvent};
use crate::match_runner::{PhaseContext, LoadedEntrant};
use crate::local::{ActiveMatches, LocalExecutor};
use crate::queue::Queue;

/// Quick enough to test, with time enough to compute everything in one tick, and without a rest.
const QUICK: LivePacing = LivePacing {
    tick: Duration::from_millis(10),
    each: Duration::ZERO,
    rest: 0,
    work: Duration::from_secs(5),
    catch_up: Duration::from_secs(5),
    spread: 3,
    hold: 1,
};

fn gallery(pace: LivePacing) -> Arc<LiveGames> {
    LiveGames::paced(Assets::none(), vec![Some("Ann".to_owned()), None], pace)
}

fn key(number: u64) -> MatchKey {
    MatchKey { phase: 0, stage: 0, number }
}

/// Writes down a game that goes on only when it may.
struct Gated<'g> {
    pen: LiveReporter<'g>,
    gate: Option<&'g Receiver<()>>,
    broken_off: bool,
}

impl Reporter for Gated<'_> {
    fn event(&mut self, event: &Event<'_>) {
        if !(self.broken_off && matches!(event, Event::Over { .. })) {
            self.pen.event(event);
        }
        if let (Event::Turn { .. }, Some(gate)) = (event, self.gate) {
            // An error: the gate stays open.
            let _ = gate.recv();
        }
    }
}

const DUEL: (&str, [&str; 2]) = ("connect-five", ["random", "line-counter"]);
/// Always 96 turns.
const RACE: (&str, [&str; 2]) = ("word-racer", ["random", "filler"]);

/// Plays a game on a board.
fn play(
    board: &LiveSlot,
    number: u64,
    (id, bots): (&str, [&str; 2]),
    gate: Option<&Receiver<()>>,
    broken_off: bool,
) -> Played {
    let table = table(id).unwrap();
    let settings = Settings::defaults(table.info().settings);
    let seats = bots.map(|name| Seating::House(name.to_owned()));
    let plan = Plan { settings: &settings, seed: number, seats: &seats, assets: &Assets::none() };
    let entrants = [Entrant(0), Entrant(1)];
    let mut gated = Gated { pen: LiveReporter::new(board, key(number), &entrants), gate, broken_off };
    let mut recorder = Recorder::new();
    let mut played = Vec::new();
    let mut room =
        Room { reporter: Some(&mut gated), console: None, recorder: Some(&mut recorder), log: None };
    table.play(&plan, 0..1, &mut room, &mut |one| played.push(one)).unwrap();
    gated.pen.finished(&MatchResult { key: key(number), games: Vec::new(), points: Vec::new() });
    played.remove(0)
}

/// The film of a game that was played, as a spectator may see it in the end.
fn whole(id: &str, played: &Played) -> Json {
    let record = read_all(&played.record.as_ref().unwrap().0).unwrap().remove(0);
    let table = table(id).unwrap();
    let film = table.film(record, &Assets::none()).unwrap();
    let extras =
        Extras { hide_seed: true, contributors: vec![Some("Ann".to_owned()), None], ..Extras::default() };
    let mut json = to_json(table.info(), &*film, &extras);
    json.as_object_mut().unwrap().remove("digest");
    json
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

/// Somebody who looks at all there is to see.
struct Spectator<'s> {
    runtime: &'s Runtime,
    follower: LiveSubscriber,
    game: Option<Arc<LiveGameKey>>,
    turns: usize,
    frame: Json,
    outcome: Option<Json>,
    /// How often a film came, and everything.
    films: usize,
    updates: usize,
}

impl<'s> Spectator<'s> {
    fn new(runtime: &'s Runtime, follower: LiveSubscriber) -> Self {
        let (game, frame, outcome) = (None, Json::Null, None);
        Self { runtime, follower, game, turns: 0, frame, outcome, films: 0, updates: 0 }
    }

    /// The next update, which must come.
    fn next(&mut self) -> Option<LiveUpdate> {
        let next = self.runtime.block_on(async { tokio::time::timeout(LONG, self.follower.next()).await });
        let update = next.unwrap();
        self.updates += 1;
        match &update {
            Some(LiveUpdate::Film { game, film, over }) => {
                let live = String::from_utf8_lossy(film).contains("\"live\":true");
                assert_eq!(live, !*over, "a film says whether it is live");
                let film: Json = serde_json::from_slice(film).unwrap();
                assert!(film.get("seed").is_none());
                let seat = game.seats.iter().position(|one| *one == Entrant(0)).unwrap();
                assert_eq!(film["contributors"][seat], "Ann");
                assert_ne!(film.get("live").is_some(), film.get("outcome").is_some());
                self.frame = film["first"].clone();
                for delta in film["deltas"].as_array().unwrap() {
                    frame::patch(&mut self.frame, delta);
                }
                self.turns = film["deltas"].as_array().unwrap().len();
                self.outcome = film.get("outcome").cloned();
                self.game = Some(Arc::clone(game));
                self.films += 1;
            }
            Some(LiveUpdate::Part { game, part, over }) => {
                let part: Json = serde_json::from_slice(part).unwrap();
                assert_eq!(Some(game), self.game.as_ref(), "a part follows its film");
                assert_eq!(part["from"], self.turns + 1, "no turn is missing, none comes twice");
                assert_eq!(*over, part.get("outcome").is_some());
                for turn in part["turns"].as_array().unwrap() {
                    frame::patch(&mut self.frame, &turn["delta"]);
                    self.turns += 1;
                }
                self.outcome = part.get("outcome").cloned();
            }
            _ => {}
        }
        update
    }

    fn until(&mut self, is_there: impl Fn(&Self) -> bool) {
        while !is_there(self) {
            assert!(self.next().is_some(), "there should be more to see");
        }
    }

    /// Looks on to the end of the game, and compares.
    fn see_the_end(&mut self, whole: &Json) {
        self.until(|one| one.outcome.is_some());
        let mut last = whole["first"].clone();
        for delta in whole["deltas"].as_array().unwrap() {
            frame::patch(&mut last, delta);
        }
        assert_eq!(self.turns, whole["deltas"].as_array().unwrap().len());
        assert_eq!(self.frame, last);
        assert_eq!(self.outcome.as_ref().unwrap(), &whole["outcome"]);
    }
}

/// Only a test that hangs waits so long.
const LONG: Duration = Duration::from_mins(2);

/// Waits for what another thread does.
fn wait_until(what: impl Fn() -> bool) {
    let begun = Instant::now();
    while !what() {
        assert!(begun.elapsed() < LONG, "it never came");
        thread::sleep(Duration::from_millis(1));
    }
}

fn let_pass(gate: &Sender<()>, turns: usize) {
    for _ in 0..turns {
        gate.send(()).unwrap();
    }
}

#[test]
fn who_comes_late_sees_all_that_was_played_and_everybody_the_same_bytes() {
    let (gallery, runtime) = (gallery(QUICK), runtime());
    let (gate, turnstile) = channel();
    let board = &*gallery.board(0);
    thread::scope(|scope| {
        let playing = scope.spawn(move || play(board, 7, DUEL, Some(&turnstile), false));
        let_pass(&gate, 4);
        wait_until(|| gallery.boards().first().is_some_and(|now| now.turn == 5));
        let now = gallery.boards().remove(0);
        assert_eq!((now.key, now.game, now.seats.len(), now.followers), (key(7), 0, 2, 0));
        let mut first = Spectator::new(&runtime, gallery.follow(0).unwrap());
        first.until(|one| one.game.is_some());
        assert_eq!((first.turns, first.films), (5, 1), "five turns were played before");
        let crowd: Vec<_> = (0..100).map(|_| gallery.follow_match(key(7)).unwrap()).collect();
        assert_eq!(gallery.boards()[0].followers, 101);
        drop(gate);
        let played = playing.join().unwrap();
        let whole = whole("connect-five", &played);
        first.see_the_end(&whole);
        let mut seen: Vec<Vec<Arc<[u8]>>> = Vec::new();
        for follower in crowd {
            let mut one = Spectator::new(&runtime, follower);
            let mut bytes = Vec::new();
            while one.outcome.is_none() {
                match one.next() {
                    Some(LiveUpdate::Film { film, .. }) => bytes.push(film),
                    Some(LiveUpdate::Part { part, .. }) => bytes.push(part),
                    other => panic!("{other:?}"),
                }
            }
            one.see_the_end(&whole);
            seen.push(bytes);
        }
        for bytes in &seen {
            assert_eq!(bytes.len(), seen[0].len());
            assert!(bytes.iter().zip(&seen[0]).all(|(a, b)| Arc::ptr_eq(a, b)), "made once for all");
        }
        // Who comes after the end sees it whole.
        let mut late = Spectator::new(&runtime, gallery.follow(0).unwrap());
        late.see_the_end(&whole);
        assert_eq!(late.updates, 1);
    });
}

#[test]
fn who_is_slow_is_given_the_film_so_far_and_nobody_waits() {
    let (gallery, runtime) = (gallery(QUICK), runtime());
    let (gate, turnstile) = channel();
    let board = &*gallery.board(0);
    thread::scope(|scope| {
        let playing = scope.spawn(move || play(board, 3, RACE, Some(&turnstile), false));
        wait_until(|| gallery.boards().first().is_some_and(|now| now.turn == 1));
        let mut quick = Spectator::new(&runtime, gallery.follow(0).unwrap());
        let mut slow = Spectator::new(&runtime, gallery.follow(0).unwrap());
        quick.until(|one| one.turns == 1);
        for turn in 2..60 {
            let_pass(&gate, 1);
            quick.until(|one| one.turns == turn);
        }
        assert_eq!(quick.films, 1);
        slow.until(|one| one.turns == 59);
        assert!(slow.updates < 5, "59 turns in {} updates", slow.updates);
        drop(gate);
        let whole = whole("word-racer", &playing.join().unwrap());
        quick.see_the_end(&whole);
        slow.see_the_end(&whole);
    });
}

#[test]
fn of_many_quick_games_some_are_shown_whole_and_never_too_fast() {
    let (gallery, runtime) = (gallery(QUICK), runtime());
    let board = gallery.board(0);
    let enough = AtomicBool::new(false);
    thread::scope(|scope| {
        let playing = scope.spawn(|| {
            let mut number = 0;
            while !enough.load(Relaxed) {
                number += 1;
                play(&board, number, DUEL, None, false);
            }
            board.rest();
            number
        });
        wait_until(|| !gallery.boards().is_empty());
        let begun = Instant::now();
        let mut one = Spectator::new(&runtime, gallery.follow(0).unwrap());
        let mut shown: Vec<u64> = Vec::new();
        while shown.len() < 6 {
            if matches!(one.next(), Some(LiveUpdate::Film { .. })) {
                assert!(one.outcome.is_none(), "not the whole of it at once");
                shown.push(one.game.as_ref().unwrap().number);
                one.until(|one| one.outcome.is_some());
            }
        }
        let most = begun.elapsed().as_millis() / QUICK.tick.as_millis() + 2;
        assert!(one.updates as u128 <= most, "{} updates, at most {most}", one.updates);
        assert!(shown.windows(2).all(|pair| pair[0] < pair[1]), "{shown:?}");
        enough.store(true, Relaxed);
        let played = playing.join().unwrap();
        assert!(shown[5] <= played);
        // The last one is shown to its end, and then there is nothing.
        while !matches!(one.next(), Some(LiveUpdate::Idle)) {}
        assert_eq!(one.game.as_ref().unwrap().number, played);
        assert!(one.outcome.is_some());
        assert!(gallery.boards().is_empty());
    });
}

#[test]
fn a_spectator_who_leaves_holds_up_nobody_and_the_projector_ends_with_the_last() {
    let (gallery, runtime) = (gallery(QUICK), runtime());
    let (gate, turnstile) = channel();
    let board = &*gallery.board(0);
    thread::scope(|scope| {
        let playing = scope.spawn(move || play(board, 9, DUEL, Some(&turnstile), false));
        wait_until(|| !gallery.boards().is_empty());
        for _ in 0..50 {
            let one = gallery.follow(0).unwrap();
            let other = gallery.follow(0).unwrap();
            drop(one);
            drop(other);
        }
        let mut one = Spectator::new(&runtime, gallery.follow(0).unwrap());
        one.until(|one| one.game.is_some());
        drop(one);
        wait_until(|| !board.screen().is_running());
        let_pass(&gate, 3);
        // In the middle of waiting for an update.
        let mut impatient = gallery.follow(0).unwrap();
        for _ in 0..5 {
            let next = async { tokio::time::timeout(Duration::from_micros(50), impatient.next()).await };
            let _ = runtime.block_on(next);
        }
        let mut again = Spectator::new(&runtime, gallery.follow(0).unwrap());
        drop(impatient);
        drop(gate);
        let whole = whole("connect-five", &playing.join().unwrap());
        again.see_the_end(&whole);
    });
    wait_until(|| !board.screen().is_running());
    assert_eq!(board.followers(), 0);
}

#[test]
fn a_match_is_followed_to_its_result_and_no_further() {
    let (gallery, runtime) = (gallery(QUICK), runtime());
    assert!(matches!(gallery.follow(0), Err(SubscribeError::NotThere)));
    let (gate, turnstile) = channel();
    let board = &*gallery.board(0);
    thread::scope(|scope| {
        let playing = scope.spawn(move || {
            play(board, 1, DUEL, Some(&turnstile), false);
            play(board, 2, DUEL, None, false);
            board.rest();
        });
        wait_until(|| !gallery.boards().is_empty());
        assert!(matches!(gallery.follow_match(key(2)), Err(SubscribeError::NotThere)));
        let mut one = Spectator::new(&runtime, gallery.follow_match(key(1)).unwrap());
        let mut all = Spectator::new(&runtime, gallery.follow(0).unwrap());
        drop(gate);
        playing.join().unwrap();
        let mut results = 0;
        while let Some(update) = one.next() {
            assert_eq!(one.game.as_ref().unwrap().key, key(1));
            results += usize::from(matches!(update, LiveUpdate::Match(result) if result.key == key(1)));
        }
        assert_eq!(results, 1);
        assert!(one.outcome.is_some());
        while !matches!(all.next(), Some(LiveUpdate::Idle)) {}
        assert_eq!(all.game.as_ref().unwrap().key, key(2));
        assert!(matches!(gallery.follow_match(key(2)), Err(SubscribeError::NotThere)), "it is over");
    });
}

#[test]
fn a_game_that_is_broken_off_makes_room_and_a_closed_gallery_says_so() {
    let (gallery, runtime) = (gallery(QUICK), runtime());
    let board = gallery.board(0);
    play(&board, 1, DUEL, None, true);
    let mut one = Spectator::new(&runtime, gallery.follow(0).unwrap());
    one.until(|one| one.game.is_some());
    assert!(one.outcome.is_none());
    let played = play(&board, 2, DUEL, None, false);
    one.until(|one| one.game.as_ref().is_some_and(|game| game.key == key(2)));
    one.see_the_end(&whole("connect-five", &played));
    board.rest();
    drop(gallery);
    while one.next().is_some() {}
    wait_until(|| !board.screen().is_running());
}

#[test]
fn a_projector_takes_no_more_than_its_time() {
    // One turn in each tick: with no time to work there is still something to see.
    let pace = LivePacing { work: Duration::ZERO, catch_up: Duration::ZERO, ..QUICK };
    let (gallery, runtime) = (gallery(pace), runtime());
    let board = gallery.board(0);
    let played = play(&board, 4, DUEL, None, false);
    let mut one = Spectator::new(&runtime, gallery.follow(0).unwrap());
    one.see_the_end(&whole("connect-five", &played));
    assert!(one.updates >= played.turns as usize, "{} updates, {} turns", one.updates, played.turns);
}

#[test]
fn a_stage_is_played_with_spectators_and_ends_while_they_look_on() {
    let bot = |name: &str| format!("\n[[entrant]]\nname = \"{name}\"\nbot = \"house:line-counter\"\n");
    let text = format!(
        "name = \"B\"\ngame = \"connect-five\"\nseed = \"b\"\n\n[[phase]]\nformat = \"round-robin\"\nlegs = 1\n{}{}",
        bot("a"),
        bot("b")
    );
    let competition = CompetitionConfig::read(&text).unwrap();
    let (phase, seed, assets) = (&competition.phases[0], SecretSeed::new("b"), Assets::none());
    let seating = Seating::House("line-counter".to_owned());
    let members = ["a", "b"].map(|name| LoadedEntrant {
        name: name.to_owned(),
        seating: seating.clone(),
        commit: None,
        extra_file: None,
    });
    let table = table("connect-five").unwrap();
    let hall = PhaseContext::new(table.as_ref(), &assets, 0, phase, &members, &seed).unwrap();
    let entrants = vec![Entrant(0), Entrant(1)];
    let field = PhaseField { entrants, roles: Vec::new(), variants: 0, rounds_in_order: true };
    let plan = phase.plan(&field, crate::seeds::schedule_seed(&seed, 0)).unwrap();
    let stage = plan.stage(0, &PhaseHistory::default()).unwrap();
    let (stop, gallery, runtime) = (StopFlag::new(), gallery(QUICK), runtime());
    let boards = ActiveMatches::with_gallery(Arc::clone(&gallery));
    // There before the first game: nothing is on, then everything comes.
    gallery.board(0);
    let mut one = Spectator::new(&runtime, gallery.follow(0).unwrap());
    assert!(matches!(one.next(), Some(LiveUpdate::Idle)));
    let queue = Queue::new(&*stage, std::iter::once(0..stage.len()).collect(), false, &stop);
    let mut results = Vec::new();
    let local = LocalExecutor { jobs: 1, pin: false };
    local
        .play(&hall, 0, &queue, &boards, &mut |lots| {
            for lot in lots {
                let ExecutorEvent::Played { matches, .. } = lot else { panic!("{lot:?}") };
                results.extend(matches.into_iter().map(|one| one.result));
            }
            Ok(())
        })
        .unwrap();
    let result = results.last().unwrap();
    assert!(result.games.len() > 5, "a match of many games");
    // The last game is shown in any case, and what came of its match.
    let mut told = None;
    loop {
        match one.next() {
            Some(LiveUpdate::Match(result)) => told = Some(result),
            Some(LiveUpdate::Idle) => break,
            Some(_) => {}
            None => panic!("the gallery is still there"),
        }
    }
    let last = one.game.as_ref().unwrap();
    assert_eq!(last.game as usize + 1, result.games.len(), "the last game of the match");
    assert_eq!(told.as_deref(), Some(result));
    assert_eq!(one.outcome.as_ref().unwrap()["ended"], result.games[last.game as usize].ended);
    assert!(boards.playing().is_empty() && gallery.boards().is_empty());
}
