//! Reading an archive. The file is untrusted, so everything in it is validated.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use agon_core::record::Digest;
use zstd::stream::read::Decoder;

use super::content::{ContentHasher, ContentSummary, RowEncoder};
use super::tables::COMMITMENT_COLUMN;
use super::{
    Cell, ColumnKind, MAGIC, MAGIC_PREFIX, PREVIOUS_MAGICS, PREVIOUS_TABLE_COUNT, TABLES, TableSchema,
    io_failed,
};
use crate::{Result, StoreError};

/// Maximum length of a text or byte value.
const MAX_VALUE_BYTES: u64 = 1 << 30;

/// Reads an archive.
pub struct ArchiveReader {
    path: PathBuf,
    input: BufReader<Decoder<'static, BufReader<File>>>,
    hasher: ContentHasher,
    /// Index of the current table in [`TABLES`].
    table_index: usize,
    /// Number of tables in the archive. An older version lacks the last ones.
    table_count: usize,
    /// The only row of the first table. It is read early because it identifies the ledger to create.
    first_row: Option<Vec<Cell>>,
}

impl ArchiveReader {
    /// Opens an archive and checks its header.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = io_failed(path, "read");
        let mut file = BufReader::new(File::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => StoreError::InvalidArchive {
                place: path.display().to_string(),
                what: "there is no such file".to_owned(),
            },
            _ => failed(error),
        })?);
        let mut magic = Vec::new();
        file.by_ref().take(MAGIC.len() as u64).read_until(b'\n', &mut magic).map_err(failed)?;
        let invalid = |what: &str| StoreError::InvalidArchive {
            place: path.display().to_string(),
            what: what.to_owned(),
        };
        if !magic.starts_with(MAGIC_PREFIX.as_bytes()) {
            return Err(invalid("it does not start with the header of an archive"));
        }
        let is_previous = PREVIOUS_MAGICS.map(str::as_bytes).contains(&magic.as_slice());
        if magic != MAGIC.as_bytes() && !is_previous {
            return Err(invalid("it was written by a newer Agon"));
        }
        let input = BufReader::new(Decoder::with_buffer(file).map_err(failed)?);
        let mut reader = Self {
            path: path.to_owned(),
            input,
            hasher: ContentHasher::default(),
            table_index: 0,
            table_count: if is_previous { PREVIOUS_TABLE_COUNT } else { TABLES.len() },
            first_row: None,
        };
        reader.header(&TABLES[0])?;
        reader.first_row = reader.next_row()?;
        Ok(reader)
    }

    /// Commitment to the secret seed.
    pub fn commitment(&self) -> Result<Digest> {
        let digest = match self.first_row.as_ref().and_then(|row| row.get(COMMITMENT_COLUMN)) {
            Some(Cell::Bytes(bytes)) => <[u8; 32]>::try_from(&bytes[..]).ok(),
            _ => None,
        };
        digest.map(Digest).ok_or_else(|| self.invalid("it contains no competition"))
    }

    /// Next row of this table. Returns `None` after the last row and moves to the next table.
    pub fn row(&mut self, table: &'static TableSchema) -> Result<Option<Vec<Cell>>> {
        if let Some(first_row) = self.first_row.take() {
            return Ok(Some(first_row));
        }
        debug_assert_eq!(table.name, TABLES[self.table_index].name);
        if self.table_index >= self.table_count {
            self.add_missing_table(table);
            return Ok(None);
        }
        let row = self.next_row()?;
        if row.is_none() {
            self.table_index += 1;
            match TABLES.get(self.table_index).filter(|_| self.table_index < self.table_count) {
                Some(next) => self.header(next)?,
                None => self.end()?,
            }
        }
        Ok(row)
    }

    /// Reads the rest of the archive, checks it, and returns the summary of its content.
    pub fn read_to_end(mut self) -> Result<ContentSummary> {
        for table in &TABLES {
            while self.row(table)?.is_some() {}
        }
        Ok(self.summary())
    }

    /// Summary of the content, after the last row.
    pub fn summary(&mut self) -> ContentSummary {
        self.hasher.summary()
    }

    /// Error that says what is wrong with the archive.
    pub fn invalid(&self, what: impl Into<String>) -> StoreError {
        StoreError::InvalidArchive { place: self.path.display().to_string(), what: what.into() }
    }

    /// A table that archives of an older version lack has no rows. The hash of the content is that of a ledger of this version.
    fn add_missing_table(&mut self, table: &'static TableSchema) {
        self.table_index += 1;
        let mut encoder = RowEncoder::default();
        self.hasher.update(encoder.table(table));
        self.hasher.update(encoder.end());
    }

    fn header(&mut self, table: &'static TableSchema) -> Result<()> {
        let (name, list) = (self.text()?, self.text()?);
        if name != table.name || list != table.column_list() {
            return Err(self.invalid(format!("expected table `{}`, found `{name}`", table.name)));
        }
        Ok(())
    }

    /// Checks that the checksum is right and that nothing follows it.
    fn end(&mut self) -> Result<()> {
        let hash: [u8; 32] = self.hasher.hash();
        let (mut stored_hash, mut next_byte) = ([0; 32], [0]);
        self.input.read_exact(&mut stored_hash).map_err(|error| self.read_failed(&error))?;
        let read = self.input.read(&mut next_byte).map_err(|error| self.read_failed(&error))?;
        if stored_hash != hash || read > 0 {
            return Err(self.invalid("the checksum is wrong"));
        }
        Ok(())
    }

    fn next_row(&mut self) -> Result<Option<Vec<Cell>>> {
        let table = &TABLES[self.table_index];
        match self.byte()? {
            0 => return Ok(None),
            1 => {}
            _ => return Err(self.invalid("invalid row marker")),
        }
        let mut row = Vec::with_capacity(table.columns.len());
        for (name, kind) in table.columns {
            let cell = match (self.byte()?, kind) {
                (0, _) => Cell::Empty,
                (1, ColumnKind::Number) => {
                    let number = self.number()?;
                    Cell::Number((number >> 1) as i64 ^ -((number & 1) as i64))
                }
                (2, ColumnKind::Text) => Cell::Text(self.text()?),
                (3, ColumnKind::Bytes) => Cell::Bytes(self.bytes()?),
                _ => {
                    return Err(
                        self.invalid(format!("column `{name}` of `{}` has the wrong type", table.name))
                    );
                }
            };
            row.push(cell);
        }
        self.hasher.see_row(table, &row);
        Ok(Some(row))
    }

    fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte).map_err(|error| self.read_failed(&error))?;
        self.hasher.update(&byte);
        Ok(byte[0])
    }

    fn number(&mut self) -> Result<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(self.invalid("a number is too long"))
    }

    fn bytes(&mut self) -> Result<Vec<u8>> {
        let length = self.number()?;
        if length > MAX_VALUE_BYTES {
            return Err(self.invalid("a value is too long"));
        }
        // Grows only with data that exists: the length field is untrusted.
        let mut bytes = Vec::new();
        let read = (&mut self.input).take(length).read_to_end(&mut bytes);
        let read = read.map_err(|error| self.read_failed(&error))?;
        if (read as u64) < length {
            return Err(self.invalid("it ends too early"));
        }
        self.hasher.update(&bytes);
        Ok(bytes)
    }

    fn text(&mut self) -> Result<String> {
        String::from_utf8(self.bytes()?).map_err(|_| self.invalid("text is not valid UTF-8"))
    }

    fn read_failed(&self, error: &io::Error) -> StoreError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => self.invalid("it ends too early"),
            _ => self.invalid(error.to_string()),
        }
    }
}
