// The whole board and its controls are visible without scrolling: every game, from a phone to a large screen.

import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM, FLAGS, GAMES, Pages } from './agon.mjs';
import { seriousFindings } from './axe';
import { hasBrowser } from './needs.mjs';
import { WAIT_TIMEOUT } from './timeouts.mjs';

const SIZES = [[390, 844], [768, 1024], [1280, 800], [1366, 768], [1920, 1080], [2560, 1440]] as const;
/** Smallest share of the shorter side of the window that a board has. */
const MIN_SHARE = 0.55;

let pages: Pages;
let browser: Browser;
const address: { [game: string]: string } = {};

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Places of an element's parts in the window. */
const boxes = (page: Page, selector: string): Promise<Box[]> =>
  page.locator(selector).evaluateAll((all) =>
    all.map((element) => {
      const { left, top, right, bottom } = element.getBoundingClientRect();
      return { left, top, right, bottom };
    }),
  );

/** Checks that boards and controls are inside the window, that nothing covers a board, and returns the boards. */
async function expectToFit(page: Page, width: number, height: number): Promise<Box[]> {
  const boards = await boxes(page, '.drawing');
  const drawings = await boxes(page, '.drawing svg, .drawing canvas');
  const controls = await boxes(page, '.controls button:visible, .controls input[type="range"], .controls .turn');
  expect(boards.length).toBeGreaterThan(0);
  expect(controls.length).toBeGreaterThan(8);
  for (const box of [...boards, ...drawings, ...controls]) {
    expect(box.left).toBeGreaterThanOrEqual(0);
    expect(box.top).toBeGreaterThanOrEqual(0);
    expect(box.right).toBeLessThanOrEqual(width + 0.5);
    expect(box.bottom).toBeLessThanOrEqual(height + 0.5);
  }
  for (const board of boards) {
    for (const control of controls) {
      const apart = control.top >= board.bottom || control.bottom <= board.top || control.left >= board.right || control.right <= board.left;
      expect(apart, 'no control covers the board').toBe(true);
    }
    const covered = await page.evaluate(({ left, top, right, bottom }) => {
      const points = [0.02, 0.25, 0.5, 0.75, 0.98].flatMap((a) => [0.02, 0.5, 0.98].map((b) => [left + a * (right - left), top + b * (bottom - top)] as const));
      return points.filter(([x, y]) => !document.elementFromPoint(x, y)?.closest('.drawing'));
    }, board);
    expect(covered, 'nothing lies on the board').toEqual([]);
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 'no horizontal overflow').toBeLessThanOrEqual(0);
  expect(await page.evaluate(() => scrollY)).toBe(0);
  return boards;
}

/** Waits until the viewer has its final height. */
async function settled(page: Page): Promise<void> {
  await page.waitForSelector('.replay');
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

async function open(url: string, width: number, height: number): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height } });
  context.setDefaultTimeout(WAIT_TIMEOUT);
  const page = await context.newPage();
  await page.goto(url);
  await settled(page);
  return page;
}

describe.skipIf(!hasBrowser)('the board fits the window', () => {
  beforeAll(async () => {
    pages = new Pages();
    for (const [game, bots] of Object.entries(GAMES)) address[game] = pages.make(game, bots, 3);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  });

  afterAll(async () => {
    await browser?.close();
    pages?.remove();
  });

  test.each(Object.keys(GAMES))('%s at six sizes, at the start and at the end', async (game) => {
    const page = await open(address[game] as string, 390, 844);
    for (const [width, height] of SIZES) {
      await page.setViewportSize({ width, height });
      for (const key of ['Home', 'End']) {
        await page.keyboard.press(key);
        await settled(page);
        const [board] = await expectToFit(page, width, height);
        const { left, top, right, bottom } = board as Box;
        expect(Math.min(right - left, bottom - top) / Math.min(width, height), `${width}x${height} ${key}`).toBeGreaterThan(MIN_SHARE);
      }
    }
    await page.context().close();
  });

  test('a page above the viewer takes its height from the board', async () => {
    const [width, height] = [1280, 800];
    const page = await open(address['connect-five'] as string, width, height);
    const [before] = await expectToFit(page, width, height);
    await page.evaluate(() => {
      const header = document.createElement('div');
      header.style.height = '210px';
      document.body.prepend(header);
    });
    await expect.poll(async () => (await boxes(page, '.controls'))[0]?.bottom).toBeLessThanOrEqual(height);
    const [after] = await expectToFit(page, width, height);
    expect((after as Box).bottom - (after as Box).top).toBeLessThan((before as Box).bottom - (before as Box).top - 150);
    await page.context().close();
  });

  test('two games side by side fit, and one set of controls moves both', async () => {
    const page = await open(address['connect-five'] as string, 1280, 800);
    const film = await page.evaluate(() => (document.querySelector('[data-filled]') ? location.href : ''));
    expect(film).not.toBe('');
    const read = async (game: string): Promise<unknown> => {
      const { readFileSync } = await import('node:fs');
      const data = readFileSync(new URL(address[game] as string), 'utf8').split('application/json">')[1] as string;
      return JSON.parse(data.split('</script>')[0] as string) as unknown;
    };
    await page.evaluate(([first, second]) => {
      document.body.innerHTML = '<main><div id="here" data-hash="off"></div></main>';
      const { Agon } = window as unknown as { Agon: { compare(element: Element | null, first: unknown, second: unknown): unknown } };
      Agon.compare(document.getElementById('here'), first, second);
    }, [await read('connect-five'), await read('hide-and-seek')]);
    for (const [width, height] of SIZES) {
      await page.setViewportSize({ width, height });
      await settled(page);
      expect(await expectToFit(page, width, height)).toHaveLength(2);
    }
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('.replay[data-turn="1"][data-moving="false"]');
    expect(await page.locator('.newest').count(), 'the piece has landed').toBe(1);
    expect(await page.locator('.story').nth(1).innerText()).toContain('hunting-seeker');
    await page.keyboard.press('End');
    await expect.poll(() => page.locator('.story').allInnerTexts()).toEqual([expect.stringContaining('Ended:'), expect.stringContaining('Ended:')]);
    expect(await seriousFindings(page)).toEqual([]);
    await page.context().close();
  });
});
