//! Integrity check: all rows are readable and consistent. The server itself enforces foreign keys.

use futures_util::TryStreamExt as _;
use sqlx::{Connection as _, PgConnection};

use super::PostgresLedger;
use super::connection_pool::{FULL_SCAN_TIMEOUT, run_read};
use super::db_error::AttemptError;
use super::progress::BEGIN_CONSISTENT_READ;
use crate::integrity_checks::INTEGRITY_QUERIES;
use crate::ledger::Ledger as _;
use crate::{MatchFilter, Result, StoreError};

impl PostgresLedger {
    pub(super) async fn find_damage(&self) -> Result<Vec<String>> {
        let mut found = run_read!(self, FULL_SCAN_TIMEOUT, |connection| run_integrity_queries(connection))?;
        for phase in self.phases().await? {
            // Reading a match decodes all its packed columns. The server reports corrupt pages as errors.
            let read = async {
                self.matches(phase.phase, MatchFilter::default()).try_for_each(async |_| Ok(())).await?;
                self.records(phase.phase, MatchFilter::default()).try_for_each(async |_| Ok(())).await
            };
            match read.await {
                Err(StoreError::Damaged { what, .. }) => found.push(what),
                other => other?,
            }
        }
        Ok(found)
    }
}

async fn run_integrity_queries(connection: &mut PgConnection) -> Result<Vec<String>, AttemptError> {
    let mut reader = connection.begin_with(BEGIN_CONSISTENT_READ).await?;
    let mut found = Vec::new();
    for (what, text) in INTEGRITY_QUERIES {
        let rows: i64 = sqlx::query_scalar(text).fetch_one(&mut *reader).await?;
        if rows > 0 {
            found.push(format!("{what}: {rows}"));
        }
    }
    reader.commit().await?;
    Ok(found)
}
