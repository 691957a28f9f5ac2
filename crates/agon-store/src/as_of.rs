//! A ledger as it was at an earlier moment, for readers who must not see newer results.

use std::sync::Arc;

use agon_core::record::Digest;
use agon_league::{Entrant, MatchKey};
use async_trait::async_trait;
use futures_util::{StreamExt as _, TryStreamExt as _, future};
use tokio::sync::OnceCell;

use crate::archive::{LedgerDigest, RowSink};
use crate::postgres::DatabaseStatus;
use crate::{
    AppendResult, BannedWorker, BotOutput, BotVersion, ConfigVersion, Counts, DataFolder, FaultFilter,
    FinishedMatch, Ledger, LedgerInfo, MatchFilter, MatchOrder, NewBotVersion, NewRuling, PhaseProgress,
    PhaseState, PhaseStatus, Ranges, Result, Rows, Ruling, RulingLift, RunLock, SecretSeed, Snapshot,
    StoreError, StoredFault, StoredMatch, StoredRecord, Timestamp,
};

/// Shows another ledger as it was at a moment: later matches, faults, rulings and phases do not exist in it, and a seed that was revealed
/// later is still secret. It cannot be written to.
pub struct LedgerAsOf {
    ledger: Arc<dyn Ledger>,
    at: Timestamp,
    /// Phases that were published by then. They never change, so they are read as they are.
    complete: OnceCell<Vec<u32>>,
}

impl LedgerAsOf {
    /// The ledger as it was at a moment, which must be in the past.
    pub fn new(ledger: Arc<dyn Ledger>, at: Timestamp) -> Self {
        Self { ledger, at, complete: OnceCell::new() }
    }

    async fn is_complete(&self, phase: u32) -> Result<bool> {
        let read = || async {
            let phases = self.ledger.phases().await?;
            let by_then = |phase: &PhaseStatus| phase.published.is_some_and(|at| at <= self.at);
            Ok::<_, StoreError>(phases.iter().filter(|one| by_then(one)).map(|one| one.phase).collect())
        };
        Ok(self.complete.get_or_try_init(read).await?.contains(&phase))
    }

    fn read_only() -> StoreError {
        StoreError::ReadOnly {
            place: "the ledger".to_owned(),
            what: "it shows an earlier state of the competition".to_owned(),
        }
    }

    /// The phase as it was then.
    fn earlier_phase(&self, mut phase: PhaseStatus) -> PhaseStatus {
        let later = |at: Option<Timestamp>| at.is_none_or(|at| at > self.at);
        if later(phase.started) {
            return PhaseStatus {
                phase: phase.phase,
                state: PhaseState::Waiting,
                table_hash: None,
                started: None,
                published: None,
                closed: None,
                rulings_at_start: Vec::new(),
                rulings_at_publication: Vec::new(),
            };
        }
        if later(phase.published) {
            phase.state = PhaseState::Running;
            (phase.table_hash, phase.published, phase.closed) = (None, None, None);
            phase.rulings_at_publication = Vec::new();
        } else if later(phase.closed) {
            (phase.state, phase.closed) = (PhaseState::Published, None);
        }
        phase
    }
}

#[async_trait]
impl Ledger for LedgerAsOf {
    async fn competition(&self) -> Result<LedgerInfo> {
        let mut info = self.ledger.competition().await?;
        info.revealed = info.revealed.filter(|(_, at)| *at <= self.at);
        Ok(info)
    }

    async fn secret_seed(&self) -> Result<SecretSeed> {
        self.ledger.secret_seed().await
    }

    async fn reveal_seed(&self, _: Timestamp) -> Result<()> {
        Err(Self::read_only())
    }

    async fn add_config_version(&self, _: &ConfigVersion) -> Result<()> {
        Err(Self::read_only())
    }

    async fn phases(&self) -> Result<Vec<PhaseStatus>> {
        Ok(self.ledger.phases().await?.into_iter().map(|phase| self.earlier_phase(phase)).collect())
    }

    async fn start_phase(&self, _: u32, _: Timestamp) -> Result<()> {
        Err(Self::read_only())
    }

    async fn publish_phase(&self, _: u32, _: Digest, _: &[u64], _: Timestamp) -> Result<()> {
        Err(Self::read_only())
    }

    async fn close_phase(&self, _: u32, _: Timestamp) -> Result<()> {
        Err(Self::read_only())
    }

    async fn acquire_run_lock(&self) -> Result<RunLock> {
        Err(Self::read_only())
    }

    async fn add_bot_version(&self, _: &NewBotVersion) -> Result<u32> {
        Err(Self::read_only())
    }

    async fn bot_versions(&self) -> Result<Vec<BotVersion>> {
        self.ledger.bot_versions().await
    }

    async fn bot_archive(&self, entrant: Entrant, version: u32) -> Result<Option<Vec<u8>>> {
        self.ledger.bot_archive(entrant, version).await
    }

    async fn append(&self, _: &[FinishedMatch], _: Option<&Snapshot>) -> Result<AppendResult> {
        Err(Self::read_only())
    }

    async fn progress(&self, phase: u32) -> Result<PhaseProgress> {
        if self.is_complete(phase).await? {
            return self.ledger.progress(phase).await;
        }
        let mut progress = PhaseProgress::default();
        let mut matches =
            self.matches(phase, MatchFilter { order: MatchOrder::Appended, ..MatchFilter::default() });
        while let Some(one) = matches.next().await {
            let result = one?.result;
            let stage = result.key.stage as usize;
            if progress.played.len() <= stage {
                progress.played.resize_with(stage + 1, Ranges::new);
            }
            if let Some(played) = progress.played.get_mut(stage) {
                played.insert(result.key.number);
            }
            progress.results_after_snapshot.push(result);
        }
        Ok(progress)
    }

    async fn counts(&self, phase: u32) -> Result<Counts> {
        if self.is_complete(phase).await? {
            return self.ledger.counts(phase).await;
        }
        let mut counts = Counts::default();
        let mut matches = self.matches(phase, MatchFilter::default());
        while let Some(one) = matches.next().await {
            let one = one?;
            counts.matches += 1;
            counts.games += one.result.games.len() as u64;
            counts.faults += u64::from(one.faults);
        }
        Ok(counts)
    }

    async fn find(&self, key: MatchKey) -> Result<Option<StoredMatch>> {
        Ok(self.ledger.find(key).await?.filter(|found| found.finished <= self.at))
    }

    fn matches(&self, phase: u32, mut filter: MatchFilter) -> Rows<'_, StoredMatch> {
        // The limit counts matches that are shown.
        let limit = filter.limit.take().and_then(|limit| usize::try_from(limit).ok());
        let shown =
            self.ledger.matches(phase, filter).try_filter(move |one| future::ready(one.finished <= self.at));
        shown.take(limit.unwrap_or(usize::MAX)).boxed()
    }

    async fn record(&self, key: MatchKey, game: u32) -> Result<Option<Vec<u8>>> {
        match self.find(key).await? {
            Some(_) => self.ledger.record(key, game).await,
            None => Ok(None),
        }
    }

    fn records(&self, phase: u32, filter: MatchFilter) -> Rows<'_, StoredRecord> {
        let games = self.matches(phase, filter).map_ok(move |one| {
            let (key, games) = (one.result.key, one.result.games.len() as u32);
            futures_util::stream::iter((0..games).map(move |game| Ok::<_, StoreError>((key, game))))
        });
        let records = games.try_flatten().try_filter_map(move |(key, game)| async move {
            let bytes = self.ledger.record(key, game).await?;
            Ok(bytes.map(|bytes| StoredRecord { key, game, bytes }))
        });
        records.boxed()
    }

    fn faults(&self, mut filter: FaultFilter) -> Rows<'_, StoredFault> {
        let limit = filter.limit.take().and_then(|limit| usize::try_from(limit).ok());
        let shown = self.ledger.faults(filter).try_filter(move |one| future::ready(one.finished <= self.at));
        shown.take(limit.unwrap_or(usize::MAX)).boxed()
    }

    async fn data_folder_before(&self, _: Entrant, _: u32, _: u32) -> Result<Option<(MatchKey, DataFolder)>> {
        Ok(None)
    }

    async fn add_ruling(&self, _: &NewRuling) -> Result<u64> {
        Err(Self::read_only())
    }

    async fn lift_ruling(&self, _: u64, _: &RulingLift) -> Result<()> {
        Err(Self::read_only())
    }

    async fn rulings(&self) -> Result<Vec<Ruling>> {
        let mut rulings = self.ledger.rulings().await?;
        rulings.retain(|one| one.at <= self.at);
        for one in &mut rulings {
            one.lifted = one.lifted.take().filter(|lift| lift.at <= self.at);
        }
        Ok(rulings)
    }

    async fn forfeits(&self, phase: u32) -> Result<Vec<(MatchKey, Entrant)>> {
        let mut shown = Vec::new();
        for (key, entrant) in self.ledger.forfeits(phase).await? {
            if self.find(key).await?.is_some() {
                shown.push((key, entrant));
            }
        }
        Ok(shown)
    }

    async fn bot_output(&self, key: MatchKey, game: u32, seat: u8) -> Result<Option<BotOutput>> {
        match self.find(key).await? {
            Some(_) => self.ledger.bot_output(key, game, seat).await,
            None => Ok(None),
        }
    }

    async fn ban_worker(&self, _: &str, _: &str, _: Timestamp) -> Result<()> {
        Err(Self::read_only())
    }

    async fn banned_workers(&self) -> Result<Vec<BannedWorker>> {
        Ok(Vec::new())
    }

    async fn matches_played_by(&self, _: u32, _: &str) -> Result<Vec<MatchKey>> {
        Ok(Vec::new())
    }

    async fn matches_with_workers(&self, _: u32) -> Result<Vec<(MatchKey, String, Digest)>> {
        Ok(Vec::new())
    }

    async fn revoke_matches(&self, _: u32, _: &[MatchKey], _: &str, _: Timestamp) -> Result<u64> {
        Err(Self::read_only())
    }

    async fn check(&self) -> Result<Vec<String>> {
        Err(Self::read_only())
    }

    async fn match_digest(&self) -> Result<LedgerDigest> {
        Err(Self::read_only())
    }

    async fn dump(&self, _: &mut dyn RowSink) -> Result<()> {
        Err(Self::read_only())
    }

    fn connectivity(&self) -> Option<DatabaseStatus> {
        self.ledger.connectivity()
    }

    async fn ping(&self) -> Result<()> {
        self.ledger.ping().await
    }

    async fn disconnect(&self) -> Result<()> {
        // The ledger is shared with readers of its current state.
        Ok(())
    }
}
