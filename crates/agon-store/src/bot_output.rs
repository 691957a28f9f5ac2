//! Bot output of a game: its beginning and its end, by turn, compressed.

use std::cell::RefCell;
use std::collections::VecDeque;

use zstd::bulk::Compressor;

use crate::encoding::{read_varint, write_varint};

/// Bytes stored of the beginning.
const HEAD_BYTES: usize = 4 << 10;
/// Bytes stored of the end.
const TAIL_BYTES: usize = 12 << 10;
/// Maximum size of all compressed bot output of a competition.
pub(crate) const MAX_PACKED_BYTES: i64 = 64 << 20;
/// Version of the packed format.
const FORMAT_VERSION: u8 = 1;
/// Upper bound of the decompressed size: a piece has at least one byte of text and at most 16 bytes besides its text.
const MAX_UNPACKED_BYTES: usize = 17 * (HEAD_BYTES + TAIL_BYTES) + 1024;
/// Bot output is small and frequent: fast compression is worth more than a good ratio.
const ZSTD_LEVEL: i32 = 1;

thread_local! {
    /// Reused, because creating a compressor costs more than compressing one output.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// Compresses `body`. Fails only when memory runs out; the result is then empty.
fn compress(compressor: &mut Option<Compressor<'static>>, body: &[u8]) -> Vec<u8> {
    if compressor.is_none() {
        *compressor = Compressor::new(ZSTD_LEVEL).ok();
    }
    compressor.as_mut().and_then(|compressor| compressor.compress(body).ok()).unwrap_or_default()
}

/// Bot output of a game.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BotOutput {
    /// Pieces in the order of printing. Where text was left out, a piece says how many bytes.
    pub pieces: Vec<TurnOutput>,
}

/// Output of a bot in one turn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TurnOutput {
    /// Turn, from 1 as in the record; 0 before the first turn. Output after the last turn has a higher number.
    pub turn: u32,
    /// Text, safe to display.
    pub text: String,
}

/// Compressed bot output of one seat in one game. The process that plays the game compresses it, so that the ledger does not have to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PackedOutput {
    /// Index of the game in the match, from 0.
    pub game: u32,
    /// Seat of the bot.
    pub seat: u8,
    /// [`BotOutput`] in its packed form.
    pub(crate) packed: Vec<u8>,
}

impl PackedOutput {
    /// Restores output from the bytes of [`Self::into_packed`].
    pub const fn from_packed(game: u32, seat: u8, packed: Vec<u8>) -> Self {
        Self { game, seat, packed }
    }

    /// Packed bytes, to send to another process.
    pub fn into_packed(self) -> Vec<u8> {
        self.packed
    }

    /// Packs the output of a seat; `None` if there is none.
    pub fn new(game: u32, seat: u8, output: &BotOutput) -> Option<Self> {
        if output.pieces.is_empty() {
            return None;
        }
        Some(Self { game, seat, packed: output.pack() })
    }
}

impl BotOutput {
    fn pack(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for TurnOutput { turn, text } in &self.pieces {
            write_varint(&mut body, (*turn).into());
            write_varint(&mut body, text.len() as u64);
            body.extend_from_slice(text.as_bytes());
        }
        let mut packed = vec![FORMAT_VERSION];
        packed.extend(COMPRESSOR.with_borrow_mut(|compressor| compress(compressor, &body)));
        packed
    }

    /// Reverses [`PackedOutput::new`]; `None` if the bytes are not valid.
    pub(crate) fn unpack(packed: &[u8]) -> Option<Self> {
        let (&FORMAT_VERSION, packed) = packed.split_first()? else { return None };
        let body = zstd::bulk::decompress(packed, MAX_UNPACKED_BYTES).ok()?;
        let mut rest = &body[..];
        let mut pieces = Vec::new();
        while !rest.is_empty() {
            let turn = u32::try_from(read_varint(&mut rest)?).ok()?;
            let length = usize::try_from(read_varint(&mut rest)?).ok()?;
            let (text, remaining) = rest.split_at_checked(length)?;
            rest = remaining;
            pieces.push(TurnOutput { turn, text: String::from_utf8(text.to_vec()).ok()? });
        }
        Some(Self { pieces })
    }
}

/// Collects the output of a bot and keeps only the part that is stored.
#[derive(Clone, Debug, Default)]
pub struct OutputWriter {
    head: Vec<TurnOutput>,
    tail: VecDeque<TurnOutput>,
    head_bytes: usize,
    tail_bytes: usize,
    left_out: u64,
}

impl OutputWriter {
    /// Adds text that was printed in `turn`.
    pub fn add(&mut self, turn: u32, text: &str) {
        let room =
            if self.tail.is_empty() { text.floor_char_boundary(HEAD_BYTES - self.head_bytes) } else { 0 };
        let (first, rest) = text.split_at(room);
        if !first.is_empty() {
            self.head_bytes += first.len();
            self.head.push(TurnOutput { turn, text: first.to_owned() });
        }
        // Of a very long text only the end is copied.
        let from = rest.ceil_char_boundary(rest.len().saturating_sub(TAIL_BYTES));
        self.left_out += from as u64;
        let last = &rest[from..];
        if last.is_empty() {
            return;
        }
        self.tail_bytes += last.len();
        self.tail.push_back(TurnOutput { turn, text: last.to_owned() });
        while self.tail_bytes > TAIL_BYTES
            && let Some(oldest) = self.tail.front_mut()
        {
            let cut = oldest.text.ceil_char_boundary((self.tail_bytes - TAIL_BYTES).min(oldest.text.len()));
            oldest.text.drain(..cut);
            self.left_out += cut as u64;
            self.tail_bytes -= cut;
            if oldest.text.is_empty() {
                self.tail.pop_front();
            }
        }
    }

    /// Returns the part that is stored.
    pub fn finish(self) -> BotOutput {
        let mut pieces = self.head;
        if self.left_out > 0 {
            let turn = self.tail.front().map_or(0, |first| first.turn);
            pieces.push(TurnOutput { turn, text: format!("\n... {} bytes left out ...\n", self.left_out) });
        }
        pieces.extend(self.tail);
        BotOutput { pieces }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(output: &BotOutput) -> String {
        output.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    #[test]
    fn packed_values_unpack_to_the_same_values() {
        let mut writer = OutputWriter::default();
        writer.add(0, "loading\n");
        writer.add(7, "thïnking …\n");
        writer.add(7, "");
        writer.add(u32::MAX, "bye");
        let output = writer.finish();
        assert_eq!(output.pieces.len(), 3);
        let packed = PackedOutput::new(2, 1, &output).unwrap().packed;
        assert_eq!(BotOutput::unpack(&packed), Some(output));
        assert_eq!(BotOutput::unpack(&packed[..packed.len() - 1]), None);
        assert_eq!(BotOutput::unpack(&[2, 0]), None);
        assert_eq!(PackedOutput::new(0, 0, &OutputWriter::default().finish()), None);
    }

    #[test]
    fn output_beyond_sixteen_kib_keeps_both_ends() {
        let line = |n: usize| format!("{n:07}\n");
        for (lines, left_out) in [(2048, 0), (2049, 8), (100_000, 800_000 - 16_384)] {
            let mut writer = OutputWriter::default();
            (0..lines).for_each(|n| writer.add(n as u32, &line(n)));
            let output = writer.finish();
            let whole = text(&output);
            let (first, last) = (line(0), line(lines - 1));
            assert!(whole.starts_with(&first) && whole.ends_with(&last));
            let notice = format!("\n... {left_out} bytes left out ...\n");
            assert_eq!(whole.contains(&notice), left_out > 0, "{lines}");
            assert_eq!(whole.len(), 16_384 + if left_out > 0 { notice.len() } else { 0 });
            assert_eq!(output.pieces.last().map(|piece| piece.turn), Some(lines as u32 - 1));
            let packed = PackedOutput::new(0, 0, &output).unwrap().packed;
            assert!(BotOutput::unpack(&packed) == Some(output));
        }
    }

    #[test]
    fn long_output_is_cut_at_character_boundaries_and_many_small_pieces_fit() {
        let mut writer = OutputWriter::default();
        writer.add(1, &"€".repeat(50_000));
        let output = writer.finish();
        let stored: usize =
            output.pieces.iter().filter(|one| one.text.contains('€')).map(|one| one.text.len()).sum();
        assert_eq!(stored, 4095 + 12_288);
        assert!(text(&output).contains(&format!("... {} bytes left out ...", 150_000 - stored)));
        let mut writer = OutputWriter::default();
        (0..40_000).for_each(|turn| writer.add(u32::MAX - turn, "x"));
        let output = writer.finish();
        assert!(BotOutput::unpack(&output.pack()) == Some(output));
    }
}
