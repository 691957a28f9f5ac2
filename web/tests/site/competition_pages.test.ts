// What the pages of a competition say while it is young: no medals yet, no bot is missing, and no game beyond the last. Earlier addresses work.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser } from '../needs.mjs';
import { slowBot } from './bots.mjs';
import { PASSWORD, SiteServer, until, type ApiUser } from './server.mjs';
import { launch, open, pageLoaded } from './browser';

let server: SiteServer;
let browser: Browser;
let organiser: ApiUser;

beforeAll(async () => {
  if (!hasBrowser) return;
  [server, browser] = await Promise.all([SiteServer.start(['--jobs', '1']), launch()]);
  organiser = await server.signUpOrganiser();
  // With the slow bot in every second match, the competition can be paused after few of its matches.
  await organiser.createCompetition('connect-five', 'young', '[[phase]]\nname = "League"\nformat = "round-robin"\nlegs = 4\nparts = [{ games = 3, first_to = 3, seconds = 1 }]', ['random', 'stacker', 'tactician', 'line-counter'], 'The Young League');
  await organiser.act('young', 'open');
  await organiser.submitBot('young', 'Thinker', slowBot('connect-five', 300));
  await organiser.act('young', 'start');
  await until(() => organiser.get('/competitions/young'), (it) => it.matches > 0);
  await organiser.act('young', 'pause');
  await organiser.waitForState('young', 'paused');
  await organiser.createCompetition('hide-and-seek', 'hunt', '[settings]\nsteps = 60\n[[phase]]\nname = "Hunt"\nformat = "cross"\nboards = 1', ['chasing-seeker', 'roaming-seeker', 'still-hider', 'running-hider'], 'The Hunt');
  await organiser.act('hunt', 'start');
  await organiser.waitForState('hunt', 'over');
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

describe.skipIf(!hasBrowser)('a competition', () => {
  test('after few matches has no medals, and lists the bots without a game', async () => {
    const { page, context, problems } = await open(browser, server, '/c/young/standings');
    const table = page.getByRole('table', { name: 'League' });
    await table.waitFor();
    const { entrants, matches } = await organiser.get('/competitions/young');
    expect(matches).toBeLessThan(20);
    await expect.poll(() => table.locator('tbody tr').count()).toBe(entrants.length);
    const { without_games: waiting, sheets } = await organiser.get('/competitions/young/phases/1/table');
    expect(sheets[0].rows).toHaveLength(entrants.length);
    expect(await table.getByText('no game yet').count()).toBe(waiting.length);
    expect(await table.locator('.medal').count()).toBe(0);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('with roles shows the winners of both on the home page', async () => {
    const { page, context, problems } = await open(browser, server, '/');
    await page.getByRole('heading', { name: 'The Hunt' }).scrollIntoViewIfNeeded();
    for (const group of ['Seekers', 'Hiders']) {
      const winners = page.getByRole('list', { name: `Winners: ${group}` });
      await winners.waitFor();
      expect(await winners.getByRole('link').count()).toBe(2);
    }
    expect(problems).toEqual([]);
    await context.close();
  });

  test('has no game beyond the last, and says so', async () => {
    const { items } = await organiser.get('/competitions/young/phases/1/matches');
    const { match, games } = items[0];
    const { page, context } = await open(browser, server, `/c/young/p/1/m/${match}/g/9`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await page.getByText(`Match ${match} has ${games.length === 1 ? 'only one game' : `${games.length} games`}, and no game 9.`).waitFor();
    await page.getByRole('link', { name: `Watch match ${match} from the start` }).click();
    await page.waitForSelector('.replay');
    await context.close();
  });

  test.each([
    ['table', 'standings', 'Standings'],
    ['live', 'watch', 'Watch'],
    ['games', 'watch/games', 'Watch'],
    ['phases', 'standings/schedule', 'Standings'],
    ['charts', 'analysis', 'Analysis'],
    ['downloads', 'proof', 'Proof'],
  ])('is found at its earlier address /%s', async (old, current, tab) => {
    const { page, context, problems } = await open(browser, server, `/c/young/${old}?phase=1`);
    await page.waitForURL(`**/c/young/${current}?phase=1`);
    await pageLoaded(page);
    expect(await page.getByRole('navigation', { name: 'Competition sections' }).getByRole('link', { name: tab }).getAttribute('aria-current')).toBe('page');
    expect(problems).toEqual([]);
    await context.close();
  });

  test('has a sign-up link that leads back to the page', async () => {
    const invitation = await organiser.invite('author');
    const { page, context } = await open(browser, server, '/c/young/rules');
    await page.getByRole('banner').getByRole('link', { name: 'Sign up' }).click();
    await page.getByLabel('Invitation code').fill(invitation);
    await page.getByLabel('Name').fill('Grace');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/c/young/rules');
    await page.getByRole('link', { name: 'Grace: my account' }).waitFor();
    await context.close();
  });
});
