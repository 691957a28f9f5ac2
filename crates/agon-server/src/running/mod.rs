//! Competitions as they are played.

use crate::config::Config;
use crate::error::StartError;
use crate::state::App;

/// What is played just now.
#[derive(Debug, Default)]
pub struct Running {}

impl Running {
    /// Nothing yet.
    pub fn new(_config: &Config) -> Self {
        Self {}
    }
}

/// The server has started: what was cut off goes on (checks, competitions).
pub async fn begin(_app: &App) -> Result<(), StartError> {
    std::future::ready(Ok(())).await
}

/// The server stops (`app.is_stopping()` is true by now): asks everything that runs to end and comes back when it has. Whoever
/// calls it waits no longer than `config.grace`.
pub async fn wind_down(_app: &App) {
    std::future::ready(()).await;
}
