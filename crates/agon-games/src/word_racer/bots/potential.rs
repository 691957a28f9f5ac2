//! Bots that look at each line for itself: how many words still fit, and how many letters they want.

use std::collections::HashMap;

use agon_core::{Bot, FastRng};

use super::simple::answer;
use crate::word_racer::board::{EMPTY, Line, SIDE};
use crate::word_racer::scoring::POINTS;
use crate::word_racer::words::Prefix;
use crate::word_racer::{Answer, Letter, Observation, WordList, WordRacer};

/// Words that want more letters than this are not counted on.
const MAX_MISSING: usize = 2;

/// What a word is worth by the number of letters it still wants, in parts of its points.
const COMPLETION_WEIGHTS: [f32; MAX_MISSING + 1] = [1.0, 0.45, 0.12];

/// Greedy on the potential of rows, or of rows and columns.
pub(super) struct Potential {
    columns: bool,
    rng: FastRng,
    cache: HashMap<Line, f32>,
}

impl Potential {
    pub(super) fn new(columns: bool) -> Self {
        Self { columns, rng: FastRng::new(0), cache: HashMap::new() }
    }

    fn line_potential(&mut self, words: &WordList, line: Line) -> f32 {
        *self.cache.entry(line).or_insert_with(|| potential(words, line))
    }

    /// By how much the board's potential grows with this letter in this cell.
    fn gain(&mut self, seen: &Observation<'_>, cell: usize, letter: Letter) -> f32 {
        let (row, column) = (cell / SIDE, cell % SIDE);
        let mut total = 0.0;
        for (line, index) in [(row, column), (SIDE + column, row)] {
            if line >= SIDE && !self.columns {
                continue;
            }
            let before = seen.board.line(line);
            let mut after = before;
            after[index] = letter.code();
            total += self.line_potential(seen.words, after) - self.line_potential(seen.words, before);
        }
        total
    }
}

impl Bot<WordRacer> for Potential {
    fn begin(&mut self, seed: u64) {
        self.rng = FastRng::new(seed);
    }

    fn answer(&mut self, seen: &Observation<'_>) -> Answer {
        let free: Vec<usize> = seen.board.free().collect();
        let mut best = (f32::MIN, Letter::A, 0);
        for letter in Letter::all().filter(|&letter| seen.letter.is_none_or(|called| called == letter)) {
            for &cell in &free {
                // A hair of chance between equals.
                let gain = self.gain(seen, cell, letter) + self.rng.unit() as f32 * 1e-3;
                if gain > best.0 {
                    best = (gain, letter, cell);
                }
            }
        }
        answer(seen, best.1, best.2)
    }
}

/// The best set of non-overlapping words that are there or may come, each worth its points times hope.
fn potential(words: &WordList, line: Line) -> f32 {
    let mut best = [0.0f32; SIDE + 1];
    for start in (0..SIDE).rev() {
        let mut fits = [0u32; SIDE + 1];
        count(words, line, WordList::start(), start, 0, &mut fits);
        let mut most = best[start + 1];
        let mut missing = 0;
        for end in start + 1..=SIDE {
            missing += usize::from(line[end - 1] == EMPTY);
            if fits[end] == 0 || missing > MAX_MISSING {
                continue;
            }
            // Many words to choose from are easier to complete than one.
            let choice = if missing == 0 { 1.0 } else { 1.0 + 0.17 * log2(fits[end]) };
            most = most.max(
                f32::from(POINTS[end - start]) * (COMPLETION_WEIGHTS[missing] * choice).min(1.0) + best[end],
            );
        }
        best[start] = most;
    }
    best[0]
}

/// The logarithm to base 2, straight between powers: the library's is not the same on every machine.
fn log2(n: u32) -> f32 {
    let whole = n.max(1).ilog2();
    whole as f32 + n as f32 / (1u32 << whole) as f32 - 1.0
}

/// Counts by their end the words that go on from a prefix, fit the line and want few letters.
fn count(
    words: &WordList,
    line: Line,
    prefix: Prefix,
    place: usize,
    missing: usize,
    fits: &mut [u32; SIDE + 1],
) {
    if words.is_word(prefix) {
        fits[place] += 1;
    }
    let Some(&code) = line.get(place) else { return };
    if code != EMPTY {
        if let Some(longer) = words.follow(prefix, code) {
            count(words, line, longer, place + 1, missing, fits);
        }
    } else if missing < MAX_MISSING {
        for code in 0..EMPTY {
            if let Some(longer) = words.follow(prefix, code) {
                count(words, line, longer, place + 1, missing + 1, fits);
            }
        }
    }
}
