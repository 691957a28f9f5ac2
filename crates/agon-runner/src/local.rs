//! Plays the matches of a stage on this machine's cores.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Instant;

use agon_core::record::Recorder;
use agon_engine::Seating;
use agon_engine::table::PlayError;
use agon_league::MatchKey;
use agon_store::FinishedMatch;

use crate::hall::Hall;
use crate::queue::Queue;

/// Lots that were played and wait to be kept. A few are enough to keep the threads busy while the ledger writes.
const WAITING: usize = 64;

/// How matches are spread over the machine.
#[derive(Clone, Copy, Debug)]
pub struct Local {
    /// How many games at once.
    pub jobs: usize,
    /// Whether each game stays on a core of its own, its bots with it, where there are programs to keep apart and cores enough.
    pub pin: bool,
}

/// What a thread hands in.
pub type Lot = Result<Vec<FinishedMatch>, PlayError>;

impl Local {
    /// Plays all the queue holds. `take` gets what was played, in whatever order it comes, until everything was played, the queue
    /// was stopped or `take` fails.
    pub fn play<E: From<PlayError>>(
        self,
        hall: &Hall<'_>,
        stage: u32,
        queue: &Queue<'_>,
        take: impl FnOnce(Receiver<Lot>) -> Result<(), E>,
    ) -> Result<(), E> {
        let cores = self.cores(hall);
        let (sender, receiver) = sync_channel(WAITING);
        thread::scope(|scope| {
            for number in 0..self.jobs.max(1) {
                let (sender, core) = (sender.clone(), cores.get(number).copied());
                scope.spawn(move || {
                    if let Some(core) = core {
                        agon_host::pinning::pin(core);
                    }
                    self.work(hall, stage, queue, &sender);
                });
            }
            drop(sender);
            // When it fails it drops the receiver, and the threads end at their next lot.
            take(receiver)
        })
    }

    /// What one thread does.
    fn work(self, hall: &Hall<'_>, stage: u32, queue: &Queue<'_>, sender: &SyncSender<Lot>) {
        let mut recorder = Recorder::new();
        let mut last = None;
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
                match hall.play(key, &fixture, &mut recorder, None) {
                    Ok(finished) => played.push(finished),
                    Err(error) => {
                        failed = Some(error);
                        break;
                    }
                }
            }
            last = Some(begun.elapsed() / count);
            // What was played counts, whatever came after it.
            let numbers: Vec<u64> = played.iter().map(|one| one.result.key.number).collect();
            let sent = (played.is_empty() || sender.send(Ok(played)).is_ok())
                && failed.is_none_or(|error| sender.send(Err(error)).is_ok() && false);
            numbers.into_iter().for_each(|number| queue.finished(number));
            if !sent {
                return;
            }
        }
    }

    /// A core for each thread; none if they are not to be pinned.
    fn cores(self, hall: &Hall<'_>) -> Vec<usize> {
        let programs = hall.members.iter().any(|one| matches!(one.seating, Seating::Program(_)));
        let cores = if self.pin && programs { agon_host::pinning::cores() } else { Vec::new() };
        if self.jobs <= cores.len() { cores } else { Vec::new() }
    }
}
