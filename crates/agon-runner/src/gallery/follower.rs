//! Somebody who looks on.

use std::io;
use std::sync::Arc;

use agon_league::{Entrant, MatchKey, MatchResult};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::{Board, projector};

/// A game that is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShownGame {
    /// On which board, from 0.
    pub board: usize,
    /// How many games were begun on this board, this one included: a later game has a larger number.
    pub number: u64,
    /// Of which match.
    pub key: MatchKey,
    /// Which game of the match, from 0.
    pub game: u32,
    /// By whom, in seat order.
    pub seats: Vec<Entrant>,
}

/// What there is to see. The same bytes for all who follow: cloning one costs nothing.
#[derive(Clone, Debug)]
pub enum Update {
    /// A game, as far as it was shown: another one, or the same for somebody who came late or was too slow. Whatever was
    /// shown before makes room for it.
    Film {
        /// Which.
        game: Arc<ShownGame>,
        /// A film (`docs/film.md`), live unless the game is over.
        film: Arc<[u8]>,
        /// Whether it has its end.
        over: bool,
    },
    /// The same game goes on.
    Part {
        /// Which.
        game: Arc<ShownGame>,
        /// To be appended to the film.
        part: Arc<[u8]>,
        /// Whether it is the last, with the outcome.
        over: bool,
    },
    /// The match of the game that was shown is over.
    Match(Arc<MatchResult>),
    /// Nothing is played on this board. It may be, later.
    Idle,
}

/// Why nobody can follow that.
#[derive(Debug, thiserror::Error)]
pub enum NotFollowed {
    /// Over, not begun, or never heard of.
    #[error("this is not being played")]
    NotThere,
    /// The machine has no room for another projector.
    #[error("the game cannot be shown: {0}")]
    Projector(#[from] io::Error),
}

/// Follows a board, or a match. Dropping it is enough to leave.
pub struct Follower {
    board: Arc<Board>,
    receiver: Receiver<Update>,
    /// To be seen before anything else.
    next: Option<Update>,
    /// The match, and the number of the game by which it was found.
    only: Option<(MatchKey, u64)>,
}

impl Follower {
    pub(super) fn new(board: Arc<Board>, only: Option<(MatchKey, u64)>) -> Result<Self, NotFollowed> {
        let (receiver, next) = projector::join(&board)?;
        Ok(Self { board, receiver, next, only })
    }

    /// The next thing to see, as soon as there is one. `None` when there will be none: the match is over, or the gallery is closed.
    /// Nothing is lost if it is not waited for to the end (it may stand in a `select!` or under a timeout).
    pub async fn next(&mut self) -> Option<Update> {
        loop {
            let update = match self.next.take() {
                Some(update) => update,
                None => match self.receiver.recv().await {
                    Ok(update) => update,
                    Err(RecvError::Lagged(_)) => {
                        (self.receiver, self.next) = self.board.screen().tune_in()?;
                        continue;
                    }
                    Err(RecvError::Closed) => return None,
                },
            };
            let Some((key, number)) = self.only else { return Some(update) };
            match &update {
                Update::Film { game, .. } | Update::Part { game, .. } if game.key != key => {
                    // The projector may still be at a game before the match; once it is past it, there is no more.
                    if game.number > number {
                        return None;
                    }
                }
                Update::Match(result) if result.key != key => {}
                Update::Idle => return None,
                _ => return Some(update),
            }
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        projector::leave(&self.board);
    }
}
