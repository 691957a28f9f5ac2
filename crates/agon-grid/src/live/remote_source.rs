//! One board of a worker, while somebody follows it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_engine::{LiveFilm, LivePart};
use agon_league::{Entrant, MatchKey};
use agon_runner::LiveUpdate;
use agon_runner::live::{LiveGameKey, LiveSource};
use futures_util::StreamExt as _;
use futures_util::future::{BoxFuture, FutureExt as _, OptionFuture};
use tokio::runtime::Handle;
use tokio::sync::broadcast::{self, Receiver, Sender};
use tokio::task::AbortHandle;
use tokio::time::MissedTickBehavior;

use super::chunks::{AssembleStep, LiveAssembler};
use crate::messages::{CommandReply, WorkerCommand, LiveChunk, LiveMessage, decode, encode};
use crate::{GridError, NatsConnection, subjects};

/// Who is further behind than so many updates gets the film so far instead.
const BEHIND: usize = 16;
/// So often the worker is told that somebody looks on.
const ASK: Duration = Duration::from_secs(3);
/// And shows the board for so long after the last time.
const LEASE: Duration = Duration::from_secs(10);
/// The whole film is asked for at most so often.
const WHOLE: Duration = Duration::from_millis(500);

/// Where a board is.
#[derive(Clone)]
pub(super) struct RemoteAddress {
    pub link: NatsConnection,
    pub worker: String,
    pub cup: String,
    pub board: u32,
}

/// What those who follow a board share. It is fetched as long as one of them is there.
pub(super) struct RemoteSource {
    screen: Arc<Screen>,
    fetching: AbortHandle,
}

impl RemoteSource {
    pub fn open(runtime: &Handle, far: RemoteAddress, number: usize, contributors: Arc<[Option<String>]>) -> Arc<Self> {
        let screen = Arc::new(Screen { number, contributors, now: Mutex::new(Now::default()) });
        let fetching = runtime.spawn(fetch(far, Arc::clone(&screen))).abort_handle();
        Arc::new(Self { screen, fetching })
    }
}

impl Drop for RemoteSource {
    /// Nobody follows any more. The worker notices when it is not asked again.
    fn drop(&mut self) {
        self.fetching.abort();
    }
}

/// A window on it.
pub(super) struct RemoteSourceHandle(pub Arc<RemoteSource>);

impl LiveSource for RemoteSourceHandle {
    fn tune_in(&self) -> Option<(Receiver<LiveUpdate>, Option<LiveUpdate>)> {
        let mut now = self.0.screen.now();
        let receiver = now.sender.subscribe();
        let update = now.showing.as_mut().map(Showing::update).or(now.idle.then_some(LiveUpdate::Idle));
        Some((receiver, update))
    }
}

/// What is shown.
struct Screen {
    number: usize,
    contributors: Arc<[Option<String>]>,
    now: Mutex<Now>,
}

struct Now {
    sender: Sender<LiveUpdate>,
    showing: Option<Showing>,
    idle: bool,
}

impl Default for Now {
    fn default() -> Self {
        Self { sender: broadcast::channel(BEHIND).0, showing: None, idle: false }
    }
}

struct Showing {
    game: Arc<LiveGameKey>,
    film: LiveFilm,
    /// The film as bytes, since somebody wanted it, until it grows.
    bytes: Option<Arc<[u8]>>,
    over: bool,
}

impl Showing {
    fn update(&mut self) -> LiveUpdate {
        let film = self.bytes.get_or_insert_with(|| self.film.json().into());
        LiveUpdate::Film { game: Arc::clone(&self.game), film: Arc::clone(film), over: self.over }
    }
}

impl Screen {
    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn idle(&self) {
        let mut now = self.now();
        if !now.idle {
            (now.idle, now.showing) = (true, None);
            // It fails when nobody follows just now.
            let _ = now.sender.send(LiveUpdate::Idle);
        }
    }

    /// Shows it to everybody; false if it does not follow what was shown before.
    fn show(&self, shown: LiveMessage) -> bool {
        match shown {
            LiveMessage::Film { game: (number, (phase, stage, of_stage), game, seats), film, part, over } => {
                let key = MatchKey { phase, stage, number: of_stage };
                if part {
                    return self.go_on(number, key, &film, over);
                }
                // Everything is read and written anew: what a worker says does not reach a browser as it is.
                let by = |seat: &u32| self.contributors.get(*seat as usize).cloned();
                let Some(by) = seats.iter().map(by).collect::<Option<Vec<_>>>() else { return false };
                let Some(film) = LiveFilm::read(&film, &by) else { return false };
                let seats = seats.into_iter().map(Entrant).collect();
                let game = Arc::new(LiveGameKey { board: self.number, number, key, game, seats });
                let mut showing = Showing { game, film, bytes: None, over };
                let update = showing.update();
                let mut now = self.now();
                (now.idle, now.showing) = (false, Some(showing));
                let _ = now.sender.send(update);
            }
            LiveMessage::Match(played) => {
                let _ = self.now().sender.send(LiveUpdate::Match(Arc::new(played.result)));
            }
            LiveMessage::Idle => self.idle(),
        }
        true
    }

    fn go_on(&self, number: u64, key: MatchKey, bytes: &[u8], over: bool) -> bool {
        let Some(part) = LivePart::read(bytes) else { return false };
        let bytes: Arc<[u8]> = part.json().into();
        let mut now = self.now();
        let Some(showing) = &mut now.showing else { return false };
        let fits = (showing.game.number, showing.game.key) == (number, key);
        if !fits || showing.over || part.from != showing.film.turns() + 1 {
            return false;
        }
        for turn in &part.turns {
            showing.film.push(turn);
        }
        (showing.bytes, showing.over) = (None, over);
        if let Some(outcome) = part.outcome {
            showing.film.end(outcome);
        }
        let game = Arc::clone(&showing.game);
        let _ = now.sender.send(LiveUpdate::Part { game, part: bytes, over });
        true
    }
}

/// Has the worker show its board, and hands on what comes.
async fn fetch(far: RemoteAddress, screen: Arc<Screen>) {
    let subject = subjects::live(&far.worker, &far.cup, far.board);
    let Ok(mut seen) = far.link.client().subscribe(subject).await else { return screen.idle() };
    let (mut joiner, mut whole, mut asked) = (LiveAssembler::default(), true, None::<Instant>);
    let mut asking: Option<BoxFuture<'static, Result<CommandReply, GridError>>> = None;
    let mut tick = tokio::time::interval(ASK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = tick.tick() => {
                if asking.is_none() {
                    asked = Some(Instant::now());
                    asking = Some(ask(far.clone(), whole).boxed());
                }
            }
            Some(answer) = OptionFuture::from(asking.as_mut()) => {
                asking = None;
                // Nobody there, or nothing to see: once there is, it comes from its start.
                if !matches!(answer, Ok(CommandReply::Yes)) {
                    (whole, joiner) = (true, LiveAssembler::default());
                    screen.idle();
                }
            }
            message = seen.next() => {
                let Some(message) = message else { return screen.idle() };
                let Ok(piece) = decode::<LiveChunk>(&message.payload) else { continue };
                match joiner.push(&piece) {
                    AssembleStep::More => {}
                    AssembleStep::Whole(shown) => {
                        let says_nothing_of_the_film = matches!(*shown, LiveMessage::Match(_));
                        let fits = screen.show(*shown);
                        whole = if says_nothing_of_the_film { whole } else { !fits };
                    }
                    AssembleStep::Gap => whole = true,
                }
                if whole && asking.is_none() && asked.is_none_or(|at| at.elapsed() >= WHOLE) {
                    tick.reset_immediately();
                }
            }
        }
    }
}

async fn ask(far: RemoteAddress, whole: bool) -> Result<CommandReply, GridError> {
    let for_ms = LEASE.as_millis() as u64;
    let order = encode(&WorkerCommand::Show { competition_id: far.cup.clone(), board: far.board, for_ms, whole })?;
    let answer = far.link.client().request(subjects::order(&far.worker), order.into()).await;
    match answer {
        Ok(answer) => decode(&answer.payload),
        Err(error) => Ok(CommandReply::No(error.to_string())),
    }
}
