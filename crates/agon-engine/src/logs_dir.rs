//! Logs of played games for bots: the folder `logs/` with one JSON file per game (`log_1.json`, `log_2.json` and so on). The file is
//! written before the bot is told that the game is over. A page of `docs/` describes the format for each game with logs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use agon_core::game::View;
use agon_core::{Outcome, Seat};
use agon_files::AtomicFile;

use crate::any_game::PlayerSpec;
use crate::event::{GameEvent, PositionView, Reporter};
use crate::film::{Film as _, TypedFilm};

/// Version of the log format.
pub const LOG_VERSION: u32 = 2;

/// The folder of a bot that gets logs.
pub(crate) struct SeatLogs {
    seat: Seat,
    folder: PathBuf,
    /// Number of the next log. During a match only this program adds some.
    next_number: u32,
}

/// The folders of the bots that get logs.
pub(crate) fn logs_dirs(seats: &[PlayerSpec]) -> io::Result<Vec<SeatLogs>> {
    let folder = |(seat, player): (Seat, &PlayerSpec)| match player {
        PlayerSpec::Program(one) => one.logs_dir.clone().map(|folder| (seat, folder)),
        _ => None,
    };
    let folders = Seat::all(seats.len()).zip(seats).filter_map(folder);
    folders.map(|(seat, folder)| Ok(SeatLogs { seat, next_number: next_number(&folder)?, folder })).collect()
}

/// Reporter that writes the log of one game to each folder, and forwards all events.
pub(crate) struct LogsDirWriter<'c> {
    game: &'static str,
    names: &'c [String],
    logs: &'c mut [SeatLogs],
    next: Option<&'c mut dyn Reporter>,
    texts: Vec<LogText>,
    error: Option<io::Error>,
}

impl<'c> LogsDirWriter<'c> {
    /// Creates a writer for a game that is about to start.
    pub(crate) fn new(
        game: &'static str,
        names: &'c [String],
        logs: &'c mut [SeatLogs],
        next: Option<&'c mut dyn Reporter>,
    ) -> Self {
        Self { game, names, logs, next, texts: Vec::new(), error: None }
    }

    /// Reporter for the game: this writer, or the next reporter if there are no folders.
    pub(crate) fn reporter(&mut self) -> Option<&mut dyn Reporter> {
        if self.logs.is_empty() {
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

    fn write(&mut self, outcome: &Outcome, view: &dyn PositionView) -> io::Result<()> {
        for (logs, text) in self.logs.iter_mut().zip(std::mem::take(&mut self.texts)) {
            let text = text.finish(|out| view.write_log_result(outcome, logs.seat, out));
            write_log(&logs.folder.join(file_name(logs.next_number)), &text)?;
            logs.next_number += 1;
        }
        Ok(())
    }
}

impl Reporter for LogsDirWriter<'_> {
    fn event(&mut self, event: &GameEvent<'_>) {
        match event {
            GameEvent::Started { view, .. } => {
                let text = |logs: &SeatLogs| {
                    let start = |out: &mut String| view.write_log_entry(logs.seat, out);
                    LogText::begin(self.game, self.names, Some(logs.seat), start)
                };
                self.texts = self.logs.iter().filter_map(text).collect();
            }
            GameEvent::Turn { view, .. } => {
                for (logs, text) in self.logs.iter().zip(&mut self.texts) {
                    text.add_turn(|out| view.write_log_entry(logs.seat, out));
                }
            }
            GameEvent::Over { outcome, view, .. } => self.error = self.write(outcome, *view).err(),
            GameEvent::Fault { .. } => {}
        }
        if let Some(next) = &mut self.next {
            next.event(event);
        }
    }
}

/// The text of a log while its game is played. It is written as text, because it is written for every turn of every game.
struct LogText {
    text: String,
    start: String,
    turns: u32,
    /// Where the last turn begins.
    last: usize,
}

impl LogText {
    /// Begins a log with the start position. `None` for games without logs.
    fn begin(
        game: &str,
        names: &[String],
        reader: Option<Seat>,
        write_start: impl FnOnce(&mut String) -> bool,
    ) -> Option<Self> {
        let mut start = String::new();
        if !write_start(&mut start) {
            return None;
        }
        let names = serde_json::json!(names);
        let seat = reader.map_or_else(|| "null".to_owned(), |seat| seat.0.to_string());
        let text = format!(
            "{{\"agon\":\"log\",\"version\":{LOG_VERSION},\"game\":\"{game}\",\"names\":{names},\"seat\":{seat},\"start\":{start},\"turns\":["
        );
        Some(Self { last: text.len(), text, start, turns: 0 })
    }

    /// Adds the position after a turn. A fault leaves the position unchanged and adds nothing.
    fn add_turn(&mut self, write: impl FnOnce(&mut String) -> bool) {
        let before = self.text.len();
        if self.turns > 0 {
            self.text.push(',');
        }
        let begin = self.text.len();
        write(&mut self.text);
        let (earlier, now) = self.text.split_at(begin);
        let previous = if self.turns == 0 { self.start.as_str() } else { &earlier[self.last..before] };
        if now == previous {
            self.text.truncate(before);
        } else {
            (self.turns, self.last) = (self.turns + 1, begin);
        }
    }

    fn finish(mut self, write_result: impl FnOnce(&mut String)) -> String {
        self.text.push_str("],\"result\":");
        write_result(&mut self.text);
        self.text.push_str("}\n");
        self.text
    }
}

/// Log of a finished game, as it was written for the bot at `seat`. Without a seat: as other bots may read it. `None` for games
/// without logs.
pub(crate) fn render_log<G: View>(film: &TypedFilm<G>, seat: Option<Seat>) -> Option<String> {
    let write = |turn: usize, out: &mut String| {
        film.with_state_at(turn, |game, state| game.write_log_entry(state, seat, out))
    };
    let mut text = LogText::begin(G::info().id, &film.names, seat, |out| write(0, out))?;
    for turn in 1..film.len() {
        text.add_turn(|out| write(turn, out));
    }
    Some(text.finish(|out| film.game.write_log_result(&film.record.outcome, seat, out)))
}

/// Writes a log to a folder, under the next free number.
pub fn write_next_log(folder: &Path, text: &str) -> io::Result<PathBuf> {
    let path = folder.join(file_name(next_number(folder)?));
    write_log(&path, text)?;
    Ok(path)
}

/// Writes a log, complete or not at all.
fn write_log(path: &Path, text: &str) -> io::Result<()> {
    // The bot may run as another user.
    AtomicFile::options().mode(0o644).write(path, text.as_bytes())
}

/// Name of the log with this number, which starts at 1.
pub fn file_name(number: u32) -> String {
    format!("log_{number}.json")
}

/// Number of the log with this name.
pub fn number_of(path: &Path) -> Option<u32> {
    path.to_str()?.rsplit('/').next()?.strip_prefix("log_")?.strip_suffix(".json")?.parse().ok()
}

/// Number of the next log in a folder.
pub fn next_number(folder: &Path) -> io::Result<u32> {
    let taken = fs::read_dir(folder)?.flatten().filter_map(|entry| number_of(&entry.path())).max();
    Ok(taken.unwrap_or(0).saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_numbered_from_1_and_continue_after_the_highest() {
        let folder = std::env::temp_dir().join(format!("agon-logs-test-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let write = |text| write_next_log(&folder, text).unwrap();
        assert!(write("a").ends_with("log_1.json"));
        fs::rename(folder.join("log_1.json"), folder.join("log_10.json")).unwrap();
        fs::write(folder.join("log_x.json"), "").unwrap();
        assert!(write("b").ends_with("log_11.json"));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn turn_that_changes_nothing_is_left_out() {
        let entry = |text: &'static str| {
            move |out: &mut String| {
                out.push_str(text);
                true
            }
        };
        let mut log = LogText::begin("game", &["a".to_owned()], None, entry("0")).unwrap();
        for turn in ["0", "1", "1", "2"] {
            log.add_turn(entry(turn));
        }
        let text = log.finish(|out| out.push_str("{}"));
        assert!(text.ends_with("\"start\":0,\"turns\":[1,2],\"result\":{}}\n"), "{text}");
    }
}
