//! Would this bot be accepted? Everything that is wrong at once, then a trial game.

use std::io;
use std::path::Path;
use std::time::Duration;

use agon_core::record::{FaultRecord, Header, Recorder};
use agon_core::{Assets, Outcome as GameOutcome, Seat, Settings};
use agon_engine::film::json::LogLine;
use agon_engine::log::{Entry, GameLog};
use agon_engine::referee::Played;
use agon_engine::table::{Plan, PlayError, quiet_room};
use agon_engine::{ProgramSeat, Seating, Summary, Table};
use agon_host::intake::loading::last_place;
use agon_host::intake::survey::{self, Survey};
use agon_host::intake::{Finding, Refusal};
use serde_json::{Value as Json, json};

use crate::document::document;
use crate::failure::{BROKE, Failure};
use crate::seating::{Order, Sandbox, Trouble, furnish, read_bot};
use crate::{Tell, setup};

/// How many kinds of fault of the trial are told.
const FAULTS_SHOWN: usize = 8;

/// Shorter games than the competition's: enough to see that a bot plays.
const SHORTER: [(&str, &str, &str); 2] =
    [("colour-battle", "rounds", "200"), ("hide-and-seek", "steps", "400")];

/// A check that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct CheckOrder<'c> {
    /// The game's id.
    pub game: &'c str,
    /// The bot: anything but a house bot or a person.
    pub bot: &'c str,
    /// Settings of the trial game, as `key=value`.
    pub settings: &'c [String],
    /// Its seed; 1 if none is named.
    pub seed: Option<&'c str>,
    /// Whether the bot runs behind the sandbox.
    pub sandbox: Sandbox,
    /// The folder that paths are read from and commands run in; an empty one is the current folder.
    pub folder: &'c Path,
    /// Whether the trial's games are to be handed out.
    pub keep_record: bool,
}

/// What came of a check.
#[derive(Clone, Debug)]
pub struct Checked {
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
    pub steps: Vec<Step>,
    /// The trial, a value for each role; null if none was played.
    pub trials: Json,
    /// The games of the trial, a packed record each, if they were asked for.
    pub records: Vec<Vec<u8>>,
    /// What the bot printed in each of them, if they were asked for.
    pub logs: Vec<Vec<LogLine>>,
}

/// How a step of the check went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Well.
    Yes,
    /// Something is to be mended.
    No,
    /// It was not looked at.
    Skipped,
}

/// A step of the check.
#[derive(Clone, Debug)]
pub struct Step {
    /// In one word.
    pub name: &'static str,
    /// How it went.
    pub outcome: Outcome,
    /// What there is to say about it.
    pub says: String,
    /// What is to be mended.
    pub bad: Vec<Refusal>,
    /// What would be better otherwise.
    pub advice: Vec<Refusal>,
}

impl Step {
    fn new(name: &'static str, outcome: Outcome, says: impl Into<String>) -> Self {
        Self { name, outcome, says: says.into(), bad: Vec::new(), advice: Vec::new() }
    }

    fn yes(name: &'static str, says: impl Into<String>) -> Self {
        Self::new(name, Outcome::Yes, says)
    }

    fn no(name: &'static str, refusal: Refusal) -> Self {
        Self { bad: vec![refusal], ..Self::new(name, Outcome::No, "") }
    }

    fn skipped(name: &'static str, why: &str) -> Self {
        Self::new(name, Outcome::Skipped, why)
    }

    const fn word(&self) -> &'static str {
        match self.outcome {
            Outcome::Yes => "yes",
            Outcome::No => "no",
            Outcome::Skipped => "-",
        }
    }
}

/// What is checked, and how it goes.
struct Checking<'c> {
    order: &'c CheckOrder<'c>,
    table: Box<dyn Table>,
    settings: Settings,
    assets: Assets,
    seed: u64,
    steps: Vec<Step>,
    trials: Json,
    records: Vec<Vec<u8>>,
    logs: Vec<Vec<LogLine>>,
}

/// Checks a bot. A bot that is not accepted is an answer, no failure.
pub fn check(order: &CheckOrder<'_>, tell: Tell<'_>) -> Result<Checked, Failure> {
    let table = agon_engine::table(order.game)?;
    if order.bot.starts_with("house:") || order.bot == "human" {
        let hint = "name a folder, a .py, a .zip, a players.yml entry or a command in quotes";
        return Err(Failure::wrong_use(format!("{} needs no check", order.bot), hint));
    }
    let mut pairs = order.settings.to_vec();
    for (_, key, value) in SHORTER.iter().filter(|(game, ..)| *game == order.game) {
        if !pairs.iter().any(|pair| pair.starts_with(&format!("{key}="))) {
            pairs.push(format!("{key}={value}"));
        }
    }
    let seed = setup::seed(Some(order.seed.unwrap_or("1")))?;
    let (settings, assets) = setup::settings(table.info(), &pairs, order.folder)?;
    table.check(&settings, table.info().seats.min, &assets)?;
    let mut checking = Checking {
        order,
        table,
        settings,
        assets,
        seed,
        steps: Vec::new(),
        trials: Json::Null,
        records: Vec::new(),
        logs: Vec::new(),
    };
    let seat = checking.find(tell)?;
    if let Some(seat) = &seat {
        let survey = checking.look(seat);
        checking.load_and_play(seat, &survey)?;
    }
    Ok(checking.told(seat))
}

impl Checking<'_> {
    /// Is it there, and can it be read? What it learns in the trial is not kept.
    fn find(&mut self, tell: Tell<'_>) -> Result<Option<ProgramSeat>, Failure> {
        let CheckOrder { game, bot, sandbox, folder, .. } = *self.order;
        let order = Order { game, bot, sandbox, keep: false, beside: None, folder };
        let refusal = match read_bot(&order, tell) {
            Ok(Seating::Program(seat)) => {
                let mut seats = [Seating::Program(seat)];
                furnish(game, &mut seats, &self.settings, &self.assets, folder)?;
                let [Seating::Program(seat)] = seats else { return Ok(None) };
                let hash: String = seat.hash.chars().take("sha256:".len() + 12).collect();
                self.steps.push(Step::yes("found", format!("{}, {hash}", seat.name)));
                return Ok(Some(seat));
            }
            Ok(_) => return Ok(None),
            Err(Trouble::Refused(refusal)) => refusal,
            Err(Trouble::Failed(failure)) if failure.code == BROKE => return Err(failure),
            Err(Trouble::Failed(failure)) => {
                let (what, hint) = failure.message.split_once("\nhint: ").unwrap_or((&failure.message, ""));
                Refusal::new(what, hint)
            }
        };
        self.steps.push(Step::no("found", refusal));
        for name in ["source", "loads", "plays"] {
            self.steps.push(Step::skipped(name, "there is nothing to look at"));
        }
        Ok(None)
    }

    /// What its source says, if it is a Python bot.
    fn look(&mut self, seat: &ProgramSeat) -> Survey {
        if !seat.forgets {
            self.steps.push(Step::skipped("source", "a program of its own: only its play is looked at"));
            return Survey::default();
        }
        let survey = match survey::survey(&seat.program) {
            Ok(survey) => survey,
            Err(refusal) => {
                self.steps.push(Step::no("source", refusal));
                return Survey::default();
            }
        };
        let (bad, advice): (Vec<Finding>, Vec<Finding>) =
            survey.findings.iter().cloned().partition(|one| one.bad);
        let outcome = if bad.is_empty() { Outcome::Yes } else { Outcome::No };
        let more = if survey.left_out > 0 {
            format!(", and {} more findings", survey.left_out)
        } else {
            String::new()
        };
        let says = format!("{}{more}", count(survey.files, "Python file"));
        let refusals = |list: Vec<Finding>| list.into_iter().map(Refusal::from).collect();
        self.steps.push(Step {
            bad: refusals(bad),
            advice: refusals(advice),
            ..Step::new("source", outcome, says)
        });
        survey
    }

    /// Does it come up, and does it play? In each of its roles.
    fn load_and_play(&mut self, seat: &ProgramSeat, survey: &Survey) -> Result<(), Failure> {
        let tables = self.tables(seat, survey);
        let mut tried = Step::yes("loads", "");
        if self.order.game == "word-racer" && !seat.json_lines {
            tried = Step::skipped("loads", "it reads lines: seen when it plays");
        }
        for (_, seats) in &tables {
            let plan = self.plan(seats);
            match self.table.try_load(&plan) {
                Ok(()) => {}
                Err(PlayError::NotLoaded(error)) => {
                    tried = Step::no("loads", error.refusal);
                    break;
                }
                Err(other) => return Err(other.into()),
            }
        }
        // What the source has told already is not told twice.
        let place = |one: &Refusal| (one.file.clone(), one.line);
        let known = |one: &Refusal| {
            one.line.is_some() && self.steps.iter().flat_map(|s| &s.bad).any(|o| place(o) == place(one))
        };
        if tried.bad.iter().any(known) {
            tried = Step::new("loads", Outcome::No, "for what is said of its source");
        }
        let loads = tried.outcome != Outcome::No;
        self.steps.push(tried);
        let step = if loads { self.play(&tables)? } else { Step::skipped("plays", "it does not load") };
        self.steps.push(step);
        Ok(())
    }

    /// Where it is to sit, and with whom: the weakest house bots. In a game with roles, one table for each of its own.
    fn tables(&self, seat: &ProgramSeat, survey: &Survey) -> Vec<(Seat, Vec<Seating>)> {
        let info = self.table.info();
        let bots = self.table.bots();
        let table = |own: Seat| {
            let sit = |place: Seat| {
                let role = info.role(place).name;
                let house =
                    bots.iter().find(|bot| bot.roles.contains(&role)).map_or("random", |bot| bot.name);
                if place == own { Seating::Program(seat.clone()) } else { Seating::House(house.to_owned()) }
            };
            (own, Seat::all(info.seats.min).map(sit).collect())
        };
        let fits = |own: &Seat| {
            survey.roles.is_empty() || survey.roles.iter().any(|role| role == info.role(*own).name)
        };
        let most = if info.roles.len() > 1 { info.seats.min } else { 1 };
        Seat::all(info.seats.min).take(most).filter(fits).map(table).collect()
    }

    fn plan<'p>(&'p self, seats: &'p [Seating]) -> Plan<'p> {
        Plan { settings: &self.settings, seed: self.seed, seats, assets: &self.assets }
    }

    /// A trial with the clock on: once in each role, twice where the first move matters.
    fn play(&mut self, tables: &[(Seat, Vec<Seating>)]) -> Result<Step, Failure> {
        let games = if self.settings.get("first").is_some() { 2 } else { 1 };
        let mut bad = Vec::new();
        let mut told = Vec::new();
        let mut trials = Vec::new();
        for (own, seats) in tables {
            let mut summary = Summary::default();
            let mut faults = Faults::default();
            let plan = self.plan(seats);
            let mut recorder = self.order.keep_record.then(Recorder::new);
            let mut log = PrintLog { own: *own, turn: 0, games: Vec::new() };
            let mut records = Vec::new();
            let mut room = quiet_room(recorder.as_mut());
            room.log = self.order.keep_record.then_some(&mut log as &mut dyn GameLog);
            self.table.play(&plan, 0..games, &mut room, &mut |mut played: Played| {
                summary.push(&played);
                records.extend(played.record.take().map(|(bytes, _)| bytes));
                let own = played.faults.iter().filter(|fault| fault.seat == *own);
                own.for_each(|fault| faults.add(played.index + 1, fault));
            })?;
            self.records.append(&mut records);
            self.logs.append(&mut log.games);
            let stats = &summary.seats[own.index()];
            let role = self.table.info().role(*own).name;
            let others: Vec<String> =
                seats.iter().filter(|s| matches!(s, Seating::House(_))).map(Seating::spec).collect();
            told.push(format!(
                "as {role} against {}: {}, {}, {} an answer, longest {}",
                others.join(", "),
                count(summary.games, "game"),
                if faults.all == 0 { "no fault".to_owned() } else { count(faults.all, "fault") },
                time(stats.time_per_answer()),
                time(stats.longest),
            ));
            trials.push(json!({
                "role": role,
                "against": others,
                "games": summary.games,
                "answers": stats.answers,
                "faults": faults.all,
                "time_us": {
                    "mean": micros(stats.time_per_answer()),
                    "longest": micros(stats.longest),
                },
            }));
            bad.extend(faults.told(self.order.game));
        }
        self.trials = trials.into();
        let outcome = if bad.is_empty() { Outcome::Yes } else { Outcome::No };
        Ok(Step { bad, ..Step::new("plays", outcome, told.join("; ")) })
    }

    /// The answer.
    fn told(self, seat: Option<ProgramSeat>) -> Checked {
        let (name, hash) = seat.map(|seat| (seat.name, seat.hash)).unzip();
        Checked {
            game: self.order.game.to_owned(),
            bot: self.order.bot.to_owned(),
            accepted: self.steps.iter().all(|step| step.outcome != Outcome::No),
            name,
            hash,
            steps: self.steps,
            trials: self.trials,
            records: self.records,
            logs: self.logs,
        }
    }
}

impl Checked {
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
                    Outcome::Yes => "yes",
                    Outcome::No => "no",
                    Outcome::Skipped => "skipped",
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

/// What the bot prints in its trial.
struct PrintLog {
    own: Seat,
    turn: u32,
    games: Vec<Vec<LogLine>>,
}

impl PrintLog {
    fn add(&mut self, turn: u32, seat: Seat, text: &str) {
        if let Some(game) = self.games.last_mut().filter(|_| seat == self.own && !text.is_empty()) {
            game.push(LogLine { turn, seat, text: text.to_owned() });
        }
    }
}

impl GameLog for PrintLog {
    fn begins(&mut self, _: u32, _: &Header) -> io::Result<()> {
        self.turn = 0;
        self.games.push(Vec::new());
        Ok(())
    }

    fn printed(&mut self, seat: Seat, printed: &str) -> io::Result<()> {
        self.add(self.turn, seat, printed);
        Ok(())
    }

    fn answered(&mut self, entry: &Entry<'_>) -> io::Result<()> {
        self.turn = entry.turn;
        self.add(entry.turn, entry.seat, entry.printed);
        Ok(())
    }

    fn over(&mut self, _: &GameOutcome) -> io::Result<()> {
        Ok(())
    }
}

/// The faults of a trial: each kind once, where it came first, and how often.
#[derive(Default)]
struct Faults {
    all: u64,
    kinds: Vec<(String, u64, Refusal)>,
}

impl Faults {
    fn add(&mut self, game: u32, fault: &FaultRecord) {
        self.all += 1;
        let (turn, report) = (fault.turn, &fault.report);
        let says = report.says.lines().last().unwrap_or_default();
        let kind = format!("{}: {says}", report.fault);
        if let Some((_, times, _)) = self.kinds.iter_mut().find(|(known, ..)| *known == kind) {
            *times += 1;
            return;
        }
        let mut refusal = Refusal::new(format!("{kind} (game {game}, turn {turn})"), "");
        if let Some((file, line)) = last_place(&report.says) {
            refusal = Refusal { file: file.map(str::to_owned), line, ..refusal };
        } else {
            refusal.trace.clone_from(&report.stderr);
        }
        self.kinds.push((kind, 1, refusal));
    }

    fn told(self, game: &str) -> Vec<Refusal> {
        let more = self.kinds.len().saturating_sub(FAULTS_SHOWN);
        let mut told: Vec<Refusal> = Vec::new();
        for (_, times, mut refusal) in self.kinds.into_iter().take(FAULTS_SHOWN) {
            if times > 1 {
                let what = refusal.what.trim_end_matches(')');
                refusal.what = format!("{what}, and {} more)", count(times - 1, "time"));
            }
            refusal.hint = format!("`agon games {game}` says what a fault costs");
            told.push(refusal);
        }
        if more > 0 {
            told.push(Refusal::new(format!("and {more} more kinds of fault"), ""));
        }
        told
    }
}

/// Findings as lines, each with its own words, a hint under the last of those that share it.
fn list(mark: &str, findings: &[Refusal]) -> String {
    let mut text = String::new();
    for (i, one) in findings.iter().enumerate() {
        let place = one.place();
        let colon = if place.is_empty() { "" } else { ": " };
        text += &format!("    {mark}{place}{colon}{}\n", one.what);
        let trace: Vec<&str> = one.trace.lines().collect();
        for line in &trace[trace.len().saturating_sub(FAULTS_SHOWN)..] {
            text += &format!("        {line}\n");
        }
        if !one.hint.is_empty() && findings.get(i + 1).is_none_or(|next| next.hint != one.hint) {
            text += &format!("    hint: {}\n", one.hint);
        }
    }
    text
}

/// `1 game`, `2 games`.
fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn time(time: Duration) -> String {
    agon_league::standings::shown_time(time.as_nanos() as f64)
}

/// In whole and fractional microseconds, for JSON.
fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}
