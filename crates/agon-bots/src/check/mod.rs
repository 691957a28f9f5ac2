//! Checks whether a bot would be accepted: reports all problems of the source at once, then plays trial games.

mod lineup;
mod play;
mod result;
mod trial;

use std::fmt;
use std::path::Path;
use std::time::Instant;

use agon_core::settings::SettingValue;
use agon_core::text_format::plural;
use agon_core::{Assets, ErrorKind, SeatCount, SelfDescription, Settings};
use agon_engine::any_game::PlayError;
use agon_engine::film::json::BotOutputLine;
use agon_engine::turn_log::MakeTurnLog;
use agon_engine::{AnyGame, PlayerSpec, ProgramSpec};
use agon_host::BotRejection;
use serde_json::Value as Json;

use crate::bot_source::BotSource;
use crate::debug_line::PythonOptions;
use crate::error::Diagnostic;
use crate::prepare::{PrepareContext, PrepareError, SandboxMode, prepare};
use crate::source::Finding;
use crate::source::archive::ArchiveLimits;
use crate::source::published_name::check_published_name;
use crate::source::source_check::{self, SourceReport};
use crate::{MessageSink, parse_options};

pub use play::FULL_LENGTH_TIMEOUT;
pub use result::{CheckResult, StepOutcome, StepResult};

/// Lines to paste after a fault.
#[derive(Clone, Copy, Debug)]
pub enum DebugLines<'c> {
    /// None: the author is not at this machine.
    Off,
    /// One for each fault.
    On {
        /// File to which the caller writes the records.
        record: Option<&'c Path>,
        /// Interpreter and packages for Python bots.
        python: PythonOptions<'c>,
    },
}

/// Input of a check.
#[derive(Clone, Copy)]
pub struct CheckRequest<'c> {
    /// Id of the game.
    pub game: &'c str,
    /// Bot spec, other than a house bot or a human.
    pub bot: &'c str,
    /// Settings of the games of full length, as `key=value`. The first trial is shorter if the game has `check_settings`.
    pub settings: &'c [String],
    /// Seed of the trial game; the default is 1.
    pub seed: Option<&'c str>,
    /// Whether the bot runs in the sandbox.
    pub sandbox: SandboxMode,
    /// Base folder for paths and commands; empty means the current folder.
    pub folder: &'c Path,
    /// Number of seats; the default is the game's minimum.
    pub seats: Option<usize>,
    /// Whether to return the records of the finished games.
    pub keep_record: bool,
    /// Whether to return what the bot printed.
    pub keep_output: bool,
    /// Time at which the trial is ended with an error.
    pub deadline: Option<Instant>,
    /// Modules that a Python bot may not import.
    pub forbidden_libraries: &'c [String],
    /// Maximum size of a `.zip` in MiB; the default is that of a competition.
    pub max_zip_mib: Option<u32>,
    /// Creates logs of the games for the author.
    pub make_log: Option<&'c MakeTurnLog<'c>>,
    /// Lines to paste after a fault.
    pub debug: DebugLines<'c>,
}

impl fmt::Debug for CheckRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckRequest")
            .field("game", &self.game)
            .field("bot", &self.bot)
            .finish_non_exhaustive()
    }
}

/// A check in progress.
struct CheckRun<'r, 'c> {
    request: &'r CheckRequest<'c>,
    table: Box<dyn AnyGame>,
    /// Settings of a game of full length.
    settings: Settings,
    /// Settings of the first trial.
    short_settings: Settings,
    assets: Assets,
    seed: u64,
    seats: usize,
    games_begun: u32,
    games_recorded: u32,
    printed_lines: u64,
    /// What happened after matches, which costs nothing.
    advice: Vec<BotRejection>,
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
    let seed = parse_options::seed(Some(request.seed.unwrap_or("1")))?;
    let (settings, assets) = parse_options::settings(table.info(), request.settings, request.folder)?;
    let short_settings = shortened(&settings, table.info().bots.check_settings);
    let seats = number_of_seats(request, table.info().seats)?;
    for settings in [&settings, &short_settings] {
        table.check_settings(settings, seats, &assets)?;
    }
    let mut run = CheckRun {
        request,
        table,
        settings,
        short_settings,
        assets,
        seed,
        seats,
        games_begun: 0,
        games_recorded: 0,
        printed_lines: 0,
        advice: Vec::new(),
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

/// The number of seats that was asked for, or the game's minimum.
fn number_of_seats(request: &CheckRequest<'_>, allowed: SeatCount) -> Result<usize, Diagnostic> {
    let seats = request.seats.unwrap_or(allowed.min);
    if allowed.allows(seats) {
        return Ok(seats);
    }
    let what = format!("--seats: {} has {} seats, not {seats}", request.game, allowed.describe());
    Err(Diagnostic::wrong_use(what, format!("use {}, or omit --seats", allowed.describe())))
}

/// Settings with the game's values for a short trial, where they make it shorter.
fn shortened(settings: &Settings, check_settings: &[(&'static str, &str)]) -> Settings {
    let mut short = settings.clone();
    for (key, value) in check_settings {
        if let (Some(SettingValue::Int(full)), Ok(most)) = (settings.get(key), value.parse::<i64>())
            && *full > most
        {
            short.set(key, SettingValue::Int(most));
        }
    }
    short
}

impl CheckRun<'_, '_> {
    /// Finds and reads the bot. Data that it writes in the trial is discarded.
    fn find_bot(
        &mut self,
        source: Result<BotSource, PrepareError>,
        notify: MessageSink<'_>,
    ) -> Result<Option<ProgramSpec>, Diagnostic> {
        let CheckRequest { game, sandbox, folder, max_zip_mib, .. } = *self.request;
        let context = PrepareContext {
            game,
            folder,
            sandbox,
            keep_data: false,
            extra_file: None,
            settings: Some((&self.settings, &self.assets)),
            archive_limits: max_zip_mib.map_or_else(ArchiveLimits::default, |most| {
                ArchiveLimits::of_packed_bytes(u64::from(most) << 20)
            }),
        };
        let mut why = "the bot was not found";
        let refusals = match source.and_then(|source| prepare(&source, &context, notify)) {
            Ok(prepared) => {
                let PlayerSpec::Program(seat) = prepared.player else { return Ok(None) };
                match check_published_name(self.table.info(), &seat.program.folder) {
                    Ok(()) => {
                        let hash: String = seat.hash.chars().take("sha256:".len() + 12).collect();
                        self.steps.push(StepResult::yes("found", format!("{}, {hash}", seat.name)));
                        return Ok(Some(seat));
                    }
                    Err(rejection) => {
                        why = "a file has a reserved name";
                        vec![rejection]
                    }
                }
            }
            Err(PrepareError::Refused { rejection, .. } | PrepareError::Repository { rejection, .. }) => {
                vec![*rejection]
            }
            Err(PrepareError::Failed(failure)) if failure.kind == ErrorKind::Internal => return Err(failure),
            Err(PrepareError::Failed(failure)) => failure.all().map(BotRejection::from).collect(),
        };
        self.steps.push(StepResult { bad: refusals, ..StepResult::new("found", StepOutcome::No, "") });
        for name in ["source", "loads", "plays"] {
            self.steps.push(StepResult::skipped(name, why));
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
        let tables = self.short_lineups(seat, report);
        let mut says = SelfDescription::default();
        let mut step = StepResult::yes("loads", "");
        if self.table.info().bots.text_protocol.is_some() && !seat.json_lines {
            step = StepResult::skipped("loads", "a text protocol bot is checked when it plays");
        }
        for lineup in &tables {
            match self.table.try_load(&self.match_setup(lineup)) {
                Ok(by_seat) => {
                    if let Some(about) = by_seat.into_iter().nth(lineup.own.index()) {
                        says = about;
                    }
                }
                Err(PlayError::BotLoad(error)) => {
                    step = StepResult::no("loads", *error.rejection);
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
        let step = if loads {
            self.play(seat, report, &tables)?
        } else {
            StepResult::skipped("plays", "it does not load")
        };
        self.steps.push(step);
        Ok(())
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
            printed_lines: self.printed_lines,
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
