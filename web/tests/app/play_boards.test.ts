// The boards draw what a player sees: hidden parts are null or empty, and the places of the answers are drawn above the board.

import { render } from 'svelte/server';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../src/delta';
import { FrameIndex, type Film } from '../../src/film';
import { gameInput } from '../../src/games/inputs';
import type { BoardInput } from '../../src/games/types';
import { gameView } from '../../src/games/views';
import { Zoom } from '../../src/zoom.svelte';
import { targetsOf } from '../../src/app/play/targets';

interface SeatFilm {
  game: string;
  seat: number;
  /** The frame at the start, and after the turn of another seat. */
  frames: [Json, Json];
  legal: string[];
  /** Parts of the drawing that show what is known. */
  shows: RegExp;
  /** Texts that would show what is hidden. */
  hides: RegExp;
}

const empty = Array.from({ length: 7 }, () => Array<number>(9).fill(0));
const dropped = empty.map((row, i) => (i === 6 ? row.map((cell, column) => (column === 4 ? 2 : cell)) : row));
const connect = { players: [1, 2], line: [], special: [], p: null, q: null, played: 0, ended: null, winner: null, fault: null };
const map = Array.from({ length: 20 }, () => Array<number>(20).fill(0));
const own = { pos: [3, 4], spawn: [3, 4], enemy_is_visible: false, enemy_pos: [10, 11], enemy_pos_since: 0, view: Array<number>(20).fill(7), walked: 0 };
const other = { pos: null, spawn: [10, 11], enemy_is_visible: false, enemy_pos: null, enemy_pos_since: null, view: [], walked: null };
const hide = { map, map_seed: null, game_seed: null, steps: 40, sees: false, line: null, seeker: other, hider: own, last: null, ending: null, score: null };
const board = (letters: { [cell: number]: string }): string => Array.from({ length: 49 }, (_, cell) => letters[cell] ?? '.').join('');
const words = { turns: 24, first: 1, start: 'K', fault: null, result: null };
const deal = { platform_scores: { NW: 5, NE: 4, CENTER: 3, SW: 2, SE: 1 }, sides: ['NORTH', 'EAST', 'SOUTH', 'WEST'] };

const FILMS: SeatFilm[] = [
  {
    game: 'connect-five',
    seat: 0,
    frames: [
      { ...connect, board: empty, moves: 0, to_move: 1, last: null },
      { ...connect, board: dropped, moves: 1, to_move: 0, last: { seat: 1, player: 2, named: 4, column: 4, row: 6, drift: 0 } },
    ],
    legal: ['0', '1', '2', '3', '4', '5', '6', '7', '8'],
    shows: /They are revealed at the end/,
    hides: /Special columns/,
  },
  {
    game: 'hide-and-seek',
    seat: 1,
    frames: [
      { ...hide, step: 0, turn: 0 },
      { ...hide, step: 1, turn: 1 },
    ],
    legal: ['L', 'R', 'U', 'D', 'S'],
    shows: /class="[^"]*ghost/,
    hides: /class="sight/,
  },
  {
    game: 'word-racer',
    seat: 0,
    frames: [
      { ...words, turn: 0, to_move: 1, asked: 'call', calls: '', places: [[], []], last: null, boards: [board({ 24: 'K' }), board({ 24: 'K' })], words: [[], []], points: [0, null] },
      { ...words, turn: 0, to_move: 0, asked: 'place', calls: 'Q', places: [[], []], last: { caller: 1, letter: 'Q', positions: [null, null] }, boards: [board({ 24: 'K' }), board({ 24: 'K' })], words: [[], []], points: [0, null] },
    ],
    legal: ['0', '1', '2'],
    shows: /Board of Ada/,
    hides: /Board of random/,
  },
  {
    game: 'solitude-scramble',
    seat: 0,
    frames: [
      { turn: 1, turns: 2, over: false, now: deal, last: null, totals: [0, 0, 0, 0] },
      { turn: 1, turns: 2, over: false, now: deal, last: null, totals: [0, 0, 0, 0] },
    ],
    legal: ['L', 'R', 'C'],
    shows: /NORTH/,
    hides: /class="[^"]*award/,
  },
];

const filmOf = ({ game, frames: [first, second] }: SeatFilm): Film => ({
  agon: 'film', version: 1, game, title: game, names: game === 'solitude-scramble' ? ['Ada', 'a', 'b', 'c'] : ['Ada', 'random'], settings: {}, first, deltas: [['=', second]], answers: [''],
  movers: [[1]], micros: [[], []], faults: [], standing: { of: '', lines: [] }, score: { name: 'score', unit: '', decimals: 0 }, live: true,
});

describe.each(FILMS)('$game', (played) => {
  const view = gameView(played.game);
  const input = gameInput(played.game);
  if (!view || !input) throw new Error(`${played.game} is not complete`);
  const frames = new FrameIndex(filmOf(played));
  const badges = frames.film.names.map((_, seat) => view.badge(frames.film.first, seat));
  const targets = targetsOf(input, { frame: frames.frame(1), seat: played.seat, legal: played.legal });
  const board: BoardInput = { seat: played.seat, targets, current: targets[0]?.id, opened: undefined, choose: () => undefined, point: () => undefined };
  const draw = (turn: number, progress: number, shown: BoardInput | undefined): string =>
    render(view.Board, { props: { frames, turn, progress, badges, chosen: undefined, dark: false, label: view.describe(frames, turn), zoom: new Zoom(), input: shown } }).body;

  test('draws every turn at every progress, with and without a person', () => {
    for (const turn of [0, 1]) {
      for (const progress of [0, 0.5, 1]) {
        const drawn = draw(turn, progress, turn === 1 ? board : undefined);
        expect(drawn).not.toMatch(played.hides);
        expect(drawn).not.toMatch(/NaN|undefined/);
      }
    }
    expect(draw(1, 1, undefined)).toMatch(played.shows);
  });

  test('has a place for each legal answer', () => {
    expect(targets.flatMap((target) => target.answers).sort()).toEqual([...played.legal].sort());
    const drawn = draw(1, 1, board);
    for (const target of targets) expect(drawn).toContain(`data-target="${target.id}"`);
    expect(drawn).toContain('aria-hidden="true"');
  });

  test('describes and marks what the player sees', () => {
    expect(view.describe(frames, 1)).not.toMatch(/NaN|undefined|null/);
    expect(view.captures?.find(frames) ?? []).toEqual([]);
    if (view.Notes) expect(render(view.Notes, { props: { frames, turn: 1, badges, seek: () => undefined } }).body).not.toMatch(/NaN|undefined/);
    for (const answer of played.legal) expect(input.describe(answer, { frame: frames.frame(1), seat: played.seat, legal: played.legal })).not.toMatch(/undefined|NaN/);
  });
});
