//! Rulings of the organiser in the tables: disqualified entrants come last without a place, and a list gives the reasons.

use serde_json::{Value as Json, json};

use super::{StandingsTable, TableCell, TableColumn, TableRow};
use crate::config::EntrantSpec;
use crate::result::{Entrant, MatchKey};

/// Kinds of rulings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RulingKind {
    /// The match is not counted.
    Void(MatchKey),
    /// The entrant gets no place.
    Disqualify(Entrant),
}

/// A ruling as shown in a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RulingNote {
    /// Number in the list of all rulings.
    pub number: u64,
    /// What was ruled.
    pub kind: RulingKind,
    /// Entrants of the match, if the ruling is about one.
    pub seats: Vec<Entrant>,
    /// Reason given by the organiser.
    pub reason: String,
    /// Time in milliseconds since 1970; `None` if times are omitted.
    pub at: Option<i64>,
    /// Set if the ruling is no longer in force.
    pub lifted: Option<RulingLift>,
    /// Whether it was made or lifted after the table was published. The published table then differs.
    pub after_publication: bool,
}

/// The lifting of a ruling.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RulingLift {
    /// Reason given by the organiser.
    pub reason: String,
    /// Time in milliseconds since 1970; `None` if times are omitted.
    pub at: Option<i64>,
}

/// Maximum number of names listed for a match.
const MAX_NAMES_SHOWN: usize = 4;

impl RulingNote {
    /// The same without times.
    pub(super) fn without_times(&self) -> Self {
        let lifted = self.lifted.as_ref().map(|lifted| RulingLift { at: None, ..lifted.clone() });
        Self { at: None, lifted, ..self.clone() }
    }

    /// `disqualified: reason` or `void: reason`, with the reason of its lifting.
    fn describe_decision(&self) -> String {
        let word = match self.kind {
            RulingKind::Void(_) => "void",
            RulingKind::Disqualify(_) => "disqualified",
        };
        let lifted =
            self.lifted.as_ref().map_or_else(String::new, |lifted| format!(" (lifted: {})", lifted.reason));
        format!("{word}: {}{lifted}", self.reason)
    }

    /// `Ghost` or `match 1.1.17: Ana, Bea`.
    fn describe_subject(&self, specs: &[EntrantSpec]) -> String {
        let name = |entrant: &Entrant| name_of(specs, *entrant);
        match &self.kind {
            RulingKind::Disqualify(entrant) => name(entrant),
            RulingKind::Void(key) => {
                let mut names: Vec<String> = self.seats.iter().take(MAX_NAMES_SHOWN).map(name).collect();
                let more = self.seats.len() - names.len();
                if more > 0 {
                    names.push(format!("{more} more"));
                }
                format!("match {key}: {}", names.join(", "))
            }
        }
    }

    /// The ruling as JSON.
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
            "after_publication": self.after_publication,
        })
    }
}

/// Reason why an entrant is disqualified, if it is.
pub(super) fn disqualification_reason(rulings: &[RulingNote], entrant: Entrant) -> Option<&str> {
    let on_it = |one: &&RulingNote| one.kind == RulingKind::Disqualify(entrant) && one.lifted.is_none();
    rulings.iter().find(on_it).map(|one| one.reason.as_str())
}

/// Name without marks.
fn name_of(specs: &[EntrantSpec], entrant: Entrant) -> String {
    specs.get(entrant.index()).map_or_else(|| format!("entrant {}", entrant.0 + 1), |spec| spec.name.clone())
}

/// Table of the rulings, shown below the others.
pub(super) fn table(rulings: &[RulingNote], specs: &[EntrantSpec]) -> Option<StandingsTable> {
    if rulings.is_empty() {
        return None;
    }
    let mut table = StandingsTable { official: false, ..StandingsTable::official("rulings", "Rulings") };
    table.columns = vec![
        TableColumn::number("ruling", "#"),
        TableColumn::text("name", "About"),
        TableColumn::text("decision", "Decision"),
        TableColumn { right_aligned: false, ..TableColumn::time("at", "When") },
    ];
    for one in rulings {
        let entrant = match one.kind {
            RulingKind::Disqualify(entrant) => Some(entrant),
            RulingKind::Void(_) => None,
        };
        let cells = vec![
            TableCell::Int(one.number as i64),
            TableCell::Text(one.describe_subject(specs)),
            TableCell::Text(one.describe_decision()),
            one.at.map_or(TableCell::Empty, |at| TableCell::Text(format_timestamp(at))),
        ];
        table.rows.push(TableRow { entrant, cells });
    }
    let late: Vec<String> =
        rulings.iter().filter(|one| one.after_publication).map(|one| one.number.to_string()).collect();
    if !late.is_empty() {
        table.notes.push(format!(
            "Made or lifted after this phase's table was published, so that the published table is another one: ruling {}",
            late.join(", ")
        ));
    }
    Some(table)
}

/// Adds the reasons of disqualifications below the official tables.
pub(super) fn add_notes(tables: &mut [StandingsTable], rulings: &[RulingNote], specs: &[EntrantSpec]) {
    for table in tables.iter_mut().filter(|table| table.official && !table.ranked_by_time) {
        let out = table.rows.iter().filter_map(|row| {
            let entrant = row.entrant?;
            Some((entrant, disqualification_reason(rulings, entrant)?))
        });
        let notes: Vec<String> = out
            .map(|(entrant, reason)| format!("{} is disqualified: {reason}", name_of(specs, entrant)))
            .collect();
        table.notes.extend(notes);
    }
}

/// `2026-11-15 10:32 UTC`, from milliseconds since 1970.
pub fn format_timestamp(at: i64) -> String {
    let minutes = at.div_euclid(60_000);
    let (days, minute) = (minutes.div_euclid(1440), minutes.rem_euclid(1440));
    let (year, month, day) = civil_date(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", minute / 60, minute % 60)
}

/// Gregorian date of a day counted from 1970. Years start in March here, so that the leap day comes last.
fn civil_date(days: i64) -> (i64, i64, i64) {
    let from_march = days + 719_468;
    let (era, day) = (from_march.div_euclid(146_097), from_march.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let in_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let in_month = in_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, in_month)
}
