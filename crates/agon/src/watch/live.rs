//! `agon play --watch` in a terminal: shows the current game after each turn. Finished games can be watched again.

use std::sync::atomic::AtomicU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agon_bots::Diagnostic;
use agon_core::record::Record;
use agon_core::sanitize::one_line;
use agon_core::{GameInfo, Picture, Viewpoint};
use agon_engine::{Film, GameEvent, PositionView, Reporter};
use ratatui::Frame;

use super::controls::{Controls, Key};
use super::screen::{self, Pressed, Shown};
use crate::logging::LogRedirect;
use crate::stop_requests;

/// A game that was played in less time is shown again from its start, because the user could not follow it.
const MIN_FOLLOWED_TIME: Duration = Duration::from_secs(5);
/// The line of keys while a game is played.
const LIVE_HELP: &str = "live  ↑/↓ scroll  n/p game  q close the view, the games are played on";

/// Games of a series: those that are finished, and the one that is being played.
#[derive(Default)]
pub struct WatchedSeries(Mutex<WatchedState>);

#[derive(Default)]
struct WatchedState {
    current: Option<WatchedGame>,
    /// Finished games that the viewer has not taken yet.
    finished: Vec<Record>,
    all_played: bool,
}

/// The game that is being played.
struct WatchedGame {
    /// Names of the bots, and the seed.
    title: String,
    turn: u32,
    pictures: LivePictures,
    /// The last fault.
    fault: String,
}

/// Pictures of a position. The user can change from one to the other at any time.
struct LivePictures {
    letters: Picture,
    /// With ids as numbers, in a game that has such a picture.
    numbers: Option<Picture>,
}

impl LivePictures {
    fn of(view: &dyn PositionView) -> Self {
        Self { letters: view.picture(Viewpoint::All), numbers: view.picture_with_numbers(Viewpoint::All) }
    }

    fn shown(&self, numbers: bool) -> &Picture {
        self.numbers.as_ref().filter(|_| numbers).unwrap_or(&self.letters)
    }
}

impl WatchedSeries {
    /// A reporter for the games of one thread.
    pub fn reporter(&self) -> impl Reporter + '_ {
        ScreenReporter { games: self, names: Vec::new() }
    }

    /// Adds games that are over.
    pub fn add_finished(&self, records: Vec<Record>) {
        self.lock().finished.extend(records);
    }

    /// No more games follow.
    pub fn set_all_played(&self) {
        let mut state = self.lock();
        state.all_played = true;
        state.current = None;
    }

    fn lock(&self) -> MutexGuard<'_, WatchedState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct ScreenReporter<'l> {
    games: &'l WatchedSeries,
    names: Vec<String>,
}

impl Reporter for ScreenReporter<'_> {
    fn event(&mut self, event: &GameEvent<'_>) {
        match event {
            GameEvent::Started { header, view, .. } => {
                self.names = header.seats.iter().map(|seat| one_line(&seat.name)).collect();
                let title = format!("{}, seed {}", self.names.join(" - "), header.seed);
                let pictures = LivePictures::of(*view);
                self.games.lock().current =
                    Some(WatchedGame { title, turn: 0, pictures, fault: String::new() });
            }
            GameEvent::Turn { turn, view, .. } => {
                let pictures = LivePictures::of(*view);
                if let Some(current) = &mut self.games.lock().current {
                    (current.turn, current.pictures) = (*turn, pictures);
                }
            }
            GameEvent::Fault { fault, .. } => {
                let name = self.names.get(fault.seat.index()).map_or("", String::as_str);
                let text =
                    format!("turn {}: {name}: {}: {}", fault.turn, fault.report.fault, fault.report.message);
                if let Some(current) = &mut self.games.lock().current {
                    current.fault = text;
                }
            }
            GameEvent::Over { .. } => self.games.lock().current = None,
        }
    }
}

/// The viewer: finished games as films, and perhaps the current game after them.
struct SeriesViewer<'v> {
    info: &'v GameInfo,
    films: Vec<Box<dyn Film>>,
    controls: Controls,
    /// Whether the current game is shown, and since when.
    following: Option<Instant>,
}

/// Shows the games until the user quits or stops the series. Always restores the terminal. `numbers`: with ids as numbers, in a game
/// that can show them.
pub fn watch(
    info: &GameInfo,
    games: &WatchedSeries,
    numbers: bool,
    stop: &AtomicU32,
    make_film: &dyn Fn(Record) -> Result<Box<dyn Film>, Diagnostic>,
) -> Result<(), Diagnostic> {
    let _log_redirect = LogRedirect::hold();
    let mut terminal = ratatui::try_init()?;
    let mut controls = Controls::new(Vec::new());
    controls.numbers = numbers;
    let mut viewer = SeriesViewer { info, films: Vec::new(), controls, following: Some(Instant::now()) };
    let result = viewer.run(&mut terminal, games, stop, make_film);
    ratatui::try_restore()?;
    result
}

impl SeriesViewer<'_> {
    fn run(
        &mut self,
        terminal: &mut ratatui::DefaultTerminal,
        games: &WatchedSeries,
        stop: &AtomicU32,
        make_film: &dyn Fn(Record) -> Result<Box<dyn Film>, Diagnostic>,
    ) -> Result<(), Diagnostic> {
        let mut last = Instant::now();
        while !stop_requests::any(stop) {
            self.take_finished(games, make_film)?;
            terminal.draw(|frame| self.draw(frame, &games.lock()))?;
            match screen::next_key()? {
                Pressed::Quit => break,
                Pressed::Interrupt => stop_requests::add(stop),
                Pressed::Key(key) => self.press(key),
                Pressed::Nothing => {}
            }
            if self.following.is_none() {
                self.controls.tick(last.elapsed());
            }
            last = Instant::now();
        }
        Ok(())
    }

    /// Turns finished games into films. If the user followed the last one, its end stays until the next game starts.
    fn take_finished(
        &mut self,
        games: &WatchedSeries,
        make_film: &dyn Fn(Record) -> Result<Box<dyn Film>, Diagnostic>,
    ) -> Result<(), Diagnostic> {
        let (records, all_played) = {
            let mut state = games.lock();
            (std::mem::take(&mut state.finished), state.all_played)
        };
        for record in records {
            let film = make_film(record)?;
            self.controls.add_film(film.len());
            self.films.push(film);
            if let Some(since) = self.following {
                self.controls.show_film(self.films.len() - 1);
                if since.elapsed() < MIN_FOLLOWED_TIME {
                    self.following = None;
                } else {
                    self.controls.press(Key::Last);
                    self.following = Some(Instant::now());
                }
            }
        }
        if all_played {
            self.following = None;
        }
        Ok(())
    }

    /// Handles a key. The current game comes after the last film.
    fn press(&mut self, key: Key) {
        match (key, self.following) {
            (Key::PreviousFilm, Some(_)) if !self.films.is_empty() => {
                self.following = None;
                self.controls.show_film(self.films.len() - 1);
            }
            (Key::NextFilm, None) if self.controls.film + 1 >= self.films.len() => {
                self.following = Some(Instant::now());
            }
            (Key::Up | Key::Down | Key::Numbers, _) | (_, None) => self.controls.press(key),
            _ => {}
        }
    }

    fn draw(&mut self, frame: &mut Frame<'_>, state: &WatchedState) {
        let live = state.current.as_ref().filter(|_| self.following.is_some());
        if let Some(current) = live {
            let shown = Shown {
                heading: format!("{} (game {}): {}", self.info.title, self.films.len() + 1, current.title),
                picture: current.pictures.shown(self.controls.numbers),
                fault: current.fault.clone(),
                label: format!("● turn {} ", current.turn),
                ratio: 1.0,
                help: screen::help_line(LIVE_HELP, current.pictures.numbers.is_some()),
            };
            screen::draw_shown(frame, shown, &mut self.controls.scroll);
        } else {
            screen::draw(frame, self.info, &self.films, &mut self.controls);
        }
    }
}
