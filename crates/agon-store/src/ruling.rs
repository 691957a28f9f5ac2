//! Rulings of the organiser: void matches, disqualified entrants. Lifted rulings stay in the list, which is the audit log.

use agon_league::{Entrant, MatchKey};

use crate::model::Timestamp;
use crate::{Result, StoreError};

pub use agon_league::standings::RulingKind;

/// Maximum length of a reason.
const MAX_REASON_CHARS: usize = 500;
/// Maximum length of the decider's name.
const MAX_NAME_CHARS: usize = 100;

/// A ruling to make.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewRuling {
    /// The decision.
    pub kind: RulingKind,
    /// Reason: one line, shown in the table.
    pub reason: String,
    /// Name of the decider.
    pub by: String,
    /// Time of the decision.
    pub at: Timestamp,
}

/// A stored ruling.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ruling {
    /// Id, from 1 in the order of the rulings.
    pub id: u64,
    /// The decision.
    pub kind: RulingKind,
    /// Reason.
    pub reason: String,
    /// Name of the decider.
    pub by: String,
    /// Time of the decision.
    pub at: Timestamp,
    /// Set once the ruling is no longer in force.
    pub lifted: Option<RulingLift>,
}

/// Decision to lift a ruling.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RulingLift {
    /// Reason.
    pub reason: String,
    /// Name of the decider.
    pub by: String,
    /// Time of the decision.
    pub at: Timestamp,
}

impl Ruling {
    /// Whether the ruling has not been lifted.
    pub const fn is_in_force(&self) -> bool {
        self.lifted.is_none()
    }
}

/// Checks reason and name: one line each, not empty, not too long.
pub fn validate(reason: &str, by: &str) -> Result<()> {
    let refused = |what: String, hint| Err(StoreError::InvalidRuling { what, hint });
    let characters = reason.chars().count();
    if reason.trim().is_empty() {
        return refused(
            "a ruling needs a reason".to_owned(),
            "give a reason of one line; the table shows it",
        );
    }
    if characters > MAX_REASON_CHARS {
        let what = format!("the reason has {characters} characters; the maximum is {MAX_REASON_CHARS}");
        return refused(what, "shorten it, and link to the rest");
    }
    if by.trim().is_empty() || by.chars().count() > MAX_NAME_CHARS {
        let what = format!("a ruling needs the name of the decider, at most {MAX_NAME_CHARS} characters");
        return refused(what, "give a name the organisers know");
    }
    if reason.chars().chain(by.chars()).any(char::is_control) {
        let what = "the reason or the name contains a line break or another control character".to_owned();
        return refused(what, "write one line of plain text");
    }
    Ok(())
}

/// Describes the subject of a ruling in error messages.
fn describe_target(kind: RulingKind) -> String {
    match kind {
        RulingKind::Void(key) => format!("match {key}"),
        RulingKind::Disqualify(Entrant(number)) => format!("entrant {}", number + 1),
    }
}

/// Formats ruling ids for the database: a space on both sides of each.
pub fn format_ids(list: &[u64]) -> String {
    list.iter().fold(" ".to_owned(), |text, number| text + &number.to_string() + " ")
}

/// Reverses [`format_ids`].
pub fn parse_ids(text: &str) -> Option<Vec<u64>> {
    text.split_whitespace().map(|word| word.parse().ok()).collect()
}

/// Error: the subject already has a ruling in force.
pub fn already_ruled(kind: RulingKind, ruling: u64) -> StoreError {
    let word = match kind {
        RulingKind::Void(_) => "void",
        RulingKind::Disqualify(_) => "disqualified",
    };
    let what = format!("{} is already {word}, by ruling {ruling}", describe_target(kind));
    StoreError::InvalidRuling { what, hint: "to give another reason, lift that ruling first" }
}

/// Error: the match was not played.
pub fn match_not_played(key: MatchKey) -> StoreError {
    StoreError::InvalidRuling {
        what: format!("match {key} was not played: there is nothing to void"),
        hint: "write a match as phase.stage.number, each counted from 1, as in reports",
    }
}

/// Error: the entrant does not exist.
pub fn no_such_entrant(entrant: Entrant) -> StoreError {
    StoreError::InvalidRuling {
        what: format!("there is no entrant {}: it has no bot", entrant.0 + 1),
        hint: "count entrants from 1 in the order of the competition file; they exist once the competition has started",
    }
}

/// Error: the ruling does not exist.
pub fn no_such_ruling(ruling: u64) -> StoreError {
    StoreError::InvalidRuling {
        what: format!("there is no ruling {ruling}"),
        hint: "rulings are counted from 1",
    }
}

/// Error: the ruling is already lifted.
pub fn already_lifted(ruling: u64) -> StoreError {
    StoreError::InvalidRuling {
        what: format!("ruling {ruling} is already lifted"),
        hint: "it has no effect any more; make a new ruling if needed",
    }
}
