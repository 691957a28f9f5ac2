// starter-bot: a seeker that goes where it last saw the hider or searches the room, and a hider that runs away.
//
// The same program plays both roles; seen.role says which.
'use strict';

const { run } = require('./agon.js');

const STEPS = [['LEFT', -1, 0], ['RIGHT', 1, 0], ['UP', 0, -1], ['DOWN', 0, 1]];
const FAR = 1000;

// The possible steps from a cell: [word, x, y].
function steps(map, [x, y]) {
  return STEPS.map(([word, dx, dy]) => [word, x + dx, y + dy]).filter(([, x, y]) => map[x]?.[y] === 0);
}

// Number of steps from a cell to each other cell: ways[x][y].
function distances(map, start) {
  const ways = map.map((column) => column.map(() => FAR));
  ways[start[0]][start[1]] = 0;
  const queue = [start];
  for (const [x, y] of queue) {
    for (const [, tx, ty] of steps(map, [x, y])) {
      if (ways[tx][ty] === FAR) {
        ways[tx][ty] = ways[x][y] + 1;
        queue.push([tx, ty]);
      }
    }
  }
  return ways;
}

const same = (a, b) => a !== null && a[0] === b[0] && a[1] === b[1];

const bot = {
  trail: null, // where the seeker expects the hider
  visits: [], // how often the seeker has visited each cell

  start() {
    this.trail = null;
    this.visits = [];
  },

  turn(seen) {
    return seen.role === 'seeker' ? this.seek(seen) : this.hide(seen);
  },

  seek(seen) {
    const map = seen.game_map;
    const [x, y] = seen.pos;
    if (this.visits.length === 0) this.visits = map.map((column) => column.map(() => 0));
    this.visits[x][y] += 1;
    if (seen.enemy_is_visible || seen.step === 1) this.trail = seen.enemy_pos;
    else if (same(this.trail, seen.pos)) this.trail = null; // it is not there
    // Your idea goes here: where can the hider be now? From where would you see most of these cells?
    const ways = distances(map, this.trail ?? this.leastVisited(map, seen.pos));
    let best = ['STAY', x, y];
    for (const step of steps(map, seen.pos)) {
      if (ways[step[1]][step[2]] < ways[best[1]][best[2]]) best = step;
    }
    return best[0];
  },

  // The nearest of the cells that I have visited least often.
  leastVisited(map, here) {
    const ways = distances(map, here);
    let goal = null;
    for (let x = 0; x < map.length; x += 1) {
      for (let y = 0; y < map[x].length; y += 1) {
        if (ways[x][y] === FAR || same(here, [x, y])) continue;
        const rarer = goal === null ? -1 : this.visits[x][y] - this.visits[goal[0]][goal[1]];
        if (rarer < 0 || (rarer === 0 && ways[x][y] < ways[goal[0]][goal[1]])) goal = [x, y];
      }
    }
    return goal ?? here;
  },

  hide(seen) {
    const ways = distances(seen.game_map, seen.enemy_pos);
    // Your idea goes here: being out of sight is better than being far away. Avoid dead ends.
    let best = ['STAY', ...seen.pos];
    for (const step of steps(seen.game_map, seen.pos)) {
      if (ways[step[1]][step[2]] > ways[best[1]][best[2]]) best = step;
    }
    return best[0];
  },
};

run(bot);
