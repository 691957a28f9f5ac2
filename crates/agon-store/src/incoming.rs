//! Finished matches about to be stored: validation, and conversion to table rows.

use agon_core::record::Digest;
use agon_league::{Entrant, GameResult, MatchKey};

use crate::model::{FinishedMatch, MatchFault, StoredGame};
use crate::{Result, StoreError};

/// A match about to be stored.
pub struct IncomingMatch<'b> {
    /// Ledger id that the match gets if it is new.
    pub id: i64,
    pub digest: Digest,
    pub finished: &'b FinishedMatch,
}

/// A game about to be stored.
pub struct IncomingGame<'b> {
    /// Ledger id of its match.
    pub id: i64,
    /// Index of the game in the match, from 0.
    pub number: u32,
    pub result: &'b GameResult,
    pub stored: &'b StoredGame,
}

/// Validates a batch. Does all work that needs no database, before the write lock is taken.
pub fn validate_batch(batch: &[FinishedMatch]) -> Result<Vec<IncomingMatch<'_>>> {
    batch
        .iter()
        .map(|finished| {
            validate(finished)?;
            Ok(IncomingMatch { id: 0, digest: finished.digest(), finished })
        })
        .collect()
}

/// The phases of these matches, without duplicates.
pub fn distinct_phases(incoming: &[IncomingMatch<'_>]) -> Vec<u32> {
    let mut phases: Vec<u32> = incoming.iter().map(|one| one.key().phase).collect();
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
        (0..).zip(pairs).map(move |(number, (result, stored))| IncomingGame { id, number, result, stored })
    }

    pub fn faults(&self) -> impl Iterator<Item = (i64, &'b MatchFault)> + use<'b> {
        let id = self.id;
        self.finished.faults.iter().map(move |fault| (id, fault))
    }

    /// Distinct entrants of all games, each with a space on both sides.
    pub fn entrant_list(&self) -> String {
        let mut entrants: Vec<Entrant> = Vec::with_capacity(8);
        for seat in self.finished.result.games.iter().flat_map(|game| &game.seats) {
            if !entrants.contains(&seat.entrant) {
                entrants.push(seat.entrant);
            }
        }
        entrants.iter().fold(" ".to_owned(), |text, entrant| text + &entrant.0.to_string() + " ")
    }

    /// Whether the match is stored under another id. `id` and `stored` are id and digest of the stored match with this key. Fails if the
    /// digests differ.
    pub fn is_already_stored(&self, id: i64, stored: Digest) -> Result<bool> {
        if stored != self.digest {
            return Err(StoreError::Conflict { key: self.key(), stored, given: self.digest });
        }
        Ok(id != self.id)
    }
}

/// Rejects an inconsistent match before anything is written.
fn validate(finished: &FinishedMatch) -> Result<()> {
    let result = &finished.result;
    let malformed = |what: String| Err(StoreError::MalformedMatch { key: result.key, what });
    if result.games.len() != finished.games.len() {
        return malformed(format!("{} results and {} records", result.games.len(), finished.games.len()));
    }
    if i64::try_from(result.key.number).is_err() {
        return malformed("its number is too large".to_owned());
    }
    if let Some(fault) = finished.faults.iter().find(|fault| fault.game as usize >= result.games.len()) {
        return malformed(format!("a fault in game {}, which does not exist", fault.game + 1));
    }
    for (index, output) in finished.bot_outputs.iter().enumerate() {
        if output.game as usize >= result.games.len() {
            return malformed(format!("output of game {}, which does not exist", output.game + 1));
        }
        if finished.bot_outputs[..index]
            .iter()
            .any(|other| (other.game, other.seat) == (output.game, output.seat))
        {
            return malformed(format!("two outputs of seat {} in game {}", output.seat, output.game + 1));
        }
    }
    for (index, folder) in finished.data.iter().enumerate() {
        if finished.data[..index].iter().any(|other| other.entrant == folder.entrant) {
            return malformed(format!("two data folders of entrant {}", folder.entrant.0));
        }
    }
    Ok(())
}
