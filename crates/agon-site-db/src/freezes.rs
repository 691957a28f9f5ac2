//! Freezes of the standings of competitions.

use agon_store::Timestamp;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::{FromSiteRow, Result, SiteDb, optional_time, time};

/// A freeze: from `since` on, only organisers see new results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StandingsFreeze {
    /// The last moment whose results everyone sees.
    pub since: Timestamp,
    /// Number of places that are revealed, from the last one upwards.
    pub revealed: u32,
    /// When it was lifted; `None` while it is in force.
    pub lifted: Option<Timestamp>,
}

impl FromSiteRow for StandingsFreeze {
    fn read(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            since: time(row, "since")?,
            revealed: row.try_get("revealed")?,
            lifted: optional_time(row, "lifted")?,
        })
    }
}

impl SiteDb {
    /// The latest freeze of a competition, also one that was lifted.
    pub async fn standings_freeze(&self, competition: &str) -> Result<Option<StandingsFreeze>> {
        let row = sqlx::query("SELECT * FROM standings_freeze WHERE competition = ?")
            .bind(competition)
            .fetch_optional(&self.0.readers)
            .await
            .map_err(self.failed())?;
        row.as_ref().map(StandingsFreeze::read).transpose().map_err(self.failed())
    }

    /// Stores a freeze in place of an earlier one.
    pub async fn set_standings_freeze(&self, competition: &str, freeze: StandingsFreeze) -> Result<()> {
        let mut writer = self.writer().await;
        let mut change = self.begin(&mut writer).await?;
        sqlx::query(
            "INSERT INTO standings_freeze (competition, since, revealed, lifted) VALUES (?, ?, ?, ?)
             ON CONFLICT (competition) DO UPDATE SET
             since = excluded.since, revealed = excluded.revealed, lifted = excluded.lifted",
        )
        .bind(competition)
        .bind(freeze.since.0)
        .bind(freeze.revealed)
        .bind(freeze.lifted.map(|at| at.0))
        .execute(&mut *change)
        .await
        .map_err(self.failed())?;
        change.commit().await.map_err(self.failed())
    }
}
