//! What bots may read of games that were played: Connect Five's `logs/`, a JSON file for each game, there before the bot
//! is told that the game is over. The format is in `docs/connect-five-logs.md`.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use agon_core::game::View;
use agon_core::{Outcome, Seat};
use serde_json::{Value as Json, json};

use crate::event::{Event, Reporter, Scene};
use crate::film::{Film as _, FilmOf};
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
            put(folder, &told(self.game, self.names, *seat, true, start, turns, outcome))?;
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

/// The log of a game. `own` says whether it is for the bot that sat at this seat, or for one that only reads about it.
fn told(
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
        "version": VERSION,
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

/// The log of a game that was played before, as it was put beside the bot at `seat`; without one, as the others may read it,
/// seen from the first seat. `None` in a game that has no logs.
pub(crate) fn retell<G: View>(film: &FilmOf<G>, seat: Option<Seat>) -> Option<String> {
    let eye = seat.unwrap_or(Seat(0));
    let at = |turn| film.look(turn, |game, state| game.log(state, eye));
    let start = at(0)?;
    let mut turns: Vec<Json> = Vec::new();
    for turn in 1..film.len() {
        if let Some(position) = at(turn).filter(|position| turns.last() != Some(position)) {
            turns.push(position);
        }
    }
    Some(told(G::info().id, &film.names, eye, seat.is_some(), &start, &turns, &film.record.outcome))
}

/// Puts a log into a folder under the next free number, whole.
pub fn put(folder: &Path, text: &str) -> io::Result<PathBuf> {
    let draft = folder.join(".game.part");
    let mut file = File::create(&draft)?;
    file.write_all(text.as_bytes())?;
    // The bot may run as another user.
    file.set_permissions(Permissions::from_mode(0o644))?;
    let path = folder.join(format!("game-{:04}.json", next_number(folder)?));
    fs::rename(&draft, &path)?;
    Ok(path)
}

/// The number of the next log in a folder.
pub fn next_number(folder: &Path) -> io::Result<u32> {
    let named = |path: &Path| {
        let stem = path.file_stem()?.to_str()?;
        stem.strip_prefix("game-")?.parse::<u32>().ok()
    };
    let taken = fs::read_dir(folder)?.flatten().filter_map(|entry| named(&entry.path())).max();
    Ok(taken.unwrap_or(0).saturating_add(1))
}
