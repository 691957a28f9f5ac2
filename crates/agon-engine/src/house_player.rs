//! Player for house bots. It calls them directly and measures their time.

use std::cell::Cell;
use std::time::{Duration, Instant};

use agon_core::{AnswerTimes, Bot, Game, Player, Response};
use rustix::time::{ClockId, clock_gettime};

/// Minimum duration of an answer for measuring CPU time around the next one. Reading the thread's CPU clock is a system call
/// of half a microsecond, twenty times the cost of the wall clock. Below this limit the wall time is used as CPU time, which a
/// function call that never blocks cannot exceed.
const MIN_MEASURED_ANSWER: Duration = Duration::from_micros(20);

thread_local! {
    /// Last reading of this thread's CPU clock. An answer used at most the CPU time since then. This protects a bot whose first
    /// long answer was long only because the machine stalled.
    static LAST_CPU_TIME: Cell<Option<Duration>> = const { Cell::new(None) };
}

/// A house bot at a seat.
pub struct HousePlayer<G: Game> {
    bot: Box<dyn Bot<G>>,
    response: Option<Response<G::Answer>>,
    slow: bool,
}

impl<G: Game> HousePlayer<G> {
    /// Creates a player for a bot.
    pub fn new(bot: Box<dyn Bot<G>>) -> Self {
        Self { bot, response: None, slow: false }
    }
}

impl<G: Game> Player<G> for HousePlayer<G> {
    fn begin(&mut self, seed: u64) {
        if LAST_CPU_TIME.get().is_none() {
            thread_cpu_time();
        }
        self.bot.begin(seed);
    }

    #[inline]
    fn ask(&mut self, seen: &G::Observation<'_>, _limit: Duration) {
        let cpu_before = self.slow.then(thread_cpu_time);
        let before = Instant::now();
        let answer = self.bot.answer(seen);
        let wall = before.elapsed();
        self.slow = wall > MIN_MEASURED_ANSWER;
        let cpu = match cpu_before.or_else(|| self.slow.then(|| LAST_CPU_TIME.get()).flatten()) {
            Some(before) => thread_cpu_time().saturating_sub(before).min(wall),
            None => wall,
        };
        // A house bot never blocks: without a CPU it was waiting for one.
        let times = AnswerTimes { wall, cpu, wait: wall.saturating_sub(cpu) };
        self.response = Some(Response { reply: Ok(answer), times });
    }

    #[inline]
    fn answer(&mut self) -> Response<G::Answer> {
        self.response.take().unwrap_or_else(|| Response {
            reply: Err(Box::new(agon_core::FaultReport::new(agon_core::Fault::Crash, "was not asked"))),
            times: AnswerTimes::default(),
        })
    }

    fn game_over(&mut self) -> Option<Box<agon_core::FaultReport>> {
        self.bot.game_over();
        None
    }

    fn match_over(&mut self) -> Option<Box<agon_core::FaultReport>> {
        self.bot.match_over();
        None
    }
}

fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let time = Duration::new(time.tv_sec as u64, time.tv_nsec as u32);
    LAST_CPU_TIME.set(Some(time));
    time
}
