//! Progress of a run: on a terminal, as log lines, and as JSON.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use agon_core::{Diagnostic, GameInfo};
use agon_league::config::CompetitionConfig;
use agon_league::tally::Tally;
use agon_league::{Entrant, MatchKey, MatchResult};
use agon_runner::event::match_points;
use agon_runner::{ActiveMatch, RunEvent, RunListener, phase_results};
use agon_store::MatchFault;
use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};
use serde_json::json;

use crate::grid::worker_monitor::WorkerMonitor;
use crate::logging::LogRedirect;
use crate::output;

/// Minimum interval between progress lines while matches are played.
const LOG_INTERVAL: Duration = Duration::from_secs(10);
/// Maximum number of bots in the table on the progress screen.
const MAX_TABLE_ROWS: usize = 12;
/// Maximum number of faults on the progress screen.
const MAX_FAULTS_SHOWN: usize = 4;
/// Maximum number of bots for which the progress screen shows a table. A larger table takes too long to compute at every tick.
const MAX_BOTS_IN_TABLE: usize = 200;

/// The listener for a run. `monitor` monitors the workers, if workers play.
pub fn listener<'l>(
    competition: &'l CompetitionConfig,
    info: &'static GameInfo,
    json: bool,
    monitor: Option<WorkerMonitor>,
) -> Box<dyn RunListener + 'l> {
    if json {
        Box::new(JsonProgress { competition, info, monitor })
    } else if io::stderr().is_terminal() {
        Box::new(ProgressScreen::new(competition, info, monitor))
    } else {
        Box::new(LogProgress {
            competition,
            monitor,
            done: 0,
            expected: (0, 0),
            done_at_start: 0,
            started: Instant::now(),
            last_line: Instant::now(),
        })
    }
}

fn name(competition: &CompetitionConfig, entrant: Entrant) -> &str {
    competition.entrants.get(entrant.index()).map_or("?", |one| one.name.as_str())
}

/// Sum of a statistic of an entrant over the games of a match.
fn stat_of_match(result: &MatchResult, entrant: Entrant, stat: usize) -> f64 {
    let seats = result.games.iter().flat_map(|game| &game.seats);
    seats.filter(|seat| seat.entrant == entrant).map(|seat| seat.stats[stat].to_f64()).sum()
}

/// The event as text for a terminal or a log.
fn event_text(competition: &CompetitionConfig, event: &RunEvent<'_>) -> Option<String> {
    Some(match event {
        RunEvent::Balance { report, .. } => {
            let name = |entrant| name(competition, entrant).to_owned();
            report.describe(&name).iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
        }
        RunEvent::RunStarted { competition, commitment, resumed } => {
            let how = if *resumed { "resumed" } else { "started" };
            format!("{} {how}; its secret seed has {commitment}", competition.name)
        }
        RunEvent::PhaseStarted { phase, name, expected: (least, most), done } => {
            let count = if least == most { most.to_string() } else { format!("{least} to {most}") };
            let done = if *done > 0 { format!(", {done} of them already played") } else { String::new() };
            format!("phase {}, {name}: {count} matches{done}", phase + 1)
        }
        RunEvent::Published { phase, name, matches } => {
            format!("phase {}, {name}: finished after {matches} matches, table published", phase + 1)
        }
        RunEvent::Banned { worker, reason: why, revoked: again } => {
            format!("worker {worker} is banned: {why}; {again} matches are played again")
        }
        RunEvent::Outvoted { key, worker, revoked: again } => format!(
            "match {key}: two workers disagree with {worker}; their result counts; {again} matches are corrected"
        ),
        RunEvent::Disputed { key, workers } => disputed(*key, workers),
        RunEvent::Waiting { phase, name } => {
            format!("phase {}, {name}, waits for new versions of bots", phase + 1)
        }
        RunEvent::Finished { seed } => format!("finished; the secret seed was {seed}"),
        _ => return None,
    })
}

/// Message for a match with different results.
pub fn disputed(key: MatchKey, workers: &[String]) -> String {
    let first = workers.first().map_or("the first", String::as_str);
    let what = format!(
        "match {key}: {} have different results, and each follows the rules; the result of {first} counts",
        workers.join(" and ")
    );
    Diagnostic::rejected(what)
        .hint("the bots may depend on chance or on the clock; with more workers, a third one decides")
        .to_string()
}

fn fault_text(competition: &CompetitionConfig, result: &MatchResult, fault: &MatchFault) -> String {
    let (key, game, turn) = (result.key, fault.game + 1, fault.turn);
    let says = fault.report.message.lines().next().unwrap_or_default();
    format!(
        "match {key}, game {game}, turn {turn}, {}: {}: {says}",
        name(competition, fault.entrant),
        fault.report.fault
    )
}

/// Prints progress as lines.
struct LogProgress<'l> {
    competition: &'l CompetitionConfig,
    monitor: Option<WorkerMonitor>,
    done: u64,
    expected: (u64, u64),
    done_at_start: u64,
    started: Instant,
    last_line: Instant,
}

impl RunListener for LogProgress<'_> {
    fn event(&mut self, event: &RunEvent<'_>) {
        if let Some(words) = event_text(self.competition, event) {
            output::note(&words);
        }
        match event {
            RunEvent::PhaseStarted { expected, done, .. } => {
                (self.expected, self.done, self.done_at_start) = (*expected, *done, *done);
                (self.started, self.last_line) = (Instant::now(), Instant::now());
            }
            RunEvent::MatchStored { result, faults } => {
                self.done += 1;
                for fault in faults.iter().take(1) {
                    // One line per match. The fault list contains all faults.
                    let more = if faults.len() > 1 {
                        format!(" (and {} more)", faults.len() - 1)
                    } else {
                        String::new()
                    };
                    output::note(&format!("fault: {}{more}", fault_text(self.competition, result, fault)));
                }
                if self.last_line.elapsed() >= LOG_INTERVAL {
                    self.last_line = Instant::now();
                    let rate = (self.done - self.done_at_start) as f64
                        / self.started.elapsed().as_secs_f64().max(0.001);
                    let who =
                        self.monitor.as_ref().map_or_else(String::new, |all| format!("; {}", all.summary()));
                    output::note(&format!("{} of {} matches, {rate:.1}/s{who}", self.done, self.expected.1));
                }
            }
            RunEvent::Tick { .. } => {
                for news in self.monitor.iter_mut().flat_map(WorkerMonitor::new_messages) {
                    output::note(&news);
                }
            }
            _ => {}
        }
    }
}

/// Prints events as JSON, one object per line.
struct JsonProgress<'l> {
    competition: &'l CompetitionConfig,
    info: &'static GameInfo,
    monitor: Option<WorkerMonitor>,
}

impl RunListener for JsonProgress<'_> {
    fn event(&mut self, event: &RunEvent<'_>) {
        let name = |entrant: Entrant| name(self.competition, entrant);
        let line = match event {
            RunEvent::RunStarted { competition, commitment, resumed } => json!({
                "event": "opened", "version": 1, "competition": competition.name, "game": competition.game,
                "commitment": commitment, "resumed": resumed,
                "entrants": competition.entrants.iter().map(|one| &one.name).collect::<Vec<_>>(),
            }),
            RunEvent::PhaseStarted { phase, name, expected, done } => json!({
                "event": "phase", "phase": phase + 1, "name": name, "matches": {"least": expected.0, "most": expected.1},
                "done": done,
            }),
            RunEvent::Balance { phase, report } => {
                json!({"event": "balance", "phase": phase + 1, "report": report})
            }
            RunEvent::StageStarted { phase, stage, name, matches, done } => json!({
                "event": "stage", "phase": phase + 1, "stage": stage + 1, "name": name, "matches": matches, "done": done,
            }),
            RunEvent::MatchStored { result, faults } => {
                let (key, points) = match_points(result);
                let seat = |(one, points): &(Entrant, f64)| {
                    let mut seat = json!({"name": name(*one), "points": points});
                    if let Some((index, stat)) = self.info.stat_beside_score() {
                        seat["stats"] = json!({stat.name: stat_of_match(result, *one, index)});
                    }
                    seat
                };
                json!({
                    "event": "match", "phase": key.phase + 1, "stage": key.stage + 1, "match": key.number + 1,
                    "games": result.games.len(),
                    "seats": points.iter().map(seat).collect::<Vec<_>>(),
                    "faults": faults.iter().map(|fault| json!({
                        "game": fault.game + 1, "turn": fault.turn, "name": name(fault.entrant),
                        "fault": fault.report.fault.name(), "says": fault.report.message,
                    })).collect::<Vec<_>>(),
                })
            }
            RunEvent::Published { phase, name, matches } => {
                json!({"event": "published", "phase": phase + 1, "name": name, "matches": matches})
            }
            RunEvent::Banned { worker, reason: why, revoked: again } => {
                json!({"event": "barred", "worker": worker, "why": why, "again": again})
            }
            RunEvent::Outvoted { key, worker, revoked: again } => {
                json!({"event": "outvoted", "phase": key.phase + 1, "stage": key.stage + 1, "match": key.number + 1,
                    "worker": worker, "again": again})
            }
            RunEvent::Disputed { key, workers } => {
                json!({"event": "disputed", "phase": key.phase + 1, "stage": key.stage + 1, "match": key.number + 1,
                    "workers": workers})
            }
            RunEvent::Waiting { phase, name } => {
                json!({"event": "waiting", "phase": phase + 1, "name": name})
            }
            RunEvent::Finished { seed } => json!({"event": "over", "seed": seed}),
            RunEvent::Tick { .. } => return self.print_worker_events(),
        };
        // A closed pipe does not stop the competition.
        let _ = writeln!(io::stdout().lock(), "{line}");
    }
}

impl JsonProgress<'_> {
    /// Prints changes of workers and messages of the coordinator.
    fn print_worker_events(&mut self) {
        for says in self.monitor.iter().flat_map(WorkerMonitor::coordinator_messages) {
            let _ = writeln!(io::stdout().lock(), "{}", json!({"event": "note", "says": says}));
        }
        for change in self.monitor.iter_mut().flat_map(WorkerMonitor::changes) {
            let line = json!({"event": "worker", "worker": change.worker, "what": change.what.name(), "why": change.why});
            let _ = writeln!(io::stdout().lock(), "{line}");
        }
    }
}

/// Progress on a terminal: a bar, the current matches, the current table, the latest faults.
struct ProgressScreen<'l> {
    competition: &'l CompetitionConfig,
    info: &'static GameInfo,
    screen: MultiProgress,
    bar: ProgressBar,
    playing: ProgressBar,
    table: ProgressBar,
    faults: ProgressBar,
    latest: Vec<String>,
    phase: u32,
    stage: String,
    monitor: Option<WorkerMonitor>,
    /// Log lines are written above the bars.
    _log_redirect: LogRedirect,
}

impl<'l> ProgressScreen<'l> {
    fn new(
        competition: &'l CompetitionConfig,
        info: &'static GameInfo,
        monitor: Option<WorkerMonitor>,
    ) -> Self {
        let screen = MultiProgress::new();
        let plain = || ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = screen.add(ProgressBar::hidden());
        let [playing, table, faults] =
            [0; 3].map(|_| screen.add(ProgressBar::new_spinner().with_style(plain())));
        let (latest, stage) = (Vec::new(), String::new());
        let log_redirect = LogRedirect::above_bars(&screen);
        Self {
            competition,
            info,
            screen,
            bar,
            playing,
            table,
            faults,
            latest,
            phase: 0,
            stage,
            monitor,
            _log_redirect: log_redirect,
        }
    }

    fn begin(&mut self, expected: (u64, u64), done: u64) {
        self.screen.remove(&self.bar);
        let style = "{wide_bar} {pos}/{len} matches  {rate}  {eta} left";
        let style = ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
        let rate = |state: &ProgressState, text: &mut dyn std::fmt::Write| {
            let _ = write!(text, "{:.1}/s", state.per_sec());
        };
        let style = style.with_key("rate", rate);
        self.bar = self.screen.insert(0, ProgressBar::new(expected.1).with_style(style).with_position(done));
        self.bar.reset_eta();
    }

    fn tick(&mut self, playing: &[ActiveMatch], tally: &Tally) {
        for news in self.monitor.iter_mut().flat_map(WorkerMonitor::new_messages) {
            let _ = self.screen.println(news);
        }
        let one = |one: &ActiveMatch| {
            let names: Vec<&str> =
                one.seats.iter().take(6).map(|&seat| name(self.competition, seat)).collect();
            let more = if one.seats.len() > 6 {
                format!(" and {} more", one.seats.len() - 6)
            } else {
                String::new()
            };
            format!("  {} {}{more} ({:.0} s)", one.key, names.join(" - "), one.since.elapsed().as_secs_f64())
        };
        let lines: Vec<String> = playing.iter().take(8).map(one).collect();
        let who = self.monitor.as_ref().map_or_else(String::new, |all| format!("  {}", all.summary()));
        self.playing.set_message(format!("{}{who}\n{}", self.stage, lines.join("\n")));
        if self.competition.entrants.len() <= MAX_BOTS_IN_TABLE && tally.matches > 0 {
            self.table.set_message(self.table_text(tally));
        }
        self.bar.tick();
    }

    fn table_text(&self, tally: &Tally) -> String {
        let Some(phase) = self.competition.phases.get(self.phase as usize) else { return String::new() };
        let asked = phase_results::standings_request(self.competition, self.info, phase, &[]);
        let order = agon_league::standings::official_order(tally, &asked);
        let width =
            self.competition.entrants.iter().map(|one| one.name.chars().count()).max().unwrap_or(0).min(40);
        let row = |(place, entrant): (usize, &Entrant)| {
            let sums = tally.of(*entrant)?;
            let mean = sums.score.mean();
            Some(format!(
                "{:>4}  {:<width$}  {mean:>10.*} {} in {} games",
                place + 1,
                name(self.competition, *entrant),
                self.info.score.decimals,
                self.info.score.name,
                sums.games,
            ))
        };
        order.iter().enumerate().take(MAX_TABLE_ROWS).filter_map(row).collect::<Vec<_>>().join("\n")
    }

    fn clear(&self) {
        for one in [&self.bar, &self.playing, &self.table, &self.faults] {
            one.finish_and_clear();
        }
    }
}

impl RunListener for ProgressScreen<'_> {
    fn event(&mut self, event: &RunEvent<'_>) {
        if let Some(words) = event_text(self.competition, event) {
            // A line that cannot be printed does not stop the competition.
            let _ = self.screen.println(words);
        }
        match event {
            RunEvent::PhaseStarted { phase, expected, done, .. } => {
                self.phase = *phase;
                self.begin(*expected, *done);
            }
            RunEvent::StageStarted { name, .. } => self.stage.clone_from(name),
            RunEvent::Tick { playing, tally } => self.tick(playing, tally),
            RunEvent::MatchStored { result, faults } => {
                self.bar.inc(1);
                for fault in *faults {
                    self.latest.push(format!("fault: {}", fault_text(self.competition, result, fault)));
                }
                if !faults.is_empty() {
                    self.latest.drain(..self.latest.len().saturating_sub(MAX_FAULTS_SHOWN));
                    self.faults.set_message(self.latest.join("\n"));
                }
            }
            RunEvent::Waiting { .. } | RunEvent::Finished { .. } => self.clear(),
            _ => {}
        }
    }
}

impl Drop for ProgressScreen<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}
