// Keyboard only: sign-in, tabs, replay controls, and dialogs that trap and restore the focus.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser } from '../needs.mjs';
import { PASSWORD, SiteServer, type ApiUser } from './server.mjs';
import { focused, launch, open, pageLoaded } from './browser';

let server: SiteServer;
let browser: Browser;
let organiser: ApiUser;
let replay = '';

beforeAll(async () => {
  if (!hasBrowser) return;
  [server, browser] = await Promise.all([SiteServer.start(), launch()]);
  organiser = await server.signUpOrganiser();
  await organiser.createCompetition('connect-five', 'cup', '[[phase]]\nformat = "round-robin"\nparts = [{ games = 1, seconds = 1 }]', ['random', 'tactician'], 'The Cup');
  await organiser.act('cup', 'start');
  await organiser.waitForState('cup', 'over');
  const { items } = await organiser.get('/competitions/cup/phases/1/matches');
  replay = `/c/cup/p/1/m/${items[0].match}/g/1`;
  await organiser.createCompetition('connect-five', 'idea', '[[phase]]\nformat = "round-robin"', ['random', 'tactician'], 'An Idea');
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** Presses a key until a matching element has the focus. */
async function tabTo(page: Page, what: RegExp, key = 'Tab'): Promise<void> {
  const passed: string[] = [];
  for (let i = 0; i < 80; i += 1) {
    await page.keyboard.press(key);
    const now = await focused(page);
    if (what.test(now)) return;
    passed.push(now);
  }
  throw new Error(`${what} cannot be reached; passed ${passed.join(', ')}`);
}

/** Whether the focused element has a visible outline. */
const outlined = (page: Page): Promise<boolean> =>
  page.evaluate(() => {
    const element = document.activeElement;
    return element !== null && element.matches(':focus-visible') && getComputedStyle(element).outlineStyle !== 'none';
  });

describe.skipIf(!hasBrowser)('by keyboard only', () => {
  test('navigates from the home page to a replay and uses its controls', async () => {
    const { page, context, problems } = await open(browser, server, '/');
    await pageLoaded(page);
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('A Skip to content');
    await page.keyboard.press('Enter');
    await tabTo(page, /^A The Cup/);
    expect(await outlined(page)).toBe(true);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/c/cup');
    await expect.poll(() => focused(page), { message: 'the heading of the new page has the focus' }).toBe('H1 The Cup');

    await tabTo(page, /^A Watch$/);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/c/cup/watch');
    expect(await focused(page), 'a tab keeps the focus').toBe('A Watch');
    await tabTo(page, /^A Games$/);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/c/cup/watch/games');
    expect(await focused(page), 'a view keeps the focus').toBe('A Games');
    await pageLoaded(page);
    await page.getByRole('link', { name: /^Replay of match/ }).first().waitFor();
    await tabTo(page, /^A Replay/);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**${replay}`);
    await page.waitForSelector('.replay');

    const last = Number(await page.getByRole('slider').getAttribute('max'));
    const standsAt = (turn: number): Promise<unknown> => page.waitForSelector(`.replay[data-turn="${turn}"][data-panel-turn="${turn}"]`);
    await page.keyboard.press('Home');
    await standsAt(0);
    await page.keyboard.press('ArrowRight');
    await standsAt(1);
    await page.keyboard.press('ArrowRight');
    await standsAt(2);
    await page.keyboard.press('ArrowLeft');
    await standsAt(1);
    await tabTo(page, /^BUTTON .*Play/);
    expect(await outlined(page)).toBe(true);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.replay[data-playing="true"]');
    await page.keyboard.press(' ');
    await page.waitForSelector('.replay[data-playing="false"]');
    await page.keyboard.press('End');
    await standsAt(last);
    await expect.poll(() => page.locator('.story').innerText()).toContain('Ended:');
    await expect.poll(() => page.url()).toContain(`#t=${last}`);
    await page.goBack();
    await page.waitForURL('**/c/cup/watch/games');
    expect(problems).toEqual([]);
    await context.close();
  });

  test('signs in after an error, returns to the page, and uses a dialog', async () => {
    const { page, context } = await open(browser, server, '/admin');
    await pageLoaded(page);
    await page.locator('main').getByRole('link', { name: 'Sign in' }).waitFor();
    await page.locator('main').focus();
    await tabTo(page, /^A Sign in/);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/signin**');
    await page.getByLabel('Name').waitFor();
    await tabTo(page, /^INPUT username/);
    await page.keyboard.type('Olga');
    await page.keyboard.press('Tab');
    await page.keyboard.type('not the password');
    await page.keyboard.press('Enter');
    await page.getByText(/wrong/i).first().waitFor();
    await expect.poll(() => focused(page)).toBe('INPUT password');
    await page.keyboard.press('Control+A');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/admin');

    // A dialog takes the focus, keeps it, and restores it.
    await page.goto('/admin/c/idea');
    await pageLoaded(page);
    await page.getByRole('button', { name: 'Delete' }).waitFor();
    await tabTo(page, /^BUTTON Delete/);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    const inside = (): Promise<boolean> => page.evaluate(() => document.activeElement?.closest('dialog') !== null || document.activeElement === document.body);
    const visited = new Set<string>();
    for (let i = 0; i < 8; i += 1) {
      await page.keyboard.press('Tab');
      expect(await inside(), `${await focused(page)} is outside the dialog`).toBe(true);
      visited.add(await focused(page));
    }
    expect([...visited]).toEqual(expect.arrayContaining(['BUTTON Cancel', 'BUTTON Delete competition']));
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await expect.poll(() => focused(page), { message: 'given back' }).toBe('BUTTON Delete');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo(page, /^BUTTON Delete competition/);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/admin');
    await expect.poll(() => page.locator('main').getByText('An Idea').count()).toBe(0);
    await context.close();
  });
});
