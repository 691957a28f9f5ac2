//! A loaded bot that plays another game or match.

use std::time::{Duration, Instant};

use super::ForkedBot;
use crate::connection::{BotConnection as _, LastWords};
use crate::timing::{CpuMeter, Usage};

/// Packet that reports that the fork for a match has ended (`agon_bot/packet_channel.py`).
const MATCH_OVER: &[u8] = b"*";

impl ForkedBot {
    /// Whether bots of this kind play whole matches, and a fork of the loaded bot plays the current one. (Where a fork is not possible, the
    /// loaded bot plays itself, and only once.)
    pub(super) const fn plays_match_in_fork(&self, loader: u32) -> bool {
        !self.forks_calls && !self.forks_games && self.metered != loader
    }

    /// Makes a loaded bot ready for its next game or match. `None` if it is not usable any more.
    pub fn ready_again(mut self: Box<Self>) -> Option<Box<Self>> {
        let keeps_folders = !self.forks_calls && !self.forks_games;
        (!keeps_folders || self.process.load_kept().is_ok()).then_some(self)
    }

    /// Ends a match. Returns what the bot still had to say, and the loaded bot if it can play another match: the fork that played this one
    /// has ended with everything that it has started, and `data/` is stored.
    pub fn end_match(mut self: Box<Self>, text: &[u8], time: Duration) -> (LastWords, Option<Box<Self>>) {
        let loader = self.loader();
        if !self.plays_match_in_fork(loader) {
            return (self.shut_down(text, time), None);
        }
        self.limit = time;
        if std::mem::take(&mut self.stopped) {
            let _ = self.process.resume();
        }
        self.send(text, None);
        let (line, is_over) = self.wait_for_match_end(loader, Instant::now() + time);
        let printed = self.log.lock().printed();
        let words = LastWords { line, printed };
        if !is_over {
            self.kill();
            return (words, None);
        }
        let alone = self.process.group().is_some_and(|group| group.kill_others(&[loader]));
        self.metered = loader;
        self.used = Usage::default();
        self.works_off_turn = false;
        self.meter = CpuMeter::of_bot(loader, self.process.group().cloned(), None, false);
        let stored = alone && self.process.store_kept().is_ok();
        if !stored {
            self.kill();
        }
        (words, stored.then_some(self))
    }

    /// Waits until the process that has loaded the bot reports that the fork for the match has ended. Returns the last packet of the fork,
    /// and whether it ended in time and as it should.
    pub(super) fn wait_for_match_end(&mut self, loader: u32, until: Instant) -> (Option<Vec<u8>>, bool) {
        let mut last = None;
        loop {
            self.wanted = 1;
            self.receive();
            while let Some(packet) = self.inbox.pop_front() {
                if packet.sender == loader {
                    return (last, packet.bytes == MATCH_OVER);
                }
                last = Some(packet.bytes);
            }
            let left = until.saturating_duration_since(Instant::now());
            if self.gone || left.is_zero() {
                return (last, false);
            }
            self.wait_for_event(false, left);
            self.log.lock().read();
        }
    }

    /// Whether it can play another game: nothing that an earlier one has started still runs.
    pub fn can_play_again(&self) -> bool {
        let known = [self.loader(), self.metered];
        !self.forks_games || self.process.group().is_none_or(|group| !group.has_others(&known))
    }
}
