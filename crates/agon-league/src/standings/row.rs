//! An entrant with all its sums, and the order of them.

use std::cmp::Ordering;

use super::{StandingsRequest, Cell, EntrantName, rulings};
use crate::config::EntrantSpec;
use crate::result::{Entrant, FixedPoint};
use crate::tally::{EntrantTotals, Tally};

/// The mark of who has no place.
pub(super) const DISQUALIFIED: &str = "disqualified";

/// An entrant that has played.
#[derive(Clone, Copy, Debug)]
pub struct EntrantRow<'a> {
    /// Which.
    pub entrant: Entrant,
    /// What the file says about it.
    pub spec: Option<&'a EntrantSpec>,
    /// What it did.
    pub sums: &'a EntrantTotals,
    /// Why it is disqualified, if it is.
    pub disqualified: Option<&'a str>,
}

/// A line with its rank.
#[derive(Clone, Copy, Debug)]
pub struct RankedRow<'a> {
    /// 1 for the best; equals share it, and the next after two firsts is third. Who is disqualified has none.
    pub rank: Option<u64>,
    /// Whose.
    pub line: EntrantRow<'a>,
}

/// A mean, exactly: two are equal only if they are.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    /// In millionths.
    pub sum: i128,
    /// Of how many.
    pub count: u64,
}

impl RankedRow<'_> {
    /// The rank for a table.
    pub fn place(&self) -> Cell {
        self.rank.map_or(Cell::Empty, |rank| Cell::Int(rank as i64))
    }
}

impl Ratio {
    /// As a float.
    pub fn real(self) -> f64 {
        self.sum as f64 / (self.count.max(1) as f64 * FixedPoint::ONE as f64)
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ratio {}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        let cross = |a: &Self, b: &Self| a.sum.saturating_mul(b.count.max(1).into());
        cross(self, other).cmp(&cross(other, self))
    }
}

/// A name with its marks: `Prowler (AI)`.
pub(super) fn shown_name(spec: &EntrantSpec) -> String {
    spec.marks.iter().fold(spec.name.clone(), |name, mark| format!("{name} ({})", mark.mark))
}

impl<'a> EntrantRow<'a> {
    /// Everybody who has played.
    pub fn all(tally: &'a Tally, asked: &StandingsRequest<'a>) -> Vec<Self> {
        let line = |(entrant, sums): (Entrant, &'a EntrantTotals)| Self {
            entrant,
            spec: asked.entrants.get(entrant.index()),
            sums,
            disqualified: rulings::disqualified(asked.rulings, entrant),
        };
        tally.entrants().map(line).collect()
    }

    /// Its name with marks.
    pub fn name(&self) -> Cell {
        let name = self.spec.map_or_else(|| format!("entrant {}", self.entrant.0 + 1), shown_name);
        Cell::Text(if self.disqualified.is_some() { format!("{name} ({DISQUALIFIED})") } else { name })
    }

    /// Who wrote it.
    pub fn contributor(&self) -> Cell {
        let contributor = self.spec.and_then(|spec| spec.contributor.clone());
        contributor.map_or(Cell::Empty, Cell::Text)
    }

    /// Points a match.
    pub const fn points_a_match(&self) -> Ratio {
        Ratio { sum: self.sums.points, count: self.sums.matches }
    }

    /// Score a game.
    pub const fn mean_score(&self) -> Ratio {
        Ratio { sum: self.sums.score.sum, count: self.sums.score.count }
    }

    /// For whoever reads the figures.
    pub(super) fn named(&self) -> EntrantName {
        let marks = self.spec.map_or(&[][..], |spec| &spec.marks);
        EntrantName {
            entrant: self.entrant,
            name: self
                .spec
                .map_or_else(|| format!("entrant {}", self.entrant.0 + 1), |spec| spec.name.clone()),
            contributor: self.spec.and_then(|spec| spec.contributor.clone()),
            marks: marks
                .iter()
                .map(|mark| (mark.mark.clone(), mark.note.clone()))
                .chain(self.disqualified.map(|reason| (DISQUALIFIED.to_owned(), Some(reason.to_owned()))))
                .collect(),
        }
    }
}

/// Puts the best first: those with the least key. Equals share a rank and stay in the order of the file. The disqualified come last, without
/// a rank.
pub(super) fn ranked<'a, K: Ord>(lines: &[EntrantRow<'a>], key: impl Fn(&EntrantRow<'a>) -> K) -> Vec<RankedRow<'a>> {
    let mut keyed: Vec<(K, EntrantRow<'a>)> = lines.iter().map(|line| (key(line), *line)).collect();
    let is_out = |line: &EntrantRow<'_>| line.disqualified.is_some();
    keyed.sort_by(|(one, a), (other, b)| {
        is_out(a).cmp(&is_out(b)).then_with(|| one.cmp(other)).then(a.entrant.cmp(&b.entrant))
    });
    let mut rank = 0;
    let mut list = Vec::with_capacity(keyed.len());
    for at in 0..keyed.len() {
        if at == 0 || keyed[at].0 != keyed[at - 1].0 {
            rank = at as u64 + 1;
        }
        let line = keyed[at].1;
        list.push(RankedRow { rank: (!is_out(&line)).then_some(rank), line });
    }
    list
}
