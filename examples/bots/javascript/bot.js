// A bot for all five games: a random legal answer. The seed from the engine decides.
'use strict';

const { run } = require('./agon.js');

const games = {
  'solitude-scramble': (seen, random) => random.choice(['LEFT', 'RIGHT', 'CENTER']),

  'colour-battle': (seen, random) => random.choice(['UP', 'DOWN', 'LEFT', 'RIGHT']),

  'connect-five': (seen, random) => {
    const columns = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    return random.choice(columns.filter((column) => seen.board[0][column] === 0));
  },

  'hide-and-seek': (seen, random) => {
    const [x, y] = seen.pos;
    const steps = { LEFT: [x - 1, y], RIGHT: [x + 1, y], UP: [x, y - 1], DOWN: [x, y + 1] };
    const isEmpty = ([x, y]) => (seen.game_map[x] ?? [])[y] === 0;
    const legal = Object.keys(steps).filter((word) => isEmpty(steps[word]));
    return random.choice(legal.length > 0 ? legal : ['STAY']);
  },

  'word-racer': (seen, random) => {
    const free = [...seen.board].flatMap((cell, position) => (cell === '.' ? [position] : []));
    const position = random.choice(free);
    return seen.letter === null ? `${random.choice('ETAOINSHRDLU')} ${position}` : position;
  },
};

const bot = {
  hello(message) {
    this.turn = games[message.game];
  },
};

run(bot);
