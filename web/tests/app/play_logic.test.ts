// A person plays: where answers are on the boards, keys, the form for a new game, and the state of a game over a connection that breaks.

import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/delta';
import type { Film } from '../../src/film';
import { landingRow } from '../../src/games/connect-five/input';
import { gameInput } from '../../src/games/inputs';
import { platformOf } from '../../src/games/solitude-scramble/input';
import type { GameInput, InputTarget } from '../../src/games/types';
import { partsOf } from '../../src/games/word-racer/input';
import type { ViewerHandle } from '../../src/main';
import { RequestError } from '../../src/app/api';
import { domKey, keyAction, type KeyContext } from '../../src/app/play/keys';
import { ownResult } from '../../src/app/play/result';
import { seatFromHash } from '../../src/app/play/seat_keys';
import { PlaySession, type PlayServices } from '../../src/app/play/session.svelte';
import { botsFor, canSit, houseFor, requestOf, seatsWith, swapped, swappedRequest, usualOpponent, type Setup } from '../../src/app/play/setup';
import { answerButtons, MAX_SINGLE_BUTTONS, middleTarget, nextTarget, targetAt, targetsOf } from '../../src/app/play/targets';
import { timeLeft } from '../../src/app/play/time_left';
import type { PlayAsk, PlayInfo, PlayOpponents } from '../../src/app/types';

const inputOf = (game: string): GameInput => {
  const input = gameInput(game);
  if (!input) throw new Error(`${game} has no input`);
  return input;
};
const ids = (targets: InputTarget[]): string[] => targets.map((target) => target.id);

describe('targets on the boards', () => {
  test('Connect Five: a column with room, and the cell where the piece lands', () => {
    const board = Array.from({ length: 7 }, () => Array<number>(9).fill(0));
    for (let row = 0; row < 7; row += 1) (board[row] as number[])[3] = 1;
    (board[6] as number[])[0] = 2;
    expect([landingRow(board, 0), landingRow(board, 1), landingRow(board, 3)]).toEqual([5, 6, undefined]);
    const request = { frame: { board } as Json, seat: 0, legal: ['0', '1', '2', '4', '5', '6', '7', '8'] };
    const targets = targetsOf(inputOf('connect-five'), request);
    expect(ids(targets)).toEqual(request.legal);
    // Column 1 is drawn from 90 to 150. The hint is in the lowest row.
    expect(targetAt(targets, 91, 300)?.id).toBe('1');
    expect(targetAt(targets, 149, 100)?.id).toBe('1');
    expect(targetAt(targets, 240, 300), 'a full column').toBeUndefined();
    expect(targets[1]?.hint).toMatchObject({ x: 120, y: 482 });
    expect(nextTarget(targets, '2', 'right')?.id, 'past the full column').toBe('4');
  });

  test('Colour Battle: the neighbouring tiles, y upwards, none beyond the edge', () => {
    const frame = { side: 10, bots: [{ position: [0, 0] }, { position: [4, 7] }] } as Json;
    const legal = ['U', 'D', 'L', 'R', 'S'];
    expect(ids(targetsOf(inputOf('colour-battle'), { frame, seat: 0, legal }))).toEqual(['U', 'R', 'S']);
    const targets = targetsOf(inputOf('colour-battle'), { frame, seat: 1, legal });
    expect(ids(targets)).toEqual(legal);
    // The own tile is the third row from the top.
    expect(targetAt(targets, 4.5, 2.5)?.id).toBe('S');
    expect(targetAt(targets, 4.5, 1.5)?.id).toBe('U');
    expect(targetAt(targets, 4.5, 3.5)?.id).toBe('D');
    expect(targetAt(targets, 3.5, 2.5)?.id).toBe('L');
    expect(targetAt(targets, 5.5, 2.5)?.id).toBe('R');
    expect(targetsOf(inputOf('colour-battle'), { frame, seat: 9, legal })).toEqual([]);
  });

  test('Hide and Seek: the cells beside the player that are legal, y downwards', () => {
    const runner = (pos: Json): Json => ({ pos });
    const frame = { seeker: runner([5, 6]), hider: runner(null) } as Json;
    const targets = targetsOf(inputOf('hide-and-seek'), { frame, seat: 0, legal: ['L', 'D', 'S'] });
    expect(ids(targets)).toEqual(['L', 'D', 'S']);
    expect(targetAt(targets, 4.5 * 24, 6.5 * 24)?.id).toBe('L');
    expect(targetAt(targets, 5.5 * 24, 7.5 * 24)?.id).toBe('D');
    expect(targetAt(targets, 5.5 * 24, 6.5 * 24)?.id).toBe('S');
    expect(targetAt(targets, 6.5 * 24, 6.5 * 24), 'a wall').toBeUndefined();
    expect(targetsOf(inputOf('hide-and-seek'), { frame, seat: 1, legal: ['S'] }), 'an unknown position').toEqual([]);
  });

  test('Solitude Scramble: platforms as seen from the side, facing the centre', () => {
    const from = (side: string): (string | undefined)[] => ['L', 'R', 'C'].map((answer) => platformOf(answer, side));
    expect([from('NORTH'), from('EAST'), from('SOUTH'), from('WEST')]).toEqual([
      ['NE', 'NW', 'CENTER'],
      ['SE', 'NE', 'CENTER'],
      ['SW', 'SE', 'CENTER'],
      ['NW', 'SW', 'CENTER'],
    ]);
    const frame = { now: { sides: ['WEST', 'NORTH', 'EAST', 'SOUTH'], platform_scores: { NW: 4, SW: 1, CENTER: 3, NE: 2, SE: 5 } } } as Json;
    const targets = targetsOf(inputOf('solitude-scramble'), { frame, seat: 0, legal: ['L', 'R', 'C'] });
    expect(targetAt(targets, 90, 84)?.id).toBe('L');
    expect(targetAt(targets, 300, 240)?.id).toBe('C');
    expect(targets[0]?.label).toContain('4');
  });

  test('Word Racer: one target for a cell, and the letter in a second step', () => {
    expect([partsOf('Q17'), partsOf('17'), partsOf('!timeout')]).toEqual([{ letter: 'Q', cell: 17 }, { letter: '', cell: 17 }, undefined]);
    const call = { frame: { asked: 'call', calls: 'AB' } as Json, seat: 0, legal: ['A8', 'B8', 'A17', 'B17'] };
    const targets = targetsOf(inputOf('word-racer'), call);
    expect(ids(targets)).toEqual(['8', '17']);
    expect(targets[0]?.answers).toEqual(['A8', 'B8']);
    expect(targetAt(targets, 75, 75)?.id).toBe('8');
    expect(targetAt(targets, 175, 125)?.id).toBe('17');
    const place = { ...call, frame: { asked: 'place', calls: 'AB' } as Json, legal: ['8', '17'] };
    expect(targetsOf(inputOf('word-racer'), place)[0]).toMatchObject({ answers: ['8'], preview: 'B' });
    expect(inputOf('word-racer').prompt?.(place)).toContain('B');
  });

  test.each(['connect-five', 'colour-battle', 'hide-and-seek', 'solitude-scramble', 'word-racer'])('%s: answers that are not legal have no target', (game) => {
    const frame = { board: [[0]], side: 3, bots: [{ position: [1, 1] }], seeker: { pos: [1, 1] }, hider: { pos: [1, 1] }, now: null, calls: '', asked: null } as Json;
    expect(targetsOf(inputOf(game), { frame, seat: 0, legal: [] })).toEqual([]);
    expect(targetsOf({ targets: () => [{ id: 'a', x: 0, y: 0, width: 1, height: 1, answers: ['X', 'Y'], label: '' }], describe: String }, { frame, seat: 0, legal: ['Y'] })[0]?.answers).toEqual(['Y']);
  });
});

const tile = (id: string, x: number, y: number): InputTarget => ({ id, x, y, width: 1, height: 1, answers: [id], label: id });

describe('keys over the board', () => {
  const grid = [0, 1, 2].flatMap((y) => [0, 1, 2].map((x) => tile(`${x}${y}`, x, y)));

  test('arrows go to the nearest target in their direction', () => {
    expect(middleTarget(grid)?.id).toBe('11');
    expect(nextTarget(grid, undefined, 'left')?.id).toBe('11');
    expect((['left', 'right', 'up', 'down'] as const).map((direction) => nextTarget(grid, '11', direction)?.id)).toEqual(['01', '21', '10', '12']);
    expect(nextTarget(grid, '00', 'left')?.id, 'at the edge').toBe('00');
    expect(nextTarget([tile('a', 0, 0), tile('b', 5, 1), tile('c', 1, 4)], 'a', 'right')?.id, 'what is straight ahead is nearer').toBe('b');
    expect([nextTarget([], undefined, 'up'), middleTarget([])]).toEqual([undefined, undefined]);
    expect(nextTarget(grid, 'gone', 'up')?.id, 'the target has disappeared').toBe('11');
  });

  const ask: PlayAsk = { turn: 1, request: { name: 'move', asks: '', example: '', keys: [{ key: 'ArrowUp', answer: 'UP' }, { key: '4', answer: '4' }] }, legal: [], limit_ms: null, asked_at: 0 };
  const context: KeyContext = { ask, previous: undefined, input: undefined, targets: grid, current: '11', opened: undefined };

  test('keys of the game come first, then arrows, then Enter', () => {
    expect(keyAction('ArrowUp', context)).toEqual({ do: 'answer', answer: 'UP' });
    expect(keyAction('4', context)).toEqual({ do: 'answer', answer: '4' });
    expect(keyAction('ArrowLeft', context)).toMatchObject({ do: 'point', target: { id: '01' } });
    expect(keyAction('Enter', context)).toMatchObject({ do: 'choose', target: { id: '11' } });
    expect(keyAction('Enter', { ...context, current: undefined })).toBeUndefined();
    expect(keyAction('z', context), 'zooms').toBeUndefined();
  });

  test('names of keys from other sources', () => {
    expect(['up', 'Left', '→', 'space', 'ArrowDown', '7'].map(domKey)).toEqual(['ArrowUp', 'ArrowLeft', 'ArrowRight', ' ', 'ArrowDown', '7']);
  });

  test('a letter chooses in the second step, or directly at the selected cell', () => {
    const input = inputOf('word-racer');
    const cell: InputTarget = { ...tile('17', 0, 0), answers: ['A17', 'Q17'] };
    const selected = { ...context, input, ask: { ...ask, request: { ...ask.request, keys: [] } }, targets: [cell], current: '17' };
    expect(keyAction('q', selected)).toEqual({ do: 'answer', answer: 'Q17' });
    expect(keyAction('Q', { ...selected, current: undefined, opened: cell.answers })).toEqual({ do: 'answer', answer: 'Q17' });
    expect(keyAction('Escape', { ...selected, opened: cell.answers })).toEqual({ do: 'close' });
    expect(keyAction('w', { ...selected, current: undefined }), 'a letter never reaches the viewer').toEqual({ do: 'nothing' });
  });

  test('while the person waits, keys of the game do not move the replay', () => {
    const waiting = { ...context, ask: undefined, previous: ask, targets: [] };
    expect(['ArrowUp', 'ArrowLeft', '4'].map((key) => keyAction(key, waiting))).toEqual(Array(3).fill({ do: 'nothing' }));
    expect(['z', 'End', 'Enter'].map((key) => keyAction(key, waiting))).toEqual([undefined, undefined, undefined]);
  });
});

describe('buttons', () => {
  test('one for each target, then for answers without a place', () => {
    const buttons = answerButtons([tile('a', 0, 0)], ['a', 'b'], (answer) => `answer ${answer}`);
    expect(buttons.map((button) => [button.label, button.answers])).toEqual([['a', ['a']], ['answer b', ['b']]]);
  });

  test('many answers without a place are grouped', () => {
    const legal = Array.from({ length: MAX_SINGLE_BUTTONS + 1 }, (_, i) => `${i % 2 === 0 ? 'A' : 'B'}${i}`);
    const buttons = answerButtons([], [...legal, 'C'], String);
    expect(buttons.map((button) => button.label)).toEqual(['A …', 'B …', 'C']);
    expect(buttons.flatMap((button) => button.answers).length).toBe(legal.length + 1);
  });
});

describe('a new game', () => {
  const game = { roles: ['seeker', 'hider'] };
  const opponents: PlayOpponents = {
    house: [
      { name: 'slow', about: '', roles: ['seeker'] },
      { name: 'fast', about: '', roles: ['seeker'] },
      { name: 'shy', about: '', roles: ['hider'] },
    ],
    bots: [{ bot: 12, name: 'Climber', contributor: 'Ada', competition: 'cup', competition_name: 'The Cup', role: 'seeker' }],
  };
  const setup: Setup = { game: 'hide-and-seek', seats: ['me', 'house shy'], clock: 'none', settings: {}, seed: '', name: '' };

  test('opponents by role and by a search', () => {
    expect(houseFor(opponents, 'hider').map((bot) => bot.name)).toEqual(['shy']);
    expect(houseFor(opponents, undefined).length).toBe(3);
    expect([botsFor(opponents, 'seeker', 'ada').length, botsFor(opponents, 'seeker', 'the CUP').length, botsFor(opponents, 'seeker', 'bob').length, botsFor(opponents, 'hider').length]).toEqual([1, 1, 0, 0]);
    expect(usualOpponent(opponents, 'seeker')).toBe('house slow');
    expect(usualOpponent({ house: [], bots: [] }, undefined)).toBe('person');
    expect([canSit('bot 12', opponents, 'seeker'), canSit('bot 12', opponents, 'hider'), canSit('bot 99', opponents, undefined), canSit('person', opponents, 'hider')]).toEqual([true, false, false, true]);
  });

  test('an opponent that does not play a role is replaced', () => {
    expect(seatsWith(game, opponents, 2, 1, 'house fast')).toEqual(['house fast', 'me']);
    expect(seatsWith(game, opponents, 2, 0, 'house fast')).toEqual(['me', 'house shy']);
    expect(swapped(game, opponents, ['me', 'house shy'])).toEqual(['house slow', 'me']);
    expect(seatsWith({ roles: [] }, opponents, 4, 2, 'house fast')).toEqual(['house fast', 'house fast', 'me', 'house fast']);
  });

  test('the request has only what was changed', () => {
    expect(requestOf(setup)).toEqual({ game: 'hide-and-seek', seats: [{ person: true }, { house: 'shy' }], clock: 'none' });
    const more = requestOf({ ...setup, seats: ['person', 'bot 12', 'me'], settings: { steps: ' 12 ', other: '' }, seed: ' 7 ', name: 'Ada ' });
    expect(more).toEqual({ game: 'hide-and-seek', seats: [{ person: true }, { bot: 12 }, { person: true }], clock: 'none', settings: { steps: '12' }, seed: '7', name: 'Ada', seat: 2 });
  });

  test('sides are swapped', () => {
    const request = requestOf({ ...setup, game: 'connect-five' });
    expect(swappedRequest(request).seats).toEqual([{ house: 'shy' }, { person: true }]);
    expect(swappedRequest(swappedRequest(request))).toEqual(request);
    const persons = swappedRequest(requestOf({ ...setup, seats: ['me', 'person'] }));
    expect(persons.seat, 'the caller sits on the other side').toBe(1);
    expect(swappedRequest(persons).seat).toBeUndefined();
  });
});

test('the seat in the address', () => {
  expect(seatFromHash('#seat=1&key=0123456789abcdef')).toEqual({ seat: 1, key: '0123456789abcdef' });
  expect(['', '#t=4', '#seat=1', '#seat=x&key=0123456789abcdef', '#seat=1&key=<script>'].map(seatFromHash)).toEqual(Array(5).fill(undefined));
});

test('time left', () => {
  expect(timeLeft(null, 0, 5)).toBeUndefined();
  expect(timeLeft(2_000, 1_000, 1_500)).toEqual({ seconds: 1.5, share: 0.75 });
  expect(timeLeft(2_000, 1_000, 9_000)).toEqual({ seconds: 0, share: 0 });
  expect(timeLeft(2_000, 1_000, 500), 'a clock that runs backwards').toEqual({ seconds: 2, share: 1 });
  expect(timeLeft(0, 0, 0)).toEqual({ seconds: 0, share: 0 });
});

test('the own result', () => {
  const outcome = (...places: number[]) => ({ ended: '', seats: places.map((place) => ({ score: 0, place })) });
  expect([ownResult(outcome(1, 2), 0), ownResult(outcome(1, 2), 1), ownResult(outcome(1, 1), 0)]).toEqual([{ kind: 'won' }, { kind: 'lost' }, { kind: 'drawn' }]);
  expect([ownResult(outcome(1, 2, 3, 3), 3), ownResult(outcome(1, 1, 3, 4), 0), ownResult(outcome(1), 4)]).toEqual([{ kind: 'placed', place: 3, of: 4 }, { kind: 'placed', place: 1, of: 4 }, undefined]);
});

/** A server for one seat: what the session sends, and a stream that the test writes to. */
class FakeServer {
  readonly sent: [string, string, unknown][] = [];
  answer: () => unknown = () => undefined;
  info: PlayInfo | RequestError = { id: 'x', game: 'connect-five', state: 'playing', clock: 'none', seats: [], names: [], played: null, error: null };
  streams = 0;
  stopped = 0;
  time = 1_000;
  #stream: Parameters<PlayServices['subscribe']>[1] | undefined;

  readonly services: PlayServices = {
    get: (() => (this.info instanceof RequestError ? Promise.reject(this.info) : Promise.resolve(this.info))) as PlayServices['get'],
    send: (async (method: string, path: string, body: unknown) => {
      this.sent.push([method, path, body]);
      const answer = this.answer();
      if (answer instanceof Error) throw answer;
      return answer;
    }) as PlayServices['send'],
    subscribe: (_, options) => {
      this.streams += 1;
      this.#stream = options;
      return { stop: () => (this.stopped += 1) };
    },
    now: () => this.time,
  };

  connect(): void {
    this.#stream?.onOpen?.(this.streams > 1);
  }

  lose(): void {
    this.#stream?.onLost?.();
  }

  say(name: string, data: unknown): void {
    this.#stream?.on[name]?.(data as never);
  }
}

const head = (deltas: Json[] = []): Film => ({
  agon: 'film', version: 1, game: 'connect-five', title: 'Connect Five', names: ['Ada', 'random'], settings: {}, first: { moves: 0 }, deltas, answers: deltas.map(() => ''),
  micros: [[], []], faults: [], standing: { of: '', lines: [] }, score: { name: 'score', unit: '', decimals: 0 },
});
const turn = (moves: number): { delta: Json } => ({ delta: { moves } });
const askFor = (number: number, limit: number | null = null, at = 1_000): PlayAsk => ({ turn: number, request: { name: 'move', asks: '', example: '4', keys: [] }, legal: ['4'], limit_ms: limit, asked_at: at });

async function playing(): Promise<{ server: FakeServer; session: PlaySession }> {
  const server = new FakeServer();
  const session = new PlaySession('x', { seat: 0, key: 'secret-key' }, server.services);
  await session.start();
  server.connect();
  server.say('head', head());
  return { server, session };
}

describe('a session', () => {
  test('asks for an answer, sends it, and goes on with the next turn', async () => {
    const { server, session } = await playing();
    expect([session.connection, session.playing, session.film?.live]).toEqual(['open', true, true]);
    server.say('ask', askFor(1));
    await session.answer('4');
    expect(server.sent).toEqual([['POST', '/play/x/answers', { turn: 1, answer: '4' }]]);
    expect(session.ask).toBeUndefined();
    server.say('part', { from: 1, turns: [turn(1), turn(2)] });
    server.say('ask', askFor(3));
    expect([session.frame, session.ask?.turn]).toEqual([{ moves: 2 }, 3]);
  });

  test('a request that follows while the answer is on its way is kept', async () => {
    const { server, session } = await playing();
    server.say('ask', askFor(1));
    server.answer = () => {
      server.say('part', { from: 1, turns: [turn(1)] });
      server.say('ask', askFor(2));
      return undefined;
    };
    await session.answer('4');
    expect([session.ask?.turn, session.sending]).toEqual([2, false]);
  });

  test('an illegal answer is explained, and the person is still asked', async () => {
    const { server, session } = await playing();
    server.say('ask', askFor(1));
    server.answer = () => new RequestError(422, 'illegal', 'illegal answer', { details: ['column 4 is full'] });
    await session.answer('4');
    expect(session.refused).toContain('column 4 is full');
    expect([session.ask?.turn, session.error]).toEqual([1, undefined]);
    server.say('part', { from: 1, turns: [turn(1)] });
    expect(session.refused).toBe('');
  });

  test('an answer to another turn ends the request; other errors keep it', async () => {
    const { server, session } = await playing();
    server.say('ask', askFor(1));
    server.answer = () => new RequestError(0, 'offline', 'Server not reachable.');
    await session.answer('4');
    expect([session.ask?.turn, (session.error as RequestError).code]).toEqual([1, 'offline']);
    server.answer = () => new RequestError(409, 'other_turn', 'another turn');
    await session.answer('4');
    expect([session.ask, session.error]).toEqual([undefined, undefined]);
  });

  test('one answer at a time, and none without a request', async () => {
    const { server, session } = await playing();
    await session.answer('4');
    server.say('ask', askFor(1));
    await Promise.all([session.answer('4'), session.answer('5')]);
    expect(server.sent.length).toBe(1);
  });

  test('a turn without the answer of the person ends the request', async () => {
    const { server, session } = await playing();
    server.say('ask', askFor(1, 300));
    server.say('part', { from: 1, turns: [turn(1)] });
    expect(session.ask).toBeUndefined();
  });

  test('after a reconnection the viewer keeps its turns, and the clock goes on', async () => {
    const { server, session } = await playing();
    const parts: number[] = [];
    const viewer: ViewerHandle = { seek: () => undefined, destroy: () => undefined, setInput: () => undefined, turn: () => 0, append: (part) => parts.push(part.turns.length) > 0 };
    server.say('part', { from: 1, turns: [turn(1)] });
    session.viewerReady(viewer);
    server.say('ask', askFor(2, 2_000));
    const film = session.film;
    server.lose();
    expect(session.connection).toBe('lost');
    server.time = 2_500;
    server.connect();
    server.say('head', head());
    server.say('part', { from: 1, turns: [turn(1)] });
    expect(session.ask?.turn, 'no turn was played meanwhile').toBe(2);
    server.say('ask', askFor(2, 2_000));
    expect([session.connection, session.film === film, session.ask?.since]).toEqual(['open', true, 1_000]);
    server.say('part', { from: 2, turns: [turn(2), turn(3)] });
    expect([session.frame, parts]).toEqual([{ moves: 3 }, [1, 1, 2]]);
  });

  test('after a reload the clock goes on', async () => {
    const server = new FakeServer();
    const session = new PlaySession('x', { seat: 0, key: 'secret-key' }, server.services);
    await session.start();
    server.connect();
    server.say('head', head([{ moves: 1 }]));
    server.time = 1_700;
    server.say('ask', askFor(2, 2_000));
    expect([session.frame, session.ask?.since]).toEqual([{ moves: 1 }, 1_000]);
    server.say('part', { from: 2, turns: [turn(2)] });
    server.time = 9_000;
    server.say('ask', askFor(3, 2_000, 1_000));
    expect(session.ask?.since, 'the clock of the server is another').toBe(9_000);
  });

  test('missing turns open the stream again', async () => {
    const { server, session } = await playing();
    server.say('part', { from: 3, turns: [turn(3)] });
    expect([server.streams, session.film]).toEqual([2, undefined]);
    server.connect();
    server.say('head', head());
    server.say('part', { from: 1, turns: [turn(1), turn(2), turn(3)] });
    expect(session.frame).toEqual({ moves: 3 });
  });

  test('a game that is gone is not asked for again', async () => {
    const { server, session } = await playing();
    server.info = new RequestError(404, 'not_found', 'no such game');
    server.lose();
    await session.reload();
    expect([session.connection, session.playing]).toEqual(['gone', false]);
    expect(server.stopped).toBeGreaterThan(0);
  });

  test('the end has the result, closes the stream, and a closed stream is no error', async () => {
    const { server, session } = await playing();
    server.say('ask', askFor(1));
    const outcome = { ended: 'five in a line', seats: [{ score: 1, place: 1 }, { score: 0, place: 2 }] };
    server.say('part', { from: 1, turns: [turn(1)] });
    server.say('end', { outcome, played: 'abc' });
    server.lose();
    expect([session.end?.played, session.playing, session.ask, session.connection]).toEqual(['abc', false, undefined, 'open']);
    expect(session.frames?.film.outcome).toEqual(outcome);
    expect(server.stopped).toBeGreaterThan(0);
  });

  test('a game that could not be played is over', async () => {
    const { server, session } = await playing();
    server.info = { ...(server.info as PlayInfo), state: 'over', error: 'a bot could not be started' };
    server.say('lobby', server.info);
    expect(session.end, 'the end may still come').toBeUndefined();
    server.lose();
    await expect.poll(() => session.end).toBeDefined();
    expect([session.playing, session.end]).toEqual([false, { outcome: null, played: null }]);
    expect(server.stopped).toBeGreaterThan(0);
  });

  test('leaving ends the game for this person', async () => {
    const { server, session } = await playing();
    await session.leave();
    expect(server.sent).toEqual([['DELETE', '/play/x/seats/0', undefined]]);
    expect([session.left, session.playing]).toEqual([true, false]);
  });

  test('a key that is no longer valid is forgotten', async () => {
    const server = new FakeServer();
    const seat = { kind: 'person' as const, name: '', role: 'player', taken: false, mine: false, left: false };
    server.info = { ...(server.info as PlayInfo), state: 'lobby', seats: [seat, seat] };
    const session = new PlaySession('x', { seat: 0, key: 'an-old-key' }, server.services);
    await session.start();
    expect([session.seat, server.streams]).toEqual([undefined, 0]);
  });

  test('whoever has no seat opens no stream, and can take one', async () => {
    const server = new FakeServer();
    const session = new PlaySession('x', undefined, server.services);
    await session.start();
    expect([server.streams, session.playing]).toEqual([0, false]);
    server.answer = () => ({ seat: 1, key: 'another-key' });
    await session.join(1, ' Bob ');
    expect(server.sent).toEqual([['POST', '/play/x/seats/1', { name: 'Bob' }]]);
    expect([server.streams, session.seat]).toEqual([1, { seat: 1, key: 'another-key' }]);
  });
});

test('a game without an input', () => expect(gameInput('chess')).toBeUndefined());
