// Games on other machines: a worker connects, is shown on the dashboard, its games are live, and it is drained.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seriousFindings } from '../axe';
import { hasBrowser } from '../needs.mjs';
import { slowBot } from './bots.mjs';
import { hasNats, NatsWorkers } from './nats_workers.mjs';
import { SiteServer, type ApiUser } from './server.mjs';
import { launch, open, signIn, overflow } from './browser';

const ready = hasBrowser && hasNats;
let workers: NatsWorkers;
let server: SiteServer;
let browser: Browser;
let organiser: ApiUser;

beforeAll(async () => {
  if (!ready) return;
  [workers, browser] = await Promise.all([NatsWorkers.start(), launch()]);
  server = await SiteServer.start(['--nats', workers.url]);
  organiser = await server.signUpOrganiser();
  await organiser.createCompetition('word-racer', 'words', '[[phase]]\nformat = "round-robin"\nlegs = 500', ['filler', 'random']);
  await organiser.act('words', 'open');
  await organiser.submitBot('words', 'Thinker', slowBot('word-racer', 40));
  await organiser.act('words', 'close');
});
afterAll(async () => {
  await browser?.close();
  await workers?.stopWorkers();
  await server?.stop();
  await workers?.stop();
});

describe.skipIf(!ready)('workers', () => {
  test('a worker connects, plays live games, and is drained', async () => {
    const dashboard = await open(browser, server, '/');
    await signIn(dashboard.page, 'Olga', '/admin/workers');
    await dashboard.page.getByText('No workers connected.').waitFor();
    await organiser.act('words', 'start');

    workers.worker('w1');
    const row = dashboard.page.getByRole('row', { name: /^w1/ });
    await row.getByText('playing').waitFor();
    await expect.poll(() => row.locator('td').nth(2).innerText()).toBe('1 of 1');
    expect(await seriousFindings(dashboard.page)).toEqual([]);

    const live = await open(browser, server, '/c/words/live');
    await live.page.waitForSelector('.replay');
    // The description changes: the game continues or another one starts.
    const story = live.page.locator('.story').first();
    const before = await story.innerText();
    await expect.poll(() => story.innerText()).not.toBe(before);
    expect(live.problems).toEqual([]);
    await live.context.close();

    await row.getByRole('button', { name: 'Drain w1' }).click();
    const dialog = dashboard.page.getByRole('dialog');
    await dialog.getByText('takes no new ones').waitFor();
    await dialog.getByRole('button', { name: 'Drain worker' }).click();
    await dashboard.page.getByText('Drain requested. w1 finishes its current games and exits.').waitFor();
    expect(await workers.waitForExit('w1')).toBe(0);
    await dashboard.page.getByText('No workers connected.').waitFor();
    await dashboard.page.goto('/admin/audit');
    await dashboard.page.getByText('worker drain').waitFor();
    expect(dashboard.problems).toEqual([]);
    await dashboard.context.close();
    expect((await organiser.get('/competitions/words')).state).toBe('running');
  });

  test.each([
    ['light', 1280],
    ['dark', 360],
  ] as const)('the page in %s, %i wide', async (scheme, width) => {
    workers.worker(`w-${scheme}`);
    const dashboard = await open(browser, server, '/', { colorScheme: scheme, viewport: { width, height: 800 } });
    await signIn(dashboard.page, 'Olga', '/admin/workers');
    await dashboard.page.getByRole('row', { name: new RegExp(`^w-${scheme}`) }).waitFor();
    expect(await overflow(dashboard.page)).toBeLessThanOrEqual(0);
    expect(await seriousFindings(dashboard.page)).toEqual([]);
    if (process.env.AGON_PICTURES) await dashboard.page.screenshot({ path: `${process.env.AGON_PICTURES}/workers-${scheme}.png`, fullPage: true });
    await dashboard.context.close();
  });
});
