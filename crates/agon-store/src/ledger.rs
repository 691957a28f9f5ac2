//! The ledger's interface. What keeps it (a file, a database server) is behind it, and passes `tests/conformance.rs`.

use agon_core::record::Digest;
use agon_league::{Entrant, MatchKey};
use async_trait::async_trait;
use futures_util::stream::BoxStream;

use crate::archive::RowSink;
use crate::filter::{FaultFilter, MatchFilter};
use crate::model::{
    AppendResult, BannedWorker, BotVersion, LedgerInfo, Counts, DataFolder, ConfigVersion, FinishedMatch, StoredFault,
    StoredMatch, StoredRecord, PhaseStatus, PhaseProgress, SecretSeed, Snapshot, NewBotVersion, Timestamp,
};
use crate::bot_output::BotOutput;
use crate::ruling::{Lifted, NewRuling, Ruling};
use crate::{RunLock, Result};

/// Many things, one after the other, without all of them in memory. No transaction stays open between two of them.
pub type Rows<'l, T> = BoxStream<'l, Result<T>>;

/// One competition's ledger.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// What may be shown of the competition: the secret seed only after [`Ledger::reveal`].
    async fn competition(&self) -> Result<LedgerInfo>;

    /// The secret seed, for whoever draws from it.
    async fn secret(&self) -> Result<SecretSeed>;

    /// From now on the seed may be shown. A second time changes nothing.
    async fn reveal(&self, at: Timestamp) -> Result<()>;

    /// The file was changed in a way that leaves results comparable: keeps the new one too. The latest again changes nothing.
    async fn amend(&self, edition: &ConfigVersion) -> Result<()>;

    /// All phases, in order.
    async fn phases(&self) -> Result<Vec<PhaseStatus>>;

    /// A waiting phase takes matches from now on. One that is running stays so.
    async fn start(&self, phase: u32, at: Timestamp) -> Result<()>;

    /// A running phase takes no matches any more; the hash of its table is kept. `under` are the rulings that the table heeds; if
    /// others are in force by now, it is refused ([`crate::StoreError::Ruled`]). Again with the same table changes nothing.
    async fn publish(&self, phase: u32, table: Digest, under: &[u64], at: Timestamp) -> Result<()>;

    /// A published phase is over. A second time changes nothing.
    async fn close(&self, phase: u32, at: Timestamp) -> Result<()>;

    /// The right to play the competition, until it is dropped or its process ends. One at a time: whoever is second is told who
    /// the first is.
    async fn claim(&self) -> Result<RunLock>;

    /// A bot is handed in; gives its version. The entrant's latest again, for the same phase or a later one, is the version it
    /// has. Refused once the phase it shall play from has started.
    async fn submit(&self, bot: &NewBotVersion) -> Result<u32>;

    /// Every version of every bot, by entrant and version.
    async fn bots(&self) -> Result<Vec<BotVersion>>;

    /// A bot's packed files, if they were kept.
    async fn archive(&self, entrant: Entrant, version: u32) -> Result<Option<Vec<u8>>>;

    /// Keeps finished matches, all or none. A match that is there already is left as it is, and is an error if what is to be kept
    /// differs in its digest. Quick for many at once: gather some dozens.
    async fn append(&self, batch: &[FinishedMatch], snapshot: Option<&Snapshot>) -> Result<AppendResult>;

    /// How far a phase is: for going on with it, and for its table.
    async fn progress(&self, phase: u32) -> Result<PhaseProgress>;

    /// How much of a phase was played.
    async fn counts(&self, phase: u32) -> Result<Counts>;

    /// One match.
    async fn find(&self, key: MatchKey) -> Result<Option<StoredMatch>>;

    /// Matches of a phase.
    fn matches(&self, phase: u32, filter: MatchFilter) -> Rows<'_, StoredMatch>;

    /// One game's record, if there is such a game and its record was kept.
    async fn record(&self, key: MatchKey, game: u32) -> Result<Option<Vec<u8>>>;

    /// The records of the matches that [`Ledger::matches`] would give; games without a record are left out. `after` and `limit`
    /// count matches.
    fn records(&self, phase: u32, filter: MatchFilter) -> Rows<'_, StoredRecord>;

    /// The fault list, newest first.
    fn faults(&self, filter: FaultFilter) -> Rows<'_, StoredFault>;

    /// An entrant's `data/` folder as it was when this stage began: after its last match of an earlier stage or phase. With
    /// the match it is from, for whoever starts anew with a new version.
    async fn data_before(
        &self,
        entrant: Entrant,
        phase: u32,
        stage: u32,
    ) -> Result<Option<(MatchKey, DataFolder)>>;

    /// The organiser decides; gives the ruling's number. Refused without a reason, about what was never played or who is not there,
    /// and while a ruling on the same is in force. A ledger knows no formats: whether a match of this phase may be void is for whoever
    /// calls to say.
    async fn rule(&self, ruling: &NewRuling) -> Result<u64>;

    /// A ruling is no longer in force. It stays in the list; a second time is refused.
    async fn lift(&self, ruling: u64, lifted: &Lifted) -> Result<()>;

    /// Every ruling that was ever made, the first first.
    async fn rulings(&self) -> Result<Vec<Ruling>>;

    /// The matches of a phase that ended while one of those who played them was disqualified, with whom, in the order of the
    /// schedule. What was ruled or lifted since does not change it.
    async fn forfeits(&self, phase: u32) -> Result<Vec<(MatchKey, Entrant)>>;

    /// What a bot printed in a game. `None` if that was nothing, if it is no program, and when it was dropped to make room.
    async fn log(&self, key: MatchKey, game: u32, seat: u8) -> Result<Option<BotOutput>>;

    /// A worker is not believed any more, and why. It stays barred; a second time changes nothing.
    async fn ban_worker(&self, worker: &str, why: &str, at: Timestamp) -> Result<()>;

    /// Who is not believed any more, the first first.
    async fn barred(&self) -> Result<Vec<BannedWorker>>;

    /// The matches of a phase that a worker has played, in the order of the schedule.
    async fn played_by(&self, phase: u32, worker: &str) -> Result<Vec<MatchKey>>;

    /// Who played each match of a phase, and what it came to, by its digest; in the order of the schedule. Those that were not played
    /// by a worker are left out.
    async fn matches_with_workers(&self, phase: u32) -> Result<Vec<(MatchKey, String, Digest)>>;

    /// Takes matches of a running phase back, all or none, with everything that belongs to them; gives how many there were. They can be
    /// appended again, with another outcome too. That they were there, who played them and why they went is kept. Void ones stay.
    async fn revoke_matches(&self, phase: u32, keys: &[MatchKey], why: &str, at: Timestamp) -> Result<u64>;

    /// Looks at everything that is kept; gives what is wrong, in words. Slow.
    async fn check(&self) -> Result<Vec<String>>;

    /// Hands all of it over, row by row and as it is at one moment: for archives.
    async fn dump(&self, sink: &mut dyn RowSink) -> Result<()>;

    /// Lets go of it in good order. Nothing is asked of it any more.
    async fn disconnect(&self) -> Result<()>;
}
