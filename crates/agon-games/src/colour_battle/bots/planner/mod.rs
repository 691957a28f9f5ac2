//! The strongest house bot: plans its next moves through the tiles that are worth most.
//!
//! A tile is worth more the longer it is likely to last, and what ends it is above all that bots which can take
//! its colour are near ([`maps`]). Plans are found by a beam search over the next moves ([`beam`]); beyond
//! them counts how much there is to paint around the place they lead to. Bots that think alike want the same
//! tiles: a little chance in the choice keeps them from standing in each other's way for long.

mod beam;
mod maps;

use agon_core::{Bot, MAX_SEATS, QuickRng};

use super::super::{ColourBattle, Move, Position, Seen};
use beam::Beam;
use maps::Maps;

/// The share of its moves with which an ordinary bot paints a tile.
const USUAL_SKILL: f32 = 0.7;

/// Plans ahead.
pub(super) struct Planner {
    rng: QuickRng,
    skills: Skills,
    maps: Maps,
    beam: Beam,
}

impl Planner {
    pub(super) fn new() -> Self {
        Self { rng: QuickRng::new(0), skills: Skills::new(), maps: Maps::default(), beam: Beam::default() }
    }
}

impl Bot<ColourBattle> for Planner {
    fn begin(&mut self, seed: u64) {
        self.rng = QuickRng::new(seed);
        self.skills = Skills::new();
    }

    fn answer(&mut self, seen: &Seen<'_>) -> Move {
        self.skills.learn(seen);
        self.maps.draw(seen, &self.skills);
        self.beam.search(seen, &self.maps, &mut self.rng)
    }
}

/// How often each bot paints a tile, from watching it.
struct Skills {
    rates: [f32; MAX_SEATS + 1],
    before: Vec<u8>,
}

impl Skills {
    /// What is assumed before anything is seen, and how much a round counts.
    const FIRST: f32 = USUAL_SKILL;
    const LEARN: f32 = 0.02;

    const fn new() -> Self {
        Self { rates: [Self::FIRST; MAX_SEATS + 1], before: Vec::new() }
    }

    fn learn(&mut self, seen: &Seen<'_>) {
        let tiles = seen.grid.tiles();
        if self.before.len() == tiles.len() {
            for bot in seen.enemies {
                let cell = bot.position.cell(seen.grid.side());
                let painted = tiles[cell] == bot.id && self.before[cell] != bot.id;
                let rate = &mut self.rates[usize::from(bot.id) % (MAX_SEATS + 1)];
                *rate += Self::LEARN * (f32::from(u8::from(painted)) - *rate);
            }
        }
        self.before.clear();
        self.before.extend_from_slice(tiles);
    }

    fn of(&self, id: u8) -> f32 {
        self.rates[usize::from(id) % (MAX_SEATS + 1)]
    }
}

fn rounds_left(seen: &Seen<'_>) -> u32 {
    (seen.game_info.number_of_rounds + 1).saturating_sub(seen.game_info.current_round)
}

fn rivals<'s>(seen: &Seen<'s>) -> impl Iterator<Item = (u8, Position)> + use<'s> {
    let own = seen.id;
    seen.enemies.iter().filter(move |bot| bot.id != own).map(|bot| (bot.id, bot.position))
}
