//! What the organiser decided, in the tables: who is disqualified stands at the end without a place, and a list says why.

use serde_json::{Value as Json, json};

use super::{Cell, Column, Row, StandingsTable};
use crate::config::EntrantSpec;
use crate::result::{Entrant, MatchKey};

/// What can be decided.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RulingKind {
    /// A match counts for nothing.
    Void(MatchKey),
    /// An entrant has no place.
    Disqualify(Entrant),
}

/// A ruling, as a table shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RulingNote {
    /// Its number in the list of all.
    pub number: u64,
    /// What was decided.
    pub kind: RulingKind,
    /// Who played, if it is about a match.
    pub seats: Vec<Entrant>,
    /// Why.
    pub reason: String,
    /// When, in milliseconds since 1970; `None` where times are left out.
    pub at: Option<i64>,
    /// That it is no longer in force.
    pub lifted: Option<RulingLift>,
    /// Whether it was made or lifted after the table was published: what was published is another table then.
    pub late: bool,
}

/// How a ruling came to be no longer in force.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RulingLift {
    /// Why.
    pub reason: String,
    /// When, in milliseconds since 1970; `None` where times are left out.
    pub at: Option<i64>,
}

/// More names of a match than these are not listed.
const MOST_NAMED: usize = 4;

impl RulingNote {
    /// Without its times.
    pub(super) fn without_times(&self) -> Self {
        let lifted = self.lifted.as_ref().map(|lifted| RulingLift { at: None, ..lifted.clone() });
        Self { at: None, lifted, ..self.clone() }
    }

    /// `disqualified: reason`, `void: reason`; and why that is over.
    fn decision(&self) -> String {
        let word = match self.kind {
            RulingKind::Void(_) => "void",
            RulingKind::Disqualify(_) => "disqualified",
        };
        let lifted =
            self.lifted.as_ref().map_or_else(String::new, |lifted| format!(" (lifted: {})", lifted.reason));
        format!("{word}: {}{lifted}", self.reason)
    }

    /// `Ghost`, `match 1.1.17: Ana, Bea`.
    fn about(&self, specs: &[EntrantSpec]) -> String {
        let name = |entrant: &Entrant| name_of(specs, *entrant);
        match &self.kind {
            RulingKind::Disqualify(entrant) => name(entrant),
            RulingKind::Void(key) => {
                let mut names: Vec<String> = self.seats.iter().take(MOST_NAMED).map(name).collect();
                let more = self.seats.len() - names.len();
                if more > 0 {
                    names.push(format!("{more} more"));
                }
                format!("match {key}: {}", names.join(", "))
            }
        }
    }

    /// For programs.
    pub(super) fn json(&self) -> Json {
        let (kind, key, entrant) = match self.kind {
            RulingKind::Void(key) => ("void", Some(key), None),
            RulingKind::Disqualify(entrant) => ("disqualified", None, Some(entrant)),
        };
        json!({
            "ruling": self.number,
            "kind": kind,
            "match": key,
            "seats": self.seats,
            "entrant": entrant,
            "reason": self.reason,
            "at": self.at,
            "lifted": self.lifted.as_ref().map(|lifted| json!({"reason": lifted.reason, "at": lifted.at})),
            "after_publication": self.late,
        })
    }
}

/// Why an entrant is disqualified, if it is.
pub(super) fn disqualified(rulings: &[RulingNote], entrant: Entrant) -> Option<&str> {
    let on_it = |one: &&RulingNote| one.kind == RulingKind::Disqualify(entrant) && one.lifted.is_none();
    rulings.iter().find(on_it).map(|one| one.reason.as_str())
}

/// A name without its marks.
fn name_of(specs: &[EntrantSpec], entrant: Entrant) -> String {
    specs.get(entrant.index()).map_or_else(|| format!("entrant {}", entrant.0 + 1), |spec| spec.name.clone())
}

/// The list below the tables.
pub(super) fn sheet(rulings: &[RulingNote], specs: &[EntrantSpec]) -> Option<StandingsTable> {
    if rulings.is_empty() {
        return None;
    }
    let mut sheet = StandingsTable { official: false, ..StandingsTable::official("rulings", "Rulings") };
    sheet.columns = vec![
        Column::number("ruling", "#"),
        Column::text("name", "About"),
        Column::text("decision", "Decision"),
        Column { right: false, ..Column::time("at", "When") },
    ];
    for one in rulings {
        let entrant = match one.kind {
            RulingKind::Disqualify(entrant) => Some(entrant),
            RulingKind::Void(_) => None,
        };
        let cells = vec![
            Cell::Int(one.number as i64),
            Cell::Text(one.about(specs)),
            Cell::Text(one.decision()),
            one.at.map_or(Cell::Empty, |at| Cell::Text(shown_moment(at))),
        ];
        sheet.rows.push(Row { entrant, cells });
    }
    let late: Vec<String> = rulings.iter().filter(|one| one.late).map(|one| one.number.to_string()).collect();
    if !late.is_empty() {
        sheet.notes.push(format!(
            "Made or lifted after this phase's table was published, so that the published table is another one: ruling {}",
            late.join(", ")
        ));
    }
    Some(sheet)
}

/// Says below the official tables why somebody in it has no place.
pub(super) fn add_notes(sheets: &mut [StandingsTable], rulings: &[RulingNote], specs: &[EntrantSpec]) {
    for sheet in sheets.iter_mut().filter(|sheet| sheet.official && !sheet.time) {
        let out = sheet.rows.iter().filter_map(|row| {
            let entrant = row.entrant?;
            Some((entrant, disqualified(rulings, entrant)?))
        });
        let notes: Vec<String> = out
            .map(|(entrant, reason)| format!("{} is disqualified: {reason}", name_of(specs, entrant)))
            .collect();
        sheet.notes.extend(notes);
    }
}

/// `2026-11-15 10:32 UTC`, of milliseconds since 1970.
pub fn shown_moment(at: i64) -> String {
    let minutes = at.div_euclid(60_000);
    let (days, minute) = (minutes.div_euclid(1440), minutes.rem_euclid(1440));
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", minute / 60, minute % 60)
}

/// The date of a day counted from 1970, by the Gregorian calendar. Years begin in March here, so that the leap day comes last.
fn civil(days: i64) -> (i64, i64, i64) {
    let from_march = days + 719_468;
    let (era, day) = (from_march.div_euclid(146_097), from_march.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let in_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let in_month = in_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, in_month)
}
