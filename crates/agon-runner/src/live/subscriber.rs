//! A subscriber of live updates.

use std::io;
use std::sync::Arc;

use agon_league::{Entrant, MatchKey, MatchResult};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::LiveSlot;
use super::remote::{LiveSource, LocalSource};

/// Identity of a live game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LiveGameKey {
    /// Slot number, from 0.
    pub slot: usize,
    /// Number of games started in this slot, including this one. Later games have larger numbers.
    pub sequence: u64,
    /// The match.
    pub key: MatchKey,
    /// Game of the match, from 0.
    pub game: u32,
    /// Entrants, in seat order.
    pub seats: Vec<Entrant>,
}

/// A live update. All subscribers share the same bytes, so cloning is cheap.
#[derive(Clone, Debug)]
pub enum LiveUpdate {
    /// A film of the turns shown so far. Replaces everything shown before. Sent for a new game, and to a subscriber that came late or was
    /// too slow.
    Film {
        /// The game.
        game: Arc<LiveGameKey>,
        /// A film (`docs/film.md`), live unless the game has ended.
        film: Arc<[u8]>,
        /// Whether the film includes the end of the game.
        over: bool,
    },
    /// More turns of the same game.
    Part {
        /// The game.
        game: Arc<LiveGameKey>,
        /// Part to append to the film.
        part: Arc<[u8]>,
        /// Whether this is the last part, with the outcome.
        over: bool,
    },
    /// The match of the shown game has ended.
    Match(Arc<MatchResult>),
    /// No game is being played in this slot. Games may follow later.
    Idle,
}

/// Why a subscription failed.
#[derive(Debug, thiserror::Error)]
pub enum SubscribeError {
    /// The game or match has ended, has not started, or does not exist.
    #[error("not being played now")]
    NotPlaying,
    /// The renderer could not be started.
    #[error("cannot show the game: {0}")]
    Renderer(#[from] io::Error),
}

/// Maximum number of games of other matches that a subscriber of a remote match skips before it gives up.
const MAX_SKIPPED_GAMES: u32 = 3;

/// Receives the updates of a slot or of a match. Dropping it unsubscribes.
pub struct LiveSubscriber {
    source: Box<dyn LiveSource>,
    receiver: Receiver<LiveUpdate>,
    /// Update to return before all others.
    next: Option<LiveUpdate>,
    filter: Option<MatchFilterState>,
}

/// Limits a subscription to one match.
struct MatchFilterState {
    key: MatchKey,
    /// Sequence number of the match's game, once known.
    sequence: Option<u64>,
    /// Number of games of other matches skipped before the sequence number was known.
    skipped: u32,
}

impl LiveSubscriber {
    pub(super) fn local(
        slot: &Arc<LiveSlot>,
        filter: Option<(MatchKey, u64)>,
    ) -> Result<Self, SubscribeError> {
        let (source, (receiver, next)) = LocalSource::open(slot)?;
        let filter = filter.map(|(key, number)| MatchFilterState { key, sequence: Some(number), skipped: 0 });
        Ok(Self { source: Box::new(source), receiver, next, filter })
    }

    pub(super) fn remote(
        source: Box<dyn LiveSource>,
        filter: Option<MatchKey>,
    ) -> Result<Self, SubscribeError> {
        let (receiver, next) = source.subscribe().ok_or(SubscribeError::NotPlaying)?;
        let filter = filter.map(|key| MatchFilterState { key, sequence: None, skipped: 0 });
        Ok(Self { source, receiver, next, filter })
    }

    /// Waits for the next update. `None` when there will be no more: the match has ended, or live viewing has.
    /// Cancel safe: no update is lost if the future is dropped (in a `select!` or by a timeout).
    pub async fn next(&mut self) -> Option<LiveUpdate> {
        loop {
            let update = match self.next.take() {
                Some(update) => update,
                None => match self.receiver.recv().await {
                    Ok(update) => update,
                    Err(RecvError::Lagged(_)) => {
                        (self.receiver, self.next) = self.source.subscribe()?;
                        continue;
                    }
                    Err(RecvError::Closed) => return None,
                },
            };
            let Some(filter) = &mut self.filter else { return Some(update) };
            match filter.check(&update) {
                FilterDecision::Show => return Some(update),
                FilterDecision::Skip => {}
                FilterDecision::End => return None,
            }
        }
    }
}

enum FilterDecision {
    Show,
    Skip,
    End,
}

impl MatchFilterState {
    fn check(&mut self, update: &LiveUpdate) -> FilterDecision {
        match update {
            LiveUpdate::Film { game, .. } | LiveUpdate::Part { game, .. } if game.key == self.key => {
                self.sequence.get_or_insert(game.sequence);
                FilterDecision::Show
            }
            // The renderer may still show an earlier game. Once it is past the match, there are no more updates.
            LiveUpdate::Film { game, .. } | LiveUpdate::Part { game, .. } => match self.sequence {
                Some(number) if game.sequence > number => FilterDecision::End,
                Some(_) => FilterDecision::Skip,
                None => {
                    self.skipped += u32::from(matches!(update, LiveUpdate::Film { .. }));
                    if self.skipped > MAX_SKIPPED_GAMES { FilterDecision::End } else { FilterDecision::Skip }
                }
            },
            LiveUpdate::Match(result) if result.key != self.key => FilterDecision::Skip,
            LiveUpdate::Match(_) => FilterDecision::Show,
            LiveUpdate::Idle => FilterDecision::End,
        }
    }
}
