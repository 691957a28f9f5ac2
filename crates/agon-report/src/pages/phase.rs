//! `phase-N.html`: all data of a phase.

use agon_league::Entrant;

use super::{bracket_of, progress, standings_sections};
use crate::charts;
use crate::data::{PhaseReport, Report};
use crate::html::{Page, definition_list, html_escape, link, note, section};
use crate::lists::{GameFilter, faults, games};
use crate::matrix::matrix;
use crate::tables::PageLinks;
use crate::text_format::{capitalize, count, format_time};

/// Renders the page of a phase.
pub fn phase(report: &Report, phase: &PhaseReport) -> String {
    let path = phase.file();
    let links = PageLinks { report, root: "" };
    let names = |entrant: Entrant| links.marked(entrant);
    let plain = |entrant: Entrant| report.name_of(entrant);
    let parts = [
        ("head-to-head", "Head to head", phase.standings.as_ref().map(|it| matrix(it, &names, &plain))),
        (
            "scores",
            "Scores",
            phase.standings.as_ref().and_then(|it| Some(charts::histogram(it.histogram.as_ref()?, &names))),
        ),
        ("ratings", "Ratings", phase.standings.as_ref().map(|it| ratings(report, it, links))),
        ("times", "Time per move", Some(charts::think_times(&phase.think_times, &names))),
        ("balance", "Schedule balance", phase.balance.as_ref().map(|it| balance(it, &plain))),
        ("faults", "Faults", Some(faults(&phase.faults, links, true))),
        ("games", "Games", Some(games(phase, links, GameFilter::Listed))),
    ];
    let mut body = intro(phase);
    body += &contents(
        phase,
        &parts
            .iter()
            .filter(|(.., it)| it.as_ref().is_some_and(|it| !it.is_empty()))
            .map(|(id, title, _)| (*id, *title))
            .collect::<Vec<_>>(),
    );
    body += &bracket_of(report, phase, "");
    body += &standings_sections(phase, links, &|table| table.id != "head-to-head");
    for (id, title, inner) in parts {
        body += &section(id, title, &inner.unwrap_or_default());
    }
    let above = format!(
        "<p class=\"above\">{}</p>\n",
        link("summary.html", &crate::html::bidi_isolate(&report.name))
    );
    Page { report, path: &path, title: phase.name.clone(), above, body, viewer: None }.html()
}

fn intro(phase: &PhaseReport) -> String {
    definition_list(&[
        ("Format", html_escape(&phase.format)),
        ("State", phase.state.to_string()),
        ("Played", html_escape(&progress(phase))),
        ("Faults", count(phase.faults.total)),
        ("Started", phase.started.map_or_else(String::new, format_time)),
        ("Published", phase.published.map_or_else(String::new, format_time)),
        (
            "SHA-256 of the table",
            phase.table.as_deref().map_or_else(String::new, |hash| {
                format!("<code class=\"hash\">{}</code>", html_escape(hash))
            }),
        ),
    ])
}

/// Table of contents of the page.
fn contents(phase: &PhaseReport, parts: &[(&str, &str)]) -> String {
    let mut list: Vec<(&str, &str)> = Vec::new();
    list.extend(phase.bracket.as_ref().map(|_| ("bracket", "Bracket")));
    let tables = phase.standings.iter().flat_map(|standings| &standings.tables);
    list.extend(tables.filter(|table| table.id != "head-to-head").map(|table| (&*table.id, &*table.title)));
    list.extend(parts);
    let mut items = String::new();
    for (id, title) in list {
        items += &format!("<li>{}</li>\n", link(&format!("#{id}"), &html_escape(title)));
    }
    format!("<nav class=\"contents\" aria-label=\"On this page\">\n<ul>\n{items}</ul>\n</nav>\n")
}

/// Rating charts. Roles are rated separately, so each role has its own chart.
fn ratings(report: &Report, standings: &agon_league::standings::Standings, links: PageLinks<'_>) -> String {
    let names = |entrant: Entrant| links.marked(entrant);
    let explanation = note(
        "Ratings use the Elo scale; 1500 is the middle of the field. They do not depend on the order of games.",
    );
    let role = |entrant: Entrant| report.entrants.get(entrant.index()).and_then(|one| one.role);
    let mut text = String::new();
    if report.game.roles.len() > 1 && report.entrants.iter().all(|one| one.role.is_some()) {
        for known in report.game.roles {
            let own: Vec<_> = standings
                .ratings
                .iter()
                .filter(|one| role(one.entrant) == Some(known.name))
                .copied()
                .collect();
            let chart = charts::ratings(&own, &format!("{}s", known.name), &names);
            if !chart.is_empty() {
                text += &format!("<h3>{}s</h3>\n{chart}", html_escape(&capitalize(known.name)));
            }
        }
    } else {
        text = charts::ratings(&standings.ratings, "all", &names);
    }
    if text.is_empty() { text } else { text + &explanation }
}

/// The balance report: a sentence, then the values.
fn balance(report: &agon_league::format::BalanceReport, plain: &dyn Fn(Entrant) -> String) -> String {
    let lines = report.describe(plain);
    let mut list: Vec<(&str, String)> = Vec::new();
    for line in lines.iter().skip(1) {
        // The lines are written for a terminal. At least two spaces separate label and value.
        if let Some((what, is)) = line.split_once("  ") {
            list.push((what, html_escape(is.trim())));
        }
    }
    let first = lines.first().map_or_else(String::new, |line| format!("<p>{}.</p>\n", html_escape(line)));
    first + &definition_list(&list)
}
