//! What the keys do to a film, apart from any terminal.

use std::time::Duration;

/// Turns a second, from slow to fast.
const SPEEDS: [f64; 10] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// Where in which film we are.
#[derive(Clone, PartialEq, Debug)]
pub struct Controls {
    /// Lengths of the films, in pictures.
    lengths: Vec<usize>,
    /// Which film.
    pub film: usize,
    /// Which picture of it.
    pub turn: usize,
    /// Whether it runs.
    pub playing: bool,
    speed: usize,
    /// Time since the last picture.
    waited: Duration,
    /// Lines scrolled down.
    pub scroll: u16,
}

/// What a key means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Key {
    /// Play or pause.
    Toggle,
    /// One turn on, and pause.
    Step,
    /// One turn back, and pause.
    Back,
    /// Faster.
    Faster,
    /// Slower.
    Slower,
    /// To the start.
    First,
    /// To the end.
    Last,
    /// The next film.
    NextFilm,
    /// The film before.
    PreviousFilm,
    /// Scroll down.
    Down,
    /// Scroll up.
    Up,
}

impl Controls {
    /// At the start of the first film, running.
    pub fn new(lengths: Vec<usize>) -> Self {
        // Long games start faster, so that none takes more than about two minutes.
        let turns = lengths.first().copied().unwrap_or(1) as f64;
        let speed = SPEEDS.iter().position(|s| turns / s < 120.0).unwrap_or(SPEEDS.len() - 1).max(1);
        Self { lengths, film: 0, turn: 0, playing: true, speed, waited: Duration::ZERO, scroll: 0 }
    }

    /// Turns a second.
    pub fn speed(&self) -> f64 {
        SPEEDS[self.speed]
    }

    /// The number of the last picture.
    pub fn last(&self) -> usize {
        self.lengths.get(self.film).map_or(0, |len| len.saturating_sub(1))
    }

    /// Time goes by.
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

    /// A key is pressed.
    pub fn press(&mut self, key: Key) {
        match key {
            Key::Toggle if self.playing => self.pause(),
            Key::Toggle => {
                if self.turn == self.last() {
                    self.turn = 0;
                }
                self.playing = true;
            }
            Key::Step => self.go(self.turn.saturating_add(1)),
            Key::Back => self.go(self.turn.saturating_sub(1)),
            Key::Faster => self.speed = (self.speed + 1).min(SPEEDS.len() - 1),
            Key::Slower => self.speed = self.speed.saturating_sub(1),
            Key::First => self.go(0),
            Key::Last => self.go(self.last()),
            Key::NextFilm => self.choose(self.film + 1),
            Key::PreviousFilm => self.choose(self.film.saturating_sub(1)),
            Key::Down => self.scroll = self.scroll.saturating_add(1),
            Key::Up => self.scroll = self.scroll.saturating_sub(1),
        }
    }

    fn pause(&mut self) {
        self.playing = false;
        self.waited = Duration::ZERO;
    }

    fn go(&mut self, turn: usize) {
        self.pause();
        self.turn = turn.min(self.last());
    }

    fn choose(&mut self, film: usize) {
        let film = film.min(self.lengths.len().saturating_sub(1));
        if film != self.film {
            self.film = film;
            self.turn = 0;
            self.playing = true;
            self.waited = Duration::ZERO;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_film_runs_to_its_end_and_stops() {
        let mut controls = Controls::new(vec![4]);
        controls.tick(Duration::from_secs_f64(1.0 / controls.speed()));
        assert_eq!((controls.turn, controls.playing), (1, true));
        controls.tick(Duration::from_mins(1));
        assert_eq!((controls.turn, controls.playing), (3, false));
        controls.press(Key::Toggle);
        assert_eq!((controls.turn, controls.playing), (0, true), "play at the end starts again");
    }

    #[test]
    fn stepping_pauses_and_stays_inside() {
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
    fn speed_has_two_ends() {
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
