//! Knockout: the loser of a tie is out.
//!
//! Seeds are placed so that the best two can meet only in the final, the best four only in the semi-finals, and so on: in a bracket of
//! 16 it is 1 v 16, 8 v 9. Empty slots give a bye to the seed next to them, so byes go to the best seeds. Each round is a stage, and
//! so is each extra pair (see [`super::ties`]). The match for the third place comes before the final.

use super::TieRule;
use super::elimination::EliminationRules;
use super::ties::{BracketProgress, BracketReplay, next_round, ordered, round_ties, seed_slots};

pub(super) struct Knockout;

impl EliminationRules for Knockout {
    fn run(
        entrants: usize,
        rule: TieRule,
        replay: &mut BracketReplay<'_>,
        progress: &mut BracketProgress,
    ) -> Option<()> {
        let mut slots = seed_slots(entrants);
        while slots.len() > 1 {
            if slots.len() == 2 && rule.third {
                third_place(replay, progress)?;
            }
            let first_wins = replay.play(&round_name(slots.len()), &round_ties(&slots))?;
            let (next, losers) = next_round(&slots, &first_wins);
            progress.eliminated.push(losers);
            slots = next;
        }
        Some(())
    }

    fn tie_count(entrants: u64, rule: TieRule) -> (u64, u64) {
        let ties = entrants - 1 + u64::from(rule.third && entrants >= 4);
        (ties, ties)
    }
}

/// The losers of the semi-finals play, if there are two.
fn third_place(replay: &mut BracketReplay<'_>, progress: &mut BracketProgress) -> Option<()> {
    let Some(&[a, b]) = progress.eliminated.last().map(Vec::as_slice) else { return Some(()) };
    let [better, worse] = ordered(a, b);
    let first = replay.play("match for the third place", &[[better, worse]])?[0];
    progress.eliminated.pop();
    progress.eliminated.extend(if first { [vec![worse], vec![better]] } else { [vec![better], vec![worse]] });
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
