// starter-bot: wins if it can, blocks if it must, and otherwise stays near the middle.
//
// One process plays all games of a match.
'use strict';

const { run } = require('./agon.js');

const ROWS = 7;

// A piece near the middle is part of more lines.
const FAVOURITES = [4, 3, 5, 2, 6, 1, 7, 0, 8];

// The row where a piece dropped into this column lands; -1 if it is full.
function landingRow(board, column) {
  let row = ROWS - 1;
  while (row >= 0 && board[row][column] !== 0) row -= 1;
  return row;
}

// Number of consecutive pieces of a player from a cell in one direction.
function follow(board, row, column, down, right, player) {
  let length = 0;
  for (let r = row + down, c = column + right; board[r]?.[c] === player; r += down, c += right) length += 1;
  return length;
}

// Whether a piece dropped into this column makes five in a line.
function wins(board, column, player) {
  const row = landingRow(board, column);
  return [[0, 1], [1, 0], [1, 1], [1, -1]].some(([down, right]) => {
    const before = follow(board, row, column, -down, -right, player);
    return 1 + before + follow(board, row, column, down, right, player) >= 5;
  });
}

// Whether my piece in this column lets the opponent win on top of it.
function helps(board, column, player) {
  const row = landingRow(board, column);
  if (row === 0) return false;
  board[row][column] = player;
  const helped = wins(board, column, 3 - player);
  board[row][column] = 0;
  return helped;
}

run({
  // board[0] is the top row; 0 is empty, 1 and 2 are the players, `player` is your number.
  turn({ board, player }) {
    const legal = FAVOURITES.filter((column) => board[0][column] === 0);
    for (const who of [player, 3 - player]) {
      const column = legal.find((column) => wins(board, column, who));
      if (column !== undefined) return column;
    }
    // Your idea goes here: look further ahead, or find out which two columns are special.
    return legal.find((column) => !helps(board, column, player)) ?? legal[0];
  },

  end() {
    // The game is finished: learn from it here. You have 10 seconds.
  },
});
