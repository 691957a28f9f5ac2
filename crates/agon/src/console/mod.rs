//! The user at the terminal as a player: keys that answer at once, typed answers, `help` and `quit`.

mod key_input;
pub mod step;

use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use agon_core::{Picture, RequestInfo, Seat};
use agon_engine::HumanConsole;

use crate::watch::paint;
use key_input::{AnswerInput, InputResult};

/// Asks on stderr, because stdout is for data. Reads keys from a terminal, lines from anything else.
pub struct Terminal {
    /// Whether to draw in colour.
    pub colour: bool,
    /// Id of the game, for the help.
    pub game: &'static str,
    /// Whether the user has quit. Then the seat gives no more answers.
    left: bool,
}

impl Terminal {
    /// A terminal for one game after the other.
    pub const fn new(game: &'static str, colour: bool) -> Self {
        Self { colour, game, left: false }
    }
}

impl HumanConsole for Terminal {
    fn ask(
        &mut self,
        seat: Seat,
        picture: &Picture,
        request: &RequestInfo,
        trouble: Option<&str>,
    ) -> io::Result<Option<String>> {
        if self.left {
            return Ok(None);
        }
        match trouble {
            Some(trouble) => write_all(&format!("Invalid input: {trouble}\n"))?,
            None => write_all(&format!("\n{}\n", paint::ansi(picture, self.colour)))?,
        }
        loop {
            let answer = read_answer(&prompt(seat, request), request)?;
            match answer.as_deref().map(|line| line.trim().to_lowercase()).as_deref() {
                Some("help" | "?") => write_all(&help(self.game, request))?,
                None | Some("quit" | "exit") => {
                    self.left = true;
                    return Ok(None);
                }
                Some(_) => return Ok(answer),
            }
        }
    }
}

/// Asks a question and reads one answer. `None` if the user quits or the input ends.
fn read_answer(question: &str, request: &RequestInfo) -> io::Result<Option<String>> {
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        let mut input = AnswerInput::new(request.keys);
        return key_input::read(question, &mut input).map(|result| match result {
            InputResult::Answer(text) => Some(text),
            InputResult::Quit => None,
        });
    }
    write_all(question)?;
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line)?;
    Ok((read > 0).then_some(line))
}

fn write_all(text: &str) -> io::Result<()> {
    let mut out = io::stderr().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The question: what is asked, with an example or the keys.
fn prompt(seat: Seat, request: &RequestInfo) -> String {
    let how = match request.keys {
        [] => format!("for example {}", request.example),
        keys => format!("keys {}", keys.iter().map(|one| one.key.to_string()).collect::<Vec<_>>().join(" ")),
    };
    format!("seat {seat}, {} ({how}; help, quit): ", request.asks)
}

/// The help: what is asked, the keys, and how to correct a line.
fn help(game: &str, request: &RequestInfo) -> String {
    let mut text = format!("\n  You are asked for {}.\n", request.asks);
    if !request.keys.is_empty() {
        let keys: Vec<String> =
            request.keys.iter().map(|one| format!("{} {}", one.key, one.answer)).collect();
        let _ = writeln!(text, "  In a terminal one key answers: {}.", keys.join(", "));
    }
    let _ = writeln!(text, "  Or type the answer, such as {}, and press Enter.", request.example);
    text += "  Backspace, Delete and the arrow keys correct a line; Esc clears it. An invalid answer costs nothing: you are asked again.\n";
    text += "  quit: stop playing; your seat gives no more answers.\n";
    let _ = writeln!(text, "  `agon games {game}` prints the rules.\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompt_and_help_name_the_keys_of_every_game() {
        for info in agon_games::infos() {
            for request in info.requests {
                let asked = prompt(Seat(1), request);
                assert!(asked.starts_with("seat 1, ") && asked.ends_with("help, quit): "), "{asked}");
                let text = help(info.id, request);
                assert!(text.contains(request.asks) && text.contains(request.example), "{text}");
                for key in request.keys {
                    assert!(asked.contains(&key.key.to_string()), "{asked}");
                    assert!(text.contains(&format!("{} {}", key.key, key.answer)), "{text}");
                }
            }
        }
    }
}
