//! Result of a check, as text and as JSON.

use agon_core::SelfDescription;
use agon_core::document::document;
use agon_core::text_format::plural;
use agon_engine::film::json::BotOutputLine;
use agon_host::BotRejection;
use serde_json::{Value as Json, json};

/// Maximum number of trace lines shown with each finding.
const MAX_TRACE_LINES: usize = 8;

/// Result of a check.
#[derive(Clone, Debug)]
pub struct CheckResult {
    /// Id of the game.
    pub game: String,
    /// Bot spec as the user wrote it.
    pub bot: String,
    /// Whether the bot would be accepted.
    pub accepted: bool,
    /// Name of the bot, if it was found.
    pub name: Option<String>,
    /// Hash of the bot's content, if it was found.
    pub hash: Option<String>,
    /// Steps of the check, in order.
    pub steps: Vec<StepResult>,
    /// Figures of the trial, one value per role; null if no trial was played.
    pub trials: Json,
    /// Packed records of the trial games, if requested.
    pub records: Vec<Vec<u8>>,
    /// Bot output of each trial game, if requested.
    pub logs: Vec<Vec<BotOutputLine>>,
    /// Number of lines that the bot printed in the trial.
    pub printed_lines: u64,
    /// What the bot says about itself, in a game whose tables show it.
    pub says: SelfDescription,
}

/// Outcome of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepOutcome {
    /// No problems.
    Yes,
    /// There are problems to fix.
    No,
    /// The step was not run.
    Skipped,
}

impl StepOutcome {
    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Skipped => "skipped",
        }
    }

    /// The outcome with this name.
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::Yes, Self::No, Self::Skipped].into_iter().find(|outcome| outcome.name() == name)
    }
}

/// Result of one step of the check.
#[derive(Clone, Debug)]
pub struct StepResult {
    /// Name of the step, one word.
    pub name: &'static str,
    /// Outcome of the step.
    pub outcome: StepOutcome,
    /// Details for the user.
    pub says: String,
    /// Problems to fix.
    pub bad: Vec<BotRejection>,
    /// Optional improvements. Of the trial: faults for which no bot is rejected.
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

    /// Outcome for people. `source yes` could be read as a problem with the source.
    const fn word(&self) -> &'static str {
        match self.outcome {
            StepOutcome::Yes => "pass",
            StepOutcome::No => "fail",
            StepOutcome::Skipped => "-",
        }
    }
}

impl CheckResult {
    /// The result as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for step in &self.steps {
            text +=
                format!("{:8}{:6}{}", step.name, step.word(), step.says.replace("; ", "\n              "))
                    .trim_end();
            text.push('\n');
            text += &list("", &step.bad);
            text += &list(if step.name == "plays" { "warning: " } else { "advice: " }, &step.advice);
        }
        let bad: u64 = self.steps.iter().map(|step| step.bad.len() as u64).sum();
        if self.accepted {
            text + "yes: accepted\n"
        } else {
            text + &format!("not accepted: {} to fix\n", plural(bad, "problem", "problems"))
        }
    }

    /// The result as JSON.
    pub fn json(&self) -> Json {
        let steps: Vec<Json> = self
            .steps
            .iter()
            .map(|step| {
                json!({
                    "step": step.name,
                    "outcome": step.outcome.name(),
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

/// Findings as lines, each with its trace; findings that share a hint show it once, below the last of them.
fn list(mark: &str, findings: &[BotRejection]) -> String {
    let mut text = String::new();
    for (i, one) in findings.iter().enumerate() {
        let place = one.place();
        let colon = if place.is_empty() { "" } else { ": " };
        text += &format!("    {mark}{place}{colon}{}\n", one.what);
        let trace: Vec<&str> = one.trace.lines().collect();
        for line in &trace[trace.len().saturating_sub(MAX_TRACE_LINES)..] {
            text += &format!("        {line}\n");
        }
        if !one.debug.is_empty() {
            text += &format!("        {}\n", one.debug);
        }
        if !one.hint.is_empty() && findings.get(i + 1).is_none_or(|next| next.hint != one.hint) {
            text += &format!("    hint: {}\n", one.hint);
        }
    }
    text
}
