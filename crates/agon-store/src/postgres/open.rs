//! Creating, finding and opening ledgers in a database. The schema of a ledger is `agon_NAME_` and eight digits of its seed commitment.

use std::sync::Weak;

use agon_core::record::Digest;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};
use tokio::sync::Mutex;

use super::connection_pool::{self, ConnectionPool};
use super::database_url::DatabaseUrl;
use super::db_error::{self, AttemptError};
use super::{PostgresLedger, run_lock, state, text};
use crate::{NewLedger, Result, StoreError};

/// All migrations, in order. A released migration never changes.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/postgres/0001_ledger.sql"),
    include_str!("../../migrations/postgres/0002_seat_meters.sql"),
    include_str!("../../migrations/postgres/0003_bot_descriptions.sql"),
];
/// Current version: the number of migrations.
const VERSION: i64 = MIGRATIONS.len() as i64;
/// Maximum length of a name in a schema name. Schema names have at most 63 bytes, and prefix and digits take 14.
const MAX_SLUG_CHARS: usize = 48;
/// Name of the lock that serialises creation and migration of ledgers.
const CREATION_LOCK: &str = "making";

/// A ledger found in a database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundLedger {
    /// Schema of the ledger.
    pub schema: String,
    /// Name of the ledger.
    pub slug: String,
    /// Version of the ledger.
    pub version: i64,
}

/// Converts a ledger name to its part of a schema name.
fn schema_name_part(slug: &str) -> String {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
    slug.chars().map(letter).take(MAX_SLUG_CHARS).collect()
}

/// Ledgers of a database: all, or those with this name.
pub(super) async fn find_ledgers(
    connection: &mut PgConnection,
    slug: Option<&str>,
) -> Result<Vec<FoundLedger>, sqlx::Error> {
    // A renamed ledger keeps the name of its schema.
    let name_pattern = |slug: &str| match slug.rsplit_once('.') {
        Some((before, number)) if number.parse::<u32>().is_ok() => {
            format!("({}|{})", schema_name_part(slug), schema_name_part(before))
        }
        _ => schema_name_part(slug),
    };
    let pattern = format!("^agon_{}_[0-9a-f]{{8}}$", slug.map_or_else(|| ".*".to_owned(), name_pattern));
    let schemas: Vec<String> = sqlx::query_scalar(
        "SELECT n.nspname::text FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = 'ledger'
         WHERE n.nspname ~ $1 ORDER BY n.nspname",
    )
    .bind(pattern)
    .fetch_all(&mut *connection)
    .await?;
    let mut found = Vec::with_capacity(schemas.len());
    for schema in schemas {
        let sql = format!("SELECT version, slug FROM {schema}.ledger");
        let row = match sqlx::query(AssertSqlSafe(sql)).fetch_optional(&mut *connection).await {
            Ok(row) => row,
            // A list leaves out ledgers of other users. A request for one ledger reports the missing permission.
            Err(sqlx::Error::Database(error))
                if slug.is_none() && error.code().as_deref() == Some("42501") =>
            {
                None
            }
            Err(error) => return Err(error),
        };
        if let Some(row) = row {
            found.push(FoundLedger { schema, version: row.try_get(0)?, slug: text::text(&row, 1)? });
        }
    }
    found.retain(|one| slug.is_none_or(|slug| one.slug == slug));
    Ok(found)
}

/// Ledgers of a database that the user may read, by name.
pub async fn list(url: &str) -> Result<Vec<FoundLedger>> {
    let target = DatabaseUrl::parse(url)?;
    let place = target.place();
    let mut connection = connection_pool::connect_first(&target, &place, &target.session(None, true)).await?;
    let mut found = find_ledgers(&mut connection, None)
        .await
        .map_err(|error| db_error::explain(&target, &place, &error, 0))?;
    found.sort_by(|a, b| a.slug.cmp(&b.slug));
    Ok(found)
}

/// The ledger with this name.
async fn find(connection: &mut PgConnection, target: &DatabaseUrl, slug: &str) -> Result<FoundLedger> {
    let place = target.place_of(slug);
    let mut found = find_ledgers(connection, Some(slug))
        .await
        .map_err(|error| db_error::explain(target, &place, &error, 0))?;
    match found.pop() {
        Some(one) if one.version > VERSION => {
            Err(StoreError::NewerVersion { place, found: one.version, known: VERSION })
        }
        Some(one) => Ok(one),
        None => Err(StoreError::Missing { place }),
    }
}

/// Whether a ledger with this name exists.
pub async fn exists(url: &str, slug: &str) -> Result<bool> {
    let target = DatabaseUrl::parse(url)?;
    let mut connection =
        connection_pool::connect_first(&target, &target.place_of(slug), &target.session(None, true)).await?;
    match find(&mut connection, &target, slug).await {
        Ok(_) => Ok(true),
        Err(StoreError::Missing { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Creates a ledger, completely or not at all. Fails if the name exists.
pub async fn create(url: &str, slug: &str, new_ledger: &NewLedger) -> Result<()> {
    let mut new = LedgerCreation::begin(url, slug, new_ledger.secret.commitment()).await?;
    let done = state::write_initial_rows(&mut new.change, new_ledger).await;
    new.finish(done).await
}

/// A ledger that is being created. It becomes visible when it is finished; otherwise nothing remains.
pub struct LedgerCreation {
    target: DatabaseUrl,
    /// Location for messages.
    pub place: String,
    /// Connection inside an open transaction. Dropping it rolls back.
    pub change: PgConnection,
}

impl LedgerCreation {
    pub async fn begin(url: &str, slug: &str, commitment: Digest) -> Result<Self> {
        let target = DatabaseUrl::parse(url)?;
        let place = target.place_of(slug);
        let mut change =
            connection_pool::connect_first(&target, &place, &target.session(None, false)).await?;
        let failed = |error| db_error::explain(&target, &place, &error, 0);
        sqlx::raw_sql("BEGIN").execute(&mut change).await.map_err(failed)?;
        match create_schema(&mut change, &target, slug, commitment).await {
            Ok(()) => Ok(Self { target, place, change }),
            Err(AttemptError::Store(error)) => Err(error),
            Err(AttemptError::Sql(error)) => Err(failed(error)),
        }
    }

    /// Commits if the ledger was filled; otherwise returns the error.
    pub async fn finish(mut self, filled: Result<(), AttemptError>) -> Result<()> {
        let failed = |error| db_error::explain(&self.target, &self.place, &error, 0);
        match filled {
            Ok(()) => sqlx::raw_sql("COMMIT").execute(&mut self.change).await.map(drop).map_err(failed),
            Err(AttemptError::Store(error)) => Err(error),
            Err(AttemptError::Sql(error)) => Err(failed(error)),
        }
    }
}

/// Creates an empty ledger.
async fn create_schema(
    change: &mut PgConnection,
    target: &DatabaseUrl,
    slug: &str,
    commitment: Digest,
) -> Result<(), AttemptError> {
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(run_lock::lock_id(CREATION_LOCK))
        .execute(&mut *change)
        .await?;
    let encoding: String = sqlx::query_scalar("SHOW server_encoding").fetch_one(&mut *change).await?;
    let place = target.place_of(slug);
    if encoding != "UTF8" {
        let what = format!("the database has the encoding {encoding}, not UTF8");
        let hint = format!("create another database: createdb -E UTF8 -T template0 {}", target.database());
        return Err(StoreError::ServerRefused { place, what, hint, is_usage_error: true }.into());
    }
    if !find_ledgers(&mut *change, Some(slug)).await?.is_empty() {
        return Err(StoreError::Exists { place }.into());
    }
    let schema = free_schema_name(change, slug, commitment).await?;
    sqlx::raw_sql(AssertSqlSafe(format!("CREATE SCHEMA {schema}"))).execute(&mut *change).await?;
    set_search_path(change, &schema).await?;
    migrate(change, MIGRATIONS, 0).await?;
    sqlx::query("INSERT INTO ledger (id, version, slug) VALUES (1, $1, $2)")
        .bind(VERSION)
        .bind(&*text::escape(slug))
        .execute(change)
        .await?;
    Ok(())
}

/// An unused schema name. A renamed ledger may have the same name and seed.
async fn free_schema_name(
    change: &mut PgConnection,
    slug: &str,
    commitment: Digest,
) -> Result<String, sqlx::Error> {
    let first = u32::from_be_bytes([commitment.0[0], commitment.0[1], commitment.0[2], commitment.0[3]]);
    let mut digits = first;
    loop {
        let schema = format!("agon_{}_{digits:08x}", schema_name_part(slug));
        let taken: i64 = sqlx::query_scalar("SELECT count(*) FROM pg_namespace WHERE nspname = $1")
            .bind(&schema)
            .fetch_one(&mut *change)
            .await?;
        if taken == 0 {
            return Ok(schema);
        }
        digits = digits.wrapping_add(1);
    }
}

/// Sets the schema for this transaction.
async fn set_search_path(change: &mut PgConnection, schema: &str) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(AssertSqlSafe(format!("SET LOCAL search_path TO {schema}"))).execute(change).await?;
    Ok(())
}

/// Runs the migrations after version `from`.
async fn migrate(change: &mut PgConnection, steps: &[&'static str], from: i64) -> Result<(), sqlx::Error> {
    for step in steps.iter().skip(from.max(0) as usize) {
        sqlx::raw_sql(*step).execute(&mut *change).await?;
    }
    Ok(())
}

/// Migrates an existing ledger in one transaction, under the creation lock.
async fn migrate_existing(
    connection: &mut PgConnection,
    schema: &str,
    steps: &[&'static str],
) -> Result<(), sqlx::Error> {
    let mut change = connection.begin().await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(run_lock::lock_id(CREATION_LOCK))
        .execute(&mut *change)
        .await?;
    set_search_path(&mut change, schema).await?;
    // Read inside the transaction: another process may have migrated first.
    let found: i64 = sqlx::query_scalar("SELECT version FROM ledger").fetch_one(&mut *change).await?;
    migrate(&mut change, steps, found).await?;
    sqlx::query("UPDATE ledger SET version = $1 WHERE version < $1")
        .bind(steps.len() as i64)
        .execute(&mut *change)
        .await?;
    change.commit().await
}

/// Opens the ledger with this name.
pub async fn open(url: &str, slug: &str, read_only: bool) -> Result<PostgresLedger> {
    let target = DatabaseUrl::parse(url)?;
    let place = target.place_of(slug);
    let mut connection =
        connection_pool::connect_first(&target, &place, &target.session(None, false)).await?;
    let found = find(&mut connection, &target, slug).await?;
    if found.version < VERSION {
        migrate_existing(&mut connection, &found.schema, MIGRATIONS)
            .await
            .map_err(|error| db_error::explain(&target, &place, &error, 0))?;
        tracing::info!(ledger = %place, from = found.version, to = VERSION, "ledger migrated");
    }
    tracing::debug!(ledger = %place, read_only, "ledger opened");
    let write_options = target.session(Some(&found.schema), false);
    let options = if read_only { target.session(Some(&found.schema), true) } else { write_options.clone() };
    Ok(PostgresLedger {
        schema: found.schema,
        slug: slug.to_owned(),
        write_options,
        write_mutex: (!read_only).then(|| Mutex::new(())),
        pool: ConnectionPool::new(target, place, options, if read_only { 1 } else { 2 }),
        run_lock: std::sync::Mutex::new(Weak::new()),
    })
}

/// Renames a ledger to free its name. Returns the new name. Fails while the competition runs.
pub async fn rename_old(url: &str, slug: &str) -> Result<String> {
    let ledger = open(url, slug, false).await?;
    let _run_lock = ledger.take_run_lock().await?;
    let target = DatabaseUrl::parse(url)?;
    let mut connection =
        connection_pool::connect_first(&target, &ledger.pool.place, &target.session(None, false)).await?;
    let failed = |error| db_error::explain(&target, &ledger.pool.place, &error, 0);
    let taken: Vec<String> =
        find_ledgers(&mut connection, None).await.map_err(failed)?.into_iter().map(|one| one.slug).collect();
    let mut number = 1;
    let new_name = loop {
        let name = format!("{slug}.{number}");
        if !taken.contains(&name) {
            break name;
        }
        number += 1;
    };
    let sql = format!("UPDATE {}.ledger SET slug = $1", ledger.schema);
    sqlx::query(AssertSqlSafe(sql))
        .bind(&*text::escape(&new_name))
        .execute(&mut connection)
        .await
        .map_err(failed)?;
    Ok(new_name)
}

#[cfg(test)]
mod tests {
    use agon_test_servers::Postgres;
    use tokio::runtime::Builder;

    use super::*;
    use crate::{ConfigVersion, Ledger as _, SecretSeed, Timestamp};

    fn new_ledger() -> NewLedger {
        NewLedger {
            name: "Old Cup".to_owned(),
            game: "solitude-scramble".to_owned(),
            rules: 1,
            engine: "0.0.1".to_owned(),
            config: ConfigVersion {
                text: "# ours\n".to_owned(),
                normalised: "{}".to_owned(),
                at: Timestamp(1),
            },
            phases: 1,
            secret: SecretSeed::new("test seed"),
        }
    }

    /// An invented migration stands for future ones.
    #[test]
    fn open_migrates_an_older_ledger_completely_or_not_at_all() {
        if agon_test_servers::skip_without_servers() {
            return;
        }
        let url = Postgres::shared().database().url;
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            create(&url, "cup", &new_ledger()).await.unwrap();
            let ledger = open(&url, "cup", false).await.unwrap();
            let mut by_hand = <PgConnection as sqlx::Connection>::connect(&url).await.unwrap();
            let version = async |by_hand: &mut PgConnection| -> i64 {
                let sql = AssertSqlSafe(format!("SELECT version FROM {}.ledger", ledger.schema));
                sqlx::query_scalar(sql).fetch_one(by_hand).await.unwrap()
            };
            let with = |step| [MIGRATIONS, &[step]].concat();
            let broken = with("CREATE TABLE news (id integer); SELECT nonsense");
            assert!(migrate_existing(&mut by_hand, &ledger.schema, &broken).await.is_err());
            assert_eq!(version(&mut by_hand).await, VERSION);
            // Twice, as if two processes migrated. The migration itself would fail a second time.
            let steps = with("CREATE TABLE news (id integer)");
            for _ in 0..2 {
                migrate_existing(&mut by_hand, &ledger.schema, &steps).await.unwrap();
                assert_eq!(version(&mut by_hand).await, VERSION + 1);
            }
            assert_eq!(ledger.competition().await.unwrap().name, "Old Cup");
            // A program that does not know that migration reports the newer version.
            let error = open(&url, "cup", false).await.unwrap_err();
            let StoreError::NewerVersion { found, known, .. } = &error else { panic!("{error}") };
            assert_eq!((*found, *known), (VERSION + 1, VERSION));
            assert!(error.to_string().contains("hint: update Agon"), "{error}");
        });
    }
}
