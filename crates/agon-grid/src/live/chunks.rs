//! Assembles live messages from chunks.

use crate::messages::{LiveChunk, LiveMessage, MAX_CHUNK_BYTES, decode};

/// Maximum number of chunks of a film.
const MAX_CHUNKS: u32 = (64 << 20) / MAX_CHUNK_BYTES as u32;

/// Result of adding a chunk.
#[derive(Debug)]
pub enum AssembleStep {
    /// More chunks are missing.
    Incomplete,
    /// The message is complete.
    Complete(Box<LiveMessage>),
    /// A chunk is missing or invalid.
    Gap,
}

/// Assembles messages. It does not notice a message that is missing entirely; the turn numbers of the films reveal that.
#[derive(Debug, Default)]
pub struct LiveAssembler {
    /// Number of the partial message, and its next chunk.
    expected: Option<(u64, u32)>,
    bytes: Vec<u8>,
}

impl LiveAssembler {
    /// Adds a chunk.
    pub fn push(&mut self, chunk: &LiveChunk) -> AssembleStep {
        let was_partial = self.expected.is_some();
        if chunk.chunk == 0 {
            self.expected = Some((chunk.number, 0));
            self.bytes.clear();
        }
        if self.expected.take() != Some((chunk.number, chunk.chunk)) || chunk.chunks > MAX_CHUNKS {
            return AssembleStep::Gap;
        }
        self.bytes.extend_from_slice(&chunk.bytes);
        if chunk.chunk + 1 < chunk.chunks {
            self.expected = Some((chunk.number, chunk.chunk + 1));
            return if was_partial && chunk.chunk == 0 {
                AssembleStep::Gap
            } else {
                AssembleStep::Incomplete
            };
        }
        match decode(&std::mem::take(&mut self.bytes)) {
            Ok(message) => AssembleStep::Complete(Box::new(message)),
            Err(_) => AssembleStep::Gap,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::messages::encode;

    fn cut(number: u64, message: &LiveMessage, size: usize) -> Vec<LiveChunk> {
        let bytes = encode(message).unwrap();
        let chunks = bytes.len().div_ceil(size) as u32;
        let chunk = |(chunk, bytes): (u32, &[u8])| LiveChunk { number, chunk, chunks, bytes: bytes.to_vec() };
        (0..).zip(bytes.chunks(size)).map(chunk).collect()
    }

    fn film(number: u64) -> LiveMessage {
        let game = (number, (0, 0, number), 0, vec![0, 1]);
        LiveMessage::Film { game, film: vec![7; 100], part: true, over: false }
    }

    fn push(assembler: &mut LiveAssembler, chunks: &[LiveChunk]) -> Vec<String> {
        let describe = |step| match step {
            AssembleStep::Incomplete => "more".to_owned(),
            AssembleStep::Gap => "gap".to_owned(),
            AssembleStep::Complete(message) => match *message {
                LiveMessage::Film { game, .. } => format!("film {}", game.0),
                _ => "other".to_owned(),
            },
        };
        chunks.iter().map(|one| describe(assembler.push(one))).collect()
    }

    #[test]
    fn push_assembles_messages_and_reports_gaps() {
        let mut assembler = LiveAssembler::default();
        let mut messages: Vec<Vec<LiveChunk>> = (0..6).map(|number| cut(number, &film(number), 60)).collect();
        assert_eq!(messages[0].len(), 3, "three chunks each");
        assert_eq!(push(&mut assembler, &messages[0]), ["more", "more", "film 0"]);
        assert_eq!(push(&mut assembler, &messages[1]), ["more", "more", "film 1"]);
        // The last chunk of the third message is missing.
        assert_eq!(push(&mut assembler, &messages[2][..2]), ["more", "more"]);
        assert_eq!(push(&mut assembler, &messages[3]), ["gap", "more", "film 3"]);
        // The middle chunk of the fifth message is missing.
        messages[4].remove(1);
        assert_eq!(push(&mut assembler, &messages[4]), ["more", "gap"]);
        assert_eq!(push(&mut assembler, &messages[5]), ["more", "more", "film 5"]);
        // A viewer that joins late; a stream that restarts.
        let mut late = LiveAssembler::default();
        assert_eq!(push(&mut late, &messages[5][1..]), ["gap", "gap"]);
        assert_eq!(push(&mut late, &messages[0]), ["more", "more", "film 0"]);
        assert_eq!(push(&mut late, &messages[0]), ["more", "more", "film 0"]);
        // Invalid chunks are dropped.
        let huge = LiveChunk { number: 1, chunk: 0, chunks: u32::MAX, bytes: Vec::new() };
        assert_eq!(push(&mut late, &[huge]), ["gap"]);
        let none = LiveChunk { number: 2, chunk: 0, chunks: 0, bytes: vec![1, 2, 3] };
        assert_eq!(push(&mut late, &[none]), ["gap"]);
        let last = LiveChunk { number: u64::MAX, chunk: 0, chunks: 1, bytes: Vec::new() };
        assert_eq!(push(&mut late, &[last]), ["gap"]);
    }
}
