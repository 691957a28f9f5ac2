//! An elimination drawn: ties, scores, who went on; and the same as a table for whoever does not see it.

use agon_league::{Entrant, MatchKey};

use crate::data::{Report, game_file};
use crate::html::{HtmlTable, bidi_isolate, escaped, link, number, prose, scrolling, words};
use crate::text_format::{capital, plural, trim_number};

/// All rounds, as far as they are known.
#[derive(Clone, Debug, Default)]
pub struct Bracket {
    /// In the order they are played.
    pub rounds: Vec<Round>,
    /// What breaks a tie: `word points`.
    pub second: &'static str,
}

/// Ties that are played at the same time.
#[derive(Clone, Debug)]
pub struct Round {
    /// `quarter-finals`.
    pub name: String,
    /// From top to bottom.
    pub ties: Vec<Tie>,
}

/// Two, of whom one goes on.
#[derive(Clone, Debug)]
pub struct Tie {
    /// The better seeded first.
    pub sides: [Side; 2],
    /// Which of them goes on; `None` while it is played.
    pub winner: Option<usize>,
    /// Extra pairs that were needed.
    pub extra: u32,
    /// Its games that have a page: match and game.
    pub games: Vec<(MatchKey, u32)>,
    /// Its matches, as far as they were played.
    pub matches: Vec<MatchKey>,
}

/// One of the two.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// Who.
    pub entrant: Entrant,
    /// Its points over the tie.
    pub points: f64,
    /// What breaks a tie.
    pub second: f64,
}

const WIDE: f64 = 190.0;
const GAP: f64 = 34.0;
const HIGH: f64 = 44.0;
const EVERY: f64 = 60.0;
const TOP: f64 = 26.0;
/// Longer names are cut in the drawing; the table has them whole.
const LETTERS: usize = 18;

/// Where a tie stands in the drawing.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Spot {
    column: usize,
    y: f64,
}

/// The drawing, then the table.
pub fn bracket(report: &Report, bracket: &Bracket, up: &str) -> String {
    if bracket.rounds.is_empty() {
        return String::new();
    }
    scrolling("Bracket", &svg(report, bracket)) + &table(report, bracket, up)
}

fn svg(report: &Report, bracket: &Bracket) -> String {
    let columns = columns(bracket);
    let spots = spots(bracket, &columns);
    let high = spots.iter().flatten().map(|spot| spot.y).fold(0.0, f64::max) + HIGH + 6.0;
    let wide = columns.iter().max().map_or(1, |last| last + 1) as f64 * (WIDE + GAP) - GAP + 2.0;
    let mut text = format!(
        "<svg class=\"bracket\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" role=\"img\" \
         aria-label=\"Bracket; the table below says the same in words\">\n"
    );
    let mut titled = Vec::new();
    for (round, &column) in bracket.rounds.iter().zip(&columns) {
        // The match for the third place stands below the final, and says so itself.
        if titled.contains(&column) {
            continue;
        }
        titled.push(column);
        let name = if is_third(&round.name) { "final" } else { &round.name };
        text += &format!(
            "<text class=\"round\" x=\"{}\" y=\"14\">{}</text>\n",
            1.0 + column as f64 * (WIDE + GAP),
            escaped(name)
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

/// In which column each round stands: the match for the third place with the final that follows it.
fn columns(bracket: &Bracket) -> Vec<usize> {
    let mut column = 0;
    let mut columns = Vec::new();
    for round in &bracket.rounds {
        columns.push(column);
        column += usize::from(!is_third(&round.name));
    }
    columns
}

/// The tie, in an earlier round, whose winner this is: round and place in it.
fn feeder(bracket: &Bracket, round: usize, entrant: Entrant) -> Option<(usize, usize)> {
    if is_third(&bracket.rounds[round].name) {
        return None;
    }
    let won = |tie: &Tie| tie.winner.is_some_and(|side| tie.sides[side].entrant == entrant);
    let earlier = bracket.rounds[..round].iter().enumerate().rev();
    let lately = earlier.filter(|(_, round)| !is_third(&round.name));
    lately
        .filter_map(|(number, round)| Some((number, round.ties.iter().position(won)?)))
        .find(|&(number, _)| !lost_since(bracket, number, round, entrant))
}

/// Whether it lost between two rounds: then its place in a later one does not come from the win before.
fn lost_since(bracket: &Bracket, from: usize, to: usize, entrant: Entrant) -> bool {
    let lost = |tie: &Tie| tie.winner.is_some_and(|side| tie.sides[1 - side].entrant == entrant);
    bracket.rounds[from + 1..to].iter().flat_map(|round| &round.ties).any(lost)
}

/// Each tie between those it comes from; what comes from nowhere takes the next free line.
fn spots(bracket: &Bracket, columns: &[usize]) -> Vec<Vec<Spot>> {
    let mut spots: Vec<Vec<Option<f64>>> =
        bracket.rounds.iter().map(|round| vec![None; round.ties.len()]).collect();
    let mut free = TOP;
    // From the last round back, so that what belongs together is placed together.
    for round in (0..bracket.rounds.len()).rev().filter(|&n| !is_third(&bracket.rounds[n].name)) {
        for tie in 0..bracket.rounds[round].ties.len() {
            place(bracket, (round, tie), &mut spots, &mut free);
        }
    }
    for round in (0..bracket.rounds.len()).filter(|&n| is_third(&bracket.rounds[n].name)) {
        let column = columns[round];
        let below =
            (0..bracket.rounds.len()).filter(|&n| columns[n] == column).flat_map(|n| spots[n].clone());
        let y = below.flatten().fold(TOP - EVERY, f64::max) + EVERY + 14.0;
        spots[round].iter_mut().for_each(|spot| *spot = Some(y));
    }
    let spot = |round: usize, y: &Option<f64>| Spot { column: columns[round], y: y.unwrap_or(TOP) };
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
        *free += EVERY;
        *free - EVERY
    } else {
        ys.iter().sum::<f64>() / ys.len() as f64
    };
    spots[at.0][at.1] = Some(y);
    y
}

fn left(spot: Spot) -> f64 {
    1.0 + spot.column as f64 * (WIDE + GAP)
}

fn connector(from: Spot, to: Spot) -> String {
    let (x, y) = (left(from) + WIDE, from.y + HIGH / 2.0);
    let half = left(to) - GAP / 2.0;
    format!("<path class=\"join\" d=\"M{x} {y}H{half}V{}H{}\"/>\n", to.y + HIGH / 2.0, left(to))
}

fn draw_tie(report: &Report, tie: &Tie, spot: Spot, third: bool) -> String {
    let (x, y) = (left(spot), spot.y);
    let mut text =
        format!("<rect class=\"tie\" x=\"{x}\" y=\"{y}\" width=\"{WIDE}\" height=\"{HIGH}\" rx=\"5\"/>\n");
    if third {
        text += &format!("<text class=\"round\" x=\"{x}\" y=\"{}\">third place</text>\n", y - 4.0);
    }
    for (at, side) in tie.sides.iter().enumerate() {
        let line = y + 17.0 + at as f64 * 19.0;
        let (class, arrow) = if tie.winner == Some(at) { (" class=\"won\"", "▸ ") } else { ("", "") };
        let name = escaped(&cut(&report.name_of(side.entrant)));
        let points = trim_number(side.points, 1);
        text += &format!(
            "<text{class} x=\"{}\" y=\"{line}\">{arrow}{name}</text><text{class} x=\"{}\" y=\"{line}\" text-anchor=\"end\">{points}</text>\n",
            x + 9.0,
            x + WIDE - 9.0,
        );
    }
    text
}

fn cut(name: &str) -> String {
    if name.chars().count() <= LETTERS {
        name.to_owned()
    } else {
        name.chars().take(LETTERS - 1).chain(['…']).collect()
    }
}

fn table(report: &Report, bracket: &Bracket, up: &str) -> String {
    let mut rows = Vec::new();
    for round in &bracket.rounds {
        for tie in &round.ties {
            let name = |side: usize| {
                let entrant = tie.sides[side].entrant;
                link(&format!("{up}{}", report.bot_file(entrant)), &bidi_isolate(&report.name_of(entrant)))
            };
            let pair = |of: fn(&Side) -> f64| {
                format!("{} : {}", trim_number(of(&tie.sides[0]), 1), trim_number(of(&tie.sides[1]), 1))
            };
            let games: Vec<String> = tie
                .games
                .iter()
                .enumerate()
                .map(|(at, &(key, game))| {
                    link(&format!("{up}{}", game_file(key, game)), &format!("game {}", at + 1))
                })
                .collect();
            let extra = if tie.extra > 0 {
                format!(" after {}", plural(tie.extra.into(), "extra pair", "extra pairs"))
            } else {
                String::new()
            };
            rows.push(vec![
                escaped(&round.name),
                format!("{} - {}", name(0), name(1)),
                pair(|side| side.points) + &extra,
                pair(|side| side.second),
                tie.winner.map_or_else(|| "still open".to_owned(), name),
                games.join(", "),
            ]);
        }
    }
    let second = capital(bracket.second);
    let titles = vec![
        words("Round"),
        words("Tie"),
        number("Points"),
        number(&second),
        words("Goes on"),
        prose("Replays"),
    ];
    HtmlTable { caption: "Ties of the bracket", titles, head: 1, rows }.html()
}
