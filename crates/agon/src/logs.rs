//! `agon play ... --logs DIR`: for each game and each program at the table a text file that its author can read.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use agon_bots::Failure;
use agon_core::record::{RecordHeader, SeatRecord};
use agon_core::{AnswerTimes, FaultReport, GameInfo, Outcome, Seat};
use agon_engine::PlayerSpec;
use agon_engine::turn_log::{TurnLog, TurnLogEntry};

use crate::atomic_file::AtomicFile;
use crate::output;

/// A file is cut here: a bot that prints as much as it can in every turn fills no disk.
const LONGEST: usize = 8 << 20;
/// So much of a bot's name gets into the name of its files.
const NAME_KEPT: usize = 40;

/// Where logs go, and whose they are.
pub struct Logs {
    folder: PathBuf,
    info: &'static GameInfo,
    /// House bots print nothing, and a person knows what they did.
    programs: Vec<bool>,
}

impl Logs {
    /// Makes the folder, so that one that cannot be made is found before any game.
    pub fn into(folder: &Path, info: &'static GameInfo, seats: &[PlayerSpec]) -> Result<Self, Failure> {
        let failed = |e: io::Error| Failure::io("make the folder", folder, &e, "choose another for --logs");
        std::fs::create_dir_all(folder).map_err(failed)?;
        let programs: Vec<bool> = seats.iter().map(|seat| matches!(seat, PlayerSpec::Program(_))).collect();
        if !programs.contains(&true) {
            output::note("note: --logs: no program sits at the table, so there is nothing to log");
        }
        Ok(Self { folder: folder.to_owned(), info, programs })
    }

    /// A log for games that are played one after the other; `first` is added to their numbers.
    pub fn log(&self, first: u32) -> Box<dyn TurnLog + '_> {
        Box::new(Log { logs: self, first, pages: Vec::new() })
    }
}

/// The log of the game that is being played.
struct Log<'l> {
    logs: &'l Logs,
    first: u32,
    pages: Vec<SeatLogFile>,
}

/// The file of one seat in the making. In memory until the game is over, so that it appears whole.
struct SeatLogFile {
    seat: Seat,
    path: PathBuf,
    text: String,
    /// How much did not fit.
    cut: usize,
    asked: bool,
}

impl Log<'_> {
    fn page(&mut self, seat: Seat) -> Option<&mut SeatLogFile> {
        self.pages.iter_mut().find(|page| page.seat == seat)
    }

    fn write(&mut self, last: &str) -> Result<(), Failure> {
        for mut page in self.pages.drain(..) {
            page.finish(last);
            AtomicFile::write(&page.path, "the log", page.text.as_bytes())?;
        }
        Ok(())
    }
}

impl TurnLog for Log<'_> {
    fn begin_game(&mut self, game: u32, header: &RecordHeader) -> io::Result<()> {
        let number = self.first + game + 1;
        let seats = Seat::all(header.seats.len()).zip(&header.seats).zip(&self.logs.programs);
        self.pages = seats
            .filter(|(_, program)| **program)
            .map(|((seat, who), _)| {
                SeatLogFile::new(&self.logs.folder, self.logs.info, header, number, seat, who)
            })
            .collect();
        Ok(())
    }

    fn output(&mut self, seat: Seat, printed: &str) -> io::Result<()> {
        if let Some(page) = self.page(seat).filter(|_| !printed.is_empty()) {
            let when = if page.asked { "after the last turn" } else { "before the first turn" };
            page.add(&format!("\nprinted {when}\n{}", indent(printed)));
        }
        Ok(())
    }

    fn answer(&mut self, entry: &TurnLogEntry<'_>) -> io::Result<()> {
        if let Some(page) = self.page(entry.seat) {
            page.asked = true;
            page.add(&entry_text(entry));
        }
        Ok(())
    }

    fn end_game(&mut self, outcome: &Outcome) -> io::Result<()> {
        let scores: Vec<String> = outcome.seats.iter().map(|seat| seat.score.to_string()).collect();
        let last = format!("\nended: {}; scores in seat order: {}\n", outcome.ended, scores.join(", "));
        self.write(&last).map_err(|failure| {
            io::Error::other(failure.message.split("\nhint: ").next().unwrap_or_default().to_owned())
        })
    }
}

impl Drop for Log<'_> {
    /// A game that could not be played to its end is the one whose log is needed most.
    fn drop(&mut self) {
        if let Err(failure) = self.write("\nthe game was not played to its end\n") {
            crate::errors::show(&failure);
        }
    }
}

impl SeatLogFile {
    fn new(
        folder: &Path,
        info: &GameInfo,
        header: &RecordHeader,
        number: u32,
        seat: Seat,
        who: &SeatRecord,
    ) -> Self {
        let path = folder.join(format!("game-{number:04}-seat-{seat}-{}.log", safe(&who.name)));
        let names: Vec<String> = header.seats.iter().map(|seat| one_line(&seat.name)).collect();
        let text = format!(
            "{}, game {number}, seed {}\nseat {seat} ({}): {}\nbot: {}\nat the table: {}\n",
            info.title,
            header.seed,
            info.role(seat).name,
            one_line(&who.name),
            one_line(&who.bot),
            names.join(", "),
        );
        Self { seat, path, text, cut: 0, asked: false }
    }

    /// Adds a whole piece, or none of it once one did not fit: what is read is in order and without holes.
    fn add(&mut self, piece: &str) {
        if self.cut > 0 || self.text.len() + piece.len() > LONGEST {
            self.cut += piece.len();
        } else {
            self.text += piece;
        }
    }

    fn finish(&mut self, last: &str) {
        if self.cut > 0 {
            self.text += &format!("\n... ({} bytes more: a log is cut at {LONGEST})\n", self.cut);
        }
        self.text += last;
    }
}

fn entry_text(entry: &TurnLogEntry<'_>) -> String {
    let TurnLogEntry { turn, request, times, output: printed, .. } = entry;
    let came = match (&entry.answer, entry.fault) {
        (Some(answer), _) => answer.clone(),
        (None, Some(fault)) => fault.fault.to_string(),
        (None, None) => "nothing".to_owned(),
    };
    let mut text = format!("\nturn {turn}, {request}: {came}  ({})\n", times_text(*times));
    if let Some(fault) = entry.fault {
        text += &fault_text(fault, printed.is_empty());
    }
    text + &indent(printed)
}

/// A fault in the bot's own words. What a process printed before it was ended is only there.
pub fn fault_text(fault: &FaultReport, with_log: bool) -> String {
    let mut text = String::new();
    for line in fault.message.lines() {
        text += &format!("  {line}\n");
    }
    if with_log && !fault.stderr.is_empty() {
        text += "  the end of what it printed:\n";
        text += &indent(&fault.stderr);
    }
    text
}

/// Times in one line.
pub fn times_text(times: AnswerTimes) -> String {
    format!(
        "charged {}, wall {}, cpu {}, wait {}",
        output::time(times.charged()),
        output::time(times.wall),
        output::time(times.cpu),
        output::time(times.wait),
    )
}

/// What was printed, set off from what we say.
pub fn indent(printed: &str) -> String {
    printed.lines().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "  | {line}");
        text
    })
}

/// A name is what its author chose: nothing in it ends the line or is obeyed by a terminal.
pub fn one_line(name: &str) -> String {
    name.chars().fold(String::new(), |mut text, c| {
        if c.is_control() {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
        text
    })
}

/// A name that can be part of a file's.
fn safe(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+') { c } else { '_' };
    name.chars().take(NAME_KEPT).map(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leaves_no_folder() {
        assert_eq!(safe("../../etc/pass wd\u{1b}"), "______etc_pass_wd_");
        assert_eq!(safe("id10+_bot"), "id10+_bot");
        assert_eq!(one_line("a\nb\u{1b}"), "a\\nb\\u{1b}");
        assert_eq!(safe(&"x".repeat(10_000)).len(), NAME_KEPT);
    }

    #[test]
    fn the_log_of_a_game_that_is_broken_off_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let info = agon_engine::any_game("connect-five").unwrap().info();
        let logs = Logs { folder: folder.path().to_owned(), info, programs: vec![false, true] };
        let who =
            |name: &str| SeatRecord { name: name.to_owned(), bot: name.to_owned(), hash: String::new() };
        let header = RecordHeader {
            agon: "record".to_owned(),
            version: 1,
            game: info.id.to_owned(),
            rules: 1,
            seed: 7,
            settings: serde_json::Map::new(),
            seats: vec![who("house"), who("mine")],
        };
        let mut log = logs.log(2);
        log.begin_game(0, &header).unwrap();
        log.output(Seat(1), "hello\n").unwrap();
        drop(log);
        let text = std::fs::read_to_string(folder.path().join("game-0003-seat-1-mine.log")).unwrap();
        assert!(text.contains("printed before the first turn\n  | hello\n"), "{text}");
        assert!(text.ends_with("\nthe game was not played to its end\n"), "{text}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn a_log_is_cut_with_a_notice() {
        let (seat, path) = (Seat(0), PathBuf::new());
        let mut page = SeatLogFile { seat, path, text: String::new(), cut: 0, asked: true };
        let piece = "x".repeat(LONGEST / 4);
        for _ in 0..6 {
            page.add(&piece);
        }
        page.add("small");
        page.finish("end\n");
        assert!(page.text.len() < LONGEST + 200);
        assert!(
            page.text
                .ends_with(&format!("({} bytes more: a log is cut at {LONGEST})\nend\n", LONGEST / 2 + 5))
        );
    }
}
