//! Not yet.
#![allow(clippy::todo, clippy::unused_async, unused_variables, reason = "the interface first")]
use super::SqliteLedger;
use crate::{Founding, Result};
use std::path::Path;
pub async fn create(path: &Path, founding: &Founding) -> Result<()> {
    todo!()
}
pub async fn open(path: &Path) -> Result<SqliteLedger> {
    todo!()
}
pub async fn open_to_read(path: &Path) -> Result<SqliteLedger> {
    todo!()
}
