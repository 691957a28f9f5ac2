//! The tables of a phase: ranked exactly as each competition's document says, and beside that what the figures are worth.
//!
//! One file for each game says what its official tables are. What all have in common (intervals, ratings, head to head) is made here.

mod colour_battle;
mod confidence;
mod connect_five;
mod generic;
mod head_to_head;
mod hide_and_seek;
mod histogram;
mod json;
mod row;
mod rulings;
mod table;
mod solitude;
mod word_racer;

#[cfg(test)]
mod ruled_tests;
#[cfg(test)]
mod tests;

use agon_core::GameInfo;

use crate::config::EntrantSpec;
use crate::rating::{self, Rating, ratings_by_board};
use crate::result::Entrant;
use crate::statistics::{RankingMean, RankedMeans};
use crate::tally::Tally;

pub use head_to_head::PairStanding;
pub use histogram::Histograms;
pub use json::VERSION;
pub use row::{EntrantRow, RankedRow, Ratio};
pub use rulings::{RulingLift, RulingNote, RulingKind, shown_moment};
pub use table::{Cell, Column, Row, StandingsTable, shown_time};

/// Whose rules a table is ranked by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ranking {
    /// Average points per match.
    Solitude,
    /// Score, efficiency, spread.
    ColourBattle,
    /// +1 / -1, games won minus lost, head to head.
    ConnectFive,
    /// Mean steps, seekers and hiders apart, medals.
    HideAndSeek,
    /// 3 / 1 / 0, then word points.
    WordRacer,
    /// Anyone's own event: points, then score.
    Generic,
}

impl Ranking {
    /// As the game's own document ranks.
    pub fn of(game: &GameInfo) -> Self {
        match game.id {
            "solitude-scramble" => Self::Solitude,
            "colour-battle" => Self::ColourBattle,
            "connect-five" => Self::ConnectFive,
            "hide-and-seek" => Self::HideAndSeek,
            "word-racer" => Self::WordRacer,
            _ => Self::Generic,
        }
    }
}

/// What is to be shown.
#[derive(Clone, Copy, Debug)]
pub struct StandingsRequest<'a> {
    /// The competition's name.
    pub competition: &'a str,
    /// The phase's name.
    pub phase: &'a str,
    /// What was played.
    pub game: &'static GameInfo,
    /// How it is ranked.
    pub ranking: Ranking,
    /// As in the competition's file.
    pub entrants: &'a [EntrantSpec],
    /// How a knockout ended, if there was one: the best first, those who share a place together.
    pub placing: &'a [Vec<Entrant>],
    /// What was decided about entrants and about matches of this phase. The tally has no void matches in it.
    pub rulings: &'a [RulingNote],
}

/// The tables of a phase.
#[derive(Clone, PartialEq, Debug)]
pub struct Standings {
    /// The competition's name.
    pub competition: String,
    /// The phase's name.
    pub phase: String,
    /// The game's id.
    pub game: &'static str,
    /// Matches counted.
    pub matches: u64,
    /// Games counted.
    pub games: u64,
    /// Who takes part, by their places in the file.
    pub entrants: Vec<EntrantName>,
    /// The official tables first.
    pub sheets: Vec<StandingsTable>,
    /// Any two who met; empty in fields too large to look at.
    pub head_to_head: Vec<PairStanding>,
    /// How often each score came.
    pub histogram: Option<Histograms>,
    /// By places in the file.
    pub ratings: Vec<Rating>,
    /// Whose order to a neighbour is open.
    pub open: Vec<Entrant>,
    /// What was decided, the first first.
    pub rulings: Vec<RulingNote>,
}

/// An entrant, for whoever reads the figures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntrantName {
    /// Its place in the file.
    pub entrant: Entrant,
    /// Its name.
    pub name: String,
    /// Who wrote it.
    pub contributor: Option<String>,
    /// `AI`, `exploit`, with notes.
    pub marks: Vec<(String, Option<String>)>,
}

/// Entrants that are ranked against each other.
struct RankGroup<'a> {
    /// `player`, `seeker`: part of the ids of sheets when there are several groups.
    role: &'static str,
    /// What the mean that decides is called.
    metric: String,
    decimals: usize,
    counted: RankingMean,
    ranked: Vec<RankedRow<'a>>,
}

impl RankGroup<'_> {
    /// Everybody, the disqualified last.
    fn order(&self) -> Vec<Entrant> {
        self.ranked.iter().map(|ranked| ranked.line.entrant).collect()
    }

    /// Everybody who has a place.
    fn placed(&self) -> Vec<Entrant> {
        let placed = self.ranked.iter().filter(|ranked| ranked.rank.is_some());
        placed.map(|ranked| ranked.line.entrant).collect()
    }
}

/// The tables of a phase.
pub fn standings(tally: &Tally, asked: &StandingsRequest<'_>) -> Standings {
    let lines = EntrantRow::all(tally, asked);
    let groups = groups(tally, asked, &lines);
    let ratings = rated(tally, asked, &groups);
    let mut sheets: Vec<StandingsTable> = placing(asked).into_iter().collect();
    sheets.extend(official(asked, &groups));
    table::add_notes(&mut sheets, &lines);
    rulings::add_notes(&mut sheets, asked.rulings, asked.entrants);
    sheets.extend(rulings::sheet(asked.rulings, asked.entrants));
    let mut open = Vec::new();
    for group in &groups {
        let field = RankedMeans::new(tally, group.counted, &group.order());
        open.extend(field.open(&group.placed()));
        sheets.push(confidence::sheet(group, groups.len() > 1, &field, &ratings));
    }
    let order: Vec<&EntrantRow<'_>> =
        groups.iter().flat_map(|group| group.ranked.iter().map(|ranked| &ranked.line)).collect();
    sheets.extend(head_to_head::sheet(tally, asked, &groups));
    Standings {
        competition: asked.competition.to_owned(),
        phase: asked.phase.to_owned(),
        game: asked.game.id,
        matches: tally.matches,
        games: tally.games,
        entrants: lines.iter().map(EntrantRow::named).collect(),
        sheets,
        head_to_head: head_to_head::meetings(tally, &order),
        histogram: Histograms::of(asked.game, &order),
        ratings,
        open,
        rulings: asked.rulings.to_vec(),
    }
}

/// Everybody whose order to a neighbour is still open: for `stop = "settled"`.
pub fn open(tally: &Tally, asked: &StandingsRequest<'_>) -> Vec<Entrant> {
    let lines = EntrantRow::all(tally, asked);
    let open_of = |group: &RankGroup<'_>| RankedMeans::new(tally, group.counted, &group.order()).open(&group.placed());
    groups(tally, asked, &lines).iter().flat_map(open_of).collect()
}

/// The official order, the best first; roles one after the other. Those who share a rank are in the order of the file; those who are
/// disqualified are not in it.
pub fn order(tally: &Tally, asked: &StandingsRequest<'_>) -> Vec<Entrant> {
    let lines = EntrantRow::all(tally, asked);
    groups(tally, asked, &lines).iter().flat_map(RankGroup::placed).collect()
}

/// How good everybody is, by who beat whom: alone, for a history of it.
pub fn ratings(tally: &Tally, asked: &StandingsRequest<'_>) -> Vec<Rating> {
    let lines = EntrantRow::all(tally, asked);
    rated(tally, asked, &groups(tally, asked, &lines))
}

fn groups<'a>(tally: &Tally, asked: &StandingsRequest<'_>, lines: &[EntrantRow<'a>]) -> Vec<RankGroup<'a>> {
    match asked.ranking {
        Ranking::Solitude => vec![solitude::group(lines)],
        Ranking::ColourBattle => vec![colour_battle::group(lines)],
        Ranking::ConnectFive => vec![connect_five::group(tally, lines)],
        Ranking::HideAndSeek => hide_and_seek::groups(asked.game, lines),
        Ranking::WordRacer => vec![word_racer::group(lines)],
        Ranking::Generic => generic::groups(asked.game, lines),
    }
}

fn official(asked: &StandingsRequest<'_>, groups: &[RankGroup<'_>]) -> Vec<StandingsTable> {
    let each = |make: fn(&RankGroup<'_>) -> StandingsTable| groups.iter().map(make).collect();
    match asked.ranking {
        Ranking::Solitude => each(solitude::sheet),
        Ranking::ColourBattle => groups.iter().flat_map(colour_battle::sheets).collect(),
        Ranking::ConnectFive => each(connect_five::sheet),
        Ranking::HideAndSeek => each(hide_and_seek::sheet),
        Ranking::WordRacer => each(word_racer::sheet),
        Ranking::Generic => {
            groups.iter().map(|group| generic::sheet(asked.game, group, groups.len() > 1)).collect()
        }
    }
}

/// Roles are rated apart where that can be done; by their places in the file.
fn rated(tally: &Tally, asked: &StandingsRequest<'_>, groups: &[RankGroup<'_>]) -> Vec<Rating> {
    let apart = || -> Option<Vec<Rating>> {
        let mut all = Vec::new();
        for group in groups.iter().filter(|_| asked.game.roles.len() > 1) {
            let role = asked.game.roles.iter().find(|role| role.name == group.role)?;
            all.extend(ratings_by_board(tally, &group.order(), role.better)?);
        }
        all.sort_by_key(|rating| rating.entrant);
        Some(all).filter(|all| !all.is_empty())
    };
    apart().unwrap_or_else(|| rating::ratings(tally))
}

/// How the knockout ended.
fn placing(asked: &StandingsRequest<'_>) -> Option<StandingsTable> {
    if asked.placing.is_empty() {
        return None;
    }
    let mut sheet = StandingsTable::official("knockout", "Knockout");
    sheet.columns = vec![Column::number("place", "Place"), Column::text("name", "Name")];
    let is_out = |entrant: Entrant| rulings::disqualified(asked.rulings, entrant).is_some();
    let row = |entrant: Entrant, place: Cell| {
        let name = asked.entrants.get(entrant.index()).map_or_else(String::new, row::shown_name);
        let name = if is_out(entrant) { format!("{name} ({})", row::DISQUALIFIED) } else { name };
        Row { entrant: Some(entrant), cells: vec![place, Cell::Text(name)] }
    };
    let mut place = 1;
    let mut last = Vec::new();
    for shared in asked.placing {
        let (out, placed): (Vec<Entrant>, Vec<Entrant>) =
            shared.iter().partition(|entrant| is_out(**entrant));
        sheet.rows.extend(placed.iter().map(|&entrant| row(entrant, Cell::Int(place))));
        last.extend(out.into_iter().map(|entrant| row(entrant, Cell::Empty)));
        place += placed.len() as i64;
    }
    sheet.rows.extend(last);
    Some(sheet)
}

impl Standings {
    /// The same without anything that was measured: what another run of the same competition must show too.
    #[must_use]
    pub fn without_times(&self) -> Self {
        let sheets = self.sheets.iter().filter(|sheet| !sheet.time).map(StandingsTable::without_times).collect();
        let rulings = self.rulings.iter().map(RulingNote::without_times).collect();
        Self { sheets, rulings, ..self.clone() }
    }

    /// Only the sheet of this id.
    pub fn sheet(&self, id: &str) -> Option<&StandingsTable> {
        self.sheets.iter().find(|sheet| sheet.id == id)
    }
}
