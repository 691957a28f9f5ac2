//! Puts together what came in pieces.

use crate::messages::{PIECE, LiveChunk, LiveMessage, decode};

/// Larger films are not shown.
const LARGEST: u32 = (64 << 20) / PIECE as u32;

/// What came of a piece.
#[derive(Debug)]
pub enum AssembleStep {
    /// More is to come.
    More,
    /// It is whole.
    Whole(Box<LiveMessage>),
    /// Something is missing, or makes no sense.
    Gap,
}

/// Joins pieces. What one film lacks of another that was never begun, its turns' numbers tell.
#[derive(Debug, Default)]
pub struct LiveAssembler {
    /// What is being joined: its number, its next piece.
    begun: Option<(u64, u32)>,
    bytes: Vec<u8>,
}

impl LiveAssembler {
    /// Another piece.
    pub fn push(&mut self, seen: &LiveChunk) -> AssembleStep {
        let broken_off = self.begun.is_some();
        if seen.piece == 0 {
            self.begun = Some((seen.number, 0));
            self.bytes.clear();
        }
        if self.begun.take() != Some((seen.number, seen.piece)) || seen.pieces > LARGEST {
            return AssembleStep::Gap;
        }
        self.bytes.extend_from_slice(&seen.bytes);
        if seen.piece + 1 < seen.pieces {
            self.begun = Some((seen.number, seen.piece + 1));
            return if broken_off && seen.piece == 0 { AssembleStep::Gap } else { AssembleStep::More };
        }
        match decode(&std::mem::take(&mut self.bytes)) {
            Ok(shown) => AssembleStep::Whole(Box::new(shown)),
            Err(_) => AssembleStep::Gap,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::messages::encode;

    fn cut(number: u64, shown: &LiveMessage, size: usize) -> Vec<LiveChunk> {
        let bytes = encode(shown).unwrap();
        let pieces = bytes.len().div_ceil(size) as u32;
        let piece = |(piece, bytes): (u32, &[u8])| LiveChunk { number, piece, pieces, bytes: bytes.to_vec() };
        (0..).zip(bytes.chunks(size)).map(piece).collect()
    }

    fn film(number: u64) -> LiveMessage {
        let game = (number, (0, 0, number), 0, vec![0, 1]);
        LiveMessage::Film { game, film: vec![7; 100], part: true, over: false }
    }

    fn push(joiner: &mut LiveAssembler, pieces: &[LiveChunk]) -> Vec<String> {
        let word = |joined| match joined {
            AssembleStep::More => "more".to_owned(),
            AssembleStep::Gap => "gap".to_owned(),
            AssembleStep::Whole(shown) => match *shown {
                LiveMessage::Film { game, .. } => format!("film {}", game.0),
                _ => "other".to_owned(),
            },
        };
        pieces.iter().map(|one| word(joiner.push(one))).collect()
    }

    #[test]
    fn pieces_are_joined_and_what_is_missing_is_noticed() {
        let mut joiner = LiveAssembler::default();
        let mut said: Vec<Vec<LiveChunk>> = (0..6).map(|number| cut(number, &film(number), 60)).collect();
        assert_eq!(said[0].len(), 3, "three pieces each");
        assert_eq!(push(&mut joiner, &said[0]), ["more", "more", "film 0"]);
        assert_eq!(push(&mut joiner, &said[1]), ["more", "more", "film 1"]);
        // The end of the third never came.
        assert_eq!(push(&mut joiner, &said[2][..2]), ["more", "more"]);
        assert_eq!(push(&mut joiner, &said[3]), ["gap", "more", "film 3"]);
        // The middle of the fifth.
        said[4].remove(1);
        assert_eq!(push(&mut joiner, &said[4]), ["more", "gap"]);
        assert_eq!(push(&mut joiner, &said[5]), ["more", "more", "film 5"]);
        // Somebody who comes in the middle; a stream that begins anew.
        let mut late = LiveAssembler::default();
        assert_eq!(push(&mut late, &said[5][1..]), ["gap", "gap"]);
        assert_eq!(push(&mut late, &said[0]), ["more", "more", "film 0"]);
        assert_eq!(push(&mut late, &said[0]), ["more", "more", "film 0"]);
        // What makes no sense is dropped.
        let huge = LiveChunk { number: 1, piece: 0, pieces: u32::MAX, bytes: Vec::new() };
        assert_eq!(push(&mut late, &[huge]), ["gap"]);
        let none = LiveChunk { number: 2, piece: 0, pieces: 0, bytes: vec![1, 2, 3] };
        assert_eq!(push(&mut late, &[none]), ["gap"]);
        let last = LiveChunk { number: u64::MAX, piece: 0, pieces: 1, bytes: Vec::new() };
        assert_eq!(push(&mut late, &[last]), ["gap"]);
    }
}
