import { expect, test } from 'vitest';
import { patch, type Json } from '../src/delta';

// The same cases as in `docs/film.md`.
const CASES: [string, Json, Json, Json][] = [
  ['a plain value replaces the old value', 3, 4, 4],
  ['null replaces the old value', 3, null, null],
  ['object delta keeps other keys', { a: 1, b: 2 }, { b: 3 }, { a: 1, b: 3 }],
  ['object delta adds a key', { a: 1 }, { b: ['=', [1]] }, { a: 1, b: [1] }],
  ['object delta removes a key', { a: 1, b: 2 }, { a: ['-'] }, { b: 2 }],
  ['tag = replaces the whole value', { a: [1] }, { a: ['=', { x: 1 }] }, { a: { x: 1 } }],
  ['tag # changes elements', [1, [2, 3], 4], ['#', 0, 9, 1, ['#', 1, 8]], [9, [2, 8], 4]],
  ['tag + keeps the head and appends a tail', [1, 2, 3], ['+', 1, 7, 8], [1, 7, 8]],
  ['tag + without a tail shortens the list', [1, 2, 3], ['+', 1], [1]],
];

test.each(CASES)('%s', (_, before, delta, after) => {
  const copy = structuredClone(before);
  expect(patch(before, delta)).toEqual(after);
  expect(before, 'the old frame is not modified').toEqual(copy);
});

test('patch leaves the value unchanged if the delta does not fit', () => {
  expect(patch([1, 2], ['#', 7, 1, 'x', 2])).toEqual([1, 2]);
  expect(patch(5, ['#', 0, 1])).toBe(5);
  expect(patch(5, ['+', 0, 1])).toBe(5);
  expect(patch(5, { a: 1 })).toBe(5);
  expect(patch(5, ['?'])).toBe(5);
  expect(patch(5, [])).toBe(5);
});
