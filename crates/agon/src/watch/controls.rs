//! State of the player for `--watch`, independent of the terminal.

use std::time::Duration;

/// Speeds in turns per second.
const SPEEDS: [f64; 10] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// Position in the films.
#[derive(Clone, PartialEq, Debug)]
pub struct Controls {
    /// Lengths of the films, in pictures.
    lengths: Vec<usize>,
    /// Index of the film.
    pub film: usize,
    /// Index of the picture.
    pub turn: usize,
    /// Whether the film is playing.
    pub playing: bool,
    speed: usize,
    /// Time since the last picture.
    waited: Duration,
    /// Number of lines scrolled down.
    pub scroll: u16,
    /// Whether ids are shown as numbers, in a game that can show them.
    pub numbers: bool,
}

/// Action of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Key {
    /// Play or pause.
    Toggle,
    /// One turn forward, and pause.
    Step,
    /// One turn back, and pause.
    Back,
    /// Increase the speed.
    Faster,
    /// Decrease the speed.
    Slower,
    /// Go to the start.
    First,
    /// Go to the end.
    Last,
    /// Go to the next film.
    NextFilm,
    /// Go to the previous film.
    PreviousFilm,
    /// Scroll down.
    Down,
    /// Scroll up.
    Up,
    /// Show ids as numbers or as letters.
    Numbers,
}

impl Controls {
    /// Starts with the first picture of the first film, playing.
    pub fn new(lengths: Vec<usize>) -> Self {
        // Long games start faster, so that none takes more than about two minutes.
        let turns = lengths.first().copied().unwrap_or(1) as f64;
        let speed = SPEEDS.iter().position(|s| turns / s < 120.0).unwrap_or(SPEEDS.len() - 1).max(1);
        Self {
            lengths,
            film: 0,
            turn: 0,
            playing: true,
            speed,
            waited: Duration::ZERO,
            scroll: 0,
            numbers: false,
        }
    }

    /// Adds a film after the last one.
    pub fn add_film(&mut self, length: usize) {
        if self.lengths.is_empty() {
            self.speed = Self::new(vec![length]).speed;
        }
        self.lengths.push(length);
    }

    /// Shows a film from its start.
    pub fn show_film(&mut self, film: usize) {
        self.film = film;
        self.turn = 0;
        self.playing = true;
        self.waited = Duration::ZERO;
    }

    /// Turns per second.
    pub fn speed(&self) -> f64 {
        SPEEDS[self.speed]
    }

    /// Index of the last picture.
    pub fn last(&self) -> usize {
        self.lengths.get(self.film).map_or(0, |len| len.saturating_sub(1))
    }

    /// Advances the time.
    pub fn tick(&mut self, time: Duration) {
        if !self.playing {
            return;
        }
        self.waited += time;
        let step = Duration::from_secs_f64(1.0 / self.speed());
        while self.waited >= step {
            self.waited -= step;
            self.turn = (self.turn + 1).min(self.last());
        }
        if self.turn == self.last() {
            self.pause();
        }
    }

    /// Handles a key.
    pub fn press(&mut self, key: Key) {
        match key {
            Key::Toggle if self.playing => self.pause(),
            Key::Toggle => {
                if self.turn == self.last() {
                    self.turn = 0;
                }
                self.playing = true;
            }
            Key::Step => self.go_to_turn(self.turn.saturating_add(1)),
            Key::Back => self.go_to_turn(self.turn.saturating_sub(1)),
            Key::Faster => self.speed = (self.speed + 1).min(SPEEDS.len() - 1),
            Key::Slower => self.speed = self.speed.saturating_sub(1),
            Key::First => self.go_to_turn(0),
            Key::Last => self.go_to_turn(self.last()),
            Key::NextFilm => self.go_to_film(self.film + 1),
            Key::PreviousFilm => self.go_to_film(self.film.saturating_sub(1)),
            Key::Down => self.scroll = self.scroll.saturating_add(1),
            Key::Up => self.scroll = self.scroll.saturating_sub(1),
            Key::Numbers => self.numbers = !self.numbers,
        }
    }

    fn pause(&mut self) {
        self.playing = false;
        self.waited = Duration::ZERO;
    }

    fn go_to_turn(&mut self, turn: usize) {
        self.pause();
        self.turn = turn.min(self.last());
    }

    fn go_to_film(&mut self, film: usize) {
        let film = film.min(self.lengths.len().saturating_sub(1));
        if film != self.film {
            self.show_film(film);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn film_plays_to_its_end_and_stops() {
        let mut controls = Controls::new(vec![4]);
        controls.tick(Duration::from_secs_f64(1.0 / controls.speed()));
        assert_eq!((controls.turn, controls.playing), (1, true));
        controls.tick(Duration::from_mins(1));
        assert_eq!((controls.turn, controls.playing), (3, false));
        controls.press(Key::Toggle);
        assert_eq!((controls.turn, controls.playing), (0, true), "play at the end restarts the film");
    }

    #[test]
    fn step_pauses_and_stays_within_the_film() {
        let mut controls = Controls::new(vec![3, 5]);
        for _ in 0..9 {
            controls.press(Key::Step);
        }
        assert_eq!((controls.turn, controls.playing), (2, false));
        controls.press(Key::Back);
        assert_eq!(controls.turn, 1);
        controls.press(Key::NextFilm);
        controls.press(Key::NextFilm);
        assert_eq!((controls.film, controls.turn, controls.last()), (1, 0, 4));
    }

    #[test]
    fn speed_stays_between_slowest_and_fastest() {
        let mut controls = Controls::new(vec![3]);
        for _ in 0..20 {
            controls.press(Key::Faster);
        }
        assert!((controls.speed() - 256.0).abs() < 1e-9);
        for _ in 0..20 {
            controls.press(Key::Slower);
        }
        assert!((controls.speed() - 0.5).abs() < 1e-9);
    }
}
