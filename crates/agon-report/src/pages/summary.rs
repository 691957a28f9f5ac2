//! `summary.html`: overview of the competition, with links to all other pages.

use agon_core::text_format::shell_quote;
use agon_league::Entrant;
use agon_store::PhaseState;

use super::{bracket_of, progress, standings_sections};
use crate::data::{PhaseReport, Report};
use crate::html::{
    HtmlTable, Page, bidi_isolate, definition_list, html_escape, link, note, number_column, prose_column,
    section, text_column, time_span,
};
use crate::lists::{GameFilter, games};
use crate::tables::PageLinks;
use crate::text_format::{count, format_time};

/// Renders the summary page.
pub fn summary(report: &Report) -> String {
    let links = PageLinks { report, root: "" };
    let mut body = intro(report);
    if let Some(latest) = report.latest() {
        let more = link(&latest.file(), "head to head, scores, ratings, times, faults, games");
        body += &format!(
            "<p class=\"lead\">{}: {}. Details: {more}.</p>\n",
            bidi_isolate(&latest.name),
            html_escape(&phase_status(report, latest))
        );
        body += &bracket_of(report, latest, "");
        body += &standings_sections(latest, links, &|table| table.official || table.id == "rulings");
        body += &standings_sections(latest, links, &|table| table.id.starts_with("confidence"));
    } else {
        body += "<p class=\"lead\">No games played yet.</p>\n";
    }
    body += &section("phases", "Phases", &phases(report));
    body += &section("entrants", "Entrants", &entrants(report, links));
    body += &section("replays", "Replays", &replays(report, links));
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
    let is_finished = report.seed.is_some();
    let (started, finished) = (
        report.started.map_or_else(String::new, format_time),
        last.filter(|_| is_finished).map_or_else(String::new, format_time),
    );
    definition_list(&[
        ("Game", html_escape(report.game.title)),
        ("Entrants", count(report.entrants.len() as u64)),
        ("Games played", count(played)),
        ("Started", started),
        ("Finished", finished),
        ("Rules", format!("version {}, Agon {}", report.game.rules_version, html_escape(&report.engine))),
    ])
}

/// State and progress of a phase.
fn phase_status(report: &Report, phase: &PhaseReport) -> String {
    let last = phase.number as usize + 1 == report.phases.len();
    let state = match phase.state {
        PhaseState::Published | PhaseState::Closed if last => "final",
        PhaseState::Published | PhaseState::Closed => "published",
        PhaseState::Waiting | PhaseState::Running => "in progress",
    };
    format!("{state}, {}", progress(phase))
}

fn phases(report: &Report) -> String {
    let row = |phase: &PhaseReport| {
        let name = bidi_isolate(&phase.name);
        vec![
            (phase.number + 1).to_string(),
            if phase.has_started() { link(&phase.file(), &name) } else { name },
            html_escape(&phase.format),
            phase.state.to_string(),
            html_escape(&progress(phase)),
            phase.started.map_or_else(String::new, time_span),
            phase.published.map_or_else(String::new, time_span),
        ]
    };
    let titles = vec![
        number_column("#"),
        text_column("Phase"),
        prose_column("Format"),
        text_column("State"),
        text_column("Played"),
        text_column("Started"),
        text_column("Published"),
    ];
    HtmlTable { caption: "Phases", titles, row_header: 1, rows: report.phases.iter().map(row).collect() }
        .html()
}

fn entrants(report: &Report, links: PageLinks<'_>) -> String {
    let contributors = report.entrants.iter().any(|one| one.contributor.is_some());
    let roles = report.entrants.iter().any(|one| one.role.is_some());
    let rows = report.entrants.iter().enumerate().map(|(at, one)| {
        let entrant = Entrant(at as u32);
        let mut row = vec![links.marked(entrant)];
        row.extend(contributors.then(|| bidi_isolate(one.contributor.as_deref().unwrap_or_default())));
        row.extend(roles.then(|| html_escape(one.role.unwrap_or_default())));
        row.extend([one.versions.len().max(1).to_string(), count(one.faults.total)]);
        row
    });
    let mut titles = vec![text_column("Name")];
    titles.extend(contributors.then(|| text_column("Contributor")));
    titles.extend(roles.then(|| text_column("Role")));
    titles.extend([number_column("Versions"), number_column("Faults")]);
    let mut text = HtmlTable { caption: "Entrants", titles, row_header: 0, rows: rows.collect() }.html();
    for one in &report.entrants {
        for (mark, about) in one.marks.iter().filter_map(|(mark, about)| Some((mark, about.as_ref()?))) {
            text += &note(&format!("{} ({mark}): {about}", one.name));
        }
    }
    text
}

/// Replays, grouped by phase.
fn replays(report: &Report, links: PageLinks<'_>) -> String {
    let mut text = String::new();
    for phase in report.phases.iter().rev().filter(|phase| phase.has_started()) {
        let list = games(phase, links, GameFilter::Replays);
        if report.phases.len() > 1 && !list.is_empty() {
            text += &format!("<h3>{}</h3>\n", bidi_isolate(&phase.name));
        }
        text += &list;
    }
    text
}

fn seed(report: &Report) -> String {
    let commitment = format!("<code class=\"hash\">{}</code>", html_escape(&report.commitment));
    let before =
        "All random choices of this competition (boards, deals, schedules) are derived from one secret seed.";
    match &report.seed {
        None => format!(
            "<p>{before} Its SHA-256 was published before the first game. The seed itself is published after the last game.</p>\n{}",
            definition_list(&[("SHA-256 of the seed", commitment)])
        ),
        Some((seed, at)) => format!(
            "<p>{before} Its SHA-256 was published before the first game, so the seed could not be changed afterwards. To check it, run:</p>\n\
             <pre class=\"hash\"><code>printf %s {} | sha256sum</code></pre>\n{}",
            html_escape(&shell_quote(seed)),
            definition_list(&[
                ("SHA-256 of the seed", commitment),
                ("The seed", format!("<code class=\"hash\">{}</code>", html_escape(seed))),
                ("Revealed", format_time(*at)),
            ])
        ),
    }
}
