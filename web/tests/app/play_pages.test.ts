// Parts of the pages on which a person plays, drawn without a browser: what they show in each state of a game.

import { render } from 'svelte/server';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { FrameIndex, type Film } from '../../src/film';
import { gameInput } from '../../src/games/inputs';
import Answers from '../../src/app/pages/play/Answers.svelte';
import Lobby from '../../src/app/pages/play/Lobby.svelte';
import Opponents from '../../src/app/pages/play/Opponents.svelte';
import Result from '../../src/app/pages/play/Result.svelte';
import TurnStatus from '../../src/app/pages/play/TurnStatus.svelte';
import { PlaySession, type OpenAsk } from '../../src/app/play/session.svelte';
import type { AnswerButton } from '../../src/app/play/targets';
import { texts } from '../../src/app/texts/play';
import type { PlayInfo } from '../../src/app/types';

beforeAll(() => {
  vi.stubGlobal('location', { origin: 'http://site', pathname: '/play/s/x', search: '', hash: '' });
  vi.stubGlobal('navigator', {});
});
afterAll(() => void vi.unstubAllGlobals());

const person = { kind: 'person' as const, role: 'player', taken: true, mine: false, left: false };
const info: PlayInfo = {
  id: 'x', game: 'connect-five', state: 'playing', clock: 'none', played: null, error: null, names: ['Ada', 'random'],
  seats: [{ ...person, name: 'Ada', mine: true }, { ...person, kind: 'house', name: 'random' }],
};
const film: Film = {
  agon: 'film', version: 1, game: 'connect-five', title: 'Connect Five', names: ['Ada', 'random'], settings: {}, first: {}, deltas: [], answers: [], micros: [[], []], faults: [],
  standing: { of: '', lines: [] }, score: { name: 'score', unit: '', decimals: 0 },
};
const ask: OpenAsk = { turn: 3, request: { name: 'move', asks: 'a column', example: '4', keys: [{ key: '4', answer: '4' }, { key: 'ArrowUp', answer: 'UP' }] }, legal: ['4'], limit_ms: null, asked_at: 0, since: 0 };

function session(change: Partial<PlaySession> = {}): PlaySession {
  const one = new PlaySession('x', { seat: 0, key: 'secret-key' });
  Object.assign(one, { info, film, frames: new FrameIndex(film), connection: 'open', ...change });
  return one;
}
/** Text of a component, without tags. */
const textOf = (html: string): string => html.replace(/<!--[\s\S]*?-->/g, '').replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
const status = (change: Partial<PlaySession>, more: Partial<PlayInfo> = {}): string => textOf(render(TurnStatus, { props: { session: session(change), info: { ...info, ...more }, prompt: 'Choose a column.', selected: '' } }).body);

describe('the state of the game', () => {
  test('says whose turn it is and what is asked', () => {
    expect(status({ ask })).toContain('Your turn. Choose a column.');
    expect(status({})).toContain('Waiting for random.');
    expect(status({ waiting: [0, 1] })).toContain('Waiting for random.');
    const persons = { seats: [info.seats[0], { ...person, name: 'Bob' }] as PlayInfo['seats'], names: ['Ada', 'Bob'] };
    expect(status({ waiting: [1], frames: undefined }, persons)).toContain('Waiting for Bob.');
  });

  test('shows the time left only with a clock', () => {
    expect(status({ ask })).not.toMatch(/\d s/);
    expect(status({ ask: { ...ask, limit_ms: 90_000, since: Date.now() } })).toMatch(/\d+ s/);
  });

  test('shows why an answer was not accepted, and a lost connection', () => {
    expect(status({ ask, refused: 'column 4 is full' })).toContain('Not allowed. column 4 is full');
    expect(status({ ask, connection: 'lost' })).toContain('Connection lost');
    expect(status({ ask, sending: true })).toContain('Sending');
  });
});

describe('answers', () => {
  const buttons: AnswerButton[] = [{ label: 'Column 4', answers: ['4'] }];
  const draw = (change: object): string =>
    render(Answers, { props: { ask, input: gameInput('word-racer'), buttons, opened: undefined, current: undefined, sending: false, choose: () => undefined, give: () => undefined, close: () => undefined, point: () => undefined, ...change } }).body;

  test('are buttons, with the keys of the game', () => {
    expect(draw({})).toMatch(/<button[^>]*>Column 4<\/button>/);
    expect(textOf(draw({}))).toContain('4 ↑');
    expect(textOf(draw({ ask: { ...ask, request: { ...ask.request, keys: [] } } }))).toContain(texts.keysBoard);
  });

  test('are folded if there are many', () => {
    const many = Array.from({ length: 20 }, (_, i) => ({ label: `Cell ${i}`, answers: [`${i}`] }));
    expect(textOf(draw({ buttons: many }))).toContain('Answers as buttons (20)');
  });

  test('have a second step', () => {
    const second = draw({ opened: { label: 'Row 1, column 2', answers: ['A1', 'Q1'] } });
    expect(second).toMatch(/<button[^>]*>A<\/button><button[^>]*>Q<\/button>/);
    expect(textOf(second)).toContain('Which letter? Row 1, column 2');
  });

  test('are not offered while the person waits', () => expect(textOf(draw({ ask: undefined, buttons: [] }))).toContain(texts.noAnswers));
});

describe('the lobby', () => {
  const free: PlayInfo = { ...info, state: 'lobby', seats: [{ ...person, name: 'Ada', mine: true }, { ...person, name: '', taken: false }], names: ['Ada', ''] };

  test('has the link for a person with a seat, and no key in it', () => {
    const drawn = render(Lobby, { props: { session: session({ film: undefined }), info: free, title: 'Connect Five' } }).body;
    expect(drawn).toContain('http://site/play/s/x');
    expect(drawn).not.toContain('secret-key');
    expect(textOf(drawn)).not.toContain(texts.join);
  });

  test('offers the free seat to a visitor', () => {
    const drawn = textOf(render(Lobby, { props: { session: session({ film: undefined, seat: undefined }), info: free, title: 'Connect Five' } }).body);
    expect(drawn).toContain(texts.join);
    expect(drawn).not.toContain('http://site');
  });

  test('says when all seats are taken', () => {
    const drawn = textOf(render(Lobby, { props: { session: session({ film: undefined, seat: undefined }), info, title: 'Connect Five' } }).body);
    expect(drawn).toContain(texts.running);
  });
});

describe('the result', () => {
  const outcome = { ended: 'five in a line', seats: [{ score: 1, place: 1 }, { score: 0, place: 2 }] };
  const result = (change: Partial<PlaySession>, more: Partial<PlayInfo> = {}): string => render(Result, { props: { session: session(change), info: { ...info, ...more } } }).body;

  test('says who has won, and links to the replay', () => {
    const drawn = result({ frames: new FrameIndex({ ...film, outcome }), end: { outcome, played: 'abc' } });
    expect(textOf(drawn)).toContain('You have won. Five in a line. 1. Ada 1');
    expect(drawn).toContain('href="/played/abc"');
  });

  test('has no link to a game that was not stored, and says why a game failed', () => {
    const drawn = result({ end: { outcome: null, played: null } }, { error: 'a bot could not be started' });
    expect(drawn).not.toContain('/played/');
    expect(textOf(drawn)).toContain('A bot could not be started.');
  });
});

test('opponents: house bots in their order, another person, and bots of authors', () => {
  const opponents = {
    house: [{ name: 'weak', about: 'plays at random', roles: [] }, { name: 'strong', about: 'searches', roles: [] }],
    bots: Array.from({ length: 8 }, (_, i) => ({ bot: i, name: `Bot ${i}`, contributor: 'Ada', competition: 'cup', competition_name: 'The Cup', role: null })),
  };
  const drawn = render(Opponents, { props: { opponents, roles: [undefined], value: 'house strong', several: false, choose: () => undefined } }).body;
  expect(drawn.indexOf('weak')).toBeLessThan(drawn.indexOf('strong'));
  expect(drawn).toMatch(/value="house strong"[^>]*checked/);
  expect(drawn).toContain('type="search"');
  expect(textOf(drawn)).toContain('Bot 7 by Ada, The Cup');
});
