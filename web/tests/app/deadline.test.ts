// Deadlines for submissions.

import { expect, test } from 'vitest';
import { acceptsAt, nextTick, timeLeft } from '../../src/app/deadline';

const deadline = { at: 1_000_000_000, text: '1970-01-12T13:46:40Z', past: false };

test('bots are accepted until the deadline, and without one', () => {
  expect(acceptsAt({ accepts: true, deadline }, deadline.at)).toBe(true);
  expect(acceptsAt({ accepts: true, deadline }, deadline.at + 1)).toBe(false);
  expect(acceptsAt({ accepts: true, deadline: null }, deadline.at + 1)).toBe(true);
  expect(acceptsAt({ accepts: false, deadline: null }, 0)).toBe(false);
});

test('countdown shows the two largest units and ends at the deadline', () => {
  expect(timeLeft(deadline, deadline.at - 90_000_000)).toBe('1 d 1 h');
  expect(timeLeft(deadline, deadline.at - 61_000)).toBe('1 min 1 s');
  expect(timeLeft(deadline, deadline.at + 1)).toBe('');
});

test('countdown runs by the second in the last hour', () => {
  expect(nextTick(deadline, deadline.at - 3_599_000)).toBe(1_000);
  expect(nextTick(deadline, deadline.at - 7_200_000)).toBe(30_000);
});
