//! Looking at everything: is the file whole, and does what it says add up?

use futures_util::TryStreamExt as _;
use sqlx::Row as _;

use super::{SqliteLedger, trouble};
use crate::Result;

/// Each of these finds nothing in a ledger that is whole; what it says goes before the number of rows it finds.
const SUMS: [(&str, &str); 6] = [
    (
        "phases whose sums are not those of their matches",
        "SELECT count(*) FROM phase p WHERE
            p.matches <> (SELECT count(*) FROM match m WHERE m.phase = p.phase) OR
            p.faults <> (SELECT coalesce(sum(faults), 0) FROM match m WHERE m.phase = p.phase) OR
            p.games <> (SELECT count(*) FROM match m JOIN game g ON g.match = m.id WHERE m.phase = p.phase) OR
            p.last_match <> (SELECT coalesce(max(id), 0) FROM match m WHERE m.phase = p.phase)",
    ),
    (
        "matches whose games are not numbered from 0 without a gap",
        "SELECT count(*) FROM (SELECT max(game) + 1 <> count(*) AS gap FROM game GROUP BY match) WHERE gap",
    ),
    (
        "matches with more or fewer entries in the fault list than they say",
        "SELECT count(*) FROM match m WHERE m.faults <> 0 AND
            m.faults <> (SELECT count(*) FROM fault f WHERE f.match = m.id)",
    ),
    (
        "entries in the fault list beyond those of the matches",
        "SELECT count(*) FROM fault f JOIN match m ON m.id = f.match WHERE m.faults = 0",
    ),
    (
        "sums of logs that are not those of the logs",
        "SELECT count(*) FROM log_size WHERE bytes <> (SELECT coalesce(sum(length(bytes)), 0) FROM log)",
    ),
    (
        "snapshots of more than was played",
        "SELECT count(*) FROM snapshot s JOIN phase p USING (phase) WHERE s.last_match > p.last_match",
    ),
];

impl SqliteLedger {
    pub(super) async fn look_for_damage(&self) -> Result<Vec<String>> {
        let failed = trouble::at(&self.path);
        let mut reader = self.readers.begin().await.map_err(&failed)?;
        let mut found = Vec::new();
        let said: Vec<String> =
            sqlx::query_scalar("PRAGMA integrity_check").fetch_all(&mut *reader).await.map_err(&failed)?;
        found.extend(said.into_iter().filter(|line| line != "ok"));
        let mut orphans = sqlx::query("PRAGMA foreign_key_check").fetch(&mut *reader);
        while let Some(row) = orphans.try_next().await.map_err(&failed)? {
            let (table, parent): (String, String) =
                (row.try_get(0).map_err(&failed)?, row.try_get(2).map_err(&failed)?);
            found.push(format!("a row of `{table}` without its row of `{parent}`"));
        }
        drop(orphans);
        for (what, text) in SUMS {
            let rows: i64 = sqlx::query_scalar(text).fetch_one(&mut *reader).await.map_err(&failed)?;
            if rows > 0 {
                found.push(format!("{what}: {rows}"));
            }
        }
        Ok(found)
    }
}
