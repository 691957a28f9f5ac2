//! Full-screen player for `--watch`.

use std::io;
use std::time::{Duration, Instant};

use agon_core::{GameInfo, Picture, Viewpoint};
use agon_engine::Film;
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{LineGauge, Paragraph};

use super::controls::{Controls, Key};
use super::{caption, paint, title};
use crate::logging::LogRedirect;
use crate::output;

const HELP: &str = "space play/pause  ←/→ step  +/- speed  home/end  ↑/↓ scroll  n/p game  q quit";
/// Added to the help in a game whose ids can be shown as numbers.
const NUMBERS_HELP: &str = "  i ids as numbers";

/// Shows films until the user quits. Always restores the terminal.
pub fn run(info: &GameInfo, films: &[Box<dyn Film>], numbers: bool) -> io::Result<()> {
    let _log_redirect = LogRedirect::hold();
    let mut terminal = ratatui::try_init()?;
    let mut controls = Controls::new(films.iter().map(|film| film.len()).collect());
    controls.numbers = numbers;
    let mut last = Instant::now();
    let result = loop {
        if controls.film >= films.len() {
            break Ok(());
        }
        if let Err(error) = terminal.draw(|frame| draw(frame, info, films, &mut controls)) {
            break Err(error);
        }
        match next_key() {
            Ok(Pressed::Quit | Pressed::Interrupt) => break Ok(()),
            Ok(Pressed::Key(key)) => controls.press(key),
            Ok(Pressed::Nothing) => {}
            Err(error) => break Err(error),
        }
        controls.tick(last.elapsed());
        last = Instant::now();
    };
    ratatui::try_restore()?;
    result
}

/// What the user wants.
pub enum Pressed {
    Quit,
    /// CTRL-C, which is a key in this mode of the terminal.
    Interrupt,
    Key(Key),
    Nothing,
}

/// Waits up to 1/60 s for a key.
pub fn next_key() -> io::Result<Pressed> {
    if !event::poll(Duration::from_millis(16))? {
        return Ok(Pressed::Nothing);
    }
    let Event::Key(key) = event::read()? else { return Ok(Pressed::Nothing) };
    if key.kind == KeyEventKind::Release {
        return Ok(Pressed::Nothing);
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    Ok(match key.code {
        KeyCode::Char('c') if control => Pressed::Interrupt,
        KeyCode::Char('q') | KeyCode::Esc => Pressed::Quit,
        KeyCode::Char(' ') => Pressed::Key(Key::Toggle),
        KeyCode::Right | KeyCode::Char('l' | '.') => Pressed::Key(Key::Step),
        KeyCode::Left | KeyCode::Char('h' | ',') => Pressed::Key(Key::Back),
        KeyCode::Char('+' | '=' | 'f') => Pressed::Key(Key::Faster),
        KeyCode::Char('-' | 's') => Pressed::Key(Key::Slower),
        KeyCode::Home => Pressed::Key(Key::First),
        KeyCode::End => Pressed::Key(Key::Last),
        KeyCode::Char('i') => Pressed::Key(Key::Numbers),
        KeyCode::Char('n') => Pressed::Key(Key::NextFilm),
        KeyCode::Char('p') => Pressed::Key(Key::PreviousFilm),
        KeyCode::Down | KeyCode::Char('j') => Pressed::Key(Key::Down),
        KeyCode::Up | KeyCode::Char('k') => Pressed::Key(Key::Up),
        _ => Pressed::Nothing,
    })
}

/// What one screen shows.
pub struct Shown<'s> {
    /// Names of the game and the bots.
    pub heading: String,
    /// The position.
    pub picture: &'s Picture,
    /// A fault, or nothing.
    pub fault: String,
    /// Text before the bar.
    pub label: String,
    /// Share of the bar that is filled.
    pub ratio: f64,
    /// The line of keys.
    pub help: String,
}

/// The line of keys, in a game whose ids can be shown as numbers with the key for that.
pub fn help_line(keys: &str, has_numbers: bool) -> String {
    format!("{keys}{}", if has_numbers { NUMBERS_HELP } else { "" })
}

/// Draws the current film at its current turn.
pub fn draw(frame: &mut Frame<'_>, info: &GameInfo, films: &[Box<dyn Film>], controls: &mut Controls) {
    let Some(film) = films.get(controls.film).map(AsRef::as_ref) else { return };
    let number = if films.len() > 1 {
        format!(" (game {} of {})", controls.film + 1, films.len())
    } else {
        String::new()
    };
    let fault = film.faults(controls.turn).first().map(|f| {
        let name = film.record().header.seats.get(f.seat.index()).map_or("", |seat| seat.name.as_str());
        format!("fault: {name}: {}: {}", f.report.fault, f.report.message)
    });
    let state = if controls.playing { "▶" } else { "⏸" };
    let shown = Shown {
        heading: format!("{}{number}: {}", info.title, title(film)),
        picture: &super::picture(info, films, controls.film, controls.turn, controls.numbers),
        fault: fault.unwrap_or_default(),
        label: format!("{state} {} at {}/s ", caption(controls.turn, controls.last()), controls.speed()),
        ratio: controls.turn as f64 / controls.last().max(1) as f64,
        help: help_line(HELP, film.picture_with_numbers(0, Viewpoint::All).is_some()),
    };
    draw_shown(frame, shown, &mut controls.scroll);
}

/// Draws one screen.
pub fn draw_shown(frame: &mut Frame<'_>, shown: Shown<'_>, scroll: &mut u16) {
    let [head, body, faults, gauge, help] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(Line::styled(shown.heading, Style::default().add_modifier(Modifier::BOLD)), head);

    let text = paint::text(shown.picture, output::colour());
    *scroll = (*scroll).min((text.height() as u16).saturating_sub(body.height));
    frame.render_widget(Paragraph::new(text).scroll((*scroll, 0)), body);
    frame.render_widget(Line::from(shown.fault), faults);
    frame.render_widget(
        LineGauge::default()
            .filled_symbol("━")
            .unfilled_symbol("─")
            .label(shown.label)
            .ratio(shown.ratio.clamp(0.0, 1.0)),
        gauge,
    );
    frame.render_widget(Line::styled(shown.help, Style::default().add_modifier(Modifier::DIM)), help);
}

#[cfg(test)]
mod tests {
    use agon_core::record::{Recorder, read_all};
    use agon_core::{Assets, Seat, Settings};
    use agon_engine::any_game::{MatchSetup, hooks_with_recorder};
    use agon_engine::{PlayerSpec, any_game};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    /// A film of a game between the weakest house bots.
    fn film(id: &str) -> (&'static GameInfo, Box<dyn Film>) {
        let table = any_game(id).unwrap();
        let info = table.info();
        let weakest = |seat: Seat| {
            let bots = table.house_bots();
            let bot = bots.iter().find(|bot| bot.roles.contains(&info.role(seat).name)).unwrap();
            PlayerSpec::House(bot.name.to_owned())
        };
        let seats: Vec<PlayerSpec> = Seat::all(info.seats.min).map(weakest).collect();
        let settings = Settings::defaults(info.settings);
        let plan = MatchSetup { settings: &settings, seed: 7, seats: &seats, assets: &Assets::none() };
        let (mut recorder, mut file) = (Recorder::new(), Vec::new());
        let mut keep = |played: agon_engine::PlayedGame| file = played.record.unwrap().0;
        table.play(&plan, 0..1, &mut hooks_with_recorder(Some(&mut recorder)), &mut keep).unwrap();
        let record = read_all(&file).unwrap().remove(0);
        (info, table.film(record, &Assets::none()).unwrap())
    }

    fn screen(info: &GameInfo, film: &[Box<dyn Film>], turn: usize, width: u16, height: u16) -> String {
        screen_after(info, film, turn, (width, height), &[])
    }

    /// The screen after some keys.
    fn screen_after(
        info: &GameInfo,
        film: &[Box<dyn Film>],
        turn: usize,
        (width, height): (u16, u16),
        keys: &[Key],
    ) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let mut controls = Controls::new(film.iter().map(|film| film.len()).collect());
        controls.turn = turn;
        for &key in keys {
            controls.press(key);
        }
        terminal.draw(|frame| draw(frame, info, film, &mut controls)).unwrap();
        let buffer = terminal.backend().buffer();
        let row = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..height).map(row).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn screen_of_every_game_shows_the_current_turn() {
        for info in agon_games::infos() {
            let (info, film) = film(info.id);
            let film = [film];
            let last = film[0].len() - 1;
            let end = screen(info, &film, last, 100, 45);
            assert!(end.contains(info.title), "{end}");
            assert!(end.contains(&format!("turn {last} of {last}")), "{end}");
            assert!(end.contains("space play/pause"), "{end}");
            assert_ne!(end, screen(info, &film, 0, 100, 45), "something happened");
            let height = film[0].picture(last, Viewpoint::All).lines.len();
            assert!(height <= 41, "{}: {height} lines", info.id);
        }
    }

    #[test]
    fn tiny_terminal_does_not_panic() {
        let (info, film) = film("connect-five");
        for (width, height) in [(1, 1), (10, 3), (40, 6)] {
            screen(info, std::slice::from_ref(&film), 1, width, height);
        }
    }

    #[test]
    fn ids_are_shown_as_numbers_after_the_key_i() {
        let (info, film) = film("colour-battle");
        let film = [film];
        let last = film[0].len() - 1;
        let size = (120, 45);
        let numbers = screen_after(info, &film, last, size, &[Key::Numbers]);
        let board: Vec<&str> = numbers.lines().filter(|line| line.contains('│')).collect();
        let digits = |line: &str| line.chars().filter(char::is_ascii_digit).count();
        assert!(board.iter().any(|line| digits(line) > 10), "{numbers}");
        assert!(numbers.contains("i ids as numbers"), "{numbers}");
        let letters = screen_after(info, &film, last, size, &[Key::Numbers, Key::Numbers]);
        assert_eq!(letters, screen(info, &film, last, size.0, size.1));
        assert_ne!(letters, numbers);
    }
}
