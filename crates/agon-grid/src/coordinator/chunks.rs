//! Assembles reports from chunks.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::messages::{MAX_CHUNK_BYTES, ReportChunk};

/// Maximum size of a report.
const MAX_REPORT_BYTES: usize = 256 << 20;
/// A partial report is dropped after this time without a chunk. The worker then sends it again from the start.
const PARTIAL_REPORT_TIMEOUT: Duration = Duration::from_mins(2);
/// Maximum number of partial reports of a worker. One per core would be enough.
const MAX_PARTIAL_REPORTS: usize = 4096;

/// Result of adding a chunk.
#[derive(PartialEq, Eq, Debug)]
pub enum AssembleResult {
    /// The report is complete.
    Complete(Vec<u8>),
    /// More chunks are missing.
    Incomplete,
    /// An earlier chunk is missing: the worker must send the whole report again.
    Resend,
    /// The chunk is invalid.
    Invalid(String),
}

struct PartialReport {
    chunks: u32,
    next_chunk: u32,
    bytes: Vec<u8>,
    updated: Instant,
}

/// Partial reports by worker and report id.
#[derive(Default)]
pub struct ReportAssembler(HashMap<String, HashMap<String, PartialReport>>);

impl ReportAssembler {
    /// Adds a chunk.
    pub fn add(&mut self, worker: &str, message: ReportChunk) -> AssembleResult {
        let ReportChunk { report, chunk, chunks, bytes, .. } = message;
        if chunks == 0
            || chunk >= chunks
            || bytes.len() > MAX_CHUNK_BYTES
            || chunks as usize > MAX_REPORT_BYTES / MAX_CHUNK_BYTES
        {
            return AssembleResult::Invalid(format!(
                "chunk {} of {chunks} with {} bytes",
                u64::from(chunk) + 1,
                bytes.len()
            ));
        }
        if chunks == 1 {
            return AssembleResult::Complete(bytes);
        }
        let partials = self.0.entry(worker.to_owned()).or_default();
        partials.retain(|_, partial| partial.updated.elapsed() < PARTIAL_REPORT_TIMEOUT);
        if chunk == 0 {
            if partials.len() >= MAX_PARTIAL_REPORTS {
                partials.clear();
            }
            partials.insert(report, PartialReport { chunks, next_chunk: 1, bytes, updated: Instant::now() });
            return AssembleResult::Incomplete;
        }
        match partials.get_mut(&report) {
            Some(partial) if partial.chunks == chunks && partial.next_chunk == chunk => {
                partial.bytes.extend_from_slice(&bytes);
                (partial.next_chunk, partial.updated) = (chunk + 1, Instant::now());
                if partial.next_chunk < chunks {
                    return AssembleResult::Incomplete;
                }
            }
            // The ack was lost and the worker repeats the chunk.
            Some(partial) if partial.chunks == chunks && partial.next_chunk == chunk + 1 => {
                return AssembleResult::Incomplete;
            }
            _ => return AssembleResult::Resend,
        }
        partials
            .remove(&report)
            .map_or(AssembleResult::Resend, |partial| AssembleResult::Complete(partial.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(chunk: u32, chunks: u32, bytes: &[u8]) -> ReportChunk {
        ReportChunk { protocol: 1, report: "r".to_owned(), chunk, chunks, bytes: bytes.to_vec() }
    }

    #[test]
    fn add_chunks_in_order_gives_the_report() {
        let mut assembler = ReportAssembler::default();
        assert_eq!(assembler.add("w", message(0, 1, b"all")), AssembleResult::Complete(b"all".to_vec()));
        assert_eq!(assembler.add("w", message(0, 3, b"a")), AssembleResult::Incomplete);
        assert_eq!(assembler.add("other", message(1, 3, b"x")), AssembleResult::Resend);
        assert_eq!(assembler.add("w", message(1, 3, b"b")), AssembleResult::Incomplete);
        assert_eq!(
            assembler.add("w", message(1, 3, b"b")),
            AssembleResult::Incomplete,
            "repeated because its ack was lost"
        );
        assert_eq!(assembler.add("w", message(2, 3, b"c")), AssembleResult::Complete(b"abc".to_vec()));
        assert_eq!(assembler.add("w", message(2, 3, b"c")), AssembleResult::Resend);
    }

    #[test]
    fn add_invalid_chunks_are_rejected() {
        let mut assembler = ReportAssembler::default();
        for (chunk, chunks) in [(0, 0), (3, 3), (0, u32::MAX)] {
            assert!(matches!(assembler.add("w", message(chunk, chunks, b"")), AssembleResult::Invalid(_)));
        }
        assert!(matches!(
            assembler.add("w", message(0, 2, &vec![0; MAX_CHUNK_BYTES + 1])),
            AssembleResult::Invalid(_)
        ));
        assert_eq!(assembler.add("w", message(0, 3, b"a")), AssembleResult::Incomplete);
        assert_eq!(assembler.add("w", message(2, 3, b"c")), AssembleResult::Resend);
    }
}
