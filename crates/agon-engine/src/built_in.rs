//! A house bot as a player: called directly, timed from outside.

use std::cell::Cell;
use std::time::{Duration, Instant};

use agon_core::{Bot, Game, Player, Response, Times};
use rustix::time::{ClockId, clock_gettime};

/// Reading the thread's processor clock is a system call of half a microsecond, twenty times what the
/// wall clock costs. It is read around an answer only for bots whose last answer took longer than this.
/// Below it the wall time stands for the processor time, which a function call that never blocks cannot exceed.
const WORTH_MEASURING: Duration = Duration::from_micros(20);

thread_local! {
    /// The last reading of this thread's processor clock. What an answer used is at most what the
    /// thread used since: enough to clear a bot whose first long answer was long only because the machine stood still.
    static LAST_READING: Cell<Option<Duration>> = const { Cell::new(None) };
}

/// A house bot at a seat.
pub struct BuiltIn<G: Game> {
    bot: Box<dyn Bot<G>>,
    response: Option<Response<G::Answer>>,
    slow: bool,
}

impl<G: Game> BuiltIn<G> {
    /// Seats a bot.
    pub fn new(bot: Box<dyn Bot<G>>) -> Self {
        Self { bot, response: None, slow: false }
    }
}

impl<G: Game> Player<G> for BuiltIn<G> {
    fn begin(&mut self, seed: u64) {
        if LAST_READING.get().is_none() {
            processor_time();
        }
        self.bot.begin(seed);
    }

    #[inline]
    fn ask(&mut self, seen: &G::Observation<'_>, _limit: Duration) {
        let cpu_before = self.slow.then(processor_time);
        let before = Instant::now();
        let answer = self.bot.answer(seen);
        let wall = before.elapsed();
        self.slow = wall > WORTH_MEASURING;
        let cpu = match cpu_before.or_else(|| self.slow.then(|| LAST_READING.get()).flatten()) {
            Some(before) => processor_time().saturating_sub(before).min(wall),
            None => wall,
        };
        // A built-in bot never blocks: when it was not on a processor, it stood in the queue for one.
        let times = Times { wall, cpu, wait: wall.saturating_sub(cpu) };
        self.response = Some(Response { reply: Ok(answer), times });
    }

    #[inline]
    fn answer(&mut self) -> Response<G::Answer> {
        self.response.take().unwrap_or_else(|| Response {
            reply: Err(Box::new(agon_core::FaultReport::new(agon_core::Fault::Crash, "was not asked"))),
            times: Times::default(),
        })
    }

    fn game_over(&mut self) {
        self.bot.game_over();
    }

    fn match_over(&mut self) {
        self.bot.match_over();
    }
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let time = Duration::new(time.tv_sec as u64, time.tv_nsec as u32);
    LAST_READING.set(Some(time));
    time
}
