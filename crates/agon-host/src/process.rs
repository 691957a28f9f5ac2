//! A running program that answers requests: on a clock, stopped between requests, and removed completely at the end.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agon_core::sanitize::printable;
use agon_core::{AnswerTimes, Fault, FaultReport, MeterKind};

use crate::pipes::BotPipes;
use crate::poller::{self, SharedPipes, lock};
use crate::program::{Program, start};
use crate::timing::{StealTime, is_late};

pub use crate::connection::{AnswerError, BotConnection, LastWords};
pub use crate::pipes::MAX_LINE_BYTES;
pub use crate::stderr_pipe::MAX_STDERR_TAIL_BYTES;

/// Extra time for a program that is past its limit, before it is killed. The kernel reports time waiting for a processor only
/// when the wait ends. The clock judges an answer that arrives in this time.
pub(crate) const LATE_GRACE: Duration = Duration::from_millis(50);
/// On an overloaded machine, the engine gives up after this multiple of the limit...
pub(crate) const OVERLOAD_FACTOR: u32 = 20;
/// ...plus this time.
pub(crate) const OVERLOAD_EXTRA: Duration = Duration::from_secs(5);
/// Time that a program has to end after it closed its stdout, so that its exit status is known.
const EXIT_TIMEOUT: Duration = Duration::from_millis(200);
/// Interval between checks whether a program has ended.
const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(1);
/// Maximum number of characters shown of a bad line.
const MAX_QUOTED_CHARS: usize = 200;

/// A running program. Dropping it kills all processes of its group and waits for them.
#[derive(Debug)]
pub struct LineProcess {
    id: u32,
    pipes: SharedPipes,
    limit: Duration,
    /// Steal time of the machine at the request.
    stolen: StealTime,
    /// Whether the sandbox refuses processes that it starts.
    threads_only: bool,
}

/// What programs write to stderr when the sandbox refuses a process: Python, Java, shells, Node.
const REFUSED_PROCESS: [&str; 3] = ["Operation not permitted", "Cannot fork", "EPERM"];

impl LineProcess {
    /// Starts a program. `environment` is added to its own. `hold` stops it between requests.
    pub fn start(program: &Program, environment: &[(&str, String)], hold: bool) -> io::Result<Self> {
        let handle = start(program, environment)?;
        let id = handle.id();
        let pipes = Arc::new(Mutex::new(BotPipes::new(handle, hold)?));
        let threads_only = program.sandboxed && program.threads_only;
        Ok(Self { id, pipes, limit: Duration::MAX, stolen: StealTime::default(), threads_only })
    }

    fn arrival_result(&mut self) -> (AnswerTimes, Result<(), AnswerError>) {
        let pipes = lock(&self.pipes);
        let times = pipes.times(pipes.arrived().unwrap_or_else(|| pipes.sample()), self.limit);
        let times = self.stolen.subtract_from(times, self.limit);
        if let Some(line) = pipes.too_long() {
            return (times, Err(AnswerError::TooLong(quote_line(line))));
        }
        (times, Ok(()))
    }

    /// Describes how the program ended. Kills it if it only closed its stdout.
    fn how_it_ended(&mut self) -> String {
        let until = Instant::now() + EXIT_TIMEOUT;
        lock(&self.pipes).resume();
        let mut ended = lock(&self.pipes).handle().ended();
        while ended.is_none() && Instant::now() < until {
            std::thread::sleep(EXIT_POLL_INTERVAL);
            let mut pipes = lock(&self.pipes);
            pipes.log();
            ended = pipes.handle().ended();
        }
        self.kill();
        let words = ended.unwrap_or_else(|| "closed its standard output".to_owned());
        match lock(&self.pipes).unfinished() {
            [] => words,
            rest => format!("{words}, after a line without an end: {}", quote_line(rest)),
        }
    }

    /// Kills the program and everything it has started, and waits until they are gone.
    pub fn kill(&mut self) {
        poller::forget(&self.pipes);
        lock(&self.pipes).handle().kill();
    }
}

impl BotConnection for LineProcess {
    fn id(&self) -> u32 {
        self.id
    }

    fn meter(&self) -> MeterKind {
        lock(&self.pipes).meter()
    }

    fn unsolicited_output(&mut self) -> Option<String> {
        lock(&self.pipes).unsolicited().map(|bytes| quote_line(&bytes))
    }

    fn ask(&mut self, text: &[u8], lines: usize, limit: Duration) {
        self.limit = limit;
        self.stolen = StealTime::recent();
        lock(&self.pipes).ask(text, lines);
        poller::watch(&self.pipes);
    }

    fn wait(&mut self) -> (AnswerTimes, Result<(), AnswerError>) {
        let asked = lock(&self.pipes).asked();
        let give_up_at =
            asked.at.checked_add(self.limit.saturating_mul(OVERLOAD_FACTOR).saturating_add(OVERLOAD_EXTRA));
        let mut until = asked.at.checked_add(self.limit);
        let far = Duration::from_hours(1);
        loop {
            let now = Instant::now();
            if poller::wait(&self.pipes, until.unwrap_or(now + far)) {
                poller::forget(&self.pipes);
                return self.arrival_result();
            }
            let (times, late) = {
                let pipes = lock(&self.pipes);
                let times = self.stolen.subtract_from(pipes.times(pipes.sample(), self.limit), self.limit);
                (times, is_late(times, self.limit, LATE_GRACE, || pipes.is_runnable()))
            };
            if late || give_up_at.is_some_and(|end| now >= end) {
                poller::forget(&self.pipes);
                return (times, Err(AnswerError::Late));
            }
            let left = self.limit.saturating_add(LATE_GRACE).saturating_sub(times.charged());
            until = Instant::now().checked_add(left + Duration::from_millis(1));
        }
    }

    fn line(&mut self) -> Result<Vec<u8>, AnswerError> {
        let line = lock(&self.pipes).line();
        line.ok_or_else(|| AnswerError::Ended(self.how_it_ended()))
    }

    fn log(&mut self) -> String {
        lock(&self.pipes).log()
    }

    fn printed(&mut self) -> String {
        lock(&self.pipes).printed()
    }

    fn report(&mut self, fault: Fault, says: &str) -> FaultReport {
        let stderr = self.log();
        let refused = self.threads_only && REFUSED_PROCESS.iter().any(|text| stderr.contains(text));
        let hint =
            if refused { "; bots of this game cannot start other processes, only threads" } else { "" };
        FaultReport { fault, message: format!("{says}{hint}"), stderr }
    }

    fn shut_down(mut self: Box<Self>, text: &[u8], time: Duration) -> LastWords {
        let until = Instant::now() + time;
        lock(&self.pipes).ask_to_end(text);
        while Instant::now() < until && lock(&self.pipes).handle().ended().is_none() {
            lock(&self.pipes).close_stdin();
            // A program may close its stdout long before it ends.
            if poller::wait(&self.pipes, until.min(Instant::now() + EXIT_POLL_INTERVAL)) {
                std::thread::sleep(EXIT_POLL_INTERVAL);
            }
        }
        self.kill();
        let mut pipes = lock(&self.pipes);
        LastWords { line: pipes.take_last_line(), printed: pipes.printed() }
    }
}

impl Drop for LineProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// An untrusted line for display: short, on one line, without terminal control characters.
pub fn quote_line(bytes: &[u8]) -> String {
    let text = printable(bytes.get(..4 * MAX_QUOTED_CHARS).unwrap_or(bytes))
        .replace('\n', "\\n")
        .replace('\t', "\\t");
    match text.char_indices().nth(MAX_QUOTED_CHARS) {
        Some((end, _)) => format!("`{}`... ({} bytes)", &text[..end], bytes.len()),
        None => format!("`{text}`"),
    }
}

/// Untrusted text for storage: at most the last 8 KiB, without terminal control characters.
pub(crate) fn sanitize_text(words: &str) -> String {
    let start = words.len().saturating_sub(MAX_STDERR_TAIL_BYTES);
    let kept = words.char_indices().map(|(i, _)| i).find(|i| *i >= start).map_or("", |i| &words[i..]);
    printable(kept.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_line_is_short_and_sanitized() {
        assert_eq!(quote_line(b"LEFT"), "`LEFT`");
        assert_eq!(quote_line(b"a\x1b[2J\nb\0"), "`a\\u{1b}[2J\\nb\\u{0}`");
        let long = quote_line(&[b'x'; 5000]);
        assert!(long.ends_with("x`... (5000 bytes)") && long.len() < 230, "{long}");
    }
}
