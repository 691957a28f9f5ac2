//! Long lists: faults with bots' own words, games with links to their replays.

use agon_league::Entrant;

use crate::data::{FaultLine, FaultList, GameLine, PhaseReport, SeatLine, game_file};
use crate::html::{HtmlTable, bidi_isolate, escaped, link, note, number, prose, when, words};
use crate::tables::PageLinks;
use crate::text_format::{plural, trim_number};

/// So many seats of a game are named; the others are counted.
const SEATS_NAMED: usize = 3;

/// Faults, newest first, with bots' own words to be opened.
pub fn faults(list: &FaultList, ways: PageLinks<'_>, with_names: bool) -> String {
    if list.total == 0 && list.shown.is_empty() {
        return "<p>None.</p>\n".to_owned();
    }
    let row = |fault: &FaultLine| {
        let mut row = vec![when(fault.at)];
        row.extend(with_names.then(|| ways.name(fault.entrant)));
        row.extend([
            format!("<span class=\"fault\">{}</span>", fault.fault.name()),
            fault_game(fault, ways),
            fault.turn.to_string(),
            own_words(fault),
        ]);
        row
    };
    let mut titles = vec![words("Finished")];
    titles.extend(with_names.then(|| words("Name")));
    titles.extend([words("Fault"), words("Match"), number("Turn"), prose("What it says")]);
    let grid = HtmlTable {
        caption: "Faults, newest first",
        titles,
        head: if with_names { 1 } else { 2 },
        rows: list.shown.iter().map(row).collect(),
    };
    let mut text = grid.html();
    let more = list.total.saturating_sub(list.shown.len() as u64);
    if more > 0 {
        text += &note(&format!("And {} before these.", plural(more, "fault", "faults")));
    }
    if list.held_back {
        text += &note(
            "Bots' own words are held back until the seed is revealed: they could tell of hidden boards.",
        );
    }
    text
}

fn fault_game(fault: &FaultLine, ways: PageLinks<'_>) -> String {
    let says = if fault.game > 0 {
        format!("{}, game {}", fault.key, fault.game + 1)
    } else {
        fault.key.to_string()
    };
    if !fault.page {
        return says;
    }
    link(&format!("{}{}#t={}", ways.up, game_file(fault.key, fault.game), fault.turn), &says)
}

/// The first line, and the rest to be opened.
fn own_words(fault: &FaultLine) -> String {
    let mut lines = fault.says.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    if lines.next().is_none() && fault.printed.is_empty() {
        return format!("<span class=\"own\">{}</span>", bidi_isolate(first));
    }
    let mut whole = format!("<pre dir=\"ltr\">{}</pre>", escaped(fault.says.trim_end()));
    if !fault.printed.is_empty() {
        whole += &format!(
            "<p>The end of what it printed:</p><pre dir=\"ltr\">{}</pre>",
            escaped(fault.printed.trim_end())
        );
    }
    format!(
        "<details><summary>{}</summary>{whole}</details>",
        bidi_isolate(if first.is_empty() { "its own words" } else { first })
    )
}

/// Which games of a phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// All that are listed.
    Listed,
    /// Those with a page.
    Replays,
    /// Those with a page in which this one sits.
    Of(Entrant),
}

impl Which {
    fn has(self, game: &GameLine) -> bool {
        match self {
            Self::Listed => true,
            Self::Replays => game.page,
            Self::Of(one) => game.page && game.seats.iter().any(|seat| seat.entrant == one),
        }
    }
}

/// Games of a phase, with links to those that can be watched; nothing if there are none of this kind.
pub fn games(phase: &PhaseReport, ways: PageLinks<'_>, which: Which) -> String {
    if phase.games.hidden {
        let why = "These games are played on hidden boards. They are shown once the secret seed is revealed.";
        return format!("<p>{why}</p>\n");
    }
    let wanted: Vec<&GameLine> = phase.games.shown.iter().filter(|game| which.has(game)).collect();
    if wanted.is_empty() {
        return String::new();
    }
    let stages = wanted.iter().any(|game| !game.stage.is_empty());
    let why = wanted.iter().any(|game| !game.why.is_empty());
    let row = |game: &&GameLine| {
        let faults = if game.faults == 0 { String::new() } else { game.faults.to_string() };
        let mut row = vec![ways.game(game)];
        row.extend(stages.then(|| escaped(&game.stage)));
        row.extend([result(game, ways), game.turns.to_string(), escaped(&game.ended), faults]);
        row.extend(why.then(|| escaped(&game.why.join(", "))));
        row
    };
    let mut titles = vec![words("Match")];
    titles.extend(stages.then(|| words("Stage")));
    titles.extend([prose("Result"), number("Turns"), words("Ended"), number("Faults")]);
    titles.extend(why.then(|| prose("Chosen as")));
    let caption = format!("Games of {}", phase.name);
    let grid = HtmlTable { caption: &caption, titles, head: 0, rows: wanted.iter().map(row).collect() };
    grid.html() + &left_out(phase, wanted.len(), which)
}

fn left_out(phase: &PhaseReport, shown: usize, which: Which) -> String {
    let more = phase.games.total.saturating_sub(shown as u64);
    match which {
        _ if more == 0 => String::new(),
        Which::Listed => {
            note(&format!("{} more; agon export writes a line for each.", plural(more, "game", "games")))
        }
        Which::Replays => note(&format!(
            "{} without a replay here; agon report --games all shows every game.",
            plural(more, "game", "games")
        )),
        Which::Of(_) => String::new(),
    }
}

/// `Ann 3, Bob 0`: the best first, who won in bold.
fn result(game: &GameLine, ways: PageLinks<'_>) -> String {
    let seats = game.best_first();
    let decimals = ways.report.game.score.decimals;
    let one = |seat: &SeatLine| {
        let name = bidi_isolate(&ways.report.name_of(seat.entrant));
        let name = if seat.place == 1 { format!("<b>{name}</b>") } else { name };
        format!("{name} {}", trim_number(seat.score, decimals))
    };
    let mut named: Vec<String> = seats.iter().take(SEATS_NAMED).map(one).collect();
    match seats.len().saturating_sub(SEATS_NAMED) {
        0 => {}
        1 => named.extend(seats.last().map(one)),
        others => named.push(format!("{others} others")),
    }
    named.join(", ")
}
