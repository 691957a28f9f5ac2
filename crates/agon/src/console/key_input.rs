//! Input of one answer, key by key: keys that answer at once, and a line that can be corrected.

use std::io::{self, Write as _};

use agon_core::{AnswerKey, TerminalKey};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal::{disable_raw_mode, enable_raw_mode};

/// Maximum length of a line.
const MAX_LINE_CHARS: usize = 200;

/// Result of the input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InputResult {
    /// The answer.
    Answer(String),
    /// The user quits.
    Quit,
}

/// A line while it is typed.
#[derive(Clone, Debug)]
pub struct AnswerInput {
    keys: &'static [AnswerKey],
    line: Vec<char>,
    /// Position in the line.
    cursor: usize,
}

impl AnswerInput {
    /// An empty line. `keys` answer at once while it is empty.
    pub const fn new(keys: &'static [AnswerKey]) -> Self {
        Self { keys, line: Vec::new(), cursor: 0 }
    }

    /// The text so far.
    pub fn text(&self) -> String {
        self.line.iter().collect()
    }

    /// Handles a key. Returns the result when the input is complete.
    pub fn press(&mut self, key: KeyEvent) -> Option<InputResult> {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return self.press_control(key.code);
        }
        if self.line.is_empty()
            && let Some(answer) = self.immediate(key.code)
        {
            return Some(InputResult::Answer(answer.to_owned()));
        }
        match key.code {
            KeyCode::Enter if !self.line.is_empty() => return Some(InputResult::Answer(self.text())),
            KeyCode::Char(character) if self.line.len() < MAX_LINE_CHARS => {
                self.line.insert(self.cursor, character);
                self.cursor += 1;
            }
            KeyCode::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                self.line.remove(self.cursor);
            }
            KeyCode::Delete if self.cursor < self.line.len() => {
                self.line.remove(self.cursor);
            }
            KeyCode::Left => self.cursor = self.cursor.saturating_sub(1),
            KeyCode::Right => self.cursor = (self.cursor + 1).min(self.line.len()),
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = self.line.len(),
            KeyCode::Esc => self.clear(),
            _ => {}
        }
        None
    }

    fn press_control(&mut self, code: KeyCode) -> Option<InputResult> {
        match code {
            KeyCode::Char('c') => return Some(InputResult::Quit),
            KeyCode::Char('d') if self.line.is_empty() => return Some(InputResult::Quit),
            KeyCode::Char('u') => self.clear(),
            _ => {}
        }
        None
    }

    fn clear(&mut self) {
        self.line.clear();
        self.cursor = 0;
    }

    /// The answer of a key that answers at once.
    fn immediate(&self, code: KeyCode) -> Option<&'static str> {
        let key = match code {
            KeyCode::Up => TerminalKey::Up,
            KeyCode::Down => TerminalKey::Down,
            KeyCode::Left => TerminalKey::Left,
            KeyCode::Right => TerminalKey::Right,
            KeyCode::Char(character) => TerminalKey::Character(character),
            _ => return None,
        };
        self.keys.iter().find(|one| one.key == key).map(|one| one.answer)
    }
}

/// Raw mode of the terminal while it exists.
pub struct RawMode;

impl RawMode {
    /// Switches it on.
    pub fn enable() -> io::Result<Self> {
        enable_raw_mode()?;
        Ok(Self)
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
    }
}

/// Waits for a key of the terminal, which must be in raw mode.
pub fn next_key() -> io::Result<KeyEvent> {
    loop {
        if let Event::Key(key) = event::read()?
            && key.kind != KeyEventKind::Release
        {
            return Ok(as_enter(key).unwrap_or(key));
        }
    }
}

/// Enter, if this key is how it arrives when it was pressed before raw mode was on: as a line feed.
fn as_enter(key: KeyEvent) -> Option<KeyEvent> {
    let is_line_feed = key.code == KeyCode::Char('j') && key.modifiers == KeyModifiers::CONTROL;
    is_line_feed.then(|| KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE))
}

/// Asks a question, reads the answer from the terminal and shows what is typed. Each key that is pressed after the question is shown
/// counts as a key, so raw mode comes first.
pub fn read(question: &str, input: &mut AnswerInput) -> io::Result<InputResult> {
    let _raw = RawMode::enable()?;
    // The question stays; the line after it is drawn again with each key.
    write(format!("{question}\x1b7").as_bytes())?;
    loop {
        let result = input.press(next_key()?);
        let shown = match &result {
            Some(InputResult::Answer(text)) => text.clone(),
            _ => input.text(),
        };
        write(format!("\x1b8\x1b[J{shown}").as_bytes())?;
        if let Some(result) = result {
            write(b"\r\n")?;
            return Ok(result);
        }
        let back = input.line.len() - input.cursor;
        if back > 0 {
            write(format!("\x1b[{back}D").as_bytes())?;
        }
    }
}

fn write(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stderr().lock();
    out.write_all(bytes)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(input: &mut AnswerInput, codes: &[KeyCode]) -> Option<InputResult> {
        codes.iter().find_map(|&code| input.press(KeyEvent::new(code, KeyModifiers::NONE)))
    }

    fn typed(text: &str) -> Vec<KeyCode> {
        text.chars().map(KeyCode::Char).collect()
    }

    fn answer(text: &str) -> InputResult {
        InputResult::Answer(text.to_owned())
    }

    #[test]
    fn arrow_keys_and_space_answer_at_once() {
        let keys = [
            (KeyCode::Up, "UP"),
            (KeyCode::Down, "DOWN"),
            (KeyCode::Left, "LEFT"),
            (KeyCode::Right, "RIGHT"),
            (KeyCode::Char(' '), "STAY"),
        ];
        for (code, word) in keys {
            assert_eq!(press(&mut AnswerInput::new(AnswerKey::STEPS), &[code]), Some(answer(word)));
        }
        assert_eq!(press(&mut AnswerInput::new(&[]), &[KeyCode::Up, KeyCode::Enter]), None, "no such keys");
    }

    #[test]
    fn typo_is_corrected_with_backspace_delete_and_arrow_keys() {
        let mut input = AnswerInput::new(AnswerKey::STEPS);
        assert_eq!(press(&mut input, &typed("LEGT")), None);
        // The arrow keys move in a line that is not empty.
        assert_eq!(press(&mut input, &[KeyCode::Left, KeyCode::Left, KeyCode::Delete]), None);
        assert_eq!(press(&mut input, &typed("F")), None);
        assert_eq!(press(&mut input, &[KeyCode::Enter]), Some(answer("LEFT")));
        let mut input = AnswerInput::new(&[]);
        let codes = [typed("Q 18"), vec![KeyCode::Backspace], typed("7"), vec![KeyCode::Enter]].concat();
        assert_eq!(press(&mut input, &codes), Some(answer("Q 17")));
    }

    #[test]
    fn escape_and_control_u_clear_the_line_and_enter_on_an_empty_one_does_nothing() {
        let mut input = AnswerInput::new(AnswerKey::STEPS);
        press(&mut input, &typed("nonsense"));
        assert_eq!(press(&mut input, &[KeyCode::Esc, KeyCode::Enter]), None);
        press(&mut input, &typed("more"));
        assert_eq!(input.press(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL)), None);
        assert_eq!(input.text(), "");
        assert_eq!(press(&mut input, &[KeyCode::Right]), Some(answer("RIGHT")));
    }

    #[test]
    fn control_c_quits_at_any_time_and_control_d_on_an_empty_line() {
        let control = |letter| KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL);
        let mut input = AnswerInput::new(&[]);
        assert_eq!(input.clone().press(control('d')), Some(InputResult::Quit));
        press(&mut input, &typed("x"));
        assert_eq!(input.press(control('d')), None);
        assert_eq!(input.press(control('c')), Some(InputResult::Quit));
    }

    #[test]
    fn line_feed_of_enter_before_raw_mode_is_enter() {
        let line_feed = KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL);
        assert_eq!(as_enter(line_feed).map(|key| key.code), Some(KeyCode::Enter));
        assert_eq!(as_enter(KeyEvent::new(KeyCode::Char('j'), KeyModifiers::NONE)), None);
    }

    #[test]
    fn long_line_is_limited() {
        let mut input = AnswerInput::new(&[]);
        press(&mut input, &typed(&"x".repeat(1000)));
        assert_eq!(input.text().len(), MAX_LINE_CHARS);
    }
}
