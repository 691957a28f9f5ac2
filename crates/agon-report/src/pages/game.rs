//! `games/...html`: one game, played by the replay viewer.

use crate::data::{GameLine, PhaseReport, Report, SeatLine};
use crate::html::{
    HtmlTable, Page, Viewer, bidi_isolate, definition_list, html_escape, link, number_column, path_to_root,
    section, text_column,
};
use crate::tables::PageLinks;
use crate::text_format::trim_number;

/// Maximum number of names in the heading.
const MAX_NAMES_IN_TITLE: usize = 4;

/// The previous and next games that have a page.
#[derive(Clone, Copy, Default)]
pub struct AdjacentGames<'g> {
    /// The previous game.
    pub before: Option<&'g GameLine>,
    /// The next game.
    pub after: Option<&'g GameLine>,
}

/// Renders the page of a game. `mount` is the HTML element in which the viewer shows the film.
pub fn game(
    report: &Report,
    phase: &PhaseReport,
    game: &GameLine,
    beside: AdjacentGames<'_>,
    viewer: Viewer<'_>,
    mount: &str,
) -> String {
    let path = game.file();
    let links = PageLinks { report, root: path_to_root(&path) };
    let names: Vec<String> = game.seats.iter().map(|seat| report.name_of(seat.entrant)).collect();
    let title = if names.len() > MAX_NAMES_IN_TITLE {
        format!("{} bots, match {}", names.len(), game.number())
    } else {
        names.join(" - ")
    };
    let mut body =
        format!("<noscript><p>Replays need JavaScript.</p></noscript>\n<div class=\"film\">{mount}</div>\n");
    body += &adjacent_links(beside);
    body += &section("result", "Result", &(result(game, links) + &about(phase, game, links)));
    let phase_link = link(&format!("../{}", phase.file()), &bidi_isolate(&phase.name));
    let above = format!(
        "<p class=\"above\">{} · {phase_link}</p>\n",
        link("../summary.html", &bidi_isolate(&report.name))
    );
    Page { report, path: &path, title, above, body, viewer: Some(viewer) }.html()
}

fn about(phase: &PhaseReport, game: &GameLine, links: PageLinks<'_>) -> String {
    definition_list(&[
        ("Phase", link(&format!("{}{}", links.root, phase.file()), &bidi_isolate(&phase.name))),
        ("Match", html_escape(&game.number())),
        ("Stage", html_escape(&game.stage)),
        ("Turns", game.turns.to_string()),
        ("Ended", html_escape(&game.ended)),
        ("Chosen as", html_escape(&game.reasons.join(", "))),
    ])
}

fn result(game: &GameLine, links: PageLinks<'_>) -> String {
    let score = links.report.game.score;
    let row = |seat: &SeatLine| {
        let mut row =
            vec![seat.place.to_string(), links.marked(seat.entrant), trim_number(seat.score, score.decimals)];
        row.extend(seat.beside.map(|value| trim_number(value, 2)));
        row
    };
    let unit = if score.unit.is_empty() {
        score.name.to_owned()
    } else {
        format!("{} [{}]", score.name, score.unit)
    };
    let mut titles = vec![number_column("Place"), text_column("Name"), number_column(&unit)];
    titles.extend(links.report.game.stat_beside_score().map(|(_, stat)| number_column(stat.name)));
    HtmlTable { caption: "Result", titles, row_header: 1, rows: game.best_first().iter().map(row).collect() }
        .html()
}

/// Links to the previous and the next game.
fn adjacent_links(beside: AdjacentGames<'_>) -> String {
    let one = |game: Option<&GameLine>, arrows: [&str; 2]| {
        game.map_or_else(String::new, |game| {
            let name = game.file().trim_start_matches("games/").to_owned();
            link(&name, &format!("{}Match {}{}", arrows[0], html_escape(&game.number()), arrows[1]))
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
