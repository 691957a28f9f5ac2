//! `summary.html`: what it is, how far it is, who leads, and the way to everything else.

use agon_league::Entrant;

use super::{bracket_of, progress, sheets};
use crate::data::{PhaseReport, Report};
use crate::html::{HtmlTable, Page, bidi_isolate, escaped, definition_list, link, note, number, prose, section, when, words};
use crate::lists::{Which, games};
use crate::tables::PageLinks;
use crate::text_format::{count, moment};

/// The page.
pub fn summary(report: &Report) -> String {
    let ways = PageLinks { report, up: "" };
    let mut body = intro(report);
    if let Some(latest) = report.latest() {
        let more = link(&latest.file(), "head to head, scores, ratings, times, faults, games");
        body += &format!(
            "<p class=\"lead\">{}: {}. More about it: {more}.</p>\n",
            bidi_isolate(&latest.name),
            escaped(&standing_of(report, latest))
        );
        body += &bracket_of(report, latest, "");
        body += &sheets(latest, ways, &|sheet| sheet.official || sheet.id == "rulings");
        body += &sheets(latest, ways, &|sheet| sheet.id.starts_with("confidence"));
    } else {
        body += "<p class=\"lead\">Nothing was played yet.</p>\n";
    }
    body += &section("phases", "Phases", &phases(report));
    body += &section("entrants", "Who takes part", &entrants(report, ways));
    body += &section("replays", "Replays", &replays(report, ways));
    body += &section("seed", "The secret seed", &seed(report));
    Page {
        report,
        path: "summary.html",
        title: report.name.clone(),
        above: String::new(),
        body,
        viewer: None,
    }
    .html()
}

fn intro(report: &Report) -> String {
    let played: u64 = report.phases.iter().map(|phase| phase.games_played).sum();
    let last = report.phases.iter().filter_map(|phase| phase.published).max();
    let over = report.seed.is_some();
    let (begun, over) = (
        report.begun.map_or_else(String::new, moment),
        last.filter(|_| over).map_or_else(String::new, moment),
    );
    definition_list(&[
        ("Game", escaped(report.game.title)),
        ("Entrants", count(report.entrants.len() as u64)),
        ("Games played", count(played)),
        ("Begun", begun),
        ("Over", over),
        ("Rules", format!("version {}, Agon {}", report.game.rules_version, escaped(&report.engine))),
    ])
}

/// How far a phase is, in a sentence.
fn standing_of(report: &Report, phase: &PhaseReport) -> String {
    let last = phase.number as usize + 1 == report.phases.len();
    let state = match phase.state {
        "published" | "closed" if last => "final",
        "published" | "closed" => "published",
        _ => "as it stands now",
    };
    format!("{state}, {}", progress(phase))
}

fn phases(report: &Report) -> String {
    let row = |phase: &PhaseReport| {
        let name = bidi_isolate(&phase.name);
        vec![
            (phase.number + 1).to_string(),
            if phase.is_begun() { link(&phase.file(), &name) } else { name },
            escaped(&phase.format),
            phase.state.to_owned(),
            escaped(&progress(phase)),
            phase.started.map_or_else(String::new, when),
            phase.published.map_or_else(String::new, when),
        ]
    };
    let titles = vec![
        number("#"),
        words("Phase"),
        prose("What is played"),
        words("State"),
        words("Played"),
        words("Started"),
        words("Published"),
    ];
    HtmlTable { caption: "Phases", titles, head: 1, rows: report.phases.iter().map(row).collect() }.html()
}

fn entrants(report: &Report, ways: PageLinks<'_>) -> String {
    let contributors = report.entrants.iter().any(|one| one.contributor.is_some());
    let roles = report.entrants.iter().any(|one| one.role.is_some());
    let rows = report.entrants.iter().enumerate().map(|(at, one)| {
        let entrant = Entrant(at as u32);
        let mut row = vec![ways.marked(entrant)];
        row.extend(contributors.then(|| bidi_isolate(one.contributor.as_deref().unwrap_or_default())));
        row.extend(roles.then(|| escaped(one.role.unwrap_or_default())));
        row.extend([one.versions.len().max(1).to_string(), count(one.faults.total)]);
        row
    });
    let mut titles = vec![words("Name")];
    titles.extend(contributors.then(|| words("Contributor")));
    titles.extend(roles.then(|| words("Role")));
    titles.extend([number("Versions"), number("Faults")]);
    let mut text = HtmlTable { caption: "Who takes part", titles, head: 0, rows: rows.collect() }.html();
    for one in &report.entrants {
        for (mark, told) in one.marks.iter().filter_map(|(mark, told)| Some((mark, told.as_ref()?))) {
            text += &note(&format!("{} ({mark}): {told}", one.name));
        }
    }
    text
}

/// Replays, phase by phase.
fn replays(report: &Report, ways: PageLinks<'_>) -> String {
    let mut text = String::new();
    for phase in report.phases.iter().rev().filter(|phase| phase.is_begun()) {
        let list = games(phase, ways, Which::Replays);
        if report.phases.len() > 1 && !list.is_empty() {
            text += &format!("<h3>{}</h3>\n", bidi_isolate(&phase.name));
        }
        text += &list;
    }
    text
}

fn seed(report: &Report) -> String {
    let commitment = format!("<code class=\"hash\">{}</code>", escaped(&report.commitment));
    let before = "Every draw of this competition (boards, deals, schedules) follows from one secret seed.";
    match &report.seed {
        None => format!(
            "<p>{before} Its SHA-256 was fixed before the first game; the seed itself is shown when the last is over.</p>\n{}",
            definition_list(&[("SHA-256 of the seed", commitment)])
        ),
        Some((seed, at)) => format!(
            "<p>{before} Its SHA-256 was shown before the first game, so nobody could choose it afterwards. Check it:</p>\n\
             <pre class=\"hash\"><code>printf %s {} | sha256sum</code></pre>\n{}",
            escaped(&quoted(seed)),
            definition_list(&[
                ("SHA-256 of the seed", commitment),
                ("The seed", format!("<code class=\"hash\">{}</code>", escaped(seed))),
                ("Revealed", moment(*at)),
            ])
        ),
    }
}

/// For a shell, as one word.
fn quoted(text: &str) -> String {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
