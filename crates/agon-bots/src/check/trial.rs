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

/// Output of the bot in its trial.
pub(super) struct PrintLog {
    own: Seat,
    turn: u32,
    pub(super) games: Vec<Vec<BotOutputLine>>,
}

impl PrintLog {
    /// Collects the output of the bot at this seat.
    pub(super) const fn new(own: Seat) -> Self {
        Self { own, turn: 0, games: Vec::new() }
    }

    fn add(&mut self, turn: u32, seat: Seat, text: &str) {
        if let Some(game) = self.games.last_mut().filter(|_| seat == self.own && !text.is_empty()) {
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
