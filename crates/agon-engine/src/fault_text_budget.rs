//! How much text of faults is kept for one seat in one game. A bot can fail in every turn, each time with a long text.

use agon_core::FaultReport;

/// Maximum number of bytes of messages kept for one seat in one game, and the same for the ends of its stderr.
const MAX_FAULT_TEXT_BYTES: usize = 1 << 20;
/// Number of bytes kept of each message after that.
const SHORT_MESSAGE_BYTES: usize = 200;

/// The text kept so far.
#[derive(Clone, Copy, Default, Debug)]
pub struct FaultTextBudget {
    messages: usize,
    stderr: usize,
}

impl FaultTextBudget {
    /// Shortens the texts of a report if too much was kept before. What is kept of the messages depends on earlier messages alone:
    /// they are the same in every repetition of a game, what a bot prints may not be.
    pub fn shorten(&mut self, report: &mut FaultReport) {
        if self.messages >= MAX_FAULT_TEXT_BYTES {
            let end = report.message.floor_char_boundary(SHORT_MESSAGE_BYTES);
            report.message.truncate(end);
        }
        if self.stderr >= MAX_FAULT_TEXT_BYTES {
            report.stderr = String::new();
        }
        self.messages = self.messages.saturating_add(report.message.len());
        self.stderr = self.stderr.saturating_add(report.stderr.len());
    }
}

#[cfg(test)]
mod tests {
    use agon_core::Fault;

    use super::*;

    #[test]
    fn long_texts_of_many_faults_are_shortened() {
        let mut budget = FaultTextBudget::default();
        let mut kept = 0;
        for _ in 0..1000 {
            let mut report =
                FaultReport { fault: Fault::Crash, message: "ä".repeat(4096), stderr: "x".repeat(8192) };
            budget.shorten(&mut report);
            kept += report.message.len() + report.stderr.len();
        }
        assert!(kept < 2 * MAX_FAULT_TEXT_BYTES + 1000 * SHORT_MESSAGE_BYTES + 16384, "{kept}");
    }

    #[test]
    fn texts_of_a_few_faults_are_kept() {
        let mut budget = FaultTextBudget::default();
        let mut report =
            FaultReport { fault: Fault::Crash, message: "x".repeat(8192), stderr: "y".repeat(8192) };
        let before = report.clone();
        budget.shorten(&mut report);
        assert_eq!(report, before);
    }
}
