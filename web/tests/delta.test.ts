import { expect, test } from 'vitest';
import { patch, type Json } from '../src/delta';

// The same cases as in `docs/film.md`.
const CASES: [string, Json, Json, Json][] = [
  ['a plain value is the new value', 3, 4, 4],
  ['null is a value', 3, null, null],
  ['keys that are not named stay', { a: 1, b: 2 }, { b: 3 }, { a: 1, b: 3 }],
  ['a key that was not there comes in', { a: 1 }, { b: ['=', [1]] }, { a: 1, b: [1] }],
  ['a key goes', { a: 1, b: 2 }, { a: ['-'] }, { b: 2 }],
  ['a whole value', { a: [1] }, { a: ['=', { x: 1 }] }, { a: { x: 1 } }],
  ['elements change', [1, [2, 3], 4], ['#', 0, 9, 1, ['#', 1, 8]], [9, [2, 8], 4]],
  ['a list keeps its head and gets a tail', [1, 2, 3], ['+', 1, 7, 8], [1, 7, 8]],
  ['a list gets shorter', [1, 2, 3], ['+', 1], [1]],
];

test.each(CASES)('%s', (_, before, delta, after) => {
  const kept = structuredClone(before);
  expect(patch(before, delta)).toEqual(after);
  expect(before, 'a frame is never changed in place').toEqual(kept);
});

test('what does not fit is left as it is', () => {
  expect(patch([1, 2], ['#', 7, 1, 'x', 2])).toEqual([1, 2]);
  expect(patch(5, ['#', 0, 1])).toBe(5);
  expect(patch(5, ['+', 0, 1])).toBe(5);
  expect(patch(5, { a: 1 })).toBe(5);
  expect(patch(5, ['?'])).toBe(5);
  expect(patch(5, [])).toBe(5);
});
