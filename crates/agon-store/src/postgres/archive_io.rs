//! Export and import of all rows, for archives.

use futures_util::TryStreamExt as _;
use sqlx::postgres::PgArguments;
use sqlx::{Arguments as _, AssertSqlSafe, Connection as _, PgConnection, Row as _};

use super::db_error::AttemptError;
use super::open::LedgerCreation;
use super::progress::BEGIN_CONSISTENT_READ;
use super::{PostgresLedger, text};
use crate::Result;
use crate::archive::{
    ArchiveReader, Cell, ColumnKind, LedgerDigest, LedgerDigester, PHASE_STATE_COLUMN, RowSink, SummarySink,
    TABLES, TableSchema, verify,
};
use crate::integrity_checks::INTEGRITY_QUERIES;

/// Maximum number of rows per insert.
const MAX_BATCH_ROWS: usize = 512;
/// An insert stops growing at this number of bytes. A single larger row is inserted alone.
const MAX_BATCH_BYTES: usize = 1 << 20;

impl PostgresLedger {
    pub(super) async fn export(&self, sink: &mut dyn RowSink) -> Result<()> {
        // No retry: rows that were passed to the sink cannot be taken back.
        let done = async {
            let mut connection = self.pool.take().await?;
            let mut reader = connection.begin_with(BEGIN_CONSISTENT_READ).await?;
            for table in &TABLES {
                export_table(&mut reader, table, sink).await?;
            }
            reader.commit().await?;
            self.pool.give_back(connection);
            Ok::<_, AttemptError>(())
        };
        match done.await {
            Ok(()) => Ok(()),
            Err(AttemptError::Store(error)) => Err(error),
            Err(AttemptError::Sql(error)) => Err(self.pool.explain(&error)),
        }
    }

    /// Creates a ledger from an archive. Its content is read back and compared with the archive before the commit.
    pub(crate) async fn import(url: &str, slug: &str, reader: &mut ArchiveReader) -> Result<()> {
        let mut new = LedgerCreation::begin(url, slug, reader.commitment()?).await?;
        let filled = async {
            import_rows(&mut new.change, reader).await?;
            let mut sink = SummarySink::default();
            for table in &TABLES {
                export_table(&mut new.change, table, &mut sink).await?;
            }
            Ok(verify(&new.place, &reader.summary(), &sink.finish())?)
        };
        let filled: Result<(), AttemptError> = filled.await;
        new.finish(filled).await
    }
}

pub async fn match_digest(connection: &mut PgConnection) -> Result<LedgerDigest, AttemptError> {
    let mut digester = LedgerDigester::default();
    let mut rows = sqlx::query("SELECT phase, stage, number, digest FROM match").fetch(connection);
    while let Some(row) = rows.try_next().await? {
        digester.add([row.try_get(0)?, row.try_get(1)?, row.try_get(2)?], row.try_get(3)?);
    }
    Ok(digester.finish())
}

async fn export_table(
    reader: &mut PgConnection,
    table: &'static TableSchema,
    sink: &mut dyn RowSink,
) -> Result<(), AttemptError> {
    sink.table(table)?;
    let key = table.columns[..table.key].iter().map(|(name, kind)| match kind {
        // Byte order, independent of the locale of the database.
        ColumnKind::Text => format!("{name} COLLATE \"C\""),
        _ => (*name).to_owned(),
    });
    let key: Vec<String> = key.collect();
    let sql = format!("SELECT {} FROM {} ORDER BY {}", table.column_list(), table.name, key.join(", "));
    let mut rows = sqlx::query(AssertSqlSafe(sql)).fetch(reader);
    while let Some(row) = rows.try_next().await? {
        let cells = table.columns.iter().enumerate().map(|(index, (_, kind))| match kind {
            ColumnKind::Number => Ok(row.try_get::<Option<i64>, _>(index)?.map_or(Cell::Empty, Cell::Number)),
            ColumnKind::Text => Ok(text::optional_text(&row, index)?.map_or(Cell::Empty, Cell::Text)),
            ColumnKind::Bytes => {
                Ok(row.try_get::<Option<Vec<u8>>, _>(index)?.map_or(Cell::Empty, Cell::Bytes))
            }
        });
        sink.row(&cells.collect::<Result<Vec<Cell>, sqlx::Error>>()?)?;
    }
    Ok(())
}

/// An invalid archive, if a row violates a constraint of the ledger (class 23 of SQLSTATE).
fn invalid_row(reader: &ArchiveReader, table: &TableSchema, error: sqlx::Error) -> AttemptError {
    match error.as_database_error() {
        Some(database) if database.code().is_some_and(|code| code.starts_with("23")) => {
            let what = database.message();
            reader.invalid(format!("a row of table `{}` is not valid: {what}", table.name)).into()
        }
        _ => error.into(),
    }
}

async fn import_rows(change: &mut PgConnection, reader: &mut ArchiveReader) -> Result<(), AttemptError> {
    let mut states = Vec::new();
    for table in &TABLES {
        let mut batch = RowBatch::new(table);
        while let Some(mut row) = reader.row(table)? {
            if table.name == "phase" {
                // A phase accepts matches only while it runs.
                let state = std::mem::replace(&mut row[PHASE_STATE_COLUMN], Cell::Text("running".to_owned()));
                states.push((row[0].clone(), state));
            }
            batch.push(row);
            if batch.is_full() {
                batch.write(change).await.map_err(|error| invalid_row(reader, table, error))?;
            }
        }
        batch.write(change).await.map_err(|error| invalid_row(reader, table, error))?;
    }
    for (phase, state) in states {
        if let (Cell::Number(phase), Cell::Text(state)) = (phase, state) {
            let sql = "UPDATE phase SET state = $1 WHERE phase = $2";
            sqlx::query(sql).bind(state).bind(phase).execute(&mut *change).await?;
        }
    }
    sqlx::query("UPDATE log_size SET bytes = (SELECT coalesce(sum(length(bytes)), 0) FROM log)")
        .execute(&mut *change)
        .await?;
    for (what, text) in INTEGRITY_QUERIES {
        let rows: i64 = sqlx::query_scalar(text).fetch_one(&mut *change).await?;
        if rows > 0 {
            return Err(reader.invalid(format!("{what}: {rows}")).into());
        }
    }
    Ok(())
}

/// Rows of a table to insert at once.
struct RowBatch {
    table: &'static TableSchema,
    rows: Vec<Vec<Cell>>,
    bytes: usize,
}

impl RowBatch {
    const fn new(table: &'static TableSchema) -> Self {
        Self { table, rows: Vec::new(), bytes: 0 }
    }

    fn push(&mut self, row: Vec<Cell>) {
        let size = |cell: &Cell| match cell {
            Cell::Empty | Cell::Number(_) => 8,
            Cell::Text(text) => text.len(),
            Cell::Bytes(bytes) => bytes.len(),
        };
        self.bytes += row.iter().map(size).sum::<usize>();
        self.rows.push(row);
    }

    const fn is_full(&self) -> bool {
        self.rows.len() >= MAX_BATCH_ROWS || self.bytes >= MAX_BATCH_BYTES
    }

    async fn write(&mut self, change: &mut PgConnection) -> Result<(), sqlx::Error> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut values = PgArguments::default();
        let mut placeholders = Vec::new();
        for (index, (_, kind)) in self.table.columns.iter().enumerate() {
            let cells = self.rows.iter_mut().map(|row| std::mem::replace(&mut row[index], Cell::Empty));
            let (added, array) = match kind {
                ColumnKind::Number => {
                    (values.add(cells.map(|cell| as_number(&cell)).collect::<Vec<_>>()), "bigint")
                }
                ColumnKind::Text => (values.add(cells.map(into_text).collect::<Vec<_>>()), "text"),
                ColumnKind::Bytes => (values.add(cells.map(into_bytes).collect::<Vec<_>>()), "bytea"),
            };
            added.map_err(sqlx::Error::Encode)?;
            placeholders.push(format!("${}::{array}[]", index + 1));
        }
        let (name, list) = (self.table.name, self.table.column_list());
        let sql = format!("INSERT INTO {name} ({list}) SELECT * FROM unnest({})", placeholders.join(", "));
        sqlx::query_with(AssertSqlSafe(sql), values).execute(change).await?;
        self.rows.clear();
        self.bytes = 0;
        Ok(())
    }
}

const fn as_number(cell: &Cell) -> Option<i64> {
    if let Cell::Number(number) = cell { Some(*number) } else { None }
}

fn into_text(cell: Cell) -> Option<String> {
    if let Cell::Text(text) = cell { Some(text::escape(&text).into_owned()) } else { None }
}

fn into_bytes(cell: Cell) -> Option<Vec<u8>> {
    if let Cell::Bytes(bytes) = cell { Some(bytes) } else { None }
}
