//! Tables: the standings' sheets, faults, games, versions of bots.

use agon_league::Entrant;
use agon_league::standings::{Sheet, Standings};

use crate::data::{FaultLine, FaultList, GameLine, GameList, Report, Version};
use crate::html::{Grid, Title, bdi, escaped, link, note, number, words};
use crate::words::{count, counted, moment, short};

/// So many seats of a game are named; the others are counted.
const SEATS_NAMED: usize = 4;

/// A page's way to other pages of its report.
#[derive(Clone, Copy)]
pub struct Ways<'r> {
    /// Of which report.
    pub report: &'r Report,
    /// To its root.
    pub up: &'static str,
}

impl Ways<'_> {
    /// An entrant's name, as a link to its page.
    pub fn name(&self, entrant: Entrant) -> String {
        self.named(entrant, &self.report.name_of(entrant))
    }

    /// The same with other words: a name with its marks.
    pub fn named(&self, entrant: Entrant, shown: &str) -> String {
        if entrant.index() >= self.report.entrants.len() {
            return bdi(shown);
        }
        link(&format!("{}{}", self.up, self.report.bot_file(entrant)), &bdi(shown))
    }

    /// A name with all its marks: `Prowler (AI)`.
    pub fn marked(&self, entrant: Entrant) -> String {
        let marks = self.report.entrants.get(entrant.index()).map_or(&[][..], |one| &one.marks);
        self.named(
            entrant,
            &marks.iter().fold(self.report.name_of(entrant), |name, (mark, _)| format!("{name} ({mark})")),
        )
    }

    /// A link to a game, or just its number.
    pub fn game(&self, game: &GameLine) -> String {
        if game.page {
            link(&format!("{}{}", self.up, game.file()), &escaped(&game.number()))
        } else {
            escaped(&game.number())
        }
    }
}

/// A sheet with its notes, names linked.
pub fn sheet(sheet: &Sheet, ways: Ways<'_>) -> String {
    let titles =
        sheet.columns.iter().map(|column| Title { text: &column.title, right: column.right }).collect();
    let head = sheet.columns.iter().position(|column| column.id == "name").unwrap_or(usize::MAX);
    let row = |row: &agon_league::standings::Row| {
        let cells = sheet.columns.iter().zip(&row.cells);
        cells
            .map(|(column, cell)| match column.id.as_str() {
                "name" => ways.named(row.entrant, &cell.shown()),
                "medal" => medal(&cell.shown()),
                "contributor" => bdi(&cell.shown()),
                _ => escaped(&cell.shown()),
            })
            .collect()
    };
    let grid = Grid { caption: &sheet.title, titles, head, rows: sheet.rows.iter().map(row).collect() };
    let notes: String = sheet.notes.iter().map(|text| note(text)).collect();
    grid.html() + &notes
}

fn medal(word: &str) -> String {
    match word {
        "gold" | "silver" | "bronze" => format!("<span class=\"medal {word}\">{word}</span>"),
        other => escaped(other),
    }
}

/// An entrant's rows of the official sheets.
pub fn own_rows(standings: &Standings, entrant: Entrant, ways: Ways<'_>) -> String {
    let mut text = String::new();
    for one in standings.sheets.iter().filter(|sheet| sheet.official) {
        let rows: Vec<_> = one.rows.iter().filter(|row| row.entrant == entrant).cloned().collect();
        if !rows.is_empty() {
            text += &sheet(&Sheet { rows, notes: Vec::new(), ..one.clone() }, ways);
        }
    }
    text
}

/// What an entrant did against each it met, in the order of the table.
pub fn against(standings: &Standings, entrant: Entrant, ways: Ways<'_>) -> String {
    let mut rows = Vec::new();
    let points = standings.head_to_head.iter().any(|met| met.points.is_some());
    for met in &standings.head_to_head {
        let (other, won, lost, mine, theirs, given) = if met.one == entrant {
            (met.other, met.won, met.lost, met.scores.0, met.scores.1, met.points.map(|both| both.0))
        } else if met.other == entrant {
            (met.one, met.lost, met.won, met.scores.1, met.scores.0, met.points.map(|both| both.1))
        } else {
            continue;
        };
        let games = f64::from(met.games.max(1));
        let decimals = ways.report.game.score.decimals;
        let mut row = vec![ways.marked(other), count(met.games.into())];
        row.extend([won, met.drawn, lost].map(|n| count(n.into())));
        row.push(format!("{:.0} %", 100.0 * (f64::from(won) + f64::from(met.drawn) / 2.0) / games));
        if points {
            row.push(given.map_or_else(String::new, |given| short(given, 1)));
        }
        row.extend([mine, theirs].map(|sum| format!("{:.decimals$}", sum / games)));
        rows.push(row);
    }
    if rows.is_empty() {
        return String::new();
    }
    let mut titles = vec![
        words("Against"),
        number("Games"),
        number("Better"),
        number("Equal"),
        number("Worse"),
        number("Share"),
    ];
    titles.extend(points.then(|| number("Points")));
    titles.extend([number("Own mean score"), number("Its mean score")]);
    Grid { caption: "Against each opponent", titles, head: 0, rows }.html()
}

/// Faults, newest first, with bots' own words to be opened.
pub fn faults(list: &FaultList, ways: Ways<'_>, with_names: bool) -> String {
    if list.total == 0 && list.shown.is_empty() {
        return "<p>None.</p>\n".to_owned();
    }
    let row = |fault: &FaultLine| {
        let mut row = vec![moment(fault.at)];
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
    titles.extend([words("Fault"), words("Match"), number("Turn"), words("What it says")]);
    let grid = Grid {
        caption: "Faults, newest first",
        titles,
        head: usize::from(with_names),
        rows: list.shown.iter().map(row).collect(),
    };
    let mut text = grid.html();
    let more = list.total.saturating_sub(list.shown.len() as u64);
    if more > 0 {
        text += &note(&format!("And {} before these.", counted(more, "fault", "faults")));
    }
    if list.held_back {
        text += &note(
            "Bots' own words are held back until the seed is revealed: they could tell of hidden boards.",
        );
    }
    text
}

fn fault_game(fault: &FaultLine, ways: Ways<'_>) -> String {
    let says = if fault.game > 0 {
        format!("{}, game {}", fault.key, fault.game + 1)
    } else {
        fault.key.to_string()
    };
    if !fault.page {
        return says;
    }
    link(&format!("{}{}#t={}", ways.up, crate::data::game_file(fault.key, fault.game), fault.turn), &says)
}

/// The first line, and the rest to be opened.
fn own_words(fault: &FaultLine) -> String {
    let mut lines = fault.says.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    if lines.next().is_none() && fault.printed.is_empty() {
        return format!("<span class=\"own\">{}</span>", bdi(first));
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
        bdi(if first.is_empty() { "its own words" } else { first })
    )
}

/// Games with links to those that can be watched.
pub fn games(list: &GameList, ways: Ways<'_>, of: Option<Entrant>) -> String {
    if list.hidden {
        return "<p>These games are played on hidden boards. They are shown once the secret seed is revealed.</p>\n".to_owned();
    }
    let wanted: Vec<&GameLine> = list
        .shown
        .iter()
        .filter(|game| of.is_none_or(|one| game.page && game.seats.iter().any(|seat| seat.entrant == one)))
        .collect();
    if wanted.is_empty() {
        return "<p>None.</p>\n".to_owned();
    }
    let (stages, why) =
        (wanted.iter().any(|game| !game.stage.is_empty()), wanted.iter().any(|game| !game.why.is_empty()));
    let row = |game: &&GameLine| {
        let mut row = vec![ways.game(game)];
        row.extend(stages.then(|| escaped(&game.stage)));
        row.extend([
            result(game, ways),
            game.turns.to_string(),
            escaped(&game.ended),
            fault_count(game.faults),
        ]);
        row.extend(why.then(|| escaped(&game.why.join(", "))));
        row
    };
    let mut titles = vec![words("Match")];
    titles.extend(stages.then(|| words("Stage")));
    titles.extend([words("Result"), number("Turns"), words("Ended"), number("Faults")]);
    titles.extend(why.then(|| words("Chosen as")));
    let mut text = Grid { caption: "Games", titles, head: 0, rows: wanted.iter().map(row).collect() }.html();
    let more = list.total.saturating_sub(list.shown.len() as u64);
    if of.is_none() && more > 0 {
        text += &note(&format!(
            "And {} more; `agon export` writes a line for each.",
            counted(more, "game", "games")
        ));
    }
    text
}

fn fault_count(faults: u32) -> String {
    if faults == 0 { String::new() } else { faults.to_string() }
}

/// `Ann 3, Bob 0`: the best first.
pub fn result(game: &GameLine, ways: Ways<'_>) -> String {
    let seats = game.best_first();
    let decimals = ways.report.game.score.decimals;
    let one =
        |seat: &crate::data::SeatLine| format!("{} {}", ways.name(seat.entrant), short(seat.score, decimals));
    let mut named: Vec<String> = seats.iter().take(SEATS_NAMED).map(one).collect();
    match seats.len().saturating_sub(SEATS_NAMED) {
        0 => {}
        1 => named.extend(seats.last().map(one)),
        others => named.push(format!("{others} others")),
    }
    named.join(", ")
}

/// Versions of a bot.
pub fn versions(list: &[Version], ways: Ways<'_>) -> String {
    let phase = |number: u32| {
        let name = ways.report.phases.get(number as usize).map(|phase| phase.name.clone());
        name.map_or_else(|| format!("phase {}", number + 1), |name| bdi(&name))
    };
    let row = |one: &Version| {
        vec![
            one.number.to_string(),
            phase(one.from_phase),
            moment(one.at),
            one.commit
                .as_deref()
                .map_or_else(String::new, |commit| format!("<code>{}</code>", escaped(commit))),
            format!("<code class=\"hash\">{}</code>", escaped(&one.hash)),
        ]
    };
    let with_commits = list.iter().any(|one| one.commit.is_some());
    let mut titles = vec![
        number("Version"),
        words("Since"),
        words("Handed in"),
        words("Commit"),
        words("Hash of its files"),
    ];
    let mut rows: Vec<Vec<String>> = list.iter().map(row).collect();
    if !with_commits {
        titles.remove(3);
        rows.iter_mut().for_each(|row| drop(row.remove(3)));
    }
    Grid { caption: "Versions", titles, head: 0, rows }.html()
}
