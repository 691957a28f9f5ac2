// The viewer in a real browser, with pages from disk: all games, keyboard control, no network requests.

import { readFileSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Film } from '../src/film';
import { CHROMIUM, FLAGS, GAMES, Pages } from './agon.mjs';
import { seriousFindings } from './axe';
import { splitFilm } from './split_film';
import { hasBrowser } from './needs.mjs';
import { WAIT_TIMEOUT } from './timeouts.mjs';

let pages: Pages;
let browser: Browser;
const address: { [game: string]: string } = {};

/** A page, its console messages and its unexpected requests. */
interface Watched {
  page: Page;
  context: BrowserContext;
  problems: string[];
}

async function open(url: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1200, height: 860 }, ...options });
  context.setDefaultTimeout(WAIT_TIMEOUT);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => {
    if (request.url() !== url.replace(/#.*/, '')) problems.push(`asked for ${request.url()}`);
  });
  await page.goto(url);
  await page.waitForSelector('.replay');
  return { page, context, problems };
}

const lastOf = async (page: Page): Promise<number> => Number(await page.getByRole('slider').getAttribute('max'));

/** Waits until the film is at this turn and nothing moves. */
async function standsAt(page: Page, turn: number): Promise<void> {
  await page.waitForSelector(`.replay[data-turn="${turn}"][data-panel-turn="${turn}"][data-moving="false"]`);
}

/** Film of a page that the program made. */
function filmIn(url: string): Film {
  const data = readFileSync(new URL(url), 'utf8').split('application/json">')[1] as string;
  return JSON.parse(data.split('</script>')[0] as string) as Film;
}

/** Shows a film in an empty page. `window.handle` is the handle of the viewer. */
async function show(page: Page, film: Film): Promise<void> {
  await page.evaluate((data: unknown) => {
    document.body.innerHTML = '<div id="here" data-hash="off"></div>';
    const all = window as unknown as { Agon: { replay(element: Element | null, film: unknown): unknown }; handle: unknown };
    all.handle = all.Agon.replay(document.getElementById('here'), data);
  }, film as unknown);
}

const append = (page: Page, part: unknown): Promise<boolean> =>
  page.evaluate((data) => (window as unknown as { handle: { append(part: unknown): boolean } }).handle.append(data), part);

/** Visible content as text, without ids, which differ between viewers. */
const picture = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const canvases = [...document.querySelectorAll('canvas')].map((canvas) => canvas.toDataURL());
    // Attributes in one order: a new element has another one than an element that was changed.
    const copy = document.querySelector('.replay')?.cloneNode(true) as Element | undefined;
    for (const element of copy?.querySelectorAll('*') ?? []) {
      const all = [...element.attributes].sort((a, b) => a.name.localeCompare(b.name));
      for (const { name } of all) element.removeAttribute(name);
      for (const { name, value } of all) element.setAttribute(name, value);
    }
    const html = copy?.outerHTML.replace(/\b(id|aria-controls|aria-labelledby)="[^"]*"|url\(#[^)]*\)|href="#[^"]*"/g, '');
    return [html, ...canvases].join('\n');
  });

describe.skipIf(!hasBrowser)('in the browser', () => {
  beforeAll(async () => {
    pages = new Pages();
    for (const [game, bots] of Object.entries(GAMES)) address[game] = pages.make(game, bots, 3);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  });

  afterAll(async () => {
    await browser?.close();
    pages?.remove();
  });

  test.each(Object.keys(GAMES))('%s can be played to the end by keyboard', async (game) => {
    const { page, context, problems } = await open(address[game] as string);
    const last = await lastOf(page);
    expect(last).toBeGreaterThan(5);
    await standsAt(page, 0);

    await page.keyboard.press('ArrowRight');
    await standsAt(page, 1);
    const first = await page.locator('.story').innerText();
    expect(first.length).toBeGreaterThan(10);
    await page.keyboard.press('ArrowRight');
    await standsAt(page, 2);
    await page.keyboard.press('ArrowLeft');
    await standsAt(page, 1);
    expect(await page.locator('.story').innerText(), 'a step back shows the same turn').toBe(first);
    await page.keyboard.press('End');
    await standsAt(page, last);
    await page.keyboard.press('ArrowRight');
    await standsAt(page, last);
    await page.keyboard.press('Home');
    await standsAt(page, 0);

    for (let i = 0; i < 12; i += 1) await page.keyboard.press('+');
    await page.keyboard.press(' ');
    await page.waitForSelector('.replay[data-playing="true"], .replay[data-turn="' + last + '"]');
    await standsAt(page, last);
    await expect.poll(() => page.locator('.story').innerText()).toContain('Ended:');
    await expect.poll(() => page.url(), { message: 'the address names the moment' }).toMatch(new RegExp(`#t=${last}$`));
    expect(problems).toEqual([]);
    await context.close();
  });

  test.each(Object.keys(GAMES))('%s has no serious axe findings, light and dark, wide and narrow', async (game) => {
    for (const options of [
      { colorScheme: 'light' as const },
      { colorScheme: 'dark' as const, viewport: { width: 320, height: 640 } },
    ]) {
      const { page, context, problems } = await open(`${address[game]}#t=5`, options);
      await standsAt(page, 5);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(wide, 'no horizontal overflow').toBeLessThanOrEqual(0);
      expect(await seriousFindings(page)).toEqual([]);
      expect(problems).toEqual([]);
      await context.close();
    }
  });

  test('the hash contains the turn and keeps its other parts', async () => {
    const { page, context } = await open(`${address['word-racer']}#game=2&t=7&x=y`);
    await standsAt(page, 7);
    await page.getByRole('button', { name: 'Next turn' }).click();
    await standsAt(page, 8);
    await expect.poll(() => page.url()).toMatch(/#game=2&t=8&x=y$/);
    await page.evaluate(() => (location.hash = '#game=2&t=20'));
    await standsAt(page, 20);
    await context.close();
  });

  test('buttons, slider and chart change the turn', async () => {
    const { page, context } = await open(address['hide-and-seek'] as string);
    const last = await lastOf(page);
    await page.getByRole('button', { name: 'Go to end' }).click();
    await standsAt(page, last);
    await page.getByRole('slider').fill('4');
    await standsAt(page, 4);
    expect(await page.getByRole('slider').getAttribute('aria-valuetext')).toBe(`Turn 4 of ${last}`);
    await page.getByRole('button', { name: 'Play', exact: true }).focus();
    await page.keyboard.press(' ');
    await page.waitForSelector('.replay[data-playing="true"]');
    await page.keyboard.press(' ');
    await page.waitForSelector('.replay[data-playing="false"]');
    const plot = page.locator('.plot');
    const box = (await plot.boundingBox()) as { width: number; height: number };
    await plot.click({ position: { x: box.width - 2, y: box.height / 2 } });
    await standsAt(page, last);
    // From the seeker's point of view the hider is drawn only if visible.
    await page.keyboard.press('Home');
    await standsAt(page, 0);
    expect(await page.locator('.runner').count()).toBe(2);
    await page.getByRole('button', { name: 'Seeker’s view' }).click();
    await expect.poll(() => page.locator('.runner').count()).toBe(1);
    await context.close();
  });

  test('the key i shows the ids of Colour Battle as numbers', async () => {
    const film = filmIn(address['colour-battle'] as string);
    const { page, context, problems } = await open(`${address['colour-battle']}#t=5`);
    await standsAt(page, 5);
    const board = page.locator('.colour canvas');
    const canvas = (): Promise<string> => board.evaluate((element) => (element as HTMLCanvasElement).toDataURL());
    await page.waitForSelector('.colour canvas[data-drawn="5"]');
    const numbers = page.getByRole('checkbox', { name: 'Ids as numbers' });
    const ids = page.locator('.ids > span');
    const withLetters = await canvas();
    expect([await numbers.isChecked(), await ids.count()]).toEqual([false, 0]);

    await page.keyboard.press('i');
    const { bots } = film.first as unknown as { bots: { id: number; seat: number }[] };
    const wanted = bots.map((bot) => `${bot.id} ${film.names[bot.seat]}`);
    await expect.poll(() => ids.allInnerTexts()).toEqual(wanted);
    expect(await numbers.isChecked()).toBe(true);
    await expect.poll(canvas, { message: 'the canvas has numbers' }).not.toBe(withLetters);
    const withNumbers = await canvas();

    // The key works while the slider or a checkbox of the viewer has the focus, and with a modifier it is another one's.
    await page.keyboard.press('Control+i');
    await page.getByRole('slider').focus();
    await page.keyboard.press('i');
    await expect.poll(() => ids.count()).toBe(0);
    await expect.poll(canvas).toBe(withLetters);
    await numbers.focus();
    await page.keyboard.press('i');
    await expect.poll(() => ids.allInnerTexts()).toEqual(wanted);
    await expect.poll(canvas).toBe(withNumbers);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('faults, output and hostile names are shown as text; one global, no hash', async () => {
    const { page, context, problems } = await open(address['connect-five'] as string);
    const film = filmIn(address['connect-five'] as string);
    const hostile = '</script><img src=x onerror="window.hit=1"><b>bold</b>';
    film.names = [hostile, 'b'];
    film.contributors = ['Ann <i>', null];
    film.faults = [
      { turn: 3, seat: 0, fault: 'crash', says: hostile },
      { turn: 6, seat: 1, fault: 'timeout', says: 'late' },
    ];
    film.logs = [{ turn: 3, seat: 1, text: 'I think <u>therefore</u>' }];
    await page.evaluate((data: unknown) => {
      document.body.innerHTML = '<input id="field"><div id="here" data-hash="off" data-theme="dark" data-start="1"></div>';
      const { Agon } = window as unknown as { Agon: { replay(element: Element | null, film: unknown): unknown } };
      Agon.replay(document.getElementById('here'), data);
    }, film as unknown);
    await standsAt(page, 1);
    expect(await page.locator('.replay.dark').count()).toBe(1);
    await page.keyboard.press('f');
    await standsAt(page, 3);
    await expect.poll(() => page.locator('.words').innerText()).toContain('<img src=x');
    expect(await page.locator('.words').innerText()).toContain('<u>therefore</u>');
    expect(await page.locator('[aria-live]').innerText()).toContain('Fault in turn 3');
    await page.keyboard.press('f');
    await standsAt(page, 6);
    await page.keyboard.press('F');
    await standsAt(page, 3);
    await page.getByRole('button', { name: /crash$/ }).waitFor();
    expect(await page.locator('.marks .fault').count(), 'faults are marked on the time line').toBe(2);
    await page.locator('#field').pressSequentially('f f');
    await standsAt(page, 3);
    expect(page.url(), 'the address is unchanged').not.toContain('#t=3');
    expect(await page.evaluate(() => 'hit' in window || document.querySelector('img, b, u') !== null)).toBe(false);
    const globals = await page.evaluate(() => {
      const frame = document.createElement('iframe');
      document.body.append(frame);
      const usual = new Set(Object.getOwnPropertyNames(frame.contentWindow));
      return Object.getOwnPropertyNames(window).filter((name) => !usual.has(name) && !/^\d+$/.test(name));
    });
    expect(globals).toEqual(['Agon']);
    expect(problems.filter((text) => !text.includes('about:blank'))).toEqual([]);
    await context.close();
  });

  test.each(Object.keys(GAMES))('live film of %s ends like the whole film', async (game) => {
    const { page, context, problems } = await open(address[game] as string);
    const { seed: _, digest: __, ...whole } = filmIn(address[game] as string);
    const last = whole.deltas.length;
    const first = Math.floor(last / 4);
    const { head, parts } = splitFilm(whole, first, Math.ceil((last - first) / 5));
    await show(page, head);
    await standsAt(page, first);
    expect(await page.locator('.live').innerText()).toBe('Live');
    expect(await page.locator('.story').innerText()).not.toContain('Ended');
    expect(await append(page, parts[1]), 'a gap is rejected').toBe(false);
    expect(await append(page, parts[0])).toBe(true);
    let turn = first + (parts[0]?.turns.length ?? 0);
    await standsAt(page, turn);
    await page.keyboard.press('ArrowLeft');
    await standsAt(page, turn - 1);
    for (const part of parts.slice(1, 3)) expect(await append(page, part)).toBe(true);
    await expect.poll(() => lastOf(page), { message: 'the slider grows' }).toBeGreaterThan(turn);
    await standsAt(page, turn - 1);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Jump to live' }).click();
    turn = await lastOf(page);
    await standsAt(page, turn);
    expect(await page.getByRole('button', { name: 'Jump to live' }).count()).toBe(0);
    for (const part of parts.slice(3)) expect(await append(page, part)).toBe(true);
    await standsAt(page, last);
    await expect.poll(() => page.locator('.story').innerText()).toContain('Ended:');
    expect(await page.locator('.live').count(), 'a finished film is a normal replay').toBe(0);
    const seen = await picture(page);
    await show(page, whole);
    await page.keyboard.press('End');
    await standsAt(page, last);
    await expect.poll(() => page.locator('.story').innerText()).toContain('Ended:');
    await expect.poll(() => picture(page)).toBe(seen);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('an unsupported film shows an error', async () => {
    const { page, context } = await open(address['connect-five'] as string);
    const errorText = (film: unknown): Promise<string> =>
      page.evaluate((data) => {
        const target = document.createElement('div');
        document.body.append(target);
        (window as unknown as { Agon: { replay(element: Element, film: unknown): unknown } }).Agon.replay(target, data);
        return target.innerText;
      }, film);
    const film = { agon: 'film', version: 1, game: 'chess', names: [], deltas: [] };
    expect(await errorText({})).toContain('not a film');
    expect(await errorText({ ...film, version: 9 })).toContain('newer');
    expect(await errorText(film)).toContain('chess');
    await context.close();
  });

  test('reduced motion shows the piece without animation', async () => {
    const { page, context } = await open(`${address['connect-five']}#t=3`, { reducedMotion: 'reduce' });
    await page.keyboard.press('ArrowRight');
    await standsAt(page, 4);
    expect(await page.locator('.newest').count(), 'the piece is in place').toBe(1);
    await context.close();
  });
});
