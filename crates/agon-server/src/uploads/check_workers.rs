//! The checks: a few threads take what was handed in, one after the other, and see whether it plays.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use agon_core::settings::{Kind, Value};
use agon_engine::film::json::LogLine;
use agon_host::intake::Refusal;
use agon_store::Timestamp;
use agon_store::site_db::{SubmissionVerdict, NewAuditEntry, CompetitionState, Submission, SubmissionState, TRIALS_BYTES};
use agon_venue::check::{CheckOrder, check};
use agon_venue::{Failure, Sandbox};
use tokio::runtime::Handle;

use super::report::CheckReport;
use super::{SubmissionMeta, find_bot, folder_of};
use crate::error::StartError;
use crate::runs::{competition_file, entrants};
use crate::state::AppState;

/// A check is given up after this.
const CHECK_TIMEOUT: Duration = Duration::from_mins(1);
/// Whoever waits for work looks again after this, whatever happened.
const IDLE_SLEEP: Duration = Duration::from_secs(2);
/// Settings that make a game long, and from what on the check has shorter ones of its own.
const LONG: [(&str, i64); 2] = [("rounds", 200), ("steps", 400)];

/// Starts the threads.
pub fn begin(app: &AppState) -> Result<(), StartError> {
    for number in 0..app.config.checks.max(1) {
        let (app, handle) = (app.clone(), Handle::current());
        let name = format!("check {number}");
        thread::Builder::new()
            .name(name)
            .spawn(move || work(&app, &handle))
            .map_err(|error| StartError::Other(format!("cannot start a thread: {error}")))?;
    }
    Ok(())
}

fn work(app: &AppState, handle: &Handle) {
    let mut seen = 0;
    while !app.is_stopping() {
        app.intake.checking.fetch_add(1, Ordering::Relaxed);
        let next = handle.block_on(app.office.claim_next(Timestamp::now()));
        let found = match next {
            Ok(Some(one)) => {
                examine(app, handle, &one);
                true
            }
            Ok(None) => false,
            Err(error) => {
                let _ = crate::error::ApiError::broke(format!("the queue of checks: {error}"));
                false
            }
        };
        app.intake.checking.fetch_sub(1, Ordering::Relaxed);
        if !found && !app.is_stopping() {
            let came = app.intake.came.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = app.intake.wake.wait_timeout_while(came, IDLE_SLEEP, |came| *came == seen);
            seen = *waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// What one check came to.
struct CheckVerdict {
    state: SubmissionState,
    report: CheckReport,
    records: Vec<Vec<u8>>,
    logs: Vec<Vec<LogLine>>,
}

impl CheckVerdict {
    fn refused(step: &str, refusal: &Refusal) -> Self {
        let report = CheckReport::refused(step, refusal);
        Self { state: SubmissionState::Refused, report, records: Vec::new(), logs: Vec::new() }
    }

    fn broke(words: &str) -> Self {
        let _ = crate::error::ApiError::broke(words);
        let refusal =
            Refusal::new("the check itself broke", "hand it in again; an organiser finds more in the log");
        Self { state: SubmissionState::Broke, ..Self::refused("found", &refusal) }
    }
}

/// Checks one and keeps what came of it.
fn examine(app: &AppState, handle: &Handle, one: &Submission) {
    let below = folder_of(&one.competition, one.entrant, &one.id);
    let verdict = match asked(app, handle, one) {
        Ok(job) => patiently(job),
        Err(words) => CheckVerdict::broke(&words),
    };
    let accepted = verdict.state == SubmissionState::Accepted;
    let mut trials = verdict.records;
    while trials.iter().map(Vec::len).sum::<usize>() > TRIALS_BYTES {
        trials.pop();
    }
    if !verdict.logs.iter().all(Vec::is_empty) {
        let path = app.config.data.join(&below).with_extension("logs");
        let _ = serde_json::to_vec(&verdict.logs).map(|bytes| std::fs::write(path, bytes));
    }
    let checked = SubmissionVerdict {
        state: verdict.state,
        report: serde_json::to_string(&verdict.report).ok(),
        folder: accepted.then(|| below.clone()),
        trials,
        at: Timestamp::now(),
    };
    app.meters.upload(verdict.state.name());
    match handle.block_on(app.office.finish(&one.id, &checked)) {
        Ok(_) => handle.block_on(after(app, one, accepted)),
        Err(error) => drop(crate::error::ApiError::broke(format!("submission {}: {error}", one.id))),
    }
    if !accepted {
        let _ = std::fs::remove_dir_all(app.config.data.join(&below));
    }
}

/// A first version that was not accepted leaves nothing but the submission; an accepted one is shown.
async fn after(app: &AppState, one: &Submission, accepted: bool) {
    if !accepted {
        let earlier = app.office.accepted_for_phase(&one.competition, i32::MAX as u32).await.unwrap_or_default();
        if !earlier.iter().any(|other| other.entrant == one.entrant) {
            // Once it has started nobody withdraws, but then this one has no number and takes no part.
            let _ = app.office.withdraw(one.entrant, Timestamp::now()).await;
        }
        return;
    }
    let entry = NewAuditEntry {
        at: Timestamp::now(),
        account: Some(one.account),
        action: "bot.accepted".to_owned(),
        competition: Some(one.competition.clone()),
        subject: one.id.to_string(),
        reason: String::new(),
        detail: "{}".to_owned(),
    };
    let _ = app.office.append_audit(&entry).await;
    if let Ok(competition) = app.office.competition(&one.competition).await {
        if matches!(competition.state, CompetitionState::Draft | CompetitionState::Open | CompetitionState::Closed) {
            let _ = entrants::rewrite_file(app, &competition).await;
        } else if let Ok(arena) = app.arenas.get(&competition.id) {
            arena.changed();
        }
    }
}

/// All that a check needs, so that it can be left alone.
struct CheckJob {
    game: String,
    home: PathBuf,
    below: String,
    settings: Vec<String>,
    data: PathBuf,
}

fn asked(app: &AppState, handle: &Handle, one: &Submission) -> Result<CheckJob, String> {
    let competition = handle.block_on(app.office.competition(&one.competition)).map_err(|e| e.to_string())?;
    let data = app.config.data.canonicalize().map_err(|error| error.to_string())?;
    let home = data.join("competitions").join(&competition.id);
    let below = format!("bots/{}/{}", one.entrant, one.id);
    let read = competition_file::provisional(&competition.preset, &competition.game, &[]);
    let read = read.map_err(|error| error.message().to_owned())?;
    let phase = read.phases.get(one.from_phase as usize).or(read.phases.first());
    let settings = phase.map_or(&read.settings, |phase| &phase.settings);
    let table = agon_engine::table(&competition.game).map_err(|error| error.to_string())?;
    let specs = table.info().settings;
    let usual = agon_core::Settings::defaults(specs);
    let own = settings.iter().filter(|(name, value)| {
        let asset = specs.iter().any(|spec| spec.name == *name && spec.kind == Kind::Asset);
        let long = LONG
            .iter()
            .any(|(long, most)| long == name && !matches!(value, Value::Int(count) if count <= most));
        !asset && !long && usual.get(name) != Some(*value)
    });
    let settings = own.map(|(name, value)| format!("{name}={value}")).collect();
    Ok(CheckJob { game: competition.game, home, below, settings, data })
}

/// Waits for a check, but not for ever: its thread ends when the bot's clocks do.
fn patiently(job: CheckJob) -> CheckVerdict {
    let (sender, receiver) = mpsc::channel();
    let spawned = thread::Builder::new().name("check".to_owned()).spawn(move || {
        let done = catch_unwind(AssertUnwindSafe(|| run(&job)));
        // Nobody waits any more if that fails.
        let _ = sender.send(done.unwrap_or_else(|_| CheckVerdict::broke("a check panicked")));
    });
    if let Err(error) = spawned {
        return CheckVerdict::broke(&error.to_string());
    }
    match receiver.recv_timeout(CHECK_TIMEOUT) {
        Ok(verdict) => verdict,
        Err(mpsc::RecvTimeoutError::Disconnected) => CheckVerdict::broke("a check ended without a word"),
        Err(mpsc::RecvTimeoutError::Timeout) => {
            let what = format!("the check was not over after {} s", CHECK_TIMEOUT.as_secs());
            CheckVerdict::refused(
                "plays",
                &Refusal::new(what, "make its answers quicker; `agon trial` times them"),
            )
        }
    }
}

fn run(job: &CheckJob) -> CheckVerdict {
    let folder = job.home.join(&job.below);
    let mut slip = match SubmissionMeta::read(&folder) {
        Ok(slip) => slip,
        Err(error) => return CheckVerdict::broke(&format!("{}: {error}", folder.display())),
    };
    let bot = match find_bot::find_bot(&job.game, &job.home, &job.below, &slip) {
        Ok(bot) => bot,
        Err(refusal) => return CheckVerdict::refused("found", &tidy(refusal, &job.hidden())),
    };
    let order = CheckOrder {
        game: &job.game,
        bot: &bot,
        settings: &job.settings,
        seed: None,
        sandbox: Sandbox::On,
        folder: &job.home,
        keep_record: true,
    };
    let checked = match check(&order, &mut |_| {}) {
        Ok(checked) => checked,
        Err(Failure { message, .. }) => return CheckVerdict::broke(&message),
    };
    slip.bot = Some(bot);
    if let Err(error) = slip.write(&folder) {
        return CheckVerdict::broke(&error.to_string());
    }
    let state = if checked.accepted { SubmissionState::Accepted } else { SubmissionState::Refused };
    let report = CheckReport::of(&checked, &job.hidden());
    CheckVerdict { state, report, records: checked.records, logs: checked.logs }
}

impl CheckJob {
    /// What no answer shows.
    fn hidden(&self) -> Vec<String> {
        let shown = |path: &Path| format!("{}/", path.display());
        vec![
            shown(&self.home.join(&self.below)),
            shown(&self.home),
            shown(&self.data),
            format!("{}/", self.below),
        ]
    }
}

fn tidy(mut refusal: Refusal, hidden: &[String]) -> Refusal {
    for hide in hidden {
        refusal.what = refusal.what.replace(hide, "");
        refusal.file = refusal.file.map(|file| file.replace(hide, ""));
    }
    refusal
}
