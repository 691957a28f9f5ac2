//! Progress of a run, for people at a terminal, for logs, and for programs.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use agon_core::GameInfo;
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

/// A line of a log at most so often while matches are played.
const LOGGED: Duration = Duration::from_secs(10);
/// So many bots of the table are shown while it forms.
const ROWS: usize = 12;
/// So many faults are shown.
const FAULTS: usize = 4;
/// A table of more bots takes longer to make than it is worth at every tick.
const MOST_BOTS: usize = 200;

/// What a run shows of itself; `company` is who plays, where that is not this machine.
pub fn listener<'l>(
    competition: &'l CompetitionConfig,
    info: &'static GameInfo,
    json: bool,
    company: Option<WorkerMonitor>,
) -> Box<dyn RunListener + 'l> {
    if json {
        Box::new(JsonProgress { competition, company })
    } else if io::stderr().is_terminal() {
        Box::new(ProgressScreen::new(competition, info, company))
    } else {
        Box::new(LogProgress {
            competition,
            company,
            done: 0,
            expected: (0, 0),
            begun: 0,
            since: Instant::now(),
            said: Instant::now(),
        })
    }
}

fn name(competition: &CompetitionConfig, entrant: Entrant) -> &str {
    competition.entrants.get(entrant.index()).map_or("?", |one| one.name.as_str())
}

/// What is said in words, whoever listens.
fn words(competition: &CompetitionConfig, event: &RunEvent<'_>) -> Option<String> {
    Some(match event {
        RunEvent::Balance { report, .. } => {
            let name = |entrant| name(competition, entrant).to_owned();
            report.describe(&name).iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
        }
        RunEvent::RunStarted { competition, commitment, resumed } => {
            let how = if *resumed { "goes on" } else { "begins" };
            format!("{} {how}; its secret seed has {commitment}", competition.name)
        }
        RunEvent::PhaseStarted { phase, name, expected: (least, most), done } => {
            let count = if least == most { most.to_string() } else { format!("{least} to {most}") };
            let done = if *done > 0 { format!(", {done} of them played before") } else { String::new() };
            format!("phase {}, {name}: {count} matches{done}", phase + 1)
        }
        RunEvent::Published { phase, name, matches } => {
            format!("phase {}, {name}: over after {matches} matches, table published", phase + 1)
        }
        RunEvent::Banned { worker, reason: why, revoked: again } => {
            format!("worker {worker} is not believed any more: {why}; {again} matches are played again")
        }
        RunEvent::Outvoted { key, worker, revoked: again } => format!(
            "match {key} came to something else with two others than with {worker}: theirs counts; {again} to be put right"
        ),
        RunEvent::Disputed { key, workers } => disputed(*key, workers),
        RunEvent::Waiting { phase, name } => format!(
            "phase {}, {name}, waits for new versions of bots: put them in place and run again to start it",
            phase + 1
        ),
        RunEvent::Finished { seed } => format!("over; the secret seed was {seed}"),
        _ => return None,
    })
}

/// Of a match that came to different ends.
pub fn disputed(key: MatchKey, workers: &[String]) -> String {
    let first = workers.first().map_or("the first", String::as_str);
    format!(
        "match {key} came to different ends with {}, each by the rules: that of {first} counts\n\
         hint: its bots may depend on chance or on the clock; with more workers a third one decides",
        workers.join(" and ")
    )
}

fn fault_words(competition: &CompetitionConfig, result: &MatchResult, fault: &MatchFault) -> String {
    let (key, game, turn) = (result.key, fault.game + 1, fault.turn);
    let says = fault.report.message.lines().next().unwrap_or_default();
    format!(
        "match {key}, game {game}, turn {turn}, {}: {}: {says}",
        name(competition, fault.entrant),
        fault.report.fault
    )
}

/// Plain lines.
struct LogProgress<'l> {
    competition: &'l CompetitionConfig,
    company: Option<WorkerMonitor>,
    done: u64,
    expected: (u64, u64),
    begun: u64,
    since: Instant,
    said: Instant,
}

impl RunListener for LogProgress<'_> {
    fn event(&mut self, event: &RunEvent<'_>) {
        if let Some(words) = words(self.competition, event) {
            output::note(&words);
        }
        match event {
            RunEvent::PhaseStarted { expected, done, .. } => {
                (self.expected, self.done, self.begun) = (*expected, *done, *done);
                (self.since, self.said) = (Instant::now(), Instant::now());
            }
            RunEvent::MatchStored { result, faults } => {
                self.done += 1;
                for fault in faults.iter().take(1) {
                    // One line for a match; the fault list has all of them.
                    let more = if faults.len() > 1 {
                        format!(" (and {} more)", faults.len() - 1)
                    } else {
                        String::new()
                    };
                    output::note(&format!("fault: {}{more}", fault_words(self.competition, result, fault)));
                }
                if self.said.elapsed() >= LOGGED {
                    self.said = Instant::now();
                    let rate =
                        (self.done - self.begun) as f64 / self.since.elapsed().as_secs_f64().max(0.001);
                    let who =
                        self.company.as_ref().map_or_else(String::new, |all| format!("; {}", all.summary()));
                    output::note(&format!("{} of {} matches, {rate:.1}/s{who}", self.done, self.expected.1));
                }
            }
            RunEvent::Tick { .. } => {
                for news in self.company.iter_mut().flat_map(WorkerMonitor::news) {
                    output::note(&news);
                }
            }
            _ => {}
        }
    }
}

/// A stream of events, one JSON object a line.
struct JsonProgress<'l> {
    competition: &'l CompetitionConfig,
    company: Option<WorkerMonitor>,
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
                json!({
                    "event": "match", "phase": key.phase + 1, "stage": key.stage + 1, "match": key.number + 1,
                    "games": result.games.len(),
                    "seats": points.iter().map(|(one, points)| json!({"name": name(*one), "points": points})).collect::<Vec<_>>(),
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
            RunEvent::Tick { .. } => return self.news(),
        };
        // A reader that has gone away stops nothing.
        let _ = writeln!(io::stdout().lock(), "{line}");
    }
}

impl JsonProgress<'_> {
    /// Who came and went, and what the coordinator says.
    fn news(&mut self) {
        for says in self.company.iter().flat_map(WorkerMonitor::said) {
            let _ = writeln!(io::stdout().lock(), "{}", json!({"event": "note", "says": says}));
        }
        for change in self.company.iter_mut().flat_map(WorkerMonitor::changes) {
            let line =
                json!({"event": "worker", "worker": change.worker, "what": change.what, "why": change.why});
            let _ = writeln!(io::stdout().lock(), "{line}");
        }
    }
}

/// What moves on a terminal: a bar, what is being played, the table as it forms, the latest faults.
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
    company: Option<WorkerMonitor>,
    /// Log lines are written above the bars.
    _log_redirect: LogRedirect,
}

impl<'l> ProgressScreen<'l> {
    fn new(
        competition: &'l CompetitionConfig,
        info: &'static GameInfo,
        company: Option<WorkerMonitor>,
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
            company,
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
        for news in self.company.iter_mut().flat_map(WorkerMonitor::news) {
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
        let who = self.company.as_ref().map_or_else(String::new, |all| format!("  {}", all.summary()));
        self.playing.set_message(format!("{}{who}\n{}", self.stage, lines.join("\n")));
        if self.competition.entrants.len() <= MOST_BOTS && tally.matches > 0 {
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
        order.iter().enumerate().take(ROWS).filter_map(row).collect::<Vec<_>>().join("\n")
    }

    fn clear(&self) {
        for one in [&self.bar, &self.playing, &self.table, &self.faults] {
            one.finish_and_clear();
        }
    }
}

impl RunListener for ProgressScreen<'_> {
    fn event(&mut self, event: &RunEvent<'_>) {
        if let Some(words) = words(self.competition, event) {
            // A line that fails to be shown is no reason to stop a competition.
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
                    self.latest.push(format!("fault: {}", fault_words(self.competition, result, fault)));
                }
                if !faults.is_empty() {
                    self.latest.drain(..self.latest.len().saturating_sub(FAULTS));
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
