// Performance of the viewer with a Colour Battle of 20 bots and 2,000 rounds: bytes, time to the first frame, frames per second. First for
// a page from disk, then for a server, with the size of each game's film. `make bench` runs it with the release build.

import { readdirSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { CHROMIUM, FLAGS, Pages } from './agon.mjs';
import { SiteServer } from './site/server.mjs';

const BOTS = ['planner', 'drawn', 'seeker', 'short-sighted', 'sweeper'].map((name) => `house:${name}`);
const pages = new Pages();
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
try {
  const url = pages.make('colour-battle', [...BOTS, ...BOTS, ...BOTS, ...BOTS, '--set', 'rounds=2000'], 7);
  const bytes = readFileSync(new URL(url));
  console.log(`page of 20 bots x 2,000 rounds: ${kib(bytes.length)}, gzip ${kib(gzipSync(bytes).length)}  (floor 2,048 KiB)`);
  await measureViewer(url);
  await measureServer();
} finally {
  await browser.close();
  pages.remove();
}

/**
 * Measures the loading time and the frame rate of a replay.
 * @param {string} url
 */
async function measureViewer(url) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 860 } });
  const firsts = [];
  for (let i = 0; i < 5; i += 1) {
    const page = await context.newPage();
    const startedAt = performance.now();
    await page.goto(`${url}#t=1000`, { waitUntil: 'commit' });
    await page.waitForSelector('.replay[data-turn="1000"] canvas');
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    firsts.push(performance.now() - startedAt);
    if (i < 4) await page.close();
  }
  console.log(`first frame, at turn 1,000: ${firsts[0]?.toFixed(0)} ms without cache, ${median(firsts).toFixed(0)} ms median of 5  (floor 1,000 ms)`);
  const page = /** @type {import('playwright-core').Page} */ (context.pages().at(-1));
  for (const presses of [0, 1, 2]) {
    await page.keyboard.press('Home');
    if (presses > 0) await page.keyboard.press('+');
    await page.keyboard.press(' ');
    const before = cpuMillis();
    const run = await page.evaluate(countFrames, 5000);
    const cpu = (cpuMillis() - before) / run.count;
    await page.keyboard.press(' ');
    const speed = await page.locator('.speed .value').innerText();
    console.log(`${speed}: ${run.rate.toFixed(1)} frames/s, slowest ${run.slowest.toFixed(0)} ms, ${cpu.toFixed(1)} ms of CPU time per frame  (floor 60/s, on an idle machine)`);
  }
  await context.close();
}

/** Measures the films and the viewer of a server, with one competition per game. */
async function measureServer() {
  /** @type {{ [game: string]: [string, string[]] }} */
  const competitions = {
    'solitude-scramble': ['format = "groups"\nmatches = 1', ['profiler', 'greedy', 'left', 'random']],
    'colour-battle': ['format = "arena"\ngames = 1', BOTS.flatMap((bot) => [bot, bot, bot, bot]).map((bot) => bot.replace('house:', ''))],
    'connect-five': ['format = "round-robin"\nparts = [{ games = 1, seconds = 1 }]', ['line-counter', 'tactician']],
    'hide-and-seek': ['format = "cross"\nboards = 1', ['random-seeker', 'shadow-hider']],
    'word-racer': ['format = "round-robin"', ['planner', 'crossword']],
  };
  const files = Object.entries(competitions).map(([game, [phase, bots]]) => {
    const entrants = bots.map((bot, i) => `[[entrant]]\nname = "${bot} ${i + 1}"\nbot = "house:${bot}"\n`);
    return [game, `name = "${game}"\ngame = "${game}"\nseed = "measured"\n${game === 'colour-battle' ? '[settings]\nrounds = 2000\n' : ''}[[phase]]\n${phase}\n${entrants.join('')}`];
  });
  const server = await SiteServer.start([], Object.fromEntries(files));
  try {
    const organiser = await server.signUpOrganiser();
    for (const game of Object.keys(competitions)) await organiser.act(game, 'start');
    for (const game of Object.keys(competitions)) {
      await organiser.waitForState(game, 'over');
      const { items } = await organiser.get(`/competitions/${game}/phases/1/matches`);
      const { film, turns } = items[0].games[0];
      const { bytes, ms } = await download(`${server.url}${film}`);
      console.log(`film of ${game}, ${turns} turns: ${kib(bytes)} transferred in ${ms.toFixed(0)} ms  (floor 2,048 KiB)`);
      if (game === 'colour-battle') await measureViewer(`${server.url}/c/${game}/p/1/m/${items[0].match}/g/1`);
    }
  } finally {
    await server.stop();
  }
}

/**
 * Downloads a response and returns its transferred bytes and the time.
 * @param {string} url
 * @returns {Promise<{ bytes: number, ms: number }>}
 */
function download(url) {
  const startedAt = performance.now();
  return new Promise((done, failed) => {
    get(url, { headers: { 'Accept-Encoding': 'gzip' } }, (response) => {
      let bytes = 0;
      response.on('data', (chunk) => (bytes += chunk.length));
      response.on('end', () => done({ bytes, ms: performance.now() - startedAt }));
    }).on('error', failed);
  });
}

/** @param {number[]} times */
function median(times) {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

/** @param {number} count */
function kib(count) {
  return `${Math.round(count / 1024).toLocaleString('en')} KiB`;
}

/** CPU time of all child processes so far. Unlike the frame rate, it does not depend on other load. */
function cpuMillis() {
  /** @type {Map<number, { parent: number, ticks: number }>} */
  const all = new Map();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ');
      all.set(Number(pid), { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) });
    } catch {
      // The process has just ended.
    }
  }
  /** @param {number} pid @returns {boolean} */
  const ours = (pid) => pid === process.pid || (all.has(pid) && ours(all.get(pid)?.parent ?? 0));
  let ticks = 0;
  for (const [pid, one] of all) if (pid !== process.pid && ours(pid)) ticks += one.ticks;
  return ticks * 10;
}

/**
 * Counts the frames of the browser for a time. Runs in the page.
 * @param {number} milliseconds
 * @returns {Promise<{ count: number, rate: number, slowest: number }>}
 */
function countFrames(milliseconds) {
  return new Promise((done) => {
    const startedAt = performance.now();
    let [count, before, slowest] = [0, startedAt, 0];
    requestAnimationFrame(function next(now) {
      slowest = Math.max(slowest, now - before);
      before = now;
      count += 1;
      if (now - startedAt < milliseconds) requestAnimationFrame(next);
      else done({ count, rate: (1000 * count) / (now - startedAt), slowest });
    });
  });
}
