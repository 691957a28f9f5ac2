//! Games on other machines. Subscribers do not need to know where a game is played.

use std::sync::Arc;

use tokio::sync::broadcast::Receiver;

use super::subscriber::{LiveUpdate, SubscribeError};
use super::{LiveGame, LiveSlot, live_film};

/// Games that are played on other machines.
pub trait RemoteGames: Send + Sync {
    /// Games being played there. A slot keeps its number. Slot numbers differ from those of local slots.
    fn games(&self) -> Vec<LiveGame>;

    /// Opens the source of a remote slot.
    fn source(&self, slot: usize) -> Result<Box<dyn LiveSource>, SubscribeError>;
}

/// Source of the updates of a slot. Dropping it unsubscribes.
pub trait LiveSource: Send + Sync {
    /// The current film, and a receiver for all later updates. `None` if there will be no more updates.
    fn subscribe(&self) -> Option<(Receiver<LiveUpdate>, Option<LiveUpdate>)>;
}

/// Source of a local slot. The renderer runs while there is at least one source.
pub(super) struct LocalSource(Arc<LiveSlot>);

impl LocalSource {
    /// Opens a source. Also returns the first result of [`LiveSource::subscribe`], so that no update is missed.
    #[allow(clippy::type_complexity, reason = "the result of subscribe, used once")]
    pub(super) fn open(
        slot: &Arc<LiveSlot>,
    ) -> Result<(Self, (Receiver<LiveUpdate>, Option<LiveUpdate>)), SubscribeError> {
        let subscription = live_film::add_subscriber(slot)?;
        Ok((Self(Arc::clone(slot)), subscription))
    }
}

impl LiveSource for LocalSource {
    fn subscribe(&self) -> Option<(Receiver<LiveUpdate>, Option<LiveUpdate>)> {
        self.0.broadcast().subscribe()
    }
}

impl Drop for LocalSource {
    fn drop(&mut self) {
        live_film::remove_subscriber(&self.0);
    }
}
