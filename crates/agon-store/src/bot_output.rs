//! What a bot printed in a game: the beginning and the end of it, by turn, packed.

use std::cell::RefCell;
use std::collections::VecDeque;

use zstd::bulk::Compressor;

use crate::encoding::{put, take};

/// So many bytes of the beginning are kept.
const HEAD: usize = 4 << 10;
/// So many bytes of the end are kept.
const TAIL: usize = 12 << 10;
/// So many bytes of packed logs are kept of a competition.
pub(crate) const MOST: i64 = 64 << 20;
/// The form written here.
const FORM: u8 = 1;
/// More than any log has unpacked: a piece is at least a byte, and has at most 16 beside its text.
const LARGEST: usize = 17 * (HEAD + TAIL) + 1024;
/// Logs are small and written by the million: quick rather than tight.
const LEVEL: i32 = 1;

thread_local! {
    /// Made anew for each log it would cost more than the packing.
    static PACKER: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// It fails only without memory: then there is no log.
fn compress(packer: &mut Option<Compressor<'static>>, body: &[u8]) -> Vec<u8> {
    if packer.is_none() {
        *packer = Compressor::new(LEVEL).ok();
    }
    packer.as_mut().and_then(|packer| packer.compress(body).ok()).unwrap_or_default()
}

/// What a bot printed in a game.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BotOutput {
    /// In the order it was printed. Where something was left out, a piece says how much.
    pub printed: Vec<TurnOutput>,
}

/// What a bot printed in one turn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TurnOutput {
    /// From 1, as in the record; 0 is before the first. What came after the last has a number above it.
    pub turn: u32,
    /// What, safe to show.
    pub text: String,
}

/// The log of a seat in a game of a match, packed: made where the game is played, so that who keeps it has nothing to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PackedOutput {
    /// Which game of the match, from 0.
    pub game: u32,
    /// Who.
    pub seat: u8,
    /// See [`BotOutput`].
    pub(crate) packed: Vec<u8>,
}

impl PackedOutput {
    /// Packed elsewhere, by [`Self::into_packed`].
    pub const fn from_packed(game: u32, seat: u8, packed: Vec<u8>) -> Self {
        Self { game, seat, packed }
    }

    /// For sending it elsewhere.
    pub fn into_packed(self) -> Vec<u8> {
        self.packed
    }

    /// Of this seat in this game; `None` if it printed nothing.
    pub fn new(game: u32, seat: u8, log: &BotOutput) -> Option<Self> {
        if log.printed.is_empty() {
            return None;
        }
        Some(Self { game, seat, packed: log.pack() })
    }
}

impl BotOutput {
    fn pack(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for TurnOutput { turn, text } in &self.printed {
            put(&mut body, (*turn).into());
            put(&mut body, text.len() as u64);
            body.extend_from_slice(text.as_bytes());
        }
        let mut packed = vec![FORM];
        packed.extend(PACKER.with_borrow_mut(|packer| compress(packer, &body)));
        packed
    }

    /// What [`PackedOutput::new`] packed; `None` if it is not that.
    pub(crate) fn unpack(packed: &[u8]) -> Option<Self> {
        let (&FORM, packed) = packed.split_first()? else { return None };
        let body = zstd::bulk::decompress(packed, LARGEST).ok()?;
        let mut rest = &body[..];
        let mut printed = Vec::new();
        while !rest.is_empty() {
            let turn = u32::try_from(take(&mut rest)?).ok()?;
            let length = usize::try_from(take(&mut rest)?).ok()?;
            let (text, behind) = rest.split_at_checked(length)?;
            rest = behind;
            printed.push(TurnOutput { turn, text: String::from_utf8(text.to_vec()).ok()? });
        }
        Some(Self { printed })
    }
}

/// Takes down what a bot prints, as much of it as is kept.
#[derive(Clone, Debug, Default)]
pub struct OutputWriter {
    head: Vec<TurnOutput>,
    tail: VecDeque<TurnOutput>,
    head_bytes: usize,
    tail_bytes: usize,
    left_out: u64,
}

impl OutputWriter {
    /// This was printed in this turn.
    pub fn add(&mut self, turn: u32, text: &str) {
        let room = if self.tail.is_empty() { text.floor_char_boundary(HEAD - self.head_bytes) } else { 0 };
        let (first, rest) = text.split_at(room);
        if !first.is_empty() {
            self.head_bytes += first.len();
            self.head.push(TurnOutput { turn, text: first.to_owned() });
        }
        // Of a flood only the end is copied.
        let from = rest.ceil_char_boundary(rest.len().saturating_sub(TAIL));
        self.left_out += from as u64;
        let last = &rest[from..];
        if last.is_empty() {
            return;
        }
        self.tail_bytes += last.len();
        self.tail.push_back(TurnOutput { turn, text: last.to_owned() });
        while self.tail_bytes > TAIL
            && let Some(oldest) = self.tail.front_mut()
        {
            let cut = oldest.text.ceil_char_boundary((self.tail_bytes - TAIL).min(oldest.text.len()));
            oldest.text.drain(..cut);
            self.left_out += cut as u64;
            self.tail_bytes -= cut;
            if oldest.text.is_empty() {
                self.tail.pop_front();
            }
        }
    }

    /// All that is kept of it.
    pub fn finish(self) -> BotOutput {
        let mut printed = self.head;
        if self.left_out > 0 {
            let turn = self.tail.front().map_or(0, |first| first.turn);
            printed.push(TurnOutput { turn, text: format!("\n... {} bytes left out ...\n", self.left_out) });
        }
        printed.extend(self.tail);
        BotOutput { printed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(log: &BotOutput) -> String {
        log.printed.iter().map(|piece| piece.text.as_str()).collect()
    }

    #[test]
    fn what_was_packed_comes_out_the_same() {
        let mut writer = OutputWriter::default();
        writer.add(0, "loading\n");
        writer.add(7, "thïnking …\n");
        writer.add(7, "");
        writer.add(u32::MAX, "bye");
        let log = writer.finish();
        assert_eq!(log.printed.len(), 3);
        let packed = PackedOutput::new(2, 1, &log).unwrap().packed;
        assert_eq!(BotOutput::unpack(&packed), Some(log));
        assert_eq!(BotOutput::unpack(&packed[..packed.len() - 1]), None);
        assert_eq!(BotOutput::unpack(&[2, 0]), None);
        assert_eq!(PackedOutput::new(0, 0, &OutputWriter::default().finish()), None);
    }

    #[test]
    fn sixteen_kilobytes_are_whole_and_of_more_both_ends_are_kept() {
        let line = |n: usize| format!("{n:07}\n");
        for (lines, left_out) in [(2048, 0), (2049, 8), (100_000, 800_000 - 16_384)] {
            let mut writer = OutputWriter::default();
            (0..lines).for_each(|n| writer.add(n as u32, &line(n)));
            let log = writer.finish();
            let whole = text(&log);
            let (first, last) = (line(0), line(lines - 1));
            assert!(whole.starts_with(&first) && whole.ends_with(&last));
            let notice = format!("\n... {left_out} bytes left out ...\n");
            assert_eq!(whole.contains(&notice), left_out > 0, "{lines}");
            assert_eq!(whole.len(), 16_384 + if left_out > 0 { notice.len() } else { 0 });
            assert_eq!(log.printed.last().map(|piece| piece.turn), Some(lines as u32 - 1));
            let packed = PackedOutput::new(0, 0, &log).unwrap().packed;
            assert!(BotOutput::unpack(&packed) == Some(log));
        }
    }

    #[test]
    fn one_flood_is_cut_between_letters_and_tiny_pieces_fit() {
        let mut writer = OutputWriter::default();
        writer.add(1, &"€".repeat(50_000));
        let log = writer.finish();
        let kept: usize =
            log.printed.iter().filter(|one| one.text.contains('€')).map(|one| one.text.len()).sum();
        assert_eq!(kept, 4095 + 12_288);
        assert!(text(&log).contains(&format!("... {} bytes left out ...", 150_000 - kept)));
        let mut writer = OutputWriter::default();
        (0..40_000).for_each(|turn| writer.add(u32::MAX - turn, "x"));
        let log = writer.finish();
        assert!(BotOutput::unpack(&log.pack()) == Some(log));
    }
}
