//! Bots that search the whole canvas for tiles they can paint.

use agon_core::{Bot, FastRng};

use super::super::{ColourBattle, Move, Observation, Painter, Position};
use super::tile_value::{TileValue, neighbours, occupied, tile_value};

fn tiles(seen: &Observation<'_>) -> impl Iterator<Item = (Position, u8)> {
    let side = seen.grid.side();
    let places = (0..side).flat_map(move |y| (0..side).map(move |x| Position { x, y }));
    places.zip(seen.grid.tiles().iter().copied())
}

/// Walks to the nearest tile it can take.
pub(super) struct Seeker {
    rng: FastRng,
}

impl Seeker {
    pub(super) const fn new() -> Self {
        Self { rng: FastRng::new(0) }
    }

    /// A step towards this tile, chosen at random if there are two.
    fn step_to(&mut self, seen: &Observation<'_>, goal: Position) -> Move {
        let distance = seen.position.distance(goal);
        let towards: Vec<Move> =
            neighbours(seen).filter(|(_, to)| to.distance(goal) < distance).map(|(step, _)| step).collect();
        self.rng.pick(&towards).unwrap_or(Move::Stay)
    }
}

impl Bot<ColourBattle> for Seeker {
    fn begin(&mut self, seed: u64) {
        self.rng = FastRng::new(seed);
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Move {
        let wanted = |tile, floor| tile_value(floor, seen.id) == TileValue::Take && !occupied(seen, tile);
        let mut nearest: Option<Position> = None;
        let mut equals = 0;
        for (tile, floor) in tiles(seen) {
            let distance = seen.position.distance(tile);
            let shortest = nearest.map_or(u32::MAX, |goal| seen.position.distance(goal));
            if distance == 0 || distance > shortest || !wanted(tile, floor) {
                continue;
            }
            equals = if distance < shortest { 1 } else { equals + 1 };
            // Each of k equally near tiles is chosen with probability 1/k.
            if self.rng.below(equals) == 0 {
                nearest = Some(tile);
            }
        }
        match nearest {
            Some(goal) => self.step_to(seen, goal),
            None => self.rng.pick(&Move::STEPS).unwrap_or(Move::Stay),
        }
    }
}

/// Distance in moves within which a bot that can take this bot's colour makes a tile less attractive.
const TAKER_RADIUS: u32 = 5;

/// Factor of a tile's pull with none, one, and more such bots near it.
const PULL_NEAR_TAKERS: [f64; 3] = [1.0, 0.6, 0.4];

/// Goes where the pull is strongest. Every tile pulls by its value, near tiles most.
pub(super) struct Drawn {
    rng: FastRng,
}

impl Drawn {
    pub(super) const fn new() -> Self {
        Self { rng: FastRng::new(0) }
    }
}

impl Bot<ColourBattle> for Drawn {
    fn begin(&mut self, seed: u64) {
        self.rng = FastRng::new(seed);
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Move {
        if occupied(seen, seen.position) {
            // The other bot on this tile may use the same strategy.
            return self.rng.pick(&Move::ALL).unwrap_or(Move::Stay);
        }
        let takers: Vec<&Painter> =
            seen.enemies.iter().filter(|bot| tile_value(seen.id, bot.id) == TileValue::Take).collect();
        let mut pulls = [0.0_f64; 5];
        for (tile, floor) in tiles(seen) {
            let value = match tile_value(floor, seen.id) {
                TileValue::Take => 1.0,
                TileValue::Wipe => 0.1,
                TileValue::Nothing => continue,
            };
            let near = takers.iter().filter(|taker| taker.position.distance(tile) <= TAKER_RADIUS).count();
            let pull = value * PULL_NEAR_TAKERS[near.min(2)];
            for (step, sum) in Move::ALL.into_iter().zip(&mut pulls) {
                let to = seen.position.after(step, seen.grid.side());
                let moves = f64::from(to.distance(tile)) + 1.0;
                // A move off the edge has no effect. Staying can pay off on a tile that was just wiped.
                if to != seen.position || step == Move::Stay {
                    *sum += pull / (moves * moves);
                }
            }
        }
        for (step, sum) in Move::ALL.into_iter().zip(&mut pulls) {
            if occupied(seen, seen.position.after(step, seen.grid.side())) {
                *sum -= 1.0;
            }
        }
        let best = (0..5).max_by(|&a, &b| pulls[a].total_cmp(&pulls[b])).unwrap_or(4);
        Move::ALL[best]
    }
}
