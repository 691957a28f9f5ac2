// starter-bot: FILL IN: how it plays.
'use strict';

const { run } = require('./agon.js');

run({
  turn(seen) {
    // Your idea goes here: FILL IN: what to think about.
    return '1';
  },
});
