//! What is known, as it comes and at the end: in words, in figures, as JSON.

use std::io::{IsTerminal as _, stderr};
use std::time::{Duration, Instant};

use agon_core::Fault;
use agon_engine::any_game::bot_hash;
use agon_league::sprt::{
    IntervalEstimate, PairedDifferenceTest, SwappedPairsTest, TestParams, TestStatus, TestVerdict,
};
use agon_venue::Failure;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value as Json, json};

use super::CompareJob;
use super::lineup::CompareMode;
use super::pairs::{Pair, Stopped};
use crate::commands::play::faults;
use crate::logging::LogRedirect;
use crate::logs::one_line;
use crate::output;

/// The live line is drawn no more often than this.
const REDRAW: Duration = Duration::from_millis(100);

enum Test {
    Duel(SwappedPairsTest),
    Paired(PairedDifferenceTest),
}

/// The pairs so far.
pub struct CompareResult<'o> {
    order: &'o CompareJob<'o>,
    test: Test,
    pairs: u32,
    scores: [f64; 2],
    sign: f64,
    faults: [[u64; 4]; 2],
    first_fault: [Option<String>; 2],
}

impl<'o> CompareResult<'o> {
    pub fn new(order: &'o CompareJob<'o>) -> Self {
        let test = match order.cast.way {
            CompareMode::Duel => Test::Duel(SwappedPairsTest::new(order.match_games)),
            CompareMode::Paired { .. } => Test::Paired(PairedDifferenceTest::default()),
        };
        Self {
            order,
            test,
            pairs: 0,
            scores: [0.0; 2],
            sign: 1.0,
            faults: [[0; 4]; 2],
            first_fault: [None, None],
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

    pub fn llr(&self) -> f64 {
        match &self.test {
            Test::Duel(duel) => duel.llr(&self.order.question),
            Test::Paired(paired) => paired.llr(&self.order.question),
        }
    }

    fn standing(&self) -> TestStatus {
        match &self.test {
            Test::Duel(duel) => duel.status(&self.order.question),
            Test::Paired(paired) => paired.status(&self.order.question),
        }
    }

    fn elo(&self) -> IntervalEstimate {
        match &self.test {
            Test::Duel(duel) => duel.elo(),
            Test::Paired(paired) => paired.elo(),
        }
    }

    /// What Elo is in one test is not what it is in the other.
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
        2 * u64::from(self.order.match_games)
    }

    /// Games that are still to come, about, if things go on as they are.
    fn rest(&self, standing: &TestStatus) -> Option<f64> {
        standing.remaining_pairs.map(|rest| (rest * self.games_of_a_pair() as f64).ceil())
    }

    /// One line on where it stands.
    fn line(&self) -> String {
        let standing = self.standing();
        let (low, high) = self.order.question.bounds();
        let rest = self
            .rest(&standing)
            .map_or_else(String::new, |rest| format!(", about {} more games", round(rest)));
        format!(
            "{} games: {} {}, LLR {} (no at {low:.2}, yes at {high:.2}){rest}",
            self.games(),
            self.elo_name(),
            elo_words(self.elo()),
            hundredths(standing.llr),
        )
    }

    /// The answer in words, and the figures.
    pub fn result_text(&self, stopped: Stopped) -> String {
        let standing = self.standing();
        let order = self.order;
        let [new, old] = order.cast.names();
        let title = order.table.info().title;
        let mut text = format!("{title}: is {new} better than {old}? seed {}\n", order.seed);
        text += &format!("{}\n\n", self.words(&standing, stopped));
        for (name, figure) in self.figures(&standing) {
            text += &format!(" {name:<15} {figure}\n");
        }
        for (name, fault) in [new, old].iter().zip(&self.first_fault) {
            if let Some(fault) = fault {
                let last = fault.lines().next_back().unwrap_or_default();
                let first = fault.lines().next().unwrap_or_default();
                let words = if first == last { first.to_owned() } else { format!("{first} ... {last}") };
                text += &format!("first fault of {name}: {}\n", one_line(&words));
            }
        }
        text
    }

    fn words(&self, standing: &TestStatus, stopped: Stopped) -> String {
        let [new, old] = self.order.cast.names();
        let (elo, question) = (self.elo(), &self.order.question);
        match standing.verdict {
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
                    Stopped::Interrupted => "stopped by CTRL-C",
                    Stopped::Limit | Stopped::Decided => "the games are used up",
                };
                let rest = match self.rest(standing) {
                    Some(rest) => format!("about {} more games would tell", round(rest)),
                    None => "too few games to say how many it takes".to_owned(),
                };
                format!("not yet: {why}, and it is still open; {rest}")
            }
        }
    }

    fn figures(&self, standing: &TestStatus) -> Vec<(&'static str, String)> {
        let order = self.order;
        let info = order.table.info();
        let question = &order.question;
        let (low, high) = question.bounds();
        let mut figures = Vec::new();
        let mut put = |name, figure| figures.push((name, figure));
        match &self.test {
            Test::Duel(duel) => {
                let score = duel.score();
                put(self.elo_name(), elo_words(duel.elo()));
                let [best, low, high] = [score.best, score.low, score.high].map(|x| 100.0 * x);
                put("points", format!("{best:.1} % (95 %: {low:.1} to {high:.1})"));
                put("pairs", pair_words(duel.counts()));
            }
            Test::Paired(paired) => {
                let (score, decimals) = (&info.score, info.score.decimals);
                let unit = format!(" {}", score.unit);
                let unit = unit.trim_end();
                let less = if self.sign < 0.0 { ", fewer is better" } else { "" };
                let [new, old] = self.scores.map(|sum| sum / f64::from(self.pairs.max(1)));
                let IntervalEstimate { best, low, high } = paired.difference();
                let [better, same, worse] = paired.counts();
                put(self.elo_name(), elo_words(paired.elo()));
                put(score.name, format!("{new:.decimals$} and {old:.decimals$}{unit} on average{less}"));
                put(
                    "better by",
                    format!("{best:.decimals$}{unit} (95 %: {low:.decimals$} to {high:.decimals$})"),
                );
                put("pairs", format!("{better} better, {same} the same, {worse} worse"));
                put("field", order.cast.field().join(", "));
            }
        }
        put("better at all", format!("{:.1} % likely", 100.0 * standing.superiority));
        put("games", format!("{} in {} pairs on the same seeds", self.games(), self.pairs));
        put("LLR", format!("{} (no at {low:.2}, yes at {high:.2})", hundredths(standing.llr)));
        let [alpha, beta] = [question.alpha, question.beta].map(|share| tidy(100.0 * share));
        let TestParams { elo0, elo1, .. } = question;
        put(
            "asked",
            format!(
                "by {elo0} Elo at most, or by {elo1} at least? a yes is wrong in {alpha} % at most, a no in {beta} %"
            ),
        );
        let [new, old] = order.cast.names();
        put("faults", format!("{new} {}; {old} {}", faults(self.faults[0]), faults(self.faults[1])));
        figures
    }

    fn standing_json(&self) -> serde_json::Map<String, Json> {
        let standing = self.standing();
        let guess = |guess: IntervalEstimate| json!({"mean": real(guess.best), "low": real(guess.low), "high": real(guess.high)});
        let mut fields = serde_json::Map::new();
        let mut put = |name: &str, value: Json| _ = fields.insert(name.to_owned(), value);
        put("answer", json!(standing.verdict));
        put("pairs", json!(self.pairs));
        put("games", json!(self.games()));
        put("llr", real(standing.llr));
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
        put("superior", real(standing.superiority));
        put("rest_games", json!(self.rest(&standing)));
        fields
    }

    pub fn progress_json(&self) -> Json {
        let mut fields = self.standing_json();
        fields.insert("event".to_owned(), json!("progress"));
        Json::Object(fields)
    }

    pub fn result_json(&self, stopped: Stopped) -> Json {
        let order = self.order;
        let (low, high) = order.question.bounds();
        let bot = |who: usize| {
            let seating = &order.cast.bots[who];
            let faults: serde_json::Map<_, _> = Fault::ALL
                .iter()
                .zip(self.faults[who])
                .map(|(fault, n)| (fault.name().to_owned(), json!(n)))
                .collect();
            json!({
                "bot": seating.spec(),
                "hash": bot_hash(order.table.info(), seating),
                "score": real(self.scores[who] / f64::from(self.pairs.max(1))),
                "faults": faults,
                "first_fault": self.first_fault[who],
            })
        };
        let (way, seats) = match order.cast.way {
            CompareMode::Duel => ("duel", 2),
            CompareMode::Paired { seats, .. } => ("paired", seats),
        };
        let mut result = json!({
            "event": "result",
            "game": order.table.info().id,
            "seed": order.seed.to_string(),
            "settings": order.settings,
            "test": way,
            "seats": seats,
            "match_games": order.match_games,
            "question": order.question,
            "bounds": {"no": real(low), "yes": real(high)},
            "stopped": match stopped {
                Stopped::Decided => "decided",
                Stopped::Limit => "limit",
                Stopped::Interrupted => "interrupted",
            },
            "new": bot(0),
            "old": bot(1),
            "against": order.cast.field(),
        });
        if let Some(result) = result.as_object_mut() {
            // A duel's points are its share; scores belong to the other test.
            if way == "duel" {
                for who in ["new", "old"] {
                    result.get_mut(who).and_then(Json::as_object_mut).map(|bot| bot.remove("score"));
                }
            }
            result.extend(self.standing_json());
        }
        result
    }
}

/// Shows where it stands while it goes on: a line that changes on a terminal, lines now and then elsewhere.
pub struct CompareProgress {
    bar: ProgressBar,
    json: bool,
    terminal: bool,
    drawn: Instant,
    /// Log lines are written above the bar.
    _log_redirect: LogRedirect,
}

impl CompareProgress {
    pub fn new(order: &CompareJob<'_>) -> Self {
        let terminal = stderr().is_terminal();
        let bar =
            if terminal && !order.args.json { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{spinner} {wide_msg}");
        let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        let log_redirect = LogRedirect::above_bar(&bar);
        let (json, drawn) = (order.args.json, Instant::now());
        Self { bar, json, terminal, drawn, _log_redirect: log_redirect }
    }

    pub fn show(&mut self, tally: &CompareResult<'_>) -> Result<(), Failure> {
        // 10, 20, ... 90, 100, 200: by count and not by the clock, so that the same run says the same.
        let step = 10u32.pow(tally.pairs.max(1).ilog10());
        let due = tally.pairs >= 10 && tally.pairs.is_multiple_of(step);
        if self.json {
            return if due { output::print_json_line("compare", tally.progress_json()) } else { Ok(()) };
        }
        if self.terminal {
            if self.drawn.elapsed() >= REDRAW {
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
fn elo_words(elo: IntervalEstimate) -> String {
    format!("{} (95 %: {} to {})", signed(elo.best), signed(elo.low), signed(elo.high))
}

fn signed(elo: f64) -> String {
    match elo {
        _ if elo.is_nan() => "unknown".to_owned(),
        _ if elo == f64::INFINITY => "+inf".to_owned(),
        _ if elo == f64::NEG_INFINITY => "-inf".to_owned(),
        // Less than shows has no sign that means anything.
        _ if elo.abs() < 0.05 => "0.0".to_owned(),
        _ => format!("{elo:+.1}"),
    }
}

/// How many pairs gave how many points.
fn pair_words(counts: &[u64]) -> String {
    let points = |half: usize| match (half / 2, half % 2) {
        (0, 1) => "½".to_owned(),
        (whole, 0) => whole.to_string(),
        (whole, _) => format!("{whole}½"),
    };
    let some = counts.iter().enumerate().filter(|(_, n)| counts.len() <= 5 || **n > 0);
    let words: Vec<String> = some.map(|(half, n)| format!("{n} with {}", points(half))).collect();
    format!("{} points", words.join(", "))
}

/// A guess with two digits that mean something.
fn round(x: f64) -> String {
    let step = 10f64.powf((x.max(1.0).log10().floor() - 1.0).max(0.0));
    format!("{:.0}", (x / step).round() * step)
}

/// In millionths: the last digits of a logarithm are not the same on every machine. What is infinite is `null`.
fn real(x: f64) -> Json {
    json!((x * 1e6).round() / 1e6)
}

/// Two digits, and no minus before nothing.
fn hundredths(x: f64) -> String {
    let text = format!("{x:.2}");
    if text == "-0.00" { "0.00".to_owned() } else { text }
}

/// Without digits that say nothing.
fn tidy(x: f64) -> String {
    let text = format!("{x:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
