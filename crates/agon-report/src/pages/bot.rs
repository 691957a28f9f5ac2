//! `bots/NN-name.html`: an entrant, its versions, and how it fared.

use agon_league::Entrant;
use agon_league::standings::shown_time;

use crate::data::Report;
use crate::html::{HtmlTable, Page, bidi_isolate, escaped, definition_list, link, note, number, section, path_to_root, words};
use crate::lists::{Which, faults, games};
use crate::tables::{self, PageLinks};
use crate::text_format::count;

/// The page.
pub fn bot(report: &Report, entrant: Entrant) -> String {
    let path = report.bot_file(entrant);
    let ways = PageLinks { report, up: path_to_root(&path) };
    let about = report.entrants.get(entrant.index()).cloned().unwrap_or_default();
    let marks: Vec<String> = about.marks.iter().map(|(mark, _)| bidi_isolate(mark)).collect();
    let mut body = definition_list(&[
        ("Contributor", about.contributor.as_deref().map_or_else(String::new, bidi_isolate)),
        ("Role", escaped(about.role.unwrap_or_default())),
        ("Marks", marks.join(", ")),
        ("Faults", count(about.faults.total)),
    ]);
    for (mark, told) in about.marks.iter().filter_map(|(mark, told)| Some((mark, told.as_ref()?))) {
        body += &note(&format!("{mark}: {told}"));
    }
    for phase in report.phases.iter().rev().filter(|phase| phase.is_begun()) {
        let Some(standings) = &phase.standings else { continue };
        let rows = tables::own_rows(standings, entrant, ways);
        if rows.is_empty() {
            continue;
        }
        let inner = rows + &tables::against(standings, entrant, ways);
        body += &section(&format!("phase-{}", phase.number + 1), &phase.name, &inner);
    }
    body += &section("times", "Time per move", &times(report, entrant, ways));
    if !about.versions.is_empty() {
        body += &section("versions", "Versions", &tables::versions(&about.versions, ways));
    }
    let mut replays = String::new();
    for phase in report.phases.iter().filter(|phase| phase.is_begun()) {
        let list = games(phase, ways, Which::Of(entrant));
        if !list.is_empty() {
            replays += &format!("<h3>{}</h3>\n{list}", bidi_isolate(&phase.name));
        }
    }
    body += &section("games", "Replays", &replays);
    body += &section("faults", "Faults", &faults(&about.faults, ways, false));
    let above = format!("<p class=\"above\">{}</p>\n", link("../summary.html", &bidi_isolate(&report.name)));
    Page { report, path: &path, title: about.name, above, body, viewer: None }.html()
}

fn times(report: &Report, entrant: Entrant, ways: PageLinks<'_>) -> String {
    let mut rows = Vec::new();
    for phase in &report.phases {
        let own = phase.paces.iter().filter(|pace| pace.entrant == entrant && pace.answers > 0);
        rows.extend(own.map(|pace| {
            vec![
                link(&format!("{}{}", ways.up, phase.file()), &bidi_isolate(&phase.name)),
                count(pace.answers),
                shown_time(pace.mean),
                shown_time(pace.longest),
            ]
        }));
    }
    if rows.is_empty() {
        return String::new();
    }
    let titles = vec![words("Phase"), number("Answers"), number("Mean"), number("Longest")];
    HtmlTable { caption: "Time for an answer", titles, head: 0, rows }.html()
}
