//! Threads that check submitted bots, one after the other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use agon_bots::SandboxMode;
use agon_bots::check::{CheckRequest, CheckResult, DebugLines, check};
use agon_core::settings::SettingValue;
use agon_core::{LockIgnoringPoison as _, SelfDescription};
use agon_engine::film::json::BotOutputLine;
use agon_files::AtomicFile;
use agon_host::BotRejection;
use agon_site_db::{
    AccountId, CompetitionState, MAX_TRIALS_BYTES, NewAuditEntry, NotificationKind, Submission, SubmissionPlace, SubmissionState,
    SubmissionVerdict,
};
use agon_store::Timestamp;
use tokio::runtime::Handle;

use super::draft_checks::DraftVerdict;
use super::report::CheckReport;
use super::{SubmissionMeta, find_bot, submission_folder};
use crate::error::StartError;
use crate::notify::{self, Notice};
use crate::runs::{competition_file, entrants};
use crate::state::AppState;

/// Timeout of a check.
const CHECK_TIMEOUT: Duration = Duration::from_mins(1);
/// An idle thread looks for work after this time at the latest.
const IDLE_SLEEP: Duration = Duration::from_secs(2);
/// Clocks that are longer than a check may take, with the value used in a check. Otherwise one answer could take minutes.
const CLOCK_SETTINGS: [(&str, i64); 1] = [("seconds", 45)];

/// Starts the threads.
pub fn start_threads(app: &AppState) -> Result<(), StartError> {
    for number in 0..app.config.checks.max(1) {
        let (thread_app, handle) = (app.clone(), Handle::current());
        let name = format!("check {number}");
        let (started, has_started) = mpsc::channel();
        thread::Builder::new()
            .name(name)
            .spawn(move || check_thread(&thread_app, &handle, &started))
            .map_err(|error| StartError::other(format!("cannot start a thread: {error}")))?;
        // From now on its end is noticed.
        has_started.recv().map_err(StartError::other)?;
        app.check_queue.started_threads.fetch_add(1, Ordering::AcqRel);
    }
    Ok(())
}

/// Maximum number of parallel checks of one account: with several threads, one is always left for others.
fn max_checks_per_account(app: &AppState) -> u32 {
    u32::try_from(app.config.checks.max(2) - 1).unwrap_or(u32::MAX)
}

/// Runs a thread until the server stops. A panic outside of a check does not end it.
fn check_thread(app: &AppState, handle: &Handle, started: &mpsc::Sender<()>) {
    let _alive = app.check_queue.enter();
    let _ = started.send(());
    while !app.is_stopping() {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check_loop(app, handle))) {
            let message = crate::error::panic_message(&*panic);
            drop(crate::error::ApiError::internal(format!("a check thread panicked: {message}")));
            thread::sleep(IDLE_SLEEP);
        }
    }
}

fn check_loop(app: &AppState, handle: &Handle) {
    let mut last_arrivals = 0;
    while !app.is_stopping() {
        let in_progress = app.check_queue.begin();
        let next = app.site_db.claim_next_fairly(Timestamp::now(), max_checks_per_account(app));
        let next = handle.block_on(next);
        let found = match next {
            Ok(Some(one)) => {
                check_submission(app, handle, &one);
                true
            }
            Ok(None) => false,
            Err(error) => {
                let _ = crate::error::ApiError::internal(format!("check queue: {error}"));
                false
            }
        };
        drop(in_progress);
        if !found && !app.is_stopping() {
            let arrivals = app.check_queue.arrivals.lock_ignoring_poison();
            let waited = app
                .check_queue
                .wake
                .wait_timeout_while(arrivals, IDLE_SLEEP, |arrivals| *arrivals == last_arrivals);
            last_arrivals = *waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Result of a check.
struct CheckVerdict {
    state: SubmissionState,
    report: CheckReport,
    records: Vec<Vec<u8>>,
    logs: Vec<Vec<BotOutputLine>>,
    /// Name that the bot gives itself, if its author gave none.
    own_name: Option<String>,
}

impl CheckVerdict {
    fn rejected(step: &str, rejection: &BotRejection) -> Self {
        let report = CheckReport::rejected(step, rejection);
        let (records, logs) = (Vec::new(), Vec::new());
        Self { state: SubmissionState::Refused, report, records, logs, own_name: None }
    }

    fn check_failed(message: &str) -> Self {
        let _ = crate::error::ApiError::internal(message);
        let rejection = BotRejection::new(
            "the check failed with an internal error",
            "submit it again; the server log has the details",
        );
        Self { state: SubmissionState::CheckFailed, ..Self::rejected("found", &rejection) }
    }
}

/// Checks a submission and stores the result.
fn check_submission(app: &AppState, handle: &Handle, one: &Submission) {
    let span =
        tracing::error_span!("check", submission = %one.id, id = one.competition, entrant = %one.entrant);
    let _in_check = span.entered();
    tracing::debug!("check started");
    let relative_folder = submission_folder(&one.competition, one.entrant, &one.id);
    let verdict = match prepare_job(app, handle, one) {
        Ok(job) => run_with_timeout(job),
        Err(message) => CheckVerdict::check_failed(&message),
    };
    let accepted = verdict.state == SubmissionState::Accepted;
    let mut trials = verdict.records;
    while trials.iter().map(Vec::len).sum::<usize>() > MAX_TRIALS_BYTES {
        trials.pop();
    }
    if !verdict.logs.iter().all(Vec::is_empty) {
        let path = app.config.data.join(&relative_folder).with_extension("logs");
        let _ = serde_json::to_vec(&verdict.logs).map(|bytes| AtomicFile::options().write(&path, &bytes));
    }
    let checked = SubmissionVerdict {
        state: verdict.state,
        report: serde_json::to_string(&verdict.report).ok(),
        folder: accepted.then(|| relative_folder.clone()),
        trials,
        at: Timestamp::now(),
    };
    app.meters.upload(verdict.state.name());
    tracing::info!(state = verdict.state.name(), "submission checked");
    if let Some(name) = verdict.own_name.filter(|_| accepted) {
        // Before the verdict, so that the author sees the name with it. The name may be taken, or the competition may have started: then
        // the bot keeps its name.
        let _ = handle.block_on(app.site_db.rename_entrant(one.entrant, &name));
    }
    match handle.block_on(app.site_db.finish(&one.id, &checked)) {
        Ok(_) => handle.block_on(apply_verdict(app, one, accepted)),
        Err(error) => drop(crate::error::ApiError::internal(format!("submission {}: {error}", one.id))),
    }
    if !accepted {
        let _ = std::fs::remove_dir_all(app.config.data.join(&relative_folder));
    }
    let place =
        SubmissionPlace { id: one.id.clone(), competition: one.competition.clone(), entrant: one.entrant };
    // Errors are in the log. The submission then counts as it did before its check.
    let _ = handle.block_on(super::budget::settle(app, &place, one.account, accepted));
}

/// Acts on a verdict. A rejected first version withdraws its entrant, so that only the submission remains. An accepted one is shown.
async fn apply_verdict(app: &AppState, one: &Submission, accepted: bool) {
    notify_check_done(app, one, accepted).await;
    if !accepted {
        let earlier =
            app.site_db.accepted_for_phase(&one.competition, i32::MAX as u32).await.unwrap_or_default();
        if !earlier.iter().any(|other| other.entrant == one.entrant) {
            // After the start this fails, but then the entrant has no number and takes no part.
            let _ = app.site_db.withdraw(one.entrant, Timestamp::now()).await;
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
    let _ = app.site_db.append_audit(&entry).await;
    // The new version joins the practice ladder.
    app.practice.ladders.refresh();
    app.practice.wake();
    if let Ok(competition) = app.site_db.competition(&one.competition).await {
        if matches!(
            competition.state,
            CompetitionState::Draft | CompetitionState::Open | CompetitionState::Closed
        ) {
            let _ = entrants::refresh(app, &competition).await;
        } else if let Ok(handle) = app.competitions.get(&competition.id) {
            handle.changed();
        }
    }
}

/// Tells the bot's author, or all members of its team, that the check is finished.
async fn notify_check_done(app: &AppState, one: &Submission, accepted: bool) {
    let Ok(entrant) = app.site_db.entrant(one.entrant).await else { return };
    let name = app.site_db.competition(&one.competition).await.map_or_else(|_| one.competition.clone(), |c| c.name);
    let outcome = if accepted { "is accepted" } else { "was not accepted: read its report" };
    let notice = Notice {
        kind: NotificationKind::CheckDone,
        topic: format!("submission/{}", one.id),
        link: format!("/s/{}", one.id),
        text: format!("{} in {name} {outcome}.", entrant.name),
    };
    notify::send_to_managers(app, &entrant, &notice).await;
}

/// Everything a check needs, so that it can run in its own thread.
struct CheckJob {
    game: String,
    competition_folder: PathBuf,
    bot_path: String,
    settings: Vec<String>,
    data: PathBuf,
    deadline: Instant,
    /// Modules that the competition forbids.
    forbidden_libraries: Vec<String>,
    /// Name and contributor that tables show, unless the bot names itself.
    shown: SelfDescription,
}

/// What is checked, and for whom.
pub(super) struct CheckSubject {
    /// Id of the competition.
    pub competition: String,
    /// The author.
    pub account: AccountId,
    /// Name that tables show.
    pub name: String,
    /// First phase (from 0) in which it plays.
    pub from_phase: u32,
    /// Path of the files, relative to the competition's folder.
    pub bot_path: String,
}

/// Checks files that were not submitted. Waits for the result.
pub(super) fn check_files(app: &AppState, handle: &Handle, subject: &CheckSubject) -> DraftVerdict {
    let verdict = match prepare(app, handle, subject) {
        Ok(job) => run_with_timeout(job),
        Err(message) => CheckVerdict::check_failed(&message),
    };
    let CheckVerdict { state, report, records, logs, .. } = verdict;
    DraftVerdict { state: state.name(), report, records, logs }
}

fn prepare_job(app: &AppState, handle: &Handle, one: &Submission) -> Result<CheckJob, String> {
    let entrant = handle.block_on(app.site_db.entrant(one.entrant)).map_err(|error| error.to_string())?;
    let subject = CheckSubject {
        competition: one.competition.clone(),
        account: one.account,
        name: entrant.name,
        from_phase: one.from_phase,
        bot_path: format!("bots/{}/{}", one.entrant, one.id),
    };
    prepare(app, handle, &subject)
}

fn prepare(app: &AppState, handle: &Handle, one: &CheckSubject) -> Result<CheckJob, String> {
    let competition =
        handle.block_on(app.site_db.competition(&one.competition)).map_err(|e| e.to_string())?;
    let data = app.config.data.canonicalize().map_err(|error| error.to_string())?;
    let competition_folder = data.join("competitions").join(&competition.id);
    let read = competition_file::provisional(&competition.preset, &competition.game, &[]);
    let read = read.map_err(|error| error.message().to_owned())?;
    let phase = read.phases.get(one.from_phase as usize).or(read.phases.first());
    let effective = phase.map_or(&read.settings, |phase| &phase.settings);
    let any_game = agon_engine::any_game(&competition.game).map_err(|error| error.to_string())?;
    let specs = any_game.info().settings;
    let usual = agon_core::Settings::defaults(specs);
    let own = effective.iter().filter(|(name, value)| usual.get(name) != Some(*value));
    let mut settings: Vec<String> = own.map(|(name, value)| format!("{name}={value}")).collect();
    for (name, most) in CLOCK_SETTINGS {
        let is_longer = match effective.get(name).or_else(|| usual.get(name)) {
            Some(SettingValue::Int(seconds)) => *seconds > most,
            Some(SettingValue::Real(seconds)) => *seconds > most as f64,
            _ => false,
        };
        if is_longer {
            settings.retain(|pair| !pair.starts_with(&format!("{name}=")));
            settings.push(format!("{name}={most}"));
        }
    }
    let account = handle.block_on(app.site_db.account(one.account)).map_err(|error| error.to_string())?;
    Ok(CheckJob {
        shown: SelfDescription { name: Some(one.name.clone()), contributor: Some(account.name) },
        game: competition.game,
        competition_folder,
        bot_path: one.bot_path.clone(),
        settings,
        data,
        deadline: Instant::now() + CHECK_TIMEOUT,
        forbidden_libraries: read.forbidden_libraries,
    })
}

/// Runs a check with a timeout. After a timeout its thread ends with the bot's next answer, at the latest when the bot's clock runs out.
fn run_with_timeout(job: CheckJob) -> CheckVerdict {
    let (sender, receiver) = mpsc::channel();
    let span = tracing::Span::current();
    let spawned = thread::Builder::new().name("check".to_owned()).spawn(move || {
        let _in_check = span.entered();
        let done = catch_unwind(AssertUnwindSafe(|| run_check(&job)));
        // Fails only after the timeout, when the result is no longer needed.
        let _ = sender.send(done.unwrap_or_else(|_| CheckVerdict::check_failed("a check panicked")));
    });
    if let Err(error) = spawned {
        return CheckVerdict::check_failed(&error.to_string());
    }
    match receiver.recv_timeout(CHECK_TIMEOUT) {
        Ok(verdict) => verdict,
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            CheckVerdict::check_failed("a check ended without a result")
        }
        Err(mpsc::RecvTimeoutError::Timeout) => {
            let what = format!("the check did not finish within {} s", CHECK_TIMEOUT.as_secs());
            CheckVerdict::rejected(
                "plays",
                &BotRejection::new(what, "make the bot answer faster; measure it with `agon trial`"),
            )
        }
    }
}

fn run_check(job: &CheckJob) -> CheckVerdict {
    let folder = job.competition_folder.join(&job.bot_path);
    let mut meta = match SubmissionMeta::read(&folder) {
        Ok(meta) => meta,
        Err(error) => return CheckVerdict::check_failed(&format!("{}: {error}", folder.display())),
    };
    let bot = match find_bot::find_bot(&job.game, &job.competition_folder, &job.bot_path, &meta) {
        Ok(bot) => bot,
        Err(rejection) => {
            return CheckVerdict::rejected("found", &hide_paths(rejection, &job.hidden_paths()));
        }
    };
    let order = CheckRequest {
        game: &job.game,
        bot: &bot,
        settings: &job.settings,
        seed: None,
        sandbox: SandboxMode::On,
        folder: &job.competition_folder,
        seats: None,
        keep_record: true,
        keep_output: true,
        deadline: Some(job.deadline),
        forbidden_libraries: &job.forbidden_libraries,
        max_zip_mib: None,
        make_log: None,
        debug: DebugLines::Off,
    };
    let mut checked = match check(&order, &mut |_| {}) {
        Ok(checked) => checked,
        Err(failure) => return CheckVerdict::check_failed(&failure.to_string()),
    };
    meta.bot = Some(bot);
    if let Err(error) = meta.write(&folder) {
        return CheckVerdict::check_failed(&error.to_string());
    }
    let own_name = checked.says.name.clone().filter(|_| meta.names_itself);
    add_contradictions(&mut checked, &job.shown, own_name.is_some());
    let state = if checked.accepted { SubmissionState::Accepted } else { SubmissionState::Refused };
    let report = CheckReport::from_check(&checked, &job.hidden_paths());
    CheckVerdict { state, report, records: checked.records, logs: checked.logs, own_name }
}

/// Tells the author where tables show something else than the bot says about itself.
fn add_contradictions(checked: &mut CheckResult, shown: &SelfDescription, names_itself: bool) {
    let Some(step) = checked.steps.iter_mut().find(|step| step.name == "loads") else { return };
    let mut add = |what: &str, shown: &Option<String>, said: &Option<String>, hint: &str| {
        if let (Some(shown), Some(said)) = (shown, said)
            && shown != said
        {
            let text = format!("the bot says that its {what} is \"{said}\", but tables show \"{shown}\"");
            step.advice.push(BotRejection::new(text, hint));
        }
    };
    if !names_itself {
        add("name", &shown.name, &checked.says.name, "submit the bot under that name, or change get_name()");
    }
    add(
        "contributor",
        &shown.contributor,
        &checked.says.contributor,
        "tables show the name of your account here",
    );
}

impl CheckJob {
    /// Paths that must not appear in a report.
    fn hidden_paths(&self) -> Vec<String> {
        let shown = |path: &Path| format!("{}/", path.display());
        vec![
            shown(&self.competition_folder.join(&self.bot_path)),
            shown(&self.competition_folder),
            shown(&self.data),
            format!("{}/", self.bot_path),
        ]
    }
}

fn hide_paths(mut rejection: BotRejection, hidden: &[String]) -> BotRejection {
    for hide in hidden {
        rejection.what = rejection.what.replace(hide, "");
        rejection.file = rejection.file.map(|file| file.replace(hide, ""));
    }
    rejection
}
