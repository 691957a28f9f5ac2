//! A session: the seats of a game that persons play, what each of them has been shown, and its state.

use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::time::Instant;

use agon_core::{LockIgnoringPoison as _, Outcome};
use agon_engine::PlayedGame;
use agon_site_db::AccountId;
use bytes::Bytes;
use serde_json::{Value as Json, json};
use subtle::ConstantTimeEq as _;
use tokio::sync::{oneshot, watch};

use super::SessionOwner;
use super::body::{PlayBody, PlaySeatBody};
use super::seat_events::{EventCursor, SeatEvents};
use super::settings::PlaySettings;
use super::setup::SessionSetup;
use crate::error::{ApiError, ApiResult};
use crate::middleware::cookie::random_key;
use crate::read_model::sse;

/// What a person does, as the engine's thread gets it.
#[derive(Debug)]
pub enum SessionAction {
    /// Answers a request.
    Answer {
        /// Seat of the person.
        seat: usize,
        /// Turn of the request.
        turn: u32,
        /// The answer, as the person wrote it.
        text: String,
        /// When it arrived.
        at: Instant,
        /// Gets the reasons why it is not legal. Dropped if the turn is over.
        verdict: oneshot::Sender<Result<(), Vec<String>>>,
    },
    /// Leaves the game.
    Leave {
        /// Seat of the person.
        seat: usize,
    },
    /// All persons leave.
    Stop,
}

/// State of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SessionPhase {
    /// Waits for persons.
    Lobby,
    /// The game is played.
    Playing,
    /// The game is over, or could not be played.
    Over,
}

impl SessionPhase {
    const fn name(self) -> &'static str {
        match self {
            Self::Lobby => "lobby",
            Self::Playing => "playing",
            Self::Over => "over",
        }
    }
}

/// A person at a seat.
#[derive(Default)]
struct PersonSeat {
    /// Secret of whoever has taken the seat; `None` while it is free.
    key: Option<String>,
    name: String,
    account: Option<AccountId>,
    /// Number of open event streams.
    streams: usize,
    /// Whether a stream was ever opened.
    was_connected: bool,
    /// When the last stream was closed.
    away_since: Option<Instant>,
    left: bool,
    /// Turn of the request that waits for an answer.
    asked_turn: Option<u32>,
    events: SeatEvents,
}

impl PersonSeat {
    /// Whether this is the key of the seat, in constant time.
    fn has_key(&self, key: &str) -> bool {
        self.key.as_ref().is_some_and(|own| bool::from(own.as_bytes().ct_eq(key.as_bytes())))
    }
}

struct SessionState {
    phase: SessionPhase,
    /// When the phase began.
    since: Instant,
    seats: Vec<PersonSeat>,
    /// Number of changes of seats and phase.
    lobby_version: u64,
    played: Option<String>,
    error: Option<String>,
    /// The finished game, for `agon play --web`.
    finished: Option<PlayedGame>,
}

/// A session.
pub struct Session {
    /// Random id, part of the link.
    pub id: String,
    /// What is played.
    pub setup: SessionSetup,
    /// Who has opened it.
    pub owner: SessionOwner,
    state: Mutex<SessionState>,
    changed: watch::Sender<u64>,
    actions: mpsc::Sender<SessionAction>,
    inbox: Mutex<Option<mpsc::Receiver<SessionAction>>>,
}

impl Session {
    /// A session whose persons' seats are free.
    pub fn new(setup: SessionSetup, owner: SessionOwner) -> ApiResult<Self> {
        let (actions, inbox) = mpsc::channel();
        let now = Instant::now();
        let seats = setup.seats.iter().map(|_| PersonSeat::default()).collect();
        let state = SessionState {
            phase: SessionPhase::Lobby,
            since: now,
            seats,
            lobby_version: 1,
            played: None,
            error: None,
            finished: None,
        };
        Ok(Self {
            id: random_key()?,
            setup,
            owner,
            state: Mutex::new(state),
            changed: watch::Sender::new(0),
            actions,
            inbox: Mutex::new(Some(inbox)),
        })
    }

    fn lock(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock_ignoring_poison()
    }

    fn notify(&self) {
        self.changed.send_modify(|version| *version += 1);
    }

    /// Changes with everything that a stream may have to send.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// The phase, and when it began.
    pub fn phase(&self) -> (SessionPhase, Instant) {
        let state = self.lock();
        (state.phase, state.since)
    }

    /// The actions of the persons, for the thread that plays the game. `None` if it was taken before.
    pub fn take_inbox(&self) -> Option<mpsc::Receiver<SessionAction>> {
        self.inbox.lock_ignoring_poison().take()
    }

    /// Takes a person's seat. Returns its key.
    pub fn join(&self, seat: usize, name: &str, account: Option<AccountId>) -> ApiResult<String> {
        if !self.setup.seats.get(seat).is_some_and(super::setup::SeatPlan::is_person) {
            return Err(ApiError::not_found("seat").hint("only seats of persons can be taken"));
        }
        let key = random_key()?;
        let mut state = self.lock();
        if state.phase != SessionPhase::Lobby {
            return Err(ApiError::conflict("over", "this game has started or is over"));
        }
        let Some(person) = state.seats.get_mut(seat) else { return Err(ApiError::not_found("seat")) };
        if person.key.is_some() {
            return Err(ApiError::conflict("taken", "somebody else has taken this seat")
                .hint("take another one, or start a game of your own"));
        }
        *person = PersonSeat {
            key: Some(key.clone()),
            name: name.to_owned(),
            account,
            away_since: Some(Instant::now()),
            ..PersonSeat::default()
        };
        state.lobby_version += 1;
        drop(state);
        self.notify();
        Ok(key)
    }

    /// The seat of a key.
    pub fn seat_of(&self, key: Option<&str>) -> ApiResult<usize> {
        let refused = || {
            ApiError::new(
                axum::http::StatusCode::FORBIDDEN,
                "no_seat",
                "this key belongs to no seat of this game",
            )
            .hint("take a seat, or watch the game when it is over")
        };
        let key = key.ok_or_else(refused)?;
        self.lock().seats.iter().position(|person| person.has_key(key)).ok_or_else(refused)
    }

    /// The session as the person at a seat sees it, or a visitor without a seat.
    pub fn body(&self, seat: Option<usize>) -> PlayBody {
        self.body_of(&self.lock(), seat)
    }

    fn body_of(&self, state: &SessionState, own: Option<usize>) -> PlayBody {
        let seats = self.setup.seats.iter().zip(&state.seats).enumerate();
        let seats: Vec<PlaySeatBody> = seats
            .map(|(seat, (plan, person))| PlaySeatBody {
                kind: plan.kind(),
                name: plan.bot_name().unwrap_or(&person.name).to_owned(),
                role: self.setup.role(seat),
                taken: !plan.is_person() || person.key.is_some(),
                mine: own == Some(seat),
                left: person.left,
            })
            .collect();
        PlayBody {
            id: self.id.clone(),
            game: self.setup.info().id.to_owned(),
            state: state.phase.name(),
            clock: self.setup.clock,
            names: seats.iter().map(|seat| seat.name.clone()).collect(),
            seats,
            played: state.played.clone(),
            error: state.error.clone(),
        }
    }

    /// Names of the persons and accounts, in seat order. Empty for bots.
    pub fn persons(&self) -> Vec<(String, Option<AccountId>)> {
        self.lock().seats.iter().map(|person| (person.name.clone(), person.account)).collect()
    }

    /// Starts the game once all seats of persons are taken and all their pages are open. Returns whether it starts now.
    pub fn start_if_ready(&self) -> bool {
        let mut state = self.lock();
        let is_ready = |seat: usize| {
            state.seats.get(seat).is_some_and(|person| person.key.is_some() && person.was_connected)
        };
        let starts = state.phase == SessionPhase::Lobby && self.setup.persons().all(is_ready);
        if starts {
            (state.phase, state.since) = (SessionPhase::Playing, Instant::now());
            state.lobby_version += 1;
        }
        drop(state);
        if starts {
            self.notify();
        }
        starts
    }

    /// Passes on an answer and waits until the rules have judged it.
    pub async fn answer(&self, seat: usize, turn: u32, text: String) -> ApiResult<()> {
        let other_turn = || {
            ApiError::conflict("other_turn", format!("turn {turn} does not wait for your answer"))
                .hint("wait for the next request")
        };
        let over = || ApiError::conflict("over", "the game is over");
        {
            let state = self.lock();
            match state.phase {
                SessionPhase::Over => return Err(over()),
                SessionPhase::Lobby => return Err(other_turn()),
                SessionPhase::Playing => {}
            }
            if state.seats.get(seat).is_none_or(|person| person.asked_turn != Some(turn)) {
                return Err(other_turn());
            }
        }
        let (verdict, judged) = oneshot::channel();
        let action = SessionAction::Answer { seat, turn, text, at: Instant::now(), verdict };
        self.actions.send(action).map_err(|_| over())?;
        match judged.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(reasons)) => Err(ApiError::new(
                axum::http::StatusCode::UNPROCESSABLE_ENTITY,
                "illegal",
                reasons.join("; "),
            )
            .field("answer")
            .details(reasons)
            .hint("choose one of the legal answers")),
            Err(_) => Err(other_turn()),
        }
    }

    /// A person leaves. In the lobby, the seat becomes free.
    pub fn leave(&self, seat: usize) {
        let mut state = self.lock();
        let phase = state.phase;
        let Some(person) = state.seats.get_mut(seat) else { return };
        match phase {
            SessionPhase::Lobby => *person = PersonSeat::default(),
            SessionPhase::Playing if !person.left => {
                (person.left, person.asked_turn) = (true, None);
                person.events.answered();
                Self::show_waiting(&mut state);
            }
            SessionPhase::Playing | SessionPhase::Over => return,
        }
        state.lobby_version += 1;
        let is_empty = state.seats.iter().all(|person| person.key.is_none());
        drop(state);
        if phase == SessionPhase::Playing {
            // Fails only when the game is over.
            let _ = self.actions.send(SessionAction::Leave { seat });
        } else if is_empty {
            self.fail("everybody has left");
        }
        self.notify();
    }

    /// Ends the game: all persons leave.
    pub fn stop(&self) {
        let _ = self.actions.send(SessionAction::Stop);
    }

    /// Closes or ends what has lasted too long. Returns whether the session can be forgotten.
    pub fn sweep(&self, limits: &PlaySettings, now: Instant) -> bool {
        let (phase, since) = self.phase();
        let age = now.saturating_duration_since(since);
        match phase {
            SessionPhase::Lobby if age > limits.lobby_timeout => {
                self.fail("the game did not start in time: not all seats were taken");
            }
            SessionPhase::Playing if age > limits.game_timeout => self.stop(),
            SessionPhase::Playing => {
                for seat in self.away(limits, now) {
                    self.leave(seat);
                }
            }
            SessionPhase::Lobby | SessionPhase::Over => {}
        }
        phase == SessionPhase::Over && age > limits.keep_finished
    }

    /// Seats of persons whose page has been closed for too long.
    fn away(&self, limits: &PlaySettings, now: Instant) -> Vec<usize> {
        let is_away = |person: &PersonSeat| {
            let since = person.away_since.filter(|_| person.streams == 0 && !person.left);
            since.is_some_and(|since| now.saturating_duration_since(since) > limits.left_after)
        };
        let state = self.lock();
        state.seats.iter().enumerate().filter(|(_, person)| is_away(person)).map(|(seat, _)| seat).collect()
    }

    /// Counts an event stream of a seat.
    fn stream_opened(&self, seat: usize, key: &str) {
        if let Some(person) = self.lock().seats.get_mut(seat).filter(|person| person.has_key(key)) {
            person.streams += 1;
            (person.was_connected, person.away_since) = (true, None);
        }
    }

    /// An event stream of a seat has ended.
    fn stream_closed(&self, seat: usize, key: &str) {
        if let Some(person) = self.lock().seats.get_mut(seat).filter(|person| person.has_key(key)) {
            person.streams = person.streams.saturating_sub(1);
            if person.streams == 0 {
                person.away_since = Some(Instant::now());
            }
        }
    }

    /// The events that a stream has not sent yet; `None` when it has sent all and the session is over, or when the seat was left.
    fn next_events(&self, cursor: &mut EventCursor, key: &str) -> Option<Vec<Bytes>> {
        let state = self.lock();
        let person = state.seats.get(cursor.seat).filter(|person| person.has_key(key))?;
        let mut events = Vec::new();
        if cursor.lobby_version != state.lobby_version {
            cursor.lobby_version = state.lobby_version;
            events.push(sse::json_event("lobby", None, &self.body_of(&state, Some(cursor.seat))));
        }
        person.events.read(cursor, &mut events);
        if events.is_empty() && state.phase == SessionPhase::Over { None } else { Some(events) }
    }
}

/// What the thread that plays the game reports.
impl Session {
    /// Adds an event to a seat. It is sent again to a page that reconnects.
    pub fn push(&self, seat: usize, name: &str, data: &Json) {
        if let Some(person) = self.lock().seats.get_mut(seat) {
            person.events.push(sse::json_event(name, None, data));
        }
        self.notify();
    }

    /// Whether a seat was shown more than is kept, so that the game has to end.
    pub fn is_too_long(&self) -> bool {
        self.lock().seats.iter().any(|person| person.events.is_full())
    }

    /// Asks persons.
    pub fn ask(&self, requests: &[(usize, u32, Json)]) {
        let mut state = self.lock();
        for (seat, turn, request) in requests {
            if let Some(person) = state.seats.get_mut(*seat) {
                person.asked_turn = Some(*turn);
                person.events.ask(sse::json_event("ask", None, request));
            }
        }
        Self::show_waiting(&mut state);
        drop(state);
        self.notify();
    }

    /// A person has given a legal answer.
    pub fn accepted(&self, seat: usize) {
        let mut state = self.lock();
        if let Some(person) = state.seats.get_mut(seat) {
            person.asked_turn = None;
            person.events.answered();
        }
        Self::show_waiting(&mut state);
        drop(state);
        self.notify();
    }

    /// A person has given an illegal answer.
    pub fn refused(&self, seat: usize, turn: u32, message: &str) {
        let event = sse::json_event("refused", None, &json!({"turn": turn, "message": message}));
        if let Some(person) = self.lock().seats.get_mut(seat) {
            person.events.push_once(event);
        }
        self.notify();
    }

    /// The turn is over: no request waits any more.
    pub fn turn_over(&self) {
        for person in &mut self.lock().seats {
            if person.asked_turn.take().is_some() {
                person.events.answered();
            }
        }
    }

    fn show_waiting(state: &mut SessionState) {
        let asked = state.seats.iter().enumerate().filter(|(_, person)| person.asked_turn.is_some());
        let seats: Vec<usize> = asked.map(|(seat, _)| seat).collect();
        let event = sse::json_event("wait", None, &json!({ "seats": seats }));
        for person in state.seats.iter_mut().filter(|person| person.key.is_some()) {
            person.events.wait(event.clone());
        }
    }

    /// The game is over. `played` is its id in the store of played games, if it is kept there, or why it could not be stored.
    pub fn finish(&self, outcome: &Outcome, game: PlayedGame, played: Result<Option<String>, String>) {
        let mut state = self.lock();
        (state.phase, state.since) = (SessionPhase::Over, Instant::now());
        state.lobby_version += 1;
        match played {
            Ok(id) => state.played = id,
            Err(error) => state.error = Some(error),
        }
        state.finished = Some(game);
        let end = sse::json_event("end", None, &json!({"outcome": outcome, "played": state.played}));
        for person in state.seats.iter_mut().filter(|person| person.key.is_some()) {
            person.asked_turn = None;
            person.events.answered();
            person.events.push(end.clone());
        }
        drop(state);
        self.notify();
    }

    /// The game cannot be played.
    pub fn fail(&self, error: &str) {
        let mut state = self.lock();
        if state.phase != SessionPhase::Over {
            (state.phase, state.since) = (SessionPhase::Over, Instant::now());
            state.lobby_version += 1;
            state.error = Some(error.to_owned());
        }
        drop(state);
        self.notify();
    }

    /// The finished game; `None` before the end, and if it was taken before.
    pub fn take_finished(&self) -> Option<PlayedGame> {
        self.lock().finished.take()
    }

    /// Why the game could not be played or stored.
    pub fn error(&self) -> Option<String> {
        self.lock().error.clone()
    }

    /// Number of open event streams of all seats.
    pub fn open_streams(&self) -> usize {
        self.lock().seats.iter().map(|person| person.streams).sum()
    }
}

/// An event stream of a seat. Dropping it says that the page is closed.
pub struct SeatConnection {
    session: Arc<Session>,
    key: String,
    cursor: EventCursor,
}

impl SeatConnection {
    /// Opens a stream of the seat with this key.
    pub fn open(session: Arc<Session>, key: &str) -> ApiResult<Self> {
        let seat = session.seat_of(Some(key))?;
        session.stream_opened(seat, key);
        Ok(Self { session, key: key.to_owned(), cursor: EventCursor::new(seat) })
    }

    /// The events that were not sent yet; `None` at the end.
    pub fn next_events(&mut self) -> Option<Vec<Bytes>> {
        self.session.next_events(&mut self.cursor, &self.key)
    }
}

impl Drop for SeatConnection {
    fn drop(&mut self) {
        self.session.stream_closed(self.cursor.seat, &self.key);
    }
}
