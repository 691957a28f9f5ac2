//! A whole ledger, row by row: for archives.

use futures_util::TryStreamExt as _;
use sqlx::postgres::PgArguments;
use sqlx::{Arguments as _, AssertSqlSafe, Connection as _, PgConnection, Row as _};

use super::open::New;
use super::progress::ONE_MOMENT;
use super::db_error::AttemptError;
use super::{PostgresLedger, text};
use crate::Result;
use crate::archive::{Cell, Kind, Reader, STATE, RowSink, TABLES, Table};
use crate::integrity_checks::INTEGRITY_QUERIES;

/// Rows that are written at once, unless they are large.
const ROWS: usize = 512;
/// Bytes that are written at once, or what one row has.
const BYTES: usize = 1 << 20;

impl PostgresLedger {
    pub(super) async fn export(&self, sink: &mut dyn RowSink) -> Result<()> {
        // Tried once: what was handed over cannot be taken back.
        let done = async {
            let mut own = self.lanes.take().await?;
            let mut reader = own.begin_with(ONE_MOMENT).await?;
            for table in &TABLES {
                hand_table(&mut reader, table, sink).await?;
            }
            reader.commit().await?;
            self.lanes.give_back(own);
            Ok::<_, AttemptError>(())
        };
        match done.await {
            Ok(()) => Ok(()),
            Err(AttemptError::Store(error)) => Err(error),
            Err(AttemptError::Sql(error)) => Err(self.lanes.explain(&error)),
        }
    }

    /// Makes a ledger of what is read.
    pub(crate) async fn import(url: &str, slug: &str, reader: &mut Reader) -> Result<()> {
        let mut new = New::begin(url, slug, reader.commitment()?).await?;
        let filled = import_rows(&mut new.change, reader).await;
        new.finish(filled).await
    }
}

async fn hand_table(
    reader: &mut PgConnection,
    table: &'static Table,
    sink: &mut dyn RowSink,
) -> Result<(), AttemptError> {
    sink.table(table)?;
    let key = table.columns[..table.key].iter().map(|(name, kind)| match kind {
        // By bytes, whatever the database's language.
        Kind::Text => format!("{name} COLLATE \"C\""),
        _ => (*name).to_owned(),
    });
    let key: Vec<String> = key.collect();
    let sql = format!("SELECT {} FROM {} ORDER BY {}", table.list(), table.name, key.join(", "));
    let mut rows = sqlx::query(AssertSqlSafe(sql)).fetch(reader);
    while let Some(row) = rows.try_next().await? {
        let cells = table.columns.iter().enumerate().map(|(place, (_, kind))| match kind {
            Kind::Number => Ok(row.try_get::<Option<i64>, _>(place)?.map_or(Cell::Empty, Cell::Number)),
            Kind::Text => Ok(text::maybe_text(&row, place)?.map_or(Cell::Empty, Cell::Text)),
            Kind::Bytes => Ok(row.try_get::<Option<Vec<u8>>, _>(place)?.map_or(Cell::Empty, Cell::Bytes)),
        });
        sink.row(&cells.collect::<Result<Vec<Cell>, sqlx::Error>>()?)?;
    }
    Ok(())
}

async fn import_rows(change: &mut PgConnection, reader: &mut Reader) -> Result<(), AttemptError> {
    let mut states = Vec::new();
    for table in &TABLES {
        let mut some = RowBatch::new(table);
        while let Some(mut row) = reader.row(table)? {
            if table.name == "phase" {
                // It takes matches only while it runs.
                let state = std::mem::replace(&mut row[STATE], Cell::Text("running".to_owned()));
                states.push((row[0].clone(), state));
            }
            some.push(row);
            if some.is_full() {
                some.write(change).await?;
            }
        }
        some.write(change).await?;
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
            return Err(reader.wrong(format!("{what}: {rows}")).into());
        }
    }
    Ok(())
}

/// Rows of a table on their way in.
struct RowBatch {
    table: &'static Table,
    rows: Vec<Vec<Cell>>,
    bytes: usize,
}

impl RowBatch {
    const fn new(table: &'static Table) -> Self {
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
        self.rows.len() >= ROWS || self.bytes >= BYTES
    }

    async fn write(&mut self, change: &mut PgConnection) -> Result<(), sqlx::Error> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut values = PgArguments::default();
        let mut places = Vec::new();
        for (place, (_, kind)) in self.table.columns.iter().enumerate() {
            let cells = self.rows.iter_mut().map(|row| std::mem::replace(&mut row[place], Cell::Empty));
            let (added, array) = match kind {
                Kind::Number => (values.add(cells.map(|cell| number(&cell)).collect::<Vec<_>>()), "bigint"),
                Kind::Text => (values.add(cells.map(words).collect::<Vec<_>>()), "text"),
                Kind::Bytes => (values.add(cells.map(bytes).collect::<Vec<_>>()), "bytea"),
            };
            added.map_err(sqlx::Error::Encode)?;
            places.push(format!("${}::{array}[]", place + 1));
        }
        let (name, list) = (self.table.name, self.table.list());
        let sql = format!("INSERT INTO {name} ({list}) SELECT * FROM unnest({})", places.join(", "));
        sqlx::query_with(AssertSqlSafe(sql), values).execute(change).await?;
        self.rows.clear();
        self.bytes = 0;
        Ok(())
    }
}

const fn number(cell: &Cell) -> Option<i64> {
    if let Cell::Number(number) = cell { Some(*number) } else { None }
}

fn words(cell: Cell) -> Option<String> {
    if let Cell::Text(words) = cell { Some(text::kept(&words).into_owned()) } else { None }
}

fn bytes(cell: Cell) -> Option<Vec<u8>> {
    if let Cell::Bytes(bytes) = cell { Some(bytes) } else { None }
}
