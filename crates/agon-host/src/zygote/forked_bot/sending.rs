//! What a forked bot is told.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::ForkedBot;
use crate::zygote::socket;

/// Maximum packet size; longer messages are sent in parts of this size.
const MAX_PACKET_BYTES: usize = 64 << 10;
/// First byte of a message in parts (`agon_bot/packet_channel.py`).
const FIRST_BYTE_OF_PARTS: u8 = 2;
/// Sent on the turn pipe: a message waits on the socket (`agon_bot/packet_channel.py`).
const SEE_SOCKET: &[u8] = &[3];
/// Start of a turn that is not in the game's packed form (`crate::message`).
const TURN_MESSAGE: &[u8] = b"{\"type\":\"turn\"";

impl ForkedBot {
    /// Sends messages: lines of JSON, or a packed turn. `call` goes with a turn.
    pub(super) fn send(&mut self, text: &[u8], call: Option<&OwnedFd>) {
        if text.first() != Some(&b'{') {
            return self.send_turn(text, call);
        }
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            self.send_one(line, call.filter(|_| line.starts_with(TURN_MESSAGE)));
            self.expects_turns = false;
        }
    }

    pub(super) fn send_turn(&mut self, text: &[u8], call: Option<&OwnedFd>) {
        match self.awaited() {
            Some(turns) if text.len() <= socket::MAX_PIPE_PACKET_BYTES => {
                self.send_packet(turns, socket::write, text);
            }
            _ => self.send_one(text, call),
        }
        self.expects_turns = true;
    }

    /// The pipe on which it waits for the next turn, if it waits for nothing else.
    pub(super) fn awaited(&self) -> Option<&OwnedFd> {
        self.turns.as_ref().filter(|_| self.expects_turns)
    }

    pub(super) fn send_one(&self, text: &[u8], call: Option<&OwnedFd>) {
        // First: if the game's fork has ended, this must not arrive after the start of the next game.
        if let Some(turns) = self.awaited() {
            self.send_packet(turns, socket::write, SEE_SOCKET);
        }
        let send = |bytes| self.send_packet(&self.asking, socket::send, bytes);
        let send_first = |bytes| match call {
            Some(call) => {
                self.send_packet(&self.asking, |to, bytes| socket::send_with(to, bytes, call.as_fd()), bytes);
            }
            None => send(bytes),
        };
        if text.len() <= MAX_PACKET_BYTES {
            return send_first(text);
        }
        let mut head = vec![FIRST_BYTE_OF_PARTS, 0, 0, 0];
        head.extend_from_slice(&(text.len() as u32).to_le_bytes());
        send_first(&head);
        text.chunks(MAX_PACKET_BYTES).for_each(send);
    }

    /// The buffer has room for every message, because the bot has answered the last one. If it has none after all, or the bot is
    /// gone, the missing answer shows that.
    pub(super) fn send_packet(
        &self,
        to: &OwnedFd,
        how: impl Fn(BorrowedFd<'_>, &[u8]) -> io::Result<bool>,
        bytes: &[u8],
    ) {
        let mut until = None;
        while matches!(how(to.as_fd(), bytes), Ok(false)) {
            let now = Instant::now();
            if now >= *until.get_or_insert(now + self.limit.min(Duration::from_secs(1))) {
                return;
            }
            let mut fds = [PollFd::new(to, PollFlags::OUT)];
            let _ = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 10_000_000 }));
        }
    }

    /// Opens the socket for the answer to a turn, if each call has its own. Returns the bot's end.
    pub(super) fn open_call(&mut self, text: &[u8]) -> Option<OwnedFd> {
        let is_turn = || text.split(|byte| *byte == b'\n').any(|line| line.starts_with(TURN_MESSAGE));
        if !self.forks_calls || (text.first() == Some(&b'{') && !is_turn()) {
            return None;
        }
        let pair = socket::pair().and_then(|(ours, theirs)| {
            socket::enable_timestamps(ours.as_fd())?;
            Ok((ours, theirs))
        });
        // Without descriptors the bot cannot be asked.
        let (ours, theirs) = pair.inspect_err(|_| self.gone = true).ok()?;
        self.call = Some(Arc::new(ours));
        Some(theirs)
    }
}
