//! The log of this program: its filter, its format, and how its lines get past progress bars to stderr.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::env;
use std::io::{self, IsTerminal as _, Write};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::thread;

use agon_bots::Diagnostic;
use agon_core::LockIgnoringPoison as _;
use clap::ValueEnum as _;
use indicatif::{MultiProgress, ProgressBar};
use serde_json::json;
use tracing::Level;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, fmt, registry};

use crate::args::{Command, LogFormat, LogOptions};

/// Environment variable with the filter.
const FILTER_VARIABLE: &str = "AGON_LOG";
/// Environment variable with the format.
const FORMAT_VARIABLE: &str = "AGON_LOG_FORMAT";
/// Default filter of commands that run as services.
const SERVICE_FILTER: &str = "agon=info";
/// Default filter of all other commands. They show notices as messages, so the log does not repeat them.
const COMMAND_FILTER: &str = "agon=warn,agon::notice=off";
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Starts the log.
pub fn start(options: &LogOptions, command: &Command) -> Result<(), Diagnostic> {
    let filter = match (&options.log, env_text(FILTER_VARIABLE)?) {
        (Some(text), _) => parse_filter("--log", text)?,
        (None, Some(text)) => parse_filter(FILTER_VARIABLE, &text)?,
        (None, None) => parse_filter("default", default_filter(command))?,
    };
    let format = match (options.log_format, env_text(FORMAT_VARIABLE)?) {
        (Some(format), _) => format,
        (None, Some(text)) => parse_format(&text)?,
        (None, None) => LogFormat::Text,
    };
    FORMAT.get_or_init(|| format);
    let layer = match format {
        LogFormat::Text => fmt::layer().with_writer(StderrWriter).with_ansi(colour()).boxed(),
        LogFormat::Json => fmt::layer()
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(true)
            .with_writer(StderrWriter)
            .boxed(),
    };
    // Fails only if there is a log already.
    let _ = tracing::subscriber::set_global_default(registry().with(filter).with(layer));
    log_panics();
    Ok(())
}

/// A message beside the data, on stderr: plain text, or a line of JSON if the log is JSON.
pub fn message(level: Level, text: &str) {
    let mut line = match FORMAT.get() {
        Some(LogFormat::Json) => json!({
            "timestamp": timestamp(), "level": level.as_str(), "message": text, "target": "agon",
        })
        .to_string(),
        _ => text.to_owned(),
    };
    line.push('\n');
    write_line(line.as_bytes());
}

/// An error as a line of JSON: the text as the message, and its parts.
pub fn error_json(error: &Diagnostic) {
    let line = json!({
        "timestamp": timestamp(), "level": Level::ERROR.as_str(), "message": error.to_string(), "target": "agon",
        "error": error,
    });
    write_line(format!("{line}\n").as_bytes());
}

/// Whether messages are JSON.
pub fn is_json() -> bool {
    FORMAT.get() == Some(&LogFormat::Json)
}

/// Value of a variable that is set and not empty.
fn env_text(name: &str) -> Result<Option<String>, Diagnostic> {
    match env::var_os(name).filter(|value| !value.is_empty()) {
        None => Ok(None),
        Some(value) => value.into_string().map(Some).map_err(|_| {
            Diagnostic::wrong_use(
                format!("{name} is not UTF-8"),
                format!("unset {name}, or set another value"),
            )
        }),
    }
}

const fn default_filter(command: &Command) -> &'static str {
    match command {
        Command::Serve(_) | Command::Worker(_) => SERVICE_FILTER,
        _ => COMMAND_FILTER,
    }
}

fn parse_format(text: &str) -> Result<LogFormat, Diagnostic> {
    LogFormat::from_str(text, true).map_err(|_| {
        Diagnostic::wrong_use(
            format!("{FORMAT_VARIABLE}: `{text}` is not a log format"),
            "write text or json",
        )
    })
}

/// Parses a filter. `EnvFilter` would take a misspelt level for the name of a part, so each part is checked here first.
fn parse_filter(origin: &str, text: &str) -> Result<EnvFilter, Diagnostic> {
    let parts: Vec<&str> = split_parts(text).into_iter().map(str::trim).collect();
    let failure = |part: &str| {
        Diagnostic::wrong_use(
            format!("{origin}: `{part}` is not a log filter"),
            format!(
                "write a level ({}) or PART=LEVEL, separated by commas: info,agon_grid=debug",
                LEVELS.join(", ")
            ),
        )
    };
    for part in &parts {
        if !is_directive(part) || EnvFilter::builder().parse(part).is_err() {
            return Err(failure(part));
        }
    }
    EnvFilter::builder().parse(parts.join(",")).map_err(|_| failure(text))
}

/// Whether a part of a filter is a level, or ends with one.
fn is_directive(part: &str) -> bool {
    let is_level = |text: &str| LEVELS.iter().any(|level| level.eq_ignore_ascii_case(text));
    match part.rsplit_once('=') {
        Some((target, level)) => !target.is_empty() && is_level(level),
        None => is_level(part),
    }
}

/// Splits at commas outside of brackets: a part may name a span and its fields, `[match{match=x}]=debug`.
fn split_parts(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0_i32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            ',' if depth <= 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

/// Whether stderr may have colours.
fn colour() -> bool {
    io::stderr().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn timestamp() -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = SystemTime.format_time(&mut Writer::new(&mut text));
    text
}

/// Logs panics of all threads. A panic in a game or a request is handled there; without this its cause would be lost.
fn log_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !tracing::enabled!(Level::ERROR) {
            return default(panic);
        }
        let (current, backtrace) = (thread::current(), Backtrace::capture());
        let backtrace = (backtrace.status() == BacktraceStatus::Captured).then(|| backtrace.to_string());
        tracing::error!(
            thread = current.name().unwrap_or("unnamed"),
            place = panic.location().map(ToString::to_string),
            cause = panic.payload_as_str().unwrap_or("no message"),
            backtrace,
            "a thread panicked"
        );
    }));
}

/// Where lines go now.
enum Destination {
    /// Straight to stderr.
    Stderr,
    /// Above progress bars.
    AboveBars(MultiProgress),
    /// Above one progress bar.
    AboveBar(ProgressBar),
    /// Kept until the screen is free again.
    Held(Vec<u8>),
}

static DESTINATION: Mutex<Destination> = Mutex::new(Destination::Stderr);
static FORMAT: OnceLock<LogFormat> = OnceLock::new();

fn destination() -> MutexGuard<'static, Destination> {
    DESTINATION.lock_ignoring_poison()
}

/// While it exists, lines do not go straight to stderr.
pub struct LogRedirect(());

impl LogRedirect {
    fn new(to: Destination) -> Self {
        *destination() = to;
        Self(())
    }

    /// Lines are written above these progress bars.
    pub fn above_bars(bars: &MultiProgress) -> Self {
        Self::new(Destination::AboveBars(bars.clone()))
    }

    /// Lines are written above this progress bar.
    pub fn above_bar(bar: &ProgressBar) -> Self {
        Self::new(Destination::AboveBar(bar.clone()))
    }

    /// Lines are written when this is dropped, because something else has the whole screen.
    pub fn hold() -> Self {
        Self::new(Destination::Held(Vec::new()))
    }
}

impl Drop for LogRedirect {
    fn drop(&mut self) {
        let before = std::mem::replace(&mut *destination(), Destination::Stderr);
        if let Destination::Held(lines) = before {
            write_line(&lines);
        }
    }
}

/// Writes a line, or several. A stderr that is closed is no reason to stop.
fn write_line(line: &[u8]) {
    let write = || drop(io::stderr().lock().write_all(line));
    match &mut *destination() {
        Destination::Stderr => write(),
        Destination::AboveBars(bars) => bars.suspend(write),
        Destination::AboveBar(bar) => bar.suspend(write),
        Destination::Held(lines) => lines.extend_from_slice(line),
    }
}

/// Writes log lines. The subscriber writes each line with one call.
struct StderrWriter;

impl Write for StderrWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        write_line(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for StderrWriter {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        Self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_levels_and_parts_are_accepted() {
        for good in [
            "info",
            "WARN",
            "off",
            "info,agon_grid=debug",
            " info , agon_grid::worker=debug ",
            "warn,[match{match=cup/1.1.2}]=trace",
            SERVICE_FILTER,
            COMMAND_FILTER,
        ] {
            assert!(parse_filter("--log", good).is_ok(), "{good}");
        }
    }

    #[test]
    fn filter_error_names_the_wrong_part() {
        for (text, part) in [
            ("inof", "inof"),
            ("info,agon_grid=loud", "agon_grid=loud"),
            ("info,,warn", ""),
            ("=info", "=info"),
            ("agon_grid", "agon_grid"),
            ("info,[match{a=1,b=2}", "[match{a=1,b=2}"),
            ("3", "3"),
        ] {
            let failure = parse_filter("AGON_LOG", text).unwrap_err();
            assert_eq!(failure.kind, agon_core::ErrorKind::Usage, "{text}");
            let expected = format!("AGON_LOG: `{part}` is not a log filter\nhint: write a level");
            assert!(failure.to_string().starts_with(&expected), "{text}: {failure}");
        }
    }

    #[test]
    fn held_lines_are_kept_until_the_screen_is_free() {
        let redirect = LogRedirect::hold();
        write_line(b"one\n");
        StderrWriter.write_all(b"two\n").unwrap();
        let held = matches!(&*destination(), Destination::Held(lines) if lines == b"one\ntwo\n");
        drop(redirect);
        assert!(held);
        assert!(matches!(&*destination(), Destination::Stderr));
    }
}
