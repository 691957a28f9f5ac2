//! Integrity check: the file is intact and its rows are consistent.

use futures_util::TryStreamExt as _;
use sqlx::Row as _;

use super::{SqliteLedger, db_error};
use crate::Result;
use crate::integrity_checks::INTEGRITY_QUERIES;

impl SqliteLedger {
    pub(super) async fn find_damage(&self) -> Result<Vec<String>> {
        let failed = db_error::in_file(&self.path);
        let mut reader = self.readers.begin().await.map_err(&failed)?;
        let mut found = Vec::new();
        let messages: Vec<String> =
            sqlx::query_scalar("PRAGMA integrity_check").fetch_all(&mut *reader).await.map_err(&failed)?;
        found.extend(messages.into_iter().filter(|line| line != "ok"));
        let mut orphans = sqlx::query("PRAGMA foreign_key_check").fetch(&mut *reader);
        while let Some(row) = orphans.try_next().await.map_err(&failed)? {
            let (table, parent): (String, String) =
                (row.try_get(0).map_err(&failed)?, row.try_get(2).map_err(&failed)?);
            found.push(format!("a row of `{table}` without its row of `{parent}`"));
        }
        drop(orphans);
        for (what, text) in INTEGRITY_QUERIES {
            let rows: i64 = sqlx::query_scalar(text).fetch_one(&mut *reader).await.map_err(&failed)?;
            if rows > 0 {
                found.push(format!("{what}: {rows}"));
            }
        }
        Ok(found)
    }
}
