// starter-bot: writes each letter where it gives the most points at once, and calls the letter that gives the most.
//
// Speaks Word Racer's text protocol: letters come on stdin, `LETTER POSITION` or `POSITION` goes to stdout. Print debug
// output with console.error, because stdout is only for answers.
'use strict';

const fs = require('node:fs');

const SIDE = 7;
const EMPTY = '.';
const LETTERS = 'EARIOTNSLCUDPMHGBFYWKVXZJQ'; // most useful first
const POINTS = [0, 0, 1, 2, 3, 5, 8, 13]; // by length

// The valid words, from words.dat in the bot's folder.
function readWords() {
  try {
    return new Set(fs.readFileSync('words.dat', 'utf8').split(/\s+/));
  } catch {
    return new Set(); // the bot plays with no words
  }
}

const words = readWords();
const board = Array(SIDE * SIDE).fill(EMPTY); // row by row

const free = () => [...board.keys()].filter((position) => board[position] === EMPTY);

// Maximum points of the words in this row or column, each cell used once.
function points(line) {
  const best = [0]; // best[end]: maximum for the cells before `end`
  for (let end = 1; end <= SIDE; end += 1) {
    best[end] = best[end - 1];
    for (let start = 0; start < end - 1; start += 1) {
      if (words.has(line.slice(start, end))) best[end] = Math.max(best[end], best[start] + POINTS[end - start]);
    }
  }
  return best[SIDE];
}

// Points of the row and the column of a position.
function pointsAround(position) {
  const start = position - (position % SIDE);
  const row = board.slice(start, start + SIDE).join('');
  const column = board.filter((_, other) => other % SIDE === position % SIDE).join('');
  return points(row) + points(column);
}

// Points that a letter on this position adds at once.
function gain(letter, position) {
  const before = pointsAround(position);
  board[position] = letter;
  const after = pointsAround(position);
  board[position] = EMPTY;
  return after - before;
}

// Position on my board for a letter that the other player called.
function place(letter) {
  // Your idea goes here: keep good cells for long words, and put useless letters aside.
  let best = { position: -1, gain: -1 };
  for (const position of free()) {
    const now = gain(letter, position);
    if (now > best.gain) best = { position, gain: now };
  }
  return best;
}

// The letter that I call, and its position on my board.
function call() {
  // Your idea goes here: plan longer words, and consider the letter's value for the other player.
  let best = { gain: -1 };
  for (const letter of LETTERS) {
    const here = place(letter);
    if (here.gain > best.gain) best = { letter, ...here };
  }
  return best;
}

function myCall() {
  if (free().length === 0) return;
  const { letter, position } = call();
  board[position] = letter;
  process.stdout.write(`${letter} ${position}\n`);
}

let lines = 0;
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  lines += 1;
  const text = line.trim();
  if (lines === 1) {
    board[24] = text;
  } else if (lines === 2) {
    if (text === '1') myCall();
  } else {
    const { position } = place(text);
    board[position] = text;
    process.stdout.write(`${position}\n`);
    myCall();
  }
});
