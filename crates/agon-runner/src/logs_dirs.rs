//! Connect Five's `logs/` in a competition: beside each bot that may read them, every game of the stages before this one, and its
//! own games of this stage.
//!
//! What a bot can read must not depend on who was quicker: so others' games come with the next stage, in the order of the
//! schedule, and a run that goes on after a stop finds the same files under the same numbers.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use agon_core::{Assets, Seat};
use agon_engine::{ReplayError, Table, chronicle};
use agon_league::Entrant;

use crate::match_runner::LoadedEntrant;

/// Why logs could not be written.
#[derive(Debug, thiserror::Error)]
pub enum LogsDirError {
    /// The machine said no.
    #[error("cannot write what bots may read: {0}")]
    Io(#[from] io::Error),
    /// A record of the ledger makes no game.
    #[error("a record of the ledger cannot be replayed: {0}")]
    Replay(#[from] ReplayError),
    /// A record of the ledger is none.
    #[error("a record of the ledger is damaged: {0}")]
    Record(#[from] agon_core::record::RecordError),
}

/// A finished game, to be written about.
pub struct FinishedGame {
    /// Who sat where.
    pub seats: Vec<Entrant>,
    /// Its packed record.
    pub record: Vec<u8>,
}

/// Writes logs into the folders of those who may read them.
pub struct LogsDirs<'c> {
    table: &'c dyn Table,
    assets: &'c Assets,
    readers: Vec<(Entrant, PathBuf)>,
    /// The number of the first game that each of them has not read about yet, when this began.
    firsts: Vec<u32>,
}

impl<'c> LogsDirs<'c> {
    /// For these members.
    pub fn new(table: &'c dyn Table, assets: &'c Assets, members: &[LoadedEntrant]) -> io::Result<Self> {
        let reader = |(number, one): (usize, &LoadedEntrant)| Some((Entrant(number as u32), one.logs()?.to_owned()));
        let readers: Vec<(Entrant, PathBuf)> = members.iter().enumerate().filter_map(reader).collect();
        let firsts =
            readers.iter().map(|(_, folder)| chronicle::next_number(folder)).collect::<Result<_, _>>()?;
        Ok(Self { table, assets, readers, firsts })
    }

    /// Removes all that was written: some of it does not count any more.
    pub fn forget(&self) -> io::Result<()> {
        for ((_, folder), first) in self.readers.iter().zip(&self.firsts) {
            for number in *first..chronicle::next_number(folder)? {
                match fs::remove_file(folder.join(format!("game-{number:04}.json"))) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Whether nobody reads.
    pub fn is_empty(&self) -> bool {
        self.readers.is_empty()
    }

    /// Games of a stage that is over. `own` says whether those who played them have no log of them yet, because they were played
    /// in an earlier run.
    pub fn add(&self, games: &[FinishedGame], own: bool) -> Result<(), LogsDirError> {
        if own {
            // A bot finds its own games of a stage before the others', as it did when it played them.
            self.add_own(games)?;
        }
        for game in games {
            let others = self.readers.iter().filter(|(entrant, _)| !game.seats.contains(entrant));
            self.tell(game, None, others.map(|(_, folder)| folder.as_path()))?;
        }
        Ok(())
    }

    /// Games of a stage that goes on, for those who played them.
    pub fn add_own(&self, games: &[FinishedGame]) -> Result<(), LogsDirError> {
        for game in games {
            for (entrant, folder) in &self.readers {
                if let Some(seat) = game.seats.iter().position(|one| one == entrant) {
                    self.tell(game, Some(Seat(seat as u8)), std::iter::once(folder.as_path()))?;
                }
            }
        }
        Ok(())
    }

    /// One text for all these folders: written once, then linked.
    fn tell<'p>(
        &self,
        game: &FinishedGame,
        seat: Option<Seat>,
        folders: impl Iterator<Item = &'p Path>,
    ) -> Result<(), LogsDirError> {
        let mut text = None;
        let mut first: Option<PathBuf> = None;
        for folder in folders {
            if let Some(first) = &first {
                let link = folder.join(format!("game-{:04}.json", chronicle::next_number(folder)?));
                if fs::hard_link(first, link).is_ok() {
                    continue;
                }
            }
            if text.is_none() {
                let (record, _) = agon_core::record::read(&game.record, 1)?;
                text = self.table.chronicle(record, seat, self.assets)?;
            }
            let Some(text) = &text else { return Ok(()) };
            first = Some(chronicle::put(folder, text)?);
        }
        Ok(())
    }
}
