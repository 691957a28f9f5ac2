//! Collects the faults and the output of a bot in a check's trial.

use std::io;

use agon_core::record::{FaultRecord, RecordHeader};
use agon_core::text_format::plural;
use agon_core::{Outcome, Seat};
use agon_engine::film::json::BotOutputLine;
use agon_engine::turn_log::{TurnLog, TurnLogEntry};
use agon_host::BotRejection;
use agon_host::load_check::last_place;

/// Maximum number of kinds of faults that are listed.
const MAX_FAULTS_SHOWN: usize = 8;

/// Maximum number of bytes kept of what a bot prints in its trial. A bot can print in every turn.
const MAX_TRIAL_OUTPUT_BYTES: usize = 1 << 20;

/// Output of the bot in its trial: the beginning, up to [`MAX_TRIAL_OUTPUT_BYTES`].
pub(super) struct PrintLog {
    own: Seat,
    turn: u32,
    kept_bytes: usize,
    pub(super) games: Vec<Vec<BotOutputLine>>,
}

impl PrintLog {
    /// Collects the output of the bot at this seat.
    pub(super) const fn new(own: Seat) -> Self {
        Self { own, turn: 0, kept_bytes: 0, games: Vec::new() }
    }

    fn add(&mut self, turn: u32, seat: Seat, text: &str) {
        let room = MAX_TRIAL_OUTPUT_BYTES.saturating_sub(self.kept_bytes);
        if room == 0 || text.is_empty() || seat != self.own {
            return;
        }
        let Some(game) = self.games.last_mut() else { return };
        self.kept_bytes += text.len();
        let mut kept = text.get(..text.floor_char_boundary(room)).unwrap_or_default().to_owned();
        if text.len() >= room {
            kept.push_str("\n... (more output is not shown)\n");
        }
        game.push(BotOutputLine { turn, seat, text: kept });
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
        Ok(())
    }

    fn end_game(&mut self, _: &Outcome) -> io::Result<()> {
        Ok(())
    }
}

/// `TrialFaults` of a trial: the first of each kind, and how often it occurred.
#[derive(Default)]
pub(super) struct TrialFaults {
    pub(super) all: u64,
    kinds: Vec<(String, u64, BotRejection)>,
}

impl TrialFaults {
    pub(super) fn add(&mut self, game: u32, fault: &FaultRecord) {
        self.all += 1;
        let (turn, report) = (fault.turn, &fault.report);
        let says = report.message.lines().last().unwrap_or_default();
        let kind = format!("{}: {says}", report.fault);
        if let Some((_, times, _)) = self.kinds.iter_mut().find(|(known, ..)| *known == kind) {
            *times += 1;
            return;
        }
        let mut refusal = BotRejection::new(format!("{kind} (game {game}, turn {turn})"), "");
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
    use super::*;

    #[test]
    fn output_of_a_trial_is_kept_up_to_a_limit() {
        let mut log = PrintLog::new(Seat(0));
        log.games.push(Vec::new());
        let half = "ä".repeat(MAX_TRIAL_OUTPUT_BYTES / 4 + 1);
        for turn in 1..=1000 {
            log.add(turn, Seat(0), &half);
            log.add(turn, Seat(1), "of another seat");
        }
        let lines = &log.games[0];
        let kept: usize = lines.iter().map(|line| line.text.len()).sum();
        assert!(kept <= MAX_TRIAL_OUTPUT_BYTES + 100, "{kept}");
        assert_eq!(lines.len(), 2);
        assert!(!lines[0].text.contains("not shown") && lines[1].text.ends_with("is not shown)\n"));
    }
}
