//! Who loses a tie is out.
//!
//! Seeds are placed so that the best can meet only in the final, the best four only in the semi-finals, and so on: in a bracket of 16 it is 1 v
//! 16, 8 v 9. Places that nobody fills give a bye to the seed beside them, which are the best ones. Each round is a stage, each extra pair too
//! (see [`super::ties`]); the match for the third place comes before the final.

use super::balance::BalanceReport;
use super::ties::{Progress, Replay, balance_of, bracket, cut, games, next_round, ordered, ties_of};
use super::{Field, FormatError, Past, Plan, Stage, Ties};
use crate::result::Entrant;

pub(super) struct Knockout {
    entrants: Vec<Entrant>,
    rule: Ties,
    variants: u32,
}

impl Knockout {
    pub fn new(field: &Field, rule: Ties) -> Result<Self, FormatError> {
        Ok(Self { entrants: cut(field, rule)?, rule, variants: field.variants() })
    }

    fn replay(&self, past: &Past<'_>, wanted: u32) -> (Progress, Option<Box<dyn Stage>>) {
        let mut replay = Replay::new(&self.entrants, self.rule, self.variants, past, wanted);
        let mut progress = Progress::default();
        progress.over = self.run(&mut replay, &mut progress).is_some();
        (progress, replay.found.map(|stage| Box::new(stage) as Box<dyn Stage>))
    }

    /// `None`: something is still to be played.
    fn run(&self, replay: &mut Replay<'_>, progress: &mut Progress) -> Option<()> {
        let mut slots = bracket(self.entrants.len());
        while slots.len() > 1 {
            if slots.len() == 2 && self.rule.third {
                third_place(replay, progress)?;
            }
            let first_wins = replay.play(&round_name(slots.len()), &ties_of(&slots))?;
            let (next, losers) = next_round(&slots, &first_wins);
            progress.out.push(losers);
            slots = next;
        }
        Some(())
    }
}

/// Those who lost the semi-finals play, if there are two of them.
fn third_place(replay: &mut Replay<'_>, progress: &mut Progress) -> Option<()> {
    let Some(&[a, b]) = progress.out.last().map(Vec::as_slice) else { return Some(()) };
    let [better, worse] = ordered(a, b);
    let first = replay.play("match for the third place", &[[better, worse]])?[0];
    progress.out.pop();
    progress.out.extend(if first { [vec![worse], vec![better]] } else { [vec![better], vec![worse]] });
    Some(())
}

fn round_name(slots: usize) -> String {
    match slots {
        2 => "final".into(),
        4 => "semi-finals".into(),
        8 => "quarter-finals".into(),
        n => format!("round of {n}"),
    }
}

impl Plan for Knockout {
    fn stage(&self, number: u32, past: &Past<'_>) -> Option<Box<dyn Stage>> {
        self.replay(past, number).1
    }

    fn looks_back(&self) -> bool {
        true
    }

    fn expected(&self) -> (u64, u64) {
        let ties = self.entrants.len() as u64 - 1 + u64::from(self.rule.third && self.entrants.len() >= 4);
        let (least, most) = games(self.rule, self.variants);
        (ties * least, ties * most)
    }

    fn balance(&self, past: &Past<'_>) -> BalanceReport {
        balance_of(&self.entrants, past, self.replay(past, u32::MAX).0.over)
    }

    fn placing(&self, past: &Past<'_>) -> Option<Vec<Vec<Entrant>>> {
        Some(self.replay(past, u32::MAX).0.placing(&self.entrants))
    }
}
