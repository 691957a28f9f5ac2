//! Tables: standings, rows of one entrant, and versions of bots.

use agon_league::Entrant;
use agon_league::standings::{Standings, StandingsTable, TableCell};

use crate::data::{GameLine, Report, Version};
use crate::html::{
    ColumnTitle, HtmlTable, bidi_isolate, html_escape, link, note, number_column, text_column, time_span,
};
use crate::text_format::{count, html_duration, trim_number};

/// Links from a page to other pages of its report.
#[derive(Clone, Copy)]
pub struct PageLinks<'r> {
    /// The report.
    pub report: &'r Report,
    /// Relative path to the root of the report.
    pub root: &'static str,
}

impl PageLinks<'_> {
    /// An entrant's name, as a link to its page.
    pub fn name(&self, entrant: Entrant) -> String {
        self.named(entrant, &self.report.name_of(entrant))
    }

    /// Link to an entrant's page with another text, such as the name with marks.
    pub fn named(&self, entrant: Entrant, shown: &str) -> String {
        if entrant.index() >= self.report.entrants.len() {
            return bidi_isolate(shown);
        }
        link(&format!("{}{}", self.root, self.report.bot_file(entrant)), &bidi_isolate(shown))
    }

    /// A name with all its marks: `Prowler (AI)`.
    pub fn marked(&self, entrant: Entrant) -> String {
        let marks = self.report.entrants.get(entrant.index()).map_or(&[][..], |one| &one.marks);
        self.named(
            entrant,
            &marks.iter().fold(self.report.name_of(entrant), |name, (mark, _)| format!("{name} ({mark})")),
        )
    }

    /// A link to a game, or only its number if it has no page.
    pub fn game(&self, game: &GameLine) -> String {
        if game.has_page {
            link(&format!("{}{}", self.root, game.file()), &html_escape(&game.number()))
        } else {
            html_escape(&game.number())
        }
    }
}

/// A table of the standings with its notes. Names are links.
pub fn standings_table(table: &StandingsTable, links: PageLinks<'_>) -> String {
    titled(table, &table.title, links)
}

fn titled(table: &StandingsTable, caption: &str, links: PageLinks<'_>) -> String {
    let titles = table
        .columns
        .iter()
        .map(|column| ColumnTitle { text: &column.title, class: if column.right_aligned { "n" } else { "" } })
        .collect();
    let head = table.columns.iter().position(|column| column.id == "name").unwrap_or(usize::MAX);
    let row = |row: &agon_league::standings::TableRow| {
        let cells = table.columns.iter().zip(&row.cells);
        cells
            .map(|(column, cell)| match column.id.as_str() {
                "name" => row.entrant.map_or_else(
                    || bidi_isolate(&cell.describe()),
                    |entrant| links.named(entrant, &cell.describe()),
                ),
                "medal" => medal(&cell.describe()),
                "contributor" => bidi_isolate(&cell.describe()),
                _ => match cell {
                    TableCell::Time(ns) => html_duration(*ns),
                    _ => html_escape(&cell.describe()),
                },
            })
            .collect()
    };
    let html_table =
        HtmlTable { caption, titles, row_header: head, rows: table.rows.iter().map(row).collect() };
    let notes: String = table.notes.iter().map(|text| note(text)).collect();
    html_table.html() + &notes
}

fn medal(word: &str) -> String {
    match word {
        "gold" | "silver" | "bronze" => format!("<span class=\"medal {word}\">{word}</span>"),
        other => html_escape(other),
    }
}

/// Rows of one entrant in the official tables.
pub fn entrant_rows(standings: &Standings, entrant: Entrant, links: PageLinks<'_>) -> String {
    let mut text = String::new();
    for one in standings.tables.iter().filter(|table| table.official) {
        let rows: Vec<_> = one.rows.iter().filter(|row| row.entrant == Some(entrant)).cloned().collect();
        if !rows.is_empty() {
            let caption = format!("{} in {}", one.title, standings.phase);
            text += &titled(&StandingsTable { rows, notes: Vec::new(), ..one.clone() }, &caption, links);
        }
    }
    text
}

/// Results of an entrant against each opponent, in the order of the standings.
pub fn opponents(standings: &Standings, entrant: Entrant, links: PageLinks<'_>) -> String {
    let mut rows = Vec::new();
    let points = standings.head_to_head.iter().any(|pair| pair.points.is_some());
    for pair in &standings.head_to_head {
        let (other, won, lost, own_score, opponent_score, given) = if pair.one == entrant {
            (pair.other, pair.won, pair.lost, pair.scores.0, pair.scores.1, pair.points.map(|both| both.0))
        } else if pair.other == entrant {
            (pair.one, pair.lost, pair.won, pair.scores.1, pair.scores.0, pair.points.map(|both| both.1))
        } else {
            continue;
        };
        let games = f64::from(pair.games.max(1));
        let decimals = links.report.game.score.decimals;
        let mut row = vec![links.marked(other), count(pair.games.into())];
        row.extend([won, pair.drawn, lost].map(|n| count(n.into())));
        row.push(format!("{:.0} %", 100.0 * (f64::from(won) + f64::from(pair.drawn) / 2.0) / games));
        if points {
            row.push(given.map_or_else(String::new, |given| trim_number(given, 1)));
        }
        row.extend([own_score, opponent_score].map(|sum| format!("{:.decimals$}", sum / games)));
        rows.push(row);
    }
    if rows.is_empty() {
        return String::new();
    }
    let mut titles = vec![
        text_column("Against"),
        number_column("Games"),
        number_column("Won"),
        number_column("Drawn"),
        number_column("Lost"),
        number_column("Share"),
    ];
    titles.extend(points.then(|| number_column("Points")));
    titles.extend([number_column("Mean score"), number_column("Opponent's mean score")]);
    let caption = format!("Against each opponent in {}", standings.phase);
    HtmlTable { caption: &caption, titles, row_header: 0, rows }.html()
}

/// Versions of a bot.
pub fn versions(list: &[Version], links: PageLinks<'_>) -> String {
    let phase = |number: u32| {
        let name = links.report.phases.get(number as usize).map(|phase| phase.name.clone());
        name.map_or_else(|| format!("phase {}", number + 1), |name| bidi_isolate(&name))
    };
    let commits = list.iter().any(|one| one.commit.is_some());
    let code = |text: &str| format!("<code class=\"hash\">{}</code>", html_escape(text));
    let row = |one: &Version| {
        let mut row = vec![one.number.to_string(), phase(one.from_phase), time_span(one.at)];
        row.extend(commits.then(|| one.commit.as_deref().map_or_else(String::new, code)));
        row.push(code(&one.hash));
        row
    };
    let mut titles = vec![number_column("Version"), text_column("Since"), text_column("Submitted")];
    titles.extend(commits.then(|| text_column("Commit")));
    titles.push(text_column("Content hash"));
    let rows = list.iter().map(row).collect();
    HtmlTable { caption: "Versions", titles, row_header: 0, rows }.html()
}
