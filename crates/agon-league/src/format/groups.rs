//! Balanced random groups: Solitude's four, Colour Battle's arenas of a chosen size.
//!
//! Everybody plays the same number of matches: the smallest number from the one asked for on with which a [design](super::design) was found
//! whose meetings differ by at most 1. Nearly always that is the number itself, or the next multiple of the group's size. A few numbers have no such design (groups
//! of four: 24 entrants with 8 matches, 36 with 12): groups of up to four play the next multiple or the one after it then, if that is at most half as much again.
//! Larger groups in small fields are sometimes within 2 only, groups of twenty now and then within 3 (seen with 53, 59 and 60 entrants): there the
//! most even that was found is played.
//! Seats differ by at most 1 always: full blocks give everybody each seat once, and a short one no seat twice.
//!
//! Who is which element of the design is drawn by the seed. Matches are walked block by block, so that after each block everybody has played
//! equally often on each seat; within a block the shifts jump about, so that neighbours in time are different bots.

use agon_core::random::{QuickRng, Rng};

use super::free_for_all::FreeForAll;
use super::balance::{BalanceReport, PairCount, CountRange};
use super::design::{self, Design, EFFORT, Group};
use super::{PhaseField, Fixture, FormatError, PhaseHistory, PhaseSchedule, Stage, chance, product};
use crate::result::Entrant;

/// More base blocks than this are not searched for: a quarter of a million matches for everyone, in groups of four.
const MOST_BLOCKS: u64 = 1 << 16;

/// Groups up to this size may play one or two multiples of it more (at most half as much again) to be within 1.
const SMALL: u32 = 4;

/// From so many entrants on the last difference takes more steps than there is time for: they grow with the square.
const LARGE: u32 = 600;

/// The plan for groups of `size`, at least `matches` for everyone.
pub(super) fn plan(field: &PhaseField, size: u32, matches: u64, seed: u64) -> Result<Box<dyn PhaseSchedule>, FormatError> {
    field.check(2)?;
    let n = field.len() as u32;
    if size < 2 {
        return Err(FormatError::GroupTooSmall { size });
    }
    if size > n {
        return Err(FormatError::GroupTooLarge { size, has: n });
    }
    if matches == 0 {
        return Err(FormatError::Nothing { field: "matches" });
    }
    if size == n {
        return Ok(Box::new(FreeForAll::new(field, matches, seed)?));
    }
    let most = MOST_BLOCKS * u64::from(n);
    if matches > MOST_BLOCKS * u64::from(size) {
        return Err(FormatError::TooMany { most });
    }
    product(&[u64::from(n), matches])?;
    Ok(Box::new(Groups::new(field, size, matches, seed)))
}

#[derive(Clone)]
struct Groups {
    design: Design,
    /// Who is which element.
    labels: Vec<Entrant>,
    /// How each block's shifts are walked: a factor without common divisor, and a start.
    walks: Vec<(u32, u32)>,
    each: u64,
    variants: u32,
}

impl Groups {
    fn new(field: &PhaseField, size: u32, matches: u64, seed: u64) -> Self {
        let mut rng = chance(seed, 1);
        let mut labels = field.entrants.clone();
        rng.shuffle(&mut labels);
        let n = labels.len() as u32;
        let (each, design) = most_even(n, size, matches, &mut QuickRng::new(rng.next_u64()));
        let shifts = design.short.as_ref().map(|short| short.shifts.len() as u32);
        let blocks = design.blocks.chunks(design.size);
        let mut walks: Vec<_> = blocks.map(|block| walk(n, block, &mut rng)).collect();
        walks.extend(shifts.map(|shifts| walk(shifts, &[], &mut rng)));
        Self { design, labels, walks, each, variants: field.variants() }
    }

    fn full(&self) -> u64 {
        (self.design.blocks.len() / self.design.size * self.labels.len()) as u64
    }

    fn total(&self) -> u64 {
        self.full() + self.design.short.as_ref().map_or(0, |short| short.shifts.len() as u64)
    }
}

/// The fewest matches from `matches` on that can be had within 1, and how.
fn most_even(n: u32, size: u32, matches: u64, rng: &mut QuickRng) -> (u64, Design) {
    let multiple = matches.next_multiple_of(u64::from(size));
    let further = (1..=2).map(|more| multiple + more * u64::from(size));
    let further = further.filter(|each| size <= SMALL && 2 * each <= 3 * multiple);
    let groups = Group::of_order(n);
    let mut best: Option<(u64, Design)> = None;
    for each in (matches..=multiple).chain(further) {
        // Large groups have few designs: look longer. In a large field mending the last difference is hopeless: look less. And only for
        // the multiple itself it matters how even the second best is.
        let longer = if size > SMALL { 3 } else { 1 };
        let less = if n > LARGE { 4 } else { 1 } * if each == multiple { 1 } else { 8 };
        let effort = EFFORT * longer / less;
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
    // For a multiple of the size there is always some design: the other branch is never taken.
    best.unwrap_or_else(|| (multiple, Design::empty(Group::new(1, n), size as usize)))
}

/// A walk through `n` shifts: a step that has no divisor in common with n and, if it can be, no two neighbours in common.
fn walk(n: u32, block: &[u32], rng: &mut Rng) -> (u32, u32) {
    let mut step = 1;
    for _ in 0..24 {
        let drawn = rng.below(n).max(1);
        if divisor(drawn, n) == 1 {
            step = drawn;
            let shared = block.iter().any(|&g| block.iter().any(|&h| (g + n - h) % n == drawn));
            if !shared {
                break;
            }
        }
    }
    (step, rng.below(n))
}

fn divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { divisor(b, a % b) }
}

fn walked((step, start): (u32, u32), n: u64, i: u64) -> u32 {
    ((u64::from(step) * i + u64::from(start)) % n) as u32
}

impl PhaseSchedule for Groups {
    fn stage(&self, number: u32, _: &PhaseHistory<'_>) -> Option<Box<dyn Stage>> {
        (number == 0).then(|| Box::new(self.clone()) as Box<dyn Stage>)
    }

    fn stages(&self) -> Option<u32> {
        Some(1)
    }

    fn expected(&self) -> (u64, u64) {
        (self.total(), self.total())
    }

    fn matches_each(&self) -> Option<u64> {
        Some(self.each)
    }

    /// Exact, from the design: no match is looked at.
    fn balance(&self, _: &PhaseHistory<'_>) -> BalanceReport {
        let ((least, by_least), (most, by_most)) = self.design.extremes();
        let pair =
            |meetings, by: u32| PairCount { entrants: [self.labels[0], self.labels[by as usize]], meetings };
        let n = self.labels.len() as u64;
        let seat = self.each / self.design.size as u64;
        let seats = CountRange { least: seat, most: seat + u64::from(self.design.short.is_some()) };
        BalanceReport {
            entrants: n as u32,
            matches: self.total(),
            complete: true,
            played: CountRange { least: self.each, most: self.each },
            meetings: Some(CountRange { least, most }),
            mean_meetings: (self.each * (self.design.size as u64 - 1)) as f64 / (n - 1) as f64,
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
        let (block, members, shift) = if number < self.full() {
            let block = (number / n) as usize;
            let members = &self.design.blocks[block * size..(block + 1) * size];
            (block, members, walked(self.walks[block], n, number % n))
        } else {
            let short = self.design.short.as_ref().filter(|_| number < self.total())?;
            let at = walked(*self.walks.last()?, short.shifts.len() as u64, number - self.full());
            (self.walks.len() - 1, &short.members[..], short.shifts[at as usize])
        };
        let seats = members.iter().map(|&g| self.labels[self.design.group.add(g, shift) as usize]).collect();
        Some(Fixture { seats, seed_index: number, variant: (block as u64 % u64::from(self.variants)) as u32 })
    }
}
