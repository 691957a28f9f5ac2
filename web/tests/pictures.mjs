// Takes the pictures of the README: `npm run pictures -- FOLDER`.

import { chromium } from 'playwright-core';
import { CHROMIUM, FLAGS, Pages } from './agon.mjs';

const BOTS = ['planner', 'drawn', 'seeker', 'short-sighted', 'sweeper'].map((name) => `house:${name}`);
/** @type {[string, string, string[], number, number, boolean, boolean][]} Name, game, bots, seed, turn, dark, phone. */
const SHOTS = [
  ['solitude', 'solitude-scramble', ['house:profiler', 'house:greedy', 'house:left', 'house:random'], 9, 4, false, false],
  ['colour', 'colour-battle', [...BOTS, ...BOTS, ...BOTS, ...BOTS], 7, 900, false, false],
  ['connect', 'connect-five', ['house:line-counter', 'house:tactician'], 8, 31, false, false],
  ['hide', 'hide-and-seek', ['house:hunting-seeker', 'house:shadow-hider'], 3, 24, true, false],
  ['word', 'word-racer', ['house:planner', 'house:crossword'], 7, 60, false, false],
  ['phone', 'connect-five', ['house:line-counter', 'house:tactician'], 8, 31, true, true],
];
const folder = process.argv[2] ?? '../docs/pictures';
const pages = new Pages();
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
try {
  for (const [name, game, bots, seed, turn, dark, phone] of SHOTS) {
    const url = pages.make(game, bots, seed);
    const viewport = phone ? { width: 320, height: 620 } : { width: 1060, height: 760 };
    const context = await browser.newContext({ viewport, colorScheme: dark ? 'dark' : 'light' });
    const page = await context.newPage();
    await page.goto(`${url}#t=${turn}`);
    await page.waitForSelector(`.replay[data-told="${turn}"]`);
    await page.waitForTimeout(500);
    await page.screenshot({ path: `${folder}/web-${name}.png` });
    await context.close();
  }
} finally {
  await browser.close();
  pages.remove();
}
