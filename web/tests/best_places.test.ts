// Word Racer: the best places that are left, as the board shows them.

import { expect, test } from 'vitest';
import type { Json } from '../src/delta';
import { FrameIndex, type Film } from '../src/film';
import view, { bestPlaces, type WordRacerFrame } from '../src/games/word-racer/view';

const frame = (more: Partial<WordRacerFrame>): Json =>
  ({ turn: 0, turns: 48, start: 'A', to_move: 0, asked: 'call', calls: '', last: null, boards: ['', ''], words: [[], []], places: [[], []], points: [0, 0], fault: null, result: null, best: null, ...more }) as unknown as Json;

function filmOf(frames: Json[]): FrameIndex {
  const film = { agon: 'film', version: 1, game: 'word-racer', title: '', names: ['ann', 'bob'], settings: {}, first: frames[0], deltas: frames.slice(1).map((one) => ['=', one]), answers: [], micros: [[], []], faults: [], standing: { of: '', lines: [] }, score: { name: '', unit: '', decimals: 0 } };
  return new FrameIndex(film as unknown as Film);
}

const best: [{ points: number; cells: number[] }, { points: number; cells: number[] }] = [{ points: 3, cells: [10, 40] }, { points: 2, cells: [17] }];
const last = { caller: 0, letter: 'T', positions: [12, null] };

test('open places are those of the player who has to write the letter', () => {
  const frames = filmOf([frame({}), frame({ to_move: 1, asked: 'place', calls: 'T', last, places: [[12], []], best })]);
  expect(bestPlaces(frames, 0, 0)).toBeUndefined();
  expect(bestPlaces(frames, 1, 1)).toEqual({ ...best[1], hint: 'open' });
  // The caller has written its letter elsewhere in this turn.
  expect(bestPlaces(frames, 1, 0)).toEqual({ ...best[0], hint: 'missed' });
  expect(view.describe(frames, 1)).toContain('T would bring +3 in row 2, column 4, or elsewhere.');
});

test('nothing is shown after the best place, without points, and for films without this key', () => {
  const placed = (position: number, more: Partial<WordRacerFrame> = {}): FrameIndex => filmOf([frame({}), frame({ to_move: 1, asked: 'place', calls: 'T', last, places: [[position], []], best, ...more })]);
  expect(bestPlaces(placed(40), 1, 0)).toBeUndefined();
  expect(bestPlaces(placed(12, { best: [{ points: 0, cells: [] }, { points: 0, cells: [] }] }), 1, 1)).toBeUndefined();
  expect(bestPlaces(placed(12, { best: undefined }), 1, 0)).toBeUndefined();
  // A turn later the missed place is no longer news.
  const later = filmOf([frame({}), frame({ calls: 'T', places: [[12], []], best }), frame({ to_move: 1, calls: 'T', places: [[12], [17]], best })]);
  expect(bestPlaces(later, 2, 0)).toBeUndefined();
});
