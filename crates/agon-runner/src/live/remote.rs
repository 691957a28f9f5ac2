//! Boards of other machines, in the same gallery: whoever looks on does not know where a game is played.

use std::sync::Arc;

use tokio::sync::broadcast::Receiver;

use super::subscriber::{SubscribeError, LiveUpdate};
use super::{LiveSlot, LiveGame, live_film};

/// Boards that are not on this machine.
pub trait RemoteGames: Send + Sync {
    /// What is being played there. A board keeps its number; none has one of a board that is here.
    fn boards(&self) -> Vec<LiveGame>;

    /// A window on one of these boards.
    fn window(&self, board: usize) -> Result<Box<dyn LiveSource>, SubscribeError>;
}

/// Through which a board is seen. Dropping it is enough to leave.
pub trait LiveSource: Send + Sync {
    /// What is shown now, and all that follows it. Nothing when there will be no more.
    fn tune_in(&self) -> Option<(Receiver<LiveUpdate>, Option<LiveUpdate>)>;
}

/// A window on a board of this machine: its projector runs as long as there is one.
pub(super) struct LocalSource(Arc<LiveSlot>);

impl LocalSource {
    /// The window, and what [`LiveSource::subscribe`] says in the same moment.
    #[allow(clippy::type_complexity, reason = "what tune_in gives, once")]
    pub(super) fn open(
        board: &Arc<LiveSlot>,
    ) -> Result<(Self, (Receiver<LiveUpdate>, Option<LiveUpdate>)), SubscribeError> {
        let joined = live_film::join(board)?;
        Ok((Self(Arc::clone(board)), joined))
    }
}

impl LiveSource for LocalSource {
    fn tune_in(&self) -> Option<(Receiver<LiveUpdate>, Option<LiveUpdate>)> {
        self.0.screen().subscribe()
    }
}

impl Drop for LocalSource {
    fn drop(&mut self) {
        live_film::leave(&self.0);
    }
}
