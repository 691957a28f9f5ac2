// Small parts of the pages: scoreboards, fault counts, groups of the home page, live phases, marks of bots, accents of games.

import { render } from 'svelte/server';
import { describe, expect, test } from 'vitest';
import { groupsOf } from '../../src/app/home_groups';
import { livePhases } from '../../src/app/live_phases';
import { hasPoints, scoreRows, wonAlone } from '../../src/app/match_scores';
import { hiddenSides } from '../../src/app/scroll_cue';
import { faultCounts, faultName, faultsOfCell } from '../../src/app/texts/faults';
import { submit } from '../../src/app/texts/submit';
import type { CompetitionItem, Match, PhaseItem, Progress } from '../../src/app/types';
import Leaders from '../../src/app/components/Leaders.svelte';
import { gameAccent } from '../../src/games/accents';
import { gameIcon } from '../../src/games/icons';
import { gamePicture } from '../../src/games/pictures';
import { identiconCells } from '../../src/identicon';

describe('a match as a scoreboard', () => {
  const seat = (entrant: number, score: number, place: number): Match['games'][number]['seats'][number] => ({ entrant, role: 'player', score, beside: null, place, faults: 0, thought_us: 1 });
  const match: Match = {
    phase: 1, match: '1-1', finished: 0, void: null, faults: 0, entrants: [7, 8], points: [1, 2],
    games: [{ game: 1, turns: 9, ended: 'five in a line', film: null, seats: [seat(8, 1, 1), seat(7, 0, 2)] }, { game: 2, turns: 9, ended: 'full', film: null, seats: [seat(7, 0.5, 1), seat(8, 0.5, 1)] }],
  };
  test('points and the scores of the games are apart, whatever the seats', () => {
    expect(scoreRows(match).map((row) => [row.entrant, row.points, row.seats.map((own) => own?.score)])).toEqual([[8, 2, [1, 0.5]], [7, 1, [0, 0.5]]]);
    expect(hasPoints(match)).toBe(true);
  });
  test('a shared first place is not a win', () => {
    expect(match.games.map((game) => wonAlone(game, 8))).toEqual([true, false]);
  });
  test('without points the places decide', () => {
    expect(scoreRows({ ...match, points: [0, 0] }).map((row) => row.entrant)).toEqual([8, 7]);
    expect(hasPoints({ ...match, points: [0, 0] })).toBe(false);
  });
});

test('faults are counted in words', () => {
  expect(faultCounts({ timeout: 1, crash: 9, illegal: 0, garbled: 2 })).toBe('1 timeout, 9 crashes, 2 unreadable answers');
  expect(faultCounts({ timeout: 0 })).toBe('');
  expect(faultsOfCell('1 crash, 9 illegal')).toBe('1 crash, 9 illegal answers');
  expect(faultsOfCell('none')).toBe('none');
  expect(faultName('illegal')).toBe('Illegal answer');
});

test('no outcome of a check is a bare yes or no', () => {
  for (const step of ['found', 'source', 'loads', 'plays', 'another'])
    for (const outcome of ['yes', 'no', 'skipped'] as const) expect(submit.check.outcomeOf(step, outcome)).not.toMatch(/^(yes|no)$/i);
  expect(submit.check.outcomeOf('source', 'yes')).toBe('nothing forbidden was found');
  expect(submit.check.outcomeOf('source', 'no')).toBe('something forbidden was found');
});

test('the leaders of each role have a list of their own', () => {
  const leader = (bot: number, name: string, rank: number, role: string | null): CompetitionItem['leaders'][number] => ({ bot, name, rank, entrant: bot, role });
  const shown = (state: string, leaders: CompetitionItem['leaders']): string => render(Leaders, { props: { item: { id: 'cup', state, leaders } as unknown as CompetitionItem } }).body;
  const roles = shown('running', [leader(1, 'Fox', 1, 'seeker'), leader(2, 'Owl', 2, 'seeker'), leader(3, 'Mouse', 1, 'hider')]);
  expect([...roles.matchAll(/aria-label="([^"]*)"/g)].map(([, label]) => label)).toEqual(['Leaders: Seekers', 'Leaders: Hiders']);
  expect(roles.indexOf('Owl')).toBeLessThan(roles.indexOf('Mouse'));
  expect(roles).toContain('/c/cup/bots/3');
  const single = shown('over', [leader(1, 'Fox', 1, null), leader(2, 'Owl', 2, null)]);
  expect(single).toContain('aria-label="Winners"');
  expect(single).not.toContain('eyebrow');
});

test('the home page has running competitions first, and open ones by their deadline', () => {
  const item = (id: string, state: CompetitionItem['state'], at?: number): CompetitionItem => ({ id, state, accepts: state === 'open', deadline: at === undefined ? null : { at, text: '', past: false } }) as CompetitionItem;
  const groups = groupsOf([item('a', 'open'), item('b', 'over'), item('c', 'open', 20), item('d', 'paused'), item('e', 'open', 10), item('f', 'closed'), item('g', 'draft')]);
  expect(groups.open.map((one) => one.id)).toEqual(['e', 'c', 'a']);
  expect([groups.now, groups.over, groups.soon, groups.draft].map((list) => list.map((one) => one.id))).toEqual([['d'], ['b'], ['f'], ['g']]);
});

test('live phases agree with the events', () => {
  const phase = (number: number, state: PhaseItem['state'], matches: number): PhaseItem => ({ number, state, matches, expected: null }) as PhaseItem;
  const progress = { phase: 2, matches: 2, expected: 42 } as Progress;
  const phases = [phase(1, 'closed', 9), phase(2, 'waiting', 0), phase(3, 'waiting', 0)];
  expect(livePhases(phases, progress).map((one) => [one.state, one.matches, one.expected])).toEqual([['closed', 9, null], ['running', 2, [42, 42]], ['waiting', 0, null]]);
  expect(livePhases(phases, undefined)).toEqual(phases);
  // A late event does not open a finished phase again.
  expect(livePhases([phase(2, 'published', 42)], progress)[0]?.state).toBe('published');
});

test('a box shows on which sides it has more', () => {
  expect(hiddenSides(0, 300, 300)).toEqual({ left: false, right: false });
  expect(hiddenSides(0, 300, 900)).toEqual({ left: false, right: true });
  expect(hiddenSides(300, 300, 900)).toEqual({ left: true, right: true });
  expect(hiddenSides(599.5, 300, 900)).toEqual({ left: true, right: false });
});

describe('marks of bots', () => {
  test('are five by five, symmetric, and the same for the same name', () => {
    for (const name of ['', 'tactician', 'Käthe 我的', 'a'.repeat(40)]) {
      const cells = identiconCells(name);
      expect(cells.length).toBe(25);
      expect(cells).toEqual(identiconCells(name));
      for (let row = 0; row < 5; row += 1) for (let column = 0; column < 5; column += 1) expect(cells[5 * row + column]).toBe(cells[5 * row + 4 - column]);
      expect(cells.some(Boolean)).toBe(true);
    }
  });
  test('differ for similar names', () => {
    const marks = new Set(Array.from({ length: 50 }, (_, i) => identiconCells(`bot ${i}`).map(Number).join('')));
    expect(marks.size).toBeGreaterThan(45);
  });
});

describe('every game', () => {
  const ids = Object.keys(import.meta.glob('../../src/games/*/Icon.svelte')).map((path) => path.split('/').at(-2) ?? '');
  const luminance = (hex: string): number => {
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)) as [number, number, number];
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one: string, other: string): number => {
    const [high, low] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
    return (high + 0.05) / (low + 0.05);
  };
  test.each(ids)('%s has a picture, and an accent that is readable on both backgrounds', (id) => {
    expect(gameIcon(id)).toBeDefined();
    expect(gamePicture(id)).toBeDefined();
    const accent = gameAccent(id);
    for (const paper of ['#f5f3ed', '#fffefb']) expect(contrast(accent?.light ?? '', paper)).toBeGreaterThan(4.5);
    for (const paper of ['#121419', '#1a1d24', '#12151b']) expect(contrast(accent?.dark ?? '', paper)).toBeGreaterThan(4.5);
  });
});
