// starter-bot: expects the others to do what they have done before, and goes where it is most likely to be alone.
//
// Every turn is played by a process of its own: nothing is kept. All there is to know is in the observation.
'use strict';

const { run } = require('./agon.js');

const MOVES = ['LEFT', 'RIGHT', 'CENTER'];

// Where a move leads, by the side a bot stands on this turn.
const PLATFORMS = {
  NORTH: { LEFT: 'NE', RIGHT: 'NW', CENTER: 'CENTER' },
  EAST: { LEFT: 'SE', RIGHT: 'NE', CENTER: 'CENTER' },
  SOUTH: { LEFT: 'SW', RIGHT: 'SE', CENTER: 'CENTER' },
  WEST: { LEFT: 'NW', RIGHT: 'SW', CENTER: 'CENTER' },
};

// How likely the bot at a seat goes to this platform, judged by its moves so far.
function chanceOf(seat, platform, seen) {
  // Every move counts once before the match, so that nothing is impossible.
  const counts = { LEFT: 1, RIGHT: 1, CENTER: 1 };
  for (const turn of seen.history) {
    const move = turn.moves[seat];
    if (move in counts) counts[move] += 1; // "NONE" for a bot that made no move
  }
  const leads = PLATFORMS[seen.sides[seat]];
  const there = MOVES.filter((move) => leads[move] === platform).reduce((sum, move) => sum + counts[move], 0);
  return there / (counts.LEFT + counts.RIGHT + counts.CENTER);
}

// The platform's points, times the chance to be alone on it.
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
    // Your idea goes here: what is a move worth? What kind of bot is each of the others?
    let best = MOVES[0];
    for (const move of MOVES) {
      if (worth(mine[move], seen) > worth(mine[best], seen)) best = move;
    }
    return best;
  },
});
