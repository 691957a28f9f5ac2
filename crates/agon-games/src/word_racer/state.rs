//! State of a game: two boards, the letters called so far, and whose turn it is.

use agon_core::{FastRng, Fault, IllegalAnswer, Reply, Seat, SeatSet};

use super::answer::Answer;
use super::board::{Board, CELLS, CENTRE, Letter};

/// Number of letters called in a game: every cell but the centre.
pub const TURNS: usize = CELLS - 1;

/// Kind of request to a seat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestKind {
    /// Call a letter and write it.
    Call,
    /// Write the letter that the other player called.
    Place(Letter),
}

/// State of a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct State {
    pub(super) first: Seat,
    pub(super) boards: [Board; 2],
    /// Called letters in order; the callers alternate.
    pub(super) calls: Vec<Letter>,
    /// Positions where each seat wrote them, in the same order.
    pub(super) places: [Vec<u8>; 2],
    pub(super) fault: Option<(Seat, Fault)>,
}

impl State {
    /// Start of a game: the first letter in the centre of both boards.
    pub fn new(first: Seat, letter: Letter) -> Self {
        Self {
            first: Seat(first.0 & 1),
            boards: [Board::with_first(letter); 2],
            calls: Vec::with_capacity(TURNS),
            places: [Vec::with_capacity(TURNS), Vec::with_capacity(TURNS)],
            fault: None,
        }
    }

    /// Board of a seat.
    pub fn board(&self, seat: Seat) -> &Board {
        &self.boards[seat.index() & 1]
    }

    /// Letters called so far, in order.
    pub fn calls(&self) -> &[Letter] {
        &self.calls
    }

    /// Positions where a seat wrote the called letters, in the same order.
    pub fn places(&self, seat: Seat) -> &[u8] {
        &self.places[seat.index() & 1]
    }

    /// The seat that calls first.
    pub const fn first(&self) -> Seat {
        self.first
    }

    /// The fault that ended the game, and its seat.
    pub const fn fault(&self) -> Option<(Seat, Fault)> {
        self.fault
    }

    /// Seat that calls letter `turn`, counted from 0.
    pub const fn caller(&self, turn: usize) -> Seat {
        Seat(self.first.0 ^ (turn as u8 & 1))
    }

    /// Number of letters on both boards.
    pub fn turns_done(&self) -> usize {
        self.places[0].len().min(self.places[1].len())
    }

    /// Current request and its seat; `None` when the game is over.
    pub fn request(&self) -> Option<(Seat, RequestKind)> {
        let turn = self.turns_done();
        if self.fault.is_some() || turn >= TURNS {
            return None;
        }
        let caller = self.caller(turn);
        Some(match self.calls.get(turn) {
            None => (caller, RequestKind::Call),
            Some(&letter) => (other_seat(caller), RequestKind::Place(letter)),
        })
    }

    /// The seat to move, as a set.
    pub fn to_move(&self) -> SeatSet {
        self.request().map_or(SeatSet::EMPTY, |(seat, _)| SeatSet::one(seat))
    }

    /// Checks whether an answer is allowed now. The error lists all reasons.
    pub fn check(&self, seat: Seat, answer: Answer) -> Result<(), IllegalAnswer> {
        let Some((mover, request)) = self.request() else {
            return Err(IllegalAnswer::because("the game is over"));
        };
        if seat != mover {
            return Err(IllegalAnswer::because(format!("seat {mover} is to move, not seat {seat}")));
        }
        let mut reasons = Vec::new();
        match (request, answer) {
            (RequestKind::Call, Answer::Place { .. }) => {
                reasons.push("a call is expected: answer LETTER POSITION".to_owned());
            }
            (RequestKind::Place(letter), Answer::Call { .. }) => {
                reasons.push(format!("{letter} was called and must be placed: answer POSITION"));
            }
            _ => {}
        }
        let position = answer.position();
        let board = self.board(seat);
        match board.get(position as usize) {
            _ if position as usize >= CELLS => {
                reasons.push(format!("position {position} is not on the board (0 to 48)"));
            }
            Some(letter) => reasons.push(format!("position {position} already holds {letter}")),
            None => {}
        }
        IllegalAnswer::unless_empty(reasons)
    }

    /// Plays one answer of the seat to move.
    pub fn apply(&mut self, reply: Option<Reply<Answer>>) {
        let Some((seat, request)) = self.request() else { return };
        match reply {
            None => self.fault = Some((seat, Fault::Crash)),
            Some(Reply::Fault(fault)) => self.fault = Some((seat, fault)),
            Some(Reply::Answer(answer)) => match (self.check(seat, answer), request, answer) {
                (Ok(()), RequestKind::Call, Answer::Call { letter, position }) => {
                    self.calls.push(letter);
                    self.write(seat, letter, position);
                }
                (Ok(()), RequestKind::Place(letter), Answer::Place { position }) => {
                    self.write(seat, letter, position);
                }
                _ => self.fault = Some((seat, Fault::Illegal)),
            },
        }
    }

    fn write(&mut self, seat: Seat, letter: Letter, position: u32) {
        self.boards[seat.index() & 1].put(position as usize, letter);
        self.places[seat.index() & 1].push(position as u8);
    }

    /// A uniformly random legal answer.
    pub fn sample(&self, seat: Seat, rng: &mut FastRng) -> Option<Answer> {
        let (_, request) = self.request().filter(|(mover, _)| *mover == seat)?;
        let free: Vec<usize> = self.board(seat).free().collect();
        let position = rng.pick(&free)? as u32;
        Some(match request {
            RequestKind::Place(_) => Answer::Place { position },
            RequestKind::Call => Answer::Call { letter: Letter::from_code(rng.below(26) as u8)?, position },
        })
    }

    /// The same game with the letters on the other board at other positions.
    #[must_use]
    pub fn resample(&self, seat: Seat, rng: &mut FastRng) -> Self {
        let mut state = self.clone();
        let hidden = other_seat(seat).index() & 1;
        let mut positions: Vec<u8> = (0..CELLS as u8).filter(|&p| usize::from(p) != CENTRE).collect();
        rng.shuffle(&mut positions);
        positions.truncate(self.places[hidden].len());
        let mut board = Board::EMPTY;
        if let Some(letter) = self.boards[hidden].get(CENTRE) {
            board.put(CENTRE, letter);
        }
        for (&letter, &position) in self.calls.iter().zip(&positions) {
            board.put(position.into(), letter);
        }
        state.boards[hidden] = board;
        state.places[hidden] = positions;
        state
    }
}

/// The other seat.
pub const fn other_seat(seat: Seat) -> Seat {
    Seat((seat.0 & 1) ^ 1)
}
