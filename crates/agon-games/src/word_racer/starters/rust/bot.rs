//! starter-bot: writes each letter where it gives the most points at once, and calls the letter that gives the most.
//!
//! Speaks Word Racer's text protocol: letters come on stdin, `LETTER POSITION` or `POSITION` goes to stdout. Print debug
//! output with `eprintln!`, because stdout is only for answers.

use std::collections::HashSet;
use std::io::{BufRead, Write};

const SIDE: usize = 7;
const EMPTY: u8 = b'.';
/// Letters, most useful first.
const LETTERS: &[u8] = b"EARIOTNSLCUDPMHGBFYWKVXZJQ";
/// Points of a word by its length.
const POINTS: [i32; 8] = [0, 0, 1, 2, 3, 5, 8, 13];

struct Choice {
    letter: u8,
    position: usize,
    gain: i32,
}

struct WordRacer {
    words: HashSet<Vec<u8>>,
    /// Cells, row by row.
    board: Vec<u8>,
}

impl WordRacer {
    /// Reads the valid words from words.dat in the bot's folder. Without the file the bot plays with no words.
    fn new() -> Self {
        let text = std::fs::read_to_string("words.dat").unwrap_or_default();
        let words = text.split_whitespace().map(|word| word.as_bytes().to_vec()).collect();
        Self { words, board: vec![EMPTY; SIDE * SIDE] }
    }

    fn is_full(&self) -> bool {
        !self.board.contains(&EMPTY)
    }

    /// The letter that I call, and its position on my board.
    fn call(&mut self) -> Choice {
        // Your idea goes here: plan longer words, and consider the letter's value for the other player.
        let mut best = Choice { letter: b'E', position: 0, gain: -1 };
        for &letter in LETTERS {
            let here = self.place(letter);
            if here.gain > best.gain {
                best = here;
            }
        }
        best
    }

    /// Position on my board for a letter that the other player called.
    fn place(&mut self, letter: u8) -> Choice {
        // Your idea goes here: keep good cells for long words, and put useless letters aside.
        let mut best = Choice { letter, position: 0, gain: -1 };
        for position in 0..self.board.len() {
            if self.board[position] != EMPTY {
                continue;
            }
            let gain = self.gain(letter, position);
            if gain > best.gain {
                best = Choice { letter, position, gain };
            }
        }
        best
    }

    /// Points that a letter on this position adds at once.
    fn gain(&mut self, letter: u8, position: usize) -> i32 {
        let before = self.points_around(position);
        self.board[position] = letter;
        let after = self.points_around(position);
        self.board[position] = EMPTY;
        after - before
    }

    /// Points of the row and the column of a position.
    fn points_around(&self, position: usize) -> i32 {
        let start = position / SIDE * SIDE;
        let column: Vec<u8> = self.board[position % SIDE..].iter().step_by(SIDE).copied().collect();
        self.points(&self.board[start..start + SIDE]) + self.points(&column)
    }

    /// Maximum points of the words in this row or column, each cell used once.
    fn points(&self, line: &[u8]) -> i32 {
        let mut best = [0; SIDE + 1]; // best[end]: maximum for the cells before `end`
        for end in 1..=SIDE {
            best[end] = best[end - 1];
            for start in 0..end - 1 {
                if self.words.contains(&line[start..end]) {
                    best[end] = best[end].max(best[start] + POINTS[end - start]);
                }
            }
        }
        best[SIDE]
    }
}

/// The first letter of the next line, or `None` at the end.
fn read_letter(input: &mut impl BufRead) -> Option<u8> {
    let mut line = String::new();
    input.read_line(&mut line).ok()?;
    line.trim().bytes().next()
}

fn say(line: &str) {
    let mut output = std::io::stdout();
    writeln!(output, "{line}").and_then(|()| output.flush()).expect("stdout can be written");
}

fn main() {
    let mut input = std::io::stdin().lock();
    let mut racer = WordRacer::new();
    let Some(letter) = read_letter(&mut input) else { return };
    racer.board[24] = letter;
    let mut my_call = read_letter(&mut input) == Some(b'1');
    while !racer.is_full() {
        let choice;
        if my_call {
            choice = racer.call();
            say(&format!("{} {}", char::from(choice.letter), choice.position));
        } else {
            let Some(letter) = read_letter(&mut input) else { return };
            choice = racer.place(letter);
            say(&choice.position.to_string());
        }
        racer.board[choice.position] = choice.letter;
        my_call = !my_call;
    }
}
