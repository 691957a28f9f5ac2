// A bot for all five games: any legal answer, drawn with the seed it is given.
//
// It speaks the JSON-lines protocol of docs/protocol.md: one JSON object a line on stdin, one on stdout.
// Print what you want to know with console.error, never with console.log.
'use strict';

// xorshift32: tiny, and the same in every language.
class Random {
  constructor(seed) {
    this.state = Number(BigInt(seed) % 4294967296n) || 1;
  }

  choice(options) {
    let x = this.state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.state = x >>> 0;
    return options[this.state % options.length];
  }
}

const games = {
  'solitude-scramble': (seen, rng) => rng.choice(['LEFT', 'RIGHT', 'CENTER']),

  'colour-battle': (seen, rng) => rng.choice(['UP', 'DOWN', 'LEFT', 'RIGHT']),

  'connect-five': (seen, rng) => {
    const columns = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    return rng.choice(columns.filter((column) => seen.board[0][column] === 0));
  },

  'hide-and-seek': (seen, rng) => {
    const [x, y] = seen.pos;
    const steps = { LEFT: [x - 1, y], RIGHT: [x + 1, y], UP: [x, y - 1], DOWN: [x, y + 1] };
    const isEmpty = ([x, y]) => (seen.game_map[x] ?? [])[y] === 0;
    const legal = Object.keys(steps).filter((word) => isEmpty(steps[word]));
    return rng.choice(legal.length > 0 ? legal : ['STAY']);
  },

  'word-racer': (seen, rng) => {
    const free = [...seen.board].flatMap((cell, position) => (cell === '.' ? [position] : []));
    const position = rng.choice(free);
    return seen.letter === null ? `${rng.choice('ETAOINSHRDLU')} ${position}` : position;
  },
};

let play = null;
let rng = new Random('1');

function reply(message) {
  switch (message.type) {
    case 'hello':
      play = games[message.game];
      return { id: message.id };
    case 'start':
      rng = new Random(message.seed);
      return { id: message.id };
    case 'turn':
      return { id: message.id, answer: play(message.observation, rng) };
    default:
      return { id: message.id };
  }
}

require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.type === 'bye') process.exit(0);
  process.stdout.write(JSON.stringify(reply(message)) + '\n');
});
