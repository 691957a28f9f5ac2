// In the app the whole board and its controls are visible at every size: in a live game, a trial game and a replay of all five games.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { expectToFit, settled, SIZES } from '../fits';
import { hasBrowser } from '../needs.mjs';
import { WAIT_TIMEOUT } from '../timeouts.mjs';
import { slowBot } from './bots.mjs';
import { launch, open, signIn } from './browser';
import { SiteServer, until, type ApiUser } from './server.mjs';

interface SlowCompetition {
  game: string;
  file: string;
  house: string[];
  ms: number;
  role?: string;
}
/** With slow bots, so that a game is live while the window has six sizes. */
const COMPETITIONS: SlowCompetition[] = [
  { game: 'solitude-scramble', file: '[settings]\nturns = 12\n[[phase]]\nformat = "groups"\nmatches = 40', house: ['greedy', 'random', 'left'], ms: 100 },
  { game: 'colour-battle', file: '[settings]\nrounds = 120\n[[phase]]\nformat = "arena"\ngames = 20', house: ['drawn', 'seeker', 'sweeper'], ms: 40 },
  { game: 'connect-five', file: '[[phase]]\nformat = "round-robin"\nlegs = 20\nparts = [{ games = 1, seconds = 1 }]', house: ['random'], ms: 300 },
  { game: 'hide-and-seek', file: '[settings]\nsteps = 24\n[[phase]]\nformat = "cross"\nboards = 40\nhidden = false', house: ['running-hider'], ms: 100, role: 'seeker' },
  { game: 'word-racer', file: '[[phase]]\nformat = "round-robin"\nlegs = 20', house: ['filler'], ms: 80 },
];

let server: SiteServer;
let browser: Browser;
let organiser: ApiUser;

/** Opens the page at all sizes. The viewer of a live game is replaced when the next game starts, so a check can fail for a moment. */
async function fitsEverywhere(page: Page, path: string): Promise<void> {
  for (const [width, height] of SIZES) {
    await page.setViewportSize({ width, height });
    await page.goto(path);
    await vi.waitFor(
      async () => {
        await settled(page);
        await expectToFit(page, width, height);
      },
      { timeout: WAIT_TIMEOUT, interval: 100 },
    );
  }
}

beforeAll(async () => {
  if (!hasBrowser) return;
  [server, browser] = await Promise.all([SiteServer.start(['--jobs', '1']), launch()]);
  organiser = await server.signUpOrganiser();
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

describe.skipIf(!hasBrowser)('the board fits the window', () => {
  test.each(COMPETITIONS)('$game', async ({ game, file, house, ms, role }) => {
    await organiser.createCompetition(game, game, file, house);
    await organiser.act(game, 'open');
    const bot = await organiser.submitBot(game, 'Thinker', slowBot(game, ms), role);
    const { page, context, problems } = await open(browser, server, '/');
    await signIn(page, 'Olga', `/s/${bot.id}`);
    const trial = page.getByRole('button', { name: /^(Show trial game|Trial game 1)$/ });
    for (const [width, height] of SIZES) {
      await page.setViewportSize({ width, height });
      await page.goto(`/s/${bot.id}`);
      await trial.click();
      await page.waitForSelector('.replay');
      await vi.waitFor(() => expectToFit(page, width, height), { timeout: WAIT_TIMEOUT, interval: 100 });
    }

    await organiser.act(game, 'start');
    await fitsEverywhere(page, `/c/${game}/live`);

    const { items } = await until(() => organiser.get(`/competitions/${game}/phases/1/matches?limit=1`), (matches) => matches.items.length > 0);
    await fitsEverywhere(page, `/c/${game}/p/1/m/${items[0].match}/g/1`);
    expect(await page.evaluate(() => scrollY), 'the replay needs no scrolling').toBe(0);
    expect(problems).toEqual([]);
    await organiser.act(game, 'pause');
    await context.close();
  });
});
