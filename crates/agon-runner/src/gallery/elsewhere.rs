//! Boards of other machines, in the same gallery: whoever looks on does not know where a game is played.

use std::sync::Arc;

use tokio::sync::broadcast::Receiver;

use super::follower::{NotFollowed, Update};
use super::{Board, BoardNow, projector};

/// Boards that are not on this machine.
pub trait Elsewhere: Send + Sync {
    /// What is being played there. A board keeps its number; none has one of a board that is here.
    fn boards(&self) -> Vec<BoardNow>;

    /// A window on one of these boards.
    fn window(&self, board: usize) -> Result<Box<dyn Window>, NotFollowed>;
}

/// Through which a board is seen. Dropping it is enough to leave.
pub trait Window: Send + Sync {
    /// What is shown now, and all that follows it. Nothing when there will be no more.
    fn tune_in(&self) -> Option<(Receiver<Update>, Option<Update>)>;
}

/// A window on a board of this machine: its projector runs as long as there is one.
pub(super) struct Here(Arc<Board>);

impl Here {
    /// The window, and what [`Window::tune_in`] says in the same moment.
    #[allow(clippy::type_complexity, reason = "what tune_in gives, once")]
    pub(super) fn open(
        board: &Arc<Board>,
    ) -> Result<(Self, (Receiver<Update>, Option<Update>)), NotFollowed> {
        let joined = projector::join(board)?;
        Ok((Self(Arc::clone(board)), joined))
    }
}

impl Window for Here {
    fn tune_in(&self) -> Option<(Receiver<Update>, Option<Update>)> {
        self.0.screen().tune_in()
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        projector::leave(&self.0);
    }
}
