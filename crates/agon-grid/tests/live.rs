//! Live games of a worker, watched through a real nats-server.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use agon_core::record::{Recorder, read_all};
use agon_core::{Assets, Settings};
use agon_engine::film::json::{FilmExtras, to_json};
use agon_engine::referee::{GameHooks, PlayedGame};
use agon_engine::{FilmPart, GameEvent, MatchSetup, PlayerSpec, Reporter, any_game};
use agon_grid::live::RemoteLiveGames;
use agon_grid::messages::{self, CommandReply, Heartbeat, LiveChunk, LiveMessage, WorkerCommand};
use agon_grid::worker::live::{LiveStreams, live_game_infos};
use agon_grid::{NatsConnection, NatsOptions, subjects};
use agon_league::{Entrant, MatchKey, MatchResult};
use agon_runner::live::{LivePacing, LiveReporter, LiveSlot, SubscribeError};
use agon_runner::{LiveGames, LiveSubscriber, LiveUpdate};
use agon_test_servers::Nats;
use async_nats::Subscriber;
use futures_util::StreamExt as _;
use serde_json::Value as Json;
use tokio::runtime::Runtime;
use tokio::time::timeout;

/// Short intervals for tests, with enough time to compute everything in one tick.
const QUICK: LivePacing = LivePacing {
    update_interval: Duration::from_millis(10),
    interval_per_subscriber: Duration::ZERO,
    rest_factor: 0,
    render_time: Duration::from_secs(5),
    catch_up_time: Duration::from_secs(5),
    finished_game_updates: 3,
    hold_ticks: 1,
};
const COMPETITION_ID: &str = "cup-1";
const EVENT_TIMEOUT: Duration = agon_test_servers::WAIT_TIMEOUT;

fn key(number: u64) -> MatchKey {
    MatchKey { phase: 0, stage: 0, number }
}

/// Records a game whose turns wait for a gate.
struct Gated<'g> {
    pen: LiveReporter<'g>,
    gate: Option<&'g Receiver<()>>,
}

impl Reporter for Gated<'_> {
    fn event(&mut self, event: &GameEvent<'_>) {
        self.pen.event(event);
        if let (GameEvent::Turn { .. }, Some(gate)) = (event, self.gate) {
            // On an error the gate stays open.
            let _ = gate.recv();
        }
    }
}

/// Plays a game of 96 turns in a live slot.
fn play(board: &LiveSlot, number: u64, gate: Option<&Receiver<()>>) -> PlayedGame {
    let table = any_game("word-racer").unwrap();
    let settings = Settings::defaults(table.info().settings);
    let seats = ["random", "filler"].map(|name| PlayerSpec::House(name.to_owned()));
    let plan = MatchSetup { settings: &settings, seed: number, seats: &seats, assets: &Assets::none() };
    let entrants = [Entrant(0), Entrant(1)];
    let mut gated = Gated { pen: LiveReporter::new(board, key(number), &entrants), gate };
    let (mut recorder, mut played) = (Recorder::new(), Vec::new());
    let mut room = GameHooks {
        reporter: Some(&mut gated),
        console: None,
        persons: None,
        recorder: Some(&mut recorder),
        log: None,
    };
    table.play(&plan, 0..1, &mut room, &mut |one| played.push(one)).unwrap();
    gated.pen.match_finished(&MatchResult { key: key(number), games: Vec::new(), points: Vec::new() });
    played.remove(0)
}

/// The film of a played game as a spectator may see it at the end.
fn whole(played: &PlayedGame) -> Json {
    let record = read_all(&played.record.as_ref().unwrap().0).unwrap().remove(0);
    let table = any_game("word-racer").unwrap();
    let film = table.film(record, &Assets::none()).unwrap();
    let extras = FilmExtras {
        hide_seed: true,
        contributors: vec![Some("Ann".to_owned()), None],
        colours: vec![0, 1],
        ..FilmExtras::default()
    };
    let mut json = to_json(table.info(), &*film, &extras);
    json.as_object_mut().unwrap().remove("digest");
    json
}

struct World {
    _nats: Nats,
    runtime: Runtime,
    link: NatsConnection,
    /// Live games of the server, which plays nothing itself.
    here: Arc<LiveGames>,
}

impl World {
    fn new() -> Self {
        let nats = Nats::start();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let options = NatsOptions { url: nats.url(), name: "test".to_owned(), ..NatsOptions::default() };
        let link = runtime.block_on(NatsConnection::connect(&options)).unwrap();
        let contributors = vec![Some("Ann".to_owned()), None];
        let here = LiveGames::new(Assets::none(), contributors.clone());
        here.set_remote(RemoteLiveGames::open(
            link.clone(),
            runtime.handle(),
            COMPETITION_ID,
            contributors,
            0,
        ));
        Self { _nats: nats, runtime, link, here }
    }

    fn hear(&self, subject: String) -> Subscriber {
        self.runtime.block_on(async {
            let heard = self.link.client().subscribe(subject).await.unwrap();
            self.link.client().flush().await.unwrap();
            heard
        })
    }

    /// Sends heartbeats until the number of live games is as expected.
    fn beat(&self, beat: &Heartbeat, wanted: usize) {
        let begun = Instant::now();
        loop {
            let said =
                self.link.client().publish(subjects::heartbeat("w1"), messages::encode(beat).unwrap().into());
            self.runtime.block_on(said).unwrap();
            if self.here.games().len() == wanted {
                return;
            }
            assert!(begun.elapsed() < EVENT_TIMEOUT, "{:?}", self.here.games());
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn next(&self, follower: &mut LiveSubscriber) -> LiveUpdate {
        self.runtime.block_on(async { timeout(EVENT_TIMEOUT, follower.next()).await }).unwrap().unwrap()
    }
}

fn beat(gallery: &LiveGames) -> Heartbeat {
    Heartbeat {
        engine: "0.1.0".to_owned(),
        cores: 2,
        busy: 1,
        live_games: live_game_infos(COMPETITION_ID, gallery),
        ..Heartbeat::new("w1", "s")
    }
}

/// The live part of a worker.
struct LiveWorker {
    gallery: Arc<LiveGames>,
    shows: LiveStreams,
    answering: tokio::task::JoinHandle<()>,
}

impl LiveWorker {
    fn new(world: &World) -> Self {
        let gallery = LiveGames::with_pacing(Assets::none(), vec![None; 2], QUICK);
        let (link, mut orders) = (world.link.clone(), world.hear(subjects::command("w1")));
        let shows = LiveStreams::new(link.clone(), "w1");
        let answering = world.runtime.spawn({
            let (gallery, shows) = (Arc::clone(&gallery), shows.clone());
            async move {
                while let Some(message) = orders.next().await {
                    let WorkerCommand::Show {
                        competition_id: competition,
                        slot: board,
                        duration_ms: for_ms,
                        full_film: whole,
                    } = messages::decode(&message.payload).unwrap()
                    else {
                        continue;
                    };
                    assert_eq!(competition, COMPETITION_ID);
                    let done = shows.show(Some(&gallery), &competition, board, for_ms, whole);
                    let answer = messages::encode(&done).unwrap().into();
                    link.client().publish(message.reply.unwrap(), answer).await.unwrap();
                }
            }
        });
        Self { gallery, shows, answering }
    }
}

/// What a viewer has received, put together.
#[derive(Default)]
struct Viewer {
    film: Option<agon_engine::LiveFilm>,
    bytes: Vec<Arc<[u8]>>,
    films: usize,
    over: bool,
}

impl Viewer {
    fn see(&mut self, update: LiveUpdate) {
        match update {
            LiveUpdate::Film { film, over, .. } => {
                let by = [Some("Ann".to_owned()), None];
                self.film = Some(agon_engine::LiveFilm::read(&film, &by).unwrap());
                (self.films, self.over) = (self.films + 1, over);
                self.bytes.push(film);
            }
            LiveUpdate::Part { part, over, .. } => {
                let read = FilmPart::read(&part).unwrap();
                let film = self.film.as_mut().unwrap();
                assert_eq!(read.from, film.turns() + 1);
                read.turns.iter().for_each(|turn| film.push(turn));
                if let Some(outcome) = read.outcome {
                    film.end(outcome);
                }
                self.over = over;
                self.bytes.push(part);
            }
            LiveUpdate::Match(_) => {}
            LiveUpdate::Idle => panic!("no live game"),
        }
    }

    fn turns(&self) -> usize {
        self.film.as_ref().map_or(0, agon_engine::LiveFilm::turns)
    }

    fn json(&self) -> Json {
        serde_json::from_slice(&self.film.as_ref().unwrap().json()).unwrap()
    }

    fn until(&mut self, world: &World, follower: &mut LiveSubscriber, enough: impl Fn(&Self) -> bool) {
        while !enough(self) {
            self.see(world.next(follower));
        }
    }
}

fn let_pass(gate: &Sender<()>, turns: usize) {
    for _ in 0..turns {
        gate.send(()).unwrap();
    }
}

#[test]
fn thousand_viewers_share_one_stream_of_a_worker() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let world = World::new();
    let there = LiveWorker::new(&world);
    assert!(matches!(world.here.subscribe(0), Err(SubscribeError::NotPlaying)));
    let mut wire = world.hear(subjects::live("w1", COMPETITION_ID, 1));
    let (gate, turnstile) = channel();
    let board = there.gallery.slot(1);
    thread::scope(|scope| {
        let playing = scope.spawn({
            let board = &board;
            move || play(board, 7, Some(&turnstile))
        });
        let_pass(&gate, 4);
        while there.gallery.games().first().is_none_or(|now| now.turn < 5) {
            thread::sleep(Duration::from_millis(1));
        }
        world.beat(&beat(&there.gallery), 1);
        let now = world.here.games().remove(0);
        assert_eq!((now.slot, now.key, now.game, now.turn, now.subscribers), (0, key(7), 0, 5, 0));
        assert_eq!(now.seats, [Entrant(0), Entrant(1)]);
        let mut first = world.here.subscribe(0).unwrap();
        let mut viewer = Viewer::default();
        viewer.until(&world, &mut first, |one| one.turns() == 5);
        assert_eq!(viewer.films, 1, "the turns so far arrive as one film");
        let mut crowd: Vec<LiveSubscriber> =
            (0..999).map(|_| world.here.subscribe_match(key(7)).unwrap()).collect();
        assert_eq!(world.here.games()[0].subscribers, 1_000);
        let mut seen = Vec::new();
        // In small steps, so that no viewer falls behind.
        for turn in [30, 60, 96] {
            let_pass(&gate, turn - viewer.turns());
            viewer.until(&world, &mut first, |one| one.turns() == turn);
        }
        let_pass(&gate, 1);
        viewer.until(&world, &mut first, |one| one.over);
        for follower in &mut crowd {
            let mut one = Viewer::default();
            one.until(&world, follower, |one| one.over);
            assert_eq!(one.json(), viewer.json());
            seen.push(one.bytes);
        }
        for bytes in &seen {
            assert_eq!(bytes.len(), seen[0].len());
            assert!(
                bytes.iter().zip(&seen[0]).all(|(a, b)| Arc::ptr_eq(a, b)),
                "the data is shared by all viewers"
            );
        }
        drop(gate);
        let played = playing.join().unwrap();
        assert_eq!(viewer.json(), whole(&played), "the film of the record with its contributors");
        assert!(matches!(world.next(&mut crowd[3]), LiveUpdate::Match(result) if result.key == key(7)));
        // The worker sent what one viewer received, and the end of the match.
        let mut messages = 0;
        while let Ok(Some(_)) =
            world.runtime.block_on(async { timeout(Duration::from_millis(200), wire.next()).await })
        {
            messages += 1;
        }
        assert!(messages <= viewer.bytes.len() + 2, "{messages} messages, {} updates", viewer.bytes.len());
        assert_eq!(there.shows.count(), 1);
    });
}

#[test]
fn stream_without_viewers_ends_and_starts_again_with_the_film() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let world = World::new();
    let there = LiveWorker::new(&world);
    let played = play(&there.gallery.slot(0), 1, None);
    let ask = |for_ms, whole| {
        let order = WorkerCommand::Show {
            competition_id: COMPETITION_ID.to_owned(),
            slot: 0,
            duration_ms: for_ms,
            full_film: whole,
        };
        let asked =
            world.link.client().request(subjects::command("w1"), messages::encode(&order).unwrap().into());
        messages::decode::<CommandReply>(&world.runtime.block_on(asked).unwrap().payload).unwrap()
    };
    let mut wire = world.hear(subjects::live("w1", COMPETITION_ID, 0));
    let mut next = || {
        let message =
            world.runtime.block_on(async { timeout(EVENT_TIMEOUT, wire.next()).await }).unwrap().unwrap();
        let seen: LiveChunk = messages::decode(&message.payload).unwrap();
        assert_eq!(seen.chunks, 1);
        (seen.number, messages::decode::<LiveMessage>(&seen.bytes).unwrap())
    };
    assert_eq!(ask(300, false), CommandReply::Yes);
    assert!(matches!(next(), (0, LiveMessage::Film { part: false, .. })), "the first viewer asked for it");
    while there.shows.count() > 0 {
        thread::sleep(Duration::from_millis(10));
    }
    // On the same connection, so it arrives after all earlier messages.
    let mark = LiveChunk {
        number: u64::MAX,
        chunk: 0,
        chunks: 1,
        bytes: messages::encode(&LiveMessage::Idle).unwrap(),
    };
    let marked = world
        .link
        .client()
        .publish(subjects::live("w1", COMPETITION_ID, 0), messages::encode(&mark).unwrap().into());
    world.runtime.block_on(marked).unwrap();
    while next().0 != u64::MAX {}
    assert_eq!(ask(60_000, true), CommandReply::Yes);
    let mut last = 0;
    // Until its end. After that a new viewer gets nothing.
    loop {
        let (number, shown) = next();
        last = last.max(number);
        if matches!(shown, LiveMessage::Film { over: true, .. }) {
            break;
        }
    }
    assert_eq!(ask(60_000, true), CommandReply::Yes);
    loop {
        let (number, shown) = next();
        assert!(number > last || matches!(shown, LiveMessage::Match(_)));
        if let LiveMessage::Film { part: false, film, over: true, .. } = shown {
            let mut json: Json = serde_json::from_slice(&film).unwrap();
            json["contributors"] = serde_json::json!(["Ann", null]);
            assert_eq!(json, whole(&played));
            break;
        }
    }
    let order = there.shows.show(None, "other", 0, 1, false);
    assert!(matches!(order, CommandReply::No(why) if why.contains("other")));
    let order = there.shows.show(Some(&there.gallery), COMPETITION_ID, 9, 1, false);
    assert!(matches!(order, CommandReply::No(why) if why.contains('9')));
    there.answering.abort();
}

#[test]
fn missed_part_is_replaced_by_the_film_and_a_lost_worker_shows_nothing() {
    if agon_test_servers::skip_without_servers() {
        return;
    }
    let world = World::new();
    let there = LiveGames::with_pacing(Assets::none(), vec![None; 2], QUICK);
    let board = there.slot(0);
    let played = play(&board, 3, None);
    let mut orders = world.hear(subjects::command("w1"));
    world.beat(&beat(&there), 1);
    // The film and its parts as a worker sends them.
    let mut local = there.subscribe(0).unwrap();
    let mut said = Vec::new();
    loop {
        match world.next(&mut local) {
            LiveUpdate::Film { film, over, .. } => said.push((film, false, over)),
            LiveUpdate::Part { part, over, .. } => said.push((part, true, over)),
            _ => continue,
        }
        if said.last().unwrap().2 {
            break;
        }
    }
    assert!(said.len() >= 3, "a film and two parts");
    let say = |number: u64, (film, part, over): &(Arc<[u8]>, bool, bool), seats: Vec<u32>| {
        let shown = LiveMessage::Film {
            game: (5, (0, 0, 3), 0, seats),
            film: film.to_vec(),
            part: *part,
            over: *over,
        };
        let bytes = messages::encode(&shown).unwrap();
        // In several chunks, as for a large film.
        let size = bytes.len().div_ceil(4);
        let pieces = bytes.len().div_ceil(size) as u32;
        for (piece, bytes) in (0..).zip(bytes.chunks(size)) {
            let seen =
                messages::encode(&LiveChunk { number, chunk: piece, chunks: pieces, bytes: bytes.to_vec() })
                    .unwrap();
            let said = world.link.client().publish(subjects::live("w1", COMPETITION_ID, 0), seen.into());
            world.runtime.block_on(said).unwrap();
        }
    };
    let mut next_order = |done: CommandReply| {
        let message =
            world.runtime.block_on(async { timeout(EVENT_TIMEOUT, orders.next()).await }).unwrap().unwrap();
        let answer = messages::encode(&done).unwrap().into();
        world.runtime.block_on(world.link.client().publish(message.reply.unwrap(), answer)).unwrap();
        match messages::decode(&message.payload).unwrap() {
            WorkerCommand::Show { full_film: whole, slot: 0, .. } => whole,
            other => panic!("{other:?}"),
        }
    };
    let mut follower = world.here.subscribe(0).unwrap();
    let mut viewer = Viewer::default();
    assert!(next_order(CommandReply::Yes), "a viewer without data asks for the film");
    // Invalid data: not a film, an entrant that does not play, text that would be a separate event in a browser.
    let none: (Arc<[u8]>, bool, bool) = (b"{}\n\nevent: x\ndata: y"[..].into(), false, false);
    say(0, &none, vec![0, 1]);
    say(1, &said[0], vec![0, 9]);
    say(2, &said[0], vec![0, 1]);
    viewer.see(world.next(&mut follower));
    assert_eq!(viewer.films, 1);
    // The first part is lost.
    say(4, &said[2], vec![0, 1]);
    while !next_order(CommandReply::Yes) {}
    assert_eq!(world.here.games()[0].subscribers, 1);
    let film = {
        let mut late = there.subscribe(0).unwrap();
        match world.next(&mut late) {
            LiveUpdate::Film { film, over, .. } => (film, false, over),
            other => panic!("{other:?}"),
        }
    };
    say(5, &film, vec![0, 1]);
    viewer.see(world.next(&mut follower));
    assert_eq!((viewer.films, viewer.json()), (2, whole(&played)));
    // The worker has no live game any more, then it announces its end.
    while next_order(CommandReply::No("nothing is played".to_owned())) {}
    assert!(matches!(world.next(&mut follower), LiveUpdate::Idle));
    drop(orders);
    world.beat(&Heartbeat { gone: true, ..beat(&there) }, 0);
    assert!(world.here.games().is_empty());
}
