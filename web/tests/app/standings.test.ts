// Standings: podiums, form, movement and ratings.

import { describe, expect, test } from 'vitest';
import { movement, recentForm, resultOf, sparkline, tellsApart } from '../../src/app/results';
import { decidingColumn, podiums } from '../../src/app/standings_table';
import type { Match, StandingsTable, TableColumn } from '../../src/app/types';

const column = (id: string, more: Partial<TableColumn> = {}): TableColumn => ({ id, title: id, right: true, time: false, kind: 'number', decimals: 0, unit: '', ...more });
const league = (entrants: number[], more: Partial<StandingsTable> = {}): StandingsTable => ({
  id: 'league',
  title: 'League',
  official: true,
  columns: [column('rank'), column('name', { kind: 'text' }), column('time_us', { time: true }), column('points')],
  rows: entrants.map((entrant, i) => ({ entrant, medal: (['gold', 'silver', 'bronze'] as const)[i] ?? null, rank: i + 1, name: `bot ${entrant}`, points: 10 - i })),
  notes: [],
  scale: null,
  ...more,
});

describe('podiums', () => {
  test('have a group for each table of a role', () => {
    const groups = podiums([league([3, 1, 2], { id: 'seekers' }), league([5, 4], { id: 'hiders' }), league([3], { id: 'confidence', official: false })], 2);
    expect(groups.map((group) => [group.id, group.rows.map((row) => row.entrant)])).toEqual([['seekers', [3, 1]], ['hiders', [5, 4]]]);
    expect(groups[0]?.rows[0]?.value).toBe('10');
  });
  test('a knockout decides', () => {
    const knockout = league([2, 1], { id: 'knockout', columns: [column('place'), column('name')] });
    expect(podiums([league([1, 2]), knockout], 3).map((group) => group.id)).toEqual(['knockout']);
  });
  test('a bot that has not played has no place', () => {
    const table = league([1, 2, 3]);
    table.rows[2] = { entrant: 3, medal: null, rank: null, name: 'bot 3', points: null };
    expect(podiums([table], 3)[0]?.rows.map((row) => row.entrant)).toEqual([1, 2]);
  });
  test('a disqualified bot has no place', () => {
    const table = league([1, 2]);
    table.rows[1]!['rank'] = null;
    expect(podiums([table], 3)[0]?.rows.map((row) => row.entrant)).toEqual([1]);
  });
  test('the deciding column is neither a rank nor a time', () => {
    expect(decidingColumn(league([1]))?.id).toBe('points');
  });
});

const match = (name: string, entrants: number[], points: number[], places: number[][] = [], more: Partial<Match> = {}): Match => ({
  phase: 1,
  match: name,
  finished: 0,
  void: null,
  faults: 0,
  entrants,
  points,
  games: places.map((own, i) => ({ game: i + 1, turns: 5, ended: 'five in a line', film: null, seats: own.map((place, seat) => ({ entrant: entrants[seat] ?? 0, role: 'player', score: 0, beside: null, place, faults: 0, thought_us: 1 })) })),
  ...more,
});

describe('form', () => {
  test('a match is won, drawn or lost by its points', () => {
    expect(resultOf(match('1-1', [1, 2], [2, 1]), 1)).toEqual({ match: '1-1', place: 1, of: 2, outcome: 'won' });
    expect(resultOf(match('1-1', [1, 2], [2, 1]), 2)?.outcome).toBe('lost');
    expect(resultOf(match('1-1', [1, 2], [1, 1]), 2)?.outcome).toBe('drawn');
  });
  test('without points the places decide', () => {
    expect(resultOf(match('1-1', [1, 2, 3], [0, 0, 0], [[2, 1, 3]]), 3)).toMatchObject({ place: 3, of: 3, outcome: 'lost' });
  });
  test('has the latest results, the newest last, without void matches', () => {
    const matches = [match('4', [1, 2], [0, 1]), match('3', [1, 2], [1, 0], [], { void: 'a mistake' }), match('2', [1, 2], [1, 0]), match('1', [1, 2], [1, 1])];
    expect(recentForm(matches, 2).get(1)?.map((one) => one.match)).toEqual(['2', '4']);
    expect(recentForm(matches, 5).get(1)?.map((one) => one.outcome)).toEqual(['drawn', 'won', 'lost']);
  });
  test('tells bots apart only if some match has a winner', () => {
    expect(tellsApart(recentForm([match('1', [1, 2], [1, 1])], 5))).toBe(false);
    expect(tellsApart(recentForm([match('1', [1, 2], [2, 1])], 5))).toBe(true);
  });
});

describe('movement', () => {
  const scale = { kind: 'linear', min: 0, max: 100, marks: [] } as const;
  const history = (points: [number, [number, number][]][]) => ({ points: points.map(([matches, ratings]) => ({ matches, ratings: ratings.map(([entrant, rating]) => ({ entrant, rating })) })), rating_scale: null, match_scale: { ...scale, marks: [] } });
  const together = (): string => '';
  test('compares with the order before the last fifth of the matches', () => {
    const moved = movement(history([[70, [[1, 1600], [2, 1500], [3, 1400]]], [90, [[1, 1500], [2, 1500]]], [100, [[1, 1500], [2, 1550], [3, 1600], [4, 1300]]]]), together);
    expect(moved?.since).toBe(70);
    expect([...(moved?.places ?? [])]).toEqual([[1, -2], [2, 0], [3, 2]]);
  });
  test('counts places within a role', () => {
    const moved = movement(history([[10, [[1, 1600], [2, 1500], [3, 1400]]], [100, [[1, 1400], [2, 1500], [3, 1600]]]]), (entrant) => (entrant === 2 ? 'hider' : 'seeker'));
    expect([...(moved?.places ?? [])]).toEqual([[1, -1], [2, 0], [3, 1]]);
  });
  test('is unknown at the start', () => {
    expect(movement(history([]), together)).toBeUndefined();
    expect(movement(history([[1, [[1, 1500]]]]), together)).toBeUndefined();
  });
});

test('a sparkline does not stretch small changes', () => {
  const line = (...ratings: number[]) => ({ entrant: 1, points: ratings.map((rating, i) => ({ matches: i + 1, rating })) });
  expect(sparkline(line(1500), 60)).toBe('');
  expect(sparkline(line(1500, 1500), 60)).toBe('M0.0 10.0L100.0 10.0');
  expect(sparkline(line(1500, 1530), 60)).toBe('M0.0 14.0L100.0 6.0');
  expect(sparkline(line(1400, 1600), 60)).toBe('M0.0 18.0L100.0 2.0');
});
