//! The three pipes of a running program: what it still has to be sent, what it has written, the end of its log.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use agon_core::AnswerTimes;
use rustix::event::{PollFd, PollFlags};

use crate::handle::{Pipes, ProcessHandle};
use crate::stderr_pipe::{StderrPipe, read_into};
use crate::timing::{CpuMeter, UsageSample, own_wait, since_asked};

/// The longest line a bot may write.
pub const LONGEST_LINE: usize = 64 * 1024;
/// So much is read ahead. More than the longest lines that are ever wanted at once, so that either they or one
/// that is too long are in it.
const READ_AHEAD: usize = 4 * (LONGEST_LINE + 1);
/// Wanted is the program's end, whatever it writes.
const ITS_END: usize = usize::MAX;

/// The pipes of one program. Nothing here blocks.
#[derive(Debug)]
pub struct BotPipes {
    handle: Box<dyn ProcessHandle>,
    stdin: Option<OwnedFd>,
    stdout: Option<OwnedFd>,
    log: StderrPipe,
    meter: CpuMeter,
    unsent: Vec<u8>,
    sent: usize,
    lines: Lines,
    /// Whether it is held still as soon as it has written what was wanted.
    hold: bool,
    held: bool,
    wanted: usize,
    asked: UsageSample,
    /// When the question was on its way at the earliest.
    asked_first: Instant,
    empty_at: Instant,
    /// How long this thread had waited for a processor by then.
    empty_wait: Duration,
    arrived: Option<UsageSample>,
}

/// What a wire waits for in a call of `poll`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PollSource {
    /// Room for what is still to be sent.
    In,
    /// What the bot writes.
    Out,
    /// Its log.
    Log,
    /// Its end.
    Exit,
}

impl BotPipes {
    /// The pipes of a program that was just started.
    pub fn new(mut handle: Box<dyn ProcessHandle>, hold: bool) -> io::Result<Self> {
        let Pipes { stdin, stdout, stderr } = handle.take_pipes();
        for pipe in [&stdin, &stdout, &stderr].into_iter().flatten() {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        Ok(Self {
            meter: CpuMeter::new(handle.id()),
            handle,
            stdin,
            stdout,
            log: StderrPipe::new(stderr),
            unsent: Vec::new(),
            sent: 0,
            lines: Lines::default(),
            hold,
            held: false,
            wanted: 0,
            asked: UsageSample { at: Instant::now(), usage: crate::timing::Usage::default() },
            asked_first: Instant::now(),
            empty_at: Instant::now(),
            empty_wait: Duration::ZERO,
            arrived: None,
        })
    }

    /// Sends text and wants so many lines more from now on. Starts the clock.
    pub fn ask(&mut self, text: &[u8], lines: usize) {
        let waited = own_wait();
        self.asked = self.meter.mark();
        self.asked_first = self.asked.at;
        self.wanted = lines;
        self.arrived = None;
        self.unsent.extend_from_slice(text);
        self.send();
        self.resume();
        // While we ourselves waited for a processor, it had not been asked.
        self.empty_wait = own_wait();
        self.asked.at += self.empty_wait.saturating_sub(waited);
        self.empty_at = self.asked.at;
        self.settle(Duration::MAX);
    }

    /// Sends a last text; wanted is the end.
    pub fn ask_to_end(&mut self, text: &[u8]) {
        self.hold = false;
        self.ask(text, ITS_END);
    }

    /// When the clock was started.
    pub fn asked(&self) -> UsageSample {
        self.asked
    }

    /// When all that was wanted had arrived, or the program had ended.
    pub fn arrived(&self) -> Option<UsageSample> {
        self.arrived
    }

    /// What passed from the question to a moment.
    pub fn times(&self, until: UsageSample) -> AnswerTimes {
        since_asked(self.asked, self.asked_first, until, self.meter.has_children())
    }

    /// Whether the program waits for a processor, or has one, just now.
    pub fn stands_ready(&self) -> bool {
        self.meter.is_runnable() && !self.meter.has_children()
    }

    /// Now, and what the program has used.
    pub fn mark(&self) -> UsageSample {
        self.meter.mark()
    }

    /// The next line that has arrived.
    pub fn line(&mut self) -> Option<Vec<u8>> {
        self.lines.take()
    }

    /// Whether something was written that nobody asked for.
    pub fn stray(&mut self) -> Option<Vec<u8>> {
        self.read_out();
        if self.lines.bytes.is_empty() { None } else { Some(self.lines.take_all()) }
    }

    /// Whether a line is longer than allowed, and how it begins.
    pub fn too_long(&self) -> Option<&[u8]> {
        self.lines.too_long()
    }

    /// What was written after the last whole line.
    pub fn unfinished(&self) -> &[u8] {
        &self.lines.bytes
    }

    /// The end of the log, safe to show.
    pub fn log(&mut self) -> String {
        self.log.tail()
    }

    /// What came into the log since this was last asked, safe to show.
    pub fn printed(&mut self) -> String {
        self.log.printed()
    }

    /// Closes its stdin once everything is sent.
    pub fn hang_up(&mut self) {
        if self.unsent.is_empty() {
            self.stdin = None;
        }
    }

    /// The streams to wait for, with their events.
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

    /// Serves a stream that is ready. For the time `unseen` nobody could look, so that what is there may have come
    /// so much earlier.
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
        self.settle(unseen);
    }

    /// Notes that nothing more is there at this moment.
    pub fn saw_nothing(&mut self, now: Instant, waited: Duration) {
        if self.arrived.is_none() {
            self.empty_at = now;
            self.empty_wait = waited;
        }
    }

    /// Whether all that was wanted is there; if so, notes the time and holds the program still.
    fn settle(&mut self, unseen: Duration) {
        if self.wanted == ITS_END {
            self.lines.take_all();
        }
        let complete = self.lines.has(self.wanted) || self.too_long().is_some() || self.stdout.is_none();
        if self.arrived.is_some() || !complete {
            return;
        }
        let mut mark = self.meter.mark();
        // From the last look to this mark we may have waited for a processor ourselves, not only in `poll`.
        let unseen = unseen.max(own_wait().saturating_sub(self.empty_wait));
        // It came at some time while nobody could look. Charged is what is certain: when somebody last looked it had not
        // come, and so long it was at work.
        let used = mark.since(self.asked);
        let earliest = mark.at.checked_sub(unseen).unwrap_or(self.empty_at).max(self.empty_at);
        mark.at = mark.at.min(earliest.max(self.asked.at + used.cpu + used.wait));
        self.arrived = Some(mark);
        if self.hold {
            self.handle.pause();
            self.held = true;
        }
    }

    /// Lets it go on if it was held still.
    pub fn resume(&mut self) {
        if std::mem::take(&mut self.held) {
            self.handle.resume();
        }
    }

    /// The program itself.
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
                // It reads no more: what it does instead of answering will show.
                Err(_) => self.stdin = None,
            }
        }
        self.unsent.clear();
        self.sent = 0;
    }

    fn read_out(&mut self) {
        while self.lines.bytes.len() < READ_AHEAD
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

/// Bytes cut into lines.
#[derive(Default, Debug)]
struct Lines {
    bytes: Vec<u8>,
}

impl Lines {
    /// Whether so many lines are whole.
    fn has(&self, count: usize) -> bool {
        count == 0 || self.bytes.iter().filter(|&&byte| byte == b'\n').nth(count - 1).is_some()
    }

    /// The first line, without its end.
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
        self.bytes.split(|&byte| byte == b'\n').find(|line| line.len() > LONGEST_LINE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_and_the_rest_is_kept() {
        let mut lines = Lines { bytes: b"one\n\ntwo".to_vec() };
        assert!(lines.has(2) && !lines.has(3));
        assert_eq!(lines.take().unwrap(), b"one");
        assert_eq!(lines.take().unwrap(), b"");
        assert_eq!(lines.take(), None);
        assert_eq!(lines.take_all(), b"two");
    }

    #[test]
    fn a_line_may_be_64_kib_long_and_no_longer() {
        let mut lines = Lines { bytes: vec![b'x'; LONGEST_LINE] };
        assert!(lines.too_long().is_none());
        lines.bytes.push(b'\n');
        assert!(lines.too_long().is_none());
        lines.bytes[LONGEST_LINE] = b'x';
        assert_eq!(lines.too_long().map(<[u8]>::len), Some(LONGEST_LINE + 1));
    }
}
