//! Writing an archive.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use sha2::{Digest as _, Sha256};
use zstd::stream::write::Encoder;

use super::{Cell, MAGIC, RowSink, Table, failed};
use crate::encoding::{put, put_signed};
use crate::{Result, StoreError};

/// Records and folders are packed already.
const LEVEL: i32 = 3;
/// What is packed at once: the same bytes in the same pieces give the same archive.
const PIECE: usize = 128 << 10;

/// An archive that is being written.
pub struct Writer<'p> {
    out: BufWriter<Encoder<'static, File>>,
    hash: Sha256,
    path: &'p Path,
    /// Whether rows came before: the last table is to be ended.
    open: bool,
    /// One row.
    row: Vec<u8>,
}

impl<'p> Writer<'p> {
    pub fn new(mut file: File, path: &'p Path) -> Result<Self> {
        let begun = file.write_all(MAGIC.as_bytes()).and_then(|()| Encoder::new(file, LEVEL));
        let out = BufWriter::with_capacity(PIECE, begun.map_err(failed(path, "write"))?);
        Ok(Self { out, hash: Sha256::new(), path, open: false, row: Vec::new() })
    }

    /// Writes what stands in `row`, and begins the next.
    fn send(&mut self) -> Result<()> {
        self.hash.update(&self.row);
        let sent = self.out.write_all(&self.row);
        self.row.clear();
        sent.map_err(self.failed())
    }

    /// It is whole.
    pub fn finish(mut self) -> Result<()> {
        self.row.push(0);
        self.send()?;
        let hash = self.hash.clone().finalize();
        let path = self.path;
        let finished = self.out.write_all(&hash).and_then(|()| {
            let packer = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
            packer.finish()?.sync_all()
        });
        finished.map_err(failed(path, "write"))
    }

    fn failed(&self) -> impl Fn(io::Error) -> StoreError + use<'p> {
        failed(self.path, "write")
    }
}

fn text(row: &mut Vec<u8>, text: &[u8]) {
    put(row, text.len() as u64);
    row.extend_from_slice(text);
}

impl RowSink for Writer<'_> {
    fn table(&mut self, table: &'static Table) -> Result<()> {
        if std::mem::replace(&mut self.open, true) {
            self.row.push(0);
        }
        text(&mut self.row, table.name.as_bytes());
        text(&mut self.row, table.list().as_bytes());
        self.send()
    }

    fn row(&mut self, row: &[Cell]) -> Result<()> {
        self.row.push(1);
        for cell in row {
            match cell {
                Cell::Empty => self.row.push(0),
                Cell::Number(number) => {
                    self.row.push(1);
                    put_signed(&mut self.row, *number);
                }
                Cell::Text(words) => {
                    self.row.push(2);
                    text(&mut self.row, words.as_bytes());
                }
                Cell::Bytes(bytes) => {
                    self.row.push(3);
                    text(&mut self.row, bytes);
                }
            }
        }
        self.send()
    }
}
