//! State of a game: the canvas, the bots, and the last round.

use agon_core::{Fault, MAX_SEATS, Reply, Seat};
use serde::Serialize;

use super::canvas::{CanvasTiles, MAX_SIDE, MAX_TILES, Move, Position, paint};

/// A bot on the canvas; visible to all bots.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Painter {
    /// Id and colour, from 1 to the number of bots.
    pub id: u8,
    /// Current position.
    pub position: Position,
}

/// Effect of a bot's paint in a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PaintEffect {
    /// The tile took the bot's colour.
    Painted,
    /// The tile turned white.
    Wiped,
    /// The tile did not change.
    Kept,
    /// Another bot stood on the tile, so it turned white.
    Clashed,
}

/// Action of a bot in the last round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LastAction {
    /// Position before the move.
    pub from: Position,
    /// Reply of the bot.
    pub reply: Reply<Move>,
    /// Colour of the entered tile before painting.
    pub floor: u8,
    /// Effect of the paint.
    pub effect: PaintEffect,
}

/// State of a game. It has a fixed size, so that a round allocates nothing and a copy is one memory copy. All arrays but
/// `index_by_seat` are ordered by id, so only that one maps seats to ids.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    /// Number of rounds played.
    rounds_played: u32,
    side: u8,
    bots: u8,
    /// For each seat, its id minus one.
    index_by_seat: [u8; MAX_SEATS],
    painters: [Painter; MAX_SEATS],
    /// Last round by id: previous position, reply, and colour of the entered tile.
    from: [Position; MAX_SEATS],
    replies: [Reply<Move>; MAX_SEATS],
    floors: [u8; MAX_SEATS],
    tiles: [u8; MAX_TILES],
    /// Number of bots on each tile. Updated incrementally: only left and entered tiles change.
    bots_on_tile: [u8; MAX_TILES],
}

impl State {
    /// A white canvas with these bots in seat order. The caller has checked ids and positions.
    pub(super) fn with_bots(side: u8, bots: &[Painter]) -> Self {
        let mut state = Self {
            rounds_played: 0,
            side: side.min(MAX_SIDE as u8),
            bots: bots.len().min(MAX_SEATS) as u8,
            index_by_seat: [0; MAX_SEATS],
            painters: [Painter::default(); MAX_SEATS],
            from: [Position::default(); MAX_SEATS],
            replies: [Reply::Answer(Move::Stay); MAX_SEATS],
            floors: [0; MAX_SEATS],
            tiles: [0; MAX_TILES],
            bots_on_tile: [0; MAX_TILES],
        };
        for (seat, &painter) in bots.iter().take(MAX_SEATS).enumerate() {
            let index = usize::from(painter.id.wrapping_sub(1)) % MAX_SEATS;
            state.index_by_seat[seat] = index as u8;
            state.painters[index] = painter;
            state.from[index] = painter.position;
            state.bots_on_tile[painter.position.cell(side) % MAX_TILES] += 1;
        }
        state
    }

    /// Plays one round: all bots move, then all paint. A missing reply is a crash; a fault counts as STAY.
    #[inline]
    pub(super) fn play(&mut self, replies: &[Reply<Move>]) {
        let (side, bots) = (self.side, usize::from(self.bots).min(MAX_SEATS));
        for (seat, &index) in self.index_by_seat[..bots].iter().enumerate() {
            let reply = replies.get(seat).copied().unwrap_or(Reply::Fault(Fault::Crash));
            // Masks instead of bounds checks: both sizes are powers of two and never exceeded.
            let i = usize::from(index) % MAX_SEATS;
            let old = self.painters[i].position;
            let new = old.after(reply.answer().unwrap_or(Move::Stay), side);
            let (left, entered) = (old.cell(side) % MAX_TILES, new.cell(side) % MAX_TILES);
            self.bots_on_tile[left] = self.bots_on_tile[left].wrapping_sub(1);
            self.bots_on_tile[entered] = self.bots_on_tile[entered].wrapping_add(1);
            self.from[i] = old;
            self.replies[i] = reply;
            self.floors[i] = self.tiles[entered];
            self.painters[i].position = new;
        }
        for (painter, &floor) in self.painters[..bots].iter().zip(&self.floors) {
            let cell = painter.position.cell(side) % MAX_TILES;
            self.tiles[cell] = if self.bots_on_tile[cell] > 1 { 0 } else { paint(floor, painter.id) };
        }
        self.rounds_played += 1;
    }

    /// Number of rounds played.
    pub const fn rounds_played(&self) -> u32 {
        self.rounds_played
    }

    /// The canvas.
    #[inline]
    pub fn grid(&self) -> CanvasTiles<'_> {
        CanvasTiles::new(&self.tiles, self.side)
    }

    /// All bots, by id.
    #[inline]
    pub fn painters(&self) -> &[Painter] {
        &self.painters[..usize::from(self.bots).min(MAX_SEATS)]
    }

    /// The bot at a seat; id 0 if there is no such seat.
    #[inline]
    pub fn painter(&self, seat: Seat) -> Painter {
        if seat.0 >= self.bots {
            return Painter::default();
        }
        self.painters[usize::from(self.index_by_seat[seat.index() % MAX_SEATS]) % MAX_SEATS]
    }

    /// Seat of the bot with this id.
    pub fn seat_of(&self, id: u8) -> Option<Seat> {
        Seat::all(self.bots.into()).find(|&seat| self.painter(seat).id == id)
    }

    /// Number of bots on this tile.
    pub fn bots_on(&self, position: Position) -> u8 {
        if position.x >= self.side {
            return 0;
        }
        self.bots_on_tile.get(position.cell(self.side)).copied().unwrap_or(0)
    }

    /// Action of the bot with this id in the last round; `None` before the first.
    pub fn last_action(&self, id: u8) -> Option<LastAction> {
        let i = usize::from(id).checked_sub(1)?;
        let painter = self.painters().get(i).filter(|_| self.rounds_played > 0)?;
        let floor = self.floors[i];
        let effect = match paint(floor, id) {
            _ if self.bots_on(painter.position) > 1 => PaintEffect::Clashed,
            new if new == floor => PaintEffect::Kept,
            0 => PaintEffect::Wiped,
            _ => PaintEffect::Painted,
        };
        Some(LastAction { from: self.from[i], reply: self.replies[i], floor, effect })
    }

    /// The same state with the ids of all seats but one dealt again.
    pub(super) fn with_ids_redealt(&self, keeps: Seat, mut below: impl FnMut(u32) -> u32) -> Self {
        let mut other = self.clone();
        let seats: Vec<usize> =
            Seat::all(self.bots.into()).filter(|&seat| seat != keeps).map(Seat::index).collect();
        for i in (1..seats.len()).rev() {
            other.index_by_seat.swap(seats[i], seats[below(i as u32 + 1) as usize % (i + 1)]);
        }
        other
    }
}
