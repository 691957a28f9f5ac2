//! `agon play ... --logs DIR`: one readable log file for each game and each program.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use agon_bots::Diagnostic;
use agon_core::record::{RecordHeader, SeatRecord};
use agon_core::sanitize::one_line;
use agon_core::{AnswerTimes, FaultReport, GameInfo, Outcome, Seat};
use agon_engine::PlayerSpec;
use agon_engine::turn_log::{TurnLog, TurnLogEntry};

use crate::output;
use crate::output_file::OutputFile;

/// Maximum size of a log file in bytes, so that a bot with endless output cannot fill the disk.
const MAX_LOG_BYTES: usize = 8 << 20;
/// Maximum number of characters of a bot's name in the names of its files.
const MAX_NAME_CHARS: usize = 40;

/// Folder of the log files, and the seats that get one.
pub struct Logs {
    folder: PathBuf,
    info: &'static GameInfo,
    /// Seats that are programs; `None` if the header of each game tells. House bots and the user at the terminal get no log.
    programs: Option<Vec<bool>>,
}

impl Logs {
    /// Creates the folder first, so that a failure is reported before any game.
    pub fn into(folder: &Path, info: &'static GameInfo, seats: &[PlayerSpec]) -> Result<Self, Diagnostic> {
        create_folder(folder)?;
        remove_old_logs(folder).map_err(|e| {
            Diagnostic::named_path("remove an old log in", folder, &e, "choose another folder for --logs")
        })?;
        let programs: Vec<bool> = seats.iter().map(|seat| matches!(seat, PlayerSpec::Program(_))).collect();
        if !programs.contains(&true) {
            output::note("note: --logs: no seat is a program, so there is nothing to log");
        }
        Ok(Self { folder: folder.to_owned(), info, programs: Some(programs) })
    }

    /// The same for games with different seats: all but house bots get a log.
    pub fn of_programs(folder: &Path, info: &'static GameInfo) -> Result<Self, Diagnostic> {
        create_folder(folder)?;
        Ok(Self { folder: folder.to_owned(), info, programs: None })
    }

    /// Whether the player at a seat gets a log.
    fn has_log(&self, seat: Seat, who: &SeatRecord) -> bool {
        let is_program = || !who.bot.starts_with("house:");
        self.programs.as_ref().map_or_else(is_program, |programs| programs.get(seat.index()) == Some(&true))
    }

    /// A log for games that are played one after the other. `first` is added to their numbers.
    pub fn log(&self, first: u32) -> Box<dyn TurnLog + '_> {
        Box::new(GameLogFiles { logs: self, first, files: Vec::new(), written: Vec::new() })
    }
}

fn create_folder(folder: &Path) -> Result<(), Diagnostic> {
    let failed =
        |e: io::Error| Diagnostic::named_path("create the folder", folder, &e, "choose another for --logs");
    std::fs::create_dir_all(folder).map_err(failed)
}

/// The log of the current game.
struct GameLogFiles<'l> {
    logs: &'l Logs,
    first: u32,
    files: Vec<SeatLogFile>,
    /// The files of the last finished game, with their seats.
    written: Vec<(Seat, PathBuf)>,
}

/// The log file of one seat. It stays in memory until the game is finished, so that it is written completely.
struct SeatLogFile {
    seat: Seat,
    path: PathBuf,
    text: String,
    /// Number of bytes that did not fit.
    omitted_bytes: usize,
    asked: bool,
}

impl GameLogFiles<'_> {
    fn file(&mut self, seat: Seat) -> Option<&mut SeatLogFile> {
        self.files.iter_mut().find(|file| file.seat == seat)
    }

    fn write(&mut self, last: &str) -> Result<(), Diagnostic> {
        for mut file in self.files.drain(..) {
            file.finish(last);
            OutputFile::write(&file.path, "the log", file.text.as_bytes())?;
        }
        Ok(())
    }
}

impl TurnLog for GameLogFiles<'_> {
    fn begin_game(&mut self, game: u32, header: &RecordHeader) -> io::Result<()> {
        let number = self.first + game + 1;
        let seats = Seat::all(header.seats.len()).zip(&header.seats);
        self.files = seats
            .filter(|(seat, who)| self.logs.has_log(*seat, who))
            .map(|(seat, who)| SeatLogFile::new(&self.logs.folder, self.logs.info, header, number, seat, who))
            .collect();
        Ok(())
    }

    fn output(&mut self, seat: Seat, printed: &str) -> io::Result<()> {
        if let Some(file) = self.file(seat).filter(|_| !printed.is_empty()) {
            let when = if file.asked { "after the last turn" } else { "before the first turn" };
            file.add(&format!("\nprinted {when}\n{}", indent(printed)));
        }
        Ok(())
    }

    fn answer(&mut self, entry: &TurnLogEntry<'_>) -> io::Result<()> {
        if let Some(file) = self.file(entry.seat) {
            file.asked = true;
            file.add(&entry_text(entry));
        }
        Ok(())
    }

    fn end_game(&mut self, outcome: &Outcome) -> io::Result<()> {
        let scores: Vec<String> = outcome.seats.iter().map(|seat| seat.score.to_string()).collect();
        let last = format!("\nended: {}; scores in seat order: {}\n", outcome.ended, scores.join(", "));
        // What a bot does after the match belongs to the log of its last game.
        self.written = self.files.iter().map(|file| (file.seat, file.path.clone())).collect();
        self.write(&last).map_err(|failure| io::Error::other(failure.summary()))
    }

    fn match_over(&mut self, seat: Seat, printed: &str, fault: Option<&FaultReport>) -> io::Result<()> {
        let Some((_, path)) = self.written.iter().find(|(written, _)| *written == seat) else {
            return Ok(());
        };
        let mut text = String::new();
        if let Some(fault) = fault {
            text += &format!("\nfault after the match\n{}", fault_text(fault, false));
        }
        if !printed.is_empty() {
            text += &format!("\nprinted after the match\n{}", indent(printed));
        }
        if text.is_empty() {
            return Ok(());
        }
        io::Write::write_all(&mut std::fs::File::options().append(true).open(path)?, text.as_bytes())
    }
}

impl Drop for GameLogFiles<'_> {
    /// Writes the log of an aborted game too, because that log is needed most.
    fn drop(&mut self) {
        if let Err(failure) = self.write("\nthe game was not finished\n") {
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
        let path = folder.join(format!("game-{number:04}-seat-{seat}-{}.log", sanitize_file_name(&who.name)));
        let names: Vec<String> = header.seats.iter().map(|seat| one_line(&seat.name)).collect();
        let text = format!(
            "{}, game {number}, seed {}\nseat {seat} ({}): {}\nbot: {}\nplayers: {}\n",
            info.title,
            header.seed,
            info.role(seat).name,
            one_line(&who.name),
            one_line(&who.bot),
            names.join(", "),
        );
        Self { seat, path, text, omitted_bytes: 0, asked: false }
    }

    /// Appends a piece completely. After the first piece that did not fit it appends nothing more, so the log has no gaps.
    fn add(&mut self, piece: &str) {
        if self.omitted_bytes > 0 || self.text.len() + piece.len() > MAX_LOG_BYTES {
            self.omitted_bytes += piece.len();
        } else {
            self.text += piece;
        }
    }

    fn finish(&mut self, last: &str) {
        if self.omitted_bytes > 0 {
            self.text += &format!(
                "\n... ({} more bytes; the limit of a log is {MAX_LOG_BYTES} bytes)\n",
                self.omitted_bytes
            );
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

/// Message of a fault. `with_log` adds the bot's last output, which only the fault report has if the process was killed.
pub fn fault_text(fault: &FaultReport, with_log: bool) -> String {
    let mut text = String::new();
    for line in fault.message.lines() {
        text += &format!("  {line}\n");
    }
    if with_log && !fault.stderr.is_empty() {
        text += "  last output:\n";
        text += &indent(&fault.stderr);
    }
    text
}

/// All four times in one line.
pub fn times_text(times: AnswerTimes) -> String {
    format!(
        "charged {}, wall {}, cpu {}, wait {}",
        output::time(times.charged()),
        output::time(times.wall),
        output::time(times.cpu),
        output::time(times.wait),
    )
}

/// Marks each line of bot output with `  | `.
pub fn indent(printed: &str) -> String {
    printed.lines().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "  | {line}");
        text
    })
}

/// Removes the logs of an earlier run. Other files in the folder stay.
fn remove_old_logs(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if is_log_name(&entry.file_name().to_string_lossy()) && !entry.file_type()?.is_dir() {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Whether a file has the name of a log: `game-0001-seat-0-NAME.log`.
fn is_log_name(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = name.splitn(5, '-').collect();
    matches!(parts.as_slice(), ["game", number, "seat", seat, rest]
        if digits(number) && digits(seat) && Path::new(rest).extension().is_some_and(|ending| ending == "log"))
}

/// Replaces characters that are not allowed in file names.
fn sanitize_file_name(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '+') { c } else { '_' };
    name.chars().take(MAX_NAME_CHARS).map(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bot_name_with_path_characters_is_sanitized() {
        assert_eq!(sanitize_file_name("../../etc/pass wd\u{1b}"), "______etc_pass_wd_");
        assert_eq!(sanitize_file_name("id10+_bot"), "id10+_bot");
        assert_eq!(one_line("a\nb\u{1b}"), "a\\nb\\u{1b}");
        assert_eq!(sanitize_file_name(&"x".repeat(10_000)).len(), MAX_NAME_CHARS);
    }

    #[test]
    fn log_of_an_aborted_game_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let info = agon_engine::any_game("connect-five").unwrap().info();
        let logs = Logs { folder: folder.path().to_owned(), info, programs: Some(vec![false, true]) };
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
        assert!(text.ends_with("\nthe game was not finished\n"), "{text}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "a temporary file is left");
    }

    #[test]
    fn log_above_the_limit_is_cut_with_a_notice() {
        let (seat, path) = (Seat(0), PathBuf::new());
        let mut file = SeatLogFile { seat, path, text: String::new(), omitted_bytes: 0, asked: true };
        let piece = "x".repeat(MAX_LOG_BYTES / 4);
        for _ in 0..6 {
            file.add(&piece);
        }
        file.add("small");
        file.finish("end\n");
        assert!(file.text.len() < MAX_LOG_BYTES + 200);
        assert!(file.text.ends_with(&format!(
            "({} more bytes; the limit of a log is {MAX_LOG_BYTES} bytes)\nend\n",
            MAX_LOG_BYTES / 2 + 5
        )));
    }
}
