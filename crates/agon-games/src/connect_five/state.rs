//! State of a game, and the effect of a move.

use agon_core::{FastRng, Fault, Outcome, Rng, RngStream, Seat};

use super::board::{Board, COLUMNS, Mark, ROWS};
use super::special::SpecialColumns;

/// End of a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum GameEnd {
    NotYet,
    Five(Mark),
    Full,
    Fault(Fault, Seat),
}

/// The last piece that was dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LastDrop {
    /// Column named by the bot.
    pub(super) named: u8,
    /// Column in which the piece landed.
    pub(super) landed: u8,
    /// Row of the piece, counted from the top like `board[0]`.
    pub(super) row: u8,
}

/// State of a game.
#[derive(Clone, Debug)]
pub struct State {
    pub(super) board: Board,
    /// Number of pieces dropped.
    pub(super) moves: u8,
    pub(super) end: GameEnd,
    pub(super) last: Option<LastDrop>,
    pub(super) special: SpecialColumns,
    /// For each mark, the columns from which its own pieces drifted. That player knows that they are special.
    drifted: [u16; 2],
    seed: u64,
    /// Created when the first piece is dropped into a special column, because it is most of the cost of starting a game.
    rng: Option<Rng>,
}

impl State {
    pub(super) fn new(seed: u64, special: SpecialColumns) -> Self {
        Self {
            board: Board::default(),
            moves: 0,
            end: GameEnd::NotYet,
            last: None,
            special,
            drifted: [0; 2],
            seed,
            rng: None,
        }
    }

    /// Mark of the player to move.
    #[inline]
    pub(super) const fn mover(&self) -> Mark {
        if self.moves.is_multiple_of(2) { Mark::X } else { Mark::O }
    }

    /// Drops a piece of the mover into a column with room.
    #[inline]
    pub(super) fn drop_into(&mut self, named: usize) {
        let mark = self.mover();
        let (seed, rng) = (self.seed, &mut self.rng);
        let landed = self.special.landing_column(&self.board, named, || {
            rng.get_or_insert_with(|| Rng::new(seed, RngStream::Game)).unit()
        });
        let row = ROWS - 1 - self.board.height(landed);
        self.board.drop_into(landed, mark);
        self.moves += 1;
        self.last = Some(LastDrop { named: named as u8, landed: landed as u8, row: row as u8 });
        if landed != named {
            self.drifted[mark as usize] |= 1 << named;
        }
        if self.board.has_five(mark) {
            self.end = GameEnd::Five(mark);
        } else if self.board.is_full() {
            self.end = GameEnd::Full;
        }
    }

    /// Another state that the player of this mark cannot distinguish from this one.
    pub(super) fn resample(&self, viewpoint: Mark, rng: &mut FastRng) -> Self {
        let mut other = Self { seed: rng.next_u64(), rng: None, ..self.clone() };
        other.special = SpecialColumns::sample(self.drifted[viewpoint as usize], &mut |n| rng.below(n));
        other.drifted[viewpoint.other() as usize] = 0;
        if let Some(last) = other.last.as_mut()
            && self.mover() == viewpoint
        {
            // The opponent's last drop: the player sees where it landed, but not which column was named.
            let mut before = self.board.rows();
            before[last.row as usize][last.landed as usize] = 0;
            let before = Board::from_rows(&before);
            let odds = |named| other.special.landing_probability(&before, named, last.landed as usize);
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

    /// Result of a finished game. `first` is the seat that moved first.
    pub(super) fn outcome(&self, first: Seat) -> Option<Outcome> {
        let seat_of = |mark: Mark| Seat(first.0 ^ mark as u8);
        let won_by = |seat: Seat| if seat.0 == 0 { [1.0, 0.0] } else { [0.0, 1.0] };
        let mut outcome = match self.end {
            GameEnd::NotYet => return None,
            GameEnd::Five(mark) => Outcome::ranked(&won_by(seat_of(mark)), "five in a line"),
            GameEnd::Full => Outcome::ranked(&[0.5, 0.5], "board full"),
            GameEnd::Fault(fault, seat) => {
                Outcome::ranked(&won_by(Seat(1 - seat.0.min(1))), format!("{fault} of seat {seat}"))
            }
        };
        if let GameEnd::Fault(Fault::Crash | Fault::Garbled, seat) = self.end {
            outcome.match_lost_by = Some(seat);
        }
        for (seat, result) in Seat::all(2).zip(&mut outcome.seats) {
            let made = if seat == first { self.moves.div_ceil(2) } else { self.moves / 2 };
            result.stats[0] = f64::from(made);
        }
        Some(outcome)
    }
}
