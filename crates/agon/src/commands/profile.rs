//! `agon trial ... --profile FILE`: where a Python bot spends its time. The games of the trial are fed to it again behind
//! the same sandbox, once for cProfile and once for single lines: each would disturb the other's figures.

use std::path::Path;
use std::time::{Duration, Instant};

use agon_bots::error::Failure;
use agon_core::{ErrorKind, Seat};
use agon_engine::Film;
use agon_engine::debug_replay::bot_seed;
use agon_host::Program;
use agon_host::interactive::InteractiveBot;
use serde_json::{Value as Json, json};

use crate::logs::one_line;
use crate::output;

/// So many lines are printed.
const HOTTEST: usize = 10;
/// Lines are sampled over so much thinking, by feeding the games more than once: a few samples would say nothing...
const MIN_SAMPLED_TIME: Duration = Duration::from_secs(1);
/// ...but no longer than this.
const SAMPLING_TIMEOUT: Duration = Duration::from_secs(20);
/// A result that is larger is not one of ours.
const MOST_PIECES: usize = 10_000;

/// What was found.
pub struct Profile {
    /// The file that `pstats` reads.
    pub stats: Vec<u8>,
    lines: Vec<Line>,
}

struct Line {
    file: String,
    number: u64,
    text: String,
    share: f64,
    ms: f64,
}

/// Profiles a bot over these games. `cpu` is what they took it.
pub fn take(
    program: &Program,
    films: &[Box<dyn Film>],
    seat: Seat,
    cpu: Duration,
) -> Result<Profile, Failure> {
    let broke = |what: String| Failure {
        kind: ErrorKind::Internal,
        message: format!(
            "the profile failed: {}\nhint: does the bot play without --profile?",
            what.replace('\n', "; ")
        ),
    };
    let (functions, _) = feed(program, films, seat, "functions", 1).map_err(broke)?;
    let stats =
        functions["stats"].as_str().and_then(from_hex).ok_or_else(|| broke("no result".to_owned()))?;
    let rounds = MIN_SAMPLED_TIME.as_secs_f64() / cpu.as_secs_f64().max(1e-9);
    let (lines, rounds) = feed(program, films, seat, "lines", rounds.ceil() as usize).map_err(broke)?;
    Ok(Profile { stats, lines: hottest(&lines, rounds) })
}

/// Plays the games again under a profiler and fetches what it found, and how often all of them were played.
fn feed(
    program: &Program,
    films: &[Box<dyn Film>],
    seat: Seat,
    way: &str,
    rounds: usize,
) -> Result<(Json, f64), String> {
    let Some(first) = films.first() else { return Ok((Json::Null, 1.0)) };
    let seed = bot_seed(first.record(), seat);
    let environment = [("AGON_SEED", seed.to_string()), ("AGON_PROFILE", way.to_owned())];
    let mut talk = InteractiveBot::start_sandboxed(program, &environment).map_err(|e| e.to_string())?;
    talk.hello(&first.hello(seat))?;
    let until = Instant::now() + SAMPLING_TIMEOUT;
    let games: Vec<_> = films.iter().map(|film| (film, film.requests(seat))).collect();
    let mut played = 0u32;
    for (film, requests) in games.iter().cycle().take(films.len() * rounds.max(1)) {
        if played as usize >= films.len() && Instant::now() > until {
            break;
        }
        played += 1;
        talk.start(played, bot_seed(film.record(), seat))?;
        for request in requests {
            talk.turn(request.name, request.limit, &film.observation(request.turn, seat).json)?;
        }
        talk.end()?;
    }
    let mut text = String::new();
    for _ in 0..MOST_PIECES {
        let reply = talk.say("profile")?;
        match reply["piece"].as_str() {
            Some("") => {
                let found = serde_json::from_str(&text).map_err(|e| e.to_string())?;
                return Ok((found, f64::from(played) / films.len() as f64));
            }
            Some(piece) => text += piece,
            None => return Err("the bot's process does not answer for the profiler".to_owned()),
        }
    }
    Err("a result without an end".to_owned())
}

fn hottest(found: &Json, rounds: f64) -> Vec<Line> {
    let total = found["seconds"].as_f64().unwrap_or_default().max(f64::MIN_POSITIVE);
    let lines = found["lines"].as_array().map(Vec::as_slice).unwrap_or_default();
    let line = |line: &Json| {
        let seconds = line["seconds"].as_f64().unwrap_or_default();
        let text = |name: &str| one_line(line[name].as_str().unwrap_or_default());
        let (file, number) = (text("file"), line["line"].as_u64().unwrap_or_default());
        Line { file, number, text: text("text"), share: seconds / total, ms: seconds * 1e3 / rounds }
    };
    lines.iter().take(HOTTEST).map(line).collect()
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
                "\nno line of the bot's own files was ever caught at work: it is too quick to matter\n{opened}"
            );
        }
        format!(
            "\nhottest lines of the bot's own files (sampled; what a line calls elsewhere is its own time)\n{table}{opened}"
        )
    }

    /// For programs.
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
    fn bytes_come_back_from_their_digits() {
        assert_eq!(from_hex("00ff7f"), Some(vec![0, 255, 127]));
        assert_eq!((from_hex("0"), from_hex("zz")), (None, None));
    }
}
