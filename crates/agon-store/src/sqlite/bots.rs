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
    pub(super) async fn write_bot(&self, bot: &Submission) -> Result<u32> {
        todo!()
    }
    pub(super) async fn read_bots(&self) -> Result<Vec<BotVersion>> {
        todo!()
    }
    pub(super) async fn read_archive(&self, entrant: Entrant, version: u32) -> Result<Option<Vec<u8>>> {
        todo!()
    }
    pub(super) async fn read_data(
        &self,
        entrant: Entrant,
        phase: u32,
        stage: u32,
    ) -> Result<Option<(MatchKey, DataFolder)>> {
        todo!()
    }
}
