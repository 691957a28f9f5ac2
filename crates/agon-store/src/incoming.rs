//! Finished matches on their way into a ledger: looked over, and taken apart into what its tables hold.

use agon_core::record::Digest;
use agon_league::{Entrant, GameResult, MatchKey};

use crate::model::{FinishedMatch, StoredGame, MatchFault};
use crate::{Result, StoreError};

/// A match on its way in.
pub struct IncomingMatch<'b> {
    /// Its number in the ledger, if it is new.
    pub id: i64,
    pub digest: Digest,
    pub finished: &'b FinishedMatch,
}

/// A game on its way in.
pub struct IncomingGame<'b> {
    /// Its match's number in the ledger.
    pub id: i64,
    /// From 0.
    pub number: u32,
    pub result: &'b GameResult,
    pub kept: &'b StoredGame,
}

/// Looks these over: whatever can be done before anybody writes.
pub fn validate_batch(batch: &[FinishedMatch]) -> Result<Vec<IncomingMatch<'_>>> {
    batch
        .iter()
        .map(|finished| {
            look_over(finished)?;
            Ok(IncomingMatch { id: 0, digest: finished.digest(), finished })
        })
        .collect()
}

/// The phases these are of, each once.
pub fn phases(coming: &[IncomingMatch<'_>]) -> Vec<u32> {
    let mut phases: Vec<u32> = coming.iter().map(|one| one.key().phase).collect();
    phases.sort_unstable();
    phases.dedup();
    phases
}

impl<'b> IncomingMatch<'b> {
    pub const fn key(&self) -> MatchKey {
        self.finished.result.key
    }

    pub fn games(&self) -> impl Iterator<Item = IncomingGame<'b>> + use<'b> {
        let (id, finished) = (self.id, self.finished);
        let pairs = finished.result.games.iter().zip(&finished.games);
        (0..).zip(pairs).map(move |(number, (result, kept))| IncomingGame { id, number, result, kept })
    }

    pub fn faults(&self) -> impl Iterator<Item = (i64, &'b MatchFault)> + use<'b> {
        let id = self.id;
        self.finished.faults.iter().map(move |fault| (id, fault))
    }

    /// Everybody who sat at one of its games, once, with a space around each.
    pub fn entrants(&self) -> String {
        let mut entrants: Vec<Entrant> = Vec::with_capacity(8);
        for seat in self.finished.result.games.iter().flat_map(|game| &game.seats) {
            if !entrants.contains(&seat.entrant) {
                entrants.push(seat.entrant);
            }
        }
        entrants.iter().fold(" ".to_owned(), |text, entrant| text + &entrant.0.to_string() + " ")
    }

    /// Whether the match that is kept under this number is another one that came before; an error if it came out differently.
    pub fn is_known(&self, id: i64, kept: Digest) -> Result<bool> {
        if kept != self.digest {
            return Err(StoreError::Conflict { key: self.key(), kept, given: self.digest });
        }
        Ok(id != self.id)
    }
}

/// A match that makes no sense is refused before anything is written.
fn look_over(finished: &FinishedMatch) -> Result<()> {
    let result = &finished.result;
    let malformed = |what: String| Err(StoreError::Malformed { key: result.key, what });
    if result.games.len() != finished.games.len() {
        return malformed(format!("{} results and {} records", result.games.len(), finished.games.len()));
    }
    if i64::try_from(result.key.number).is_err() {
        return malformed("its number is too large".to_owned());
    }
    if let Some(fault) = finished.faults.iter().find(|fault| fault.game as usize >= result.games.len()) {
        return malformed(format!("a fault in game {}, which it does not have", fault.game + 1));
    }
    for (place, log) in finished.logs.iter().enumerate() {
        if log.game as usize >= result.games.len() {
            return malformed(format!("a log of game {}, which it does not have", log.game + 1));
        }
        if finished.logs[..place].iter().any(|other| (other.game, other.seat) == (log.game, log.seat)) {
            return malformed(format!("two logs of seat {} in game {}", log.seat, log.game + 1));
        }
    }
    for (place, folder) in finished.data.iter().enumerate() {
        if finished.data[..place].iter().any(|other| other.entrant == folder.entrant) {
            return malformed(format!("two data folders of entrant {}", folder.entrant.0));
        }
    }
    Ok(())
}
