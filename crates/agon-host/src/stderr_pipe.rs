//! What a bot prints: the end of it, and what is new.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

/// So much of the end of what a bot writes to stderr is kept.
pub const LOG_KEPT: usize = 8 * 1024;
/// So much of the beginning of what it writes there between two looks at it is kept.
pub const PRINTED_KEPT: usize = 64 * 1024;
/// As much as a pipe holds by default.
const CHUNK: usize = 64 * 1024;
/// A bot's stderr. Nothing here blocks.
#[derive(Debug)]
pub struct StderrPipe {
    pipe: Option<OwnedFd>,
    log: Log,
}

impl StderrPipe {
    /// The pipe must not block.
    pub fn new(pipe: impl Into<Option<OwnedFd>>) -> Self {
        Self { pipe: pipe.into(), log: Log::default() }
    }

    /// Readable when there is something new; `None` when nothing more can come.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(|pipe| pipe.as_fd())
    }

    /// Reads a few chunks at most: a bot that floods its log must not keep us here.
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

    /// The end of the log, safe to show.
    pub fn tail(&mut self) -> String {
        self.read();
        printable(&self.log.bytes)
    }

    /// What came since this was last asked, safe to show.
    pub fn printed(&mut self) -> String {
        self.read();
        self.log.take_new()
    }
}

pub fn read_into(fd: &OwnedFd, bytes: &mut Vec<u8>) -> rustix::io::Result<usize> {
    bytes.reserve(CHUNK);
    rustix::io::read(fd, rustix::buffer::spare_capacity(bytes))
}

/// The end of a log, and what is new in it.
#[derive(Default, Debug)]
struct Log {
    bytes: Vec<u8>,
    new: Vec<u8>,
    cut: usize,
}

impl Log {
    /// So many bytes were read at the end.
    fn trim(&mut self, count: usize) {
        let read = &self.bytes[self.bytes.len().saturating_sub(count)..];
        let room = PRINTED_KEPT.saturating_sub(self.new.len()).min(read.len());
        self.new.extend_from_slice(&read[..room]);
        self.cut += read.len() - room;
        let excess = self.bytes.len().saturating_sub(LOG_KEPT);
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

/// Bytes of a stranger as text: control characters other than line ends and tabs are spelt out, and so is what a reader
/// does not see but is deceived by.
pub fn printable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for c in String::from_utf8_lossy(bytes).chars() {
        if (c.is_control() && c != '\n' && c != '\t') || deceives(c) {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
    }
    text
}

/// Turns the direction of text around, ends lines where a terminal or an editor may not, or takes no room at all: with these,
/// one text looks like another. Joiners (U+200C, U+200D) stay: scripts and emoji need them.
const fn deceives(c: char) -> bool {
    matches!(c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{2028}' | '\u{2029}'
        | '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_log_is_kept() {
        let mut log = Log { bytes: (0..=255).cycle().take(3 * LOG_KEPT).collect(), ..Log::default() };
        log.trim(LOG_KEPT);
        assert_eq!((log.bytes.len(), log.bytes.last()), (LOG_KEPT, Some(&255)));
    }

    #[test]
    fn what_is_printed_in_a_turn_is_kept_up_to_a_limit() {
        let mut log = Log::default();
        log.bytes.extend_from_slice(b"first\n");
        log.trim(6);
        assert_eq!((log.take_new().as_str(), log.take_new().as_str()), ("first\n", ""));
        log.bytes.extend(std::iter::repeat_n(b'x', PRINTED_KEPT + 5));
        log.trim(PRINTED_KEPT + 5);
        assert!(log.take_new().ends_with("xx\n... (5 bytes more)\n"));
    }

    #[test]
    fn what_could_harm_a_terminal_is_spelt_out() {
        assert_eq!(printable(b"a\tb\n\x1b[31m\0\xff"), "a\tb\n\\u{1b}[31m\\u{0}\u{fffd}");
    }

    #[test]
    fn what_deceives_a_reader_is_spelt_out() {
        for c in "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}\u{feff}\u{2028}\u{2029}\u{200b}\u{e0041}".chars() {
            let shown = printable(format!("a{c}b").as_bytes());
            assert_eq!(shown, format!("a\\u{{{:x}}}b", u32::from(c)));
        }
        let honest = "Zoë שלום العربية 日本 👩\u{200d}👧 ✔";
        assert_eq!(printable(honest.as_bytes()), honest);
    }
}
