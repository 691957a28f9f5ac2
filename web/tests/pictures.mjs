// Takes screenshots: `npm run pictures -- FOLDER` of the viewer for docs/gallery.md, `npm run pictures -- gallery FOLDER` of a server and of
// reports for that page, `npm run pictures -- site FOLDER` of all pages of a server.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { CHROMIUM, FLAGS, Pages } from './agon.mjs';
import { competitions, fillSite } from './site/sample_site.mjs';
import { PASSWORD, SiteServer } from './site/server.mjs';

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
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
try {
  if (process.argv[2] === 'site') await site(process.argv[3] ?? 'pictures', process.argv[4] ?? '');
  else if (process.argv[2] === 'gallery') {
    await gallery(process.argv[3] ?? '../docs/pictures');
    await reports(process.argv[3] ?? '../docs/pictures');
  } else await viewer(process.argv[2] ?? '../docs/pictures');
} finally {
  await browser.close();
}

/** @param {string} folder */
async function viewer(folder) {
  const pages = new Pages();
  try {
    for (const [name, game, bots, seed, turn, dark, phone] of SHOTS) {
      const url = pages.make(game, bots, seed);
      const viewport = phone ? { width: 320, height: 620 } : { width: 1060, height: 760 };
      const context = await browser.newContext({ viewport, colorScheme: dark ? 'dark' : 'light' });
      const page = await context.newPage();
      await page.goto(`${url}#t=${turn}`);
      await page.waitForSelector(`.replay[data-panel-turn="${turn}"]`);
      await page.waitForTimeout(500);
      await page.screenshot({ path: `${folder}/web-${name}.png` });
      await context.close();
    }
  } finally {
    pages.remove();
  }
}

/**
 * Takes the screenshots of a server for docs/gallery.md.
 * @param {string} folder
 */
async function gallery(folder) {
  /** @type {[string, string, boolean][]} Name of the file, name of the page, dark. */
  const shots = [
    ['home', 'home', false],
    ['table', 'table-connect-five', true],
    ['charts', 'charts-connect-five', false],
    ['bot', 'my-bot', false],
    ['check', 'refused', false],
    ['admin', 'dashboard', false],
  ];
  const server = await SiteServer.start();
  try {
    const { pages } = await fillSite(server, true);
    for (const [file, name, dark] of shots) {
      const shown = pages.find((one) => one.name === name);
      if (shown === undefined) throw new Error(`no page ${name}`);
      const context = await browser.newContext({ baseURL: server.url, viewport: { width: 1280, height: 900 }, colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' });
      const page = await context.newPage();
      if (shown.who !== null) await signIn(page, shown.who);
      await page.goto(shown.path);
      await page.waitForSelector(shown.shows ?? 'h1');
      // Wait for charts and late responses.
      await page.waitForTimeout(400);
      await page.screenshot({ path: `${folder}/site-${file}.png` });
      await context.close();
    }
  } finally {
    await server.stop();
  }
}

/**
 * Takes the screenshots of reports for docs/gallery.md.
 * @param {string} folder
 */
async function reports(folder) {
  /** @type {[string, string, string, string, boolean, boolean][]} Name of the file, game, page, id of the section, dark, phone. */
  const shots = [
    ['solitude', 'solitude-scramble', 'summary.html', '', false, false],
    ['colour', 'colour-battle', 'phase-1.html', 'head-to-head', false, false],
    ['connect', 'connect-five', 'phase-1.html', 'head-to-head', true, false],
    ['hide', 'hide-and-seek', 'summary.html', '', false, false],
    ['word', 'word-racer', 'summary.html', '', false, false],
    ['phone', 'colour-battle', 'phase-1.html', 'scores', true, true],
  ];
  const pages = new Pages();
  try {
    for (const [game, { name, file, house }] of Object.entries(competitions(true))) {
      const entrants = house.map((bot) => `[[entrant]]\nbot = "house:${bot}"\n`).join('\n');
      writeFileSync(join(pages.folder, `${game}.toml`), `name = "${name}"\ngame = "${game}"\n${file}\n\n${entrants}`);
      for (const args of [['run', `${game}.toml`], ['report', `${game}.toml`, game]]) execFileSync(pages.agon, args, { cwd: pages.folder, stdio: 'pipe' });
    }
    for (const [file, game, path, section, dark, phone] of shots) {
      const viewport = phone ? { width: 320, height: 640 } : { width: 900, height: 700 };
      const context = await browser.newContext({ viewport, colorScheme: dark ? 'dark' : 'light' });
      const page = await context.newPage();
      await page.goto(`file://${join(pages.folder, game, path)}${section === '' ? '' : `#${section}`}`);
      await page.waitForSelector(section === '' ? 'h1' : `#${section}`);
      await page.screenshot({ path: `${folder}/report-${file}.png` });
      await context.close();
    }
  } finally {
    pages.remove();
  }
}

/**
 * Takes screenshots of all pages, wide and on a phone, light and dark.
 * @param {string} folder
 * @param {string} only Prefix of the page names.
 */
async function site(folder, only) {
  mkdirSync(folder, { recursive: true });
  const server = await SiteServer.start();
  try {
    const { pages } = await fillSite(server, true);
    for (const phone of [false, true]) {
      for (const dark of [false, true]) {
        for (const who of [null, 'Ada', 'Olga']) {
          const viewport = phone ? { width: 390, height: 844 } : { width: 1280, height: 900 };
          const context = await browser.newContext({ baseURL: server.url, viewport, colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' });
          const page = await context.newPage();
          if (who !== null) await signIn(page, who);
          for (const { name, path, shows } of pages.filter((one) => one.who === who && one.name.startsWith(only))) {
            await page.goto(path.replace('#t=4', '#t=9'));
            await page.waitForSelector(shows?.replace('"4"', '"9"') ?? 'h1', { timeout: 10_000 }).catch(() => console.error(`${name}: ${shows} not found`));
            // Wait for charts and late responses.
            await page.waitForTimeout(400);
            await page.screenshot({ path: `${folder}/${name}-${phone ? 'phone' : 'wide'}-${dark ? 'dark' : 'light'}.png`, fullPage: true });
          }
          await context.close();
        }
      }
    }
  } finally {
    await server.stop();
  }
}

/**
 * @param {import('playwright-core').Page} page
 * @param {string} name
 */
async function signIn(page, name) {
  await page.goto('/signin');
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/me');
}
