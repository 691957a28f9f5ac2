// starter-bot: predicts the others from their earlier moves, and goes where it is most likely to be alone.
//
// A new process plays each turn, so nothing is kept. The observation contains everything.
'use strict';

const { run } = require('./agon.js');

const MOVES = ['LEFT', 'RIGHT', 'CENTER'];

// Target of each move, by the side on which a bot stands in this turn.
const PLATFORMS = {
  NORTH: { LEFT: 'NE', RIGHT: 'NW', CENTER: 'CENTER' },
  EAST: { LEFT: 'SE', RIGHT: 'NE', CENTER: 'CENTER' },
  SOUTH: { LEFT: 'SW', RIGHT: 'SE', CENTER: 'CENTER' },
  WEST: { LEFT: 'NW', RIGHT: 'SW', CENTER: 'CENTER' },
};

// Probability that the bot at a seat goes to this platform, estimated from its moves so far.
function chanceOf(seat, platform, seen) {
  // Start each count at 1, so that no move has probability 0.
  const counts = { LEFT: 1, RIGHT: 1, CENTER: 1 };
  for (const turn of seen.history) {
    const move = turn.moves[seat];
    if (move in counts) counts[move] += 1; // "NONE" for a bot that made no move
  }
  const leads = PLATFORMS[seen.sides[seat]];
  const there = MOVES.filter((move) => leads[move] === platform).reduce((sum, move) => sum + counts[move], 0);
  return there / (counts.LEFT + counts.RIGHT + counts.CENTER);
}

// The platform's points, times the probability to be alone on it.
function worth(platform, seen) {
  let chance = 1;
  for (let seat = 0; seat < seen.sides.length; seat += 1) {
    if (seat !== seen.seat) chance *= 1 - chanceOf(seat, platform, seen);
  }
  return seen.platform_scores[platform] * chance;
}

run({
  turn(seen) {
    const mine = PLATFORMS[seen.sides[seen.seat]];
    // Your idea goes here: how valuable is a move? Which strategy does each of the others use?
    let best = MOVES[0];
    for (const move of MOVES) {
      if (worth(mine[move], seen) > worth(mine[best], seen)) best = move;
    }
    return best;
  },
});
