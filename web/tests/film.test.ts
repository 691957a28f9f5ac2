import { describe, expect, test } from 'vitest';
import { extended, problem, Reel, type Film, type Part } from '../src/film';
import { cut } from './cut';

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

describe('a live film', () => {
  const whole = (): Film => {
    const film = counting(40);
    film.micros = [Array.from({ length: 20 }, (_, i) => 2 * i), Array.from({ length: 19 }, (_, i) => 2 * i + 1)];
    film.faults = [...film.faults].sort((a, b) => a.turn - b.turn);
    film.standing = { of: 'points', lines: [Array.from({ length: 41 }, (_, i) => i)] };
    return film;
  };

  test.each([[0, 1], [3, 4], [17, 16], [40, 1]])('of %i turns and parts of %i more becomes the whole film', (first, size) => {
    const { head, parts } = cut(whole(), first, size);
    let reel = new Reel(head);
    expect(reel.film.live).toBe(true);
    expect(reel.last).toBe(first);
    for (const part of parts) {
      reel = new Reel(extended(reel.film, part) as Film, reel);
      expect((reel.frame(reel.last) as { n: number }).n).toBe(reel.last);
      const seat = (reel.last + 1) % 2;
      if (reel.last !== 6 && reel.last > 0) expect(reel.deed(reel.last, seat)).toEqual(new Reel(whole()).deed(reel.last, seat));
    }
    expect(reel.film).toEqual(whole());
    expect(reel.faultTurns).toEqual([3, 7]);
    for (let turn = 0; turn <= 40; turn += 1) expect(reel.frame(turn)).toEqual(new Reel(whole()).frame(turn));
  });

  test('what it has already is passed over, what leaves a gap is refused, and nothing is changed in place', () => {
    const { head, parts } = cut(whole(), 10, 5);
    const before = structuredClone(head);
    const more = extended(head, parts[0] as Part) as Film;
    expect(head).toEqual(before);
    expect(extended(more, parts[0] as Part)).toEqual(more);
    expect(extended(more, { ...(parts[1] as Part), from: 14, turns: [...(parts[0]?.turns.slice(3) ?? []), ...(parts[1]?.turns ?? [])] })?.deltas).toHaveLength(20);
    expect(extended(more, parts[2] as Part)).toBeUndefined();
  });

  test('names who is asked from the turn on in which that is not everybody', () => {
    const film: Film = { ...counting(0), live: true, answers: [], movers: undefined as never, micros: [[], []], faults: [] };
    delete film.movers;
    const turn = { delta: { n: 1 }, standing: [] };
    const all = extended(film, { from: 1, turns: [{ ...turn, answers: 'a b', micros: [1, 2] }] }) as Film;
    expect(all.movers).toBeUndefined();
    const one = extended(all, { from: 2, turns: [{ ...turn, answers: 'c', movers: [1], micros: [3] }] }) as Film;
    expect(one.movers).toEqual([[0, 1], [1]]);
    expect(one.micros).toEqual([[1], [2, 3]]);
  });
});

test('what is no film, or one from the future, is refused', () => {
  expect(problem(counting(1))).toBeUndefined();
  expect(problem({ ...counting(1), version: 2 })).toBe('newer');
  for (const wrong of [undefined, null, 7, 'film', {}, { agon: 'record', version: 1 }, { agon: 'film', version: 1 }])
    expect(problem(wrong)).toBe('not-a-film');
});
