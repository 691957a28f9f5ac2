//! Entrants with their totals, and their ranking.

use std::cmp::Ordering;

use super::{EntrantName, StandingsRequest, TableCell, rulings};
use crate::config::EntrantSpec;
use crate::result::{Entrant, FixedPoint};
use crate::tally::{EntrantTotals, Tally};

/// Mark of disqualified entrants.
pub(super) const DISQUALIFIED: &str = "disqualified";

/// An entrant that has played.
#[derive(Clone, Copy, Debug)]
pub struct EntrantRow<'a> {
    /// The entrant.
    pub entrant: Entrant,
    /// Its entry in the file.
    pub spec: Option<&'a EntrantSpec>,
    /// Its totals.
    pub totals: &'a EntrantTotals,
    /// Reason of the disqualification, if any.
    pub disqualified: Option<&'a str>,
}

/// An entrant with its rank.
#[derive(Clone, Copy, Debug)]
pub struct RankedRow<'a> {
    /// 1 is the best. Equals share a rank; after two firsts comes the third. `None` for disqualified entrants.
    pub rank: Option<u64>,
    /// The entrant.
    pub row: EntrantRow<'a>,
}

/// A mean as an exact fraction, so that comparisons are exact.
#[derive(Clone, Copy, Debug)]
pub struct ExactMean {
    /// Sum in millionths.
    pub sum: i128,
    /// Number of values.
    pub count: u64,
}

impl RankedRow<'_> {
    /// Table cell with the rank.
    pub fn rank_cell(&self) -> TableCell {
        self.rank.map_or(TableCell::Empty, |rank| TableCell::Int(rank as i64))
    }
}

impl ExactMean {
    /// As a float.
    pub fn to_f64(self) -> f64 {
        self.sum as f64 / (self.count.max(1) as f64 * FixedPoint::ONE as f64)
    }
}

impl PartialEq for ExactMean {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for ExactMean {}

impl PartialOrd for ExactMean {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ExactMean {
    fn cmp(&self, other: &Self) -> Ordering {
        let cross = |a: &Self, b: &Self| a.sum.saturating_mul(b.count.max(1).into());
        cross(self, other).cmp(&cross(other, self))
    }
}

/// Name with marks: `Prowler (AI)`.
pub(super) fn name_with_marks(spec: &EntrantSpec) -> String {
    spec.marks.iter().fold(spec.name.clone(), |name, mark| format!("{name} ({})", mark.mark))
}

impl<'a> EntrantRow<'a> {
    /// All entrants that have played.
    pub fn all(tally: &'a Tally, request: &StandingsRequest<'a>) -> Vec<Self> {
        let row = |(entrant, totals): (Entrant, &'a EntrantTotals)| Self {
            entrant,
            spec: request.entrants.get(entrant.index()),
            totals,
            disqualified: rulings::disqualification_reason(request.rulings, entrant),
        };
        tally.entrants().map(row).collect()
    }

    /// Whether its bot is a house bot.
    pub fn is_house_bot(&self) -> bool {
        self.spec.is_some_and(|spec| spec.bot.house_name().is_some())
    }

    /// Table cell with name and marks.
    pub fn name_cell(&self) -> TableCell {
        let name = self.spec.map_or_else(|| format!("entrant {}", self.entrant.0 + 1), name_with_marks);
        TableCell::Text(if self.disqualified.is_some() { format!("{name} ({DISQUALIFIED})") } else { name })
    }

    /// Table cell with the author.
    pub fn contributor_cell(&self) -> TableCell {
        let contributor = self.spec.and_then(|spec| spec.contributor.clone());
        contributor.map_or(TableCell::Empty, TableCell::Text)
    }

    /// Points per match.
    pub const fn points_per_match(&self) -> ExactMean {
        ExactMean { sum: self.totals.points, count: self.totals.matches }
    }

    /// Games won minus games lost.
    pub const fn won_minus_lost(&self) -> i64 {
        self.totals.won as i64 - self.totals.lost as i64
    }

    /// Score per game.
    pub const fn mean_score(&self) -> ExactMean {
        ExactMean { sum: self.totals.score.sum, count: self.totals.score.count }
    }

    /// Name, contributor and marks.
    pub(super) fn entrant_name(&self) -> EntrantName {
        EntrantName::new(self.entrant, self.spec, self.disqualified)
    }
}

impl EntrantName {
    /// Name, contributor and marks of an entrant. `disqualified` is the reason of its disqualification.
    pub(super) fn new(entrant: Entrant, spec: Option<&EntrantSpec>, disqualified: Option<&str>) -> Self {
        let marks = spec.map_or(&[][..], |spec| &spec.marks);
        Self {
            entrant,
            name: spec.map_or_else(|| format!("entrant {}", entrant.0 + 1), |spec| spec.name.clone()),
            contributor: spec.and_then(|spec| spec.contributor.clone()),
            marks: marks
                .iter()
                .map(|mark| (mark.mark.clone(), mark.note.clone()))
                .chain(disqualified.map(|reason| (DISQUALIFIED.to_owned(), Some(reason.to_owned()))))
                .collect(),
        }
    }
}

/// Ranks entrants, the smallest key first. Equals share a rank and stay in the order of the file. Disqualified entrants come last, without
/// a rank.
pub(super) fn rank_rows<'a, K: Ord>(
    rows: &[EntrantRow<'a>],
    key: impl Fn(&EntrantRow<'a>) -> K,
) -> Vec<RankedRow<'a>> {
    let mut keyed: Vec<(K, EntrantRow<'a>)> = rows.iter().map(|row| (key(row), *row)).collect();
    let is_out = |row: &EntrantRow<'_>| row.disqualified.is_some();
    keyed.sort_by(|(one, a), (other, b)| {
        is_out(a).cmp(&is_out(b)).then_with(|| one.cmp(other)).then(a.entrant.cmp(&b.entrant))
    });
    let mut rank = 0;
    let mut list = Vec::with_capacity(keyed.len());
    for at in 0..keyed.len() {
        if at == 0 || keyed[at].0 != keyed[at - 1].0 {
            rank = at as u64 + 1;
        }
        let row = keyed[at].1;
        list.push(RankedRow { rank: (!is_out(&row)).then_some(rank), row });
    }
    list
}
