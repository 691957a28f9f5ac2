//! A film as one page of HTML that opens from disk: the terminal's pictures, with buttons.

use std::collections::HashMap;

use agon_core::picture::{Span, Style};
use agon_core::{Eye, GameInfo};
use agon_engine::Film;
use serde_json::{Value as Json, json};

use super::{paint, title};

const TEMPLATE: &str = include_str!("page.html");
/// Longer games leave out turns, so that the page still opens at once.
const MOST_FRAMES: usize = 1_200;

/// The page. Names and words of bots are data to it, never markup.
pub fn page(info: &GameInfo, film: &dyn Film) -> String {
    let mut reel = Reel::default();
    let last = film.len() - 1;
    let step = last / MOST_FRAMES + 1;
    let shown = (0..=last)
        .filter(|turn| turn.is_multiple_of(step) || *turn == last || !film.faults(*turn).is_empty());
    let frames: Vec<Json> = shown.map(|turn| reel.frame(film, turn)).collect();
    let record = film.record();
    let film = json!({
        "title": format!("{}: {}", info.title, title(film)),
        "about": format!("rules version {}, digest {}", record.header.rules, record.digest),
        "ended": format!("Ended: {}", record.outcome.ended),
        "turns": last,
        "styles": reel.styles_json(),
        "lines": reel.lines,
        "frames": frames,
    });
    // Inside a script element only `<` could end the data.
    TEMPLATE.replacen("FILM", &film.to_string().replace('<', "\\u003c"), 1)
}

/// Lines and styles seen so far: most lines of a game stay as they are from turn to turn.
#[derive(Default)]
struct Reel {
    styles: Vec<Style>,
    lines: Vec<Json>,
    numbers: HashMap<String, usize>,
    rows: Vec<usize>,
}

impl Reel {
    fn frame(&mut self, film: &dyn Film, turn: usize) -> Json {
        let picture = film.picture(turn, Eye::All);
        let rows: Vec<usize> = picture.lines.iter().map(|line| self.line(line)).collect();
        let changed: Vec<usize> = rows
            .iter()
            .enumerate()
            .filter(|(i, line)| self.rows.get(*i) != Some(line))
            .flat_map(|(i, line)| [i, *line])
            .collect();
        self.rows = rows;
        let mut frame = json!({"turn": turn, "height": self.rows.len(), "rows": changed});
        if let Some(fault) = film.faults(turn).first() {
            frame["fault"] =
                json!(format!("seat {}: {}: {}", fault.seat, fault.report.fault, fault.report.says));
        }
        frame
    }

    /// The number of a line: style, text, style, text, ...
    fn line(&mut self, spans: &[Span]) -> usize {
        let mut line: Vec<Json> = Vec::new();
        for span in spans {
            let known = self.styles.iter().position(|style| *style == span.style);
            let style = known.unwrap_or_else(|| {
                self.styles.push(span.style);
                self.styles.len() - 1
            });
            line.extend([json!(style), json!(span.text)]);
        }
        let line = Json::Array(line);
        let next = self.lines.len();
        let number = *self.numbers.entry(line.to_string()).or_insert(next);
        if number == next {
            self.lines.push(line);
        }
        number
    }

    fn styles_json(&self) -> Vec<Json> {
        let css = |colour: Option<(u8, u8, u8)>| colour.map(|(r, g, b)| format!("rgb({r},{g},{b})"));
        let style = |style: &Style| {
            let (ink, paper) = paint::colours(*style);
            json!({"ink": css(ink), "paper": css(paper), "bold": style.bold})
        };
        self.styles.iter().map(style).collect()
    }
}
