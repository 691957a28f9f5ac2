//! Many games on several threads, results in order: the number of threads never changes a result.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use agon_core::record::Recorder;
use agon_core::{Assets, Lifetime, Settings};

use crate::log::{GameLog, MakeLog};
use crate::referee::{Played, Room};
use crate::table::{Plan, PlayError, Seating, Table, quiet_room};

/// Games of one kind between the same bots.
pub struct Series<'s> {
    /// The game.
    pub table: &'s dyn Table,
    /// Of the first game; games further on may differ in who starts.
    pub settings: &'s Settings,
    /// Of the first game; the others' follow from it.
    pub seed: u64,
    /// How many.
    pub games: u32,
    /// How many games make a match, where bots live for a match.
    pub match_games: u32,
    /// Who sits where.
    pub seats: &'s [Seating],
    /// Files in place of what games ship.
    pub assets: &'s Assets,
    /// Whether to keep records.
    pub record: bool,
    /// How many games at once.
    pub jobs: usize,
    /// Whether each game stays on a core of its own, its bots with it. Without effect where there are more games at once
    /// than cores, or no bots in processes of their own.
    pub pin: bool,
    /// Makes logs of what bots do, if they are wanted.
    pub log: Option<&'s MakeLog<'s>>,
}

/// Why a series stopped.
#[derive(Debug, thiserror::Error)]
pub enum SeriesError<E> {
    /// A game could not be played.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// Whoever takes the results failed.
    #[error(transparent)]
    Sink(E),
}

/// Short games are handed out in lots, so that handing out costs nothing.
const LOT: u32 = 16;

impl Series<'_> {
    /// Plays all games and hands them to `done` in order. Stops at the first error.
    pub fn play<E>(&self, mut done: impl FnMut(Played) -> Result<(), E>) -> Result<(), SeriesError<E>> {
        let lots = self.lots();
        let next = AtomicU32::new(0);
        let (sender, receiver) = sync_channel(64);
        let threads = self.threads(lots.len());
        let cores = self.cores(threads);
        thread::scope(|scope| {
            for number in 0..threads {
                let (sender, lots, next) = (sender.clone(), &lots, &next);
                let core = cores.get(number).copied();
                scope.spawn(move || {
                    if let Some(core) = core {
                        agon_host::pinning::pin(core);
                    }
                    let mut recorder = self.record.then(Recorder::new);
                    while let Some((number, games)) = claim(next, lots) {
                        let result = self.play_lot(games, recorder.as_mut());
                        // Nobody listens any more: another lot failed.
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

    /// A core for each thread; none if they are not to be pinned.
    fn cores(&self, threads: usize) -> Vec<usize> {
        let programs = self.seats.iter().any(|seat| matches!(seat, Seating::Program(_)));
        let cores = if self.pin && programs { agon_host::pinning::cores() } else { Vec::new() };
        if threads <= cores.len() { cores } else { Vec::new() }
    }

    /// Bots that keep something from match to match play one match after the other: the order is part of the result.
    fn threads(&self, lots: usize) -> usize {
        let keeps = |seat: &Seating| matches!(seat, Seating::Program(one) if one.logs.is_some());
        if self.seats.iter().any(keeps) { 1 } else { self.jobs.clamp(1, lots.max(1)) }
    }

    /// Ranges of games that one thread plays in a row: a match, or a few independent games.
    fn lots(&self) -> Vec<Range<u32>> {
        let is_match = self.table.info().lifetime == Lifetime::Match;
        let size = if is_match { self.match_games } else { LOT.min(self.games / self.jobs.max(1) as u32) };
        let size = size.max(1);
        (0..self.games).step_by(size as usize).map(|start| start..(start + size).min(self.games)).collect()
    }

    fn play_lot(&self, games: Range<u32>, recorder: Option<&mut Recorder>) -> Result<Vec<Played>, PlayError> {
        let mut played = Vec::with_capacity(games.len());
        let is_match = self.table.info().lifetime == Lifetime::Match;
        // A match has a seed of its own, and its games count from 0.
        let (seed, games, first) = if is_match {
            let number = games.start / self.match_games.max(1);
            (agon_core::random::match_seed(self.seed, number), 0..games.end - games.start, games.start)
        } else {
            (self.seed, games, 0)
        };
        let mut log = self.log.map(|make| make(first));
        let log = log.as_mut().map(|log| &mut **log as &mut dyn GameLog);
        let mut room = Room { log, ..quiet_room(recorder) };
        let plan = Plan { settings: self.settings, seed, seats: self.seats, assets: self.assets };
        self.table.play(&plan, games, &mut room, &mut |mut one| {
            one.index += first;
            played.push(one);
        })?;
        Ok(played)
    }
}

fn claim(next: &AtomicU32, lots: &[Range<u32>]) -> Option<(usize, Range<u32>)> {
    let number = next.fetch_add(1, Ordering::Relaxed) as usize;
    lots.get(number).map(|games| (number, games.clone()))
}
