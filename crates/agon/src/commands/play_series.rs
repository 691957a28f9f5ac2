//! The games of `agon play` between bots: progress, `--watch` while they are played, and CTRL-C.

use std::io::{IsTerminal as _, stdin, stdout};
use std::process;
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;
use std::thread;
use std::time::Duration;

use agon_bots::Diagnostic;
use agon_engine::turn_log::MakeTurnLog;
use agon_engine::{MakeReporter, Reporter, Series, SeriesResult};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::play::{PlayJob, PlayResults};
use crate::args::OnOff;
use crate::logging::LogRedirect;
use crate::logs::Logs;
use crate::print_count::PrintCount;
use crate::watch::live::{self, WatchedSeries};
use crate::{errors, exit_code, stop_requests};

/// Maximum number of games in which what bots print is counted, for a note that it is not shown.
const MAX_GAMES_WITH_PRINT_NOTE: u32 = 10;
/// Interval between updates of the bar.
const REDRAW_INTERVAL: Duration = Duration::from_millis(200);

/// Plays the games and prints the result. After CTRL-C the result contains the games that were played.
pub fn run(job: &PlayJob<'_>, results: PlayResults, logs: Option<&Logs>) -> Result<(), Diagnostic> {
    let stop = stop_requests::count()?;
    let progress = progress_bar(job);
    let log_redirect = LogRedirect::above_bar(&progress);
    let prints = PrintCount::default();
    let run = SeriesRun {
        job,
        logs,
        prints: &prints,
        stop: &stop,
        progress: &progress,
        results: Mutex::new(results),
    };
    if job.args.watch && job.args.every.is_none() && stdout().is_terminal() && stdin().is_terminal() {
        drop(log_redirect);
        run.play_and_watch()?;
    } else {
        run.play(None)?;
    }
    progress.finish_and_clear();
    let mut results = run.results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let finished = results.finish(job, stop_requests::any(&stop));
    if logs.is_none() {
        prints.note();
    }
    finished
}

/// A bar on stderr, if that is a terminal.
fn progress_bar(job: &PlayJob<'_>) -> ProgressBar {
    if job.args.games < 2 {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(job.args.games.into());
    let style = "{bar:40} {pos}/{len} games  {per_sec}  {eta} left";
    let style = ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = bar.with_style(style);
    // Also while a long game is played.
    bar.enable_steady_tick(REDRAW_INTERVAL);
    bar
}

struct SeriesRun<'r, 'a> {
    job: &'r PlayJob<'a>,
    logs: Option<&'r Logs>,
    prints: &'r PrintCount,
    stop: &'r AtomicU32,
    progress: &'r ProgressBar,
    results: Mutex<PlayResults>,
}

impl SeriesRun<'_, '_> {
    fn play(&self, live: Option<&WatchedSeries>) -> Result<(), Diagnostic> {
        let (job, args) = (self.job, self.job.args);
        let make_log = |first: u32| match self.logs {
            Some(logs) => logs.log(first),
            None => self.prints.log(),
        };
        let has_log = self.logs.is_some() || args.games <= MAX_GAMES_WITH_PRINT_NOTE;
        let make_reporter =
            live.map(|live| move |_: u32| Box::new(live.reporter()) as Box<dyn Reporter + '_>);
        let series = Series {
            game: job.table.as_ref(),
            settings: &job.settings,
            seed: job.seed,
            games: args.games,
            match_games: args.match_games.unwrap_or(args.games),
            seats: &job.seats,
            assets: &job.assets,
            record: self.results().keeps_records(),
            // Games are watched one after the other.
            jobs: if live.is_some() { 1 } else { job.jobs },
            pin: args.pin == OnOff::On,
            make_log: has_log.then_some(&make_log as &MakeTurnLog<'_>),
            make_reporter: make_reporter.as_ref().map(|make| make as &MakeReporter<'_>),
            stop_requests: Some(self.stop),
        };
        series.play_or_abandon(|result| self.add(result, live), || self.abandon())?;
        Ok(())
    }

    fn add(&self, result: SeriesResult, live: Option<&WatchedSeries>) -> Result<(), Diagnostic> {
        let mut results = self.results();
        match result {
            SeriesResult::Game(played) => {
                self.progress.inc(1);
                results.add(played)?;
            }
            SeriesResult::AfterMatch { last_game, faults } => results.add_after_match(last_game, &faults),
        }
        if let Some(live) = live {
            live.add_finished(results.take_watched());
        }
        Ok(())
    }

    fn results(&self) -> std::sync::MutexGuard<'_, PlayResults> {
        self.results.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Prints the result of the finished games and ends the program. Bots end with it.
    fn abandon(&self) {
        self.progress.finish_and_clear();
        let mut code = exit_code::REJECTED;
        if let Err(failure) = self.results().finish(self.job, true) {
            errors::show(&failure);
            code = exit_code::exit_code(failure.kind);
        }
        process::exit(i32::from(code));
    }

    /// Plays in another thread, while this one shows the games. The bar appears if the user leaves before the last game is over.
    fn play_and_watch(&self) -> Result<(), Diagnostic> {
        let live = WatchedSeries::default();
        self.progress.set_draw_target(ProgressDrawTarget::hidden());
        thread::scope(|scope| {
            let playing = scope.spawn(|| {
                let played = self.play(Some(&live));
                live.set_all_played();
                played
            });
            let make_film =
                |record| self.job.table.film(record, &self.job.assets).map_err(Diagnostic::internal);
            let watched =
                live::watch(self.job.table.info(), &live, self.job.args.numbers, self.stop, &make_film);
            self.progress.set_draw_target(ProgressDrawTarget::stderr());
            let _log_redirect = LogRedirect::above_bar(self.progress);
            let played = playing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            played.and(watched)
        })
    }
}
