//! Looking at everything: can all of it be read, and does what it says add up? That rows belong together the server itself sees to.

use futures_util::TryStreamExt as _;
use sqlx::{Connection as _, PgConnection};

use super::PostgresLedger;
use super::connection_pool::{FULL_SCAN_TIMEOUT, reads};
use super::progress::ONE_MOMENT;
use super::db_error::AttemptError;
use crate::ledger::Ledger as _;
use crate::integrity_checks::INTEGRITY_QUERIES;
use crate::{MatchFilter, Result, StoreError};

impl PostgresLedger {
    pub(super) async fn look_for_damage(&self) -> Result<Vec<String>> {
        let mut found = reads!(self, FULL_SCAN_TIMEOUT, |own| add_up(own))?;
        for phase in self.phases().await? {
            // Reading a match unpacks what is packed of it; a page that the server finds broken is an error.
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

async fn add_up(connection: &mut PgConnection) -> Result<Vec<String>, AttemptError> {
    let mut reader = connection.begin_with(ONE_MOMENT).await?;
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
