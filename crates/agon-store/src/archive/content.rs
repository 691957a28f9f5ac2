//! The content of a ledger in the encoding of archives: its hash, and the digest of its matches. Equal hashes mean equal content of all
//! tables, wherever the ledger is stored.

use std::fmt::Write as _;

use agon_core::record::Digest;
use sha2::{Digest as _, Sha256};

use super::tables::{MATCH_DIGEST_COLUMN, MATCH_KEY_COLUMNS};
use super::{Cell, RowSink, TableSchema};
use crate::Result;
use crate::encoding::{write_signed_varint, write_varint};

/// Number of matches of a ledger, and a digest of all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LedgerDigest {
    /// Number of matches.
    pub matches: u64,
    /// SHA-256 of one line for each match, in the order of their keys: `phase|stage|number|digest`, the digest in hexadecimal digits. This
    /// is what `sqlite3` and `psql -At` print.
    pub digest: Digest,
}

/// Computes a [`LedgerDigest`] from matches in any order.
#[derive(Default)]
pub struct LedgerDigester(Vec<([i64; 3], Vec<u8>)>);

impl LedgerDigester {
    /// Adds the match with this key (phase, stage, number) and digest.
    pub fn add(&mut self, key: [i64; 3], digest: Vec<u8>) {
        self.0.push((key, digest));
    }

    /// Adds a row of the table `match`.
    fn add_row(&mut self, row: &[Cell]) {
        let number = |column: usize| if let Cell::Number(number) = &row[column] { *number } else { 0 };
        let digest =
            if let Cell::Bytes(bytes) = &row[MATCH_DIGEST_COLUMN] { bytes.clone() } else { Vec::new() };
        self.add(MATCH_KEY_COLUMNS.map(number), digest);
    }

    /// The digest of the matches so far.
    pub fn finish(&mut self) -> LedgerDigest {
        self.0.sort_unstable();
        let mut hash = Sha256::new();
        let mut line = String::new();
        for ([phase, stage, number], digest) in &self.0 {
            line.clear();
            let _ = write!(line, "{phase}|{stage}|{number}|");
            for byte in digest {
                let _ = write!(line, "{byte:02x}");
            }
            line.push('\n');
            hash.update(&line);
        }
        LedgerDigest { matches: self.0.len() as u64, digest: Digest(hash.finalize().into()) }
    }
}

/// Summary of the content of a ledger or an archive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ContentSummary {
    /// SHA-256 of all tables in the encoding of archives: the checksum of an archive.
    pub hash: [u8; 32],
    /// Digest of the matches.
    pub matches: LedgerDigest,
}

/// Collects what [`ContentSummary`] needs, while content is written or read.
#[derive(Default)]
pub struct ContentHasher {
    hash: Sha256,
    matches: LedgerDigester,
}

impl ContentHasher {
    /// Adds encoded bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
    }

    /// Looks at a row of a table.
    pub fn see_row(&mut self, table: &TableSchema, row: &[Cell]) {
        if table.name == "match" {
            self.matches.add_row(row);
        }
    }

    /// The hash of the bytes so far.
    pub fn hash(&self) -> [u8; 32] {
        self.hash.clone().finalize().into()
    }

    /// The summary of the content so far.
    pub fn summary(&mut self) -> ContentSummary {
        ContentSummary { hash: self.hash(), matches: self.matches.finish() }
    }
}

/// Encodes tables and rows, and hashes them. Each method returns the bytes to write.
#[derive(Default)]
pub struct RowEncoder {
    hasher: ContentHasher,
    table: Option<&'static TableSchema>,
    bytes: Vec<u8>,
}

impl RowEncoder {
    /// Ends the current table, if there is one, and starts another.
    pub fn table(&mut self, table: &'static TableSchema) -> &[u8] {
        self.bytes.clear();
        if self.table.replace(table).is_some() {
            self.bytes.push(0);
        }
        write_bytes(&mut self.bytes, table.name.as_bytes());
        write_bytes(&mut self.bytes, table.column_list().as_bytes());
        self.encoded()
    }

    /// Encodes a row of the current table.
    pub fn row(&mut self, row: &[Cell]) -> &[u8] {
        self.bytes.clear();
        self.bytes.push(1);
        for cell in row {
            match cell {
                Cell::Empty => self.bytes.push(0),
                Cell::Number(number) => {
                    self.bytes.push(1);
                    write_signed_varint(&mut self.bytes, *number);
                }
                Cell::Text(text) => {
                    self.bytes.push(2);
                    write_bytes(&mut self.bytes, text.as_bytes());
                }
                Cell::Bytes(bytes) => {
                    self.bytes.push(3);
                    write_bytes(&mut self.bytes, bytes);
                }
            }
        }
        if let Some(table) = self.table {
            self.hasher.see_row(table, row);
        }
        self.encoded()
    }

    /// Ends the last table.
    pub fn end(&mut self) -> &[u8] {
        self.bytes.clear();
        self.bytes.push(0);
        self.encoded()
    }

    /// The summary of everything encoded so far.
    pub fn summary(&mut self) -> ContentSummary {
        self.hasher.summary()
    }

    fn encoded(&mut self) -> &[u8] {
        self.hasher.update(&self.bytes);
        &self.bytes
    }
}

fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    write_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Summarises the content of a ledger that is passed to it, and keeps nothing.
#[derive(Default)]
pub struct SummarySink(RowEncoder);

impl SummarySink {
    /// The summary, after the last row.
    pub fn finish(mut self) -> ContentSummary {
        self.0.end();
        self.0.summary()
    }
}

impl RowSink for SummarySink {
    fn table(&mut self, table: &'static TableSchema) -> Result<()> {
        self.0.table(table);
        Ok(())
    }

    fn row(&mut self, row: &[Cell]) -> Result<()> {
        self.0.row(row);
        Ok(())
    }
}
