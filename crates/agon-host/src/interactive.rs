//! A Python bot that is asked line by line and without a clock: by a debugger in the author's terminal or by a profiler in the
//! sandbox. It gets the same messages as from [`crate::json_lines_player`].

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::process::{Child, Command};
use std::time::Duration;

use agon_core::{Fault, Game};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pipe::{PipeFlags, pipe_with};
use serde_json::Value as Json;

use crate::json_lines_player::{HelloInfo, PlayerOptions};
use crate::message::{self, Hello, Limits, Message, PROTOCOL, SimpleMessage};
use crate::process::{
    AnswerError, BotConnection as _, LineProcess, MAX_LINE_BYTES, quote_line, sanitize_text,
};
use crate::program::Program;

/// Maximum wait for an answer. Generous, because a person may be at the debugger.
const REPLY_TIMEOUT: Duration = Duration::from_hours(1);

/// Maximum number of stderr lines shown when the bot ends.
const MAX_STDERR_LINES: usize = 3;

/// The same bot, run by another module of the package: `agon_bot.debugging` instead of `agon_bot`. `None` if the program is not
/// a Python bot.
pub fn with_module(program: &Program, module: &str) -> Option<Program> {
    let mut other = program.clone();
    let at = other.words.windows(2).position(|words| words == ["-m", "agon_bot"])?;
    other.words[at + 1] = format!("agon_bot.{module}");
    Some(other)
}

/// The first line that a bot receives.
pub fn hello<G: Game>(told: &HelloInfo, seed: u64) -> String {
    let (info, conditions) = (G::info(), PlayerOptions::of::<G>());
    let (clock, clock_ms) = message::clock(&told.clock);
    let ms = |time: Duration| time.as_millis() as u64;
    let (start_ms, end_ms, bye_ms) = (ms(conditions.start), ms(conditions.end), ms(conditions.bye));
    let mut line = Vec::new();
    SimpleMessage::Hello(Hello {
        id: 1,
        protocol: PROTOCOL,
        game: info.id,
        rules: info.rules_version,
        seat: told.seat.0,
        seats: told.seats,
        role: info.role(told.seat).name,
        names: told.names.as_deref(),
        settings: &told.settings,
        seed: seed.to_string(),
        limits: Limits { clock, clock_ms, start_ms, end_ms, bye_ms },
    })
    .write(&mut line);
    String::from_utf8(line).unwrap_or_default()
}

/// Reply to a turn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InteractiveReply {
    /// The answer as text, not checked yet.
    Answer(String),
    /// The bot failed, with its error message.
    Fault(Fault, String),
    /// The user quit the debugger.
    Quit,
}

/// A conversation with a bot: one line for each request, one line for each reply.
pub struct InteractiveBot {
    with: With,
    last_id: u64,
}

enum With {
    Terminal(InTerminal),
    Sandbox(LineProcess),
}

impl InteractiveBot {
    /// Starts a bot in this terminal. It shares our standard streams and our permissions.
    pub fn in_terminal(program: &Program, seed: u64) -> io::Result<Self> {
        Ok(Self { with: With::Terminal(InTerminal::start(program, seed)?), last_id: 0 })
    }

    /// Starts a bot as its program asks: sandboxed, if the program is marked so.
    pub fn start_sandboxed(program: &Program, environment: &[(&str, String)]) -> io::Result<Self> {
        Ok(Self { with: With::Sandbox(LineProcess::start(program, environment, false)?), last_id: 0 })
    }

    /// Sends the first line, as [`hello`] writes it. The error says why the bot cannot be loaded.
    pub fn hello(&mut self, line: &str) -> Result<(), String> {
        self.last_id = 1;
        let reply = self.exchange(line.as_bytes())?;
        match message::read(&reply) {
            Ok(answered) => answered.error.map_or(Ok(()), |error| Err(sanitize_text(&error.to_string()))),
            Err(what) => Err(format!("{what}: {}", quote_line(&reply))),
        }
    }

    /// Announces a new game.
    pub fn start(&mut self, number: u32, seed: u64) -> Result<(), String> {
        let id = self.id();
        self.send(&SimpleMessage::Start { id, number, seed: seed.to_string() }).map(drop)
    }

    /// Announces the end of the game.
    pub fn end(&mut self) -> Result<(), String> {
        let id = self.id();
        self.send(&SimpleMessage::End { id }).map(drop)
    }

    /// Asks for an answer. `observation` is JSON as the protocol defines it.
    pub fn turn(
        &mut self,
        request: &str,
        limit: Duration,
        observation: &str,
    ) -> Result<InteractiveReply, String> {
        let (id, limit_ms) = (self.id(), limit.as_millis());
        let line = format!(
            r#"{{"type":"turn","id":{id},"request":"{request}","limit_ms":{limit_ms},"observation":{observation}}}"#
        );
        let reply = self.exchange(format!("{line}\n").as_bytes())?;
        if serde_json::from_slice::<Json>(&reply).is_ok_and(|reply| reply["quit"] == Json::Bool(true)) {
            return Ok(InteractiveReply::Quit);
        }
        let answered = message::read(&reply).map_err(|what| format!("{what}: {}", quote_line(&reply)))?;
        Ok(match answered.fault {
            Some(fault) => InteractiveReply::Fault(fault, sanitize_text(&answered.says.unwrap_or_default())),
            None => match message::text_of(answered.answer) {
                Ok(text) => InteractiveReply::Answer(text),
                Err(what) => InteractiveReply::Fault(Fault::Garbled, what),
            },
        })
    }

    /// Sends the lines of a game's own text protocol, and returns the next line of the bot.
    pub fn text_turn(&mut self, input: &str) -> Result<String, String> {
        let reply = self.exchange(input.as_bytes())?;
        Ok(String::from_utf8_lossy(&reply).trim_end().to_owned())
    }

    /// Sends a message that is not part of the protocol, to a module that understands it.
    pub fn say(&mut self, kind: &str) -> Result<Json, String> {
        let id = self.id();
        let reply = self.exchange(format!("{{\"type\":\"{kind}\",\"id\":{id}}}\n").as_bytes())?;
        serde_json::from_slice(&reply).map_err(|_| format!("not a JSON object: {}", quote_line(&reply)))
    }

    fn id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    fn send(&mut self, message: &Message<'_, ()>) -> Result<Vec<u8>, String> {
        let mut line = Vec::new();
        message.write(&mut line);
        self.exchange(&line)
    }

    fn exchange(&mut self, line: &[u8]) -> Result<Vec<u8>, String> {
        match &mut self.with {
            With::Terminal(bot) => bot.exchange(line),
            With::Sandbox(bot) => {
                bot.ask(line, 1, REPLY_TIMEOUT);
                let came = bot.wait().1.and_then(|()| bot.line());
                came.map_err(|trouble| {
                    let words = match trouble {
                        AnswerError::Late => format!("no answer within {REPLY_TIMEOUT:?}"),
                        AnswerError::Ended(how) => how,
                        AnswerError::TooLong(line) => format!("a line longer than 64 KiB: {line}"),
                        AnswerError::Unsolicited(line) => format!("wrote without being asked: {line}"),
                    };
                    let log = bot.log();
                    let last: Vec<&str> = log.lines().rev().take(MAX_STDERR_LINES).collect();
                    last.into_iter().rev().fold(words, |words, line| format!("{words}\n{line}"))
                })
            }
        }
    }
}

/// A bot that uses this terminal's standard streams; the protocol runs on two extra pipes.
struct InTerminal {
    child: Child,
    to: Option<File>,
    from: BufReader<File>,
}

impl InTerminal {
    fn start(program: &Program, seed: u64) -> io::Result<Self> {
        let path = program.locate().map_err(|error| io::Error::new(io::ErrorKind::NotFound, error.what))?;
        let (its_in, to) = pipe()?;
        let (from, its_out) = pipe()?;
        for end in [&its_in, &its_out] {
            fcntl_setfd(end, FdFlags::empty())?;
        }
        let child = Command::new(std::path::absolute(path)?)
            .args(program.words.get(1..).unwrap_or_default())
            .current_dir(&program.folder)
            .envs(program.environment.iter().map(|(name, value)| (name, value)))
            .env("AGON_SEED", seed.to_string())
            .env("AGON_IN", its_in.as_raw_fd().to_string())
            .env("AGON_OUT", its_out.as_raw_fd().to_string())
            .spawn()?;
        Ok(Self { child, to: Some(to.into()), from: BufReader::new(from.into()) })
    }

    fn exchange(&mut self, line: &[u8]) -> Result<Vec<u8>, String> {
        let mut reply = Vec::new();
        // If the bot no longer reads, its missing answer shows that.
        let _ = self.to.as_mut().map(|to| to.write_all(line));
        let most = MAX_LINE_BYTES as u64 + 1;
        match self.from.by_ref().take(most).read_until(b'\n', &mut reply) {
            Ok(_) if reply.len() > MAX_LINE_BYTES && reply.last() != Some(&b'\n') => {
                Err(format!("a line longer than 64 KiB: {}", quote_line(&reply)))
            }
            Ok(count) if count > 0 => Ok(reply),
            _ => Err("it ended".to_owned()),
        }
    }
}

impl Drop for InTerminal {
    /// Closing the pipe ends the bot.
    fn drop(&mut self) {
        self.to = None;
        let _ = self.child.wait();
    }
}

/// A pipe: the read end and the write end.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(pipe_with(PipeFlags::CLOEXEC)?)
}
