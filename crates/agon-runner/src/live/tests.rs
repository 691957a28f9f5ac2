//! Tests with subscribers of games that are played turn by turn.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use agon_core::record::{Recorder, read_all};
use agon_core::{Settings, frame};
use agon_engine::film::json::{FilmExtras, to_json};
use agon_engine::referee::{GameHooks, PlayedGame};
use agon_engine::{GameEvent, MatchSetup, PlayerSpec, Reporter, any_game};
use agon_league::MatchResult;
use agon_league::config::CompetitionConfig;
use agon_league::format::{PhaseField, PhaseHistory};
use agon_store::SecretSeed;
use serde_json::Value as Json;
use tokio::runtime::{Builder, Runtime};

use super::*;
use crate::StopFlag;
use crate::executor::{Executor as _, ExecutorEvent};
use crate::local::{ActiveMatches, LocalExecutor};
use crate::phase_context::{LoadedEntrant, PhaseContext};
use crate::queue::MatchQueue;

/// Fast updates, enough time to compute everything in one tick, and no pauses.
const FAST_PACING: LivePacing = LivePacing {
    update_interval: Duration::from_millis(10),
    interval_per_subscriber: Duration::ZERO,
    rest_factor: 0,
    render_time: Duration::from_secs(5),
    catch_up_time: Duration::from_secs(5),
    finished_game_updates: 3,
    hold_ticks: 1,
};

fn live_games(pacing: LivePacing) -> Arc<LiveGames> {
    LiveGames::with_pacing(Assets::none(), vec![Some("Ann".to_owned()), None], pacing)
}

fn key(number: u64) -> MatchKey {
    MatchKey { phase: 0, stage: 0, number }
}

/// Reports a game that waits for the gate after each turn.
struct GatedReporter<'g> {
    reporter: LiveReporter<'g>,
    gate: Option<&'g Receiver<()>>,
    aborted: bool,
}

impl Reporter for GatedReporter<'_> {
    fn event(&mut self, event: &GameEvent<'_>) {
        if !(self.aborted && matches!(event, GameEvent::Over { .. })) {
            self.reporter.event(event);
        }
        if let (GameEvent::Turn { .. }, Some(gate)) = (event, self.gate) {
            // An error means that the gate stays open.
            let _ = gate.recv();
        }
    }
}

const DUEL: (&str, [&str; 2]) = ("connect-five", ["random", "line-counter"]);
/// Always has 96 turns.
const RACE: (&str, [&str; 2]) = ("word-racer", ["random", "filler"]);

/// Plays a game in a slot.
fn play(
    slot: &LiveSlot,
    number: u64,
    (id, bots): (&str, [&str; 2]),
    gate: Option<&Receiver<()>>,
    aborted: bool,
) -> PlayedGame {
    let any_game = any_game(id).unwrap();
    let settings = Settings::defaults(any_game.info().settings);
    let seats = bots.map(|name| PlayerSpec::House(name.to_owned()));
    let setup = MatchSetup { settings: &settings, seed: number, seats: &seats, assets: &Assets::none() };
    let entrants = [Entrant(0), Entrant(1)];
    let mut gated =
        GatedReporter { reporter: LiveReporter::new(slot, key(number), &entrants), gate, aborted };
    let mut recorder = Recorder::new();
    let mut played = Vec::new();
    let mut hooks = GameHooks {
        reporter: Some(&mut gated),
        console: None,
        persons: None,
        recorder: Some(&mut recorder),
        log: None,
    };
    any_game.play(&setup, 0..1, &mut hooks, &mut |one| played.push(one)).unwrap();
    gated.reporter.match_finished(&MatchResult { key: key(number), games: Vec::new(), points: Vec::new() });
    played.remove(0)
}

/// The complete film of a played game, without the parts that viewers do not get.
fn complete_film(id: &str, played: &PlayedGame) -> Json {
    let record = read_all(&played.record.as_ref().unwrap().0).unwrap().remove(0);
    let any_game = any_game(id).unwrap();
    let film = any_game.film(record, &Assets::none()).unwrap();
    let extras = FilmExtras {
        hide_seed: true,
        contributors: vec![Some("Ann".to_owned()), None],
        ..FilmExtras::default()
    };
    let mut json = to_json(any_game.info(), &*film, &extras);
    json.as_object_mut().unwrap().remove("digest");
    json
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

/// A viewer that applies all updates and checks them.
struct Viewer<'s> {
    runtime: &'s Runtime,
    subscriber: LiveSubscriber,
    game: Option<Arc<LiveGameKey>>,
    turns: usize,
    frame: Json,
    outcome: Option<Json>,
    /// Number of films, and of all updates.
    films: usize,
    updates: usize,
}

impl<'s> Viewer<'s> {
    fn new(runtime: &'s Runtime, subscriber: LiveSubscriber) -> Self {
        let (game, frame, outcome) = (None, Json::Null, None);
        Self { runtime, subscriber, game, turns: 0, frame, outcome, films: 0, updates: 0 }
    }

    /// Waits for the next update. Fails if none comes.
    fn next(&mut self) -> Option<LiveUpdate> {
        let next =
            self.runtime.block_on(async { tokio::time::timeout(HANG_TIMEOUT, self.subscriber.next()).await });
        let update = next.unwrap();
        self.updates += 1;
        match &update {
            Some(LiveUpdate::Film { game, film, over }) => {
                let live = String::from_utf8_lossy(film).contains("\"live\":true");
                assert_eq!(live, !*over, "the film states whether it is live");
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
                assert_eq!(Some(game), self.game.as_ref(), "a part belongs to the current film");
                assert_eq!(part["from"], self.turns + 1, "a turn is missing or repeated");
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
            assert!(self.next().is_some(), "the updates ended too early");
        }
    }

    /// Watches to the end of the game and compares with the complete film.
    fn watch_to_end(&mut self, whole: &Json) {
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

/// Only a test that hangs waits this long.
const HANG_TIMEOUT: Duration = Duration::from_mins(2);

/// Waits for a condition that another thread makes true.
fn wait_until(what: impl Fn() -> bool) {
    let started = Instant::now();
    while !what() {
        assert!(started.elapsed() < HANG_TIMEOUT, "the condition never became true");
        thread::sleep(Duration::from_millis(1));
    }
}

fn release_turns(gate: &Sender<()>, turns: usize) {
    for _ in 0..turns {
        gate.send(()).unwrap();
    }
}

#[test]
fn late_subscribers_see_the_whole_game_and_all_get_the_same_bytes() {
    let (live_games, runtime) = (live_games(FAST_PACING), runtime());
    let (gate, gate_receiver) = channel();
    let slot = &*live_games.slot(0);
    thread::scope(|scope| {
        let playing = scope.spawn(move || play(slot, 7, DUEL, Some(&gate_receiver), false));
        release_turns(&gate, 4);
        wait_until(|| live_games.games().first().is_some_and(|now| now.turn == 5));
        let now = live_games.games().remove(0);
        assert_eq!((now.key, now.game, now.seats.len(), now.subscribers), (key(7), 0, 2, 0));
        let mut first = Viewer::new(&runtime, live_games.subscribe(0).unwrap());
        first.until(|one| one.game.is_some());
        assert_eq!((first.turns, first.films), (5, 1), "five turns were played before");
        let others: Vec<_> = (0..100).map(|_| live_games.subscribe_match(key(7)).unwrap()).collect();
        assert_eq!(live_games.games()[0].subscribers, 101);
        drop(gate);
        let played = playing.join().unwrap();
        let whole = complete_film("connect-five", &played);
        first.watch_to_end(&whole);
        let mut seen: Vec<Vec<Arc<[u8]>>> = Vec::new();
        for subscriber in others {
            let mut one = Viewer::new(&runtime, subscriber);
            let mut bytes = Vec::new();
            while one.outcome.is_none() {
                match one.next() {
                    Some(LiveUpdate::Film { film, .. }) => bytes.push(film),
                    Some(LiveUpdate::Part { part, .. }) => bytes.push(part),
                    other => panic!("{other:?}"),
                }
            }
            one.watch_to_end(&whole);
            seen.push(bytes);
        }
        for bytes in &seen {
            assert_eq!(bytes.len(), seen[0].len());
            assert!(bytes.iter().zip(&seen[0]).all(|(a, b)| Arc::ptr_eq(a, b)), "each update is made once");
        }
        // A subscriber after the end sees the whole game.
        let mut late = Viewer::new(&runtime, live_games.subscribe(0).unwrap());
        late.watch_to_end(&whole);
        assert_eq!(late.updates, 1);
    });
}

#[test]
fn slow_subscriber_gets_the_film_so_far_and_delays_no_other() {
    let (live_games, runtime) = (live_games(FAST_PACING), runtime());
    let (gate, gate_receiver) = channel();
    let slot = &*live_games.slot(0);
    thread::scope(|scope| {
        let playing = scope.spawn(move || play(slot, 3, RACE, Some(&gate_receiver), false));
        wait_until(|| live_games.games().first().is_some_and(|now| now.turn == 1));
        let mut quick = Viewer::new(&runtime, live_games.subscribe(0).unwrap());
        let mut slow = Viewer::new(&runtime, live_games.subscribe(0).unwrap());
        quick.until(|one| one.turns == 1);
        for turn in 2..60 {
            release_turns(&gate, 1);
            quick.until(|one| one.turns == turn);
        }
        assert_eq!(quick.films, 1);
        slow.until(|one| one.turns == 59);
        assert!(slow.updates < 5, "59 turns in {} updates", slow.updates);
        drop(gate);
        let whole = complete_film("word-racer", &playing.join().unwrap());
        quick.watch_to_end(&whole);
        slow.watch_to_end(&whole);
    });
}

#[test]
fn quick_games_are_skipped_but_shown_ones_are_complete_and_rate_limited() {
    let (live_games, runtime) = (live_games(FAST_PACING), runtime());
    let slot = live_games.slot(0);
    let enough = AtomicBool::new(false);
    thread::scope(|scope| {
        let playing = scope.spawn(|| {
            let mut number = 0;
            while !enough.load(Relaxed) {
                number += 1;
                play(&slot, number, DUEL, None, false);
            }
            slot.set_idle();
            number
        });
        wait_until(|| !live_games.games().is_empty());
        let started = Instant::now();
        let mut one = Viewer::new(&runtime, live_games.subscribe(0).unwrap());
        let mut shown: Vec<u64> = Vec::new();
        while shown.len() < 6 {
            if matches!(one.next(), Some(LiveUpdate::Film { .. })) {
                assert!(one.outcome.is_none(), "the game is shown in several updates");
                shown.push(one.game.as_ref().unwrap().sequence);
                one.until(|one| one.outcome.is_some());
            }
        }
        let most = started.elapsed().as_millis() / FAST_PACING.update_interval.as_millis() + 2;
        assert!(one.updates as u128 <= most, "{} updates, at most {most}", one.updates);
        assert!(shown.windows(2).all(|pair| pair[0] < pair[1]), "{shown:?}");
        enough.store(true, Relaxed);
        let played = playing.join().unwrap();
        assert!(shown[5] <= played);
        // The last game is shown to its end, then the slot is idle.
        while !matches!(one.next(), Some(LiveUpdate::Idle)) {}
        assert_eq!(one.game.as_ref().unwrap().sequence, played);
        assert!(one.outcome.is_some());
        assert!(live_games.games().is_empty());
    });
}

#[test]
fn renderer_stops_after_the_last_subscriber_left() {
    let (live_games, runtime) = (live_games(FAST_PACING), runtime());
    let (gate, gate_receiver) = channel();
    let slot = &*live_games.slot(0);
    thread::scope(|scope| {
        let playing = scope.spawn(move || play(slot, 9, DUEL, Some(&gate_receiver), false));
        wait_until(|| !live_games.games().is_empty());
        for _ in 0..50 {
            let one = live_games.subscribe(0).unwrap();
            let other = live_games.subscribe(0).unwrap();
            drop(one);
            drop(other);
        }
        let mut one = Viewer::new(&runtime, live_games.subscribe(0).unwrap());
        one.until(|one| one.game.is_some());
        drop(one);
        wait_until(|| !slot.broadcast().is_running());
        release_turns(&gate, 3);
        // Drop the future while it waits for an update.
        let mut impatient = live_games.subscribe(0).unwrap();
        for _ in 0..5 {
            let next = async { tokio::time::timeout(Duration::from_micros(50), impatient.next()).await };
            let _ = runtime.block_on(next);
        }
        let mut again = Viewer::new(&runtime, live_games.subscribe(0).unwrap());
        drop(impatient);
        drop(gate);
        let whole = complete_film("connect-five", &playing.join().unwrap());
        again.watch_to_end(&whole);
    });
    wait_until(|| !slot.broadcast().is_running());
    assert_eq!(slot.subscribers(), 0);
}

#[test]
fn match_subscription_ends_after_the_result() {
    let (live_games, runtime) = (live_games(FAST_PACING), runtime());
    assert!(matches!(live_games.subscribe(0), Err(SubscribeError::NotPlaying)));
    let (gate, gate_receiver) = channel();
    let slot = &*live_games.slot(0);
    thread::scope(|scope| {
        let playing = scope.spawn(move || {
            play(slot, 1, DUEL, Some(&gate_receiver), false);
            play(slot, 2, DUEL, None, false);
            slot.set_idle();
        });
        wait_until(|| !live_games.games().is_empty());
        assert!(matches!(live_games.subscribe_match(key(2)), Err(SubscribeError::NotPlaying)));
        let mut one = Viewer::new(&runtime, live_games.subscribe_match(key(1)).unwrap());
        let mut all = Viewer::new(&runtime, live_games.subscribe(0).unwrap());
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
        assert!(
            matches!(live_games.subscribe_match(key(2)), Err(SubscribeError::NotPlaying)),
            "the match has ended"
        );
    });
}

#[test]
fn aborted_game_is_followed_by_the_next_and_dropping_live_games_ends_subscriptions() {
    let (live_games, runtime) = (live_games(FAST_PACING), runtime());
    let slot = live_games.slot(0);
    play(&slot, 1, DUEL, None, true);
    let mut one = Viewer::new(&runtime, live_games.subscribe(0).unwrap());
    one.until(|one| one.game.is_some());
    assert!(one.outcome.is_none());
    let played = play(&slot, 2, DUEL, None, false);
    one.until(|one| one.game.as_ref().is_some_and(|game| game.key == key(2)));
    one.watch_to_end(&complete_film("connect-five", &played));
    slot.set_idle();
    drop(live_games);
    while one.next().is_some() {}
    wait_until(|| !slot.broadcast().is_running());
}

#[test]
fn renderer_without_time_shows_one_turn_per_tick() {
    // Without any time to compute, the renderer still shows one turn in each tick.
    let pacing = LivePacing { render_time: Duration::ZERO, catch_up_time: Duration::ZERO, ..FAST_PACING };
    let (live_games, runtime) = (live_games(pacing), runtime());
    let slot = live_games.slot(0);
    let played = play(&slot, 4, DUEL, None, false);
    let mut one = Viewer::new(&runtime, live_games.subscribe(0).unwrap());
    one.watch_to_end(&complete_film("connect-five", &played));
    assert!(one.updates >= played.turns as usize, "{} updates, {} turns", one.updates, played.turns);
}

#[test]
fn subscriber_sees_the_last_game_and_result_of_a_stage() {
    let bot = |name: &str| format!("\n[[entrant]]\nname = \"{name}\"\nbot = \"house:line-counter\"\n");
    let text = format!(
        "name = \"B\"\ngame = \"connect-five\"\nseed = \"b\"\n\n[[phase]]\nformat = \"round-robin\"\nlegs = 1\n{}{}",
        bot("a"),
        bot("b")
    );
    let competition = CompetitionConfig::read(&text).unwrap();
    let (phase, seed, assets) = (&competition.phases[0], SecretSeed::new("b"), Assets::none());
    let seating = PlayerSpec::House("line-counter".to_owned());
    let bots = ["a", "b"].map(|name| LoadedEntrant {
        name: name.to_owned(),
        player: seating.clone(),
        commit: None,
        extra_file: None,
        says: agon_core::SelfDescription::default(),
    });
    let any_game = any_game("connect-five").unwrap();
    let context = PhaseContext::new(any_game.as_ref(), &assets, 0, phase, &bots, &seed).unwrap();
    let entrants = vec![Entrant(0), Entrant(1)];
    let field = PhaseField { entrants, roles: Vec::new(), variants: 0, rounds_in_order: true };
    let schedule = phase.schedule(&field, crate::seeds::schedule_seed(&seed, 0)).unwrap();
    let stage = schedule.stage(0, &PhaseHistory::default()).unwrap();
    let (stop, live_games, runtime) = (StopFlag::new(), live_games(FAST_PACING), runtime());
    let active_matches = ActiveMatches::with_live_games(Arc::clone(&live_games));
    // Subscribe before the first game: the slot is idle, then all updates come.
    live_games.slot(0);
    let mut one = Viewer::new(&runtime, live_games.subscribe(0).unwrap());
    assert!(matches!(one.next(), Some(LiveUpdate::Idle)));
    let queue = MatchQueue::new(&*stage, std::iter::once(0..stage.len()).collect(), false, &stop);
    let mut results = Vec::new();
    let local = LocalExecutor { jobs: 1, pin: false };
    local
        .play(&context, 0, &queue, &active_matches, &mut |events| {
            for event in events {
                let ExecutorEvent::Played { matches, .. } = event else { panic!("{event:?}") };
                results.extend(matches.into_iter().map(|one| one.result));
            }
            Ok(())
        })
        .unwrap();
    let result = results.last().unwrap();
    assert!(result.games.len() > 5, "a match of many games");
    // The last game and the result of its match are always shown.
    let mut reported = None;
    loop {
        match one.next() {
            Some(LiveUpdate::Match(result)) => reported = Some(result),
            Some(LiveUpdate::Idle) => break,
            Some(_) => {}
            None => panic!("live viewing has not ended"),
        }
    }
    let last = one.game.as_ref().unwrap();
    assert_eq!(last.game as usize + 1, result.games.len(), "the last game of the match");
    assert_eq!(reported.as_deref(), Some(result));
    assert_eq!(one.outcome.as_ref().unwrap()["ended"], result.games[last.game as usize].ended);
    assert!(active_matches.playing().is_empty() && live_games.games().is_empty());
}
