//! `agon play --step`: shows each turn while the game is played and waits for a key before the next one.

use std::io::{self, BufRead as _, IsTerminal as _};

use agon_core::Viewpoint;
use agon_engine::event::PositionView;
use agon_engine::{GameEvent, Reporter};
use ratatui::crossterm::event::{KeyCode, KeyModifiers};

use super::key_input::{RawMode, next_key};
use crate::output;
use crate::watch::paint;

/// Shows every position. Waits for Enter before each turn, as long as the user wants that.
pub struct StepReporter {
    colour: bool,
    /// Whether to wait before the next turn.
    waits: bool,
}

impl StepReporter {
    /// Waits from the first turn on.
    pub const fn new(colour: bool) -> Self {
        Self { colour, waits: true }
    }

    fn show(&self, title: &str, view: &dyn PositionView) {
        output::note(&format!("\n--- {title}\n{}", paint::ansi(&view.picture(Viewpoint::All), self.colour)));
    }

    /// Waits for a key. If the input ends or fails, the rest is played without stopping.
    fn wait(&mut self) {
        if self.waits {
            output::note("Enter: next turn; c: play on to the end");
            self.waits = next_turn().unwrap_or(false);
        }
    }
}

impl Reporter for StepReporter {
    fn event(&mut self, event: &GameEvent<'_>) {
        match event {
            GameEvent::Started { game, view, .. } => {
                self.show(&format!("game {}, start", game + 1), *view);
                self.wait();
            }
            GameEvent::Turn { turn, view, .. } if self.waits => {
                self.show(&format!("turn {turn}"), *view);
                self.wait();
            }
            GameEvent::Fault { fault, .. } if self.waits => {
                output::note(&format!(
                    "fault: seat {}: {}: {}",
                    fault.seat, fault.report.fault, fault.report.message
                ));
            }
            GameEvent::Over { view, outcome, .. } => self.show(&format!("end: {}", outcome.ended), *view),
            _ => {}
        }
    }
}

/// Whether to stop again before the next turn.
fn next_turn() -> io::Result<bool> {
    if io::stdin().is_terminal() {
        let _raw = RawMode::enable()?;
        loop {
            let key = next_key()?;
            let control = key.modifiers.contains(KeyModifiers::CONTROL);
            match key.code {
                KeyCode::Enter | KeyCode::Right | KeyCode::Down | KeyCode::Char(' ' | 'n') => {
                    return Ok(true);
                }
                KeyCode::Char('c') if control => return Ok(false),
                KeyCode::Char('c' | 'q') | KeyCode::Esc => return Ok(false),
                _ => {}
            }
        }
    }
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line)?;
    Ok(read > 0 && !matches!(line.trim(), "c" | "q" | "quit"))
}
