//! Checks of a database server, for `agon doctor`.

use std::time::{Duration, Instant};

use agon_core::Diagnostic;
use sqlx::{Connection as _, Row as _};

use super::database_url::DatabaseUrl;
use super::{connection_pool, db_error, open};
use crate::{DoctorCheck, Result};

/// Checks reachability, version, TLS, permissions and latency of a server. Fails if it cannot connect.
pub async fn probe(url: &str) -> Result<Vec<DoctorCheck>> {
    let target = DatabaseUrl::parse(url)?;
    let place = target.place();
    let options = target.session(None, false);
    let start = Instant::now();
    let mut connection = connection_pool::connect_first(&target, &place, &options).await?;
    let connected = start.elapsed();
    let failed = |error| db_error::explain(&target, &place, &error, 0);
    let row = sqlx::query(
        "SELECT current_setting('server_version'), current_setting('server_version_num')::bigint, current_setting('server_encoding'),
                coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false),
                coalesce((SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()), ''),
                has_database_privilege(current_database(), 'CREATE'), pg_is_in_recovery()",
    )
    .fetch_one(&mut connection)
    .await
    .map_err(failed)?;
    let ledgers = open::find_ledgers(&mut connection, None).await.map_err(failed)?.len();
    let mut fastest = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        connection.ping().await.map_err(failed)?;
        fastest = fastest.min(start.elapsed());
    }
    results(&target, &row, ledgers, connected, fastest).map_err(failed)
}

fn results(
    target: &DatabaseUrl,
    row: &sqlx::postgres::PgRow,
    ledgers: usize,
    connected: Duration,
    round_trip: Duration,
) -> Result<Vec<DoctorCheck>, sqlx::Error> {
    let (version, number, encoding): (String, i64, String) =
        (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    let (tls, tls_version): (bool, String) = (row.try_get(3)?, row.try_get(4)?);
    let (can_create, is_standby): (bool, bool) = (row.try_get(5)?, row.try_get(6)?);
    let ms = |time: Duration| format!("{:.2} ms", 1e3 * time.as_secs_f64());
    let check = |good: bool, found: String, hint: String| {
        if good { Ok(found) } else { Err(Diagnostic::rejected(found).hint(hint)) }
    };
    let (user, database) = (target.user(), target.database());
    let rows = [
        ("reachable", Ok(format!("{}, connected in {}", target.place(), ms(connected)))),
        (
            "version",
            check(
                number >= 130_000,
                format!("PostgreSQL {version}"),
                "Agon needs PostgreSQL 13 or newer".to_owned(),
            ),
        ),
        (
            "TLS",
            Ok(if tls {
                format!("{tls_version}, sslmode={}", target.ssl_mode())
            } else {
                format!(
                    "not used (sslmode={}): fine on one machine; across a network use sslmode=verify-full",
                    target.ssl_mode()
                )
            }),
        ),
        (
            "text",
            check(
                encoding == "UTF8",
                encoding.clone(),
                format!("create a new database: createdb -E UTF8 -T template0 {database}"),
            ),
        ),
        (
            "may start competitions",
            check(
                can_create,
                if can_create { "yes" } else { "no" }.to_owned(),
                format!("GRANT CREATE ON DATABASE \"{database}\" TO \"{user}\""),
            ),
        ),
        (
            "takes changes",
            check(
                !is_standby,
                if is_standby { "no, it is a standby" } else { "yes" }.to_owned(),
                "use the primary server".to_owned(),
            ),
        ),
        ("round trip", Ok(ms(round_trip))),
        ("competitions", Ok(ledgers.to_string())),
    ];
    let checks = rows.into_iter().map(|(name, answer)| match answer {
        Ok(found) => DoctorCheck::good(name, found),
        Err(error) => DoctorCheck::bad(name, &error),
    });
    Ok(checks.collect())
}
