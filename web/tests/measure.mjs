// The figures that the viewer promises, for a Colour Battle of 20 bots and 2,000 rounds: bytes, time to the first picture, pictures a
// second. `make bench` runs it with the release build.

import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { CHROMIUM, FLAGS, Pages } from './agon.mjs';

const BOTS = ['planner', 'drawn', 'seeker', 'short-sighted', 'sweeper'].map((name) => `house:${name}`);
const pages = new Pages();
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
try {
  const url = pages.make('colour-battle', [...BOTS, ...BOTS, ...BOTS, ...BOTS, '--set', 'rounds=2000'], 7);
  const bytes = readFileSync(new URL(url));
  console.log(`page of 20 bots x 2,000 rounds: ${kib(bytes.length)}, gzip ${kib(gzipSync(bytes).length)}  (floor 2,048 KiB)`);
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
  firsts.sort((a, b) => a - b);
  console.log(`first picture, at turn 1,000: ${firsts[2]?.toFixed(0)} ms, median of 5  (floor 1,000 ms)`);
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
} finally {
  await browser.close();
  pages.remove();
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
