// What a reader can do with the viewer besides playing a film: keys from anywhere on the page, zoom, moments, full screen, autoplay, sound.

import { readFileSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Film } from '../src/film';
import { CHROMIUM, FLAGS, GAMES, Pages } from './agon.mjs';
import { seriousFindings } from './axe';
import { hasBrowser } from './needs.mjs';
import { WAIT_TIMEOUT } from './timeouts.mjs';

let pages: Pages;
let browser: Browser;
const address: { [game: string]: string } = {};

async function open(url: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(WAIT_TIMEOUT);
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForSelector('.replay');
  return page;
}

const standsAt = (page: Page, turn: number): Promise<unknown> => page.waitForSelector(`.replay[data-turn="${turn}"][data-panel-turn="${turn}"][data-moving="false"]`);

const filmIn = (url: string): Film =>
  JSON.parse((readFileSync(new URL(url), 'utf8').split('application/json">')[1] as string).split('</script>')[0] as string) as Film;

/** Shows a film in a page with other content. */
async function show(page: Page, film: Film, html: string): Promise<void> {
  await page.evaluate(([data, content]) => {
    document.body.innerHTML = content as string;
    const { Agon } = window as unknown as { Agon: { replay(element: Element | null, film: unknown): unknown } };
    for (const element of document.querySelectorAll('.here')) Agon.replay(element, data);
  }, [film as unknown, html]);
}

const whole = (page: Page): Promise<boolean> => page.getByRole('button', { name: 'Show the whole board' }).isHidden();

describe.skipIf(!hasBrowser)('controls of the viewer', () => {
  beforeAll(async () => {
    pages = new Pages();
    for (const game of ['connect-five', 'colour-battle', 'hide-and-seek']) address[game] = pages.make(game, GAMES[game] as string[], 3);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  });

  afterAll(async () => {
    await browser?.close();
    pages?.remove();
  });

  test('every key press counts while steps are animated', async () => {
    const page = await open(address['connect-five'] as string);
    for (let i = 0; i < 9; i += 1) await page.keyboard.press('ArrowRight');
    for (let i = 0; i < 2; i += 1) await page.keyboard.press('ArrowLeft');
    await standsAt(page, 7);
    await page.context().close();
  });

  test('keys work while a button of the page has the focus, and not in a field', async () => {
    const page = await open(address['connect-five'] as string);
    await show(page, filmIn(address['connect-five'] as string), '<button id="other">x</button> <input id="field"><div class="here" data-hash="off"></div>');
    await page.locator('#other').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await standsAt(page, 2);
    await page.locator('#field').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('End');
    await page.locator('#other').click();
    await page.keyboard.press('ArrowRight');
    await standsAt(page, 3);
    // A button at its limit keeps the focus, and so the keys.
    await page.getByRole('button', { name: 'Go to end' }).click();
    await page.keyboard.press('ArrowLeft');
    await standsAt(page, filmIn(address['connect-five'] as string).deltas.length - 1);
    await page.context().close();
  });

  test('of two viewers, the one of which more is visible gets the keys', async () => {
    const page = await open(address['connect-five'] as string);
    await show(page, filmIn(address['connect-five'] as string), '<div class="here" data-hash="off"></div><div class="here" data-hash="off"></div>');
    const turns = (): Promise<(string | undefined)[]> => page.locator('.replay').evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.turn));
    await page.keyboard.press('ArrowRight');
    await expect.poll(turns).toEqual(['1', '0']);
    await page.locator('.here').nth(1).evaluate((element) => element.scrollIntoView({ block: 'end' }));
    await page.keyboard.press('ArrowRight');
    await expect.poll(turns).toEqual(['1', '1']);
    await page.context().close();
  });

  test('moments: keys, buttons, list and marks go to the same turns', async () => {
    const page = await open(address['hide-and-seek'] as string);
    const list = page.getByRole('region', { name: 'Moments' }).getByRole('button');
    await list.first().waitFor();
    const turns = (await list.locator('.turn').allInnerTexts()).map(Number);
    expect(turns).toEqual([...turns].sort((a, b) => a - b));
    const [first, second] = [...new Set(turns)] as [number, number];
    await page.keyboard.press('n');
    await standsAt(page, first);
    await page.getByRole('button', { name: 'Next moment' }).click();
    await standsAt(page, second);
    await page.keyboard.press('N');
    await standsAt(page, first);
    await list.last().click();
    await standsAt(page, turns.at(-1) as number);
    await page.locator('.marks i').first().click();
    await standsAt(page, first);
    expect(await page.locator('.marks i').first().getAttribute('title')).toContain(`Turn ${first}:`);
    await page.context().close();
  });

  test.each(['connect-five', 'colour-battle'])('%s can be zoomed by keys, wheel and buttons', async (game) => {
    const page = await open(`${address[game]}#t=5`);
    await standsAt(page, 5);
    const look = async (): Promise<string> => {
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      return page.locator('.drawing').evaluate((board) => board.querySelector('canvas')?.toDataURL() ?? getComputedStyle(board.firstElementChild as Element).transform);
    };
    const before = await look();
    expect(await whole(page)).toBe(true);
    await page.keyboard.press('z');
    await expect.poll(look).not.toBe(before);
    const near = await look();
    await page.locator('.drawing').hover();
    await page.mouse.wheel(0, -200);
    await expect.poll(look).not.toBe(near);
    const nearer = await look();
    await page.mouse.down();
    await page.mouse.move(700, 300, { steps: 3 });
    await page.mouse.up();
    await expect.poll(look, { message: 'dragging moves the board' }).not.toBe(nearer);
    expect(await page.evaluate(() => scrollY)).toBe(0);
    await page.getByRole('button', { name: 'Show the whole board' }).click();
    await expect.poll(look).toBe(before);
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await expect.poll(() => whole(page)).toBe(false);
    await page.keyboard.press('0');
    await expect.poll(look).toBe(before);
    await page.context().close();
  });

  test('full screen by key and button', async () => {
    const page = await open(address['connect-five'] as string);
    const width = (): Promise<number> => page.locator('.replay').evaluate((element) => element.getBoundingClientRect().width);
    await page.keyboard.press('w');
    await expect.poll(width).toBe(1280);
    await page.getByRole('button', { name: 'Leave full screen' }).click();
    await expect.poll(width).toBeLessThan(1280);
    await page.context().close();
  });

  test('a page can start playing, a link to a turn and less motion do not', async () => {
    const film = filmIn(address['connect-five'] as string);
    const page = await open(address['connect-five'] as string);
    await show(page, film, '<div class="here" data-hash="off" data-autoplay></div>');
    await page.waitForSelector('.replay[data-playing="true"]');
    await show(page, film, '<div class="here" data-hash="off" data-autoplay data-start="4"></div>');
    await standsAt(page, 4);
    expect(await page.locator('.replay').getAttribute('data-playing')).toBe('false');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await show(page, film, '<div class="here" data-hash="off" data-autoplay></div>');
    await standsAt(page, 0);
    expect(await page.locator('.replay').getAttribute('data-playing')).toBe('false');
    await page.context().close();
  });

  test('the choices of the reader are remembered', async () => {
    const page = await open(address['connect-five'] as string);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('checkbox', { name: 'Play games when they open' }).check();
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('m');
    await page.getByRole('button', { name: 'Turn sound off' }).waitFor();
    await page.reload();
    await page.waitForSelector('.replay[data-playing="true"]');
    await page.getByRole('button', { name: 'Turn sound off' }).click();
    await page.getByRole('button', { name: 'Turn sound on' }).waitFor();
    await page.context().close();
  });

  test('the special columns are revealed at the end', async () => {
    const page = await open(address['connect-five'] as string);
    await page.getByText('They are revealed at the end', { exact: false }).waitFor();
    await page.keyboard.press('End');
    await page.getByText('Special columns', { exact: false }).first().waitFor();
    await page.waitForSelector('.secret.revealed');
    await page.context().close();
  });
});
