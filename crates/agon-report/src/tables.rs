//! Tables: the standings' sheets, an entrant's part of them, versions of bots.

use agon_league::Entrant;
use agon_league::standings::{StandingsTable, Standings};

use crate::data::{GameLine, Report, Version};
use crate::html::{HtmlTable, ColumnTitle, bidi_isolate, escaped, link, note, number, when, words};
use crate::text_format::{count, trim_number};

/// A page's way to other pages of its report.
#[derive(Clone, Copy)]
pub struct PageLinks<'r> {
    /// Of which report.
    pub report: &'r Report,
    /// To its root.
    pub up: &'static str,
}

impl PageLinks<'_> {
    /// An entrant's name, as a link to its page.
    pub fn name(&self, entrant: Entrant) -> String {
        self.named(entrant, &self.report.name_of(entrant))
    }

    /// The same with other words: a name with its marks.
    pub fn named(&self, entrant: Entrant, shown: &str) -> String {
        if entrant.index() >= self.report.entrants.len() {
            return bidi_isolate(shown);
        }
        link(&format!("{}{}", self.up, self.report.bot_file(entrant)), &bidi_isolate(shown))
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
pub fn sheet(sheet: &StandingsTable, ways: PageLinks<'_>) -> String {
    titled(sheet, &sheet.title, ways)
}

fn titled(sheet: &StandingsTable, caption: &str, ways: PageLinks<'_>) -> String {
    let titles = sheet
        .columns
        .iter()
        .map(|column| ColumnTitle { text: &column.title, class: if column.right { "n" } else { "" } })
        .collect();
    let head = sheet.columns.iter().position(|column| column.id == "name").unwrap_or(usize::MAX);
    let row = |row: &agon_league::standings::Row| {
        let cells = sheet.columns.iter().zip(&row.cells);
        cells
            .map(|(column, cell)| match column.id.as_str() {
                "name" => {
                    row.entrant.map_or_else(|| bidi_isolate(&cell.shown()), |own| ways.named(own, &cell.shown()))
                }
                "medal" => medal(&cell.shown()),
                "contributor" => bidi_isolate(&cell.shown()),
                _ => escaped(&cell.shown()),
            })
            .collect()
    };
    let grid = HtmlTable { caption, titles, head, rows: sheet.rows.iter().map(row).collect() };
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
pub fn own_rows(standings: &Standings, entrant: Entrant, ways: PageLinks<'_>) -> String {
    let mut text = String::new();
    for one in standings.sheets.iter().filter(|sheet| sheet.official) {
        let rows: Vec<_> = one.rows.iter().filter(|row| row.entrant == Some(entrant)).cloned().collect();
        if !rows.is_empty() {
            let caption = format!("{} in {}", one.title, standings.phase);
            text += &titled(&StandingsTable { rows, notes: Vec::new(), ..one.clone() }, &caption, ways);
        }
    }
    text
}

/// What an entrant did against each it met, in the order of the table.
pub fn against(standings: &Standings, entrant: Entrant, ways: PageLinks<'_>) -> String {
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
            row.push(given.map_or_else(String::new, |given| trim_number(given, 1)));
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
    let caption = format!("Against each opponent in {}", standings.phase);
    HtmlTable { caption: &caption, titles, head: 0, rows }.html()
}

/// Versions of a bot.
pub fn versions(list: &[Version], ways: PageLinks<'_>) -> String {
    let phase = |number: u32| {
        let name = ways.report.phases.get(number as usize).map(|phase| phase.name.clone());
        name.map_or_else(|| format!("phase {}", number + 1), |name| bidi_isolate(&name))
    };
    let commits = list.iter().any(|one| one.commit.is_some());
    let code = |text: &str| format!("<code class=\"hash\">{}</code>", escaped(text));
    let row = |one: &Version| {
        let mut row = vec![one.number.to_string(), phase(one.from_phase), when(one.at)];
        row.extend(commits.then(|| one.commit.as_deref().map_or_else(String::new, code)));
        row.push(code(&one.hash));
        row
    };
    let mut titles = vec![number("Version"), words("Since"), words("Handed in")];
    titles.extend(commits.then(|| words("Commit")));
    titles.push(words("Hash of its files"));
    let rows = list.iter().map(row).collect();
    HtmlTable { caption: "Versions", titles, head: 0, rows }.html()
}
