//! Reading an archive. It may come from anywhere: nothing in it is believed before it was looked at.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use agon_core::record::Digest;
use sha2::{Digest as _, Sha256};
use zstd::stream::read::Decoder;

use super::tables::COMMITMENT;
use super::{ANY_FORM, Cell, Kind, MAGIC, TABLES, Table, failed};
use crate::{Result, StoreError};

/// No text and no block of bytes is longer.
const LONGEST: u64 = 1 << 30;

/// An archive that is being read.
pub struct Reader {
    path: PathBuf,
    from: BufReader<Decoder<'static, BufReader<File>>>,
    hash: Sha256,
    /// Which of [`TABLES`] is being read.
    place: usize,
    /// The only row of the first table: it says which ledger is to be made.
    first: Option<Vec<Cell>>,
}

impl Reader {
    /// Opens it, and looks at its beginning.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = failed(path, "read");
        let mut file = BufReader::new(File::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => StoreError::Archive {
                place: path.display().to_string(),
                what: "there is no such file".to_owned(),
            },
            _ => failed(error),
        })?);
        let mut magic = Vec::new();
        file.by_ref().take(MAGIC.len() as u64).read_until(b'\n', &mut magic).map_err(failed)?;
        let wrong =
            |what: &str| StoreError::Archive { place: path.display().to_string(), what: what.to_owned() };
        if !magic.starts_with(ANY_FORM.as_bytes()) {
            return Err(wrong("it does not begin like one"));
        }
        if magic != MAGIC.as_bytes() {
            return Err(wrong("it was written by a newer Agon"));
        }
        let from = BufReader::new(Decoder::with_buffer(file).map_err(failed)?);
        let mut reader = Self { path: path.to_owned(), from, hash: Sha256::new(), place: 0, first: None };
        reader.header(&TABLES[0])?;
        reader.first = reader.next_row()?;
        Ok(reader)
    }

    /// What the secret seed was committed to.
    pub fn commitment(&self) -> Result<Digest> {
        let digest = match self.first.as_ref().and_then(|row| row.get(COMMITMENT)) {
            Some(Cell::Bytes(bytes)) => <[u8; 32]>::try_from(&bytes[..]).ok(),
            _ => None,
        };
        digest.map(Digest).ok_or_else(|| self.wrong("there is no competition in it"))
    }

    /// The next row of this table; after the last one the next table's follow.
    pub fn row(&mut self, table: &'static Table) -> Result<Option<Vec<Cell>>> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        debug_assert_eq!(table.name, TABLES[self.place].name);
        let row = self.next_row()?;
        if row.is_none() {
            self.place += 1;
            match TABLES.get(self.place) {
                Some(next) => self.header(next)?,
                None => self.end()?,
            }
        }
        Ok(row)
    }

    /// What is wrong with it.
    pub fn wrong(&self, what: impl Into<String>) -> StoreError {
        StoreError::Archive { place: self.path.display().to_string(), what: what.into() }
    }

    fn header(&mut self, table: &'static Table) -> Result<()> {
        let (name, list) = (self.text()?, self.text()?);
        if name != table.name || list != table.list() {
            return Err(self.wrong(format!("`{}` is expected, and there is `{name}`", table.name)));
        }
        Ok(())
    }

    /// The sum must be right, and nothing behind it.
    fn end(&mut self) -> Result<()> {
        let hash: [u8; 32] = self.hash.clone().finalize().into();
        let (mut kept, mut more) = ([0; 32], [0]);
        self.from.read_exact(&mut kept).map_err(|error| self.broken(&error))?;
        let behind = self.from.read(&mut more).map_err(|error| self.broken(&error))?;
        if kept != hash || behind > 0 {
            return Err(self.wrong("its sum is not right"));
        }
        Ok(())
    }

    fn next_row(&mut self) -> Result<Option<Vec<Cell>>> {
        let table = &TABLES[self.place];
        match self.byte()? {
            0 => return Ok(None),
            1 => {}
            _ => return Err(self.wrong("a row that is none")),
        }
        let mut row = Vec::with_capacity(table.columns.len());
        for (name, kind) in table.columns {
            let cell = match (self.byte()?, kind) {
                (0, _) => Cell::Empty,
                (1, Kind::Number) => {
                    let number = self.number()?;
                    Cell::Number((number >> 1) as i64 ^ -((number & 1) as i64))
                }
                (2, Kind::Text) => Cell::Text(self.text()?),
                (3, Kind::Bytes) => Cell::Bytes(self.bytes()?),
                _ => return Err(self.wrong(format!("`{name}` of `{}` is of another kind", table.name))),
            };
            row.push(cell);
        }
        Ok(Some(row))
    }

    fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        self.from.read_exact(&mut byte).map_err(|error| self.broken(&error))?;
        self.hash.update(byte);
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
        Err(self.wrong("a number that is too long"))
    }

    fn bytes(&mut self) -> Result<Vec<u8>> {
        let length = self.number()?;
        if length > LONGEST {
            return Err(self.wrong("something in it is too long"));
        }
        // Grows with what is really there.
        let mut bytes = Vec::new();
        let read = (&mut self.from).take(length).read_to_end(&mut bytes);
        let read = read.map_err(|error| self.broken(&error))?;
        if (read as u64) < length {
            return Err(self.wrong("it ends too early"));
        }
        self.hash.update(&bytes);
        Ok(bytes)
    }

    fn text(&mut self) -> Result<String> {
        String::from_utf8(self.bytes()?).map_err(|_| self.wrong("text that is none"))
    }

    fn broken(&self, error: &io::Error) -> StoreError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => self.wrong("it ends too early"),
            _ => self.wrong(error.to_string()),
        }
    }
}
