//! A game in progress: the canvas, where the bots stand, and what happened in the last round.

use agon_core::{Fault, MAX_SEATS, Reply, Seat};
use serde::Serialize;

use super::canvas::{Grid, MAX_SIDE, MAX_TILES, Move, Position, paint};

/// A bot on the canvas, as everybody sees it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Painter {
    /// Its id, which is its colour: 1 to the number of bots.
    pub id: u8,
    /// Where it stands.
    pub position: Position,
}

/// What a bot's painting did in a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// The tile took its colour.
    Painted,
    /// The tile turned white.
    Wiped,
    /// The tile stayed as it was.
    Kept,
    /// Another bot stood there too: the tile turned white.
    Clashed,
}

/// What a bot did in the last round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deed {
    /// Where it stood before.
    pub from: Position,
    /// Its reply.
    pub reply: Reply<Move>,
    /// The floor it came to, before any paint.
    pub floor: u8,
    /// What its painting did.
    pub effect: Effect,
}

/// All of a game in progress. Fixed in size, so that a round allocates nothing and a copy is a block of
/// memory. All but `order` is kept by id, so that who is who is in one place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// Rounds played.
    played: u32,
    side: u8,
    bots: u8,
    /// For each seat its id, less one.
    order: [u8; MAX_SEATS],
    painters: [Painter; MAX_SEATS],
    /// Last round: where each stood before, its reply, the floor it came to.
    from: [Position; MAX_SEATS],
    replies: [Reply<Move>; MAX_SEATS],
    floors: [u8; MAX_SEATS],
    tiles: [u8; MAX_TILES],
    /// How many bots stand on each tile. Kept from round to round: only tiles left and entered change.
    crowd: [u8; MAX_TILES],
}

impl State {
    /// Bots with these ids on these tiles of a white canvas, in seat order. The caller vouches for them.
    pub(super) fn placed(side: u8, bots: &[Painter]) -> Self {
        let mut state = Self {
            played: 0,
            side: side.min(MAX_SIDE as u8),
            bots: bots.len().min(MAX_SEATS) as u8,
            order: [0; MAX_SEATS],
            painters: [Painter::default(); MAX_SEATS],
            from: [Position::default(); MAX_SEATS],
            replies: [Reply::Answer(Move::Stay); MAX_SEATS],
            floors: [0; MAX_SEATS],
            tiles: [0; MAX_TILES],
            crowd: [0; MAX_TILES],
        };
        for (seat, &painter) in bots.iter().take(MAX_SEATS).enumerate() {
            let index = usize::from(painter.id.wrapping_sub(1)) % MAX_SEATS;
            state.order[seat] = index as u8;
            state.painters[index] = painter;
            state.from[index] = painter.position;
            state.crowd[painter.position.cell(side) % MAX_TILES] += 1;
        }
        state
    }

    /// Plays one round: all move, then all paint. A seat without a reply has crashed; a fault is STAY.
    #[inline]
    pub(super) fn play(&mut self, replies: &[Reply<Move>]) {
        let (side, bots) = (self.side, usize::from(self.bots).min(MAX_SEATS));
        for (seat, &index) in self.order[..bots].iter().enumerate() {
            let reply = replies.get(seat).copied().unwrap_or(Reply::Fault(Fault::Crash));
            // Masks in place of bounds checks: both sizes are powers of two and never exceeded.
            let i = usize::from(index) % MAX_SEATS;
            let old = self.painters[i].position;
            let new = old.after(reply.answer().unwrap_or(Move::Stay), side);
            let (left, entered) = (old.cell(side) % MAX_TILES, new.cell(side) % MAX_TILES);
            self.crowd[left] = self.crowd[left].wrapping_sub(1);
            self.crowd[entered] = self.crowd[entered].wrapping_add(1);
            self.from[i] = old;
            self.replies[i] = reply;
            self.floors[i] = self.tiles[entered];
            self.painters[i].position = new;
        }
        for (painter, &floor) in self.painters[..bots].iter().zip(&self.floors) {
            let cell = painter.position.cell(side) % MAX_TILES;
            self.tiles[cell] = if self.crowd[cell] > 1 { 0 } else { paint(floor, painter.id) };
        }
        self.played += 1;
    }

    /// How many rounds have been played.
    pub const fn played(&self) -> u32 {
        self.played
    }

    /// The canvas.
    #[inline]
    pub fn grid(&self) -> Grid<'_> {
        Grid::new(&self.tiles, self.side)
    }

    /// All bots, by id.
    #[inline]
    pub fn painters(&self) -> &[Painter] {
        &self.painters[..usize::from(self.bots).min(MAX_SEATS)]
    }

    /// The bot at a seat; one without an id (0) where nobody sits.
    #[inline]
    pub fn painter(&self, seat: Seat) -> Painter {
        if seat.0 >= self.bots {
            return Painter::default();
        }
        self.painters[usize::from(self.order[seat.index() % MAX_SEATS]) % MAX_SEATS]
    }

    /// The seat of the bot with this id.
    pub fn seat_of(&self, id: u8) -> Option<Seat> {
        Seat::all(self.bots.into()).find(|&seat| self.painter(seat).id == id)
    }

    /// How many bots stand on this tile.
    pub fn crowd(&self, position: Position) -> u8 {
        if position.x >= self.side {
            return 0;
        }
        self.crowd.get(position.cell(self.side)).copied().unwrap_or(0)
    }

    /// What the bot with this id did in the last round; `None` before the first.
    pub fn deed(&self, id: u8) -> Option<Deed> {
        let i = usize::from(id).checked_sub(1)?;
        let painter = self.painters().get(i).filter(|_| self.played > 0)?;
        let floor = self.floors[i];
        let effect = match paint(floor, id) {
            _ if self.crowd(painter.position) > 1 => Effect::Clashed,
            new if new == floor => Effect::Kept,
            0 => Effect::Wiped,
            _ => Effect::Painted,
        };
        Some(Deed { from: self.from[i], reply: self.replies[i], floor, effect })
    }

    /// The same game with the ids of all seats but one dealt anew.
    pub(super) fn with_ids_dealt(&self, keeps: Seat, mut below: impl FnMut(u32) -> u32) -> Self {
        let mut other = self.clone();
        let seats: Vec<usize> =
            Seat::all(self.bots.into()).filter(|&seat| seat != keeps).map(Seat::index).collect();
        for i in (1..seats.len()).rev() {
            other.order.swap(seats[i], seats[below(i as u32 + 1) as usize % (i + 1)]);
        }
        other
    }
}
