//! Points: the best set of non-overlapping words for each row and each column, computed exactly.

use serde::Serialize;

use super::board::{Board, LINES, Letter, Line, SIDE, cell_of};
use super::words::WordList;

/// Points of a word by its length.
pub const POINTS: [u8; SIDE + 1] = [0, 0, 1, 2, 3, 5, 8, 13];

/// Points of one row or column.
#[inline]
pub fn line_points(words: &WordList, line: Line) -> u32 {
    u32::from(best_from(words, line)[0])
}

/// Points of a whole board.
pub fn board_points(words: &WordList, board: &Board) -> u32 {
    (0..LINES).map(|line| line_points(words, board.line(line))).sum()
}

/// For each place of a line, the maximum points of the places from there on: either the place is skipped, or a word starts
/// there.
#[inline]
fn best_from(words: &WordList, line: Line) -> [u8; SIDE + 1] {
    let mut best = [0; SIDE + 1];
    for start in (0..SIDE - 1).rev() {
        let mut most = best[start + 1];
        let mut next = words.prefix_of_pair(line[start], line[start + 1]);
        let mut end = start + 2;
        while let Some(prefix) = next {
            if words.is_word(prefix) {
                most = most.max(POINTS[end - start] + best[end]);
            }
            next = if end < SIDE { words.follow(prefix, line[end]) } else { None };
            end += 1;
        }
        best[start] = most;
    }
    best
}

/// The empty positions where a letter brings the most points.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct BestPlaces {
    /// Points that it brings there. 0 if it brings none anywhere.
    pub points: u32,
    /// The positions. Empty if the letter brings no points.
    pub cells: Vec<usize>,
}

/// Where a letter brings the most points on a board.
pub fn best_places(words: &WordList, board: &Board, letter: Letter) -> BestPlaces {
    let mut best = BestPlaces::default();
    for cell in board.free() {
        let mut with_letter = *board;
        with_letter.put(cell, letter);
        let crossing = [cell / SIDE, SIDE + cell % SIDE];
        let points = |board: &Board| -> u32 {
            crossing.iter().map(|&line| line_points(words, board.line(line))).sum()
        };
        let gained = points(&with_letter).saturating_sub(points(board));
        if gained > best.points {
            best = BestPlaces { points: gained, cells: vec![cell] };
        } else if gained > 0 && gained == best.points {
            best.cells.push(cell);
        }
    }
    best
}

/// A counted word.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FoundWord {
    /// The word.
    pub word: String,
    /// Row (0 to 6), or 7 plus the column.
    pub line: usize,
    /// Position of the first letter.
    pub start: usize,
    /// Positions of all letters.
    pub cells: Vec<usize>,
    /// Points of the word.
    pub points: u8,
}

/// Counted words of a board, rows first. If several sets give the same points, the set with the longest word furthest to the left
/// (or top) is returned.
pub fn found_words(words: &WordList, board: &Board) -> Vec<FoundWord> {
    (0..LINES).flat_map(|line| found_in_line(words, board, line)).collect()
}

fn found_in_line(words: &WordList, board: &Board, line: usize) -> Vec<FoundWord> {
    let codes = board.line(line);
    let best = best_from(words, codes);
    let mut found = Vec::new();
    let mut start = 0;
    while start < SIDE {
        let ends = word_ends(words, codes, start);
        let end = ends.into_iter().rev().find(|&end| POINTS[end - start] + best[end] == best[start]);
        let Some(end) = end else {
            start += 1;
            continue;
        };
        let cells: Vec<usize> = (start..end).map(|i| cell_of(line, i)).collect();
        let word = cells.iter().filter_map(|&cell| board.get(cell)).map(Letter::to_char).collect();
        found.push(FoundWord { word, line, start: cell_of(line, start), cells, points: POINTS[end - start] });
        start = end;
    }
    found
}

/// Ends of the words that start at this place (one past their last letter), shortest first.
fn word_ends(words: &WordList, line: Line, start: usize) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut prefix = WordList::start();
    for (place, &code) in line.iter().enumerate().skip(start) {
        let Some(longer) = words.follow(prefix, code) else { break };
        prefix = longer;
        if words.is_word(prefix) {
            ends.push(place + 1);
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::super::board::EMPTY;
    use super::*;

    fn line(text: &str) -> Line {
        let mut codes = [EMPTY; SIDE];
        for (code, character) in codes.iter_mut().zip(text.chars()) {
            *code = Letter::read(character).map_or(EMPTY, Letter::code);
        }
        codes
    }

    #[test]
    fn best_places_are_those_where_a_letter_brings_the_most_points() {
        let list = WordList::read("t", b"CAR\nCARE\nEAR\nAT").unwrap();
        let mut board = Board::EMPTY;
        for (cell, letter) in [(0, 'C'), (1, 'A'), (2, 'R')] {
            board.put(cell, Letter::read(letter).unwrap());
        }
        // CAR gives 2 points, CARE 3. A second E below R would give none.
        let best = best_places(&list, &board, Letter::read('E').unwrap());
        assert_eq!(best, BestPlaces { points: 1, cells: vec![3] });
        // A T makes AT only in the column of the A: in its row the R follows.
        let best = best_places(&list, &board, Letter::read('T').unwrap());
        assert_eq!(best, BestPlaces { points: 1, cells: vec![8] });
        assert_eq!(best_places(&list, &board, Letter::read('Z').unwrap()), BestPlaces::default());
    }

    #[test]
    fn line_points_uses_the_best_set_even_without_the_longest_word() {
        // Greedy takes BCDE (3) and leaves AB, EF alone; AB + CD + EF would be 3 too; ABC + DEF is 4.
        let list = WordList::read("t", b"BCDE\nABC\nDEF\nAB").unwrap();
        assert_eq!(line_points(&list, line("ABCDEF.")), 4);
        assert_eq!(line_points(&list, line("XBCDEF.")), 3);
        assert_eq!(line_points(&list, line("AB.CDEF")), 3);
        assert_eq!(line_points(&list, line("AB.CD.F")), 1);
    }
}
