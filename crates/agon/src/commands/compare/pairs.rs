//! Plays pairs of games on several threads and passes the results on in job, until the caller has enough.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use agon_bots::debug_line::FaultPlace;
use agon_core::random::match_seed;
use agon_core::{BotLifetime, FaultReport, ScoreDirection, Seat};
use agon_engine::PlayerSpec;
use agon_engine::any_game::{MatchSetup, PlayError, hooks_with_recorder};
use agon_engine::referee::PlayedGame;

use super::CompareJob;
use super::lineup::PairGame;

/// Interval between checks for CTRL-C.
const INTERRUPT_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Results of a pair for the two bots, NEW first.
#[derive(Clone, Debug, Default)]
pub struct Pair {
    /// Half points by places, for each game: 2 for a win.
    pub half_points: [usize; 2],
    /// Mean score over the games of a match; in some roles a lower score is better.
    pub scores: [f64; 2],
    /// 1 if a higher score is better, -1 if a lower score is.
    pub sign: f64,
    /// Number of faults, in the job of [`agon_core::Fault::ALL`].
    pub faults: [[u32; 4]; 2],
    /// The first fault of each bot.
    pub first_fault: [Option<FirstFault>; 2],
}

/// The first fault of a bot, with what is needed to play its game again.
#[derive(Clone, Debug)]
pub struct FirstFault {
    /// Bot specs in seat order.
    pub bots: Vec<String>,
    /// Seed of the match.
    pub match_seed: u64,
    /// Seed of the game.
    pub game_seed: u64,
    /// Where in the match.
    pub place: FaultPlace,
    /// The fault.
    pub report: FaultReport,
}

impl FirstFault {
    /// The first fault of a seat in a match with this seed.
    fn find(played: &[PlayedGame], side: &PairGame, match_seed: u64, seat: Seat) -> Option<Self> {
        let of_seat = |one: &PlayedGame| one.faults.iter().position(|fault| fault.seat == seat);
        let (game, one, at) = (1..).zip(played).find_map(|(game, one)| Some((game, one, of_seat(one)?)))?;
        let fault = &one.faults[at];
        let is_after_game = fault.is_after_game(one.turns);
        Some(Self {
            bots: side.seats.iter().map(PlayerSpec::spec).collect(),
            match_seed,
            game_seed: one.seed,
            place: FaultPlace { game, seat, turn: fault.turn, is_after_game },
            report: fault.report.clone(),
        })
    }

    /// Seed, turn, kind and message.
    pub fn text(&self) -> String {
        let FaultPlace { turn, is_after_game, .. } = self.place;
        let when = if is_after_game { "after the game".to_owned() } else { format!("turn {turn}") };
        format!("seed {}, {when}: {}: {}", self.game_seed, self.report.fault, self.report.message)
    }
}

/// Reason why no more pairs are played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// The test has a result.
    Decided,
    /// The maximum number of games was played.
    Limit,
    /// The user pressed CTRL-C.
    Interrupted,
}

impl CompareJob<'_> {
    /// Plays pairs until `each` has enough. Calls `end` as soon as that is known, while the last games, which are no longer
    /// needed, may still run.
    pub fn play<E: From<PlayError>>(
        &self,
        interrupted: &AtomicBool,
        mut each: impl FnMut(Pair) -> Result<ControlFlow<()>, E>,
        end: impl FnOnce(StopReason) -> Result<(), E>,
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
                        match receiver.recv_timeout(INTERRUPT_CHECK_INTERVAL) {
                            // CTRL-C may have disturbed this game, so its result is not used.
                            _ if interrupted.load(Ordering::Relaxed) => return Ok(StopReason::Interrupted),
                            Ok((pair, result)) => _ = waiting.insert(pair, result),
                            Err(RecvTimeoutError::Timeout) => {}
                            Err(RecvTimeoutError::Disconnected) => break,
                        }
                        continue;
                    };
                    wanted += 1;
                    if each(result?)?.is_break() {
                        return Ok(StopReason::Decided);
                    }
                }
                Ok(StopReason::Limit)
            };
            let stopped = take();
            stop.store(true, Ordering::Relaxed);
            // Unblocks threads that wait to pass on a result.
            drop(receiver);
            stopped.and_then(end)
        })
    }

    /// CPU cores for the threads, one each; empty if games are not pinned.
    fn cores(&self) -> Vec<usize> {
        let programs = self.lineup.bots.iter().any(|bot| matches!(bot, PlayerSpec::Program(_)));
        let cores = if self.pin && programs { agon_host::pinning::cores() } else { Vec::new() };
        if self.jobs <= cores.len() { cores } else { Vec::new() }
    }

    fn pair(&self, number: u32) -> Result<Pair, PlayError> {
        let mut pair = Pair { sign: 1.0, ..Pair::default() };
        for side in self.lineup.sides(self.seed, number) {
            self.side(number, &side, &mut pair)?;
        }
        Ok(pair)
    }

    /// Plays one game or match of a pair.
    fn side(&self, number: u32, side: &PairGame, pair: &mut Pair) -> Result<(), PlayError> {
        let seed = match_seed(self.seed, number);
        let plan = MatchSetup { settings: &self.settings, seed, seats: &side.seats, assets: &self.assets };
        let mut played = Vec::new();
        self.table
            .play(&plan, 0..self.match_games, &mut hooks_with_recorder(None), &mut |one| played.push(one))?;
        for (who, seat) in [side.new, side.old].into_iter().enumerate() {
            if let Some(seat) = seat {
                self.count(&played, seat, who, pair);
                let known = pair.first_fault[who].take();
                pair.first_fault[who] = known.or_else(|| FirstFault::find(&played, side, seed, seat));
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
        // A fault has ended the match. The games that were not played count as lost or won.
        let is_lost = played.last().is_some_and(|one| one.loses_match(seat));
        let rest = if is_lost { 0.0 } else { 1.0 };
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
        }
    }
}
