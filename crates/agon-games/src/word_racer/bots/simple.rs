//! Bots that hardly think: any cell, the next cell, or what gives points right now.

use agon_core::{Bot, FastRng};

use crate::word_racer::board::{Board, SIDE};
use crate::word_racer::{Answer, Letter, Observation, WordList, WordRacer, line_points};

/// Writes a letter where a bot wants it: the answer to either request.
pub(super) const fn answer(seen: &Observation<'_>, letter: Letter, position: usize) -> Answer {
    let position = position as u32;
    match seen.letter {
        Some(_) => Answer::Place { position },
        None => Answer::Call { letter, position },
    }
}

/// Any letter, anywhere.
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

/// Common letters in turn, each into the next free cell.
pub(super) struct Filler;

impl Bot<WordRacer> for Filler {
    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        const COMMON: [char; 8] = ['E', 'S', 'A', 'T', 'O', 'R', 'I', 'N'];
        let letter = Letter::read(COMMON[seen.turn / 2 % COMMON.len()]).unwrap_or(Letter::A);
        answer(seen, letter, seen.board.free().next().unwrap_or(0))
    }
}

/// Always calls Z, puts it out of the way, and hopes that the other calls something useful.
pub(super) struct ZRacer;

impl Bot<WordRacer> for ZRacer {
    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let z = Letter::from_code(25).unwrap_or(Letter::A);
        let letter = seen.letter.unwrap_or(z);
        let from_the_top = seen.board.free();
        let position = if letter == z {
            from_the_top.last()
        } else {
            // The first of the best: letters gather at the top, where they meet each other.
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

/// The points a letter gives at once, here.
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
