// The whole board and its controls are visible without scrolling: every game, from a phone to a large screen.

import { readFileSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM, FLAGS, GAMES, Pages } from './agon.mjs';
import { seriousFindings } from './axe';
import { boxes, expectToFit, settled, SIZES, type Box } from './fits';
import { hasBrowser } from './needs.mjs';
import { WAIT_TIMEOUT } from './timeouts.mjs';

/** Smallest share of the shorter side of the window that a board has. */
const MIN_SHARE = 0.55;

let pages: Pages;
let browser: Browser;
const address: { [game: string]: string } = {};

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
        expect(await page.evaluate(() => scrollY)).toBe(0);
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
    const read = (game: string): unknown => {
      const data = readFileSync(new URL(address[game] as string), 'utf8').split('application/json">')[1] as string;
      return JSON.parse(data.split('</script>')[0] as string) as unknown;
    };
    await page.evaluate(([first, second]) => {
      document.body.innerHTML = '<main><div id="here" data-hash="off"></div></main>';
      const { Agon } = window as unknown as { Agon: { compare(element: Element | null, first: unknown, second: unknown): unknown } };
      Agon.compare(document.getElementById('here'), first, second);
    }, [read('connect-five'), read('hide-and-seek')]);
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
