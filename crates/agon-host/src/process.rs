//! A running program that is asked and answers: on a clock, held still in between, and gone without a trace when it is
//! no longer needed.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agon_core::AnswerTimes;

use crate::pipes::BotPipes;
use crate::poller::{self, SharedPipes, lock};
use crate::program::{Program, start};
use crate::stderr_pipe::printable;
use crate::timing::{StealTime, is_late};

pub use crate::connection::{AnswerError, BotConnection};
pub use crate::pipes::LONGEST_LINE;
pub use crate::stderr_pipe::LOG_KEPT;

/// A program that is past its limit gets so much more before it is stopped: what the kernel says of its waiting for
/// a processor is behind by the stretch it waits for now. An answer that comes in this time is judged by the clock.
pub(crate) const LATE_GRACE: Duration = Duration::from_millis(50);
/// On a machine so loaded that nothing moves, an answer is given up after so many times its limit...
pub(crate) const OVERLOAD_FACTOR: u32 = 20;
/// ...and this.
pub(crate) const OVERLOAD_EXTRA: Duration = Duration::from_secs(5);
/// A program that closed its stdout has so long to end by itself, so that its exit status is known.
const TO_END: Duration = Duration::from_millis(200);
/// How often it is looked whether a program has ended by itself.
const TO_LOOK: Duration = Duration::from_millis(1);
/// Shown of an offending line.
const SHOWN: usize = 200;

/// A program while it runs. Dropped, it is killed with all processes of its group, and waited for.
#[derive(Debug)]
pub struct LineProcess {
    id: u32,
    wire: SharedPipes,
    limit: Duration,
    /// What the machine had lost to others when it was asked.
    stolen: StealTime,
}

impl LineProcess {
    /// Starts a program. `environment` is added to its own; `hold` keeps it still whenever it is not asked.
    pub fn start(program: &Program, environment: &[(&str, String)], hold: bool) -> io::Result<Self> {
        let handle = start(program, environment)?;
        let id = handle.id();
        let wire = Arc::new(Mutex::new(BotPipes::new(handle, hold)?));
        Ok(Self { id, wire, limit: Duration::MAX, stolen: StealTime::default() })
    }

    fn look_at_arrival(&mut self) -> (AnswerTimes, Result<(), AnswerError>) {
        let wire = lock(&self.wire);
        let times = wire.times(wire.arrived().unwrap_or_else(|| wire.mark()));
        let times = self.stolen.subtract_from(times, self.limit);
        if let Some(line) = wire.too_long() {
            return (times, Err(AnswerError::TooLong(shown(line))));
        }
        (times, Ok(()))
    }

    /// How it ended. It is killed if only its stdout was closed.
    fn how_it_ended(&mut self) -> String {
        let until = Instant::now() + TO_END;
        lock(&self.wire).resume();
        let mut ended = lock(&self.wire).handle().ended();
        while ended.is_none() && Instant::now() < until {
            std::thread::sleep(TO_LOOK);
            let mut wire = lock(&self.wire);
            wire.log();
            ended = wire.handle().ended();
        }
        self.kill();
        let words = ended.unwrap_or_else(|| "closed its standard output".to_owned());
        match lock(&self.wire).unfinished() {
            [] => words,
            rest => format!("{words}, after a line without an end: {}", shown(rest)),
        }
    }

    /// Ends it and all it has started, at once, and waits until it is gone.
    pub fn kill(&mut self) {
        poller::forget(&self.wire);
        lock(&self.wire).handle().kill();
    }
}

impl BotConnection for LineProcess {
    fn id(&self) -> u32 {
        self.id
    }

    fn unsolicited_output(&mut self) -> Option<String> {
        lock(&self.wire).stray().map(|bytes| shown(&bytes))
    }

    fn ask(&mut self, text: &[u8], lines: usize, limit: Duration) {
        self.limit = limit;
        self.stolen = StealTime::lately();
        lock(&self.wire).ask(text, lines);
        poller::watch(&self.wire);
    }

    fn wait(&mut self) -> (AnswerTimes, Result<(), AnswerError>) {
        let asked = lock(&self.wire).asked();
        let patience =
            asked.at.checked_add(self.limit.saturating_mul(OVERLOAD_FACTOR).saturating_add(OVERLOAD_EXTRA));
        let mut until = asked.at.checked_add(self.limit);
        let far = Duration::from_hours(1);
        loop {
            let now = Instant::now();
            if poller::wait(&self.wire, until.unwrap_or(now + far)) {
                poller::forget(&self.wire);
                return self.look_at_arrival();
            }
            let (times, late) = {
                let wire = lock(&self.wire);
                let times = self.stolen.subtract_from(wire.times(wire.mark()), self.limit);
                (times, is_late(times, self.limit, LATE_GRACE, || wire.stands_ready()))
            };
            if late || patience.is_some_and(|end| now >= end) {
                poller::forget(&self.wire);
                return (times, Err(AnswerError::Late));
            }
            let left = self.limit.saturating_add(LATE_GRACE).saturating_sub(times.charged());
            until = Instant::now().checked_add(left + Duration::from_millis(1));
        }
    }

    fn line(&mut self) -> Result<Vec<u8>, AnswerError> {
        let line = lock(&self.wire).line();
        line.ok_or_else(|| AnswerError::Ended(self.how_it_ended()))
    }

    fn log(&mut self) -> String {
        lock(&self.wire).log()
    }

    fn printed(&mut self) -> String {
        lock(&self.wire).printed()
    }

    fn shut_down(mut self: Box<Self>, text: &[u8], time: Duration) {
        let until = Instant::now() + time;
        lock(&self.wire).ask_to_end(text);
        while Instant::now() < until && lock(&self.wire).handle().ended().is_none() {
            lock(&self.wire).hang_up();
            // Its stdout may be closed long before it ends.
            if poller::wait(&self.wire, until.min(Instant::now() + TO_LOOK)) {
                std::thread::sleep(TO_LOOK);
            }
        }
        self.kill();
    }
}

impl Drop for LineProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A stranger's line as it is shown: short, on one line, nothing in it that a terminal would obey.
pub fn shown(bytes: &[u8]) -> String {
    let text = printable(bytes.get(..4 * SHOWN).unwrap_or(bytes)).replace('\n', "\\n").replace('\t', "\\t");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("`{}`... ({} bytes)", &text[..end], bytes.len()),
        None => format!("`{text}`"),
    }
}

/// A stranger's words as they are kept: at most 8 KiB of the end, nothing in them that a terminal would obey.
pub(crate) fn shown_words(words: &str) -> String {
    let start = words.len().saturating_sub(LOG_KEPT);
    let kept = words.char_indices().map(|(i, _)| i).find(|i| *i >= start).map_or("", |i| &words[i..]);
    printable(kept.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offending_line_is_shown_short_and_harmless() {
        assert_eq!(shown(b"LEFT"), "`LEFT`");
        assert_eq!(shown(b"a\x1b[2J\nb\0"), "`a\\u{1b}[2J\\nb\\u{0}`");
        let long = shown(&[b'x'; 5000]);
        assert!(long.ends_with("x`... (5000 bytes)") && long.len() < 230, "{long}");
    }
}
