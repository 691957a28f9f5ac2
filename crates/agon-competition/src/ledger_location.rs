//! Location of a competition's ledger: a file beside the competition file, or a database.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use agon_bots::Diagnostic;
use agon_store::{Ledger, PostgresLedger, StoreError};

use crate::LoadedCompetition;

/// Location of ledgers.
#[derive(Clone, PartialEq, Eq, Default)]
pub enum LedgerLocation {
    /// A file beside the competition file.
    #[default]
    File,
    /// The database at this URL (`postgres://...`), where each ledger has a name.
    Database(String),
}

impl fmt::Debug for LedgerLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL may contain a password.
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
    /// Name of the ledger in a database: the name of the competition file. A server stores `competitions/ID/cup.toml`, so there it is the
    /// id.
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

    /// Whether a ledger exists, so that the competition has started.
    pub async fn is_begun_at(&self, place: &LedgerLocation) -> Result<bool, Diagnostic> {
        match place {
            LedgerLocation::File => self.has_ledger_file(),
            LedgerLocation::Database(url) => Ok(PostgresLedger::exists(url, &self.slug()).await?),
        }
    }

    /// Opens the ledger, and creates it if needed. Fails if the file changed in a way that affects results.
    pub async fn ledger_at(&self, place: &LedgerLocation) -> Result<Arc<dyn Ledger>, Diagnostic> {
        let LedgerLocation::Database(url) = place else { return Ok(Arc::new(self.ledger().await?)) };
        let slug = self.slug();
        match PostgresLedger::open(url, &slug).await {
            Ok(ledger) => {
                self.check_unchanged(&ledger).await?;
                Ok(Arc::new(ledger))
            }
            Err(StoreError::Missing { .. }) => {
                Ok(Arc::new(PostgresLedger::create(url, &slug, &self.new_ledger()?).await?))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the ledger of a started competition for writing a ruling.
    pub async fn ledger_to_rule_at(&self, place: &LedgerLocation) -> Result<Arc<dyn Ledger>, StoreError> {
        match place {
            LedgerLocation::File => Ok(Arc::new(agon_store::SqliteLedger::open(&self.place.ledger).await?)),
            LedgerLocation::Database(url) => Ok(Arc::new(PostgresLedger::open(url, &self.slug()).await?)),
        }
    }

    /// Opens the ledger for reading.
    pub async fn ledger_to_read_at(&self, place: &LedgerLocation) -> Result<Arc<dyn Ledger>, Diagnostic> {
        let LedgerLocation::Database(url) = place else { return Ok(Arc::new(self.ledger_to_read().await?)) };
        match PostgresLedger::open_to_read(url, &self.slug()).await {
            Ok(ledger) => Ok(Arc::new(ledger)),
            Err(StoreError::Missing { place }) => {
                let what = format!(
                    "{} has not been run with this database: {place} does not exist",
                    self.place.named
                );
                Err(Diagnostic::wrong_use(
                    what,
                    format!("start it with: agon run {} --database URL", self.place.named),
                ))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Renames an old ledger in this database and returns its new name. No results are lost.
    pub async fn put_aside_in(&self, url: &str) -> Result<Option<String>, Diagnostic> {
        match PostgresLedger::rename_old(url, &self.slug()).await {
            Ok(name) => Ok(Some(name)),
            Err(StoreError::Missing { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
