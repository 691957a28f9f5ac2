//! A game in progress, and what one move does to it.

use agon_core::{Fault, Outcome, QuickRng, Rng, Seat, Stream};

use super::board::{Board, COLUMNS, Mark, ROWS};
use super::special::Special;

/// How a game ended, if it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    NotYet,
    Five(Mark),
    Full,
    Fault(Fault, Seat),
}

/// The last piece that was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Dropped {
    /// The column the bot named.
    pub(super) named: u8,
    /// The column the piece fell in.
    pub(super) landed: u8,
    /// Its row, counted from the top like `board[0]`.
    pub(super) row: u8,
}

/// A game in progress: a few words of plain data.
#[derive(Clone, Debug)]
pub struct State {
    pub(super) board: Board,
    /// How many pieces have been dropped.
    pub(super) moves: u8,
    pub(super) end: End,
    pub(super) last: Option<Dropped>,
    pub(super) special: Special,
    /// For each mark, the columns its own drops have drifted from: that player knows they are special.
    drifted: [u16; 2],
    seed: u64,
    /// Made when the first piece falls into a special column: most of the cost of starting a game.
    chance: Option<Rng>,
}

impl State {
    pub(super) fn new(seed: u64, special: Special) -> Self {
        Self {
            board: Board::default(),
            moves: 0,
            end: End::NotYet,
            last: None,
            special,
            drifted: [0; 2],
            seed,
            chance: None,
        }
    }

    /// Whose turn it is (or would be).
    #[inline]
    pub(super) const fn mover(&self) -> Mark {
        if self.moves.is_multiple_of(2) { Mark::X } else { Mark::O }
    }

    /// Drops a piece of the mover into a column with room.
    #[inline]
    pub(super) fn drop_into(&mut self, named: usize) {
        let mark = self.mover();
        let (seed, chance) = (self.seed, &mut self.chance);
        let landed = self.special.landing(&self.board, named, || {
            chance.get_or_insert_with(|| Rng::new(seed, Stream::Game)).unit()
        });
        let row = ROWS - 1 - self.board.height(landed);
        self.board.drop_into(landed, mark);
        self.moves += 1;
        self.last = Some(Dropped { named: named as u8, landed: landed as u8, row: row as u8 });
        if landed != named {
            self.drifted[mark as usize] |= 1 << named;
        }
        if self.board.has_five(mark) {
            self.end = End::Five(mark);
        } else if self.board.is_full() {
            self.end = End::Full;
        }
    }

    /// Another state that the player of this mark cannot tell from this one.
    pub(super) fn imagine(&self, eye: Mark, rng: &mut QuickRng) -> Self {
        let mut other = Self { seed: rng.next_u64(), chance: None, ..self.clone() };
        other.special = Special::imagine(self.drifted[eye as usize], &mut |n| rng.below(n));
        other.drifted[eye.other() as usize] = 0;
        if let Some(last) = other.last.as_mut()
            && self.mover() == eye
        {
            // The opponent's last drop: where it landed is seen, which column it named is not.
            let mut before = self.board.rows();
            before[last.row as usize][last.landed as usize] = 0;
            let before = Board::from_rows(&before);
            let odds = |named| other.special.chance_of(&before, named, last.landed as usize);
            let total: f64 = (0..COLUMNS).map(odds).sum();
            let mut left = rng.unit() * total;
            let named = (0..COLUMNS).find(|&named| {
                left -= odds(named);
                left < 0.0
            });
            last.named = named.map_or(last.landed, |named| named as u8);
        }
        other
    }

    /// The result, once the game is over. `first` moved first.
    pub(super) fn outcome(&self, first: Seat) -> Option<Outcome> {
        let seat_of = |mark: Mark| Seat(first.0 ^ mark as u8);
        let won_by = |seat: Seat| if seat.0 == 0 { [1.0, 0.0] } else { [0.0, 1.0] };
        let mut outcome = match self.end {
            End::NotYet => return None,
            End::Five(mark) => Outcome::ranked(&won_by(seat_of(mark)), "five in a line"),
            End::Full => Outcome::ranked(&[0.5, 0.5], "board full"),
            End::Fault(fault, seat) => {
                Outcome::ranked(&won_by(Seat(1 - seat.0.min(1))), format!("{fault} of seat {seat}"))
            }
        };
        if let End::Fault(Fault::Crash | Fault::Garbled, seat) = self.end {
            outcome.match_lost_by = Some(seat);
        }
        for (seat, result) in Seat::all(2).zip(&mut outcome.seats) {
            let made = if seat == first { self.moves.div_ceil(2) } else { self.moves / 2 };
            result.stats[0] = f64::from(made);
        }
        Some(outcome)
    }
}
