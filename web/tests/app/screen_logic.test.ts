// Logic of the big screen: options, keys, moments, upsets, standings, brackets, next matches and the situation of a competition.

import { describe, expect, test } from 'vitest';
import type { Film } from '../../src/film';
import { bracketPage, currentRound, currentTies, isDecided, MAX_TIES_PER_COLUMN } from '../../src/app/screen/bracket_view';
import { actionOf } from '../../src/app/screen/keys';
import { MomentQueue, type Moment } from '../../src/app/screen/moments';
import { parseOptions, SCREEN_PARTS } from '../../src/app/screen/options';
import { lastStarted, upcoming } from '../../src/app/screen/schedule';
import { formatScore, formatValue, SeatScores } from '../../src/app/screen/seats';
import { countdownParts, endedPhases, situationOf } from '../../src/app/screen/situation';
import { leadersOf, Movement, placesIn, podiumOf, rankingTables, topRows, valueTitle } from '../../src/app/screen/standings';
import { bracketUpsets, matchUpset, matchWinner, NewMatches } from '../../src/app/screen/upsets';
import { Watchdog } from '../../src/app/screen/watchdog';
import type { Bracket, Competition, Fixture, LiveGame, Match, PhaseItem, PhaseStandings, StandingsTable } from '../../src/app/types';

const NOW = 1_800_000_000_000;

describe('options', () => {
  const parse = (query: string) => parseOptions(new URLSearchParams(query));

  test('have defaults', () => {
    expect(parse('')).toEqual({ rotateMs: 20_000, show: new Set(SCREEN_PARTS), start: undefined });
  });

  test('are read from the address', () => {
    const options = parse('rotate=45&show=board,Bracket&start=2027-04-26T20:00:00Z');
    expect(options.rotateMs).toBe(45_000);
    expect([...options.show]).toEqual(['board', 'bracket']);
    expect(options.start).toBe(Date.UTC(2027, 3, 26, 20));
  });

  test('that make no sense get the default or the limit', () => {
    expect(['rotate=x', 'rotate=', 'rotate=1', 'rotate=-5', 'rotate=99999', 'rotate=Infinity'].map((query) => parse(query).rotateMs)).toEqual([20_000, 5_000, 5_000, 5_000, 600_000, 20_000]);
    expect(parse('show=nonsense').show).toEqual(new Set(SCREEN_PARTS));
    expect(parse('start=tomorrow').start).toBeUndefined();
  });
});

describe('keys', () => {
  const key = (key: string, more = {}) => ({ key, ctrlKey: false, altKey: false, metaKey: false, ...more });

  test('pause, change the board and switch to full screen', () => {
    expect([' ', 'ArrowRight', 'ArrowLeft', 'f', 'x'].map((name) => actionOf(key(name), null))).toEqual(['pause', 'next', 'previous', 'full-screen', undefined]);
  });

  test('leave the browser its own keys, and a focused button the space bar', () => {
    expect(actionOf(key('f', { ctrlKey: true }), null)).toBeUndefined();
    expect(actionOf(key(' '), { tagName: 'BUTTON' })).toBeUndefined();
    expect(actionOf(key('f'), { tagName: 'INPUT' })).toBeUndefined();
    expect(actionOf(key('ArrowLeft'), { tagName: 'BUTTON' })).toBe('previous');
  });
});

describe('moments', () => {
  const upset = (winner: string): Moment => ({ kind: 'upset', winner, loser: 'Bob', winnerPlace: 9, loserPlace: 1, seeded: false });
  const champion: Moment = { kind: 'champion', names: ['Ann'] };

  test('one is shown at a time, the most important first', () => {
    const queue = new MomentQueue();
    queue.add({ kind: 'leader', name: 'Ann' }, 'l', 0);
    queue.add(upset('Ann'), 'u', 0);
    queue.add(champion, 'c', 0);
    const seen: (string | undefined)[] = [];
    for (let now = 0; now < 60_000; now += 250) {
      const kind = queue.current(now)?.kind;
      if (kind !== seen.at(-1)) seen.push(kind);
    }
    // The new leader has waited too long.
    expect(seen).toEqual(['champion', undefined, 'upset', undefined]);
  });

  test('the same moment is shown once', () => {
    const queue = new MomentQueue();
    queue.add(champion, 'c', 0);
    expect(queue.current(0)).toBe(champion);
    queue.add(champion, 'c', 1000);
    expect(queue.current(60_000)).toBeUndefined();
    expect(queue.current(70_000)).toBeUndefined();
  });

  test('upsets keep a distance, and the largest one comes first', () => {
    const queue = new MomentQueue();
    queue.add(upset('small'), '1', 0, 2);
    queue.add(upset('large'), '2', 0, 9);
    expect(queue.current(0)).toMatchObject({ winner: 'large' });
    expect(queue.current(20_000)).toBeUndefined();
    queue.add(upset('later'), '3', 89_000, 1);
    expect(queue.current(89_999)).toBeUndefined();
    expect(queue.current(90_000)).toMatchObject({ winner: 'later' });
  });

  test('the winner is not told before the game that is shown has ended, but after half a minute', () => {
    const queue = new MomentQueue();
    queue.add(champion, 'c', 0);
    expect(queue.current(10_000, true)).toBeUndefined();
    expect(queue.current(12_000, false)).toBe(champion);
    const late = new MomentQueue();
    late.add(champion, 'c', 0);
    expect(late.current(29_999, true)).toBeUndefined();
    expect(late.current(30_000, true)).toBe(champion);
  });

  test('thousands of upsets do not pile up', () => {
    const queue = new MomentQueue();
    let shown = 0;
    let before: Moment | undefined;
    for (let now = 0; now < 3_600_000; now += 250) {
      queue.add(upset(`${now}`), `${now}`, now, 3);
      const moment = queue.current(now);
      if (moment && moment !== before) shown += 1;
      before = moment;
    }
    expect(shown).toBe(40);
  });
});

describe('upsets', () => {
  const match = (entrants: number[], points: number[], more: Partial<Match> = {}): Match => ({ phase: 1, match: '1-1', finished: 0, void: null, faults: 0, entrants, points, games: [], ...more });
  const places = new Map([1, 2, 3, 4, 5, 6, 7, 8].map((place) => [place, place]));

  test('the winner has the most points; without points the places of the games decide', () => {
    expect(matchWinner(match([3, 4], [1, -1]))).toBe(3);
    expect(matchWinner(match([3, 4], [1, 1]))).toBeUndefined();
    const seat = (entrant: number, place: number) => ({ entrant, role: 'player', score: 0, beside: null, place, faults: 0, thought_us: 0 });
    expect(matchWinner(match([3, 4], [0, 0], { games: [{ game: 1, turns: 1, ended: '', film: null, seats: [seat(3, 2), seat(4, 1)] }] }))).toBe(4);
  });

  test('a much lower bot that wins is an upset, against the best bot it has beaten', () => {
    expect(matchUpset(match([1, 7], [0, 3]), places)).toEqual({ winner: 7, loser: 1, winnerPlace: 7, loserPlace: 1, size: 6 });
    expect(matchUpset(match([3, 8, 2, 5], [0, 9, 1, 2]), places)).toMatchObject({ winner: 8, loser: 2 });
  });

  test('neighbours, favourites, draws, void matches, unknown bots and different roles are no upsets', () => {
    expect(matchUpset(match([3, 4], [0, 3]), places)).toBeUndefined();
    expect(matchUpset(match([1, 8], [3, 0]), places)).toBeUndefined();
    expect(matchUpset(match([1, 8], [1, 1]), places)).toBeUndefined();
    expect(matchUpset(match([1, 8], [0, 3], { void: 'why' }), places)).toBeUndefined();
    expect(matchUpset(match([1, 99], [0, 3]), places)).toBeUndefined();
    const seat = (entrant: number, role: string) => ({ entrant, role, score: 0, beside: null, place: 1, faults: 0, thought_us: 0 });
    expect(matchUpset(match([1, 8], [0, 3], { games: [{ game: 1, turns: 1, ended: '', film: null, seats: [seat(1, 'a'), seat(8, 'b')] }] }), places)).toBeUndefined();
  });

  test('in a larger field more places must lie between the two', () => {
    const field = new Map(Array.from({ length: 40 }, (_, i) => [i, i + 1]));
    expect(matchUpset(match([0, 13], [0, 3]), field)).toBeUndefined();
    expect(matchUpset(match([0, 14], [0, 3]), field)).toBeDefined();
    expect(matchUpset(match([0, 14, 20], [0, 3, 1]), field)).toBeUndefined();
    expect(matchUpset(match([0, 20, 14], [0, 3, 1]), field)).toBeDefined();
  });

  test('a tie that the lower seed wins is an upset when it is decided', () => {
    const tie = (won: number | undefined) => ({ match: '1-1', note: '', sides: [1, 8].map((seed, i) => ({ entrant: 10 + i, seed, score: '', won: won === i })) });
    const bracket = (won: number | undefined): Bracket => ({ rounds: [{ name: 'quarter-finals', matches: [tie(won)] }], planned: [], placing: [] });
    expect(bracketUpsets(bracket(undefined), bracket(1))).toEqual([{ winner: 11, loser: 10, winnerPlace: 8, loserPlace: 1, size: 7 }]);
    expect(bracketUpsets(bracket(undefined), bracket(0))).toEqual([]);
    expect(bracketUpsets(bracket(1), bracket(1))).toEqual([]);
  });

  test('matches before the page was opened are not news', () => {
    const news = new NewMatches();
    const list = (...names: string[]): Match[] => names.map((name) => match([1, 2], [0, 1], { match: name }));
    expect(news.of(list('1-2', '1-1'))).toEqual([]);
    expect(news.of(list('1-4', '1-3', '1-2')).map((one) => one.match)).toEqual(['1-3', '1-4']);
    expect(news.of(list('1-4', '1-3'))).toEqual([]);
  });
});

describe('standings', () => {
  const column = (id: string, kind: string, more = {}) => ({ id, title: id, right: kind === 'number', time: kind === 'time', kind, decimals: 0, unit: '', ...more });
  const table = (order: number[], more: Partial<StandingsTable> = {}): StandingsTable => ({
    id: 'league',
    title: 'League',
    official: true,
    columns: [column('rank', 'number'), column('name', 'text'), column('time', 'time'), column('points', 'number', { title: 'Points [%]' })],
    rows: order.map((entrant, i) => ({ entrant, medal: null, rank: i + 1, name: `bot ${entrant}`, points: 30 - i })),
    notes: [],
    scale: null,
    ...more,
  });
  const standings = (sheets: StandingsTable[]) => ({ sheets }) as unknown as PhaseStandings;

  test('the official tables are ranked by the result; that of a bracket replaces them', () => {
    const league = table([1]);
    const sheets = [league, table([1], { id: 'efficiency' }), table([1], { id: 'confidence', official: false }), table([], { id: 'empty' })];
    expect(rankingTables(standings(sheets))).toEqual([league]);
    const knockout = table([2, 1], { id: 'knockout' });
    expect(rankingTables(standings([...sheets, knockout]))).toEqual([knockout]);
    const before = table([2, 1], { id: 'knockout', rows: [1, 1].map((place, entrant) => ({ entrant, medal: null, place })) });
    expect(rankingTables(standings([league, before])), 'before the first loss').toEqual([league]);
    expect(rankingTables(undefined)).toEqual([]);
  });

  test('the first rows have place, value and movement', () => {
    expect(valueTitle(table([1]))).toBe('Points');
    expect(topRows(table([5, 6, 7]), 2, new Map([[6, -1]]))).toEqual([
      { entrant: 5, place: '1', value: '30', medal: null, moved: 0 },
      { entrant: 6, place: '2', value: '29', medal: null, moved: -1 },
    ]);
  });

  test('movement is that of the last change, and a new phase starts without any', () => {
    const movement = new Movement();
    const moved = () => Object.fromEntries(movement.of('league'));
    movement.update(1, [table([1, 2, 3])]);
    expect(moved()).toEqual({});
    movement.update(1, [table([3, 1, 2])]);
    expect(moved()).toEqual({ 3: 2, 1: -1, 2: -1 });
    movement.update(1, [table([3, 1, 2])]);
    expect(moved()).toEqual({ 3: 2, 1: -1, 2: -1 });
    movement.update(1, [table([3, 2, 1])]);
    expect(moved()).toEqual({ 2: 1, 1: -1 });
    movement.update(2, [table([1, 2, 3])]);
    expect(moved()).toEqual({});
  });

  test('the leader is known unless all share the first place', () => {
    const shared = (ranks: number[]) => table([1, 2, 3], { rows: ranks.map((rank, i) => ({ entrant: i, medal: null, rank })) });
    expect(leadersOf(table([4, 5]))).toEqual([4]);
    expect(leadersOf(shared([1, 1, 3]))).toEqual([0, 1]);
    expect(leadersOf(shared([1, 1, 1]))).toEqual([]);
    expect(placesIn([shared([1, 1, 3])])).toEqual(new Map([[0, 1], [1, 1], [2, 3]]));
  });

  test('the podium has three places, shared ones together, without disqualified bots', () => {
    const rows = [1, 1, 3, 4].map((rank, i) => ({ entrant: i, medal: null, rank }));
    expect(podiumOf(table([], { rows }), () => undefined)).toEqual([{ place: 1, entrants: [0, 1] }, { place: 3, entrants: [2] }]);
    expect(podiumOf(table([], { rows }), (number) => ({ disqualified: number === 0 ? 'why' : null }) as never)[0]).toEqual({ place: 1, entrants: [1] });
  });
});

describe('brackets', () => {
  const tie = (a: number, b: number, won?: number) => ({ match: null, note: '', sides: [a, b].map((entrant) => ({ entrant, seed: entrant, score: '', won: entrant === won })) });
  const round = (name: string, count: number, decided: boolean) => ({ name, matches: Array.from({ length: count }, (_, i) => tie(2 * i, 2 * i + 1, decided ? 2 * i : undefined)) });

  test('the rounds to come are shown before their ties are known', () => {
    const planned = [{ name: 'semi-finals', ties: 2 }, { name: 'match for the third place', ties: 1 }, { name: 'final', ties: 1 }];
    const page = bracketPage({ rounds: [round('quarter-finals', 4, false)], planned, placing: [] }, 0);
    if (page?.kind !== 'columns') throw new Error('columns expected');
    expect(page.columns.map((column) => [column.name, column.ties.length, column.current, column.joined])).toEqual([
      ['quarter-finals', 4, true, false],
      ['semi-finals', 2, false, true],
      ['final', 1, false, true],
    ]);
    expect(page.columns[1]?.ties[0]).toBeUndefined();
    expect(page.third).toMatchObject({ name: 'match for the third place', ties: [undefined] });
  });

  test('the current round is the first with an open tie; the match for the third place stands apart', () => {
    const bracket = { rounds: [round('semi-finals', 2, true), round('match for the third place', 1, true), round('final', 1, false)], planned: [], placing: [] };
    expect(currentRound(bracket)).toBe(2);
    const page = bracketPage(bracket, 0);
    if (page?.kind !== 'columns') throw new Error('columns expected');
    expect(page.columns.map((column) => column.name)).toEqual(['semi-finals', 'final']);
    expect(page.third?.ties).toHaveLength(1);
    expect(isDecided(bracket)).toBe(false);
    expect(isDecided({ ...bracket, rounds: bracket.rounds.slice(0, 2) })).toBe(true);
  });

  test('a large round is shown page by page, and later rounds side by side', () => {
    const bracket = { rounds: [round('round of 64', 32, false)], planned: [], placing: [] };
    const pages = [0, 1, 2, 3].map((page) => bracketPage(bracket, page));
    expect(pages.map((page) => (page?.kind === 'grid' ? [page.page, page.pages, page.ties.length] : undefined))).toEqual([[1, 3, 12], [2, 3, 12], [3, 3, 8], [1, 3, 12]]);
    const later = bracketPage({ rounds: [round('round of 64', 32, true), round('round of 32', 16, true), round('round of 16', MAX_TIES_PER_COLUMN, false)], planned: [{ name: 'quarter-finals', ties: 4 }, { name: 'semi-finals', ties: 2 }, { name: 'final', ties: 1 }], placing: [] }, 0);
    expect(later?.kind === 'columns' && later.columns.map((column) => column.name)).toEqual(['round of 16', 'quarter-finals', 'semi-finals', 'final']);
  });

  test('other eliminations show their last rounds', () => {
    const bracket = { rounds: ["winners' round 1", "winners' round 2", "losers' round 1", "winners' final", "losers' round 2"].map((name, i) => round(name, 2, i < 4)), planned: [], placing: [] };
    const page = bracketPage(bracket, 0);
    expect(page?.kind === 'columns' && page.columns.map((column) => column.name)).toEqual(["winners' round 2", "losers' round 1", "winners' final", "losers' round 2"]);
  });

  test('an empty bracket shows nothing', () => {
    expect(bracketPage({ rounds: [], planned: [], placing: [] }, 0)).toBeUndefined();
    expect(currentTies({ rounds: [], planned: [], placing: [] }, 4)).toBeUndefined();
  });
});

describe('next matches', () => {
  const game = (match: string): LiveGame => ({ board: 0, phase: 1, match, game: 1, seats: [], since: 0, turn: 0, hidden: false });
  const fixture = (match: string, state: Fixture['state']): Fixture => ({ match, stage: '', entrants: [], state });

  test('follow the last match that has started', () => {
    expect(lastStarted([game('2-9'), game('2-10')], [{ match: '1-99' } as Match])).toBe('2-10');
    expect(lastStarted([], [])).toBeUndefined();
  });

  test('are those that have not started', () => {
    const fixtures = [fixture('1-1', 'played'), fixture('1-2', 'to come'), fixture('1-3', 'void'), fixture('1-4', 'to come'), fixture('1-5', 'to come')];
    expect(upcoming(fixtures, [game('1-2')], 1).map((one) => one.match)).toEqual(['1-4']);
  });
});

describe('situation', () => {
  const phase = (number: number, state: PhaseItem['state']) => ({ number, name: `Phase ${number}`, state }) as PhaseItem;
  const competition = (more: Partial<Competition>): Competition => ({ state: 'running', accepts: false, deadline: null, phases: [phase(1, 'published'), phase(2, 'waiting')], ...more }) as Competition;
  const deadline = { at: NOW + 60_000, text: '', past: false };

  test('before the start it counts down to what comes first', () => {
    const open = competition({ state: 'open', accepts: true, deadline });
    expect(situationOf(open, undefined, NOW)).toEqual({ kind: 'upcoming', accepts: true, until: { to: 'deadline', at: deadline.at } });
    expect(situationOf(open, NOW + 10, NOW)).toMatchObject({ until: { to: 'start', at: NOW + 10 } });
    expect(situationOf(open, NOW + 90_000, deadline.at + 1)).toEqual({ kind: 'upcoming', accepts: false, until: { to: 'start', at: NOW + 90_000 } });
    expect(situationOf(open, NOW - 1, deadline.at + 1)).toMatchObject({ accepts: false, until: undefined });
  });

  test('between phases it names the next one', () => {
    expect(situationOf(competition({ state: 'waiting', accepts: true, deadline }), undefined, NOW)).toEqual({ kind: 'between', next: 'Phase 2', until: { to: 'deadline', at: deadline.at } });
  });

  test.each([['running', 'running'], ['paused', 'paused'], ['failed', 'failed'], ['over', 'over'], ['closed', 'upcoming'], ['draft', 'upcoming']] as const)('state %s is %s', (state, kind) => {
    expect(situationOf(competition({ state }), undefined, NOW).kind).toBe(kind);
  });

  test('a countdown has days and a clock', () => {
    expect(countdownParts(90_061_000)).toEqual({ days: 1, hours: '01', minutes: '01', seconds: '01' });
    expect(countdownParts(1)).toEqual({ days: 0, hours: '00', minutes: '00', seconds: '01' });
    expect(countdownParts(-5)).toEqual({ days: 0, hours: '00', minutes: '00', seconds: '00' });
  });

  test('a phase that was known and is over now has ended', () => {
    const now = competition({ phases: [phase(1, 'published'), phase(2, 'published'), phase(3, 'running')] });
    expect(endedPhases(new Map([[1, 'published'], [2, 'running'], [3, 'waiting']]), now)).toEqual([2]);
    expect(endedPhases(new Map(), now)).toEqual([]);
  });
});

describe('scores of the seats', () => {
  const film = (lines: number[][], more: Partial<Film> = {}) =>
    ({ names: ['Ann', 'Bob'], deltas: [], standing: { of: 'points', lines }, score: { name: 'score', unit: '%', decimals: 1 }, ...more }) as unknown as Film;
  const part = (from: number, ...standing: number[][]) => ({ from, turns: standing.map((values) => ({ delta: {}, answers: '', micros: [], standing: values })) });

  test('follow the chart and tell a change of the lead', () => {
    const scores = new SeatScores(film([[0], [0]]));
    expect(scores.add(part(1, [1, 0]))).toBe(false);
    expect(scores.add(part(2, [1, 1]))).toBe(false);
    expect(scores.add(part(3, [1, 2], [1, 3]))).toBe(true);
    expect(scores.add(part(5, [3, 3]))).toBe(false);
    expect(scores.add(part(6, [3, 4]))).toBe(false);
    expect(scores.turn).toBe(6);
    expect(scores.seats(true).map((seat) => [seat.name, seat.value])).toEqual([['Bob', 4], ['Ann', 3]]);
  });

  test('have places, scores and winners at the end', () => {
    const scores = new SeatScores(film([[0], [0]]));
    scores.add({ ...part(1, [1, 5]), outcome: { seats: [{ score: 10, place: 2 }, { score: 12.34, place: 1 }], ended: 'time' } });
    expect(scores.finished).toBe(true);
    expect(scores.winners()).toEqual([1]);
    expect(scores.seats(true)[0]).toMatchObject({ name: 'Bob', place: 1, score: '12.3 %' });
    expect(scores.ended).toBe('time');
  });

  test('a draw has no winner, and one line for the whole game has no leader', () => {
    const draw = new SeatScores(film([[0], [0]], { outcome: { seats: [{ score: 1, place: 1 }, { score: 1, place: 1 }], ended: '' } }));
    expect(draw.winners()).toEqual([]);
    const together = new SeatScores(film([[0]]));
    expect(together.add(part(1, [7]))).toBe(false);
    expect(together.seats(false).map((seat) => seat.value)).toEqual([undefined, undefined]);
  });

  test('are formatted', () => {
    expect([formatValue(3), formatValue(3.14159)]).toEqual(['3', '3.1']);
    expect(formatScore(2, { name: '', unit: '', decimals: 3 })).toBe('2');
  });
});

test('a silent stream is noticed, once per period', () => {
  const watchdog = new Watchdog(0);
  expect(watchdog.isSilent(999, 1000)).toBe(false);
  watchdog.heard(500);
  expect([1000, 1499, 1500, 1501, 2499, 2500].map((now) => watchdog.isSilent(now, 1000))).toEqual([false, false, true, false, false, true]);
});
