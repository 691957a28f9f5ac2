//! Draws the bracket of an elimination as SVG, and the same data as an HTML table for screen readers.

use agon_league::Entrant;
use agon_league::bracket::{Bracket, BracketSide, BracketTie};

use crate::data::{GameLine, GameList, Report};
use crate::html::{
    HtmlTable, bidi_isolate, html_escape, link, number_column, prose_column, scroll_region, text_column,
};
use crate::text_format::{capitalize, grouped_plural, trim_number};

const TIE_WIDTH: f64 = 190.0;
const COLUMN_GAP: f64 = 34.0;
const TIE_HEIGHT: f64 = 44.0;
const TIE_SPACING: f64 = 60.0;
const TOP_MARGIN: f64 = 26.0;
/// Maximum length of a name in the drawing. Longer names are cut; the table contains the full names.
const MAX_NAME_CHARS: usize = 18;

/// Position of a tie in the drawing.
#[derive(Clone, Copy, PartialEq, Debug)]
struct TiePosition {
    column: usize,
    y: f64,
}

/// The drawing, followed by the table. `games` are the games of the phase; those with a page are linked.
pub fn bracket(report: &Report, bracket: &Bracket, games: &GameList, root: &str) -> String {
    if bracket.rounds.is_empty() {
        return String::new();
    }
    scroll_region("Bracket", &svg(report, bracket)) + &table(report, bracket, games, root)
}

fn svg(report: &Report, bracket: &Bracket) -> String {
    let columns = columns(bracket);
    let spots = spots(bracket, &columns);
    let high = spots.iter().flatten().map(|spot| spot.y).fold(0.0, f64::max) + TIE_HEIGHT + 6.0;
    let wide =
        columns.iter().max().map_or(1, |last| last + 1) as f64 * (TIE_WIDTH + COLUMN_GAP) - COLUMN_GAP + 2.0;
    let mut text = format!(
        "<svg class=\"bracket\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" role=\"img\" \
         aria-label=\"Bracket. The table below contains the same data.\">\n"
    );
    let mut titled = Vec::new();
    for (round, &column) in bracket.rounds.iter().zip(&columns) {
        // The match for third place is in the column of the final and has its own label.
        if titled.contains(&column) {
            continue;
        }
        titled.push(column);
        let name = if is_third(&round.name) { "final" } else { &round.name };
        text += &format!(
            "<text class=\"round\" x=\"{}\" y=\"14\">{}</text>\n",
            1.0 + column as f64 * (TIE_WIDTH + COLUMN_GAP),
            html_escape(name)
        );
    }
    for (number, round) in bracket.rounds.iter().enumerate() {
        for (at, tie) in round.ties.iter().enumerate() {
            let spot = spots[number][at];
            for side in &tie.sides {
                if let Some(from) = feeder(bracket, number, side.entrant) {
                    text += &connector(spots[from.0][from.1], spot);
                }
            }
            text += &draw_tie(report, tie, spot, is_third(&round.name));
        }
    }
    text + "</svg>\n"
}

fn is_third(name: &str) -> bool {
    name.contains("third place")
}

/// Column of each round. The match for third place shares the column of the final.
fn columns(bracket: &Bracket) -> Vec<usize> {
    let mut column = 0;
    let mut columns = Vec::new();
    for round in &bracket.rounds {
        columns.push(column);
        column += usize::from(!is_third(&round.name));
    }
    columns
}

/// The tie of an earlier round that this entrant won: round, and index of the tie.
fn feeder(bracket: &Bracket, round: usize, entrant: Entrant) -> Option<(usize, usize)> {
    if is_third(&bracket.rounds[round].name) {
        return None;
    }
    let won = |tie: &BracketTie| tie.winner.is_some_and(|side| tie.sides[side].entrant == entrant);
    let earlier = bracket.rounds[..round].iter().enumerate().rev();
    let lately = earlier.filter(|(_, round)| !is_third(&round.name));
    lately
        .filter_map(|(number, round)| Some((number, round.ties.iter().position(won)?)))
        .find(|&(number, _)| !lost_since(bracket, number, round, entrant))
}

/// Whether the entrant lost between two rounds. Then its place in the later round does not result from the earlier win.
fn lost_since(bracket: &Bracket, from: usize, to: usize, entrant: Entrant) -> bool {
    let lost = |tie: &BracketTie| tie.winner.is_some_and(|side| tie.sides[1 - side].entrant == entrant);
    bracket.rounds[from + 1..to].iter().flat_map(|round| &round.ties).any(lost)
}

/// Places each tie between the ties that lead to it. A tie without predecessors takes the next free row.
fn spots(bracket: &Bracket, columns: &[usize]) -> Vec<Vec<TiePosition>> {
    let mut spots: Vec<Vec<Option<f64>>> =
        bracket.rounds.iter().map(|round| vec![None; round.ties.len()]).collect();
    let mut free = TOP_MARGIN;
    // Start with the last round, so that connected ties are placed next to each other.
    for round in (0..bracket.rounds.len()).rev().filter(|&n| !is_third(&bracket.rounds[n].name)) {
        for tie in 0..bracket.rounds[round].ties.len() {
            place(bracket, (round, tie), &mut spots, &mut free);
        }
    }
    for round in (0..bracket.rounds.len()).filter(|&n| is_third(&bracket.rounds[n].name)) {
        let column = columns[round];
        let below =
            (0..bracket.rounds.len()).filter(|&n| columns[n] == column).flat_map(|n| spots[n].clone());
        let y = below.flatten().fold(TOP_MARGIN - TIE_SPACING, f64::max) + TIE_SPACING + 14.0;
        spots[round].iter_mut().for_each(|spot| *spot = Some(y));
    }
    let spot =
        |round: usize, y: &Option<f64>| TiePosition { column: columns[round], y: y.unwrap_or(TOP_MARGIN) };
    spots.iter().enumerate().map(|(round, ys)| ys.iter().map(|y| spot(round, y)).collect()).collect()
}

fn place(bracket: &Bracket, at: (usize, usize), spots: &mut [Vec<Option<f64>>], free: &mut f64) -> f64 {
    if let Some(y) = spots[at.0][at.1] {
        return y;
    }
    let sides = bracket.rounds[at.0].ties[at.1].sides;
    let from: Vec<(usize, usize)> =
        sides.iter().filter_map(|side| feeder(bracket, at.0, side.entrant)).collect();
    let ys: Vec<f64> = from.into_iter().map(|one| place(bracket, one, spots, free)).collect();
    let y = if ys.is_empty() {
        *free += TIE_SPACING;
        *free - TIE_SPACING
    } else {
        ys.iter().sum::<f64>() / ys.len() as f64
    };
    spots[at.0][at.1] = Some(y);
    y
}

fn left(spot: TiePosition) -> f64 {
    1.0 + spot.column as f64 * (TIE_WIDTH + COLUMN_GAP)
}

fn connector(from: TiePosition, to: TiePosition) -> String {
    let (x, y) = (left(from) + TIE_WIDTH, from.y + TIE_HEIGHT / 2.0);
    let half = left(to) - COLUMN_GAP / 2.0;
    format!("<path class=\"join\" d=\"M{x} {y}H{half}V{}H{}\"/>\n", to.y + TIE_HEIGHT / 2.0, left(to))
}

fn draw_tie(report: &Report, tie: &BracketTie, spot: TiePosition, third: bool) -> String {
    let (x, y) = (left(spot), spot.y);
    let mut text = format!(
        "<rect class=\"tie\" x=\"{x}\" y=\"{y}\" width=\"{TIE_WIDTH}\" height=\"{TIE_HEIGHT}\" rx=\"5\"/>\n"
    );
    if third {
        text += &format!("<text class=\"round\" x=\"{x}\" y=\"{}\">third place</text>\n", y - 4.0);
    }
    for (at, side) in tie.sides.iter().enumerate() {
        let line = y + 17.0 + at as f64 * 19.0;
        let (class, arrow) = if tie.winner == Some(at) { (" class=\"won\"", "▸ ") } else { ("", "") };
        let name = html_escape(&cut(&report.name_of(side.entrant)));
        let points = trim_number(side.points, 1);
        text += &format!(
            "<text{class} x=\"{}\" y=\"{line}\">{arrow}{name}</text><text{class} x=\"{}\" y=\"{line}\" text-anchor=\"end\">{points}</text>\n",
            x + 9.0,
            x + TIE_WIDTH - 9.0,
        );
    }
    text
}

fn cut(name: &str) -> String {
    if name.chars().count() <= MAX_NAME_CHARS {
        name.to_owned()
    } else {
        name.chars().take(MAX_NAME_CHARS - 1).chain(['…']).collect()
    }
}

/// Whether a game was played in this tie.
fn belongs_to(game: &GameLine, tie: &BracketTie) -> bool {
    tie.stages.contains(&game.key.stage)
        && tie.sides.iter().all(|side| game.seats.iter().any(|seat| seat.entrant == side.entrant))
}

fn table(report: &Report, bracket: &Bracket, games: &GameList, root: &str) -> String {
    let mut rows = Vec::new();
    for round in &bracket.rounds {
        for tie in &round.ties {
            let name = |side: usize| {
                let entrant = tie.sides[side].entrant;
                link(&format!("{root}{}", report.bot_file(entrant)), &bidi_isolate(&report.name_of(entrant)))
            };
            let pair = |of: fn(&BracketSide) -> f64| {
                format!("{} : {}", trim_number(of(&tie.sides[0]), 1), trim_number(of(&tie.sides[1]), 1))
            };
            let games: Vec<String> = games
                .shown
                .iter()
                .filter(|game| game.has_page && belongs_to(game, tie))
                .enumerate()
                .map(|(at, game)| link(&format!("{root}{}", game.file()), &format!("game {}", at + 1)))
                .collect();
            let extra = if tie.extra_pairs > 0 {
                format!(" after {}", grouped_plural(tie.extra_pairs.into(), "extra pair", "extra pairs"))
            } else {
                String::new()
            };
            rows.push(vec![
                html_escape(&round.name),
                format!("{} - {}", name(0), name(1)),
                pair(|side| side.points) + &extra,
                pair(|side| side.tie_break),
                tie.winner.map_or_else(|| "open".to_owned(), name),
                games.join(", "),
            ]);
        }
    }
    let tie_break = capitalize(bracket.tie_break);
    let titles = vec![
        text_column("Round"),
        text_column("Tie"),
        number_column("Points"),
        number_column(&tie_break),
        text_column("Advances"),
        prose_column("Replays"),
    ];
    HtmlTable { caption: "Ties of the bracket", titles, row_header: 1, rows }.html()
}
