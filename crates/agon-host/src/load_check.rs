//! Starts a bot once before its first game. Only that shows whether its imports and its constructor work. The bot gets `hello`
//! and is ended after its answer.

use agon_core::{Game, MeterKind, SelfDescription};
use serde_json::Value as Json;

use crate::bot_rejection::BotRejection;
use crate::connection::AnswerError;
use crate::json_lines_player::{HelloInfo, PlayerOptions};
use crate::message::{Hello, Limits, PROTOCOL, SimpleMessage, clock};
use crate::process::{quote_line, sanitize_text};
use crate::program::Program;
use crate::running_bot::RunningBot;

/// The id of the only message.
const HELLO_ID: u64 = 1;

/// Hint for a Python bot that is not loaded in time.
const SLOW_IMPORT_HINT: &str = "importing the bot takes too long or never ends: move loops and work out of the top level of its \
                                files; put test code below if __name__ == \"__main__\":";
/// Hint for a bot that cannot be started, or ends at once.
const START_HINT: &str = "run it by hand and check that it starts";
/// Hint for another program that does not answer in time.
const SLOW_START_HINT: &str = "do less before you read the first line; flush after each line";

/// A bot that was started and has not answered yet. Several can start at the same time.
pub struct LoadCheck {
    process: RunningBot,
    options: PlayerOptions,
    /// Whether the bot uses a Python API, so that loading it means importing its file.
    is_python: bool,
}

impl LoadCheck {
    /// Starts the bot and sends `hello`. Does not wait.
    pub fn begin<G: Game>(
        program: &Program,
        hello_info: &HelloInfo,
        options: PlayerOptions,
    ) -> Result<Self, BotRejection> {
        program.locate()?;
        let info = G::info();
        let environment = [("AGON_SEED", "0".to_owned()), ("AGON_GAME", info.id.to_owned())];
        let role = info.role(hello_info.seat).name;
        let mut process = RunningBot::start(program, &environment, false, role).map_err(|error| {
            let hint = program.private_folder_of_root().map_or_else(
                || START_HINT.to_owned(),
                |folder| {
                    format!("started by root, bots run as another user: chmod o+rx {}", folder.display())
                },
            );
            BotRejection::new(format!("cannot be started: {error}"), hint)
        })?;
        let (clock, clock_ms) = clock(&hello_info.clock);
        let ms = |time: std::time::Duration| time.as_millis() as u64;
        let PlayerOptions { start, end, bye, .. } = options;
        let limits = Limits { clock, clock_ms, start_ms: ms(start), end_ms: ms(end), bye_ms: ms(bye) };
        let hello = Hello {
            id: HELLO_ID,
            protocol: PROTOCOL,
            game: info.id,
            rules: info.rules_version,
            seat: hello_info.seat.0,
            seats: hello_info.seats,
            role,
            names: hello_info.names.as_deref(),
            settings: &hello_info.settings,
            seed: "0".to_owned(),
            limits,
        };
        let mut text = Vec::new();
        SimpleMessage::Hello(hello).write(&mut text);
        process.ask(&text, 1, start);
        Ok(Self { process, options, is_python: program.zygote.is_some() })
    }

    /// Waits for the answer. Returns what the bot says about itself, or why it cannot be loaded.
    pub fn finish(mut self) -> Result<SelfDescription, BotRejection> {
        let come = self.process.wait().1.and_then(|()| self.process.line());
        let line = match come {
            Ok(line) => line,
            Err(problem) => return Err(self.no_answer(problem)),
        };
        let refused = |what: String| {
            BotRejection::new(
                what,
                "answer every line with one JSON object that repeats its id; see docs/protocol.md",
            )
        };
        let answer: Json = serde_json::from_slice(&line)
            .map_err(|_| refused(format!("answered hello with {}, which is not JSON", quote_line(&line))))?;
        if answer["id"].as_u64() != Some(HELLO_ID) {
            return Err(refused(format!(
                "answered hello with {}, which lacks its id, {HELLO_ID}",
                quote_line(&line)
            )));
        }
        match (answer.get("error"), self.process.leftover()) {
            (None | Some(Json::Null), None) => {
                Ok(SelfDescription::new(answer["name"].as_str(), answer["contributor"].as_str()))
            }
            (None | Some(Json::Null), Some(kind)) => Err(BotRejection::new(
                format!("starts a {kind} while it is loaded"),
                "start it in a game: each game begins with the bot as it was loaded, and nothing else may run on",
            )),
            (Some(error), _) => Err(self.with_process_hint(not_loaded(error))),
        }
    }

    fn no_answer(&mut self, problem: AnswerError) -> BotRejection {
        let (what, hint) = match problem {
            AnswerError::Late => {
                let what = format!("not ready within {:?} of its start", self.options.start);
                let hint = if self.is_python { SLOW_IMPORT_HINT } else { SLOW_START_HINT };
                (what, hint)
            }
            AnswerError::Ended(how) => (format!("{how} instead of answering hello"), START_HINT),
            AnswerError::TooLong(line) => {
                (format!("answered hello with a line longer than 64 KiB: {line}"), "see docs/protocol.md")
            }
            AnswerError::Unsolicited(line) => (format!("wrote before hello: {line}"), "see docs/protocol.md"),
        };
        let trace = self.process.log().trim_end().into();
        self.with_process_hint(BotRejection { trace, ..BotRejection::new(what, hint) })
    }

    /// Explains a refused process to a bot without a cgroup.
    fn with_process_hint(&self, refusal: BotRejection) -> BotRejection {
        let refused = ["Operation not permitted", "Resource temporarily unavailable"];
        let says = |text: &str| refusal.trace.contains(text) || refusal.what.contains(text);
        if self.process.meter() != MeterKind::Process || !refused.into_iter().any(says) {
            return refusal;
        }
        let hint =
            format!("{}; here bots cannot start processes: `agon doctor` says why (meter)", refusal.hint);
        BotRejection { hint, ..refusal }
    }
}

/// A load error as the Python host reports it.
fn not_loaded(error: &Json) -> BotRejection {
    let text = |name: &str| error[name].as_str().unwrap_or_default();
    let trace = sanitize_text(text("trace"));
    let hint = match text("hint") {
        "" => "fix the bot and try again",
        hint => hint,
    };
    let refusal = BotRejection::new(text("what"), hint);
    let number = |name: &str| error[name].as_u64().and_then(|n| u32::try_from(n).ok());
    let (file, line) = match (error["file"].as_str(), number("line")) {
        // The place of a constructor's error is only in the traceback.
        (file, None) => last_place(&trace).unwrap_or((file, None)),
        (file, line) => (file, line),
    };
    let refusal = match file {
        Some(file) => refusal.in_file(file),
        None => refusal,
    };
    BotRejection { trace: trace.as_str().into(), ..refusal.at(line, number("column")) }
}

/// The last `File "name", line 3` of a traceback.
pub fn last_place(trace: &str) -> Option<(Option<&str>, Option<u32>)> {
    let line = trace.lines().rev().find(|line| line.trim_start().starts_with("File \""))?;
    let (file, rest) = line.trim_start().strip_prefix("File \"")?.split_once("\", line ")?;
    let number = rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    Some((Some(file), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failing_constructor_is_reported_with_its_line() {
        let trace = "File \"MyBot.py\", line 7, in __init__\n    1/0\nZeroDivisionError: division by zero";
        let error = serde_json::json!({"what": "MyBot() fails", "file": "MyBot.py", "trace": trace});
        let refusal = not_loaded(&error);
        assert_eq!(refusal.place(), "MyBot.py, line 7");
        assert_eq!(&*refusal.trace, trace);
    }
}
