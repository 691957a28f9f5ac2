//! Somebody who looks on.

use std::io;
use std::sync::Arc;

use agon_league::{Entrant, MatchKey, MatchResult};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::LiveSlot;
use super::remote::{LocalSource, LiveSource};

/// A game that is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LiveGameKey {
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
pub enum LiveUpdate {
    /// A game, as far as it was shown: another one, or the same for somebody who came late or was too slow. Whatever was
    /// shown before makes room for it.
    Film {
        /// Which.
        game: Arc<LiveGameKey>,
        /// A film (`docs/film.md`), live unless the game is over.
        film: Arc<[u8]>,
        /// Whether it has its end.
        over: bool,
    },
    /// The same game goes on.
    Part {
        /// Which.
        game: Arc<LiveGameKey>,
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
pub enum SubscribeError {
    /// Over, not begun, or never heard of.
    #[error("this is not being played")]
    NotThere,
    /// The machine has no room for another projector.
    #[error("the game cannot be shown: {0}")]
    Projector(#[from] io::Error),
}

/// Games of other matches that somebody who waits for one lets pass, where it is not known which comes when.
const PASSED: u32 = 3;

/// Follows a board, or a match. Dropping it is enough to leave.
pub struct LiveSubscriber {
    window: Box<dyn LiveSource>,
    receiver: Receiver<LiveUpdate>,
    /// To be seen before anything else.
    next: Option<LiveUpdate>,
    only: Option<MatchFilterState>,
}

/// One match, and no other.
struct MatchFilterState {
    key: MatchKey,
    /// The number of the game by which it was found, or was first seen.
    number: Option<u64>,
    /// How many games of others went by before its number was known.
    passed: u32,
}

impl LiveSubscriber {
    pub(super) fn here(board: &Arc<LiveSlot>, only: Option<(MatchKey, u64)>) -> Result<Self, SubscribeError> {
        let (window, (receiver, next)) = LocalSource::open(board)?;
        let only = only.map(|(key, number)| MatchFilterState { key, number: Some(number), passed: 0 });
        Ok(Self { window: Box::new(window), receiver, next, only })
    }

    pub(super) fn there(window: Box<dyn LiveSource>, only: Option<MatchKey>) -> Result<Self, SubscribeError> {
        let (receiver, next) = window.tune_in().ok_or(SubscribeError::NotThere)?;
        let only = only.map(|key| MatchFilterState { key, number: None, passed: 0 });
        Ok(Self { window, receiver, next, only })
    }

    /// The next thing to see, as soon as there is one. `None` when there will be none: the match is over, or the gallery is closed.
    /// Nothing is lost if it is not waited for to the end (it may stand in a `select!` or under a timeout).
    pub async fn next(&mut self) -> Option<LiveUpdate> {
        loop {
            let update = match self.next.take() {
                Some(update) => update,
                None => match self.receiver.recv().await {
                    Ok(update) => update,
                    Err(RecvError::Lagged(_)) => {
                        (self.receiver, self.next) = self.window.tune_in()?;
                        continue;
                    }
                    Err(RecvError::Closed) => return None,
                },
            };
            let Some(only) = &mut self.only else { return Some(update) };
            match only.look(&update) {
                Look::Show => return Some(update),
                Look::Skip => {}
                Look::End => return None,
            }
        }
    }
}

enum Look {
    Show,
    Skip,
    End,
}

impl MatchFilterState {
    fn look(&mut self, update: &LiveUpdate) -> Look {
        match update {
            LiveUpdate::Film { game, .. } | LiveUpdate::Part { game, .. } if game.key == self.key => {
                self.number.get_or_insert(game.number);
                Look::Show
            }
            // The projector may still be at a game before the match; once it is past it, there is no more.
            LiveUpdate::Film { game, .. } | LiveUpdate::Part { game, .. } => match self.number {
                Some(number) if game.number > number => Look::End,
                Some(_) => Look::Skip,
                None => {
                    self.passed += u32::from(matches!(update, LiveUpdate::Film { .. }));
                    if self.passed > PASSED { Look::End } else { Look::Skip }
                }
            },
            LiveUpdate::Match(result) if result.key != self.key => Look::Skip,
            LiveUpdate::Match(_) => Look::Show,
            LiveUpdate::Idle => Look::End,
        }
    }
}
