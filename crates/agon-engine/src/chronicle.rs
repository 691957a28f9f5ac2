//! What bots may read of games that were played: Connect Five's `logs/`, a JSON file for each game, there before the bot
//! is told that the game is over. The format is in `docs/connect-five-logs.md`.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use agon_core::{Outcome, Seat};
use serde_json::{Value as Json, json};

use crate::event::{Event, Reporter, Scene};
use crate::table::Seating;

/// The version of the format.
pub const VERSION: u32 = 1;

/// The seats whose bots are given logs, and where.
pub(crate) fn places(seats: &[Seating]) -> Vec<(Seat, PathBuf)> {
    let place = |(seat, seating): (Seat, &Seating)| match seating {
        Seating::Program(one) => one.logs.clone().map(|folder| (seat, folder)),
        _ => None,
    };
    Seat::all(seats.len()).zip(seats).filter_map(place).collect()
}

/// Listens to one game, hands on what it hears, and writes the game's log for each place.
pub(crate) struct Chronicle<'c> {
    game: &'static str,
    names: &'c [String],
    places: &'c [(Seat, PathBuf)],
    next: Option<&'c mut dyn Reporter>,
    starts: Vec<Option<Json>>,
    turns: Vec<Vec<Json>>,
    failed: Option<io::Error>,
}

impl<'c> Chronicle<'c> {
    /// For a game about to begin.
    pub(crate) fn new(
        game: &'static str,
        names: &'c [String],
        places: &'c [(Seat, PathBuf)],
        next: Option<&'c mut dyn Reporter>,
    ) -> Self {
        Self { game, names, places, next, starts: Vec::new(), turns: Vec::new(), failed: None }
    }

    /// Who is to listen to the game, if anybody.
    pub(crate) fn listener(&mut self) -> Option<&mut dyn Reporter> {
        if self.places.is_empty() {
            return match &mut self.next {
                Some(next) => Some(&mut **next),
                None => None,
            };
        }
        Some(self)
    }

    /// Whether all was written.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.failed.map_or(Ok(()), Err)
    }

    fn note(&mut self, scene: &dyn Scene) {
        for ((seat, _), turns) in self.places.iter().zip(&mut self.turns) {
            // A turn that was a fault leaves the position as it was.
            if let Some(position) = scene.log(*seat).filter(|position| turns.last() != Some(position)) {
                turns.push(position);
            }
        }
    }

    fn write(&self, outcome: &Outcome) -> io::Result<()> {
        for (((seat, folder), start), turns) in self.places.iter().zip(&self.starts).zip(&self.turns) {
            let Some(start) = start else { continue };
            let turns = if turns.first() == Some(start) { &turns[1..] } else { &turns[..] };
            let log = json!({
                "agon": "log",
                "version": VERSION,
                "game": self.game,
                "names": self.names,
                "seat": seat,
                "start": start,
                "turns": turns,
                "result": {
                    "score": outcome.seats.get(seat.index()).map(|own| own.score),
                    "ended": outcome.ended,
                },
            });
            put(folder, &format!("{log}\n"))?;
        }
        Ok(())
    }
}

impl Reporter for Chronicle<'_> {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Started { scene, .. } => {
                self.starts = self.places.iter().map(|(seat, _)| scene.log(*seat)).collect();
                self.turns = vec![Vec::new(); self.places.len()];
            }
            Event::Turn { scene, .. } => self.note(*scene),
            Event::Over { outcome, .. } => self.failed = self.write(outcome).err(),
            Event::Fault { .. } => {}
        }
        if let Some(next) = &mut self.next {
            next.event(event);
        }
    }
}

/// Puts a log into a folder under the next free number, whole.
fn put(folder: &Path, text: &str) -> io::Result<()> {
    let draft = folder.join(".game.part");
    let mut file = File::create(&draft)?;
    file.write_all(text.as_bytes())?;
    // The bot may run as another user.
    file.set_permissions(Permissions::from_mode(0o644))?;
    let named = |path: &Path| {
        let stem = path.file_stem()?.to_str()?;
        stem.strip_prefix("game-")?.parse::<u32>().ok()
    };
    let taken = fs::read_dir(folder)?.flatten().filter_map(|entry| named(&entry.path())).max();
    let number = taken.unwrap_or(0).saturating_add(1);
    fs::rename(&draft, folder.join(format!("game-{number:04}.json")))
}
