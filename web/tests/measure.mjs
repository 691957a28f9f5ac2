// The figures that the viewer promises, for a Colour Battle of 20 bots and 2,000 rounds: bytes, time to the first picture, pictures a
// second; first of a page from disk, then of a server's, with the bytes of each game's film. `make bench` runs it with the release build.

import { readdirSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { CHROMIUM, FLAGS, Pages } from './agon.mjs';
import { Place } from './site/place.mjs';

const BOTS = ['planner', 'drawn', 'seeker', 'short-sighted', 'sweeper'].map((name) => `house:${name}`);
const pages = new Pages();
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
try {
  const url = pages.make('colour-battle', [...BOTS, ...BOTS, ...BOTS, ...BOTS, '--set', 'rounds=2000'], 7);
  const bytes = readFileSync(new URL(url));
  console.log(`page of 20 bots x 2,000 rounds: ${kib(bytes.length)}, gzip ${kib(gzipSync(bytes).length)}  (floor 2,048 KiB)`);
  await viewed(url);
  await served();
} finally {
  await browser.close();
  pages.remove();
}

/**
 * How soon the replay at this address is there, and how it plays.
 * @param {string} url
 */
async function viewed(url) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 860 } });
  const firsts = [];
  for (let i = 0; i < 5; i += 1) {
    const page = await context.newPage();
    const begun = performance.now();
    await page.goto(`${url}#t=1000`, { waitUntil: 'commit' });
    await page.waitForSelector('.replay[data-turn="1000"] canvas');
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    firsts.push(performance.now() - begun);
    if (i < 4) await page.close();
  }
  console.log(`first picture, at turn 1,000: ${firsts[0]?.toFixed(0)} ms with nothing kept, ${median(firsts).toFixed(0)} ms median of 5  (floor 1,000 ms)`);
  const page = /** @type {import('playwright-core').Page} */ (context.pages().at(-1));
  for (const presses of [0, 1, 2]) {
    await page.keyboard.press('Home');
    if (presses > 0) await page.keyboard.press('+');
    await page.keyboard.press(' ');
    const before = cpuMillis();
    const run = await page.evaluate(pictures, 5000);
    const cpu = (cpuMillis() - before) / run.count;
    await page.keyboard.press(' ');
    const speed = await page.locator('.speed .value').innerText();
    console.log(`${speed}: ${run.rate.toFixed(1)} pictures/s, slowest ${run.slowest.toFixed(0)} ms, ${cpu.toFixed(1)} ms of processor time a picture  (floor 60/s, on an idle machine)`);
  }
  await context.close();
}

/** The same of a server's pages; each game with its own settings. */
async function served() {
  /** @type {{ [game: string]: [string, string[]] }} */
  const cups = {
    'solitude-scramble': ['format = "groups"\nmatches = 1', ['profiler', 'greedy', 'left', 'random']],
    'colour-battle': ['format = "arena"\ngames = 1', BOTS.flatMap((bot) => [bot, bot, bot, bot]).map((bot) => bot.replace('house:', ''))],
    'connect-five': ['format = "round-robin"\nparts = [{ games = 1, seconds = 1 }]', ['line-counter', 'tactician']],
    'hide-and-seek': ['format = "cross"\nboards = 1', ['random-seeker', 'shadow-hider']],
    'word-racer': ['format = "round-robin"', ['planner', 'crossword']],
  };
  const files = Object.entries(cups).map(([game, [phase, bots]]) => {
    const entrants = bots.map((bot, i) => `[[entrant]]\nname = "${bot} ${i + 1}"\nbot = "house:${bot}"\n`);
    return [game, `name = "${game}"\ngame = "${game}"\nseed = "measured"\n${game === 'colour-battle' ? '[settings]\nrounds = 2000\n' : ''}[[phase]]\n${phase}\n${entrants.join('')}`];
  });
  const place = await Place.start([], Object.fromEntries(files));
  try {
    const olga = await place.organiser();
    for (const game of Object.keys(cups)) await olga.act(game, 'start');
    for (const game of Object.keys(cups)) {
      await olga.reaches(game, 'over');
      const { items } = await olga.get(`/competitions/${game}/phases/1/matches`);
      const { film, turns } = items[0].games[0];
      const { packed, ms } = await fetched(`${place.url}${film}`);
      console.log(`film of ${game}, ${turns} turns: ${kib(packed)} on the wire, there after ${ms.toFixed(0)} ms  (floor 2,048 KiB)`);
      if (game === 'colour-battle') await viewed(`${place.url}/c/${game}/p/1/m/${items[0].match}/g/1`);
    }
  } finally {
    await place.stop();
  }
}

/**
 * The bytes of an answer as they come, and how long they took.
 * @param {string} url
 * @returns {Promise<{ packed: number, ms: number }>}
 */
function fetched(url) {
  const begun = performance.now();
  return new Promise((done, failed) => {
    get(url, { headers: { 'Accept-Encoding': 'gzip' } }, (answer) => {
      let packed = 0;
      answer.on('data', (bytes) => (packed += bytes.length));
      answer.on('end', () => done({ packed, ms: performance.now() - begun }));
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

/** Processor time of all processes below this one so far: it says the same on a busy machine as on an idle one. */
function cpuMillis() {
  /** @type {Map<number, { parent: number, ticks: number }>} */
  const all = new Map();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ');
      all.set(Number(pid), { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) });
    } catch {
      // It has just ended.
    }
  }
  /** @param {number} pid @returns {boolean} */
  const ours = (pid) => pid === process.pid || (all.has(pid) && ours(all.get(pid)?.parent ?? 0));
  let ticks = 0;
  for (const [pid, one] of all) if (pid !== process.pid && ours(pid)) ticks += one.ticks;
  return ticks * 10;
}

/**
 * Counts the browser's pictures for so long. Runs in the page.
 * @param {number} milliseconds
 * @returns {Promise<{ count: number, rate: number, slowest: number }>}
 */
function pictures(milliseconds) {
  return new Promise((done) => {
    const begun = performance.now();
    let [count, before, slowest] = [0, begun, 0];
    requestAnimationFrame(function next(now) {
      slowest = Math.max(slowest, now - before);
      before = now;
      count += 1;
      if (now - begun < milliseconds) requestAnimationFrame(next);
      else done({ count, rate: (1000 * count) / (now - begun), slowest });
    });
  });
}
