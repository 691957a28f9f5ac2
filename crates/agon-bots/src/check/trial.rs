//! Collects the faults, the times and the output of a bot in a check's trial.

use std::io;
use std::time::{Duration, Instant};

use agon_core::record::RecordHeader;
use agon_core::text_format::plural;
use agon_core::{FaultPenalty, FaultReport, GameInfo, Outcome, Seat};
use agon_engine::film::json::BotOutputLine;
use agon_engine::turn_log::{TurnLog, TurnLogEntry};
use agon_host::BotRejection;
use agon_host::load_check::last_place;

/// Maximum number of kinds of faults that are listed.
const MAX_FAULTS_SHOWN: usize = 8;

/// Maximum bytes of output that are kept for one lineup. A bot can print 64 KiB with each answer.
const MAX_OUTPUT_BYTES: usize = 512 * 1024;

/// A fault of the bot in its trial.
pub(super) struct TrialFault {
    /// Index of the game in its lineup, from 0.
    pub(super) game: u32,
    pub(super) turn: u32,
    /// Whether the game was over: the bot failed in what it does after a game.
    pub(super) is_after_game: bool,
    pub(super) report: FaultReport,
}

/// Times of the bot's answers.
#[derive(Default)]
pub(super) struct AnswerSums {
    pub(super) answers: u32,
    total: Duration,
    pub(super) longest: Duration,
}

impl AnswerSums {
    pub(super) fn mean(&self) -> Duration {
        self.total.checked_div(self.answers).unwrap_or_default()
    }
}

/// Log of the bot in one lineup of its trial. It can pass everything on to a log of the author.
pub(super) struct TrialLog<'l> {
    own: Seat,
    turn: u32,
    kept_bytes: usize,
    deadline: Option<Instant>,
    stop_at: Option<Instant>,
    stopped: bool,
    inner: Option<Box<dyn TurnLog + 'l>>,
    pub(super) faults: Vec<TrialFault>,
    pub(super) times: AnswerSums,
    /// Number of lines that the bot printed.
    pub(super) printed_lines: u64,
    /// Output of the bot in each game that was begun.
    pub(super) games: Vec<Vec<BotOutputLine>>,
}

impl<'l> TrialLog<'l> {
    /// A log for the bot at this seat. The first answer after `deadline` or `stop_at` ends the game with an error; after `stop_at`
    /// the trial counts as stopped, not as failed.
    pub(super) fn new(
        own: Seat,
        deadline: Option<Instant>,
        stop_at: Option<Instant>,
        inner: Option<Box<dyn TurnLog + 'l>>,
    ) -> Self {
        Self {
            own,
            turn: 0,
            kept_bytes: 0,
            deadline,
            stop_at,
            stopped: false,
            inner,
            faults: Vec::new(),
            times: AnswerSums::default(),
            printed_lines: 0,
            games: Vec::new(),
        }
    }

    /// Whether the trial was stopped because its time was over.
    pub(super) const fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// The latest turn.
    pub(super) const fn last_turn(&self) -> u32 {
        self.turn
    }

    fn add_output(&mut self, turn: u32, seat: Seat, text: &str) {
        if seat != self.own || text.is_empty() {
            return;
        }
        self.printed_lines += text.lines().count() as u64;
        if self.kept_bytes >= MAX_OUTPUT_BYTES {
            return;
        }
        self.kept_bytes += text.len() + size_of::<BotOutputLine>();
        let text = if self.kept_bytes >= MAX_OUTPUT_BYTES { "(further output is not kept)" } else { text };
        if let Some(game) = self.games.last_mut() {
            game.push(BotOutputLine { turn, seat, text: text.to_owned() });
        }
    }

    fn add_answer(&mut self, entry: &TurnLogEntry<'_>) {
        let charged = entry.times.charged();
        self.times.answers += 1;
        self.times.total += charged;
        self.times.longest = self.times.longest.max(charged);
        if let Some(report) = entry.fault {
            let game = self.games.len().saturating_sub(1) as u32;
            self.faults.push(TrialFault {
                game,
                turn: entry.turn,
                is_after_game: false,
                report: report.clone(),
            });
        }
    }
}

impl TurnLog for TrialLog<'_> {
    fn begin_game(&mut self, game: u32, header: &RecordHeader) -> io::Result<()> {
        self.turn = 0;
        self.games.push(Vec::new());
        self.inner.as_mut().map_or(Ok(()), |log| log.begin_game(game, header))
    }

    fn output(&mut self, seat: Seat, printed: &str) -> io::Result<()> {
        self.add_output(self.turn, seat, printed);
        self.inner.as_mut().map_or(Ok(()), |log| log.output(seat, printed))
    }

    fn answer(&mut self, entry: &TurnLogEntry<'_>) -> io::Result<()> {
        self.turn = entry.turn;
        self.add_output(entry.turn, entry.seat, entry.output);
        if entry.seat == self.own {
            self.add_answer(entry);
        }
        if let Some(log) = &mut self.inner {
            log.answer(entry)?;
        }
        let over = |time: Option<Instant>| time.is_some_and(|time| Instant::now() >= time);
        self.stopped = over(self.stop_at);
        if self.stopped || over(self.deadline) {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the check takes too long"));
        }
        Ok(())
    }

    fn end_game(&mut self, outcome: &Outcome) -> io::Result<()> {
        self.inner.as_mut().map_or(Ok(()), |log| log.end_game(outcome))
    }

    fn match_over(&mut self, seat: Seat, printed: &str, fault: Option<&FaultReport>) -> io::Result<()> {
        self.add_output(self.turn, seat, printed);
        self.inner.as_mut().map_or(Ok(()), |log| log.match_over(seat, printed, fault))
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
        None => BotRejection { trace: report.stderr.as_str().into(), ..advice },
    }
}

/// Faults of a trial: the first of each kind, and how often it occurred.
pub(super) struct TrialFaults {
    info: &'static GameInfo,
    kinds: Vec<FaultKind>,
}

/// Faults with the same message.
struct FaultKind {
    name: String,
    times: u64,
    penalty: FaultPenalty,
    rejection: BotRejection,
}

impl TrialFaults {
    pub(super) const fn new(info: &'static GameInfo) -> Self {
        Self { info, kinds: Vec::new() }
    }

    /// Adds a fault of the trial's game `game`, from 1, with the line that shows it.
    pub(super) fn add(&mut self, game: u32, fault: &TrialFault, debug: Option<String>) {
        let (turn, report) = (fault.turn, &fault.report);
        let says = report.message.lines().last().unwrap_or_default();
        let name = format!("{}: {says}", report.fault);
        if let Some(known) = self.kinds.iter_mut().find(|known| known.name == name) {
            known.times += 1;
            return;
        }
        let place = if fault.is_after_game {
            format!("after game {game}, which had {} turns", turn.saturating_sub(1))
        } else {
            format!("game {game}, turn {turn}")
        };
        let mut rejection = BotRejection::new(format!("{name} ({place})"), "");
        if let Some((file, line)) = last_place(&report.message) {
            rejection = BotRejection { file: file.map(str::to_owned), line, ..rejection };
        } else {
            rejection.trace = report.stderr.as_str().into();
        }
        rejection.debug = debug.unwrap_or_default().into();
        let penalty = self.info.penalty(report.fault);
        self.kinds.push(FaultKind { name, times: 1, penalty, rejection });
    }

    /// Whether the bot is rejected for one of the faults.
    pub(super) fn is_rejected(&self) -> bool {
        self.kinds.iter().any(FaultKind::is_rejected)
    }

    /// The faults for which the bot is rejected, and the others as warnings.
    pub(super) fn into_findings(self) -> (Vec<BotRejection>, Vec<BotRejection>) {
        let game = self.info.id;
        let (bad, harmless): (Vec<_>, Vec<_>) = self.kinds.into_iter().partition(FaultKind::is_rejected);
        (findings(bad, game), findings(harmless, game))
    }
}

impl FaultKind {
    /// A bot is rejected for what the rules forbid. Where it only stays where it is, the author is warned.
    fn is_rejected(&self) -> bool {
        self.penalty != FaultPenalty::Stay
    }

    fn finding(self, game: &str) -> BotRejection {
        let mut finding = self.rejection;
        if self.times > 1 {
            let what = finding.what.trim_end_matches(')');
            finding.what = format!("{what}, and {} more)", plural(self.times - 1, "time", "times"));
        }
        finding.hint = if self.penalty == FaultPenalty::Stay {
            format!("the bot is accepted, but with a fault it {}", self.penalty.describe())
        } else {
            format!("see `agon games {game}` for the penalty of a fault")
        };
        finding
    }
}

fn findings(kinds: Vec<FaultKind>, game: &str) -> Vec<BotRejection> {
    let more = kinds.len().saturating_sub(MAX_FAULTS_SHOWN);
    let mut found: Vec<BotRejection> =
        kinds.into_iter().take(MAX_FAULTS_SHOWN).map(|kind| kind.finding(game)).collect();
    if more > 0 {
        found.push(BotRejection::new(format!("and {more} more kinds of fault"), ""));
    }
    found
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use agon_core::Fault;

    use super::*;

    fn entry(output: &str) -> TurnLogEntry<'_> {
        let times = agon_core::AnswerTimes::default();
        TurnLogEntry { turn: 1, seat: Seat(0), request: "move", answer: None, fault: None, times, output }
    }

    fn log(deadline: Option<Instant>, stop_at: Option<Instant>) -> TrialLog<'static> {
        TrialLog::new(Seat(0), deadline, stop_at, None)
    }

    #[test]
    fn output_of_a_trial_is_bounded() {
        let mut log = log(None, None);
        log.games.push(Vec::new());
        let line = "x".repeat(64 * 1024);
        for _ in 0..400 {
            log.answer(&entry(&line)).unwrap();
        }
        let kept: usize = log.games[0].iter().map(|line| line.text.len()).sum();
        assert!(kept <= MAX_OUTPUT_BYTES, "{kept}");
        assert!(log.games[0].last().unwrap().text.contains("not kept"));
        assert_eq!(log.printed_lines, 400);
    }

    #[test]
    fn answer_after_the_deadline_ends_the_game() {
        assert!(log(None, None).answer(&entry("")).is_ok());
        let mut late = log(Some(Instant::now()), None);
        assert!(late.answer(&entry("")).is_err() && !late.is_stopped());
    }

    #[test]
    fn answer_after_the_time_of_the_trial_stops_it() {
        let mut stopped = log(None, Some(Instant::now()));
        assert!(stopped.answer(&entry("")).is_err());
        assert!(stopped.is_stopped());
        assert_eq!(stopped.last_turn(), 1);
    }

    #[test]
    fn bot_is_rejected_only_for_faults_that_the_rules_punish() {
        for info in agon_games::infos() {
            let mut faults = TrialFaults::new(info);
            let report = FaultReport::new(Fault::Crash, "ValueError: no");
            faults.add(3, &TrialFault { game: 0, turn: 57, is_after_game: false, report }, None);
            let stays = info.penalty(Fault::Crash) == FaultPenalty::Stay;
            assert_eq!(faults.is_rejected(), !stays, "{}", info.id);
            let (bad, warnings) = faults.into_findings();
            assert_eq!((bad.len(), warnings.len()), if stays { (0, 1) } else { (1, 0) }, "{}", info.id);
            let finding = bad.first().or(warnings.first()).unwrap();
            assert_eq!(finding.what, "crash: ValueError: no (game 3, turn 57)");
        }
    }
}
