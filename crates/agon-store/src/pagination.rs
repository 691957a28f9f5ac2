//! Paged reading of long lists. No transaction is open between two pages, so a slow reader blocks no other task.

use std::collections::HashMap;

use agon_core::record::Digest;
use agon_league::{FixedPoint, GameResult, MatchKey, MatchResult};
use async_trait::async_trait;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::filter::{FaultFilter, MatchFilter};
use crate::ledger::Rows;
use crate::model::{StoredFault, StoredMatch, StoredRecord, Timestamp};
use crate::{Result, StoreError};

/// Maximum number of matches or faults per page.
const MAX_PAGE_ROWS: u64 = 256;
/// Maximum number of matches per page of records, which may be large.
const MAX_RECORD_PAGE_MATCHES: u64 = 16;

/// Row of a match, without its games.
pub struct MatchRow {
    pub id: i64,
    pub key: MatchKey,
    pub finished: Timestamp,
    pub faults: u32,
    pub points: Vec<FixedPoint>,
}

/// Results and digests of games, by ledger id of the match.
pub type GamesByMatch = HashMap<i64, (Vec<GameResult>, Vec<Digest>)>;

/// Combines matches with their games.
pub fn with_games(rows: Vec<MatchRow>, mut games: GamesByMatch) -> Vec<StoredMatch> {
    let stored = rows.into_iter().map(|MatchRow { id, key, finished, faults, points }| {
        let (results, digests) = games.remove(&id).unwrap_or_default();
        StoredMatch {
            result: MatchResult { key, games: results, points },
            game_digests: digests,
            faults,
            finished,
        }
    });
    stored.collect()
}

/// Sorts records (match, game, bytes) by the order of their matches.
pub fn sort_records(rows: &[MatchRow], found: Vec<(i64, u32, Vec<u8>)>) -> Vec<StoredRecord> {
    let index_by_id: HashMap<i64, usize> =
        rows.iter().enumerate().map(|(index, one)| (one.id, index)).collect();
    let mut records: Vec<(usize, StoredRecord)> = Vec::with_capacity(found.len());
    for (id, game, bytes) in found {
        let index = index_by_id.get(&id).copied().unwrap_or_default();
        records.push((index, StoredRecord { key: rows[index].key, game, bytes }));
    }
    records.sort_unstable_by_key(|(index, record)| (*index, record.game));
    records.into_iter().map(|(_, record)| record).collect()
}

/// A page of records.
pub struct RecordPage {
    pub records: Vec<StoredRecord>,
    /// Number of matches on the page, with and without records.
    pub matches: usize,
    /// Last match of the page.
    pub last: Option<MatchKey>,
}

/// Reads single pages from a ledger.
#[async_trait]
pub trait PageReader: Sync {
    /// The next matches, at most `limit`.
    async fn match_page(&self, phase: u32, filter: &MatchFilter, limit: u64) -> Result<Vec<StoredMatch>>;
    /// Records of the next matches, at most `limit` matches.
    async fn record_page(&self, phase: u32, filter: &MatchFilter, limit: u64) -> Result<RecordPage>;
    /// The next faults, at most `limit`.
    async fn fault_page(&self, filter: &FaultFilter, limit: u64) -> Result<Vec<StoredFault>>;
}

pub fn matches<L: PageReader>(ledger: &L, phase: u32, filter: MatchFilter) -> Rows<'_, StoredMatch> {
    let pages = stream::try_unfold((filter, false), move |(mut filter, is_last_page)| async move {
        let limit = filter.limit.unwrap_or(MAX_PAGE_ROWS).min(MAX_PAGE_ROWS);
        if is_last_page || limit == 0 {
            return Ok::<_, StoreError>(None);
        }
        let page = ledger.match_page(phase, &filter, limit).await?;
        let is_last_page =
            advance(&mut filter, page.len(), limit, page.last().map(|stored| stored.result.key));
        Ok(Some((page, (filter, is_last_page))))
    });
    pages.map_ok(|page| stream::iter(page.into_iter().map(Ok))).try_flatten().boxed()
}

pub fn records<L: PageReader>(ledger: &L, phase: u32, filter: MatchFilter) -> Rows<'_, StoredRecord> {
    let pages = stream::try_unfold((filter, false), move |(mut filter, is_last_page)| async move {
        let limit = filter.limit.unwrap_or(MAX_RECORD_PAGE_MATCHES).min(MAX_RECORD_PAGE_MATCHES);
        if is_last_page || limit == 0 {
            return Ok::<_, StoreError>(None);
        }
        let page = ledger.record_page(phase, &filter, limit).await?;
        let is_last_page = advance(&mut filter, page.matches, limit, page.last);
        Ok(Some((page.records, (filter, is_last_page))))
    });
    pages.map_ok(|page| stream::iter(page.into_iter().map(Ok))).try_flatten().boxed()
}

pub fn faults<L: PageReader>(ledger: &L, filter: FaultFilter) -> Rows<'_, StoredFault> {
    let pages = stream::try_unfold((filter, false), move |(mut filter, is_last_page)| async move {
        let limit = filter.limit.unwrap_or(MAX_PAGE_ROWS).min(MAX_PAGE_ROWS);
        if is_last_page || limit == 0 {
            return Ok::<_, StoreError>(None);
        }
        let page = ledger.fault_page(&filter, limit).await?;
        let is_last_page = (page.len() as u64) < limit;
        filter.limit = filter.limit.map(|limit| limit - page.len() as u64);
        filter.before = page.last().map(|fault| fault.id);
        Ok(Some((page, (filter, is_last_page))))
    });
    pages.map_ok(|page| stream::iter(page.into_iter().map(Ok))).try_flatten().boxed()
}

/// Finds a match by reading a page of one match.
pub async fn find<L: PageReader>(ledger: &L, key: MatchKey) -> Result<Option<StoredMatch>> {
    let MatchKey { phase, stage, number } = key;
    let after = number.checked_sub(1).map(|before| MatchKey { phase, stage, number: before });
    let filter = MatchFilter { stages: stage..stage.saturating_add(1), after, ..MatchFilter::default() };
    let page = ledger.match_page(phase, &filter, 1).await?;
    Ok(page.into_iter().find(|stored| stored.result.key == key))
}

/// Moves the filter past a page. Returns whether that page was the last one.
fn advance(filter: &mut MatchFilter, found: usize, limit: u64, last: Option<MatchKey>) -> bool {
    let found = found as u64;
    filter.limit = filter.limit.map(|limit| limit - found);
    filter.after = last.or(filter.after);
    found < limit
}
