//! Bots that are handed in: uploads, and the queue of their checks.

use crate::config::Config;

/// Bots on their way to being checked.
#[derive(Debug, Default)]
pub struct Intake {}

impl Intake {
    /// None yet.
    pub fn new(_config: &Config) -> Self {
        Self {}
    }
}
