//! The arguments with which Agon calls a Python bot in one turn, for `agon debug --turn`. The bot runs in the sandbox.

use agon_core::sanitize::terminal_lines;
use agon_engine::debug_replay::bot_seed;
use agon_engine::{PlayerSpec, RecordedRequest};
use agon_host::interactive::{InteractiveBot, with_module};
use serde_json::{Value as Json, json};

use super::debug::DebugSession;
use super::pdb::play_up_to;
use super::profile::source_folder;
use crate::output;

/// An argument of a call, as text.
#[derive(Clone, Debug)]
pub struct CallArgument {
    /// Name of the parameter, or of an attribute of the bot.
    pub name: String,
    /// Value, as Python prints it.
    pub value: String,
}

impl CallArgument {
    fn read(json: &Json) -> Self {
        let text = |name: &str| terminal_lines(json[name].as_str().unwrap_or_default());
        Self { name: text("name"), value: text("value") }
    }

    /// The argument as JSON.
    pub fn json(&self) -> Json {
        json!({"name": self.name, "value": self.value})
    }
}

/// The arguments of the call in this turn. `None` if the bot is not a Python bot, or is not called.
pub fn call_arguments(session: &DebugSession<'_>, target: &RecordedRequest) -> Option<Vec<CallArgument>> {
    let PlayerSpec::Program(seat) = &session.bot else { return None };
    let program = with_module(&seat.program, "arguments")?;
    let seed = bot_seed(session.films.first()?.record(), session.seat);
    let environment = [("AGON_SEED", seed.to_string()), ("AGON_BOT_SOURCE", source_folder(&program))];
    let asked = InteractiveBot::start_sandboxed(&program, &environment).map_err(|e| e.to_string());
    let asked = asked.and_then(|mut talk| {
        play_up_to(session, target, "show", &mut talk)?;
        talk.say("arguments")
    });
    match asked {
        Ok(reply) => reply["arguments"].as_array().map(|list| list.iter().map(CallArgument::read).collect()),
        Err(why) => {
            output::note(&format!(
                "note: the arguments of the call are unknown: {}",
                why.replace('\n', "; ")
            ));
            None
        }
    }
}

/// The arguments as text, one below the other.
pub fn text(arguments: &[CallArgument]) -> String {
    let mut text = String::new();
    for CallArgument { name, value } in arguments {
        let lines: Vec<&str> = value.lines().collect();
        // The lines of a value start in the same column, so that a board looks like a board.
        let indent = " ".repeat(name.chars().count() + 5);
        text += &format!("  {name} = {}\n", lines.join(&format!("\n{indent}")));
    }
    text
}
