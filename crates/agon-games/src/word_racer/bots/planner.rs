//! Bots that keep a [`Plan`] for the whole board and adapt it to the opponent's calls.

use agon_core::{Bot, FastRng};

use super::plan::{Plan, PlanCosts, Search};
use super::simple::answer;
use crate::word_racer::board::{CELLS, LINES, SIDE};
use crate::word_racer::{Answer, Letter, Observation, TURNS, WordRacer};

/// Search effort and assumptions of a planner.
#[derive(Clone, Copy)]
pub(super) struct PlannerConfig {
    /// Annealing steps for the first plan.
    pub(super) first_plan_steps: u32,
    /// Annealing steps before each later call.
    pub(super) call_steps: u32,
    /// Number of candidate cells for a letter of the opponent.
    pub(super) candidate_cells: usize,
    /// Annealing steps for each candidate cell.
    pub(super) place_steps: u32,
    /// Share of the expected opponent calls that the plan relies on.
    pub(super) trust: f32,
    /// Cost in points of each wish without an own call left for it.
    pub(super) excess: f32,
    /// Points that calling a letter of average frequency gives to the opponent.
    pub(super) gift: f32,
    /// Weight of the points that the opponent's letters may add to the plan.
    pub(super) upside: f32,
    /// With fewer own calls left than this, wishes without a call cost [`STRICT_EXCESS`].
    pub(super) strict_below_calls: usize,
}

impl PlannerConfig {
    /// Prefers safe points and ignores what its calls give to the opponent.
    pub(super) const PLANNER: Self = Self {
        first_plan_steps: 2000,
        call_steps: 200,
        candidate_cells: 8,
        place_steps: 30,
        trust: 0.2,
        excess: 5.0,
        gift: 0.0,
        upside: 0.0,
        strict_below_calls: 0,
    };

    /// Prefers letters that are of little use to the opponent, and at first wishes for more letters than it can call. Measured against
    /// random calls, a letter was worth about 1.9 points times its frequency (1 for an average letter) to its receiver.
    pub(super) const STRATEGIST: Self = Self {
        first_plan_steps: 3000,
        call_steps: 400,
        candidate_cells: 16,
        place_steps: 40,
        trust: 0.0,
        excess: 1.1,
        gift: 2.1,
        upside: 0.2,
        strict_below_calls: 15,
    };
}

/// Cost in points of a wish without an own call near the end: about the points its letter would add.
const STRICT_EXCESS: f32 = 4.0;

/// Value in points of an own call that an opponent call saves.
const SAVED_CALL_VALUE: f32 = 2.0;

/// Number of virtual opponent calls with average letter frequencies, as a prior.
const PRIOR_CALLS: f32 = 12.0;

const ALL_LINES: [usize; LINES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];

/// Keeps a plan for the whole board.
pub(super) struct Planner {
    config: PlannerConfig,
    rng: FastRng,
    plan: Option<Plan>,
}

impl Planner {
    pub(super) const fn new(config: PlannerConfig) -> Self {
        Self { config, rng: FastRng::new(0), plan: None }
    }

    /// Own calls left (including the current one) and expected calls of the opponent.
    fn costs(&self, seen: &Observation<'_>) -> PlanCosts {
        let left = TURNS.saturating_sub(seen.places.len() + usize::from(seen.letter.is_some()));
        // Whether it calls or places now, the next call is its own.
        let own = left.div_ceil(2);
        let others = (left - own) as f32;
        let mut calls = [0.0f32; 26];
        for (_, letter) in seen.calls.iter().enumerate().filter(|(turn, _)| !seen.called(*turn)) {
            calls[letter.index()] += 1.0;
        }
        let total: f32 = calls.iter().sum();
        let frequency = &seen.words.index().frequency;
        let mut expected = [0.0; 26];
        for ((expected, called), usual) in expected.iter_mut().zip(calls).zip(frequency) {
            *expected = others * (called + PRIOR_CALLS * usual) / (total + PRIOR_CALLS);
        }
        PlanCosts {
            calls: own as f32,
            expected,
            supply: expected.map(|expected| self.config.trust * expected),
            gift: frequency.map(|usual| self.config.gift * usual * 26.0),
            excess: if own < self.config.strict_below_calls { STRICT_EXCESS } else { self.config.excess },
        }
    }

    fn anneal(
        &mut self,
        seen: &Observation<'_>,
        costs: &PlanCosts,
        plan: &mut Plan,
        how: (u32, f32, &[usize]),
    ) {
        let (steps, start_temperature, lines) = how;
        Search::new(seen.words, costs, &mut self.rng).anneal(plan, steps, start_temperature, lines);
    }

    /// The plan so far, improved before a call; a new plan at the start.
    fn current_plan(&mut self, seen: &Observation<'_>, costs: &PlanCosts) -> Plan {
        let known = self.plan.take().filter(|plan| plan.is_for(seen.board));
        let (steps, start_temperature) = match (&known, seen.letter) {
            (None, _) => (self.config.first_plan_steps, 3.0),
            (Some(_), None) => (self.config.call_steps, 1.0),
            (Some(_), Some(_)) => (0, 1.0),
        };
        let mut plan = known.unwrap_or_else(|| Plan::new(seen.words, seen.board));
        if steps > 0 {
            self.anneal(seen, costs, &mut plan, (steps, start_temperature, &ALL_LINES));
        }
        plan
    }

    /// Value of a plan, including what may be added to it.
    fn plan_value(&self, seen: &Observation<'_>, plan: &Plan, costs: &PlanCosts) -> f32 {
        let value = plan.value(costs);
        if self.config.upside == 0.0 {
            return value;
        }
        value + self.config.upside * plan.upside(seen.words, &costs.expected, SAVED_CALL_VALUE)
    }

    /// Best cell for a letter, and the plan after it. The most promising cells are examined by annealing.
    fn place(
        &mut self,
        seen: &Observation<'_>,
        plan: &Plan,
        costs: &PlanCosts,
        letter: Letter,
    ) -> (usize, Plan) {
        let mut cells: Vec<(f32, usize, Plan)> = seen
            .board
            .free()
            .map(|cell| {
                let mut next = plan.clone();
                next.write(seen.words, cell, letter.code());
                // Small noise decides ties.
                (next.value(costs) + self.rng.unit() as f32 * 0.01, cell, next)
            })
            .collect();
        cells.sort_by(|a, b| b.0.total_cmp(&a.0));
        cells.truncate(self.config.candidate_cells);
        for (plan_value, cell, next) in &mut cells {
            let lines = [*cell / SIDE, SIDE + *cell % SIDE];
            self.anneal(seen, costs, next, (self.config.place_steps, 1.0, &lines));
            *plan_value = self.plan_value(seen, next, costs);
        }
        let best = cells.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
        best.map_or_else(|| (0, plan.clone()), |(_, cell, next)| (cell, next))
    }

    /// Wish to call next: the rarest letter, which helps the opponent least and which the opponent rarely calls.
    fn wish(seen: &Observation<'_>, plan: &Plan) -> Option<(Letter, usize)> {
        let frequency = &seen.words.index().frequency;
        (0..CELLS)
            .filter_map(|cell| Some((Letter::from_code(plan.wish(cell))?, cell)))
            .min_by(|a, b| frequency[a.0.index()].total_cmp(&frequency[b.0.index()]))
    }

    /// The letter in the fewest words.
    fn rarest(seen: &Observation<'_>) -> Letter {
        let frequency = &seen.words.index().frequency;
        let rarest = Letter::all().min_by(|a, b| frequency[a.index()].total_cmp(&frequency[b.index()]));
        rarest.unwrap_or(Letter::A)
    }
}

impl Bot<WordRacer> for Planner {
    fn begin(&mut self, seed: u64) {
        self.rng = FastRng::new(seed);
        self.plan = None;
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let costs = self.costs(seen);
        let mut plan = self.current_plan(seen, &costs);
        let (letter, cell) = match (seen.letter, Self::wish(seen, &plan)) {
            (None, Some((letter, cell))) => {
                plan.write(seen.words, cell, letter.code());
                (letter, cell)
            }
            (called, _) => {
                let letter = called.unwrap_or_else(|| Self::rarest(seen));
                let (cell, next) = self.place(seen, &plan, &costs, letter);
                plan = next;
                (letter, cell)
            }
        };
        self.plan = Some(plan);
        answer(seen, letter, cell)
    }
}
