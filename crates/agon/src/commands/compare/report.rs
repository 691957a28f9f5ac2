//! Progress and result of a comparison: as text and as JSON.

use std::io::{IsTerminal as _, stderr};
use std::time::{Duration, Instant};

use agon_bots::Diagnostic;
use agon_bots::debug_line::{GameOptions, play_and_debug_line};
use agon_core::Fault;
use agon_core::sanitize::one_line;
use agon_engine::any_game::bot_hash;
use agon_league::sprt::{
    IntervalEstimate, PairedDifferenceTest, SwappedPairsTest, TestParams, TestStatus, TestVerdict,
};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value as Json, json};

use super::CompareJob;
use super::lineup::CompareMode;
use super::pairs::{FirstFault, Pair, StopReason};
use crate::commands::play::faults_text;
use crate::logging::LogRedirect;
use crate::{output, setup};

/// Minimum interval between updates of the progress line.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);

enum Test {
    Duel(SwappedPairsTest),
    Paired(PairedDifferenceTest),
}

/// Sum of the pairs so far.
pub struct CompareResult<'o> {
    job: &'o CompareJob<'o>,
    test: Test,
    pairs: u32,
    scores: [f64; 2],
    sign: f64,
    faults: [[u64; 4]; 2],
    first_fault: [Option<FirstFault>; 2],
    noted_fault: bool,
}

impl<'o> CompareResult<'o> {
    pub fn new(job: &'o CompareJob<'o>) -> Self {
        let test = match job.lineup.mode {
            CompareMode::Duel => Test::Duel(SwappedPairsTest::new(job.match_games)),
            CompareMode::Paired { .. } => Test::Paired(PairedDifferenceTest::default()),
        };
        Self {
            job,
            test,
            pairs: 0,
            scores: [0.0; 2],
            sign: 1.0,
            faults: [[0; 4]; 2],
            first_fault: [None, None],
            noted_fault: false,
        }
    }

    pub fn add(&mut self, pair: Pair) {
        self.pairs += 1;
        self.sign = pair.sign;
        match &mut self.test {
            Test::Duel(duel) => duel.push(pair.half_points[0]),
            Test::Paired(paired) => paired.push(pair.sign * (pair.scores[0] - pair.scores[1])),
        }
        for (who, fault) in pair.first_fault.into_iter().enumerate() {
            self.scores[who] += pair.scores[who];
            self.faults[who].iter_mut().zip(pair.faults[who]).for_each(|(sum, n)| *sum += u64::from(n));
            self.first_fault[who] = self.first_fault[who].take().or(fault);
        }
    }

    pub fn verdict(&self) -> TestVerdict {
        match &self.test {
            Test::Duel(duel) => duel.verdict(&self.job.question),
            Test::Paired(paired) => paired.verdict(&self.job.question),
        }
    }

    /// What decided: the log-likelihood ratio, or overwhelming evidence.
    fn decided_by(&self, status: &TestStatus) -> Option<&'static str> {
        match (status.verdict, self.job.question.verdict(status.llr)) {
            (TestVerdict::NotYet, _) => None,
            (_, TestVerdict::NotYet) => Some("evidence"),
            _ => Some("ratio"),
        }
    }

    /// Warning about faults of NEW: a bot that faults may lose for that reason alone.
    fn fault_warning(&self) -> Option<String> {
        let [new, _] = self.job.lineup.names();
        let faults = self.faults[0];
        (faults.iter().sum::<u64>() > 0).then(|| {
            let games = self.games();
            format!(
                "{new} has faults ({} in {games} games); fix them before you trust this result",
                faults_text(faults)
            )
        })
    }

    fn status(&self) -> TestStatus {
        match &self.test {
            Test::Duel(duel) => duel.status(&self.job.question),
            Test::Paired(paired) => paired.status(&self.job.question),
        }
    }

    fn elo(&self) -> IntervalEstimate {
        match &self.test {
            Test::Duel(duel) => duel.elo(),
            Test::Paired(paired) => paired.elo(),
        }
    }

    /// Name of the unit: Elo has a different meaning in the two tests.
    const fn elo_name(&self) -> &'static str {
        match &self.test {
            Test::Duel(_) => "Elo",
            Test::Paired(_) => "normalised Elo",
        }
    }

    fn games(&self) -> u64 {
        u64::from(self.pairs) * self.games_of_a_pair()
    }

    fn games_of_a_pair(&self) -> u64 {
        2 * u64::from(self.job.match_games)
    }

    /// Estimated number of further games, if the results continue like this.
    fn remaining_games(&self, status: &TestStatus) -> Option<f64> {
        status.remaining_pairs.map(|rest| (rest * self.games_of_a_pair() as f64).ceil())
    }

    /// The current state in one line.
    fn line(&self) -> String {
        let status = self.status();
        let (low, high) = self.job.question.bounds();
        let rest = self
            .remaining_games(&status)
            .map_or_else(String::new, |rest| format!(", about {} more games", round_estimate(rest)));
        format!(
            "{} games: {} {}, LLR {} (no at {low:.2}, yes at {high:.2}){rest}",
            self.games(),
            self.elo_name(),
            elo_text(self.elo()),
            hundredths(status.llr),
        )
    }

    /// The first fault of NEW, once: the user may want to fix it instead of waiting.
    pub fn note_first_fault(&mut self) {
        if let Some(fault) = self.first_fault[0].as_ref().filter(|_| !self.noted_fault) {
            let ([new, _], text) = (self.job.lineup.names(), fault.text());
            let first = text.lines().next().unwrap_or_default();
            output::note(&format!("warning: {new} has faults; the first: {}", one_line(first)));
            self.noted_fault = true;
        }
    }

    /// The verdict and the figures.
    pub fn result_text(&self, stopped: StopReason) -> String {
        let status = self.status();
        let job = self.job;
        let [new, old] = job.lineup.names();
        let title = job.table.info().title;
        let mut text = format!("{title}: is {new} better than {old}? seed {}\n", job.seed);
        text += &format!("{}\n\n", self.verdict_text(&status, stopped));
        for (name, figure) in self.figures(&status) {
            text += &format!(" {name:<15} {figure}\n");
        }
        if let Some(warning) = self.fault_warning() {
            text += &format!("warning: {warning}\n");
        }
        for (name, fault) in [new, old].iter().zip(&self.first_fault) {
            if let Some(fault) = fault {
                let whole = fault.text();
                let last = whole.lines().next_back().unwrap_or_default();
                let first = whole.lines().next().unwrap_or_default();
                let words = if first == last { first.to_owned() } else { format!("{first} ... {last}") };
                let line = self.debug_line(fault);
                text += &format!("first fault of {name}: {}\n  {line}\n", one_line(&words));
            }
        }
        text
    }

    /// The line to paste for a fault: it plays the match again up to the fault and records it.
    fn debug_line(&self, fault: &FirstFault) -> String {
        let args = self.job.args;
        let options = GameOptions {
            info: self.job.table.info(),
            settings: &args.setup.settings,
            sandbox: args.sandbox,
            python: args.python.options(),
            match_games: None,
        };
        let FirstFault { bots, match_seed, place, report, .. } = fault;
        play_and_debug_line(&options, bots, *match_seed, *place, report, setup::current_dir())
    }

    fn verdict_text(&self, status: &TestStatus, stopped: StopReason) -> String {
        let [new, old] = self.job.lineup.names();
        let (elo, question) = (self.elo(), &self.job.question);
        match status.verdict {
            TestVerdict::Yes if question.elo0 >= 0.0 => format!("yes: {new} is better than {old}"),
            TestVerdict::Yes => {
                format!("yes: {new} is not worse than {old} by {} Elo or more", -question.elo0)
            }
            TestVerdict::No if elo.high < 0.0 => format!("no: {new} is worse than {old}"),
            TestVerdict::No if question.elo1 > 0.0 => {
                format!("no: {new} is not better than {old} by {} Elo or more", question.elo1)
            }
            TestVerdict::No => format!("no: {new} is worse than {old} by more than {} Elo", -question.elo1),
            TestVerdict::NotYet => {
                let why = match stopped {
                    StopReason::Interrupted => "stopped by CTRL-C",
                    StopReason::Limit | StopReason::Decided => "all games are played",
                };
                let rest = match self.remaining_games(status) {
                    Some(rest) => format!("about {} more games are needed", round_estimate(rest)),
                    None => "too few games for an estimate of how many are needed".to_owned(),
                };
                format!("not yet: {why} without a result; {rest}")
            }
        }
    }

    fn figures(&self, status: &TestStatus) -> Vec<(&'static str, String)> {
        let job = self.job;
        let info = job.table.info();
        let question = &job.question;
        let (low, high) = question.bounds();
        let mut figures = Vec::new();
        let mut put = |name, figure| figures.push((name, figure));
        match &self.test {
            Test::Duel(duel) => {
                let score = duel.score();
                put(self.elo_name(), elo_text(duel.elo()));
                let [best, low, high] = [score.best, score.low, score.high].map(|x| 100.0 * x);
                put("points", format!("{best:.1} % (95 %: {low:.1} to {high:.1})"));
                put("pairs", pair_counts_text(duel.counts()));
            }
            Test::Paired(paired) => {
                let (score, decimals) = (&info.score, info.score.decimals);
                let unit = format!(" {}", score.unit);
                let unit = unit.trim_end();
                let less = if self.sign < 0.0 { ", lower is better" } else { "" };
                let [new, old] = self.scores.map(|sum| sum / f64::from(self.pairs.max(1)));
                let IntervalEstimate { best, low, high } = paired.difference();
                let [better, same, worse] = paired.counts();
                put(self.elo_name(), elo_text(paired.elo()));
                put(score.name, format!("{new:.decimals$} and {old:.decimals$}{unit} on average{less}"));
                put(
                    "better by",
                    format!("{best:.decimals$}{unit} (95 %: {low:.decimals$} to {high:.decimals$})"),
                );
                put("pairs", format!("{better} better, {same} equal, {worse} worse"));
                put("opponents", job.lineup.field().join(", "));
            }
        }
        put("superiority", format!("NEW is better with {:.1} % probability", 100.0 * status.superiority));
        put("games", format!("{} in {} pairs on the same seeds", self.games(), self.pairs));
        put("LLR", format!("{} (no at {low:.2}, yes at {high:.2})", hundredths(status.llr)));
        if self.decided_by(status) == Some("evidence") {
            put(
                "decided by",
                "overwhelming evidence: the results are too one-sided to wait for the LLR".to_owned(),
            );
        }
        let [alpha, beta] = [question.alpha, question.beta].map(|share| trim_zeros(100.0 * share));
        let TestParams { elo0, elo1, .. } = question;
        put(
            "test",
            format!(
                "no: at most {elo0} Elo better; yes: at least {elo1}; error rates: yes {alpha} %, no {beta} %"
            ),
        );
        let [new, old] = job.lineup.names();
        put(
            "faults",
            format!("{new} {}; {old} {}", faults_text(self.faults[0]), faults_text(self.faults[1])),
        );
        figures
    }

    fn status_json(&self) -> serde_json::Map<String, Json> {
        let status = self.status();
        let guess = |guess: IntervalEstimate| json!({"mean": json_number(guess.best), "low": json_number(guess.low), "high": json_number(guess.high)});
        let mut fields = serde_json::Map::new();
        let mut put = |name: &str, value: Json| _ = fields.insert(name.to_owned(), value);
        put("answer", json!(status.verdict));
        put("pairs", json!(self.pairs));
        put("games", json!(self.games()));
        put("llr", json_number(status.llr));
        put("elo", guess(self.elo()));
        match &self.test {
            Test::Duel(duel) => {
                put("share", guess(duel.score()));
                put("counts", json!(duel.counts()));
            }
            Test::Paired(paired) => {
                let [better, same, worse] = paired.counts();
                put("difference", guess(paired.difference()));
                put("counts", json!({"better": better, "same": same, "worse": worse}));
            }
        }
        put("decided_by", json!(self.decided_by(&status)));
        put("superior", json_number(status.superiority));
        put("rest_games", json!(self.remaining_games(&status)));
        fields
    }

    pub fn progress_json(&self) -> Json {
        let mut fields = self.status_json();
        fields.insert("event".to_owned(), json!("progress"));
        Json::Object(fields)
    }

    pub fn result_json(&self, stopped: StopReason) -> Json {
        let job = self.job;
        let (low, high) = job.question.bounds();
        let bot = |who: usize| {
            let seating = &job.lineup.bots[who];
            let faults: serde_json::Map<_, _> = Fault::ALL
                .iter()
                .zip(self.faults[who])
                .map(|(fault, n)| (fault.name().to_owned(), json!(n)))
                .collect();
            json!({
                "bot": seating.spec(),
                "hash": bot_hash(job.table.info(), seating),
                "score": json_number(self.scores[who] / f64::from(self.pairs.max(1))),
                "faults": faults,
                "first_fault": self.first_fault[who].as_ref().map(FirstFault::text),
            })
        };
        let (mode, seats) = match job.lineup.mode {
            CompareMode::Duel => ("duel", 2),
            CompareMode::Paired { seats, .. } => ("paired", seats),
        };
        let mut result = json!({
            "event": "result",
            "game": job.table.info().id,
            "seed": job.seed.to_string(),
            "settings": job.settings,
            "test": mode,
            "seats": seats,
            "match_games": job.match_games,
            "question": job.question,
            "bounds": {"no": json_number(low), "yes": json_number(high)},
            "stopped": match stopped {
                StopReason::Decided => "decided",
                StopReason::Limit => "limit",
                StopReason::Interrupted => "interrupted",
            },
            "new": bot(0),
            "old": bot(1),
            "against": job.lineup.field(),
            "warnings": self.fault_warning().into_iter().collect::<Vec<_>>(),
        });
        if let Some(result) = result.as_object_mut() {
            // A duel reports points as its share. Scores belong to the other test.
            if matches!(job.lineup.mode, CompareMode::Duel) {
                for who in ["new", "old"] {
                    result.get_mut(who).and_then(Json::as_object_mut).map(|bot| bot.remove("score"));
                }
            }
            result.extend(self.status_json());
        }
        result
    }
}

/// Shows the progress: an updated line on a terminal, otherwise a line now and then.
pub struct CompareProgress {
    bar: ProgressBar,
    json: bool,
    terminal: bool,
    drawn: Instant,
    /// Log lines are written above the bar.
    _log_redirect: LogRedirect,
}

impl CompareProgress {
    pub fn new(job: &CompareJob<'_>) -> Self {
        let terminal = stderr().is_terminal();
        let bar = if terminal && !job.args.json { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{spinner} {wide_msg}");
        let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        let log_redirect = LogRedirect::above_bar(&bar);
        let (json, drawn) = (job.args.json, Instant::now());
        Self { bar, json, terminal, drawn, _log_redirect: log_redirect }
    }

    pub fn show(&mut self, tally: &CompareResult<'_>) -> Result<(), Diagnostic> {
        // After 10, 20, ... 90, 100, 200 pairs: by count and not by time, so that the same run prints the same lines.
        let step = 10u32.pow(tally.pairs.max(1).ilog10());
        let due = tally.pairs >= 10 && tally.pairs.is_multiple_of(step);
        if self.json {
            return if due { output::print_json_line("compare", tally.progress_json()) } else { Ok(()) };
        }
        if self.terminal {
            if self.drawn.elapsed() >= REDRAW_INTERVAL {
                self.drawn = Instant::now();
                self.bar.set_message(tally.line());
                self.bar.tick();
            }
        } else if due {
            output::note(&tally.line());
        }
        Ok(())
    }

    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// `+12.3 (95 %: -1.0 to +25.6)`.
fn elo_text(elo: IntervalEstimate) -> String {
    format!("{} (95 %: {} to {})", signed(elo.best), signed(elo.low), signed(elo.high))
}

fn signed(elo: f64) -> String {
    match elo {
        _ if elo.is_nan() => "unknown".to_owned(),
        _ if elo == f64::INFINITY => "+inf".to_owned(),
        _ if elo == f64::NEG_INFINITY => "-inf".to_owned(),
        // A value that rounds to zero gets no sign.
        _ if elo.abs() < 0.05 => "0.0".to_owned(),
        _ => format!("{elo:+.1}"),
    }
}

/// Number of pairs for each number of points.
fn pair_counts_text(counts: &[u64]) -> String {
    let points = |half: usize| match (half / 2, half % 2) {
        (0, 1) => "½".to_owned(),
        (whole, 0) => whole.to_string(),
        (whole, _) => format!("{whole}½"),
    };
    let some = counts.iter().enumerate().filter(|(_, n)| counts.len() <= 5 || **n > 0);
    let words: Vec<String> = some.map(|(half, n)| format!("{n} with {}", points(half))).collect();
    format!("{} points", words.join(", "))
}

/// Rounds an estimate to two significant digits.
fn round_estimate(x: f64) -> String {
    let step = 10f64.powf((x.max(1.0).log10().floor() - 1.0).max(0.0));
    format!("{:.0}", (x / step).round() * step)
}

/// Rounds to millionths, because the last digits of a logarithm differ between machines. Infinity becomes `null`.
fn json_number(x: f64) -> Json {
    json!((x * 1e6).round() / 1e6)
}

/// Two decimals, without a minus before zero.
fn hundredths(x: f64) -> String {
    let text = format!("{x:.2}");
    if text == "-0.00" { "0.00".to_owned() } else { text }
}

/// Without trailing zeros.
fn trim_zeros(x: f64) -> String {
    let text = format!("{x:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
