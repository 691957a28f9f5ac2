import { describe, expect, test } from 'vitest';
import { problem, Reel, type Film } from '../src/film';

/** A film that counts: the frame after turn n is `{n, list: [n, ...]}`. Seats answer by turns. */
function counting(turns: number): Film {
  return {
    agon: 'film',
    version: 1,
    game: 'test',
    title: 'Test',
    names: ['a', 'b'],
    settings: {},
    first: { n: 0, list: [0, 0, 0] },
    deltas: Array.from({ length: turns }, (_, i) => ({ n: i + 1, list: ['#', i % 3, i + 1] })),
    answers: Array.from({ length: turns }, (_, i) => (i === 5 ? '-' : `${i + 1}`)),
    movers: Array.from({ length: turns }, (_, i) => [i % 2]),
    micros: [[10, 30, 50], [20, 40, 80]],
    faults: [
      { turn: 7, seat: 0, fault: 'crash', says: 'x' },
      { turn: 3, seat: 0, fault: 'crash', says: 'x' },
      { turn: 3, seat: 1, fault: 'timeout', says: '' },
    ],
    standing: { of: 'points', lines: [] },
    outcome: { seats: [], ended: 'over' },
    score: { name: 'points', unit: '', decimals: 2 },
  };
}

describe('a reel', () => {
  test('gives every frame, in any order', () => {
    const reel = new Reel(counting(100));
    const order = [100, 0, 50, 49, 48, 51, 99, 17, 16, 15, 1, 100, 33];
    for (const turn of order) expect((reel.frame(turn) as { n: number }).n).toBe(turn);
    for (let turn = 0; turn <= 100; turn += 1) {
      const forwards = new Reel(counting(turn)).frame(turn);
      expect(reel.frame(turn), `turn ${turn}`).toEqual(forwards);
    }
  });

  test('stays within the film', () => {
    const reel = new Reel(counting(4));
    expect((reel.frame(-3) as { n: number }).n).toBe(0);
    expect((reel.frame(99) as { n: number }).n).toBe(4);
  });

  test('knows who answered what, and what it took', () => {
    const reel = new Reel(counting(8));
    expect(reel.deed(1, 0)).toEqual({ answer: '1', micros: 10 });
    expect(reel.deed(1, 1), 'was not asked').toBeUndefined();
    expect(reel.deed(4, 1)).toEqual({ answer: '4', micros: 40 });
    expect(reel.deed(6, 1), 'is no longer asked').toEqual({ answer: '-', micros: undefined });
    expect(reel.deed(8, 1), 'a seat that sat out has no time for it').toEqual({ answer: '8', micros: 80 });
    expect(reel.deed(0, 0)).toBeUndefined();
  });

  test('asks everybody when the film names nobody', () => {
    const film = { ...counting(1), answers: ['L R'] };
    delete film.movers;
    expect(new Reel(film).deed(1, 1)?.answer).toBe('R');
  });

  test('finds faults in both directions', () => {
    const reel = new Reel(counting(10));
    expect(reel.faultTurns).toEqual([3, 7]);
    expect(reel.faultFrom(0, 1)).toBe(3);
    expect(reel.faultFrom(3, 1)).toBe(7);
    expect(reel.faultFrom(7, 1)).toBeUndefined();
    expect(reel.faultFrom(7, -1)).toBe(3);
    expect(reel.faults(3)).toHaveLength(2);
  });
});

test('what is no film, or one from the future, is refused', () => {
  expect(problem(counting(1))).toBeUndefined();
  expect(problem({ ...counting(1), version: 2 })).toBe('newer');
  for (const wrong of [undefined, null, 7, 'film', {}, { agon: 'record', version: 1 }, { agon: 'film', version: 1 }])
    expect(problem(wrong)).toBe('not-a-film');
});
