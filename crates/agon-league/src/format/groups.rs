//! Balanced random groups: Solitude's groups of four, Colour Battle's arenas of a chosen size.
//!
//! Every entrant plays the same number of matches: the smallest number, not below the requested one, for which a
//! [design](super::design) was found whose meetings differ by at most 1. That is nearly always the requested number or the next
//! multiple of the group size. A few numbers have no such design (groups of four: 24 entrants with 8 matches, 36 with 12). Then groups
//! of up to four play one or two multiples more, if that is at most half as much again. Larger groups in small fields sometimes differ
//! by 2, groups of twenty rarely by 3 (seen with 53, 59 and 60 entrants). Then the most even design found is played.
//! Seat counts always differ by at most 1: full blocks give every entrant each seat once, a short block gives no seat twice.
//!
//! The seed assigns entrants to the elements of the design. Matches are ordered block by block, so that after each block every entrant
//! has played equally often on each seat. Within a block the shifts jump, so that consecutive matches have different bots.

use agon_core::random::{FastRng, Rng};

use super::balance::{BalanceReport, CountRange, PairCount};
use super::design::{self, AbelianGroup, Design, SEARCH_EFFORT};
use super::free_for_all::FreeForAll;
use super::{
    Fixture, FormatError, PhaseField, PhaseHistory, PhaseSchedule, Stage, checked_product, schedule_rng,
};
use crate::result::Entrant;

/// Maximum number of base blocks to search for: a quarter of a million matches per entrant, in groups of four.
const MAX_BLOCKS: u64 = 1 << 16;

/// Groups up to this size may play one or two multiples more (at most half as much again) so that meetings differ by at most 1.
const MAX_SMALL_GROUP: u32 = 4;

/// Above this number of entrants the search gets less effort: the last difference needs steps that grow with its square.
const MAX_SEARCHED_ENTRANTS: u32 = 600;

/// Schedule for groups of `size` with at least `matches` matches per entrant.
pub(super) fn schedule(
    field: &PhaseField,
    size: u32,
    matches: u64,
    seed: u64,
) -> Result<Box<dyn PhaseSchedule>, FormatError> {
    field.validate(2)?;
    let n = field.len() as u32;
    if size < 2 {
        return Err(FormatError::GroupTooSmall { size });
    }
    if size > n {
        return Err(FormatError::GroupTooLarge { size, has: n });
    }
    if matches == 0 {
        return Err(FormatError::ZeroCount { field: "matches" });
    }
    if size == n {
        return Ok(Box::new(FreeForAll::new(field, matches, seed)?));
    }
    let most = MAX_BLOCKS * u64::from(n);
    if matches > MAX_BLOCKS * u64::from(size) {
        return Err(FormatError::TooManyMatches { most });
    }
    checked_product(&[u64::from(n), matches])?;
    Ok(Box::new(Groups::new(field, size, matches, seed)))
}

#[derive(Clone)]
struct Groups {
    design: Design,
    /// Entrant of each element.
    labels: Vec<Entrant>,
    /// Order of each block's shifts: a step coprime to their number, and a start.
    shift_orders: Vec<(u32, u32)>,
    matches_each: u64,
    variants: u32,
}

impl Groups {
    fn new(field: &PhaseField, size: u32, matches: u64, seed: u64) -> Self {
        let mut rng = schedule_rng(seed, 1);
        let mut labels = field.entrants.clone();
        rng.shuffle(&mut labels);
        let n = labels.len() as u32;
        let (matches_each, design) = most_even_design(n, size, matches, &mut FastRng::new(rng.next_u64()));
        let shifts = design.short.as_ref().map(|short| short.shifts.len() as u32);
        let blocks = design.blocks.chunks(design.size);
        let mut shift_orders: Vec<_> = blocks.map(|block| shift_order(n, block, &mut rng)).collect();
        shift_orders.extend(shifts.map(|shifts| shift_order(shifts, &[], &mut rng)));
        Self { design, labels, shift_orders, matches_each, variants: field.variants() }
    }

    fn full_block_matches(&self) -> u64 {
        (self.design.blocks.len() / self.design.size * self.labels.len()) as u64
    }

    fn total(&self) -> u64 {
        self.full_block_matches() + self.design.short.as_ref().map_or(0, |short| short.shifts.len() as u64)
    }
}

/// The smallest number of matches from `matches` on with meetings that differ by at most 1, and its design.
fn most_even_design(n: u32, size: u32, matches: u64, rng: &mut FastRng) -> (u64, Design) {
    let multiple = matches.next_multiple_of(u64::from(size));
    let further = (1..=2).map(|more| multiple + more * u64::from(size));
    let further = further.filter(|each| size <= MAX_SMALL_GROUP && 2 * each <= 3 * multiple);
    let groups = AbelianGroup::of_order(n);
    let mut best: Option<(u64, Design)> = None;
    for each in (matches..=multiple).chain(further) {
        // Large groups have few designs: search longer. In a large field the last difference cannot be fixed: search less. How even the
        // second best design is matters only for the multiple itself.
        let longer = if size > MAX_SMALL_GROUP { 3 } else { 1 };
        let less = if n > MAX_SEARCHED_ENTRANTS { 4 } else { 1 } * if each == multiple { 1 } else { 8 };
        let effort = SEARCH_EFFORT * longer / less;
        for group in &groups {
            let Some(design) = design::search(group, size, each, effort, rng) else { continue };
            let spread = design.spread();
            if spread <= 1 {
                return (each, design);
            }
            if best.as_ref().is_none_or(|(_, best)| spread < best.spread()) {
                best = Some((each, design));
            }
        }
    }
    // A multiple of the size always has a design, so the fallback is never used.
    best.unwrap_or_else(|| (multiple, Design::empty(AbelianGroup::new(1, n), size as usize)))
}

/// An order of `n` shifts: a step coprime to n for which, if possible, consecutive matches share no entrant.
fn shift_order(n: u32, block: &[u32], rng: &mut Rng) -> (u32, u32) {
    let mut step = 1;
    for _ in 0..24 {
        let drawn = rng.below(n).max(1);
        if greatest_common_divisor(drawn, n) == 1 {
            step = drawn;
            let shared = block.iter().any(|&g| block.iter().any(|&h| (g + n - h) % n == drawn));
            if !shared {
                break;
            }
        }
    }
    (step, rng.below(n))
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

fn shift_at((step, start): (u32, u32), n: u64, i: u64) -> u32 {
    ((u64::from(step) * i + u64::from(start)) % n) as u32
}

impl PhaseSchedule for Groups {
    fn stage(&self, number: u32, _: &PhaseHistory<'_>) -> Option<Box<dyn Stage>> {
        (number == 0).then(|| Box::new(self.clone()) as Box<dyn Stage>)
    }

    fn stages(&self) -> Option<u32> {
        Some(1)
    }

    fn expected_matches(&self) -> (u64, u64) {
        (self.total(), self.total())
    }

    fn matches_each(&self) -> Option<u64> {
        Some(self.matches_each)
    }

    /// Exact: taken from the design without visiting matches.
    fn balance(&self, _: &PhaseHistory<'_>) -> BalanceReport {
        let ((least, by_least), (most, by_most)) = self.design.extremes();
        let pair =
            |meetings, by: u32| PairCount { entrants: [self.labels[0], self.labels[by as usize]], meetings };
        let n = self.labels.len() as u64;
        let seat = self.matches_each / self.design.size as u64;
        let seats = CountRange { least: seat, most: seat + u64::from(self.design.short.is_some()) };
        BalanceReport {
            entrants: n as u32,
            matches: self.total(),
            complete: true,
            played: CountRange { least: self.matches_each, most: self.matches_each },
            meetings: Some(CountRange { least, most }),
            mean_meetings: (self.matches_each * (self.design.size as u64 - 1)) as f64 / (n - 1) as f64,
            least_met: Some(pair(least, by_least)),
            most_met: Some(pair(most, by_most)),
            seats: Some(seats),
            seat_difference: seats.most - seats.least,
            first: seats,
        }
    }
}

impl Stage for Groups {
    fn name(&self) -> String {
        format!("groups of {}", self.design.size)
    }

    fn len(&self) -> u64 {
        self.total()
    }

    fn fixture(&self, number: u64) -> Option<Fixture> {
        let (n, size) = (self.labels.len() as u64, self.design.size);
        let (block, members, shift) = if number < self.full_block_matches() {
            let block = (number / n) as usize;
            let members = &self.design.blocks[block * size..(block + 1) * size];
            (block, members, shift_at(self.shift_orders[block], n, number % n))
        } else {
            let short = self.design.short.as_ref().filter(|_| number < self.total())?;
            let at = shift_at(
                *self.shift_orders.last()?,
                short.shifts.len() as u64,
                number - self.full_block_matches(),
            );
            (self.shift_orders.len() - 1, &short.members[..], short.shifts[at as usize])
        };
        let seats = members.iter().map(|&g| self.labels[self.design.group.add(g, shift) as usize]).collect();
        Some(Fixture { seats, seed_index: number, variant: (block as u64 % u64::from(self.variants)) as u32 })
    }
}
