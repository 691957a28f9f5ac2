// Moments on the time line: changes of the lead, faults, and the captures of each game.

import { describe, expect, test } from 'vitest';
import type { Film } from '../src/film';
import { findSurges } from '../src/games/colour-battle/surges';
import { newThreats, threats } from '../src/games/connect-five/lines';
import { nearMisses, sightings } from '../src/games/hide-and-seek/moments';
import { filmMarks, groupMarks, leadChanges, leaderAt, nextMarkTurn, type Mark } from '../src/marks';

const film = (lines: number[][], faults: Film['faults'] = []): Film => ({
  agon: 'film',
  version: 1,
  game: 'test',
  title: 'Test',
  names: ['ann', 'bob'],
  settings: {},
  first: {},
  deltas: Array.from({ length: (lines[0]?.length ?? 1) - 1 }, () => ({})),
  answers: [],
  micros: [],
  faults,
  standing: { of: 'points', lines },
  outcome: { seats: [], ended: 'over' },
  score: { name: 'points', unit: '', decimals: 0 },
});

describe('changes of the lead', () => {
  test('leaderAt is undefined if several are level', () => {
    expect(leaderAt([[1, 2], [1, 3]], 0)).toBeUndefined();
    expect(leaderAt([[1, 2], [1, 3]], 1)).toBe(1);
  });

  test('the first leader is not a change, a tie neither', () => {
    expect(leadChanges([[0, 1, 1, 2], [0, 0, 1, 1]], 1, true)).toEqual([]);
  });

  test('a change is reported at the first turn of the lead', () => {
    expect(leadChanges([[0, 1, 1, 1, 4], [0, 0, 1, 2, 2]], 1, true)).toEqual([{ turn: 3, seat: 1 }, { turn: 4, seat: 0 }]);
  });

  test('a short lead does not count, except at the end of a finished game', () => {
    const lines = [[0, 5, 5, 5, 5, 5, 5], [0, 0, 6, 0, 0, 0, 6]];
    expect(leadChanges(lines, 2, true)).toEqual([{ turn: 6, seat: 1 }]);
    expect(leadChanges(lines, 2, false)).toEqual([]);
  });
});

describe('marks of a film', () => {
  const fault = { turn: 2, seat: 0, fault: 'crash', says: '' };

  test('marks are in order of turns, and faults come last in a turn', () => {
    const capture: Mark = { turn: 2, kind: 'capture', text: 'raid' };
    const marks = filmMarks(film([[0, 1, 1], [0, 0, 2]], [fault]), true, [capture]);
    expect(marks.map(({ turn, kind, text }) => [turn, kind, text])).toEqual([
      [2, 'lead', 'bob takes the lead'],
      [2, 'capture', 'raid'],
      [2, 'fault', 'ann: crash'],
    ]);
  });

  test('a chart without scores of the seats has no leader', () => {
    expect(filmMarks(film([[9, 1, 5]]), true, [])).toEqual([]);
    expect(filmMarks(film([[0, 1, 1], [0, 0, 2]]), false, [])).toEqual([]);
  });

  test('nextMarkTurn goes in both directions', () => {
    const marks = [3, 3, 8].map((turn): Mark => ({ turn, kind: 'lead', text: '' }));
    expect([nextMarkTurn(marks, 0, 1), nextMarkTurn(marks, 3, 1), nextMarkTurn(marks, 8, 1)]).toEqual([3, 8, undefined]);
    expect([nextMarkTurn(marks, 9, -1), nextMarkTurn(marks, 8, -1), nextMarkTurn(marks, 3, -1)]).toEqual([8, 3, undefined]);
  });

  test('groupMarks joins neighbours of one kind', () => {
    const marks: Mark[] = [
      { turn: 10, kind: 'lead', text: 'a' },
      { turn: 10, kind: 'fault', text: 'b' },
      { turn: 11, kind: 'lead', text: 'c' },
      { turn: 60, kind: 'lead', text: 'd' },
    ];
    expect(groupMarks(marks, 200, 1).map(({ kind, at, texts }) => [kind, at, texts])).toEqual([
      ['lead', 5, ['a', 'c']],
      ['fault', 5, ['b']],
      ['lead', 30, ['d']],
    ]);
  });
});

test('a surge is the stretch in which a bot gains most', () => {
  const flat = Array.from({ length: 101 }, () => 5);
  const rising = Array.from({ length: 101 }, (_, turn) => (turn < 40 ? 5 : Math.min(15, 5 + (turn - 40))));
  const [surge, ...others] = findSurges([flat, rising]);
  expect(surge).toMatchObject({ seat: 1, turns: 8, gain: 8 });
  expect(surge?.turn).toBeGreaterThanOrEqual(40);
  expect(surge?.turn).toBeLessThanOrEqual(44);
  expect(others).toEqual([]);
  expect(findSurges([flat, flat])).toEqual([]);
});

describe('threats', () => {
  const board = (rows: string[]): number[][] => rows.map((row) => [...row].map((cell) => ('.XO'.indexOf(cell))));

  test('a cell that completes five is a threat, open if the next piece lands there', () => {
    const low = threats(board(['.........', '.XXXX.O..']));
    expect(low).toEqual(expect.arrayContaining([{ row: 1, column: 5, player: 1, open: true }, { row: 1, column: 0, player: 1, open: true }]));
    expect(low).toHaveLength(2);
    expect(threats(board(['XX.XX....', 'OO..O....']))).toEqual([{ row: 0, column: 2, player: 1, open: false }]);
  });

  test('lines of both players, diagonals included', () => {
    const found = threats(board(['.........', '...O.....', '..O......', '.O.......', 'O........']));
    expect(found).toEqual([{ row: 0, column: 4, player: 2, open: false }]);
  });

  test('newThreats leaves out those that were there before', () => {
    const before = board(['.........', '.XXXX.O..']);
    expect(newThreats(board(['.X.......', '.XXXX.O..']), before)).toEqual([]);
  });
});

describe('near misses and sightings', () => {
  test('a near miss ends when the hider is away', () => {
    expect(nearMisses([9, 4, 2, 1, 3, 6, 2, 5])).toEqual([{ turn: 3, distance: 1 }, { turn: 6, distance: 2 }]);
    expect(nearMisses([9, 2, 1, 0]), 'a catch is not a miss').toEqual([]);
  });

  test('sightings with a short gap are one', () => {
    const sees = [false, true, true, false, true, false, false, false, true];
    expect(sightings(sees, 3)).toEqual([1, 8]);
    expect(sightings([true, true], 1), 'seen from the start').toEqual([]);
  });
});
