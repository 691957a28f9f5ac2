//! What the planner knows about every tile.

use super::super::super::{MAX_SIDE, Move, Seen, TILES_PER_BOT};
use super::super::sight::{Worth, worth};
use super::{Skills, USUAL_SKILL, rivals, rounds_left};

/// What is left of the danger from a bot with each tile of distance. It reaches far: of all that can be seen
/// when a tile is painted, takers within some ten moves say most about its end.
const DANGER_DECAY: f32 = 0.85;

/// What is left of the promise of a tile with each tile of distance.
pub(super) const SUPPLY_DECAY: f32 = 0.8;

/// How much danger counts against a tile's value.
const DANGER: f32 = 1.8;

/// The danger from a bot that wipes one's colour, against one that takes it: it has little reason to come.
const WIPER_DANGER: f32 = 0.05;

/// From so many rounds before the end there is less and less time for danger to come true.
const LAST_ROUNDS: f32 = 80.0;

/// What a tile that takes two visits promises, against one that takes one.
pub(super) const WIPE_SHARE: f32 = 0.4;

/// No number of visits makes this tile one's own.
pub(super) const NEVER: u8 = u8::MAX;

/// One figure for each tile.
#[derive(Default)]
pub(super) struct Maps {
    /// What it is worth to own: 1 on average.
    pub value: Vec<f32>,
    /// How many visits make it one's own.
    pub visits: Vec<u8>,
    /// How much there is to paint around it.
    pub supply: Vec<f32>,
    /// How many other bots are expected on it after the next round.
    pub clash: Vec<f32>,
    /// A uniform map, spread like danger.
    even: Vec<f32>,
    scratch: Vec<f32>,
}

impl Maps {
    pub(super) fn draw(&mut self, seen: &Seen<'_>, skills: &Skills) {
        let (side, count) = (seen.grid.side(), seen.grid.tiles().len());
        if self.even.len() != count {
            self.even = vec![1.0; count];
            spread(&mut self.even, &mut self.scratch, side.into(), DANGER_DECAY);
        }
        for map in [&mut self.value, &mut self.clash] {
            map.clear();
            map.resize(count, 0.0);
        }
        for (id, position) in rivals(seen) {
            let menace = match worth(seen.id, id) {
                Worth::Take => 1.0,
                Worth::Wipe => WIPER_DANGER,
                Worth::Nothing => 0.0,
            };
            self.value[position.cell(side)] += menace * skills.of(id);
        }
        spread(&mut self.value, &mut self.scratch, side.into(), DANGER_DECAY);
        // The value is 1 where the danger is that of ordinary bots, evenly spread, a third of them takers.
        let usual = USUAL_SKILL / 3.0 / TILES_PER_BOT as f32;
        let danger = DANGER * (rounds_left(seen) as f32 / LAST_ROUNDS).min(1.0);
        self.visits.clear();
        self.supply.clear();
        for ((value, even), &floor) in self.value.iter_mut().zip(&self.even).zip(seen.grid.tiles()) {
            *value = (1.0 + danger) / (1.0 + danger * *value / (even * usual));
            let (visits, share) = match worth(floor, seen.id) {
                Worth::Take => (1, 1.0),
                Worth::Wipe => (2, WIPE_SHARE),
                Worth::Nothing => (NEVER, 0.0),
            };
            self.visits.push(visits);
            self.supply.push(*value * share);
        }
        spread(&mut self.supply, &mut self.scratch, side.into(), SUPPLY_DECAY);
        self.expect_clashes(seen);
    }

    /// Others go where they can paint, as far as one can tell.
    fn expect_clashes(&mut self, seen: &Seen<'_>) {
        let side = seen.grid.side();
        for (id, position) in rivals(seen) {
            let chances = Move::ALL.map(|step| {
                let to = position.after(step, side);
                let wish = match worth(seen.grid.at(to), id) {
                    Worth::Take => 1.0,
                    Worth::Wipe => 0.3,
                    Worth::Nothing => 0.15,
                };
                if to == position { 0.3 * wish } else { wish }
            });
            let total: f32 = chances.iter().sum();
            for (step, chance) in Move::ALL.into_iter().zip(chances) {
                self.clash[position.after(step, side).cell(side)] += chance / total;
            }
        }
    }
}

/// Lets every tile have a share of all others: `decay` to the power of their distance. Adding, multiplying and
/// nothing else, so that the result is the same on every machine.
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
