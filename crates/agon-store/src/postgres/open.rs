//! Making, finding and opening ledgers in a database. Each is a schema `agon_NAME_` and eight digits of its seed's commitment.

use std::sync::Weak;

use agon_core::record::Digest;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};
use tokio::sync::Mutex;

use super::connection_pool::{self, ConnectionPool};
use super::database_url::DatabaseUrl;
use super::db_error::{self, AttemptError};
use super::{PostgresLedger, run_lock, state, text};
use crate::{NewLedger, Result, StoreError};

/// Every step from an empty schema to the ledger of today. One that was released never changes.
const MIGRATIONS: &[&str] = &[include_str!("../../migrations/postgres/0001_ledger.sql")];
/// The version written: how many steps were taken.
const VERSION: i64 = MIGRATIONS.len() as i64;
/// Names of schemas have at most 63 bytes; what is ours about them takes 14.
const LONGEST: usize = 48;
/// Whoever makes a ledger, or brings one up to date, is alone with that.
const MAKING: &str = "making";

/// A ledger that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// Its schema.
    pub schema: String,
    /// The name it is opened by.
    pub slug: String,
    /// Its version.
    pub version: i64,
}

/// A name as part of a schema's.
fn folded(slug: &str) -> String {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
    slug.chars().map(letter).take(LONGEST).collect()
}

/// The ledgers of a database, or those whose schema is named for this one.
pub(super) async fn look(
    connection: &mut PgConnection,
    slug: Option<&str>,
) -> Result<Vec<Found>, sqlx::Error> {
    // One that was put aside has kept its schema's name.
    let put_aside = |slug: &str| match slug.rsplit_once('.') {
        Some((before, number)) if number.parse::<u32>().is_ok() => {
            format!("({}|{})", folded(slug), folded(before))
        }
        _ => folded(slug),
    };
    let pattern = format!("^agon_{}_[0-9a-f]{{8}}$", slug.map_or_else(|| ".*".to_owned(), put_aside));
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
            // In a list, others' are left out; what was asked for by name is said to be closed.
            Err(sqlx::Error::Database(error))
                if slug.is_none() && error.code().as_deref() == Some("42501") =>
            {
                None
            }
            Err(error) => return Err(error),
        };
        if let Some(row) = row {
            found.push(Found { schema, version: row.try_get(0)?, slug: text::text(&row, 1)? });
        }
    }
    found.retain(|one| slug.is_none_or(|slug| one.slug == slug));
    Ok(found)
}

/// All ledgers of a database, by name, as far as we may read them.
pub async fn list(url: &str) -> Result<Vec<Found>> {
    let target = DatabaseUrl::read(url)?;
    let place = target.place();
    let mut connection = connection_pool::connect_first(&target, &place, &target.session(None, true)).await?;
    let mut found =
        look(&mut connection, None).await.map_err(|error| db_error::explain(&target, &place, &error, 0))?;
    found.sort_by(|a, b| a.slug.cmp(&b.slug));
    Ok(found)
}

/// The one of this name.
async fn find(connection: &mut PgConnection, target: &DatabaseUrl, slug: &str) -> Result<Found> {
    let place = target.place_of(slug);
    let mut found =
        look(connection, Some(slug)).await.map_err(|error| db_error::explain(target, &place, &error, 0))?;
    match found.pop() {
        Some(one) if one.version > VERSION => {
            Err(StoreError::Newer { place, found: one.version, known: VERSION })
        }
        Some(one) => Ok(one),
        None => Err(StoreError::Missing { place }),
    }
}

/// Whether there is one of this name.
pub async fn exists(url: &str, slug: &str) -> Result<bool> {
    let target = DatabaseUrl::read(url)?;
    let mut connection =
        connection_pool::connect_first(&target, &target.place_of(slug), &target.session(None, true)).await?;
    match find(&mut connection, &target, slug).await {
        Ok(_) => Ok(true),
        Err(StoreError::Missing { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Makes a ledger, whole or not at all, and never over another.
pub async fn create(url: &str, slug: &str, founding: &NewLedger) -> Result<()> {
    let mut new = New::begin(url, slug, founding.secret.commitment()).await?;
    let done = state::found(&mut new.change, founding).await;
    new.finish(done).await
}

/// A ledger that is being made: nobody sees it before it is finished, and nothing is left of it if it is not.
pub struct New {
    target: DatabaseUrl,
    place: String,
    /// In a transaction. If it is dropped there, the server forgets all of it.
    pub change: PgConnection,
}

impl New {
    pub async fn begin(url: &str, slug: &str, commitment: Digest) -> Result<Self> {
        let target = DatabaseUrl::read(url)?;
        let place = target.place_of(slug);
        let mut change = connection_pool::connect_first(&target, &place, &target.session(None, false)).await?;
        let failed = |error| db_error::explain(&target, &place, &error, 0);
        sqlx::raw_sql("BEGIN").execute(&mut change).await.map_err(failed)?;
        match prepare(&mut change, &target, slug, commitment).await {
            Ok(()) => Ok(Self { target, place, change }),
            Err(AttemptError::Store(error)) => Err(error),
            Err(AttemptError::Sql(error)) => Err(failed(error)),
        }
    }

    /// It is whole, or what went wrong with filling it.
    pub async fn finish(mut self, filled: Result<(), AttemptError>) -> Result<()> {
        let failed = |error| db_error::explain(&self.target, &self.place, &error, 0);
        match filled {
            Ok(()) => sqlx::raw_sql("COMMIT").execute(&mut self.change).await.map(drop).map_err(failed),
            Err(AttemptError::Store(error)) => Err(error),
            Err(AttemptError::Sql(error)) => Err(failed(error)),
        }
    }
}

/// An empty ledger.
async fn prepare(
    change: &mut PgConnection,
    target: &DatabaseUrl,
    slug: &str,
    commitment: Digest,
) -> Result<(), AttemptError> {
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(run_lock::number(MAKING)).execute(&mut *change).await?;
    let encoding: String = sqlx::query_scalar("SHOW server_encoding").fetch_one(&mut *change).await?;
    let place = target.place_of(slug);
    if encoding != "UTF8" {
        let what = format!("the database keeps text as {encoding}, not as UTF8");
        let hint = format!("make another one: createdb -E UTF8 -T template0 {}", target.database());
        return Err(StoreError::Refused { place, what, hint, wrong_use: true }.into());
    }
    if !look(&mut *change, Some(slug)).await?.is_empty() {
        return Err(StoreError::Exists { place }.into());
    }
    let schema = free_name(change, slug, commitment).await?;
    sqlx::raw_sql(AssertSqlSafe(format!("CREATE SCHEMA {schema}"))).execute(&mut *change).await?;
    enter(change, &schema).await?;
    migrate(change, MIGRATIONS, 0).await?;
    sqlx::query("INSERT INTO ledger (id, version, slug) VALUES (1, $1, $2)")
        .bind(VERSION)
        .bind(&*text::kept(slug))
        .execute(change)
        .await?;
    Ok(())
}

/// A schema's name that nobody has: one that was put aside may have been begun with the same seed.
async fn free_name(change: &mut PgConnection, slug: &str, commitment: Digest) -> Result<String, sqlx::Error> {
    let first = u32::from_be_bytes([commitment.0[0], commitment.0[1], commitment.0[2], commitment.0[3]]);
    let mut digits = first;
    loop {
        let schema = format!("agon_{}_{digits:08x}", folded(slug));
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

/// For this transaction, tables are those of this schema.
async fn enter(change: &mut PgConnection, schema: &str) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(AssertSqlSafe(format!("SET LOCAL search_path TO {schema}"))).execute(change).await?;
    Ok(())
}

/// Takes the steps from this version on.
async fn migrate(change: &mut PgConnection, steps: &[&'static str], from: i64) -> Result<(), sqlx::Error> {
    for step in steps.iter().skip(from.max(0) as usize) {
        sqlx::raw_sql(*step).execute(&mut *change).await?;
    }
    Ok(())
}

/// Brings a ledger up to date, in one transaction and alone with it.
async fn update(
    connection: &mut PgConnection,
    schema: &str,
    steps: &[&'static str],
) -> Result<(), sqlx::Error> {
    let mut change = connection.begin().await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(run_lock::number(MAKING)).execute(&mut *change).await?;
    enter(&mut change, schema).await?;
    // Asked inside: somebody else may have been quicker.
    let found: i64 = sqlx::query_scalar("SELECT version FROM ledger").fetch_one(&mut *change).await?;
    migrate(&mut change, steps, found).await?;
    sqlx::query("UPDATE ledger SET version = $1 WHERE version < $1")
        .bind(steps.len() as i64)
        .execute(&mut *change)
        .await?;
    change.commit().await
}

/// Opens the ledger of this name.
pub async fn open(url: &str, slug: &str, to_read: bool) -> Result<PostgresLedger> {
    let target = DatabaseUrl::read(url)?;
    let place = target.place_of(slug);
    let mut connection = connection_pool::connect_first(&target, &place, &target.session(None, false)).await?;
    let found = find(&mut connection, &target, slug).await?;
    if found.version < VERSION {
        update(&mut connection, &found.schema, MIGRATIONS)
            .await
            .map_err(|error| db_error::explain(&target, &place, &error, 0))?;
    }
    let to_write = target.session(Some(&found.schema), false);
    let options = if to_read { target.session(Some(&found.schema), true) } else { to_write.clone() };
    Ok(PostgresLedger {
        schema: found.schema,
        slug: slug.to_owned(),
        to_write,
        writing: (!to_read).then(|| Mutex::new(())),
        lanes: ConnectionPool::new(target, place, options, if to_read { 1 } else { 2 }),
        held: std::sync::Mutex::new(Weak::new()),
    })
}

/// Gives a ledger another name, so that its own is free; gives the new one. Refused while it is being played.
pub async fn rename_old(url: &str, slug: &str) -> Result<String> {
    let ledger = open(url, slug, false).await?;
    let _claim = ledger.take_claim().await?;
    let target = DatabaseUrl::read(url)?;
    let mut connection =
        connection_pool::connect_first(&target, &ledger.lanes.place, &target.session(None, false)).await?;
    let failed = |error| db_error::explain(&target, &ledger.lanes.place, &error, 0);
    let taken: Vec<String> =
        look(&mut connection, None).await.map_err(failed)?.into_iter().map(|one| one.slug).collect();
    let mut number = 1;
    let aside = loop {
        let name = format!("{slug}.{number}");
        if !taken.contains(&name) {
            break name;
        }
        number += 1;
    };
    let sql = format!("UPDATE {}.ledger SET slug = $1", ledger.schema);
    sqlx::query(AssertSqlSafe(sql))
        .bind(&*text::kept(&aside))
        .execute(&mut connection)
        .await
        .map_err(failed)?;
    Ok(aside)
}

#[cfg(test)]
mod tests {
    use agon_rig::Postgres;
    use tokio::runtime::Builder;

    use super::*;
    use crate::{ConfigVersion, Ledger as _, SecretSeed, Timestamp};

    fn founding() -> NewLedger {
        NewLedger {
            name: "Old Cup".to_owned(),
            game: "solitude-scramble".to_owned(),
            rules: 1,
            engine: "0.0.1".to_owned(),
            edition: ConfigVersion { file: "# ours\n".to_owned(), normal: "{}".to_owned(), at: Timestamp(1) },
            phases: 1,
            secret: SecretSeed::new("nobody knows"),
        }
    }

    /// There is one version so far: the next one's step stands for all that will come.
    #[test]
    fn an_older_ledger_is_brought_up_to_date_whole_or_not_at_all() {
        if agon_rig::skip_without_servers() {
            return;
        }
        let url = Postgres::shared().database().url;
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            create(&url, "cup", &founding()).await.unwrap();
            let ledger = open(&url, "cup", false).await.unwrap();
            let mut by_hand = <PgConnection as sqlx::Connection>::connect(&url).await.unwrap();
            let version = async |by_hand: &mut PgConnection| -> i64 {
                let sql = AssertSqlSafe(format!("SELECT version FROM {}.ledger", ledger.schema));
                sqlx::query_scalar(sql).fetch_one(by_hand).await.unwrap()
            };
            let broken = [MIGRATIONS[0], "CREATE TABLE news (id integer); SELECT nonsense"];
            assert!(update(&mut by_hand, &ledger.schema, &broken).await.is_err());
            assert_eq!(version(&mut by_hand).await, 1);
            // Twice: somebody else may have been quicker. The step itself would fail a second time.
            let steps = [MIGRATIONS[0], "CREATE TABLE news (id integer)"];
            for _ in 0..2 {
                update(&mut by_hand, &ledger.schema, &steps).await.unwrap();
                assert_eq!(version(&mut by_hand).await, 2);
            }
            assert_eq!(ledger.competition().await.unwrap().name, "Old Cup");
            // Whoever does not know that step yet says so.
            let told = open(&url, "cup", false).await.unwrap_err();
            assert!(matches!(told, StoreError::Newer { found: 2, known: 1, .. }), "{told}");
            assert!(told.to_string().contains("hint: update Agon"), "{told}");
        });
    }
}
