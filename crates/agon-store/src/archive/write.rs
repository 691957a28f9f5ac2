//! Writing an archive.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use agon_files::AtomicFile;
use sha2::{Digest as _, Sha256};
use zstd::stream::write::Encoder;

use super::{Cell, MAGIC, RowSink, TableSchema, io_failed};
use crate::encoding::{write_signed_varint, write_varint};
use crate::{Result, StoreError};

/// A low level, because records and folders are already compressed.
const ZSTD_LEVEL: i32 = 3;
/// Bytes passed to the compressor at once. A fixed size makes the archive reproducible.
const BUFFER_BYTES: usize = 128 << 10;

/// Writes an archive.
pub struct ArchiveWriter<'p> {
    out: BufWriter<Encoder<'static, AtomicFile>>,
    hash: Sha256,
    path: &'p Path,
    /// Whether a table was started and needs its end marker.
    in_table: bool,
    /// Bytes of the current row.
    row: Vec<u8>,
}

impl<'p> ArchiveWriter<'p> {
    pub fn new(mut file: AtomicFile, path: &'p Path) -> Result<Self> {
        let encoder = file.write_all(MAGIC.as_bytes()).and_then(|()| Encoder::new(file, ZSTD_LEVEL));
        let out = BufWriter::with_capacity(BUFFER_BYTES, encoder.map_err(io_failed(path, "write"))?);
        Ok(Self { out, hash: Sha256::new(), path, in_table: false, row: Vec::new() })
    }

    /// Writes the bytes in `row` and clears it.
    fn flush_row(&mut self) -> Result<()> {
        self.hash.update(&self.row);
        let written = self.out.write_all(&self.row);
        self.row.clear();
        written.map_err(self.failed())
    }

    /// Completes the archive. Returns the file, which has no name yet.
    pub fn finish(mut self) -> Result<AtomicFile> {
        self.row.push(0);
        self.flush_row()?;
        let hash = self.hash.clone().finalize();
        let path = self.path;
        let finished = self.out.write_all(&hash).and_then(|()| {
            let encoder = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
            encoder.finish()
        });
        finished.map_err(io_failed(path, "write"))
    }

    fn failed(&self) -> impl Fn(io::Error) -> StoreError + use<'p> {
        io_failed(self.path, "write")
    }
}

fn write_bytes(row: &mut Vec<u8>, text: &[u8]) {
    write_varint(row, text.len() as u64);
    row.extend_from_slice(text);
}

impl RowSink for ArchiveWriter<'_> {
    fn table(&mut self, table: &'static TableSchema) -> Result<()> {
        if std::mem::replace(&mut self.in_table, true) {
            self.row.push(0);
        }
        write_bytes(&mut self.row, table.name.as_bytes());
        write_bytes(&mut self.row, table.column_list().as_bytes());
        self.flush_row()
    }

    fn row(&mut self, row: &[Cell]) -> Result<()> {
        self.row.push(1);
        for cell in row {
            match cell {
                Cell::Empty => self.row.push(0),
                Cell::Number(number) => {
                    self.row.push(1);
                    write_signed_varint(&mut self.row, *number);
                }
                Cell::Text(text) => {
                    self.row.push(2);
                    write_bytes(&mut self.row, text.as_bytes());
                }
                Cell::Bytes(bytes) => {
                    self.row.push(3);
                    write_bytes(&mut self.row, bytes);
                }
            }
        }
        self.flush_row()
    }
}
