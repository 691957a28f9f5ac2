//! The strongest house bot: plans its next moves through the most valuable tiles.
//!
//! A tile is worth more the longer it is likely to keep the colour. Nearby bots that can take the colour reduce its value
//! ([`maps`]). A beam search over the next moves finds plans ([`beam`]); beyond them, the paintable tiles around the end of the
//! plan count. Equal bots want the same tiles, so a random bonus keeps them from blocking each other for long.

mod beam;
mod maps;

use agon_core::{Bot, FastRng, MAX_SEATS};

use super::super::{ColourBattle, Move, Observation, Position};
use beam::Beam;
use maps::TileMaps;

/// Share of moves in which an average bot paints a tile.
const USUAL_PAINT_RATE: f32 = 0.7;

/// Plans its next moves.
pub(super) struct Planner {
    rng: FastRng,
    paint_rates: PaintRates,
    maps: TileMaps,
    beam: Beam,
}

impl Planner {
    pub(super) fn new() -> Self {
        Self {
            rng: FastRng::new(0),
            paint_rates: PaintRates::new(),
            maps: TileMaps::default(),
            beam: Beam::default(),
        }
    }
}

impl Bot<ColourBattle> for Planner {
    fn begin(&mut self, seed: u64) {
        self.rng = FastRng::new(seed);
        self.paint_rates = PaintRates::new();
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Move {
        self.paint_rates.observe(seen);
        self.maps.update(seen, &self.paint_rates);
        self.beam.search(seen, &self.maps, &mut self.rng)
    }
}

/// Observed share of moves in which each bot paints a tile.
struct PaintRates {
    rates: [f32; MAX_SEATS + 1],
    before: Vec<u8>,
}

impl PaintRates {
    /// Initial rate, and weight of each round.
    const INITIAL_RATE: f32 = USUAL_PAINT_RATE;
    const LEARNING_RATE: f32 = 0.02;

    const fn new() -> Self {
        Self { rates: [Self::INITIAL_RATE; MAX_SEATS + 1], before: Vec::new() }
    }

    fn observe(&mut self, seen: &Observation<'_>) {
        let tiles = seen.grid.tiles();
        if self.before.len() == tiles.len() {
            for bot in seen.enemies {
                let cell = bot.position.cell(seen.grid.side());
                let painted = tiles[cell] == bot.id && self.before[cell] != bot.id;
                let rate = &mut self.rates[usize::from(bot.id) % (MAX_SEATS + 1)];
                *rate += Self::LEARNING_RATE * (f32::from(u8::from(painted)) - *rate);
            }
        }
        self.before.clear();
        self.before.extend_from_slice(tiles);
    }

    fn rate_of(&self, id: u8) -> f32 {
        self.rates[usize::from(id) % (MAX_SEATS + 1)]
    }
}

fn rounds_left(seen: &Observation<'_>) -> u32 {
    (seen.game_info.number_of_rounds + 1).saturating_sub(seen.game_info.current_round)
}

fn rivals<'s>(seen: &Observation<'s>) -> impl Iterator<Item = (u8, Position)> + use<'s> {
    let own = seen.id;
    seen.enemies.iter().filter(move |bot| bot.id != own).map(|bot| (bot.id, bot.position))
}
