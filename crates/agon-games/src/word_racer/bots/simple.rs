//! Simple bots: a random cell, the next cell, or the cell with the most immediate points.

use agon_core::{Bot, FastRng};

use crate::word_racer::board::{Board, SIDE};
use crate::word_racer::{Answer, Letter, Observation, WordList, WordRacer, line_points};

/// The answer that writes a letter at a position, for either request.
pub(super) const fn answer(seen: &Observation<'_>, letter: Letter, position: usize) -> Answer {
    let position = position as u32;
    match seen.letter {
        Some(_) => Answer::Place { position },
        None => Answer::Call { letter, position },
    }
}

/// Random letters on random cells.
pub(super) struct Random(FastRng);

impl Default for Random {
    fn default() -> Self {
        Self(FastRng::new(0))
    }
}

impl Bot<WordRacer> for Random {
    fn begin(&mut self, seed: u64) {
        self.0 = FastRng::new(seed);
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let free: Vec<usize> = seen.board.free().collect();
        let position = self.0.pick(&free).unwrap_or(0);
        let letter = Letter::from_code(self.0.below(26) as u8).unwrap_or(Letter::A);
        answer(seen, letter, position)
    }
}

/// Common letters in turn, each on the next free cell.
pub(super) struct Filler;

impl Bot<WordRacer> for Filler {
    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        const COMMON: [char; 8] = ['E', 'S', 'A', 'T', 'O', 'R', 'I', 'N'];
        let letter = Letter::read(COMMON[seen.turn / 2 % COMMON.len()]).unwrap_or(Letter::A);
        answer(seen, letter, seen.board.free().next().unwrap_or(0))
    }
}

/// Always calls Z and writes it on the last free cell, and uses the opponent's letters where they give points.
pub(super) struct ZRacer;

impl Bot<WordRacer> for ZRacer {
    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let z = Letter::from_code(25).unwrap_or(Letter::A);
        let letter = seen.letter.unwrap_or(z);
        let from_the_top = seen.board.free();
        let position = if letter == z {
            from_the_top.last()
        } else {
            // The first of the best cells: letters gather at the top, where they form words.
            let mut best = None;
            for cell in from_the_top {
                let gain = gain(seen.words, seen.board, cell, letter);
                if best.is_none_or(|(most, _)| gain > most) {
                    best = Some((gain, cell));
                }
            }
            best.map(|(_, cell)| cell)
        };
        answer(seen, letter, position.unwrap_or(0))
    }
}

/// Immediate points of a letter in this cell.
fn gain(words: &WordList, board: &Board, cell: usize, letter: Letter) -> i32 {
    [cell / SIDE, SIDE + cell % SIDE]
        .into_iter()
        .map(|line| {
            let before = board.line(line);
            let mut after = before;
            after[if line < SIDE { cell % SIDE } else { cell / SIDE }] = letter.code();
            line_points(words, after) as i32 - line_points(words, before) as i32
        })
        .sum()
}
