// Every game has all parts of the web app: a view, a board, an icon, a picture, an accent and texts. The test names the missing part.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { render } from 'svelte/server';
import { describe, expect, test } from 'vitest';
import { gameAccent } from '../src/games/accents';
import { gameIcon } from '../src/games/icons';
import { byGame } from '../src/games/parts';
import { gamePicture } from '../src/games/pictures';
import { gameView } from '../src/games/views';

const GAMES = resolve(import.meta.dirname, '../src/games');
const RULES = resolve(import.meta.dirname, '../../crates/agon-games/src');
const PARTS = ['view.ts', 'Board.svelte', 'Icon.svelte', 'Picture.svelte', 'accent.ts', 'texts.ts'];

const folders = (path: string): string[] =>
  readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);

/** Ids of the games: the folders with rules. */
const IDS = folders(RULES)
  .filter((name) => existsSync(join(RULES, name, 'rules.rs')) || existsSync(join(RULES, name, 'mod.rs')))
  .map((name) => name.replaceAll('_', '-'));

/** Missing files of a game, below the folder of all games. */
const missingParts = (games: string, id: string): string[] => PARTS.map((part) => `${id}/${part}`).filter((path) => !existsSync(join(games, path)));

test('every game with rules has a folder, and every folder has rules', () => {
  expect(folders(GAMES).sort()).toEqual([...IDS].sort());
  expect(IDS.length).toBeGreaterThan(0);
});

describe.each(IDS)('%s', (id) => {
  test('has all parts', () => {
    expect(missingParts(GAMES, id)).toEqual([]);
  });

  test('has a view that can draw and describe', () => {
    const view = gameView(id);
    expect(Object.keys(view ?? {})).toEqual(expect.arrayContaining(['Board', 'speed', 'ranked', 'badge', 'describe']));
    expect(view?.speed).toBeGreaterThan(0);
  });

  test('has an icon of SVG elements', () => {
    const Icon = gameIcon(id);
    if (!Icon) throw new Error(`${id}/Icon.svelte has no default export`);
    expect(render(Icon, { props: {} }).body).toMatch(/<(circle|rect|path)/);
  });

  test('has a picture of SVG elements', () => {
    const Picture = gamePicture(id);
    if (!Picture) throw new Error(`${id}/Picture.svelte has no default export`);
    expect(render(Picture, { props: {} }).body).toMatch(/<(circle|rect|path)/);
  });

  test('has an accent of its own for light and dark pages', () => {
    const accent = gameAccent(id);
    expect(accent?.light).toMatch(/^#[0-9a-f]{6}$/);
    expect(accent?.dark).toMatch(/^#[0-9a-f]{6}$/);
    expect(IDS.filter((other) => gameAccent(other)?.light === accent?.light)).toEqual([id]);
  });

  test('has texts', () => {
    expect(readFileSync(join(GAMES, id, 'texts.ts'), 'utf8')).toContain('export const texts');
  });
});

test('a missing part is reported by name', () => {
  const games = mkdtempSync(join(tmpdir(), 'agon-games-'));
  try {
    mkdirSync(join(games, 'nim'));
    for (const part of ['view.ts', 'Board.svelte', 'Picture.svelte', 'accent.ts', 'texts.ts']) writeFileSync(join(games, 'nim', part), '');
    expect(missingParts(games, 'nim')).toEqual(['nim/Icon.svelte']);
  } finally {
    rmSync(games, { recursive: true });
  }
});

test('an unknown game has no parts', () => {
  expect([gameView, gameIcon, gamePicture, gameAccent].map((part) => part('chess'))).toEqual([undefined, undefined, undefined, undefined]);
  expect(gameView('constructor')).toBeUndefined();
  expect(byGame({ './chess/view.ts': 1 }).get('chess')).toBe(1);
});
