//! Values of all tiles for the planner.

use super::super::super::{MAX_SIDE, Move, Observation, TILES_PER_BOT};
use super::super::tile_value::{TileValue, tile_value};
use super::{PaintRates, USUAL_PAINT_RATE, rivals, rounds_left};

/// Decay of a bot's danger with each tile of distance. The range is large: bots within about ten moves that can take the
/// colour are the best predictor of a tile's loss.
const DANGER_DECAY: f32 = 0.85;

/// Decay of a paintable tile's attraction with each tile of distance.
pub(super) const SUPPLY_DECAY: f32 = 0.8;

/// Weight of danger in a tile's value.
const DANGER_WEIGHT: f32 = 1.8;

/// Danger of a bot that wipes this bot's colour, relative to one that takes it. It has little reason to come.
const WIPER_DANGER: f32 = 0.05;

/// Number of last rounds in which danger counts less and less.
const LAST_ROUNDS: f32 = 80.0;

/// Attraction of a tile that takes two visits, relative to one that takes one.
pub(super) const WIPE_SHARE: f32 = 0.4;

/// Marks a tile that no number of visits can take.
pub(super) const NEVER: u8 = u8::MAX;

/// One value for each tile.
#[derive(Default)]
pub(super) struct TileMaps {
    /// Value of owning the tile, 1 on average.
    pub value: Vec<f32>,
    /// Number of visits that take the tile.
    pub visits: Vec<u8>,
    /// Amount of paintable tiles around it.
    pub supply: Vec<f32>,
    /// Expected number of other bots on it after the next round.
    pub clash: Vec<f32>,
    /// Danger if bots were spread uniformly.
    uniform_danger: Vec<f32>,
    scratch: Vec<f32>,
}

impl TileMaps {
    pub(super) fn update(&mut self, seen: &Observation<'_>, paint_rates: &PaintRates) {
        let (side, count) = (seen.grid.side(), seen.grid.tiles().len());
        if self.uniform_danger.len() != count {
            self.uniform_danger = vec![1.0; count];
            spread(&mut self.uniform_danger, &mut self.scratch, side.into(), DANGER_DECAY);
        }
        for map in [&mut self.value, &mut self.clash] {
            map.clear();
            map.resize(count, 0.0);
        }
        for (id, position) in rivals(seen) {
            let threat = match tile_value(seen.id, id) {
                TileValue::Take => 1.0,
                TileValue::Wipe => WIPER_DANGER,
                TileValue::Nothing => 0.0,
            };
            self.value[position.cell(side)] += threat * paint_rates.rate_of(id);
        }
        spread(&mut self.value, &mut self.scratch, side.into(), DANGER_DECAY);
        // The value is 1 for the danger of average bots, uniformly spread, a third of which can take the colour.
        let usual = USUAL_PAINT_RATE / 3.0 / TILES_PER_BOT as f32;
        let danger = DANGER_WEIGHT * (rounds_left(seen) as f32 / LAST_ROUNDS).min(1.0);
        self.visits.clear();
        self.supply.clear();
        for ((value, uniform_danger), &floor) in
            self.value.iter_mut().zip(&self.uniform_danger).zip(seen.grid.tiles())
        {
            *value = (1.0 + danger) / (1.0 + danger * *value / (uniform_danger * usual));
            let (visits, share) = match tile_value(floor, seen.id) {
                TileValue::Take => (1, 1.0),
                TileValue::Wipe => (2, WIPE_SHARE),
                TileValue::Nothing => (NEVER, 0.0),
            };
            self.visits.push(visits);
            self.supply.push(*value * share);
        }
        spread(&mut self.supply, &mut self.scratch, side.into(), SUPPLY_DECAY);
        self.expect_clashes(seen);
    }

    /// Estimates clashes. It assumes that other bots go where they can paint.
    fn expect_clashes(&mut self, seen: &Observation<'_>) {
        let side = seen.grid.side();
        for (id, position) in rivals(seen) {
            let chances = Move::ALL.map(|step| {
                let to = position.after(step, side);
                let weight = match tile_value(seen.grid.at(to), id) {
                    TileValue::Take => 1.0,
                    TileValue::Wipe => 0.3,
                    TileValue::Nothing => 0.15,
                };
                if to == position { 0.3 * weight } else { weight }
            });
            let total: f32 = chances.iter().sum();
            for (step, chance) in Move::ALL.into_iter().zip(chances) {
                self.clash[position.after(step, side).cell(side)] += chance / total;
            }
        }
    }
}

/// Adds to every tile the values of all others, weighted by `decay` to the power of their distance. Uses only additions and
/// multiplications, so that the result is the same on every machine.
fn spread(map: &mut [f32], scratch: &mut Vec<f32>, side: usize, decay: f32) {
    scratch.clear();
    scratch.resize(map.len(), 0.0);
    for (row, from_left) in map.chunks_exact_mut(side).zip(scratch.chunks_exact_mut(side)) {
        let mut carry = 0.0;
        for (left, tile) in from_left.iter_mut().zip(row.iter()) {
            *left = carry;
            carry = (carry + tile) * decay;
        }
        carry = 0.0;
        for (left, tile) in from_left.iter().zip(row.iter_mut()).rev() {
            let own = *tile;
            *tile = own + left + carry;
            carry = (carry + own) * decay;
        }
    }
    let mut carries = [0.0; MAX_SIDE];
    for (row, from_below) in map.chunks_exact(side).zip(scratch.chunks_exact_mut(side)) {
        for ((below, tile), carry) in from_below.iter_mut().zip(row).zip(&mut carries) {
            *below = *carry;
            *carry = (*carry + tile) * decay;
        }
    }
    carries = [0.0; MAX_SIDE];
    for (row, from_below) in map.chunks_exact_mut(side).zip(scratch.chunks_exact(side)).rev() {
        for ((below, tile), carry) in from_below.iter().zip(row).zip(&mut carries) {
            let own = *tile;
            *tile = own + below + *carry;
            *carry = (*carry + own) * decay;
        }
    }
}
