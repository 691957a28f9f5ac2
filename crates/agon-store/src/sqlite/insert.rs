//! Bulk inserts. Statements have four fixed sizes, so SQLite parses each of them only once.

use sqlx::error::BoxDynError;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments as _, Encode, Sqlite, SqliteConnection, Type};

/// Rows per statement, largest first.
const SIZES: [usize; 4] = [64, 16, 4, 1];

/// An insert of any number of rows.
pub struct Insert {
    /// One statement for each of [`SIZES`].
    statements: [String; 4],
    columns: usize,
}

impl Insert {
    /// `into` is `table (a, b, c)`, `suffix` follows the rows.
    pub fn new(into: &str, suffix: &str) -> Self {
        let columns = into.matches(',').count() + 1;
        let row = format!("({})", vec!["?"; columns].join(", "));
        let statements = SIZES.map(|size| {
            format!("INSERT INTO {into} VALUES {} {suffix}", vec![row.as_str(); size].join(", "))
        });
        Self { statements, columns }
    }

    /// Inserts rows and returns how many were added.
    pub async fn run<T>(
        &'static self,
        connection: &mut SqliteConnection,
        mut rows: &[T],
        bind: impl Fn(&mut Values, &T),
    ) -> Result<u64, sqlx::Error> {
        let mut inserted = 0;
        for (statement, size) in self.statements.iter().zip(SIZES) {
            while let Some((chunk, rest)) = rows.split_at_checked(size) {
                let mut values = Values::default();
                values.arguments.reserve(size * self.columns, 0);
                for row in chunk {
                    bind(&mut values, row);
                }
                let arguments = match values.error {
                    Some(error) => return Err(sqlx::Error::Encode(error)),
                    None => values.arguments,
                };
                let done = sqlx::query_with(statement.as_str(), arguments).execute(&mut *connection).await?;
                inserted += done.rows_affected();
                rows = rest;
            }
        }
        Ok(inserted)
    }
}

/// Bound values of one statement.
#[derive(Default)]
pub struct Values {
    arguments: SqliteArguments,
    error: Option<BoxDynError>,
}

impl Values {
    /// Binds the next column.
    pub fn add<'v>(&mut self, value: impl Encode<'v, Sqlite> + Type<Sqlite>) -> &mut Self {
        if let Err(error) = self.arguments.add(value) {
            self.error.get_or_insert(error);
        }
        self
    }
}
