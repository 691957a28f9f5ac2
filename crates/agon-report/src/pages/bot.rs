//! `bots/NN-name.html`: an entrant, its versions and its results.

use agon_league::Entrant;

use crate::data::Report;
use crate::html::{
    HtmlTable, Page, bidi_isolate, definition_list, html_escape, link, note, number_column, path_to_root,
    section, text_column,
};
use crate::lists::{GameFilter, faults, games};
use crate::tables::{self, PageLinks};
use crate::text_format::{count, html_duration};

/// Renders the page of an entrant.
pub fn bot(report: &Report, entrant: Entrant) -> String {
    let path = report.bot_file(entrant);
    let links = PageLinks { report, root: path_to_root(&path) };
    let about = report.entrants.get(entrant.index()).cloned().unwrap_or_default();
    let marks: Vec<String> = about.marks.iter().map(|(mark, _)| bidi_isolate(mark)).collect();
    let mut body = definition_list(&[
        ("Contributor", about.contributor.as_deref().map_or_else(String::new, bidi_isolate)),
        ("Role", html_escape(about.role.unwrap_or_default())),
        ("Marks", marks.join(", ")),
        ("Faults", count(about.faults.total)),
    ]);
    for (mark, text) in about.marks.iter().filter_map(|(mark, text)| Some((mark, text.as_ref()?))) {
        body += &note(&format!("{mark}: {text}"));
    }
    for phase in report.phases.iter().rev().filter(|phase| phase.has_started()) {
        let Some(standings) = &phase.standings else { continue };
        let rows = tables::entrant_rows(standings, entrant, links);
        if rows.is_empty() {
            continue;
        }
        let inner = rows + &tables::opponents(standings, entrant, links);
        body += &section(&format!("phase-{}", phase.number + 1), &phase.name, &inner);
    }
    body += &section("times", "Time per move", &times(report, entrant, links));
    if !about.versions.is_empty() {
        body += &section("versions", "Versions", &tables::versions(&about.versions, links));
    }
    let mut replays = String::new();
    for phase in report.phases.iter().filter(|phase| phase.has_started()) {
        let list = games(phase, links, GameFilter::Of(entrant));
        if !list.is_empty() {
            replays += &format!("<h3>{}</h3>\n{list}", bidi_isolate(&phase.name));
        }
    }
    body += &section("games", "Replays", &replays);
    body += &section("faults", "Faults", &faults(&about.faults, links, false));
    let above = format!("<p class=\"above\">{}</p>\n", link("../summary.html", &bidi_isolate(&report.name)));
    Page { report, path: &path, title: about.name, above, body, viewer: None }.html()
}

fn times(report: &Report, entrant: Entrant, links: PageLinks<'_>) -> String {
    let mut rows = Vec::new();
    for phase in &report.phases {
        let own = phase.think_times.iter().filter(|times| times.entrant == entrant && times.answers > 0);
        rows.extend(own.map(|times| {
            vec![
                link(&format!("{}{}", links.root, phase.file()), &bidi_isolate(&phase.name)),
                count(times.answers),
                html_duration(times.mean),
                html_duration(times.longest),
            ]
        }));
    }
    if rows.is_empty() {
        return String::new();
    }
    let titles =
        vec![text_column("Phase"), number_column("Answers"), number_column("Mean"), number_column("Longest")];
    HtmlTable { caption: "Time per answer", titles, row_header: 0, rows }.html()
}
