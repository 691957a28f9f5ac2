//! Plays pairs on several threads and hands them on in order, until somebody says that is enough.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use agon_core::random::match_seed;
use agon_core::{BotLifetime, ScoreDirection, Seat};
use agon_engine::PlayerSpec;
use agon_engine::any_game::{MatchSetup, PlayError, hooks_with_recorder};
use agon_engine::referee::PlayedGame;

use super::CompareJob;
use super::lineup::PairGame;

/// How often somebody looks whether CTRL-C was pressed.
const GLANCE: Duration = Duration::from_millis(50);

/// What a pair gave each of the two, NEW first.
#[derive(Clone, Debug, Default)]
pub struct Pair {
    /// Points by places: half points for each game, 2 for a win.
    pub half_points: [usize; 2],
    /// The game's own score, mean over the games of a match; less is better in some roles.
    pub scores: [f64; 2],
    /// Which way the score counts: 1 where more is better, -1 where less is.
    pub sign: f64,
    /// In the order of [`agon_core::Fault::ALL`].
    pub faults: [[u32; 4]; 2],
    /// The first fault of each, in words.
    pub first_fault: [Option<String>; 2],
}

/// Why no more pairs are played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// It is known.
    Decided,
    /// There were no more.
    Limit,
    /// CTRL-C.
    Interrupted,
}

impl CompareJob<'_> {
    /// Plays pairs until `each` has enough of them. `end` is called when that is clear, while the last games may still be
    /// played that nobody needs any more.
    pub fn play<E: From<PlayError>>(
        &self,
        interrupted: &AtomicBool,
        mut each: impl FnMut(Pair) -> Result<ControlFlow<()>, E>,
        end: impl FnOnce(Stopped) -> Result<(), E>,
    ) -> Result<(), E> {
        let next = AtomicU32::new(0);
        let stop = AtomicBool::new(false);
        let (sender, receiver) = sync_channel(64);
        let cores = self.cores();
        thread::scope(|scope| {
            for number in 0..self.jobs {
                let (sender, next, stop) = (sender.clone(), &next, &stop);
                let core = cores.get(number).copied();
                scope.spawn(move || {
                    if let Some(core) = core {
                        agon_host::pinning::pin(core);
                    }
                    while !stop.load(Ordering::Relaxed) && !interrupted.load(Ordering::Relaxed) {
                        let pair = next.fetch_add(1, Ordering::Relaxed);
                        if pair >= self.pairs || sender.send((pair, self.pair(pair))).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let mut waiting = BTreeMap::new();
            let mut wanted = 0;
            let mut take = || {
                while wanted < self.pairs {
                    let Some(result) = waiting.remove(&wanted) else {
                        match receiver.recv_timeout(GLANCE) {
                            // What a game gave that CTRL-C may have disturbed is not looked at.
                            _ if interrupted.load(Ordering::Relaxed) => return Ok(Stopped::Interrupted),
                            Ok((pair, result)) => _ = waiting.insert(pair, result),
                            Err(RecvTimeoutError::Timeout) => {}
                            Err(RecvTimeoutError::Disconnected) => break,
                        }
                        continue;
                    };
                    wanted += 1;
                    if each(result?)?.is_break() {
                        return Ok(Stopped::Decided);
                    }
                }
                Ok(Stopped::Limit)
            };
            let stopped = take();
            stop.store(true, Ordering::Relaxed);
            // Whoever waits to hand on a result is let go.
            drop(receiver);
            stopped.and_then(end)
        })
    }

    /// A core for each thread; none if they are not to be pinned.
    fn cores(&self) -> Vec<usize> {
        let programs = self.cast.bots.iter().any(|bot| matches!(bot, PlayerSpec::Program(_)));
        let cores = if self.pin && programs { agon_host::pinning::cores() } else { Vec::new() };
        if self.jobs <= cores.len() { cores } else { Vec::new() }
    }

    fn pair(&self, number: u32) -> Result<Pair, PlayError> {
        let mut pair = Pair { sign: 1.0, ..Pair::default() };
        for side in self.cast.sides(self.seed, number) {
            self.side(number, &side, &mut pair)?;
        }
        Ok(pair)
    }

    /// One game or match of a pair.
    fn side(&self, number: u32, side: &PairGame, pair: &mut Pair) -> Result<(), PlayError> {
        let seed = match_seed(self.seed, number);
        let plan = MatchSetup { settings: &self.settings, seed, seats: &side.seats, assets: &self.assets };
        let mut played = Vec::new();
        self.table
            .play(&plan, 0..self.match_games, &mut hooks_with_recorder(None), &mut |one| played.push(one))?;
        for (who, seat) in [side.new, side.old].into_iter().enumerate() {
            if let Some(seat) = seat {
                self.count(&played, seat, who, pair);
            }
        }
        Ok(())
    }

    fn count(&self, played: &[PlayedGame], seat: Seat, who: usize, pair: &mut Pair) {
        let info = self.table.info();
        if info.role(seat).better == ScoreDirection::Lower {
            pair.sign = -1.0;
        }
        let won = |one: &PlayedGame| one.outcome.win_share(seat);
        let mut shares: Vec<f64> = played.iter().map(won).collect();
        // A match that a fault has ended: the games that were not played are lost too, or won.
        let lost_by = played.last().and_then(|one| one.outcome.match_lost_by);
        let rest = if lost_by == Some(seat) { 0.0 } else { 1.0 };
        shares.resize(self.match_games as usize, rest);
        pair.half_points[who] += shares.iter().map(|share| (2.0 * share).round() as usize).sum::<usize>();
        pair.scores[who] += if info.lifetime == BotLifetime::Match {
            shares.iter().sum::<f64>() / shares.len() as f64
        } else {
            played.iter().map(|one| one.outcome.seats[seat.index()].score).sum()
        };
        for one in played {
            if let Some(tally) = one.seats.get(seat.index()) {
                pair.faults[who].iter_mut().zip(tally.faults).for_each(|(sum, n)| *sum += n);
            }
            let fault = one.faults.iter().find(|fault| fault.seat == seat);
            if let (Some(fault), None) = (fault, &pair.first_fault[who]) {
                let (turn, report) = (fault.turn, &fault.report);
                pair.first_fault[who] =
                    Some(format!("seed {}, turn {turn}: {}: {}", one.seed, report.fault, report.message));
            }
        }
    }
}
