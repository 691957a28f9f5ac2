//! `agon trial ... --profile FILE`: profiles a Python bot. Agon replays the games of the trial in the same sandbox, once
//! with cProfile and once with a line profiler, because the two would disturb each other's times.

use std::path::Path;
use std::time::{Duration, Instant};

use agon_bots::error::Diagnostic;
use agon_core::Seat;
use agon_core::sanitize::one_line;
use agon_engine::Film;
use agon_engine::debug_replay::bot_seed;
use agon_host::interactive::InteractiveBot;
use agon_host::{Program, python_script};
use serde_json::{Value as Json, json};

use super::script_profile;
use crate::output;

/// Maximum number of lines in the table.
const MAX_LINES_SHOWN: usize = 10;
/// Minimum thinking time to measure. Short games are replayed several times to reach it, because the times of a few moves vary.
const MIN_PROFILED_TIME: Duration = Duration::from_secs(1);
/// Maximum time for the replays of a profiler. The first game is always replayed completely.
pub const PROFILE_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum number of pieces of a profile. A larger profile does not come from Agon's profiler.
const MAX_PIECES: usize = 10_000;

/// A bot's profile.
pub struct Profile {
    /// Content of the file for `pstats`.
    pub stats: Vec<u8>,
    lines: Vec<ProfiledLine>,
}

struct ProfiledLine {
    file: String,
    number: u64,
    text: String,
    share: f64,
    ms: f64,
}

/// Profiles a bot with these games. `cpu` is the CPU time that the games took without a profiler.
pub fn profile_bot(
    program: &Program,
    films: &[Box<dyn Film>],
    seat: Seat,
    cpu: Duration,
) -> Result<Profile, Diagnostic> {
    let broke = |what: String| {
        Diagnostic::internal(format!("the profile failed: {}", what.replace('\n', "; ")))
            .hint("check that the bot plays without --profile")
    };
    let (functions, _) = replay_games(program, films, seat, ProfilerKind::Functions, 1).map_err(broke)?;
    let stats =
        functions["stats"].as_str().and_then(from_hex).ok_or_else(|| broke("no result".to_owned()))?;
    let rounds = MIN_PROFILED_TIME.as_secs_f64() / cpu.as_secs_f64().max(1e-9);
    let (lines, rounds) =
        replay_games(program, films, seat, ProfilerKind::Lines, rounds.ceil() as usize).map_err(broke)?;
    Ok(Profile { stats, lines: hottest_lines(&lines, rounds) })
}

/// What the Python host measures.
#[derive(Clone, Copy, Debug)]
enum ProfilerKind {
    /// Calls and time of each function.
    Functions,
    /// Time of each line.
    Lines,
}

impl ProfilerKind {
    /// Name for the Python host.
    const fn name(self) -> &'static str {
        match self {
            Self::Functions => "functions",
            Self::Lines => "lines",
        }
    }
}

/// Replays the games with a profiler. Returns the profile and how often all games were replayed.
fn replay_games(
    program: &Program,
    films: &[Box<dyn Film>],
    seat: Seat,
    profiler: ProfilerKind,
    rounds: usize,
) -> Result<(Json, f64), String> {
    if let Some(script) = python_script::with_tool(program, profiler.name()) {
        return script_profile::replay_games(&script, films, seat, rounds);
    }
    let Some(first) = films.first() else { return Ok((Json::Null, 1.0)) };
    let seed = bot_seed(first.record(), seat);
    let environment = [
        ("AGON_SEED", seed.to_string()),
        ("AGON_PROFILE", profiler.name().to_owned()),
        ("AGON_BOT_SOURCE", source_folder(program)),
    ];
    let mut talk = InteractiveBot::start_sandboxed(program, &environment).map_err(|e| e.to_string())?;
    talk.hello(&first.hello(seat))?;
    let until = Instant::now() + PROFILE_TIMEOUT;
    let games: Vec<_> = films.iter().map(|film| (film, film.requests(seat))).collect();
    let mut played = 0u32;
    for (film, requests) in games.iter().cycle().take(films.len() * rounds.max(1)) {
        if played >= 1 && Instant::now() > until {
            break;
        }
        played += 1;
        talk.start(played, bot_seed(film.record(), seat))?;
        for request in requests {
            talk.turn(request.name, request.limit, &film.observation(request.turn, seat).json)?;
        }
        talk.end()?;
    }
    let found = fetch(|| talk.say("profile"))?;
    Ok((found, f64::from(played) / films.len() as f64))
}

/// Fetches a profile in pieces.
pub fn fetch(mut next: impl FnMut() -> Result<Json, String>) -> Result<Json, String> {
    let mut text = String::new();
    for _ in 0..MAX_PIECES {
        match next()?["piece"].as_str() {
            Some("") => return serde_json::from_str(&text).map_err(|e| e.to_string()),
            Some(piece) => text += piece,
            None => return Err("the bot's process does not answer the profiler".to_owned()),
        }
    }
    Err("the profile has no end".to_owned())
}

/// Folder in which the author has the bot's files, if the bot runs from a copy of them; else empty.
pub fn source_folder(program: &Program) -> String {
    if program.private.is_none() {
        return String::new();
    }
    let source = match program.bot_files.first() {
        Some(named) => program.readable_dirs.iter().find(|folder| named.starts_with(folder)).or(Some(named)),
        // A command: its folder was the last one that was added.
        None => program.readable_dirs.last(),
    };
    source.map_or_else(String::new, |source| source.display().to_string())
}

/// A path relative to the current folder, if it is inside.
fn relative_path(path: &str) -> String {
    let folder = std::env::current_dir().and_then(|folder| folder.canonicalize());
    let inside = folder.ok().and_then(|folder| Path::new(path).strip_prefix(folder).ok().map(Path::to_owned));
    inside.map_or_else(|| path.to_owned(), |inside| inside.display().to_string())
}

fn hottest_lines(found: &Json, rounds: f64) -> Vec<ProfiledLine> {
    let total = found["seconds"].as_f64().unwrap_or_default().max(f64::MIN_POSITIVE);
    let lines = found["lines"].as_array().map(Vec::as_slice).unwrap_or_default();
    let line = |line: &Json| {
        let seconds = line["seconds"].as_f64().unwrap_or_default();
        let text = |name: &str| one_line(line[name].as_str().unwrap_or_default());
        let (file, number) = (relative_path(&text("file")), line["line"].as_u64().unwrap_or_default());
        ProfiledLine { file, number, text: text("text"), share: seconds / total, ms: seconds * 1e3 / rounds }
    };
    lines.iter().take(MAX_LINES_SHOWN).map(line).collect()
}

impl Profile {
    /// The hottest lines, and how to open the file.
    pub fn text(&self, path: &Path) -> String {
        let rows = self.lines.iter().map(|line| {
            vec![
                format!("{:.1} %", 100.0 * line.share),
                format!("{:.2}", line.ms),
                format!("{}:{}", line.file, line.number),
                line.text.chars().take(80).collect(),
            ]
        });
        let table = output::table(&[">Share", ">ms", "Where", "Line"], rows.collect());
        let path = path.display();
        let opened = format!(
            "profile: {path} (open it with python3 -m pstats {path}, or snakeviz, tuna, gprof2dot)\n"
        );
        if self.lines.is_empty() {
            return format!(
                "\nno line of the bot's files took a measurable time: the bot is too fast to matter\n{opened}"
            );
        }
        format!(
            "\nhottest lines of the bot's files (measured; calls into other files count for the calling line)\n{table}{opened}"
        )
    }

    /// The profile as JSON.
    pub fn json(&self, path: Option<&Path>) -> Json {
        let lines: Vec<Json> = self
            .lines
            .iter()
            .map(|line| {
                json!({
                    "file": line.file,
                    "line": line.number,
                    "text": line.text,
                    "share": line.share,
                    "ms": line.ms,
                })
            })
            .collect();
        json!({"file": path, "hottest": lines})
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    text.as_bytes().chunks(2).map(|pair| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_text_is_decoded_to_bytes() {
        assert_eq!(from_hex("00ff7f"), Some(vec![0, 255, 127]));
        assert_eq!((from_hex("0"), from_hex("zz")), (None, None));
    }
}
