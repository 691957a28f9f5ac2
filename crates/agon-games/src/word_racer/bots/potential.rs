//! Bots that evaluate each line separately: the words that still fit, and their missing letters.

use std::collections::HashMap;

use agon_core::{Bot, FastRng};

use super::simple::answer;
use crate::word_racer::board::{EMPTY, Line, SIDE};
use crate::word_racer::scoring::POINTS;
use crate::word_racer::words::Prefix;
use crate::word_racer::{Answer, Letter, Observation, WordList, WordRacer};

/// Maximum number of missing letters of a word that is considered.
const MAX_MISSING: usize = 2;

/// Weight of a word's points by its number of missing letters.
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

    /// Increase of the board's potential by this letter in this cell.
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
                // Small noise decides ties.
                let gain = self.gain(seen, cell, letter) + self.rng.unit() as f32 * 1e-3;
                if gain > best.0 {
                    best = (gain, letter, cell);
                }
            }
        }
        answer(seen, best.1, best.2)
    }
}

/// Best set of non-overlapping words that are complete or may be completed, each with its weighted points.
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
            // Many matching words are easier to complete than one.
            let choice = if missing == 0 { 1.0 } else { 1.0 + 0.17 * log2(fits[end]) };
            most = most.max(
                f32::from(POINTS[end - start]) * (COMPLETION_WEIGHTS[missing] * choice).min(1.0) + best[end],
            );
        }
        best[start] = most;
    }
    best[0]
}

/// Piecewise linear logarithm to base 2, because the library's differs between machines.
fn log2(n: u32) -> f32 {
    let whole = n.max(1).ilog2();
    whole as f32 + n as f32 / (1u32 << whole) as f32 - 1.0
}

/// Counts, by their end, the words that extend a prefix, fit the line and miss few letters.
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
