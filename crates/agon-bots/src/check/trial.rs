//! Collects the faults and the output of a bot in a check's trial.

use std::io;
use std::time::Instant;

use agon_core::record::{FaultRecord, RecordHeader};
use agon_core::text_format::plural;
use agon_core::{FaultReport, Outcome, Seat};
use agon_engine::film::json::BotOutputLine;
use agon_engine::turn_log::{TurnLog, TurnLogEntry};
use agon_host::BotRejection;
use agon_host::load_check::last_place;

/// Maximum number of kinds of faults that are listed.
const MAX_FAULTS_SHOWN: usize = 8;

/// Maximum bytes of output that are kept for one lineup. A bot can print 64 KiB with each answer.
const MAX_OUTPUT_BYTES: usize = 512 * 1024;

/// Output of the bot in its trial.
pub(super) struct PrintLog {
    own: Seat,
    turn: u32,
    kept_bytes: usize,
    deadline: Option<Instant>,
    pub(super) games: Vec<Vec<BotOutputLine>>,
}

impl PrintLog {
    /// Collects the output of the bot at this seat. The first answer after the deadline ends the game with an error.
    pub(super) const fn new(own: Seat, deadline: Option<Instant>) -> Self {
        Self { own, turn: 0, kept_bytes: 0, deadline, games: Vec::new() }
    }

    fn add(&mut self, turn: u32, seat: Seat, text: &str) {
        if seat != self.own || text.is_empty() || self.kept_bytes >= MAX_OUTPUT_BYTES {
            return;
        }
        self.kept_bytes += text.len() + size_of::<BotOutputLine>();
        let text = if self.kept_bytes >= MAX_OUTPUT_BYTES { "(further output is not kept)" } else { text };
        if let Some(game) = self.games.last_mut() {
            game.push(BotOutputLine { turn, seat, text: text.to_owned() });
        }
    }
}

impl TurnLog for PrintLog {
    fn begin_game(&mut self, _: u32, _: &RecordHeader) -> io::Result<()> {
        self.turn = 0;
        self.games.push(Vec::new());
        Ok(())
    }

    fn output(&mut self, seat: Seat, printed: &str) -> io::Result<()> {
        self.add(self.turn, seat, printed);
        Ok(())
    }

    fn answer(&mut self, entry: &TurnLogEntry<'_>) -> io::Result<()> {
        self.turn = entry.turn;
        self.add(entry.turn, entry.seat, entry.output);
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the check takes too long"));
        }
        Ok(())
    }

    fn end_game(&mut self, _: &Outcome) -> io::Result<()> {
        Ok(())
    }

    fn match_over(&mut self, seat: Seat, printed: &str, _: Option<&FaultReport>) -> io::Result<()> {
        self.add(self.turn, seat, printed);
        Ok(())
    }
}

/// Advice about a fault in what the bot did after the match. It does not reject the bot.
pub(super) fn advice_after_match(report: &FaultReport) -> BotRejection {
    let last = report.message.lines().last().unwrap_or_default();
    let call = report.message.split_once(": ").map_or("", |(call, _)| call);
    let what = format!("{call} fails after the match: {last}");
    let advice = BotRejection::new(what, "it costs nothing, but what the bot should learn is lost");
    match last_place(&report.message) {
        Some((file, line)) => BotRejection { file: file.map(str::to_owned), line, ..advice },
        None => BotRejection { trace: report.stderr.clone(), ..advice },
    }
}

/// `TrialFaults` of a trial: the first of each kind, and how often it occurred.
#[derive(Default)]
pub(super) struct TrialFaults {
    pub(super) all: u64,
    kinds: Vec<(String, u64, BotRejection)>,
}

impl TrialFaults {
    pub(super) fn add(&mut self, game: u32, turns: u32, fault: &FaultRecord) {
        self.all += 1;
        let report = &fault.report;
        let place = match fault.turn {
            turn if fault.is_after_game(turns) => format!("after game {game}, which had {} turns", turn - 1),
            turn => format!("game {game}, turn {turn}"),
        };
        let says = report.message.lines().last().unwrap_or_default();
        let kind = format!("{}: {says}", report.fault);
        if let Some((_, times, _)) = self.kinds.iter_mut().find(|(known, ..)| *known == kind) {
            *times += 1;
            return;
        }
        let mut refusal = BotRejection::new(format!("{kind} ({place})"), "");
        if let Some((file, line)) = last_place(&report.message) {
            refusal = BotRejection { file: file.map(str::to_owned), line, ..refusal };
        } else {
            refusal.trace.clone_from(&report.stderr);
        }
        self.kinds.push((kind, 1, refusal));
    }

    pub(super) fn rejections(self, game: &str) -> Vec<BotRejection> {
        let more = self.kinds.len().saturating_sub(MAX_FAULTS_SHOWN);
        let mut rejections_found: Vec<BotRejection> = Vec::new();
        for (_, times, mut refusal) in self.kinds.into_iter().take(MAX_FAULTS_SHOWN) {
            if times > 1 {
                let what = refusal.what.trim_end_matches(')');
                refusal.what = format!("{what}, and {} more)", plural(times - 1, "time", "times"));
            }
            refusal.hint = format!("see `agon games {game}` for the penalty of a fault");
            rejections_found.push(refusal);
        }
        if more > 0 {
            rejections_found.push(BotRejection::new(format!("and {more} more kinds of fault"), ""));
        }
        rejections_found
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn entry(output: &str) -> TurnLogEntry<'_> {
        let times = agon_core::AnswerTimes::default();
        TurnLogEntry { turn: 1, seat: Seat(0), request: "move", answer: None, fault: None, times, output }
    }

    #[test]
    fn output_of_a_trial_is_bounded() {
        let mut log = PrintLog::new(Seat(0), None);
        log.games.push(Vec::new());
        let line = "x".repeat(64 * 1024);
        for _ in 0..400 {
            log.answer(&entry(&line)).unwrap();
        }
        let kept: usize = log.games[0].iter().map(|line| line.text.len()).sum();
        assert!(kept <= MAX_OUTPUT_BYTES, "{kept}");
        assert!(log.games[0].last().unwrap().text.contains("not kept"));
    }

    #[test]
    fn answer_after_the_deadline_ends_the_game() {
        assert!(PrintLog::new(Seat(0), None).answer(&entry("")).is_ok());
        assert!(PrintLog::new(Seat(0), Some(Instant::now())).answer(&entry("")).is_err());
    }
}
