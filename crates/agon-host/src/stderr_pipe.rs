//! A bot's stderr: the end of it, and the new part.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use agon_core::sanitize::printable;

/// Maximum number of bytes kept from the end of a bot's stderr.
pub const MAX_STDERR_TAIL_BYTES: usize = 8 * 1024;
/// Maximum number of bytes kept from the start of the output between two calls of [`StderrPipe::printed`].
pub const MAX_NEW_STDERR_BYTES: usize = 64 * 1024;
/// The default capacity of a pipe.
const READ_CHUNK_BYTES: usize = 64 * 1024;
/// A bot's stderr. No method blocks.
#[derive(Debug)]
pub struct StderrPipe {
    pipe: Option<OwnedFd>,
    log: Log,
}

impl StderrPipe {
    /// The pipe must be non-blocking.
    pub fn new(pipe: impl Into<Option<OwnedFd>>) -> Self {
        Self { pipe: pipe.into(), log: Log::default() }
    }

    /// A descriptor that is readable when there is new output; `None` after the end.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(|pipe| pipe.as_fd())
    }

    /// Reads a limited number of chunks: a bot that floods its stderr must not block the engine.
    pub fn read(&mut self) {
        for _ in 0..4 {
            let Some(pipe) = &self.pipe else { return };
            match read_into(pipe, &mut self.log.bytes) {
                Ok(0) => self.pipe = None,
                Ok(count) => self.log.trim(count),
                Err(rustix::io::Errno::AGAIN) => return,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => self.pipe = None,
            }
        }
    }

    /// The end of the output, sanitised.
    pub fn tail(&mut self) -> String {
        self.read();
        printable(&self.log.bytes)
    }

    /// The output since the last call, sanitised.
    pub fn printed(&mut self) -> String {
        self.read();
        self.log.take_new()
    }
}

pub fn read_into(fd: &OwnedFd, bytes: &mut Vec<u8>) -> rustix::io::Result<usize> {
    bytes.reserve(READ_CHUNK_BYTES);
    rustix::io::read(fd, rustix::buffer::spare_capacity(bytes))
}

/// The end of the output, and the new part.
#[derive(Default, Debug)]
struct Log {
    bytes: Vec<u8>,
    new: Vec<u8>,
    cut: usize,
}

impl Log {
    /// Records that `count` bytes were appended and drops the oldest ones.
    fn trim(&mut self, count: usize) {
        let read = &self.bytes[self.bytes.len().saturating_sub(count)..];
        let room = MAX_NEW_STDERR_BYTES.saturating_sub(self.new.len()).min(read.len());
        self.new.extend_from_slice(&read[..room]);
        self.cut += read.len() - room;
        let excess = self.bytes.len().saturating_sub(MAX_STDERR_TAIL_BYTES);
        self.bytes.drain(..excess);
    }

    fn take_new(&mut self) -> String {
        let mut text = printable(&std::mem::take(&mut self.new));
        let cut = std::mem::take(&mut self.cut);
        if cut > 0 {
            text = format!("{text}\n... ({cut} bytes more)\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_keeps_its_end() {
        let mut log =
            Log { bytes: (0..=255).cycle().take(3 * MAX_STDERR_TAIL_BYTES).collect(), ..Log::default() };
        log.trim(MAX_STDERR_TAIL_BYTES);
        assert_eq!((log.bytes.len(), log.bytes.last()), (MAX_STDERR_TAIL_BYTES, Some(&255)));
    }

    #[test]
    fn new_output_is_kept_up_to_a_limit() {
        let mut log = Log::default();
        log.bytes.extend_from_slice(b"first\n");
        log.trim(6);
        assert_eq!((log.take_new().as_str(), log.take_new().as_str()), ("first\n", ""));
        log.bytes.extend(std::iter::repeat_n(b'x', MAX_NEW_STDERR_BYTES + 5));
        log.trim(MAX_NEW_STDERR_BYTES + 5);
        assert!(log.take_new().ends_with("xx\n... (5 bytes more)\n"));
    }
}
