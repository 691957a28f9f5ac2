//! Would this bot be accepted? Everything that is wrong at once, then a trial game.

mod result;
mod trial;

use std::path::Path;
use std::time::Duration;

use agon_core::record::Recorder;
use agon_core::{Assets, ErrorKind, Seat, Settings};
use agon_engine::any_game::{MatchSetup, PlayError, hooks_with_recorder};
use agon_engine::film::json::BotOutputLine;
use agon_engine::referee::PlayedGame;
use agon_engine::turn_log::TurnLog;
use agon_engine::{AnyGame, PlayerSpec, ProgramSpec, Summary};
use agon_host::BotRejection;
use serde_json::{Value as Json, json};

use crate::error::Failure;
use crate::resolve::{BotRequest, ResolveError, SandboxMode, install_game_files, resolve_bot};
use crate::source::Finding;
use crate::source::source_check::{self, SourceReport};
use crate::{MessageSink, parse_options};
use result::count;
use trial::{Faults, PrintLog};

pub use result::{CheckResult, StepOutcome, StepResult};

/// A check that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct CheckRequest<'c> {
    /// The game's id.
    pub game: &'c str,
    /// The bot: anything but a house bot or a person.
    pub bot: &'c str,
    /// Settings of the trial game, as `key=value`.
    pub settings: &'c [String],
    /// Its seed; 1 if none is named.
    pub seed: Option<&'c str>,
    /// Whether the bot runs behind the sandbox.
    pub sandbox: SandboxMode,
    /// The folder that paths are read from and commands run in; an empty one is the current folder.
    pub folder: &'c Path,
    /// Whether the trial's games are to be handed out.
    pub keep_record: bool,
}

/// What is checked, and how it goes.
struct CheckRun<'c> {
    order: &'c CheckRequest<'c>,
    table: Box<dyn AnyGame>,
    settings: Settings,
    assets: Assets,
    seed: u64,
    steps: Vec<StepResult>,
    trials: Json,
    records: Vec<Vec<u8>>,
    logs: Vec<Vec<BotOutputLine>>,
}

/// Checks a bot. A bot that is not accepted is an answer, no failure.
pub fn check(order: &CheckRequest<'_>, tell: MessageSink<'_>) -> Result<CheckResult, Failure> {
    let table = agon_engine::any_game(order.game)?;
    if order.bot.starts_with("house:") || order.bot == "human" {
        let hint = "name a folder, a .py, a .zip, a players.yml entry or a command in quotes";
        return Err(Failure::wrong_use(format!("{} needs no check", order.bot), hint));
    }
    let mut pairs = order.settings.to_vec();
    // Shorter games than the competition's: enough to see that a bot plays.
    for (key, value) in table.info().bots.check_settings {
        if !pairs.iter().any(|pair| pair.starts_with(&format!("{key}="))) {
            pairs.push(format!("{key}={value}"));
        }
    }
    let seed = parse_options::seed(Some(order.seed.unwrap_or("1")))?;
    let (settings, assets) = parse_options::settings(table.info(), &pairs, order.folder)?;
    table.check_settings(&settings, table.info().seats.min, &assets)?;
    let mut checking = CheckRun {
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

impl CheckRun<'_> {
    /// Is it there, and can it be read? What it learns in the trial is not kept.
    fn find(&mut self, tell: MessageSink<'_>) -> Result<Option<ProgramSpec>, Failure> {
        let CheckRequest { game, bot, sandbox, folder, .. } = *self.order;
        let order = BotRequest { game, bot, sandbox, keep: false, beside: None, folder };
        let refusal = match resolve_bot(&order, tell) {
            Ok(PlayerSpec::Program(seat)) => {
                let mut seats = [PlayerSpec::Program(seat)];
                install_game_files(game, &mut seats, &self.settings, &self.assets, folder)?;
                let [PlayerSpec::Program(seat)] = seats else { return Ok(None) };
                let hash: String = seat.hash.chars().take("sha256:".len() + 12).collect();
                self.steps.push(StepResult::yes("found", format!("{}, {hash}", seat.name)));
                return Ok(Some(seat));
            }
            Ok(_) => return Ok(None),
            Err(ResolveError::Refused(refusal)) => refusal,
            Err(ResolveError::Failed(failure)) if failure.kind == ErrorKind::Internal => return Err(failure),
            Err(ResolveError::Failed(failure)) => {
                let (what, hint) = failure.message.split_once("\nhint: ").unwrap_or((&failure.message, ""));
                BotRejection::new(what, hint)
            }
        };
        self.steps.push(StepResult::no("found", refusal));
        for name in ["source", "loads", "plays"] {
            self.steps.push(StepResult::skipped(name, "there is nothing to look at"));
        }
        Ok(None)
    }

    /// What its source says, if it is a Python bot.
    fn look(&mut self, seat: &ProgramSpec) -> SourceReport {
        if !seat.isolates_calls {
            self.steps
                .push(StepResult::skipped("source", "a program of its own: only its play is looked at"));
            return SourceReport::default();
        }
        let survey = match source_check::check_source(&seat.program) {
            Ok(survey) => survey,
            Err(refusal) => {
                self.steps.push(StepResult::no("source", refusal));
                return SourceReport::default();
            }
        };
        let (bad, advice): (Vec<Finding>, Vec<Finding>) =
            survey.findings.iter().cloned().partition(|one| one.bad);
        let outcome = if bad.is_empty() { StepOutcome::Yes } else { StepOutcome::No };
        let more = if survey.left_out > 0 {
            format!(", and {} more findings", survey.left_out)
        } else {
            String::new()
        };
        let says = format!("{}{more}", count(survey.files, "Python file"));
        let refusals = |list: Vec<Finding>| list.into_iter().map(BotRejection::from).collect();
        self.steps.push(StepResult {
            bad: refusals(bad),
            advice: refusals(advice),
            ..StepResult::new("source", outcome, says)
        });
        survey
    }

    /// Does it come up, and does it play? In each of its roles.
    fn load_and_play(&mut self, seat: &ProgramSpec, survey: &SourceReport) -> Result<(), Failure> {
        let tables = self.tables(seat, survey);
        let mut tried = StepResult::yes("loads", "");
        if self.table.info().bots.text_protocol.is_some() && !seat.json_lines {
            tried = StepResult::skipped("loads", "it reads lines: seen when it plays");
        }
        for (_, seats) in &tables {
            let plan = self.plan(seats);
            match self.table.try_load(&plan) {
                Ok(()) => {}
                Err(PlayError::BotLoad(error)) => {
                    tried = StepResult::no("loads", error.rejection);
                    break;
                }
                Err(other) => return Err(other.into()),
            }
        }
        // What the source has told already is not told twice.
        let place = |one: &BotRejection| (one.file.clone(), one.line);
        let known = |one: &BotRejection| {
            one.line.is_some() && self.steps.iter().flat_map(|s| &s.bad).any(|o| place(o) == place(one))
        };
        if tried.bad.iter().any(known) {
            tried = StepResult::new("loads", StepOutcome::No, "for what is said of its source");
        }
        let loads = tried.outcome != StepOutcome::No;
        self.steps.push(tried);
        let step = if loads { self.play(&tables)? } else { StepResult::skipped("plays", "it does not load") };
        self.steps.push(step);
        Ok(())
    }

    /// Where it is to sit, and with whom: the weakest house bots. In a game with roles, one table for each of its own.
    fn tables(&self, seat: &ProgramSpec, survey: &SourceReport) -> Vec<(Seat, Vec<PlayerSpec>)> {
        let info = self.table.info();
        let bots = self.table.house_bots();
        let table = |own: Seat| {
            let sit = |place: Seat| {
                let role = info.role(place).name;
                let house =
                    bots.iter().find(|bot| bot.roles.contains(&role)).map_or("random", |bot| bot.name);
                if place == own {
                    PlayerSpec::Program(seat.clone())
                } else {
                    PlayerSpec::House(house.to_owned())
                }
            };
            (own, Seat::all(info.seats.min).map(sit).collect())
        };
        let fits = |own: &Seat| {
            survey.roles.is_empty() || survey.roles.iter().any(|role| role == info.role(*own).name)
        };
        let most = if info.roles.len() > 1 { info.seats.min } else { 1 };
        Seat::all(info.seats.min).take(most).filter(fits).map(table).collect()
    }

    fn plan<'p>(&'p self, seats: &'p [PlayerSpec]) -> MatchSetup<'p> {
        MatchSetup { settings: &self.settings, seed: self.seed, seats, assets: &self.assets }
    }

    /// A trial with the clock on: once in each role, twice where the first move matters.
    fn play(&mut self, tables: &[(Seat, Vec<PlayerSpec>)]) -> Result<StepResult, Failure> {
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
            let mut room = hooks_with_recorder(recorder.as_mut());
            room.log = self.order.keep_record.then_some(&mut log as &mut dyn TurnLog);
            self.table.play(&plan, 0..games, &mut room, &mut |mut played: PlayedGame| {
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
                seats.iter().filter(|s| matches!(s, PlayerSpec::House(_))).map(PlayerSpec::spec).collect();
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
        let outcome = if bad.is_empty() { StepOutcome::Yes } else { StepOutcome::No };
        Ok(StepResult { bad, ..StepResult::new("plays", outcome, told.join("; ")) })
    }

    /// The answer.
    fn told(self, seat: Option<ProgramSpec>) -> CheckResult {
        let (name, hash) = seat.map(|seat| (seat.name, seat.hash)).unzip();
        CheckResult {
            game: self.order.game.to_owned(),
            bot: self.order.bot.to_owned(),
            accepted: self.steps.iter().all(|step| step.outcome != StepOutcome::No),
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
    agon_league::standings::format_duration(time.as_nanos() as f64)
}

/// In whole and fractional microseconds, for JSON.
fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}
