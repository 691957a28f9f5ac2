import { describe, expect, test } from 'vitest';
import { extendFilm, filmProblem, FrameIndex, type Film, type FilmPart } from '../src/film';
import { splitFilm } from './split_film';

/** Test film: the frame after turn n is `{n, list: [n, ...]}`. The seats answer alternately. */
function countingFilm(turns: number): Film {
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

describe('FrameIndex', () => {
  test('frame returns every turn in any order', () => {
    const frames = new FrameIndex(countingFilm(100));
    const order = [100, 0, 50, 49, 48, 51, 99, 17, 16, 15, 1, 100, 33];
    for (const turn of order) expect((frames.frame(turn) as { n: number }).n).toBe(turn);
    for (let turn = 0; turn <= 100; turn += 1) {
      const forwards = new FrameIndex(countingFilm(turn)).frame(turn);
      expect(frames.frame(turn), `turn ${turn}`).toEqual(forwards);
    }
  });

  test('frame clamps the turn to the film', () => {
    const frames = new FrameIndex(countingFilm(4));
    expect((frames.frame(-3) as { n: number }).n).toBe(0);
    expect((frames.frame(99) as { n: number }).n).toBe(4);
  });

  test('answerOf returns the token and the charged time', () => {
    const frames = new FrameIndex(countingFilm(8));
    expect(frames.answerOf(1, 0)).toEqual({ token: '1', micros: 10 });
    expect(frames.answerOf(1, 1), 'the seat was not asked').toBeUndefined();
    expect(frames.answerOf(4, 1)).toEqual({ token: '4', micros: 40 });
    expect(frames.answerOf(6, 1), 'the seat is out of the game').toEqual({ token: '-', micros: undefined });
    expect(frames.answerOf(8, 1), 'a skipped turn has no time').toEqual({ token: '8', micros: 80 });
    expect(frames.answerOf(0, 0)).toBeUndefined();
  });

  test('answerOf without movers assumes that all seats answer', () => {
    const film = { ...countingFilm(1), answers: ['L R'] };
    delete film.movers;
    expect(new FrameIndex(film).answerOf(1, 1)?.token).toBe('R');
  });

  test('nextFaultTurn searches in both directions', () => {
    const frames = new FrameIndex(countingFilm(10));
    expect(frames.faultTurns).toEqual([3, 7]);
    expect(frames.nextFaultTurn(0, 1)).toBe(3);
    expect(frames.nextFaultTurn(3, 1)).toBe(7);
    expect(frames.nextFaultTurn(7, 1)).toBeUndefined();
    expect(frames.nextFaultTurn(7, -1)).toBe(3);
    expect(frames.faults(3)).toHaveLength(2);
  });
});

describe('extendFilm', () => {
  const whole = (): Film => {
    const film = countingFilm(40);
    film.micros = [Array.from({ length: 20 }, (_, i) => 2 * i), Array.from({ length: 19 }, (_, i) => 2 * i + 1)];
    film.faults = [...film.faults].sort((a, b) => a.turn - b.turn);
    film.standing = { of: 'points', lines: [Array.from({ length: 41 }, (_, i) => i)] };
    return film;
  };

  test.each([[0, 1], [3, 4], [17, 16], [40, 1]])('head of %i turns with parts of %i turns becomes the whole film', (first, size) => {
    const { head, parts } = splitFilm(whole(), first, size);
    let frames = new FrameIndex(head);
    expect(frames.film.live).toBe(true);
    expect(frames.last).toBe(first);
    for (const part of parts) {
      frames = new FrameIndex(extendFilm(frames.film, part) as Film, frames);
      expect((frames.frame(frames.last) as { n: number }).n).toBe(frames.last);
      const seat = (frames.last + 1) % 2;
      if (frames.last !== 6 && frames.last > 0) expect(frames.answerOf(frames.last, seat)).toEqual(new FrameIndex(whole()).answerOf(frames.last, seat));
    }
    expect(frames.film).toEqual(whole());
    expect(frames.faultTurns).toEqual([3, 7]);
    for (let turn = 0; turn <= 40; turn += 1) expect(frames.frame(turn)).toEqual(new FrameIndex(whole()).frame(turn));
  });

  test('known turns are skipped, a gap returns undefined, and the film is not modified', () => {
    const { head, parts } = splitFilm(whole(), 10, 5);
    const before = structuredClone(head);
    const more = extendFilm(head, parts[0] as FilmPart) as Film;
    expect(head).toEqual(before);
    expect(extendFilm(more, parts[0] as FilmPart)).toEqual(more);
    expect(extendFilm(more, { ...(parts[1] as FilmPart), from: 14, turns: [...(parts[0]?.turns.slice(3) ?? []), ...(parts[1]?.turns ?? [])] })?.deltas).toHaveLength(20);
    expect(extendFilm(more, parts[2] as FilmPart)).toBeUndefined();
  });

  test('movers appear from the first turn in which not all seats answer', () => {
    const film: Film = { ...countingFilm(0), live: true, answers: [], movers: undefined as never, micros: [[], []], faults: [] };
    delete film.movers;
    const turn = { delta: { n: 1 }, standing: [] };
    const all = extendFilm(film, { from: 1, turns: [{ ...turn, answers: 'a b', micros: [1, 2] }] }) as Film;
    expect(all.movers).toBeUndefined();
    const one = extendFilm(all, { from: 2, turns: [{ ...turn, answers: 'c', movers: [1], micros: [3] }] }) as Film;
    expect(one.movers).toEqual([[0, 1], [1]]);
    expect(one.micros).toEqual([[1], [2, 3]]);
  });
});

test('filmProblem rejects other values and newer versions', () => {
  expect(filmProblem(countingFilm(1))).toBeUndefined();
  expect(filmProblem({ ...countingFilm(1), version: 2 })).toBe('newer');
  for (const wrong of [undefined, null, 7, 'film', {}, { agon: 'record', version: 1 }, { agon: 'film', version: 1 }])
    expect(filmProblem(wrong)).toBe('not-a-film');
});
