//! Plays many games on several threads. Results come in order, and the number of threads never changes a result.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use agon_core::record::Recorder;
use agon_core::{Assets, BotLifetime, Diagnostic, Settings};

use crate::any_game::{AnyGame, MatchSetup, PlayError, PlayerSpec, hooks_with_recorder};
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

impl Series<'_> {
    /// Plays all games and passes them to `done` in order. Stops at the first error.
    pub fn play<E>(&self, mut done: impl FnMut(PlayedGame) -> Result<(), E>) -> Result<(), SeriesError<E>> {
        let batches = self.batches();
        let next = AtomicU32::new(0);
        let (sender, receiver) = sync_channel(64);
        let threads = self.threads(batches.len());
        let cores = self.cores(threads);
        thread::scope(|scope| {
            for number in 0..threads {
                let (sender, batches, next) = (sender.clone(), &batches, &next);
                let core = cores.get(number).copied();
                scope.spawn(move || {
                    if let Some(core) = core {
                        agon_host::pinning::pin(core);
                    }
                    let mut recorder = self.record.then(Recorder::new);
                    while let Some((number, games)) = claim_batch(next, batches) {
                        let result = self.play_batch(games, recorder.as_mut());
                        // The receiver is gone: another batch failed.
                        if sender.send((number, result)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let mut waiting = BTreeMap::new();
            let mut wanted = 0;
            for (number, result) in receiver {
                waiting.insert(number, result);
                while let Some(result) = waiting.remove(&wanted) {
                    for played in result? {
                        done(played).map_err(SeriesError::Sink)?;
                    }
                    wanted += 1;
                }
            }
            Ok(())
        })
    }

    /// A core for each thread; empty if threads are not pinned.
    fn cores(&self, threads: usize) -> Vec<usize> {
        let programs = self.seats.iter().any(|seat| matches!(seat, PlayerSpec::Program(_)));
        let cores = if self.pin && programs { agon_host::pinning::cores() } else { Vec::new() };
        if threads <= cores.len() { cores } else { Vec::new() }
    }

    /// Number of threads. Bots that keep data from match to match play sequentially, because the order affects the result.
    fn threads(&self, batches: usize) -> usize {
        let keeps = |seat: &PlayerSpec| matches!(seat, PlayerSpec::Program(one) if one.logs_dir.is_some());
        if self.seats.iter().any(keeps) { 1 } else { self.jobs.clamp(1, batches.max(1)) }
    }

    /// Ranges of games that one thread plays in sequence: a match, or a few independent games.
    fn batches(&self) -> Vec<Range<u32>> {
        let is_match = self.game.info().lifetime == BotLifetime::Match;
        let size = if is_match {
            self.match_games
        } else {
            MAX_BATCH_GAMES.min(self.games / self.jobs.max(1) as u32)
        };
        let size = size.max(1);
        (0..self.games).step_by(size as usize).map(|start| start..(start + size).min(self.games)).collect()
    }

    fn play_batch(
        &self,
        games: Range<u32>,
        recorder: Option<&mut Recorder>,
    ) -> Result<Vec<PlayedGame>, PlayError> {
        let mut played = Vec::with_capacity(games.len());
        let is_match = self.game.info().lifetime == BotLifetime::Match;
        // Each match has its own seed, and its games count from 0.
        let (seed, games, first) = if is_match {
            let number = games.start / self.match_games.max(1);
            (agon_core::random::match_seed(self.seed, number), 0..games.end - games.start, games.start)
        } else {
            (self.seed, games, 0)
        };
        let mut log = self.make_log.map(|make| make(first));
        let log = log.as_mut().map(|log| &mut **log as &mut dyn TurnLog);
        let mut hooks = GameHooks { log, ..hooks_with_recorder(recorder) };
        let setup = MatchSetup { settings: self.settings, seed, seats: self.seats, assets: self.assets };
        self.game.play(&setup, games, &mut hooks, &mut |mut one| {
            one.index += first;
            played.push(one);
        })?;
        Ok(played)
    }
}

fn claim_batch(next: &AtomicU32, batches: &[Range<u32>]) -> Option<(usize, Range<u32>)> {
    let number = next.fetch_add(1, Ordering::Relaxed) as usize;
    batches.get(number).map(|games| (number, games.clone()))
}
