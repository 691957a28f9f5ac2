//! What a check found, as clients get it.

use agon_host::intake::Refusal;
use agon_venue::check::{Checked, Outcome};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a check found.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CheckReport {
    /// Whether the bot is accepted.
    pub accepted: bool,
    /// What it is called, if it was found.
    pub name: Option<String>,
    /// What it is made of, if it was found.
    pub hash: Option<String>,
    /// What was looked at, in order.
    pub steps: Vec<CheckStep>,
}

/// A step of a check.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CheckStep {
    /// In one word: `found`, `source`, `loads`, `plays`.
    pub name: String,
    /// `yes`, `no` or `skipped`.
    pub outcome: String,
    /// What there is to say about it.
    pub says: String,
    /// What is to be mended.
    pub bad: Vec<Finding>,
    /// What would be better otherwise.
    pub advice: Vec<Finding>,
}

/// Something a check found.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Finding {
    /// In which file.
    pub file: Option<String>,
    /// On which line, from 1.
    pub line: Option<u32>,
    /// What.
    pub what: String,
    /// What to do.
    pub hint: String,
    /// The bot's own words on the way there.
    pub trace: String,
}

impl CheckReport {
    /// Of a check. `hide` is cut out of every text: where the machine keeps things is nobody's business.
    pub fn of(checked: &Checked, hide: &[String]) -> Self {
        let tidy = |text: &str| hide.iter().fold(text.to_owned(), |text, hidden| text.replace(hidden, ""));
        let finding = |one: &Refusal| Finding {
            file: one.file.as_deref().map(tidy),
            line: one.line,
            what: tidy(&one.what),
            hint: tidy(&one.hint),
            trace: tidy(&one.trace),
        };
        let steps = checked.steps.iter().map(|step| CheckStep {
            name: step.name.to_owned(),
            outcome: match step.outcome {
                Outcome::Yes => "yes",
                Outcome::No => "no",
                Outcome::Skipped => "skipped",
            }
            .to_owned(),
            says: tidy(&step.says),
            bad: step.bad.iter().map(finding).collect(),
            advice: step.advice.iter().map(finding).collect(),
        });
        Self {
            accepted: checked.accepted,
            name: checked.name.clone(),
            hash: checked.hash.clone(),
            steps: steps.collect(),
        }
    }

    /// One that was refused before it could be looked at.
    pub fn refused(step: &str, refusal: &Refusal) -> Self {
        let bad = vec![Finding {
            file: refusal.file.clone(),
            line: refusal.line,
            what: refusal.what.clone(),
            hint: refusal.hint.clone(),
            trace: refusal.trace.clone(),
        }];
        let step = CheckStep {
            name: step.to_owned(),
            outcome: "no".to_owned(),
            says: String::new(),
            bad,
            advice: Vec::new(),
        };
        Self { accepted: false, name: None, hash: None, steps: vec![step] }
    }
}
