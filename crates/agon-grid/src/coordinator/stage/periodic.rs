//! What is looked at from time to time: lost jobs, a queue that is gone, checks that nobody can do, a stop.

use std::time::{Duration, Instant};

use agon_league::{Entrant, MatchKey};
use agon_runner::ActiveMatch;

use super::{AGAIN, StageCoordinator, LOOK_UP};
use crate::blobs::Blobs;
use crate::coordinator::listener::StageEvent;
use crate::coordinator::job_queue::QueueCounts;

/// Checks that nobody is there for are given up when nobody came for so long.
const CHECK_GIVE_UP_AFTER: Duration = Duration::from_secs(5);
/// The same while nobody is there at all: a coordinator that was started again, or a network that was cut, has workers soon.
const CHECK_GIVE_UP_AFTER_NO_WORKERS: Duration = Duration::from_secs(30);
/// A job that was published so many looks at the queue ago is asked for by name, whatever the counts say.
const LONG_AGO: u32 = 4;
/// A server that is asked answers in this time, or is asked again later.
const ANSWER: Duration = Duration::from_secs(10);

impl StageCoordinator<'_> {
    /// So often what is waited for is compared with what the queue holds.
    fn compare_every(&self) -> Duration {
        self.fleet.options.lease / 2
    }

    /// Looks up.
    pub(super) fn run_periodic_tasks(&mut self) {
        self.recreate_streams();
        if self.looked.elapsed() < LOOK_UP {
            return;
        }
        self.looked = Instant::now();
        self.show_boards();
        if !self.postponed.is_empty() {
            self.try_postponed();
        }
        if self.queue.is_stopped() && self.stopping.is_none() {
            self.stop();
        }
        if !self.checks.is_empty() {
            self.give_up_hopeless();
        }
        if self.compared.elapsed() >= self.compare_every() && self.broken.is_none() {
            self.compared = Instant::now();
            let (line, said) = (self.fleet.line.clone(), self.shared().said.clone());
            self.shared().runtime.spawn(async move {
                let held = line.held().await.ok();
                let _ = said.send(StageEvent::Held(held));
            });
        }
    }

    /// Checks that nobody is there for are not waited for any more.
    fn give_up_hopeless(&mut self) {
        let at_last = self.queue.left() == 0 && self.is_all_kept();
        let mut company = self.shared().company();
        let patience = if company.cores() == 0 { CHECK_GIVE_UP_AFTER_NO_WORKERS } else { CHECK_GIVE_UP_AFTER };
        if company.stable_for() < patience {
            return;
        }
        let (gone, differ) = self.checks.give_up_hopeless(&company, at_last);
        drop(company);
        if gone > 0 {
            self.fleet.memory().figures.unchecked += gone;
        }
        for (number, workers) in differ {
            self.dispute(number, workers);
        }
    }

    /// Compares what is waited for with what the queue holds.
    pub(super) fn compare(&mut self, held: Option<QueueCounts>) {
        let Some(held) = held else {
            // The queue may be gone with the server's storage; if it is not, mending it does no harm.
            self.broken = self.broken.or(Some(Instant::now()));
            return;
        };
        {
            let mut memory = self.fleet.memory();
            (memory.figures.waiting, memory.figures.out) = (held.waiting, held.taken);
        }
        let mut old = self.published_before(self.compare_every());
        if held.waiting + held.taken >= old.len() as u64 {
            // Enough is there, but perhaps not of ours: what was given up stays in the queue when nobody may take it, and would hide what is lost.
            old = self.published_before(self.compare_every() * LONG_AGO);
        }
        if old.is_empty() {
            return;
        }
        let (line, said) = (self.fleet.line.clone(), self.shared().said.clone());
        self.shared().runtime.spawn(async move {
            if let Ok(missing) = line.missing(old).await {
                let _ = said.send(StageEvent::Lost(missing));
            }
        });
    }

    /// Jobs that are in the queue for longer than this, as far as is known, and their places there.
    fn published_before(&self, age: Duration) -> Vec<(String, u64)> {
        let jobs = self.jobs.values().filter(|out| out.since.elapsed() > age);
        jobs.filter_map(|out| Some((out.job.id.clone(), out.place?))).collect()
    }

    /// Makes again what is gone, and publishes what could not be.
    fn recreate_streams(&mut self) {
        let Some(since) = self.broken else { return };
        if since.elapsed() < AGAIN || !self.shared().is_connected() {
            return;
        }
        self.broken = Some(Instant::now());
        let fleet = self.fleet;
        let making = async {
            fleet.line.make().await?;
            let blobs = Blobs::make(&fleet.shared.link, fleet.options.blob_bytes).await?;
            self.kit.put(&fleet.terms, self.hall, &blobs, None).await
        };
        let made = fleet.shared.runtime.block_on(async { tokio::time::timeout(ANSWER, making).await });
        if !matches!(made, Ok(Ok(_))) {
            return;
        }
        self.broken = None;
        self.compared = Instant::now().checked_sub(self.compare_every()).unwrap_or(self.compared);
        let waiting = |out: &mut super::PublishedJob| out.again.take().map(|_| out.job.clone());
        let waiting: Vec<_> = self.jobs.values_mut().filter_map(waiting).collect();
        for job in waiting {
            self.send(&job);
        }
    }

    /// A worker misses a file.
    pub(super) fn upload_again(&mut self, hash: &str) {
        let fleet = self.fleet;
        let putting = async {
            let blobs = Blobs::make(&fleet.shared.link, fleet.options.blob_bytes).await?;
            if self.kit.put(&fleet.terms, self.hall, &blobs, Some(hash)).await? {
                return Ok(());
            }
            let found = self.baggage.as_ref().map_or(Ok(None), |all| all.again(self.hall, hash))?;
            if let Some(bytes) = found {
                blobs.put(&bytes).await?;
            }
            Ok::<(), crate::GridError>(())
        };
        let put = fleet.shared.runtime.block_on(async { tokio::time::timeout(ANSWER, putting).await });
        if let Ok(Err(error)) = put {
            self.shared().tell(&format!("a file cannot be put where workers find it: {error}"));
        }
    }

    /// Somebody asked for a stop: what nobody has begun is taken back, what is being played is waited for.
    fn stop(&mut self) {
        let line = &self.fleet.line;
        let asking = async {
            let held = line.held().await;
            let _ = line.purge().await;
            held
        };
        let asked = self.shared().is_connected();
        let held = self.shared().runtime.block_on(async {
            let patience = if asked { ANSWER } else { Duration::ZERO };
            tokio::time::timeout(patience, asking).await
        });
        let playing = held.ok().and_then(Result::ok).map_or(0, |held| held.taken);
        self.stopping = Some((Instant::now() + self.fleet.options.last_results, playing));
    }

    /// One of those who were playing has handed something in.
    pub(super) fn one_less_to_wait_for(&mut self) {
        if let Some((_, playing)) = &mut self.stopping {
            *playing = playing.saturating_sub(1);
        }
    }

    /// What workers say they play.
    fn show_boards(&self) {
        let (cup, stage) = (&self.shared().cup.id, self.stage);
        let company = self.shared().company();
        let mut playing = Vec::new();
        for (_, person) in company.present() {
            let (at, boards) = &person.boards;
            for board in boards.iter().filter(|one| one.competition_id == *cup && one.key.1 == stage) {
                let (phase, stage, number) = board.key;
                let since = at.checked_sub(Duration::from_millis(board.for_ms)).unwrap_or(*at);
                let seats = board.seats.iter().map(|seat| Entrant(*seat)).collect();
                playing.push(ActiveMatch { key: MatchKey { phase, stage, number }, seats, since });
            }
        }
        drop(company);
        self.boards.show(playing);
    }
}
