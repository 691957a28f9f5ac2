//! Writes the `logs/` folders of bots in a competition (Connect Five). A bot finds all games of earlier stages there, and its own games of
//! the current stage.
//!
//! The content of the folders must not depend on the speed of threads. Therefore games of other bots are added after the stage, in the
//! order of the schedule. A resumed run writes the same files with the same numbers.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use agon_core::{Assets, Seat};
use agon_engine::{AnyGame, ReplayError, logs_dir};
use agon_league::Entrant;

use crate::phase_context::LoadedEntrant;

/// An error while writing logs.
#[derive(Debug, thiserror::Error)]
pub enum LogsDirError {
    /// An I/O error.
    #[error("cannot write the logs folder of a bot: {0}")]
    Io(#[from] io::Error),
    /// A record in the ledger cannot be replayed.
    #[error("cannot replay a record from the ledger: {0}")]
    Replay(#[from] ReplayError),
    /// A record in the ledger cannot be decoded.
    #[error("a record in the ledger is damaged: {0}")]
    Record(#[from] agon_core::record::RecordError),
}

/// A finished game for which logs are written.
pub struct FinishedGame {
    /// Entrants, in seat order.
    pub seats: Vec<Entrant>,
    /// The packed record.
    pub record: Vec<u8>,
}

/// Writes logs into the `logs/` folders of the bots that may read them.
pub struct LogsDirs<'c> {
    game: &'c dyn AnyGame,
    assets: &'c Assets,
    readers: Vec<(Entrant, PathBuf)>,
    /// For each reader, the number of the first log file that this phase writes.
    first_numbers: Vec<u32>,
}

impl<'c> LogsDirs<'c> {
    /// Creates a writer for these entrants.
    pub fn new(game: &'c dyn AnyGame, assets: &'c Assets, entrants: &[LoadedEntrant]) -> io::Result<Self> {
        let reader = |(number, one): (usize, &LoadedEntrant)| {
            Some((Entrant(number as u32), one.logs_dir()?.to_owned()))
        };
        let readers: Vec<(Entrant, PathBuf)> = entrants.iter().enumerate().filter_map(reader).collect();
        let first_numbers =
            readers.iter().map(|(_, folder)| logs_dir::next_number(folder)).collect::<Result<_, _>>()?;
        Ok(Self { game, assets, readers, first_numbers })
    }

    /// Removes the written logs, because some of the games were revoked.
    pub fn remove_written(&self) -> io::Result<()> {
        for ((_, folder), first) in self.readers.iter().zip(&self.first_numbers) {
            for number in *first..logs_dir::next_number(folder)? {
                match fs::remove_file(folder.join(logs_dir::file_name(number))) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Whether no bot reads logs.
    pub fn is_empty(&self) -> bool {
        self.readers.is_empty()
    }

    /// Adds the games of a finished stage. `own` is set if the players of the games have no log of them yet, because an earlier run played
    /// them.
    pub fn add_stage_games(&self, games: &[FinishedGame], own: bool) -> Result<(), LogsDirError> {
        if own {
            // A bot finds its games of a stage before those of other bots, in the same order as when it played them.
            self.add_own_games(games)?;
        }
        for game in games {
            let others = self.readers.iter().filter(|(entrant, _)| !game.seats.contains(entrant));
            self.write_log(game, None, others.map(|(_, folder)| folder.as_path()))?;
        }
        Ok(())
    }

    /// Adds games of a running stage to the folders of their players.
    pub fn add_own_games(&self, games: &[FinishedGame]) -> Result<(), LogsDirError> {
        for game in games {
            for (entrant, folder) in &self.readers {
                if let Some(seat) = game.seats.iter().position(|one| one == entrant) {
                    self.write_log(game, Some(Seat(seat as u8)), std::iter::once(folder.as_path()))?;
                }
            }
        }
        Ok(())
    }

    /// Writes one log into several folders: the first as a file, the others as hard links.
    fn write_log<'p>(
        &self,
        game: &FinishedGame,
        seat: Option<Seat>,
        folders: impl Iterator<Item = &'p Path>,
    ) -> Result<(), LogsDirError> {
        let mut text = None;
        let mut first: Option<PathBuf> = None;
        for folder in folders {
            if let Some(first) = &first {
                let link = folder.join(logs_dir::file_name(logs_dir::next_number(folder)?));
                if fs::hard_link(first, link).is_ok() {
                    continue;
                }
            }
            if text.is_none() {
                let (record, _) = agon_core::record::read(&game.record, 1)?;
                text = self.game.bot_log(record, seat, self.assets)?;
            }
            let Some(text) = &text else { return Ok(()) };
            first = Some(logs_dir::write_next_log(folder, text)?);
        }
        Ok(())
    }
}
