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
    pub(super) async fn read_competition(&self) -> Result<Competition> {
        todo!()
    }
    pub(super) async fn read_secret(&self) -> Result<Secret> {
        todo!()
    }
    pub(super) async fn write_reveal(&self, at: Time) -> Result<()> {
        todo!()
    }
    pub(super) async fn write_edition(&self, edition: &Edition) -> Result<()> {
        todo!()
    }
    pub(super) async fn read_phases(&self) -> Result<Vec<PhaseStatus>> {
        todo!()
    }
    pub(super) async fn write_start(&self, phase: u32, at: Time) -> Result<()> {
        todo!()
    }
    pub(super) async fn write_publish(&self, phase: u32, table: Digest, at: Time) -> Result<()> {
        todo!()
    }
    pub(super) async fn write_close(&self, phase: u32, at: Time) -> Result<()> {
        todo!()
    }
    pub(super) async fn look_for_damage(&self) -> Result<Vec<String>> {
        todo!()
    }
}
