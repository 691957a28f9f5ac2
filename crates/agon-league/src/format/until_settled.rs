//! `stop = "settled"`: extra stages after those of the format, while any place is open.
//!
//! An extra stage has about a quarter of the matches of the format, so there are several chances to stop. In groups and in a round robin
//! only entrants with an open place play, filled up with their table neighbours to the number a match needs. An arena, a cross and a
//! gauntlet continue with all entrants, because their results are comparable only if all play the same.
//!
//! The number of extra stages is fixed in advance: an entrant that stays open plays at most `most` times the matches of the format.

use super::balance::BalanceReport;
use super::{Fixture, Format, FormatError, PhaseField, PhaseHistory, PhaseSchedule, Stage};
use crate::config::{PhaseConfig, StopRule};
use crate::result::Entrant;

/// Number of extra stages that together equal the matches of the format.
const EXTRA_STAGES_PER_FULL_RUN: u64 = 4;

impl PhaseConfig {
    /// Schedule for this field: the format plus the extra stages of its `stop` rule.
    pub fn schedule(&self, field: &PhaseField, seed: u64) -> Result<Box<dyn PhaseSchedule>, FormatError> {
        match self.stop {
            StopRule::Played => self.format.schedule(field, seed),
            StopRule::Settled { most } => Ok(Box::new(UntilSettled::new(&self.format, field, most, seed)?)),
        }
    }

    /// Whether later fixtures depend on earlier results.
    pub const fn depends_on_results(&self) -> bool {
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
    /// Format of an extra stage if all entrants are open.
    extra_format: Format,
    /// Maximum number of extra stages.
    max_extra_stages: u32,
    /// Seed indexes reserved for the format and for each extra stage.
    seed_counts: (u64, u64),
    /// Matches of an extra stage if all entrants are open.
    extra_matches: u64,
}

impl UntilSettled {
    fn new(format: &Format, field: &PhaseField, most: u32, seed: u64) -> Result<Self, FormatError> {
        if most == 0 {
            return Err(FormatError::ZeroCount { field: "most" });
        }
        let base = format.schedule(field, seed)?;
        let all = base.expected_matches().1;
        let times = u64::from(most - 1);
        let quarter = |n: u64| n.div_ceil(EXTRA_STAGES_PER_FULL_RUN);
        let (extra_format, max_extra_stages, seed_counts) = match format {
            Format::Groups { size, .. } => {
                let (size, each) = (u64::from(*size), base.matches_each().unwrap_or(1));
                let part = quarter(each).next_multiple_of(size);
                let part_seeds = part * field.len() as u64;
                (Format::Groups { size: size as u32, matches: part }, times * each / part, (all, part_seeds))
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
            other => return Err(FormatError::CannotExtend { format: format_name(other) }),
        };
        let base_stages = base.stages().unwrap_or(1);
        let max_extra_stages = u32::try_from(max_extra_stages).unwrap_or(u32::MAX - base_stages);
        let extra_matches = extra_format.schedule(field, seed)?.expected_matches().1;
        Ok(Self {
            base,
            base_stages,
            field: field.clone(),
            seed,
            extra_format,
            max_extra_stages,
            seed_counts,
            extra_matches,
        })
    }

    /// Entrants and format of an extra stage.
    fn extra_field_and_format(&self, past: &PhaseHistory<'_>) -> Option<(PhaseField, Format)> {
        match self.extra_format {
            Format::Groups { size, .. } => {
                Some((self.open_field(past, size as usize)?, self.extra_format.clone()))
            }
            Format::RoundRobin { legs, swap } => {
                let field = self.open_field(past, 2)?;
                // As many matches per entrant as in the format, or slightly fewer.
                let times = (self.field.len() - 1) / (field.len() - 1);
                Some((field, Format::RoundRobin { legs: legs.saturating_mul(times as u32), swap }))
            }
            _ => Some((self.field.clone(), self.extra_format.clone())),
        }
    }

    /// Open entrants, filled up to `least` with their nearest neighbours in the table.
    fn open_field(&self, past: &PhaseHistory<'_>, least: usize) -> Option<PhaseField> {
        let order: Vec<Entrant> = self.table_order(past);
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

    /// Table order, with missing entrants at the end.
    fn table_order(&self, past: &PhaseHistory<'_>) -> Vec<Entrant> {
        let known = past.order.iter().copied().filter(|entrant| self.field.entrants.contains(entrant));
        let rest = self.field.entrants.iter().copied().filter(|entrant| !past.order.contains(entrant));
        known.chain(rest).collect()
    }
}

const fn format_name(format: &Format) -> &'static str {
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
        let extra_stage = number - self.base_stages;
        if extra_stage >= self.max_extra_stages
            || !past.open.iter().any(|open| self.field.entrants.contains(open))
        {
            return None;
        }
        let (field, format) = self.extra_field_and_format(past)?;
        let seed = self.seed.wrapping_add(u64::from(extra_stage + 1).wrapping_mul(0xD1B5_4A32_D192_ED03));
        // An extra stage is smaller than the format, which was scheduled, so this does not fail.
        let inner = format.schedule(&field, seed).ok()?.stage(0, past)?;
        let first_seed_index = self.seed_counts.0 + u64::from(extra_stage) * self.seed_counts.1;
        Some(Box::new(ExtraStage { inner, number: extra_stage + 1, first_seed_index }))
    }

    fn depends_on_results(&self) -> bool {
        self.base.depends_on_results()
    }

    fn expected_matches(&self) -> (u64, u64) {
        let least = self.base.expected_matches().0;
        (least, least + u64::from(self.max_extra_stages) * self.extra_matches)
    }

    /// Covers only the format: extra stages are not known yet and not for all entrants.
    fn balance(&self, past: &PhaseHistory<'_>) -> BalanceReport {
        self.base.balance(past)
    }
}

/// An extra stage with its own seeds.
struct ExtraStage {
    inner: Box<dyn Stage>,
    number: u32,
    first_seed_index: u64,
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
        Some(Fixture { seed_index: self.first_seed_index + fixture.seed_index, ..fixture })
    }
}
