//! A forked bot as the engine asks it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_core::{AnswerTimes, MeterKind};

use super::ForkedBot;
use super::receiving::{AWAITED, PACKET_BOUND};
use crate::connection::{AnswerError, BotConnection, LastWords};
use crate::process::{LATE_GRACE, OVERLOAD_EXTRA, OVERLOAD_FACTOR, quote_line};
use crate::test_switches::is_off;
use crate::timing::{StealTime, UsageSample, is_late, leads_others};
use crate::zygote::socket;

/// A request that took longer to send was delayed; sending takes microseconds.
const SLOW_SEND_AFTER: Duration = Duration::from_micros(200);

impl BotConnection for ForkedBot {
    fn id(&self) -> u32 {
        self.metered
    }

    fn reads_packed(&self) -> bool {
        true
    }

    fn wait_reports_unsolicited(&self) -> bool {
        !self.forks_calls
    }

    fn unsolicited_output(&mut self) -> Option<String> {
        self.wanted = 0;
        self.receive();
        let unsolicited = self.inbox.pop_front().map(|packet| quote_line(&packet.bytes));
        self.inbox.clear();
        unsolicited
    }

    fn ask(&mut self, text: &[u8], lines: usize, limit: Duration) {
        self.wait_for_call_exit();
        self.limit = limit;
        self.wanted = lines;
        // What it has used since its last answer is charged with this one.
        self.asked = UsageSample { at: Instant::now(), usage: self.used };
        if std::mem::take(&mut self.stopped) {
            let _ = self.process.resume();
        }
        let call = self.open_call(text);
        self.forget();
        let source = Arc::clone(self.source());
        AWAITED.with_borrow_mut(|asked| asked.push(Arc::clone(&source)));
        self.awaited_socket = Some(source);
        self.stolen = StealTime::recent();
        self.asked.at = Instant::now();
        self.asked_first = self.asked.at;
        self.asked_system_time = socket::system_time();
        self.unsolicited = false;
        self.send(text, call.as_ref());
        drop(call);
        // Sending never takes this long. Either this thread had no processor, or the bot has it and works: its CPU time is charged in
        // any case, the rest only from now on.
        let now = Instant::now();
        if now.saturating_duration_since(self.asked_first) > SLOW_SEND_AFTER {
            self.asked.at = now;
        }
    }

    fn mark_game_start(&mut self) {
        self.starts_game = true;
        // Whatever the last game has started ends with it. Its fork itself is just ending.
        if let Some(group) = self.process.group() {
            group.kill_others(&[self.loader(), self.metered]);
        }
    }

    fn meter(&self) -> MeterKind {
        self.meter.kind()
    }

    fn leftover(&self) -> Option<&'static str> {
        // Without a cgroup this takes a millisecond, so it is not done for each game: there the fork has no room then.
        let hidden = || self.process.group().is_none() && leads_others(self.loader());
        self.helper().or_else(|| (self.forks_games && hidden()).then_some("process"))
    }

    fn wait(&mut self) -> (AnswerTimes, Result<(), AnswerError>) {
        let give_up_at = self
            .asked
            .at
            .checked_add(self.limit.saturating_mul(OVERLOAD_FACTOR).saturating_add(OVERLOAD_EXTRA));
        let mut until = self.asked.at.checked_add(self.limit);
        let mut others_first = true;
        self.receive_first();
        loop {
            self.receive();
            if self.has_arrived() {
                break;
            }
            let now = Instant::now();
            let left = until.map_or(Duration::from_hours(1), |until| until.saturating_duration_since(now));
            if left.is_zero() {
                let usage = if self.forks_calls {
                    self.meter.read_single().plus(self.meter.read_children())
                } else {
                    self.meter.read()
                };
                let times = self.times(UsageSample { at: now, usage });
                let ready = || {
                    let meter = &self.meter;
                    if self.forks_calls {
                        meter.has_runnable_child()
                    } else {
                        meter.is_runnable() && !meter.has_children()
                    }
                };
                if is_late(times, self.limit, LATE_GRACE, ready) || give_up_at.is_some_and(|end| now >= end) {
                    self.forget();
                    return (times, Err(AnswerError::Late));
                }
                let left = self.limit.saturating_add(LATE_GRACE).saturating_sub(times.charged());
                until = now.checked_add(left + Duration::from_millis(1));
                continue;
            }
            self.wait_for_event(others_first, left);
            others_first = false;
        }
        self.forget();
        let starts_game = self.starts_game;
        let (times, flags) = self.measure();
        self.pause_if_busy(flags);
        if starts_game && let Some(kind) = self.helper() {
            let how = format!(
                "a {kind} that it started while it was loaded still runs; each game begins with nothing else"
            );
            return (times, Err(AnswerError::Ended(how)));
        }
        if std::mem::take(&mut self.unsolicited) {
            let first = self.inbox.front().map(|packet| quote_line(&packet.bytes));
            return (times, Err(AnswerError::Unsolicited(first.unwrap_or_default())));
        }
        let second = self.inbox.get(self.wanted).filter(|_| self.forks_calls && !is_off(PACKET_BOUND));
        if let Some(excess) = second.map(|packet| quote_line(&packet.bytes)).or_else(|| self.excess.take()) {
            return (times, Err(AnswerError::Unsolicited(excess)));
        }
        if let Some(packet) = self.inbox.iter().find(|packet| packet.cut) {
            return (times, Err(AnswerError::TooLong(quote_line(&packet.bytes))));
        }
        (times, Ok(()))
    }

    fn line(&mut self) -> Result<Vec<u8>, AnswerError> {
        match self.inbox.pop_front() {
            Some(packet) => Ok(packet.bytes),
            None => Err(AnswerError::Ended(self.how_it_ended())),
        }
    }

    fn log(&mut self) -> String {
        self.log.lock().tail()
    }

    fn printed(&mut self) -> String {
        self.log.lock().printed()
    }

    fn shut_down(mut self: Box<Self>, text: &[u8], time: Duration) -> LastWords {
        self.limit = time;
        self.stopped = false;
        let _ = self.process.resume();
        self.send(text, None);
        let until = Instant::now() + time;
        while self.process.wait_for(Some(Duration::from_millis(1))).is_none() && Instant::now() < until {
            self.log.lock().read();
        }
        self.wanted = 1;
        self.receive();
        let line = self.inbox.pop_back().map(|packet| packet.bytes);
        let printed = self.log.lock().printed();
        self.kill();
        LastWords { line, printed }
    }
}
