// Replay pages for browser tests, made by the program under test.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const CHROMIUM = process.env.AGON_CHROMIUM ?? '/usr/bin/chromium';

/** Headless, without background network traffic. */
export const FLAGS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

/** @type {{ [game: string]: string[] }} */
export const GAMES = {
  'solitude-scramble': ['house:profiler', 'house:greedy', 'house:left', 'house:random'],
  'colour-battle': [
    'house:planner', 'house:drawn', 'house:seeker', 'house:sweeper', 'house:random', 'house:short-sighted', '--set', 'rounds=60',
  ],
  'connect-five': ['house:line-counter', 'house:tactician'],
  'hide-and-seek': ['house:hunting-seeker', 'house:shadow-hider'],
  'word-racer': ['house:planner', 'house:crossword'],
};

/** The program under test. */
export function program() {
  const target = process.env.CARGO_TARGET_DIR ?? resolve(dirname(fileURLToPath(import.meta.url)), '../../target');
  const known = [process.env.AGON, join(target, 'debug/agon'), join(target, 'release/agon')];
  const found = known.find((path) => path !== undefined && existsSync(path));
  if (found === undefined) throw new Error('the agon program was not found: run `cargo build -p agon`, or set AGON=/path/to/agon');
  return found;
}

/** A temporary folder with replay pages. */
export class Pages {
  folder = mkdtempSync(join(tmpdir(), 'agon-web-'));
  agon = program();

  /**
   * Plays a game, writes its replay page and returns the address of the page.
   * @param {string} game
   * @param {string[]} bots
   * @param {number} seed
   */
  make(game, bots, seed) {
    const [record, page] = [join(this.folder, `${game}.agon`), join(this.folder, `${game}.html`)];
    execFileSync(this.agon, ['play', game, ...bots, '--seed', `${seed}`, '--force', '--record', record], { stdio: 'pipe' });
    execFileSync(this.agon, ['replay', record, '--html', page], { stdio: 'pipe' });
    return `file://${page}`;
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
