//! What a forked bot answers: receiving its packets, and waiting for them.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::ForkedBot;
use crate::process::{MAX_LINE_BYTES, quote_line};
use crate::test_switches::is_off;
use crate::zygote::log_poller;
use crate::zygote::socket::{self, Packet};

/// Packet that reports that the fork for the last call has ended (`agon_bot/packet_channel.py`).
const CALL_ENDED: &[u8] = b"+";
/// Time that the process of a call has to end after its answer. Then the bot is killed.
const CALL_EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of packets received beyond those that were asked for. One is enough to see that a bot sends too many.
const MAX_EXCESS_PACKETS: usize = 1;
/// The test switch for the bound on packets.
pub(super) const PACKET_BOUND: &str = "packets";
/// Test switch: this thread loses its processor between reading one socket and the next.
const PROMPT_READING: &str = "prompt-reading";
/// How long.
const SLOW_READING: Duration = Duration::from_millis(20);
/// Time for which an answer is first awaited alone, without polling anything else.
pub(super) const FIRST_WAIT_TIMEOUT: Duration = Duration::from_millis(2);
/// With a shorter limit everything is polled from the start.
const MIN_LIMIT_FOR_FIRST_WAIT: Duration = Duration::from_millis(20);
/// Tolerance between the system clock and the monotonic clock. A larger difference means that the system clock was set.
const CLOCK_TOLERANCE: Duration = Duration::from_micros(50);
/// Maximum number of answers in a row without reading stderr, whose pipe holds a limited number of lines.
const MAX_WAITS_WITHOUT_STDERR: u32 = 16;

thread_local! {
    /// The sockets on which this thread waits for answers, in the order of the requests.
    pub(super) static AWAITED: RefCell<Vec<Arc<OwnedFd>>> = const { RefCell::new(Vec::new()) };
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; MAX_LINE_BYTES]);
}

impl ForkedBot {
    /// The socket on which the next packet is expected.
    pub(super) fn source(&self) -> &Arc<OwnedFd> {
        self.call.as_ref().unwrap_or(&self.answers)
    }

    /// Receives packets that have arrived: those that are wanted, and one more if the bot sends too many.
    pub(super) fn receive(&mut self) {
        self.receive_all_from_call();
        if self.forks_calls && is_off(PROMPT_READING) {
            std::thread::sleep(SLOW_READING);
        }
        while self.inbox.len() < self.max_packets() && !self.gone && self.receive_one(socket::receive) {}
    }

    /// Maximum number of packets in the inbox.
    pub(super) fn max_packets(&self) -> usize {
        match self.forks_calls {
            true if is_off(PACKET_BOUND) => usize::MAX,
            true => self.wanted + MAX_EXCESS_PACKETS,
            false => self.wanted.max(1),
        }
    }

    /// Receives packets that have arrived from the process of a call.
    pub(super) fn receive_all_from_call(&mut self) {
        while self.inbox.len() < self.max_packets() && self.call.is_some() && self.receive_from_call() {}
    }

    /// Receives one packet from the process of a call. Returns false if there is none.
    pub(super) fn receive_from_call(&mut self) -> bool {
        let Some(call) = &self.call else { return false };
        match BUFFER.with_borrow_mut(|room| socket::receive(call.as_fd(), room)) {
            Ok(Some(packet)) => {
                self.ending = true;
                self.inbox.push_back(packet);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // The call has ended, or will never answer. Its supervisor reports how it ended.
            Ok(None) | Err(_) => self.call = None,
        }
        true
    }

    /// Receives one packet. Returns false if there is none.
    pub(super) fn receive_one(
        &mut self,
        how: fn(BorrowedFd<'_>, &mut [u8]) -> io::Result<Option<Packet>>,
    ) -> bool {
        let received = BUFFER.with_borrow_mut(|room| how(self.answers.as_fd(), room));
        if self.forks_calls && matches!(received, Ok(Some(_))) {
            // The supervisor writes after the call has ended. The call's answer may have arrived since its socket was read, and
            // belongs before this packet.
            self.receive_all_from_call();
        }
        match received {
            // The supervisor reports that the call has ended. How it ended matters only if it has not answered.
            Ok(Some(packet))
                if self.forks_calls && (packet.bytes == CALL_ENDED || self.inbox.len() >= self.wanted) =>
            {
                self.ending = false;
            }
            Ok(Some(packet)) => {
                self.unsolicited |= self.was_unsolicited(&packet);
                self.inbox.push_back(packet);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(None) | Err(_) => self.gone = true,
        }
        true
    }

    /// Most answers come soon, and no other bot needs to be polled meanwhile. Then waiting for just this socket is fastest. A bot that
    /// writes more to stderr than the pipe holds blocks for a moment, once; from then on its stderr is polled.
    pub(super) fn receive_first(&mut self) {
        let alone = AWAITED.with_borrow(|asked| asked.len() == 1);
        if alone
            && !self.forks_calls
            && !self.prints
            && self.waits_without_stderr < MAX_WAITS_WITHOUT_STDERR
            && self.limit > MIN_LIMIT_FOR_FIRST_WAIT
        {
            self.waits_without_stderr += 1;
            self.receive_one(socket::receive_blocking);
        }
    }

    /// Whether the packet that should be the answer was sent before the request. A bot that owes other answers may have sent one
    /// of them before the new request.
    pub(super) fn was_unsolicited(&self, packet: &Packet) -> bool {
        let early = packet.timestamp.is_some_and(|sent| sent < self.asked_system_time);
        if !early || self.forks_calls || self.wanted != 1 {
            return false;
        }
        // If the system clock was set in between, the timestamp is useless. (The same if this thread was not running between two readings.)
        let passed = socket::system_time().saturating_sub(self.asked_system_time);
        passed.abs_diff(self.asked_first.elapsed()) < CLOCK_TOLERANCE
    }

    pub(super) fn has_arrived(&self) -> bool {
        self.gone || self.inbox.len() >= self.wanted
    }

    /// Waits until something may have happened. The bots of one game are on one core: when the bot that was asked last has answered,
    /// most others have, too. Each packet carries its own time.
    pub(super) fn wait_for_event(&mut self, others_first: bool, time: Duration) {
        let other = AWAITED.with_borrow(|asked| asked.last().filter(|_| others_first).cloned());
        let timeout = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
        let answers = other.as_ref().unwrap_or_else(|| self.source()).as_fd();
        let printed = log_poller::with_poller(|poller| {
            let log = self.log.lock();
            // If stderr is closed, poll the answer socket in its place.
            let fds = [answers, log.fd().unwrap_or(answers), poller.unwrap_or(answers)];
            let mut fds = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
            let _ = poll(&mut fds, Some(&timeout));
            fds[1..].iter().any(|fd| !fd.revents().is_empty())
        });
        self.waits_without_stderr = 0;
        if printed {
            self.prints = true;
            self.log.lock().read();
            log_poller::read_all();
        }
    }

    /// Waits until the process that gave the last answer has ended. It may have to wait for a processor, so this is not charged.
    /// A call that does not end is killed, and its bot with it.
    pub(super) fn wait_for_call_exit(&mut self) {
        if !self.forks_calls {
            return;
        }
        let until = Instant::now() + CALL_EXIT_TIMEOUT;
        self.wanted = 0;
        self.receive();
        if !is_off(PACKET_BOUND) {
            // From now on the call cannot send anything.
            self.call = None;
            self.excess = self.inbox.front().map(|packet| quote_line(&packet.bytes));
            self.inbox.clear();
        }
        self.receive();
        while self.ending && !self.gone {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.killed_for = Some("its call did not end after its answer");
                self.gone = true;
                self.kill();
                break;
            }
            self.wait_for_event(false, left);
            self.receive();
        }
        // Empty the stderr pipe: its fill level would be visible to the next call.
        self.log.lock().read();
    }

    /// Removes its socket from those on which this thread waits.
    pub(super) fn forget(&mut self) {
        let Some(awaited) = self.awaited_socket.take() else { return };
        let _ = AWAITED.try_with(|asked| {
            if let Ok(mut asked) = asked.try_borrow_mut() {
                asked.retain(|fd| !Arc::ptr_eq(fd, &awaited));
            }
        });
    }
}
