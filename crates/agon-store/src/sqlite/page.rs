//! Not yet.
#![allow(
    clippy::todo,
    clippy::unused_async,
    unused_variables,
    unused_imports,
    dead_code,
    reason = "the interface first"
)]
use super::SqliteLedger;
use crate::*;
use agon_core::record::Digest;
use agon_league::{Entrant, MatchKey};

impl SqliteLedger {
    pub(super) async fn read_match(&self, key: MatchKey) -> Result<Option<KeptMatch>> {
        todo!()
    }
    pub(super) fn stream_matches(&self, phase: u32, filter: MatchFilter) -> Rows<'_, KeptMatch> {
        todo!()
    }
    pub(super) async fn read_record(&self, key: MatchKey, game: u32) -> Result<Option<Vec<u8>>> {
        todo!()
    }
    pub(super) fn stream_records(&self, phase: u32, filter: MatchFilter) -> Rows<'_, KeptRecord> {
        todo!()
    }
    pub(super) fn stream_faults(&self, filter: FaultFilter) -> Rows<'_, KeptFault> {
        todo!()
    }
}
