// What the pages compute: words for numbers, cells, scales, brackets, who is shown when.

import { describe, expect, test } from 'vitest';
import { backOff, Refusal, refusalOf } from '../../src/app/api';
import { draw } from '../../src/app/bracket';
import { bars, lines, scale, shares, ticks, told } from '../../src/app/charts';
import { ago, bytes, field, lasting, micros, plain, plural, sentence, whole } from '../../src/app/format';
import { Follower, HOLD_MS, type Shown } from '../../src/app/live';
import { isMatrix, place, shown, span } from '../../src/app/sheet';
import type { Bracket, Column, Sheet } from '../../src/app/types';

describe('words for numbers', () => {
  test('counts', () => {
    expect(plural(1, 'match', 'matches')).toBe('1 match');
    expect(plural(12_345, 'game')).toBe('12\u202f345 games');
    expect(whole(9_999)).toBe('9\u202f999');
    expect(whole(-1_234_567)).toBe('-1\u202f234\u202f567');
  });

  test('sizes, times and how long ago', () => {
    expect([bytes(1023), bytes(1536), bytes(3 * 1024 ** 2)]).toEqual(['1023 B', '1.5 KiB', '3 MiB']);
    expect([micros(0.01), micros(3.14159), micros(999.4), micros(999.6), micros(2_500_000)]).toEqual(['< 0.1 µs', '3.1 µs', '999 µs', '1.00 ms', '2.50 s']);
    expect([lasting(0), lasting(61_000), lasting(90_000_000)]).toEqual(['0 s', '1 min 1 s', '1 d 1 h']);
    const now = 1_800_000_000_000;
    expect([ago(now, now), ago(now - 60_000, now), ago(now - 7_200_000, now), ago(now - 3 * 86_400_000, now)]).toEqual(['just now', '1 minute ago', '2 hours ago', '3 days ago']);
    expect(ago(now - 30 * 86_400_000, now)).toBeUndefined();
    expect(ago(now + 60_000, now)).toBeUndefined();
  });
});

test('names stand in a line of ours without turning it round; a large field is named by its first', () => {
  expect(plain('\u202eevil\u202c na\u2066me')).toBe('evil name');
  expect(plain('Käthe 我的 \u05d0\u05d1')).toBe('Käthe 我的 \u05d0\u05d1');
  expect(field(['a', 'b'])).toBe('a – b');
  expect(field(['a', 'b', 'c', 'd', 'e'])).toBe('a, b, c and 2 others');
});

test('what the server says becomes a sentence', () => {
  expect(['there is no bot 3', 'Why?', ' ok. ', ''].map(sentence)).toEqual(['There is no bot 3.', 'Why?', 'Ok.', '']);
});

describe('cells', () => {
  const column = (more: Partial<Column>): Column => ({ id: 'x', title: 'X', right: true, time: false, kind: 'number', decimals: 2, unit: '', ...more });

  test('are shown as their column says', () => {
    expect(shown(3.14159, column({}))).toBe('3.14');
    expect(shown(12_345, column({ decimals: 0 }))).toBe('12\u202f345');
    expect(shown(-0.001, column({}))).toBe('0.00');
    expect(shown(12.5, column({ unit: '%' }))).toBe('12.50 %');
    expect(shown(12.5, column({ unit: '%', title: 'Score [%]' }))).toBe('12.50');
    expect(shown(1500, column({ kind: 'time' }))).toBe('1.50 ms');
    expect(shown(1500, column({ kind: 'time', title: 'Avg [us]', decimals: 1 }))).toBe('1500.0');
    expect(shown({ low: 1, high: 2 }, column({ kind: 'interval', decimals: 1 }))).toBe('1.0 to 2.0');
    expect(shown(null, column({}))).toBe('');
    expect(shown('none', column({ kind: 'text' }))).toBe('none');
  });

  test('intervals share one scale', () => {
    const rows = [{ entrant: 0, medal: null, interval: { low: 2, high: 6 }, mean: 4 }, { entrant: 1, medal: null, interval: { low: 1, high: 5 }, mean: 3 }, { entrant: 2, medal: null, interval: null, mean: 11 }];
    const on = span(rows, 'interval', 'mean');
    expect(on).toEqual({ low: 1, high: 11 });
    expect(on && [place(1, on), place(6, on), place(11, on)]).toEqual([0, 50, 100]);
    expect(span([], 'interval', 'mean')).toBeUndefined();
    expect(span([{ entrant: 0, medal: null, interval: null, mean: 3 }], 'interval', 'mean')).toEqual({ low: 2, high: 4 });
  });

  test('a table of all pairs is known by its columns', () => {
    const sheet = (columns: Column[]): Sheet => ({ id: 's', title: '', official: false, columns, rows: [], notes: [] });
    expect(isMatrix(sheet([column({ id: 'name' }), column({ id: 'against_3' })]))).toBe(true);
    expect(isMatrix(sheet([column({ id: 'name' })]))).toBe(false);
  });
});

describe('charts', () => {
  test('ticks are round and few', () => {
    expect(ticks(0, 10)).toEqual([0, 2, 4, 6, 8, 10]);
    expect(ticks(1039, 1754, 5)).toEqual([1200, 1400, 1600]);
    expect(ticks(3, 3)).toEqual([3]);
    expect(ticks(0, 0.3).every((x) => String(x).length < 5)).toBe(true);
  });

  test('few different scores stand side by side, many on an axis', () => {
    const few = scale({ score: 'score', unit: '', from: 0, width: 0.5, entrants: [{ entrant: 0, counts: [3, 1, 4] }] });
    expect(few.marks.map((mark) => mark.says)).toEqual(['0', '0.5', '1']);
    expect(few.most).toBe(4);
    const many = scale({ score: 'points', unit: '', from: 0, width: 1, entrants: [{ entrant: 0, counts: Array.from({ length: 40 }, () => 1) }] });
    expect(many.bins.length).toBe(40);
    expect(many.marks[0]?.says).toBe('0');
    expect(told([0, 5, 2], few)).toEqual({ most: '0.5', games: 5, least: '0.5', last: '1' });
    expect(told([0, 0, 0], few)).toBeUndefined();
    expect(bars([1, 0, 4], few).match(/M/g)?.length).toBe(2);
  });

  test('shares are of one whole', () => {
    const won = shares([{ one: 1, other: 2, games: 10, won: 6, drawn: 2, lost: 2, points: null, scores: [0, 0] }, { one: 1, other: 3, games: 0, won: 0, drawn: 0, lost: 0, points: null, scores: [0, 0] }]);
    expect(won.get('1 2')).toBeCloseTo(0.7);
    expect(won.get('2 1')).toBeCloseTo(0.3);
    expect(won.has('1 3')).toBe(false);
  });

  test('lines begin when somebody came, the best last rating first', () => {
    const drawn = lines({ points: [{ matches: 1, ratings: [{ entrant: 0, rating: 1500 }] }, { matches: 2, ratings: [{ entrant: 0, rating: 1400 }, { entrant: 1, rating: 1600 }] }] });
    expect(drawn.map((line) => [line.entrant, line.points.length])).toEqual([[1, 1], [0, 2]]);
  });
});

describe('brackets', () => {
  type Side = Bracket['rounds'][number]['matches'][number]['sides'][number];
  const side = (entrant: number | null, won = false): Side => ({ entrant, seed: null, score: '', won });
  const tie = (one: Side, other: Side): Bracket['rounds'][number]['matches'][number] => ({ match: '1-1', sides: [one, other], note: '' });

  const knockout: Bracket = {
    rounds: [
      { name: 'semi-finals', matches: [tie(side(0, true), side(3)), tie(side(1), side(2, true))] },
      { name: 'match for the third place', matches: [tie(side(3), side(1, true))] },
      { name: 'final', matches: [tie(side(0), side(2, true))] },
    ],
    placing: [],
  };

  test('a match stands between those it comes from, the third place below the final', () => {
    const drawing = draw(knockout);
    const [first, second, third, final] = drawing.spots;
    expect(final?.y).toBe(((first?.y ?? 0) + (second?.y ?? 0)) / 2);
    expect(third?.x).toBe(final?.x);
    expect(third?.y).toBeGreaterThan(final?.y ?? Infinity);
    expect(drawing.joins.length).toBe(2);
    expect(drawing.titles.map((title) => title.text)).toEqual(['semi-finals', 'final']);
  });

  test('an empty final is joined to where its sides will come from', () => {
    const open: Bracket = { rounds: [{ name: 'semi-finals', matches: [tie(side(0), side(3)), tie(side(1), side(2))] }, { name: 'final', matches: [tie(side(null), side(null))] }], placing: [] };
    expect(draw(open).joins.length).toBe(2);
  });

  test('no two matches of a column lie on each other, with losers that play on too', () => {
    const double: Bracket = {
      rounds: [
        { name: 'winners 1', matches: [tie(side(0, true), side(3)), tie(side(1, true), side(2))] },
        { name: 'losers 1', matches: [tie(side(3, true), side(2))] },
        { name: 'winners 2', matches: [tie(side(0, true), side(1))] },
        { name: 'losers 2', matches: [tie(side(1, true), side(3))] },
        { name: 'grand final', matches: [tie(side(0, true), side(1))] },
      ],
      placing: [],
    };
    const drawing = draw(double);
    const seen = new Set(drawing.spots.map((spot) => `${spot.x} ${spot.y}`));
    expect(seen.size).toBe(6);
    // Who lost since does not come from the win before: 3 in losers 1 comes from nowhere.
    expect(drawing.joins.length).toBe(5);
  });
});

describe('refusals', () => {
  test('say what the server said', () => {
    const refused = refusalOf(422, JSON.stringify({ error: { code: 'invalid', message: 'Too long.', hint: 'Shorten it.', field: 'name', details: ['a', 'b'] } }), null);
    expect(refused).toMatchObject({ status: 422, code: 'invalid', message: 'Too long.', hint: 'Shorten it.', field: 'name', details: ['a', 'b'], after: undefined });
    expect(refused).toBeInstanceOf(Refusal);
  });

  test('something that is not the server is understood too', () => {
    for (const body of ['', '<html>Bad gateway</html>', 'null', '{"error": 3}', '[]']) expect(refusalOf(502, body, '7')).toMatchObject({ status: 502, code: 'http-502', after: 7 });
    expect(refusalOf(429, '', 'Wed, 21 Oct 2026 07:28:00 GMT').after).toBeUndefined();
  });

  test('the next try comes later and later, but comes', () => {
    const waits = [0, 1, 2, 3, 4, 5, 50].map((tries) => backOff(tries, 1));
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
    expect(Math.max(...waits)).toBe(30_000);
    expect(backOff(0, 0)).toBe(500);
  });
});

describe('a board that is followed', () => {
  const end: Shown = { phase: 1, match: '1-1', game: 1, film: '/x' };
  function followed(): { follower: Follower<string>; said: string[]; pass: (ms: number) => void } {
    const said: string[] = [];
    let now = 0;
    const follower = new Follower<string>({ head: (film) => said.push(`head ${String(film)}`), part: (part) => said.push(part), end: () => said.push('end') }, () => now);
    return { follower, said, pass: (ms) => (now += ms) };
  }

  test('a game is shown as it comes', () => {
    const { follower, said } = followed();
    follower.head('a');
    follower.part('1');
    follower.end(end);
    expect(said).toEqual(['head a', '1', 'end']);
  });

  test('the next game waits until the end was seen, then nothing of it is missing', () => {
    const { follower, said, pass } = followed();
    follower.head('a');
    follower.end(end);
    follower.head('b');
    follower.part('1');
    expect(said).toEqual(['head a', 'end']);
    pass(HOLD_MS);
    follower.part('2');
    expect(said).toEqual(['head a', 'end', 'head b', '1', '2']);
  });

  test('of games quicker than one can look, the latest is shown', () => {
    const { follower, said, pass } = followed();
    follower.head('a');
    follower.end(end);
    for (const game of ['b', 'c', 'd']) {
      follower.head(game);
      follower.end(end);
    }
    pass(HOLD_MS);
    follower.release();
    expect(said).toEqual(['head a', 'end', 'head d', 'end']);
  });

  test('who stays is left alone until they go on', () => {
    const { follower, said, pass } = followed();
    follower.head('a');
    follower.end(end);
    follower.stay(true);
    pass(10 * HOLD_MS);
    follower.head('b');
    follower.part('1');
    follower.release();
    expect(said).toEqual(['head a', 'end']);
    follower.stay(false);
    expect(said).toEqual(['head a', 'end', 'head b', '1']);
  });
});
