// starter-bot: moves to the nearest tile that its number can paint.
'use strict';

const { run } = require('./agon.js');

// Whether a tile becomes mine when I step on it.
function isPaintable(mine, floor) {
  return floor === 0 || (floor !== mine && (((mine - floor) % 3) + 3) % 3 === 2);
}

// The first step towards a target. Even numbers move along x first, odd numbers along y, so that two bots with
// the same strategy separate.
function step(mine, dx, dy) {
  if (dx !== 0 && (dy === 0 || mine % 2 === 0)) return dx > 0 ? 'RIGHT' : 'LEFT';
  return dy > 0 ? 'UP' : 'DOWN';
}

run({
  turn(seen) {
    const [x, y] = seen.position;
    const size = seen.game_info.grid_size;
    // Your idea goes here: which tile is the best target? Which bots are near it, and which can paint over it?
    let nearest = Infinity;
    let answer = 'STAY';
    for (let there = 0; there < size * size; there += 1) {
      const dx = (there % size) - x;
      const dy = Math.floor(there / size) - y;
      const distance = Math.abs(dx) + Math.abs(dy);
      // My current tile is already painted.
      if (distance > 0 && distance < nearest && isPaintable(seen.id, seen.grid[y + dy][x + dx])) {
        nearest = distance;
        answer = step(seen.id, dx, dy);
      }
    }
    return answer;
  },
});
