//! The thread that plays the game of a session: passes requests and positions to the persons, and their answers to the engine.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use agon_core::record::{FaultRecord, Recorder};
use agon_core::{Diagnostic, GameInfo, IllegalAnswer, RequestInfo, Seat, Settings, TerminalKey, frame};
use agon_engine::any_game::{GameSequence, MatchSetup, PlayError};
use agon_engine::film::json::seat_film_head;
use agon_engine::referee::GameHooks;
use agon_engine::{
    GameEvent, PersonAction, PersonClock, PersonRequest, Persons, PlayedGame, PlayerSpec, Reporter,
};
use agon_store::Timestamp;
use serde_json::{Value as Json, json};
use tokio::sync::oneshot;

use super::SessionOwner;
use super::session::{Session, SessionAction};
use super::settings::PlaySettings;
use super::setup::PlayClock;
use crate::error::{ApiError, panic_message};
use crate::state::AppState;

/// Starts the thread that plays the game of a session.
pub fn start(app: &AppState, session: &Arc<Session>) {
    let Some(inbox) = session.take_inbox() else { return };
    let (thread_app, thread_session) = (app.clone(), Arc::clone(session));
    let handle = tokio::runtime::Handle::current();
    let spawned = std::thread::Builder::new().name("play".to_owned()).spawn(move || {
        let span = tracing::error_span!("play", session = %thread_session.id.get(..8).unwrap_or_default());
        let _in_span = span.entered();
        run(&thread_app, &thread_session, inbox, &handle);
    });
    if let Err(error) = spawned {
        drop(ApiError::internal(format!("cannot start a thread: {error}")));
        session.fail("the server cannot start the game now; try again later");
    }
}

fn run(
    app: &AppState,
    session: &Arc<Session>,
    inbox: mpsc::Receiver<SessionAction>,
    handle: &tokio::runtime::Handle,
) {
    let started = Timestamp::now();
    let Some(_slot) = app.play.program_slot(app, session) else {
        session.fail("all cores for games with programs are taken; try again later");
        return;
    };
    tracing::info!(game = session.setup.info().id, "game of persons started");
    let played = catch_unwind(AssertUnwindSafe(|| play(app, session, inbox)));
    match played {
        Ok(Ok((played, names))) => {
            tracing::info!(turns = played.turns, ended = %played.outcome.ended, "game of persons finished");
            // The server of the command line ends with the game; the command writes the record.
            let stored = match session.owner {
                SessionOwner::ThisMachine => Ok(None),
                _ => handle.block_on(super::finish::store(app, session, &played, &names, started)).map(Some),
            };
            let outcome = played.outcome.clone();
            session.finish(&outcome, played, stored);
        }
        Ok(Err(error)) => {
            tracing::warn!(%error, "game of persons not played");
            // A diagnostic may contain paths of the server, which only the user of this machine may see.
            session.fail(&match session.owner {
                SessionOwner::ThisMachine => error.to_string(),
                _ => "a bot could not be started; choose another one".to_owned(),
            });
        }
        Err(panic) => {
            drop(ApiError::internal(format!("a game of persons panicked: {}", panic_message(&*panic))));
            session.fail("internal error; the server's log has the details");
        }
    }
}

/// Plays the game. Returns it with the names of its seats.
fn play(
    app: &AppState,
    session: &Arc<Session>,
    inbox: mpsc::Receiver<SessionAction>,
) -> Result<(PlayedGame, Vec<String>), Diagnostic> {
    let setup = &session.setup;
    let person_names: Vec<String> = session.persons().into_iter().map(|(name, _)| name).collect();
    let (players, names) = setup.players(&person_names)?;
    let mut persons = BrowserPersons {
        session: Arc::clone(session),
        inbox,
        limits: app.config.play,
        turn: 0,
        leaving: VecDeque::new(),
        judged: None,
        stopped: false,
    };
    let mut reporter = SeatReporter::new(session);
    let mut recorder = Recorder::new();
    let mut sequence = OneGame { names: names.clone(), settings: &setup.settings, next: true, played: None };
    let plan =
        MatchSetup { settings: &setup.settings, seed: setup.seed, seats: &players, assets: &setup.assets };
    let mut hooks = GameHooks {
        reporter: Some(&mut reporter),
        console: None,
        persons: Some(&mut persons),
        recorder: Some(&mut recorder),
        log: None,
    };
    let result = setup.game.play_match(&plan, &mut sequence, &mut hooks).map(drop);
    check_played(result, &players, sequence.played).map(|played| (played, names))
}

fn check_played(
    result: Result<(), PlayError>,
    players: &[PlayerSpec],
    played: Option<PlayedGame>,
) -> Result<PlayedGame, Diagnostic> {
    match (result, played) {
        // A game that was played counts, also if a bot fails in what it does after the match.
        (_, Some(played)) => Ok(played),
        (Err(PlayError::BotLoad(error)), None) => {
            let spec = players.get(error.seat.index()).map(PlayerSpec::spec).unwrap_or_default();
            Err(error.rejection.of_bot(&spec))
        }
        (Err(error), None) => Err(error.into()),
        (Ok(()), None) => Err(Diagnostic::internal("the game was not played")),
    }
}

/// One game with the names of its seats.
struct OneGame<'s> {
    names: Vec<String>,
    settings: &'s Settings,
    next: bool,
    played: Option<PlayedGame>,
}

impl GameSequence for OneGame<'_> {
    fn names(&self) -> Option<Vec<String>> {
        Some(self.names.clone())
    }

    fn next(&mut self) -> Option<(u32, &Settings)> {
        std::mem::take(&mut self.next).then_some((0, self.settings))
    }

    fn done(&mut self, played: PlayedGame) {
        self.played = Some(played);
    }
}

/// The persons of a session, in their browsers.
struct BrowserPersons {
    session: Arc<Session>,
    inbox: mpsc::Receiver<SessionAction>,
    limits: PlaySettings,
    turn: u32,
    /// Seats that leave because the game is stopped.
    leaving: VecDeque<usize>,
    /// The answer that the rules judge now.
    judged: Option<oneshot::Sender<Result<(), Vec<String>>>>,
    stopped: bool,
}

impl Persons for BrowserPersons {
    fn clock(&self) -> PersonClock {
        match self.session.setup.clock {
            PlayClock::Rules => PersonClock::Rules,
            PlayClock::None => PersonClock::LeftAfter(self.limits.left_after),
        }
    }

    fn ask(&mut self, requests: Vec<PersonRequest>) -> io::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let requests: Vec<(usize, u32, Json)> = requests
            .into_iter()
            .map(|one| {
                self.turn = one.turn;
                let body = json!({
                    "turn": one.turn,
                    "request": request_body(&one.request),
                    "legal": one.legal,
                    "limit_ms": one.limit.map(|limit| limit.as_millis() as u64),
                    "asked_at": now,
                });
                (one.seat.index(), one.turn, body)
            })
            .collect();
        self.session.ask(&requests);
        Ok(())
    }

    fn next(&mut self, until: Instant) -> io::Result<Option<PersonAction>> {
        // The engine has judged the last answer, or its time is up.
        self.judged = None;
        loop {
            if !self.stopped && self.session.is_too_long() {
                self.stop();
            }
            if let Some(seat) = self.leaving.pop_front() {
                return Ok(Some(PersonAction::Leave { seat: seat_of(seat) }));
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.inbox.recv_timeout(left) {
                Ok(SessionAction::Answer { seat, turn, text, at, verdict }) => {
                    // Dropping `verdict` says that the turn is over.
                    if turn == self.turn {
                        self.judged = Some(verdict);
                        return Ok(Some(PersonAction::Answer { seat: seat_of(seat), text, at }));
                    }
                }
                Ok(SessionAction::Leave { seat }) => {
                    return Ok(Some(PersonAction::Leave { seat: seat_of(seat) }));
                }
                Ok(SessionAction::Stop) => self.stop(),
                Err(mpsc::RecvTimeoutError::Timeout) => return Ok(None),
                Err(mpsc::RecvTimeoutError::Disconnected) if self.stopped => return Ok(None),
                Err(mpsc::RecvTimeoutError::Disconnected) => self.stop(),
            }
        }
    }

    fn judged(&mut self, seat: Seat, result: Result<(), &IllegalAnswer>) {
        let verdict = self.judged.take();
        match result {
            // First the events, so that a client that gets the answer to its request has been told of the next state.
            Ok(()) => self.session.accepted(seat.index()),
            Err(error) => self.session.refused(seat.index(), self.turn, &error.to_string()),
        }
        if let Some(verdict) = verdict {
            // Fails only if the client has given up its request.
            let _ = verdict.send(result.map_err(|error| error.reasons.clone()));
        }
    }
}

impl BrowserPersons {
    /// All persons leave.
    fn stop(&mut self) {
        self.stopped = true;
        self.leaving = self.session.setup.persons().collect();
    }
}

fn seat_of(seat: usize) -> Seat {
    Seat(u8::try_from(seat).unwrap_or(u8::MAX))
}

/// A kind of request, as the web app gets it.
fn request_body(request: &RequestInfo) -> Json {
    let keys: Vec<Json> =
        request.keys.iter().map(|key| json!({"key": browser_key(key.key), "answer": key.answer})).collect();
    json!({"name": request.name, "asks": request.asks, "example": request.example, "keys": keys})
}

/// Name of a key in browsers.
fn browser_key(key: TerminalKey) -> String {
    match key {
        TerminalKey::Up => "ArrowUp".to_owned(),
        TerminalKey::Down => "ArrowDown".to_owned(),
        TerminalKey::Left => "ArrowLeft".to_owned(),
        TerminalKey::Right => "ArrowRight".to_owned(),
        TerminalKey::Character(character) => character.to_string(),
    }
}

/// Shows each person the positions as their seat may see them.
struct SeatReporter {
    session: Arc<Session>,
    info: &'static GameInfo,
    /// Seats of persons, each with the frame that was shown last.
    shown: Vec<(usize, Json)>,
    /// Faults of this turn.
    faults: Vec<FaultRecord>,
}

impl SeatReporter {
    fn new(session: &Arc<Session>) -> Self {
        let shown = session.setup.persons().map(|seat| (seat, Json::Null)).collect();
        Self { session: Arc::clone(session), info: session.setup.info(), shown, faults: Vec::new() }
    }
}

impl Reporter for SeatReporter {
    fn event(&mut self, event: &GameEvent<'_>) {
        match event {
            GameEvent::Started { header, view, .. } => {
                for (seat, shown) in &mut self.shown {
                    *shown = view.seat_frame(seat_of(*seat));
                    let head = seat_film_head(self.info, header, seat_of(*seat), shown.clone());
                    self.session.push(*seat, "head", &head);
                }
            }
            GameEvent::Fault { fault, .. } => self.faults.push((*fault).clone()),
            GameEvent::Turn { turn, view, answers, .. } => {
                self.session.turn_over();
                let movers: Option<Vec<u8>> =
                    answers.map(|answers| answers.movers().map(|seat| seat.0).collect());
                for (seat, shown) in &mut self.shown {
                    let after = view.seat_frame(seat_of(*seat));
                    let mut played = json!({
                        "delta": frame::diff(shown, &after),
                        "movers": movers,
                        "micros": [],
                        "standing": [],
                    });
                    let own: Vec<&FaultRecord> =
                        self.faults.iter().filter(|fault| fault.seat.index() == *seat).collect();
                    if !own.is_empty() {
                        played["faults"] = json!(own);
                    }
                    *shown = after;
                    self.session.push(*seat, "part", &json!({"from": turn, "turns": [played]}));
                }
                self.faults.clear();
            }
            GameEvent::Over { .. } => {}
        }
    }
}
