//! Plays many games on several threads. Results come in order, and the number of threads never changes a result.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::mem;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use agon_core::record::Recorder;
use agon_core::{Assets, BotLifetime, Diagnostic, Settings};

use crate::any_game::{AnyGame, FaultsAfterMatch, MatchSetup, PlayError, PlayerSpec, hooks_with_recorder};
use crate::event::{MakeReporter, Reporter};
use crate::referee::{GameHooks, PlayedGame};
use crate::turn_log::{MakeTurnLog, TurnLog};

/// Games between the same bots.
pub struct Series<'s> {
    /// The game.
    pub game: &'s dyn AnyGame,
    /// Settings of the first game; later games may differ in the seat that starts.
    pub settings: &'s Settings,
    /// Seed of the first game; the other seeds are derived from it.
    pub seed: u64,
    /// Number of games.
    pub games: u32,
    /// Number of games in a match, if bots live for a match.
    pub match_games: u32,
    /// Players in seat order.
    pub seats: &'s [PlayerSpec],
    /// Files that replace what games ship.
    pub assets: &'s Assets,
    /// Whether to write records.
    pub record: bool,
    /// Number of parallel games.
    pub jobs: usize,
    /// Whether to pin each game and its bots to one CPU core. No effect with more parallel games than cores, or without bots in
    /// separate processes.
    pub pin: bool,
    /// Creates logs for bot authors, if requested.
    pub make_log: Option<&'s MakeTurnLog<'s>>,
    /// Creates reporters that follow the games, if requested.
    pub make_reporter: Option<&'s MakeReporter<'s>>,
    /// Number of requests to stop, if the series can be stopped. After one, the current games are finished and no other game starts.
    /// After two, the games that are finished are passed on without waiting for the current ones.
    pub stop_requests: Option<&'s AtomicU32>,
}

/// What a series passes on, in the order of the games.
pub enum SeriesResult {
    /// A finished game.
    Game(PlayedGame),
    /// Bots have made faults after a match.
    AfterMatch {
        /// Index of the last game of the match.
        last_game: u32,
        /// The faults.
        faults: FaultsAfterMatch,
    },
}

/// Reason why a series stopped.
#[derive(Debug, thiserror::Error)]
pub enum SeriesError<E> {
    /// A game could not be played.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// The callback for results failed.
    #[error(transparent)]
    Sink(E),
}

impl From<SeriesError<Self>> for Diagnostic {
    fn from(error: SeriesError<Self>) -> Self {
        match error {
            SeriesError::Play(error) => error.into(),
            SeriesError::Sink(error) => error,
        }
    }
}

/// Maximum number of independent games that a thread claims at once. Batches make claiming cheap for short games.
const MAX_BATCH_GAMES: u32 = 16;
/// Maximum time of a batch. Games that take longer are claimed one by one, so that all threads end at about the same game.
const MAX_BATCH_TIME: Duration = Duration::from_millis(1);
/// Interval at which a thread passes on the finished games of a match between house bots. Other games are passed on at once.
const PASS_ON_INTERVAL: Duration = Duration::from_millis(50);
/// Interval between checks for a request to stop.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Consecutive games of a series that are passed on together.
struct Chunk {
    /// Number of the first game.
    start: u32,
    /// Number of the game after the last one. Games of a match that are not played are skipped.
    next: u32,
    results: Result<Vec<SeriesResult>, PlayError>,
}

impl Series<'_> {
    /// Plays all games and passes them to `done` in order. Stops at the first error.
    pub fn play<E>(&self, mut done: impl FnMut(PlayedGame) -> Result<(), E>) -> Result<(), SeriesError<E>> {
        let games_only = |result| match result {
            SeriesResult::Game(played) => done(played),
            SeriesResult::AfterMatch { .. } => Ok(()),
        };
        self.play_or_abandon(games_only, || {})
    }

    /// Like [`Series::play`], with the faults after matches. On the second request to stop, `abandon` is called after all finished games were passed to `done`, while
    /// other games may still run. It may end the program; if it returns, the current games are finished and dropped.
    pub fn play_or_abandon<E>(
        &self,
        mut done: impl FnMut(SeriesResult) -> Result<(), E>,
        abandon: impl FnOnce(),
    ) -> Result<(), SeriesError<E>> {
        // Wider than the number of a game: threads count on after the last game.
        let next = AtomicU64::new(0);
        let (sender, receiver) = sync_channel(64);
        let threads = self.threads();
        let cores = self.cores(threads);
        thread::scope(|scope| {
            for number in 0..threads {
                let (sender, next) = (sender.clone(), &next);
                let core = cores.get(number).copied();
                scope.spawn(move || {
                    if let Some(core) = core {
                        agon_host::pinning::pin(core);
                    }
                    self.play_batches(next, &sender);
                });
            }
            drop(sender);
            let mut waiting = self.pass_on(&receiver, &mut done)?;
            if self.stop_level() > 1 {
                waiting.extend(receiver.try_iter().map(|chunk: Chunk| (chunk.start, chunk)));
                for chunk in waiting.into_values() {
                    for result in chunk.results? {
                        done(result).map_err(SeriesError::Sink)?;
                    }
                }
                abandon();
            }
            // Unblocks threads that wait to pass on games.
            drop(receiver);
            Ok(())
        })
    }

    /// Passes the games to `done` in order, until all are played or the games in progress are abandoned. Returns chunks that wait for an
    /// earlier game.
    fn pass_on<E>(
        &self,
        receiver: &Receiver<Chunk>,
        done: &mut impl FnMut(SeriesResult) -> Result<(), E>,
    ) -> Result<BTreeMap<u32, Chunk>, SeriesError<E>> {
        let mut waiting = BTreeMap::new();
        let mut wanted = 0;
        loop {
            let received = match self.stop_requests {
                None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(_) => receiver.recv_timeout(STOP_CHECK_INTERVAL),
            };
            match received {
                Ok(chunk) => _ = waiting.insert(chunk.start, chunk),
                Err(RecvTimeoutError::Disconnected) => return Ok(waiting),
                Err(RecvTimeoutError::Timeout) => {}
            }
            while let Some(chunk) = waiting.remove(&wanted) {
                for result in chunk.results? {
                    done(result).map_err(SeriesError::Sink)?;
                }
                wanted = chunk.next;
            }
            if self.stop_level() > 1 {
                return Ok(waiting);
            }
        }
    }

    fn stop_level(&self) -> u32 {
        self.stop_requests.map_or(0, |requests| requests.load(Ordering::Relaxed))
    }

    /// A core for each thread; empty if threads are not pinned.
    fn cores(&self, threads: usize) -> Vec<usize> {
        let cores = if self.pin && self.has_programs() { agon_host::pinning::cores() } else { Vec::new() };
        if threads <= cores.len() { cores } else { Vec::new() }
    }

    /// Number of threads. Bots that keep data from match to match play sequentially, because the order affects the result.
    fn threads(&self) -> usize {
        let batches = self.games.div_ceil(self.match_length().unwrap_or(1)) as usize;
        let keeps = |seat: &PlayerSpec| matches!(seat, PlayerSpec::Program(one) if one.logs_dir.is_some());
        if self.seats.iter().any(keeps) { 1 } else { self.jobs.clamp(1, batches.max(1)) }
    }

    fn has_programs(&self) -> bool {
        self.seats.iter().any(|seat| matches!(seat, PlayerSpec::Program(_)))
    }

    /// Number of games in a match, if bots live for a match.
    fn match_length(&self) -> Option<u32> {
        (self.game.info().lifetime == BotLifetime::Match).then_some(self.match_games.max(1))
    }

    /// Claims and plays batches until no games are left or a stop is requested: a match, or a few independent games.
    fn play_batches(&self, next: &AtomicU64, sender: &SyncSender<Chunk>) {
        let mut recorder = self.record.then(Recorder::new);
        let mut size = self.match_length().unwrap_or(1);
        while self.stop_level() == 0 {
            let start = next.fetch_add(size.into(), Ordering::Relaxed);
            let Some(start) = u32::try_from(start).ok().filter(|start| *start < self.games) else { return };
            let end = start.saturating_add(size).min(self.games);
            let before = Instant::now();
            // The receiver is gone: another batch failed.
            if !self.play_batch(start..end, recorder.as_mut(), sender) {
                return;
            }
            if self.match_length().is_none() {
                let quick = before.elapsed() < MAX_BATCH_TIME;
                size = if quick { (2 * size).min(MAX_BATCH_GAMES) } else { 1 };
            }
        }
    }

    /// Plays a batch and passes its games on. Returns false if the receiver is gone.
    fn play_batch(
        &self,
        games: Range<u32>,
        recorder: Option<&mut Recorder>,
        sender: &SyncSender<Chunk>,
    ) -> bool {
        let is_match = self.match_length().is_some();
        // Each match has its own seed, and its games count from 0.
        let (seed, range, first) = if is_match {
            let number = games.start / self.match_games.max(1);
            (agon_core::random::match_seed(self.seed, number), 0..games.end - games.start, games.start)
        } else {
            (self.seed, games.clone(), 0)
        };
        let mut log = self.make_log.map(|make| make(first));
        let log = log.as_mut().map(|log| &mut **log as &mut dyn TurnLog);
        let mut reporter = self.make_reporter.map(|make| make(first));
        let reporter = reporter.as_mut().map(|reporter| &mut **reporter as &mut dyn Reporter);
        let mut hooks = GameHooks { reporter, log, ..hooks_with_recorder(recorder) };
        let setup = MatchSetup { settings: self.settings, seed, seats: self.seats, assets: self.assets };
        let mut passed_on = Instant::now();
        let (mut played, mut start) = (Vec::with_capacity(range.len().min(64)), games.start);
        let connected = Cell::new(true);
        let has_programs = self.has_programs();
        // A batch of independent games is short: it is finished, so that the games before the last one are all played.
        let stopped = || (is_match && self.stop_level() > 0) || !connected.get();
        let mut last_game = None;
        let result = self.game.play_until_stopped(&setup, range, &mut hooks, &stopped, &mut |mut one| {
            one.index += first;
            let next = one.index + 1;
            last_game = Some(one.index);
            played.push(SeriesResult::Game(one));
            if is_match && next < games.end && (has_programs || passed_on.elapsed() >= PASS_ON_INTERVAL) {
                passed_on = Instant::now();
                connected
                    .set(sender.send(Chunk { start, next, results: Ok(mem::take(&mut played)) }).is_ok());
                start = next;
            }
        });
        let results = result.map(|faults| {
            if let Some(last_game) = last_game.filter(|_| !faults.is_empty()) {
                played.push(SeriesResult::AfterMatch { last_game, faults });
            }
            played
        });
        connected.get() && sender.send(Chunk { start, next: games.end, results }).is_ok()
    }
}
