// Talks to Agon for your bot: one JSON object a line on stdin, one on stdout (the protocol is docs/protocol.md of Agon).
//
// You need not change this file. Print what you want to know with console.error, never with console.log: stdout is for
// answers alone.
'use strict';

// Chance that repeats: the same seed gives the same choices. (xorshift32: tiny, and the same in every language.)
class Random {
  constructor(seed) {
    this.state = Number(BigInt(seed) % 4294967296n) || 1;
  }

  // One of the options.
  choice(options) {
    let x = this.state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.state = x >>> 0;
    return options[this.state % options.length];
  }
}

// Plays until there is nothing more to play. `bot` is an object with
//   turn(seen, random)  gives an answer; `seen` is the observation
// and, if it likes,
//   hello(message)      once, first of all: which game, which role
//   start(message)      a game begins
//   end()               the game is over
function run(bot) {
  let random = new Random('1');

  const reply = (message) => {
    switch (message.type) {
      case 'hello':
        bot.hello?.(message);
        break;
      case 'start':
        random = new Random(message.seed);
        bot.start?.(message);
        break;
      case 'turn':
        return { id: message.id, answer: bot.turn(message.observation, random) };
      case 'end':
        bot.end?.();
        break;
    }
    return { id: message.id };
  };

  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.type === 'bye') process.exit(0);
    process.stdout.write(JSON.stringify(reply(message)) + '\n');
  });
}

module.exports = { Random, run };
