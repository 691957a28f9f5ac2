//! Export and import of all rows, for archives.

use std::path::Path;

use futures_util::TryStreamExt as _;
use sqlx::sqlite::{SqliteArguments, SqliteJournalMode, SqliteSynchronous};
use sqlx::{Arguments as _, AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _, SqliteConnection};

use super::{SqliteLedger, db_error, open};
use crate::Result;
use crate::archive::{
    ArchiveReader, Cell, ColumnKind, LedgerDigest, LedgerDigester, PHASE_STATE_COLUMN, RowSink, TABLES,
    TableSchema,
};
use crate::integrity_checks::INTEGRITY_QUERIES;

impl SqliteLedger {
    pub(super) async fn export(&self, sink: &mut dyn RowSink) -> Result<()> {
        let failed = db_error::in_file(&self.path);
        // One transaction reads one consistent state.
        let mut reader = self.readers.begin().await.map_err(&failed)?;
        for table in &TABLES {
            sink.table(table)?;
            let key: Vec<&str> = table.columns[..table.key].iter().map(|(name, _)| *name).collect();
            let text =
                format!("SELECT {} FROM {} ORDER BY {}", table.column_list(), table.name, key.join(", "));
            let mut rows = sqlx::query(AssertSqlSafe(text)).fetch(&mut *reader);
            while let Some(row) = rows.try_next().await.map_err(&failed)? {
                let cells = table.columns.iter().enumerate().map(|(index, (_, kind))| match kind {
                    ColumnKind::Number => {
                        Ok(row.try_get::<Option<i64>, _>(index)?.map_or(Cell::Empty, Cell::Number))
                    }
                    ColumnKind::Text => {
                        Ok(row.try_get::<Option<String>, _>(index)?.map_or(Cell::Empty, Cell::Text))
                    }
                    ColumnKind::Bytes => {
                        Ok(row.try_get::<Option<Vec<u8>>, _>(index)?.map_or(Cell::Empty, Cell::Bytes))
                    }
                });
                let cells: Vec<Cell> = cells.collect::<Result<_, sqlx::Error>>().map_err(&failed)?;
                sink.row(&cells)?;
            }
        }
        Ok(())
    }

    pub(super) async fn read_match_digest(&self) -> Result<LedgerDigest> {
        let failed = db_error::in_file(&self.path);
        let mut digester = LedgerDigester::default();
        let mut rows = sqlx::query("SELECT phase, stage, number, digest FROM match").fetch(&self.readers);
        while let Some(row) = rows.try_next().await.map_err(&failed)? {
            let number = |index: usize| row.try_get::<i64, _>(index);
            let key = [number(0).map_err(&failed)?, number(1).map_err(&failed)?, number(2).map_err(&failed)?];
            digester.add(key, row.try_get(3).map_err(&failed)?);
        }
        Ok(digester.finish())
    }

    /// Creates a ledger from an archive. An invalid archive leaves an incomplete file behind.
    pub(crate) async fn import(path: &Path, reader: &mut ArchiveReader) -> Result<()> {
        let failed = db_error::in_file(path);
        open::create_empty(path).await?;
        // Durability is not needed: the file has no final name before it is complete.
        let options =
            open::options(path).journal_mode(SqliteJournalMode::Memory).synchronous(SqliteSynchronous::Off);
        let mut connection = options.connect().await.map_err(&failed)?;
        let filled = import_rows(&mut connection, path, reader).await;
        let closed = connection.close().await.map_err(&failed);
        filled.and(closed)
    }
}

async fn import_rows(
    connection: &mut SqliteConnection,
    path: &Path,
    reader: &mut ArchiveReader,
) -> Result<()> {
    let failed = db_error::in_file(path);
    let mut change = connection.begin().await.map_err(&failed)?;
    let mut states = Vec::new();
    for table in &TABLES {
        while let Some(mut row) = reader.row(table)? {
            if table.name == "phase" {
                // A phase accepts matches only while it runs.
                let state = std::mem::replace(&mut row[PHASE_STATE_COLUMN], Cell::Text("running".to_owned()));
                states.push((row[0].clone(), state));
            }
            insert(&mut change, table, row).await.map_err(|error| match constraint(&error) {
                Some(what) => reader.invalid(format!("a row of table `{}` is not valid: {what}", table.name)),
                None => failed(error),
            })?;
        }
    }
    for (phase, state) in states {
        let mut values = SqliteArguments::default();
        add(&mut values, state).and_then(|()| add(&mut values, phase)).map_err(&failed)?;
        let sql = "UPDATE phase SET state = ? WHERE phase = ?";
        sqlx::query_with(sql, values).execute(&mut *change).await.map_err(&failed)?;
    }
    sqlx::query("UPDATE log_size SET bytes = (SELECT coalesce(sum(length(bytes)), 0) FROM log)")
        .execute(&mut *change)
        .await
        .map_err(&failed)?;
    for (what, text) in INTEGRITY_QUERIES {
        let rows: i64 = sqlx::query_scalar(text).fetch_one(&mut *change).await.map_err(&failed)?;
        if rows > 0 {
            return Err(reader.invalid(format!("{what}: {rows}")));
        }
    }
    change.commit().await.map_err(&failed)
}

/// The message if a constraint of the ledger was violated: then the rows contradict each other.
fn constraint(error: &sqlx::Error) -> Option<String> {
    /// The lower byte of all codes of constraints.
    const SQLITE_CONSTRAINT: i32 = 19;
    let database = error.as_database_error()?;
    let code: i32 = database.code()?.parse().ok()?;
    (code & 0xff == SQLITE_CONSTRAINT).then(|| database.message().to_owned())
}

async fn insert(
    change: &mut SqliteConnection,
    table: &'static TableSchema,
    row: Vec<Cell>,
) -> Result<(), sqlx::Error> {
    let placeholders = vec!["?"; row.len()].join(", ");
    let text = format!("INSERT INTO {} ({}) VALUES ({placeholders})", table.name, table.column_list());
    let mut values = SqliteArguments::default();
    row.into_iter().try_for_each(|cell| add(&mut values, cell))?;
    sqlx::query_with(AssertSqlSafe(text), values).execute(change).await?;
    Ok(())
}

fn add(values: &mut SqliteArguments, cell: Cell) -> Result<(), sqlx::Error> {
    let added = match cell {
        Cell::Empty => values.add(None::<i64>),
        Cell::Number(number) => values.add(number),
        Cell::Text(text) => values.add(text),
        Cell::Bytes(bytes) => values.add(bytes),
    };
    added.map_err(sqlx::Error::Encode)
}
