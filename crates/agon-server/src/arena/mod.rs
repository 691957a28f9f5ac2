//! Competitions, open for reading.

use agon_store::office::Office;

use crate::config::Config;
use crate::error::StartError;

/// All competitions the server knows.
#[derive(Debug, Default)]
pub struct Arenas {}

impl Arenas {
    /// Those of the office, and the files it was started with.
    pub async fn open(_config: &Config, _office: &Office) -> Result<Self, StartError> {
        std::future::ready(Ok(Self {})).await
    }
}
