// Memory and frame rate of the big screen, beside a competition that goes on: `node tests/measure_screen.mjs [MINUTES] [ROTATE SECONDS]`.
// Prints once per half minute the JavaScript heap after a collection, DOM nodes, event listeners and open streams; at the end the frame rate
// during games, the growth of the heap, and all console messages.

import { chromium } from 'playwright-core';
import { CHROMIUM, FLAGS } from './agon.mjs';
import { slowBot } from './site/bots.mjs';
import { SiteServer } from './site/server.mjs';

const MINUTES = Number(process.argv[2] ?? 60);
const ROTATE_SECONDS = Number(process.argv[3] ?? 20);
const SAMPLE_INTERVAL_MS = 30_000;
/** Frames are counted for this long in each sample. */
const FRAMES_MS = 5_000;
/** An address to be opened instead, for a server that runs elsewhere: `AGON_SCREEN=https://.../c/cup/screen`. */
const address = process.env.AGON_SCREEN;

const server = address === undefined ? await SiteServer.start(['--jobs', '2']) : undefined;
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
try {
  const url = address ?? (await startCompetition());
  const page = await browser.newPage({ viewport: { width: 1920, height: 1080 } });
  /** @type {string[]} */
  const messages = [];
  page.on('console', (message) => messages.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => messages.push(`error: ${error.message}`));
  await page.addInitScript(countStreams);
  await page.goto(url);
  await page.locator('.board-scene .replay').waitFor({ timeout: 120_000 });
  await measure(page);
  console.log(messages.length === 0 ? 'no console messages' : `${messages.length} console messages:\n${messages.slice(0, 20).join('\n')}`);
} finally {
  await browser.close();
  await server?.stop();
}

/** Starts a competition of slow and fast bots that does not end, and returns the address of its big screen. */
async function startCompetition() {
  if (!server) throw new Error('no server');
  const organiser = await server.signUpOrganiser();
  const file = '[[phase]]\nname = "League"\nformat = "round-robin"\nlegs = 1000\nparts = [{ games = 9, seconds = 1 }]';
  await organiser.createCompetition('connect-five', 'cup', file, ['tactician', 'line-counter', 'stacker', 'random'], 'The cup');
  await organiser.act('cup', 'open');
  for (const [bot, ms] of /** @type {[string, number][]} */ ([['Thinker', 300], ['Dreamer', 600], ['Sleeper', 450], ['Waiter', 200]])) await organiser.submitBot('cup', bot, slowBot('connect-five', ms));
  await organiser.act('cup', 'start');
  return `${server.url}/c/cup/screen?rotate=${ROTATE_SECONDS}`;
}

/** @param {import('playwright-core').Page} page */
async function measure(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  await session.send('HeapProfiler.enable');
  /** @type {{ minute: number, heap: number }[]} */
  const heaps = [];
  /** @type {{ rate: number, slowest: number, moving: boolean }[]} */
  const rates = [];
  console.log('minute   heap MB   DOM nodes   listeners   documents   open streams   boards shown   frames/s   slowest ms');
  const startedAt = Date.now();
  for (;;) {
    const sampleAt = Date.now();
    const rate = await page.evaluate(countFrames, FRAMES_MS);
    rates.push(rate);
    await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    const value = (/** @type {string} */ name) => metrics.find((metric) => metric.name === name)?.value ?? 0;
    const minute = (Date.now() - startedAt) / 60_000;
    const heap = value('JSHeapUsedSize') / 2 ** 20;
    heaps.push({ minute, heap });
    const { open, boards } = await page.evaluate(() => /** @type {any} */ (window).screenCounts());
    const cells = [minute.toFixed(1), heap.toFixed(2), value('Nodes'), value('JSEventListeners'), value('Documents'), open, boards, rate.rate.toFixed(1), rate.slowest.toFixed(0)];
    console.log(cells.map((cell, i) => String(cell).padStart([6, 9, 11, 11, 11, 14, 14, 10, 12][i] ?? 0)).join(' '));
    if (Date.now() - startedAt >= MINUTES * 60_000) break;
    await new Promise((done) => setTimeout(done, Math.max(0, sampleAt + SAMPLE_INTERVAL_MS - Date.now())));
  }
  const moving = rates.filter((rate) => rate.moving);
  const mean = (/** @type {number[]} */ numbers) => numbers.reduce((sum, one) => sum + one, 0) / Math.max(1, numbers.length);
  console.log(`frames per second while a game moved: mean ${mean(moving.map((rate) => rate.rate)).toFixed(1)}, lowest ${Math.min(...moving.map((rate) => rate.rate)).toFixed(1)} (${moving.length} samples of ${FRAMES_MS / 1000} s)`);
  // The first minute loads code and fills caches.
  const later = heaps.filter((sample) => sample.minute >= 1);
  console.log(`heap after the first minute: ${later[0]?.heap.toFixed(2)} MB to ${later.at(-1)?.heap.toFixed(2)} MB, trend ${(60 * slope(later)).toFixed(2)} MB per hour`);
}

/**
 * Slope of the heap in MB per minute, by least squares.
 * @param {{ minute: number, heap: number }[]} samples
 */
function slope(samples) {
  const count = Math.max(1, samples.length);
  const [x, y] = [samples.reduce((sum, one) => sum + one.minute, 0) / count, samples.reduce((sum, one) => sum + one.heap, 0) / count];
  const over = samples.reduce((sum, one) => sum + (one.minute - x) * (one.heap - y), 0);
  const under = samples.reduce((sum, one) => sum + (one.minute - x) ** 2, 0);
  return under === 0 ? 0 : over / under;
}

/** Counts open event streams and boards that were shown. Runs in the page before its code. */
function countStreams() {
  let open = 0;
  let boards = 0;
  const { close } = EventSource.prototype;
  EventSource.prototype.close = function () {
    if (this.readyState !== EventSource.CLOSED) open -= 1;
    close.call(this);
  };
  window.EventSource = new Proxy(EventSource, {
    construct(target, [url, init]) {
      open += 1;
      if (String(url).includes('/boards/')) boards += 1;
      return new target(url, init);
    },
  });
  /** @type {any} */ (window).screenCounts = () => ({ open, boards });
}

/**
 * Counts the frames of the browser for a time, and tells whether a game moved. Runs in the page.
 * @param {number} milliseconds
 * @returns {Promise<{ rate: number, slowest: number, moving: boolean }>}
 */
function countFrames(milliseconds) {
  return new Promise((done) => {
    const startedAt = performance.now();
    let [count, before, slowest, moving] = [0, startedAt, 0, false];
    requestAnimationFrame(function next(now) {
      slowest = Math.max(slowest, now - before);
      before = now;
      count += 1;
      moving ||= document.querySelector('.replay[data-moving="true"]') !== null;
      if (now - startedAt < milliseconds) requestAnimationFrame(next);
      else done({ rate: (1000 * count) / (now - startedAt), slowest, moving });
    });
  });
}
