//! `games/...html`: one game, played by the replay viewer.

use crate::data::{GameLine, PhaseReport, Report, SeatLine};
use crate::html::{HtmlTable, Page, Viewer, bidi_isolate, escaped, definition_list, link, number, section, path_to_root, words};
use crate::tables::PageLinks;
use crate::text_format::trim_number;

/// So many names fit a heading.
const NAMED: usize = 4;

/// Its neighbours among the pages.
#[derive(Clone, Copy, Default)]
pub struct Beside<'g> {
    /// The one before.
    pub before: Option<&'g GameLine>,
    /// The one after.
    pub after: Option<&'g GameLine>,
}

/// The page. `mount` is the place where the viewer shows the film, as HTML.
pub fn game(
    report: &Report,
    phase: &PhaseReport,
    game: &GameLine,
    beside: Beside<'_>,
    viewer: Viewer<'_>,
    mount: &str,
) -> String {
    let path = game.file();
    let ways = PageLinks { report, up: path_to_root(&path) };
    let names: Vec<String> = game.seats.iter().map(|seat| report.name_of(seat.entrant)).collect();
    let title = if names.len() > NAMED {
        format!("{} bots, match {}", names.len(), game.number())
    } else {
        names.join(" - ")
    };
    let mut body = format!(
        "<noscript><p>A replay plays in the browser and needs JavaScript.</p></noscript>\n<div class=\"film\">{mount}</div>\n"
    );
    body += &turn_pages(beside);
    body += &section("result", "Result", &(result(game, ways) + &about(phase, game, ways)));
    let phase_link = link(&format!("../{}", phase.file()), &bidi_isolate(&phase.name));
    let above =
        format!("<p class=\"above\">{} · {phase_link}</p>\n", link("../summary.html", &bidi_isolate(&report.name)));
    Page { report, path: &path, title, above, body, viewer: Some(viewer) }.html()
}

fn about(phase: &PhaseReport, game: &GameLine, ways: PageLinks<'_>) -> String {
    definition_list(&[
        ("Phase", link(&format!("{}{}", ways.up, phase.file()), &bidi_isolate(&phase.name))),
        ("Match", escaped(&game.number())),
        ("Stage", escaped(&game.stage)),
        ("Turns", game.turns.to_string()),
        ("Ended", escaped(&game.ended)),
        ("Chosen as", escaped(&game.why.join(", "))),
    ])
}

fn result(game: &GameLine, ways: PageLinks<'_>) -> String {
    let score = ways.report.game.score;
    let row = |seat: &SeatLine| {
        vec![seat.place.to_string(), ways.marked(seat.entrant), trim_number(seat.score, score.decimals)]
    };
    let unit = if score.unit.is_empty() {
        score.name.to_owned()
    } else {
        format!("{} [{}]", score.name, score.unit)
    };
    let titles = vec![number("Place"), words("Name"), number(&unit)];
    HtmlTable { caption: "Result", titles, head: 1, rows: game.best_first().iter().map(row).collect() }.html()
}

/// To the game before and the one after.
fn turn_pages(beside: Beside<'_>) -> String {
    let one = |game: Option<&GameLine>, arrows: [&str; 2]| {
        game.map_or_else(String::new, |game| {
            let name = game.file().trim_start_matches("games/").to_owned();
            link(&name, &format!("{}Match {}{}", arrows[0], escaped(&game.number()), arrows[1]))
        })
    };
    let (before, after) = (one(beside.before, ["← ", ""]), one(beside.after, ["", " →"]));
    if before.is_empty() && after.is_empty() {
        return String::new();
    }
    format!(
        "<nav class=\"turn\" aria-label=\"Other replays\"><span>{before}</span><span>{after}</span></nav>\n"
    )
}
