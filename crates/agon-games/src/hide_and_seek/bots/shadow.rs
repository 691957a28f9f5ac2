//! The strongest hider: estimates where the seeker is and takes the path on which it expects to survive longest.

use agon_core::Bot;

use super::super::cells::Cell;
use super::super::{Answer, HideAndSeek, Observation};
use super::belief::{SeekerBelief, SeekerFlow};
use super::map_knowledge::MapKnowledge;
use super::map_tables::PerMap;
use super::seeker_model::{SeekerModel, keep_clear, watch_post_values};
use super::step;
use super::tracking::{HiderSearch, SearchWeights};

/// Number of own moves that it plans ahead.
const PLAN_DEPTH: usize = 10;
/// Value of being invisible in steps, and reduction for each cell that sees the place.
const HIDDEN_BONUS: f32 = 24.0;
const EXPOSURE_PENALTY: f32 = 0.25;
/// Expected length of a chase once the hider is seen, as a share of the optimal pursuit.
const SEEN_PURSUIT_SHARE: f32 = 0.8;
/// Initial probability that the seeker behaves like the simulated one, its factor after each wrong prediction, and the minimum
/// for using the simulation.
const INITIAL_TRUST: f32 = 0.8;
const TRUST_DECAY: f32 = 0.7;
const MIN_TRUST: f32 = 0.04;

/// Plans a path over the estimated positions of the seeker, and avoids a seeker that does not pursue it.
#[derive(Default)]
pub struct Shadow {
    known: PerMap<MapKnowledge>,
    strategy: HiderStrategy,
}

impl Bot<HideAndSeek> for Shadow {
    fn begin(&mut self, _: u64) {
        *self = Self::default();
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let known = self.known.get(seen.game_map, MapKnowledge::new);
        step(seen.pos, self.strategy.decide(known, seen))
    }
}

/// The hider's model of the seeker, and its decisions.
struct HiderStrategy {
    belief: Option<SeekerBelief>,
    simulated: Option<SimulatedSeeker>,
    trust: f32,
    seeker_model: SeekerModel,
    posts: Option<Vec<i32>>,
}

impl Default for HiderStrategy {
    fn default() -> Self {
        Self {
            belief: None,
            simulated: None,
            trust: INITIAL_TRUST,
            seeker_model: SeekerModel::default(),
            posts: None,
        }
    }
}

impl HiderStrategy {
    fn decide(&mut self, known: &MapKnowledge, seen: &Observation<'_>) -> Cell {
        self.seeker_model.observe(&known.tables, seen);
        let to = if self.seeker_model.is_not_pursuing() {
            keep_clear(
                &known.tables,
                self.posts.get_or_insert_with(|| watch_post_values(&known.tables)),
                seen,
            )
        } else {
            self.hide(known, seen)
        };
        self.seeker_model.note_own_move(&known.tables, seen, to);
        to
    }

    fn hide(&mut self, known: &MapKnowledge, seen: &Observation<'_>) -> Cell {
        self.simulate_seeker(known, seen);
        let flow = SeekerFlow::towards(&known.tables, seen.pos);
        let belief = self.update_belief(known, &flow, seen);
        let mut all = belief.clone();
        if let (false, Some(simulated)) = (seen.enemy_is_visible, &self.simulated) {
            all = all.scaled(1.0 - self.trust).plus(&SeekerBelief::certain(simulated.pos).scaled(self.trust));
        }
        self.belief = Some(belief);
        EscapePlan { known, flow, ways: known.tables.ways_from(seen.pos) }.best_step(&all, seen.pos)
    }

    /// Simulates the seeker's two steps and compares the result with the observation.
    fn simulate_seeker(&mut self, known: &MapKnowledge, seen: &Observation<'_>) {
        if seen.step <= 2 {
            let search = HiderSearch::default();
            let (pos, last) = (seen.enemy_spawn_position, seen.spawn_position);
            self.simulated = Some(SimulatedSeeker { search, pos, last });
        }
        let Some(mut simulated) = self.simulated.take().filter(|_| self.trust > MIN_TRUST) else { return };
        simulated.take_step(known, seen, seen.step.saturating_sub(1));
        simulated.take_step(known, seen, seen.step);
        let seen_there = known.tables.view(simulated.pos).contains(seen.pos);
        let right = if seen.enemy_is_visible { simulated.pos == seen.enemy_pos } else { !seen_there };
        if !right {
            self.trust *= TRUST_DECAY;
        }
        if seen.enemy_is_visible {
            simulated.pos = seen.enemy_pos;
        }
        // A simulated seeker that should be visible but is not could be anywhere.
        self.simulated = (seen.enemy_is_visible || right).then_some(simulated);
    }

    /// Distribution of the position of a seeker that pursues the hider.
    fn update_belief(
        &mut self,
        known: &MapKnowledge,
        flow: &SeekerFlow,
        seen: &Observation<'_>,
    ) -> SeekerBelief {
        if seen.enemy_is_visible {
            return SeekerBelief::certain(seen.enemy_pos);
        }
        let before = self.belief.take().unwrap_or_else(|| SeekerBelief::certain(seen.enemy_pos));
        let view = known.tables.view(seen.pos);
        let mut moved = flow.two_steps(&before);
        let left = moved.remove_cells(view);
        if left > 1e-9 {
            moved.scaled(1.0 / left)
        } else {
            SeekerBelief::uniform(&known.tables.map.empty().minus(view))
        }
    }
}

/// Simulation of the seeker.
struct SimulatedSeeker {
    search: HiderSearch,
    pos: Cell,
    /// Last position at which it saw the hider.
    last: Cell,
}

impl SimulatedSeeker {
    /// Takes one step while the hider stays on its current cell.
    fn take_step(&mut self, known: &MapKnowledge, seen: &Observation<'_>, step: u32) {
        let enemy_is_visible = known.tables.view(self.pos).contains(seen.pos);
        if enemy_is_visible {
            self.last = seen.pos;
        }
        let seeker_view =
            Observation { step, pos: self.pos, enemy_is_visible, enemy_pos: self.last, ..*seen };
        self.search.observe(&known.tables, &seeker_view);
        self.pos = self.search.next(&known.tables, &seeker_view, &SearchWeights::NEAREST_FIRST);
    }
}

/// Search over the shortest paths from the hider's cell.
struct EscapePlan<'k> {
    known: &'k MapKnowledge,
    flow: SeekerFlow,
    ways: Vec<Vec<Cell>>,
}

impl EscapePlan<'_> {
    fn best_step(&self, belief: &SeekerBelief, pos: Cell) -> Cell {
        let worth = |to: Cell| {
            let below: &[Cell] = if to == pos { &[] } else { &self.ways[to.index()] };
            self.expected_steps(belief, to, PLAN_DEPTH, below)
        };
        let choices = self.known.tables.near(pos).iter().map(|&to| (worth(to), to));
        choices.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(pos, |(_, to)| to)
    }

    /// Expected number of steps if the hider moves to this cell and continues on the best path below it, or stops here.
    fn expected_steps(&self, belief: &SeekerBelief, to: Cell, depth: usize, below: &[Cell]) -> f32 {
        let MapKnowledge { tables, pursuit } = self.known;
        // A seeker that sees the hider after the step starts the chase.
        let mut left = belief.clone();
        let mut worth = 0.0;
        for cell in tables.view(to).iter() {
            worth += left.take(cell) * SEEN_PURSUIT_SHARE * f32::from(pursuit.hider_moved(cell, to));
        }
        let hidden = left.total();
        if hidden < 1e-3 {
            return worth;
        }
        let quality = HIDDEN_BONUS - EXPOSURE_PENALTY * tables.view(to).len() as f32;
        let stop = left
            .iter()
            .map(|(seeker, chance)| chance * (quality + f32::from(pursuit.hider_moved(seeker, to))));
        let stop: f32 = stop.sum();
        if depth == 0 || below.is_empty() {
            return worth + stop;
        }
        let moved = self.flow.two_steps(&left);
        let end_or_pass_turn = |&next: &Cell| {
            2.0 * hidden + self.expected_steps(&moved, next, depth - 1, &self.ways[next.index()])
        };
        worth + below.iter().map(end_or_pass_turn).fold(stop, f32::max)
    }
}
