//! Checks whether a bot would be accepted: reports all problems of the source at once, then plays a trial game.

mod result;
mod trial;

use std::path::Path;
use std::time::{Duration, Instant};

use agon_core::record::Recorder;
use agon_core::text_format::plural;
use agon_core::{Assets, ErrorKind, Seat, SelfDescription, Settings};
use agon_engine::any_game::{MatchSetup, PlayError, hooks_with_recorder};
use agon_engine::film::json::BotOutputLine;
use agon_engine::referee::PlayedGame;
use agon_engine::turn_log::TurnLog;
use agon_engine::{AnyGame, PlayerSpec, ProgramSpec, Summary};
use agon_host::BotRejection;
use serde_json::{Value as Json, json};

use crate::bot_source::BotSource;
use crate::error::Diagnostic;
use crate::prepare::{PrepareContext, PrepareError, SandboxMode, prepare};
use crate::source::Finding;
use crate::source::source_check::{self, SourceReport};
use crate::{MessageSink, parse_options};
use trial::{PrintLog, TrialFaults};

pub use result::{CheckResult, StepOutcome, StepResult};

/// Input of a check.
#[derive(Clone, Copy, Debug)]
pub struct CheckRequest<'c> {
    /// Id of the game.
    pub game: &'c str,
    /// Bot spec, other than a house bot or a human.
    pub bot: &'c str,
    /// Settings of the trial game, as `key=value`.
    pub settings: &'c [String],
    /// Seed of the trial game; the default is 1.
    pub seed: Option<&'c str>,
    /// Whether the bot runs in the sandbox.
    pub sandbox: SandboxMode,
    /// Base folder for paths and commands; empty means the current folder.
    pub folder: &'c Path,
    /// Whether to return the games of the trial.
    pub keep_record: bool,
    /// Time at which the trial is ended with an error. Needs `keep_record`.
    pub deadline: Option<Instant>,
    /// Modules that a Python bot may not import.
    pub forbidden_libraries: &'c [String],
}

/// A check in progress.
struct CheckRun<'c> {
    request: &'c CheckRequest<'c>,
    table: Box<dyn AnyGame>,
    settings: Settings,
    assets: Assets,
    seed: u64,
    steps: Vec<StepResult>,
    trials: Json,
    records: Vec<Vec<u8>>,
    logs: Vec<Vec<BotOutputLine>>,
    says: SelfDescription,
}

/// Checks a bot. A rejected bot is a result, not an error.
pub fn check(request: &CheckRequest<'_>, notify: MessageSink<'_>) -> Result<CheckResult, Diagnostic> {
    let table = agon_engine::any_game(request.game)?;
    let source = BotSource::parse(request.bot, request.folder);
    if matches!(source, Ok(BotSource::House(_) | BotSource::Human)) {
        let hint = "name a folder, a .py, a .zip, a players.yml entry or a command in quotes";
        return Err(Diagnostic::wrong_use(format!("{} needs no check", request.bot), hint));
    }
    let mut pairs = request.settings.to_vec();
    // Shorter games than those of a competition are enough for a trial.
    for (key, value) in table.info().bots.check_settings {
        if !pairs.iter().any(|pair| pair.starts_with(&format!("{key}="))) {
            pairs.push(format!("{key}={value}"));
        }
    }
    let seed = parse_options::seed(Some(request.seed.unwrap_or("1")))?;
    let (settings, assets) = parse_options::settings(table.info(), &pairs, request.folder)?;
    table.check_settings(&settings, table.info().seats.min, &assets)?;
    let mut run = CheckRun {
        request,
        table,
        settings,
        assets,
        seed,
        steps: Vec::new(),
        trials: Json::Null,
        records: Vec::new(),
        logs: Vec::new(),
        says: SelfDescription::default(),
    };
    let seat = run.find_bot(source, notify)?;
    if let Some(seat) = &seat {
        let report = run.check_source(seat);
        run.load_and_play(seat, &report)?;
    }
    Ok(run.into_result(seat))
}

impl CheckRun<'_> {
    /// Finds and reads the bot. Data that it writes in the trial is discarded.
    fn find_bot(
        &mut self,
        source: Result<BotSource, PrepareError>,
        notify: MessageSink<'_>,
    ) -> Result<Option<ProgramSpec>, Diagnostic> {
        let CheckRequest { game, sandbox, folder, .. } = *self.request;
        let context = PrepareContext {
            game,
            folder,
            sandbox,
            keep_data: false,
            extra_file: None,
            settings: Some((&self.settings, &self.assets)),
        };
        let refusals = match source.and_then(|source| prepare(&source, &context, notify)) {
            Ok(prepared) => {
                let PlayerSpec::Program(seat) = prepared.player else { return Ok(None) };
                let hash: String = seat.hash.chars().take("sha256:".len() + 12).collect();
                self.steps.push(StepResult::yes("found", format!("{}, {hash}", seat.name)));
                return Ok(Some(seat));
            }
            Err(PrepareError::Refused { rejection, .. } | PrepareError::Repository { rejection, .. }) => {
                vec![*rejection]
            }
            Err(PrepareError::Failed(failure)) if failure.kind == ErrorKind::Internal => return Err(failure),
            Err(PrepareError::Failed(failure)) => failure.all().map(BotRejection::from).collect(),
        };
        self.steps.push(StepResult { bad: refusals, ..StepResult::new("found", StepOutcome::No, "") });
        for name in ["source", "loads", "plays"] {
            self.steps.push(StepResult::skipped(name, "the bot was not found"));
        }
        Ok(None)
    }

    /// Checks the source of a Python bot.
    fn check_source(&mut self, seat: &ProgramSpec) -> SourceReport {
        if !seat.isolates_calls {
            self.steps.push(StepResult::skipped("source", "not a Python bot: only its play is checked"));
            return SourceReport::default();
        }
        let report = match source_check::check_source(&seat.program, self.request.forbidden_libraries) {
            Ok(report) => report,
            Err(refusal) => {
                self.steps.push(StepResult::no("source", refusal));
                return SourceReport::default();
            }
        };
        let (bad, advice): (Vec<Finding>, Vec<Finding>) =
            report.findings.iter().cloned().partition(|one| one.bad);
        let outcome = if bad.is_empty() { StepOutcome::Yes } else { StepOutcome::No };
        let more = if report.left_out > 0 {
            format!(", and {} more findings", report.left_out)
        } else {
            String::new()
        };
        let says = format!("{}{more}", plural(report.files, "Python file", "Python files"));
        let refusals = |list: Vec<Finding>| list.into_iter().map(BotRejection::from).collect();
        self.steps.push(StepResult {
            bad: refusals(bad),
            advice: refusals(advice),
            ..StepResult::new("source", outcome, says)
        });
        report
    }

    /// Loads the bot and plays the trial game, in each of its roles.
    fn load_and_play(&mut self, seat: &ProgramSpec, report: &SourceReport) -> Result<(), Diagnostic> {
        let tables = self.lineups(seat, report);
        let mut says = SelfDescription::default();
        let mut step = StepResult::yes("loads", "");
        if self.table.info().bots.text_protocol.is_some() && !seat.json_lines {
            step = StepResult::skipped("loads", "a text protocol bot is checked when it plays");
        }
        for (own, seats) in &tables {
            let plan = self.plan(seats);
            match self.table.try_load(&plan) {
                Ok(by_seat) => {
                    if let Some(about) = by_seat.into_iter().nth(own.index()) {
                        says = about;
                    }
                }
                Err(PlayError::BotLoad(error)) => {
                    step = StepResult::no("loads", error.rejection);
                    break;
                }
                Err(other) => return Err(other.into()),
            }
        }
        if step.outcome == StepOutcome::Yes && !says.is_empty() {
            step.says = describe_says(&says);
        }
        self.says = says;
        // Do not repeat a finding of the source check.
        let place = |one: &BotRejection| (one.file.clone(), one.line);
        let known = |one: &BotRejection| {
            one.line.is_some() && self.steps.iter().flat_map(|s| &s.bad).any(|o| place(o) == place(one))
        };
        if step.bad.iter().any(known) {
            step = StepResult::new("loads", StepOutcome::No, "skipped: fix the source problems first");
        }
        let loads = step.outcome != StepOutcome::No;
        self.steps.push(step);
        let step = if loads { self.play(&tables)? } else { StepResult::skipped("plays", "it does not load") };
        self.steps.push(step);
        Ok(())
    }

    /// Lineups with the weakest house bots as opponents, one for each role of the bot.
    fn lineups(&self, seat: &ProgramSpec, report: &SourceReport) -> Vec<(Seat, Vec<PlayerSpec>)> {
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
            report.roles.is_empty() || report.roles.iter().any(|role| role == info.role(*own).name)
        };
        let most = if info.roles.len() > 1 { info.seats.min } else { 1 };
        Seat::all(info.seats.min).take(most).filter(fits).map(table).collect()
    }

    fn plan<'p>(&'p self, seats: &'p [PlayerSpec]) -> MatchSetup<'p> {
        MatchSetup { settings: &self.settings, seed: self.seed, seats, assets: &self.assets }
    }

    /// Plays the trial with the clock on: one game in each role, two if the first move matters.
    fn play(&mut self, tables: &[(Seat, Vec<PlayerSpec>)]) -> Result<StepResult, Diagnostic> {
        let games = if self.settings.get("first").is_some() { 2 } else { 1 };
        let mut bad = Vec::new();
        let mut texts = Vec::new();
        let mut trials = Vec::new();
        for (own, seats) in tables {
            let mut summary = Summary::default();
            let mut faults = TrialFaults::default();
            let plan = self.plan(seats);
            let mut recorder = self.request.keep_record.then(Recorder::new);
            let mut log = PrintLog::new(*own, self.request.deadline);
            let mut records = Vec::new();
            let mut room = hooks_with_recorder(recorder.as_mut());
            room.log = self.request.keep_record.then_some(&mut log as &mut dyn TurnLog);
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
            texts.push(format!(
                "as {role} against {}: {}, {}, {} per answer, longest {}",
                others.join(", "),
                plural(summary.games, "game", "games"),
                if faults.all == 0 { "no fault".to_owned() } else { plural(faults.all, "fault", "faults") },
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
            bad.extend(faults.rejections(self.request.game));
        }
        self.trials = trials.into();
        let outcome = if bad.is_empty() { StepOutcome::Yes } else { StepOutcome::No };
        Ok(StepResult { bad, ..StepResult::new("plays", outcome, texts.join("; ")) })
    }

    /// The result of the check.
    fn into_result(self, seat: Option<ProgramSpec>) -> CheckResult {
        let (name, hash) = seat.map(|seat| (seat.name, seat.hash)).unzip();
        CheckResult {
            game: self.request.game.to_owned(),
            bot: self.request.bot.to_owned(),
            accepted: self.steps.iter().all(|step| step.outcome != StepOutcome::No),
            name,
            hash,
            steps: self.steps,
            trials: self.trials,
            records: self.records,
            logs: self.logs,
            says: self.says,
        }
    }
}

/// What a bot says about itself, in words.
fn describe_says(says: &SelfDescription) -> String {
    let name = says.name.as_ref().map(|name| format!("its name is \"{name}\""));
    let contributor = says.contributor.as_ref().map(|author| format!("its contributor is \"{author}\""));
    let parts: Vec<String> = name.into_iter().chain(contributor).collect();
    format!("it says: {}", parts.join(", "))
}

fn time(time: Duration) -> String {
    agon_league::standings::format_duration(time.as_nanos() as f64)
}

/// Microseconds with fractions, for JSON.
fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}
