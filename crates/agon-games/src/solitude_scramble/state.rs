//! State of a match: deals, moves and points.

use agon_core::Seat;
use agon_core::random::{Rng, RngStream};
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeStruct, Serializer};

use super::board::{Move, Platform, Side, move_name};

/// Number of seats.
pub const SEATS: usize = 4;

/// Maximum score of a platform; the minimum is 1.
pub const MAX_SCORE: u8 = 6;

/// Points of the five platforms, in the order of [`Platform::ALL`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scores(pub [u8; 5]);

impl Scores {
    /// Points of one platform.
    #[inline]
    pub const fn of(self, platform: Platform) -> u8 {
        self.0[platform as usize]
    }
}

impl Serialize for Scores {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(5))?;
        for platform in Platform::ALL {
            map.serialize_entry(platform.name(), &self.of(platform))?;
        }
        map.end()
    }
}

/// Random draw of a turn: the scores of the platforms and the side of each seat.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Deal {
    scores: Scores,
    sides: [Side; SEATS],
}

impl Deal {
    /// Number of deals: 6^5 scores, 4! orders of sides.
    pub const COUNT: u32 = 7776 * 24;

    /// Writes the scores in the order of the platforms, then the sides in seat order, a byte each.
    pub(super) fn pack(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.scores.0);
        out.extend(self.sides.map(|side| side as u8));
    }

    /// A deal with these values. `None` unless all scores are from 1 to 6 and the four sides differ.
    pub fn new(scores: [u8; 5], sides: [Side; SEATS]) -> Option<Self> {
        let fair = scores.iter().all(|score| (1..=MAX_SCORE).contains(score));
        let all_sides = Side::ALL.iter().all(|side| sides.contains(side));
        (fair && all_sides).then_some(Self { scores: Scores(scores), sides })
    }

    /// The deal of a number below [`Deal::COUNT`]. The mapping is one-to-one, so one uniform draw gives uniform and independent
    /// scores and sides.
    pub fn from_number(number: u32) -> Self {
        let mut rest = number;
        let mut take = |n: u32| {
            let digit = rest % n;
            rest /= n;
            digit as usize
        };
        let scores = Scores([(); 5].map(|()| take(6) as u8 + 1));
        let mut sides = Side::ALL;
        for last in (1..SEATS).rev() {
            sides.swap(last, take(last as u32 + 1));
        }
        Self { scores, sides }
    }

    fn draw(rng: &mut Rng) -> Self {
        Self::from_number(rng.below(Self::COUNT))
    }

    /// Points of the platforms.
    #[inline]
    pub const fn scores(&self) -> Scores {
        self.scores
    }

    /// Sides in seat order.
    #[inline]
    pub const fn sides(&self) -> &[Side; SEATS] {
        &self.sides
    }

    /// Side of a seat.
    #[inline]
    pub const fn side(&self, seat: Seat) -> Side {
        self.sides[seat.index() % SEATS]
    }

    /// Seat on a side.
    pub fn seat_on(&self, side: Side) -> Seat {
        Seat(self.sides.iter().position(|&s| s == side).unwrap_or(0) as u8)
    }

    /// Platform of a seat's move.
    #[inline]
    pub const fn platform(&self, seat: Seat, chosen: Move) -> Platform {
        self.side(seat).platform(chosen)
    }

    /// Points of a move if no other seat chooses the same platform.
    #[inline]
    pub const fn value(&self, seat: Seat, chosen: Move) -> u8 {
        self.scores.of(self.platform(seat, chosen))
    }
}

/// A played turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// Number of the turn, from 1.
    pub number: u16,
    /// Deal of the turn.
    pub deal: Deal,
    /// Moves in seat order; `None` for a forfeit.
    pub moves: [Option<Move>; SEATS],
    /// Points in seat order.
    pub awards: [u8; SEATS],
}

impl Turn {
    /// Scoring rule: a bot that is alone on a platform gets its points. A forfeit occupies no platform.
    pub fn score(number: u16, deal: Deal, moves: [Option<Move>; SEATS]) -> Self {
        let mut visitors = [0u8; 5];
        for (side, chosen) in deal.sides.iter().zip(moves) {
            if let Some(chosen) = chosen {
                visitors[side.platform(chosen) as usize] += 1;
            }
        }
        let mut awards = [0; SEATS];
        for ((side, chosen), award) in deal.sides.iter().zip(moves).zip(&mut awards) {
            if let Some(platform) = chosen.map(|chosen| side.platform(chosen))
                && visitors[platform as usize] == 1
            {
                *award = deal.scores.of(platform);
            }
        }
        Self { number, deal, moves, awards }
    }

    /// Platform of a seat; `None` for a forfeit.
    pub fn platform_of(&self, seat: Seat) -> Option<Platform> {
        self.moves[seat.index() % SEATS].map(|chosen| self.deal.platform(seat, chosen))
    }

    /// Seats on a platform, in seat order.
    pub fn visitors(&self, platform: Platform) -> impl Iterator<Item = Seat> {
        Seat::all(SEATS).filter(move |&seat| self.platform_of(seat) == Some(platform))
    }

    /// Whether a seat moved and was not alone. (Each platform is worth at least one point, so a lone seat never gets 0.)
    pub fn collided(&self, seat: Seat) -> bool {
        self.moves[seat.index() % SEATS].is_some() && self.awards[seat.index() % SEATS] == 0
    }
}

impl Serialize for Turn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Turn", 5)?;
        fields.serialize_field("turn", &self.number)?;
        fields.serialize_field("platform_scores", &self.deal.scores)?;
        fields.serialize_field("sides", &self.deal.sides)?;
        fields.serialize_field("moves", &self.moves.map(move_name))?;
        fields.serialize_field("awards", &self.awards)?;
        fields.end()
    }
}

/// State of a match.
#[derive(Clone, Debug)]
pub struct State {
    deal: Deal,
    history: Vec<Turn>,
    totals: [u16; SEATS],
    rng: Rng,
}

impl State {
    /// Start of the match of a seed, with capacity for this number of turns.
    pub fn new(seed: u64, turns: u16) -> Self {
        let mut rng = Rng::new(seed, RngStream::Game);
        let deal = Deal::draw(&mut rng);
        Self { deal, history: Vec::with_capacity(turns.into()), totals: [0; SEATS], rng }
    }

    /// Deal of the turn to be played; after the end, the last deal.
    #[inline]
    pub const fn deal(&self) -> &Deal {
        &self.deal
    }

    /// Replaces the deal of this turn.
    pub const fn set_deal(&mut self, deal: Deal) {
        self.deal = deal;
    }

    /// Turns played so far.
    #[inline]
    pub fn history(&self) -> &[Turn] {
        &self.history
    }

    /// Points so far, in seat order.
    #[inline]
    pub const fn totals(&self) -> &[u16; SEATS] {
        &self.totals
    }

    /// Plays the turn, and deals the next one unless this was the last.
    pub(super) fn play(&mut self, moves: [Option<Move>; SEATS], last: bool) {
        let turn = Turn::score(self.history.len() as u16 + 1, self.deal, moves);
        for (total, award) in self.totals.iter_mut().zip(turn.awards) {
            *total += u16::from(award);
        }
        self.history.push(turn);
        if !last {
            self.deal = Deal::draw(&mut self.rng);
        }
    }

    /// The same match with other future deals.
    pub(super) fn with_future_seed(&self, seed: u64) -> Self {
        Self { rng: Rng::new(seed, RngStream::Game), ..self.clone() }
    }
}

/// Observation of a seat: this turn's deal and all previous turns. Only future moves are hidden.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'s> {
    /// Seat of the bot.
    pub seat: Seat,
    /// Number of turns of the match.
    pub turns: u16,
    /// Deal of this turn.
    pub deal: Deal,
    /// Previous turns.
    pub history: &'s [Turn],
}

impl Observation<'_> {
    /// Number of the turn to be played, from 1.
    #[inline]
    pub const fn turn(&self) -> u16 {
        self.history.len() as u16 + 1
    }
}

impl Serialize for Observation<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Observation", 6)?;
        fields.serialize_field("seat", &self.seat)?;
        fields.serialize_field("turn", &self.turn())?;
        fields.serialize_field("turns", &self.turns)?;
        fields.serialize_field("platform_scores", &self.deal.scores)?;
        fields.serialize_field("sides", &self.deal.sides)?;
        fields.serialize_field("history", &self.history)?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn from_number_is_a_bijection_to_all_deals() {
        let deals: HashSet<Deal> = (0..Deal::COUNT).map(Deal::from_number).collect();
        assert_eq!(deals.len(), Deal::COUNT as usize);
        assert!(deals.iter().all(|deal| Deal::new(deal.scores.0, deal.sides) == Some(*deal)));
    }

    #[test]
    fn deal_that_cannot_be_drawn_is_rejected() {
        let [n, e, s, w] = Side::ALL;
        assert!(Deal::new([1, 6, 1, 6, 1], [w, s, e, n]).is_some());
        assert!(Deal::new([0, 6, 1, 6, 1], [w, s, e, n]).is_none());
        assert!(Deal::new([1, 7, 1, 6, 1], [w, s, e, n]).is_none());
        assert!(Deal::new([1, 6, 1, 6, 1], [w, s, e, e]).is_none());
    }
}
