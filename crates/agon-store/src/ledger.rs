//! Interface of a ledger. Every implementation (file, database server) passes `tests/conformance.rs`.

use agon_core::record::Digest;
use agon_league::{Entrant, MatchKey};
use async_trait::async_trait;
use futures_util::stream::BoxStream;

use crate::archive::{LedgerDigest, RowSink};
use crate::bot_output::BotOutput;
use crate::filter::{FaultFilter, MatchFilter};
use crate::model::{
    AppendResult, BannedWorker, BotVersion, ConfigVersion, Counts, DataFolder, FinishedMatch, LedgerInfo,
    NewBotVersion, PhaseProgress, PhaseStatus, SecretSeed, Snapshot, StoredFault, StoredMatch, StoredRecord,
    Timestamp,
};
use crate::postgres::DatabaseStatus;
use crate::ruling::{NewRuling, Ruling, RulingLift};
use crate::{Result, RunLock};

/// A stream of rows that are not all in memory. No transaction stays open between two rows.
pub type Rows<'l, T> = BoxStream<'l, Result<T>>;

/// Ledger of one competition.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Public data of the competition. Contains the secret seed only after [`Ledger::reveal_seed`].
    async fn competition(&self) -> Result<LedgerInfo>;

    /// The secret seed, for drawing the seeds of games.
    async fn secret_seed(&self) -> Result<SecretSeed>;

    /// Makes the seed public. Calling it again changes nothing.
    async fn reveal_seed(&self, at: Timestamp) -> Result<()>;

    /// Stores a new version of the competition file, after a change that leaves results comparable. Storing the latest again changes
    /// nothing.
    async fn add_config_version(&self, config: &ConfigVersion) -> Result<()>;

    /// All phases, in order.
    async fn phases(&self) -> Result<Vec<PhaseStatus>>;

    /// Starts a waiting phase: it accepts matches from now on. Does nothing if it is running.
    async fn start_phase(&self, phase: u32, at: Timestamp) -> Result<()>;

    /// Publishes a running phase: stores the hash of its table and accepts no more matches. `rulings` are the ids of the rulings applied to
    /// the table. Fails with [`crate::StoreError::RulingsChanged`] if others are in force. Publishing the same table again changes nothing.
    async fn publish_phase(
        &self,
        phase: u32,
        table_hash: Digest,
        rulings: &[u64],
        at: Timestamp,
    ) -> Result<()>;

    /// Closes a published phase. Calling it again changes nothing.
    async fn close_phase(&self, phase: u32, at: Timestamp) -> Result<()>;

    /// Takes the lock for running the competition. It is released on drop or when the process ends. Only one process can hold it:
    /// the error for a second one names the holder.
    async fn acquire_run_lock(&self) -> Result<RunLock>;

    /// Adds a bot version and returns its number. Adding the entrant's latest bot again, for the same or a later phase, returns
    /// its existing number. Fails once phase `from_phase` has started.
    async fn add_bot_version(&self, bot: &NewBotVersion) -> Result<u32>;

    /// All versions of all bots, by entrant and version.
    async fn bot_versions(&self) -> Result<Vec<BotVersion>>;

    /// Packed files of a bot version, if they were stored.
    async fn bot_archive(&self, entrant: Entrant, version: u32) -> Result<Option<Vec<u8>>>;

    /// Stores finished matches, all or none. A match that is already stored does not change; it is an error if its digest
    /// differs. Batches of some dozens are fastest.
    async fn append(&self, batch: &[FinishedMatch], snapshot: Option<&Snapshot>) -> Result<AppendResult>;

    /// Progress of a phase, for resuming it and for computing its table.
    async fn progress(&self, phase: u32) -> Result<PhaseProgress>;

    /// Numbers of matches, games and faults of a phase.
    async fn counts(&self, phase: u32) -> Result<Counts>;

    /// One match.
    async fn find(&self, key: MatchKey) -> Result<Option<StoredMatch>>;

    /// Matches of a phase.
    fn matches(&self, phase: u32, filter: MatchFilter) -> Rows<'_, StoredMatch>;

    /// Record of a game, if the game exists and its record was stored.
    async fn record(&self, key: MatchKey, game: u32) -> Result<Option<Vec<u8>>>;

    /// Records of the matches that [`Ledger::matches`] returns. Games without a record are left out. `after` and `limit` refer to
    /// matches.
    fn records(&self, phase: u32, filter: MatchFilter) -> Rows<'_, StoredRecord>;

    /// The fault list, newest first.
    fn faults(&self, filter: FaultFilter) -> Rows<'_, StoredFault>;

    /// An entrant's `data/` folder at the start of a stage: after its last match of an earlier stage or phase. Returned with
    /// the key of that match, so that the caller can start empty after a version change.
    async fn data_folder_before(
        &self,
        entrant: Entrant,
        phase: u32,
        stage: u32,
    ) -> Result<Option<(MatchKey, DataFolder)>>;

    /// Makes a ruling and returns its id. Fails without a reason, for a match that was not played, for an unknown entrant, and while a
    /// ruling on the same subject is in force. The ledger does not know the formats: the caller decides whether a match of this phase may
    /// be voided.
    async fn add_ruling(&self, ruling: &NewRuling) -> Result<u64>;

    /// Lifts a ruling. It stays in the list. Lifting it again is an error.
    async fn lift_ruling(&self, ruling: u64, lifted: &RulingLift) -> Result<()>;

    /// All rulings, including lifted ones, oldest first.
    async fn rulings(&self) -> Result<Vec<Ruling>>;

    /// Matches of a phase that ended while one of their entrants was disqualified, each with that entrant, in schedule order. Later
    /// rulings and lifts do not change the result.
    async fn forfeits(&self, phase: u32) -> Result<Vec<(MatchKey, Entrant)>>;

    /// Bot output of a seat in a game. `None` if the bot printed nothing, is not a program, or its output was dropped to free space.
    async fn bot_output(&self, key: MatchKey, game: u32, seat: u8) -> Result<Option<BotOutput>>;

    /// Bans a worker permanently. Banning it again changes nothing.
    async fn ban_worker(&self, worker: &str, reason: &str, at: Timestamp) -> Result<()>;

    /// Banned workers, in the order of their bans.
    async fn banned_workers(&self) -> Result<Vec<BannedWorker>>;

    /// Matches of a phase that this worker played, in schedule order.
    async fn matches_played_by(&self, phase: u32, worker: &str) -> Result<Vec<MatchKey>>;

    /// Matches of a phase with worker and digest, in schedule order. Matches that were not played by a worker are left
    /// out.
    async fn matches_with_workers(&self, phase: u32) -> Result<Vec<(MatchKey, String, Digest)>>;

    /// Revokes matches of a running phase, all or none, with all their data. Returns the number of revoked matches. They can be appended
    /// again, also with other results. The ledger keeps their keys, workers, digests and the reason. Void matches are not revoked.
    async fn revoke_matches(&self, phase: u32, keys: &[MatchKey], reason: &str, at: Timestamp)
    -> Result<u64>;

    /// Checks all stored data and returns the problems found. Slow.
    async fn check(&self) -> Result<Vec<String>>;

    /// Number of matches and a digest of all of them. Reads one row for each match.
    async fn match_digest(&self) -> Result<LedgerDigest>;

    /// Passes all rows, from one consistent state, to `sink`; used for archives.
    async fn dump(&self, sink: &mut dyn RowSink) -> Result<()>;

    /// Whether the database of this ledger answers, without asking it. `None` for a ledger in a file.
    fn connectivity(&self) -> Option<DatabaseStatus>;

    /// Asks the ledger for a sign of life, once and without retries: the database answers, or the file is readable and still at its path.
    async fn ping(&self) -> Result<()>;

    /// Closes all connections. The ledger must not be used afterwards.
    async fn disconnect(&self) -> Result<()>;
}
