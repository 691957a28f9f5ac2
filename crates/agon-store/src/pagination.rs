//! Long lists a page at a time: between two pages no transaction is open, so that a slow reader holds nobody up.

use std::collections::HashMap;

use agon_core::record::Digest;
use agon_league::{FixedPoint, GameResult, MatchKey, MatchResult};
use async_trait::async_trait;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::filter::{FaultFilter, MatchFilter};
use crate::model::{StoredFault, StoredMatch, StoredRecord, Timestamp};
use crate::ledger::Rows;
use crate::{Result, StoreError};

/// Matches or faults of a page.
const PAGE: u64 = 256;
/// Matches of a page of records, which may be large.
const RECORDS_PAGE: u64 = 16;

/// A match's row, still without its games.
pub struct MatchRow {
    pub id: i64,
    pub key: MatchKey,
    pub finished: Timestamp,
    pub faults: u32,
    pub points: Vec<FixedPoint>,
}

/// The games of some matches, by the match's number in the ledger.
pub type Games = HashMap<i64, (Vec<GameResult>, Vec<Digest>)>;

/// Puts matches and their games together.
pub fn with_games(listed: Vec<MatchRow>, mut games: Games) -> Vec<StoredMatch> {
    let whole = listed.into_iter().map(|MatchRow { id, key, finished, faults, points }| {
        let (results, digests) = games.remove(&id).unwrap_or_default();
        StoredMatch { result: MatchResult { key, games: results, points }, games: digests, faults, finished }
    });
    whole.collect()
}

/// Puts records (match, game, bytes) in the order of their matches.
pub fn in_order(listed: &[MatchRow], found: Vec<(i64, u32, Vec<u8>)>) -> Vec<StoredRecord> {
    let places: HashMap<i64, usize> = listed.iter().enumerate().map(|(place, one)| (one.id, place)).collect();
    let mut records: Vec<(usize, StoredRecord)> = Vec::with_capacity(found.len());
    for (id, game, bytes) in found {
        let place = places.get(&id).copied().unwrap_or_default();
        records.push((place, StoredRecord { key: listed[place].key, game, bytes }));
    }
    records.sort_unstable_by_key(|(place, record)| (*place, record.game));
    records.into_iter().map(|(_, record)| record).collect()
}

/// The records of some matches.
pub struct RecordPage {
    pub records: Vec<StoredRecord>,
    /// How many matches those are of, with and without records.
    pub matches: usize,
    /// The last one of them.
    pub last: Option<MatchKey>,
}

/// What a ledger reads at once.
#[async_trait]
pub trait PageReader: Sync {
    /// The next matches, at most so many.
    async fn match_page(&self, phase: u32, filter: &MatchFilter, most: u64) -> Result<Vec<StoredMatch>>;
    /// The records of the next matches.
    async fn record_page(&self, phase: u32, filter: &MatchFilter, most: u64) -> Result<RecordPage>;
    /// The next faults.
    async fn fault_page(&self, filter: &FaultFilter, most: u64) -> Result<Vec<StoredFault>>;
}

pub fn matches<L: PageReader>(ledger: &L, phase: u32, filter: MatchFilter) -> Rows<'_, StoredMatch> {
    let pages = stream::try_unfold((filter, false), move |(mut filter, over)| async move {
        let most = filter.limit.unwrap_or(PAGE).min(PAGE);
        if over || most == 0 {
            return Ok::<_, StoreError>(None);
        }
        let page = ledger.match_page(phase, &filter, most).await?;
        let over = go_on(&mut filter, page.len(), most, page.last().map(|kept| kept.result.key));
        Ok(Some((page, (filter, over))))
    });
    pages.map_ok(|page| stream::iter(page.into_iter().map(Ok))).try_flatten().boxed()
}

pub fn records<L: PageReader>(ledger: &L, phase: u32, filter: MatchFilter) -> Rows<'_, StoredRecord> {
    let pages = stream::try_unfold((filter, false), move |(mut filter, over)| async move {
        let most = filter.limit.unwrap_or(RECORDS_PAGE).min(RECORDS_PAGE);
        if over || most == 0 {
            return Ok::<_, StoreError>(None);
        }
        let page = ledger.record_page(phase, &filter, most).await?;
        let over = go_on(&mut filter, page.matches, most, page.last);
        Ok(Some((page.records, (filter, over))))
    });
    pages.map_ok(|page| stream::iter(page.into_iter().map(Ok))).try_flatten().boxed()
}

pub fn faults<L: PageReader>(ledger: &L, filter: FaultFilter) -> Rows<'_, StoredFault> {
    let pages = stream::try_unfold((filter, false), move |(mut filter, over)| async move {
        let most = filter.limit.unwrap_or(PAGE).min(PAGE);
        if over || most == 0 {
            return Ok::<_, StoreError>(None);
        }
        let page = ledger.fault_page(&filter, most).await?;
        let over = (page.len() as u64) < most;
        filter.limit = filter.limit.map(|limit| limit - page.len() as u64);
        filter.before = page.last().map(|fault| fault.id);
        Ok(Some((page, (filter, over))))
    });
    pages.map_ok(|page| stream::iter(page.into_iter().map(Ok))).try_flatten().boxed()
}

/// The page on which a match stands alone, if it is there.
pub async fn find<L: PageReader>(ledger: &L, key: MatchKey) -> Result<Option<StoredMatch>> {
    let MatchKey { phase, stage, number } = key;
    let after = number.checked_sub(1).map(|before| MatchKey { phase, stage, number: before });
    let filter = MatchFilter { stages: stage..stage.saturating_add(1), after, ..MatchFilter::default() };
    let page = ledger.match_page(phase, &filter, 1).await?;
    Ok(page.into_iter().find(|kept| kept.result.key == key))
}

/// Moves the filter behind a page; whether that was the last one.
fn go_on(filter: &mut MatchFilter, found: usize, most: u64, last: Option<MatchKey>) -> bool {
    let found = found as u64;
    filter.limit = filter.limit.map(|limit| limit - found);
    filter.after = last.or(filter.after);
    found < most
}
