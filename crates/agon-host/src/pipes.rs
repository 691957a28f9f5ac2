//! The three pipes of a running program: unsent input, received output, and the end of its stderr.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use agon_core::{AnswerTimes, MeterKind};
use rustix::event::{PollFd, PollFlags};

use crate::handle::{Pipes, ProcessHandle};
use crate::stderr_pipe::{StderrPipe, read_into};
use crate::timing::{CpuMeter, Usage, UsageSample, since_asked, thread_wait};

/// Maximum length of a line that a bot writes.
pub const MAX_LINE_BYTES: usize = 64 * 1024;
/// Maximum number of bytes read ahead. It exceeds all lines that are expected at once, so the buffer holds either those lines
/// or one that is too long.
const MAX_READ_AHEAD_BYTES: usize = 4 * (MAX_LINE_BYTES + 1);
/// Value of `wanted` when the program's exit is expected, whatever it writes.
const UNTIL_EXIT: usize = usize::MAX;

/// The pipes of one program. No method blocks.
#[derive(Debug)]
pub struct BotPipes {
    handle: Box<dyn ProcessHandle>,
    stdin: Option<OwnedFd>,
    stdout: Option<OwnedFd>,
    log: StderrPipe,
    meter: CpuMeter,
    /// Its usage at its last answer, or at its start. What it uses until the next request is charged, too.
    used: Usage,
    unsent: Vec<u8>,
    sent: usize,
    lines: Lines,
    /// The last complete line of a program that was asked to end.
    last_line: Option<Vec<u8>>,
    /// Whether the program is stopped as soon as it has written the expected lines.
    hold: bool,
    stopped: bool,
    wanted: usize,
    asked: UsageSample,
    /// The earliest time at which the request may have been sent.
    asked_first: Instant,
    empty_at: Instant,
    /// This thread's wait for a processor up to that time.
    empty_wait: Duration,
    arrived: Option<UsageSample>,
}

/// A descriptor of [`BotPipes`] in a call of `poll`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PollSource {
    /// stdin, ready for more input.
    In,
    /// stdout.
    Out,
    /// stderr.
    Log,
    /// The exit of the program.
    Exit,
}

impl BotPipes {
    /// The pipes of a program that was just started.
    pub fn new(mut handle: Box<dyn ProcessHandle>, hold: bool) -> io::Result<Self> {
        let Pipes { stdin, stdout, stderr } = handle.take_pipes();
        for pipe in [&stdin, &stdout, &stderr].into_iter().flatten() {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        let meter = CpuMeter::of_bot(handle.id(), handle.group(), None, false);
        Ok(Self {
            used: meter.read(),
            meter,
            handle,
            stdin,
            stdout,
            log: StderrPipe::new(stderr),
            unsent: Vec::new(),
            sent: 0,
            lines: Lines::default(),
            last_line: None,
            hold,
            stopped: false,
            wanted: 0,
            asked: UsageSample { at: Instant::now(), usage: Usage::default() },
            asked_first: Instant::now(),
            empty_at: Instant::now(),
            empty_wait: Duration::ZERO,
            arrived: None,
        })
    }

    /// Sends text, expects this number of further lines and starts the clock.
    pub fn ask(&mut self, text: &[u8], lines: usize) {
        let waited = thread_wait();
        self.asked = UsageSample { at: Instant::now(), usage: self.used };
        self.asked_first = self.asked.at;
        self.wanted = lines;
        self.arrived = None;
        self.unsent.extend_from_slice(text);
        self.send();
        self.resume();
        // The bot is not charged while this thread itself waits for a processor before it sends.
        self.empty_wait = thread_wait();
        self.asked.at += self.empty_wait.saturating_sub(waited);
        self.empty_at = self.asked.at;
        self.record_arrival(Duration::MAX);
    }

    /// Sends a last text and expects the program to end.
    pub fn ask_to_end(&mut self, text: &[u8]) {
        self.hold = false;
        self.ask(text, UNTIL_EXIT);
    }

    /// When the clock was started.
    pub fn asked(&self) -> UsageSample {
        self.asked
    }

    /// When everything expected had arrived, or the program had ended.
    pub fn arrived(&self) -> Option<UsageSample> {
        self.arrived
    }

    /// The times from the request, which had this limit, until a sample.
    pub fn times(&self, until: UsageSample, limit: Duration) -> AnswerTimes {
        since_asked(self.asked, self.asked_first, until, limit)
    }

    /// Whether the program runs or waits for a processor now.
    pub fn is_runnable(&self) -> bool {
        self.meter.is_runnable() && !self.meter.has_children()
    }

    /// The current time and the program's usage.
    pub fn sample(&self) -> UsageSample {
        self.meter.sample()
    }

    /// How its CPU time is measured. A program without a sandbox can have other processes, of which only those that run are counted.
    pub fn meter(&self) -> MeterKind {
        if self.handle.is_sandboxed() { self.meter.kind() } else { MeterKind::RunningProcesses }
    }

    /// The next line that has arrived.
    pub fn line(&mut self) -> Option<Vec<u8>> {
        self.lines.take()
    }

    /// The last line that a program wrote which was asked to end.
    pub fn take_last_line(&mut self) -> Option<Vec<u8>> {
        self.read_out();
        self.record_arrival(Duration::MAX);
        self.last_line.take()
    }

    /// Output that was not asked for, if there is any.
    pub fn unsolicited(&mut self) -> Option<Vec<u8>> {
        self.read_out();
        if self.lines.bytes.is_empty() { None } else { Some(self.lines.take_all()) }
    }

    /// The beginning of a line that is longer than allowed, if there is one.
    pub fn too_long(&self) -> Option<&[u8]> {
        self.lines.too_long()
    }

    /// The output after the last complete line.
    pub fn unfinished(&self) -> &[u8] {
        &self.lines.bytes
    }

    /// The end of stderr, sanitised.
    pub fn log(&mut self) -> String {
        self.log.tail()
    }

    /// The stderr output since the last call, sanitised.
    pub fn printed(&mut self) -> String {
        self.log.printed()
    }

    /// Closes the program's stdin when everything is sent.
    pub fn close_stdin(&mut self) {
        if self.unsent.is_empty() {
            self.stdin = None;
        }
    }

    /// The descriptors to poll, with their events.
    pub fn streams(&self) -> impl Iterator<Item = (PollSource, PollFd<'_>)> {
        let waits = self.arrived.is_none();
        let to_send = if self.sent < self.unsent.len() { self.stdin.as_ref() } else { None };
        let out = if waits { self.stdout.as_ref() } else { None };
        let exit = (waits && self.stdout.is_some()).then(|| self.handle.exit());
        [
            on(PollSource::In, to_send.map(|fd| fd.as_fd()), PollFlags::OUT),
            on(PollSource::Out, out.map(|fd| fd.as_fd()), PollFlags::IN),
            on(PollSource::Log, self.log.fd(), PollFlags::IN),
            on(PollSource::Exit, exit, PollFlags::IN),
        ]
        .into_iter()
        .flatten()
    }

    /// Handles a descriptor that is ready. This thread could not check for the duration `unseen`, so the data may have arrived up
    /// to that much earlier.
    pub fn serve(&mut self, stream: PollSource, unseen: Duration) {
        match stream {
            PollSource::In => self.send(),
            PollSource::Log => self.log.read(),
            PollSource::Out => self.read_out(),
            PollSource::Exit => {
                self.read_out();
                self.stdout = None;
            }
        }
        self.record_arrival(unseen);
    }

    /// Records that nothing was ready at this time.
    pub fn record_nothing_ready(&mut self, now: Instant, waited: Duration) {
        if self.arrived.is_none() {
            self.empty_at = now;
            self.empty_wait = waited;
        }
    }

    /// If everything expected has arrived, records the time and stops the program.
    fn record_arrival(&mut self, unseen: Duration) {
        if self.wanted == UNTIL_EXIT {
            while let Some(line) = self.lines.take() {
                self.last_line = Some(line).filter(|line| line.len() <= MAX_LINE_BYTES);
            }
            if self.too_long().is_some() {
                self.lines.take_all();
            }
        }
        let complete = self.lines.has(self.wanted) || self.too_long().is_some() || self.stdout.is_none();
        if self.arrived.is_some() || !complete {
            return;
        }
        let mut sample = self.meter.sample();
        self.used = sample.usage;
        // Between the last check and this sample this thread may have waited for a processor, not only in `poll`.
        let unseen = unseen.max(thread_wait().saturating_sub(self.empty_wait));
        // The data arrived while this thread could not check. Charge only what is certain: it had not arrived at the last check, and
        // the bot has used this much CPU time.
        let used = sample.since(self.asked);
        let earliest = sample.at.checked_sub(unseen).unwrap_or(self.empty_at).max(self.empty_at);
        sample.at = sample.at.min(earliest.max(self.asked.at + used.cpu + used.wait));
        self.arrived = Some(sample);
        if self.hold {
            self.handle.pause();
            self.stopped = true;
        }
    }

    /// Continues the program if it was stopped.
    pub fn resume(&mut self) {
        if std::mem::take(&mut self.stopped) {
            self.handle.resume();
        }
    }

    /// The program's handle.
    pub fn handle(&mut self) -> &mut dyn ProcessHandle {
        self.handle.as_mut()
    }

    fn send(&mut self) {
        while let (Some(stdin), Some(rest)) = (&self.stdin, self.unsent.get(self.sent..))
            && !rest.is_empty()
        {
            match rustix::io::write(stdin, rest) {
                Ok(count) => self.sent += count,
                Err(rustix::io::Errno::AGAIN) => return,
                Err(rustix::io::Errno::INTR) => {}
                // The program no longer reads. Its missing answer shows that later.
                Err(_) => self.stdin = None,
            }
        }
        self.unsent.clear();
        self.sent = 0;
    }

    fn read_out(&mut self) {
        while self.lines.bytes.len() < MAX_READ_AHEAD_BYTES
            && let Some(stdout) = &self.stdout
        {
            match read_into(stdout, &mut self.lines.bytes) {
                Ok(0) => self.stdout = None,
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                Err(_) => self.stdout = None,
            }
        }
    }
}

fn on(stream: PollSource, fd: Option<BorrowedFd<'_>>, flags: PollFlags) -> Option<(PollSource, PollFd<'_>)> {
    fd.map(|fd| (stream, PollFd::from_borrowed_fd(fd, flags)))
}

/// Bytes split into lines.
#[derive(Default, Debug)]
struct Lines {
    bytes: Vec<u8>,
}

impl Lines {
    /// Whether this number of lines is complete.
    fn has(&self, count: usize) -> bool {
        count == 0 || self.bytes.iter().filter(|&&byte| byte == b'\n').nth(count - 1).is_some()
    }

    /// Removes the first line and returns it without its line end.
    fn take(&mut self) -> Option<Vec<u8>> {
        let end = self.bytes.iter().position(|&byte| byte == b'\n')?;
        let mut line: Vec<u8> = self.bytes.drain(..=end).collect();
        line.pop();
        Some(line)
    }

    fn take_all(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    fn too_long(&self) -> Option<&[u8]> {
        self.bytes.split(|&byte| byte == b'\n').find(|line| line.len() > MAX_LINE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_split_complete_lines_and_keep_the_rest() {
        let mut lines = Lines { bytes: b"one\n\ntwo".to_vec() };
        assert!(lines.has(2) && !lines.has(3));
        assert_eq!(lines.take().unwrap(), b"one");
        assert_eq!(lines.take().unwrap(), b"");
        assert_eq!(lines.take(), None);
        assert_eq!(lines.take_all(), b"two");
    }

    #[test]
    fn line_of_64_kib_is_accepted_and_a_longer_one_is_not() {
        let mut lines = Lines { bytes: vec![b'x'; MAX_LINE_BYTES] };
        assert!(lines.too_long().is_none());
        lines.bytes.push(b'\n');
        assert!(lines.too_long().is_none());
        lines.bytes[MAX_LINE_BYTES] = b'x';
        assert_eq!(lines.too_long().map(<[u8]>::len), Some(MAX_LINE_BYTES + 1));
    }
}
