//! Many rows by few statements. The texts come in four sizes, so that SQLite has parsed each of them after the first batches.

use sqlx::error::BoxDynError;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments as _, Encode, Sqlite, SqliteConnection, Type};

/// Rows of one statement, largest first.
const SIZES: [usize; 4] = [64, 16, 4, 1];

/// An insertion of any number of rows.
pub struct Insert {
    /// One for each of [`SIZES`].
    texts: [String; 4],
    columns: usize,
}

impl Insert {
    /// `into` is `table (a, b, c)`, `behind` what follows the rows.
    pub fn new(into: &str, behind: &str) -> Self {
        let columns = into.matches(',').count() + 1;
        let row = format!("({})", vec!["?"; columns].join(", "));
        let texts = SIZES.map(|size| {
            format!("INSERT INTO {into} VALUES {} {behind}", vec![row.as_str(); size].join(", "))
        });
        Self { texts, columns }
    }

    /// Inserts them; gives how many rows there are more.
    pub async fn run<T>(
        &'static self,
        connection: &mut SqliteConnection,
        mut rows: &[T],
        bind: impl Fn(&mut Values, &T),
    ) -> Result<u64, sqlx::Error> {
        let mut inserted = 0;
        for (text, size) in self.texts.iter().zip(SIZES) {
            while let Some((some, rest)) = rows.split_at_checked(size) {
                let mut values = Values::default();
                values.arguments.reserve(size * self.columns, 0);
                for row in some {
                    bind(&mut values, row);
                }
                let arguments = match values.refused {
                    Some(error) => return Err(sqlx::Error::Encode(error)),
                    None => values.arguments,
                };
                let done = sqlx::query_with(text.as_str(), arguments).execute(&mut *connection).await?;
                inserted += done.rows_affected();
                rows = rest;
            }
        }
        Ok(inserted)
    }
}

/// The values of some rows.
#[derive(Default)]
pub struct Values {
    arguments: SqliteArguments,
    refused: Option<BoxDynError>,
}

impl Values {
    /// The next column's.
    pub fn add<'v>(&mut self, value: impl Encode<'v, Sqlite> + Type<Sqlite>) -> &mut Self {
        if let Err(error) = self.arguments.add(value) {
            self.refused.get_or_insert(error);
        }
        self
    }
}
