//! Result of a check, as sent to clients.

use agon_bots::check::{CheckResult, StepOutcome};
use agon_host::BotRejection;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Result of a check.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CheckReport {
    /// Whether the bot is accepted.
    pub accepted: bool,
    /// Name of the bot, if it was found.
    pub name: Option<String>,
    /// Hash of the bot's files, if it was found.
    pub hash: Option<String>,
    /// Steps of the check, in order.
    pub steps: Vec<CheckStep>,
}

/// A step of a check.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CheckStep {
    /// Name of the step: `found`, `source`, `loads` or `plays`.
    pub name: String,
    /// `yes`, `no` or `skipped`.
    pub outcome: String,
    /// Summary of the step.
    #[serde(rename = "says")]
    pub message: String,
    /// Problems that must be fixed.
    #[serde(rename = "bad")]
    pub problems: Vec<CheckFinding>,
    /// Suggestions that need not be followed.
    pub advice: Vec<CheckFinding>,
}

/// A problem or a suggestion.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CheckFinding {
    /// The file it is in.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// What was found.
    pub what: String,
    /// What to do about it.
    pub hint: String,
    /// The bot's traceback or output.
    pub trace: String,
}

impl CheckReport {
    /// Converts the result of a check. The paths in `hide` are removed from every text, because users must not see them.
    pub fn from_check(checked: &CheckResult, hide: &[String]) -> Self {
        let tidy = |text: &str| hide.iter().fold(text.to_owned(), |text, hidden| text.replace(hidden, ""));
        let finding = |one: &BotRejection| CheckFinding {
            file: one.file.as_deref().map(tidy),
            line: one.line,
            what: tidy(&one.what),
            hint: tidy(&one.hint),
            trace: tidy(&one.trace),
        };
        let steps = checked.steps.iter().map(|step| CheckStep {
            name: step.name.to_owned(),
            outcome: step.outcome.name().to_owned(),
            message: tidy(&step.says),
            problems: step.bad.iter().map(finding).collect(),
            advice: step.advice.iter().map(finding).collect(),
        });
        Self {
            accepted: checked.accepted,
            name: checked.name.clone(),
            hash: checked.hash.clone(),
            steps: steps.collect(),
        }
    }

    /// A report for a bot that was rejected before the check proper.
    pub fn rejected(step: &str, rejection: &BotRejection) -> Self {
        let bad = vec![CheckFinding {
            file: rejection.file.clone(),
            line: rejection.line,
            what: rejection.what.clone(),
            hint: rejection.hint.clone(),
            trace: rejection.trace.to_string(),
        }];
        let step = CheckStep {
            name: step.to_owned(),
            outcome: StepOutcome::No.name().to_owned(),
            message: String::new(),
            problems: bad,
            advice: Vec::new(),
        };
        Self { accepted: false, name: None, hash: None, steps: vec![step] }
    }
}
