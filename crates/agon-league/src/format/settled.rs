//! `stop = "settled"`: after what the format plays, further stages, as long as somebody's place is open.
//!
//! A further stage is about a quarter of what the format plays, so that there are a few chances to stop. In groups and in a round robin
//! only those play whose place is open (filled up with the nearest in the table to as many as a match needs). An arena, a cross and a
//! gauntlet go on with everybody: their results compare only if all play the same.
//!
//! How many further stages there may be follows from their number alone: an entrant that is open to the end has played at most `most` times what the
//! format plays.

use super::balance::BalanceReport;
use super::{PhaseField, Fixture, Format, FormatError, PhaseHistory, PhaseSchedule, Stage};
use crate::config::{PhaseConfig, StopRule};
use crate::result::Entrant;

/// How many further stages make one more of what the format plays.
const PARTS: u64 = 4;

impl PhaseConfig {
    /// The plan for this field: the format's, and what its `stop` adds.
    pub fn plan(&self, field: &PhaseField, seed: u64) -> Result<Box<dyn PhaseSchedule>, FormatError> {
        match self.stop {
            StopRule::Played => self.format.plan(field, seed),
            StopRule::Settled { most } => Ok(Box::new(UntilSettled::new(&self.format, field, most, seed)?)),
        }
    }

    /// Whether what is played later depends on what came of earlier matches.
    pub const fn looks_back(&self) -> bool {
        matches!(self.stop, StopRule::Settled { .. })
            || matches!(
                self.format,
                Format::Swiss { .. } | Format::Knockout(_) | Format::DoubleElimination(_)
            )
    }
}

struct UntilSettled {
    base: Box<dyn PhaseSchedule>,
    base_stages: u32,
    field: PhaseField,
    seed: u64,
    /// What a further stage plays if everybody is open.
    more: Format,
    /// How many further stages there may be.
    further: u32,
    /// How many boards the format and each further stage may use.
    boards: (u64, u64),
    /// How many matches a further stage has, if everybody is open.
    part: u64,
}

impl UntilSettled {
    fn new(format: &Format, field: &PhaseField, most: u32, seed: u64) -> Result<Self, FormatError> {
        if most == 0 {
            return Err(FormatError::Nothing { field: "most" });
        }
        let base = format.plan(field, seed)?;
        let all = base.expected().1;
        let times = u64::from(most - 1);
        let quarter = |n: u64| n.div_ceil(PARTS);
        let (more, further, boards) = match format {
            Format::Groups { size, .. } => {
                let (size, each) = (u64::from(*size), base.matches_each().unwrap_or(1));
                let part = quarter(each).next_multiple_of(size);
                let part_boards = part * field.len() as u64;
                (Format::Groups { size: size as u32, matches: part }, times * each / part, (all, part_boards))
            }
            Format::Arena { games } => {
                let part = quarter(*games);
                (Format::Arena { games: part }, times * games / part, (*games, part))
            }
            Format::Cross { boards } => {
                let part = quarter(*boards);
                (Format::Cross { boards: part }, times * boards / part, (*boards, part))
            }
            Format::Gauntlet { challengers, games, swap } => {
                let part = quarter(*games);
                let more = Format::Gauntlet { challengers: challengers.clone(), games: part, swap: *swap };
                (more, times * games / part, (all, all))
            }
            Format::RoundRobin { .. } if !field.rounds_in_order => (format.clone(), times, (all, all)),
            other => return Err(FormatError::CannotGoOn { format: name(other) }),
        };
        let base_stages = base.stages().unwrap_or(1);
        let further = u32::try_from(further).unwrap_or(u32::MAX - base_stages);
        let part = more.plan(field, seed)?.expected().1;
        Ok(Self { base, base_stages, field: field.clone(), seed, more, further, boards, part })
    }

    /// Who plays a further stage, and what.
    fn again(&self, past: &PhaseHistory<'_>) -> Option<(PhaseField, Format)> {
        match self.more {
            Format::Groups { size, .. } => Some((self.part(past, size as usize)?, self.more.clone())),
            Format::RoundRobin { legs, swap } => {
                let field = self.part(past, 2)?;
                // As many matches as the format gives everybody, or a few less.
                let times = (self.field.len() - 1) / (field.len() - 1);
                Some((field, Format::RoundRobin { legs: legs.saturating_mul(times as u32), swap }))
            }
            _ => Some((self.field.clone(), self.more.clone())),
        }
    }

    /// Those who are open, at least so many: filled up with those who are nearest to one of them in the table.
    fn part(&self, past: &PhaseHistory<'_>, least: usize) -> Option<PhaseField> {
        let order: Vec<Entrant> = self.table(past);
        let open: Vec<usize> = (0..order.len()).filter(|&at| past.open.contains(&order[at])).collect();
        if open.is_empty() {
            return None;
        }
        let mut chosen: Vec<usize> = (0..order.len()).collect();
        chosen.sort_by_key(|&at| (open.iter().map(|open| open.abs_diff(at)).min(), at));
        chosen.truncate(open.len().max(least));
        chosen.sort_unstable();
        let entrants = chosen.into_iter().map(|at| order[at]).collect();
        Some(PhaseField { entrants, roles: Vec::new(), ..self.field.clone() })
    }

    /// The table's order, with those it lacks at its end.
    fn table(&self, past: &PhaseHistory<'_>) -> Vec<Entrant> {
        let known = past.order.iter().copied().filter(|entrant| self.field.entrants.contains(entrant));
        let rest = self.field.entrants.iter().copied().filter(|entrant| !past.order.contains(entrant));
        known.chain(rest).collect()
    }
}

const fn name(format: &Format) -> &'static str {
    match format {
        Format::Groups { .. } => "groups",
        Format::Arena { .. } => "an arena",
        Format::RoundRobin { .. } => "a round robin whose rounds are played in order",
        Format::Cross { .. } => "a cross",
        Format::Swiss { .. } => "a Swiss system",
        Format::Knockout(_) => "a knockout",
        Format::DoubleElimination(_) => "a double elimination",
        Format::Gauntlet { .. } => "a gauntlet",
    }
}

impl PhaseSchedule for UntilSettled {
    fn stage(&self, number: u32, past: &PhaseHistory<'_>) -> Option<Box<dyn Stage>> {
        if number < self.base_stages {
            return self.base.stage(number, past);
        }
        let further = number - self.base_stages;
        if further >= self.further || !past.open.iter().any(|open| self.field.entrants.contains(open)) {
            return None;
        }
        let (field, format) = self.again(past)?;
        let seed = self.seed.wrapping_add(u64::from(further + 1).wrapping_mul(0xD1B5_4A32_D192_ED03));
        // The parts of a plan that was made are smaller than it: this does not fail.
        let inner = format.plan(&field, seed).ok()?.stage(0, past)?;
        let boards = self.boards.0 + u64::from(further) * self.boards.1;
        Some(Box::new(ExtraStage { inner, number: further + 1, boards }))
    }

    fn depends_on_results(&self) -> bool {
        self.base.depends_on_results()
    }

    fn expected(&self) -> (u64, u64) {
        let least = self.base.expected().0;
        (least, least + u64::from(self.further) * self.part)
    }

    /// Of what the format plays: what follows is for some only, and is not known yet.
    fn balance(&self, past: &PhaseHistory<'_>) -> BalanceReport {
        self.base.balance(past)
    }
}

/// A further stage, on boards of its own.
struct ExtraStage {
    inner: Box<dyn Stage>,
    number: u32,
    boards: u64,
}

impl Stage for ExtraStage {
    fn name(&self) -> String {
        format!("still open, part {}", self.number)
    }

    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn fixture(&self, number: u64) -> Option<Fixture> {
        let fixture = self.inner.fixture(number)?;
        Some(Fixture { seed_index: self.boards + fixture.seed_index, ..fixture })
    }
}
