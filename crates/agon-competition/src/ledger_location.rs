//! Where a competition's ledger is kept: in a file beside its own, or in a database on a server.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use agon_bots::Failure;
use agon_store::{Ledger, PostgresLedger, StoreError};

use crate::LoadedCompetition;

/// Where ledgers are kept.
#[derive(Clone, PartialEq, Eq, Default)]
pub enum LedgerLocation {
    /// In a file beside the competition's.
    #[default]
    File,
    /// In the database at this URL (`postgres://...`), each by its name.
    Database(String),
}

impl fmt::Debug for LedgerLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // There may be a password in a URL.
        f.write_str(match self {
            Self::File => "File",
            Self::Database(_) => "Database(..)",
        })
    }
}

impl From<Option<String>> for LedgerLocation {
    fn from(database: Option<String>) -> Self {
        database.map_or(Self::File, Self::Database)
    }
}

impl LoadedCompetition {
    /// The name of its ledger in a database: that of its file. A server keeps `competitions/ID/cup.toml`: those are found by their id.
    pub fn slug(&self) -> String {
        let ledger = &self.place.ledger;
        let name = |path: Option<&Path>| {
            path.and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned()
        };
        let folder = ledger.parent();
        if name(folder.and_then(Path::parent)) == "competitions" {
            return name(folder);
        }
        ledger.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Whether there is a ledger: it was begun.
    pub async fn is_begun_at(&self, place: &LedgerLocation) -> Result<bool, Failure> {
        match place {
            LedgerLocation::File => Ok(self.place.ledger.exists()),
            LedgerLocation::Database(url) => Ok(PostgresLedger::exists(url, &self.slug()).await?),
        }
    }

    /// The ledger, made if it is not there. A file that changed in a way that matters is refused.
    pub async fn ledger_at(&self, place: &LedgerLocation) -> Result<Arc<dyn Ledger>, Failure> {
        let LedgerLocation::Database(url) = place else { return Ok(Arc::new(self.ledger().await?)) };
        let slug = self.slug();
        match PostgresLedger::open(url, &slug).await {
            Ok(ledger) => {
                self.check_unchanged(&ledger).await?;
                Ok(Arc::new(ledger))
            }
            Err(StoreError::Missing { .. }) => {
                Ok(Arc::new(PostgresLedger::create(url, &slug, &self.founding()?).await?))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The ledger of a competition that was begun, for writing (a ruling).
    pub async fn ledger_to_rule_at(&self, place: &LedgerLocation) -> Result<Arc<dyn Ledger>, StoreError> {
        match place {
            LedgerLocation::File => Ok(Arc::new(agon_store::SqliteLedger::open(&self.place.ledger).await?)),
            LedgerLocation::Database(url) => Ok(Arc::new(PostgresLedger::open(url, &self.slug()).await?)),
        }
    }

    /// The ledger, for looking at it.
    pub async fn ledger_to_read_at(&self, place: &LedgerLocation) -> Result<Arc<dyn Ledger>, Failure> {
        let LedgerLocation::Database(url) = place else { return Ok(Arc::new(self.ledger_to_read().await?)) };
        match PostgresLedger::open_to_read(url, &self.slug()).await {
            Ok(ledger) => Ok(Arc::new(ledger)),
            Err(StoreError::Missing { place }) => {
                let what =
                    format!("{} was not run yet with this database: there is no {place}", self.place.named);
                Err(Failure::wrong_use(what, format!("agon run {} --database URL", self.place.named)))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Puts an old ledger out of the way, if there is one in this database; gives its new name. Nothing that was played is lost.
    pub async fn put_aside_in(&self, url: &str) -> Result<Option<String>, Failure> {
        match PostgresLedger::rename_old(url, &self.slug()).await {
            Ok(name) => Ok(Some(name)),
            Err(StoreError::Missing { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
