//! Logs of played games for bots: the folder `logs/` with one JSON file per game. The file is written before the bot is told that
//! the game is over. A page of `docs/` describes the format for each game with logs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use agon_core::game::View;
use agon_core::{Outcome, Seat};
use agon_files::AtomicFile;
use serde_json::{Value as Json, json};

use crate::any_game::PlayerSpec;
use crate::event::{GameEvent, PositionView, Reporter};
use crate::film::{Film as _, TypedFilm};

/// Version of the log format.
pub const LOG_VERSION: u32 = 1;

/// Seats whose bots get logs, with their folders.
pub(crate) fn logs_dirs(seats: &[PlayerSpec]) -> Vec<(Seat, PathBuf)> {
    let place = |(seat, player): (Seat, &PlayerSpec)| match player {
        PlayerSpec::Program(one) => one.logs_dir.clone().map(|folder| (seat, folder)),
        _ => None,
    };
    Seat::all(seats.len()).zip(seats).filter_map(place).collect()
}

/// Reporter that writes the log of one game to each folder, and forwards all events.
pub(crate) struct LogsDirWriter<'c> {
    game: &'static str,
    names: &'c [String],
    logs_dirs: &'c [(Seat, PathBuf)],
    next: Option<&'c mut dyn Reporter>,
    starts: Vec<Option<Json>>,
    turns: Vec<Vec<Json>>,
    error: Option<io::Error>,
}

impl<'c> LogsDirWriter<'c> {
    /// Creates a writer for a game that is about to start.
    pub(crate) fn new(
        game: &'static str,
        names: &'c [String],
        logs_dirs: &'c [(Seat, PathBuf)],
        next: Option<&'c mut dyn Reporter>,
    ) -> Self {
        Self { game, names, logs_dirs, next, starts: Vec::new(), turns: Vec::new(), error: None }
    }

    /// Reporter for the game: this writer, or the next reporter if there are no folders.
    pub(crate) fn reporter(&mut self) -> Option<&mut dyn Reporter> {
        if self.logs_dirs.is_empty() {
            return match &mut self.next {
                Some(next) => Some(&mut **next),
                None => None,
            };
        }
        Some(self)
    }

    /// Returns the first write error.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.error.map_or(Ok(()), Err)
    }

    fn push_position(&mut self, view: &dyn PositionView) {
        for ((seat, _), turns) in self.logs_dirs.iter().zip(&mut self.turns) {
            // A fault leaves the position unchanged.
            if let Some(position) = view.log_entry(*seat).filter(|position| turns.last() != Some(position)) {
                turns.push(position);
            }
        }
    }

    fn write(&self, outcome: &Outcome) -> io::Result<()> {
        for (((seat, folder), start), turns) in self.logs_dirs.iter().zip(&self.starts).zip(&self.turns) {
            let Some(start) = start else { continue };
            write_next_log(folder, &log_text(self.game, self.names, *seat, true, start, turns, outcome))?;
        }
        Ok(())
    }
}

impl Reporter for LogsDirWriter<'_> {
    fn event(&mut self, event: &GameEvent<'_>) {
        match event {
            GameEvent::Started { view, .. } => {
                self.starts = self.logs_dirs.iter().map(|(seat, _)| view.log_entry(*seat)).collect();
                self.turns = vec![Vec::new(); self.logs_dirs.len()];
            }
            GameEvent::Turn { view, .. } => self.push_position(*view),
            GameEvent::Over { outcome, .. } => self.error = self.write(outcome).err(),
            GameEvent::Fault { .. } => {}
        }
        if let Some(next) = &mut self.next {
            next.event(event);
        }
    }
}

/// Text of a log. `own` is true for the bot that played at this seat, false for other readers.
fn log_text(
    game: &str,
    names: &[String],
    seat: Seat,
    own: bool,
    start: &Json,
    turns: &[Json],
    outcome: &Outcome,
) -> String {
    let turns = if turns.first() == Some(start) { &turns[1..] } else { turns };
    let log = json!({
        "agon": "log",
        "version": LOG_VERSION,
        "game": game,
        "names": names,
        "seat": own.then_some(seat),
        "start": start,
        "turns": turns,
        "result": {
            "score": outcome.seats.get(seat.index()).map(|own| own.score),
            "ended": outcome.ended,
        },
    });
    format!("{log}\n")
}

/// Log of a finished game, as it was written for the bot at `seat`. Without a seat: as other bots may read it, from the view
/// of the first seat. `None` for games without logs.
pub(crate) fn render_log<G: View>(film: &TypedFilm<G>, seat: Option<Seat>) -> Option<String> {
    let viewpoint = seat.unwrap_or(Seat(0));
    let at = |turn| film.with_state_at(turn, |game, state| game.log_entry(state, viewpoint));
    let start = at(0)?;
    let mut turns: Vec<Json> = Vec::new();
    for turn in 1..film.len() {
        if let Some(position) = at(turn).filter(|position| turns.last() != Some(position)) {
            turns.push(position);
        }
    }
    Some(log_text(G::info().id, &film.names, viewpoint, seat.is_some(), &start, &turns, &film.record.outcome))
}

/// Writes a log atomically to a folder, under the next free number.
pub fn write_next_log(folder: &Path, text: &str) -> io::Result<PathBuf> {
    let path = folder.join(format!("game-{:04}.json", next_number(folder)?));
    // The bot may run as another user.
    AtomicFile::options().mode(0o644).write(&path, text.as_bytes())?;
    Ok(path)
}

/// Number of the next log in a folder.
pub fn next_number(folder: &Path) -> io::Result<u32> {
    let named = |path: &Path| {
        let stem = path.file_stem()?.to_str()?;
        stem.strip_prefix("game-")?.parse::<u32>().ok()
    };
    let taken = fs::read_dir(folder)?.flatten().filter_map(|entry| named(&entry.path())).max();
    Ok(taken.unwrap_or(0).saturating_add(1))
}
