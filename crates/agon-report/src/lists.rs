//! Long lists: faults with messages and output of bots, and games with links to their replays.

use agon_league::Entrant;

use crate::data::{FaultLine, FaultList, GameLine, PhaseReport, SeatLine, game_file};
use crate::html::{
    HtmlTable, bidi_isolate, html_escape, link, note, number_column, prose_column, text_column, time_span,
};
use crate::tables::PageLinks;
use crate::text_format::{grouped_plural, trim_number};

/// Maximum number of seats of a game that are named. The other seats are only counted.
const MAX_SEATS_NAMED: usize = 3;

/// Table of faults, newest first. Messages and output of bots can be expanded.
pub fn faults(list: &FaultList, links: PageLinks<'_>, with_names: bool) -> String {
    if list.total == 0 && list.shown.is_empty() {
        return "<p>None.</p>\n".to_owned();
    }
    let row = |fault: &FaultLine| {
        let mut row = vec![time_span(fault.at)];
        row.extend(with_names.then(|| links.name(fault.entrant)));
        row.extend([
            format!("<span class=\"fault\">{}</span>", fault.fault.name()),
            fault_game(fault, links),
            fault.turn.to_string(),
            message_cell(fault),
        ]);
        row
    };
    let mut titles = vec![text_column("Finished")];
    titles.extend(with_names.then(|| text_column("Name")));
    titles.extend([
        text_column("Fault"),
        text_column("Match"),
        number_column("Turn"),
        prose_column("Message"),
    ]);
    let table = HtmlTable {
        caption: "Faults, newest first",
        titles,
        row_header: if with_names { 1 } else { 2 },
        rows: list.shown.iter().map(row).collect(),
    };
    let mut text = table.html();
    let more = list.total.saturating_sub(list.shown.len() as u64);
    if more > 0 {
        text += &note(&format!("{} not shown.", grouped_plural(more, "earlier fault", "earlier faults")));
    }
    if list.held_back {
        text += &note(
            "Messages and output of bots are held back until the secret seed is revealed, because they could describe hidden games.",
        );
    }
    text
}

fn fault_game(fault: &FaultLine, links: PageLinks<'_>) -> String {
    let number = if fault.game > 0 {
        format!("{}, game {}", fault.key, fault.game + 1)
    } else {
        fault.key.to_string()
    };
    if !fault.has_page {
        return number;
    }
    link(&format!("{}{}#t={}", links.root, game_file(fault.key, fault.game), fault.turn), &number)
}

/// The first line of the message. The rest is expandable.
fn message_cell(fault: &FaultLine) -> String {
    let mut lines = fault.message.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    if lines.next().is_none() && fault.output.is_empty() {
        return format!("<span class=\"own\">{}</span>", bidi_isolate(first));
    }
    let mut whole = format!("<pre dir=\"ltr\">{}</pre>", html_escape(fault.message.trim_end()));
    if !fault.output.is_empty() {
        whole += &format!(
            "<p>End of its output:</p><pre dir=\"ltr\">{}</pre>",
            html_escape(fault.output.trim_end())
        );
    }
    format!(
        "<details><summary>{}</summary>{whole}</details>",
        bidi_isolate(if first.is_empty() { "Bot output" } else { first })
    )
}

/// Selects games of a phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GameFilter {
    /// All listed games.
    Listed,
    /// Games with a page.
    Replays,
    /// Games with a page that this entrant plays in.
    Of(Entrant),
}

impl GameFilter {
    fn has(self, game: &GameLine) -> bool {
        match self {
            Self::Listed => true,
            Self::Replays => game.has_page,
            Self::Of(one) => game.has_page && game.seats.iter().any(|seat| seat.entrant == one),
        }
    }
}

/// Table of the selected games of a phase, with links to the replays. Empty if there are none.
pub fn games(phase: &PhaseReport, links: PageLinks<'_>, which: GameFilter) -> String {
    if phase.games.hidden {
        let text = "These games use hidden seeds. They are shown once the secret seed is revealed.";
        return format!("<p>{text}</p>\n");
    }
    let wanted: Vec<&GameLine> = phase.games.shown.iter().filter(|game| which.has(game)).collect();
    if wanted.is_empty() {
        return String::new();
    }
    let stages = wanted.iter().any(|game| !game.stage.is_empty());
    let has_reasons = wanted.iter().any(|game| !game.reasons.is_empty());
    let row = |game: &&GameLine| {
        let faults = if game.faults == 0 { String::new() } else { game.faults.to_string() };
        let mut row = vec![links.game(game)];
        row.extend(stages.then(|| html_escape(&game.stage)));
        row.extend([result(game, links), game.turns.to_string(), html_escape(&game.ended), faults]);
        row.extend(has_reasons.then(|| html_escape(&game.reasons.join(", "))));
        row
    };
    let mut titles = vec![text_column("Match")];
    titles.extend(stages.then(|| text_column("Stage")));
    let beside = links.report.game.stat_beside_score();
    let result_title =
        beside.map_or_else(|| "Result".to_owned(), |(_, stat)| format!("Result ({})", stat.name));
    titles.extend([
        prose_column(&result_title),
        number_column("Turns"),
        text_column("Ended"),
        number_column("Faults"),
    ]);
    titles.extend(has_reasons.then(|| prose_column("Chosen as")));
    let caption = format!("Games of {}", phase.name);
    let table =
        HtmlTable { caption: &caption, titles, row_header: 0, rows: wanted.iter().map(row).collect() };
    table.html() + &left_out(phase, wanted.len(), which)
}

fn left_out(phase: &PhaseReport, shown: usize, which: GameFilter) -> String {
    let more = phase.games.total.saturating_sub(shown as u64);
    match which {
        _ if more == 0 => String::new(),
        GameFilter::Listed => {
            note(&format!("{} more; agon export lists all games.", grouped_plural(more, "game", "games")))
        }
        GameFilter::Replays => note(&format!(
            "{} without a replay; agon report --games all includes every game.",
            grouped_plural(more, "game", "games")
        )),
        GameFilter::Of(_) => String::new(),
    }
}

/// Result of a game: `Ann 3, Bob 0`. The best is first, winners are bold. A statistic that decides the ranking stands beside the
/// score: `Ann 3 (21), Bob 0 (14)`.
fn result(game: &GameLine, links: PageLinks<'_>) -> String {
    let seats = game.best_first();
    let decimals = links.report.game.score.decimals;
    let one = |seat: &SeatLine| {
        let name = bidi_isolate(&links.report.name_of(seat.entrant));
        let name = if seat.place == 1 { format!("<b>{name}</b>") } else { name };
        let beside = seat.beside.map_or_else(String::new, |value| format!(" ({})", trim_number(value, 2)));
        format!("{name} {}{beside}", trim_number(seat.score, decimals))
    };
    let mut named: Vec<String> = seats.iter().take(MAX_SEATS_NAMED).map(one).collect();
    match seats.len().saturating_sub(MAX_SEATS_NAMED) {
        0 => {}
        1 => named.extend(seats.last().map(one)),
        others => named.push(format!("{others} others")),
    }
    named.join(", ")
}
