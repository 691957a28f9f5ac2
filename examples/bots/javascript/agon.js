// Talks to Agon for your bot: one JSON object per line on stdin and on stdout (the protocol is in docs/protocol.md of Agon).
//
// You need not change this file. Write debug output with console.error, never with console.log: stdout is for answers
// only.
'use strict';

// Random choices that repeat with the seed. (xorshift32: small, and the same in every language.)
class Random {
  constructor(seed) {
    this.state = Number(BigInt(seed) % 4294967296n) || 1;
  }

  // A random element of the options.
  choice(options) {
    let x = this.state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.state = x >>> 0;
    return options[this.state % options.length];
  }
}

// Plays until the engine says bye or closes stdin. `bot` is an object with
//   turn(seen, random)  returns an answer; `seen` is the observation
// and optionally
//   hello(message)      called once, first: the game, the role
//   start(message)      a game starts
//   end()               the game has ended
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
