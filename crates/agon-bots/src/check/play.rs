//! Plays the trial of a check: a short game in each role, then games of full length against a weak and a strong house bot.

use std::path::Path;
use std::time::{Duration, Instant};

use agon_core::record::Recorder;
use agon_core::text_format::plural;
use agon_engine::any_game::{MatchSetup, PlayError, hooks_with_recorder};
use agon_engine::{PlayerSpec, ProgramSpec};
use serde_json::{Value as Json, json};

use super::lineup::{HouseStrength, Lineup, TrialLength, lineups};
use super::trial::{TrialFault, TrialFaults, TrialLog, advice_after_match};
use super::{CheckRun, DebugLines, StepOutcome, StepResult};
use crate::debug_line::{FaultPlace, GameOptions, debug_line, play_line, quote, unused_record};
use crate::error::Diagnostic;
use crate::source::source_check::SourceReport;

/// Time limit of a trial of full length. The check stops it after the answer that exceeds it, without a penalty.
pub const FULL_LENGTH_TIMEOUT: Duration = Duration::from_secs(15);
/// A check with a deadline starts and plays games of full length only until this time before it.
const TIME_LEFT_AT_THE_END: Duration = Duration::from_secs(5);

impl CheckRun<'_, '_> {
    /// The lineups of the short trial, one for each role.
    pub(super) fn short_lineups(&self, bot: &ProgramSpec, report: &SourceReport) -> Vec<Lineup> {
        let kind = (HouseStrength::Weakest, TrialLength::Short);
        lineups(self.table.as_ref(), bot, report, self.seats, kind)
    }

    /// The lineups of full length. The weak opponents are left out if the short trial was a whole game.
    fn full_lineups(&self, bot: &ProgramSpec, report: &SourceReport) -> Vec<Lineup> {
        let kinds = [HouseStrength::Weakest, HouseStrength::Strongest];
        let needed = |strength: &HouseStrength| {
            *strength == HouseStrength::Strongest || self.short_settings != self.settings
        };
        let of =
            |strength| lineups(self.table.as_ref(), bot, report, self.seats, (strength, TrialLength::Full));
        kinds.into_iter().filter(needed).flat_map(of).collect()
    }

    /// Settings, seed and seats of a lineup.
    pub(super) fn match_setup<'p>(&'p self, lineup: &'p Lineup) -> MatchSetup<'p> {
        let settings = match lineup.length {
            TrialLength::Short => &self.short_settings,
            TrialLength::Full => &self.settings,
        };
        MatchSetup { settings, seed: self.seed, seats: &lineup.seats, assets: &self.assets }
    }

    /// Plays the trial with the clock on. Games of full length are left out if the short ones have a fault that the rules punish.
    pub(super) fn play(
        &mut self,
        bot: &ProgramSpec,
        report: &SourceReport,
        short: &[Lineup],
    ) -> Result<StepResult, Diagnostic> {
        let mut faults = TrialFaults::new(self.table.info());
        let (mut texts, mut trials) = (Vec::new(), Vec::new());
        self.advice.clear();
        for lineup in short {
            self.play_lineup(lineup, None, &mut faults, (&mut texts, &mut trials))?;
        }
        if faults.is_rejected() {
            texts.push("games of full length were left out: fix these faults first".to_owned());
        } else {
            for lineup in self.full_lineups(bot, report) {
                let Some(stop_at) = self.full_length_end() else {
                    texts.push(
                        "further games of full length were left out: the check has no time left".to_owned(),
                    );
                    break;
                };
                self.play_lineup(&lineup, Some(stop_at), &mut faults, (&mut texts, &mut trials))?;
            }
        }
        self.trials = trials.into();
        let (bad, mut warnings) = faults.into_findings();
        warnings.append(&mut self.advice);
        let outcome = if bad.is_empty() { StepOutcome::Yes } else { StepOutcome::No };
        Ok(StepResult { bad, advice: warnings, ..StepResult::new("plays", outcome, texts.join("; ")) })
    }

    /// Time at which a trial of full length that starts now is stopped. `None` if the check has no time for one.
    fn full_length_end(&self) -> Option<Instant> {
        let end = Instant::now() + FULL_LENGTH_TIMEOUT;
        let Some(deadline) = self.request.deadline else { return Some(end) };
        let last = deadline.checked_sub(TIME_LEFT_AT_THE_END)?;
        (last > Instant::now()).then(|| end.min(last))
    }

    /// Plays one game of a lineup, two if the first move matters.
    fn play_lineup(
        &mut self,
        lineup: &Lineup,
        stop_at: Option<Instant>,
        faults: &mut TrialFaults,
        (texts, trials): (&mut Vec<String>, &mut Vec<Json>),
    ) -> Result<(), Diagnostic> {
        let games = if self.settings.get("first").is_some() { 2 } else { 1 };
        let inner = self.request.make_log.map(|make| make(self.games_begun));
        let mut log = TrialLog::new(lineup.own, self.request.deadline, stop_at, inner);
        let mut recorder = self.request.keep_record.then(Recorder::new);
        let (mut records, mut finished) = (Vec::new(), 0);
        let mut after_games = Vec::new();
        let plan = self.match_setup(lineup);
        let mut hooks = hooks_with_recorder(recorder.as_mut());
        hooks.log = Some(&mut log);
        let played = self.table.play(&plan, 0..games, &mut hooks, &mut |mut played| {
            finished += 1;
            records.extend(played.record.take().map(|(bytes, _)| bytes));
            let late = played.faults.iter().filter(|fault| fault.is_after_game(played.turns));
            after_games.extend(late.filter(|fault| fault.seat == lineup.own).map(|fault| TrialFault {
                game: played.index,
                turn: fault.turn,
                is_after_game: true,
                report: fault.report.clone(),
            }));
        });
        match played {
            Err(PlayError::Io(_)) if log.is_stopped() => {}
            other => {
                let own = other?.into_iter().filter(|(seat, _)| *seat == lineup.own);
                self.advice.extend(own.map(|(_, report)| advice_after_match(&report)));
            }
        }
        log.faults.append(&mut after_games);
        for fault in &log.faults {
            let line = self.debug_line_of(lineup, fault, fault.game < finished, games);
            faults.add(self.games_begun + fault.game + 1, fault, line);
        }
        self.games_begun += log.games.len() as u32;
        self.games_recorded += finished;
        texts.push(self.describe(lineup, &log));
        trials.push(self.trial_json(lineup, &log, finished));
        self.records.append(&mut records);
        if self.request.keep_output {
            self.logs.append(&mut log.games);
        }
        self.printed_lines += log.printed_lines;
        Ok(())
    }

    /// The line to paste for a fault. A game that was stopped has no record, so it is played again.
    fn debug_line_of(
        &self,
        lineup: &Lineup,
        fault: &TrialFault,
        is_finished: bool,
        games: u32,
    ) -> Option<String> {
        let DebugLines::On { record, python } = self.request.debug else { return None };
        let record = record.filter(|_| is_finished);
        let options = GameOptions {
            info: self.table.info(),
            settings: self.request.settings,
            sandbox: self.request.sandbox,
            python,
            match_games: None,
        };
        let TrialFault { turn, is_after_game, .. } = *fault;
        let place =
            |before: u32| FaultPlace { game: before + fault.game + 1, seat: lineup.own, turn, is_after_game };
        if let Some(record) = record {
            return Some(debug_line(record, place(self.games_recorded), &fault.report, &options));
        }
        let new = unused_record(self.request.folder);
        if is_finished {
            let again = self.check_command(&options, &new);
            let line = debug_line(&new, place(self.games_recorded), &fault.report, &options);
            return Some(format!("{again}; {line}"));
        }
        let seats: Vec<String> = lineup.seats.iter().map(PlayerSpec::spec).collect();
        let again = play_line(&options, &seats, self.seed, games, &new);
        Some(format!("{again}; {}", debug_line(&new, place(0), &fault.report, &options)))
    }

    /// This check with a record.
    fn check_command(&self, options: &GameOptions<'_>, record: &Path) -> String {
        let mut line = format!("agon check {} {}", self.request.game, quote(self.request.bot));
        if let Some(seed) = self.request.seed {
            line += &format!(" --seed {}", quote(seed));
        }
        if let Some(seats) = self.request.seats {
            line += &format!(" --seats {seats}");
        }
        line += &options.words();
        for library in self.request.forbidden_libraries {
            line += &format!(" --forbid {}", quote(library));
        }
        if let Some(most) = self.request.max_zip_mib {
            line += &format!(" --max-zip-mib {most}");
        }
        line + &format!(" --record {}", quote(&record.display().to_string()))
    }

    fn describe(&self, lineup: &Lineup, log: &TrialLog<'_>) -> String {
        let role = self.table.info().role(lineup.own).name;
        let length = match lineup.length {
            TrialLength::Full => ", full length",
            TrialLength::Short => "",
        };
        let stopped = if log.is_stopped() {
            format!(", stopped in turn {} because the time for it was over", log.last_turn())
        } else {
            String::new()
        };
        let faults = log.faults.len();
        format!(
            "as {role} against {}{length}: {}{stopped}, {}, {} per answer, longest {}",
            lineup.opponents().join(", "),
            plural(log.games.len(), "game", "games"),
            if faults == 0 { "no fault".to_owned() } else { plural(faults, "fault", "faults") },
            time(log.times.mean()),
            time(log.times.longest),
        )
    }

    fn trial_json(&self, lineup: &Lineup, log: &TrialLog<'_>, finished: u32) -> Json {
        json!({
            "role": self.table.info().role(lineup.own).name,
            "against": lineup.opponents(),
            "full_length": self.match_setup(lineup).settings == &self.settings,
            "games": finished,
            "stopped": log.is_stopped(),
            "answers": log.times.answers,
            "faults": log.faults.len(),
            "time_us": {
                "mean": micros(log.times.mean()),
                "longest": micros(log.times.longest),
            },
        })
    }
}

fn time(time: Duration) -> String {
    agon_league::standings::format_duration(time.as_nanos() as f64)
}

/// Microseconds with fractions, for JSON.
fn micros(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}
