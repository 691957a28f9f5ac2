// Practice ladders and challenges: what their pages compute.

import { describe, expect, test } from 'vitest';
import { byRole, choiceValues, formLetters, isOpen, ladderState, parseChoice, resultText } from '../../src/app/practice';
import type { Challenge, PlayedGame, PracticeLadderPlayer } from '../../src/app/types';

const player = (name: string, role: string | null): PracticeLadderPlayer => ({
  bot: null, name, house: true, contributor: null, role, version: null, current: true, rating: 1500, error: 50, games: 10, faults: 0, form: 'WDL', mine: false, failed: null,
});

const challenge = (state: Challenge['state']): Challenge => ({
  id: '0123456789abcdef', state, error: null, game: 'some-game', competition: null, by: 'Ada', mine: true, settings: {}, games: 2, played: 0, waiting: 0, created: 0, started: null, finished: null,
  bots: [
    { name: 'One', bot: 7, competition: 'cup', version: 2, house: null, role: null, wins: 0, win_share: null, score: null, place: null },
    { name: 'random', bot: null, competition: null, version: null, house: 'random', role: null, wins: 0, win_share: null, score: null, place: null },
  ],
  items: [],
});

describe('practice ladder', () => {
  test('form shows the latest results and ignores what is unknown', () => {
    expect(formLetters('WWDLL', 3)).toEqual(['D', 'L', 'L']);
    expect(formLetters('x')).toEqual([]);
    expect(formLetters('')).toEqual([]);
  });

  test('players are grouped by role in the order of the list', () => {
    const groups = byRole([player('a', 'hider'), player('b', 'seeker'), player('c', 'hider')]);
    expect(groups.map((group) => [group.role, group.players.map((one) => one.name)])).toEqual([['hider', ['a', 'c']], ['seeker', ['b']]]);
    expect(byRole([player('a', null), player('b', null)])).toHaveLength(1);
    expect(byRole([])).toEqual([]);
  });

  test('state names the first reason why nothing is played', () => {
    expect(ladderState({ on: false, open: true, playing: false })).toBe('off');
    expect(ladderState({ on: true, open: false, playing: false })).toBe('closed');
    expect(ladderState({ on: true, open: true, playing: false })).toBe('waiting');
    expect(ladderState({ on: true, open: true, playing: true })).toBe('playing');
  });

  test('result lists the players by place', () => {
    const seat = (name: string, place: number, score: number): PlayedGame['seats'][number] => ({ name, kind: 'house', role: 'player', bot: null, competition: null, house: name, contributor: null, score, place, mine: false });
    const game: PlayedGame = { id: 'x', kind: 'practice', game: 'some-game', competition: 'cup', challenge: null, number: 1, seats: [seat('a', 2, 1.2345), seat('b', 1, 3)], settings: {}, ended: '', started: 0, finished: 0, film: null };
    expect(resultText(game)).toBe('b 3, a 1.23');
  });
});

describe('challenge', () => {
  test('choices of the form are read again', () => {
    expect(choiceValues(challenge('done'))).toEqual(['bot:7', 'house:random']);
    expect(choiceValues(challenge('done')).map(parseChoice)).toEqual([{ bot: 7 }, { house: 'random' }]);
    for (const wrong of ['', 'bot:', 'bot:x', 'house:', 'other']) expect(parseChoice(wrong)).toBeUndefined();
  });

  test('games may follow only while it waits or is played', () => {
    const states: Challenge['state'][] = ['queued', 'playing', 'done', 'failed', 'cancelled'];
    expect(states.filter((state) => isOpen(challenge(state)))).toEqual(['queued', 'playing']);
  });
});
