//! Would this bot be accepted? Everything that is wrong at once, then a trial game.

mod told;
mod trial;

use std::path::Path;
use std::time::Duration;

use agon_core::record::Recorder;
use agon_core::{Assets, Seat, Settings};
use agon_engine::film::json::LogLine;
use agon_engine::log::GameLog;
use agon_engine::referee::Played;
use agon_engine::table::{Plan, PlayError, quiet_room};
use agon_engine::{ProgramSeat, Seating, Summary, Table};
use agon_host::intake::survey::{self, Survey};
use agon_host::intake::{Finding, Refusal};
use serde_json::{Value as Json, json};

use crate::failure::{BROKE, Failure};
use crate::seating::{Order, Sandbox, Trouble, furnish, read_bot};
use crate::{Tell, setup};
use told::count;
use trial::{Faults, PrintLog};

pub use told::{Checked, Outcome, Step};

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
            let mut log = PrintLog::new(*own);
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

fn time(time: Duration) -> String {
    agon_league::standings::shown_time(time.as_nanos() as f64)
}

/// In whole and fractional microseconds, for JSON.
fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}
