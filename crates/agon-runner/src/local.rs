//! Plays the matches of a stage on the CPU cores of this machine.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use agon_core::LockIgnoringPoison as _;
use agon_core::record::Recorder;
use agon_engine::{PlayerSpec, Reporter};
use agon_league::{Entrant, MatchKey};
use tracing::Span;

use crate::RunError;
use crate::executor::{Executor, ExecutorEvent};
use crate::live::{LiveGames, LiveReporter};
use crate::phase_context::PhaseContext;
use crate::queue::MatchQueue;

/// Maximum number of played batches that wait to be stored. A few are enough to keep the threads busy while the ledger writes.
const QUEUE_CAPACITY: usize = 64;

/// A match that is being played.
#[derive(Clone, Debug)]
pub struct ActiveMatch {
    /// The match.
    pub key: MatchKey,
    /// Entrants, in seat order.
    pub seats: Vec<Entrant>,
    /// Start time.
    pub since: Instant,
}

/// The match that each thread plays now. Progress displays read it.
#[derive(Debug, Default)]
pub struct ActiveMatches {
    playing: Mutex<Vec<Option<ActiveMatch>>>,
    live_games: Option<Arc<LiveGames>>,
}

impl ActiveMatches {
    /// Creates a list that also makes the games available for live viewing. Without `live_games` no turns are kept for viewers.
    pub fn with_live_games(live_games: Arc<LiveGames>) -> Self {
        Self { live_games: Some(live_games), ..Self::default() }
    }

    /// Live games, if live viewing is enabled.
    pub fn live_games(&self) -> Option<&Arc<LiveGames>> {
        self.live_games.as_ref()
    }

    /// Matches being played, the longest-running first.
    pub fn playing(&self) -> Vec<ActiveMatch> {
        let mut all: Vec<ActiveMatch> = self.lock().iter().flatten().cloned().collect();
        all.sort_by_key(|one| one.since);
        all
    }

    /// Replaces the list by matches that workers play.
    pub fn replace_all(&self, playing: Vec<ActiveMatch>) {
        *self.lock() = playing.into_iter().map(Some).collect();
    }

    fn set(&self, thread: usize, playing: Option<ActiveMatch>) {
        let mut slots = self.lock();
        if slots.len() <= thread {
            slots.resize_with(thread + 1, || None);
        }
        slots[thread] = playing;
    }

    /// Marks a thread as idle.
    fn clear(&self, thread: usize) {
        self.set(thread, None);
        if let Some(live_games) = &self.live_games {
            live_games.slot(thread).set_idle();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Option<ActiveMatch>>> {
        self.playing.lock_ignoring_poison()
    }
}

/// Plays matches on this machine.
#[derive(Clone, Copy, Debug)]
pub struct LocalExecutor {
    /// Number of parallel games.
    pub jobs: usize,
    /// Whether to pin each game and its bots to one CPU core. Has an effect only if bots run as programs and there are enough cores.
    pub pin: bool,
}

impl Executor for LocalExecutor {
    fn play(
        &self,
        context: &PhaseContext<'_>,
        stage: u32,
        queue: &MatchQueue<'_>,
        active_matches: &ActiveMatches,
        consume: &mut dyn FnMut(Receiver<ExecutorEvent>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let cores = self.cores_to_pin(context);
        let (sender, receiver) = sync_channel(QUEUE_CAPACITY);
        let run_span = Span::current();
        thread::scope(|scope| {
            for number in 0..self.jobs.max(1) {
                let (sender, core) = (sender.clone(), cores.get(number).copied());
                let run_span = run_span.clone();
                scope.spawn(move || {
                    let _in_run = run_span.entered();
                    if let Some(core) = core {
                        agon_host::pinning::pin(core);
                    }
                    self.run_thread(number, context, stage, queue, active_matches, &sender);
                    active_matches.clear(number);
                });
            }
            drop(sender);
            // An error drops the receiver. The threads then end after their current batch.
            consume(receiver)
        })
    }

    fn is_local(&self) -> bool {
        true
    }
}

impl LocalExecutor {
    /// Main loop of a thread.
    fn run_thread(
        self,
        thread: usize,
        context: &PhaseContext<'_>,
        stage: u32,
        queue: &MatchQueue<'_>,
        active_matches: &ActiveMatches,
        sender: &SyncSender<ExecutorEvent>,
    ) {
        let mut recorder = Recorder::new();
        let mut last = None;
        let slot = active_matches.live_games().map(|live_games| live_games.slot(thread));
        loop {
            let batch = queue.claim_batch(last, self.jobs);
            if batch.is_empty() {
                return;
            }
            let (started, count) = (Instant::now(), batch.len() as u32);
            let mut played = Vec::with_capacity(batch.len());
            let mut failed = None;
            for (number, fixture) in batch {
                let key = MatchKey { phase: context.phase, stage, number };
                // At the error level, so that every line about the match has its key, whatever the filter.
                let full_key = key.in_competition(&context.competition_id);
                let _in_match = tracing::error_span!("match", "match" = %full_key).entered();
                tracing::debug!("match started");
                active_matches.set(
                    thread,
                    Some(ActiveMatch { key, seats: fixture.seats.clone(), since: Instant::now() }),
                );
                let mut live_reporter =
                    slot.as_ref().map(|slot| LiveReporter::new(slot, key, &fixture.seats));
                let reporter = live_reporter.as_mut().map(|live_reporter| live_reporter as &mut dyn Reporter);
                match context.play(key, &fixture, &mut recorder, reporter) {
                    Ok(finished) => {
                        if let Some(live_reporter) = &live_reporter {
                            live_reporter.match_finished(&finished.result);
                        }
                        tracing::debug!(
                            games = finished.result.games.len(),
                            faults = finished.faults.len(),
                            "match finished"
                        );
                        played.push(finished);
                    }
                    Err(error) => {
                        tracing::error!(%error, "the match could not be played");
                        failed = Some(error);
                        break;
                    }
                }
            }
            last = Some(started.elapsed() / count);
            // Matches played before a failure still count.
            let numbers: Vec<u64> = played.iter().map(|one| one.result.key.number).collect();
            let mut sent = played.is_empty()
                || sender.send(ExecutorEvent::Played { matches: played, on_stored: None }).is_ok();
            if let Some(error) = failed {
                // Sending fails if the receiver is gone. Then the run has already ended.
                let _ = sender.send(ExecutorEvent::Failed(error.into()));
                sent = false;
            }
            for number in numbers {
                queue.mark_finished(number);
            }
            if !sent {
                return;
            }
        }
    }

    /// One core for each thread. Empty if threads are not pinned.
    fn cores_to_pin(self, context: &PhaseContext<'_>) -> Vec<usize> {
        let programs = context.entrants.iter().any(|one| matches!(one.player, PlayerSpec::Program(_)));
        let cores = if self.pin && programs { agon_host::pinning::cores() } else { Vec::new() };
        if self.jobs <= cores.len() { cores } else { Vec::new() }
    }
}
