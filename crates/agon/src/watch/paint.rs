//! Renders pictures in colour: as ANSI text, or for ratatui.

use agon_core::picture::{PaletteColor, Picture, Span, Style};
use ratatui::style::{Color, Modifier, Style as TuiStyle};
use ratatui::text::{Line, Span as TuiSpan, Text};

/// Twenty distinct colours, most of them light enough for black letters.
/// The hues are spread by the golden angle, and the lightness alternates.
const SEAT_COLOURS: [Rgb; 20] = [
    (230, 90, 80),
    (80, 150, 240),
    (240, 190, 60),
    (90, 190, 110),
    (190, 110, 220),
    (60, 200, 200),
    (250, 140, 50),
    (240, 140, 180),
    (150, 200, 60),
    (130, 120, 230),
    (180, 130, 90),
    (160, 220, 240),
    (200, 60, 130),
    (40, 140, 90),
    (230, 220, 140),
    (110, 170, 190),
    (250, 180, 150),
    (120, 90, 160),
    (170, 230, 180),
    (150, 150, 150),
];

type Rgb = (u8, u8, u8);

fn rgb(ink: PaletteColor) -> Option<Rgb> {
    match ink {
        PaletteColor::Plain => None,
        PaletteColor::Seat(i) => Some(SEAT_COLOURS[i as usize % SEAT_COLOURS.len()]),
        PaletteColor::Faint => Some((130, 130, 130)),
        PaletteColor::Good => Some((90, 200, 100)),
        PaletteColor::Bad => Some((240, 80, 80)),
        PaletteColor::Accent => Some((250, 210, 80)),
    }
}

/// Foreground and background of a style. On a coloured background the foreground is black or white, whichever is legible.
pub fn colours(style: Style) -> (Option<Rgb>, Option<Rgb>) {
    let paper = rgb(style.background);
    let ink = rgb(style.color).or_else(|| {
        let (r, g, b) = paper?;
        let light = 299 * u32::from(r) + 587 * u32::from(g) + 114 * u32::from(b) > 110_000;
        Some(if light { (0, 0, 0) } else { (255, 255, 255) })
    });
    (ink, paper)
}

/// The picture as text, with ANSI colours or plain.
pub fn ansi(picture: &Picture, colour: bool) -> String {
    if !colour {
        return picture.plain();
    }
    let mut text = String::new();
    for line in &picture.lines {
        for span in line {
            text += &ansi_span(span);
        }
        text.push('\n');
    }
    text
}

fn ansi_span(span: &Span) -> String {
    let (ink, paper) = colours(span.style);
    let mut codes = Vec::new();
    codes.extend(span.style.bold.then(|| "1".to_owned()));
    codes.extend(ink.map(|(r, g, b)| format!("38;2;{r};{g};{b}")));
    codes.extend(paper.map(|(r, g, b)| format!("48;2;{r};{g};{b}")));
    if codes.is_empty() {
        span.text.clone()
    } else {
        format!("\x1b[{}m{}\x1b[0m", codes.join(";"), span.text)
    }
}

/// The picture for ratatui.
pub fn text(picture: &Picture, colour: bool) -> Text<'static> {
    let style = |style: Style| {
        let mut tui = TuiStyle::default();
        if style.bold {
            tui = tui.add_modifier(Modifier::BOLD);
        }
        if colour {
            let (ink, paper) = colours(style);
            tui.fg = ink.map(|(r, g, b)| Color::Rgb(r, g, b));
            tui.bg = paper.map(|(r, g, b)| Color::Rgb(r, g, b));
        }
        tui
    };
    let line = |line: &Vec<Span>| {
        Line::from(line.iter().map(|s| TuiSpan::styled(s.text.clone(), style(s.style))).collect::<Vec<_>>())
    };
    Text::from(picture.lines.iter().map(line).collect::<Vec<_>>())
}
