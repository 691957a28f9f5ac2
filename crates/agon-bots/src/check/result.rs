//! What came of a check, for people and for programs.

use agon_core::document::document;
use agon_engine::film::json::BotOutputLine;
use agon_host::BotRejection;
use serde_json::{Value as Json, json};

/// So many of a bot's own last words are shown with each finding.
const WORDS_SHOWN: usize = 8;

/// What came of a check.
#[derive(Clone, Debug)]
pub struct CheckResult {
    /// The game's id.
    pub game: String,
    /// The bot as it was named.
    pub bot: String,
    /// Whether it would be accepted.
    pub accepted: bool,
    /// What it is called, if it was found.
    pub name: Option<String>,
    /// What it is made of, if it was found.
    pub hash: Option<String>,
    /// What was looked at, in order.
    pub steps: Vec<StepResult>,
    /// The trial, a value for each role; null if none was played.
    pub trials: Json,
    /// The games of the trial, a packed record each, if they were asked for.
    pub records: Vec<Vec<u8>>,
    /// What the bot printed in each of them, if they were asked for.
    pub logs: Vec<Vec<BotOutputLine>>,
}

/// How a step of the check went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepOutcome {
    /// Well.
    Yes,
    /// Something is to be mended.
    No,
    /// It was not looked at.
    Skipped,
}

/// A step of the check.
#[derive(Clone, Debug)]
pub struct StepResult {
    /// In one word.
    pub name: &'static str,
    /// How it went.
    pub outcome: StepOutcome,
    /// What there is to say about it.
    pub says: String,
    /// What is to be mended.
    pub bad: Vec<BotRejection>,
    /// What would be better otherwise.
    pub advice: Vec<BotRejection>,
}

impl StepResult {
    pub(super) fn new(name: &'static str, outcome: StepOutcome, says: impl Into<String>) -> Self {
        Self { name, outcome, says: says.into(), bad: Vec::new(), advice: Vec::new() }
    }

    pub(super) fn yes(name: &'static str, says: impl Into<String>) -> Self {
        Self::new(name, StepOutcome::Yes, says)
    }

    pub(super) fn no(name: &'static str, refusal: BotRejection) -> Self {
        Self { bad: vec![refusal], ..Self::new(name, StepOutcome::No, "") }
    }

    pub(super) fn skipped(name: &'static str, why: &str) -> Self {
        Self::new(name, StepOutcome::Skipped, why)
    }

    const fn word(&self) -> &'static str {
        match self.outcome {
            StepOutcome::Yes => "yes",
            StepOutcome::No => "no",
            StepOutcome::Skipped => "-",
        }
    }
}

impl CheckResult {
    /// For people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for step in &self.steps {
            text += format!(
                "{:8}{:5}{}",
                step.name,
                step.word(),
                step.says.replace("; as ", "\n             as ")
            )
            .trim_end();
            text.push('\n');
            text += &list("", &step.bad);
            text += &list("advice: ", &step.advice);
        }
        let bad = self.steps.iter().map(|step| step.bad.len() as u64).sum();
        if self.accepted {
            text + "yes: accepted\n"
        } else {
            text + &format!("no: {} to mend\n", count(bad, "thing"))
        }
    }

    /// For programs.
    pub fn json(&self) -> Json {
        let steps: Vec<Json> = self
            .steps
            .iter()
            .map(|step| {
                let outcome = match step.outcome {
                    StepOutcome::Yes => "yes",
                    StepOutcome::No => "no",
                    StepOutcome::Skipped => "skipped",
                };
                json!({
                    "step": step.name,
                    "outcome": outcome,
                    "says": step.says,
                    "wrong": step.bad,
                    "advice": step.advice,
                })
            })
            .collect();
        let content = json!({
            "game": self.game,
            "bot": self.bot,
            "name": self.name,
            "hash": self.hash,
            "accepted": self.accepted,
            "steps": steps,
            "trials": self.trials,
        });
        document("check", content)
    }
}

/// Findings as lines, each with its own words, a hint under the last of those that share it.
fn list(mark: &str, findings: &[BotRejection]) -> String {
    let mut text = String::new();
    for (i, one) in findings.iter().enumerate() {
        let place = one.place();
        let colon = if place.is_empty() { "" } else { ": " };
        text += &format!("    {mark}{place}{colon}{}\n", one.what);
        let trace: Vec<&str> = one.trace.lines().collect();
        for line in &trace[trace.len().saturating_sub(WORDS_SHOWN)..] {
            text += &format!("        {line}\n");
        }
        if !one.hint.is_empty() && findings.get(i + 1).is_none_or(|next| next.hint != one.hint) {
            text += &format!("    hint: {}\n", one.hint);
        }
    }
    text
}

/// `1 game`, `2 games`.
pub(super) fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
