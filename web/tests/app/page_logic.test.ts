// Logic of the pages: formatting, tables, charts, brackets, errors and live updates.

import { describe, expect, test } from 'vitest';
import { retryDelay, RequestError, parseError } from '../../src/app/api';
import { layoutBracket, withPlanned } from '../../src/app/bracket';
import { barsPath, histogramSummary, position, ratingLines, winRates } from '../../src/app/charts';
import { ago, bytes, shortNameList, duration, micros, stripBidi, plural, sentence, integer } from '../../src/app/format';
import { LiveSequencer, NEXT_GAME_DELAY_MS, type LiveGameRef } from '../../src/app/live_sequence';
import { isMatrix, formatCell } from '../../src/app/standings_table';
import type { AxisScale, Bracket, HistogramScale, StandingsTable, TableColumn } from '../../src/app/types';

describe('format', () => {
  test('plural and integer', () => {
    expect(plural(1, 'match', 'matches')).toBe('1 match');
    expect(plural(12_345, 'game')).toBe('12\u202f345 games');
    expect(integer(9_999)).toBe('9\u202f999');
    expect(integer(-1_234_567)).toBe('-1\u202f234\u202f567');
  });

  test('bytes, micros, duration and ago', () => {
    expect([bytes(1023), bytes(1536), bytes(3 * 1024 ** 2)]).toEqual(['1023 B', '1.5 KiB', '3 MiB']);
    expect([micros(0.01), micros(3.14159), micros(999.4), micros(999.6), micros(2_500_000)]).toEqual(['< 0.1 µs', '3.1 µs', '999 µs', '1.00 ms', '2.50 s']);
    expect([duration(0), duration(61_000), duration(90_000_000)]).toEqual(['0 s', '1 min 1 s', '1 d 1 h']);
    const now = 1_800_000_000_000;
    expect([ago(now, now), ago(now - 60_000, now), ago(now - 7_200_000, now), ago(now - 3 * 86_400_000, now)]).toEqual(['just now', '1 minute ago', '2 hours ago', '3 days ago']);
    expect(ago(now - 30 * 86_400_000, now)).toBeUndefined();
    expect(ago(now + 60_000, now)).toBeUndefined();
  });
});

test('stripBidi removes control characters, shortNameList shortens long lists', () => {
  expect(stripBidi('\u202eevil\u202c na\u2066me')).toBe('evil name');
  expect(stripBidi('Käthe 我的 \u05d0\u05d1')).toBe('Käthe 我的 \u05d0\u05d1');
  expect(shortNameList(['a', 'b'])).toBe('a – b');
  expect(shortNameList(['a', 'b', 'c', 'd', 'e'])).toBe('a, b, c and 2 others');
});

test('sentence adds a capital letter and a full stop', () => {
  expect(['there is no bot 3', 'Why?', ' ok. ', ''].map(sentence)).toEqual(['There is no bot 3.', 'Why?', 'Ok.', '']);
});

describe('standings tables', () => {
  const column = (more: Partial<TableColumn>): TableColumn => ({ id: 'x', title: 'X', right: true, time: false, kind: 'number', decimals: 2, unit: '', ...more });

  test('formatCell formats by column', () => {
    expect(formatCell(3.14159, column({}))).toBe('3.14');
    expect(formatCell(12_345, column({ decimals: 0 }))).toBe('12\u202f345');
    expect(formatCell(-0.001, column({}))).toBe('0.00');
    expect(formatCell(12.5, column({ unit: '%' }))).toBe('12.50 %');
    expect(formatCell(12.5, column({ unit: '%', title: 'Score [%]' }))).toBe('12.50');
    expect(formatCell(1500, column({ kind: 'time' }))).toBe('1.50 ms');
    expect(formatCell(1500, column({ kind: 'time', title: 'Avg [us]', decimals: 1 }))).toBe('1500.0');
    expect(formatCell({ low: 1, high: 2 }, column({ kind: 'interval', decimals: 1 }))).toBe('1.0 to 2.0');
    expect(formatCell(null, column({}))).toBe('');
    expect(formatCell('none', column({ kind: 'text' }))).toBe('none');
  });

  test('isMatrix recognises the head-to-head table', () => {
    const sheet = (columns: TableColumn[]): StandingsTable => ({ id: 's', title: '', official: false, columns, rows: [], notes: [], scale: null });
    expect(isMatrix(sheet([column({ id: 'name' }), column({ id: 'against_3' })]))).toBe(true);
    expect(isMatrix(sheet([column({ id: 'name' })]))).toBe(false);
  });
});

describe('charts', () => {
  test('position on linear and logarithmic axes', () => {
    const linear: AxisScale = { kind: 'linear', min: 1, max: 11, marks: [] };
    expect([1, 6, 11].map((x) => position(x, linear))).toEqual([0, 50, 100]);
    const logarithmic: AxisScale = { kind: 'logarithmic', min: 0.1, max: 1000, marks: [] };
    expect([0, 0.1, 10, 1000].map((x) => +position(x, logarithmic).toFixed(9))).toEqual([0, 0, 50, 100]);
  });

  test('bars and summary of a histogram use the drawn bins only', () => {
    const scale: HistogramScale = { bins: [0, 2, 4], bin_labels: ['0', '0.5', '1'], marks: [], max_count: 5 };
    expect(histogramSummary([0, 9, 5, 9, 2], scale)).toEqual({ mostFrequent: '0.5', games: 5, lowest: '0.5', highest: '1' });
    expect(histogramSummary([3, 0, 3], scale)?.mostFrequent).toBe('0');
    expect(histogramSummary([0, 0, 0], scale)).toBeUndefined();
    expect(barsPath([1, 0, 4], scale).match(/M/g)?.length).toBe(2);
    expect(barsPath([0, 0, 5], scale)).toBe('M35.00 20v-20.00h30.00v20.00z');
  });

  test('winRates of a pair add up to one', () => {
    const rates = winRates([{ one: 1, other: 2, games: 10, won: 6, drawn: 2, lost: 2, points: null, scores: [0, 0] }, { one: 1, other: 3, games: 0, won: 0, drawn: 0, lost: 0, points: null, scores: [0, 0] }]);
    expect(rates.get('1 2')).toBeCloseTo(0.7);
    expect(rates.get('2 1')).toBeCloseTo(0.3);
    expect(rates.has('1 3')).toBe(false);
  });

  test('ratingLines start at the first rating and are sorted by the last', () => {
    const drawn = ratingLines({ points: [{ matches: 1, ratings: [{ entrant: 0, rating: 1500 }] }, { matches: 2, ratings: [{ entrant: 0, rating: 1400 }, { entrant: 1, rating: 1600 }] }], rating_scale: null, match_scale: { kind: 'linear', min: 0, max: 2, marks: [] } });
    expect(drawn.map((line) => [line.entrant, line.points.length])).toEqual([[1, 1], [0, 2]]);
  });
});

describe('layoutBracket', () => {
  type Side = Bracket['rounds'][number]['matches'][number]['sides'][number];
  const side = (entrant: number | null, won = false): Side => ({ entrant, seed: null, score: '', won });
  const match = (one: Side, other: Side): Bracket['rounds'][number]['matches'][number] => ({ match: '1-1', sides: [one, other], note: '' });

  const knockout: Bracket = {
    rounds: [
      { name: 'semi-finals', matches: [match(side(0, true), side(3)), match(side(1), side(2, true))] },
      { name: 'match for the third place', matches: [match(side(3), side(1, true))] },
      { name: 'final', matches: [match(side(0), side(2, true))] },
    ],
    planned: [],
    placing: [],
  };

  test('a match is between its feeders, third place is below the final', () => {
    const layout = layoutBracket(knockout);
    const [first, second, third, final] = layout.boxes;
    expect(final?.y).toBe(((first?.y ?? 0) + (second?.y ?? 0)) / 2);
    expect(third?.x).toBe(final?.x);
    expect(third?.y).toBeGreaterThan(final?.y ?? Infinity);
    expect(layout.connectors.length).toBe(2);
    expect(layout.titles.map((title) => title.text)).toEqual(['semi-finals', 'final']);
  });

  test('an empty final is connected to its future feeders', () => {
    const open: Bracket = { rounds: [{ name: 'semi-finals', matches: [match(side(0), side(3)), match(side(1), side(2))] }, { name: 'final', matches: [match(side(null), side(null))] }], planned: [], placing: [] };
    expect(layoutBracket(open).connectors.length).toBe(2);
  });

  test('a knockout has all its rounds before they are played', () => {
    const [first] = knockout.rounds;
    if (!first) throw new Error('a round expected');
    const third = { name: 'match for the third place', ties: 1 };
    const whole = withPlanned({ rounds: [first], planned: [third, { name: 'final', ties: 1 }], placing: [] });
    expect(whole.rounds.map((round) => [round.name, round.matches.length])).toEqual([['semi-finals', 2], ['match for the third place', 1], ['final', 1]]);
    expect(layoutBracket(whole).connectors.length).toBe(2);
    expect(withPlanned(knockout)).toBe(knockout);
    // Byes: one match in the first round, two in the next.
    const byes = { rounds: [{ name: 'quarter-finals', matches: first.matches.slice(0, 1) }], planned: [{ name: 'semi-finals', ties: 2 }, { name: 'final', ties: 1 }], placing: [] };
    expect(withPlanned(byes).rounds).toHaveLength(3);
    // The lines of other brackets are not known yet.
    const double = { rounds: [{ ...first, name: "winners' round 1" }], planned: [{ name: "losers' round 1", ties: 1 }, { name: "winners' final", ties: 1 }], placing: [] };
    expect(withPlanned(double)).toBe(double);
  });

  test('boxes do not overlap in a double elimination', () => {
    const double: Bracket = {
      rounds: [
        { name: 'winners 1', matches: [match(side(0, true), side(3)), match(side(1, true), side(2))] },
        { name: 'losers 1', matches: [match(side(3, true), side(2))] },
        { name: 'winners 2', matches: [match(side(0, true), side(1))] },
        { name: 'losers 2', matches: [match(side(1, true), side(3))] },
        { name: 'grand final', matches: [match(side(0, true), side(1))] },
      ],
      planned: [],
      placing: [],
    };
    const layout = layoutBracket(double);
    const seen = new Set(layout.boxes.map((box) => `${box.x} ${box.y}`));
    expect(seen.size).toBe(6);
    // An entrant that lost since has no feeder: 3 in losers 1.
    expect(layout.connectors.length).toBe(5);
  });
});

describe('requests', () => {
  test('parseError returns the error of the API', () => {
    const error = parseError(422, JSON.stringify({ error: { code: 'invalid', message: 'Too long.', hint: 'Shorten it.', field: 'name', details: ['a', 'b'] } }), null);
    expect(error).toMatchObject({ status: 422, code: 'invalid', message: 'Too long.', hint: 'Shorten it.', field: 'name', details: ['a', 'b'], retryAfter: undefined });
    expect(error).toBeInstanceOf(RequestError);
  });

  test('parseError accepts responses of a proxy', () => {
    for (const body of ['', '<html>Bad gateway</html>', 'null', '{"error": 3}', '[]']) expect(parseError(502, body, '7')).toMatchObject({ status: 502, code: 'http-502', retryAfter: 7 });
    expect(parseError(429, '', 'Wed, 21 Oct 2026 07:28:00 GMT').retryAfter).toBeUndefined();
  });

  test('retryDelay grows to a limit', () => {
    const waits = [0, 1, 2, 3, 4, 5, 50].map((tries) => retryDelay(tries, 1));
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
    expect(Math.max(...waits)).toBe(30_000);
    expect(retryDelay(0, 0)).toBe(500);
  });
});

describe('LiveSequencer', () => {
  const end: LiveGameRef = { phase: 1, match: '1-1', game: 1, film: '/x' };
  function setup(): { sequencer: LiveSequencer<string>; events: string[]; pass: (ms: number) => void } {
    const events: string[] = [];
    let now = 0;
    const sequencer = new LiveSequencer<string>({ head: (film) => events.push(`head ${String(film)}`), part: (part) => events.push(part), end: () => events.push('end') }, () => now);
    return { sequencer, events, pass: (ms) => (now += ms) };
  }

  test('events of a game pass through', () => {
    const { sequencer, events } = setup();
    sequencer.head('a');
    sequencer.part('1');
    sequencer.end(end);
    expect(events).toEqual(['head a', '1', 'end']);
  });

  test('the next game is delayed after an end, without losing parts', () => {
    const { sequencer, events, pass } = setup();
    sequencer.head('a');
    sequencer.end(end);
    sequencer.head('b');
    sequencer.part('1');
    expect(events).toEqual(['head a', 'end']);
    pass(NEXT_GAME_DELAY_MS);
    sequencer.part('2');
    expect(events).toEqual(['head a', 'end', 'head b', '1', '2']);
  });

  test('of several short games only the latest is shown', () => {
    const { sequencer, events, pass } = setup();
    sequencer.head('a');
    sequencer.end(end);
    for (const game of ['b', 'c', 'd']) {
      sequencer.head(game);
      sequencer.end(end);
    }
    pass(NEXT_GAME_DELAY_MS);
    sequencer.release();
    expect(events).toEqual(['head a', 'end', 'head d', 'end']);
  });

  test('stay delays the next game until it is released', () => {
    const { sequencer, events, pass } = setup();
    sequencer.head('a');
    sequencer.end(end);
    sequencer.stay(true);
    pass(10 * NEXT_GAME_DELAY_MS);
    sequencer.head('b');
    sequencer.part('1');
    sequencer.release();
    expect(events).toEqual(['head a', 'end']);
    sequencer.stay(false);
    expect(events).toEqual(['head a', 'end', 'head b', '1']);
  });
});
