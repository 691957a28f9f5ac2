//! Writing an archive.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use zstd::stream::write::Encoder;

use super::content::{ContentSummary, RowEncoder};
use super::{Cell, MAGIC, RowSink, TableSchema, io_failed};
use crate::Result;

/// A low level, because records and folders are already compressed.
const ZSTD_LEVEL: i32 = 3;
/// Bytes passed to the compressor at once. A fixed size makes the archive reproducible.
const BUFFER_BYTES: usize = 128 << 10;

/// Writes an archive.
pub struct ArchiveWriter<'p> {
    out: BufWriter<Encoder<'static, File>>,
    encoder: RowEncoder,
    path: &'p Path,
}

impl<'p> ArchiveWriter<'p> {
    pub fn new(mut file: File, path: &'p Path) -> Result<Self> {
        let encoder = file.write_all(MAGIC.as_bytes()).and_then(|()| Encoder::new(file, ZSTD_LEVEL));
        let out = BufWriter::with_capacity(BUFFER_BYTES, encoder.map_err(io_failed(path, "write"))?);
        Ok(Self { out, encoder: RowEncoder::default(), path })
    }

    /// Completes the archive and returns the summary of its content.
    pub fn finish(mut self) -> Result<ContentSummary> {
        let path = self.path;
        let finished = self.out.write_all(self.encoder.end()).and_then(|()| {
            let summary = self.encoder.summary();
            self.out.write_all(&summary.hash)?;
            let encoder = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
            encoder.finish()?.sync_all()?;
            Ok(summary)
        });
        finished.map_err(io_failed(path, "write"))
    }
}

impl RowSink for ArchiveWriter<'_> {
    fn table(&mut self, table: &'static TableSchema) -> Result<()> {
        self.out.write_all(self.encoder.table(table)).map_err(io_failed(self.path, "write"))
    }

    fn row(&mut self, row: &[Cell]) -> Result<()> {
        self.out.write_all(self.encoder.row(row)).map_err(io_failed(self.path, "write"))
    }
}
