//! Puts reports together that come in pieces.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::messages::{PIECE, ReportChunk};

/// The largest report.
const MOST: usize = 256 << 20;
/// A report whose next piece does not come for so long is forgotten: it is said again from the start.
const PARTIAL_REPORT_TIMEOUT: Duration = Duration::from_mins(2);
/// Reports that a worker can have begun at once. One on each core would do.
const AT_ONCE: usize = 4096;

/// What a piece makes.
#[derive(PartialEq, Eq, Debug)]
pub enum AssembleResult {
    /// The report is whole.
    Whole(Vec<u8>),
    /// The next one please.
    More,
    /// Some are missing: all of it again.
    Again,
    /// No report has such pieces.
    Nonsense(String),
}

struct PartialReport {
    pieces: u32,
    next: u32,
    bytes: Vec<u8>,
    at: Instant,
}

/// Reports that have begun to come, by worker.
#[derive(Default)]
pub struct ReportAssembler(HashMap<String, HashMap<String, PartialReport>>);

impl ReportAssembler {
    /// A piece came.
    pub fn take(&mut self, worker: &str, part: ReportChunk) -> AssembleResult {
        let ReportChunk { report, piece, pieces, bytes, .. } = part;
        if pieces == 0 || piece >= pieces || bytes.len() > PIECE || pieces as usize > MOST / PIECE {
            return AssembleResult::Nonsense(format!(
                "piece {} of {pieces} with {} bytes",
                u64::from(piece) + 1,
                bytes.len()
            ));
        }
        if pieces == 1 {
            return AssembleResult::Whole(bytes);
        }
        let begun = self.0.entry(worker.to_owned()).or_default();
        begun.retain(|_, one| one.at.elapsed() < PARTIAL_REPORT_TIMEOUT);
        if piece == 0 {
            if begun.len() >= AT_ONCE {
                begun.clear();
            }
            begun.insert(report, PartialReport { pieces, next: 1, bytes, at: Instant::now() });
            return AssembleResult::More;
        }
        match begun.get_mut(&report) {
            Some(one) if one.pieces == pieces && one.next == piece => {
                one.bytes.extend_from_slice(&bytes);
                (one.next, one.at) = (piece + 1, Instant::now());
                if one.next < pieces {
                    return AssembleResult::More;
                }
            }
            // Its receipt was lost: the worker asks with the same piece again.
            Some(one) if one.pieces == pieces && one.next == piece + 1 => return AssembleResult::More,
            _ => return AssembleResult::Again,
        }
        begun.remove(&report).map_or(AssembleResult::Again, |one| AssembleResult::Whole(one.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(piece: u32, pieces: u32, bytes: &[u8]) -> ReportChunk {
        ReportChunk { protocol: 1, report: "r".to_owned(), piece, pieces, bytes: bytes.to_vec() }
    }

    #[test]
    fn pieces_make_a_whole() {
        let mut pieces = ReportAssembler::default();
        assert_eq!(pieces.take("w", part(0, 1, b"all")), AssembleResult::Whole(b"all".to_vec()));
        assert_eq!(pieces.take("w", part(0, 3, b"a")), AssembleResult::More);
        assert_eq!(pieces.take("other", part(1, 3, b"x")), AssembleResult::Again);
        assert_eq!(pieces.take("w", part(1, 3, b"b")), AssembleResult::More);
        assert_eq!(pieces.take("w", part(1, 3, b"b")), AssembleResult::More, "said again because its receipt was lost");
        assert_eq!(pieces.take("w", part(2, 3, b"c")), AssembleResult::Whole(b"abc".to_vec()));
        assert_eq!(pieces.take("w", part(2, 3, b"c")), AssembleResult::Again);
    }

    #[test]
    fn nonsense_is_no_report() {
        let mut pieces = ReportAssembler::default();
        for (piece, count) in [(0, 0), (3, 3), (0, u32::MAX)] {
            assert!(matches!(pieces.take("w", part(piece, count, b"")), AssembleResult::Nonsense(_)));
        }
        assert!(matches!(pieces.take("w", part(0, 2, &vec![0; PIECE + 1])), AssembleResult::Nonsense(_)));
        assert_eq!(pieces.take("w", part(0, 3, b"a")), AssembleResult::More);
        assert_eq!(pieces.take("w", part(2, 3, b"c")), AssembleResult::Again);
    }
}
