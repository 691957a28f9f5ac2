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
    pub(super) async fn write_matches(
        &self,
        batch: &[FinishedMatch],
        snapshot: Option<&Snapshot>,
    ) -> Result<Appended> {
        todo!()
    }
}
