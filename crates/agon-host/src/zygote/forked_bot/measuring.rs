//! What an answer of a forked bot has cost.

use std::time::Instant;

use agon_core::AnswerTimes;

use super::{ForkedBot, PausePolicy};
use crate::timing::{
    CpuMeter, TaskFlags, Usage, UsageSample, has_never_slept, since_asked, usage_of, without_sleep,
    worked_before,
};

impl ForkedBot {
    /// The times of the answer, and the bot's threads and children. Read after the answer was sent, while its sender runs or is a zombie.
    pub(super) fn measure(&mut self) -> (AnswerTimes, TaskFlags) {
        let (sent, sender) = match self.inbox.get(self.wanted.saturating_sub(1)) {
            Some(packet) => (packet.sent, packet.sender),
            None => (Instant::now(), self.metered),
        };
        if std::mem::take(&mut self.starts_game) && sender != self.metered && sender != 0 {
            self.meter = self.meter_of(sender);
            self.metered = sender;
            self.asked.usage = Usage::default();
        }
        if self.forks_calls && !self.expects_turns {
            self.meter.start_over();
        }
        let call = (self.forks_calls && sender != self.metered && sender != 0).then(|| usage_of(sender));
        if let Some(call) = call {
            // Before the look, or the call would count as another process and be charged twice.
            self.meter.add_call(call);
        }
        self.meter.look_if_due();
        let flags = self.task_flags();
        self.used = self.meter.read_with(flags);
        let usage = call.map_or(self.used, |call| self.used.plus(call));
        let at = sent.clamp(self.asked_first, self.asked_first.max(Instant::now()));
        let mut times = self.times(UsageSample { at, usage });
        // Between its start and the first message a bot may work.
        self.works_off_turn |=
            self.expects_turns && worked_before(times, at.saturating_duration_since(self.asked_first));
        // The fork for a call lives only for this call, so its whole life can be examined.
        if times.charged() > self.limit
            && self.forks_calls
            && sender != self.metered
            && has_never_slept(sender)
        {
            times = without_sleep(times);
        }
        (times, flags)
    }

    /// A meter of the process that answers: the bot's process, or its fork for a game.
    pub(super) fn meter_of(&self, answering: u32) -> CpuMeter {
        let is_single = self.hold == PausePolicy::Never;
        CpuMeter::of_bot(answering, self.process.group().cloned(), Some(self.loader()), is_single)
    }

    /// The bot's threads and children, if it can have any.
    pub(super) fn task_flags(&self) -> TaskFlags {
        if self.hold == PausePolicy::Never { TaskFlags::NONE } else { self.meter.task_flags() }
    }

    /// The times from the request until a sample, without steal time.
    pub(super) fn times(&self, until: UsageSample) -> AnswerTimes {
        let times = since_asked(self.asked, self.asked_first, until, self.limit);
        self.stolen.subtract_from(times, self.limit)
    }
}
