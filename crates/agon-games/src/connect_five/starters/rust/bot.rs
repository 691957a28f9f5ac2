//! starter-bot: wins if it can, blocks if it must, and otherwise stays near the middle.
//!
//! One process plays all games of a match.

mod agon;

use agon::{Answer, Bot, Json, Random};

const ROWS: usize = 7;

/// A piece near the middle is part of more lines.
const FAVOURITES: [usize; 9] = [4, 3, 5, 2, 6, 1, 7, 0, 8];

/// `board[0]` is the top row; 0 is empty, 1 and 2 are the players.
type Board = Vec<Vec<i64>>;

struct MyBot;

impl Bot for MyBot {
    fn turn(&mut self, seen: &Json, _random: &mut Random) -> Answer {
        let board = seen.get("board").grid();
        let player = seen.get("player").whole();
        let legal: Vec<usize> = FAVOURITES.into_iter().filter(|&column| board[0][column] == 0).collect();
        for who in [player, 3 - player] {
            if let Some(&column) = legal.iter().find(|&&column| wins(&board, column, who)) {
                return column.into();
            }
        }
        // Your idea goes here: look further ahead, or find out which two columns are special.
        let safe = legal.iter().find(|&&column| !helps(&board, column, player));
        (*safe.unwrap_or(&legal[0])).into()
    }

    fn end(&mut self) {
        // The game is finished: learn from it here. You have 10 seconds.
    }
}

/// The row where a piece dropped into this column lands, if it is not full.
fn landing_row(board: &Board, column: usize) -> Option<usize> {
    (0..ROWS).rev().find(|&row| board[row][column] == 0)
}

/// Whether a piece dropped into this column makes five in a line.
fn wins(board: &Board, column: usize, player: i64) -> bool {
    let Some(row) = landing_row(board, column) else { return false };
    [(0, 1), (1, 0), (1, 1), (1, -1)].into_iter().any(|(down, right)| {
        let before = follow(board, row, column, -down, -right, player);
        1 + before + follow(board, row, column, down, right, player) >= 5
    })
}

/// Number of consecutive pieces of a player from a cell in one direction.
fn follow(board: &Board, row: usize, column: usize, down: isize, right: isize, player: i64) -> usize {
    let cell = |steps: isize| {
        let row = row.checked_add_signed(steps * down)?;
        board.get(row)?.get(column.checked_add_signed(steps * right)?)
    };
    (1..).take_while(|&steps| cell(steps) == Some(&player)).count()
}

/// Whether my piece in this column lets the opponent win on top of it.
fn helps(board: &Board, column: usize, player: i64) -> bool {
    let mut after = board.clone();
    match landing_row(board, column) {
        None | Some(0) => false,
        Some(row) => {
            after[row][column] = player;
            wins(&after, column, 3 - player)
        }
    }
}

fn main() {
    agon::run(&mut MyBot);
}
