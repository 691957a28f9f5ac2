//! What the organiser decided: void matches, disqualified entrants. Every ruling stays, also one that was lifted: the list is the audit log.

use agon_league::{Entrant, MatchKey};

use crate::model::Timestamp;
use crate::{Result, StoreError};

pub use agon_league::standings::RulingKind;

/// A reason has at most so many characters.
const LONGEST_REASON: usize = 500;
/// The name of who decides has at most so many.
const LONGEST_NAME: usize = 100;

/// A ruling to be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewRuling {
    /// What is decided.
    pub kind: RulingKind,
    /// Why: one line, shown in the table.
    pub reason: String,
    /// Who decides.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

/// A ruling that was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ruling {
    /// From 1, in the order they were made.
    pub id: u64,
    /// What was decided.
    pub kind: RulingKind,
    /// Why.
    pub reason: String,
    /// Who decided.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// That it is no longer in force.
    pub lifted: Option<Lifted>,
}

/// How a ruling came to be no longer in force.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lifted {
    /// Why.
    pub reason: String,
    /// Who decided.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

impl Ruling {
    /// Whether it was not lifted.
    pub const fn is_in_force(&self) -> bool {
        self.lifted.is_none()
    }
}

/// One line, neither empty nor endless.
pub fn look_over(reason: &str, by: &str) -> Result<()> {
    let refused = |what: String, hint| Err(StoreError::Ruling { what, hint });
    let letters = reason.chars().count();
    if reason.trim().is_empty() {
        return refused(
            "a ruling needs a reason".to_owned(),
            "say in a line why: everybody reads it in the table",
        );
    }
    if letters > LONGEST_REASON {
        let what = format!("the reason has {letters} characters, {LONGEST_REASON} are the most");
        return refused(what, "say it shorter, and link to the rest");
    }
    if by.trim().is_empty() || by.chars().count() > LONGEST_NAME {
        let what = format!("a ruling needs the name of who decides, of at most {LONGEST_NAME} characters");
        return refused(what, "give a name the organisers know");
    }
    if reason.chars().chain(by.chars()).any(char::is_control) {
        let what = "there is a line end or another control character in the reason or the name".to_owned();
        return refused(what, "write it in one line, as plain text");
    }
    Ok(())
}

/// In the words of the errors.
fn named(kind: RulingKind) -> String {
    match kind {
        RulingKind::Void(key) => format!("match {key}"),
        RulingKind::Disqualify(Entrant(number)) => format!("entrant {}", number + 1),
    }
}

/// The numbers of rulings as they are kept: a space around each.
pub fn numbers(list: &[u64]) -> String {
    list.iter().fold(" ".to_owned(), |text, number| text + &number.to_string() + " ")
}

/// The numbers of [`numbers`].
pub fn read_numbers(text: &str) -> Option<Vec<u64>> {
    text.split_whitespace().map(|word| word.parse().ok()).collect()
}

/// Why a ruling on this is not made.
pub fn is_known(kind: RulingKind, ruling: u64) -> StoreError {
    let word = match kind {
        RulingKind::Void(_) => "void",
        RulingKind::Disqualify(_) => "disqualified",
    };
    let what = format!("{} is {word} already, by ruling {ruling}", named(kind));
    StoreError::Ruling { what, hint: "to give another reason, lift that ruling first" }
}

/// That there is no such match.
pub fn not_played(key: MatchKey) -> StoreError {
    StoreError::Ruling {
        what: format!("match {key} was not played: there is nothing to void"),
        hint: "matches are counted phase.stage.number, each from 1, as reports show them",
    }
}

/// That there is no such entrant.
pub fn not_there(entrant: Entrant) -> StoreError {
    StoreError::Ruling {
        what: format!("there is no entrant {}: no bot was handed in for it", entrant.0 + 1),
        hint: "entrants are counted from 1 in the order of the competition's file, and known once the competition was started",
    }
}

/// That there is no such ruling.
pub fn no_such(ruling: u64) -> StoreError {
    StoreError::Ruling { what: format!("there is no ruling {ruling}"), hint: "rulings are counted from 1" }
}

/// That a ruling is no longer in force.
pub fn lifted_already(ruling: u64) -> StoreError {
    StoreError::Ruling {
        what: format!("ruling {ruling} was lifted already"),
        hint: "it has no effect any more; decide anew if it should have one",
    }
}
