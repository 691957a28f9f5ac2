//! Plays the matches of a stage on this machine's cores.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use agon_core::record::Recorder;
use agon_engine::{Reporter, Seating};
use agon_league::{Entrant, MatchKey};

use crate::RunError;
use crate::executor::{Executor, ExecutorEvent};
use crate::live::{LiveGames, LiveReporter};
use crate::match_runner::PhaseContext;
use crate::queue::Queue;

/// Lots that were played and wait to be kept. A few are enough to keep the threads busy while the ledger writes.
const WAITING: usize = 64;

/// A match that is being played.
#[derive(Clone, Debug)]
pub struct ActiveMatch {
    /// Which.
    pub key: MatchKey,
    /// By whom, in seat order.
    pub seats: Vec<Entrant>,
    /// Since when.
    pub since: Instant,
}

/// What each thread plays just now: for whoever looks on.
#[derive(Debug, Default)]
pub struct ActiveMatches {
    playing: Mutex<Vec<Option<ActiveMatch>>>,
    gallery: Option<Arc<LiveGames>>,
}

impl ActiveMatches {
    /// The same, with places for those who want to see the games themselves. Without one nothing is kept of a game for them.
    pub fn with_gallery(gallery: Arc<LiveGames>) -> Self {
        Self { gallery: Some(gallery), ..Self::default() }
    }

    /// Where games can be seen, if anywhere.
    pub fn gallery(&self) -> Option<&Arc<LiveGames>> {
        self.gallery.as_ref()
    }

    /// What is being played, the longest first.
    pub fn playing(&self) -> Vec<ActiveMatch> {
        let mut all: Vec<ActiveMatch> = self.slots().iter().flatten().cloned().collect();
        all.sort_by_key(|one| one.since);
        all
    }

    /// What is being played elsewhere, in place of what was said before.
    pub fn show(&self, playing: Vec<ActiveMatch>) {
        *self.slots() = playing.into_iter().map(Some).collect();
    }

    fn set(&self, thread: usize, playing: Option<ActiveMatch>) {
        let mut slots = self.slots();
        if slots.len() <= thread {
            slots.resize_with(thread + 1, || None);
        }
        slots[thread] = playing;
    }

    /// A thread has nothing more to play.
    fn rest(&self, thread: usize) {
        self.set(thread, None);
        if let Some(gallery) = &self.gallery {
            gallery.board(thread).rest();
        }
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, Vec<Option<ActiveMatch>>> {
        self.playing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How matches are spread over the machine.
#[derive(Clone, Copy, Debug)]
pub struct LocalExecutor {
    /// How many games at once.
    pub jobs: usize,
    /// Whether each game stays on a core of its own, its bots with it, where there are programs to keep apart and cores enough.
    pub pin: bool,
}

impl Executor for LocalExecutor {
    fn play(
        &self,
        hall: &PhaseContext<'_>,
        stage: u32,
        queue: &Queue<'_>,
        boards: &ActiveMatches,
        take: &mut dyn FnMut(Receiver<ExecutorEvent>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let cores = self.cores(hall);
        let (sender, receiver) = sync_channel(WAITING);
        thread::scope(|scope| {
            for number in 0..self.jobs.max(1) {
                let (sender, core) = (sender.clone(), cores.get(number).copied());
                scope.spawn(move || {
                    if let Some(core) = core {
                        agon_host::pinning::pin(core);
                    }
                    self.work(number, hall, stage, queue, boards, &sender);
                    boards.rest(number);
                });
            }
            drop(sender);
            // When it fails it drops the receiver, and the threads end at their next lot.
            take(receiver)
        })
    }

    fn is_local(&self) -> bool {
        true
    }
}

impl LocalExecutor {
    /// What one thread does.
    fn work(
        self,
        thread: usize,
        hall: &PhaseContext<'_>,
        stage: u32,
        queue: &Queue<'_>,
        boards: &ActiveMatches,
        sender: &SyncSender<ExecutorEvent>,
    ) {
        let mut recorder = Recorder::new();
        let mut last = None;
        let board = boards.gallery().map(|gallery| gallery.board(thread));
        loop {
            let lot = queue.claim(last, self.jobs);
            if lot.is_empty() {
                return;
            }
            let (begun, count) = (Instant::now(), lot.len() as u32);
            let mut played = Vec::with_capacity(lot.len());
            let mut failed = None;
            for (number, fixture) in lot {
                let key = MatchKey { phase: hall.phase, stage, number };
                boards
                    .set(thread, Some(ActiveMatch { key, seats: fixture.seats.clone(), since: Instant::now() }));
                let mut pen = board.as_ref().map(|board| LiveReporter::new(board, key, &fixture.seats));
                let reporter = pen.as_mut().map(|pen| pen as &mut dyn Reporter);
                match hall.play(key, &fixture, &mut recorder, reporter) {
                    Ok(finished) => {
                        if let Some(pen) = &pen {
                            pen.finished(&finished.result);
                        }
                        played.push(finished);
                    }
                    Err(error) => {
                        failed = Some(error);
                        break;
                    }
                }
            }
            last = Some(begun.elapsed() / count);
            // What was played counts, whatever came after it.
            let numbers: Vec<u64> = played.iter().map(|one| one.result.key.number).collect();
            let mut sent =
                played.is_empty() || sender.send(ExecutorEvent::Played { matches: played, kept: None }).is_ok();
            if let Some(error) = failed {
                // Nobody listens any more if that fails: the run has ended already.
                let _ = sender.send(ExecutorEvent::Failed(error.into()));
                sent = false;
            }
            for number in numbers {
                queue.finished(number);
            }
            if !sent {
                return;
            }
        }
    }

    /// A core for each thread; none if they are not to be pinned.
    fn cores(self, hall: &PhaseContext<'_>) -> Vec<usize> {
        let programs = hall.members.iter().any(|one| matches!(one.seating, Seating::Program(_)));
        let cores = if self.pin && programs { agon_host::pinning::cores() } else { Vec::new() };
        if self.jobs <= cores.len() { cores } else { Vec::new() }
    }
}
