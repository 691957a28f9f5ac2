// Sharing: links to a turn, pictures, GIFs, HTML to embed a replay, and what other sites read from a page.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seriousFindings } from '../axe';
import { hasBrowser } from '../needs.mjs';
import { launch, open, overflow, pageLoaded } from './browser';
import { SiteServer } from './server.mjs';

const FILE = '[[phase]]\nname = "League"\nformat = "round-robin"\nparts = [{ games = 2, seconds = 1 }]';
let server: SiteServer;
let browser: Browser;
let replay = '';

beforeAll(async () => {
  if (!hasBrowser) return;
  [server, browser] = await Promise.all([SiteServer.start(), launch()]);
  const organiser = await server.signUpOrganiser();
  await organiser.createCompetition('connect-five', 'cup', FILE, ['random', 'tactician'], 'Share Cup');
  await organiser.act('cup', 'open');
  await organiser.act('cup', 'start');
  await organiser.waitForState('cup', 'over');
  replay = '/c/cup/p/1/m/1-1/g/1';
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

describe.skipIf(!hasBrowser)('sharing', () => {
  test('a link opens the replay at its turn', async () => {
    const { page, context, problems } = await open(browser, server, `${replay}?t=4`);
    await page.waitForSelector('.replay[data-panel-turn="4"]');
    await page.goto(`/embed/cup/1/1-1/1?t=3`);
    await page.waitForSelector('.replay[data-panel-turn="3"]');
    expect(problems).toEqual([]);
    await context.close();
  });

  test('the dialog has the link, a picture, a GIF and the HTML of the turn that is shown', async () => {
    const { page, context, problems } = await open(browser, server, `${replay}?t=4`);
    await page.waitForSelector('.replay[data-panel-turn="4"]');
    await page.getByRole('button', { name: 'Share' }).click();
    const dialog = page.getByRole('dialog');
    await expect.poll(() => dialog.getByRole('group', { name: 'Link' }).innerText()).toBe(`${server.url}${replay}?t=4`);
    await expect.poll(() => dialog.locator('img').evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(800);
    await dialog.getByLabel('Turn', { exact: true }).fill('2');
    await expect.poll(() => dialog.getByRole('group', { name: 'Embed' }).innerText()).toContain('/embed/cup/1/1-1/1?t=2');
    await dialog.getByLabel('To turn').fill('3');
    const gif = await dialog.getByRole('link', { name: 'Make GIF' }).getAttribute('href');
    const answer = await page.request.get(gif ?? '');
    expect([answer.status(), answer.headers()['content-type']]).toEqual([200, 'image/gif']);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await overflow(page)).toBe(0);
      expect(await seriousFindings(page)).toEqual([]);
    }
    await page.keyboard.press('Escape');
    await expect.poll(() => dialog.count()).toBe(0);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('competitions and bots have a card', async () => {
    const { page, context, problems } = await open(browser, server, '/c/cup');
    for (const path of ['/c/cup', `/c/cup/bots/${await firstBot()}`]) {
      await page.goto(path);
      await pageLoaded(page);
      await page.getByRole('button', { name: 'Share' }).click();
      await expect.poll(() => page.getByRole('dialog').locator('img').evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1200);
    }
    expect(problems).toEqual([]);
    await context.close();
  });

  test('other sites read title and picture without running the app', async () => {
    const html = await (await fetch(`${server.url}${replay}?t=4`)).text();
    expect(html).toContain('Share Cup');
    expect(html).toMatch(/property="og:image" content="http:\/\/[^"]*\/card\.png\?turn=4"/);
    const address = /type="application\/json\+oembed" href="([^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const oembed = (await (await fetch(address)).json()) as { html: string; type: string };
    expect(oembed.type).toBe('rich');
    expect(oembed.html).toContain('/embed/cup/1/1-1/1?t=4');
  });
});

async function firstBot(): Promise<number> {
  const competition = (await (await fetch(`${server.url}/api/v1/competitions/cup`)).json()) as { entrants: { bot: number }[] };
  return competition.entrants[0]?.bot ?? 0;
}
